"""Shapes of cells and item outcomes of a grid, and of the feeds of a project's cells and statistics."""

from __future__ import annotations

from registry.api.shapes.words import (
    AT,
    BENCHMARK,
    CONTENT_DIGEST,
    COUNT,
    DIGEST,
    EXPERIMENT,
    GRID_ID,
    INSTANT,
    MODEL,
    NULLABLE,
    NULLABLE_TEXT,
    NUMBER,
    NUMBER_OF_REVISION,
    TEXT,
    VARIANT,
    Shape,
    array_of,
    described,
    extended,
    may,
    object_of,
    record,
    ref,
)
from registry.renderings.rows import Field
from registry.renderings.statistics_columns import MEASURED, STANDING

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
    "ci_low": described(NULLABLE, "The lower end of the 95 % confidence interval; null where the noise is not known."),
    "ci_high": described(NULLABLE, "Its upper end."),
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
    "trials": may(described(COUNT, "The Bernoulli trials behind the value; left out where they are not known.")),
    "stderr": may(described(NUMBER, "The standard error of the value; left out where it is not known.")),
    "repeats": may(described(COUNT, "How many measurements the value is the mean of; left out where it is one.")),
    "sd": may(described(NUMBER, "The standard deviation of those measurements, with ddof 1.")),
}

CELLS: dict[str, Shape] = {
    "Cell": record("A measured cell.", at=AT, **CELL),
    "Measurement": record("What a cell holds.", **CELL),
    "FeedValue": record("A cell of a grid, and whose it is.", **_FEED_ROW),
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
    "Feed": record(
        "The cells of a project.", items=described(array_of(ref("FeedCell")), "A row a cell, the oldest grid first.")
    ),
    "GridCell": extended(
        "FeedValue",
        _ROW_ABOUT,
        {"description": AXIS_COLUMN["description"]},
        at=AT,
        repeats=may(described(NULLABLE, "How many measurements the value is the mean of; left out where it is one.")),
        sd=may(described(NULLABLE, "The standard deviation of those measurements, with ddof 1.")),
        slice=may(SLICE["slice"]),
    ),
    "Cells": record(
        "The cells of a grid.",
        grid=GRID_ID,
        revision=NUMBER_OF_REVISION,
        digest=CONTENT_DIGEST,
        items=described(array_of(ref("GridCell")), "A row a cell, in row-major order."),
    ),
}
_OUTCOMES = described(
    {"anyOf": [TEXT, array_of({"type": "number", "minimum": 0, "maximum": 1})]},
    "An outcome an item: bits in base64, the first item in the highest bit of the first byte, or scores from 0 to 1.",
)
_REPEATS = described({"type": "integer", "minimum": 1}, "How many trials each score is the mean of; 1 if not given.")

ITEMS: dict[str, Shape] = {
    "ItemCellIn": object_of("at outcomes", at=AT, outcomes=_OUTCOMES, repeats=_REPEATS | {"type": ["integer", "null"]})
    | {"additionalProperties": False, "description": "Outcomes of the items in one cell."},
    "Items": record(
        "The outcomes of items behind the cells of a grid.",
        grid=GRID_ID,
        revision=NUMBER_OF_REVISION,
        sets=described(array_of(ref("ItemSet")), "The item sets, by digest."),
        cells=described(array_of(ref("ItemCell")), "The cells that have outcomes, in row-major order."),
        flips=may(described(array_of(ref("ItemFlips")), "With `against`, of each cell that both have of one set.")),
    ),
    "ItemFlips": record(
        "The items of a cell that came out otherwise than in another grid: ids, or positions from 0 without ids.",
        at=AT,
        set=described(DIGEST, "The digest of the item set."),
        gained=described(array_of(TEXT), "1 here and 0 there; of scores, those that are higher."),
        lost=described(array_of(TEXT), "0 here and 1 there; of scores, those that are lower."),
    ),
    "ItemSet": record(
        "A set of items.",
        name=described(TEXT, "What the items are called."),
        digest=described(DIGEST, "What tells these items from others."),
        count=described(COUNT, "How many items there are."),
        cells=described(COUNT, "How many cells have outcomes of them."),
        ids=may(described(array_of(TEXT), "The id of each item; with `outcomes=true`, where they were given.")),
    ),
    "ItemCell": record(
        "A cell and the outcomes of its items; `outcomes` are there with `outcomes=true`.",
        at=AT,
        set=described(DIGEST, "The digest of its item set."),
        mean=described(NUMBER, "The mean of its outcomes, from 0 to 1."),
        stderr=described(
            NULLABLE, "The standard error of the mean by its outcomes, clustered where there are clusters."
        ),
        repeats=_REPEATS,
        pass_at_k=may(
            described(NUMBER, "With `k`: the chance that at least one of k tries of an item succeeds, pass@k.")
        ),
        pass_hat_k=may(described(NUMBER, "With `k`: the chance that all k tries of an item succeed, pass^k.")),
        outcomes=may(_OUTCOMES),
    ),
}
_TYPES: dict[str, Shape] = {"instant": INSTANT, "number": NULLABLE, "whole": {"type": ["integer", "null"]}}


def _shape(field: Field) -> Shape:
    text = NULLABLE_TEXT if field.nullable else TEXT
    return described(_TYPES.get(field.kind, text), field.about)


def _row(statistic: str) -> Shape:
    own = {field.name: _shape(field) for field in MEASURED[statistic]}
    about = "A row of the feed" + (
        "." if statistic == "coverage" else "; besides these columns a text and a number (`<axis>_num`) for each axis."
    )
    return extended("FeedNames", about, None if statistic == "coverage" else AXIS_COLUMN, **own)


_STANDING = {field.name: _shape(field) for field in STANDING}
STATISTICS_FEEDS: dict[str, Shape] = {
    "FeedNames": record(
        "Whose statistic a row is.", **IDENTITY, **_STANDING, **{name: may(one) for name, one in AS_SENT.items()}
    ),
    **{f"{statistic.capitalize()}Row": _row(statistic) for statistic in MEASURED},
    **{
        f"{statistic.capitalize()}Feed": record(
            f"The {statistic} of the grids of a project.",
            items=described(array_of(ref(f"{statistic.capitalize()}Row")), "The rows, the oldest grid first."),
        )
        for statistic in MEASURED
    },
}
