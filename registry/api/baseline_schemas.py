"""Schemas of baselines and of the parameters of gates."""

from __future__ import annotations

from typing import Any, get_args

from marshmallow import Schema, ValidationError, fields, post_load, validate, validates_schema

from registry.api.fields import Body, Choice, Few, Matching, Name, Number, Whole
from registry.api.query_schemas import GRID_ID
from registry.api.schemas import PageParameters, about
from registry.results.gates import OLD_MISSING, Looks, MarginUnit, MissingCells, Multiplicity, Per, PolicyKind
from registry.storage.gate_scope import PUBLISHED

NAME = "[A-Za-z0-9][A-Za-z0-9._-]{0,99}"
NAME_RULE = "is 1 to 100 of letters, digits, ., _ and -, and begins with a letter or digit"
_MOST_GRIDS, _MOST_NAMES = 1_000, 2_000
_LEAST_ALPHA, _MOST_ALPHA = 1e-9, 0.499


class PolicyIn(Body):
    """What a contender must show."""

    kind = Choice(
        *get_args(PolicyKind),
        load_default="non_inferior",
        metadata=about(
            "`non_inferior`: not worse by the margin; `no_cell_worse`: the same in every cell; `improves`: better by"
            " more than the margin; `equivalent`: neither; `floor`: at least the value `margin`."
        ),
    )
    margin = Number(load_default=0.0, metadata=about("The loss that is allowed; of a floor the value."))
    margin_unit = Choice(
        *get_args(MarginUnit), load_default="points", metadata=about("The metric's unit, or percent of the baseline.")
    )
    per = Choice(*get_args(Per), metadata=about("What is judged; `overall` if not given, of no_cell_worse `cell`."))
    alpha = Number(
        least=_LEAST_ALPHA, most=_MOST_ALPHA, load_default=0.05, metadata=about("The level of each one-sided test.")
    )
    multiplicity = Choice(
        *get_args(Multiplicity), load_default="holm", metadata=about("How alarms over several are corrected.")
    )
    missing = Choice(
        *get_args(MissingCells),
        old=OLD_MISSING,
        load_default="refuse",
        metadata=about("`matched`: judge the cells that both have; else a missing one makes it not_comparable."),
    )
    common_share = Number(least=0, most=1, load_default=0.5, metadata=about("matched: the least share that both have."))
    looks = Choice(
        *get_args(Looks),
        load_default="fixed",
        metadata=about("`alpha_spending`: all stored verdicts of a version together raise a false alarm with alpha."),
    )
    confirm = Whole(
        1, 10, load_default=1, metadata=about("How many verdicts on a contender must fail, one after another.")
    )

    @validates_schema
    def _check_together(self, data: dict[str, Any], **_options: Any) -> None:
        kind = data.get("kind", "non_inferior")
        if kind == "no_cell_worse" and data.get("per", "cell") != "cell":
            raise ValidationError("is cell for no_cell_worse", "per")
        if kind != "floor" and data.get("margin", 0.0) < 0:
            raise ValidationError("must be at least 0", "margin")
        if kind == "floor" and data.get("margin_unit") == "percent":
            raise ValidationError("is points for a floor", "margin_unit")


class PinnedIn(Body):
    """A revision of a grid."""

    grid = Matching(GRID_ID, "must be the id of a grid", required=True, metadata=about("The grid's id."))
    revision = Whole(1, 2**31 - 1, metadata=about("The current one if not given; it stays that one."))


class SubjectIn(Body):
    """What the baseline is: a model with its current grids, revisions, or the model before each contender."""

    model = Name(metadata=about("The model."))
    grids = Few(
        fields.Nested(PinnedIn),
        validate=validate.Length(1, _MOST_GRIDS, error=f"has 1 to {_MOST_GRIDS:,} grids"),
        metadata=about("Revisions, one of each benchmark and variant."),
    )
    previous = fields.Boolean(
        truthy={True},
        falsy={False},
        validate=validate.Predicate("__bool__", error="is true, or not given"),
        metadata=about("True, or not given: each contender is judged against the one before it."),
    )
    along = Name(
        metadata=about("previous: a label whose text is a number, or `published`, which it is if not given.", "step")
    )

    @validates_schema
    def _check_either(self, data: dict[str, Any], **_options: Any) -> None:
        if len(data.keys() - {"along"}) != 1:
            raise ValidationError("give either model, grids or previous")
        if "along" in data and "previous" not in data:
            raise ValidationError("orders contenders where previous is given", "along")

    @post_load
    def _ordered(self, data: dict[str, Any], **_options: Any) -> dict[str, Any]:
        return {"along": PUBLISHED} | data if "previous" in data else data


def _names(text: str) -> Any:
    length = validate.Length(max=_MOST_NAMES, error=f"has at most {_MOST_NAMES:,} names")
    return Few(Name(empty=True), load_default=list, validate=length, metadata=about(text))


class BaselineIn(Body):
    """What contenders shall be judged against, and by what policy."""

    experiment = Name(required=True, metadata=about("The experiment."))
    metric = Name(required=True, metadata=about("The name of the metric."))
    benchmarks = _names("Only these; all that the baseline has if not given.")
    variants = _names("Only these; all if not given.")
    subject = fields.Nested(SubjectIn, required=True, metadata=about("What the baseline is."))
    policy = fields.Nested(PolicyIn, load_default=lambda: PolicyIn().load({}), metadata=about("What must be shown."))
    strict = fields.Boolean(
        truthy={True}, falsy={False}, load_default=False, metadata=about("Refuse a policy that could not pass.")
    )


class BaselineParameters(Schema):
    policy_version = Whole(1, 2**31 - 1, text=True, metadata=about("An older version; the current one if not given."))


class GateParameters(Schema):
    contender = Name(required=True, metadata=about("A model, or the id of a grid."))


class VerdictsParameters(PageParameters):
    contender = Name(metadata=about("Only verdicts on this model."))
    cursor = Matching("[1-9][0-9]{0,8}", "is not a cursor of this list", metadata=about("`next` of the page before."))
