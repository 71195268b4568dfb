"""Verdicts: every status has its sentence, and every number of a sentence is one of the document."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from registry.renderings.comparison import comparison_markdown as markdown_of
from registry.renderings.ranking import ranking_text as text_of
from registry.renderings.uncertainty import count_of
from registry.renderings.verdicts.comparison import comparison_verdict
from registry.renderings.verdicts.grid import grid_verdict
from registry.renderings.verdicts.ranking import ranking_verdict
from registry.renderings.verdicts.sweet_spot import sweet_spot_verdict
from registry.renderings.verdicts.terms import Verdict
from registry.results.codec import from_document
from registry.results.comparison import Comparison
from registry.results.grid import GridDocument
from registry.results.ranking import Ranking
from registry.results.statistics import Statistics
from registry.results.sweet_spot import SweetSpot

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


def unfounded(sentence: str, document: Any, *computed: float) -> list[str]:
    """The numbers of a sentence that, rounded as they are, are none of the document and none that is computed."""
    known = [*numbers(document), *computed]
    named = re.sub(r"\b[A-Z]+\d+\b|R1-\w+", "", sentence)
    tokens = {one.replace(",", "") for one in re.findall(r"\d[\d,]*(?:\.\d+)?", named)} - SAID
    return [
        one
        for one in sorted(tokens)
        if not any(round(abs(value), len(one.partition(".")[2])) == float(one) for value in known)
    ]


def side(number: int, metric: dict[str, Any] = ACCURACY, **names: str) -> dict[str, Any]:
    known = {"experiment": "e", "benchmark": "Core", "model": "old", "variant": ""}
    return {"grid": f"{number}", "revision": number, "digest": "", "metric": metric} | known | names


def gap(difference: float | None, low: float, high: float, p: float, **more: Any) -> dict[str, Any]:
    test = {"status": "ok", "name": "mantel_haenszel", "difference": difference, "p": p, "detectable": 1.4}
    return test | {"interval": {"level": 0.95, "low": low, "high": high}} | more


def compared(test: dict[str, Any] | None, metric: dict[str, Any] = ACCURACY, **more: Any) -> dict[str, Any]:
    return {
        "status": "ok",
        "alpha": 0.05,
        "differs": ["model"],
        "n_common": 32,
        "only_in_baseline": {"count": 8, "at": []},
        "only_in_contender": {"count": 40, "at": []},
        "mean": 1.0,
        "test": test,
        "baseline": side(1, metric),
        "contender": side(2, metric, model="new"),
    } | more


def verdict(document: dict[str, Any], *computed: float) -> Verdict:
    found = comparison_verdict(from_document(Comparison, document))
    common = document["n_common"] + document["only_in_baseline"]["count"] + document["only_in_contender"]["count"]
    assert unfounded(found.sentence, document, common, 2.0, *computed) == []
    return found


def test_a_difference_that_is_shown_has_its_size_interval_cells_and_reach() -> None:
    found = verdict(compared(gap(1.94, 0.62, 3.14, 0.003)))
    assert found.answer == "shown"
    assert found.sentence == (
        "new is better than old by 1.9 points (95 % interval 0.6 to 3.1) on the 32 of 80 cells of Core that both have; "
        "on other questions or benchmarks this could turn."
    )


def test_the_better_one_comes_first_whichever_was_the_contender() -> None:
    found = verdict(compared(gap(-1.94, -3.14, -0.62, 0.003)))
    assert found.sentence.startswith("old is better than new by 1.9 points (95 % interval 0.6 to 3.1) on")


def test_words_follow_a_metric_of_which_less_is_better() -> None:
    found = verdict(compared(gap(-0.12, -0.2, -0.04, 0.003), LOSS))
    assert found.sentence.startswith("new is better than old by 0.12 (lower is better; 95 % interval 0.04 to 0.20) on")
    worse = verdict(compared(gap(0.12, 0.04, 0.2, 0.003), LOSS))
    assert worse.sentence.startswith("old is better than new by 0.12 (lower is better; 95 % interval 0.04 to 0.20) on")


def test_a_metric_without_a_better_end_has_a_higher_one_in_its_unit() -> None:
    found = verdict(compared(gap(12.0, 4.0, 20.0, 0.003), SIZE))
    assert found.sentence.startswith("new is higher than old by 12.0 MB (95 % interval 4.0 to 20.0) on")


def test_an_interval_within_the_margin_shows_that_there_is_no_difference() -> None:
    """2 % of the range of 100 are 2 points."""
    found = verdict(compared(gap(0.21, -0.52, 0.94, 0.57)))
    assert found.answer == "absent"
    assert found.sentence.startswith(
        "new and old are equal within 2 points (2 % of the metric's range) on the 32 of 80 cells of Core that both "
        "have: they differ by 0.21 points (95 % interval -0.52 to 0.94)"
    )
    # Without a range there is no margin, and so no absence.
    assert verdict(compared(gap(0.21, -0.52, 0.94, 0.57), LOSS), (1.4 / 0.21) ** 2).answer == "open"


def test_a_shown_difference_within_the_margin_is_said_to_be_small() -> None:
    found = verdict(compared(gap(0.91, 0.32, 1.5, 0.003)))
    assert found.answer == "shown"
    assert ", less than the margin of 2 points (2 % of the metric's range);" in found.sentence


def test_what_cannot_be_told_says_what_would_have_been_found_and_what_would_help() -> None:
    """(3.4 / 0.94)² is 13.08."""
    found = verdict(compared(gap(0.94, -1.43, 3.3, 0.437, detectable=3.4)), (3.4 / 0.94) ** 2)
    assert found.answer == "open"
    assert found.sentence == (
        "Whether new or old is better cannot be told: new is 0.9 points better (95 % interval -1.4 to 3.3) "
        "on the 32 of "
        "80 cells of Core that both have; a true difference of 3.4 points would have been found with 80 % "
        "power; one of "
        "0.9 points takes about 13 times the trials."
    )


def test_a_difference_without_trials_asks_for_no_trials() -> None:
    found = verdict(compared(gap(0.94, -1.43, 3.3, 0.437, detectable=3.4, name="sign_flip")))
    assert "trials" not in found.sentence


def test_too_few_cells_are_said_with_the_reason() -> None:
    reason = "no signs of these differences have a p below 0.05"
    found = verdict(compared(gap(3.0, -1.0, 7.0, 0.25, status="insufficient", reason=reason, detectable=None)), 0.05)
    assert found.answer == "open"
    assert found.sentence.endswith("that both have. No signs of these differences have a p below 0.05.")


def test_grids_that_differ_in_more_than_one_thing_say_so_first() -> None:
    document = compared(gap(1.94, 0.62, 3.14, 0.003), status="confounded", reason="…", differs=["model", "benchmark"])
    document["contender"]["benchmark"] = "Side"
    found = verdict(document)
    assert found.answer == "none"
    assert found.sentence == (
        "Confounded: these grids differ in model and benchmark, so a difference cannot be laid to one of these alone; "
        "Side · new measured 1.9 points better than Core · old (95 % interval 0.6 to 3.1) on the 32 of 80 cells that "
        "both have."
    )


@pytest.mark.parametrize("status", ["not_comparable", "undefined", "insufficient"])
def test_what_cannot_be_compared_says_why(status: str) -> None:
    found = verdict(compared(None, status=status, reason="no coordinate was measured in both", n_common=0))
    assert (found.answer, found.sentence) == (
        "none",
        "new and old cannot be compared: no coordinate was measured in both.",
    )


def test_one_model_on_two_benchmarks_is_better_on_one_of_them() -> None:
    document = compared(gap(42.1, 40.1, 44.2, 1e-9), differs=["benchmark"])
    document["contender"] = side(2, benchmark="Side")
    assert verdict(document).sentence == (
        "old is better on Side than on Core by 42.1 points (95 % interval 40.1 to 44.2) on the 32 of 80 "
        "cells that both have."
    )


def test_a_slice_and_the_levels_that_differ_by_themselves_are_named() -> None:
    level = {"status": "ok", "n_common": 4, "test": gap(5.0, 1.0, 9.0, 0.001, p_holm=0.002), "level": 64000}
    other = {"status": "ok", "n_common": 4, "test": gap(-0.2, -2.0, 1.6, 0.8, p_holm=0.8), "level": 128000}
    found = verdict(
        compared(
            gap(1.94, 0.62, 3.14, 0.003),
            slice={"Context": [">=64000"]},
            by={"Context": {"levels": [level, other], "left_out": 0}},
        ),
        64000,
    )
    assert "(95 % interval 0.6 to 3.1) at Context at least 64000 on the 32 of 80 cells of Core" in found.sentence
    assert found.more == ("By Context, new is shown to be better at 64000 (Holm over 2 levels).",)


def test_no_number_of_a_sentence_becomes_zero_by_rounding() -> None:
    assert "(95 % interval 0.04 to 3.92)" in verdict(compared(gap(1.98, 0.04, 3.92, 0.045))).sentence


def pair(a: str, b: str, difference: float | None, **more: Any) -> dict[str, Any]:
    counts = {"status": "ok", "n_common": 32, "benchmarks": 4, "wins": 24, "ties": 1, "losses": 7, "lead": 0.5}
    tested = {"interval": {"level": 0.95, "low": 0.6, "high": 3.66}, "p": 0.006, "p_holm": 0.006, "detectable": 2.18}
    known = {"a": a, "b": b, "target": "rerun", "estimand": "difference", "difference": difference}
    return known | counts | tested | {"test": "mantel_haenszel"} | more


def row(rank: int, name: str, low: int, high: int, group: str) -> dict[str, Any]:
    record = {"cells": 80, "wins": 24, "ties": 1, "losses": 7, "score": 0.0, "component": 0}
    return {"rank": rank, "name": name, "rank_low": low, "rank_high": high, "group": list(group)} | record


def ranked(rows: list[dict[str, Any]], pairs: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    groups: dict[str, list[str]] = {}
    for one in rows:
        for letter in one["group"]:
            groups.setdefault(letter, []).append(one["name"])
    scale = {name: ACCURACY[name] for name in ("unit", "direction", "lower", "upper")}
    return {
        "by": "model",
        "status": "ok",
        "method": "mean_difference",
        "missing": "matched",
        "alpha": 0.05,
        "target": "rerun",
        "benchmarks": ["AMC23", "GPQA"],
        "slots": {"total": 80, "compared": 32},
        "scale": scale,
        "ranking": rows,
        "pairs": pairs,
        "groups": list(groups.values()),
        "components": [[one["name"] for one in rows]],
    } | more


TWO = [row(1, "R1-Qwen", 1, 1, "A"), row(2, "R1-Llama", 2, 2, "B")]
NEAR = [row(1, "R1-Qwen", 1, 2, "A"), row(2, "R1-Llama", 1, 2, "A")]


def order(document: dict[str, Any], *computed: float) -> Verdict:
    found = ranking_verdict(from_document(Ranking, document))
    sizes = [len(document["ranking"]), len(document["benchmarks"]), len(document["groups"])]
    for sentence in (found.sentence, *found.more):
        assert unfounded(sentence, document, 2.0, *sizes, *computed) == []
    return found


def turned(low: float, high: float) -> dict[str, Any]:
    return {"interval": {"level": 0.95, "low": low, "high": high}}


def test_two_names_are_told_apart_by_their_difference() -> None:
    found = order(ranked(TWO, [pair("R1-Llama", "R1-Qwen", -2.13, **turned(-3.66, -0.6))]))
    assert (found.answer, found.sentence) == (
        "shown",
        "R1-Qwen is better than R1-Llama by 2.1 points (95 % interval 0.6 to 3.7) on the 32 of 80 cells of 4 "
        "benchmarks "
        "that both have; on other questions or benchmarks this could turn.",
    )
    asked = order(ranked(TWO, [pair("R1-Qwen", "R1-Llama", 2.13)], target="new_questions"))
    assert asked.sentence.endswith("; on other benchmarks this could turn.")


def test_two_names_by_a_loss_whose_older_answer_does_not_say_the_scale() -> None:
    """The first is the better one, so a negative difference is."""
    told = "R1-Qwen is better than R1-Llama by 2.1"
    pairs = [pair("R1-Qwen", "R1-Llama", -2.13, **turned(-3.66, -0.6))]
    assert order(ranked(TWO, pairs, scale=None)).sentence.startswith(f"{told} (95 % interval 0.6 to 3.7)")
    lower = {"unit": None, "direction": "lower", "lower": None, "upper": None}
    assert order(ranked(TWO, pairs, scale=lower)).sentence.startswith(f"{told} (lower is better; 95 % interval 0.6 to")


def test_two_names_are_equal_within_the_margin_or_cannot_be_told() -> None:
    equal = order(ranked(NEAR, [pair("R1-Qwen", "R1-Llama", 0.2, p_holm=0.6, **turned(-0.5, 0.9))]))
    assert equal.answer == "absent"
    assert equal.sentence.startswith("R1-Qwen and R1-Llama are equal within 2 points (2 % of the metric's range) on")
    # (2.18 / 1.6)² is 1.856.
    open_ = order(ranked(NEAR, [pair("R1-Qwen", "R1-Llama", 1.6, p_holm=0.11, **turned(-0.4, 3.6))]), 1.9)
    assert open_.answer == "open"
    assert open_.sentence.endswith(
        "a true difference of 2.2 points would have been found with 80 % power; one of 1.6 points takes "
        "about 1.9 times "
        "the trials."
    )


def test_a_claim_about_other_benchmarks_says_on_how_few_it_rests() -> None:
    reason = "no signs of these differences have a p below 0.05"
    weak = pair("R1-Qwen", "R1-Llama", 2.13, status="insufficient", reason=reason, detectable=None, **turned(-2.8, 7.0))
    found = order(ranked(NEAR, [weak], target="new_benchmarks"), 0.05)
    assert found.answer == "open"
    assert found.more == ("It rests on 2 benchmarks, which are few for a claim about others.",)


def test_names_that_are_ordered_by_wins_are_told_apart_by_wins() -> None:
    lead = pair("R1-Llama", "R1-Qwen", None, estimand="lead", wins=7, losses=24, p_holm=0.0033, interval=None)
    found = order(ranked(TWO, [lead], method="win_rate"))
    assert found.answer == "shown"
    assert found.sentence.startswith(
        "R1-Qwen is ahead of R1-Llama: it wins 24, ties 1 and loses 7 on the 32 of 80 cells"
    )
    assert order(ranked(NEAR, [lead | {"p_holm": 0.2}], method="win_rate")).answer == "open"


def test_a_method_of_another_order_than_the_differences_does_not_turn_them() -> None:
    found = order(ranked(TWO, [pair("R1-Qwen", "R1-Llama", -2.13, **turned(-3.66, -0.6))], method="mean"))
    assert found.sentence.startswith("R1-Llama is better than R1-Qwen by 2.1 points")


THREE = [row(1, "a", 1, 1, "A"), row(2, "b", 2, 3, "B"), row(3, "c", 2, 3, "B")]


def test_of_many_names_the_first_is_said_with_those_it_is_not_separated_from() -> None:
    pairs = [pair("a", "b", 2.13), pair("a", "c", 3.0), pair("b", "c", 0.5, p_holm=0.5, **turned(-1, 2.5))]
    found = order(ranked(THREE, pairs))
    assert (found.answer, found.sentence) == (
        "shown",
        "a is first of 3 models, shown to be better than all 2 others; on other questions or benchmarks this "
        "could turn.",
    )
    assert found.more == (
        "It leads b, the next one, by 2.1 points (95 % interval 0.6 to 3.7) on the 32 of 80 cells of 4 benchmarks that "
        "both have.",
        "The tests separate the models into 2 groups.",
    )
    near = [row(1, "a", 1, 2, "A"), row(2, "b", 1, 3, "AB"), row(3, "c", 2, 3, "B")]
    open_ = order(ranked(near, pairs))
    assert open_.answer == "open"
    assert open_.sentence.startswith("a is first of 3 models, shown to be better than 1 of them; not separated from b;")
    assert open_.more == ("The tests separate the models into 2 groups, which overlap.",)
    equal = order(ranked(near, [pair("b", "a", -0.1, p_holm=0.9, **turned(-1.1, 0.9)), *pairs[1:]]))
    assert equal.answer == "absent"
    assert "and shown to be equal to it within 2 points" in equal.sentence


def test_a_ranking_in_which_nothing_separates_says_so_and_why() -> None:
    """150 names make 150 · 149 / 2 = 11,175 pairs."""
    rows = [row(1 + n, f"m{n:03}", 1, 150, "A") for n in range(150)]
    pairs = [pair(f"m{n:03}", f"m{n + 1:03}", 0.5, p_holm=1.0 - n / 400, **turned(-3, 4)) for n in range(149)]
    found = order(ranked(rows, pairs), 11175, 1.0 - 148 / 400)
    assert found.answer == "open"
    assert found.sentence == (
        "The tests separate none of the 150 models over 2 benchmarks, though m000 comes first: the smallest p of the "
        "listed pairs is 0.6300 after correction for all 11,175 pairs (Holm); a true difference of 2.2 "
        "points would have "
        "been found in half of the pairs, before that correction."
    )


def test_a_ranking_in_which_nothing_could_separate_says_so() -> None:
    """Six signs give no p below 2 / 2^6 = 0.03125; Holm's first step multiplies it by 3 · 2 / 2 = 3 pairs."""
    rows = [row(n + 1, name, 1, 3, "A") for n, name in enumerate("abc")]
    pairs = [
        pair(one, other, 1.0, p_holm=1.0, min_attainable_p=0.03125, **turned(-1, 3))
        for one, other in [("a", "b"), ("a", "c"), ("b", "c")]
    ]
    assert order(ranked(rows, pairs), 3.0).sentence == (
        "The tests separate none of the 3 models over 2 benchmarks, though a comes first, and none could: so few "
        "results give no p below 0.0312, and Holm corrects for 3 pairs."
    )


