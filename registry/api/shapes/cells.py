"""Cells of a grid, and the feed of the cells of a project."""

from __future__ import annotations

from registry.api.shapes.common import (
    BENCHMARK,
    CONTENT_DIGEST,
    EXPERIMENT,
    GRID_ID,
    MODEL,
    NUMBER_OF_REVISION,
    VARIANT,
)
from registry.api.shapes.words import (
    AT,
    COUNT,
    INSTANT,
    NULLABLE,
    NULLABLE_TEXT,
    NUMBER,
    TEXT,
    Shape,
    array_of,
    described,
    extended,
    object_of,
    ref,
)

CELL_INTERVAL: dict[str, Shape] = {
    "ci_low": described(NULLABLE, "The lower end of the 95 % confidence interval; null where the noise is not known."),
    "ci_high": described(NULLABLE, "Its upper end."),
}
IDENTITY: dict[str, Shape] = {
    "grid": GRID_ID,
    "revision": NUMBER_OF_REVISION,
    "experiment": EXPERIMENT,
    "benchmark": BENCHMARK,
    "model": MODEL,
    "variant": VARIANT,
    "metric": described(TEXT, "The metric's name."),
    "unit": described(NULLABLE_TEXT, "The metric's unit; null where it has none."),
}
_FEED_ROW: dict[str, Shape] = {
    **IDENTITY,
    "value": described(NULLABLE, "The measured value, in the metric's unit; null only with `missing=explicit`."),
    "trials": described(NULLABLE, "The Bernoulli trials behind the value; null where they are not known."),
    "stderr": described(NULLABLE, "The standard error of the value; null where it is not known."),
    **CELL_INTERVAL,
    "updated_at": described(INSTANT, "When the revision was published."),
    "protocol": described(NULLABLE_TEXT, "How it was measured: JSON text, keys sorted; null where nothing is said."),
}
AS_SENT: dict[str, Shape] = {
    f"{kind}_as_sent": described(TEXT, f"The {kind} as it was posted; absent with `names=sent`.")
    for kind in ("experiment", "benchmark", "model", "variant")
}
SLICE: dict[str, Shape] = {"slice": described(TEXT, "What the cells are cut to; absent where they are whole.")}
AXIS_COLUMN = {"description": "The columns of the axes.", "type": ["string", "number", "null"]}
_ROW_ABOUT = "A row of the feed; besides these columns a text and a number (`<axis>_num`) for each axis."
CELL: dict[str, Shape] = {
    "value": described(NUMBER, "The measured value, in the metric's unit."),
    "trials": described(COUNT, "The Bernoulli trials behind the value; left out where they are not known."),
    "stderr": described(NUMBER, "The standard error of the value; left out where it is not known."),
    "repeats": described(COUNT, "How many measurements the value is the mean of; left out where it is one."),
    "sd": described(NUMBER, "The standard deviation of those measurements, with ddof 1."),
}

CELLS: dict[str, Shape] = {
    "Cell": described(object_of("at value", at=AT, **CELL), "A measured cell."),
    "Measurement": described(object_of("value", **CELL), "What a cell holds."),
    "FeedValue": described(object_of(" ".join(_FEED_ROW), **_FEED_ROW), "A cell of a grid, and whose it is."),
    # Generators make an index signature of the columns, with which nothing beside it in the same object may disagree.
    "FeedCell": described(
        {
            "allOf": [
                ref("FeedValue"),
                object_of("", **AS_SENT, **SLICE),
                {"type": "object", "additionalProperties": AXIS_COLUMN},
            ]
        },
        _ROW_ABOUT,
    ),
    "Feed": described(
        object_of("items", items=described(array_of(ref("FeedCell")), "A row a cell, the oldest grid first.")),
        "The cells of a project.",
    ),
    "GridCell": extended(
        "FeedValue",
        object_of(
            "at",
            at=AT,
            repeats=described(NULLABLE, "How many measurements the value is the mean of; left out where it is one."),
            sd=described(NULLABLE, "The standard deviation of those measurements, with ddof 1."),
            **SLICE,
        )
        | {"additionalProperties": {"description": AXIS_COLUMN["description"]}},
        _ROW_ABOUT,
    ),
    "Cells": described(
        object_of(
            "grid revision digest items",
            grid=GRID_ID,
            revision=NUMBER_OF_REVISION,
            digest=CONTENT_DIGEST,
            items=described(array_of(ref("GridCell")), "A row a cell, in row-major order."),
        ),
        "The cells of a grid.",
    ),
}
