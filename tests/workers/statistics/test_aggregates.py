"""Tables of means, bests and counts are those that their definitions give, and their intervals those of scipy; how
often intervals are wrong is counted in `bench/scenarios`."""

import math
from collections import defaultdict
from collections.abc import Callable, Mapping
from statistics import fmean
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tests.workers.statistics.documents import ends
from workers.statistics.aggregates import Question, aggregate
from workers.statistics.means import adjusted_weights
from workers.statistics.set_aside import CellTable

DIMENSIONS = ("benchmark", "model", "variant", "axis:A")
LEVELS: dict[str, list[Any]] = {
    "benchmark": ["b0", "b1", "b2"],
    "model": ["m0", "m1", "m2"],
    "variant": ["", "v"],
    "axis:A": [0.1, 2, 30],
}
Place = tuple[Any, ...]


def table(rows: list[Place], columns: str = "value", **options: Any) -> CellTable:
    """Cells with a level of each dimension and these columns: `value`, and `n` trials, or `stderr` and `df`."""
    numbers = dict(zip(columns.split(), np.array([row[4:] for row in rows], dtype=np.float64).T, strict=True))
    values, none = numbers["value"], np.zeros(len(rows))
    trials = numbers.get("n", none)
    k = np.rint(values * trials / 100)
    share = (k + 0.5) / (trials + 1)
    errors = numbers.get("stderr", none + np.nan)
    variance = np.where(trials > 0, share * (1 - share) / np.maximum(trials, 1) * 1e4, errors**2)
    codes = {
        name: np.array([LEVELS[name].index(row[place]) for row in rows], dtype=np.int32)
        for place, name in enumerate(DIMENSIONS)
    }
    usual: dict[str, Any] = {"direction": "higher", "lower": 0.0, "upper": 100.0, "whole": 100.0}
    return CellTable(LEVELS, codes, values, variance, numbers.get("df", none + np.inf), trials, k, **usual | options)


def of_cells(cells: Mapping[Place, float], **options: Any) -> CellTable:
    return table([(*at, value) for at, value in cells.items()], **options)


COORDINATES = st.tuples(*(st.sampled_from(LEVELS[name]) for name in DIMENSIONS))
CELLS = st.dictionaries(COORDINATES, st.integers(0, 1000).map(lambda n: n / 10), min_size=1, max_size=40)


@st.composite
def questions(draw: st.DrawFn) -> Question:
    names = draw(st.permutations(DIMENSIONS))
    size = draw(st.integers(1, 3))
    over = draw(st.integers(0, len(names) - size))
    value = draw(st.sampled_from(["mean", "best", "count"]))
    missing = draw(st.sampled_from(["matched", "available"]))
    return Question(tuple(names[:size]), tuple(names[size : size + over]), value, missing)


def part(at: Place, names: Any) -> Place:
    return tuple(at[DIMENSIONS.index(name)] for name in names)


Slots = dict[Place, set[Any]]


def column_of(question: Question) -> list[str]:
    """The dimensions of the columns, in which slots are shared: none where the rows are the levels of an axis."""
    return [] if question.group_by[0] == "axis:A" else list(question.group_by[1:])


def slots(cells: Mapping[Place, float], question: Question) -> tuple[Slots, Slots]:
    """The rows that each column has, and each slot: the levels of the column, and of all that is not grouped by."""
    column, row = column_of(question), [name for name in question.group_by if name not in column_of(question)]
    rest = [name for name in DIMENSIONS if name not in question.group_by]
    columns: Slots = defaultdict(set)
    held: Slots = defaultdict(set)
    for at in cells:
        columns[part(at, column)] |= {part(at, row)}
        held[part(at, [*column, *rest])] |= {part(at, row)}
    return columns, held


def rows_of(cells: Mapping[Place, float], question: Question) -> set[Place]:
    return {part(at, question.group_by[:1]) for at in cells}


def by_definition(cells: Mapping[Place, float], question: Question, direction: str) -> dict[Place, float]:
    """The values of the entries that have any; none where matching leaves nothing, and all of its own where no two rows
    that are names have a slot in common in any column."""
    column = column_of(question)
    rest = [name for name in DIMENSIONS if name not in question.group_by]
    columns, held = slots(cells, question)
    apart = all(len({row[:1] for row in rows}) == 1 for rows in held.values()) and len(rows_of(cells, question)) > 1
    own = question.missing == "available" or (apart and column != [])
    groups: dict[Place, dict[Place, list[float]]] = defaultdict(lambda: defaultdict(list))
    for at, value in cells.items():
        if own or held[part(at, [*column, *rest])] == columns[part(at, column)]:
            groups[part(at, question.group_by)][part(at, question.over)].append(value)
    best = max if direction == "higher" else min
    how: Callable[[list[float]], float] = {"mean": fmean, "count": len, "best": best}[question.value]  # type: ignore
    return {key: fmean(map(how, levels.values())) for key, levels in groups.items()}


