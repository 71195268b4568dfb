"""What the pages of the settings have in common: their sections, and lists in pages."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from flask import Response, request

from registry.errors import Fault, Invalid
from registry.pages.administration.blueprint import administration, settings_page
from registry.pages.administration.submitting import Typed

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


def base_of(project: str | None) -> str:
    """Path of the settings of a project, or (None) of all."""
    return "/settings" if project is None else f"/projects/{project}/settings"


def path_of(project: str | None, section: str) -> str:
    """Path of a section of the settings."""
    return f"{base_of(project)}/{section}" if section else base_of(project)


def show_section(
    row: Any, section: str, typed: Typed, status: int = 200, *, operator: bool = True, **context: Any
) -> Response:
    """The page of a section of a project (its row) or, with None, of all, of which an `operator` has every section."""
    slug = None if row is None else row.slug
    offered = _OF_PROJECT if row is not None else _OF_ALL if operator else _OF_ALL[:1]
    common = {
        "project": row,
        "base": base_of(slug),
        "action": path_of(slug, section),
        "section": section,
        "sections": [(path_of(slug, name), title, name == section) for name, title in offered],
        "title": dict(offered)[section],
        "typed": typed.values,
        "faults": typed.faults,
        "form_id": str(uuid.uuid4()),
    }
    template = f"settings_{section or ('projects' if row is None else 'general')}.html"
    return settings_page(template, common | context, status)


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
