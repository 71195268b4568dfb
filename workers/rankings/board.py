"""Ranking of a scope that is too large for exact tests of every pair and small enough that all cells are at hand: a
leaderboard.

The grids are read as matrices, one for each benchmark and shape, in one statement; a slice cuts columns of them.
"""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray
from sqlalchemy import ARRAY, Connection, DateTime, TextClause, Uuid, bindparam, select, text

from registry.grids.slices import kept_positions, mask_of
from registry.query import RankingQuery
from registry.results.inputs import DerivedGrid, Warning
from registry.results.ranking import Checksum, Ranking
from registry.results.set_aside import SetAside, set_aside_warnings
from registry.storage.keys import GRIDS_THEN, grids_at, instant_of, of_current
from registry.storage.rows import axis_of
from registry.storage.tables import revisions
from workers.rankings.direct import benchmarks_of, of_scope
from workers.rankings.matrices import MATRICES, GridMatrix, matrix_of
from workers.rankings.pair_sums import fingerprint
from workers.rankings.ranking_input import (
    derived_entry,
    derived_name_warnings,
    level_warnings,
    scale_warnings,
    without_costly,
)
from workers.rankings.slots import Frame, Integers, Kind, Roles, Scale, Scales, Slots, roles_of, scales
from workers.scope import Aliases, alias_map, canonical_names, conditions, experiment_names, names_of
from workers.statistics.board import rank_board
from workers.statistics.score_matrix import ScoreMatrix

MOST_CELLS = 30_000_000
"""Names times slots of a score matrix that is held in memory: 240 MB."""
_KINDS = ("benchmark", "model", "variant")


def _reads(table: str) -> TextClause:
    """The statement that reads the matrices of grids of a table with columns as those of `grids`."""
    statement = f"""WITH read AS (
        SELECT 1 AS part, id, revision AS number, updated_at, benchmark, model, variant FROM {table}
        WHERE project_id = :project AND experiment = ANY(:experiments) AND metric = :metric AND deleted_at IS NULL
          AND (:all_benchmark OR benchmark = ANY(:benchmark)) AND (:all_model OR model = ANY(:model))
          AND (:all_variant OR variant = ANY(:variant)) AND id <> ALL(:left_out) OFFSET 0
    ) {MATRICES}"""  # noqa: S608 (constants)
    return text(statement).bindparams(bindparam("project", type_=Uuid), bindparam("left_out", type_=ARRAY(Uuid)))


_READ = _reads("grids")
_READ_THEN = _reads(f"({GRIDS_THEN}) AS grids_then").bindparams(bindparam("as_of", type_=DateTime(timezone=True)))


@dataclass(frozen=True)
class Board:
    """The grids of a scope as matrices, in a fixed order, whether aliases may have joined some of them, and the derived
    ones, which are not ranked."""

    matrices: Sequence[GridMatrix]
    joined: bool
    derived: tuple[DerivedGrid, ...]


def read_board(
    connection: Connection, project_id: uuid.UUID, query: RankingQuery, left_out: Collection[uuid.UUID] = ()
) -> Board:
    """The board of a query. Grids that are `left_out`, by their ids, do not count.

    `connection` must see one snapshot.
    """
    aliases = alias_map(connection, project_id)
    asked = _parameters(aliases, project_id, query) | {"left_out": list(left_out)}
    then = {"as_of": instant_of(query.as_of)} if query.as_of else {}
    found = connection.execute(_READ_THEN if then else _READ, asked | then)
    whole = (matrix_of(row, aliases, with_ids=True) for row in found)
    matrices = sorted(_cut(whole, query) if query.cuts else whole, key=_place)
    return Board(matrices, bool(aliases), _derived(connection, aliases, project_id, query))


def board_ranking(board: Board, query: RankingQuery) -> Ranking | None:
    """Ranking of models or variants, from all cells at once; None if they are too many for that. Equal inputs give
    equal bytes."""
    matrices = board.matrices
    known = scales(_kind(matrix) for matrix in matrices)
    found = _standings(query, board, known)
    if found is None:
        return None
    standings, aside = found
    ranked = rank_board(standings, query.method, query.missing, query.alpha, query.target, query.pairs_of or None)
    benchmarks = benchmarks_of(query, standings)
    scoped = of_scope(ranked, query, benchmarks)
    return replace(
        scoped,
        scale=known.one,
        inputs_left_out=_checksum(matrices),
        derived=board.derived,
        set_aside=aside,
        warnings=(
            *_overlap_warnings(board),
            *scale_warnings(known),
            *level_warnings(query, ((matrix.benchmark, orjson.loads(matrix.axes)) for matrix in matrices)),
            *derived_name_warnings(benchmarks),
            *set_aside_warnings(aside),
            *scoped.warnings,
        ),
    )


def _cut(matrices: Iterable[GridMatrix], query: RankingQuery) -> Iterator[GridMatrix]:
    """The matrices at the levels that count of their benchmarks; without those that have none of them."""
    for matrix in matrices:
        axes = orjson.loads(matrix.axes)
        kept = _kept(query, matrix.benchmark, axes)
        if kept is not None:
            levels = [[axis["levels"][place] for place in places] for axis, places in zip(axes, kept, strict=True)]
            left = [axis | {"levels": own} for axis, own in zip(axes, levels, strict=True)]
            mask = np.array(mask_of([len(axis["levels"]) for axis in axes], kept), dtype=np.bool_)
            yield replace(matrix, axes=orjson.dumps(left).decode(), values=matrix.values[:, mask])


