"""The reference of the API: small, complete, and each of its links inside it leads somewhere."""

from __future__ import annotations

import re

import pytest

from registry.api.openapi import openapi
from registry.pages.glossary import glossary
from tests.house import House
from tests.pages.conftest import Browser, Outline

MOST_BYTES = 150_000


@pytest.mark.parametrize("path", ["/docs", "/docs/schemas"])
def test_a_page_of_the_reference_is_small(visitor: Browser, path: str) -> None:
    assert len(visitor.get(path).data) <= MOST_BYTES


def test_every_operation_and_every_schema_is_there(visitor: Browser, house: House) -> None:
    document = openapi(house.app)
    ids, schemas = set(Outline(visitor.get("/docs").text).ids), set(Outline(visitor.get("/docs/schemas").text).ids)
    told = {one["operationId"] for item in document["paths"].values() for one in item.values() if "operationId" in one}
    assert told <= ids
    assert set(document["components"]["schemas"]) <= schemas


def test_every_link_to_a_schema_leads_to_one(visitor: Browser) -> None:
    pages = [visitor.get(path).text for path in ("/docs", "/docs/schemas")]
    named = {name for text in pages for name in re.findall(r'"/docs/schemas#(\w+)"', text)}
    assert len(named) > 50
    assert named <= set(Outline(pages[1]).ids)


def test_the_glossary_is_in_order_and_whole(visitor: Browser) -> None:
    terms = list(glossary())
    assert terms == sorted(terms, key=str.lower)
    assert len(terms) >= 30
    text = visitor.get("/docs").text
    assert all(f">{term}</dt>" in text for term in terms)