def test_pairs_that_nobody_could_test_leave_the_order_open_with_the_reason() -> None:
    untested = [pair("a", "b", 1.0, p=None, p_holm=None, status="insufficient", reason="no noise is known")]
    rows = [row(n + 1, name, 1, 3, "A") for n, name in enumerate("abc")]
    found = order(ranked(rows, untested))
    assert (found.answer, found.sentence) == (
        "open",
        "Which of the 3 models is best cannot be told: no pair was tested, for no noise is known.",
    )


def test_what_has_no_order_says_why() -> None:
    assert order(ranked([], [], status="undefined", reason="the metric has no better end")).sentence == (
        "Nothing is ranked: the metric has no better end."
    )
    assert order(ranked(TWO[:1], [])).sentence == (
        "Only R1-Qwen has results here: there is nothing to rank it against."
    )
    parts = order(ranked(TWO, [], components=[["R1-Qwen"], ["R1-Llama"]]))
    assert parts.sentence == "The 2 models fall into 2 parts that share no slot: they have no common order."


def test_where_the_first_rank_moves_is_said() -> None:
    again = {"name": "R1-Qwen", "rank": 1, "low": 1, "median": 1, "high": 2, "first_share": 0.965, "shares": []}
    resampling = {"status": "ok", "component": 0, "benchmarks": 9, "level": 0.95, "names": [again]}
    stability = {
        "leave_one_out": [{"name": "R1-Qwen", "best": 1, "worst": 2}],
        "agreement": [],
        "resampling": [resampling],
    }
    moved = [{"name": "R1-Qwen", "rank": 1, "best": 1, "worst": 2, "ranks": []}]
    pairs = [pair("R1-Qwen", "R1-Llama", 2.13)]
    found = order(ranked(TWO, pairs, stability=stability, policy_sensitivity=moved), 96.5)
    assert found.more == (
        "With one benchmark left out R1-Qwen falls as low as rank 2.",
        "With the benchmarks drawn again R1-Qwen is first in 96.5 % of the draws.",
        "Under another method or policy for missing cells R1-Qwen falls as low as rank 2.",
    )


