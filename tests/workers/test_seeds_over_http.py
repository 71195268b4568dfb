"""The seed heatmaps through the whole service: published over HTTP, computed, read back, and held to reference numbers.

The reference numbers were made by scipy, statsmodels and others; `statistics/reference.json` names each.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from registry.demo import demo_grids
from tests.house import House, Project

HERE = Path(__file__).parent
ENTRIES = json.loads((HERE / "statistics" / "reference.json").read_text(encoding="utf-8"))["entries"]
PREFIXES = {"0": "s0/core", "1": "s1/s2l", "2": "s2/r1-llama", "4": "s4/r1-qwen"}
BENCHMARKS = {"AIME'24": "AIME24", "AIME'25": "AIME25", "GPQA D": "GPQA_D"}
ALIASES = (("AIME24", "AIME'24"), ("AIME25", "AIME'25"), ("GPQA D", "GPQA_D"))


def name_of(sent: dict[str, Any]) -> str:
    """What the reference calls a grid of the demonstration."""
    seed = sent["labels"]["seed"]
    if seed in "01":
        return f"{PREFIXES[seed]}/{sent['model'].lower().replace('qwen-', 'qwen').replace(' ', '-')}"
    return f"{PREFIXES[seed]}/{BENCHMARKS.get(sent['benchmark'], sent['benchmark'])}"


@pytest.fixture(scope="module")
def demo(house: House) -> tuple[Project, dict[str, dict[str, Any]]]:
    """The project of the seeds, and the statistics of every seed grid with numbers, by the reference's name."""
    project = house.make_project()
    for alias, name in ALIASES:
        body = {"kind": "benchmark", "alias": alias, "name": name}
        assert project.call("POST", f"projects/{project.slug}/aliases", json=body).status_code == 201
    published = [(sent, project.publish(sent).get_json()["id"]) for sent in demo_grids()]
    house.compute()
    numbers = {name_of(sent): grid for sent, grid in published if "values" in sent}
    return project, {name: project.get(f"grids/{grid}/statistics").get_json() for name, grid in numbers.items()}


def series_of(document: dict[str, Any], target: str) -> dict[str, Any]:
    axis, level = target.split(" ", 1)[1].split("=")
    return next(one for one in document["series"] if str(one["at"].get(axis)) == level)


def check_slope(document: dict[str, Any], target: str, wanted: dict[str, Any]) -> None:
    found = series_of(document, target)
    assert found["slope"] == pytest.approx(wanted["slope"], rel=1e-9, abs=1e-12)
    if found["slope_interval"] is not None:
        interval = (found["slope_interval"]["low"], found["slope_interval"]["high"])
        assert interval == pytest.approx((wanted["low"], wanted["high"]), rel=1e-9, abs=1e-12)


def check_direction(document: dict[str, Any], target: str, wanted: dict[str, Any]) -> None:
    """A word of the reference that states nothing, "flat within noise", is a shown `flat` or `inconclusive` here.

    Of up to five cells the p comes from another test, and the word is the reference's all the same.
    """
    found = series_of(document, target)
    word, ends = wanted["label"], found["fitted_change"]["interval"]
    if word == "flat_within_noise":
        word = "flat" if -2 <= ends["low"] <= ends["high"] <= 2 else "inconclusive"
    assert found["direction"] == word
    if found["count"] > 5:
        assert found["logit"]["p"] == pytest.approx(wanted["trend_p"], rel=1e-9)
        assert found["q"] == pytest.approx(wanted["trend_q"], rel=1e-9)


CHECKS = {"theil_sen": (49, check_slope), "direction_trials": (33, check_direction)}
"""How many series of the seeds have a reference of a statistic, and what agrees with it: one number of a series with
its interval, and one made of trials; `statistics` holds the functions to every other reference."""


@pytest.mark.parametrize("stat", CHECKS)
def test_statistics_are_those_of_the_references(demo: Any, subtests: pytest.Subtests, stat: str) -> None:
    count, check = CHECKS[stat]
    seeds = tuple(PREFIXES.values())
    entries = [entry for entry in ENTRIES if entry["stat"] == stat and entry["grid"].startswith(seeds)]
    assert len(entries) == count
    for entry in entries:
        with subtests.test(entry["grid"], target=entry["target"]):
            check(demo[1][entry["grid"]], entry["target"], entry["output"])


def test_the_statistics_of_the_seeds_hold_no_nan(demo: Any) -> None:
    json.dumps(demo[1], allow_nan=False)


def test_seed_four_is_ranked_against_seed_two_over_thirty_two_slots(demo: Any) -> None:
    """Counted by hand in the tables, too: 3-1-4 on AIME'24, 8-0-0 on AIME'25, 5-0-3 on AMC23, 8-0-0 on GPQA_D, over
    four windows and the two ratios that R1-Llama has."""
    project, _ = demo
    [wanted] = [entry["output"] for entry in ENTRIES if entry["stat"] == "paired_common_support"]
    question = {"experiment": "window-by-ratio", "metric": "Pass@1"}
    found = project.get(f"projects/{project.slug}/rankings", query_string=question).get_json()
    assert [row["name"] for row in found["ranking"]] == ["R1-Qwen", "R1-Llama"]
    [pair] = found["pairs"]
    assert (pair["a"], pair["b"], pair["n_common"]) == ("R1-Llama", "R1-Qwen", 32)
    assert (pair["wins"], pair["ties"], pair["losses"]) == (7, 1, 24)
    assert [(row["wins"], row["ties"], row["losses"], row["cells"]) for row in found["ranking"]] == [
        (24, 1, 7, 80),
        (7, 1, 24, 32),
    ]
    assert found["slots"] == {"total": 80, "compared": 32}
    assert found["benchmarks"] == ["AIME'24", "AIME'25", "AMC23", "GPQA_D"]
    assert (len(found["inputs"]), found["warnings"]) == (8, [])
    # The reference takes the values as printed, the registry the whole numbers of successes nearest to them.
    assert -pair["difference"] == pytest.approx(wanted["macro_mean_diff"], abs=0.02)
