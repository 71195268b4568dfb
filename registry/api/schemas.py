"""What is sent to the registry: the schemas of bodies and queries. Answers are in `registry.api.shapes`."""

from __future__ import annotations

import math
from typing import Any

from marshmallow import Schema, ValidationError, fields, validate, validates_schema

from registry.api.fields import (
    Axes,
    Block,
    Cells,
    Choice,
    Instant,
    Labels,
    Levels,
    Matching,
    Name,
    Number,
    Quantity,
    Share,
    Whole,
)
from registry.operations.find import SORTS
from registry.question import METHODS, MISSING, TARGETS
from registry.renderings.heatmap import PALETTES, THEMES

SLUG = "[a-z0-9][a-z0-9-]{0,62}"
ROLES = ("reader", "writer", "admin")
KINDS = ("model", "benchmark", "variant", "experiment")


def _about(text: str, example: Any = None) -> dict[str, Any]:
    return {"description": text} if example is None else {"description": text, "example": example}


class ProjectIn(Schema):
    slug = Matching(
        SLUG,
        "is 1 to 63 of a-z, 0-9 and -, and begins with a letter or digit",
        required=True,
        metadata=_about("The project's name in paths.", "demo"),
    )
    name = Name(load_default=None, metadata=_about("For people; the slug if not given."))
    visibility = Choice("private", "public", load_default="private", metadata=_about("Public: read without a token."))


class ProjectChange(Schema):
    name = Name()
    visibility = Choice("private", "public")

    @validates_schema
    def something(self, data: Any, **_options: Any) -> None:
        if not data:
            raise ValidationError("gives nothing to change")


class TokenIn(Schema):
    name = Name(required=True, metadata=_about("What uses the token.", "nightly evaluation"))
    role = Choice(*ROLES, load_default="writer")
    days = Whole(1, 3650, load_default=None, metadata=_about("Until it expires; 90 if not given."))


class ShareIn(Schema):
    path = Matching(
        r"/[!-~]{1,1000}",
        "is a path without spaces",
        required=True,
        metadata=_about("What the link opens, with its forms and what is below.", "/api/v1/projects/demo/cells"),
    )
    expires_in = Whole(60, 366 * 86_400, load_default=30 * 86_400, metadata=_about("Seconds; 30 days if not given."))

    @validates_schema
    def plain(self, data: Any, **_options: Any) -> None:
        if {"?", "#"} & set(data.get("path", "")):
            raise ValidationError({"path": ["is a path without query and fragment"]})


class AliasIn(Schema):
    kind = Choice(*KINDS, required=True)
    alias = Name(required=True, metadata=_about("What some grids say.", "AIME24"))
    name = Name(required=True, metadata=_about("What it stands for.", "AIME'24"))


class MetricIn(Schema):
    name = Name(required=True, metadata=_about("", "accuracy"))
    unit = Name(load_default=None, allow_none=True, empty=True)
    direction = Choice("higher", "lower", load_default=None, allow_none=True, metadata=_about("Which end is better."))
    lower = Number(load_default=None, allow_none=True, metadata=_about("The smallest value that is possible."))
    upper = Number(load_default=None, allow_none=True)


class AxisIn(Schema):
    name = Name(required=True, metadata=_about("", "Length"))
    kind = Choice(
        "numeric",
        "ordinal",
        "nominal",
        metadata=_about("numeric when not given and every level is a number, else nominal."),
    )
    unit = Name(load_default=None, allow_none=True, empty=True)
    scale = Choice("linear", "log", load_default="linear")
    levels = Levels(load_default=list, metadata=_about("In order; those of a numeric axis in any order."))


class GridIn(Schema):
    experiment = Name(required=True, metadata=_about("The protocol that makes grids comparable.", "type-by-length"))
    benchmark = Name(required=True, metadata=_about("What was measured."))
    model = Name(required=True, metadata=_about("What it was measured on."))
    variant = Name(load_default="", empty=True, metadata=_about("Method or condition."))
    metric = fields.Nested(MetricIn, required=True)
    axes = Axes(fields.Nested(AxisIn), load_default=list, metadata=_about("Zero to four."))
    values = Block(allow_none=True, metadata=_about("Nested to the depth of the axes; null where nobody measured."))
    cells = Cells(metadata=_about("Instead of values: tidy. Levels that were not declared are added."))
    trials = Block(allow_none=True, metadata=_about("The Bernoulli trials behind each value: one number, or nested."))
    stderr = Block(allow_none=True, metadata=_about("The standard error of each value: one number, or nested."))
    labels = Labels(load_default=dict, metadata=_about("Provenance, such as a commit."))


