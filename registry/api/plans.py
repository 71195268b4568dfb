"""Route of plans: what the next measurement takes, also for a claim, and for a contender at a gate."""

import re
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields as fields_of
from dataclasses import replace
from typing import Any, get_args

from flask import Response
from marshmallow import ValidationError, fields, validates_schema
from sqlalchemy import Connection

from registry.api import examples
from registry.api.answers import answered, ask, settled
from registry.api.baselines import reached
from registry.api.comparisons import comparison_asked, models_asked
from registry.api.context import asks, enter, entered, parts
from registry.api.fields import Body, Choice, Name, Number, PostedClaim, ShareOfOne, Whole
from registry.api.long_poll import unready
from registry.api.responses import json_answer
from registry.api.schemas import GRID_ID, about, many_names
from registry.api.smorest import Blueprint, reply
from registry.claims.grammar import read_claim
from registry.errors import Fault, Invalid, NotFound
from registry.operations.baselines import find_baseline
from registry.operations.gate_questions import gate_of_model
from registry.operations.plans import measured_of_grids, measured_of_models
from registry.operations.stored_claims import questions_of
from registry.plans import planning
from registry.plans.closed_forms import MOST_TRIALS, Goal
from registry.plans.planning import Means
from registry.query import ClaimPlanQuery, ClaimsQuery, GateQuery, Query
from registry.results.codec import from_bytes, from_document, to_document
from registry.results.comparison import ModelComparison
from registry.results.gates import Definition, Gate, Reachable, Subject
from registry.results.plans import GateNow, Plan, PlanKind

USUAL_ALPHA = 0.05
KINDS: tuple[str, ...] = get_args(PlanKind)
_OF_NAMES = ("experiment", "metric", "baseline_model", "contender_model")
_NEEDS = {
    "claim": ("claim",),
    "gate": ("baseline", "contender"),
}
"""Fields that each kind cannot do without."""
_TAKES = {
    "separate": (*_OF_NAMES, "baseline", "contender", "baseline_variant", "contender_variant", "benchmark", "variant",
                 "suite", "effect"),
}  # fmt: skip
"""Fields that a kind takes, where these are more."""
_WITHOUT = {"claim": ("alpha", "one_sided"), "gate": ("alpha", "one_sided", "budget")}
"""Settings that a kind has of its own, and those that it does not take."""
_POWER = 0.8


class PlanQuestion(Body):
    """What shall be found out."""

    kind = Choice(
        *KINDS,
        required=True,
        metadata=about(
            "`separate` two models (`experiment`, `metric`, `baseline_model`, `contender_model`) or two grids"
            " (`baseline`, `contender`); `claim`: what decides a `claim` beyond noise;"
            " `gate`: what a `contender` lacks to pass a `baseline`."
        ),
    )
    experiment = Name(metadata=about("Of both models."))
    metric = Name(metadata=about("Its name."))
    baseline_model = Name(metadata=about("Subtracted."))
    contender_model = Name(metadata=about("Subtracted from."))
    baseline_variant = Name(empty=True, metadata=about("With that of the contender, or neither."))
    contender_variant = Name(empty=True, metadata=about("Its variant."))
    benchmark = many_names("Only these.")
    variant = many_names("Only these.")
    suite = Name(empty=True, load_default="", metadata=about("The benchmarks of this suite."))
    baseline = Name(metadata=about("The id of a grid, which is subtracted; of a gate the name of the baseline."))
    contender = Name(metadata=about("The id of a grid, which is subtracted from; of a gate a model or such an id."))
    effect = Number(metadata=about("In the metric's unit; else the measured one."))
    claim = PostedClaim(metadata=about("A claim, as addClaims takes it; with its own `alpha`."))

    @validates_schema
    def _check_fields(self, data: dict[str, Any], **_options: Any) -> None:
        kind = data.get("kind")
        if kind is None:
            return
        ids = kind == "separate" and ("baseline" in data or "contender" in data)
        needed = _NEEDS.get(kind, ("baseline", "contender") if ids else _OF_NAMES)
        if absent := [name for name in needed if name not in data]:
            raise ValidationError({name: [f"is needed for kind {kind}"] for name in absent})
        given = {name for name, value in data.items() if value not in ("", [])} - {"kind"}
        if surplus := sorted(given - {*needed, *_TAKES.get(kind, ())}):
            raise ValidationError({name: [f"has no meaning for kind {kind}"] for name in surplus})
        if wrong := [name for name in ("baseline", "contender") if ids and not re.fullmatch(GRID_ID, data[name])]:
            raise ValidationError({name: ["must be the id of a grid"] for name in wrong})
        if data.get("effect") == 0:
            raise ValidationError("an effect of 0 is found by no number of trials", "effect")


