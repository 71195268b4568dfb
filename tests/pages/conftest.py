"""Pages as a browser asks for them, and the demonstration's grids with their statistics."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from html.parser import HTMLParser

import pytest
from werkzeug.test import Client, TestResponse

from registry import create_app
from registry.demo import publish_demo
from registry.settings import Settings
from registry.storage.database import Database
from tests.conftest import clone
from tests.house import House

IMPLIED = ("dt", "dd")
"""Ended by the next of them and by the end of their list, as HTML has it."""
VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}


class Outline(HTMLParser):
    """Reads a page strictly: what is opened is closed in order, ids are unique, no style or script is inline."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.opened: list[str] = []
        self.ids: list[str] = []
        self.faults: list[str] = []
        self.texts: list[str] = []
        self.attributes: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)
        self.close()
        self.faults += [f"{tag} is never closed" for tag in self.opened]
        self.faults += [f"id {one} is not unique" for one in set(self.ids) if self.ids.count(one) > 1]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.attributes.append((tag, given))
        self.faults += [f"{tag} has {name}" for name in given if name == "style" or name.startswith("on")]
        if tag == "style" or (tag == "script" and "src" not in given):
            self.faults.append(f"inline {tag}")
        if "id" in given:
            self.ids.append(given["id"] or "")
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

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.texts).split())


@dataclass
class Browser:
    """A client with cookies that asks for HTML and reads what it gets strictly."""

    client: Client

    def get(self, path: str, **headers: str) -> TestResponse:
        sent = {"Accept": "text/html,*/*;q=0.8"} | {name.replace("_", "-"): text for name, text in headers.items()}
        return self.client.get(path, headers=sent)

    def read(self, path: str, status: int = 200) -> Outline:
        answer = self.get(path)
        assert answer.status_code == status, answer.text
        assert answer.content_type == "text/html; charset=utf-8"
        outline = Outline(answer.text)
        assert outline.faults == []
        return outline

    def post(self, path: str, form: dict[str, str], **headers: str) -> TestResponse:
        sent = {name.replace("_", "-"): text for name, text in headers.items()} or {"Sec-Fetch-Site": "same-origin"}
        return self.client.post(path, data=form, headers=sent)


def browser(house: House) -> Browser:
    return Browser(house.app.test_client())


@pytest.fixture
def visitor(house: House) -> Browser:
    """Somebody who has not signed in."""
    return browser(house)


@dataclass(frozen=True)
class Demo:
    """The demonstration's grids by seed, with statistics."""

    house: House
    grids: dict[str, list[str]]

    @property
    def seed0(self) -> str:
        return f"/grids/{self.grids['0'][0]}"


@pytest.fixture(scope="session")
def demo(servers: tuple[str, str], template: str, redis_url: str) -> Iterator[Demo]:
    """The demonstration, computed, in a database to which other tests may add projects."""
    yield from demonstrations(servers, template, redis_url)


def demonstrations(servers: tuple[str, str], template: str, redis_url: str) -> Iterator[Demo]:
    """Yield once: the demonstration in a database of its own, computed."""
    for url in clone(servers, template):
        # On a busy machine five hundred grids in one request take longer than a request has in life.
        patient = {"request_timeout": 120.0, "statement_timeout": 60.0}
        settings = replace(Settings(), database_url=url, redis_url=redis_url, ranking_debounce=0.0, **patient)
        database = Database(settings, name="tests")
        house = House(create_app(settings), database, settings)
        publish_demo(database)
        house.compute()
        found: dict[str, list[str]] = {}
        for grid in house.call("GET", "projects/demo/grids?sort=created_at").get_json()["items"]:
            found.setdefault(grid["labels"]["seed"], []).append(grid["id"])
        yield Demo(house, found)
        database.close()


@pytest.fixture
def guest(demo: Demo) -> Browser:
    """Somebody who looks at the demonstration without a token."""
    return browser(demo.house)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """No page waits for an answer: where nothing is computed meanwhile it would wait in vain."""
    monkeypatch.setattr("registry.api.cached_results.waited", lambda look, _settled, _patience, _most: look())
