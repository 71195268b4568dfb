"""Tables of means, bests and counts are those of pandas, and their intervals hold what they promise."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import stats

from workers.statistics.aggregates import Question, aggregate
from workers.statistics.cell_table import CellTable

DIMENSIONS = ("benchmark", "model", "variant", "axis:A")
LEVELS: dict[str, list[Any]] = {
    "benchmark": ["b0", "b1", "b2"],
    "model": ["m0", "m1", "m2"],
    "variant": ["", "v"],
    "axis:A": [0.1, 2, 30],
}


def table(cells: pd.DataFrame, **options: Any) -> CellTable:
    """A table of the cells of a data frame with a column for each dimension and `value`; `n` trials each, if given."""
    values = cells["value"].to_numpy(dtype=np.float64)
    trials = cells["n"].to_numpy(dtype=np.float64) if "n" in cells else np.zeros(values.size)
    k = np.rint(values * trials / 100)
    share = (k + 0.5) / (trials + 1)
    errors = cells["stderr"].to_numpy(dtype=np.float64) if "stderr" in cells else np.full(values.size, np.nan)
    variance = np.where(trials > 0, share * (1 - share) / np.maximum(trials, 1) * 1e4, errors**2)
    df = cells["df"].to_numpy(dtype=np.float64) if "df" in cells else np.full(values.size, np.inf)
    codes = {name: cells[name].map(LEVELS[name].index).to_numpy(dtype=np.int32) for name in DIMENSIONS}
    usual: dict[str, Any] = {"direction": "higher", "lower": 0.0, "upper": 100.0, "whole": 100.0}
    return CellTable(LEVELS, codes, values, variance, df, trials, k, **usual | options)


def frame(rows: list[tuple[Any, ...]], columns: str = "value") -> pd.DataFrame:
    return pd.DataFrame(rows, columns=[*DIMENSIONS, *columns.split()])


COORDINATES = st.tuples(*(st.sampled_from(LEVELS[name]) for name in DIMENSIONS))
SLOWLY = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
"""A machine that is shared may pause while cells are drawn."""
CELLS = st.dictionaries(COORDINATES, st.integers(0, 1000).map(lambda n: n / 10), min_size=1, max_size=40)


@st.composite
def questions(draw: st.DrawFn) -> Question:
    names = draw(st.permutations(DIMENSIONS))
    size = draw(st.integers(1, 3))
    over = draw(st.integers(0, len(names) - size))
    value = draw(st.sampled_from(["mean", "best", "count"]))
    missing = draw(st.sampled_from(["matched", "available"]))
    return Question(tuple(names[:size]), tuple(names[size : size + over]), value, missing)


def by_pandas(cells: pd.DataFrame, question: Question, direction: str) -> pd.Series[float]:
    """The values of the entries that have any, by groupby alone; empty where matching leaves nothing."""
    keys, over = list(question.group_by), list(question.over)
    rest = [name for name in DIMENSIONS if name not in keys]
    if question.missing == "matched":
        entries = cells.groupby(keys).ngroups
        if rest:
            held = cells.groupby(rest)["value"].transform("size")
            cells = cells[held == entries]
        elif entries > 1 and len(cells) != entries:
            cells = cells[:0]
    how = {"mean": "mean", "count": "size", "best": "max" if direction == "higher" else "min"}[question.value]
    return cells.groupby(keys + over)["value"].agg(how).groupby(level=keys).mean().astype(float)


@SLOWLY
@given(CELLS, questions(), st.sampled_from(["higher", "lower"]))
def test_every_ragged_table_is_that_of_pandas(cells: Any, question: Question, direction: str) -> None:
    rows = frame([(*at, value) for at, value in cells.items()])
    found = aggregate(table(rows, direction=direction), question)
    expected = by_pandas(rows, question, direction)
    got = {tuple(one.at.values()): one.value for one in found.entries if one.value is not None}
    index = [key if isinstance(key, tuple) else (key,) for key in expected.index]
    assert got == pytest.approx(dict(zip(index, expected, strict=True)), rel=1e-12, abs=1e-12)
    assert len(found.entries) == math.prod(len(LEVELS[name]) for name in question.group_by)
    assert (found.status == "ok") is bool(got)


@SLOWLY
@given(CELLS, questions())
def test_no_entry_without_a_counted_cell_has_a_number(cells: Any, question: Question) -> None:
    rows = frame([(*at, value) for at, value in cells.items()])
    for one in aggregate(table(rows), question).entries:
        if one.n == 0:
            assert (one.value, one.interval, one.new_benchmarks, one.spread, one.over) == (None,) * 4 + (0,)
        else:
            assert one.value is not None
        assert one.n <= one.cells


@SLOWLY
@given(CELLS, questions())
def test_slots_and_what_is_left_out_add_up(cells: Any, question: Question) -> None:
    rows = frame([(*at, value) for at, value in cells.items()])
    found, rest = aggregate(table(rows), question), [name for name in DIMENSIONS if name not in question.group_by]
    entries = rows.groupby(list(question.group_by)).ngroups
    held = rows.groupby(rest).size() if rest else pd.Series([len(rows)])
    assert found.slots.total == len(held)
    assert found.slots.shared == int((held == entries).sum())
    assert sum(one.n for one in found.entries) == len(rows) - found.left_out.cells
    assert sum(one.cells for one in found.entries) == len(rows)
    assert found.left_out.empty == len(found.entries) - entries


@SLOWLY
@given(CELLS, questions())
def test_leaving_out_what_is_named_shares_what_is_promised(cells: Any, question: Question) -> None:
    """The gain of every entry, and the remedy, by asking again without these entries."""
    rows, keys = frame([(*at, value) for at, value in cells.items()]), list(question.group_by)
    found = aggregate(table(rows), question)

    def without(entries: Any) -> int:
        gone = {tuple(at.values()) for at in entries}
        kept = [row not in gone for row in rows[keys].itertuples(index=False, name=None)]
        return aggregate(table(rows[kept].reset_index(drop=True)), question).slots.shared

    for cost in found.costs.entries:
        assert without([cost.at]) == found.slots.shared + cost.gain
    if found.remedy:
        assert found.slots.shared == 0
        assert without(found.remedy.without) == found.remedy.shared > 0


def test_the_remedy_is_the_smallest_one_and_of_those_the_best() -> None:
    had = ("b0", "m0"), ("b1", "m0"), ("b2", "m0"), ("b0", "m1"), ("b1", "m1"), ("b2", "m2")
    rows = frame([(benchmark, model, "", 0.1, 1.0) for benchmark, model in had])
    found = aggregate(table(rows), Question(("model",), ("benchmark",)))
    assert (found.status, found.reason) == ("insufficient", "no slot was measured for every entry")
    assert found.remedy is not None
    assert (found.remedy.without, found.remedy.count, found.remedy.shared) == (({"model": "m2"},), 1, 2)
    assert all(one.value is None for one in found.entries)


def test_of_cells_at_one_place_the_last_counts() -> None:
    rows = frame([("b0", "m0", "", 0.1, 10.0), ("b0", "m0", "", 0.1, 20.0)])
    [entry, *_] = aggregate(table(rows), Question(("model",), ("benchmark",))).entries
    assert (entry.value, entry.cells) == (20.0, 1)


def test_every_level_of_over_weighs_the_same_whatever_its_cells() -> None:
    rows = frame([("b0", "m0", "", level, 90.0) for level in (0.1, 2, 30)] + [("b1", "m0", "", 2, 30.0)])
    [entry, *_] = aggregate(table(rows), Question(("model",), ("benchmark",))).entries
    assert (entry.value, entry.n, entry.over) == (60.0, 4, 2)
    [entry, *_] = aggregate(table(rows), Question(("model",), ())).entries
    assert (entry.value, entry.over, entry.spread) == (75.0, 1, None)


@pytest.mark.parametrize(("value", "trials"), [(0.0, 30), (46.7, 30), (100.0, 300), (97.0, 100)])
def test_the_interval_of_one_cell_is_wilsons(value: float, trials: int) -> None:
    rows = frame([("b0", "m0", "", 0.1, value, trials)], "value n")
    [entry, *_] = aggregate(table(rows), Question(("model", "benchmark"), ())).entries
    assert entry.value == value
    assert entry.interval is not None
    assert (entry.interval.low, entry.interval.high) == pytest.approx(wilson(value, trials), abs=1e-9)


def wilson(value: float, trials: float, level: float = 0.95) -> tuple[float, float]:
    """The proportions, in per cent, whose score test does not reject this one (Wilson 1927): roots of a square."""
    z2, p = stats.norm.isf((1 - level) / 2) ** 2, value / 100
    roots = np.roots([1 + z2 / trials, -(2 * p + z2 / trials), p * p])
    return 100 * min(roots), 100 * max(roots)


def test_the_interval_of_a_mean_is_wilsons_with_the_trials_that_its_error_is_worth() -> None:
    """Two cells on b0 weigh half of b1's."""
    given = [("b0", 0.1, 60.0, 50), ("b0", 2, 90.0, 20), ("b1", 2, 100.0, 10)]
    rows = frame([(b, "m0", "", a, value, n) for b, a, value, n in given], "value n")
    [entry, *_] = aggregate(table(rows), Question(("model",), ("benchmark",), alpha=0.1)).entries
    weights = np.array([0.25, 0.25, 0.5])
    n = np.array([50, 20, 10])
    shares = (np.array([30, 18, 10]) + 0.5) / (n + 1)
    middle = weights @ shares
    worth = middle * (1 - middle) / (weights**2 @ (shares * (1 - shares) / n))
    assert entry.value == 87.5
    assert entry.interval is not None
    assert (entry.interval.low, entry.interval.high) == pytest.approx(wilson(87.5, worth, 0.9), rel=1e-9)
    assert entry.interval.level == 0.9


