"""What the pages of the settings have in common: their sections with their forms, and lists in pages."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, TypeVar

from flask import Response, g, redirect, request
from sqlalchemy import Connection

from registry.api.context import parts
from registry.errors import Conflict, Fault, Invalid, PreconditionFailed
from registry.pages.administration.blueprint import administration, settings_page
from registry.pages.administration.submitting import Again, Typed, asked, by_field, carried_out, home, sent

ROWS = 50
"""Rows of a page of a list."""
_OF_PROJECT = (
    ("", "General"),
    ("members", "Members"),
    ("tokens", "Tokens"),
    ("shares", "Share links"),
    ("aliases", "Aliases"),
    ("suites", "Suites"),
    ("alerts", "Gates"),
    ("webhooks", "Webhooks"),
    ("deleted", "Deleted grids"),
    ("audit", "Audit log"),
)
_OF_ALL = (("", "Projects"), ("members", "Members"), ("tokens", "Tokens"), ("audit", "Audit log"))


Context = Callable[[Connection, Any, Typed], Mapping[str, Any]]
"""What a section's template takes beside what all take, of a project (its row) or (None) of all; it may fill in the
form that is shown."""
Act = TypeVar("Act", bound=Callable[..., str | None])
"""What a form does in a project (its row), or (None) in all, with what its path names; where its sender is led, if not
back to the section."""


def path_of(project: str | None, section: str) -> str:
    """Path of a section of the settings of a project, or (None) of all."""
    base = "/settings" if project is None else f"/projects/{project}/settings"
    return f"{base}/{section}" if section else base


class Section:
    """A section of the settings of a project, of all, or of both (`of`): its page, and the forms that stand on it."""

    def __init__(self, name: str, path: str = "", *, of: Sequence[str] = ("project",), enter: Any = home) -> None:
        self._name, self._path, self._of, self._enter = name, path, of, enter
        self._context: Context

    def page(self, context: Context) -> Context:
        """Show the section, with what `context` adds, to who may `enter` it."""
        self._context = context
        self._add("GET", "", context, lambda project, **_of_path: self.show(project, asked()))
        return context

    def form(self, path: str = "", *, conflict_at: str = "", again: Again | None = None) -> Callable[[Act], Act]:
        """Carry out what was typed and lead its sender on; with a fault, show the section again as it was typed."""

        def added(act: Act) -> Act:
            def submitted(project: str | None, **of_path: Any) -> Response:
                try:
                    location = carried_out(
                        project,
                        lambda connection, row: act(connection, row, **of_path) or (path_of(project, self._name)),
                        again,
                    )
                except Invalid as error:
                    return self.show(project, Typed(sent(), by_field(error.faults)), 422)
                except Conflict as error:
                    return self.show(project, Typed(sent(), {conflict_at: error.detail}), 409)
                except PreconditionFailed as error:
                    return self.show(project, Typed(sent(), {"": error.detail}), 412)
                parts().notifier.notify()
                response: Response = redirect(location, 303)  # type: ignore[assignment]
                response.headers["Cache-Control"] = "no-store"
                return response

            self._add("POST", path, act, submitted)
            return act

        return added

    def show(self, project: str | None, typed: Typed, status: int = 200, **more: Any) -> Response:
        """The page with what stands in its form, and what is wrong with that."""
        with parts().database.reading() as connection:
            row = self._enter(connection, project)
            context = self._context(connection, row, typed)
        of_all = _OF_ALL if g.caller.operates else _OF_ALL[:1]
        offered = of_all if row is None else _OF_PROJECT
        common = {
            "project": row,
            "base": path_of(project, ""),
            "action": path_of(project, self._name),
            "section": self._name,
            "sections": [(path_of(project, name), title, name == self._name) for name, title in offered],
            "title": dict(offered)[self._name],
            "typed": typed.values,
            "faults": typed.faults,
            "form_id": str(uuid.uuid4()),
        }
        template = f"settings_{self._name or ('projects' if row is None else 'general')}.html"
        return settings_page(template, {**common, **context, **more}, status)

    def _add(self, method: str, path: str, named: Any, view: Callable[..., Response]) -> None:
        for of, base, project in (("project", path_of("<project>", ""), {}), ("all", "/settings", {"project": None})):
            if of in self._of:
                rule = f"{base}/{self._name}{self._path}{path}" if self._name else f"{base}{path}"
                administration.add_url_rule(rule, named.__name__, view, methods=[method], defaults=project)


@administration.app_template_filter("sentence")
def sentence(text: str) -> str:
    """A fault as a sentence: with a capital and a full stop."""
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "?")) else ".")


@administration.app_template_filter("details")
def details(told: Mapping[str, Any]) -> str:
    """What an entry of the audit log tells, in one line: a name and its value, then the next."""
    return " · ".join(f"{name.replace('_', ' ')}: {_value(name, one)}" for name, one in told.items())


def _value(name: str, told: Any) -> str:
    if name.endswith("_at") and isinstance(told, str):
        return f"{datetime.fromisoformat(told):%-d %b %Y, %H:%M} UTC"
    if isinstance(told, Mapping):
        return ", ".join(str(one) for one in told.values() if one != "")
    return ", ".join(map(str, told)) if isinstance(told, list) else str(told)


def after() -> uuid.UUID | None:
    """Where the page of the list begins, by `after` in the address; `Invalid` when that is no id."""
    text = request.args.get("after", "")
    try:
        return uuid.UUID(text) if text else None
    except ValueError:
        raise Invalid([Fault("/after", "is not a place in this list")]) from None


def cut(rows: Sequence[Any]) -> tuple[Sequence[Any], str | None]:
    """Rows that a page shows of one more, and where the next page begins."""
    return rows[:ROWS], str(rows[ROWS - 1].id) if len(rows) > ROWS else None
