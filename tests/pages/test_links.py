"""Every link, picture and form of every page leads somewhere, for whoever sees it: the public, a signed-in reader, and
who was sent a share."""

import re
from collections.abc import Iterator
from urllib.parse import parse_qs, parse_qsl, quote, urlencode, urlsplit

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
    """The address of each GET form with what its fields hold at first, and its pressed button says."""
    action, fields, select, place = None, [], None, 0
    for tag, given in [*page.attributes, ("form", {"method": "post"})]:
        if tag in ("form", "footer"):
            if action is not None:
                yield f"{action}?{urlencode(fields)}"
            action = (given.get("action") or "") if tag == "form" and given.get("method") == "get" else None
            fields, select = [], None
        elif action is not None and tag in ("input", "button", "select"):
            select, place = given.get("name") if tag == "select" else None, len(fields)
            held = "aria-pressed" in given if tag == "button" else given.get("type") != "checkbox" or "checked" in given
            if tag != "select" and given.get("name") and held:
                fields.append((given["name"], given.get("value") or ""))
        elif action is not None and tag == "option" and select and ("selected" in given or place == len(fields)):
            fields[place:] = [(select, given.get("value") or "")]


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
        answer = visitor.client.get(address, headers={"Accept": "text/html,*/*;q=0.8", "Prefer": "wait=0"})
        computing = answer.status_code == 503 and (answer.get_json() or {}).get("type") == "/docs#problem-pending"
        found[address] = 202 if computing else answer.status_code
        waiting += [answer.headers["Location"]] if answer.status_code in (303, 308) else []
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
    return {address: status for address, status in found.items() if status not in (200, 202, 303, 308)}


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
    [view, *_] = [one for one in found if "/results?view=ranking&experiment" in one and "metric=" in one]
    # Who signs in returns to it, and it can be shared.
    back = visitor.read(view, 401).all("input", name="back")[0]["value"]
    answer = visitor.post("/sign-in", {"token": strange.tokens["reader"], "back": back})
    assert visitor.get(answer.headers["Location"]).status_code == 200
    assert browser(strange.house).get(share(strange, f"/projects/{strange.slug}/grids")).status_code == 200


def test_every_link_of_a_page_that_was_shared_leads_somewhere(strange: Project) -> None:
    home = f"/projects/{strange.slug}"
    grid, other, *_ = [one["id"] for one in strange.get(f"{home[1:]}/grids").get_json()["items"]]
    models = {"baseline_model": "other", "contender_model": STRANGE}
    sizes = {}
    for path, query in (
        (f"/grids/{grid}", {}),
        (home, {}),
        (f"{home}/rankings", SCOPE),
        (f"{home}/results", SCOPE),
        (f"{home}/comparisons", {"baseline": grid, "contender": other}),
        (f"{home}/comparisons", SCOPE | models),
    ):
        start = f"{share(strange, path)}&{urlencode(query)}".removesuffix("&")
        found = crawl(browser(strange.house), start, without=("/", "/status", *OPEN_TO_ALL))
        assert found[start] in (200, 303, 308)
        assert broken(found) == {}, path
        sizes[path] = sum(one.startswith("/data/") for one in found)
    assert sizes[home] > sizes[f"/grids/{grid}"] == 11


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
    # It may be read by who is signed in elsewhere, and one that is worthless leaves them as they are.
    assert browser(strange.house, project.tokens["admin"]).get(start).status_code == 200
    assert visitor.get(f"/grids/{grid}?share=worthless").status_code == 401
    reader = browser(strange.house, strange.tokens["reader"])
    assert reader.get(f"/grids/{grid}?share=worthless").status_code == 200


SELECTED = {
    "experiment": ["window-by-ratio"], "metric": ["Pass@1"], "model": ["R1-Llama", "R1-Qwen"], "benchmark": ["AMC23"],
    "at.Ratio": [">=0.3"], "set_aside": ["none"], "missing": ["worst"], "target": ["new_questions"], "alpha": ["0.1"],
    "group_by": ["benchmark", "model"], "over": ["axis:Ratio"], "along": ["Ratio"], "range": ["bounds"], "x": ["log"],
    "y.at.Ratio": ["<=0.5"],
}  # fmt: skip


