"""Grids, answers and sets of pair sums drawn at random, and what they tell of all: exact limits, sentences.

A sample of n out of N, of which D differ, finds a number that is hypergeometric. The upper limit is the largest D that
finds as few as were found with a chance above alpha, the lower one the smallest D that finds as many (Clopper and
Pearson 1934 for draws without replacement; Buonaccorsi 1987, The American Statistician 41, 215-218). Each limit alone
misses in at most alpha of all samples, both together in at most twice alpha; of a sample of all they are the number.
"""

from __future__ import annotations

import uuid
from bisect import bisect_left
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import Any

import numpy as np
from sqlalchemy import Column, ColumnElement, Connection, func, select

from registry.storage.tables import cached_results, grids, pair_sum_scopes
from workers.verify_checks import COMPUTED_AGAIN, SERVED


def limits(differing: int, sampled: int, total: int, alpha: float) -> tuple[int, int]:
    """Return the smallest and the largest number of all that may differ, each with error rate `alpha`."""
    possible = range(differing, total - (sampled - differing) + 1)
    lower = bisect_left(possible, x=True, key=lambda among: 1.0 - _up_to(differing - 1, among, sampled, total) > alpha)
    upper = bisect_left(possible, x=True, key=lambda among: _up_to(differing, among, sampled, total) <= alpha)
    return possible[lower], possible[upper - 1]


def _up_to(count: int, among: int, sampled: int, total: int) -> float:
    """Chance to find `count` or fewer in a sample, when `among` of all differ.

    Sums logarithms of factors near 1: those of factorials would lose seven digits at 100 million.
    """
    others = total - among
    fewest = max(0, sampled - others)
    if count < fewest:
        return 0.0
    if count >= min(sampled, among):
        return 1.0
    # The chance of the fewest: no draw is one of those that differ, or every one that does not is drawn.
    left_out, draws = (total - sampled, others) if fewest else (among, sampled)
    start = np.log1p(-left_out / (total - np.arange(draws, dtype=np.float64))).sum()
    k = np.arange(fewest, count, dtype=np.float64)
    steps = np.log(among - k) + np.log(sampled - k) - np.log(k + 1) - np.log(others - sampled + k + 1)
    return float(np.exp(np.logaddexp.reduce(np.concatenate([[start], start + np.cumsum(steps)]))))


@dataclass(frozen=True, slots=True)
class Draw:
    """Some of `total` things, by their ids: every set of so many has the same chance. All of them, if there are few."""

    ids: list[uuid.UUID]
    total: int


def draw_grids(connection: Connection, project_id: uuid.UUID | None, size: int, seed: int) -> Draw:
    """Draw up to `size` grids; an id costs some hundred bytes of memory."""
    return _drawn(connection, grids.c.id, _of(grids.c.project_id, project_id), size, seed)


def draw_results(connection: Connection, project_id: uuid.UUID | None, size: int, seed: int) -> Draw:
    """Draw up to `size` of the cached results that are served as current."""
    conditions = [*_of(cached_results.c.project_id, project_id), COMPUTED_AGAIN, *SERVED]
    return _drawn(connection, cached_results.c.id, conditions, size, seed)


def draw_scopes(connection: Connection, project_id: uuid.UUID | None, size: int, seed: int) -> Draw:
    """Draw up to `size` of the scopes whose pair sums are complete."""
    conditions = [*_of(pair_sum_scopes.c.project_id, project_id), pair_sum_scopes.c.is_complete]
    return _drawn(connection, pair_sum_scopes.c.id, conditions, size, seed)


def _of(column: Column[uuid.UUID], project_id: uuid.UUID | None) -> list[ColumnElement[bool]]:
    return [] if project_id is None else [column == project_id]


def _drawn(
    connection: Connection, column: Column[uuid.UUID], conditions: list[ColumnElement[bool]], size: int, seed: int
) -> Draw:
    """The ids with the smallest hashes by a seed, in that order.

    The hash is that of PostgreSQL's hash partitions. It is of the id and not of the place in the table, as
    `TABLESAMPLE` is: a seed draws the same after a vacuum and from a restored backup.
    """
    total: int = connection.scalar(select(func.count()).select_from(column.table).where(*conditions)) or 0
    place = func.uuid_hash_extended(column, seed)
    return Draw(list(connection.scalars(select(column).where(*conditions).order_by(place, column).limit(size))), total)


