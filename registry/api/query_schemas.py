"""Schemas of the parameters of what is computed: statistics, thresholds, rankings, comparisons, sweet spots."""

from __future__ import annotations

from typing import Any

from marshmallow import Schema, fields, validate

from registry.api.fields import Choice, Matching, Name, Quantity, Share, Whole
from registry.api.schemas import about, many_names
from registry.query import METHODS, MISSING, TARGETS

_ON_DEMAND = " Other settings than the usual ones are computed when they are first asked."


class StatisticsParameters(Schema):
    along = Name(metadata=about("Only the series along this axis."))
    alpha = Share(metadata=about("The level of tests and intervals, 0.05 if not given." + _ON_DEMAND))
    sharp_change = Quantity(
        least=0,
        metadata=about("The size from which a step may be called sharp, 5 % of a bounded range if not given."),
    )
    equivalence = Quantity(
        least=0,
        metadata=about("The margin within which a series may be called flat, 2 % of a bounded range if not given."),
    )


def _crossed(**options: Any) -> Any:
    about_levels = about("Where the series cross these levels; may be repeated.")
    return fields.List(Quantity(), metadata=about_levels, **options)


_MOST_LEVELS = 20


class TrendsParameters(StatisticsParameters):
    threshold = _crossed(
        load_default=list,
        validate=validate.Length(max=_MOST_LEVELS, error=f"may be given {_MOST_LEVELS} times at most"),
    )


class ThresholdsParameters(StatisticsParameters):
    value = _crossed(
        required=True,
        validate=validate.Length(1, _MOST_LEVELS, error=f"is given 1 to {_MOST_LEVELS} times"),
    )


_MISSING = (
    "What is made of slots that not all have. `matched` compares two names where both are measured; `observed` takes"
    " what each has; `complete` keeps the slots that all have; `worst` fills a gap with the worst value; `zero_votes`"
    " lets who is missing lose to all who are there; `zero_points`, for Borda, gives who is missing no points, as mteb"
    " counts."
)


class RankingParameters(Schema):
    experiment = Name(required=True, metadata=about("The experiment whose grids are ranked."))
    metric = Name(required=True, metadata=about("The name of the metric that they are ranked by."))
    by = Matching(
        r"model|variant|axis:[^\x00-\x1f\x7f]{1,200}",
        "is model, variant or axis:<name>",
        load_default="model",
        metadata=about("`model`, `variant` or `axis:<name>`."),
    )
    benchmark = many_names("Only these; all if not given.")
    variant = many_names("Only these; all if not given.")
    model = many_names("Only these; all if not given.")
    method = Choice(*METHODS, load_default="mean_difference", metadata=about("What scores come from."))
    missing = Choice(*MISSING, load_default="matched", metadata=about(_MISSING))
    alpha = Share(load_default=0.05, metadata=about("The level of the tests."))
    target = Choice(
        *TARGETS,
        old={"fixed_cells": TARGETS[0]},
        load_default=TARGETS[0],
        metadata=about(
            "What could change the answer: running these cells again, other questions of these benchmarks, or other"
            " benchmarks. `fixed_cells` is the old word for the first."
        ),
    )
    suite = Name(empty=True, load_default="", metadata=about("The benchmarks of this suite, in place of `benchmark`."))
    pairs_of = Name(
        empty=True,
        load_default="",
        metadata=about(
            "List the pairs of this name, and no others. If not given: every pair up to a hundred names, above that"
            " those of neighbours in the order."
        ),
    )


_GRID_ID = "[0-9A-Fa-f]{8}-([0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}"


def _grid(text: str, example: str) -> Any:
    return Matching(_GRID_ID, "must be the id of a grid", required=True, metadata=about(text, example))


class ComparisonParameters(Schema):
    baseline = _grid("The grid that is subtracted.", "0193a1b2-0000-7000-8000-000000000001")
    contender = _grid("The grid that it is subtracted from.", "0193a1b2-0000-7000-8000-000000000002")
    baseline_revision = Whole(1, 2**31 - 1, text=True, metadata=about("The current one if not given."))
    contender_revision = Whole(1, 2**31 - 1, text=True, metadata=about("The current one if not given."))
    alpha = Share(load_default=0.05, metadata=about("The level of tests and intervals."))


class SweetSpotParameters(Schema):
    metric = Name(required=True, metadata=about("The name of the metric."))
    benchmark = many_names("Only these; all if not given.")
    model = many_names("Only these; all if not given.")
    variant = many_names("Only these; all if not given.")