def left_out(benchmark: str, difference: float | None, p: float, shown: int = 0, **ends: Any) -> dict[str, Any]:
    known = turned(ends["low"], ends["high"]) if ends else {"interval": None}
    return {"benchmark": benchmark, "difference": difference, "p_holm": p, "shown": shown, **known}


def test_a_claim_that_one_benchmark_carries_says_so_in_its_sentence() -> None:
    firm = left_out("AMC23", 2.4, 0.001, 1, low=1.1, high=3.9)
    weak = left_out("AIME", 0.66, 0.58, low=-1.7, high=3.02)
    pairs = [pair("R1-Qwen", "R1-Llama", 2.13)]
    alone = order(ranked(TWO, pairs, stability={"without": [firm, weak]}))
    assert alone.answer == "shown"
    assert alone.sentence.endswith(
        "that both have; AIME alone carries this: without it 0.7 points (95 % interval -1.7 to 3.0), left open; "
        "on other questions or benchmarks this could turn."
    )
    other = left_out("GPQA", 1.52, 0.07, low=-0.1, high=3.1)
    several = order(ranked(TWO, pairs, stability={"without": [weak, firm, other]})).sentence
    told = "; without AIME it is 0.7 points (95 % interval -1.7 to 3.0), left open, as it is without GPQA; on other"
    assert told in several
    assert "carries" not in order(ranked(TWO, pairs, stability={"without": [firm]})).sentence
    against = left_out("AIME", -0.66, 0.01, low=-1.7, high=-0.1)
    assert "without it -0.7 points" in order(ranked(TWO, pairs, stability={"without": [firm, against]})).sentence