@pytest.mark.parametrize(("chance", "trials"), [(0.95, 10), (0.98, 20), (0.9, 30), (0.5, 30)])
def test_the_interval_of_a_mean_of_many_cells_near_a_bound_covers(chance: float, trials: int) -> None:
    """18 cells for each of 501 entries: each side may miss 2.5 %, and with four standard errors 5.3 %."""
    random = np.random.default_rng(11)
    places = [(b, v, a) for b in LEVELS["benchmark"] for v in LEVELS["variant"] for a in LEVELS["axis:A"]]
    below = above = 0
    for _ in range(167):
        found = random.binomial(trials, chance, (3, len(places))) * 100 / trials
        given = [(b, m, v, a, found[i, j], trials) for i, m in enumerate(LEVELS["model"])
                 for j, (b, v, a) in enumerate(places)]  # fmt: skip
        for entry in aggregate(table(frame(given, "value n")), Question(("model",), ("benchmark",))).entries:
            assert entry.interval is not None
            below += entry.interval.high < 100 * chance
            above += entry.interval.low > 100 * chance
    assert max(below, above) <= 0.053 * 501


def test_errors_from_repeats_are_joined_with_satterthwaites_degrees_of_freedom() -> None:
    rows = frame([("b0", "m0", "", 0.1, 50.0, 2.0, 2.0), ("b1", "m0", "", 0.1, 60.0, 1.0, 4.0)], "value stderr df")
    [entry, *_] = aggregate(table(rows), Question(("model",), ("benchmark",))).entries
    variance = (4 + 1) / 4
    df = variance**2 / ((4 / 4) ** 2 / 2 + (1 / 4) ** 2 / 4)
    wanted = stats.t.interval(0.95, df, 55, variance**0.5)
    assert entry.interval is not None
    assert (entry.interval.low, entry.interval.high) == pytest.approx(wanted, rel=1e-12)


