"""The verdicts on a comparison of two grids, and of two models."""

from collections.abc import Iterator

from registry.renderings.numbers import p_value
from registry.renderings.verdicts.estimate import (
    Estimate,
    Verdict,
    Yardstick,
    common_cells,
    joined,
    margin_words,
    sentence,
    slice_words,
)
from registry.renderings.verdicts.without_one import carried
from registry.renderings.words import counted, isolated, label
from registry.results.comparison import (
    ComparedGrid,
    ComparedModel,
    Comparison,
    GapMargin,
    GapTest,
    LevelGap,
    ModelComparison,
    WholeGap,
)
from registry.results.pairs import Pair

_OF_OTHERS = "; this is about other {} of the kind, for the noise of these is not known"


def comparison_verdict(document: Comparison) -> Verdict:
    """Which grid is better, by how much and how surely; that they are as good, or what would have been found."""
    contender, baseline = names_of_sides(document)
    test = document.test
    found = _estimate(document, test) if test else None
    if document.status == "confounded":
        return Verdict("none", _confounded(document, found))
    if (document.baseline.grid, document.baseline.revision) == (document.contender.grid, document.contender.revision):
        return Verdict("none", "Both are the same revision of one grid: there is nothing to compare.")
    if document.status != "ok":
        return Verdict("none", sentence(f"{contender} and {baseline} cannot be compared: {document.reason}"))
    if test is None or found is None:
        reason = (test.reason if test else None) or "nothing was tested"
        return Verdict("open", sentence(f"{_not_told(document)}: {reason}"))
    return _judged(document, test, found)


def names_of_sides(document: Comparison) -> tuple[str, str]:
    """The contender and the baseline by the names that differ, or by what was measured; by all names where nothing
    does."""
    sides = document.contender, document.baseline
    for names in (_names, _measures):
        if told := [pair for pair in zip(*map(names, sides), strict=True) if pair[0] != pair[1]]:
            one, other = (isolated(" · ".join(name or "(none)" for name in side)) for side in zip(*told, strict=True))
            return one, other
    name = " · ".join(filter(None, _names(document.contender)))
    return f"{name} ({state_of_side(document.contender)})", state_of_side(document.baseline)


def state_of_side(side: ComparedGrid) -> str:
    """Which state of a grid a side is."""
    return f"revision {side.revision}" if side.grid else "not published"


def _names(side: ComparedGrid) -> tuple[str, str, str]:
    return side.benchmark, side.model, side.variant


def _measures(side: ComparedGrid) -> tuple[str, str]:
    return side.experiment, side.metric.get("name", "")


def _estimate(document: Comparison, test: GapTest) -> Estimate | None:
    """The test's estimate, positive where the contender is better; None without one."""
    if test.difference is None:
        return None
    p = test.p if test.status == "ok" else None
    found = Estimate(test.difference, test.interval, p, test.detectable, document.alpha, test.stderr)
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
        mean = " on average" if document.n_common > 1 else ""
        told = (
            f"{first} and {second} are equal{mean} within {margin_words(yardstick)}{where}: they differ by {by}{around}"
        )
        return Verdict("absent", sentence(told + _otherwise(document)), more)
    sizes = f"{first} is {by} {yardstick.word}{around}{where}" if ahead.difference else f"no difference{around}{where}"
    why = f" {_capital(test.reason)}." if test.status != "ok" and test.reason else ""
    seen = ahead.could_show(yardstick, trials=test.name == "score")
    told = f"{_not_told(document)}: {sizes}" + (f"; {seen}" if seen else "")
    about = _otherwise(document) if test.name == "t_over_cells" and seen else ""
    return Verdict("open", sentence(told + about) + why, more)


def _compared(document: Comparison, first: str, second: str) -> str:
    """That the first is better than the second; benchmarks are no contestants, results on them are."""
    word = Yardstick.of(document.baseline.metric).word
    if document.differs == ("benchmark",):
        return f"{isolated(document.baseline.model)} is {word} on {first} than on {second}"
    return f"{first} is {word} than {second}"


