"""The type of a verdict, the phrases that all verdicts share, and a difference with its uncertainty in words: for the
modules beside this one and for pages that say as much in short."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Any, Literal

from registry.grids.grid import Metric
from registry.grids.slices import slice_of, slice_text
from registry.renderings.numbers import ends, fixed, level_at, places_between, places_of, rough, span
from registry.renderings.words import isolated
from registry.results.pairs import Pair
from registry.results.parameters import POWER, Parameters, times_to_show
from registry.results.terms import Interval, SliceDocument
from registry.students_law import t_tail

_MOST_TIMES = 100
"""Times the trials beyond which only the order of magnitude is said."""


@dataclass(frozen=True, slots=True)
class Yardstick:
    """How differences of a metric are read: their unit, the better end, and the margin within which they are none."""

    unit: str = ""
    direction: str | None = None
    margin: float | None = None

    @classmethod
    def of(cls, metric: Mapping[str, Any]) -> "Yardstick":
        """The yardstick of a metric as it was posted; differences of percentages are points."""
        unit, direction = metric.get("unit"), metric.get("direction")
        known = Metric("", unit, direction, metric.get("lower"), metric.get("upper"))
        return cls("points" if unit == "%" else unit or "", direction, Parameters.of(known).equivalence)

    @property
    def sign(self) -> int:
        """-1 where lower is better: a difference times it is positive where the first is the better one."""
        return -1 if self.direction == "lower" else 1

    @property
    def word(self) -> str:
        """How the one ahead is called: better, or higher where the metric has no better end."""
        return "better" if self.direction else "higher"

    def sized(self, written: str) -> str:
        """A number with its unit: `1.9 points`, `1 point`."""
        unit = "point" if self.unit == "points" and written == "1" else self.unit
        return f"{written} {unit}".rstrip()


@dataclass(frozen=True, slots=True)
class Estimate:
    """A difference with what its test found; positive where the first of the two is the better (or higher) one."""

    difference: float
    interval: Interval | None
    p: float | None
    detectable: float | None
    alpha: float
    stderr: float | None = None

    def turned(self, sign: int = -1) -> "Estimate":
        """The same with the two exchanged, if the sign is negative."""
        if sign > 0:
            return self
        ends = self.interval
        other = Interval(ends.level, 0.0 - ends.high, 0.0 - ends.low) if ends else None
        return replace(self, difference=0.0 - self.difference, interval=other)

    @property
    def shown(self) -> bool:
        """Whether the test shows that the two differ."""
        return self.p is not None and self.p < self.alpha and self.difference != 0

    def is_within(self, margin: float | None) -> bool:
        """Whether the whole interval lies within the margin, as in the two one-sided tests of Schuirmann (1987)."""
        ends = self.interval
        return margin is not None and ends is not None and -margin < ends.low and ends.high < margin

    @property
    def decimals(self) -> int | None:
        """One decimal fewer than tables have, if no number becomes 0 by that, and no end of the interval what the
        difference is written as."""
        between = (self.interval.low, self.interval.high) if self.interval else ()
        numbers = [self.difference, *between]
        most = places_of(numbers)
        if not most:
            return most
        gone = any(one and not float(fixed(one, most - 1)) for one in numbers)
        alike = any(one != numbers[0] and fixed(one, most - 1) == fixed(numbers[0], most - 1) for one in between)
        return places_between(ends(self.interval), most if gone or alike else most - 1)

    @property
    def size(self) -> str:
        """The difference without its sign."""
        return fixed(abs(self.difference), self.decimals)

    def brackets(self, yardstick: Yardstick, how: str = "") -> str:
        """` (lower is better; 95 % interval 0.6 to 3.7)`, and `how` the interval came about; empty where there is
        nothing to say. One that is wider for having been picked misses as rarely as the others: they have one level."""
        ends = self.interval
        told = ["lower is better"] if yardstick.direction == "lower" else []
        if ends:
            level = level_at(self.alpha or 1 - ends.level)
            told.append(f"{level} interval {span(ends.low, ends.high, self.decimals)}{how}")
        return f" ({'; '.join(told)})" if told else ""

    def told(self, yardstick: Yardstick) -> str:
        """The difference without its sign, in its unit, with the interval of that."""
        return f"{yardstick.sized(self.size)}{self.turned(-1 if self.difference < 0 else 1).brackets(yardstick)}"

    def could_show(self, yardstick: Yardstick, *, trials: bool, of: str = "") -> str:
        """What would have been found, and with `trials` how many times as many a difference of this size takes, as its
        plan says; `of` says as which question. Empty where no noise is known."""
        if not self.detectable:
            return ""
        found = yardstick.sized(rough(self.detectable))
        told = f"a true difference of {found} would have been found with {100 * POWER:g} % power"
        if not trials or not self.difference or not self.stderr or self.detectable <= abs(self.difference):
            return told
        times = times_to_show(self.difference, self.stderr, self.p, self.alpha)
        needed = f"more than {_MOST_TIMES} times" if times > _MOST_TIMES else f"about {rough(times)} times"
        return f"{told}; one of {yardstick.sized(self.size)} takes {needed} the trials{of}"


def is_equivalent(pair: Pair, margin: float, rate: float) -> bool:
    """Whether both one-sided tests show, at this rate each, that the difference is within the margin (Schuirmann 1987):
    by t, or where the error is not estimated by the sides of the interval, as the score test has them."""
    ends, size, df = pair.interval, pair.difference or 0.0, int(pair.df or 0)
    if ends is None:
        return False
    reach = NormalDist().inv_cdf(0.5 + ends.level / 2)
    errors = (pair.stderr,) * 2 if df else ((ends.high - size) / reach, (size - ends.low) / reach)
    rooms = zip((margin - size, margin + size), errors, strict=True)
    return all(error and t_tail(room / error, df or None) < rate for room, error in rooms)


def margin_words(yardstick: Yardstick) -> str:
    """The margin of equivalence: `2 points (2 % of the metric's range)`."""
    return f"{yardstick.sized(f'{yardstick.margin:g}')} (2 % of the metric's range)"


Answer = Literal["shown", "absent", "open", "none", "value", "pending"]
Only = Literal["", "cells", "benchmarks"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """One sentence, which kind of answer it is, and sentences that locate or weaken it.

    shown: the tests show it. absent: it is shown to lie within the margin of equivalence. open: neither. none: the
    question has no answer, and the sentence says why. value: nothing is asked of a single number but what it is.
    pending: what else decides is being computed.
    """

    answer: Answer
    sentence: str
    more: tuple[str, ...] = ()
    only: Only = ""
    """What alone something shown is about: these cells, or these benchmarks with other questions; "": others too."""
    left_out: tuple[str, ...] = ()
    """What stays without each of the benchmarks that `sentence` counts; a page folds it."""

    @property
    def text(self) -> str:
        """All of it as a paragraph, but for what a page folds."""
        return " ".join((self.sentence, *self.more))


def common_cells(count: int, total: int, of: str = "", who: str = "both") -> str:
    """The cells that results share: `on the 32 of 80 cells of 4 benchmarks that both have`."""
    about = f" of {of}" if of else ""
    if total == 1:
        return f"in the one cell{about} that {who} have"
    whole = f"{count:,} cells" if count == total else f"{'one' if count == 1 else f'{count:,}'} of {total:,} cells"
    return f"on the {whole}{about} that {who} have"


def slice_words(document: SliceDocument, suite: str | None = None) -> str:
    """The suite and the slice in a sentence: ` in the suite reasoning at Context at least 64000`; empty for all."""
    of = f" in the suite {isolated(suite)}" if suite else ""
    return f"{of} at {isolated(slice_text(slice_of(document)))}" if document else of


def joined(names: Sequence[str], most: int = 4) -> str:
    """Names in a sentence, of many the first ones: `a, b and 3 more`."""
    shown = [isolated(name) for name in names[:most]]
    rest = len(names) - len(shown)
    last = f"{rest:,} more" if rest else shown.pop() if shown else ""
    return f"{', '.join(shown)} and {last}" if shown else last


def sentence(text: str) -> str:
    """The text with a full stop; a name at its start keeps its letters."""
    return f"{text.rstrip('.')}."
