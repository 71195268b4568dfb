"""Three ways to a ranking of a scope, by its size, and one answer: `workers/queries.py` chooses among them.

`direct_ranking` makes one score matrix of all grids of the scope (an experiment and a metric, or a part of it).
`board_ranking` is for a scope that is too large for exact tests of every pair and small enough that all cells are at
hand, a leaderboard: its grids are read as matrices, one for each benchmark and shape, in one statement, and a slice
cuts columns of them. `ranking_from_sums` reads the stored sums of pairs, whatever the number of cells.
"""

import uuid
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import orjson
from sqlalchemy import ARRAY, Connection, DateTime, TextClause, Uuid, bindparam, select, text

from registry.grids.slices import kept_positions, mask_of, member_text
from registry.query import AggregatesQuery, ModelComparisonQuery, RankingQuery, sliced_by
from registry.results.ranking import Checksum, Omission, Ranking
from registry.results.ranking import Slots as SlotCounts
from registry.results.terms import DerivedGrid, SetAside, Warning, set_aside_warnings
from registry.storage.keys import GRIDS_THEN, grids_at, instant_of, of_current
from registry.storage.rows import axis_of
from registry.storage.tables import grids, pair_sum_scopes, pair_sums, revisions
from workers.rankings.matrices import MATRICES, Block, GridMatrix, matrix_of, scatter
from workers.rankings.pair_sums import fingerprint, scope_of, stored_sums
from workers.rankings.ranking_input import (
    NO_ITEMS,
    build_ranking_input,
    derived_entry,
    derived_name_warnings,
    level_warnings,
    scale_warnings,
    without_costly,
)
from workers.rankings.slots import Frame, Kind, Roles, Scale, Scales, Slots, roles_of, scales
from workers.scope import Aliases, alias_map, canonical_names, conditions, names_of
from workers.statistics import rank
from workers.statistics.board import MOST_COUNTED, rank_board, rank_counted
from workers.statistics.counted import Counted, matrices_of
from workers.statistics.pair_sums import FIELDS
from workers.statistics.ranking import refused
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
    matrices = list(_cut(whole, query) if query.cuts else whole)
    # The statement groups in any order.
    matrices.sort(key=lambda one: (one.benchmark, one.variant, one.axes, min(one.order)))
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
    experiments = names_of(aliases, "experiment", query.experiment)
    return {"project": project_id, "experiments": experiments, "metric": query.metric, **named}


def _kind(matrix: GridMatrix) -> Kind:
    return matrix.unit or None, matrix.direction, matrix.lower, matrix.upper  # type: ignore[return-value]


def _standings(query: RankingQuery, board: Board, known: Scales) -> tuple[ScoreMatrix, tuple[SetAside, ...]] | None:
    """Score matrix of all grids, without their noise, and who is set aside; None if it would be too large."""
    directed = [one for one in board.matrices if known.of[_kind(one)].direction] or list(board.matrices)
    frame, slots = Frame.of(known.classes), Slots()
    names = sorted({one.name for matrix in directed for one in _roles(query.by, matrix)})
    places = {name: i for i, name in enumerate(names)}
    blocks = [
        (block, known.of[_kind(matrix)])
        for matrix in directed
        for block in _blocks(query.by, matrix, places, slots, known.of[_kind(matrix)])
    ]
    if len(names) * slots.size > MOST_CELLS:
        return None
    values = np.full((len(names), slots.size), np.nan)
    scaled = (replace(one, values=frame.sign(scale) * scale.factor * one.values) for one, scale in blocks)
    scatter(values, scaled, in_order=board.joined)
    placed = ((block.slots, scale) for block, scale in blocks)
    return without_costly(query, frame.matrix(query.by, names, slots, placed, {"values": values}), slots)


def _blocks(by: str, matrix: GridMatrix, places: Mapping[str, int], slots: Slots, scale: Scale) -> Iterator[Block]:
    """The values of a matrix by names and slots: of one block where its grids share the slots, else of one for each."""
    axes = orjson.loads(matrix.axes)
    each = _roles(by, matrix)
    rooms = [(one.group, one.rest) for one in each]
    numbers = {room: slots.numbers(*room, axes, scale) for room in dict.fromkeys(rooms)}
    rows, order = (np.array(one, dtype=np.int64) for one in ([places[one.name] for one in each], matrix.order))
    whole = Block(rows, numbers[rooms[0]], order, matrix.values)
    if len(numbers) == 1:
        yield whole
        return
    for i, room in enumerate(rooms):
        yield replace(whole.at(np.array([i])), slots=numbers[room])


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


_NAMED = 12
"""Missing benchmarks of a suite that are named; the rest is counted."""


def refused_ranking(query: RankingQuery, reason: str) -> Ranking:
    """Ranking that says why a query gets no order."""
    return of_scope(refused(reason, query.method, query.missing, query.alpha, query.target), query, ())


def of_scope(found: Ranking, query: RankingQuery, benchmarks: Sequence[str]) -> Ranking:
    """The ranking with the query's scope; what a suite names and no grid is about is a warning."""
    return replace(
        found,
        by=query.by,
        experiment=query.experiment,
        metric=query.metric,
        benchmarks=tuple(benchmarks),
        suite=query.suite or None,
        variant=query.variant,
        **sliced_by(query),
        warnings=(*suite_warnings(query, benchmarks, "ranked"), *found.warnings),
    )


def benchmarks_of(query: RankingQuery, scores: ScoreMatrix) -> tuple[str, ...]:
    """The benchmarks of a score matrix, which are its names where benchmarks are ranked."""
    return scores.names if query.by == "benchmark" else scores.benchmark_names