def _kept(query: RankingQuery, benchmark: str, axes: Sequence[Any]) -> list[list[int]] | None:
    """Positions of the levels that count of each axis; None where there are none."""
    return kept_positions({axis.name: axis.levels for axis in map(axis_of, axes)}, query.levels_of(benchmark))


def _parameters(aliases: Aliases, project_id: uuid.UUID, query: RankingQuery) -> dict[str, Any]:
    named: dict[str, Any] = {}
    for kind in _KINDS:
        wanted = getattr(query, kind)
        named |= {f"all_{kind}": not wanted, kind: [name for one in wanted for name in names_of(aliases, kind, one)]}
    experiments = experiment_names(aliases, query.experiment)
    return {"project": project_id, "experiments": experiments, "metric": query.metric, **named}


def _place(matrix: GridMatrix) -> tuple[Any, ...]:
    """Key of a fixed order: the statement groups in any."""
    return matrix.benchmark, matrix.variant, matrix.axes, min(matrix.order)


def _kind(matrix: GridMatrix) -> Kind:
    return matrix.unit or None, matrix.direction, matrix.lower, matrix.upper  # type: ignore[return-value]


def _standings(query: RankingQuery, board: Board, known: Scales) -> tuple[ScoreMatrix, tuple[SetAside, ...]] | None:
    """Score matrix of all grids, without their noise, and who is set aside; None if it would be too large."""
    directed = [one for one in board.matrices if known.of[_kind(one)].direction] or list(board.matrices)
    frame, slots = Frame.of(known.classes), Slots()
    names = sorted({one.name for matrix in directed for one in _roles(query.by, matrix)})
    places = {name: i for i, name in enumerate(names)}
    blocks = [
        block for matrix in directed for block in _blocks(query.by, matrix, places, slots, known.of[_kind(matrix)])
    ]
    if len(names) * slots.size > MOST_CELLS:
        return None
    values = np.full((len(names), slots.size), np.nan)
    for rows, numbers, written, scale in _in_order(directed, blocks) if board.joined else blocks:
        at = np.ix_(rows, numbers)
        values[at] = np.where(np.isfinite(written), frame.sign(scale) * scale.factor * written, values[at])
    placed = ((numbers, scale) for _, numbers, _, scale in blocks)
    return without_costly(query, frame.matrix(query.by, names, slots, placed, {"values": values}), slots)


Block = tuple[Integers, Integers, NDArray[np.float64], Scale]
"""Rows, slots, values of rows by slots, and their scale."""


def _blocks(by: str, matrix: GridMatrix, places: Mapping[str, int], slots: Slots, scale: Scale) -> Iterator[Block]:
    """The values of a matrix by names and slots: of one block where its grids share the slots, else of one for each."""
    axes = orjson.loads(matrix.axes)
    each = _roles(by, matrix)
    rooms = dict.fromkeys((one.group, one.rest) for one in each)
    numbers = {room: slots.numbers(*room, axes, scale) for room in rooms}
    rows = np.array([places[one.name] for one in each], dtype=np.int64)
    if len(rooms) == 1:
        yield rows, next(iter(numbers.values())), matrix.values, scale
        return
    for i, one in enumerate(each):
        yield rows[i : i + 1], numbers[one.group, one.rest], matrix.values[i : i + 1], scale


def _in_order(matrices: Sequence[GridMatrix], blocks: Sequence[Block]) -> Sequence[Block]:
    """The blocks such that of two grids on one slot the one updated last is written last."""
    if sum(len(rows) for rows, *_ in blocks) != sum(len(one.order) for one in matrices):
        return blocks
    orders = [order for matrix in matrices for order in matrix.order]
    single = [
        (rows[i : i + 1], slots, values[i : i + 1], scale)
        for rows, slots, values, scale in blocks
        for i in range(len(rows))
    ]
    return [block for _, block in sorted(zip(orders, single, strict=True), key=lambda one: one[0])]


def _roles(by: str, matrix: GridMatrix) -> list[Roles]:
    """What the names of each grid of the matrix are."""
    return [roles_of(by, matrix.benchmark, model, matrix.variant) for model in matrix.models]


def _checksum(matrices: Sequence[GridMatrix]) -> Checksum:
    total = sum(sum(map(fingerprint, matrix.ids, matrix.revisions)) for matrix in matrices)
    return Checksum(sum(len(matrix.ids) for matrix in matrices), uuid.UUID(int=total % (1 << 128)).hex)


def _overlap_warnings(board: Board) -> Iterator[Warning]:
    """One warning for all grids that aliases give the identity of another."""
    held = Counter[Hashable](
        (one.benchmark, model, one.variant) for one in (board.matrices if board.joined else ()) for model in one.models
    )
    more = sum(count - 1 for count in held.values())
    if more:
        detail = (
            f"With aliases applied, {more:,} grids are others once more; where both measured, the later one counts."
        )
        yield Warning("same_slots", detail)


def _derived(
    connection: Connection, aliases: Aliases, project_id: uuid.UUID, query: RankingQuery
) -> tuple[DerivedGrid, ...]:
    there = grids_at(project_id, query.as_of)
    columns = select(there.c.id, there.c.benchmark, there.c.model, there.c.variant, revisions.c.axes)
    derived = columns.join_from(there, revisions, of_current(revisions, there)).where(
        *conditions(aliases, project_id, query, there), revisions.c.derived.is_not(None)
    )
    rows = connection.execute(derived.order_by(there.c.benchmark, there.c.model, there.c.id)).all()
    meant = ((row, canonical_names(row, aliases)) for row in rows)
    return tuple(
        derived_entry(row, names)
        for row, names in meant
        if not query.cuts or _kept(query, names["benchmark"], row.axes) is not None
    )