class CellsIn(Schema):
    cells = Cells(required=True, validate=validate.Length(min=1, error="must not be empty"))


def _axis_names(text: str) -> Any:
    return fields.List(Name(), metadata=_about(text))


class PublishQuery(Schema):
    """All but `dry_run` go with a table; the view adds nothing to them, and JSON says them in its body."""

    dry_run = fields.Boolean(load_default=False, metadata=_about("Answer what would be stored, and store nothing."))
    experiment = Name(metadata=_about("Of a table: its experiment, if no column says it."))
    benchmark = Name(metadata=_about("Of a table: its benchmark."))
    model = Name(metadata=_about("Of a table: its model."))
    variant = Name(empty=True, metadata=_about("Of a table: its variant."))
    metric = Name(metadata=_about("Of a table: the metric's name; a column of this name holds the values."))
    unit = Name(empty=True, metadata=_about("Of a table: the metric's unit."))
    direction = Choice("higher", "lower", metadata=_about("Of a table: which end is better; neither if not given."))
    lower = Quantity(metadata=_about("Of a table: the smallest value that is possible."))
    upper = Quantity(metadata=_about("Of a table: the largest value that is possible."))
    trials = Whole(1, 2**53, text=True, metadata=_about("Of a table: the Bernoulli trials behind each value."))
    rows = Name(metadata=_about("Of a pivot: the axis down the first column; its heading if not given."))
    columns = Name(
        metadata=_about("Of a pivot: the axis across the heading; words that all headings share if not given.")
    )
    numeric = _axis_names("Of a table: an axis of numbers; may be repeated.")
    ordinal = _axis_names("Of a table: an axis of names in an order; may be repeated.")
    nominal = _axis_names("Of a table: an axis of names, also if they look like numbers; may be repeated.")


class Empty(Schema):
    """No query parameters."""


class PageQuery(Schema):
    limit = Whole(1, 1000, text=True, load_default=100)


_NEXT = _about("`next` of the page before.")
_ID = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"


def _cursor(pattern: str) -> Any:
    return Matching(pattern, "is not a cursor of this list", metadata=_NEXT)


class ProjectsQuery(PageQuery):
    cursor = _cursor(SLUG)


class ByIdQuery(PageQuery):
    cursor = _cursor(_ID)


class NamesQuery(PageQuery):
    cursor = _cursor("[0-9a-f]{1,1600}")


class RevisionsQuery(PageQuery):
    cursor = _cursor("[1-9][0-9]{0,8}")


def _names(text: str) -> Any:
    return fields.List(Name(empty=True), load_default=list, metadata=_about(text))


class Filtered(Schema):
    """Which grids; the view adds `label.<key>`, which no schema can name."""

    experiment = _names("Repeat for OR; names joined by an alias count as one.")
    benchmark = _names("Repeat for OR.")
    model = _names("Repeat for OR.")
    variant = _names("Repeat for OR.")
    metric = _names("Repeat for OR.")
    updated_since = Instant(metadata=_about("RFC 3339; only what changed then or later."))


class FindQuery(Filtered, PageQuery):
    cursor = _cursor(f"[0-9a-f]{{1,1600}}~{_ID}")

    id = Matching(
        "[0-9a-f][0-9a-f-]{3,35}",
        "is not an id or the first characters of one",
        metadata=_about("A grid's id, or its first characters (4 or more).", "0193"),
    )
    sort = Choice(
        *SORTS, *(f"-{name}" for name in SORTS), load_default="-updated_at", metadata=_about("A minus for descending.")
    )


def _missing() -> Any:
    about = _about("`explicit` writes unmeasured cells too, with an empty value.")
    return Choice("absent", "explicit", load_default="absent", metadata=about)


