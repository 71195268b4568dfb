"""Pages as a browser asks for them, and the demonstration's grids with their statistics."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urlsplit

import pytest
from werkzeug.test import Client, TestResponse

from registry import create_app
from registry.demo import demo_claims, publish_demo
from registry.settings import Settings
from registry.storage.database import Database
from tests.conftest import clone
from tests.house import ENDED, House, Project

IMPLIED = ("dt", "dd")
"""Ended by the next of them and by the end of their list, as HTML has it."""
VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}


class Outline(HTMLParser):
    """Reads a page strictly: what is opened is closed in order, ids and h2s are unique, no style or script inline."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.opened: list[str] = []
        self.ids: list[str] = []
        self.faults: list[str] = []
        self.texts: list[str] = []
        self.heads: list[str] = []
        self.attributes: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)
        self.close()
        self.faults += [f"{tag} is never closed" for tag in self.opened]
        for kind, all_ in ("id", self.ids), ("h2", self.heads):
            self.faults += [f"{kind} {one} is not unique" for one in set(all_) if all_.count(one) > 1]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.attributes.append((tag, given))
        self.faults += [f"{tag} has {name}" for name in given if name == "style" or name.startswith("on")]
        if tag == "style" or (tag == "script" and "src" not in given):
            self.faults.append(f"inline {tag}")
        if "id" in given:
            self.ids.append(given["id"] or "")
        self.heads += [""] * (tag == "h2")
        if tag in IMPLIED and self.opened[-1:] and self.opened[-1] in IMPLIED:
            self.opened.pop()
        if tag not in VOID:
            self.opened.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.opened.pop()

    def handle_endtag(self, tag: str) -> None:
        if tag == "dl" and self.opened[-1:] and self.opened[-1] in IMPLIED:
            self.opened.pop()
        if not self.opened or self.opened.pop() != tag:
            self.faults.append(f"</{tag}> closes what was not opened last, line {self.getpos()[0]}")

    def handle_data(self, data: str) -> None:
        self.texts.append(data)
        if "h2" in self.opened:
            self.heads[-1] += data

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.texts).split())

    def links(self, part: str = "") -> list[str]:
        """The addresses that hold this, in order."""
        return [href for _, given in self.attributes if part in (href := given.get("href") or "") and href]

    def all(self, tag: str, **having: str) -> list[dict[str, Any]]:
        """The attributes of each element of this name that has these."""
        return [given for name, given in self.attributes if name == tag and having.items() <= given.items()]

    def options(self, name: str) -> list[list[tuple[str, bool]]]:
        """The options of each select of this name: its value, and whether it is selected."""
        found: list[list[tuple[str, bool]]] = []
        inside = False
        for tag, given in self.attributes:
            if tag in ("select", "datalist"):
                inside = tag == "select" and given.get("name") == name
                found += [[]] if inside else []
            elif tag == "option" and inside:
                found[-1].append((given.get("value") or "", "selected" in given))
        return found

    @property
    def following(self) -> str:
        """The address of the next page of a list; empty on its last."""
        return next((given["href"] or "" for _, given in self.attributes if given.get("rel") == "next"), "")

    @property
    def maps(self) -> int:
        return len(self.all("table", role="grid"))

    @property
    def description(self) -> str:
        """What is told where the page is linked."""
        [found] = self.all("meta", property="og:description")
        return str(found["content"])


