"""Send an item of the spool to its registry: a grid is POSTed, cells are PATCHed into theirs, made if it is not there.

A curve of more steps than an axis may have levels: thinned evenly, so that the whole course of it is kept.
"""

import bisect
import hashlib
import json
import math
import re
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

from results_registry.errors import NotThere, Refused, log_once
from results_registry.origin import segment
from results_registry.spool import CELLS, IDENTITY, Item

if TYPE_CHECKING:
    from results_registry.http import Transport

_FULL = re.compile(r"an axis has at most (\d+) levels")
_BLOCKS = ("values", "trials", "stderr")
_MEMBERS = (*IDENTITY, "labels", "questions", "design_effect", "derived", "protocol", "source")
Answered = dict[str, Any]


def most_levels(error: Refused) -> int | None:
    """The levels that an axis may have, if a refusal is about that."""
    found = next((match for _, detail in error.errors if (match := _FULL.search(detail))), None)
    return int(found[1]) if found else None


class Curve:
    """The levels that are kept of one numeric axis of one grid, and how far apart they are."""

    def __init__(self, axis: str, levels: Collection[float]) -> None:
        """Keeps at most half of these levels and one: the first, and each that is twice the mean distance further."""
        self.axis = axis
        known = sorted(levels)
        self.gap = 2 * (known[-1] - known[0]) / (len(known) - 1)
        self._levels: list[float] = []
        for level in known:
            if not self._levels or level - self._levels[-1] >= self.gap * (1 - 1e-9):
                self._levels.append(level)

    def kept(self, cells: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """The cells whose level is kept, or is far enough from those that are; that one is kept from now on."""
        return [cell for cell in cells if self.keeps(_number(cell["at"].get(self.axis)))]

    def keeps(self, level: float | None) -> bool:
        if level is None:
            return True  # no number: the registry judges it
        place = bisect.bisect_left(self._levels, level)
        near = self._levels[max(0, place - 1) : place + 1]
        if level in near:
            return True
        if any(abs(level - other) < self.gap * (1 - 1e-9) for other in near):
            return False
        self._levels.insert(place, level)
        return True


def curve_of(grid: dict[str, Any], cells: Sequence[dict[str, Any]], most: int) -> Curve | None:
    """The curve with half as many levels as an axis may have; None where no numeric axis is too long, or cells have
    repeats, which cannot be sent again."""
    for axis in grid["axes"]:
        if axis["kind"] != "numeric" or "repeats" in grid:
            continue
        levels = [_number(level) for level in axis["levels"]] + [
            _number(cell["at"].get(axis["name"])) for cell in cells
        ]
        known = {level for level in levels if level is not None}
        if len(known) > most:
            return Curve(axis["name"], known)
    return None


def thinned(grid: dict[str, Any], curve: Curve) -> dict[str, Any]:
    """The grid as it is published again, with the levels that the curve keeps."""
    place = next(number for number, axis in enumerate(grid["axes"]) if axis["name"] == curve.axis)
    axis = grid["axes"][place]
    kept = [number for number, level in enumerate(axis["levels"]) if curve.keeps(_number(level))]
    axes = [*grid["axes"]]
    axes[place] = {**axis, "levels": [axis["levels"][number] for number in kept]}
    sent = {name: grid[name] for name in _MEMBERS if grid.get(name) not in (None, False)}
    blocks = {name: _along(grid[name], place, kept) for name in _BLOCKS if name in grid}
    return sent | {"axes": axes} | blocks


def failed(grid: dict[str, Any], curve: Curve) -> list[dict[str, Any]]:
    """The cells without a value that say why, at the levels that the curve keeps."""
    cells = [{"at": one["at"], "value": None, "reason": one["reason"]} for one in grid.get("reasons") or ()]
    return curve.kept(cells)


def _along(block: Any, place: int, kept: Sequence[int]) -> Any:
    """A nested block with these entries of its axis of this number; one value for all cells stays that."""
    if not isinstance(block, list):
        return block
    return [block[number] for number in kept] if place == 0 else [_along(one, place - 1, kept) for one in block]


def _number(level: Any) -> float | None:
    given: Any = level.get("number") if isinstance(level, dict) else level
    try:
        number = float(given)
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) else None


