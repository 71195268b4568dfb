"""Plans for what is judged: a claim, and a contender at a gate."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields, replace
from typing import Any

from flask import Response
from sqlalchemy import Connection

from registry.api.baselines import reached
from registry.api.cached_results import answered, ask, settled
from registry.api.context import enter, parts
from registry.api.long_poll import unready
from registry.api.responses import json_answer
from registry.claims.grammar import read_claim
from registry.errors import Fault, Invalid, NotFound
from registry.operations.baselines import find_baseline
from registry.operations.claims import questions_of
from registry.operations.gate_questions import gate_of_model
from registry.plans import planning
from registry.plans.closed_forms import Goal
from registry.plans.planning import Means
from registry.query import ClaimPlanQuery, ClaimsQuery, GateQuery
from registry.results.codec import from_bytes, from_document, to_document
from registry.results.gates import Definition, Gate, Reachable, Subject
from registry.results.plans import GateNow, Plan

_TOO_LARGE = "the grids that it is about have more cells than claims are judged by"
_OF_GATE = "n x ((z(1 - alpha) + z(power)) x stderr / distance to the margin)^2 (Cohen 1988)"


@contextmanager
def below(pointer: str) -> Iterator[None]:
    """Faults within have their places below this one."""
    try:
        yield
    except Invalid as error:
        raise Invalid([Fault(pointer + fault.pointer, fault.detail) for fault in error.faults]) from None


def plan_of_claim(sent: Any, project: str, power: float, means: Means) -> Response:
    """What decides a claim beyond noise; `202` until it is computed."""
    with parts().database.reading() as connection:
        row = enter(connection, project, "reader")
        with below("/question/claim"):
            claim = read_claim(sent, "")
            if power <= claim.alpha:
                raise Invalid([Fault("/alpha", "must be below the power of the plan")])
            [asked] = questions_of(connection, row.id, [("", claim)]).asked
    with below("/question/claim"):
        query, found = ask(_with_power(asked, power), project)
    if not settled(found) or not answered(found):
        return unready(found, {"kind": query.kind}, "json", pending=not settled(found))
    document = from_bytes(found.document)
    if "plan" not in document:
        plan = planning.blank("claim", Goal(claim.alpha, power), "")
        return json_answer(to_document(planning.impossible(plan, "too_large", _TOO_LARGE)))
    return json_answer(to_document(planning.within_means(from_document(Plan, document["plan"]), means)))


def _with_power(asked: ClaimsQuery, power: float) -> ClaimPlanQuery:
    return ClaimPlanQuery(**{one.name: getattr(asked, one.name) for one in fields(asked)}, power=power)


def plan_of_gate(question: dict[str, Any], project: str, means: Means) -> Response:
    """What a contender lacks to pass; `202` until its verdict is computed."""
    with parts().database.reading() as connection, below("/question"):
        project_id = enter(connection, project, "reader").id
        try:
            row = find_baseline(connection, project_id, question["baseline"])
        except NotFound as error:
            raise Invalid([Fault("/baseline", error.detail)]) from None
        asked = gate_of_model(connection, project_id, row, question["contender"])
    with below("/question"):
        query, found = ask(asked, project)
    if not settled(found) or not answered(found):
        return unready(found, query.document(), "json", pending=not settled(found))
    gate = from_document(Gate, from_bytes(found.document))
    with parts().database.reading() as connection:
        can = _reachable(connection, project_id, from_document(Definition, row.definition), asked)
    return json_answer(to_document(_of_gate(gate, can, means)))


def _reachable(connection: Connection, project_id: uuid.UUID, definition: Definition, asked: GateQuery) -> Reachable:
    """What the policy can show against the baseline of this contender; nothing of a single grid."""
    if asked.contender_grid:
        return Reachable()
    if definition.subject.previous:
        definition = replace(definition, subject=Subject(model=asked.baseline_model))
    return reached(connection, project_id, definition)


def _of_gate(gate: Gate, can: Reachable, means: Means) -> Plan:
    now = GateNow(
        gate.passes,
        gate.sentence,
        gate.low,
        gate.high,
        gate.margin,
        can.can_pass,
        can.margin_shown_at_equal_scores,
        can.trials_to_decide_margin,
    )
    goal = Goal(gate.policy.alpha, one_sided=True)
    plan = replace(
        planning.blank("gate", goal, _OF_GATE), decidable_now=gate.passes is not None, observed=gate.gap, gate=now
    )
    if gate.verdict == "not_comparable":
        return planning.impossible(plan, "not_comparable", gate.sentence)
    if gate.passes is not None:
        return plan
    if gate.trials_needed is not None:
        plan = replace(plan, needed=gate.trials_needed, assumptions=planning.SCALED)
        return planning.within_means(plan, means)
    if gate.reason == "unknown_noise":
        return planning.impossible(plan, "unknown_noise", "the noise of what is judged is not known")
    return planning.impossible(plan, "on_boundary", "a gap lies on the limit of the policy, or its noise is not known")