@dataclass
class Browser:
    """A client with cookies that asks for HTML and reads what it gets strictly."""

    house: House
    client: Client

    def get(self, path: str, **headers: str) -> TestResponse:
        sent = {"Accept": "text/html,*/*;q=0.8"} | {name.replace("_", "-"): text for name, text in headers.items()}
        answer = self.client.get(path, headers=sent)
        # What has moved for good is followed, as a browser does.
        return self.get(answer.headers["Location"], **headers) if answer.status_code == 308 else answer

    def read(self, path: str, status: int = 200) -> Outline:
        answer = self.opened(path)
        assert answer.status_code == status, (path, answer.text)
        assert answer.content_type == "text/html; charset=utf-8"
        outline = Outline(answer.text)
        assert outline.faults == []
        return outline

    def opened(self, path: str) -> TestResponse:
        """The page that this address leads to in the end."""
        answer = self.get(path)
        return self.opened(answer.headers["Location"]) if answer.status_code == 303 else answer

    def computed(self, path: str) -> Outline:
        """The page once its answer is there, and what it asks then."""
        for _ in range(2):
            self.opened(path)
            self.house.compute()
        return self.read(path)

    def follow(self, path: str) -> Iterator[Outline]:
        """A page of a list and those that follow it."""
        while path:
            page = self.read(path)
            yield page
            path = page.following

    def post(self, path: str, form: dict[str, str], **headers: str) -> TestResponse:
        sent = {name.replace("_", "-"): text for name, text in headers.items()} or {"Sec-Fetch-Site": "same-origin"}
        return self.client.post(path, data=form, headers=sent)


def browser(house: House, token: str | None = None) -> Browser:
    """Somebody who has signed in with this token, or with none."""
    made = Browser(house, house.app.test_client())
    if token is not None:
        assert made.post("/sign-in", {"token": token}).status_code == 303
    return made


