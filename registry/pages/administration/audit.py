"""Settings: the audit log, by act, actor and day."""

from datetime import date
from typing import Any

from flask import request
from sqlalchemy import Connection

from registry.errors import Fault, Invalid
from registry.operations.audit_log import ACTIONS, RecordFilter, find_records
from registry.pages.administration.layout import ROWS, Section, Typed, after, cut
from registry.pages.parameters import argument, choice

ACTS = sorted(ACTIONS)
_NO_TEXT = "must not hold control characters"


AUDIT = Section("audit", of=("project", "all"))


@AUDIT.page
def audit(connection: Connection, row: Any, _typed: Typed) -> dict[str, Any]:
    """The newest entries first, as many as a page has."""
    wanted = RecordFilter(choice("act", ACTS), argument("actor", r"[^\x00-\x1f\x7f-\x9f]*", _NO_TEXT).strip(), _day())
    rows, more = cut(find_records(connection, row and row.id, wanted, after(), ROWS + 1))
    return {"rows": rows, "more": more, "acts": ACTS}


def _day() -> date | None:
    text = request.args.get("day", "")
    try:
        return date.fromisoformat(text) if text else None
    except ValueError:
        raise Invalid([Fault("/day", "is a day such as 2026-11-21")]) from None
