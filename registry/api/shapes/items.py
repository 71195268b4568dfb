"""Outcomes of items, as they are read."""

from __future__ import annotations

from registry.api.shapes.common import GRID_ID, NUMBER_OF_REVISION
from registry.api.shapes.words import AT, COUNT, DIGEST, NUMBER, TEXT, Shape, array_of, described, object_of, ref

_OUTCOMES = described(
    {"anyOf": [TEXT, array_of({"type": "number", "minimum": 0, "maximum": 1})]},
    "An outcome an item: bits in base64, the first item in the highest bit of the first byte, or scores from 0 to 1.",
)
_REPEATS = described({"type": "integer", "minimum": 1}, "How many trials each score is the mean of; 1 if not given.")

ITEMS: dict[str, Shape] = {
    "ItemCellIn": object_of("at outcomes", at=AT, outcomes=_OUTCOMES, repeats=_REPEATS | {"type": ["integer", "null"]})
    | {"additionalProperties": False, "description": "Outcomes of the items in one cell."},
    "Items": described(
        object_of(
            "grid revision sets cells",
            grid=GRID_ID,
            revision=NUMBER_OF_REVISION,
            sets=described(array_of(ref("ItemSet")), "The item sets, by digest."),
            cells=described(array_of(ref("ItemCell")), "The cells that have outcomes, in row-major order."),
        ),
        "The outcomes of items behind the cells of a grid.",
    ),
    "ItemSet": described(
        object_of(
            "name digest count cells",
            name=described(TEXT, "What the items are called."),
            digest=described(DIGEST, "What tells these items from others."),
            count=described(COUNT, "How many items there are."),
            cells=described(COUNT, "How many cells have outcomes of them."),
            ids=described(array_of(TEXT), "The id of each item; with `outcomes=true`, where they were given."),
        ),
        "A set of items.",
    ),
    "ItemCell": described(
        object_of(
            "at set mean repeats",
            at=AT,
            set=described(DIGEST, "The digest of its item set."),
            mean=described(NUMBER, "The mean of its outcomes, from 0 to 1."),
            repeats=_REPEATS,
            outcomes=_OUTCOMES,
        ),
        "A cell and the outcomes of its items; `outcomes` are there with `outcomes=true`.",
    ),
}