@given(CELLS, questions(), st.sampled_from(["higher", "lower"]))
def test_every_ragged_table_is_what_its_definition_gives(cells: Any, question: Question, direction: str) -> None:
    found = aggregate(of_cells(cells, direction=direction), question)
    got = {tuple(one.at.values()): one.value for one in found.entries if one.value is not None}
    assert got == pytest.approx(by_definition(cells, question, direction), rel=1e-12, abs=1e-12)
    assert len(found.entries) == math.prod(len(LEVELS[name]) for name in question.group_by)
    assert (found.status == "ok") is bool(got)
    for one in found.entries:
        assert (one.value is None) is (one.n == 0)
        assert one.n or (one.interval, one.new_benchmarks, one.spread, one.over) == (None, None, None, 0)
        assert one.n <= one.cells
    columns, held = slots(cells, question)
    size = len(column_of(question))
    shared = [slot[:size] for slot, rows in held.items() if rows == columns[slot[:size]]]
    assert (found.slots.total, found.slots.shared) == (len(held), len(shared))
    for one in found.columns:
        own = [slot for slot in held if slot[:size] == tuple(one.at.values())]
        assert (one.total, one.shared) == (len(own), shared.count(tuple(one.at.values())))
    assert (found.columns == ()) is (size == 0)
    assert sum(one.n for one in found.entries) == len(cells) - found.left_out.cells
    assert sum(one.cells for one in found.entries) == len(cells)
    assert found.left_out.empty == len(found.entries) - len({part(at, question.group_by) for at in cells})


@given(CELLS, questions())
def test_leaving_out_what_is_named_shares_what_is_promised(cells: Any, question: Question) -> None:
    """The remedy, by asking again without these entries."""
    found = aggregate(of_cells(cells), question)

    def without(entries: Any) -> int:
        gone = {tuple(at.values()) for at in entries}
        kept = {at: value for at, value in cells.items() if part(at, question.group_by) not in gone}
        return aggregate(of_cells(kept), question).slots.shared

    if found.remedy:
        assert found.slots.shared == 0
        assert without(found.remedy.without) == found.remedy.shared > 0


OF_MODELS = Question(("model",), ("benchmark",))


def first(rows: list[Place], columns: str = "value", question: Question = OF_MODELS, **options: Any) -> Any:
    """The entry of the first model."""
    return aggregate(table(rows, columns, **options), question).entries[0]


def test_the_remedy_is_the_smallest_one_and_of_those_the_best() -> None:
    had = ("b0", "m0"), ("b1", "m0"), ("b2", "m0"), ("b0", "m1"), ("b1", "m1"), ("b2", "m2")
    found = aggregate(table([(benchmark, model, "", 0.1, 1.0) for benchmark, model in had]), OF_MODELS)
    assert (found.status, found.reason) == ("insufficient", "no slot was measured for every entry")
    assert found.remedy is not None
    assert (found.remedy.without, found.remedy.count, found.remedy.shared) == (({"model": "m2"},), 1, 2)
    assert all(one.value is None for one in found.entries)


def test_of_cells_at_one_place_the_last_counts() -> None:
    entry = first([("b0", "m0", "", 0.1, 10.0), ("b0", "m0", "", 0.1, 20.0)])
    assert (entry.value, entry.cells) == (20.0, 1)


def test_every_level_of_over_weighs_the_same_whatever_its_cells() -> None:
    rows = [("b0", "m0", "", level, 90.0) for level in (0.1, 2, 30)] + [("b1", "m0", "", 2, 30.0)]
    entry = first(rows)
    assert (entry.value, entry.n, entry.over) == (60.0, 4, 2)
    entry = first(rows, question=Question(("model",), ()))
    assert (entry.value, entry.over, entry.spread) == (75.0, 1, None)


def wilson(value: float, trials: float, level: float = 0.95) -> tuple[float, float]:
    """The proportions, in per cent, whose score test does not reject this one (Wilson 1927): roots of a square."""
    z2, p = stats.norm.isf((1 - level) / 2) ** 2, value / 100
    roots = np.roots([1 + z2 / trials, -(2 * p + z2 / trials), p * p])
    return 100 * min(roots), 100 * max(roots)


