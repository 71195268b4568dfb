"""Schemas of the body of a plan."""

from __future__ import annotations

import re
from typing import Any, get_args

from marshmallow import ValidationError, fields, validates_schema

from registry.api.fields import Body, Choice, Matching, Name, Number, PostedClaim, Whole
from registry.api.query_schemas import GRID_ID
from registry.api.schemas import about, many_names
from registry.plans.closed_forms import MOST_TRIALS
from registry.results.plans import PlanKind

USUAL_ALPHA = 0.05
KINDS: tuple[str, ...] = get_args(PlanKind)
_OF_NAMES = ("experiment", "metric", "baseline_model", "contender_model")
_NEEDS = {
    "peak": ("grid",),
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
_LEAST, _MOST = 1e-9, 1 - 1e-9


class ShareOfOne(Number):
    """A JSON number above 0 and below 1, far enough from both for a quantile."""

    def __init__(self, **options: Any) -> None:
        super().__init__(least=_LEAST, most=_MOST, **options)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **_options: Any) -> float:
        found = self._read(value)
        if found is None or not _LEAST <= found <= _MOST:
            raise ValidationError("must be a number above 0 and below 1, and not within 1e-9 of either")
        return found


def _grid(text: str) -> Any:
    return Matching(GRID_ID, "must be the id of a grid", metadata=about(text))


class PlanQuestion(Body):
    """What shall be found out."""

    kind = Choice(
        *KINDS,
        required=True,
        metadata=about(
            "`separate` two models (`experiment`, `metric`, `baseline_model`, `contender_model`) or two grids"
            " (`baseline`, `contender`); `peak`: the best cell of `grid`; `claim`: what decides a `claim` beyond noise;"
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
    grid = _grid("Whose best cell is looked for.")
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
    budget = Whole(1, MOST_TRIALS, metadata=about("Trials to spend on all cells."))
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
