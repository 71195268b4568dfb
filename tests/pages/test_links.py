"""Every link, picture and form of every page leads somewhere, for whoever sees it: the public, a signed-in reader, and
who was sent a share."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest

from tests.house import ENDED, House, Project
from tests.pages.conftest import PATHS, Browser, Demo, Outline, browser, share

STRANGE = "50% of #1? é/ö &x=1;b=c,d+e%2F%00'\"<i>"
SCOPE = {"experiment": STRANGE, "metric": STRANGE}
OPEN_TO_ALL = (
    *("/docs", "/docs/schemas", "/docs/schemas/results"),
    *("/openapi.yaml", "/openapi.json", "/metrics", "/readyz"),
)
MOST = 400
"""Addresses that one crawl asks for at most; it must end before."""


def addresses(page: Outline) -> Iterator[str]:
    """What the page points at: links, pictures, and its forms as they are sent unchanged."""
    yield from page.links()
    yield from (str(given["src"]) for _, given in page.attributes if given.get("src"))
    yield from forms(page)


def forms(page: Outline) -> Iterator[str]:
    """The address of each GET form with what its fields hold at first."""
    action, fields, select = None, [], None
    for tag, given in [*page.attributes, ("form", {"method": "post"})]:
        if tag in ("form", "footer"):
            if action is not None:
                yield f"{action}?{urlencode(fields)}"
            action = (given.get("action") or "") if tag == "form" and given.get("method") == "get" else None
            fields, select = [], None
        elif action is not None and tag in ("input", "button", "select"):
            select = given.get("name") if tag == "select" else None
            if tag == "input" and given.get("name") and (given.get("type") != "checkbox" or "checked" in given):
                fields.append((given["name"], given.get("value") or ""))
        elif action is not None and tag == "option" and select and ("selected" in given or select not in dict(fields)):
            fields = [pair for pair in fields if pair[0] != select]
            fields.append((select, given.get("value") or ""))


def shape(address: str) -> tuple[str, ...]:
    """What addresses of one kind have in common: ids and names are left out."""
    split = urlsplit(address)
    path = re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}", "ID", split.path)
    path = re.sub(r"/(experiments|revisions|benchmarks|models|variants|metrics)/.+", r"/\1/NAME", path)
    return (path, *sorted({name for name, text in parse_qsl(split.query) if text}))


def crawl(visitor: Browser, *starts: str, without: tuple[str, ...] = ()) -> dict[str, int]:
    """The status of one address of every kind that can be reached from some pages by clicking."""
    found: dict[str, int] = {}
    seen = {shape(address) for address in without}
    waiting = [*starts]
    while waiting:
        address = waiting.pop(0)
        if address.startswith("#") or shape(address) in seen:
            continue
        assert address.startswith("/"), address
        assert len(found) < MOST, "the crawl does not end"
        seen.add(shape(address))
        answer = visitor.get(address, Prefer="wait=0")
        computing = answer.status_code == 503 and (answer.get_json() or {}).get("type") == "/docs#problem-pending"
        found[address] = 202 if computing else answer.status_code
        if answer.status_code == 200 and (address in starts or is_page(address, answer.content_type or "")):
            base = urlsplit(address).path
            for one in addresses(Outline(answer.text)):
                waiting.append(base + one if one.startswith("?") else one.partition("#")[0] or "#")
        answer.close()
    return found


def is_page(address: str, media: str) -> bool:
    """Whether links are followed from here: not from a page in another look than its own."""
    looks = {"palette", "range", "show"} & {name for name, _ in parse_qsl(urlsplit(address).query)}
    return media.startswith("text/html") and not looks


def broken(found: dict[str, int]) -> dict[str, int]:
    return {address: status for address, status in found.items() if status not in (200, 202, 303)}


@pytest.fixture(scope="module")
def strange(house: House) -> Iterator[Project]:
    """A small private project in which nearly everything has a name of characters that mean something to somebody."""
    metric = {"name": STRANGE, "direction": "higher"}
    project = house.make_project()
    names = {"experiment": STRANGE, "variant": STRANGE, "metric": metric, "trials": None}
    for model in (STRANGE, "other"):
        for benchmark in (STRANGE, "b"):
            project.published(**names, model=model, benchmark=benchmark)
    home, scope = f"projects/{project.slug}", urlencode(SCOPE)
    claim = {"kind": "value", "about": SCOPE, "where": {"Type": ["1"], "Length": [0]}, "is": {"op": "=", "number": 9}}
    assert project.call("POST", f"{home}/claims", json=[claim]).status_code == 201
    for path in (f"{home}/rankings?{scope}", f"{home}/aggregates?{scope}"):
        project.get(path)
    house.compute()
    yield project
    ENDED.append(project)


def test_every_link_that_the_public_sees_leads_somewhere(answered: Demo, guest: Browser) -> None:
    found = crawl(guest, *PATHS, without=("/openapi.yaml",))
    assert broken(found) == {}
    assert len(found) > 60


def test_every_link_that_a_signed_in_reader_sees_leads_somewhere(strange: Project, visitor: Browser) -> None:
    reader = browser(strange.house, strange.tokens["reader"])
    found = crawl(reader, f"/projects/{strange.slug}", without=("/", "/status", *OPEN_TO_ALL))
    assert broken(found) == {}
    assert any(address.startswith("/data/grids/") for address in found)
    [experiment, *_] = [address for address in found if "/experiments/" in address and "?" not in address]
    # Who signs in returns to it, and it can be shared.
    back = visitor.read(experiment, 401).all("input", name="back")[0]["value"]
    answer = visitor.post("/sign-in", {"token": strange.tokens["reader"], "back": back})
    assert visitor.get(answer.headers["Location"]).status_code == 200
    assert browser(strange.house).get(share(strange, experiment)).status_code == 200


def test_every_link_of_a_page_that_was_shared_leads_somewhere(strange: Project) -> None:
    home = f"/projects/{strange.slug}"
    grid, other, *_ = [one["id"] for one in strange.get(f"{home[1:]}/grids").get_json()["items"]]
    models = {"baseline_model": "other", "contender_model": STRANGE}
    sizes = {}
    for path, query in (
        (f"/grids/{grid}", {}),
        (home, {}),
        (f"{home}/rankings", SCOPE),
        (f"{home}/comparisons", {"baseline": grid, "contender": other}),
        (f"{home}/comparisons", SCOPE | models),
    ):
        start = f"{share(strange, path)}&{urlencode(query)}".removesuffix("&")
        found = crawl(browser(strange.house), start, without=("/", "/status", *OPEN_TO_ALL))
        assert found[start] == 200
        assert broken(found) == {}, path
        sizes[path] = sum(one.startswith("/data/") for one in found)
    assert sizes[home] > sizes[f"/grids/{grid}"] >= 15


def test_a_share_opens_what_it_names_and_nothing_of_another(strange: Project, project: Project) -> None:
    link = share(strange, f"/projects/{strange.slug}").partition("?")[2]
    grid, beside, *_ = [one["id"] for one in strange.get(f"projects/{strange.slug}/grids").get_json()["items"]]
    visitor = browser(strange.house)
    for one in (grid, beside):
        assert visitor.get(f"/grids/{one}?{link}").status_code == 200
    hidden = project.published()["id"]
    for path in (f"/grids/{hidden}", f"/data/grids/{hidden}", f"/grids/{grid}x", f"/projects/{strange.slug}-2"):
        assert visitor.get(f"{path}?{link}").status_code in (401, 404), path
    assert visitor.get(f"/data/projects/{strange.slug}/tokens?{link}").status_code == 403
    # That of a grid shows nothing of the grids beside it.
    start = share(strange, f"/grids/{grid}")
    assert beside not in visitor.get(start).text
    assert visitor.get(f"{start}&show=difference&baseline={beside}").status_code == 422
    # It may be read by who is signed in elsewhere, and one that is worthless leaves them as they are.
    assert browser(strange.house, project.tokens["admin"]).get(start).status_code == 200
    assert visitor.get(f"/grids/{grid}?share=worthless").status_code == 401
    reader = browser(strange.house, strange.tokens["reader"])
    assert reader.get(f"/grids/{grid}?share=worthless").status_code == 200


VIEWS = ("rankings", "aggregates", "lines", "trade-offs")


def test_every_view_leads_to_the_others_of_the_same_selection(answered: Demo, guest: Browser) -> None:
    asked = {"experiment": "window-by-ratio", "benchmark": "AMC23", "at.Ratio": ">=0.3", "missing": "available"}
    begin = f"/projects/demo/rankings?{urlencode(asked | {'metric': 'Pass@1', 'as_of': '2100-01-01'})}"
    assert guest.get(begin).status_code == 422, "an instant to come is no selection"
    open_, seen = [f"/projects/demo/rankings?{urlencode(asked | {'metric': 'Pass@1'})}"], dict[str, dict[str, str]]()
    while open_:
        path = urlsplit(open_[0]).path.rpartition("/")[2]
        found = dict(parse_qsl(urlsplit(open_.pop(0)).query))
        if path in seen:
            continue
        seen[path] = found
        page = guest.computed(f"/projects/demo/{path}?{urlencode(found)}")
        leads = [link for view in VIEWS for link in page.links(f"/projects/demo/{view}?experiment") if view != path]
        assert {urlsplit(link).path.rpartition("/")[2] for link in leads} == {*VIEWS} - {path}
        open_ += leads
    assert seen.keys() == {*VIEWS}
    for path, found in seen.items():
        assert asked.items() <= found.items(), path
        assert found["y" if path == "trade-offs" else "metric"].removeprefix("metric:") == "Pass@1"