def test_where_lower_is_better_a_fall_of_the_difference_is_no_loss_of_the_claim() -> None:
    lower = {"unit": None, "direction": "lower", "lower": None, "upper": None}
    pairs = [pair("R1-Qwen", "R1-Llama", -2.13, **turned(-3.66, -0.6))]
    firm = left_out("AMC23", -2.4, 0.001, 1, low=-3.9, high=-1.1)
    assert "without" not in order(ranked(TWO, pairs, scale=lower, stability={"without": [firm]})).sentence
    weak = left_out("AMC23", -0.66, 0.58, low=-3.02, high=1.7)
    told = order(ranked(TWO, pairs, scale=lower, stability={"without": [weak]})).sentence
    assert "without it 0.7 (95 % interval -1.7 to 3.0), left open" in told


def test_by_leads_the_p_is_said_with_which_a_benchmark_left_out_leaves_it_open() -> None:
    leads = pair("R1-Qwen", "R1-Llama", None, estimand="lead", interval=None, detectable=None)
    without = {"without": [left_out("AIME", None, 0.21), left_out("AMC23", None, 0.004, 1)]}
    told = order(ranked(TWO, [leads], method="win_rate", stability=without), 0.006).sentence
    assert "; AIME alone carries this: without it p 0.2100, left open" in told


