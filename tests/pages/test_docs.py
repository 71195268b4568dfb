"""The reference of the API: small, complete, and each of its links inside it leads somewhere."""

import re

import pytest

from registry.api.openapi import openapi
from registry.pages.glossary import glossary
from tests.house import House
from tests.pages.conftest import Outline, browser

SCHEMAS = ("/docs/schemas", "/docs/schemas/results")


@pytest.fixture(scope="module")
def pages(house: House) -> dict[str, str]:
    """The three pages of the reference."""
    visitor = browser(house)
    return {path: visitor.get(path).text for path in ("/docs", *SCHEMAS)}


def test_every_operation_and_every_schema_is_on_a_page_that_is_small(house: House, pages: dict[str, str]) -> None:
    document = openapi(house.app)
    assert max(len(text.encode()) for text in pages.values()) <= 150_000
    ids, stored, computed = (set(Outline(text).ids) for text in pages.values())
    told = {one["operationId"] for item in document["paths"].values() for one in item.values() if "operationId" in one}
    assert told <= ids
    schemas = set(document["components"]["schemas"])
    assert schemas <= stored | computed
    assert not schemas & stored & computed
    assert {"Grid", "Problem", "GridIn"} <= stored
    assert {"Series", "Ranking", "Gate"} <= computed


def test_an_answer_that_operations_share_is_explained_once(pages: dict[str, str]) -> None:
    page = pages["/docs"]
    assert page.count("It is being computed: ask again at") == 1
    told = page[page.index('<section id="getStatistics">') :]
    assert "<dt>Also<dd>202, 304<dt>Problems<dd>422\n" in told[: told.index("</section>")]


def test_a_body_is_told_with_its_kinds(pages: dict[str, str]) -> None:
    told = pages["/docs"].partition('<section id="publishGrid">')[2].partition("</section>")[0]
    assert '<dt>Body<dd><a href="/docs/schemas#GridIn">GridIn</a>; text/csv, text/markdown<details>' in told
    axis = pages["/docs/schemas"].partition('<details id="AxisIn"')[2].partition("</details>")[0]
    assert re.search("list of <a [^>]+>Level</a> or null", axis)


def test_every_link_to_a_schema_leads_to_one(pages: dict[str, str]) -> None:
    ids = {path: set(Outline(text).ids) for path, text in pages.items()}
    for here, text in pages.items():
        named = re.findall(r'<a href="(/docs/schemas(?:/results)?)?#([A-Z]\w+)"', text)
        assert len(set(named)) > 50
        assert [one for one in named if one[1] not in ids[one[0] or here]] == []


def test_a_field_of_many_schemas_is_explained_once_and_named_in_each(house: House, pages: dict[str, str]) -> None:
    schemas = openapi(house.app)["components"]["schemas"]
    for path, some in zip(SCHEMAS, ({"created_at"}, {"status", "reason", "detectable"}), strict=True):
        parts = re.split('<details id="', pages[path])
        shown = {part.partition('"')[0]: part for part in parts[1:]}
        once = set(re.findall(r"<dt>(\w+)", shown.pop("common-fields")))
        assert some <= once
        for name, part in shown.items():
            listed = set(re.findall(r"<dt>(\w+)", part)) | (once & set(re.findall(r"\w+", part)))
            assert set(schemas[name].get("properties", {})) <= listed, name
        assert sum(part.count("Why <code>status</code> is not ok.") for part in parts) <= 12


def test_the_glossary_is_in_order_and_whole(pages: dict[str, str]) -> None:
    terms = list(glossary())
    assert terms == sorted(terms, key=str.lower)
    assert len(terms) >= 30
    assert all(f">{term}<dd>" in pages["/docs"] for term in terms)
