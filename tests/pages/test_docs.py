"""The reference of the API: small, complete, and each of its links inside it leads somewhere."""

from __future__ import annotations

import re

import pytest

from registry.api.openapi import openapi
from registry.pages.glossary import glossary
from tests.house import House
from tests.pages.conftest import Browser, Outline

MOST_BYTES = 150_000
SCHEMAS = ("/docs/schemas", "/docs/schemas/results")


@pytest.mark.parametrize("path", ["/docs", *SCHEMAS])
def test_a_page_of_the_reference_is_small(visitor: Browser, path: str) -> None:
    assert len(visitor.get(path).data) <= MOST_BYTES


def test_every_operation_and_every_schema_is_there(visitor: Browser, house: House) -> None:
    document = openapi(house.app)
    ids = set(Outline(visitor.get("/docs").text).ids)
    stored, computed = (set(Outline(visitor.get(path).text).ids) for path in SCHEMAS)
    told = {one["operationId"] for item in document["paths"].values() for one in item.values() if "operationId" in one}
    assert told <= ids
    schemas = set(document["components"]["schemas"])
    assert schemas <= stored | computed
    assert not schemas & stored & computed
    assert {"Grid", "Problem", "GridIn"} <= stored
    assert {"Series", "Ranking", "Gate"} <= computed


def test_an_answer_that_operations_share_is_explained_once(visitor: Browser) -> None:
    page = visitor.get("/docs").text
    assert page.count("It is being computed: ask again at") == 1
    told = page[page.index('<section id="getTrends">') :]
    assert "<dt>Also<dd>202, 304<dt>" in told[: told.index("</section>")]


def test_every_link_to_a_schema_leads_to_one(visitor: Browser) -> None:
    pages = {path: visitor.get(path).text for path in ("/docs", *SCHEMAS)}
    ids = {path: set(Outline(text).ids) for path, text in pages.items()}
    for here, text in pages.items():
        named = re.findall(r'<a href="(/docs/schemas(?:/results)?)?#([A-Z]\w+)"', text)
        assert len(set(named)) > 50
        assert [one for one in named if one[1] not in ids[one[0] or here]] == []


def test_a_field_of_many_schemas_is_explained_once_and_named_in_each(visitor: Browser, house: House) -> None:
    schemas = openapi(house.app)["components"]["schemas"]
    for path, some in zip(SCHEMAS, ({"next", "created_at"}, {"status", "reason", "detectable"}), strict=True):
        parts = re.split('<details id="', visitor.get(path).text)
        shown = {part.partition('"')[0]: part for part in parts[1:]}
        once = set(re.findall(r"<dt>(\w+)", shown.pop("common-fields")))
        assert some <= once
        for name, part in shown.items():
            listed = set(re.findall(r"<dt>(\w+)", part)) | (once & set(re.findall(r"\w+", part)))
            assert set(schemas[name].get("properties", {})) <= listed, name
        assert sum(part.count("Why <code>status</code> is not ok.") for part in parts) <= 12


def test_the_glossary_is_in_order_and_whole(visitor: Browser) -> None:
    terms = list(glossary())
    assert terms == sorted(terms, key=str.lower)
    assert len(terms) >= 30
    text = visitor.get("/docs").text
    assert all(f">{term}<dd>" in text for term in terms)
