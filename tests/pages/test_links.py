"""Every link, picture and form of every page leads somewhere, for whoever sees it: the public, a signed-in reader, and
who was sent a share."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

import pytest

from tests.house import Project, publication
from tests.pages.conftest import Browser, Demo, Outline, browser, demonstrations

pytestmark = pytest.mark.usefixtures("impatient")

LINKS = ("href", "src")
OPEN_TO_ALL = (
    *("/docs", "/docs/schemas", "/docs/schemas/results"),
    *("/openapi.yaml", "/openapi.json", "/metrics", "/readyz"),
)
MOST = 400
"""Addresses that one crawl asks for at most; it must end before."""


def addresses(page: Outline) -> Iterator[str]:
    """What the page points at: links, pictures, and its forms as they are sent unchanged."""
    for _, given in page.attributes:
        for name in LINKS:
            if given.get(name):
                yield str(given[name])
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


def crawl(visitor: Browser, start: str, without: tuple[str, ...] = ()) -> dict[str, int]:
    """The status of one address of every kind that can be reached from a page by clicking."""
    found: dict[str, int] = {}
    seen = {shape(address) for address in without}
    waiting = [start]
    while waiting:
        address = waiting.pop(0)
        if address.startswith("#") or shape(address) in seen:
            continue
        assert address.startswith("/"), address
        assert len(found) < MOST, "the crawl does not end"
        seen.add(shape(address))
        answer = visitor.get(address)
        found[address] = answer.status_code
        if answer.status_code == 200 and is_page(address, answer.content_type or ""):
            base = urlsplit(address).path
            for one in addresses(Outline(answer.text)):
                waiting.append(base + one if one.startswith("?") else one.partition("#")[0] or "#")
        answer.close()
    return found


def is_page(address: str, media: str) -> bool:
    """Whether links are followed from here: not from a report, and not from every look of a page times every other."""
    looks = {"palette", "range", "show"} & {name for name, _ in parse_qsl(urlsplit(address).query)}
    return media.startswith("text/html") and "/report" not in address and len(looks) < 2


def broken(found: dict[str, int]) -> dict[str, int]:
    return {address: status for address, status in found.items() if status not in (200, 202, 303)}


@pytest.fixture(scope="module")
def demo(servers: tuple[str, str], template: str, redis_url: str) -> Iterator[Demo]:
    """The demonstration and nothing beside it: a crawl follows the first page of each kind, whoever's it is."""
    yield from demonstrations(servers, template, redis_url)


@pytest.fixture(scope="module")
def private(demo: Demo) -> Iterator[Demo]:
    """The demonstration while only tokens and shares open it."""
    house = demo.house
    for visibility in ("private", "public"):
        changed = house.call("PATCH", "projects/demo", token=house.operator, json={"visibility": visibility})
        assert changed.status_code == 200
        if visibility == "private":
            yield demo


def shared(demo: Demo, path: str) -> str:
    """The path and query of a link to a path of the demonstration."""
    made = demo.house.call("POST", "projects/demo/shares", token=demo.house.operator, json={"path": path})
    assert made.status_code == 201, made.text
    split = urlsplit(made.get_json()["url"])
    return f"{split.path}?{split.query}"


def test_every_link_that_the_public_sees_leads_somewhere(demo: Demo) -> None:
    found = crawl(browser(demo.house), "/")
    assert broken(found) == {}
    assert len(found) > 60


def test_every_link_that_a_signed_in_reader_sees_leads_somewhere(private: Demo) -> None:
    visitor = browser(private.house)
    visitor.post("/sign-in", {"token": private.house.operator})
    # From its own project: of each kind of page the first one is followed, and others' projects may be public.
    found = crawl(visitor, "/projects/demo", OPEN_TO_ALL)
    assert broken(found) == {}
    assert any(address.startswith("/data/grids/") for address in found)


