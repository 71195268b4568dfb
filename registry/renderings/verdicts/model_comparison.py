"""The verdict on a comparison of two models by name."""

from __future__ import annotations

from registry.renderings.numbers import p_value
from registry.renderings.verdicts.estimate import Estimate, Yardstick, margin_words
from registry.renderings.verdicts.ranking import carried
from registry.renderings.verdicts.terms import Verdict, common_cells, joined, sentence, slice_words
from registry.renderings.words import counted, isolated
from registry.results.model_comparison import ComparedModel, ModelComparison, WholeGap

_TURNS = "; on other questions or benchmarks this could turn"
_ELSEWHERE = {
    None: _TURNS,
    True: "; it is shown for other benchmarks of the kind too",
    False: "; for other benchmarks of the kind it is not shown",
}


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
    return _judged(document, whole)


def names_of_models(document: ModelComparison) -> tuple[str, str]:
    """The contender and the baseline by the names that differ."""
    named = [_name(side, document.differs) for side in (document.contender, document.baseline)]
    return named[0], named[1]


def _name(side: ComparedModel, differs: tuple[str, ...]) -> str:
    return isolated(" · ".join(getattr(side, kind) or "no variant" for kind in differs or ("model",)))


def _judged(document: ModelComparison, whole: WholeGap) -> Verdict:
    yardstick = Yardstick.of(document.metric)
    p = whole.p if whole.status == "ok" else None
    size = Estimate(whole.difference or 0.0, whole.interval, p, whole.detectable, document.alpha).turned(yardstick.sign)
    contender, baseline = names_of_models(document)
    ahead = size.difference >= 0
    first, second = (contender, baseline) if ahead else (baseline, contender)
    found = size.turned(1 if ahead else -1)
    by, around, where = yardstick.sized(found.size), found.brackets(yardstick), _where(document, whole)
    if found.shown:
        small = f", less than the margin of {margin_words(yardstick)}" if found.is_within(yardstick.margin) else ""
        alone = carried(whole.without, yardstick, document.alpha, yardstick.sign * (1 if ahead else -1))
        elsewhere = _holds_elsewhere(document, whole)
        told = f"{first} is {yardstick.word} than {second} by {by}{around}{where}{small}{alone}{_ELSEWHERE[elsewhere]}"
        return Verdict("shown", sentence(told), only_here=not elsewhere)
    if found.is_within(yardstick.margin):
        told = f"{first} and {second} are equal within {margin_words(yardstick)}{where}: they differ by {by}{around}"
        return Verdict("absent", sentence(told + _TURNS))
    size_ = f"{first} is {by} {yardstick.word}{around}{where}" if found.difference else f"no difference{around}{where}"
    seen = found.could_show(yardstick, trials=whole.test == "mantel_haenszel")
    told = f"Whether {contender} or {baseline} is {yardstick.word} cannot be told: {size_}"
    return Verdict("open", sentence(told + (f"; {seen}" if seen else "")))


def _by_wins(document: ModelComparison, whole: WholeGap) -> Verdict:
    """Values on several scales have no difference: who wins more slots."""
    contender, baseline = names_of_models(document)
    record = f"{contender} wins {whole.wins:,}, ties {whole.ties:,} and loses {whole.losses:,}{_where(document, whole)}"
    if whole.status == "ok" and whole.p is not None and whole.p < document.alpha:
        ahead, sign = (contender, 1) if (whole.lead or 0.0) > 0 else (baseline, -1)
        alone = carried(whole.without, Yardstick(), document.alpha, sign)
        behind = baseline if ahead == contender else contender
        told = f"{ahead} is ahead of {behind}: {record} (p {p_value(whole.p)}){alone}{_TURNS}"
        return Verdict("shown", sentence(told), only_here=True)
    why = f"; {whole.reason}" if whole.status != "ok" and whole.reason else ""
    return Verdict("open", sentence(f"Whether {contender} or {baseline} is ahead cannot be told: {record}{why}"))


def _where(document: ModelComparison, whole: WholeGap) -> str:
    of = counted(whole.benchmarks, "benchmark", "benchmarks") if whole.benchmarks > 1 else ""
    return f"{slice_words(document.slice, document.suite)} {common_cells(whole.n_common, whole.n_common, of)}"


def _holds_elsewhere(document: ModelComparison, whole: WholeGap) -> bool | None:
    """Whether the difference is shown for other benchmarks of the kind; None where that was not tested."""
    other = whole.new_benchmarks
    if other is None or other.interval is None or whole.benchmarks < 2:
        return None
    return other.status == "ok" and other.p is not None and other.p < document.alpha