def test_posted_errors_have_a_normal_interval_and_one_silent_cell_takes_it_away() -> None:
    known = [("b0", "m0", "", 0.1, 50.0, 2.0), ("b1", "m0", "", 0.1, 60.0, 1.0)]
    [entry, *_] = aggregate(table(frame(known, "value stderr")), Question(("model",), ("benchmark",))).entries
    assert entry.interval is not None
    wanted = stats.norm.interval(0.95, 55, 5**0.5 / 2)
    assert (entry.interval.low, entry.interval.high) == pytest.approx(wanted, rel=1e-12)
    silent = frame([*known, ("b2", "m0", "", 0.1, 60.0, math.nan)], "value stderr")
    [entry, *_] = aggregate(table(silent), Question(("model",), ("benchmark",))).entries
    assert (entry.interval, entry.interval_reason) == (None, "the noise of 1 of 3 cells is unknown")


def test_new_benchmarks_have_students_interval_within_the_bounds() -> None:
    rows = frame([("b0", "m0", "", 0.1, 90.0), ("b1", "m0", "", 0.1, 60.0), ("b2", "m0", "", 0.1, 75.0)])
    [entry, *_] = aggregate(table(rows), Question(("model",), ("benchmark",))).entries
    low, _ = stats.t.interval(0.95, 2, 75, 15 / 3**0.5)
    assert entry.new_benchmarks is not None
    assert (entry.new_benchmarks.low, entry.new_benchmarks.high) == pytest.approx((low, 100.0))
    assert entry.spread is not None
    assert (entry.spread.sd, entry.spread.low, entry.spread.high) == (15.0, 60.0, 90.0)