class FeedQuery(Filtered):
    missing = _missing()


class RevisionQuery(Schema):
    revision = Whole(1, 2**31 - 1, text=True, metadata=_about("An older revision."))


_NUMBER = r"-?[0-9]{1,308}(?:\.[0-9]{1,30})?(?:[eE][+-]?[0-9]{1,3})?"


class CellsQuery(RevisionQuery):
    missing = _missing()


class PictureQuery(RevisionQuery):
    palette = Choice(*PALETTES, load_default="cividis")
    theme = Choice(*THEMES, load_default="light")
    range = Matching(
        f"own|bounds|{_NUMBER},{_NUMBER}",
        "is own, bounds or low,high",
        load_default="own",
        metadata=_about(
            "What the ends of the colours stand for: this grid's range, the metric's bounds, or two numbers."
        ),
    )

    @validates_schema
    def ordered(self, data: Any, **_options: Any) -> None:
        ends = [float(end) for end in data["range"].split(",")] if "," in data["range"] else [0.0, 1.0]
        if not (all(map(math.isfinite, ends)) and ends[0] < ends[1]):
            raise ValidationError({"range": ["is low,high with low below high"]})


class BadgeQuery(Schema):
    label = Name(metadata=_about("The left half; the metric's name if not given."))
    axis = Name(metadata=_about("With `level`: the best value on that level of this axis."))
    level = Name(metadata=_about("The level's label."))

    @validates_schema
    def both(self, data: Any, **_options: Any) -> None:
        if ("axis" in data) != ("level" in data):
            raise ValidationError({"level" if "axis" in data else "axis": ["axis and level come together"]})


class PngQuery(PictureQuery):
    scale = Quantity(load_default=1.0, metadata=_about("So many times as large, 0.25 to 4."))

    @validates_schema
    def drawable(self, data: Any, **_options: Any) -> None:
        if not 0.25 <= data["scale"] <= 4:
            raise ValidationError({"scale": ["must be from 0.25 to 4"]})


class StatisticsQuery(Schema):
    along = Name(metadata=_about("Only the series along this axis."))


class TrendsQuery(StatisticsQuery):
    threshold = fields.List(
        Quantity(),
        load_default=list,
        validate=validate.Length(max=20, error="may be given 20 times at most"),
        metadata=_about("Where the series cross these levels; may be repeated."),
    )


class RankingQuery(Schema):
    experiment = Name(required=True)
    metric = Name(required=True)
    by = Matching(
        r"model|variant|axis:[^\x00-\x1f\x7f]{1,200}",
        "is model, variant or axis:<name>",
        load_default="model",
        metadata=_about("`model`, `variant` or `axis:<name>`."),
    )
    benchmark = _names("Only these; all if not given.")
    variant = _names("Only these; all if not given.")
    model = _names("Only these; all if not given.")
    method = Choice(*METHODS, load_default="mean_difference")
    missing = Choice(*MISSING, load_default="matched")
    alpha = Share(load_default=0.05)
    target = Choice(
        *TARGETS,
        load_default="fixed_cells",
        metadata=_about("Would re-running these cells, or would other benchmarks, change the answer?"),
    )


_GRID_ID = "[0-9A-Fa-f]{8}-([0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}"


def _grid(text: str, example: str) -> Any:
    return Matching(_GRID_ID, "must be the id of a grid", required=True, metadata=_about(text, example))


class ComparisonQuery(Schema):
    baseline = _grid("The grid that is subtracted.", "0193a1b2-0000-7000-8000-000000000001")
    contender = _grid("The grid that it is subtracted from.", "0193a1b2-0000-7000-8000-000000000002")
    baseline_revision = Whole(1, 2**31 - 1, text=True, metadata=_about("The current one if not given."))
    contender_revision = Whole(1, 2**31 - 1, text=True, metadata=_about("The current one if not given."))
    alpha = Share(load_default=0.05)


class SweetSpotQuery(Schema):
    metric = Name(required=True)
    benchmark = _names("Only these; all if not given.")
    model = _names("Only these; all if not given.")
    variant = _names("Only these; all if not given.")