def test_of_many_names_it_says_how_many_stay_behind_with_a_benchmark_left_out() -> None:
    rows = [row(1, "a", 1, 1, "A"), row(2, "b", 2, 3, "B"), row(3, "c", 2, 3, "B")]
    pairs = [pair("a", "b", 4.0), pair("a", "c", 5.0), pair("b", "c", 1.0, p_holm=0.5)]
    lost = {"without": [left_out("GPQA", 3.0, 0.01, 2), left_out("AMC23", 0.4, 0.6, 0)]}
    told = order(ranked(rows, pairs, stability=lost), 2).sentence
    assert told == (
        "a is first of 3 models, shown to be better than all 2 others; with AMC23 left out, than none of them; on "
        "other questions or benchmarks this could turn."
    )
    both = {"without": [left_out("GPQA", 3.0, 0.01, 1), left_out("AMC23", 0.4, 0.6, 0)]}
    told = order(ranked(rows, pairs, stability=both), 2).sentence
    assert "; than fewer with any one of GPQA and AMC23 left out, without AMC23 than none of them; on" in told


def test_the_sentence_is_the_first_of_the_text_and_of_markdown() -> None:
    ranking = from_document(Ranking, ranked(TWO, [pair("R1-Qwen", "R1-Llama", 2.13)]) | {"experiment": "e"})
    assert text_of(ranking).splitlines()[3].startswith("R1-Qwen is better than R1-Llama by 2.1 points")
    told = from_document(Comparison, compared(gap(1.94, 0.62, 3.14, 0.003)))
    assert markdown_of(told).splitlines()[2].startswith("new is better than old by 1.9 points")