def test_over_anything_else_there_is_a_spread_and_no_such_interval() -> None:
    rows = frame([("b0", "m0", "", 0.1, 90.0), ("b0", "m1", "", 0.1, 60.0)])
    [entry, *_] = aggregate(table(rows), Question(("benchmark",), ("model",))).entries
    assert entry.new_benchmarks is None
    assert entry.spread is not None
    assert entry.spread.sd == pytest.approx(np.std([90, 60], ddof=1))


def test_the_interval_of_the_best_is_made_of_simultaneous_exact_limits() -> None:
    given = [("b0", 0.1, 60), ("b0", 2, 70), ("b0", 30, 65), ("b1", 0.1, 90), ("b1", 2, 20)]
    rows = frame([(b, "m0", "", a, float(k), 100) for b, a, k in given], "value n")
    [entry, *_] = aggregate(table(rows), Question(("model",), ("benchmark",), "best")).entries
    low, high = [], []
    for ks in ([60, 70, 65], [90, 20]):
        # Two-sided intervals of level 1 - 2 (1 - l) have one-sided limits of level l.
        every, each = (1 - 2 * (1 - 0.975 ** (1 / count)) for count in (5, 2))
        low.append(max(stats.binomtest(k, 100).proportion_ci(every, "exact").low for k in ks))
        high.append(max(stats.binomtest(k, 100).proportion_ci(each, "exact").high for k in ks))
    assert entry.value == 80.0
    assert entry.interval is not None
    wanted = (100 * np.mean(low), 100 * np.mean(high))
    assert (entry.interval.low, entry.interval.high) == pytest.approx(wanted, rel=1e-9)


def test_the_best_of_what_should_be_low_mirrors_the_best_of_what_should_be_high() -> None:
    given = [("b0", 0.1, 3.0, 0.5), ("b0", 2, 2.0, 0.4), ("b1", 0.1, 5.0, 0.3)]
    rows = frame([(b, "m0", "", a, value, error) for b, a, value, error in given], "value stderr")
    open_ = {"lower": None, "upper": None, "whole": 1.0}
    question = Question(("model",), ("benchmark",), "best")
    [low, *_] = aggregate(table(rows, direction="lower", **open_), question).entries
    [high, *_] = aggregate(table(rows.assign(value=-rows["value"]), direction="higher", **open_), question).entries
    assert low.interval is not None
    assert high.interval is not None
    assert low.value == 3.5
    assert (low.interval.low, low.interval.high) == pytest.approx((-high.interval.high, -high.interval.low), rel=1e-12)


