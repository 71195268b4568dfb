"""Sentences that people wrote about the demo's grids. Each verdict was found by hand from the numbers beside it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest
from scipy.stats import binom, norm

from registry.claims.grammar import read_claim
from registry.claims.normal import digest_of
from registry.demo import demo_claims
from tests.workers.claims.scenes import judged, seeds
from tests.workers.claims.sentences import NO, OPEN, VERDICTS, YES
from workers.claims.facts import Facts

pytestmark = pytest.mark.unit

facts_of = lru_cache(seeds)


def types() -> Facts:
    """Accuracy in percent of 300 trials each, by Type and Length."""
    return facts_of("type-by-length")


CORE = {"benchmark": "Core Generalization"}


def of_type(kind: str, number: int, **more: Any) -> dict[str, Any]:
    """A statement about one Type of the core benchmark."""
    return {"kind": kind, "about": CORE, "where": {"Type": [number], **more.pop("where", {})}, **more}


def at(number: int, length: int, value: float) -> dict[str, Any]:
    return of_type("value", number, where={"Length": [length]}, **{"is": {"op": "=", "number": value}})


def statistic(of: str, number: int, value: float) -> dict[str, Any]:
    return of_type("value", number, of=of, **{"is": {"op": "=", "number": value}})


def _sentences() -> Iterator[Any]:
    """Each sentence of the demonstration as it is posted, with what was found by hand."""
    claims = demo_claims()
    for document, expected in VERDICTS.items():
        mine = [one for one in claims if one["source"]["url"] == document]
        for claim, row in zip(mine, expected, strict=True):
            assert claim["text"].startswith(row[0])
            yield pytest.param(claim, *row[1:], id=f"{document}: {row[0]}")


@pytest.mark.parametrize(("claim", "posted", "noise"), list(_sentences()))
def test_a_sentence_of_the_demonstration(claim: dict[str, Any], posted: str, noise: str | None) -> None:
    found = judged(facts_of(claim["about"]["experiment"]), claim)
    assert found["as_posted"] == posted, found["sentence"]
    assert found["beyond_noise"] in ((posted, OPEN) if noise is None else (noise,)), found["sentence"]


def test_no_two_sentences_of_the_demonstration_are_one_claim() -> None:
    read = [read_claim(claim) for claim in demo_claims()]
    assert len({digest_of(claim) for claim in read}) == len(read)


def test_the_readme_counts_the_sentences_that_are_contradicted() -> None:
    rows = [row for rows in VERDICTS.values() for row in rows]
    wrong = sum(row[1] == NO for row in rows)
    readme = " ".join((Path(__file__).parents[3] / "README.md").read_text(encoding="utf-8").split())
    assert f"Of the {len(rows)} sentences that describe the heatmaps of `demo`, {wrong} are contradicted" in readme


def test_a_range_of_whole_numbers_says_that_its_reading_matters() -> None:
    found = {one["text"]: judged(facts_of(one["about"]["experiment"]), one) for one in demo_claims()}
    assert [text for text, one in found.items() if one["depends_on_reading"]] == [
        "Type 4: … mostly in the 91-92% range",
        "AMC23 yields the highest scores (85-88)",
        "AIME'25 yields the lowest scores (31-37)",
    ]


READINGS: list[tuple[str, dict[str, Any], str, str]] = [
    ("Type 1: 99.4 at Length 0", at(1, 0, 99.4), NO, OPEN),
    ("Type 1: 83.7 at Length 0", at(1, 0, 83.7), NO, NO),
    # 98.3 98.3 91.0 91.7 92.0 91.0 92.0 92.3 92.7 92.7 90.7: eight of eleven.
    ("Type 4: mostly 91-92.9", of_type("cells", 4, cells_hold="most", **{"is": {"between": [91, 92.9]}}), YES, OPEN),
    ("Type 7: recovers by 4.6 at 13", of_type("step", 7, along="Length", to=13, goes="up",
     size={"op": "=", "number": 4.6}), YES, OPEN),
    # Type 4 has 98.3 twice.
    ("No cell above 98 in Types 4 and 5", {"kind": "cells", "about": CORE, "where": {"Type": [4, 5]},
     "is": {"op": ">", "number": 98}, "cells_hold": "none"}, NO, OPEN),
    # Type 3: 89.0 - 99.7 = -10.7.
    ("No other type than 1 and 7 drops by over 10", {"kind": "value", "about": CORE, "of": "change", "holds": "none",
     "for": {"Type": [2, 3, 4, 5, 6]}, "is": {"op": "<", "number": -10}}, NO, OPEN),
    # 99.7 before; 91.0 at 9, 88.3 at 10, and 87.3 is the highest from 11 on.
    ("Type 7: a drop of over 10 begins at 10", of_type("step", 7, along="Length", goes="down", onset=10, margin=10),
     YES, OPEN),
    ("Type 7: a drop of over 10 begins at 12", of_type("step", 7, along="Length", goes="down", onset=12, margin=10),
     NO, OPEN),
    # 84.7 at 11, 82.7, 87.3.
    ("Type 7: recovers from 11 by 13", of_type("step", 7, along="Length", goes="down", recovery=13, **{"from": 11}),
     YES, OPEN),
    # 99.3 at 0 and 83.7: 12.4 points lower in a cell of 300 is far beyond noise.
    ("Type 1: recovers by 9", of_type("step", 1, along="Length", goes="down", recovery=9), NO, NO),
    # At 1 to 5 99.14 against 91.68, at 6 to 9 98.65 against 84.5: 14.15 - 7.46 = 6.69.
    ("Type 2 is further ahead of 1 beyond 5", {"kind": "compare", "about": CORE, "of": "gap", "is": "higher",
     "ahead": {"Type": [2]}, "behind": {"Type": [1]}, "left": {"Length": {"from": 6}}, "right": {"Length": {"to": 5}},
     "by": {"op": "=", "number": 6.69}}, YES, OPEN),
    # No length but 7, 8 and 9 has all seven.
    ("Length does not matter to all Types alike", {"kind": "effect", "about": CORE, "axes": ["Type", "Length"],
     "is": "present", "interaction": True}, OPEN, OPEN),
    ("Length 20 of Type 1", of_type("value", 1, where={"Length": {"from": 20}}, of="last",
     **{"is": {"op": "<", "number": 83.7}}), OPEN, OPEN),
]  # fmt: skip


@pytest.mark.parametrize(("quote", "claim", "posted", "noise"), READINGS, ids=[one[0] for one in READINGS])
def test_statements_near_those_sentences(quote: str, claim: dict[str, Any], posted: str, noise: str) -> None:
    found = judged(types(), claim)
    assert (found["as_posted"], found["beyond_noise"]) == (posted, noise), (quote, found["sentence"])


def on(model: str, benchmark: str, kind: str, **more: Any) -> dict[str, Any]:
    return {"kind": kind, "about": {"model": model, "benchmark": benchmark}, **more}


LLAMA, QWEN = "R1-Llama", "R1-Qwen"
WINDOW = "Local Window Size"
WINDOWS: list[tuple[str, dict[str, Any], str]] = [
    ("Llama AMC23: rises to 0.4, then falls", on(LLAMA, "AMC23", "trend", along="Ratio", goes="up_down", turn=0.4,
     where={WINDOW: [500], "Ratio": [0.2, 0.3, 0.4]}), OPEN),
    ("Llama AMC23: highest about 89.0", on(LLAMA, "AMC23", "value", of="max", **{"is": {"between": [88.5, 89.5]}}), NO),
    ("Qwen AMC23: 88.5 at three places alone", on(QWEN, "AMC23", "extreme", which="max", at=[
        {WINDOW: 2000, "Ratio": 0.4}, {WINDOW: 1000, "Ratio": 0.5}, {WINDOW: 500, "Ratio": 0.4}]), NO),
    # Window 2000: 42.7 44.0 47.3 52.0 43.3.
    ("Qwen AIME'24: window 2000 rises to 0.4, then falls", on(QWEN, "AIME'24", "trend", along="Ratio",
     where={WINDOW: [2000]}, goes="up_down", turn=0.4, monotone=True), YES),
    # Means by window: 44.02, 44.38, 45.86, 45.86.
    ("Qwen AIME'24: the best window is 2000", on(QWEN, "AIME'24", "extreme", which="max", of=WINDOW, at=[2000]), NO),
    ("Qwen AIME'24: the best windows are 2000 and 3000",
     on(QWEN, "AIME'24", "extreme", which="max", of=WINDOW, at=[2000, 3000]), YES),
    # 45.3 42.0 43.3 above, 47.3 and 43.3 beside, 42.7 46.0 47.3 below: 52.0 - 47.3 = 4.7.
    ("Qwen AIME'24: 52.0 is an isolated peak", on(QWEN, "AIME'24", "extreme", which="max", isolated=4.6,
     at=[{WINDOW: 2000, "Ratio": 0.4}]), YES),
    ("Qwen AIME'24: isolated by more than 4.7", on(QWEN, "AIME'24", "extreme", which="max", isolated=4.7,
     at=[{WINDOW: 2000, "Ratio": 0.4}]), NO),
    # 52.0 - 45.86 - 46.5 + 45.03 = 4.67, of the means 45.86 of window 2000, 46.5 of ratio 0.4 and 45.03 of all.
    ("Qwen AIME'24: not in a uniform way", on(QWEN, "AIME'24", "effect", axes=[WINDOW, "Ratio"], interaction=True,
     **{"is": "present"}), YES),
    ("Qwen AIME'24: uniform within 4.6", on(QWEN, "AIME'24", "effect", axes=[WINDOW, "Ratio"], interaction=True,
     within=4.6, **{"is": "small"}), NO),
    # Means of the four benchmarks: 56.35 at (2000, 0.4); the next are 54.65 at (500, 0.5) and 54.625 at (2000, 0.3).
    ("Qwen: window 2000 with 0.3 to 0.4 is the place to start", {"kind": "sweet_spot", "about": {"model": QWEN},
     "at": [{WINDOW: 2000, "Ratio": 0.3}, {WINDOW: 2000, "Ratio": 0.4}]}, YES),
    ("Qwen: window 2000 with 0.3 is", {"kind": "sweet_spot", "about": {"model": QWEN},
     "at": [{WINDOW: 2000, "Ratio": 0.3}]}, NO),
    # 8.7 points up from 0.4 to 0.5 in none: the largest fall of window 2000 is 52.0 to 43.3.
    ("Qwen AIME'24: the largest fall is at 0.5", on(QWEN, "AIME'24", "step", where={WINDOW: [2000]}, along="Ratio",
     to=0.5, goes="down", largest=True, size={"op": "=", "number": 8.7}), YES),
]  # fmt: skip


@pytest.mark.parametrize(("quote", "claim", "posted"), WINDOWS, ids=[one[0] for one in WINDOWS])
def test_statements_about_windows_and_ratios(quote: str, claim: dict[str, Any], posted: str) -> None:
    found = judged(facts_of("window-by-ratio"), claim)
    assert found["as_posted"] == posted, (quote, found["sentence"])
    # 150 to 200 trials show no difference of a few points.
    assert found["beyond_noise"] == OPEN


def test_what_missing_cells_could_change_is_said() -> None:
    whole = judged(facts_of("window-by-ratio"), WINDOWS[1][1])
    assert whole["robust_to_missing"] is False
    found = judged(types(), statistic("first", 3, 99.7))
    assert found["robust_to_missing"] is True
    # Length 0 of Type 2 is missing: what comes first may be another value.
    assert judged(types(), statistic("first", 2, 100.0))["robust_to_missing"] is False


def test_an_experiment_without_numbers_decides_nothing() -> None:
    claim = {"kind": "trend", "about": {"benchmark": "GSM8K"}, "along": "Training Progress", "goes": "up"}
    found = judged(facts_of("size-by-progress"), claim)
    assert (found["verdict"], found["reason"]) == (OPEN, "not_published")


def test_a_sentence_gives_the_numbers() -> None:
    found = judged(types(), at(1, 9, 83.7))
    # 83.65 to 83.75 is claimed, and the error is 2.13: each end takes z(0.975) + z(0.9).
    error = 100 * (0.837 * 0.163 / 300) ** 0.5
    factor, trials = found["trials_needed"]["needed"]["factor"], found["trials_needed"]["needed"]["trials"]
    assert factor == pytest.approx(((norm.ppf(0.975) + norm.ppf(0.9)) * error / 0.05) ** 2, rel=0.01)
    assert found["sentence"] == (
        "Supported as posted: the value at Length 9, Type 1 is 83.7 (claimed: 83.7). "
        "Not decidable beyond noise, it is within the noise: 78.99 to 87.67 at 95 % confidence. "
        f"With {factor:,.0f} times the trials ({trials:,} of a cell) it is decided with a probability of 80 %, if the "
        "posted numbers are true."
    )
    [numbers] = [part["numbers"] for part in found["parts"]]
    # The definition of Clopper and Pearson's limits: each tail of 251 of 300 has a probability of 2.5 %.
    assert binom.sf(250, 300, numbers["low"] / 100) == pytest.approx(0.025)
    assert binom.cdf(251, 300, numbers["high"] / 100) == pytest.approx(0.025)
    assert [cell["value"] for cell in numbers["cells"]] == [83.7]
