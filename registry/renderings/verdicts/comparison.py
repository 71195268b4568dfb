"""The verdict on a comparison of two grids."""

from __future__ import annotations

from collections.abc import Iterator

from registry.renderings.verdicts.estimate import Estimate, Yardstick, margin_words
from registry.renderings.verdicts.terms import Verdict, common_cells, joined, sentence, slice_words
from registry.renderings.words import isolated, label
from registry.results.comparison import ComparedGrid, Comparison
from registry.results.gaps import GapMargin, GapTest, LevelGap

_OF_TRIALS = ("mantel_haenszel", "pooled_z", "cochran_mantel_haenszel", "fisher")


def comparison_verdict(document: Comparison) -> Verdict:
    """Which grid is better, by how much and how surely; that they are as good, or what would have been found."""
    contender, baseline = names_of_sides(document)
    test = document.test
    found = _estimate(document, test) if test else None
    if document.status == "confounded":
        return Verdict("none", _confounded(document, found))
    if document.status != "ok":
        return Verdict("none", sentence(f"{contender} and {baseline} cannot be compared: {document.reason}"))
    if test is None or found is None:
        reason = (test.reason if test else None) or "nothing was tested"
        return Verdict("open", sentence(f"{_not_told(document)}: {reason}"))
    return _judged(document, test, found)


def names_of_sides(document: Comparison) -> tuple[str, str]:
    """The contender and the baseline by the names that differ; by all of them where none does."""
    mine, theirs = _names(document.contender), _names(document.baseline)
    told = [pair for pair in zip(mine, theirs, strict=True) if pair[0] != pair[1]]
    if not told:
        name = " · ".join(filter(None, mine))
        return f"{name} (revision {document.contender.revision})", f"revision {document.baseline.revision}"
    one, other = (isolated(" · ".join(name or "no variant" for name in side)) for side in zip(*told, strict=True))
    return one, other


def _names(side: ComparedGrid) -> tuple[str, str, str]:
    return side.benchmark, side.model, side.variant


def _estimate(document: Comparison, test: GapTest) -> Estimate | None:
    """The test's estimate, positive where the contender is better; None without one."""
    if test.difference is None:
        return None
    p = test.p if test.status == "ok" else None
    found = Estimate(test.difference, test.interval, p, test.detectable, document.alpha)
    return found.turned(Yardstick.of(document.baseline.metric).sign)


def _judged(document: Comparison, test: GapTest, found: Estimate) -> Verdict:
    yardstick = Yardstick.of(document.baseline.metric)
    contender, baseline = names_of_sides(document)
    first, second = (contender, baseline) if found.difference >= 0 else (baseline, contender)
    ahead = found.turned(1 if found.difference >= 0 else -1)
    where = f"{slice_words(document.slice)} {_where(document)}"
    around = ahead.brackets(yardstick)
    by = yardstick.sized(ahead.size)
    more = tuple(_levels(document))
    if ahead.shown:
        small = f", less than the margin of {margin_words(yardstick)}" if ahead.is_within(yardstick.margin) else ""
        told = f"{_compared(document, first, second)} by {by}{around}{where}{small}"
        return Verdict("shown", sentence(told + _otherwise(document)), more)
    if ahead.is_within(yardstick.margin):
        told = f"{first} and {second} are equal within {margin_words(yardstick)}{where}: they differ by {by}{around}"
        return Verdict("absent", sentence(told + _otherwise(document)), more)
    sizes = f"{first} is {by} {yardstick.word}{around}{where}" if ahead.difference else f"no difference{around}{where}"
    why = f" {_capital(test.reason)}." if test.status != "ok" and test.reason else ""
    seen = ahead.could_show(yardstick, trials=test.name in _OF_TRIALS)
    told = f"{_not_told(document)}: {sizes}" + (f"; {seen}" if seen else "")
    return Verdict("open", sentence(told) + why, more)


def _compared(document: Comparison, first: str, second: str) -> str:
    """That the first is better than the second; benchmarks are no contestants, results on them are."""
    word = Yardstick.of(document.baseline.metric).word
    if document.differs == ("benchmark",):
        return f"{isolated(document.baseline.model)} is {word} on {first} than on {second}"
    return f"{first} is {word} than {second}"


def _otherwise(document: Comparison) -> str:
    """How far the claim reaches: to these very cells, or to other items like these where they are known."""
    if document.differs == ("benchmark",):
        return ""
    others = "benchmarks" if document.items and document.items.paired else "questions or benchmarks"
    return f"; on other {others} this could turn"


def _capital(text: str) -> str:
    return f"{text[0].upper()}{text[1:].rstrip('.')}"


def _not_told(document: Comparison) -> str:
    """The beginning of an answer that leaves it open."""
    contender, baseline = names_of_sides(document)
    word = Yardstick.of(document.baseline.metric).word
    return f"Whether {contender} or {baseline} is {word} cannot be told"


def _where(document: Comparison) -> str:
    """The cells that both grids have, of all that either has, and the benchmark if it is one."""
    total = document.n_common + document.only_in_baseline.count + document.only_in_contender.count
    baseline, contender = document.baseline.benchmark, document.contender.benchmark
    return common_cells(document.n_common, total, isolated(baseline) if baseline == contender else "")


def _confounded(document: Comparison, found: Estimate | None) -> str:
    """That nobody can say what a difference comes from, and then the difference."""
    differs = joined(document.differs)
    told = f"Confounded: these grids differ in {differs}, so a difference cannot be laid to one of these alone"
    if found is None or document.baseline.metric.get("name") != document.contender.metric.get("name"):
        return sentence(told)
    contender, baseline = names_of_sides(document)
    first, second = (contender, baseline) if found.difference >= 0 else (baseline, contender)
    ahead, yardstick = found.turned(1 if found.difference >= 0 else -1), Yardstick.of(document.baseline.metric)
    size = f"{first} measured {yardstick.sized(ahead.size)} {yardstick.word} than {second}{ahead.brackets(yardstick)}"
    return sentence(f"{told}; {size}{slice_words(document.slice)} {_where(document)}")


def _levels(document: Comparison) -> Iterator[str]:
    """The levels of each axis at which the difference is shown by itself."""
    yardstick = Yardstick.of(document.baseline.metric)
    for axis, margin in (document.by or {}).items():
        shown = [one for one in margin.levels if _is_shown(one, document.alpha)]
        if shown:
            yield from _level_lines(document, axis, margin, shown, yardstick)


def _level_lines(
    document: Comparison, axis: str, margin: GapMargin, shown: list[LevelGap], yardstick: Yardstick
) -> Iterator[str]:
    sides = dict(zip((1, -1), names_of_sides(document), strict=True))
    tested = sum(one.test is not None and one.test.p_holm is not None for one in margin.levels)
    for sign, name in sides.items():
        here = [one for one in shown if _difference(one) * sign * yardstick.sign > 0]
        if here:
            levels = joined([label(one.level) for one in here], 6)
            shown_at = f"{name} is shown to be {yardstick.word} at {levels}"
            yield f"By {isolated(axis)}, {shown_at} (Holm over {tested} levels)."


def _difference(one: LevelGap) -> float:
    return (one.test.difference if one.test else None) or 0.0


def _is_shown(one: LevelGap, alpha: float) -> bool:
    test = one.test
    return test is not None and test.status == "ok" and test.p_holm is not None and test.p_holm < alpha
