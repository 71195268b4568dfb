"""Say by which rules a ranking or a gate decides: methods, policies and targets in words; ranks under other ones."""

from collections.abc import Collection, Iterator, Sequence

from registry.renderings.numbers import UNDEFINED, p_value
from registry.renderings.sheet import Block, Heading, Lines
from registry.renderings.table import Column, Table
from registry.renderings.verdicts.estimate import Yardstick
from registry.renderings.words import counted, isolated, said
from registry.results.gates import Definition, Policy, PolicyKind, Reachable
from registry.results.pairs import Friedman, OtherRank, PolicyAgreement, PolicySensitivity
from registry.results.ranking import Ranking

MOST_NAMED = 100
"""Names up to which ranks are written out a second time, beside the order."""
_AUTHORS = {"bradley terry": "Bradley–Terry", "borda": "Borda"}
TARGETS = {
    "rerun": "these cells, run again",
    "new_questions": "other questions of these benchmarks",
    "new_benchmarks": "other benchmarks of this kind",
}
"""What a target says that the errors of a ranking are about."""
DRAWN = "these cells, as draws of such cells"
"""What the first of them is where the cells' own noise is unknown or not used."""


def policy_blocks(ranking: Ranking) -> Iterator[Block]:
    """One row a policy, one column a name in the order of the ranking; of many names only how far policies agree."""
    place = {row.name: number for number, row in enumerate(ranking.ranking) if row.rank is not None}
    known = [one for one in ranking.policy_sensitivity if one.name in place]
    found = sorted(known, key=lambda one: place[one.name])
    if not found or len(ranking.components) == len(ranking.ranking):
        return  # where each name is alone in its part, every policy gives rank 1
    yield Heading("Ranks under other policies", 2)
    yield _table(ranking, found)
    kept = sum(one.best == one.worst for one in found)
    yield Lines(
        (
            *(["tau: Kendall's agreement with the order that was asked for"] if ranking.stability.agreement else []),
            f"names that keep their rank under every policy: {kept} of {len(found)}",
        )
    )


def _table(ranking: Ranking, found: Sequence[PolicySensitivity]) -> Table:
    asked = _key(ranking)
    policies = list(dict.fromkeys([asked, *(_key(one) for entry in found for one in entry.ranks)]))
    agreement = {_key(one): one.tau for one in ranking.stability.agreement}
    columns = [Column("policy", [", ".join(map(method, policy)) for policy in policies])]
    if agreement:
        taus = [agreement.get(policy) for policy in policies]
        columns.append(Column("tau", ["" if tau is None else f"{tau:.2f}" for tau in taus], True))
    named = found if len(found) <= MOST_NAMED else ()  # a column a name: nobody reads hundreds
    for entry in named:
        ranks = {_key(one): one.rank for one in entry.ranks} | {asked: entry.rank}
        cells = [str(ranks.get(policy, UNDEFINED)) for policy in policies]
        columns.append(Column(entry.name, cells, True))
    return Table(columns, keys=len(columns) - len(named))


def _key(policy: Ranking | OtherRank | PolicyAgreement) -> tuple[str, str]:
    return policy.method, policy.missing


def method(name: str) -> str:
    """A method or a policy in plain writing."""
    return _AUTHORS.get(said(name), said(name))


def target(name: str, assumes: Collection[str] = ()) -> str:
    """Target that the errors of a ranking with these assumptions are about, in plain words."""
    words = TARGETS | ({"rerun": DRAWN} if "exchangeable_cells" in assumes else {})
    return f"{said(name)} ({words[name]})" if name in words else said(name)


def friedman_blocks(found: Friedman | None, group: str = "benchmark") -> Iterator[Block]:
    """Friedman's test of mean ranks; a complete benchmark, or what else `group` says, is a block."""
    if not found:
        return
    yield Heading("Friedman test", 2)
    if found.chi2 is None:
        yield found.reason or "not computed"
        return
    yield Lines(tuple(_friedman(found, found.chi2, group)))


def _friedman(found: Friedman, chi2: float, group: str) -> Iterator[str]:
    blocks = counted(found.blocks, group, f"{group}s")
    yield f"chi-squared {chi2:.4g} with {found.df} df, p {p_value(found.p)}, blocks: {blocks}"
    corrected, critical = found.iman_davenport, found.critical_difference
    if corrected and corrected.f is not None:
        yield f"Iman–Davenport F {corrected.f:.4g}, p {p_value(corrected.p)}"
    if found.exact_p is not None:
        yield f"exact p {p_value(found.exact_p)}"
    if critical:
        yield f"critical difference of mean ranks (Nemenyi): {critical.value:.3g}"


