"""Repeats that vary by more than their trials explain make the errors of trials larger."""

from collections import Counter
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from registry.grids.grid import Axis, Grid, Level, Metric
from registry.plans.noise import effect_of as without_library
from registry.query import RankingQuery
from registry.results.terms import ROUNDED
from registry.storage.rows import columns_of, shape_of
from tests.workers.claims.scenes import judged, source
from workers.claims.facts import Facts
from workers.rankings.ranking_input import build_ranking_input
from workers.statistics.comparison import gap
from workers.statistics.noise import Repeats, effect_of, effects_of_pairs
from workers.statistics.pairs import pair_table
from workers.statistics.score_matrix import ScoreMatrix
from workers.statistics.table import Table

PERCENT = Metric("accuracy", "%", "higher", 0.0, 100.0)


def grid_of(seeds: np.ndarray, trials: int, **more: float) -> Grid:
    """Cells by repeats."""
    levels = tuple(Level(str(place), None) for place in range(len(seeds)))
    values, spread = seeds.mean(axis=1), seeds.std(axis=1, ddof=1)
    times = seeds.shape[1]
    return Grid(
        PERCENT, (Axis("Task", "nominal", levels),), tuple(values.tolist()), trials * times,
        repeats=(times,) * len(seeds), sd=tuple(spread.tolist()), **more,  # type: ignore[arg-type]
    )  # fmt: skip


def test_one_cell_gets_the_error_of_student() -> None:
    seeds = np.array([[50.0, 70.0, 90.0, 60.0, 80.0]])
    effect = effect_of(grid_of(seeds, 100))
    assert effect is not None
    smooth = 350.5 / 501
    error = 100 * np.sqrt(smooth * (1 - smooth) / 500 * effect)
    # The half width of Student's interval of the five seeds.
    low, high = stats.t.interval(0.95, 4, loc=70, scale=stats.sem(seeds[0]))
    assert 1.959964 * error == pytest.approx((high - low) / 2, rel=1e-6)


def test_pairs_have_the_effect_of_their_room_where_a_grid_alone_says_little() -> None:
    """By hand: three models with one cell of two repeats each, and one with twenty, of 50 trials at one half."""
    few, many = Repeats(1.0, 2.0, 1.0), Repeats(20.0, 20.0, 20.0)
    found = effects_of_pairs(["b", "b", "b", "b", "c"], [few, few, few, many, few], 4)
    tail = 0.05 / 2 / 6

    def widened(ratio: float, df: int) -> float:
        return ratio * float(stats.t.ppf(tail, df) / stats.norm.ppf(tail)) ** 2

    room = widened(26 / 23, 23)
    assert room < 2 < widened(1.0, 1)
    assert found[:3] == [2.0] * 3
    assert found[3] == pytest.approx(min(widened(1.0, 20), room), rel=1e-9)
    assert found[4] == pytest.approx(widened(2.0, 1), rel=1e-9)
    assert effects_of_pairs(["b"], [None], 4) == [None]


def test_where_trials_explain_repeats_or_an_effect_is_posted_it_is_not_estimated() -> None:
    assert effect_of(grid_of(np.array([[70.0, 70.5, 69.5], [50.0, 50.5, 49.5]]), 30)) is None
    assert Table.of(grid_of(np.array([[70.0, 70.5, 69.5]]), 30)).design_effect == 1.0
    assert effect_of(grid_of(np.array([[50.0, 70.0, 90.0]]), 100, design_effect=1.5)) == 1.5
    seeds = grid_of(np.array([[50.0, 70.0, 90.0]]), 100)
    assert effect_of(replace(seeds, trials=None)) is None
    assert effect_of(replace(seeds, trials=None, metric=Metric("loss", None, "lower", None, None))) is None


