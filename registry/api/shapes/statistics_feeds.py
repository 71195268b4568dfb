"""The feeds of statistics: a row shape for each, from the columns that are written."""

from __future__ import annotations

from registry.api.shapes.cells import AS_SENT, AXIS_COLUMN, IDENTITY
from registry.api.shapes.words import (
    INSTANT,
    NULLABLE,
    NULLABLE_TEXT,
    TEXT,
    Shape,
    array_of,
    described,
    extended,
    object_of,
    ref,
)
from registry.renderings.rows import Field
from registry.renderings.statistics_columns import MEASURED, STANDING

_TYPES: dict[str, Shape] = {"instant": INSTANT, "number": NULLABLE, "whole": {"type": ["integer", "null"]}}


def _shape(field: Field) -> Shape:
    text = NULLABLE_TEXT if field.nullable else TEXT
    return described(_TYPES.get(field.kind, text), field.about)


def _row(statistic: str) -> Shape:
    own = {field.name: _shape(field) for field in MEASURED[statistic]}
    about = "A row of the feed" + (
        "." if statistic == "coverage" else "; besides these columns a text and a number (`<axis>_num`) for each axis."
    )
    more = {} if statistic == "coverage" else {"additionalProperties": AXIS_COLUMN}
    return extended("FeedNames", object_of(" ".join(own), **own) | more, about)


_STANDING = {field.name: _shape(field) for field in STANDING}
STATISTICS_FEEDS: dict[str, Shape] = {
    "FeedNames": described(
        object_of(" ".join({**IDENTITY, **_STANDING}), **IDENTITY, **_STANDING, **AS_SENT), "Whose statistic a row is."
    ),
    **{f"{statistic.capitalize()}Row": _row(statistic) for statistic in MEASURED},
    **{
        f"{statistic.capitalize()}Feed": described(
            object_of(
                "items",
                items=described(array_of(ref(f"{statistic.capitalize()}Row")), "The rows, the oldest grid first."),
            ),
            f"The {statistic} of the grids of a project.",
        )
        for statistic in MEASURED
    },
}