@pytest.mark.parametrize("spread", [0.0, 0.02, 0.2])
def test_the_interval_of_the_best_holds_the_best_truth_where_that_of_the_winner_does_not(spread: float) -> None:
    """18 candidates of 50 trials: equal truths are the worst case for an interval around the winner."""
    chance, truths = np.random.default_rng(7), 0.6 + spread * np.linspace(-1, 1, 18)
    places = [(b, "m0", v, a) for b in LEVELS["benchmark"] for v in LEVELS["variant"] for a in LEVELS["axis:A"]]
    best, held, naive, rounds = 100 * truths.max(), 0, 0, 400
    for _ in range(rounds):
        k = chance.binomial(50, truths)
        rows = frame([(*at, 2.0 * one, 50) for at, one in zip(places, k, strict=True)], "value n")
        [entry, *_] = aggregate(table(rows), Question(("model",), (), "best")).entries
        assert entry.interval is not None
        held += entry.interval.low <= best <= entry.interval.high
        ends = stats.binomtest(int(k.max()), 50).proportion_ci(method="wilson")
        naive += 100 * ends.low <= best <= 100 * ends.high
    assert held / rounds >= 0.95 - 4 * math.sqrt(0.95 * 0.05 / rounds)
    if spread == 0:
        assert naive / rounds < 0.7


def test_the_best_of_a_metric_without_a_better_end_is_undefined() -> None:
    rows = frame([("b0", "m0", "", 0.1, 90.0)])
    found = aggregate(table(rows, direction=None), Question(("model",), (), "best"))
    assert (found.status, found.entries) == ("undefined", ())


def test_available_entries_that_lack_slots_are_named() -> None:
    rows = frame([("b0", "m0", "", 0.1, 90.0), ("b1", "m0", "", 0.1, 60.0), ("b0", "m1", "", 0.1, 70.0)])
    found = aggregate(table(rows), Question(("model",), ("benchmark",), missing="available"))
    dropped, warning = found.warnings
    assert (dropped.code, dropped.detail) == ("dropped", "m2 has no measured cell here: 2 models are left.")
    assert warning.code == "not_comparable"
    assert "m1 (1 of 2)" in warning.detail
    assert [one.value for one in found.entries] == [75.0, 70.0, None]
    assert aggregate(table(rows), Question(("model",), ("benchmark",))).warnings == (dropped,)


def test_a_table_of_too_many_entries_says_so() -> None:
    many = {**LEVELS, "benchmark": list(range(300)), "model": list(range(300))}
    rows = table(frame([("b0", "m0", "", 0.1, 90.0)]))
    found = aggregate(CellTable(many, rows.codes, *(rows.values,) * 5), Question(("model", "benchmark"), ()))
    assert (found.status, found.entries) == ("undefined", ())
    assert "90,000 entries" in str(found.reason)


def test_numbers_of_combinations_beyond_64_bits_are_told_apart() -> None:
    names = [f"axis:{i}" for i in range(8)]
    levels = {name: list(range(1000)) for name in names} | {"model": ["m0", "m1"]}
    at = np.random.default_rng(3).integers(0, 1000, (8, 50), dtype=np.int32)
    codes = {name: np.tile(at[i], 2) for i, name in enumerate(names)}
    codes["model"] = np.repeat(np.arange(2, dtype=np.int32), 50)
    column = np.arange(100.0)
    unknown = np.full(100, np.nan)
    cells = CellTable(levels, codes, column, unknown, unknown, np.zeros(100), np.zeros(100), direction="higher")
    found = aggregate(cells, Question(("model",), ()))
    assert (found.slots.total, found.slots.shared) == (50, 50)
    assert [one.value for one in found.entries] == [24.5, 74.5]
