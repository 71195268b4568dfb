"""The audit log, by act, actor and day."""

from __future__ import annotations

from datetime import date
from typing import Any

from flask import request
from sqlalchemy import Connection

from registry.errors import Fault, Invalid
from registry.grids.intake.levels import has_control
from registry.operations.audit_log import ACTIONS, RecordFilter, find_records
from registry.pages.administration.layout import ROWS, Section, after, cut
from registry.pages.administration.submitting import Typed

ACTS = sorted(ACTIONS)


AUDIT = Section("audit", of=("project", "all"))


@AUDIT.page
def audit(connection: Connection, row: Any, _typed: Typed) -> dict[str, Any]:
    """The newest entries first, as many as a page has."""
    wanted = RecordFilter(_act(), _actor(), _day())
    rows, more = cut(find_records(connection, row and row.id, wanted, after(), ROWS + 1))
    return {"rows": rows, "more": more, "acts": ACTS}


def _act() -> str:
    text = request.args.get("act", "")
    if text and text not in ACTS:
        raise Invalid([Fault("/act", f"is none of {', '.join(ACTS)}")])
    return text


def _actor() -> str:
    text = request.args.get("actor", "").strip()
    if has_control(text):
        raise Invalid([Fault("/actor", "must not hold control characters")])
    return text


def _day() -> date | None:
    text = request.args.get("day", "")
    try:
        return date.fromisoformat(text) if text else None
    except ValueError:
        raise Invalid([Fault("/day", "is a day such as 2026-11-21")]) from None