@pytest.mark.parametrize(("share", "trials"), [(0.5, 20), (0.9, 20), (0.7, 100), (0.95, 100)])
def test_the_effect_is_that_of_the_world_also_near_the_ends_of_the_scale(share: float, trials: int) -> None:
    """Two repeats in each of 4,000 cells, whose own shares are of the beta law that has 5 times the binomial variance:
    the index is 5. Of 20 trials the share of two repeats makes p (1 - p) at most an eighth too small."""
    random, between = np.random.default_rng(5), (trials - 5) / 4
    own = random.beta(share * between, (1 - share) * between, size=(4_000, 2))
    effect = effect_of(grid_of(100 * random.binomial(trials, own) / trials, trials)) or 0.0
    assert 4.5 < effect < 5.75


@pytest.mark.parametrize(
    ("values", "trials", "effect"),
    [
        # 1 + .005 ** 2 over the mean of p q / n at 990.5 of 1001 and at .995, half a step below 100.
        ([99.0, 100.0, 99.0, 100.0], 1000, 4.2565),
        ([50.0, 51.0, 52.0], 1000, 1.0334),  # 1 + .01 ** 2 / 12 over .2498 / 1000
        ([50.1, 51.0, 52.0], 1000, None),
        ([50.0], 1000, 1.0334),  # one in ten scores of 1000 trials is a whole percent
        ([50.0], 900, None),
        ([99.0], 400, 1.9012),  # one in four of 400: 1 + .005 ** 2 over p q / n at 396.5 of 401
        ([99.0], 390, None),
        ([100.0, 0.0], 100_000, None),
    ],
)
def test_rounding_that_is_coarser_than_a_trial_makes_errors_larger(values, trials, effect) -> None:
    levels = tuple(Level(str(place), None) for place in range(len(values)))
    grid = Grid(PERCENT, (Axis("Task", "nominal", levels),), tuple(values), trials)
    assert effect_of(grid) == (effect and pytest.approx(effect, rel=1e-3))


def test_what_stands_beside_a_saturated_cell_shows_how_it_was_printed() -> None:
    axes = (Axis("Task", "nominal", (Level("a", None),)),)
    full, near = (Grid(PERCENT, axes, (value,), 1000) for value in (100.0, 99.0))
    assert effect_of(full) is None
    # .005 ** 2 over p q / n at .995, half a step below 100.
    assert effect_of(full, near) == pytest.approx(1 + 0.005**2 / (0.995 * 0.005 / 1000), rel=1e-9)
    assert without_library(full, near) == pytest.approx(effect_of(full, near), rel=1e-9)
    axes = (Axis("Task", "nominal", (Level("a", None), Level("b", None))),)
    few = [Grid(PERCENT, axes, cells, 200) for cells in ((100.0, 100.0), (99.0, 98.0))]
    assert effect_of(*few) is without_library(*few) is None, "half a step below 100 lies no trial of 200"
    found = gap(full, near)
    assert found.test is not None
    assert (found.test.p or 0.0) > 0.05
    assert ROUNDED in found.assumes


@pytest.mark.parametrize("trials", [400, 1_000, 20_000])
def test_a_printed_100_is_at_most_half_a_step_less(trials: int) -> None:
    """However many trials: 90 against 100 cannot be 8.9 points apart or 11.1, plus what so many trials leave open."""
    axes = (Axis("Task", "nominal", (Level("a", None),)),)
    full, ninety, near = (Grid(PERCENT, axes, (value,), trials) for value in (100.0, 90.0, 98.0))
    found = gap(ninety, full).test
    assert found is not None
    assert found.interval is not None
    noise = 100 * stats.norm.isf(0.025) * np.sqrt(0.1 * 0.9 / trials + 0.01**2 / 4)
    assert 10 - noise - 2.5 < found.interval.low < 9.0
    assert 11.0 < found.interval.high < 10 + noise + 1
    assert gap(near, full).test.interval.high < 4.6  # type: ignore[union-attr]


@pytest.mark.parametrize("trials", [400, 1_000, 5_000])
def test_what_is_printed_in_whole_percents_near_100_is_rarely_told_apart_where_it_is_equal(trials: int) -> None:
    """Of true rates of 99.5 %, which print as 99 and as 100."""
    random, alarms = np.random.default_rng(3), 0
    axes = (Axis("Task", "nominal", (Level("a", None),)),)
    for k1, k2 in random.binomial(trials, 0.995, (200, 2)).tolist():
        sides = (Grid(PERCENT, axes, (float(round(100 * k / trials)),), trials) for k in (k1, k2))
        found = gap(*sides).test
        alarms += found is not None and found.p is not None and found.p < 0.05
    assert alarms <= 200 * 0.05 + 4 * np.sqrt(200 * 0.05 * 0.95)


