"""Routes of gates: judge a contender of a baseline, and list the verdicts that the baseline gave by itself."""

from __future__ import annotations

from typing import Any

from flask import Response

from registry.api import examples
from registry.api.baselines import GateParameters, VerdictsParameters
from registry.api.cached_results import answer_to, answered, ask, settled
from registry.api.context import asks, authorize_body, enter, parts
from registry.api.long_poll import unready
from registry.api.paging import page
from registry.api.publication import read_grid
from registry.api.request_body import sent_json
from registry.api.responses import json_answer, of_values, wanted_form
from registry.api.smorest import Blueprint, ready, reply
from registry.operations.alerts import list_verdicts, verdict_of
from registry.operations.baselines import find_baseline
from registry.operations.cached_results import forget_result
from registry.operations.gate_questions import gate_of_content, gate_of_model
from registry.renderings.gate import case_of, markdown, text
from registry.results.codec import from_bytes, to_document
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
    errors=[413],
    public=True,
    parameters=["Prefer"],
    requestBody={
        "required": True,
        "content": {
            "application/json": {"schema": {"$ref": "#/components/schemas/GridIn"}, "example": examples.GRID_IN}
        },
    },
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
        asked = gate_of_content(connection, project_id, row, submission)
    question, found = ask(asked, project)
    if not settled(found):
        return unready(found, {"kind": question.kind, "baseline_name": baseline}, "json", pending=True)
    with parts().database.transaction() as connection:
        forget_result(connection, found.id)
    if not answered(found):
        return unready(found, {"kind": question.kind, "baseline_name": baseline}, "json", pending=False)
    return json_answer(from_bytes(found.document))


verdicts_blp = Blueprint("verdicts", "What baselines found by themselves.")


@verdicts_blp.get("/projects/<project>/baselines/<baseline>/verdicts", operation="listVerdicts")
@verdicts_blp.arguments(VerdictsParameters, location="query")
@verdicts_blp.answers(reply(200, "A page of verdicts", "StoredVerdicts", headers=["Link"]), public=True)
def list_all(query: dict[str, Any], project: str, baseline: str) -> Response:
    """List the verdicts of a baseline

    The last first. A contender is judged when the baseline is set and when a grid of either side has changed since its
    last verdict; a verdict never changes.
    """
    before = int(query["cursor"]) if "cursor" in query else None
    with parts().database.reading() as connection:
        row = find_baseline(connection, enter(connection, project, "reader").id, baseline)
        found = list_verdicts(connection, row, query.get("contender"), before, query["limit"] + 1)
    return page(found, query["limit"], lambda one: to_document(verdict_of(one)), lambda one: str(one.number))