@pytest.mark.parametrize(("value", "trials"), [(0.0, 30), (46.7, 30), (100.0, 300), (97.0, 100)])
def test_the_interval_of_one_cell_is_wilsons(value: float, trials: int) -> None:
    entry = first([("b0", "m0", "", 0.1, value, trials)], "value n", Question(("model", "benchmark"), ()))
    assert entry.value == value
    assert ends(entry.interval) == pytest.approx(wilson(value, trials), abs=1e-9)


def test_the_interval_of_a_mean_is_wilsons_with_the_trials_that_its_error_is_worth() -> None:
    """Two cells on b0 weigh half of b1's."""
    given = [("b0", 0.1, 60.0, 50), ("b0", 2, 90.0, 20), ("b1", 2, 100.0, 10)]
    rows = [(b, "m0", "", a, value, n) for b, a, value, n in given]
    entry = first(rows, "value n", Question(("model",), ("benchmark",), alpha=0.1))
    weights, n = np.array([0.25, 0.25, 0.5]), np.array([50, 20, 10])
    shares = (np.array([30, 18, 10]) + 1) / (n + 2)
    middle = weights @ shares
    worth = middle * (1 - middle) / (weights**2 @ (shares * (1 - shares) / n))
    assert (entry.value, entry.interval.level) == (87.5, 0.9)
    assert ends(entry.interval) == pytest.approx(wilson(87.5, worth, 0.9), rel=1e-9)


def test_errors_from_repeats_are_joined_with_satterthwaites_degrees_of_freedom() -> None:
    entry = first([("b0", "m0", "", 0.1, 50.0, 2.0, 2.0), ("b1", "m0", "", 0.1, 60.0, 1.0, 4.0)], "value stderr df")
    variance = (4 + 1) / 4
    df = variance**2 / ((4 / 4) ** 2 / 2 + (1 / 4) ** 2 / 4)
    assert ends(entry.interval) == pytest.approx(stats.t.interval(0.95, df, 55, variance**0.5), rel=1e-12)


def test_posted_errors_have_a_normal_interval_and_one_silent_cell_takes_it_away() -> None:
    known: list[Place] = [("b0", "m0", "", 0.1, 50.0, 2.0), ("b1", "m0", "", 0.1, 60.0, 1.0)]
    wanted = stats.norm.interval(0.95, 55, 5**0.5 / 2)
    assert ends(first(known, "value stderr").interval) == pytest.approx(wanted, rel=1e-12)
    entry = first([*known, ("b2", "m0", "", 0.1, 60.0, math.nan)], "value stderr")
    assert (entry.interval, entry.interval_reason) == (None, "the noise of 1 of 3 cells is unknown")


def test_new_benchmarks_have_students_interval_within_the_bounds_and_anything_else_a_spread() -> None:
    entry = first([("b0", "m0", "", 0.1, 90.0), ("b1", "m0", "", 0.1, 60.0), ("b2", "m0", "", 0.1, 75.0)])
    low, _ = stats.t.interval(0.95, 2, 75, 15 / 3**0.5)
    assert ends(entry.new_benchmarks) == pytest.approx((low, 100.0))
    assert (entry.spread.sd, entry.spread.low, entry.spread.high) == (15.0, 60.0, 90.0)
    rows = [("b0", "m0", "", 0.1, 90.0), ("b0", "m1", "", 0.1, 60.0)]
    entry = first(rows, question=Question(("benchmark",), ("model",)))
    assert entry.new_benchmarks is None
    assert entry.spread.sd == pytest.approx(np.std([90, 60], ddof=1))


def test_means_of_benchmarks_that_are_equal_but_for_rounding_have_no_interval() -> None:
    """In floats the mean of .1, .2 and .3 is 0.19999999999999998, and that of .3, .2 and .1 is 0.20000000000000004."""
    rows = [("b0", "m0", "", 0.1, 0.1), ("b0", "m0", "", 2, 0.2), ("b0", "m0", "", 30, 0.3)]
    rows += [("b1", "m0", "", 0.1, 0.3), ("b1", "m0", "", 2, 0.2), ("b1", "m0", "", 30, 0.1)]
    entry = first(rows, question=Question(("model",), ("benchmark",)))
    assert entry.value == pytest.approx(0.2)
    assert entry.new_benchmarks is None