def suite_warnings(
    query: RankingQuery | AggregatesQuery | ModelComparisonQuery, benchmarks: Sequence[str], done: str
) -> Iterator[Warning]:
    """What a suite names and no grid is about; `done` says what is not done there."""
    lacking = sorted(set(query.benchmark) - set(benchmarks)) if query.suite and benchmarks else []
    if lacking:
        more = f" and {len(lacking) - _NAMED:,} more" if len(lacking) > _NAMED else ""
        own = dict(query.slices)
        named = ", ".join(member_text(name, own.get(name, ())) for name in lacking[:_NAMED])
        counted = f"{len(lacking):,} of the {len(query.benchmark):,} benchmarks"
        detail = f'Nothing is {done} on {counted} of the suite "{query.suite}": {named}{more}.'
        yield Warning("suite_incomplete", detail)


def direct_ranking(
    query: RankingQuery,
    rows: Sequence[Any],
    joined: Mapping[tuple[str, str], str],
    items: Mapping[Any, Sequence[Any]] = NO_ITEMS,
) -> Ranking:
    """Ranking computed from its cells, with rows of outcomes of items by grid; equal inputs give equal bytes."""
    prepared = build_ranking_input(query, rows, joined, items)
    policy = query.method, query.missing, query.alpha, query.target
    found = rank(prepared.scores, *policy, query.pairs_of or None, query.set_aside)
    scoped = of_scope(found, query, benchmarks_of(query, prepared.scores))
    warnings = prepared.warnings + scoped.warnings
    told = {name: getattr(prepared, name) for name in ("inputs", "derived", "scale", "set_aside")}
    return replace(scoped, warnings=warnings, **told)


MOST_BENCHMARKS = 1_000


def ranking_from_sums(connection: Connection, project_id: uuid.UUID, query: RankingQuery) -> Ranking:
    """Ranking computed from pair sums. Equal sums give equal bytes.

    `connection` must see one snapshot.
    """
    scope = connection.execute(select(pair_sum_scopes).where(*scope_of(project_id, query))).one()
    found = scales(tuple(orjson.loads(kind)) for kind in scope.kinds)
    if len(found.classes) > 1 or any(scale.factor != 1 for scale in found.of.values()):
        reason = "units, directions or bounds differ; over so many cells only grids of one scale are compared"
        return refused_ranking(query, reason)
    scale = found.classes[0] if found.classes else Scale("", "higher", None, None)
    if scale.direction is None:
        return refused_ranking(query, "the metric has no better end")
    benchmarks, more = _benchmarks(connection, scope)
    settings = (query.method, query.missing, query.alpha, query.target, query.pairs_of or None)
    left_out = [Omission("derived", "what was derived from other grids is not in the sums, and not listed")]
    if more:
        left_out.append(Omission("benchmarks", f"more than {MOST_BENCHMARKS:,}: the first ones"))
    ranked = of_scope(rank_counted(_counted(connection, scope, query, scale), *settings), query, benchmarks)
    return replace(
        ranked,
        scale=found.one,
        left_out=(*ranked.left_out, *left_out),
        inputs_left_out=Checksum(scope.grids, scope.checksum.hex),
        warnings=scale_warnings(found) + derived_name_warnings(benchmarks) + ranked.warnings,
    )


def _counted(connection: Connection, scope: Any, query: RankingQuery, scale: Scale) -> Counted:
    statement = (
        select(pair_sums).where(pair_sums.c.scope_id == scope.id, pair_sums.c.cells > 0).order_by(pair_sums.c.name)
    )
    if query.model:
        statement = statement.where(pair_sums.c.name.in_(query.model))
    # One more than are compared: the refusal needs no sums.
    rows = connection.execute(statement.limit(MOST_COUNTED + 1)).all()
    places = [row.position for row in rows]
    sums = np.zeros((FIELDS, 0, 0), dtype=np.int64)
    if 0 < len(rows) <= MOST_COUNTED:
        width = max(places) + 1
        sums = np.stack([stored_sums(row.sums, width)[:, places] for row in rows], axis=1)
    return Counted(
        names=tuple(row.name for row in rows),
        cells=tuple(row.cells for row in rows),
        unit=10.0 ** -(scope.exponent or 0),
        sign=-1 if scale.direction == "lower" else 1,
        slots=SlotCounts(scope.slots, scope.compared),
        bounded=scale.lower is not None and scale.upper is not None,
        **matrices_of(sums),
    )


def _benchmarks(connection: Connection, scope: Any) -> tuple[list[str], bool]:
    """Sorted names of the benchmarks, up to a limit, and whether there are more."""
    aliases = alias_map(connection, scope.project_id)
    here = (
        grids.c.project_id == scope.project_id,
        grids.c.metric == scope.metric,
        grids.c.deleted_at.is_(None),
    )
    found: set[str] = set()
    for experiment in names_of(aliases, "experiment", scope.experiment):
        after = ""
        while len(found) <= MOST_BENCHMARKS:
            # A loose scan of the index: one step for each benchmark, whatever the number of its grids. The order is
            # that of the whole index: for min(benchmark) the planner may read all that come after.
            first = select(grids.c.benchmark).where(*here, grids.c.experiment == experiment).limit(1)
            of_index = (grids.c.project_id, grids.c.experiment, grids.c.metric, grids.c.benchmark)
            name = connection.scalar(first.where(grids.c.benchmark > after).order_by(*of_index))
            if name is None:
                break
            found.add(aliases.get(("benchmark", name), name))
            after = name
    return sorted(found)[:MOST_BENCHMARKS], len(found) > MOST_BENCHMARKS
