"""The catalogue of events names every type once, and says who reads it."""

from __future__ import annotations

import re

from registry.results.events import CATALOGUE, TYPES
from registry.results.schema import components
from tests import ROOT


def test_every_type_is_in_the_catalogue_with_a_sentence_of_its_own_and_described_data() -> None:
    assert tuple(CATALOGUE) == TYPES
    sentences = [kind.description for kind in CATALOGUE.values()]
    assert len(set(sentences)) == len(TYPES)
    assert all(one.endswith(".") and one.count(".") == 1 for one in sentences)
    closed = {name for name, kind in CATALOGUE.items() if kind.reader == "admin"}
    assert closed == {"share.created", "share.revoked", "token.created", "token.revoked", "webhook.disabled"}
    found = components(*{kind.data for kind in CATALOGUE.values()})
    fields = [field for schema in found.values() for field in schema.get("properties", {}).values()]
    assert len(fields) > 50
    assert all("description" in field for field in fields)


def test_the_page_about_events_names_every_type_and_who_reads_it() -> None:
    page = (ROOT / "docs" / "events.md").read_text()
    rows = re.findall(r"^\| `(\w+)` \| (.+) \| (.*) ?\|$", page.partition("## Types")[2], re.MULTILINE)
    readers = {f"{kind}.{one}": told.strip() for kind, types, told in rows for one in re.findall(r"`(\w+)`", types)}
    assert tuple(readers) == TYPES
    closed = {name for name, kind in CATALOGUE.items() if kind.reader == "admin"}
    assert {name for name, told in readers.items() if told == "for administrators"} == closed