def test_the_interval_of_the_best_is_made_of_simultaneous_exact_limits() -> None:
    given = [("b0", 0.1, 60), ("b0", 2, 70), ("b0", 30, 65), ("b1", 0.1, 90), ("b1", 2, 20)]
    rows = [(b, "m0", "", a, float(k), 100) for b, a, k in given]
    entry = first(rows, "value n", Question(("model",), ("benchmark",), "best"))
    low, high = [], []
    for ks in ([60, 70, 65], [90, 20]):
        # Two-sided intervals of level 1 - 2 (1 - l) have one-sided limits of level l.
        every, each = (1 - 2 * (1 - 0.975 ** (1 / count)) for count in (5, 2))
        low.append(max(stats.binomtest(k, 100).proportion_ci(every, "exact").low for k in ks))
        high.append(max(stats.binomtest(k, 100).proportion_ci(each, "exact").high for k in ks))
    assert entry.value == 80.0
    assert ends(entry.interval) == pytest.approx((100 * np.mean(low), 100 * np.mean(high)), rel=1e-9)


def test_why_a_best_has_no_interval_counts_the_cells_that_have_no_noise() -> None:
    """Repeats of two cells agree; those of the third do as well, differ, or are none."""
    for last, reason in (
        (0.0, "the repeats of every cell agree, which says nothing of its noise"),
        (1.0, "the noise of 2 of 3 cells is unknown"),
        (math.nan, "the noise of 3 of 3 cells is unknown"),
    ):
        rows = [(f"b{i}", "m0", "", 2, 90.0, error, 2) for i, error in enumerate((0.0, 0.0, last))]
        entry = first(rows, "value stderr df", Question(("model",), ("benchmark",), "best"))
        assert (entry.interval, entry.interval_reason) == (None, reason)


def test_the_best_of_what_should_be_low_mirrors_the_best_of_what_should_be_high() -> None:
    given = [("b0", 0.1, 3.0, 0.5), ("b0", 2, 2.0, 0.4), ("b1", 0.1, 5.0, 0.3)]
    low, high = (
        first(
            [(b, "m0", "", a, sign * value, error) for b, a, value, error in given],
            "value stderr",
            Question(("model",), ("benchmark",), "best"),
            **{"direction": direction, "lower": None, "upper": None, "whole": 1.0},
        )
        for sign, direction in ((1, "lower"), (-1, "higher"))
    )
    assert low.value == 3.5
    assert ends(low.interval) == pytest.approx((-high.interval.high, -high.interval.low), rel=1e-12)


def test_the_best_of_a_metric_without_a_better_end_is_undefined() -> None:
    found = aggregate(table([("b0", "m0", "", 0.1, 90.0)], direction=None), Question(("model",), (), "best"))
    assert (found.status, found.entries) == ("undefined", ())


def test_available_entries_that_lack_slots_are_named() -> None:
    rows = [("b0", "m0", "", 0.1, 90.0), ("b1", "m0", "", 0.1, 60.0), ("b0", "m1", "", 0.1, 70.0)]
    found = aggregate(table(rows), Question(("model",), ("benchmark",), missing="available"))
    dropped, warning = found.warnings
    assert (dropped.code, dropped.detail) == ("dropped", "m2 has no counted cell here: 2 models are left.")
    assert warning.code == "not_comparable"
    assert "m1 (1 of 2)" in warning.detail
    assert [one.value for one in found.entries] == [75.0, 70.0, None]
    assert aggregate(table(rows), OF_MODELS).warnings == (dropped,)


def test_a_table_of_too_many_entries_says_so() -> None:
    many = {**LEVELS, "benchmark": list(range(300)), "model": list(range(300))}
    rows = table([("b0", "m0", "", 0.1, 90.0)])
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


def test_adjusted_means_are_those_of_least_squares_and_of_a_complete_row_its_own() -> None:
    chance = np.random.default_rng(3)
    values, there = chance.normal(size=(6, 8)), chance.random((6, 8)) < 0.7
    there[0] = True
    name, column = np.nonzero(there)
    weights = np.array(list(adjusted_weights(there, np.arange(6))))
    design = np.hstack([name[:, None] == np.arange(6), column[:, None] == np.arange(8)]).astype(float)
    effects = np.linalg.lstsq(design, values[there], rcond=None)[0]
    means = (weights * np.where(there, values, 0)).sum(axis=(1, 2))
    assert means == pytest.approx(effects[:6] + effects[6:].mean())
    assert means[0] == pytest.approx(values[0].mean())
    # A name with one cell changes nobody else's.
    more = np.vstack([there, np.arange(8) == 2])
    for old, new in zip(weights, adjusted_weights(more, np.arange(6)), strict=True):
        assert new == pytest.approx(np.vstack([old, np.zeros(8)]), abs=1e-12)