def test_every_link_of_a_page_that_was_shared_leads_somewhere(private: Demo) -> None:
    compared = urlencode({"baseline": private.grids["4"][0], "contender": private.grids["2"][0]})
    names = "&experiment=window-by-ratio&metric=Pass@1&baseline_model=R1-Llama&contender_model=R1-Qwen"
    sizes = {}
    for path, query in [
        (private.seed0, ""),
        ("/projects/demo", ""),
        ("/projects/demo/grids", ""),
        ("/projects/demo/experiments/window-by-ratio", ""),
        ("/projects/demo/rankings", ""),
        ("/projects/demo/rankings", "&experiment=window-by-ratio&metric=Pass@1"),
        ("/projects/demo/comparisons", f"&{compared}"),
        ("/projects/demo/comparisons", names),
    ]:
        start = shared(private, path) + query
        browser(private.house).get(start)
        private.house.compute()
        found = crawl(browser(private.house), start, ("/", *OPEN_TO_ALL))
        assert found[start] == 200
        assert broken(found) == {}, path
        sizes[path] = sum(one.startswith("/data/") for one in found)
    assert sizes["/projects/demo"] > sizes[private.seed0] > 20


def test_a_shared_project_opens_its_grids_and_nothing_of_another(private: Demo, project: Project) -> None:
    link = urlsplit(shared(private, "/projects/demo")).query
    visitor = browser(private.house)
    for grids in private.grids.values():
        assert visitor.get(f"/grids/{grids[0]}?{link}").status_code == 200
    other = private.house.make_project().published()["id"]
    for path in (f"/grids/{other}", f"/data/grids/{other}", f"/grids/{private.grids['0'][0]}x", "/projects/demo-2"):
        assert visitor.get(f"{path}?{link}").status_code in (401, 404), path
    assert visitor.get(f"/data/projects/demo/tokens?{link}").status_code == 403


def test_the_share_of_a_grid_shows_nothing_of_the_grids_beside_it(private: Demo) -> None:
    grid, other = private.grids["4"][:2]
    start = shared(private, f"/grids/{grid}")
    visitor = browser(private.house)
    assert other not in visitor.get(start).text
    assert visitor.get(f"{start}&show=difference&baseline={other}").status_code == 422


def test_a_page_that_was_shared_may_be_read_by_who_is_signed_in_elsewhere(private: Demo, project: Project) -> None:
    other = private.house.make_project()
    visitor = browser(private.house)
    visitor.post("/sign-in", {"token": other.tokens["admin"]})
    assert visitor.get(shared(private, private.seed0)).status_code == 200


def test_a_worthless_share_leaves_who_is_signed_in_as_they_are(project: Project, visitor: Browser) -> None:
    grid = project.published()["id"]
    assert visitor.get(f"/grids/{grid}?share=worthless").status_code == 401
    visitor.post("/sign-in", {"token": project.tokens["reader"]})
    assert visitor.get(f"/grids/{grid}?share=worthless").status_code == 200


def test_an_experiment_with_a_space_in_its_name_can_be_shared(project: Project, visitor: Browser) -> None:
    project.publish(publication(experiment="type by length"))
    path = f"/projects/{project.slug}/experiments/{quote('type by length')}"
    made = project.call("POST", f"projects/{project.slug}/shares", "admin", json={"path": path})
    split = urlsplit(made.get_json()["url"])
    assert visitor.get(f"{split.path}?{split.query}").status_code == 200


@pytest.mark.parametrize("name", ["50% of #1? é/ö &x=1", "%2F%00;b=c,d+e", "a'b\"<i>"])
def test_every_link_of_an_experiment_with_a_strange_name_leads_somewhere(
    project: Project, visitor: Browser, name: str
) -> None:
    names = {"experiment": name, "variant": name, "metric": {"name": name, "direction": "higher"}, "trials": None}
    for model in (name, "other"):
        project.published(model=model, **names)
    path = f"/projects/{project.slug}"
    visitor.post("/sign-in", {"token": project.tokens["reader"], "back": path})
    found = crawl(visitor, path, ("/", *OPEN_TO_ALL))
    assert broken(found) == {}
    assert any("/experiments/" in address for address in found)


def test_who_signs_in_returns_to_a_strange_name(project: Project, visitor: Browser) -> None:
    project.published(experiment="50% of #1? a")
    path = f"/projects/{project.slug}/experiments/{quote('50% of #1? a')}"
    page = visitor.read(path, 401)
    back = next(given["value"] for _, given in page.attributes if given.get("name") == "back")
    answer = visitor.post("/sign-in", {"token": project.tokens["reader"], "back": back or ""})
    assert visitor.get(answer.headers["Location"]).status_code == 200