class Uploader:
    """Uploads to one project. Remembers the ids of the grids whose cells it has sent.

    `repeats`: a request that finds a busy server is repeated; without it the caller comes back by itself.
    """

    def __init__(self, transport: "Transport", project: str, *, repeats: bool = False) -> None:
        self.transport, self.project, self._repeats = transport, project, repeats
        self._ids: dict[tuple[str, ...], str] = {}
        self._curves: dict[str, tuple[Curve, Answered]] = {}

    def deliver(self, items: Sequence[Item]) -> Answered:
        """Send a grid, or cells of one grid together, once; what the registry answered. Raises `ClientError`."""
        first = items[0]
        if first.kind == CELLS:
            return self._deliver_cells(first, merged([item.document() for item in items]))
        if first.has_items:
            return self._deliver_with_items(first)
        headers = first.headers | {"Idempotency-Key": first.key}
        return self._send("POST", self._grids, first.body, headers)

    def _deliver_with_items(self, item: Item) -> Answered:
        """The grid, then the outcomes of its items. Whoever is interrupted sends all again, which changes nothing."""
        document = item.document()
        bodies = document.pop("items")
        answered = self._send("POST", self._grids, document, {"Idempotency-Key": item.key})
        for number, body in enumerate(bodies):
            query, key = {"revision": answered["revision"]}, f"{item.key}-items-{number}"
            path, headers = f"grids/{answered['id']}/items", {"Idempotency-Key": key}
            self.transport.call("POST", path, body, query=query, headers=headers, repeat=self._repeats)
        return answered

    @property
    def _grids(self) -> str:
        return f"projects/{segment(self.project)}/grids"

    def _send(self, method: str, path: str, body: Any, headers: dict[str, str]) -> Answered:
        answered: Answered = self.transport.call(method, path, body, headers=headers, repeat=self._repeats).json()
        return answered

    def _deliver_cells(self, item: Item, document: dict[str, Any]) -> Answered:
        key = hashlib.sha256(json.dumps(document).encode()).hexdigest()
        for _ in range(3):
            grid = self._ids.get(item.identity) or self._find(item.identity)
            try:
                answered = self._amend(grid, document, key) if grid else self._make(document, key)
            except NotThere:
                if not grid:
                    raise  # the project
                self._ids.pop(item.identity, None)
            except Refused as error:
                if error.status != 412:
                    raise
            else:
                self._ids[item.identity] = answered["id"]
                return answered
        raise Refused(409, {"status": 409, "detail": "The grid comes and goes; the cells were not added."})

    def _amend(self, grid: str, document: dict[str, Any], key: str) -> Answered:
        curve, answered = self._curves.get(grid, (None, {}))
        cells = document["cells"] if curve is None else curve.kept(document["cells"])
        if not cells:
            return answered
        try:
            answered = self._patch(grid, cells, key)
        except Refused as error:
            most = most_levels(error)
            if most is None or (thinned := self._thin(grid, cells, most, key)) is None:
                raise
            curve, answered = thinned
        if curve is not None:
            self._curves[grid] = (curve, answered)
        return answered

    def _patch(self, grid: str, cells: list[dict[str, Any]], key: str) -> Answered:
        headers = {"Idempotency-Key": f"{key}-{grid}"}
        return self._send("PATCH", f"grids/{grid}/cells", {"cells": cells}, headers)

    def _thin(self, grid: str, cells: list[dict[str, Any]], most: int, key: str) -> tuple[Curve, Answered] | None:
        """Publish the grid with every second step, and these cells; None if that is no curve of steps."""
        answer = self.transport.call("GET", f"grids/{grid}", repeat=self._repeats)
        found = answer.json()
        curve = curve_of(found, cells, most)
        if curve is None:
            return None
        log_once(
            f"thinned {grid}",
            f'The axis "{curve.axis}" of {found["benchmark"]} · {found["model"]} · {found["metric"]["name"]} has the '
            f"{most} levels that an axis may have. It is thinned: from now on one level in {curve.gap:g} is kept, and "
            "so on as it grows. Log less often to keep every one.",
        )
        headers = {"If-Match": answer.headers["etag"], "Idempotency-Key": f"{key}-{grid}-thinned"}
        answered = self._send("POST", self._grids, thinned(found, curve), headers)
        if kept := [*failed(found, curve), *curve.kept(cells)]:
            answered = self._patch(grid, kept, f"{key}-rest")
        return curve, answered

    def _make(self, document: dict[str, Any], key: str) -> Answered:
        """The grid with these cells; 412 when it has come into being meanwhile."""
        return self._send("POST", self._grids, document, {"Idempotency-Key": key, "If-None-Match": "*"})

    def _find(self, identity: tuple[str, ...]) -> str | None:
        """The id of the grid of exactly these names; an alias of a name is another grid."""
        query = dict(zip(IDENTITY, identity, strict=True))
        answer = self.transport.call("GET", self._grids, query={**query, "limit": 1000}, repeat=self._repeats).json()
        for grid in answer["items"]:
            if (*(grid[name] for name in IDENTITY[:4]), grid["metric"]["name"]) == identity:
                return str(grid["id"])
        return None


def merged(documents: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Several calls as one: a later call's cells replace those of an earlier one at the same coordinate.

    Within a call a coordinate that comes twice stays twice: those are repeats.
    """
    cells: dict[tuple[tuple[str, str], ...], list[Any]] = {}
    for document in documents:
        mine: dict[tuple[tuple[str, str], ...], list[Any]] = {}
        for cell in document["cells"]:
            mine.setdefault(_coordinate(cell["at"]), []).append(cell)
        for at in mine:
            cells.pop(at, None)
        cells |= mine
    labels = {name: text for document in documents for name, text in document.get("labels", {}).items()}
    together = [cell for some in cells.values() for cell in some]
    return documents[-1] | {"cells": together} | ({"labels": labels} if labels else {})


def _coordinate(at: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    """A coordinate as text: 1, 1.0 and "1" are one level."""
    return tuple(sorted((name, _level(level)) for name, level in at.items()))


def _level(level: Any) -> str:
    return str(int(level)) if isinstance(level, float) and level.is_integer() else str(level)
