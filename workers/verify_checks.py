"""What `registry verify` compares: plain functions, each from stored rows to sentences about what differs."""

from __future__ import annotations

import gzip
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import orjson
from sqlalchemy import Connection, select

from registry.question import RankingQuestion
from registry.rows import grid_of
from registry.tables import scopes
from workers.derive import statistics_row
from workers.recount import recount
from workers.statistics import METHODS_VERSION

_NAMED = 3


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that is not what the stored revisions say."""

    check: str
    project_id: uuid.UUID
    grid: uuid.UUID | None
    revision: int | None
    detail: str


RevisionCheck = Callable[[Any], Iterator[str]]
"""A row with the columns of `revisions` and the stored `document` of its statistics, to what is wrong with it."""
ScopeCheck = Callable[[Connection, Any], Iterator[str]]
"""A row of `scopes` to what is wrong with its sums; the connection sees one snapshot."""


def digest(row: Any) -> Iterator[str]:
    """The digest is that of the content."""
    stored, computed = f"sha256:{bytes(row.digest).hex()}", grid_of(row).digest
    if stored != computed:
        yield f"the stored digest is {stored}, the content has {computed}"


def cell_count(row: Any) -> Iterator[str]:
    """The count of cells is that of the content."""
    computed = grid_of(row).cell_count
    if row.cell_count != computed:
        yield f"{row.cell_count} cells are noted, the content has {computed}"


def statistics(row: Any) -> Iterator[str]:
    """The statistics are those that this code computes from the content; other methods' are not compared."""
    if row.document is None or row.methods_version != METHODS_VERSION:
        return
    stored = orjson.loads(gzip.decompress(row.document))
    computed = orjson.loads(gzip.decompress(statistics_row(row)["document"]))
    places = [place for place in _differing(stored, computed, "") if place != "/computed_at"]
    if places:
        more = f" and {len(places) - _NAMED} more" if len(places) > _NAMED else ""
        yield f"the stored statistics differ at {', '.join(places[:_NAMED])}{more}"


def sums(connection: Connection, scope: Any) -> Iterator[str]:
    """The sums behind rankings of large experiments, every integer."""
    yield from recount(connection, scope.project_id, RankingQuestion(scope.experiment, scope.metric))


REVISION_CHECKS: dict[str, RevisionCheck] = {"digest": digest, "cell_count": cell_count, "statistics": statistics}
SCOPE_CHECKS: dict[str, ScopeCheck] = {"sums": sums}


def of_revision(row: Any) -> Iterator[Difference]:
    """What every check says about a revision; one that cannot be computed differs too."""
    for name, check in REVISION_CHECKS.items():
        try:
            for detail in check(row):
                yield Difference(name, row.project_id, row.grid_id, row.number, detail)
        except Exception as error:
            yield Difference(name, row.project_id, row.grid_id, row.number, f"cannot be computed: {error!r}")


def of_scopes(connection: Connection, project_id: uuid.UUID | None) -> Iterator[Difference]:
    """What every check says about the sums of all scopes, or of a project's."""
    query = select(scopes).order_by(scopes.c.id)
    for scope in connection.execute(query if project_id is None else query.where(scopes.c.project_id == project_id)):
        for name, check in SCOPE_CHECKS.items():
            for detail in check(connection, scope):
                yield Difference(name, scope.project_id, None, None, detail)


def _differing(a: Any, b: Any, place: str) -> Iterator[str]:
    """The JSON pointers at which two documents differ."""
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
