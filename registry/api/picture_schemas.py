"""Queries of pictures and badges."""

from __future__ import annotations

import math
from typing import Any

from marshmallow import Schema, ValidationError, validates_schema

from registry.api.fields import Choice, Matching, Name, Quantity
from registry.api.schemas import RevisionParameters, about
from registry.renderings.heatmap import PALETTES, THEMES

_NUMBER = r"-?[0-9]{1,308}(?:\.[0-9]{1,30})?(?:[eE][+-]?[0-9]{1,3})?"


def scale_of_png() -> Quantity:
    return Quantity(least=0.25, most=4, load_default=1.0, metadata=about("Of PNG: so many times as large, 0.25 to 4."))


class PictureParameters(RevisionParameters):
    palette = Choice(*PALETTES, load_default="cividis", metadata=about("The colours of values."))
    theme = Choice(*THEMES, load_default="light", metadata=about("The colours of pictures."))
    range = Matching(
        f"own|bounds|{_NUMBER},{_NUMBER}",
        "is own, bounds or low,high",
        load_default="own",
        metadata=about(
            "What the ends of the colours stand for: this grid's range, the metric's bounds, or two numbers."
        ),
    )
    scale = scale_of_png()

    @validates_schema
    def ordered(self, data: Any, **_options: Any) -> None:
        ends = [float(end) for end in data["range"].split(",")] if "," in data["range"] else [0.0, 1.0]
        if not (all(map(math.isfinite, ends)) and ends[0] < ends[1]):
            raise ValidationError({"range": ["is low,high with low below high"]})


class BadgeParameters(Schema):
    label = Name(metadata=about("The left half; the metric's name if not given."))
    axis = Name(metadata=about("With `level`: the best value on that level of this axis."))
    level = Name(metadata=about("The level's label."))

    @validates_schema
    def both(self, data: Any, **_options: Any) -> None:
        if ("axis" in data) != ("level" in data):
            raise ValidationError({"level" if "axis" in data else "axis": ["axis and level come together"]})
