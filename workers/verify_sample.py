"""Draw the sample that `verify.py` checks, of grids, answers and sets of pair sums, and infer how much of all differs.

Each number that was checked gives an upper limit of the share of all that differs, by Clopper and Pearson (1934,
Biometrika 26, 404-413): it misses in at most 5 % of all samples, and is a little wide, as nothing is drawn twice.
"""

import math
import uuid
from dataclasses import dataclass, field
from typing import Any

from scipy.special import betaincinv
from sqlalchemy import ColumnElement, Connection, Table, func, select

from registry.storage.tables import cached_results, grids, pair_sum_scopes
from workers.verify_checks import COMPUTED_AGAIN, SERVED

_CONFIDENCE = 0.95
_GRIDS_OF_SUMS = 100
"""Grids, for each that is sampled, of the largest scope whose pair sums are counted again: that takes about as long."""


@dataclass
class Seen:
    """Things of one kind: how many there are, the ids of those that were drawn, and how many of these were checked and
    differ. Every set of so many has the same chance to be drawn."""

    name: str
    total: int
    ids: list[uuid.UUID]
    checked: int = 0
    differing: int = 0

    def add(self, differs: bool) -> None:
        """Count one that was checked."""
        self.checked += 1
        self.differing += differs

    @property
    def at_most(self) -> float:
        """The share of all that differs at most, with 95 % confidence; that which does where all were checked."""
        if self.checked >= self.total:
            return self.differing / max(1, self.total)
        sound = self.checked - self.differing
        return float(betaincinv(self.differing + 1, sound, _CONFIDENCE)) if sound else 1.0

    def shown(self) -> dict[str, float]:
        """These numbers for JSON."""
        return {name: getattr(self, name) for name in ("total", "checked", "differing", "at_most")}

    def sentence(self) -> str:
        """These numbers for people, the limit rounded away from what was found."""
        told = f"{self.name}: {self.checked:,} of {self.total:,} checked, {self.differing:,} differ"
        if self.checked >= self.total:
            return told
        digits = 1 - math.floor(math.log10(100 * self.at_most))
        percent = math.ceil(100 * self.at_most * 10**digits) / 10**digits
        return f"{told}: at most {percent:.{max(0, digits)}f} % of all (95 %, one-sided)"


@dataclass(frozen=True, slots=True)
class DrawOptions:
    """What decides a draw, besides the ids that there are."""

    size: int
    seed: int
    project: str | None = None

    def __str__(self) -> str:
        """These as options of the command."""
        project = "" if self.project is None else f" --project {self.project}"
        return f"--sample {self.size} --seed {self.seed}{project}"


@dataclass
class Sample:
    """What was drawn by a seed, and what was seen of it."""

    by: DrawOptions
    grids: Seen
    results: Seen
    sums: Seen
    statistics: int = field(default=0)
    """Grids whose stored statistics were compared; others have none that this release made."""

    @classmethod
    def drawn(cls, connection: Connection, project_id: uuid.UUID | None, by: DrawOptions) -> "Sample":
        """Draw up to so many grids, answers that are served, and complete sets of pair sums that are not too large."""
        small = (pair_sum_scopes.c.is_complete, pair_sum_scopes.c.grids <= by.size * _GRIDS_OF_SUMS)
        return cls(
            by,
            _drawn(connection, "grids", grids, project_id, by),
            _drawn(connection, "stored answers", cached_results, project_id, by, COMPUTED_AGAIN, *SERVED),
            _drawn(connection, "sets of pair sums", pair_sum_scopes, project_id, by, *small),
        )

    def shown(self) -> dict[str, Any]:
        """The sample for JSON."""
        parts = {"grids": self.grids, "answers": self.results, "sums": self.sums}
        drawn = {"size": self.by.size, "seed": self.by.seed, "statistics": self.statistics}
        return drawn | {name: seen.shown() for name, seen in parts.items()}

    def sentences(self) -> list[str]:
        """The sample for people, a sentence each."""
        said = [self.grids.sentence(), self.results.sentence(), self.sums.sentence()]
        if self.statistics < self.grids.checked:
            # Before the limits, which are then of the stored grids alone: who reads one line is not told more.
            many = f"{self.statistics:,} of the {self.grids.checked:,} checked grids"
            said.insert(0, f"Statistics of {many} were compared; the others have none by this release's methods.")
        return [*said, f"The same draw again: {self.by}"]


def _drawn(
    connection: Connection,
    name: str,
    table: Table,
    project_id: uuid.UUID | None,
    by: DrawOptions,
    *conditions: ColumnElement[bool],
) -> Seen:
    """The ids with the smallest hashes by a seed, in that order.

    The hash is that of PostgreSQL's hash partitions. It is of the id and not of the place in the table, as
    `TABLESAMPLE` is: a seed draws the same after a vacuum and from a restored backup.
    """
    here = [*conditions, *([] if project_id is None else [table.c.project_id == project_id])]
    total: int = connection.scalar(select(func.count()).select_from(table).where(*here)) or 0
    place = func.uuid_hash_extended(table.c.id, by.seed)
    drawn = select(table.c.id).where(*here).order_by(place, table.c.id).limit(by.size)
    return Seen(name, total, list(connection.scalars(drawn)))