_PER = {"overall": "over all benchmarks", "benchmark": "on every benchmark", "cell": "in every cell"}
_OF_SOME = {"overall": "over", "benchmark": "on each of", "cell": "in every cell of"}
_MOST_BENCHMARKS = 5
"""Benchmarks that a sentence names one by one."""


def benchmarks_in_words(definition: Definition, suite: str) -> str:
    """The benchmarks that a baseline is of, by the `suite` that has exactly these if there is one; "" of all."""
    names = [isolated(one) for one in sorted(definition.benchmarks)]
    if suite:
        return f"the {counted(len(names), 'benchmark', 'benchmarks')} of the suite {isolated(suite)}"
    if len(names) > _MOST_BENCHMARKS:
        kept = _MOST_BENCHMARKS - 1
        names[kept:] = [f"{len(names) - kept:,} other benchmarks"]
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def subject_in_words(definition: Definition) -> str:
    """What contenders are judged against."""
    subject = definition.subject
    if subject.previous:
        order = "when they were published" if subject.along == "published" else f"the label {subject.along}"
        return f"the model before each, in the order of {order}"
    return subject.model or f"{len(subject.grids or ())} pinned revisions"


def policy_in_words(definition: Definition, yardstick: Yardstick, suite: str = "") -> Iterator[str]:
    """What a contender must show, sentence by sentence; `yardstick` is that of its metric, and `suite` has exactly its
    benchmarks."""
    policy, some = definition.policy, benchmarks_in_words(definition, suite)
    where = f"{_OF_SOME[policy.per]} {some}" if some else _PER[policy.per]
    yield f"A contender passes when it is shown {_shown(policy, yardstick)}, {where}."
    yield f"Each one-sided test has the level {100 * policy.alpha:g} %{_looks(policy)}."
    if policy.missing == "matched":
        share = f"{100 * policy.common_share:g} %"
        yield f"Cells that both have are judged, if they are at least {share} of the baseline's."
    else:
        yield "A contender that lacks a cell of the baseline is not comparable."
    if policy.confirm > 1:
        yield f"An alert is opened when {policy.confirm} verdicts on a contender fail, one after another."


def reach_in_words(kind: PolicyKind, reach: Reachable, yardstick: Yardstick) -> Iterator[str]:
    """What a contender can pass with: of a floor, and to improve, equal scores say nothing."""
    scores = "good enough" if kind in ("floor", "improves") else "the same"
    contender = f"A contender with {scores} scores and {'the same ' * (scores != 'the same')}trials"
    yield {
        True: f"{contender} can pass.",
        False: f"{contender} cannot be shown to pass.",
        None: "Whether a contender can pass was not computed: there are too many cells.",
    }[reach.can_pass]
    if (loss := reach.margin_shown_at_equal_scores) is not None:
        size = f"{float(f'{loss:.3g}'):,.10g}"
        yield f"At equal scores a loss of more than {yardstick.sized(size)} is excluded."
    if reach.trials_to_decide_margin is not None:
        trials = counted(reach.trials_to_decide_margin, "trial", "trials")
        yield f"With {trials} of a cell such a contender passes with probability 80 %."


def _shown(policy: Policy, yardstick: Yardstick) -> str:
    margin = f"{policy.margin:g}"
    amount = f"{margin} % of the baseline" if policy.margin_unit == "percent" else yardstick.sized(margin)
    match policy.kind:
        case "floor":
            unit, lower = yardstick.unit.replace("points", "%"), " (lower is better)" * (yardstick.sign < 0)
            return f"to reach {margin} {unit}".rstrip() + lower
        case "improves":
            return f"to be better by more than {amount}" if policy.margin else "to be better"
        case "equivalent":
            return f"to be neither better nor worse by more than {amount}"
        case _:
            return f"not to be worse by more than {amount}" if policy.margin else "not to be worse at all"


def _looks(policy: Policy) -> str:
    if policy.looks == "fixed":
        return ""
    return " over all stored verdicts of this version together, of which the k-th test has 6/(πk)² of it"
