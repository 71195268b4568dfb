"""What noise leaves of a peak, against the reference numbers."""

import dataclasses
import math
from itertools import pairwise

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad
from scipy.special import betainc, betaln

from registry.grids.grid import Metric
from tests.workers.statistics.documents import describe
from tests.workers.statistics.reference_numbers import agrees, described, each, line, seed_grid
from workers.statistics.best_cells import noisy_peaks, quantile_of_best
from workers.statistics.posteriors import chances, normal_posteriors
from workers.statistics.table import Table

SCORE = Metric("score", None, "higher")


@each("noise_floor")
def test_the_maximum_of_equal_cells_agrees(entry):
    """The reference has the normal law, the service the binomial one: alike to a fiftieth of an error."""
    found = described(entry["grid"], entry["options"]["n"])["peaks"]
    expected = entry["output"]["expected_max_if_all_equal"]
    assert found["expected_max_if_equal"] == pytest.approx(expected, abs=100 / entry["options"]["n"] ** 0.5 / 10)


@pytest.mark.parametrize(("hits", "n"), [([99, 98, 100, 99, 99] * 4, 100), ([3, 5, 4], 10), ([60, 58, 61, 60], 120)])
def test_the_floor_of_noise_follows_the_binomial_law(hits, n):
    """E max = sum over the lattice of 1 - P(all are below), with scipy's binomial law; for twenty cells near 99 % of
    100 trials the normal law expects 100.85, an accuracy that does not exist."""
    share = sum(hits) / len(hits) / n
    expected = sum(1 - stats.binom.cdf(j, n, share) ** len(hits) for j in range(n)) * 100 / n
    found = describe(line([100 * k / n for k in hits], trials=n))["peaks"]["expected_max_if_equal"]
    assert found == pytest.approx(expected, rel=1e-9)
    assert found <= 100


def test_the_floor_of_very_many_trials_is_the_normal_one():
    """The mean of the largest of three normals is 3 / (2 sqrt pi) errors; a lattice of 10^12 shares would not fit into
    memory."""
    half = 50.0000000001
    found = describe(line([half] * 3, trials=10**12))["peaks"]["expected_max_if_equal"]
    assert found - half == pytest.approx(3 / (2 * math.sqrt(math.pi)) * 100 * 0.5e-6, rel=1e-6)
    assert describe(line([90.0], trials=100))["peaks"]["expected_max_if_equal"] is None


def test_equal_cells_rarely_surpass_the_plausible_maximum():
    """The smallest share that the best of ten cells of 100 trials stays within in 95 %, by scipy's binomial law; of
    cells with errors Nair's (1948) tabulated deviation from their mean; of two repeats of four cells by draws."""
    hits = [70, 72, 69, 75, 66, 71, 70, 68, 73, 66]
    most = next(j for j in range(101) if stats.binom.cdf(j, 100, sum(hits) / 1000) ** 10 >= 0.95)
    found = describe(line([float(k) for k in hits], trials=100))["peaks"]
    assert found["plausible_max_if_equal"] == pytest.approx(most)
    found = describe(with_errors([1.0, 2.0, 3.0]))["peaks"]
    assert found["plausible_max_if_equal"] == pytest.approx(2 + 1.738, abs=0.001)
    repeated = dataclasses.replace(line([0.0, 1.0, 2.0, 5.0], metric=SCORE), repeats=(2,) * 4, sd=(2.0**0.5,) * 4)
    found = describe(repeated)["peaks"]
    draw = np.random.default_rng(5)
    cells, error = draw.normal(0, 1, (200_000, 4)), np.sqrt(draw.chisquare(4, 200_000) / 4)
    beyond = (cells.max(axis=1) - cells.mean(axis=1)) / error > found["plausible_max_if_equal"] - 2
    assert beyond.mean() == pytest.approx(0.048, abs=0.0015)
    largest = np.mean(cells.max(axis=1)) / np.mean(error)
    assert found["expected_max_if_equal"] - 2 == pytest.approx(largest, abs=0.01)


