"""Checks of `registry verify`: functions from stored rows to sentences about differences."""

import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import orjson
from sqlalchemy import Connection, exists, select, text

from registry.grids.outcomes import disagreement, scale_of
from registry.query import BaselineQuery, query_of
from registry.results.codec import from_bytes
from registry.settings import Settings
from registry.storage.database import Database
from registry.storage.item_outcomes import held_items, unpacked_cells
from registry.storage.keys import of_grid
from registry.storage.rows import grid_of
from registry.storage.tables import cached_results, grids, invalidations, item_outcomes, pair_sum_scopes, revisions
from workers.derive import statistics_rows
from workers.queries import compute_again, etag_of
from workers.rankings.pair_sums import check_sums
from workers.statistics import METHODS_VERSION

_NAMED = 3
_GAPS = """
    SELECT g.id, g.project_id, g.revision, count(r.number) AS count, coalesce(max(r.number), 0) AS last
    FROM grids g LEFT JOIN revisions r ON r.project_id = g.project_id AND r.grid_id = g.id {where}
    GROUP BY g.id, g.project_id, g.revision
    HAVING count(r.number) <> g.revision OR max(r.number) <> g.revision ORDER BY g.id
"""


_PLACES = """
    SELECT coalesce(h.project_id, e.project_id) AS project_id, coalesce(h.first, 0) AS first,
        coalesce(h.position, 0) AS position, coalesce(e.count, 0) AS count, e.lowest, e.highest
    FROM event_heads h FULL JOIN (
        SELECT project_id, count(*) AS count, min(position) AS lowest, max(position) AS highest
        FROM events {mine} GROUP BY project_id
    ) e USING (project_id)
    WHERE (h.project_id IS NULL OR coalesce(e.count, 0) <> h.position - h.first + 1
        OR e.lowest <> h.first OR e.highest <> h.position) {and_mine}
"""


# Verdicts are of their time: what stands for a baseline is no result that can be computed again.
COMPUTED_AGAIN = cached_results.c.query["kind"].astext != BaselineQuery.kind
SERVED = (
    cached_results.c.state == "ready",
    cached_results.c.document_generation == cached_results.c.generation,
    ~exists().where(invalidations.c.project_id == cached_results.c.project_id),
)
"""Conditions for cached results that are served as current."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A stored value that differs from what the stored revisions give."""

    check: str
    project_id: uuid.UUID
    grid: uuid.UUID | None
    revision: int | None
    detail: str


RevisionCheck = Callable[[Any], Iterator[str]]
"""Function from a row with the columns of `revisions` and the stored `document` of its statistics to differences."""


def check_digest(row: Any) -> Iterator[str]:
    stored, computed = f"sha256:{bytes(row.digest).hex()}", grid_of(row).digest
    if stored != computed:
        yield f"the stored digest is {stored}, the content has {computed}"


def check_cell_count(row: Any) -> Iterator[str]:
    computed = grid_of(row).cell_count
    if row.cell_count != computed:
        yield f"{row.cell_count} cells are noted, the content has {computed}"


def check_statistics(row: Any) -> Iterator[str]:
    """Compare the statistics with those computed from the content now; a superseded revision needs none."""
    if row.document is None:
        if row.state == "ready" and row.number == row.current:
            yield "is ready, and nothing is stored"
        return
    if row.methods_version != METHODS_VERSION:
        return  # served as they are until somebody reads them
    stored = from_bytes(row.document)
    computed = from_bytes(statistics_rows([row])[0]["document"])
    places = [place for place in _differing(stored, computed, "") if place != "/computed_at"]
    if places:
        yield f"the stored statistics differ at {_named(places)}"


REVISION_CHECKS: dict[str, RevisionCheck] = {
    "digest": check_digest,
    "cell_count": check_cell_count,
    "statistics": check_statistics,
}


def check_revision(row: Any) -> Iterator[Difference]:
    """Differences that all checks find in a revision, including checks that cannot be computed."""
    for name, check in REVISION_CHECKS.items():
        try:
            for detail in check(row):
                yield Difference(name, row.project_id, row.grid_id, row.number, detail)
        except Exception as error:
            yield Difference(name, row.project_id, row.grid_id, row.number, f"cannot be computed: {error!r}")


def check_grids(
    connection: Connection, project_id: uuid.UUID | None, only: Sequence[uuid.UUID] | None = None
) -> Iterator[Difference]:
    """Grids, all or `only` some, whose revisions are not 1, 2, … up to the current one."""
    conditions = [] if project_id is None else ["g.project_id = :project_id"]
    conditions += [] if only is None else ["g.id = ANY(CAST(:only AS uuid[]))"]
    where = f"WHERE {' AND '.join(conditions)}" if conditions else ""
    given = {"project_id": project_id, "only": [str(grid) for grid in only or ()]}
    for row in connection.execute(text(_GAPS.format(where=where)), given):
        detail = f"the current revision is {row.revision}, stored are {row.count}, the last of them {row.last}"
        yield Difference("revisions", row.project_id, row.id, row.revision, detail)


def check_events(connection: Connection, project_id: uuid.UUID | None) -> Iterator[Difference]:
    """Projects whose events do not have every position from the oldest kept one to the latest."""
    mine, and_mine = ("", "") if project_id is None else ("WHERE project_id = :mine", "AND project_id = :mine")
    statement = text(_PLACES.format(mine=mine, and_mine=and_mine))
    for row in connection.execute(statement, {} if project_id is None else {"mine": project_id}):
        kept = f"positions {row.first} to {row.position} are kept"
        detail = f"{kept}, stored are {row.count} events, from {row.lowest} to {row.highest}"
        yield Difference("events", row.project_id, None, None, detail)


