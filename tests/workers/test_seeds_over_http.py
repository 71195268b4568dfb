"""The seed heatmaps through the whole service: published over HTTP, computed, read back, and held to reference numbers.

The reference numbers were made by scipy, statsmodels and others; `statistics/reference.json` names each.
"""

from __future__ import annotations

import json
import math
from datetime import timedelta
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
def demo(house: House) -> Project:
    project = house.make_project()
    for alias, name in ALIASES:
        body = {"kind": "benchmark", "alias": alias, "name": name}
        assert project.call("POST", f"projects/{project.slug}/aliases", json=body).status_code == 201
    for sent in demo_grids():
        assert project.publish(sent).status_code == 201
    house.compute()
    return project


@pytest.fixture(scope="module")
def described(demo: Project) -> dict[str, dict[str, Any]]:
    """The statistics of every seed grid with numbers, by the reference's name."""
    found = {}
    for sent in demo_grids():
        if "values" in sent:
            names = {kind: sent[kind] for kind in ("experiment", "benchmark", "model")}
            [grid] = [
                one
                for one in demo.get(f"projects/{demo.slug}/grids", query_string=names).get_json()["items"]
                if one["benchmark"] == sent["benchmark"]
            ]
            found[name_of(sent)] = demo.get(f"grids/{grid['id']}/statistics").get_json() | {"id": grid["id"]}
    return found


def references(stat: str) -> list[Any]:
    named = [entry for entry in ENTRIES if entry["stat"] == stat and entry["grid"].startswith(tuple(PREFIXES.values()))]
    return [pytest.param(entry, id=f"{entry['grid']} {entry['target']}") for entry in named]


def series_of(document: dict[str, Any], target: str) -> dict[str, Any]:
    axis, level = target.split(" ", 1)[1].split("=")
    return next(one for one in document["series"] if str(one["at"].get(axis)) == level)


