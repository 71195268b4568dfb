"""Schemas of the parameters of charts over several grids: lines and trade-offs."""

from __future__ import annotations

from typing import Any, get_args

from marshmallow import Schema, ValidationError, validates_schema

from registry.api.fields import Choice, Matching, Name, Whole
from registry.api.picture_schemas import scale_of_png
from registry.api.query_schemas import NarrowedParameters, SelectedParameters, SharedSlotsParameters
from registry.api.schemas import about
from registry.grids.grid import Direction
from registry.query import SLOT_POLICIES
from registry.renderings.heatmap import THEMES
from registry.renderings.lines.options import XScale

NARROWEST, WIDEST = 320, 2_000
_SCALES = get_args(XScale)
_SCALE = "Of the horizontal axis in pictures; linear where it has a level of 0 or less"
_QUANTITY = r"(metric|label):[^\x00-\x1f\x7f]{1,200}"


class ChartParameters(Schema):
    """What charts add to a selection."""

    missing = Choice(
        *SLOT_POLICIES,
        load_default="matched",
        metadata=about(
            "`matched`: means over the slots that all names share that have any. `available`: over those that each has,"
            " so that two means may be over different slots."
        ),
    )
    band = Choice(
        "interval",
        "none",
        load_default="interval",
        metadata=about("Whether pictures show the 95 % intervals of the means."),
    )
    theme = Choice(*THEMES, load_default="light", metadata=about("The colours of pictures."))
    width = Whole(
        NARROWEST,
        WIDEST,
        text=True,
        load_default=880,
        metadata=about("Of pictures, in pixels; the height follows from it."),
    )
    scale = scale_of_png()


class LinesParameters(SelectedParameters, SharedSlotsParameters, ChartParameters):
    x = Choice(*_SCALES, metadata=about(_SCALE + "; that of the axis if not given."))
    along = Name(
        empty=True,
        load_default="",
        metadata=about("The axis that the lines run along; if not given, the one in order with the most levels."),
    )
    by = Matching(
        r"model|variant|benchmark|axis:[^\x00-\x1f\x7f]{1,200}",
        "is model, variant, benchmark or axis:<name>",
        load_default="model",
        metadata=about("What has a line: `model`, `variant`, `benchmark` or `axis:<name>`."),
    )


def _quantity(which: str, example: str) -> Any:
    told = f"The {which} axis: `metric:<name>`, or `label:<key>` for a numeric label such as the size of a model."
    return Matching(_QUANTITY, "is metric:<name> or label:<key>", required=True, metadata=about(told, example))


def _better(which: str) -> Any:
    told = f"The better end of {which}, where its metric says none; of a label it is `lower` if not given."
    return Choice(*get_args(Direction), metadata=about(told))


class TradeOffParameters(NarrowedParameters, SharedSlotsParameters, ChartParameters):
    x = _quantity("horizontal", "label:params")
    y = _quantity("vertical", "metric:accuracy")
    by = Choice("model", "variant", load_default="model", metadata=about("What has a point."))
    x_better = _better("x")
    y_better = _better("y")
    x_scale = Choice(*_SCALES, load_default="linear", metadata=about(_SCALE + "."))
    y_scale = Choice(*_SCALES, load_default="linear", metadata=about("Of the vertical axis in pictures."))

    @validates_schema
    def measured(self, data: Any, **_options: Any) -> None:
        if all(data.get(axis, "").startswith("label:") for axis in ("x", "y")):
            raise ValidationError({"y": ["is a label, as x is: one of the two must be a metric"]})
