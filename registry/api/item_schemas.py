"""Schemas of outcomes of items: those that are posted, and what is asked for when they are read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from marshmallow import ValidationError, fields, post_load

from registry.api.fields import Body, Matching, Name, Whole, name_shape
from registry.api.grid_fields import Cells
from registry.api.schemas import RevisionParameters, about
from registry.grids.intake.levels import has_control
from registry.settings import Settings

MOST_ITEMS = 10_000_000
MOST_IN_ID = 200


class ItemIds(fields.Field[list[str]]):
    """Ids of items in their order, each once."""

    KIND = "array", None

    def shape(self, _settings: Settings) -> dict[str, Any]:
        one = {"type": "string", "minLength": 1} | name_shape(MOST_IN_ID)
        return {"items": one, "minItems": 1, "uniqueItems": True}

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **_options: Any) -> list[str]:
        if not isinstance(value, list):
            raise ValidationError("must be a list of texts")
        met: set[str] = set()
        for place, one in enumerate(value):
            if not isinstance(one, str) or not 1 <= len(one) <= MOST_IN_ID or has_control(one):
                wanted = f"is a text of 1 to {MOST_IN_ID} characters without control characters"
                raise ValidationError({place: [wanted]})
            if one in met:
                raise ValidationError({place: ["stands in this set already"]})
            met.add(one)
        return value


class ItemSetIn(Body):
    """The items of a benchmark in an order. Grids with outcomes of one digest are compared item by item."""

    error_messages = {"type": 'must be an object such as {"name": "AIME\'24", "count": 30, "ids": […]}'}  # noqa: RUF012

    name = Name(required=True, metadata=about("What the items are called, for people.", "AIME'24"))
    count = Whole(1, MOST_ITEMS, required=True, metadata=about("How many items there are.", 30))
    digest = Matching(
        "(sha256:)?[0-9a-fA-F]{64}",
        "is a SHA-256: 64 hexadecimal digits",
        allow_none=True,
        metadata=about(
            "SHA-256 of whatever tells these items in this order from others; needed without ids. With ids it is that"
            ' of the compact JSON array of them in UTF-8, `["a","b"]`.'
        ),
    )
    ids = ItemIds(allow_none=True, metadata=about("The id of each item, in the order of the outcomes."))

    @post_load
    def canonical(self, data: dict[str, Any], **_options: Any) -> dict[str, Any]:
        digest = data.get("digest")
        return data if digest is None else data | {"digest": "sha256:" + digest.lower().removeprefix("sha256:")}


class ItemCells(Cells):
    """Outcomes by cell, `{"at", "outcomes", "repeats"}`."""

    ONE = "ItemCellIn"
    KEYS = ("at", "outcomes", "repeats")
    REQUIRED = ("at", "outcomes")


class ItemsIn(Body):
    """Outcomes of the items of one set in cells of a grid."""

    set = fields.Nested(ItemSetIn, required=True, metadata=about("The items."))
    cells = ItemCells(required=True, least=1, metadata=about("Cells that are means of outcomes of these items."))


class ItemsParameters(RevisionParameters):
    outcomes = fields.Boolean(load_default=False, metadata=about("With every outcome, and the ids of the items."))
