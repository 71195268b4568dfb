"""Answer how large the noise floor of an experiment is, from the grids of a scope; gates ask as well."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

import numpy as np

from registry.grids.grid import Cell, Grid
from registry.query import RepeatNoiseQuery, sliced_by
from registry.results.codec import to_document
from registry.results.parameters import FALSE_ALARM, POWER
from registry.results.repeat_noise import BenchmarkNoise, Floor, RepeatNoise, RepeatSpread
from registry.results.terms import Input
from registry.storage.rows import grid_of
from workers.rankings.slots import Scales, kind_of, scales
from workers.scope import canonical_names, matches
from workers.statistics.noise import RepeatedCells, between, next_run, ratio, within

_MOST_FLOORS = 200
_MIXED = "the grids are on different scales; ask about grids of one scale"
_NOTHING = "no cell has repeats with their spread, or trials"
_POINTS = {"%": "points"}
_Found = tuple[RepeatSpread | None, RepeatSpread | None, RepeatSpread | None]
Excess = Literal["more", "less", "not_shown"]
_WORDS: Mapping[Excess, str] = {
    "more": "repeats vary more than their trials explain",
    "less": "repeats vary less than independent trials would",
    "not_shown": "that repeats vary otherwise than their trials is not shown",
}


def repeat_noise_document(
    query: RepeatNoiseQuery, rows: Sequence[Any], joined: Mapping[tuple[str, str], str]
) -> dict[str, Any]:
    """Noise of the grids that the query matches; equal grids give equal bytes."""
    meant = [(row, names) for row in rows if matches(query, names := canonical_names(row, joined))]
    meant.sort(key=lambda one: (*one[1].values(), str(one[0].id)))
    counted = [(row, names) for row, names in meant if row.derived is None]
    found = scales(kind_of(row.metric) for row, _ in counted)
    benchmarks = () if len(found.classes) > 1 else tuple(_by_benchmark(counted, found, query.alpha))
    known = any(one.status == "ok" for one in benchmarks)
    document: dict[str, Any] = to_document(
        RepeatNoise(
            "ok" if known else "not_comparable" if len(found.classes) > 1 else "insufficient",
            query.experiment,
            query.metric,
            None if found.one is None else found.one.unit,
            query.alpha,
            benchmarks,
            tuple(_floors(counted)) if query.model else (),
            FALSE_ALARM,
            POWER,
            None if known else _MIXED if len(found.classes) > 1 else _NOTHING,
            inputs=tuple(Input(str(row.id), row.number) for row, _ in counted),
            **sliced_by(query),
        )
    )
    return document


def _floors(counted: Sequence[tuple[Any, Mapping[str, str]]]) -> Iterator[Floor]:
    """The floor of each cell with repeats that differ, in the order of the grids."""
    left = _MOST_FLOORS
    for row, names in counted:
        grid = grid_of(row)
        direction = {"higher": 1, "lower": -1}.get(grid.metric.direction or "", 0)
        for cell in grid.cells() if direction else ():
            if cell.sd and cell.repeats and cell.repeats > 1 and left:
                left -= 1
                yield _floor(grid, cell, names, direction)


def _floor(grid: Grid, cell: Cell, names: Mapping[str, str], direction: int) -> Floor:
    sd, runs, whole = cell.sd or 0.0, cell.repeats or 0, grid.metric.proportion_of
    limit, finds = next_run(cell.value, sd, runs, direction)
    n = grid.questions or (cell.trials / runs if cell.trials else None)
    share = None if whole is None or n is None else (cell.value / whole * n + 0.5) / (n + 1)
    questions = None if share is None or n is None or whole is None else whole * math.sqrt(share * (1 - share) / n)
    at = {axis.name: axis.levels[place].label for axis, place in zip(grid.axes, cell.at, strict=True)}
    told = (f"{axis} {level}" for axis, level in at.items())
    where = " · ".join([names["benchmark"], names["model"], *filter(None, [names["variant"]]), *told])
    # Four digits, and as many more as one run of so small a spread needs.
    sizes = ((3, abs(limit) or 1.0), (1, sd))
    places = max(0, *(digits - math.floor(math.log10(size)) for digits, size in sizes))
    side, shift = ("below", "drop") if direction > 0 else ("above", "rise")
    sentence = (
        f"{where}: one more run {side} {limit:.{places}f} is worse than chance ({100 * FALSE_ALARM:g} % false alarms;"
        f" {runs} runs, mean {cell.value:.{places}f}, sd {sd:.2g}); a {shift} of {float(f'{finds:.2g}'):g} fails with"
        f" {100 * POWER:g} % probability"
    )
    if questions is not None:
        sentence += f". On as many other questions the score itself would vary by {questions:.2g}"
    identity = names["benchmark"], names["model"], names["variant"]
    return Floor(*identity, at, runs, cell.value, sd, limit, finds, questions, f"{sentence}.")


def beyond_trials(grids: Sequence[Grid]) -> RepeatSpread | None:
    """The ratio of the variance between repeats to that of their trials, of grids on one scale, where its interval is
    above 1; else None."""
    found = ratio(_cells([(grid, 1.0) for grid in grids]), 0.05)
    return found if found is not None and _excess(found) == "more" else None


def _by_benchmark(
    counted: Sequence[tuple[Any, Mapping[str, str]]], found: Scales, alpha: float
) -> Iterator[BenchmarkNoise]:
    for benchmark in sorted({names["benchmark"] for _, names in counted}):
        rows = [row for row, names in counted if names["benchmark"] == benchmark]
        cells = _cells([(grid_of(row), found.of[kind_of(row.metric)].factor) for row in rows])
        spread, explained, quotient = all_three = between(cells, alpha), within(cells, alpha), ratio(cells, alpha)
        known = spread is not None or explained is not None
        unit = "" if found.one is None or not found.one.unit else f" {_POINTS.get(found.one.unit, found.one.unit)}"
        yield BenchmarkNoise(
            benchmark,
            "ok" if known else "insufficient",
            _sentence(benchmark, all_three, unit, alpha),
            len(cells.sd),
            spread,
            explained,
            quotient,
            None if quotient is None else _excess(quotient),
        )


def _cells(grids: Sequence[tuple[Grid, float]]) -> RepeatedCells:
    """The measured cells of grids on one scale, each with the factor to it."""
    columns: list[tuple[float, int, float, float]] = []
    wholes = {grid.metric.proportion_of * factor for grid, factor in grids if grid.metric.proportion_of}
    for grid, factor in grids:
        whole = grid.metric.proportion_of
        for cell in grid.cells():
            sd = np.nan if cell.sd is None else cell.sd * factor
            trials = (cell.trials or 0) / (grid.design_effect or 1.0) if whole else 0.0
            columns.append((sd, cell.repeats or 0, cell.value / whole if whole else 0.0, trials))
    sds, repeats, shares, counts = (list(one) for one in zip(*columns, strict=True)) if columns else ([], [], [], [])
    return RepeatedCells(
        np.array(sds, dtype=np.float64),
        np.array(repeats, dtype=np.int64),
        np.array(shares, dtype=np.float64),
        np.array(counts, dtype=np.float64),
        max(wholes, default=1.0),
    )


def _excess(found: RepeatSpread) -> Excess:
    return "more" if found.low > 1 else "less" if found.high < 1 else "not_shown"


def _sentence(benchmark: str, found: _Found, unit: str, alpha: float) -> str:
    spread, explained, quotient = found
    level = f"{100 * (1 - alpha):.4g} % interval"
    if spread is None:
        if explained is None:
            return f"On {benchmark} nothing is known of the noise between repeats: {_NOTHING}."
        told = f"the trials of a cell explain a standard deviation of {explained.value:.3g}{unit}"
        return f"On {benchmark} no cell has repeats that differ; {told} ({level} {_range(explained)})."
    told = f"On {benchmark} one repeat varies by {spread.value:.3g}{unit}"
    told = f"{told} ({level} {_range(spread)}, {spread.df:.3g} degree{'s' * (spread.df != 1)} of freedom)"
    if explained is None or quotient is None:
        return f"{told}; its trials are not known."
    interval = f"variance ratio {quotient.value:.3g}, {_range(quotient)}"
    return f"{told}; its trials explain {explained.value:.3g}{unit}: {_WORDS[_excess(quotient)]} ({interval})."


def _range(found: RepeatSpread) -> str:
    return f"{found.low:.3g} to {found.high:.3g}"