def grid(values: list[Any], **more: Any) -> GridDocument:
    axes = [{"name": "x", "kind": "numeric", "unit": None, "scale": "linear", "levels": [1, 2, 3, 4]}]
    return {"axes": axes, "values": values, "metric": ACCURACY, "trials": 300} | more  # type: ignore[return-value]


def peaks(value: float, at: list[int], size: int | None) -> Statistics:
    best = {"value": value, "at": [{"x": place} for place in at], "ties": len(at)}
    within = None if size is None else {"level": 0.95, "size": size, "at": []}
    series = {"along": "x", "at": {}, "direction": "decreasing"}
    found = {"status": "ok", "best": best, "best_set": within, "noise_reason": "no cell has trials or an error"}
    return from_document(Statistics, {"grid": "1", "peaks": found, "series": [series]})


@pytest.mark.parametrize(
    "size, answer, told",
    [
        (1, "shown", "x 1 is shown to be best, with 95 % confidence: accuracy 99.3 %."),
        (
            2,
            "open",
            "The best accuracy is 99.3 % at x 1; 1 other cell may be the best as well, with 95 % confidence, and 1 are "
            "ruled out.",
        ),
        (
            3,
            "open",
            "Which cell is best cannot be told: with 95 % confidence none of the 3 is ruled out; the best value "
            "is 99.3 % "
            "at x 1.",
        ),
        (
            None,
            "open",
            "The best accuracy is 99.3 % at x 1; whether that is really the best cannot be told: no cell has trials or "
            "an error.",
        ),
    ],
)
def test_a_grid_says_its_best_cell_its_trend_and_its_holes(size: int | None, answer: str, told: str) -> None:
    """99.3 % of 300 are 297.9, and 298 of 300 are 99.33 %."""
    found = grid_verdict(grid([99.3, 90.0, 80.0, None]), peaks(99.3, [1], size))
    assert (found.answer, found.sentence) == (answer, told)
    assert found.more == (
        "Along x 1 series falls.",
        "1 of 4 cells was never measured.",
        "Scores are counts out of trials: 99.3 % of 300 trials is 298 of 300.",
    )


