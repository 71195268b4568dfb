"""The verdict on a whole claim: its statements in all groups and worlds, joined by Kleene's logic.

Every confidence set that a claim needs shares one alpha (Bonferroni over statements and groups, and within each as
`workers.claims.worlds` says). All of them hold together with a probability of 1 - alpha, and so does every verdict that
follows from them, however the statements are joined.

Protocols of the grids that a statement puts together: what forbids it, and what is doubted all the same. Statements
about each cell by itself, about one series or about what was measured put nothing together. As in rankings, only grids
of one benchmark are looked at, and derived grids are not.
"""

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from registry.claims.claim import (
    Atom,
    Cells,
    Claim,
    Compare,
    Coverage,
    Effect,
    Extreme,
    Lie,
    Part,
    Rank,
    Stable,
    Step,
    SweetSpot,
    Trend,
    Value,
    atoms_of,
)
from registry.claims.grammar import MOST_GROUPS
from registry.grids.slices import kept_levels
from registry.results.terms import Warning
from workers.claims.comparing import judge_compare, judge_effect
from workers.claims.courses import judge_stable, judge_step, judge_trend
from workers.claims.facts import Facts, Source
from workers.claims.orders import judge_extreme, judge_rank, judge_sweet_spot, over_measured
from workers.claims.statistic import judge_cells, judge_lie, judge_value, quantified
from workers.claims.worlds import FIXED, Exact, Found, Log, Look, Noisy, Reason, Scene, World, undecided
from workers.protocols import doubts
from workers.statistics.comparison import other_scale
from workers.statistics.judging import Answer, Span, all_of, any_of, judge, opposite
from workers.statistics.terms import IntArray

_POOLED = ("mean", "sd", "min", "max", "range")


def judge_coverage(says: Coverage, scene: Scene) -> Found:
    measured = scene.declared[scene.facts.present[scene.declared]]
    if says.is_ == "ragged":
        return _told(0 < measured.size < scene.declared.size, measured.size)
    if says.is_ == "cells" and says.count is not None:
        span = Span(int(measured.size), int(measured.size))
        return Found(judge(scene.region(says.count), span), span)
    if says.axis not in scene.facts.levels:
        return undecided("vague")
    levels, column = scene.facts.levels[says.axis], scene.facts.column(says.axis)
    counts = np.bincount(column[measured], minlength=len(levels))
    held = np.flatnonzero(counts).tolist()
    if says.is_ == "levels":
        named = [set(kept_levels(levels, [one])) for one in says.levels]
        return _told(all(named) and set().union(*named) == set(held), len(held))
    return _of_held(says, held, counts, scene) if held else undecided("missing_cells")


def _of_held(says: Coverage, held: list[int], counts: IntArray, scene: Scene) -> Found:
    """Judge what is said of the levels that have cells."""
    levels = scene.facts.levels[says.axis]
    if says.is_ == "span":
        ends = [set(kept_levels(levels, [one])) for one in _in_order(says, scene)]
        return _told(held[0] in ends[0] and held[-1] in ends[1], len(held))
    if says.is_ == "most":
        mine = kept_levels(levels, [says.level or ""])
        return _told(any(counts[code] == counts.max() for code in mine), int(counts.max()))
    last = levels[held[-1]].number
    return undecided("vague") if last is None else _told(last < (says.number or 0.0), last)


def _in_order(says: Coverage, scene: Scene) -> tuple[str, ...]:
    """The two ends of a span in the order of the axis; the grammar sorts levels as texts."""
    levels = scene.facts.levels[says.axis]
    places = {one: min(kept_levels(levels, [one]), default=-1) for one in says.levels}
    return tuple(sorted(says.levels, key=lambda one: places[one]))


def _told(holds: bool, number: float) -> Found:
    return Found("supported" if holds else "contradicted", Span(number, number))


def put_together(atom: Atom, facts: Facts, cells: IntArray) -> list[tuple[int, ...]]:
    """The grids of each benchmark that a statement puts together, as positions in the sources; no benchmark with only
    one."""
    says = atom.says
    if isinstance(says, Compare):
        sides = [facts.select(cells, side) for side in (says.left, says.right)]
        if says.of == "gap":
            sides = [facts.select(side, one) for side in sides for one in (says.ahead, says.behind)]
        cells = np.concatenate(sides)
    elif not _relates(says):
        return []
    found: dict[str, list[int]] = {}
    for owner in np.unique(facts.owner[cells]).tolist():
        source = facts.sources[owner]
        if not source.grid.derived:
            found.setdefault(source.names["benchmark"], []).append(owner)
    return [tuple(owners) for owners in found.values() if len(owners) > 1]


def _relates(says: Any) -> bool:
    if isinstance(says, Lie):
        return says.matching is None
    return says.of in _POOLED if isinstance(says, Value) else isinstance(says, Rank | Extreme | Effect | SweetSpot)


