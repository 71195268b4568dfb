"""Questions of readers of the five documents of the demonstration: each is one request by names, and has the answer
that their numbers give.

What is expected is computed from the published values by the standard library, numpy and scipy.
"""

from __future__ import annotations

import csv
import io
import itertools
import math
from collections.abc import Iterator
from statistics import fmean, stdev
from typing import Any

import numpy as np
import pytest
from scipy.stats import beta, norm

from registry.demo import demo_aliases, demo_grids
from tests.house import House, Project
from tests.registry.asking import commands, computed_at_once

CORE = {"benchmark": "Core Generalization"}
LONG = {"benchmark": "Short-to-Long"}
SWEEP = {"experiment": "window-by-ratio", "metric": "Pass@1"}
GRIDS = {(sent["benchmark"], sent["model"]): sent for sent in demo_grids()}
PANELS = ["AIME'24", "AIME'25", "AMC23", "GPQA_D"]
SENT_AS = {"AIME'24": "AIME24", "AIME'25": "AIME25", "AMC23": "AMC23", "GPQA_D": "GPQA D"}
"""What the document of R1-Llama calls the benchmarks; aliases join both spellings."""
WINDOWS, RATIOS = [500, 1000, 2000, 3000], [0.1, 0.2, 0.3, 0.4, 0.5]
TRIALS = 300
"""Behind each cell of the first two documents."""


@pytest.fixture(scope="module")
def demo(house: House) -> Iterator[Project]:
    project = house.make_project()
    with computed_at_once(house):
        for alias in demo_aliases():
            assert project.call("POST", f"projects/{project.slug}/aliases", json=alias).status_code == 201
        for sent in demo_grids():
            assert project.publish(sent).status_code == 201
        yield project


def rows(benchmark: str, model: str) -> dict[str, dict[float, float]]:
    """The measured cells of a grid of two axes: values by the second level, by the first."""
    sent = GRIDS[benchmark, model]
    first, second = (axis["levels"] for axis in sent["axes"])
    return {
        str(name): {at: value for at, value in zip(second, row, strict=True) if value is not None}
        for name, row in zip(first, sent["values"], strict=True)
    }


QWEN_3B, QWEN_7B = rows("Core Generalization", "Qwen-2.5 3B"), rows("Short-to-Long", "Qwen-2.5 7B")
QWEN = {panel: np.array(GRIDS[panel, "R1-Qwen"]["values"]) for panel in PANELS}
LLAMA = {panel: np.array(GRIDS[SENT_AS[panel], "R1-Llama"]["values"], dtype=float) for panel in PANELS}


def ask(demo: Project, path: str, **query: Any) -> Any:
    """The answer of one command."""
    with commands(demo, 1) as terminal:
        return terminal.ask(path, **query).get_json()


def level_means(demo: Project, axis: str) -> dict[Any, float]:
    told = ask(demo, "/grid/sensitivity", **CORE)
    return {one["level"]: one["raw_mean"] for one in told["sensitivity"]["axes"][axis]["levels"]}


def test_the_best_cells_of_each_type(demo: Project) -> None:
    told = ask(demo, "/grid/peaks", **CORE, fields="peaks.by.Type")["peaks"]["by"]["Type"]
    found = {one["level"]: (one["value"], [at["Length"] for at in one["at"]]) for one in told}
    best = {name: max(row.values()) for name, row in QWEN_3B.items()}
    assert found == {
        name: (best[name], [at for at, value in row.items() if value == best[name]]) for name, row in QWEN_3B.items()
    }


def test_the_mean_of_each_type_and_length(demo: Project) -> None:
    assert level_means(demo, "Type") == pytest.approx({name: fmean(row.values()) for name, row in QWEN_3B.items()})
    columns = {at: [row[at] for row in QWEN_3B.values() if at in row] for at in range(20)}
    assert level_means(demo, "Length") == pytest.approx({at: fmean(values) for at, values in columns.items()})


def test_how_much_was_measured_and_where_the_holes_are(demo: Project) -> None:
    told = ask(demo, "/grid/coverage", **CORE)["coverage"]
    assert (told["cells"], told["possible"]) == (sum(map(len, QWEN_3B.values())), 7 * 20)
    complete = [at for at in range(20) if all(at in row for row in QWEN_3B.values())]
    assert told["by"]["Length"]["complete"] == complete


