"""Which grids of two models are compared with each other."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from registry.query import SIDES, ModelComparisonQuery


@dataclass(frozen=True, slots=True)
class Pairing:
    """Which grids of two models are compared. `shared` has the benchmarks of both, each with the variants of its pairs
    of grids, the baseline's first: several where both models have several variants, none where they have no variant in
    common."""

    shared: Mapping[str, tuple[tuple[str, str], ...]]
    only_in_baseline: tuple[str, ...]
    only_in_contender: tuple[str, ...]

    @property
    def ambiguous(self) -> tuple[str, ...]:
        """Variants to choose from, where a benchmark has several pairs of grids; else nothing."""
        several = [pairs for pairs in self.shared.values() if len(pairs) > 1]
        return tuple(sorted({variant for pairs in several for variant, _ in pairs}))


def pairing(query: ModelComparisonQuery, grids: Iterable[tuple[str, str, str]]) -> Pairing:
    """The pairs among grids of a scope, each named by benchmark, model and variant without aliases."""
    held = [dict[str, set[str]](), dict[str, set[str]]()]
    sides = [(getattr(query, f"{side}_model"), getattr(query, f"{side}_variant")) for side in SIDES]
    for benchmark, model, variant in grids:
        for known, (wanted, of) in zip(held, sides, strict=True):
            if model == wanted and of in (None, variant):
                known.setdefault(benchmark, set()).add(variant)
    mine, theirs = held
    both = {name: itertools.product(sorted(mine[name]), sorted(theirs[name])) for name in sorted(mine.keys() & theirs)}
    chosen = query.baseline_variant is not None
    return Pairing(
        {name: tuple(pair for pair in pairs if chosen or pair[0] == pair[1]) for name, pairs in both.items()},
        tuple(sorted(mine.keys() - theirs)),
        tuple(sorted(theirs.keys() - mine)),
    )