def standings(*values: float | tuple[float, ...], trials: int) -> ScoreMatrix:
    """Models on one benchmark, as a ranking reads them."""
    rows = []
    for model, each in enumerate(values):
        cells = each if isinstance(each, tuple) else (each,)
        levels = tuple(Level(str(place), None) for place in range(len(cells)))
        content = Grid(PERCENT, (Axis("Task", "nominal", levels),), cells, trials)
        stored = columns_of(content) | shape_of(content) | {"values": cells, "derived": None, "id": model, "number": 1}
        rows.append(SimpleNamespace(**stored, benchmark="b", model=f"m{model}", variant=""))
    return build_ranking_input(RankingQuery("e", "m"), rows, {}).scores


def test_rankings_and_claims_rarely_tell_equal_models_apart_that_are_printed_in_whole_percents() -> None:
    """Of true rates of 99.55 %, of which 2,000 trials print as 99 and as 100."""
    drawn = np.round(100 * np.random.default_rng(1).binomial(2_000, 0.9955, (300, 2)) / 2_000)
    ranked, claimed = 0, 0
    for (first, second), times in Counter(map(tuple, drawn.tolist())).items():
        ranked += times * (pair_table(standings(first, second, trials=2_000), 0.05).shown > 0)
        axes = (Axis("Task", "nominal", (Level("a", None),)),)
        grids = (Grid(PERCENT, axes, (value,), 2_000) for value in (first, second))
        facts = Facts.of([source(grid, place, model=f"m{place}") for place, grid in enumerate(grids)])
        says = {"kind": "compare", "left": {"model": ["m0"]}, "right": {"model": ["m1"]}, "is": "higher"}
        claimed += times * (judged(facts, says)["beyond_noise"] in ("supported", "contradicted"))
    assert max(ranked, claimed) <= 300 * 0.05 + 4 * np.sqrt(300 * 0.05 * 0.95)


@pytest.mark.parametrize(
    ("values", "trials", "effect"),
    [
        ((100.0, 99.0), 2_000, 1 + 0.005**2 / (0.995 * 0.005 / 2_000)),
        ((0.0, 1.0, 0.0), 2_000, 1 + 0.005**2 / (0.995 * 0.005 / 2_000)),
        ((100.0, 99.0, 98.35), 2_000, None),  # one prints more
        ((100.0, 99.0, 98.0, 97.0), 200, None),  # one score in two of 200 trials is a whole percent
        (((100.0, 100.0), (99.0, 98.0)), 200, None),
    ],
)
def test_who_is_ranked_beside_a_saturated_cell_shows_how_it_was_printed(values, trials, effect) -> None:
    found = standings(*values, trials=trials).design_effect
    first = np.nan if found is None else found[0, 0]
    assert first == pytest.approx(effect or np.nan, rel=1e-9, nan_ok=True)


@given(
    st.lists(
        st.tuples(st.floats(0, 100), st.integers(0, 5), st.floats(0, 30), st.integers(0, 400)), min_size=1, max_size=9
    )
)
def test_the_effect_is_the_same_with_and_without_a_numerical_library(
    cells: list[tuple[float, int, float, int]],
) -> None:
    values, repeats, sds, trials = zip(*cells, strict=True)
    axis = Axis("n", "numeric", tuple(Level(str(n), float(n)) for n in range(len(cells))))
    sd = tuple(spread if times > 1 else None for spread, times in zip(sds, repeats, strict=True))
    counted, n = tuple(times or None for times in repeats), tuple(one or None for one in trials)
    grid = Grid(PERCENT, (axis,), values, n, repeats=counted, sd=sd)
    assert without_library(grid) == (None if (found := effect_of(grid)) is None else pytest.approx(found, rel=1e-9))
