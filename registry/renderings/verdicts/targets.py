"""The one verdict on a question over its targets, from these cells run again to other benchmarks: overviews, results
and comparisons tell the same."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from registry.renderings.verdicts.estimate import Only, Verdict, sentence
from registry.renderings.verdicts.ranking import is_tested, of_measured, only_of, pair_of, ranking_verdict
from registry.results.ranking import Ranking

_WIDTH: tuple[Only, ...] = ("", "benchmarks", "cells")
"""What is shown, from the widest claim to the narrowest."""
_ABOUT: Mapping[Only, str] = {
    "": "this is about other benchmarks of the kind",
    "benchmarks": "this is about other questions of these benchmarks",
    "cells": "this is about these cells, run again",
}
"""What is said of a verdict on another target than the one that was asked for, unless its words say so."""
_WIDER: Mapping[Only, str] = {
    "": "this is shown for other benchmarks of the kind too",
    "benchmarks": "this is shown for other questions of these benchmarks too",
}
"""What is said of a difference of a narrower target that a wider one shows too."""


@dataclass(frozen=True, slots=True)
class OfTarget:
    """What a ranking says of its own target; `bare` leaves out what it is about, for a page that says it beside."""

    verdict: Verdict
    bare: Verdict
    about: Only
    tested: bool


def of_target(ranking: Ranking) -> OfTarget:
    """What a verdict over several targets needs of the ranking of one."""
    return OfTarget(
        ranking_verdict(ranking), ranking_verdict(ranking, alone=False), only_of(ranking), is_tested(ranking)
    )


def verdict_of_targets(told: Sequence[OfTarget], *, alone: bool = False) -> Verdict:
    """The verdict of that which speaks, shown for no more than the widest of them shows. They are that which was asked
    for, and then the others from the narrowest on, as far as they are computed. Unless it stands `alone`, the page says
    what that which was asked for is about, before the others are there too."""
    place = speaking(told)
    own, is_told_beside = told[place], not place and not alone
    if own.verdict.answer != "shown":
        about = f"{own.verdict.sentence.rstrip('.')}; {_ABOUT[own.about]}"
        return own.bare if is_told_beside else replace(own.verdict, sentence=sentence(about)) if place else own.verdict
    only = widest(one.about for one in told if one.verdict.answer == "shown")
    if is_told_beside:
        return replace(own.bare, only=only)
    if only == own.about:
        return replace(own.verdict, only=only)
    return replace(own.bare, sentence=sentence(f"{own.bare.sentence.rstrip('.')}; {_WIDER[only]}"), only=only)


def verdict_alone(ranking: Ranking, others: Iterable[Ranking] = ()) -> Verdict:
    """The verdict over the targets where nothing beside it says what it is about: `others` are the rankings of the
    other targets, from the narrowest on, as far as they are computed."""
    return verdict_of_targets([of_target(one) for one in (ranking, *others)], alone=True)


def speaking(told: Sequence[OfTarget]) -> int:
    """The place of the first of these; where that is about the cells, which is the usual one, and nothing was tested of
    them, that of the narrowest wider one that was. Who asked for a wider one is told of that."""
    return next((i for i, one in enumerate(told) if one.tested), 0) if told[0].about == "cells" else 0


def spoken(rankings: Iterable[Ranking]) -> Ranking:
    """The ranking that speaks, of those of a question by target."""
    found = [*rankings]
    return found[speaking([of_target(one) for one in found])]


def widest(shown: Iterable[Only]) -> Only:
    """What the widest of these claims that are shown is about alone."""
    return min(shown, key=_WIDTH.index)


def of_pair(ranking: Ranking, two: Sequence[str]) -> Ranking | None:
    """What a ranking says of two of its names alone, as strictly as of all of them; None where it
    does not list them."""
    ranking = of_measured(ranking)
    rows = tuple(row for row in ranking.ranking if row.name in two)
    listed = pair_of(ranking, *two)
    return replace(ranking, ranking=rows, pairs=(listed[0],), components=()) if listed and len(rows) == 2 else None


def separates(ranking: Ranking, two: Sequence[str]) -> bool:
    """Whether the tests separate two names: by their pair, or where there are too many to list all, by the groups."""
    if listed := pair_of(ranking, *two):
        pair = listed[0]
        return pair.status == "ok" and pair.p_holm is not None and pair.p_holm < ranking.alpha
    names = {name for group in ranking.groups for name in group}
    return names.issuperset(two) and not any({*two} <= {*group} for group in ranking.groups)
