"""Verdicts: every status has its sentence, and every number of a sentence is one of the document."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from scipy import stats

from registry.renderings import comparison, ranking
from registry.renderings.charts.forest import forest_of_ranking
from registry.renderings.numbers import count_of, interval_of, student
from registry.renderings.sheet import markdown, text
from registry.renderings.verdicts.comparison import comparison_verdict
from registry.renderings.verdicts.estimate import Verdict
from registry.renderings.verdicts.grid import counts_note, grid_verdict
from registry.renderings.verdicts.ranking import ranking_verdict, short_verdict
from registry.renderings.verdicts.targets import of_target, verdict_of_targets
from registry.results.codec import from_document
from registry.results.comparison import Comparison
from registry.results.grid import GridDocument
from registry.results.ranking import Ranking
from registry.results.statistics import Statistics
from registry.selection import Selection

pytestmark = pytest.mark.unit

ACCURACY = {"name": "accuracy", "unit": "%", "direction": "higher", "lower": 0.0, "upper": 100.0}
LOSS = {"name": "loss", "unit": None, "direction": "lower", "lower": None, "upper": None}
SIZE = {"name": "size", "unit": "MB", "direction": None, "lower": None, "upper": None}
SAID = {"80", "95"}
"""The power and the level, which every document has."""


def numbers(found: Any) -> Iterator[float]:
    """Every number of a document."""
    if isinstance(found, Mapping):
        for value in found.values():
            yield from numbers(value)
    elif isinstance(found, Sequence) and not isinstance(found, str):
        for value in found:
            yield from numbers(value)
    elif isinstance(found, (int, float)) and not isinstance(found, bool):
        yield found


def unfounded(verdict: Verdict, document: Any, *computed: float) -> list[str]:
    """The numbers of a verdict that, rounded as they are, are none of the document and none that is computed."""
    known = [*numbers(document), 2.0, *computed]  # 2: the margin, in points and in per cent of the range
    named = re.sub(r"\b[A-Z]+\d+\b|R1-\w+", "", " ".join((verdict.sentence, *verdict.more)))
    tokens = {one.replace(",", "") for one in re.findall(r"\d[\d,]*(?:\.\d+)?", named)} - SAID
    return [
        one
        for one in sorted(tokens)
        if not any(round(abs(value), len(one.partition(".")[2])) == float(one) for value in known)
    ]


def told(verdict: Verdict) -> str:
    return "\n".join((f"{verdict.answer}: {verdict.sentence}", *verdict.more))


def side(number: int, metric: dict[str, Any] = ACCURACY, **names: str) -> dict[str, Any]:
    known = {"experiment": "e", "benchmark": "Core", "model": "old", "variant": ""}
    return {"grid": f"{number}", "revision": number, "digest": "", "metric": metric} | known | names


def gap(difference: float | None, low: float, high: float, p: float, **more: Any) -> dict[str, Any]:
    test = {"status": "ok", "name": "score", "difference": difference, "p": p, "detectable": 1.4}
    return test | turned(low, high) | {"stderr": (high - low) / 2 / 1.96} | more


def times(size: float, p: float, stderr: float) -> Any:
    """Multiples of the trials by the closed form of plans: the score test rejects by the error that its p has."""
    return ((stats.norm.ppf(0.975) * size / stats.norm.isf(p / 2) + stats.norm.ppf(0.8) * stderr) / size) ** 2


def turned(low: float, high: float) -> dict[str, Any]:
    return {"interval": {"level": 0.95, "low": low, "high": high}}


def compared(test: dict[str, Any] | None, metric: dict[str, Any] = ACCURACY, **more: Any) -> dict[str, Any]:
    return {
        "status": "ok", "alpha": 0.05, "differs": ["model"], "n_common": 32, "only_in_baseline": {"count": 8, "at": []},
        "only_in_contender": {"count": 40, "at": []}, "mean": 1.0, "test": test,
        "baseline": side(1, metric), "contender": side(2, metric, model="new"),
    } | more  # fmt: skip


SHOWN = gap(1.94, 0.62, 3.14, 0.003)
WITHIN = gap(0.21, -0.52, 0.94, 0.57)
OPEN = gap(0.94, -1.43, 3.3, 0.437, detectable=3.4)
FEW_SIGNS = "no signs of these differences have a p below 0.05"
TOO_FEW = gap(3.0, -1.0, 7.0, 0.25, status="insufficient", reason=FEW_SIGNS, detectable=None)
LEVELS = [
    {"status": "ok", "n_common": 4, "test": gap(5.0, 1.0, 9.0, 0.001, p_holm=0.002), "level": 64000},
    {"status": "ok", "n_common": 4, "test": gap(-0.2, -2.0, 1.6, 0.8, p_holm=0.8), "level": 128000},
]
COMPARISONS = {
    "a difference has its size, interval, cells and reach": compared(SHOWN),
    "the better one comes first, whichever was the contender": compared(gap(-1.94, -3.14, -0.62, 0.003)),
    "less is better, and the contender has less": compared(gap(-0.12, -0.2, -0.04, 0.003), LOSS),
    "less is better, and the contender has more": compared(gap(0.12, 0.04, 0.2, 0.003), LOSS),
    "a metric without a better end has a higher one in its unit": compared(gap(12.0, 4.0, 20.0, 0.003), SIZE),
    "equal within the margin: 2 % of the range of 100 are 2 points": compared(WITHIN),
    "without a range there is no margin, and so no absence": compared(WITHIN, LOSS),
    "a difference within the margin is small": compared(gap(0.91, 0.32, 1.5, 0.003)),
    "what would have been found, and what it takes as a plan says": compared(OPEN),
    "without trials none are asked for": compared(OPEN | {"name": "t_over_cells"}),
    "too few cells": compared(TOO_FEW),
    "confounded": compared(
        SHOWN, status="confounded", reason="…", differs=["model", "benchmark"],
        contender=side(2, model="new", benchmark="Side"),
    ),
    "one model on two benchmarks": compared(
        gap(42.1, 40.1, 44.2, 1e-9), differs=["benchmark"], contender=side(2, benchmark="Side")
    ),
    "a slice, and the levels that differ by themselves": compared(
        SHOWN, slice={"Context": [">=64000"]}, by={"Context": {"levels": LEVELS, "left_out": 0}}
    ),
    "of one name and two metrics these are told": compared(
        None, status="undefined", reason="…", differs=[], n_common=1,
        baseline=side(1), contender=side(2, LOSS),
    ),
    "no number becomes zero by rounding": compared(gap(1.98, 0.04, 3.92, 0.045)),
} | {
    status: compared(None, status=status, reason="no coordinate was measured in both", n_common=0)
    for status in ("not_comparable", "undefined", "insufficient")
}  # fmt: skip
COMPUTED = {
    "without a range there is no margin, and so no absence": times(0.21, 0.57, 1.46 / 3.92),
    "what would have been found, and what it takes as a plan says": times(0.94, 0.437, 4.73 / 3.92),
    "too few cells": 0.05,
    "a slice, and the levels that differ by themselves": 64000,
}


def test_a_comparison_is_judged_in_a_sentence(subtests, snapshot) -> None:
    for name, document in COMPARISONS.items():
        with subtests.test(msg=name):
            found = comparison_verdict(from_document(Comparison, document))
            union = sum(document[part]["count"] for part in ("only_in_baseline", "only_in_contender"))
            assert told(found) == snapshot(name=name)
            assert unfounded(found, document, document["n_common"] + union, COMPUTED.get(name, 2.0)) == []


def pair(a: str, b: str, difference: float | None, **more: Any) -> dict[str, Any]:
    counts = {"status": "ok", "n_common": 32, "benchmarks": 4, "wins": 24, "ties": 1, "losses": 7, "lead": 0.5}
    tested = turned(0.6, 3.66) | {"p": 0.006, "p_holm": 0.006, "detectable": 2.18}
    known = {"a": a, "b": b, "target": "rerun", "estimand": "difference", "difference": difference}
    return known | counts | tested | {"test": "score"} | more


def row(rank: int, name: str, low: int, high: int, group: str) -> dict[str, Any]:
    record = {"cells": 80, "wins": 24, "ties": 1, "losses": 7, "score": 0.0, "component": 0}
    return {"rank": rank, "name": name, "rank_low": low, "rank_high": high, "group": list(group)} | record


def ranked(rows: list[dict[str, Any]], pairs: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    groups: dict[str, list[str]] = {}
    for one in rows:
        for letter in one["group"]:
            groups.setdefault(letter, []).append(one["name"])
    return {
        "by": "model", "status": "ok", "method": "mean_difference", "missing": "matched", "alpha": 0.05,
        "target": "rerun", "benchmarks": ["AMC23", "GPQA"], "slots": {"total": 80, "compared": 32},
        "scale": {name: ACCURACY[name] for name in ("unit", "direction", "lower", "upper")}, "ranking": rows,
        "pairs": pairs, "groups": list(groups.values()), "components": [[one["name"] for one in rows]],
    } | more  # fmt: skip


def two(difference: float | None = 2.13, ends: tuple[float, float] = (0.6, 3.66), **more: Any) -> dict[str, Any]:
    """Two names that are told apart, the better one first in their pair."""
    return ranked(TWO, [pair("R1-Qwen", "R1-Llama", difference, **turned(*ends))], **more)


def near(*ends: float, **more: Any) -> dict[str, Any]:
    """Two names that are not told apart."""
    return ranked(NEAR, [pair("R1-Qwen", "R1-Llama", **turned(*ends) | more)])


def first_of_three(**stability: Any) -> dict[str, Any]:
    pairs = [pair("a", "b", 4.0), pair("a", "c", 5.0), pair("b", "c", 1.0, p_holm=0.5)]
    return ranked(THREE, pairs, stability=stability)


def left_out(benchmark: str, difference: float | None, p: float, shown: int = 0, *ends: float) -> dict[str, Any]:
    interval = turned(*ends) if ends else {"interval": None}
    return {"benchmark": benchmark, "difference": difference, "p_holm": p, "shown": shown, **interval}


TWO = [row(1, "R1-Qwen", 1, 1, "A"), row(2, "R1-Llama", 2, 2, "B")]
NEAR = [row(1, "R1-Qwen", 1, 2, "A"), row(2, "R1-Llama", 1, 2, "A")]
THREE = [row(1, "a", 1, 1, "A"), row(2, "b", 2, 3, "B"), row(3, "c", 2, 3, "B")]
OVERLAPPING = [row(1, "a", 1, 2, "A"), row(2, "b", 1, 3, "AB"), row(3, "c", 2, 3, "B")]
ALIKE = [row(n + 1, name, 1, 3, "A") for n, name in enumerate("abc")]
MANY = [row(1 + n, f"m{n:03}", 1, 150, "A") for n in range(150)]
NEIGHBOURS = [pair(f"m{n:03}", f"m{n + 1:03}", 0.5, p_holm=1.0 - n / 400, **turned(-3, 4)) for n in range(149)]
PAIRS = [pair("a", "b", 2.13), pair("a", "c", 3.0), pair("b", "c", 0.5, p_holm=0.5, **turned(-1, 2.5))]
UNTESTED = pair("a", "b", 2.13, status="insufficient", interval=None, p=None, p_holm=None, detectable=None)
COULD_NOT = {"p_holm": 1.0, "min_attainable_p": 0.03125, **turned(-1, 3)}
BY_LEAD = pair("R1-Llama", "R1-Qwen", None, estimand="lead", wins=7, losses=24, p_holm=0.0033, interval=None)
LOWER = {"unit": None, "direction": "lower", "lower": None, "upper": None}
UNSTABLE = {"leave_one_out": [{"name": "R1-Qwen", "best": 1, "worst": 2}], "agreement": []}
MOVED = [{"name": "R1-Qwen", "rank": 1, "best": 1, "worst": 2, "ranks": []}]
FIRM, WEAK = left_out("AMC23", 2.4, 0.001, 1, 1.1, 3.9), left_out("AIME", 0.66, 0.58, 0, -1.7, 3.02)
OTHER, AGAINST = left_out("GPQA", 1.52, 0.07, 0, -0.1, 3.1), left_out("AIME", -0.66, 0.01, 0, -1.7, -0.1)
LEADS = pair("R1-Qwen", "R1-Llama", None, estimand="lead", interval=None, detectable=None)
RANKINGS: dict[str, tuple[dict[str, Any], *tuple[float, ...]]] = {
    "two names are told apart by their difference": (
        ranked(TWO, [pair("R1-Llama", "R1-Qwen", -2.13, **turned(-3.66, -0.6))]),
    ),
    "for new questions": (two(target="new_questions"),),
    "an older answer about a loss, without its scale": (two(-2.13, (-3.66, -0.6), scale=None),),
    "by a loss the first is the better one": (two(-2.13, (-3.66, -0.6), scale=LOWER),),
    "two names are equal within the margin": (near(-0.5, 0.9, difference=0.2, p_holm=0.6),),
    "or cannot be told": (near(-0.4, 3.6, difference=1.6, p_holm=0.11, stderr=1.02), times(1.6, 0.11, 1.02)),
    "a claim about other benchmarks says on how few it rests": (
        near(-2.8, 7.0, difference=2.13, status="insufficient", reason=FEW_SIGNS, detectable=None)
        | {"target": "new_benchmarks"},
        0.05,
    ),
    "ordered by wins": (ranked(TWO, [BY_LEAD], method="win_rate"),),
    "ordered by wins, and open": (ranked(NEAR, [BY_LEAD | {"p_holm": 0.2}], method="win_rate"),),
    "an order by another method does not turn the differences": (two(-2.13, (-3.66, -0.6), method="mean"),),
    "of many names the first": (ranked(THREE, PAIRS),),
    "of many levels the first, with their axis": (ranked(THREE, PAIRS, by="axis:Type"),),
    "of many names the first is not separated from one": (ranked(OVERLAPPING, PAIRS),),
    "of many names one was not tested against the first": (ranked(OVERLAPPING, [UNTESTED, *PAIRS[1:]]),),
    "of many names the first is equal to one": (
        ranked(OVERLAPPING, [pair("b", "a", -0.1, p_holm=0.9, **turned(-1.1, 0.9)), *PAIRS[1:]]),
    ),
    "nothing separates: 150 · 149 / 2 are 11,175 pairs": (ranked(MANY, NEIGHBOURS), 11175, 1.0 - 148 / 400),
    "nothing separates, and all are equal to the first within the margin": (
        ranked(ALIKE, [pair(one, other, -0.1, p_holm=0.9, **turned(-1.1, 0.9)) for one, other in ("ba", "ca", "cb")]),
    ),
    "nothing could separate: no p is below 2 / 2^6, for 3 pairs": (
        ranked(ALIKE, [pair(one, other, 1.0, **COULD_NOT) for one, other in ("ab", "ac", "bc")]),
    ),
    "nobody could test": (
        ranked(ALIKE, [pair("a", "b", 1.0, p=None, p_holm=None, status="insufficient", reason="no noise is known")]),
    ),
    "no order": (ranked([], [], status="undefined", reason="the metric has no better end"),),
    "one name": (ranked(TWO[:1], []),),
    "one variant that has no name": (ranked([row(1, "", 1, 1, "A")], [], by="variant"),),
    "no common order": (ranked(TWO, [], components=[["R1-Qwen"], ["R1-Llama"]]),),
    "the first rank moves": (two(stability=UNSTABLE, policy_sensitivity=MOVED), 96.5),
    "one benchmark carries a claim": (two(stability={"without": [FIRM, WEAK]}),),
    "several benchmarks carry a claim": (two(stability={"without": [WEAK, FIRM, OTHER]}),),
    "a claim that holds without any": (two(stability={"without": [FIRM]}),),
    "without one benchmark the claim turns": (two(stability={"without": [FIRM, AGAINST]}),),
    "a loss falls further without a benchmark": (
        two(-2.13, (-3.66, -0.6), scale=LOWER, stability={"without": [left_out("AMC23", -2.4, 0.001, 1, -3.9, -1.1)]}),
    ),
    "a loss is left open without a benchmark": (
        two(-2.13, (-3.66, -0.6), scale=LOWER, stability={"without": [left_out("AMC23", -0.66, 0.58, 0, -3.02, 1.7)]}),
    ),
    "a lead is left open without a benchmark": (
        ranked(
            TWO, [LEADS], method="win_rate",
            stability={"without": [left_out("AIME", None, 0.21), left_out("AMC23", None, 0.004, 1)]},
        ),
    ),
    "without a benchmark none stays behind": (
        first_of_three(without=[left_out("GPQA", 3.0, 0.01, 2), left_out("AMC23", 0.4, 0.6, 0)]),
    ),
    "without either benchmark fewer stay behind": (
        first_of_three(without=[left_out("GPQA", 3.0, 0.01, 1), left_out("AMC23", 0.4, 0.6, 0)]),
    ),
    "without a benchmark all stay behind that are left": (
        first_of_three(without=[left_out("GPQA", 3.0, 0.01, 2), left_out("AMC23", 2.0, 0.01, 1) | {"remaining": 1}]),
    ),
}  # fmt: skip


def test_a_ranking_is_judged_in_a_sentence(subtests, snapshot) -> None:
    for name, (document, *computed) in RANKINGS.items():
        with subtests.test(msg=name):
            found = ranking_verdict(from_document(Ranking, document))
            sizes = [len(document[part]) for part in ("ranking", "benchmarks", "groups")]
            assert told(found) == snapshot(name=name)
            assert unfounded(found, document, *sizes, *computed) == []


def test_of_few_benchmarks_each_is_told_of_when_left_out() -> None:
    each = [left_out("GPQA", 3.0, 0.01, 1), FIRM | {"shown": 2}, WEAK]
    assert ranking_verdict(from_document(Ranking, first_of_three(without=each))).left_out == (
        "Without GPQA, than 1 of them.", "Without AMC23, than no fewer.", "Without AIME, than none of them.",
    )  # fmt: skip


def test_of_names_that_are_all_first_none_is_said_to_be_better() -> None:
    rows = [row(1, name, 1, 3, "A") for name in "abc"]
    pairs = [pair(a, b, 0.0, interval=None) for a, b in ("ab", "ac", "bc")]
    assert short_verdict(from_document(Ranking, ranked(rows, pairs)))[1] == "all share the first rank"


def test_the_next_one_is_the_first_that_does_not_share_the_first_rank_and_a_name_without_letters_is_none() -> None:
    rows = [row(1, "", 1, 2, "A"), row(1, "b", 1, 2, "A"), row(3, "c", 3, 3, "B")]
    apart = [pair("", "b", 0.0, p_holm=0.9), pair("", "c", 4.0, p_holm=0.01), pair("b", "c", 4.0, p_holm=0.01)]
    told = from_document(Ranking, ranked(rows, apart))
    assert "better than the other, than c, the next one, by 4.0 points" in short_verdict(told)[1]
    assert ranking_verdict(told).sentence.startswith("(none) and b share")


def test_the_sentence_names_the_benchmarks_that_were_asked_for() -> None:
    asked = Selection("e", "m", benchmark=("AMC23", "GPQA")).selected()
    found = replace(from_document(Ranking, two()), selection=asked)
    assert " on AMC23 and GPQA on the " in ranking_verdict(found).sentence
    assert " on AMC23" not in ranking_verdict(replace(found, suite="mine")).sentence


def test_the_sentence_is_the_first_of_the_text_and_of_markdown() -> None:
    found = from_document(Ranking, two() | {"experiment": "e"})
    assert text(ranking.page(found)).splitlines()[3].startswith("R1-Qwen is better than R1-Llama by 2.1 points")
    lines = markdown(comparison.page(from_document(Comparison, compared(SHOWN)))).splitlines()
    assert lines[2].startswith("new is better than old by 1.9 points")


def grid(values: Any, **more: Any) -> GridDocument:
    axes = [{"name": "x", "kind": "numeric", "unit": None, "scale": "linear", "levels": [1, 2, 3, 4]}]
    return {"axes": axes, "values": values, "metric": ACCURACY, "trials": 300} | more  # type: ignore[return-value]


ORDINAL = {"name": "x", "kind": "ordinal", "unit": None, "levels": ["a", "b", "c", "d"]}


PEAKED: dict[str, Any] = {"status": "ok", "best": {"value": 90.0, "at": [{"T": "a", "L": "a"}], "ties": 1}}


def peaks(size: int | None) -> Statistics:
    within = None if size is None else {"level": 0.95, "size": size, "at": []}
    series = {"along": "x", "at": {}, "direction": "decreasing", "from": 1, "to": 3, "first": 99.3, "last": 80.0}
    best = {"value": 99.3, "at": [{"x": 1}], "ties": 1}
    found = {"status": "ok", "best": best, "best_set": within, "noise_reason": "no cell has trials or an error"}
    return from_document(Statistics, {"grid": "1", "peaks": found, "series": [series]})


def test_axes_of_which_one_depends_on_the_other_are_told_where_that_is_shown() -> None:
    """Of shares on the logit scale too; it is the headline where nothing else is shown."""
    axes = [{"name": name, "kind": "nominal", "unit": None, "levels": ["a", "b"]} for name in ("T", "L")]
    values, said = (
        grid([[90.0, 60.0], [60.0, 90.0]], axes=axes),
        "How accuracy differs along T depends on L (p 0.0010).",
    )
    for p, logit, size, place in (
        (0.001, None, 4, 0),
        (0.0002, 0.001, 4, 0),
        (0.001, 0.0002, 1, 1),
        (0.001, 0.2, 4, None),
    ):
        residual = {"share": 1.0, "df": 1, "over_noise": 9.0, "p": p}
        residual |= {"logit": logit and {"chi2": 9.0, "df": 1, "over_noise": 9.0, "p": logit}}
        document = {"grid": "1", "peaks": PEAKED | {"best_set": {"level": 0.95, "size": size, "at": []}}, "series": []}
        axes_ = {name: {"share": 0.0, "levels": []} for name in "TL"}
        shares = {"status": "ok", "method": "functional_anova", "axes": axes_, "residual": residual}
        found = grid_verdict(values, from_document(Statistics, document | {"sensitivity": shares}))
        lines = [found.sentence, *found.more]
        assert (lines.index(said) if said in lines else None) == place, (p, logit)
        assert found.answer == ("open" if place is None else "shown")


@pytest.mark.parametrize(("p", "said"), [(1e-9, "Between the levels of T accuracy differs (p <0.0001)."), (0.2, None)])
def test_levels_without_an_order_that_differ_are_the_headline_where_nothing_else_is(p: float, said: str | None) -> None:
    axes = [{"name": name, "kind": "nominal", "unit": None, "levels": ["a", "b"]} for name in ("T", "L")]
    shares = {name: {"share": 0.5, "df": 1, "levels": [], "p": p if name == "T" else None} for name in "TL"}
    document = {"grid": "1", "peaks": PEAKED | {"best_set": {"level": 0.95, "size": 4, "at": []}}, "series": []}
    sensitivity = {"status": "ok", "method": "functional_anova", "axes": shares}
    statistics = from_document(Statistics, document | {"sensitivity": sensitivity})
    found = grid_verdict(grid([[90.0, 90.0], [50.0, 50.0]], axes=axes), statistics)
    assert (found.answer, found.sentence if said else None) == ("shown" if said else "open", said)


def test_a_grid_says_its_best_cell_its_trend_and_its_holes(subtests, snapshot) -> None:
    """99.3 % of 300 are 297.9, and 298 of 300 are 99.33 %. Of 437 of 990, Wilson's interval is 41.0 to 47.2."""
    alone: dict[str, Any] = {"axes": [], "values": 44.1}
    cases = {f"one of {size}": (grid([99.3, 90.0, 80.0, None]), peaks(size)) for size in (1, 2, 3, None)} | {
        "an axis that is no number": (grid([99.3, 90.0, 80.0, None], axes=[ORDINAL]), peaks(2)),
        "one cell": (grid(**alone, trials=990), None),
        "one cell of unknown noise": (grid(**alone, trials=None), None),
        "nothing": (grid([None] * 4), None),
    }
    for name, given in cases.items():
        with subtests.test(msg=name):
            assert told(grid_verdict(*given)) == snapshot(name=name)