def loss(row: dict[float, float]) -> float:
    """The first value less the last one."""
    values = list(row.values())
    return values[0] - values[-1]


def surely(row: dict[float, float], level: float, tail: float) -> tuple[int, int]:
    """Cells whose Clopper and Pearson bounds at this tail lie above, and below, a level."""
    above = below = 0
    for value in row.values():
        hits = round(value * TRIALS / 100)
        above += hits > 0 and beta.ppf(tail, hits, TRIALS - hits + 1) >= level / 100
        below += hits < TRIALS and beta.ppf(1 - tail, hits + 1, TRIALS - hits) <= level / 100
    return above, below


def test_how_many_cells_are_above_98_and_their_share(demo: Project) -> None:
    [told] = ask(demo, "/grid/thresholds", **CORE, value="98", fields="counts")["counts"]
    cells = [value for row in QWEN_3B.values() for value in row.values()]
    above = sum(value > 98 for value in cells)
    assert (told["cells"], told["above"], told["share_above"]) == (len(cells), above, above / len(cells))
    assert told["below"] == sum(value < 98 for value in cells)
    counts = [surely(row, 98, 0.05 / 2 / len(cells)) for row in QWEN_3B.values()]
    lowest, highest = sum(one for one, _ in counts), len(cells) - sum(other for _, other in counts)
    assert (told["interval"]["low"], told["interval"]["high"]) == (lowest, highest)


def test_what_is_left_of_the_first_value(demo: Project) -> None:
    told = ask(demo, "/grid/trends", **CORE, along="Length", fields="series.at,series.retained")["series"]
    for one in told:
        values = list(QWEN_3B[one["at"]["Type"]].values())
        left = one["retained"]
        assert left["value"] == pytest.approx(values[-1] / values[0])
        # Katz's interval on the logarithmic scale is close for many trials: the ends agree within 0.02.
        shares = [(value * 3 + 0.5) / (TRIALS + 1) for value in (values[0], values[-1])]
        error = math.sqrt(sum((1 - share) / share / TRIALS for share in shares))
        near = [left["value"] * math.exp(sign * norm.ppf(0.975) * error) for sign in (-1, 1)]
        assert [left["interval"]["low"], left["interval"]["high"]] == pytest.approx(near, abs=0.02)


def test_what_is_left_at_a_length(demo: Project) -> None:
    query = {**CORE, "along": "Length", "at.Length": "<=9", "fields": "series.at,series.retained,series.to"}
    told = ask(demo, "/grid/trends", **query)["series"]
    found = {one["at"]["Type"]: one["retained"]["value"] for one in told if one["to"] == 9}
    kept = {name: [value for at, value in row.items() if at <= 9] for name, row in QWEN_3B.items() if 9 in row}
    assert found == pytest.approx({name: values[-1] / values[0] for name, values in kept.items()})


def test_which_types_lose_more_than_10_points(demo: Project) -> None:
    told = ask(demo, "/grid/trends", **CORE, lost="10")
    wanted = [name for name, row in QWEN_3B.items() if loss(row) > 10]
    assert [one["at"]["Type"] for one in told["series"]] == wanted == ["1", "3", "7"]
    assert told["lost"] == {"more_than": 10.0, "of": 7}
    assert all(one["fitted_change"]["interval"] for one in told["series"])


def test_which_series_of_all_documents_lose_more_than_10_points(demo: Project) -> None:
    told = ask(demo, "/trends", lost="10")["items"]
    found = {(one["model"], one["Type"]) for one in told if one["experiment"] == "type-by-length"}
    both = {"Qwen-2.5 3B": QWEN_3B, "Qwen-2.5 7B": QWEN_7B}
    wanted = {(model, name) for model, table in both.items() for name, row in table.items() if loss(row) > 10}
    assert found == wanted
    assert all(one["first"] - one["last"] > 10 for one in told if one["state"] == "ready" and one["along"])


def test_where_type_5_reaches_90(demo: Project) -> None:
    [series] = ask(demo, "/grid/thresholds", **CORE, value="90", **{"at.Type": "5"})["series"]
    [found] = series["thresholds"]
    row = QWEN_3B["5"]
    assert found["first_reaching"] == min(at for at, value in row.items() if value >= 90) == 14
    steps = itertools.pairwise(row.items())
    rising = [(a, b, x, y) for (a, x), (b, y) in steps if x < 90 <= y]
    crossed = [a + (90 - x) / (y - x) * (b - a) for a, b, x, y in rising]
    assert [one["at"] for one in found["crossings"] if one["direction"] == "rising"] == pytest.approx(crossed)
    assert found["sustained_from"] is None  # 89.7 at the end