def _otherwise(document: Comparison) -> str:
    """How far the claim reaches: to these very cells, or to other items like these where they are known."""
    if document.test is not None and document.test.name == "t_over_cells":
        return _OF_OTHERS.format("cells")
    if document.differs == ("benchmark",):
        return ""
    others = "benchmarks" if document.items and document.items.paired else "questions or benchmarks"
    return f"; this is of these two grids alone: on other {others} it could turn"


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
            holm = f" (Holm over {tested} levels)" if tested > 1 else ""
            yield f"{name} is shown to be {yardstick.word} at {isolated(axis)} {levels}{holm}."


def _difference(one: LevelGap) -> float:
    return (one.test.difference if one.test else None) or 0.0


def _is_shown(one: LevelGap, alpha: float) -> bool:
    test = one.test
    return test is not None and test.status == "ok" and test.p_holm is not None and test.p_holm < alpha


_TURNS = "; this is about these cells, run again"
_ELSEWHERE = {
    None: _TURNS,
    True: "; of these two by themselves it is shown for other benchmarks of the kind too",
    False: "; for other benchmarks of the kind it is not shown",
}
_TOGETHER = (
    "; taken together as a sample of others of the kind, the {:,} benchmarks show it too, of these two by themselves"
)
"""Where a benchmark less leaves it open, which is no word against that."""


def model_comparison_verdict(document: ModelComparison) -> Verdict:
    """Which model is better over all benchmarks, by how much and how surely, and whether one benchmark carries that;
    that they are as good, or what would have been found."""
    contender, baseline = names_of_models(document)
    whole = document.whole
    if whole is None or document.status not in ("ok", "confounded") or not whole.n_common:
        reason = document.reason or (whole.reason if whole else None) or "they share no cell"
        return Verdict("none", sentence(f"{contender} and {baseline} cannot be compared: {reason}"))
    if document.status == "confounded":
        differs = joined(document.differs)
        told = (
            f"Confounded: {contender} and {baseline} differ in {differs}, so a difference cannot be laid to one alone"
        )
        return Verdict("none", sentence(told))
    if whole.difference is None:
        return _by_wins(document, whole)
    return _judged_pair(document, whole)


def names_of_models(document: ModelComparison) -> tuple[str, str]:
    """The contender and the baseline by the names that differ."""
    named = [_name(side, document.differs) for side in (document.contender, document.baseline)]
    return named[0], named[1]


def _name(side: ComparedModel, differs: tuple[str, ...]) -> str:
    return isolated(" · ".join(getattr(side, kind) or "(none)" for kind in differs or ("model",)))


def _judged_pair(document: ModelComparison, whole: WholeGap) -> Verdict:
    yardstick, others = Yardstick.of(document.metric), whole.new_benchmarks
    other = next((one for one in (others, _over_cells(document)) if one and one.interval), None)
    pair: Pair | GapTest = other if whole.interval is None and other else whole
    only_others = "" if pair is whole else _OF_OTHERS.format("benchmarks" if pair is others else "cells")
    p = pair.p if pair.status == "ok" else None
    size = Estimate(pair.difference or 0.0, pair.interval, p, pair.detectable, document.alpha, pair.stderr)
    size = size.turned(yardstick.sign)
    contender, baseline = names_of_models(document)
    ahead = size.difference >= 0
    first, second = (contender, baseline) if ahead else (baseline, contender)
    found = size.turned(1 if ahead else -1)
    by, around, where = yardstick.sized(found.size), found.brackets(yardstick), _over(document, whole)
    if found.shown:
        small = f", less than the margin of {margin_words(yardstick)}" if found.is_within(yardstick.margin) else ""
        alone = carried(whole.without, yardstick, document.alpha, yardstick.sign * (1 if ahead else -1))
        elsewhere = _holds_elsewhere(document, whole)
        reach = _TOGETHER.format(whole.benchmarks) if alone and elsewhere else _ELSEWHERE[elsewhere]
        about = only_others or f"{alone}{reach}"
        told = f"{first} is {yardstick.word} than {second} by {by}{around}{where}{small}{about}"
        return Verdict("shown", sentence(told), tuple(_opposite(document, whole)), only="" if elsewhere else "cells")
    if found.is_within(yardstick.margin):
        mean = " on average" if whole.n_common > 1 else ""
        told = (
            f"{first} and {second} are equal{mean} within {margin_words(yardstick)}{where}: they differ by {by}{around}"
        )
        about = only_others or _TURNS
        return Verdict("absent", sentence(told + about), tuple(_apart(document, whole)))
    size_ = f"{first} is {by} {yardstick.word}{around}{where}" if found.difference else f"no difference{around}{where}"
    seen = found.could_show(yardstick, trials=whole.test == "score", of=" for this comparison alone")
    told = f"Whether {contender} or {baseline} is {yardstick.word} cannot be told: {size_}"
    told += f"; {seen}" if seen else "" if pair.interval else f"; {whole.reason}"
    return Verdict("open", sentence(told + only_others), tuple(_apart(document, whole)))


