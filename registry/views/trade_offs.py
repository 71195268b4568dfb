"""Two quantities of several names, each a table of means or a label, and which of the names nobody beats in both.

Which of several points nobody beats in both quantities, and which of the others noise cannot tell from those. A point
is on the front when no other mean is at least as good in both and better in one (Pareto). It is behind when one other
point is better in both: for each quantity a one-sided test, the larger p of the two deciding, which keeps the level
whatever the truth (intersection-union test: Berger 1982, Technometrics 24, 295-300), after Holm (1979) over all ordered
pairs of points, so that with probability 1 - alpha no point of the picture is wrongly said to be behind. A quantity
without noise, as a label is, needs to be at least as good; pairs of which that is not so are no part of the family.
What is neither is open: another point looks better, but it may be noise. Where no such pair could be tested, as noise
is not known or an error of 0 is none, it is untested.
"""

import itertools
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

from registry.errors import Fault, Invalid
from registry.grids.grid import Direction, Metric
from registry.grids.intake.levels import read_number
from registry.grids.slices import Slice, slice_of, with_slice
from registry.results.aggregates import Aggregates
from registry.results.lines import Estimate
from registry.results.terms import SlotPolicy, Warning, lacking_text
from registry.results.trade_offs import FrontPlace, NameWithout, Quantity, TradeOff, TradeOffPoint
from registry.students_law import t_tail
from registry.views.lines import noise_unknown

MOST_POINTS = 100
_MOST_NAMED = 12


@dataclass(frozen=True, slots=True)
class Standing:
    """One quantity of a point, turned so that more is better. `exact`: it has no noise. `stderr` None otherwise: its
    noise is unknown. `df`: of an estimated error. `whole`: 1 or 100 of a proportion whose error is known."""

    value: float
    stderr: float | None = None
    df: float | None = None
    exact: bool = False
    whole: float | None = None

    @property
    def counts(self) -> tuple[float, float]:
        """Successes, and trials of one proportion, that have this value and this error."""
        whole = self.whole or 1.0
        share = min(abs(self.value) / whole, 1.0)
        trials = _trials(share, (self.stderr or 0.0) / whole)
        return share * trials, trials


@lru_cache(maxsize=1024)
def _trials(share: float, error: float) -> float:
    """The trials n whose error at (k + 1/2) / (n + 1) is this one: errors of cells are taken there, and at the share
    itself 20 of 20 would count as 28. Newton's steps from above fall on the only positive root: n^3, n^2, n, 1 have
    coefficients of which the signs change once."""
    square, spread = error**2, share * (1 - share)
    trials, last = 0.25 / square, math.inf
    while trials < last * (1 - 1e-12):
        last = trials
        beyond = square * trials * (trials + 1) ** 2 - spread * trials**2 - trials / 2 - 0.25
        trials -= beyond / (square * (trials + 1) * (3 * trials + 1) - 2 * spread * trials - 0.5)
    return trials


Pair = tuple[Standing, Standing]


def places_of(points: Sequence[Pair], alpha: float = 0.05, *, tested: bool = True) -> list[FrontPlace]:
    """The place of each point by the front; without tests none is behind."""
    behind = _behind(points, alpha) if tested else set[int]()
    found: list[FrontPlace] = []
    for place, point in enumerate(points):
        better = [other for other in points if dominates(other, point)]
        if not better:
            found.append("front")
        elif place in behind:
            found.append("behind")
        else:
            known = tested and any(all(map(testable, other, point)) for other in better)
            found.append("open" if known else "untested")
    return found


def _behind(points: Sequence[Pair], alpha: float) -> set[int]:
    """The points that another one is shown to be better than in both quantities, after Holm over all ordered pairs."""
    ps = list[tuple[float, int]]()
    for place, point in enumerate(points):
        for other in points:
            first, second = one_sided(other[0], point[0]), one_sided(other[1], point[1])
            if other is not point and first is not None and second is not None:
                ps.append((max(first, second), place))
    ps.sort()
    shown = itertools.takewhile(lambda one: one[1][0] * (len(ps) - one[0]) < alpha, enumerate(ps))
    return {place for _, (_, place) in shown}


def dominates(one: Pair, other: Pair) -> bool:
    """Return whether one point is at least as good in both, and better in one."""
    pairs = [(a.value, b.value) for a, b in zip(one, other, strict=True)]
    return all(a >= b for a, b in pairs) and any(a > b for a, b in pairs)


