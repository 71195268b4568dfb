"""Routes of a grid's item outcomes: what came out of each question behind its cells."""

import base64
import uuid
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from flask import Response, g
from marshmallow import ValidationError, fields, post_load
from sqlalchemy import Connection

from registry.api import examples
from registry.api.context import actor, grid_row, parts
from registry.api.fields import Body, Matching, Name, Whole, name_shape
from registry.api.grid_fields import Cells
from registry.api.idempotency import idempotent_write
from registry.api.responses import json_answer
from registry.api.schemas import RevisionParameters, about, many_names, number_of_revision
from registry.api.smorest import Blueprint, reply
from registry.errors import Forbidden
from registry.grids.intake.levels import has_control
from registry.grids.intake.sent_items import read_items
from registry.grids.outcomes import Outcomes, fates, flipped, fourfold
from registry.operations.items import GridItems, add_items, find_items, ids_of_sets, items_of_models
from registry.operations.read import placed
from registry.operations.stored_grids import stored_grid
from registry.settings import Settings

MOST_ITEMS = 10_000_000
MOST_IN_ID = 200
MOST_TRIED = 1_000


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
    clusters = fields.List(
        Name(),
        allow_none=True,
        metadata=about(
            "What each item belongs to, such as the text it asks about: standard errors are clustered by it."
        ),
    )

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
    k = Whole(
        1, MOST_TRIED, text=True, metadata=about("With `pass_at_k` and `pass_hat_k` of cells with k repeats or more.")
    )
    against = fields.UUID(
        metadata=about("Another grid: with the items that came out otherwise than there, in `flips`.")
    )
    against_revision = number_of_revision("An older revision of the other grid.")
    life = fields.Boolean(
        load_default=False,
        metadata=about("With what each item says of all models of this experiment, benchmark and metric, in `life`."),
    )
    model = many_names("With `life`, only these; all if not given.")


blp = Blueprint("items", "What came out of each item behind a cell.")


@blp.post("/grids/<uuid:grid>/items", operation="addItems")
@blp.arguments(ItemsIn, example=examples.ITEMS_IN)
@blp.arguments(RevisionParameters, location="query")
@blp.answers(reply(201, "Added", "Items"), reply(200, "The revision has these outcomes already", "Items"), errors=[413])
@idempotent_write()
def post_items(
    connection: Connection, row: Any, sent: dict[str, Any], query: dict[str, Any], grid: uuid.UUID
) -> Response:
    """Add outcomes of items

    One bit or one score for each item, in cells of a revision, by default the current one. Comparisons of grids with
    outcomes of the same set are paired. Each cell must be the mean of its outcomes, exactly where it has trials,
    within half a unit of its last decimal else. Outcomes never change: others for the same cell are a conflict. An
    amendment keeps those of the cells that it leaves as they are, another publication begins without any. Several sets
    are posted one by one.
    """
    read = partial(read_items, sent, limits=parts().limits, most=parts().settings.max_outcomes)
    found = add_items(connection, actor(connection), row, grid, query.get("revision"), read)
    return json_answer(_document(found), status=201 if found.is_new else 200)


@blp.get("/grids/<uuid:grid>/items", operation="getItems")
@blp.arguments(ItemsParameters, location="query")
@blp.answers(reply(200, "The outcomes", "Items"), public=True)
def get_items(query: dict[str, Any], grid: uuid.UUID) -> Response:
    """Read outcomes of items

    The item sets, and the cells that have outcomes; `outcomes=true` adds the outcomes themselves as they are posted,
    `k` the chances that one of k tries of an item succeeds, and that all do.
    `against` another grid, or another revision of this one, `flips` names the items that came out otherwise, with
    Cohen's kappa of both: the agreement of a judge with a person, say. `life` names the items that no model solves, all
    do, and those that tell models apart; a share link does not open it.
    """
    other_id = query.get("against", grid if "against_revision" in query else None)
    with parts().database.reading() as connection:
        row = grid_row(connection, grid, "reader", query.get("revision"))
        found, other = find_items(connection, grid, stored_grid(row)), None
        if other_id is not None:
            other_row = grid_row(connection, other_id, "reader", query.get("against_revision"))
            other = find_items(connection, other_id, stored_grid(other_row))
        every = _every(connection, row.project_id, found, query["model"]) if query["life"] else []
        asked = query["outcomes"] or other is not None or every
        digests = {one.digest for grid in (found, *every) for one in grid.held.values()} if asked else set()
        ids = ids_of_sets(connection, row.project_id, digests) if digests else {}
    document = _document(found, ids, whole=query["outcomes"], k=query.get("k"))
    document |= {} if other is None else {"flips": list(_flips(found, other, ids))}
    return json_answer(document | ({"life": list(_lives(every, ids))} if query["life"] else {}))


