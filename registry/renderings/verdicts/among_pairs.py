"""The verdict on two models beside the ranking that they were picked from."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from registry.renderings.numbers import p_value
from registry.renderings.policies import TARGETS, method
from registry.renderings.verdicts.estimate import Answer, Verdict, sentence
from registry.renderings.verdicts.ranking import of_measured, only_of, pair_of
from registry.renderings.verdicts.targets import separates, spoken, widest
from registry.renderings.words import isolated
from registry.results.comparison import ModelComparison
from registry.results.ranking import Ranking


def among_pairs(
    verdict: Verdict, document: ModelComparison, rankings: Sequence[Ranking], *, waits: bool = False
) -> Verdict:
    """The verdict on two models, which is shown only where the ranking of their selection separates them too, and for
    what its `rankings` by target show; else what was found of them by themselves, and what the ranking says. Without
    one it is not known, or `waits` says that it is being computed.

    Variants of one model keep their verdict: a ranking of models does not ask about them.
    """
    whole = document.whole
    if verdict.answer != "shown" or document.differs != ("model",) or whole is None:
        return verdict
    alone = f"As the only question asked (p {p_value(whole.p)}), {verdict.sentence.rstrip('.')}"
    if not rankings:
        known = "being computed" if waits else "not known"
        answer: Answer = "pending" if waits else "open"
        return _open(verdict, f"{alone}; whether the ranking of this selection separates them too is {known}", answer)
    ranking = of_measured(spoken(rankings))
    names, two = [row.name for row in ranking.ranking], (document.contender.model, document.baseline.model)
    absent = [isolated(name) for name in two if name not in names]
    if absent:
        return _open(verdict, f"{alone}; the ranking of this selection leaves out {' and '.join(absent)}")
    count = len(names) * (len(names) - 1) // 2
    where = f"among the {count:,} pairs of the ranking" if count > 1 else "in the ranking of these two"
    where += "".join(f", {word}" for word in _policy(ranking))
    listed = pair_of(ranking, *two)
    p = listed[0].p_holm if listed else None
    tested = f" (Holm p {p_value(p)})" if p is not None else ""
    if separates(ranking, two):
        verdict = replace(verdict, only=widest(only_of(one) for one in rankings if separates(one, two)))
        if count == 1 and not any(_policy(ranking)):
            return verdict  # the ranking of two asks the same question
        told = f"{where[0].upper()}{where[1:]}, it is shown too{tested}"
        return replace(verdict, more=(*verdict.more, sentence(told)))
    picked = ", from which it was picked" if count > 1 else ""
    left = "left open" if listed is None or p is not None else f"not tested: {listed[0].reason or 'no noise is known'}"
    return _open(verdict, f"{alone}; {where}{picked}, it is {left}{tested}")


def _open(verdict: Verdict, told: str, answer: Answer = "open") -> Verdict:
    return replace(verdict, answer=answer, sentence=sentence(told), only="")


def _policy(ranking: Ranking) -> Iterator[str]:
    """What of the ranking's question is not as usual."""
    if ranking.target in TARGETS and ranking.target != "rerun":
        yield f"for {TARGETS[ranking.target]}"
    if ranking.method not in ("", "mean_difference"):
        yield f"by {method(ranking.method)}"
    if ranking.missing not in ("", "matched"):
        yield f"missing cells: {method(ranking.missing)}"