def obstacle(facts: Facts, together: Iterable[Sequence[int]]) -> str | None:
    """Why some of these grids are not put together; None where all are."""
    if not facts.rules:
        return None
    return next((why for owners in together if (why := _between(facts, owners))), None)


def _between(facts: Facts, owners: Sequence[int]) -> str | None:
    """The obstacle between two of the grids of one benchmark.

    Where two have other values of a key, at least one of them differs from the first grid that says it; and a grid that
    does not say what is required has an obstacle with every other. So the pairs with these first ones are enough.
    """
    rules = facts.rules
    first: dict[str, int] = {}
    for owner in owners:
        for key in rules.binding:
            if key in (facts.sources[owner].grid.protocol or {}):
                first.setdefault(key, owner)
    for one in dict.fromkeys([*first.values(), owners[0]]):
        mine = facts.sources[one]
        for theirs in (facts.sources[owner] for owner in owners if owner != one):
            if why := rules.obstacle(mine.grid.protocol, theirs.grid.protocol, (_name(mine), _name(theirs))):
                return why
    return None


def _name(source: Source) -> str:
    return " ".join(filter(None, (source.names["model"], source.names["variant"])))


def warnings_of(facts: Facts, together: Iterable[Sequence[int]]) -> Iterator[Warning]:
    """Doubts about grids that are put together."""
    each_once = dict.fromkeys(map(tuple, together))
    return doubts(facts.rules, ([(facts.sources[owner].grid.protocol, 1) for owner in owners] for owners in each_once))


Level = tuple[float, Look]
"""The alpha of a group over all looks, and which look it is."""
Layer = Literal["posted", "bare", "declared", "noise"]
LAYERS: tuple[Layer, ...] = ("posted", "bare", "declared", "noise")
MOST_WORK = 200_000
"""Cells of all groups of a claim together; those of statements that put cells against each other count tenfold."""
_CHEAP = (Value, Cells, Lie, Coverage)
_JUDGES: Mapping[type, Callable[[Any, Scene], Found]] = {
    Value: judge_value,
    Cells: judge_cells,
    Lie: judge_lie,
    Trend: judge_trend,
    Step: judge_step,
    Stable: judge_stable,
    Extreme: judge_extreme,
    Rank: judge_rank,
    Compare: judge_compare,
    Effect: judge_effect,
    SweetSpot: judge_sweet_spot,
    Coverage: judge_coverage,
}


@dataclass(frozen=True)
class Group:
    """One group of a statement: its levels, its declared cells, and what is found in each layer."""

    pointer: str
    atom: Atom
    levels: Mapping[str, str]
    cells: IntArray
    found: Mapping[Layer, Found]
    facts: Facts
    left_out: str = ""
    """The coordinates that not all grids declare and that are not compared: `12 of 28 coordinates`."""
    together: Sequence[tuple[int, ...]] = ()
    """The grids of each benchmark that it puts together, where nothing forbids it."""


@dataclass(frozen=True)
class Judged:
    """A claim with the answer of each layer and what they come from; `ill_posed` where no data can decide it."""

    claim: Claim
    answers: Mapping[Layer, Answer]
    groups: Sequence[Group]
    ill_posed: bool
    facts: Facts
    share: float = 0.0
    """The part of alpha that each group has."""
    look: Look = FIXED


def judge_claim(claim: Claim, facts: Facts) -> Judged:
    """The verdict of each layer on a claim."""
    atoms = list(atoms_of(claim.says))
    if any(atom.kind == "ill_posed" for _, atom in atoms):
        return Judged(claim, dict.fromkeys(LAYERS, "not_decidable"), (), ill_posed=True, facts=facts)
    divided = [(pointer, atom, list(_groups(atom, facts))) for pointer, atom in atoms]
    # What was measured is no matter of noise, and takes nothing of alpha.
    share = claim.alpha / max(1, sum(len(groups) for _, atom, groups in divided if atom.kind != "coverage"))
    work = sum(work_of(atom, [cells for _, cells in groups]) for _, atom, groups in divided)
    cells = [cells for _, _, groups in divided for _, cells in groups]
    owners = np.unique(facts.owner[np.concatenate(cells)]).tolist() if cells else []
    # The first look, and one more for each revision of a grid after its first.
    look = Look(claim.looks, 1 + sum(facts.sources[owner].revision - 1 for owner in owners))
    judge = _judge_group if work <= MOST_WORK else _leave_group
    judged = {
        pointer: [judge(pointer, atom, one, facts, (share, look)) for one in groups]
        for pointer, atom, groups in divided
    }
    answers = {layer: _joined(claim.says, "", judged, layer) for layer in LAYERS}
    groups = [one for several in judged.values() for one in several]
    return Judged(claim, answers, groups, ill_posed=False, facts=facts, share=share, look=look)


def judge_again(judged: Judged, found: Callable[[Group], Found]) -> Answer:
    """The answer beyond noise where what noise leaves open of a group is found otherwise; the rest stays as it was."""
    again: dict[str, list[Group]] = {pointer: [] for pointer, _ in atoms_of(judged.claim.says)}
    for one in judged.groups:
        is_open = one.found["noise"].reason == "within_noise"
        again[one.pointer].append(replace(one, found={"noise": found(one)}) if is_open else one)
    return _joined(judged.claim.says, "", again, "noise")