def test_a_grid_of_one_cell_has_its_interval_and_an_empty_one_nothing() -> None:
    """437 of 990: Wilson's interval by hand, (44.14 ± …): 41.1 to 47.2."""
    alone = grid_verdict(grid(44.1, axes=[], trials=990), None)  # type: ignore[arg-type]
    assert alone.sentence == "accuracy is 44.1 % (95 % interval 41.0 to 47.2), 437 of 990 trials."
    assert grid_verdict(grid([None] * 4), None).sentence == "Nothing was measured yet."
    assert grid_verdict(grid(44.1, axes=[], trials=None), None).sentence == (  # type: ignore[arg-type]
        "accuracy is 44.1 %; its noise is not known."
    )


def test_only_a_score_that_is_one_count_is_called_a_count() -> None:
    metric: Any = ACCURACY
    assert count_of(44.1, metric, 990, 1) == 437
    assert count_of(44.1, metric, 7, 1) is None  # 3 of 7 are 42.9 %
    assert count_of(44.1, metric, 100_000, 1) is None  # 44,051 to 44,149 would all be written so
    assert count_of(44.1, LOSS, 990, 1) is None  # type: ignore[arg-type]


def test_a_sweet_spot_is_shown_or_not() -> None:
    best = {"value": 1.5, "at": [{"x": 1}]}
    document = {"status": "ok", "grids": 8, "common_cells": 20, "mean_rank": best, "best_rank_p": 0.382}
    open_ = sweet_spot_verdict(from_document(SweetSpot, document))
    assert (open_.answer, open_.sentence) == (
        "open",
        "No coordinate is shown to serve these 8 grids best: x 1 has the lowest mean rank of the 20 cells "
        "that all have, "
        "which chance alone gives with p at most 0.3820.",
    )
    assert sweet_spot_verdict(replace(from_document(SweetSpot, document), best_rank_p=0.01)).answer == "shown"
    none = from_document(SweetSpot, {"status": "insufficient", "reason": "fewer than two grids"})
    assert sweet_spot_verdict(none).sentence == "There is no sweet spot: fewer than two grids."