def _over_cells(document: ModelComparison) -> GapTest | None:
    """The test of one benchmark alone: that of its two grids."""
    return document.by_benchmark[0].test if len(document.by_benchmark) == 1 else None


def _apart(document: ModelComparison, whole: WholeGap) -> Iterator[str]:
    """That the difference is not the same on all benchmarks, where that is shown: no word about all holds for each."""
    found = whole.heterogeneity
    if found and found.p is not None and found.p < document.alpha:
        named = "Cochran's Q" if found.test == "cochran_q" else "Brown and Forsythe's F"
        yield f"The difference is not the same on all benchmarks ({named}, p {p_value(found.p)})."
    yield from _opposite(document, whole)


def _opposite(document: ModelComparison, whole: WholeGap) -> Iterator[str]:
    """On which benchmarks each of the two is shown to be better, where both are on some."""
    if not (whole.significant_wins and whole.significant_losses):
        return
    yardstick = Yardstick.of(document.metric)
    shown = [
        (one.benchmark, yardstick.sign * (one.test.difference or 0.0))
        for one in document.by_benchmark
        if one.test and one.test.p_holm is not None and one.test.p_holm < document.alpha
    ]
    sides = ([name for name, size in shown if size * way > 0] for way in (1, -1))
    told = [f"{side} on {joined(on)}" for side, on in zip(names_of_models(document), sides, strict=True) if on]
    yield f"Shown to be {yardstick.word} (Holm over the benchmarks): {'; '.join(told)}."


def _by_wins(document: ModelComparison, whole: WholeGap) -> Verdict:
    """Values on several scales have no difference: who wins more slots."""
    contender, baseline = names_of_models(document)
    record = f"{contender} wins {whole.wins:,}, ties {whole.ties:,} and loses {whole.losses:,}{_over(document, whole)}"
    if whole.status == "ok" and whole.p is not None and whole.p < document.alpha:
        ahead, sign = (contender, 1) if (whole.lead or 0.0) > 0 else (baseline, -1)
        alone = carried(whole.without, Yardstick(), document.alpha, sign)
        behind = baseline if ahead == contender else contender
        told = f"{ahead} is ahead of {behind}: {record} (p {p_value(whole.p)}){alone}{_TURNS}"
        return Verdict("shown", sentence(told), only="cells")
    why = f"; {whole.reason}" if whole.status != "ok" and whole.reason else ""
    return Verdict("open", sentence(f"Whether {contender} or {baseline} is ahead cannot be told: {record}{why}"))


def _over(document: ModelComparison, whole: WholeGap) -> str:
    of = counted(whole.benchmarks, "benchmark", "benchmarks") if whole.benchmarks > 1 else ""
    return f"{slice_words(document.slice, document.suite)} {common_cells(whole.n_common, whole.n_common, of)}"


def _holds_elsewhere(document: ModelComparison, whole: WholeGap) -> bool | None:
    """Whether the difference is shown for other benchmarks of the kind; None where that was not tested."""
    other = whole.new_benchmarks
    if other is None or other.interval is None or whole.benchmarks < 2:
        return None
    return other.status == "ok" and other.p is not None and other.p < document.alpha