@pytest.mark.parametrize("entry", references("theil_sen"))
def test_slopes_are_those_of_scipy(described: dict[str, dict[str, Any]], entry: dict[str, Any]) -> None:
    found, wanted = series_of(described[entry["grid"]], entry["target"]), entry["output"]
    assert found["slope"] == pytest.approx(wanted["slope"], rel=1e-9, abs=1e-12)
    if found["slope_interval"] is not None:
        interval = (found["slope_interval"]["low"], found["slope_interval"]["high"])
        assert interval == pytest.approx((wanted["low"], wanted["high"]), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("entry", references("mk_exact"))
def test_mann_kendall_is_exact(described: dict[str, dict[str, Any]], entry: dict[str, Any]) -> None:
    found, wanted = series_of(described[entry["grid"]], entry["target"])["mann_kendall"], entry["output"]
    assert found["s"] == wanted["S"]
    assert found["p"] == pytest.approx(wanted["p_two_sided"], rel=1e-9)
    assert found["min_attainable_p"] == pytest.approx(wanted["min_attainable_p"], rel=1e-9)


@pytest.mark.parametrize("entry", references("direction_trials"))
def test_directions_with_trials_are_the_reference_labels(
    described: dict[str, dict[str, Any]], entry: dict[str, Any]
) -> None:
    """A word of the reference that states nothing, "flat within noise", is a shown `flat` or `inconclusive` here.

    Of up to five cells the p comes from another test, and the word is the reference's all the same.
    """
    found = series_of(described[entry["grid"]], entry["target"])
    word, ends = entry["output"]["label"], found["fitted_change"]["interval"]
    if word == "flat_within_noise":
        word = "flat" if -2 <= ends["low"] <= ends["high"] <= 2 else "inconclusive"
    assert found["direction"] == word
    if found["count"] > 5:
        assert found["logit"]["p"] == pytest.approx(entry["output"]["trend_p"], rel=1e-9)
        assert found["q"] == pytest.approx(entry["output"]["trend_q"], rel=1e-9)


@pytest.mark.parametrize("entry", references("noise_floor"))
def test_the_noise_floor_stands_beside_the_peak(described: dict[str, dict[str, Any]], entry: dict[str, Any]) -> None:
    peaks = described[entry["grid"]]["peaks"]
    assert peaks["best"]["value"] == entry["output"]["observed_max"]
    # The reference has the normal law of the maximum, the registry the binomial one.
    assert peaks["expected_max_if_equal"] == pytest.approx(entry["output"]["expected_max_if_all_equal"], abs=0.3)


@pytest.mark.parametrize("entry", references("coverage"))
def test_coverage_counts_what_was_measured(described: dict[str, dict[str, Any]], entry: dict[str, Any]) -> None:
    found = described[entry["grid"]]["coverage"]
    assert (found["cells"], found["possible"]) == (entry["output"]["cells"], entry["output"]["possible"])


def test_the_statistics_of_the_seeds_hold_no_nan(described: dict[str, dict[str, Any]]) -> None:
    def walk(value: Any) -> None:
        assert not isinstance(value, float) or math.isfinite(value)
        for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
            walk(inner)

    walk(described)


def test_seed_four_is_ranked_against_seed_two_over_thirty_two_slots(demo: Project) -> None:
    [wanted] = [entry["output"] for entry in ENTRIES if entry["stat"] == "paired_common_support"]
    question = {"experiment": "window-by-ratio", "metric": "Pass@1"}
    found = demo.get(f"projects/{demo.slug}/rankings", query_string=question).get_json()
    assert [row["name"] for row in found["ranking"]] == ["R1-Qwen", "R1-Llama"]
    [pair] = found["pairs"]
    assert (pair["n_common"], pair["wins"], pair["ties"], pair["losses"]) == (32, 7, 1, 24)
    # The reference takes the values as printed, the registry the whole numbers of successes nearest to them.
    assert -pair["difference"] == pytest.approx(wanted["macro_mean_diff"], abs=0.02)


def test_the_types_of_seed_zero_fall_into_four_groups(demo: Project, house: House) -> None:
    question = {
        "experiment": "type-by-length",
        "metric": "accuracy",
        "by": "axis:Type",
        "benchmark": "Core Generalization",
    }
    path = f"projects/{demo.slug}/rankings"
    assert demo.get(path, query_string=question).status_code == 202
    house.compute()
    found = demo.get(path, query_string=question).get_json()
    assert [sorted(group) for group in found["groups"]] == [["2", "6"], ["4", "7"], ["3"], ["1", "5"]]


@pytest.mark.parametrize(("model", "facets"), [("R1-Qwen", "s4/*"), ("R1-Llama", "s2/*")])
def test_the_sweet_spot_is_the_reference_one(demo: Project, house: House, model: str, facets: str) -> None:
    [wanted] = [entry["output"] for entry in ENTRIES if entry["stat"] == "sweet_spot" and entry["grid"] == facets]
    path = f"projects/{demo.slug}/experiments/window-by-ratio/sweet-spot"
    question = {"metric": "Pass@1", "model": model}
    assert demo.get(path, query_string=question).status_code == 202
    house.compute()
    found = demo.get(path, query_string=question).get_json()
    assert found["common_cells"] == wanted["common_cells"]
    for name, theirs in (("mean_rank", "mean_rank"), ("mean_z", "mean_z"), ("mean_regret", "mean_regret_pp")):
        assert found[name]["value"] == pytest.approx(wanted[theirs]["value"], rel=1e-9)
        assert [list(at.values()) for at in found[name]["at"]] == wanted[theirs]["at"]
    assert sorted(list(at.values()) for at in found["pareto"]) == sorted(wanted["pareto"])
    assert len(found["inputs"]) == 4


def test_ratio_is_certain_and_window_is_not_in_seed_four(demo: Project, house: House) -> None:
    """Ratio 0.4 is best in all four benchmarks: 42 of 1,728,000 arrangements are as extreme."""
    path = f"projects/{demo.slug}/experiments/window-by-ratio/sweet-spot"
    question = {"metric": "Pass@1", "model": "R1-Qwen"}
    demo.get(path, query_string=question)
    house.compute()
    axes = demo.get(path, query_string=question).get_json()["axes"]
    assert axes["Ratio"]["best_count"] == [0, 0, 0, 4, 0]
    assert axes["Ratio"]["friedman"]["exact_p"] == pytest.approx(42 / 1_728_000, rel=1e-9)
    assert axes["Local Window Size"]["friedman"]["exact_p"] > 0.05
    text = demo.get(f"{path}.txt", query_string=question).get_data(as_text=True)
    assert "Ratio 0.4" in text


def test_asked_thresholds_are_the_reference_ones(
    demo: Project, house: House, described: dict[str, dict[str, Any]]
) -> None:
    document = described["s0/core/qwen2.5-3b"]
    path = f"grids/{document['id']}/trends?threshold=85"
    assert demo.get(path).status_code == 202
    house.compute()
    found = demo.get(path).get_json()
    for entry in (e for e in ENTRIES if e["stat"] == "threshold_85" and e["grid"].startswith("s0")):
        [crossing] = series_of(found, entry["target"])["thresholds"]
        wanted = entry["output"]
        assert (crossing["first_failing"], crossing["recovers"]) == (wanted["first_below"], wanted["recovers"])
        assert crossing["sustained_until"] == wanted["sustained_until"]
        at = wanted["interpolated_crossing"]
        falls = [one["at"] for one in crossing["crossings"] if one["direction"] == "falling"]
        assert falls[:1] == ([] if at is None else [pytest.approx(at, rel=1e-9)])
    assert demo.get(path, headers={"Accept": "text/plain"}).get_data(as_text=True).startswith("Thresholds")


def test_thresholds_may_be_asked_along_one_axis(demo: Project, house: House, described: dict[str, Any]) -> None:
    path = f"grids/{described['s4/r1-qwen/AIME24']['id']}/trends?threshold=45&along=Ratio"
    demo.get(path)
    house.compute()
    assert {series["along"] for series in demo.get(path).get_json()["series"]} == {"Ratio"}


def test_statistics_of_older_methods_are_served_until_the_new_ones_are_there(project: Project, house: House) -> None:
    from sqlalchemy import func, update

    from registry.storage.tables import cached_results, derivations, statistics
    from workers.jobs.old_methods import requeue_old_methods

    grid = project.published()
    house.compute()
    question = f"projects/{project.slug}/rankings?experiment=type-by-length&metric=accuracy"
    assert project.get(question).status_code == 200
    with house.database.transaction() as connection:
        for table, mine in (
            (statistics, statistics.c.grid_id == grid["id"]),
            (cached_results, cached_results.c.state == "ready"),
        ):
            connection.execute(update(table).where(mine).values(methods_version="0"))
        long_ago = func.now() - timedelta(days=365)
        for table in (derivations, cached_results):
            connection.execute(update(table).values(due_at=long_ago))
    with house.database.transaction() as connection:
        assert requeue_old_methods(connection, 30) >= 2
    # They have waited since they were requeued, however old their grids are.
    assert house.app.test_client().get("/readyz").get_json()["derivations"]["oldest_seconds"] < 86_400
    assert project.get(f"grids/{grid['id']}").get_json()["derivation"]["state"] == "pending"
    assert project.get(f"grids/{grid['id']}/statistics").status_code == 200
    assert project.get(question).status_code == 200
    house.compute()
    with house.database.transaction() as connection:
        assert requeue_old_methods(connection, 30) == 0
