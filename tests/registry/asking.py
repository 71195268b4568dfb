"""Questions as a person at a terminal asks them: by names, one command each, the answer waited for.

A command is one run of `curl -L`: a request, and one more where `/projects/{project}/grid…` redirects to the grid that
has these names. Commands are counted; what checks an answer afterwards is asked outside.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlencode

from flask import Flask
from werkzeug.test import TestResponse

from tests.house import House, Project

Query = Mapping[str, Any]


@dataclass
class Terminal:
    """A person with a token of one project; counts what is sent."""

    project: Project
    role: str = "reader"
    sent: list[str] = field(default_factory=list)

    def ask(self, path: str, method: str = "GET", json: Any = None, **query: Any) -> TestResponse:
        """One command about the project; parameters with a dot in their names go as `**{"at.Length": "8"}`."""
        self.sent.append(f"{method} {path}")
        text = urlencode(query, doseq=True)
        address = f"projects/{self.project.slug}{path}"
        answer = self._send(method, f"{address}?{text}" if text else address, json)
        if answer.status_code == 307 and path.startswith("/grid"):
            answer = self._send(method, answer.headers["Location"], json)
        assert answer.status_code in (200, 201, 204), answer.text
        return answer

    def _send(self, method: str, path: str, json: Any) -> TestResponse:
        return self.project.call(method, path, self.role, json=json, headers={"Prefer": "wait=10"})


@contextmanager
def commands(project: Project, most: int, role: str = "reader") -> Iterator[Terminal]:
    """A terminal that may send so many commands."""
    terminal = Terminal(project, role)
    yield terminal
    assert 0 < len(terminal.sent) <= most, terminal.sent


@contextmanager
def computed_at_once(house: House) -> Iterator[None]:
    """Compute whatever is due as soon as the application wakes the dispatcher: `Prefer: wait=10` finds it done."""
    app: Flask = house.app
    usual = app.extensions["registry"]
    app.extensions["registry"] = replace(usual, notifier=_Worker(house))
    yield
    app.extensions["registry"] = usual


@dataclass(frozen=True)
class _Worker:
    """In place of the notifier: does the work that it would announce."""

    house: House

    def notify(self) -> None:
        self.house.compute()