def with_errors(values):
    """A line of scores with standard errors of 1."""
    return dataclasses.replace(line(values, metric=SCORE), stderr=(1.0,) * len(values))


@each("p_best_independent")
def test_the_chance_to_be_best_if_unrelated_agrees(entry):
    peaks, expected = described(entry["grid"], entry["options"]["n"])["peaks"], entry["output"]
    by_chance = sorted(peaks["probability_best"], key=lambda cell: -cell["if_unrelated"])
    for cell, other in zip(by_chance, expected["top"], strict=False):
        assert cell["value"] == other["value"]
        assert cell["if_unrelated"] == pytest.approx(other["p_best"], rel=1e-9)


def test_cells_of_seed_0_at_the_bound_have_the_chance_that_draws_give():
    """The quadrature of another library misses the pole at 100 %; a million draws give each such cell .2841."""
    cells = [cell for cell in described("s0/core/qwen2.5-3b", 300)["peaks"]["probability_best"] if cell["value"] == 100]
    assert [cell["if_unrelated"] for cell in cells] == pytest.approx([0.2841] * len(cells), abs=0.002)


def shrunken_by_hand(values: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray, float, float, float]:
    """Shrinkage of proportions of one number of trials, by the one noise that all have on average: what they vary by
    beyond it is the variance between them. Means and variances, by the noise at the shrunken cells, target, tau2, I2.
    """

    def noise(mean: np.ndarray) -> np.ndarray:
        share = (mean * n / 100 + 0.5) / (n + 1)
        return share * (1 - share) / n * 1e4

    target, v = float(values.mean()), float(noise(np.rint(values * n / 100) * 100 / n).mean())
    tau2 = max(0.0, float(values.var(ddof=1)) - v)
    own = noise(target + tau2 / (tau2 + v) * (values - target))
    i2 = max(0.0, 1 - v / float(values.var(ddof=1)))
    return target + tau2 / (tau2 + own) * (values - target), tau2 * own / (tau2 + own), target, tau2, i2


def test_the_chance_to_be_best_is_that_of_the_shrunken_cells():
    """Against 200,000 draws; .0011 is the Monte Carlo error of a chance."""
    values = np.array([60.0, 52.0, 58.0, 41.0, 45.0, 50.0])
    mean, variance, *_ = shrunken_by_hand(values, 150)
    draws = np.random.default_rng(7).normal(mean, np.sqrt(variance), (200_000, 6)).argmax(axis=1)
    expected = np.bincount(draws, minlength=6) / len(draws)
    found = describe(line(values.tolist(), trials=150))["peaks"]["probability_best"]
    listed = {c["at"]["x"]: c["probability"] for c in found}
    assert listed == pytest.approx({x: expected[int(x)] for x in listed}, abs=0.004)
    assert expected[[i for i in range(6) if i not in listed]].sum() < 0.01


@pytest.mark.parametrize("trials", [20, (10, 200) * 10])
def test_equal_cells_are_shrunk_towards_what_they_all_have(trials):
    """Nine in ten: by the noise of each cell's own value the mean was 93.2 by 20 trials each, 90.6 by 10 and 200."""
    random, n = np.random.default_rng(2), np.broadcast_to(trials, 20)
    means = []
    for _ in range(300):
        values = (100 * random.binomial(n, 0.9) / n).tolist()
        found = noisy_peaks(Table.of(line(values, trials=trials))).shrunken
        means.append(found.mean if found else 90.0)
    assert np.mean(means) == pytest.approx(90, abs=4 * np.std(means) / np.sqrt(300))


