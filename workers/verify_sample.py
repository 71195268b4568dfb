"""What a sample of the registry tells of all of it: numbers with exact limits, and sentences that say them."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import Any

from workers.statistics.sampled_shares import limits

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
