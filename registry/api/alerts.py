"""Routes of the alerts that baselines raise: list and read them, acknowledge or dismiss one."""

from __future__ import annotations

import uuid
from typing import Any, get_args

from flask import Response
from marshmallow import ValidationError, fields, validates_schema
from sqlalchemy import Connection

from registry.api import examples
from registry.api.baselines import NAME, NAME_RULE
from registry.api.context import actor, enter, parts
from registry.api.fields import Body, Choice, Matching
from registry.api.grid_fields import Markdown
from registry.api.idempotency import idempotent_write
from registry.api.paging import page, read_key, write_key
from registry.api.responses import expected_tags, json_answer
from registry.api.schemas import PageParameters, about
from registry.api.smorest import Blueprint, reply
from registry.operations.alerts import alert_of, answer_alert, find_alert, list_alerts
from registry.operations.baselines import tag_of
from registry.results.alerts import AlertState, DismissalReason
from registry.results.codec import to_document

_ID = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"


class AlertChange(Body):
    """What an alert was: real, or dismissed for a reason."""

    state = Choice("acknowledged", "dismissed", required=True, metadata=about("What is made of it."))
    reason = Choice(
        *get_args(DismissalReason),
        metadata=about("dismissed: `noise` and `wrong` count against the baseline's precision, the others for it."),
    )
    note = Markdown(metadata=about("For people; it stays if not given."))

    @validates_schema
    def _check_reason(self, data: dict[str, Any], **_options: Any) -> None:
        if data.get("state") == "dismissed" and "reason" not in data:
            raise ValidationError("is required for a dismissal", "reason")
        if data.get("state") == "acknowledged" and "reason" in data:
            raise ValidationError("is of a dismissal", "reason")


class AlertsParameters(PageParameters):
    state = fields.List(Choice(*get_args(AlertState)), load_default=list, metadata=about("Only these; repeat for OR."))
    baseline = Matching(NAME, f"the name of a baseline {NAME_RULE}", metadata=about("Only alerts of this baseline."))
    cursor = Matching(
        f"[0-9a-f]{{1,14}}~{_ID}", "is not a cursor of this list", metadata=about("`next` of the page before.")
    )


blp = Blueprint("alerts", "What contenders were shown to lose.")


@blp.get("/projects/<project>/alerts", operation="listAlerts")
@blp.arguments(AlertsParameters, location="query")
@blp.answers(reply(200, "A page of alerts", "Alerts", headers=["Link"]), public=True)
def list_all(query: dict[str, Any], project: str) -> Response:
    """List the alerts

    The last opened first. A verdict that fails opens one for what failed: everything together, a benchmark or a cell.
    """
    after: Any = read_key(query["cursor"], "opened_at") if "cursor" in query else None
    filters = {"state": query["state"]} if query["state"] else {}
    filters |= {"baseline": [query["baseline"]]} if "baseline" in query else {}
    with parts().database.reading() as connection:
        row = enter(connection, project, "reader")
        found = list_alerts(connection, row.id, filters, after, query["limit"] + 1)
    return page(found, query["limit"], document, lambda one: write_key(one.opened_at, one.id))


def document(row: Any) -> dict[str, Any]:
    """An alert as it is sent."""
    found: dict[str, Any] = to_document(alert_of(row))
    return found


@blp.get("/projects/<project>/alerts/<uuid:alert>", operation="getAlert")
@blp.answers(reply(200, "The alert", "Alert", headers=["ETag"]), public=True)
def read_alert(project: str, alert: uuid.UUID) -> Response:
    """Read an alert

    With the sentence of the verdict that failed last.
    """
    with parts().database.reading() as connection:
        row = find_alert(connection, enter(connection, project, "reader").id, alert)
    return _answer(row)


@blp.patch("/projects/<project>/alerts/<uuid:alert>", operation="updateAlert")
@blp.arguments(AlertChange, example=examples.ALERT_CHANGE)
@blp.answers(reply(200, "The alert", "Alert", headers=["ETag"]), parameters=["If-Match"])
@idempotent_write()
def change_alert(connection: Connection, row: Any, sent: dict[str, Any], project: str, alert: uuid.UUID) -> Response:
    """Acknowledge or dismiss an alert

    One that is dismissed stays so while it goes on failing. A verdict that passes resolves any; a failure after that
    opens it again.
    """
    return _answer(answer_alert(connection, actor(connection), row.id, alert, sent, expected_tags()))


def _answer(row: Any) -> Response:
    return json_answer(document(row), ETag=f'"{tag_of(row)}"')