def test_quiet_cells_do_not_say_how_far_the_others_are_apart():
    """Three loud cells far above three quiet ones, which are alike: what noise leaves of the loud ones is most."""
    values, errors = [80.0, 85.0, 95.0, 50.0, 50.5, 51.0], (4.0, 4.0, 4.0, 0.05, 0.05, 0.05)
    peaks = describe(dataclasses.replace(line(values), stderr=errors))["peaks"]
    draws = np.random.default_rng(7).normal(values, errors, (200_000, 6)).argmax(axis=1)
    assert peaks["probability_best"][0]["probability"] == pytest.approx(np.mean(draws == 2), abs=0.01)
    assert peaks["shrunken"]["value"] == pytest.approx(95, abs=2)


def test_cells_that_differ_by_noise_alone_are_equally_likely_the_best():
    """The 52.0 of AIME'24 among twenty cells with no variance between them: one in twenty, not .39."""
    peaks = described("s4/r1-qwen/AIME24", 150)["peaks"]
    assert peaks["best"]["value"] == 52.0
    assert peaks["expected_max_if_equal"] == pytest.approx(52.64, abs=0.005)
    assert [cell["probability"] for cell in peaks["probability_best"]] == pytest.approx([0.05] * 20)
    assert peaks["probability_best"][0]["if_unrelated"] == pytest.approx(0.3936, abs=0.0001)
    assert peaks["best_set"]["size"] == 20


@pytest.mark.parametrize(
    ("cells", "df", "expected"),
    [(2, None, 1.6449), (5, None, 2.1603), (5, 1e5, 2.1603), (10, None, 2.42), (20, None, 2.63), (4, 10.0, 2.34)],
)
def test_the_constant_of_guptas_set_is_the_tabulated_one(cells, df, expected):
    """Dunnett's one-sided constants at 95 % for k - 1 treatments (Hochberg and Tamhane 1987, tables 2 and 4)."""
    assert quantile_of_best(cells, 0.95, df, True) == pytest.approx(expected, abs=0.01)


def test_the_guaranteed_set_keeps_what_noise_cannot_tell_from_the_best():
    """By hand: arcsines of roots with variance 1/(4 n + 2), within 2.16 root-two errors of the best of five."""
    hits, n = [270, 262, 255, 240, 200], 300
    score = np.arcsin(np.sqrt((np.array(hits) + 3 / 8) / (n + 3 / 4)))
    inside = (score.max() - score) / math.sqrt(2 / (4 * n + 2)) <= 2.1603
    found = describe(line([100 * k / n for k in hits], trials=n))["peaks"]["best_set"]
    assert [at["x"] for at in found["at"]] == np.flatnonzero(inside).tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("hits", "n", "effect"), [([300, 300, 299, 290], 300, None), ([116, 115, 112, 100], 116, 2.25)]
)
def test_the_chance_to_be_best_survives_cells_at_the_bound(hits, n, effect):
    """A cell of 100 % has a density with a pole, and with a design effect, of trials that are not whole, a broken power
    all of whose derivatives have poles; against adaptive quadrature in pieces towards the bound."""
    k, m = [j / (effect or 1) for j in hits], n / (effect or 1)

    def density(angle: float, own: int) -> float:
        p = np.sin(angle) ** 2
        others = np.prod([betainc(j + 0.5, m - j + 0.5, p) for i, j in enumerate(k) if i != own])
        log = np.log(2) - betaln(k[own] + 0.5, m - k[own] + 0.5) + 2 * k[own] * np.log(np.sin(angle))
        return float(np.exp(log + 2 * (m - k[own]) * np.log(max(np.cos(angle), 1e-300))) * others)

    ends = [0.2, 0.7, *(np.pi / 2 - 0.4 * 4.0**-i for i in range(14)), np.pi / 2]
    expected = [sum(quad(density, *piece, args=(i,), epsabs=1e-15)[0] for piece in pairwise(ends)) for i in range(4)]
    grid = dataclasses.replace(line([100 * j / n for j in hits], trials=n), design_effect=effect)
    found = {c["at"]["x"]: c["if_unrelated"] for c in describe(grid)["peaks"]["probability_best"]}
    assert found == pytest.approx({x: expected[int(x)] for x in found}, rel=1e-9)
    assert sum(found.values()) == pytest.approx(1 - sum(expected[i] for i in range(4) if i not in found), abs=1e-12)


