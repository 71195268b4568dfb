"""Routes of gates: judge a contender of a baseline, list the verdicts that it gave, answer the alerts it raised."""

import uuid
from typing import Any, get_args

from flask import Response
from marshmallow import ValidationError, fields, validates_schema
from sqlalchemy import Connection

from registry.api import examples
from registry.api.answers import answer_once, answer_to
from registry.api.baselines import NAME, NAME_RULE, GateParameters, VerdictsParameters
from registry.api.context import actor, asks, authorize_body, enter, entered, parts
from registry.api.fields import Body, Choice, Matching
from registry.api.grid_fields import Markdown
from registry.api.idempotency import idempotent_write
from registry.api.paging import page, read_key, write_key
from registry.api.publication import OF_A_GRID_SENT, read_grid
from registry.api.request_body import sent_json
from registry.api.responses import expected_tags, json_answer, of_values, wanted_form
from registry.api.schemas import ID, PageParameters, about, cursor_of
from registry.api.smorest import Blueprint, ready, reply
from registry.operations.alerts import alert_of, answer_alert, find_alert, list_alerts, list_verdicts, verdict_of
from registry.operations.baselines import find_baseline, tag_of
from registry.operations.gate_questions import gate_of_content, gate_of_model
from registry.renderings.gate import case_of, markdown, text
from registry.results.alerts import AlertState, DismissalReason
from registry.results.codec import to_document
from registry.results.gates import Gate

blp = Blueprint("gates", "Whether a contender is as good as a baseline.")

_FORMS = ("json", "txt", "md")
_RENDERERS = of_values(Gate, {"txt": lambda found: text(case_of(found)), "md": lambda found: markdown(case_of(found))})
_JUDGED = "The verdict, or why it failed"


@blp.in_forms(
    "/projects/<project>/baselines/<baseline>/gate", "getGate", _FORMS, GateParameters, _JUDGED, "Gate", computed=True
)
def read_gate(query: dict[str, Any], project: str, baseline: str, suffix: str | None = None) -> Response:
    """Judge a contender

    A model on all benchmarks of the baseline, or one grid on its own. A pass is shown: without common cells, with
    missing ones or too few trials there is none. Computed when it is first asked, and again when a grid changes.
    """
    with parts().database.reading() as connection:
        project_id = enter(connection, project, "reader").id
        row = find_baseline(connection, project_id, baseline)
        question = gate_of_model(connection, project_id, row, query["contender"])
    return answer_to(question, project, wanted_form(suffix, _FORMS), _RENDERERS)


@blp.post("/projects/<project>/baselines/<baseline>/gate", operation="judgeGrid", writes=False)
@blp.answers(
    reply(200, _JUDGED, ready("Gate"), example="gate"),
    reply(202, "Pending"),
    **OF_A_GRID_SENT,
)
@asks
def judge_grid(project: str, baseline: str) -> Response:
    """Judge a grid that is not published

    As if it were the contender's grid on its benchmark; nothing is stored, and the verdict is forgotten once given.
    """
    authorize_body()
    submission = read_grid(sent_json(), parts().limits)
    with parts().database.reading() as connection:
        project_id = enter(connection, project, "reader").id
        row = find_baseline(connection, project_id, baseline)
        question = gate_of_content(connection, project_id, row, submission)
    return answer_once(question, project, {"baseline_name": baseline})


verdicts_blp = Blueprint("verdicts", "What baselines found by themselves.")


@verdicts_blp.get("/projects/<project>/baselines/<baseline>/verdicts", operation="listVerdicts")
@verdicts_blp.arguments(VerdictsParameters, location="query")
@verdicts_blp.answers(reply(200, "A page of verdicts", "StoredVerdicts", headers=["Link"]), public=True)
def list_all_verdicts(query: dict[str, Any], project: str, baseline: str) -> Response:
    """List the verdicts of a baseline

    The last first. A contender is judged when the baseline is set and when a grid of either side has changed since its
    last verdict; a verdict never changes.
    """
    before = int(query["cursor"]) if "cursor" in query else None
    with parts().database.reading() as connection:
        row = find_baseline(connection, enter(connection, project, "reader").id, baseline)
        found = list_verdicts(connection, row, query.get("contender"), before, query["limit"] + 1)
    return page(found, query["limit"], lambda one: to_document(verdict_of(one)), lambda one: str(one.number))


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
    cursor = cursor_of(f"[0-9a-f]{{1,14}}~{ID}")


alerts_blp = Blueprint("alerts", "What contenders were shown to lose.")


@alerts_blp.get("/projects/<project>/alerts", operation="listAlerts")
@alerts_blp.arguments(AlertsParameters, location="query")
@alerts_blp.answers(reply(200, "A page of alerts", "Alerts", headers=["Link"]), public=True)
def list_all_alerts(query: dict[str, Any], project: str) -> Response:
    """List the alerts

    The last opened first. A verdict that fails opens one for what failed: everything together, a benchmark or a cell.
    """
    after: Any = read_key(query["cursor"], "opened_at") if "cursor" in query else None
    filters = {"state": query["state"]} if query["state"] else {}
    filters |= {"baseline": [query["baseline"]]} if "baseline" in query else {}
    with entered(project) as (connection, row):
        found = list_alerts(connection, row.id, filters, after, query["limit"] + 1)
    return page(found, query["limit"], document, lambda one: write_key(one.opened_at, one.id))


def document(row: Any) -> dict[str, Any]:
    """An alert as it is sent."""
    found: dict[str, Any] = to_document(alert_of(row))
    return found


@alerts_blp.get("/projects/<project>/alerts/<uuid:alert>", operation="getAlert")
@alerts_blp.answers(reply(200, "The alert", "Alert", headers=["ETag"]), public=True)
def read_alert(project: str, alert: uuid.UUID) -> Response:
    """Read an alert

    With the sentence of the verdict that failed last.
    """
    with parts().database.reading() as connection:
        row = find_alert(connection, enter(connection, project, "reader").id, alert)
    return _answer(row)


@alerts_blp.patch("/projects/<project>/alerts/<uuid:alert>", operation="updateAlert")
@alerts_blp.arguments(AlertChange, example=examples.ALERT_CHANGE)
@alerts_blp.answers(reply(200, "The alert", "Alert", headers=["ETag"]), parameters=["If-Match"])
@idempotent_write()
def change_alert(connection: Connection, row: Any, sent: dict[str, Any], project: str, alert: uuid.UUID) -> Response:
    """Acknowledge or dismiss an alert

    One that is dismissed stays so while it goes on failing. A verdict that passes resolves any; a failure after that
    opens it again.
    """
    return _answer(answer_alert(connection, actor(connection), row.id, alert, sent, expected_tags()))


def _answer(row: Any) -> Response:
    return json_answer(document(row), ETag=f'"{tag_of(row)}"')