class PlanIn(Body):
    """What a plan is asked for."""

    question = fields.Nested(PlanQuestion, required=True, metadata=about("What it is for."))
    power = ShareOfOne(load_default=_POWER, metadata=about("The probability of finding it; of a gate 0.8."))
    alpha = ShareOfOne(
        metadata=about("The level of the test, 0.05 if not given; a claim and the policy of a gate have their own.")
    )
    one_sided = fields.Boolean(truthy={True}, falsy={False}, metadata=about("Whether the test is; not if absent."))
    budget = Whole(1, MOST_TRIALS, metadata=about("Trials to add, all cells together."))
    item_limit = Whole(1, MOST_TRIALS, metadata=about("Items that there are, where a trial is an item."))

    @validates_schema
    def _check_power(self, data: dict[str, Any], **_options: Any) -> None:
        kind = data.get("question", {}).get("kind")
        if surplus := [name for name in _WITHOUT.get(kind, ()) if name in data]:
            raise ValidationError({name: [f"has no meaning for kind {kind}"] for name in surplus})
        if kind == "gate" and data.get("power", _POWER) != _POWER:
            raise ValidationError(f"is {_POWER} for kind gate", "power")
        if "power" in data and data["power"] <= data.get("alpha", USUAL_ALPHA):
            raise ValidationError("must be above alpha", "power")


blp = Blueprint("plans", "What the next measurement takes.")


@blp.post("/projects/<project>/plan", operation="makePlan", writes=False)
@blp.arguments(PlanIn, example=examples.PLAN_IN)
@blp.answers(reply(200, "The plan", "Plan"), reply(202, "Pending"), public=True, parameters=["Prefer"])
@asks
def make_plan(sent: dict[str, Any], project: str) -> Response:
    """Plan the next measurement

    The effect that could be found with what is stored, the trials that find a smaller one, and how a budget is split
    best. Readers may ask. Two models or grids are planned from their comparison, a claim and a gate from their verdicts
    (`202` until these are computed).
    """
    question = sent["question"]
    goal = Goal(sent.get("alpha", USUAL_ALPHA), sent["power"], sent.get("one_sided", False))
    means = Means(sent.get("budget"), sent.get("item_limit"))
    if question["kind"] == "separate":
        return _of_comparison(question, project, goal, means)
    if question["kind"] == "claim":
        return plan_of_claim(question["claim"], project, sent["power"], means)
    return plan_of_gate(question, project, means)


def _of_comparison(question: dict[str, Any], project: str, goal: Goal, means: Means) -> Response:
    asked = question | {"alpha": goal.alpha * (2 if goal.one_sided else 1)}
    with below("/question"):
        query, row = ask(_comparison(asked, project), project)
    if not settled(row) or not answered(row):
        return unready(row, query.document(), "json", pending=not settled(row))
    document = from_bytes(row.document)
    with parts().database.reading() as connection:
        if "baseline" in question:
            found = measured_of_grids(connection, document)
        else:
            found = measured_of_models(connection, from_document(ModelComparison, document))
    if isinstance(found, str):
        plan = planning.blank("separate", goal, "")
        return json_answer(to_document(planning.impossible(plan, "not_comparable", found)))
    if not found.gap and question.get("effect") is None:
        detail = "is needed where the measured gap is 0: no number of trials shows that one"
        raise Invalid([Fault("/question/effect", detail)])
    return json_answer(to_document(planning.plan_of_gap("separate", found, goal, means, question.get("effect"))))


def _comparison(asked: dict[str, Any], project: str) -> Query:
    if "baseline" not in asked:
        return models_asked(asked, project)
    with parts().database.reading() as connection:
        return comparison_asked(connection, enter(connection, project, "reader").id, asked)


_TOO_LARGE = "the grids that it is about have more cells than claims are judged by"
_OF_GATE = (
    "n x ((z(1 - alpha) + z(power)) x stderr / distance to the margin)^2 (Cohen 1988); of counts by their exact or "
    "score test, of estimated errors by Student's t"
)


@contextmanager
def below(pointer: str) -> Iterator[None]:
    """Faults within have their places below this one."""
    try:
        yield
    except Invalid as error:
        raise Invalid([Fault(pointer + fault.pointer, fault.detail) for fault in error.faults]) from None


def plan_of_claim(sent: Any, project: str, power: float, means: Means) -> Response:
    """What decides a claim beyond noise; `202` until it is computed."""
    with entered(project) as (connection, row), below("/question/claim"):
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
    return ClaimPlanQuery(**{one.name: getattr(asked, one.name) for one in fields_of(asked)}, power=power)


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


def _shared(gate: Gate) -> str:
    """How alpha and power are shared where several are judged."""
    tested = sum(one.p_holm is not None for one in gate.per) if gate.policy.multiplicity == "holm" else 1
    first = f"; alpha / {tested} (Holm) where the gaps fail the policy, of which one is enough" if tested > 1 else ""
    return f"{first}; power^(1/{gate.undecided}) where none does" if gate.undecided > 1 else first


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
        planning.blank("gate", goal, f"{_OF_GATE}{_shared(gate)}"),
        decidable_now=gate.passes is not None,
        observed=gate.gap,
        gate=now,
    )
    if gate.verdict == "not_comparable":
        return planning.impossible(plan, "not_comparable", gate.sentence)
    if gate.passes is not None:
        return plan
    if gate.trials_needed is not None:
        plan = replace(plan, needed=gate.trials_needed, assumptions=planning.SCALED)
        return planning.within_means(plan, means)
    if gate.reason == "unknown_noise":
        return planning.impossible(plan, "unknown_noise", "the noise of some that is judged is not known")
    return planning.impossible(plan, "on_boundary", "a gap lies on the limit of the policy, or has no noise")