@pytest.mark.parametrize(("count", "spread"), [(3, 1), (3, 30), (40, 1), (40, 2), (40, 4), (40, 30), (250, 1.5)])
def test_chances_of_normal_cells_are_their_integrals(count, spread):
    """Few cells and many, alike in their errors and not, against the trapezoidal rule at a fiftieth of the least
    error."""
    draw = np.random.default_rng(count)
    mean, error = draw.normal(0, 1, count), np.geomspace(1.0, spread, count)
    at = np.arange((mean - 9 * error).max(), (mean + 9 * error).max(), 0.02)
    laws = stats.norm(mean[:, None], error[:, None])
    logs = laws.logcdf(at)
    integrand = np.exp(laws.logpdf(at) + logs.sum(axis=0) - logs)
    expected = integrand.sum(axis=1)
    found = chances(normal_posteriors(mean, error, np.ones(count, dtype=np.int64)))
    assert found == pytest.approx(expected / expected.sum(), rel=1e-8, abs=1e-15)


@pytest.mark.parametrize("step", [0.0, 0.2, 1.0, 4.0])
def test_chances_are_listed_of_the_set_of_best_cells_and_sum_to_one_over_all(step):
    peaks = describe(line([50 + step * (i % 9) for i in range(30)], trials=300))["peaks"]
    listed = [one["probability"] for one in peaks["probability_best"]]
    key = lambda at: at["x"]  # noqa: E731
    assert sorted((one["at"] for one in peaks["probability_best"]), key=key) == sorted(peaks["best_set"]["at"], key=key)
    assert listed == sorted(listed, reverse=True)
    assert (1 if len(listed) == 30 else 0.95) - 1e-9 <= sum(listed) <= 1 + 1e-9


@each("shrunken_peak")
def test_the_shrunken_peak_agrees(entry):
    """The reference has DerSimonian and Laird's variance between cells, each with the noise of its own value: the
    numbers are by hand, and the cells of the reference."""
    found, expected = described(entry["grid"], entry["options"]["n"])["peaks"]["shrunken"], entry["output"]
    values = [one for one in seed_grid(entry["grid"]).values if one is not None]
    mean, _, target, tau2, i2 = shrunken_by_hand(np.array(values), entry["options"]["n"])
    agrees(found, {"value": mean.max(), "mean": target, "tau2": tau2, "i2": i2}, "value tau2 mean i2")
    places = [list(map(str, at)) for at in expected["shrunk_argmax"]]
    assert [list(map(str, at.values())) for at in found["at"]] == places


def test_without_noise_no_chance_is_claimed():
    peaks = described("s4/r1-qwen/AIME24")["peaks"]
    assert peaks["noise_status"] == "insufficient"
    assert peaks["probability_best"] is None


def test_the_chance_to_be_best_turns_with_the_direction():
    lower = Metric("error", "%", "lower", 0, 100)
    up = describe(line([70.0, 80.0, 85.0], trials=100))["peaks"]
    down = describe(line([30.0, 20.0, 15.0], metric=lower, trials=100))["peaks"]
    mine, theirs = ([c["probability"] for c in found["probability_best"]] for found in (up, down))
    assert mine == pytest.approx(theirs, rel=1e-12)
    assert down["expected_max_if_equal"] == pytest.approx(100 - up["expected_max_if_equal"], rel=1e-12)
    assert down["shrunken"]["value"] == pytest.approx(100 - up["shrunken"]["value"], rel=1e-12)


def test_two_normal_cells_have_a_closed_form():
    found = describe(with_errors([1.0, 2.0]))["peaks"]["probability_best"]
    assert found[0]["if_unrelated"] == pytest.approx(0.7602499389065233, rel=1e-9)  # Phi(1 / sqrt 2)
    assert [cell["probability"] for cell in found] == [0.5, 0.5]  # they differ by less than noise
