"""What noise leaves of a peak, and sweet spots over several grids, against the reference numbers."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from reference_numbers import PERCENT, described, having, line, name_of, seed_grid, seeds
from scipy.integrate import quad
from scipy.special import betainc, betaln

from registry.grid import Axis, Grid, Level, Metric
from workers.statistics import describe, sweet_spot

R1_QWEN = ["s4/r1-qwen/AIME24", "s4/r1-qwen/AIME25", "s4/r1-qwen/AMC23", "s4/r1-qwen/GPQA_D"]
INTERIOR = [e for e in having("p_best_independent") if abs(e["output"]["sum_check"] - 1) < 1e-9]


@pytest.mark.parametrize("entry", having("noise_floor"), ids=name_of)
def test_the_maximum_of_equal_cells_agrees(entry):
    found = described(entry["grid"], entry["options"]["n"])["peaks"]
    assert found["expected_max_if_equal"] == pytest.approx(entry["output"]["expected_max_if_all_equal"], rel=1e-9)


def test_the_peak_of_aime_is_below_the_maximum_of_equal_cells():
    peaks = described("s4/r1-qwen/AIME24", 150)["peaks"]
    assert peaks["best"]["value"] == 52.0
    assert peaks["expected_max_if_equal"] == pytest.approx(52.62, abs=0.005)


@pytest.mark.parametrize("entry", INTERIOR, ids=name_of)
def test_the_chance_to_be_best_agrees(entry):
    peaks, expected = described(entry["grid"], entry["options"]["n"])["peaks"], entry["output"]
    for cell, other in zip(peaks["probability_best"], expected["top"], strict=False):
        assert cell["value"] == other["value"]
        assert cell["probability"] == pytest.approx(other["p_best"], rel=1e-9)
    assert peaks["best_set"]["size"] == expected["credible_set_95_size"]


def test_the_chance_to_be_best_survives_cells_at_the_bound():
    """A cell of 100 % has a density with a pole; checked against adaptive quadrature without the pole."""
    k, n = [300, 300, 299, 290], 300

    def density(angle: float, own: int) -> float:
        p = np.sin(angle) ** 2
        others = np.prod([betainc(j + 0.5, n - j + 0.5, p) for i, j in enumerate(k) if i != own])
        log = np.log(2) - betaln(k[own] + 0.5, n - k[own] + 0.5) + 2 * k[own] * np.log(np.sin(angle))
        return float(np.exp(log + 2 * (n - k[own]) * np.log(max(np.cos(angle), 1e-300))) * others)

    expected = [quad(density, 1.2, np.pi / 2, args=(i,), epsabs=1e-13, limit=400)[0] for i in range(4)]
    found = describe(line([100 * j / n for j in k], trials=n))["peaks"]["probability_best"]
    assert [c["probability"] for c in found] == pytest.approx(expected, rel=1e-9)
    assert sum(c["probability"] for c in found) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("grid", sorted(seeds()))
def test_chances_sum_to_one(grid):
    chances = [c["probability"] for c in described(grid, 300)["peaks"]["probability_best"]]
    assert sum(chances) == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("entry", having("shrunken_peak"), ids=name_of)
def test_the_shrunken_peak_agrees(entry):
    found, expected = described(entry["grid"], entry["options"]["n"])["peaks"]["shrunken"], entry["output"]
    assert found["value"] == pytest.approx(expected["peak_shrunk"], rel=1e-9)
    assert found["tau2"] == pytest.approx(expected["tau2"], rel=1e-9)
    assert found["mean"] == pytest.approx(expected["mu"], rel=1e-9)
    assert found["i2"] == pytest.approx(expected["I2"], rel=1e-9)
    assert [list(map(str, at.values())) for at in found["at"]] == [
        list(map(str, at)) for at in expected["shrunk_argmax"]
    ]


@pytest.mark.parametrize("entry", [e for e in having("neighbourhood") if "s0" not in e["grid"]], ids=name_of)
def test_prominence_agrees_where_both_axes_are_numeric(entry):
    found = described(entry["grid"])["peaks"]["prominence"]
    expected = list(entry["output"]["peaks"].values())
    assert [p["prominence"] for p in found] == pytest.approx([p["prominence"] for p in expected], rel=1e-9)
    assert [p["neighbours"] for p in found] == [p["neighbours"] for p in expected]


def test_neighbours_on_a_nominal_axis_do_not_exist():
    found = described("s0/core/qwen2.5-3b")["peaks"]["prominence"]
    assert found[0] == {
        "at": {"Type": "2", "Length": 1},
        "neighbours": 1,
        "neighbour_mean": pytest.approx(99.7),
        "prominence": pytest.approx(0.3),
    }


def test_without_noise_no_chance_is_claimed():
    peaks = described("s4/r1-qwen/AIME24")["peaks"]
    assert peaks["noise_status"] == "insufficient"
    assert peaks["probability_best"] is None


def test_the_chance_to_be_best_turns_with_the_direction():
    lower = Metric("error", "%", "lower", 0, 100)
    up = describe(line([70.0, 80.0, 85.0], trials=100))["peaks"]
    down = describe(line([30.0, 20.0, 15.0], metric=lower, trials=100))["peaks"]
    assert [c["probability"] for c in up["probability_best"]] == pytest.approx(
        [c["probability"] for c in down["probability_best"]], rel=1e-12
    )
    assert down["expected_max_if_equal"] == pytest.approx(100 - up["expected_max_if_equal"], rel=1e-12)
    assert down["shrunken"]["value"] == pytest.approx(100 - up["shrunken"]["value"], rel=1e-12)


def test_two_normal_cells_have_a_closed_form():
    grid = dataclasses.replace(line([1.0, 2.0], metric=Metric("score", None, "higher")), stderr=(1.0, 1.0))
    found = describe(grid)["peaks"]["probability_best"]
    assert found[0]["probability"] == pytest.approx(0.7602499389065233, rel=1e-9)  # Phi(1 / sqrt 2)


@pytest.mark.parametrize("entry", having("sweet_spot"), ids=name_of)
def test_the_sweet_spot_agrees(entry):
    found = sweet_spot([seed_grid(name) for name in entry["options"]["facets"]])
    expected = entry["output"]
    names = {"mean_norm_regret": "mean_normalised_regret", "minimax_norm_regret": "minimax_normalised_regret"}
    for name in ("mean_rank", "mean_z", "mean_norm_regret", "minimax_norm_regret"):
        mine = found[names.get(name, name)]
        assert mine["value"] == pytest.approx(expected[name]["value"], rel=1e-9)
        assert [list(at.values()) for at in mine["at"]] == expected[name]["at"]
    assert found["mean_regret"]["value"] == pytest.approx(expected["mean_regret_pp"]["value"], rel=1e-9)
    assert [list(at.values()) for at in found["pareto"]] == expected["pareto"]
    assert found["common_cells"] == expected["common_cells"]


def test_one_ratio_is_best_in_all_benchmarks():
    ratio = sweet_spot([seed_grid(name) for name in R1_QWEN])["axes"]["Ratio"]
    assert ratio["best_count"] == [0, 0, 0, 4, 0]
    assert ratio["friedman"]["exact_p"] == pytest.approx(42 / 1728000, rel=1e-12)
    window = sweet_spot([seed_grid(name) for name in R1_QWEN])["axes"]["Local Window Size"]
    assert window["friedman"]["exact_p"] > 0.05


def test_grids_over_other_axes_have_no_sweet_spot_together():
    other = Grid(PERCENT, (Axis("y", "numeric", (Level("0", 0.0),)),), (1.0,))
    assert sweet_spot([line([1.0, 2.0]), other])["status"] == "not_comparable"
    assert sweet_spot([line([1.0, 2.0])])["status"] == "insufficient"
    assert sweet_spot([line([1.0, None]), line([None, 1.0])])["status"] == "not_comparable"