def test_only_a_score_that_is_one_count_is_called_a_count() -> None:
    metric: Any = ACCURACY
    assert count_of(44.1, metric, 990, 1) == 437
    assert count_of(44.1, metric, 7, 1) is None  # 3 of 7 are 42.9 %
    assert count_of(44.1, metric, 100_000, 1) is None  # 44,051 to 44,149 would all be written so
    assert count_of(44.1, LOSS, 990, 1) is None  # type: ignore[arg-type]


def test_scores_are_called_counts_only_where_all_of_them_are() -> None:
    """93 % and 44.5 % of 200 trials are 186 and 89 of them; 44.1 % is no count of 200."""
    levels = [{"name": "Task", "kind": "nominal", "unit": None, "scale": "linear", "levels": ["a", "b"]}]
    shown: Any = {"metric": ACCURACY, "axes": levels, "trials": [200, 200]}
    assert counts_note(shown | {"values": [93.0, 44.1]}) is None
    assert "186 of 200" in (counts_note(shown | {"values": [93.0, 44.5]}) or "")


def test_a_ranking_is_shown_for_these_cells_alone_where_the_widest_target_does_not_show_it() -> None:
    def of(target: str, p: float | None) -> Ranking:
        pair = {"status": "ok", "p": p, "p_holm": p} if p is not None else {"status": "insufficient", "reason": "none"}
        document = two(target=target)
        return from_document(Ranking, document | {"pairs": [document["pairs"][0] | {"p_holm": None, "p": None} | pair]})

    cells, questions = of("rerun", 0.001), of("new_questions", None)
    cases = {
        "cells": [cells, questions],
        "": [cells, questions, of("new_benchmarks", 0.01)],
        "benchmarks": [cells, of("new_questions", 0.01), of("new_benchmarks", 0.4)],
    }
    for only, given in cases.items():
        assert verdict_of_targets([of_target(one) for one in given]).only == only
    # Without noise nothing is tested of the cells: the narrowest target that is speaks.
    untested = [of_target(of("rerun", None)), *map(of_target, cases["benchmarks"][1:])]
    assert verdict_of_targets(untested).only == "benchmarks"
    # Who asked for the wider one is told of that; what is left open of another than was asked for says which.
    asked = [of_target(of("new_questions", None)), of_target(of("new_benchmarks", 0.01))]
    assert verdict_of_targets(asked).answer != "shown"
    stepped = [of_target(of("rerun", None)), of_target(of("new_benchmarks", 0.4))]
    assert verdict_of_targets(stepped).sentence.endswith("; this is about other benchmarks of the kind.")
    # Text and pictures, which have no list of the targets, say in the sentence how far what is shown goes.
    for only, end in {
        "cells": "this is about these cells, run again",
        "": "this is shown for other benchmarks of the kind too",
        "benchmarks": "this is shown for other questions of these benchmarks too",
    }.items():
        first, *others = cases[only]
        said = verdict_of_targets([of_target(one) for one in cases[only]]).sentence
        whole = f"{said.removesuffix('.')}; {end}."
        assert whole in [*ranking.page(first, others)]
        assert forest_of_ranking(first, others).sentence == whole
    first, *others = of("rerun", None), *cases[""][1:]
    assert verdict_of_targets([of_target(one) for one in (first, *others)]).sentence in [*ranking.page(first, others)]


def test_the_interval_of_a_cell_is_that_of_its_trials_else_of_its_repeats_else_of_its_error() -> None:
    """Against scipy: Wilson's by its definition, Student's and the normal law."""
    for df in (1, 2, 5, 9, 10, 15, 40, 500):
        assert student(df) == pytest.approx(stats.t.ppf(0.975, df), rel=5e-6)
    low, high = interval_of(70.0, 100.0, (50, 3.0, 5, 2.0)) or (0, 0)
    ends = stats.binomtest(35, 50).proportion_ci(method="wilson")
    assert (low, high) == pytest.approx((100 * ends.low, 100 * ends.high))
    reach = stats.t.ppf(0.975, 4) * 2.0 / math.sqrt(5)
    assert interval_of(70.0, None, (50, 3.0, 5, 2.0)) == pytest.approx((70 - reach, 70 + reach))
    assert interval_of(70.0, None, (None, 3.0, 1, None)) == pytest.approx(stats.norm.interval(0.95, 70.0, 3.0))
    assert interval_of(70.0, None, (None, 0.0, None, None)) is None
