"""Plans: what the next measurement takes."""

from __future__ import annotations

import math
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from flask import Response
from sqlalchemy import Connection

from registry.api import examples
from registry.api.cached_results import answered, ask, settled
from registry.api.comparisons import comparison_asked, models_asked
from registry.api.context import asks, enter, parts
from registry.api.long_poll import unready
from registry.api.plan_schemas import USUAL_ALPHA, PlanIn
from registry.api.plans_of_verdicts import below, plan_of_claim, plan_of_gate
from registry.api.responses import json_answer
from registry.api.smorest import API_PREFIX, Blueprint, reply
from registry.errors import Fault, Invalid, NotFound
from registry.operations.compare import PairNoise, mean_trials, noise_of_pairs, revision_of
from registry.operations.read import find_grid
from registry.operations.stored_grids import stored_grid
from registry.plans import planning
from registry.plans.closed_forms import Goal
from registry.plans.planning import Means, Measured, Stratum
from registry.query import Query
from registry.results.codec import from_bytes, from_document, to_document
from registry.results.comparison import Comparison
from registry.results.gaps import GapTest
from registry.results.grid import PostedMetric
from registry.results.model_comparison import ModelComparison, WholeGap

blp = Blueprint("plans", __name__, url_prefix=API_PREFIX, description="What the next measurement takes.")


@blp.post("/projects/<project>/plan")
@blp.doc(operationId="makePlan")
@blp.arguments(PlanIn, example=examples.PLAN_IN)
@blp.answers(
    reply(200, "The plan", "Plan", example=examples.PLAN),
    reply(202, "Pending"),
    errors=[400, 415],
    public=True,
    parameters=["Prefer"],
)
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
    if question["kind"] == "gate":
        return plan_of_gate(question, project, means)
    with parts().database.reading() as connection:
        row = enter(connection, project, "reader")
        return json_answer(to_document(planning.plan_of_peak(_grid(connection, row.id, question), goal, means)))


def _grid(connection: Connection, project_id: uuid.UUID, question: dict[str, Any]) -> tuple[str, Any]:
    grid_id = uuid.UUID(question["grid"])
    try:
        revision, _ = revision_of(connection, project_id, grid_id, None)
    except NotFound as error:
        raise Invalid([Fault("/question/grid", error.detail)]) from None
    return str(grid_id), stored_grid(find_grid(connection, grid_id, revision)).grid


def _of_comparison(question: dict[str, Any], project: str, goal: Goal, means: Means) -> Response:
    asked = question | {"alpha": goal.alpha * (2 if goal.one_sided else 1)}
    with below("/question"):
        query, row = ask(_comparison(asked, project), project)
    if not settled(row) or not answered(row):
        return unready(row, query.document(), "json", pending=not settled(row))
    document = from_bytes(row.document)
    read = _two_grids if "baseline" in question else _two_models
    with parts().database.reading() as connection:
        found = read(connection, document, goal)
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


def _two_grids(connection: Connection, document: dict[str, Any], goal: Goal) -> Measured | str:
    one = from_document(Comparison, document)
    if one.test is None or one.test.difference is None:
        return one.reason or "the grids have no gap"
    pair = (one.baseline.grid, one.baseline.revision), (one.contender.grid, one.contender.revision)
    trials = mean_trials(connection, pair)
    stratum = Stratum(
        one.baseline.benchmark, tuple(grid for grid, _ in pair), one.n_common, _mean(trials, pair), one.test.stderr
    )
    return _with_exact_cells(
        _measured(one.test, (stratum,), one.baseline.metric), noise_of_pairs(connection, [pair]), goal
    )


def _two_models(connection: Connection, document: dict[str, Any], goal: Goal) -> Measured | str:
    found = from_document(ModelComparison, document)
    whole = found.whole
    if whole is None or whole.difference is None:
        return found.reason or (whole and whole.reason) or "values of different scales have no gap"
    pairs = {
        one.benchmark: ((one.baseline.grid, one.baseline.revision), (one.contender.grid, one.contender.revision))
        for one in found.by_benchmark
        if one.baseline is not None and one.contender is not None
    }
    revisions = [one for pair in pairs.values() for one in pair]
    trials = mean_trials(connection, revisions)
    strata = [
        Stratum(
            one.benchmark,
            tuple(grid for grid, _ in pairs[one.benchmark]),
            one.n_common,
            _mean(trials, pairs[one.benchmark]),
            None if one.test is None else one.test.stderr,
        )
        for one in found.by_benchmark
        if one.n_common
    ]
    noise = noise_of_pairs(connection, [pairs[one.benchmark] for one in strata])
    return _with_exact_cells(_measured(whole, tuple(strata), found.metric), noise, goal)


def _with_exact_cells(found: Measured, noise: Sequence[PairNoise], goal: Goal) -> Measured:
    """What was measured, by the noise of the cells that have any where others are known to have none, as gates do."""
    if not any(one.some_exact for one in noise):
        return found
    strata = [
        replace(one, stderr=own.stderr) if own.some_exact else one for one, own in zip(found.strata, noise, strict=True)
    ]
    errors = [one.stderr for one in strata if one.stderr is not None]
    if len(errors) < len(strata):
        return replace(found, strata=tuple(strata), stderr=None, near=0.0)
    stderr = math.hypot(*errors) / len(strata)
    near = max(0.0, abs(found.gap) - goal.critical * stderr)
    return replace(found, strata=tuple(strata), stderr=stderr, near=near, exact=stderr == 0)


def _mean(trials: Mapping[tuple[str, int], float], pair: Sequence[tuple[str, int]]) -> float | None:
    known = [trials[one] for one in pair if one in trials]
    return sum(known) / len(known) if known and len(known) == len(pair) else None


def _measured(test: GapTest | WholeGap, strata: tuple[Stratum, ...], metric: PostedMetric) -> Measured:
    ends = () if test.interval is None else (test.interval.low, test.interval.high)
    near = min(map(abs, ends)) if ends and ends[0] * ends[1] > 0 else 0.0
    lower, upper = metric.get("lower"), metric.get("upper")
    span = None if lower is None or upper is None else upper - lower
    return Measured(test.difference or 0.0, test.stderr, near, strata, span)
