"""Judge which coordinate serves several grids at once, by the criteria of the registry's sweet spot.

The mean regret of one coordinate less that of another is the mean of their differences, so that on noise each such
difference has an interval of its own. Ranks change where two cells of one grid do: their bounds come from intervals of
all pairs of cells within each grid. Either way all intervals hold together (Hsu 1984, Annals of Statistics 12,
1136-1144, by Bonferroni's inequality), whichever coordinate looked best.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations

import numpy as np

from registry.claims.claim import SweetSpot
from workers.claims.facts import Source
from workers.claims.scene import POSITIVE, Found, Reason, Scene, undecided
from workers.claims.values import MOST_NAMED
from workers.claims.worlds import Terms
from workers.statistics.judging import Span

MOST_PAIRS, MOST_TERMS = 20_000, 100_000
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
    lead = _by_regret if says.criterion == "regret" else _by_rank
    found = lead(spots, named, others, scene)
    if isinstance(found, Found):
        return found
    best = _best(found, named, others) if scene.world.name == "posted" else []
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


def _by_rank(spots: Spots, named: Sequence[int], others: Sequence[int], scene: Scene) -> Leads | Found:
    grids, family = len(spots[0]), len(spots[0]) * len(spots) * (len(spots) - 1) // 2
    if family > MOST_PAIRS:
        return undecided("too_large")
    low, high = np.zeros(len(spots)), np.zeros(len(spots))
    for one, other in combinations(range(len(spots)), 2):
        for (mine, sign), (theirs, _) in zip(spots[one], spots[other], strict=True):
            span = scene.world.linear([(mine, Fraction(sign)), (theirs, Fraction(-sign))], family)
            if span is None:
                return undecided("noise_unknown")
            least, most = _behind(span.high), _behind(span.low)
            low[one], high[one] = low[one] + least, high[one] + most
            low[other], high[other] = low[other] + 1 - most, high[other] + 1 - least
    low, high = low / grids, high / grids
    return {
        (one, other): Span(float(low[other] - high[one]), float(high[other] - low[one]))
        for one in named
        for other in others
    }


def _behind(lead: float) -> float:
    """Part of a rank that another cell adds which one leads by so much; half of a place where they tie."""
    return 0.5 if lead == 0 else float(lead < 0)


def _best(leads: Leads, named: Sequence[int], others: Sequence[int]) -> list[int]:
    """The coordinates that none is better than, as posted."""
    first = others[0]
    most = max(leads[one, first].low for one in named)
    tops = [one for one in named if leads[one, first].low == most]
    least = min(leads[tops[0], other].low for other in others)
    better = [other for other in others if leads[tops[0], other].low == least] if least <= 0 else []
    return [*(tops if least >= 0 else ()), *better]