def test_sharp_drops_and_critical_lengths(demo: Project) -> None:
    told = ask(demo, "/grid/changes", **LONG, along="Length")["series"]
    found = {one["at"]["Type"]: one["largest"]["drop"] for one in told}
    for name, row in QWEN_7B.items():
        steps = [(after - before, b) for (_, before), (b, after) in itertools.pairwise(row.items())]
        size, at = min(steps)
        assert found[name]["size"] == pytest.approx(size)
        assert found[name]["at"][0]["to"] == at
    assert found["4"]["at"][0]["to"] == 11
    sharp = {(one["at"]["Type"], step["to"]) for one in told for step in one["changes"] if step["sharp"]}
    assert ("4", 11) in sharp


def test_from_short_lengths_to_long_ones_in_one_grid(demo: Project) -> None:
    told = ask(demo, "/grid/trends", **CORE, along="Length", split="9")
    found = {one["at"]["Type"]: one["split"] for one in told["series"] if "split" in one}
    parts = {
        name: ([value for at, value in row.items() if at <= 9], [value for at, value in row.items() if at > 9])
        for name, row in QWEN_3B.items()
    }
    both = {name: fmean(long) - fmean(short) for name, (short, long) in parts.items() if short and long}
    assert {name: one["difference"] for name, one in found.items()} == pytest.approx(both)
    whole = told["grid_split"]["Length"]
    assert (whole["count"], whole["difference"]) == (6, pytest.approx(fmean(both.values())))
    assert whole["interval"]["low"] < whole["difference"] < whole["interval"]["high"] < 0


def test_the_gap_between_two_documents_by_type_and_along_length(demo: Project) -> None:
    names = {"baseline_model": "Qwen-2.5 3B", "contender_model": "Qwen-2.5 7B"}
    names |= {"baseline_benchmark": "Core Generalization", "contender_benchmark": "Short-to-Long"}
    told = ask(demo, "/comparisons", experiment="type-by-length", metric="accuracy", **names)
    gaps = {
        name: [value - QWEN_3B[name][at] for at, value in row.items() if at in QWEN_3B[name]]
        for name, row in QWEN_7B.items()
    }
    every = [gap for row in gaps.values() for gap in row]
    assert (told["status"], told["n_common"], told["differs"]) == ("confounded", 35, ["model", "benchmark"])
    assert told["mean"] == pytest.approx(fmean(every))
    found = {one["level"]: one["mean"] for one in told["by"]["Type"]["levels"]}
    assert found == pytest.approx({name: fmean(row) for name, row in gaps.items()})


@pytest.mark.parametrize("panel", PANELS)
def test_the_best_window_and_ratio_of_a_panel(demo: Project, panel: str) -> None:
    best = ask(demo, "/grid/peaks", benchmark=panel, model="R1-Qwen")["peaks"]["best"]
    places = np.argwhere(QWEN[panel] == QWEN[panel].max())
    assert best["value"] == QWEN[panel].max()
    assert best["at"] == [{"Local Window Size": WINDOWS[i], "Ratio": RATIOS[j]} for i, j in places]


def test_one_window_and_ratio_for_all_panels(demo: Project) -> None:
    told = ask(demo, "/experiments/window-by-ratio/sweet-spot", metric="Pass@1", model="R1-Qwen")
    regret = np.mean([values.max() - values for values in QWEN.values()], axis=0)
    row, column = np.unravel_index(regret.argmin(), regret.shape)
    assert told["mean_regret"]["value"] == pytest.approx(regret.min())
    assert told["mean_regret"]["at"] == [{"Local Window Size": WINDOWS[row], "Ratio": RATIOS[column]}]
    assert (WINDOWS[row], RATIOS[column]) == (2000, 0.4)