_ALPHA = 0.05
GRIDS_OF_SUMS = 100
"""Grids, for each that is sampled, whose pair sums are counted again: that takes about as long as its statistics."""


@dataclass
class Seen:
    """How many things of one kind there are, how many of those that were drawn were checked, and how many differ."""

    one: str
    many: str
    total: int
    checked: int = 0
    differing: int = 0
    not_compared: int = 0
    why: str = ""
    """Why some of those that were drawn could not be compared."""

    def add(self, differs: bool) -> None:
        """Count one that was checked."""
        self.checked += 1
        self.differing += differs

    def drop(self) -> None:
        """Take away one that was drawn and is no longer there."""
        self.total -= 1

    def limits(self) -> tuple[int, int]:
        """So many of all differ at least and at most, each with 95 % confidence; what was not compared may differ."""
        drawn = self.checked + self.not_compared
        at_least, at_most = limits(self.differing, drawn, self.total, _ALPHA)
        if self.not_compared:
            at_most = limits(self.differing + self.not_compared, drawn, self.total, _ALPHA)[1]
        return at_least, at_most

    def shown(self) -> dict[str, int]:
        """These numbers for JSON."""
        at_least, at_most = self.limits()
        numbers = {"total": self.total, "checked": self.checked, "differing": self.differing}
        return numbers | {"not_compared": self.not_compared, "at_least": at_least, "at_most": at_most}

    def sentence(self) -> str:
        """These numbers for people."""
        if not self.total:
            return f"There is no {self.one}."
        drawn = self.checked + self.not_compared
        differ = f"{self.differing:,} {'differs' if self.differing == 1 else 'differ'}"
        if self.not_compared:
            differ += f", {self.not_compared:,} not compared ({self.why})"
        if drawn == self.total:
            return f"Every {self.one} was {'drawn' if self.not_compared else 'checked'} ({self.total:,}): {differ}."
        at_least, at_most = self.limits()
        low, high = _percent(at_least, self.total, ROUND_FLOOR), _percent(at_most, self.total, ROUND_CEILING)
        shares = f"at least {low} and at most {high}" if self.differing else f"at most {high}"
        each = "each 95 %" if self.differing else "95 %"
        sampled = f"Of {drawn:,} {self.one if drawn == 1 else self.many} sampled out of {self.total:,}, {differ}"
        return f"{sampled}; {shares} of all differ ({each}, one-sided, exact)."


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
    statistics: int = 0
    """Grids whose stored statistics were compared; others have none that this release made."""

    @classmethod
    def of(cls, by: DrawOptions, grids: int, results: int, sums: int) -> Sample:
        """A sample from so many grids, answers and sets of pair sums, none of them checked yet."""
        changing = "inputs change, or it takes more than one turn"
        return cls(
            by,
            Seen("grid", "grids", grids),
            Seen("stored answer", "stored answers", results, why=changing),
            Seen("set of pair sums", "sets of pair sums", sums, why="too large for this sample"),
        )

    def shown(self) -> dict[str, Any]:
        """The sample for JSON."""
        parts = {"grids": self.grids, "answers": self.results, "sums": self.sums}
        drawn = {"size": self.by.size, "seed": self.by.seed, "statistics": self.statistics}
        return drawn | {name: seen.shown() for name, seen in parts.items()}

    def sentences(self) -> list[str]:
        """The sample for people, a sentence each."""
        said = [self.grids.sentence()]
        if self.statistics < self.grids.checked:
            # Before the limits, which are then of the stored grids alone: who reads one line is not told more.
            many = f"{self.statistics:,} of the {self.grids.checked:,} checked grids"
            told = f"Statistics of {many} were compared; the others have none by this release's methods."
            said.insert(0, told)
        said += [self.results.sentence(), self.sums.sentence()]
        return [*said, f"The same draw again: {self.by}"]


def _percent(part: int, whole: int, rounding: str) -> str:
    """A share in percent with two digits that count, rounded away from what it is a limit of."""
    share = Decimal(100 * part) / Decimal(whole)
    return f"{share.quantize(Decimal(1).scaleb(share.adjusted() - 1), rounding) if share else share:f} %"