def check_results(database: Database, settings: Settings, project_id: uuid.UUID | None) -> Iterator[Difference]:
    """Current cached results that differ from what their inputs give now."""
    with database.reading() as connection:
        statement = select(cached_results.c.id, cached_results.c.project_id)
        statement = statement.where(COMPUTED_AGAIN).order_by(cached_results.c.id)
        found = connection.execute(
            statement if project_id is None else statement.where(cached_results.c.project_id == project_id)
        )
        rows = found.all()
    for row in rows:
        yield from check_result(database, settings, row.project_id, row.id) or ()


def check_result(
    database: Database, settings: Settings, project_id: uuid.UUID, result_id: uuid.UUID
) -> list[Difference] | None:
    """Differences of a cached result from what its inputs give now; None if it cannot be compared with them: it is not
    served as current, or an input changed meanwhile."""
    details: list[str] = []
    try:
        row = _current_result(database, result_id)
        if row is None:
            return None
        document = from_bytes(row.document) if row.document else {}
        document.pop("computed_at", None)
        details += _odd_tag(row, document)
        if row.methods_version == METHODS_VERSION:
            odd = _odd_content(database, settings, row, document)
            if odd is None and not details:
                return None
            details += odd or []
    except Exception as error:
        details.append(f"cannot be computed: {error!r}")
    return [Difference("answer", project_id, None, None, f"{result_id}: {detail}") for detail in details]


def _odd_tag(row: Any, document: dict[str, Any]) -> Iterator[str]:
    if row.methods_version != METHODS_VERSION:
        yield f"by methods version {row.methods_version}; this release has {METHODS_VERSION}"
    elif etag_of(document) != row.etag:
        yield "the stored document is not the one that its entity tag was made of"


def _odd_content(database: Database, settings: Settings, row: Any, document: dict[str, Any]) -> list[str] | None:
    """What differs in a document when it is computed again; None if its inputs changed meanwhile."""
    computed = compute_again(database, settings, row.project_id, query_of(row.query))
    again = _current_result(database, row.id)
    # If an input changed meanwhile, the stored result is stale and need not equal the computed one.
    if computed is None or again is None or again.generation != row.generation:
        return None
    places = list(_differing(document, orjson.loads(orjson.dumps(computed)), ""))
    return [f"differs at {_named(places)}"] if places else []


def _named(places: Sequence[str]) -> str:
    more = f" and {len(places) - _NAMED} more" if len(places) > _NAMED else ""
    return f"{', '.join(places[:_NAMED])}{more}"


def _current_result(database: Database, result_id: uuid.UUID) -> Any:
    """Row of a result that is served as current; None if it is not."""
    with database.reading() as connection:
        return connection.execute(select(cached_results).where(cached_results.c.id == result_id, *SERVED)).one_or_none()


def check_items(
    connection: Connection, project_id: uuid.UUID | None, only: Sequence[uuid.UUID] | None = None
) -> Iterator[Difference]:
    """Outcomes of items, of all grids or of `only` some, that are not those of the cells that they were posted for."""
    statement = select(item_outcomes).join(grids, of_grid(item_outcomes))
    if project_id is not None:
        statement = statement.where(grids.c.project_id == project_id)
    if only is not None:
        statement = statement.where(grids.c.id.in_(only))
    for row in connection.execute(statement.order_by(item_outcomes.c.id), execution_options={"yield_per": 20}):
        try:
            details = list(_odd_outcomes(connection, row))
        except Exception as error:
            details = [f"cannot be read: {error!r}"]
        for detail in details:
            yield Difference("items", row.project_id, row.grid_id, row.revision, detail)


def _odd_outcomes(connection: Connection, row: Any) -> Iterator[str]:
    mine = (revisions.c.project_id == row.project_id, revisions.c.grid_id == row.grid_id)
    grid = grid_of(connection.execute(select(revisions).where(*mine, revisions.c.number == row.revision)).one())
    given = list(unpacked_cells(row))
    held = held_items(grid, [row])
    if len(held) != len(given):
        yield f"of {len(given)} cells with outcomes {len(held)} are cells of the revision"
    for index, one in held.items():
        cell, whole = grid.cell(index), scale_of(grid.metric)
        odd = disagreement(cell, whole, one.outcomes) if cell and whole else "the metric is no proportion"
        if odd is not None:
            yield f"{', '.join(one.at)}: {odd}"


def check_scopes(connection: Connection, project_id: uuid.UUID | None) -> Iterator[Difference]:
    """Differences in the pair sums of all scopes, or of those of a project."""
    statement = select(pair_sum_scopes).order_by(pair_sum_scopes.c.id)
    for scope in connection.execute(
        statement if project_id is None else statement.where(pair_sum_scopes.c.project_id == project_id)
    ):
        yield from check_scope(connection, scope)


def check_scope(connection: Connection, scope: Any) -> Iterator[Difference]:
    """Differences in the pair sums of a scope; the connection sees one snapshot."""
    for detail in check_sums(connection, scope):
        yield Difference("sums", scope.project_id, None, None, detail)


def _differing(a: Any, b: Any, place: str) -> Iterator[str]:
    """JSON pointers at which two documents differ."""
    if isinstance(a, dict) and isinstance(b, dict):
        for name in sorted({*a, *b}):
            if (name in a) != (name in b):
                yield f"{place}/{name}"
            else:
                yield from _differing(a[name], b[name], f"{place}/{name}")
    elif isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        for index, (one, other) in enumerate(zip(a, b, strict=True)):
            yield from _differing(one, other, f"{place}/{index}")
    elif a != b:
        yield place or "/"