def found_again(judged: Judged, group: Group, facts: Facts, beyond: float = 0.0, asked: Log | None = None) -> Found:
    """What is found of a group beyond noise by other facts of the same cells, with all limits so many standard errors
    `beyond` the usual ones."""
    return _found(group.atom, scene_of(judged, group, facts, beyond, asked))


def scene_of(judged: Judged, group: Group, facts: Facts, beyond: float = 0.0, asked: Log | None = None) -> Scene:
    """The cells of a group within their noise by these facts."""
    world = Noisy(facts, judged.share, group.cells, judged.look, beyond, asked)
    return Scene(facts, world, group.cells, judged.look.share_of(judged.share))


def left_claim(claim: Claim, facts: Facts, why: Reason) -> Judged:
    """A claim of which no statement is judged, for this reason."""
    found = dict.fromkeys(LAYERS, undecided(why))
    nothing = np.empty(0, dtype=np.int64)
    groups = [Group(pointer, atom, {}, nothing, found, facts) for pointer, atom in atoms_of(claim.says)]
    return Judged(claim, dict.fromkeys(LAYERS, "not_decidable"), groups, ill_posed=False, facts=facts)


def _groups(atom: Atom, facts: Facts) -> Iterator[tuple[dict[str, str], IntArray]]:
    """The levels and the declared cells of each group; one group without `for`."""
    cells = facts.select(facts.about(atom.about), atom.where)
    dimensions = []
    for name, wanted in atom.for_:
        if name not in facts.levels:
            return
        levels = facts.levels[name]
        held = {int(code) for code in np.unique(facts.column(name)[cells]) if code >= 0}
        kept = [code for one in wanted for code in kept_levels(levels, [one])] if wanted else sorted(held)
        dimensions.append([(name, code) for code in dict.fromkeys(kept)])
    if math.prod(map(len, dimensions)) > MOST_GROUPS:
        return
    for chosen in itertools.product(*dimensions):
        mine = cells
        for name, code in chosen:
            mine = mine[facts.column(name)[mine] == code]
        yield {name: facts.levels[name][code].label for name, code in chosen}, mine


def work_of(atom: Atom, groups: Sequence[IntArray]) -> int:
    """Estimate what it costs to judge a statement of these groups of cells."""
    return (1 if isinstance(atom.says, _CHEAP) else 10) * sum(int(cells.size) for cells in groups)


def _leave_group(
    pointer: str, atom: Atom, group: tuple[dict[str, str], IntArray], facts: Facts, _level: Level
) -> Group:
    return Group(pointer, atom, group[0], group[1], dict.fromkeys(LAYERS, undecided("too_large")), facts)


def _judge_group(pointer: str, atom: Atom, group: tuple[dict[str, str], IntArray], facts: Facts, level: Level) -> Group:
    levels, cells = group
    together = put_together(atom, facts, cells)
    if why := obstacle(facts, together):
        return Group(pointer, atom, levels, cells, dict.fromkeys(LAYERS, undecided("not_comparable", why)), facts)
    declared = Exact(facts, "declared")
    worlds: Mapping[Layer, tuple[World, bool]] = {
        "posted": (Exact(facts), True),
        "bare": (Exact(facts), False),
        "declared": (declared, True),
        "noise": (Noisy(facts, level[0], cells, level[1]), True),
    }
    alpha = level[1].share_of(level[0])
    found = {
        layer: _found(atom, Scene(facts, world, cells, alpha, rounded)) for layer, (world, rounded) in worlds.items()
    }
    return Group(pointer, atom, levels, cells, found, facts, next(iter(declared.left_out), ""), together)


def _found(atom: Atom, scene: Scene) -> Found:
    if not scene.declared.size:
        return undecided("not_published")
    owners = np.unique(scene.facts.owner[scene.declared]).tolist()
    metrics = {scene.facts.sources[owner].grid.metric for owner in owners}
    first, *others = metrics
    if atom.kind != "coverage" and any(other_scale(first, one) for one in others):
        return undecided("not_comparable")
    found = _JUDGES[type(atom.says)](atom.says, scene)
    told = scene.world.name == "posted" and scene.rounded  # what is told of the cells is the first layer's
    return replace(found, over=found.over or over_measured(atom.says, scene)) if told else found


def _joined(part: Part, pointer: str, judged: Mapping[str, Sequence[Group]], layer: Layer) -> Answer:
    if isinstance(part, Atom):
        return quantified(part.holds, [one.found[layer].answer for one in judged[pointer]])
    answers = [_joined(one, f"{pointer}/claims/{place}", judged, layer) for place, one in enumerate(part.claims)]
    if part.kind == "not":
        return opposite(answers[0])
    return all_of(answers) if part.kind == "all_of" else any_of(answers)