def testable(one: Standing, other: Standing) -> bool:
    """Return whether noise is known by which one can be told from the other, or neither has any."""
    both = (one.stderr, other.stderr)
    return (one.exact and other.exact) or (None not in both and any(both))


def one_sided(one: Standing, other: Standing) -> float | None:
    """One-sided p of the hypothesis that one is no better than the other: by the normal law, or by Student's with
    Welch's degrees of freedom where errors are estimated. 0 of exact quantities that are at least as good, None of
    others; 1 where noise is unknown."""
    apart = one.value - other.value
    if one.exact and other.exact:
        return 0.0 if apart >= 0 else None
    error = math.hypot(one.stderr or 0.0, other.stderr or 0.0)
    if not testable(one, other) or math.isinf(apart):
        return 1.0
    if one.whole and other.whole and one.stderr and other.stderr:
        # As a score test has it: equal, both have the rate of all trials. That by their own rates is too small where
        # the two look different, and few trials show something in twice as many pictures as they may.
        (k1, n1), (k2, n2) = one.counts, other.counts
        share = (k1 + k2) / (n1 + n2)
        if not 0 < share < 1:
            return 0.5
        error = one.whole * math.sqrt(share * (1 - share) * (1 / n1 + 1 / n2))
    estimated = [(each.stderr or 0.0, each.df) for each in (one, other) if each.df]
    df = math.floor(1 / sum((each / error) ** 4 / df for each, df in estimated)) if estimated else None
    return t_tail(apart / error, None if df is None else max(1, df))


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two quantities as it is asked for. `better`: its better end where the metric says none."""

    axis: Literal["x", "y"]
    source: Literal["metric", "label"]
    name: str
    at: Slice = ()
    better: Direction | None = None


@dataclass(frozen=True, slots=True)
class Known:
    """A side of all names: its description, where each name that has it stands, and why the others have none; of what
    is measured also the benchmarks that have it."""

    quantity: Quantity
    means: Mapping[str, tuple[Estimate, Standing]]
    why: Mapping[str, str]
    table: Aggregates | None = None
    benchmarks: Collection[str] = ()

    @property
    def what(self) -> str:
        """The quantity with its slice."""
        return with_slice(self.quantity.name, slice_of(self.quantity.slice or {}))


def of_table(side: Side, table: Aggregates, names: Sequence[str], benchmarks: Collection[str] = ()) -> Known:
    """A quantity from a table by one dimension; `Invalid` for grids on several scales, and for a metric that says no
    better end where none is given."""
    if table.status == "not_comparable":
        raise Invalid([Fault(f"/{side.axis}", str(table.reason))])
    direction = table.direction or side.better
    if direction is None:
        told = f"the metric {side.name} says no better end; give {side.axis}_better"
        raise Invalid([Fault(f"/{side.axis}", told)])
    sign, [by] = -1.0 if direction == "lower" else 1.0, table.group_by
    whole = Metric("", table.unit, direction, table.lower, table.upper).proportion_of
    means = {
        str(one.at[by]): (
            Estimate(one.value, one.n, one.stderr, one.interval),
            Standing(sign * one.value, one.stderr, one.df, whole=None if one.df else whole),
        )
        for one in table.entries
        if one.value is not None
    }
    what = with_slice(side.name, side.at)
    lacks = dict.fromkeys(names, f"has no cell of {what}")
    lacks |= {getattr(one, by): "its protocol differs in keys that bind" for one in table.incomparable or ()}
    lacks |= {str(one.at[by]): f"shares no slot of {what}" for one in table.entries if one.cells}
    lacks |= {one.name: f"is set aside in {what}, as it {lacking_text(one)}" for one in table.set_aside}
    why = {name: lacks[name] for name in names if name not in means}
    bounds = table.unit, table.lower, table.upper
    quantity = Quantity("metric", side.name, direction, *bounds, table.slice, table.slots.shared)
    return Known(quantity, means, why, table, benchmarks)


def of_label(side: Side, texts: Mapping[str, Sequence[str]], names: Sequence[str]) -> Known:
    """The number that the grids of each name have as a label; lower is better unless another end is given."""
    quantity = Quantity("label", side.name, side.better or "lower", slice=None)
    sign = -1.0 if quantity.direction == "lower" else 1.0
    means, why = dict[str, tuple[Estimate, Standing]](), dict[str, str]()
    for name in names:
        numbers = {read_number(text) for text in texts.get(name, ())}
        number = next(iter(numbers)) if len(numbers) == 1 else None
        if number is not None:
            means[name] = Estimate(number, 0), Standing(sign * number, exact=True)
        elif not numbers:
            why[name] = f"has no label {side.name}"
        else:
            why[name] = f"its label {side.name} is not one number: {', '.join(sorted(texts[name])[:3])}"
    return Known(quantity, means, why)


def trade_off_of(
    experiment: str,
    by: str,
    missing: SlotPolicy,
    alpha: float,
    both: tuple[Known, Known],
    without: Mapping[str, str],
    not_shown: Sequence[str],
) -> TradeOff:
    """The trade-off of the names that have both; `without` says why others have not both."""
    why = dict(without)
    for name in {*both[0].why, *both[1].why} - {*why}:
        why[name] = "; ".join(dict.fromkeys(one.why[name] for one in both if name in one.why))
    points = _points(sorted(both[0].means.keys() & both[1].means.keys()), both, alpha, tested=missing == "matched")
    tables = [one.table for one in both if one.table is not None]
    reason = next((one.reason for one in tables if one.reason), "no name has both quantities")
    return TradeOff(
        experiment=experiment,
        x=both[0].quantity,
        y=both[1].quantity,
        by=by,
        missing=missing,
        alpha=alpha,
        suite=tables[0].suite,
        status="ok" if points else "insufficient",
        reason=None if points else reason,
        points=tuple(points),
        front=tuple(point.name for point in points if point.place == "front"),
        without=tuple(NameWithout(name, why[name]) for name in sorted(why)),
        not_shown=tuple(not_shown),
        assumes=tuple(dict.fromkeys(name for one in tables for name in one.assumes)),
        warnings=(*_of_tables(both), *_warnings(both, points), *_other_slots(both, missing)),
        incomparable=tuple(dict.fromkeys(one for table in tables for one in table.incomparable or ())) or None,
        derived=tuple(dict.fromkeys(one for table in tables for one in table.derived)),
        inputs=tuple(dict.fromkeys(one for table in tables for one in table.inputs)),
    )


def _points(names: Sequence[str], both: tuple[Known, Known], alpha: float, *, tested: bool) -> list[TradeOffPoint]:
    standings = [(both[0].means[name][1], both[1].means[name][1]) for name in names]
    found = [
        TradeOffPoint(name, both[0].means[name][0], both[1].means[name][0], place)
        for name, place in zip(names, places_of(standings, alpha, tested=tested), strict=True)
    ]
    return sorted(found, key=lambda point: (point.x.mean, point.name))


def _warnings(both: tuple[Known, Known], points: Sequence[TradeOffPoint]) -> Iterator[Warning]:
    names = {point.name for point in points}
    for known in both:
        entries = known.table.entries if known.table else ()
        means = [one for one in entries if one.value is not None and names.issuperset(map(str, one.at.values()))]
        for warning in noise_unknown(means, f"means of {known.quantity.name}"):
            yield replace(warning, detail=f"{known.what}: {warning.detail[0].lower()}{warning.detail[1:]}")


def _of_tables(both: tuple[Known, Known]) -> Sequence[Warning]:
    """The warnings of the tables; what is true of one of two quantities alone says of which."""
    own = [(known.what, known.table.warnings) for known in both if known.table is not None]
    common = {one for one in own[0][1] if one in own[-1][1]}
    told = (
        one if one in common else replace(one, detail=f"{what}: {one.detail}") for what, some in own for one in some
    )
    return tuple(dict.fromkeys(told))


def _other_slots(both: tuple[Known, Known], missing: SlotPolicy) -> Iterator[Warning]:
    """That two measured quantities are not over the same slots, but for slices that were asked for."""
    if any(known.table is None for known in both):
        return
    x, y = both
    alone = {one.what: sorted(set(one.benchmarks) - set(other.benchmarks)) for one, other in ((y, x), (x, y))}
    counts = missing == "matched" and x.quantity.shared != y.quantity.shared
    if any(alone.values()) or (counts and x.quantity.slice == y.quantity.slice):
        over = ": " + ", ".join(f"{one.what} over {one.quantity.shared or 0:,}" for one in (y, x)) if counts else ""
        told = "".join(f"; {what} alone is measured on {_listed(names)}" for what, names in alone.items() if names)
        yield Warning("other_slots", f"The two quantities are over different slots{over}{told}.")


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_NAMED:,} more" if len(names) > _MOST_NAMED else ""
    return ", ".join(names[:_MOST_NAMED]) + more
