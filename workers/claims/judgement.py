"""The verdict on a whole claim: its statements in all groups and worlds, joined by Kleene's logic.

Every confidence set that a claim needs shares one alpha (Bonferroni over statements and groups, and within each as
`workers.claims.worlds` says). All of them hold together with a probability of 1 - alpha, and so does every verdict that
follows from them, however the statements are joined.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
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
from registry.claims.faults import MOST_GROUPS
from registry.grids.slices import kept_levels
from workers.claims.comparing import judge_compare, judge_effect
from workers.claims.courses import judge_stable, judge_step, judge_trend
from workers.claims.covering import judge_coverage
from workers.claims.facts import Facts
from workers.claims.looks import FIXED, Look
from workers.claims.orders import judge_extreme, judge_rank
from workers.claims.protocols import obstacle, put_together
from workers.claims.scene import Found, Reason, Scene, undecided
from workers.claims.sweet_spots import judge_sweet_spot
from workers.claims.values import MOVES, judge_cells, judge_lie, judge_value, quantified
from workers.claims.worlds import Declared, Joint, Noisy, Posted, World
from workers.statistics.comparison import other_scale
from workers.statistics.judging import Answer, all_of, any_of, opposite
from workers.statistics.terms import IntArray

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
    together: Sequence[tuple[int, ...]] = ()
    """The grids of each benchmark that it puts together, where nothing forbids it."""

    @property
    def free(self) -> bool:
        """Whether it is about cells that were not measured, too, which may have any value."""
        return _has_free(self.atom, self.facts, self.cells)


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
    look = _look(claim, facts, [cells for _, _, groups in divided for _, cells in groups])
    judge = _judge_group if work <= MOST_WORK else _leave_group
    judged = {
        pointer: [judge(pointer, atom, one, facts, (share, look)) for one in groups]
        for pointer, atom, groups in divided
    }
    answers = {layer: _joined(claim.says, "", judged, layer) for layer in LAYERS}
    groups = [one for several in judged.values() for one in several]
    return Judged(claim, answers, groups, ill_posed=False, facts=facts, share=share, look=look)


def _look(claim: Claim, facts: Facts, groups: Sequence[IntArray]) -> Look:
    """The look is the first one and one more for each revision of a grid after its first."""
    owners = np.unique(facts.owner[np.concatenate(groups)]).tolist() if groups else []
    return Look(claim.looks, 1 + sum(facts.sources[owner].revision - 1 for owner in owners))


def judge_again(judged: Judged, facts: Facts, turned: Callable[[World], World]) -> Answer:
    """The answer beyond noise by other facts of the same cells, in worlds that are made of the usual ones. What was not
    left open because of noise stays as it was."""
    found: dict[str, list[Group]] = {pointer: [] for pointer, _ in atoms_of(judged.claim.says)}
    for one in judged.groups:
        again = one
        if one.found["noise"].reason == "within_noise":
            world = turned(_noisy_world(one.atom, facts, one.cells, (judged.share, judged.look)))
            scene = Scene(facts, world, one.cells, judged.look.share_of(judged.share))
            again = replace(one, found={"noise": _found(one.atom, scene)})
        found[one.pointer].append(again)
    return _joined(judged.claim.says, "", found, "noise")


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
        without = {code for one in atom.except_ for code in kept_levels(levels, [one])}
        dimensions.append([(name, code) for code in dict.fromkeys(kept) if code not in without])
    if math.prod(map(len, dimensions)) > MOST_GROUPS:
        return
    for chosen in itertools.product(*dimensions):
        mine = cells
        for name, code in chosen:
            mine = mine[facts.column(name)[mine] == code]
        yield {name: facts.levels[name][code].label for name, code in chosen}, mine


def work_of(atom: Atom, groups: Sequence[IntArray]) -> int:
    """What it costs to judge a statement of these groups of cells."""
    is_cheap = isinstance(atom.says, _CHEAP) and not (isinstance(atom.says, Value) and atom.says.of in MOVES)
    return (1 if is_cheap else 10) * sum(int(cells.size) for cells in groups)


def _leave_group(
    pointer: str, atom: Atom, group: tuple[dict[str, str], IntArray], facts: Facts, _level: Level
) -> Group:
    """A group of a claim that is about too many cells."""
    return Group(pointer, atom, group[0], group[1], dict.fromkeys(LAYERS, undecided("too_large")), facts)


def _judge_group(pointer: str, atom: Atom, group: tuple[dict[str, str], IntArray], facts: Facts, level: Level) -> Group:
    levels, cells = group
    together = put_together(atom, facts, cells)
    if why := obstacle(facts, together):
        return Group(pointer, atom, levels, cells, dict.fromkeys(LAYERS, undecided("not_comparable", why)), facts)
    posted: World = Declared(facts) if atom.over == "declared" else Posted(facts)
    worlds: Mapping[Layer, tuple[World, bool]] = {
        "posted": (posted, True),
        "bare": (posted, False),
        "declared": (Declared(facts), True),
        "noise": (_noisy_world(atom, facts, cells, level), True),
    }
    alpha = level[1].share_of(level[0])
    found = {
        layer: _found(atom, Scene(facts, world, cells, alpha, rounded)) for layer, (world, rounded) in worlds.items()
    }
    if worlds["noise"][0].name == "joint" and found["noise"].reason == "within_noise" and found["posted"].reason:
        # Without any noise it would be left open as well.
        found["noise"] = replace(found["noise"], reason=found["posted"].reason)
    return Group(pointer, atom, levels, cells, found, facts, together)


def _noisy_world(atom: Atom, facts: Facts, cells: IntArray, level: Level) -> World:
    """What noise leaves possible, and beside it anything of the missing cells that a statement is about."""
    noise = Noisy(facts, level[0], cells, level[1])
    return Joint(noise) if _has_free(atom, facts, cells) else noise


def _has_free(atom: Atom, facts: Facts, cells: IntArray) -> bool:
    asked = atom.over == "declared" and atom.kind != "coverage"
    return asked and not bool(facts.present[cells].all())


def _found(atom: Atom, scene: Scene) -> Found:
    if not scene.declared.size:
        return undecided("not_published")
    owners = np.unique(scene.facts.owner[scene.declared]).tolist()
    metrics = {scene.facts.sources[owner].grid.metric for owner in owners}
    first, *others = metrics
    if atom.kind != "coverage" and any(other_scale(first, one) for one in others):
        return undecided("not_comparable")
    return _JUDGES[type(atom.says)](atom.says, scene)


def _joined(part: Part, pointer: str, judged: Mapping[str, Sequence[Group]], layer: Layer) -> Answer:
    if isinstance(part, Atom):
        return quantified(part.holds, [one.found[layer].answer for one in judged[pointer]])
    answers = [_joined(one, f"{pointer}/claims/{place}", judged, layer) for place, one in enumerate(part.claims)]
    if part.kind == "not":
        return opposite(answers[0])
    return all_of(answers) if part.kind == "all_of" else any_of(answers)