def test_every_link_on_a_results_page_keeps_the_selection(answered: Demo, guest: Browser) -> None:
    """Also what a view does not know: it is there again on the way back."""
    begin = f"/projects/demo/results?view=ranking&{urlencode(SELECTED, doseq=True)}"
    assert guest.get(f"{begin}&as_of=2100-01-01").status_code == 422, "an instant to come is no selection"
    open_, seen = [begin], set[str]()
    while open_:
        address = open_.pop()
        view = dict(parse_qsl(urlsplit(address).query))["view"]
        if view in seen:
            continue
        seen.add(view)
        page = guest.computed(address)
        tabs = page.links("/projects/demo/results?view=")
        for link in tabs:
            query = parse_qs(urlsplit(link).query)
            # What takes a name away, or shows two alone or the grids of one, changes this and nothing else.
            assert len([name for name, texts in SELECTED.items() if query.get(name) != texts]) <= 1, (view, link)
        if view == "table":
            [cell] = [link for link in tabs if link.endswith("&benchmark=AMC23&model=R1-Qwen")]
            assert parse_qs(urlsplit(cell).query) == SELECTED | {"view": ["heatmaps"], "model": ["R1-Qwen"]}
            assert len({one.partition("?")[0] for one in guest.computed(cell).links("/grids/")}) == 1
        for form in [parse_qs(urlsplit(one).query) for one in forms(page) if "view=" in one]:
            assert {name: form.get(name) for name in SELECTED} == SELECTED, view
        open_ += tabs
    assert seen == {"ranking", "table", "lines", "heatmaps", "compare"}, "one metric trades nothing off"


def test_a_share_of_a_view_opens_this_view_and_no_other(strange: Project) -> None:
    home, asked = f"/projects/{strange.slug}", urlencode(SCOPE)
    views = ("ranking", "table", "lines", "heatmaps", "trade-off", "compare")
    for path, opened in {
        f"{home}/rankings": ["ranking"],
        f"{home}/lines": ["lines"],
        f"{home}/experiments/{quote(STRANGE)}": ["heatmaps"],
        f"{home}/results": [*views],
    }.items():
        query = share(strange, path).rpartition("?")[2]
        found = {view: browser(strange.house).opened(f"{home}/results?view={view}&{asked}&{query}") for view in views}
        assert [view for view, answer in found.items() if answer.status_code == 200] == opened, path
        assert browser(strange.house).opened(f"{path}?{asked}&{query}").status_code == 200


RANK = "view=ranking&experiment=window-by-ratio"
QUESTIONS = {
    "the grids of a model": (
        ["/projects/demo/models", "/models/R1-Qwen", "/grids?model=R1-Qwen"],
        "Grids of Five published heatmaps",
    ),
    "two models compared": ([RANK, "view=compare&"], "R1-Qwen is better than R1-Llama"),
    "a heat map with holes": (["/grids/"], "have no value"),
    "lines with uncertainty": ([RANK, "view=lines&"], "95 % intervals"),
    "what is refuted": (["/projects/demo/claims"], "are contradicted by their own numbers"),
    "what happened": (["/projects/demo/events"], "Activity"),
    "how to embed a page": ([RANK], "BibTeX"),
}
OF_MEMBERS = {
    "a gate": (["/projects/demo/alerts", "/settings/alerts"], "margin"),
    "a token": (["/projects/demo/settings", "/settings/tokens"], "Create"),
    "a link for somebody without an account": ([RANK, "/projects/demo/settings", "/settings/shares"], "link"),
}


def follow(reader: Browser, parts: list[str]) -> str:
    """The text of the page to which the first link that holds each part leads."""
    page = reader.read("/")
    for part in parts:
        page = reader.computed(next(one for one in page.links(part)))
    assert len(parts) <= 3
    return page.text


@pytest.mark.parametrize(("parts", "told"), QUESTIONS.values(), ids=QUESTIONS)
def test_a_question_is_answered_within_three_clicks(
    answered: Demo, guest: Browser, parts: list[str], told: str
) -> None:
    assert told in follow(guest, parts)


@pytest.mark.parametrize(("parts", "told"), OF_MEMBERS.values(), ids=OF_MEMBERS)
def test_a_member_gets_within_three_clicks_to(answered: Demo, parts: list[str], told: str) -> None:
    assert told in follow(browser(answered.house, answered.house.operator), parts)


@pytest.mark.parametrize("form", ["svg", "png", "tex"])
def test_a_picture_and_a_table_for_a_paper_are_two_clicks_away(answered: Demo, guest: Browser, form: str) -> None:
    page = guest.computed(guest.read("/").links(RANK)[0])
    [href] = page.links(f"rankings.{form}?")
    assert re.search("<svg|PNG|tabular", guest.get(href).data.decode("latin-1"))