def test_the_best_window_of_each_ratio_over_the_panels(demo: Project) -> None:
    query = {**SWEEP, "model": "R1-Qwen", "group_by": "axis:Ratio,axis:Local Window Size"}
    entries = ask(demo, "/aggregates", **query)["entries"]
    mean = np.mean(list(QWEN.values()), axis=0)
    found = {(one["at"]["axis:Local Window Size"], one["at"]["axis:Ratio"]): one for one in entries}
    for (i, window), (j, ratio) in itertools.product(enumerate(WINDOWS), enumerate(RATIOS)):
        one = found[window, ratio]
        assert (one["value"], one["over"]) == (pytest.approx(mean[i, j]), 4)
        assert one["spread"]["sd"] == pytest.approx(stdev(QWEN[panel][i, j] for panel in PANELS))
        assert one["interval"]["low"] < one["value"] < one["interval"]["high"]
    best = {ratio: max(WINDOWS, key=lambda one, ratio=ratio: found[one, ratio]["value"]) for ratio in RATIOS}
    assert best == {ratio: WINDOWS[int(mean[:, j].argmax())] for j, ratio in enumerate(RATIOS)}


@pytest.mark.parametrize(("axis", "levels", "over"), [("Local Window Size", WINDOWS, 1), ("Ratio", RATIOS, 0)])
def test_the_mean_of_each_window_and_ratio_over_the_panels(
    demo: Project, axis: str, levels: list[float], over: int
) -> None:
    entries = ask(demo, "/aggregates", **SWEEP, model="R1-Qwen", group_by=f"axis:{axis}")["entries"]
    means = np.mean(list(QWEN.values()), axis=0).mean(axis=over)
    assert [one["at"][f"axis:{axis}"] for one in entries] == levels
    assert [one["value"] for one in entries] == pytest.approx(list(means))


def test_one_panel_over_all_windows(demo: Project) -> None:
    told = ask(demo, "/grid/sensitivity", benchmark="AMC23", model="R1-Qwen")["sensitivity"]["axes"]["Ratio"]["levels"]
    assert [one["raw_mean"] for one in told] == pytest.approx(list(QWEN["AMC23"].mean(axis=0)))


def test_one_model_against_the_other_by_panel(demo: Project) -> None:
    told = ask(demo, "/comparisons", **SWEEP, baseline_model="R1-Llama", contender_model="R1-Qwen")
    gaps = {panel: QWEN[panel] - LLAMA[panel] for panel in PANELS}
    found = {one["benchmark"]: one for one in told["by_benchmark"]}
    assert {panel: one["mean"] for panel, one in found.items()} == pytest.approx(
        {panel: float(np.nanmean(gap)) for panel, gap in gaps.items()}
    )
    assert {panel: one["wins"] for panel, one in found.items()} == {
        panel: int(np.sum(gap > 0)) for panel, gap in gaps.items()
    }
    # The tested difference is that of whole successes: values of one decimal leave it within 0.05 points.
    whole = fmean(float(np.nanmean(gap)) for gap in gaps.values())
    assert told["whole"]["difference"] == pytest.approx(whole, abs=0.05)
    assert told["whole"]["n_common"] == 32


def test_which_panel_is_the_hardest(demo: Project) -> None:
    """The mean of both models' means: each slot, a model with a window and a ratio, was measured on every panel."""
    wanted = {panel: fmean([float(QWEN[panel].mean()), float(np.nanmean(LLAMA[panel]))]) for panel in PANELS}
    told = ask(demo, "/aggregates", **SWEEP, group_by="benchmark", over="model")["entries"]
    assert {one["at"]["benchmark"]: one["value"] for one in told} == pytest.approx(wanted)
    ranked = ask(demo, "/rankings", **SWEEP, by="benchmark")["ranking"]
    assert [one["name"] for one in ranked] == sorted(PANELS, key=lambda panel: -wanted[panel])
    assert ranked[-1]["name"] == "AIME'25"


def test_how_little_of_a_document_was_listed(demo: Project) -> None:
    with commands(demo, 1) as terminal:
        text = terminal.ask("/coverage.csv", model="R1-Llama").text
    told = list(csv.DictReader(io.StringIO(text, newline="")))
    assert {(row["cells"], row["possible"]) for row in told} == {("8", "20")}
    assert len(told) == len(PANELS)


def test_sizes_are_not_ranked_without_numbers(demo: Project) -> None:
    query = {"experiment": "size-by-progress", "metric": "accuracy", "by": "axis:Model Size"}
    told = ask(demo, "/rankings", **query)
    assert (told["status"], told["reason"]) == ("insufficient", "no cell was measured")
    assert told["ranking"] == []