def _every(connection: Connection, project_id: uuid.UUID, found: GridItems, models: Sequence[str]) -> list[GridItems]:
    if "share" in g:
        raise Forbidden("A link opens what it was made for; `life` is about all models and needs a token.")
    return items_of_models(connection, project_id, found.stored.names, models)


def _flips(found: GridItems, other: GridItems, ids: Mapping[str, Sequence[str]]) -> Iterator[dict[str, Any]]:
    """The items that came out otherwise, of each cell that both have of one set; ids where they are known, else
    positions from 0."""
    there = {(one.at, one.digest, one.outcomes.count): one for one in other.held.values()}
    for index in sorted(found.held):
        mine = found.held[index]
        if (theirs := there.get((mine.at, mine.digest, mine.outcomes.count))) is not None:
            both = theirs.outcomes, mine.outcomes
            gained, lost = _named(ids.get(mine.digest), flipped(*both))
            at = placed(found.stored.grid, index)[0]
            yield {"at": at, "set": mine.digest, "gained": gained, "lost": lost, **fourfold(*both)}


def _lives(every: Sequence[GridItems], ids: Mapping[str, Sequence[str]]) -> Iterator[dict[str, Any]]:
    """What the items of each cell and set say of the grids that have outcomes of them."""
    cells: dict[Any, list[tuple[GridItems, int]]] = {}
    for grid in every:
        for index, one in sorted(grid.held.items()):
            cells.setdefault((one.at, one.digest, one.outcomes.count), []).append((grid, index))
    for (_, digest, _), of_all in cells.items():
        (first, index), count = of_all[0], len(of_all)
        *ends, deciding = _named(ids.get(digest), fates([grid.held[place].outcomes for grid, place in of_all]))
        dead, saturated = reversed(ends) if first.stored.metric.direction == "lower" else ends
        yield {
            "at": placed(first.stored.grid, index)[0],
            "set": digest,
            "grids": count,
            "dead": dead,
            "saturated": saturated,
            "deciding": deciding,
            "solved_at_most": 1 - 0.05 ** (1 / count),
        }


def _named(ids: Sequence[str] | None, places: Iterable[Sequence[int]]) -> Iterator[list[str]]:
    """Items at places by their ids, if these are known."""
    return ([str(n) if ids is None else ids[n] for n in one] for one in places)


def _document(
    found: GridItems, ids: dict[str, list[str]] | None = None, *, whole: bool = False, k: int | None = None
) -> dict[str, Any]:
    held = sorted(found.held.items())
    cells = Counter(one.digest for _, one in held)
    sets = {one.digest: {"name": one.set_name, "digest": one.digest, "count": one.outcomes.count} for _, one in held}
    return {
        "grid": found.stored.id,
        "revision": found.stored.revision,
        "sets": [
            one | {"cells": cells[digest]} | ({"ids": ids[digest]} if ids and digest in ids else {})
            for digest, one in sorted(sets.items())
        ],
        "cells": [
            {
                "at": placed(found.stored.grid, index)[0],
                "set": one.digest,
                "mean": one.outcomes.mean,
                "stderr": one.outcomes.stderr,
                "repeats": one.outcomes.repeats,
                **dict(zip(("pass_at_k", "pass_hat_k"), (k and one.outcomes.passes(k)) or (), strict=False)),
                **({"outcomes": _sent(one.outcomes)} if whole else {}),
            }
            for index, one in held
        ],
    }


def _sent(outcomes: Outcomes) -> str | list[float]:
    return list(outcomes.scores or ()) if outcomes.bits is None else base64.b64encode(outcomes.bits).decode()
