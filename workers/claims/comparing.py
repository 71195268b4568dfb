"""Judge statements, for `judgement.py`, that put cells against others, about effects of axes, and about interactions.

An interaction: the effect of one axis depends on the level of another. The means by two axes are an effect of each
added up, and what is left over: row and column means off, the mean of all on (the residual of a two-way table: Tukey
1977, Exploratory Data Analysis, chapter 10). These leftovers are sums of cells, of which the furthest from 0 is judged.
It is in points: near the bounds of a metric effects shrink, which in points is an interaction like any other.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import chain, product

import numpy as np

from registry.claims.claim import FACETS, Compare, Effect, Number, exact
from registry.grids.slices import Slice
from workers.claims.facts import Terms
from workers.claims.orders import over_shared, over_sides, shared
from workers.claims.statistic import quantified, within_reach, within_width
from workers.claims.worlds import POSITIVE, Exact, Found, Scene, added, all_found, undecided
from workers.statistics.judging import Span, all_of, opposite
from workers.statistics.terms import IntArray

Slots = Sequence[tuple[Sequence[int], Sequence[int]]]
"""The cells of the left and of the right side that are put against each other."""
Amount = tuple[Span, Fraction]
Compared = tuple[list[tuple[Terms, Terms]], str]
"""Pairs of sums, and over which cells they are, in words."""
MOST_TERMS = 100_000
_NO_TABLE = "its two axes have no full table of measured cells in common; where can choose one"
Tables = Mapping[tuple[int, int], Sequence[int]]
"""The cells of each place of the table of two axes, one of each slot."""


def judge_compare(says: Compare, scene: Scene) -> Found:
    """Left against right."""
    direction = scene.facts.metric(int(scene.declared[0])).direction
    if says.is_ in ("better", "worse") and direction is None:
        return undecided("no_direction")
    good = direction == "higher"
    higher = {"higher": True, "lower": False, "better": good, "worse": not good}.get(says.is_, True)
    compared = _gaps(says, scene) if says.of == "gap" else _means(says, scene)
    if isinstance(compared, Found):
        return compared
    pairs, over = compared
    parts = _all(says, pairs, scene, higher=higher)
    if says.everywhere is None:
        return replace(parts[0], over=over)
    found = all_found(parts, quantified(says.everywhere, [one.answer for one in parts]), scene)
    return replace(found, over=over)


def _means(says: Compare, scene: Scene) -> Compared | Found:
    """The mean on the left and that on the right, or those of each slot."""
    sides = [scene.facts.select(scene.declared, one) for one in (says.left, says.right)]
    slots = _shared_slots((says.left, says.right), sides, scene)
    if isinstance(slots, Found):
        return slots
    over = _over((says.left, says.right), sides, slots, scene)
    if says.everywhere is None:
        return [(_mean([one[0] for one in slots]), _mean([one[1] for one in slots]))], over
    return [(_mean([left]), _mean([right])) for left, right in slots], over


def _over(apart: Sequence[Slice], sides: Sequence[IntArray], slots: Slots, scene: Scene) -> str:
    """Over which cells two sides are compared."""
    left, right = _compared(slots)
    told = {name for side in apart for name, _ in side}
    over = over_shared(told, np.array([*left, *right]), np.concatenate(sides), scene, "both have")
    return over or (over_sides(left, right) if len(slots) == 1 else "")


def _gaps(says: Compare, scene: Scene) -> Compared | Found:
    """The gap on the left and the gap on the right, each over its own slots."""
    gaps: list[Terms] = []
    whole: list[list[int]] = []
    over = []
    for region in (says.left, says.right):
        within = scene.facts.select(scene.declared, region)
        sides = [scene.facts.select(within, one) for one in (says.ahead, says.behind)]
        slots = _shared_slots((says.ahead, says.behind), sides, scene)
        if isinstance(slots, Found):
            return slots
        gaps.append(_plus((_mean([one[0] for one in slots]), 1), (_mean([one[1] for one in slots]), -1)))
        whole.append(list(chain(*_compared(slots))))
        over.append(_over((says.ahead, says.behind), sides, slots, scene))
    told = " and ".join(dict.fromkeys(filter(None, over)))
    return undecided("confounded") if _confounded(whole, scene) else ([(gaps[0], gaps[1])], told)


def _shared_slots(apart: Sequence[Slice], sides: Sequence[IntArray], scene: Scene) -> Slots | Found:
    """The slots over which two sides are compared, or why they are not."""
    if any(side.size == 0 for side in sides):
        return undecided("not_published")
    slots = _slots(apart, sides, scene)
    if _confounded(_compared(slots) if slots else sides, scene):
        return undecided("confounded")
    return slots or undecided("missing_cells")


def _compared(slots: Slots) -> list[list[int]]:
    """The cells of the left side and those of the right one."""
    return [[cell for slot in slots for cell in slot[side]] for side in (0, 1)]


def _confounded(sides: Sequence[IntArray | list[int]], scene: Scene) -> bool:
    """Tell whether cells on both sides differ in more than one of benchmark, model and variant."""
    names = [[set(scene.facts.column(facet)[side].tolist()) for side in sides] for facet in FACETS]
    return sum(left != right for left, right in names) > 1


def _slots(apart: Sequence[Slice], sides: Sequence[IntArray], scene: Scene) -> Slots:
    """The coordinates, apart from the dimensions by which the sides are told apart, where both sides have all that they
    have anywhere."""
    cells = [scene.world.cells(side) for side in sides]
    told = {name for side in apart for name, _ in side}
    rest = [place for place, name in enumerate(scene.facts.dimensions) if name not in told]
    left, right = (_by_slot(side, rest, scene) for side in cells)
    full = [max((len(one) for one in side.values()), default=0) for side in (left, right)]
    shared = [slot for slot in left if slot in right]
    return [(left[slot], right[slot]) for slot in shared if len(left[slot]) == full[0] and len(right[slot]) == full[1]]


def _by_slot(cells: IntArray, rest: Sequence[int], scene: Scene) -> Mapping[tuple[int, ...], list[int]]:
    found: dict[tuple[int, ...], list[int]] = {}
    for cell in cells.tolist():
        found.setdefault(tuple(scene.facts.codes[cell, rest].tolist()), []).append(cell)
    return found


def _mean(slots: Sequence[Sequence[int]]) -> Terms:
    """The mean over slots of the mean of the cells of each."""
    return [(cell, Fraction(1, len(slots) * len(cells))) for cells in slots for cell in cells]


def _all(says: Compare, means: Sequence[tuple[Terms, Terms]], scene: Scene, *, higher: bool) -> list[Found]:
    """Each pair of means by itself; all of their intervals hold together."""
    amounts = _amounts(says.by, scene)
    family = len(means) * (1 + len(amounts))
    return [_one(says, pair, amounts, family, scene, higher=higher) for pair in means]


def _one(
    says: Compare, pair: tuple[Terms, Terms], amounts: Sequence[Amount], family: int, scene: Scene, *, higher: bool
) -> Found:
    left, right = pair
    ahead, behind = (left, right) if higher else (right, left)
    if says.margin is not None:
        return scene.judged((Span(-says.margin, says.margin),), scene.world.gap(_plus((left, 1), (right, -1)), family))
    span = scene.world.gap(_plus((ahead, 1), (behind, -1)), family)
    parts = [scene.judged(POSITIVE, span)]
    if says.by is not None and says.by.unit == "points":
        parts.append(scene.judged(scene.region(says.by), span))
    elif amounts and not _positive(pair, scene):
        return undecided("not_comparable")
    for region, end in amounts:
        if says.by is not None and says.by.unit == "factor":
            terms = _plus((ahead, 1), (behind, -end))
        else:
            terms = _plus((ahead, 1), (behind, -1), (right, -end / 100))
        parts.append(scene.judged((region,), scene.world.linear(terms, family)))
    found = all_found(parts, all_of(one.answer for one in parts), scene)
    return Found(found.answer, _shown(says.by, pair, span, family, scene, higher=higher), found.reason)


def _shown(
    by: Number | None, pair: tuple[Terms, Terms], span: Span | None, family: int, scene: Scene, *, higher: bool
) -> Span | None:
    """Number that is claimed of a pair: left less right, this in percent of right, or the factor between the one that
    is said to be ahead and the other. `span` is how far that one is ahead."""
    if by is None or by.unit == "points":
        return span if span is None or higher else Span(-span.high, -span.low)
    if by.unit == "factor":
        return quotient(*(pair if higher else pair[::-1]), family, scene)
    found = quotient(*pair, family, scene)
    return found and Span(100 * (found.low - 1), 100 * (found.high - 1))


def _amounts(by: Number | None, scene: Scene) -> list[Amount]:
    """The finite ends of an amount in percent or as a factor, each with the region of the sum that it makes."""
    if by is None or by.unit == "points":
        return []
    low, high, low_open, high_open = scene.ends(by)
    ends = [(low, Span(0, low_open=low_open)), (high, Span(high=0, high_open=high_open))]
    return [(region, exact(end)) for end, region in ends if math.isfinite(end)]


def _positive(pair: tuple[Terms, Terms], scene: Scene) -> bool:
    """Tell whether both means are above 0 as posted, so that one can be a multiple of the other."""
    spans = [Exact(scene.facts).linear([(cell, factor) for cell, factor in one if scene.facts.present[cell]])
             for one in pair]  # fmt: skip
    return all(span is not None and span.low > 0 for span in spans)


def _plus(*parts: tuple[Terms, Fraction | int]) -> Terms:
    """The sum of several sums, each times a factor."""
    return added([(cell, times * factor) for terms, times in parts for cell, factor in terms])


def judge_effect(says: Effect, scene: Scene) -> Found:
    """Judge how far the means of the levels of each axis differ, at the coordinates that all levels share."""
    if says.interaction:
        return judge_interaction(says, scene)
    parts, over = [], []
    split = scene.shared(len(says.axes))
    for axis in says.axes:
        if axis not in scene.facts.levels:
            return undecided("vague")
        column = scene.facts.column(axis)
        codes = [int(code) for code in np.unique(column[scene.cells]) if code >= 0]
        cells = shared(scene.cells[np.isin(column[scene.cells], codes)], axis, len(codes), scene)
        if len(codes) < 2 or not cells.size:
            return undecided("missing_cells")
        sums = [_mean([cells[column[cells] == code].tolist()]) for code in codes]
        found = within_width(sums, says.within, split)
        turned = opposite(found.answer) if says.is_ == "present" else found.answer
        parts.append(Found(turned, found.span, found.reason))
        over.append(over_shared([axis], cells, scene.declared, scene))
    by_axis = [f"{axis} {one}" for axis, one in zip(says.axes, over, strict=True) if one]
    every = over[0] if len(over) == 1 else ", ".join(by_axis)
    found = replace(all_found(parts, all_of(one.answer for one in parts), scene), over=every)
    end = min if says.is_ == "present" else max
    spans = [one.span for one in parts if one.span is not None]
    if len(spans) < len(parts):
        return found
    whole = Span(end(one.low for one in spans), end(one.high for one in spans))
    return Found(found.answer, whole, found.reason, over=every)


def quotient(above: Terms, below: Terms, family: int, scene: Scene) -> Span | None:
    """`above` by `below`, both of which are above 0 as posted; None where it is unknown, or both have noisy cells in
    common. On noise it has the factors r for which 0 is within the interval of `above`
    - r `below`, by which claims of a factor are judged; without an end where `below` may be 0."""
    one, other = scene.world.linear(above, family), scene.world.linear(below, family)
    if one is None or other is None:
        return None
    if not scene.noisy:
        return _of_spans(one, other)
    if {cell for cell, _ in above} & {cell for cell, _ in below}:
        return None
    posted = Exact(scene.facts)
    a, b = (span.low for terms in (above, below) if (span := posted.linear(terms)) is not None)
    # Both ends are zeros of (a - r b)² = (a - end of above)² + r² (b - end of below)².
    low_c, low_a = one.low * (2 * a - one.low), other.high * (2 * b - other.high)
    high_c, high_a = one.high * (2 * a - one.high), other.low * (2 * b - other.low)
    # Rounding may put an end beyond the quotient itself, where there is next to no noise.
    low = min(a / b, low_c / (a * b + math.sqrt(max(0.0, (a * b) ** 2 - low_a * low_c))))
    if other.low <= 0:
        return Span(low)
    return Span(low, max(a / b, (a * b + math.sqrt(max(0.0, (a * b) ** 2 - high_a * high_c))) / high_a))


def _of_spans(one: Span, other: Span) -> Span:
    """The quotient of any two numbers of these."""
    if other.low <= 0:
        return Span()
    ends = [first / second for first in (one.low, one.high) for second in (other.low, other.high)]
    return Span(min(ends), max(ends))


def judge_interaction(says: Effect, scene: Scene) -> Found:
    """Judge how far the means by two axes are from being additive."""
    if any(axis not in scene.facts.levels for axis in says.axes):
        return undecided("vague")
    table, shape = _table(says.axes, scene)
    if min(shape) < 2 or not table:
        return undecided("missing_cells", _NO_TABLE if min(shape) > 1 else "")
    if sum(map(len, table.values())) * len(table) > MOST_TERMS:
        return undecided("too_large")
    found = within_reach(list(_residuals(table, shape)), says.within, scene)
    return Found(opposite(found.answer) if says.is_ == "present" else found.answer, found.span, found.reason)


def _table(axes: Sequence[str], scene: Scene) -> tuple[Tables, tuple[int, int]]:
    """The cells by the levels of both axes that have any, in the slots where all of these are there."""
    cells = scene.cells
    columns = [scene.facts.column(axis)[cells] for axis in axes]
    cells, columns = cells[kept := np.all([column >= 0 for column in columns], axis=0)], [one[kept] for one in columns]
    first, second = (np.unique(column, return_inverse=True) for column in columns)
    shape = first[0].size, second[0].size
    rest = [place for place, name in enumerate(scene.facts.dimensions) if name not in axes]
    slots: dict[tuple[int, ...], dict[tuple[int, int], int]] = {}
    for cell, *at in zip(cells.tolist(), first[1].ravel().tolist(), second[1].ravel().tolist(), strict=True):
        slots.setdefault(tuple(scene.facts.codes[cell, rest].tolist()), {})[at[0], at[1]] = cell
    full = [slot for slot in slots.values() if len(slot) == shape[0] * shape[1]]
    return {at: [slot[at] for slot in full] for at in (full[0] if full else ())}, shape


def _residuals(table: Tables, shape: tuple[int, int]) -> Iterator[Terms]:
    """Leftovers at each place, as sums of cells. Of an axis with two levels the second has the leftovers of the first
    with the other sign, and is not asked for."""
    rows, columns = shape
    slots = max(map(len, table.values()))
    factors = {
        (here, there): (here - Fraction(1, rows)) * (there - Fraction(1, columns)) / slots
        for here, there in product((False, True), repeat=2)
    }
    for row in range(rows if rows > 2 else 1):
        for column in range(columns if columns > 2 else 1):
            yield [(cell, factors[at[0] == row, at[1] == column]) for at, cells in table.items() for cell in cells]
