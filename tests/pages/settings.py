"""Somebody who works with the forms of the settings as a browser shows them."""

from __future__ import annotations

from dataclasses import dataclass
from html.parser import HTMLParser

from werkzeug.test import TestResponse

from tests.house import House
from tests.pages.conftest import Browser, browser


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


def administrator(house: House, token: str) -> Administrator:
    return Administrator(browser(house, token))