class Forms(HTMLParser):
    """The forms of a page by their paths: hidden fields, and what is typed or chosen."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.forms: dict[str, dict[str, str]] = {}
        self.named: dict[str, dict[str, str]] = {}
        self.faults: dict[str, str] = {}
        self._open: dict[str, str] = {}
        self._fault = self._area = self._select = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: text or "" for name, text in attrs}
        if tag == "form":
            self._open = self.forms.setdefault(given.get("action", ""), {})
            self.named[given.get("id", "")] = self._open
        elif tag == "button" and "formaction" in given:
            own = {given["name"]: given["value"]} if "name" in given else {}
            self.forms[given["formaction"]] = self.named[given["form"]] | own
        elif tag == "input" and "name" in given:
            self._open[given["name"]] = given.get("value", "")
        elif tag == "textarea":
            self._area = given["name"]
            self._open[self._area] = ""
        elif tag == "select":
            self._select = given["name"]
        elif tag == "option" and (self._select not in self._open or "selected" in given):
            self._open[self._select] = given.get("value", "")
        elif given.get("id", "").endswith("-fault"):
            self._fault = given["id"].removesuffix("-fault")

    def handle_endtag(self, tag: str) -> None:
        self._fault = ""
        self._area = "" if tag == "textarea" else self._area

    def handle_data(self, data: str) -> None:
        if self._fault:
            self.faults[self._fault] = data
        if self._area:
            self._open[self._area] += data.removeprefix("\n")


@dataclass
class Administrator:
    """A browser that is signed in."""

    browser: Browser

    def open(self, page: str) -> Forms:
        self.browser.read(page)
        return Forms(self.browser.get(page).text)

    def send(self, page: str, path: str = "", /, **typed: str) -> TestResponse:
        """Open the page, fill in the form at the path (the page's own) and send it."""
        return self.browser.post(path or page, self.open(page).forms[path or page] | typed)


@pytest.fixture
def admin(project: Project) -> Administrator:
    """Somebody who administers the project."""
    return Administrator(browser(project.house, project.tokens["admin"]))


@pytest.fixture
def page(project: Project) -> str:
    """The path of the settings of the project."""
    return f"/projects/{project.slug}/settings"


@pytest.fixture
def visitor(house: House) -> Browser:
    """Somebody who has not signed in."""
    return browser(house)


@pytest.fixture
def public(house: House) -> Iterator[Project]:
    """A project that everybody may read."""
    made = house.make_project("public")
    yield made
    ENDED.append(made)


def share(project: "Project | Demo", path: str) -> str:
    """The path and query of a link that opens this path of a private project."""
    house = project.house
    made = house.call("POST", f"projects/{project.slug}/shares", token=house.operator, json={"path": path})
    assert made.status_code == 201, made.text
    split = urlsplit(made.get_json()["url"])
    return f"{split.path}?{split.query}"


DOCUMENTS = ("seed_0.txt", "seed_1.txt", "seed_2.txt")
"""Those whose sentences are posted as claims: judging all takes longer than everything else."""


@dataclass(frozen=True)
class Demo:
    """The demonstration's grids by seed, with statistics."""

    house: House
    grids: dict[str, list[str]]
    slug: str = "demo"

    @property
    def seed0(self) -> str:
        return f"/grids/{self.grids['0'][0]}"

    @cached_property
    def of_amc23(self) -> dict[str, str]:
        """The grids of 4 windows and 5 ratios of seeds 2 and 4 by their models."""
        listed = self.house.call("GET", "projects/demo/grids?benchmark=AMC23").get_json()["items"]
        return {one["model"]: one["id"] for one in listed}

    @property
    def pair(self) -> str:
        """The comparison of these two."""
        models = self.of_amc23
        return f"/projects/demo/comparisons?baseline={models['R1-Qwen']}&contender={models['R1-Llama']}"

    def answer(self, path: str) -> Any:
        """What the API says of the demonstration."""
        return self.house.call("GET", path.removeprefix("/")).get_json()


@pytest.fixture(scope="session")
def demo(servers: tuple[str, str], template: str, redis_url: str) -> Iterator[Demo]:
    """The demonstration with some of its claims, computed, in a database that holds nothing else."""
    for url in clone(servers, template):
        patient = {
            "request_timeout": 120.0,
            "statement_timeout": 60.0,
            "max_open_questions": 1_000,
        }  # for busy machines
        settings = replace(Settings(), database_url=url, redis_url=redis_url, ranking_debounce=0.0, **patient)
        database = Database(settings, name="tests")
        house = House(create_app(settings), database, settings)
        with pytest.MonkeyPatch.context() as patch:
            claims = [one for one in demo_claims() if one["source"]["url"] in DOCUMENTS]
            patch.setattr("registry.demo.demo_claims", claims.copy)
            publish_demo(database)
        house.compute()
        found: dict[str, list[str]] = {}
        for grid in house.call("GET", "projects/demo/grids?sort=created_at").get_json()["items"]:
            found.setdefault(grid["labels"]["seed"], []).append(grid["id"])
        yield Demo(house, found)
        database.close()


WINDOWS = "experiment=window-by-ratio&metric=Pass@1"
PATHS = (
    "/",
    "/projects/demo",
    "/projects/demo/grids?experiment=window-by-ratio&model=R1-Qwen&sort=benchmark",
    "/projects/demo/results",
    f"/projects/demo/results?view=heatmaps&{WINDOWS}",
    f"/projects/demo/results?view=heatmaps&{WINDOWS}&model=R1-Qwen&range=30.7,88.5",
    "/projects/demo/results?view=heatmaps&experiment=size-by-progress&metric=accuracy&palette=blues",
    f"/projects/demo/results?view=ranking&{WINDOWS}",
    f"/projects/demo/results?view=ranking&{WINDOWS}&method=borda&missing=complete",
    "/projects/demo/results?view=ranking&experiment=type-by-length&metric=accuracy&by=axis:Type"
    "&benchmark=Core+Generalization",
    f"/projects/demo/results?view=table&{WINDOWS}",
    f"/projects/demo/results?view=lines&{WINDOWS}",
    "/projects/demo/comparisons",
    "/status",
    "/sign-in",
    "/docs",
    "/docs/schemas",
    "/docs/schemas/results",
)
"""Pages of the demonstration that ask for little beside what is computed anyway."""


@pytest.fixture(scope="session")
def answered(demo: Demo) -> Demo:
    """The demonstration after somebody has asked what these pages and the comparison of the pair ask."""
    for _ in range(2):
        for path in (*PATHS, demo.pair):
            Browser(demo.house, demo.house.app.test_client()).opened(path)
        demo.house.compute()
    return demo


@pytest.fixture
def guest(demo: Demo) -> Browser:
    """Somebody who looks at the demonstration without a token."""
    return browser(demo.house)


@pytest.fixture(autouse=True)
def _no_page_waits_in_vain(monkeypatch: pytest.MonkeyPatch) -> None:
    """No page waits for an answer: where nothing is computed meanwhile it would wait in vain."""
    monkeypatch.setattr("registry.api.answers.waited", lambda look, _settled, _patience, _most: look())
