"""Alerts that people may acknowledge or dismiss."""

from __future__ import annotations

import uuid
from functools import partial
from typing import Any, get_args

from flask import Response, request
from marshmallow import Schema
from sqlalchemy import Connection

from registry.api.audit_log import actor
from registry.api.context import parts
from registry.api.fields import Choice, Whole
from registry.api.grid_fields import Markdown
from registry.errors import NotFound
from registry.operations import acts
from registry.operations.alerts import find_alert, list_alerts, tag_of
from registry.pages.administration.blueprint import administration
from registry.pages.administration.layout import ROWS, path_of, show_section
from registry.pages.administration.submitting import Typed, asked, home, read_form, submitted
from registry.pages.gates import where
from registry.results.verdicts import DismissalReason

_ANSWERS = (
    ("acknowledged", "It is right: somebody sees to it"),
    ("expected", "Dismiss: it is right, and expected"),
    ("fixed_elsewhere", "Dismiss: it is right, and fixed elsewhere"),
    ("noise", "Dismiss: it is noise"),
    ("wrong", "Dismiss: it is wrong"),
)


class _Answer(Schema):
    answer = Choice("acknowledged", *get_args(DismissalReason), required=True)
    note = Markdown(load_default="")
    version = Whole(1, 2**31 - 1, required=True)


@administration.get("/projects/<project>/settings/alerts")
def alerts(project: str) -> Response:
    """The alerts that are not resolved, and a form for the one that the address names."""
    return _alerts(project, asked(), 200)


def _alerts(project: str, typed: Typed, status: int) -> Response:
    with parts().database.reading() as connection:
        row = home(connection, project)
        found = list_alerts(connection, row.id, {"state": ("open", "acknowledged", "dismissed")}, None, ROWS + 1)
        chosen = _chosen(connection, row.id)
    context: dict[str, Any] = {
        "rows": [(one, where(one)) for one in found[:ROWS]],
        "more": len(found) > ROWS,
        "chosen": chosen,
        "chosen_where": "" if chosen is None else where(chosen),
        "answers": _ANSWERS,
        "usual": "acknowledged" if chosen is None else chosen.reason or "acknowledged",
    }
    return show_section(row, "alerts", typed, status, **context)


def _chosen(connection: Connection, project_id: uuid.UUID) -> Any:
    """The alert that the address names, if it is not resolved."""
    try:
        named = uuid.UUID(str((request.view_args or {}).get("alert") or request.args.get("alert", "")))
        found = find_alert(connection, project_id, named)
    except (ValueError, NotFound):
        return None
    return None if found.state == "resolved" else found


@administration.post("/projects/<project>/settings/alerts/<uuid:alert>")
def answer_alert(project: str, alert: uuid.UUID) -> Response:
    """Acknowledge or dismiss an alert, unless it changed since the form was shown."""

    def act(connection: Connection, row: Any) -> str:
        sent = read_form(_Answer())
        word = sent["answer"]
        said = {"state": "acknowledged"} if word == "acknowledged" else {"state": "dismissed", "reason": word}
        found = find_alert(connection, row.id, alert)
        expect = (f"{sent['version']}{tag_of(found).removeprefix(str(found.version))}",)
        acts.answer_alert(connection, actor(connection), row.id, alert, said | {"note": sent["note"]}, expect)
        return path_of(project, "alerts")

    return submitted(project, partial(_alerts, project), act, conflict_at="answer")
