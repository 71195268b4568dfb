"""Judge statements about an order, for `judgement.py`: the extreme cell, the best level of an axis, a name's place.

On noise, every difference between those named and the others has an interval, and all of these hold together: the
multiple comparisons of Hsu (1984), Annals of Statistics 12, 1136-1144, by Bonferroni's inequality. That cells tie
exactly cannot be shown by noisy numbers: several named ones are then read as "the best is among them".

Which coordinate serves several grids at once: the mean regret of one less that of another is the mean of their
differences, so that on noise each such difference has an interval of its own, and these hold together as well.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations

import numpy as np

from registry.claims.claim import Extreme, Missing, Rank, Says, Stable, Step, SweetSpot, Trend, Value
from registry.grids.slices import kept_levels
from workers.claims.facts import Source, Terms
from workers.claims.statistic import MOST_NAMED, ONE, statistic, sum_of
from workers.claims.worlds import POSITIVE, Exact, Found, Reason, Scene, added, undecided
from workers.statistics.judging import Answer, Span, all_of, any_of, count_within, judge
from workers.statistics.terms import IntArray

_SAME = (Span(0, 0),)
_NOT_NEGATIVE = (Span(low=0),)
_TOUCH = "two of the cells that are named are neighbours, so that neither is isolated"
MOST_PAIRS = 20_000
_MOST_LISTED, _MOST_COSTLY = 4, 3
"""Levels that all have, and names that cost the others some, as far as they are written out."""


@dataclass(frozen=True)
class Rivals:
    """Things that are put in order: for each its cells, in the order of the series where the statistic needs one."""

    of: str
    cells: Sequence[Sequence[int]]
    scene: Scene
    sign: Fraction

    def ahead(self, one: int, other: int, family: int) -> Span | None:
        """Lead of one over another."""
        mine, theirs = (sum_of(self.of, self.cells[place]) for place in (one, other))
        if mine is not None and theirs is not None:
            ahead = [(cell, self.sign * factor) for cell, factor in mine]
            ahead += [(cell, -self.sign * factor) for cell, factor in theirs]
            return self.scene.world.linear(added(ahead), family)
        spans = [statistic(self.of, self.scene, self.cells[place], 2 * family) for place in (one, other)]
        if spans[0] is None or spans[1] is None:
            return None
        low, high = spans[0].low - spans[1].high, spans[0].high - spans[1].low
        return Span(low, high) if self.sign > 0 else Span(-high, -low)


def judge_extreme(says: Extreme, scene: Scene) -> Found:
    """Judge which cell, or which level of an axis, is the largest or the smallest."""
    over = ""
    sign = ONE if says.which == "max" else -ONE
    if says.of == "cell":
        cells = scene.cells.tolist()
        rivals = Rivals("cell", [[cell] for cell in cells], scene, sign)
        regions = [tuple((axis, (level,)) for axis, level in at) for at in says.at]
        wanted = {cell for one in regions for cell in scene.facts.select(scene.declared, one).tolist()}
        if not wanted <= set(cells) or not wanted:
            return undecided("missing_cells")
        named = [place for place, cell in enumerate(cells) if cell in wanted]
    else:
        by_level = _levels(says.of, says.stat, says.missing, says.along, scene)
        if isinstance(by_level, Found):
            return by_level
        codes = {code for at in says.at for code in kept_levels(scene.facts.levels[says.of], [at[0][1]])}
        if not codes <= by_level.keys():
            return undecided("missing_cells")
        rivals = Rivals(says.stat, list(by_level.values()), scene, sign)
        named = [place for place, code in enumerate(by_level) if code in codes]
        over = _over(says, says.of, by_level, scene)
    found = replace(_extreme(rivals, named, alone=says.alone), over=over)
    return found if says.isolated is None else _isolated(says.isolated, found, rivals, named)


def _extreme(rivals: Rivals, named: Sequence[int], *, alone: bool) -> Found:
    scene = rivals.scene
    others = [place for place in range(len(rivals.cells)) if place not in set(named)]
    inner = list(combinations(named, 2)) if not scene.noisy else []
    family = max(1, len(named) * len(others))
    if family > MOST_PAIRS:
        return undecided("within_noise" if scene.noisy else "vague")
    region = POSITIVE if alone or scene.noisy else _NOT_NEGATIVE
    answers: list[Answer] = []
    first: Span | None = None
    for other in others:
        spans = [rivals.ahead(one, other, family) for one in named]
        if any(span is None for span in spans):
            return undecided("noise_unknown")
        lead = _nearest([span for span in spans if span is not None], best=scene.noisy)
        first = lead if first is None else _nearest([first, lead], best=False)
        each = [judge(region, span) for span in spans]
        answers.append(any_of(each) if scene.noisy else all_of(each))
    answers += [judge(_SAME, rivals.ahead(one, other, family)) for one, other in inner]
    answer = all_of(answers)
    best = _best(rivals) if scene.world.name == "posted" else ()
    return Found(answer, first, scene.why if answer == "not_decidable" else None, best)


def _nearest(spans: Sequence[Span], *, best: bool) -> Span:
    """The bounds of the smallest, or of the largest, of some numbers."""
    end = max if best else min
    return Span(end(span.low for span in spans), end(span.high for span in spans))


def _isolated(margin: float, found: Found, rivals: Rivals, named: Sequence[int]) -> Found:
    """The same, and each named cell is beyond its neighbours. The intervals are those that it had before."""
    scene = rivals.scene
    places = {cells[0]: place for place, cells in enumerate(rivals.cells)}
    family = max(1, len(named) * (len(rivals.cells) - len(named)))
    parts = []
    for one in named:
        around = [places[cell] for cell in _neighbours(rivals.cells[one][0], scene) if cell in places]
        if not around:
            return undecided("missing_cells", "a cell that is named has no measured neighbours on an ordered axis")
        # Two that are named are compared here only: that neither is beyond the other needs no interval.
        parts += [scene.judged((Span(margin, low_open=True),), rivals.ahead(one, other, family))
                  if other not in named else Found("contradicted", detail=_TOUCH) for other in around]  # fmt: skip
    answer = all_of([found.answer, *(part.answer for part in parts)])
    reason = next((part.reason for part in (found, *parts) if part.reason), None)
    detail = next((part.detail for part in parts if part.detail), "") if answer == "contradicted" else ""
    return replace(found, answer=answer, reason=reason if answer == "not_decidable" else None, detail=detail)


def _neighbours(cell: int, scene: Scene) -> Iterator[int]:
    """The declared cells of its grid that are one level away from it on some of the ordered axes, and nowhere else."""
    facts = scene.facts
    owner = int(facts.owner[cell])
    grid = facts.sources[owner].grid
    mine = scene.declared[facts.owner[scene.declared] == owner]
    if not grid.axes:
        return
    at = np.array(np.unravel_index(facts.index[mine], grid.shape))
    apart = np.abs(at - at[:, mine == cell])
    reach = np.array([[1] if axis.ordered else [0] for axis in grid.axes])
    for one in mine[np.all(apart <= reach, axis=0)].tolist():
        if one != cell:
            yield one


def _best(rivals: Rivals) -> tuple[int, ...]:
    """The cells of the posted extreme, as many as an answer names."""
    spans = [statistic(rivals.of, rivals.scene, cells) for cells in rivals.cells]
    sizes = [float(rivals.sign) * span.low for span in spans if span is not None]
    top = [place for place, size in enumerate(sizes) if size == max(sizes)]
    return tuple(rivals.cells[place][0] for place in top if len(rivals.cells[place]) == 1)[:MOST_NAMED]


def judge_rank(says: Rank, scene: Scene) -> Found:
    """The place of one level among all."""
    by_level = _levels(says.by, says.stat, says.missing, says.along, scene)
    if isinstance(by_level, Found):
        return by_level
    named = [code for code in kept_levels(scene.facts.levels[says.by], [says.name]) if code in by_level]
    if not named:
        return undecided("missing_cells")
    direction = scene.facts.metric(int(scene.declared[0])).direction
    if says.high_first is None and direction is None:
        return undecided("no_direction")
    high_first = direction == "higher" if says.high_first is None else says.high_first
    last = says.place == "last"
    sign = ONE if high_first != last else -ONE
    rivals = Rivals(says.stat, list(by_level.values()), scene, sign)
    mine = list(by_level).index(named[0])
    others = [place for place in range(len(by_level)) if place != mine]
    family = max(1, len(others))
    spans = [rivals.ahead(other, mine, family) for other in others]
    if any(span is None for span in spans):
        return undecided("noise_unknown")
    ahead = [judge(POSITIVE, span) for span in spans]
    place = 1 if says.place == "last" else says.place
    answer = _placed(ahead, place, top=says.top)
    if says.alone:
        answer = all_of([answer, *(judge((Span(high=0, high_open=True), *POSITIVE), span) for span in spans)])
    low, high = ahead.count("supported"), len(ahead) - ahead.count("contradicted")
    count = len(others) + 1
    found = Span(count - high, count - low) if last else Span(low + 1, high + 1)
    over = _over(says, says.by, by_level, scene, named[0])
    return Found(answer, found, scene.why if answer == "not_decidable" else None, over=over)


def _placed(ahead: Sequence[Answer], place: int, *, top: bool) -> Answer:
    if not top and place > len(ahead) + 1:
        return "contradicted"
    return count_within(ahead, 0 if top else place - 1, place - 1)


def _over(
    says: Extreme | Rank, by: str, by_level: Mapping[int, Sequence[int]], scene: Scene, named: int | None = None
) -> str:
    """Over which cells the levels of a dimension are compared; `named` is the code of the one that has a place."""
    if says.missing == "matched":
        cells = np.array([cell for mine in by_level.values() for cell in mine], dtype=np.int64)
        return over_shared([by], cells, scene.declared, scene, lacking=_lacking(by, by_level, scene))
    if says.stat in ("first", "last"):
        return ""
    mine = {} if named is None else {f"{by} {scene.facts.levels[by][named].label}": len(by_level[named])}
    return each_over_its_own(mine, [len(cells) for code, cells in by_level.items() if code != named])


def _lacking(by: str, codes: Collection[int], scene: Scene) -> str:
    """Which levels of a dimension cost the others coordinates: `model C lacks 17, model D lacks 2`."""
    facts = scene.facts
    places = [facts.dimensions.index(name) for name in facts.varying(scene.declared) if name != by]
    column, every = facts.column(by), len(np.unique(facts.codes[scene.declared][:, places], axis=0))
    own = {code: facts.codes[scene.cells[column[scene.cells] == code]][:, places] for code in codes}
    lacks = {facts.levels[by][code].label: every - len(np.unique(one, axis=0)) for code, one in own.items()}
    costly = sorted((one for one in lacks.items() if one[1]), key=lambda one: -one[1])
    told = [f"{by} {name} lacks {count:,}" for name, count in costly[:_MOST_COSTLY]]
    return ", ".join(told) + (f" and {len(costly) - _MOST_COSTLY} more" if len(costly) > _MOST_COSTLY else "")


def _levels(by: str, stat: str, missing: Missing, along: str, scene: Scene) -> Mapping[int, Sequence[int]] | Found:
    """The cells of each level of a dimension, by its code; with `matched` at the coordinates that all levels have."""
    if by not in scene.facts.levels:
        return undecided("vague")
    column = scene.facts.column(by)
    codes = [int(code) for code in np.unique(column[scene.cells]) if code >= 0]
    if len(codes) < 2:
        return undecided("missing_cells")
    cells = scene.cells[np.isin(column[scene.cells], codes)]
    if missing == "matched":
        cells = shared(cells, by, len(codes), scene)
        if not cells.size:
            return undecided("missing_cells")
    found = {code: cells[column[cells] == code] for code in codes}
    if stat not in ("first", "last"):
        return {code: mine.tolist() for code, mine in found.items() if stat != "sd" or mine.size > 1}
    rest = [name for name in scene.facts.varying(scene.declared) if name != by]
    axis = along or (rest[0] if len(rest) == 1 else "")
    series = {code: scene.restricted(mine).series(axis) if axis else mine.tolist() for code, mine in found.items()}
    if any(one is None or (not axis and len(one) > 1) for one in series.values()):
        return undecided("vague")
    return {code: one for code, one in series.items() if one}


def shared(cells: IntArray, by: str, count: int, scene: Scene) -> IntArray:
    """The cells at coordinates, apart from one dimension, that so many levels of it have."""
    rest = [place for place, name in enumerate(scene.facts.dimensions) if name != by]
    _, inverse, counts = np.unique(scene.facts.codes[cells][:, rest], axis=0, return_inverse=True, return_counts=True)
    return np.asarray(cells[counts[inverse.ravel()] == count], dtype=np.int64)


def over_shared(
    apart: Collection[str],
    used: IntArray,
    declared: IntArray,
    scene: Scene,
    whose: str = "all have",
    lacking: str = "",
) -> str:
    """The coordinates, apart from some dimensions, that the cells used have, of those that are declared, and who is
    `lacking` others: `over the 3 of 20 levels of Length that all have (7, 8, 9; model C lacks 17)`; "" where there is
    only one."""
    facts = scene.facts
    names = [name for name in facts.varying(declared) if name not in apart]
    places = [facts.dimensions.index(name) for name in names]
    here, every = (np.unique(facts.codes[cells][:, places], axis=0) for cells in (used, declared))
    if len(every) < 2:
        return ""
    what = f"levels of {names[0]}" if len(names) == 1 else "coordinates"
    if len(here) == len(every):
        return f"over {'both' if len(every) == 2 else f'all {len(every):,}'} {what}"
    if isinstance(scene.world, Exact):
        scene.world.left_out.append(f"{len(every) - len(here):,} of {len(every):,} {what}")
    listed = [lacking] if lacking else []
    if len(names) == 1 and len(here) <= _MOST_LISTED:
        listed.insert(0, ", ".join(facts.levels[names[0]][code].label for code in here[:, 0].tolist()))
    told = f" ({'; '.join(listed)})" if listed else ""
    return f"over the {len(here):,} of {len(every):,} {what} that {whose}{told}"


def over_measured(says: Says, scene: Scene) -> str:
    """The cells that a statement of one series, or of all cells together, is about: those that were measured."""
    if isinstance(says, Value) and says.of in ("first", "last", "change"):
        axis, order = scene.along(says.along), scene.series(scene.along(says.along))
        if not order or scene.declared.size < 2:
            return ""
        first, last = (scene.facts.levels[axis][scene.facts.column(axis)[cell]].label for cell in (order[0], order[-1]))
        return (
            f"from {axis} {first} to {last}"
            if says.of == "change"
            else f"at {axis} {first if says.of == 'first' else last}"
        )
    whole = scene.cells.size in (0, scene.declared.size)
    if isinstance(says, Value) or (isinstance(says, Trend | Stable | Step) and not whole):
        return over_shared((), scene.cells, scene.declared, scene, "were measured")
    return ""


def over_sides(left: Sequence[int], right: Sequence[int]) -> str:
    """The cells of two sides that share no coordinate: `over 14 and 6 cells`; "" where each is one cell."""
    sizes = len(left), len(right)
    return "" if sizes == (1, 1) else f"over {sizes[0]:,} and {sizes[1]:,} cells"


def each_over_its_own(named: Mapping[str, int], others: Sequence[int]) -> str:
    """Say how many cells each has: `each over its own cells (19 of Type 6, 10 to 20 of the others)`."""
    low, high = min(others), max(others)
    span = f"{low:,}" if low == high else f"{low:,} to {high:,}"
    told = [f"{count:,} of {name}" for name, count in named.items()]
    return f"each over its own cells ({', '.join([*told, f'{span} of the others' if told else span])})"


MOST_TERMS = 100_000
Spots = Sequence[Sequence[tuple[int, int]]]
"""The cells of each coordinate, one of each grid, with 1 where more is better and -1 where less is."""


def judge_sweet_spot(says: SweetSpot, scene: Scene) -> Found:
    """Tell whether the best coordinate is among those named."""
    facts = scene.facts
    owners = [
        owner for owner in np.unique(facts.owner[scene.declared]).tolist() if not facts.sources[owner].grid.derived
    ]
    sources = [facts.sources[owner] for owner in owners]
    if why := _obstacle(sources):
        return undecided(*why)
    spots = _spots(scene, owners)
    wanted = [
        set(facts.select(scene.declared, tuple((axis, (level,)) for axis, level in at)).tolist()) for at in says.at
    ]
    named = [place for place, spot in enumerate(spots) if any(spot[0][0] in one for one in wanted)]
    if not all(any(spot[0][0] in one for spot in spots) for one in wanted):
        return undecided("missing_cells")
    others = [place for place in range(len(spots)) if place not in set(named)]
    if not others:
        return undecided("vague", "all coordinates that the grids share are named")
    found = _by_regret(spots, named, others, scene)
    if isinstance(found, Found):
        return found
    best = _best_spots(found, named, others) if scene.world.name == "posted" else []
    cells = tuple(cell for place in best for cell, _ in spots[place])[:MOST_NAMED]
    ahead = [[found[one, other] for one in named] for other in others]
    low, high = (min(max(getattr(span, end) for span in spans) for spans in ahead) for end in ("low", "high"))
    return scene.judged(POSITIVE, Span(low, high), cells)


def _obstacle(sources: Sequence[Source]) -> tuple[Reason, str] | None:
    """Why these grids have no sweet spot."""
    axes = {tuple(sorted(axis.name for axis in source.grid.axes)) for source in sources}
    if any(source.grid.metric.direction is None for source in sources):
        return "no_direction", ""
    if len(axes) > 1:
        return "not_comparable", "the grids do not share their axes"
    if axes == {()}:
        return "vague", "single scores have no coordinate to choose"
    return ("too_few_points", "one grid has its own peaks, which extreme is about") if len(sources) < 2 else None


def _spots(scene: Scene, owners: Sequence[int]) -> Spots:
    """The coordinates that all grids have."""
    facts = scene.facts
    places = [place for place, name in enumerate(facts.dimensions) if name in facts.axes]
    found: dict[tuple[int, ...], list[tuple[int, int]]] = {}
    for cell in scene.cells[np.isin(facts.owner[scene.cells], owners)].tolist():
        sign = -1 if facts.metric(cell).direction == "lower" else 1
        found.setdefault(tuple(facts.codes[cell, places].tolist()), []).append((cell, sign))
    return [spot for _, spot in sorted(found.items()) if len(spot) == len(owners)]


Leads = dict[tuple[int, int], Span]
"""Lead of the first of two coordinates."""


def _by_regret(spots: Spots, named: Sequence[int], others: Sequence[int], scene: Scene) -> Leads | Found:
    if 2 * len(named) * len(others) * len(spots[0]) > MOST_TERMS:
        return undecided("too_large")
    leads: Leads = {}
    for one in named:
        for other in others:
            terms: Terms = [
                (cell, Fraction(turn * sign, len(spots[one])))
                for place, turn in ((one, 1), (other, -1))
                for cell, sign in spots[place]
            ]
            span = scene.world.linear(terms, len(named) * len(others))
            if span is None:
                return undecided("noise_unknown")
            leads[one, other] = span
    return leads


def _best_spots(leads: Leads, named: Sequence[int], others: Sequence[int]) -> list[int]:
    """The coordinates that none is better than, as posted."""
    first = others[0]
    most = max(leads[one, first].low for one in named)
    tops = [one for one in named if leads[one, first].low == most]
    least = min(leads[tops[0], other].low for other in others)
    better = [other for other in others if leads[tops[0], other].low == least] if least <= 0 else []
    return [*(tops if least >= 0 else ()), *better]
