"""Write the trends of a grid's series."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from registry.renderings import splits
from registry.renderings.notes import Notes, why
from registry.renderings.numbers import (
    UNDEFINED,
    decimals_of,
    fixed,
    intervals,
    level_of,
    p_value,
    places_of,
    plain_number,
    signed,
)
from registry.renderings.sheet import Block, Lines
from registry.renderings.table import Column, Table, harmless, tidy
from registry.renderings.words import counted, direction, isolated, label, measure, slope_per
from registry.results.courses import Series, SeriesShape
from registry.results.statistics import Statistics
from registry.results.terms import Interval
from registry.results.trend_tests import GridTrend, MannKendall

_FEW = {"likelihood_ratio_chi2", "monotone_chi2"}
_METHODS = {
    "least_squares": "by least squares, for most pairs of values tie",
    "logit": "by the fitted binomial regression",
    "pooled_repeats": "by regression on the runs",
    "theil_sen": "the slope times the length of the axis",
    "weighted": "by weighted regression",
}


def blocks(document: Statistics) -> Iterator[Block]:
    """A table for each axis with series, and what its columns mean."""
    series = document.series
    if document.lost is not None:
        many, than = document.lost.of, plain_number(document.lost.more_than)
        if not series:
            yield f"None of {counted(many, 'series', 'series')} lost more than {than}."
            return
        yield f"Only the {len(series)} of {many} series that lost more than {than}, as they were measured."
    if not series:
        yield "No series: no axis with an order has a measured cell."
        return
    if document.series_left_out:
        yield f"Not all series are here: {document.series_left_out:,} more, beyond the limits, were not analysed."
    for along, found in itertools.groupby(series, key=lambda one: one.along):
        yield from _along(document, along, list(found))
    yield from splits.blocks(document)


def _along(document: Statistics, along: str, series: Sequence[Series]) -> Iterator[Block]:
    notes = Notes()
    yield f"{isolated(measure(document.metric))} along {isolated(along)}, {len(series)} series"
    names = named(series)
    left = _left(series) if document.lost else ()
    yield Table([*names, *_course(series), *left, *_tests(series), *_words(series, notes)], keys=len(names))
    yield from notes.lines()
    if document.lost is None:
        yield from _whole(document.grid_trend, along)
    yield Lines(tuple(_legend(document, series, slope_per(document.axes, along, _scale(series)))))


def _scale(series: Sequence[Series]) -> str:
    return "log10" if any(one.x_scale == "log10" for one in series) else "linear"


def named(series: Sequence[Series]) -> list[Column]:
    """A column for each fixed axis; the axis itself where none is fixed."""
    fixed_axes = list(series[0].at)
    if not fixed_axes:
        return [Column("along", [one.along for one in series])]
    return [Column(name, [label(one.at[name]) for one in series]) for name in fixed_axes]


def _course(series: Sequence[Series]) -> Iterator[Column]:
    """How many points there are, where they start and end, the fitted change and the slope with their intervals."""
    ends = decimals_of(value for one in series for value in _values(one) if value is not None)
    yield Column("points", [str(one.count) for one in series], True)
    yield Column("first", [fixed(one.first, ends, UNDEFINED) for one in series], True)
    yield Column("", ["→"] * len(series))
    yield Column("last", [fixed(one.last, ends, UNDEFINED) for one in series], True)
    changes = [one.fitted_change for one in series]
    if any(changes):
        values = [one.value if one else None for one in changes]
        yield from _estimate("change", values, [one.interval if one else None for one in changes])
    yield from _estimate("slope", [one.slope for one in series], [one.slope_interval for one in series])


def _left(series: Sequence[Series]) -> Iterator[Column]:
    """What is left of the first value, with its interval."""
    shares = [one.retained for one in series]
    written = [fixed(one.value, 3) if one else UNDEFINED for one in shares]
    within = intervals([one.interval if one else None for one in shares], 3)
    yield Column(
        "last/first",
        [f"{share} {end}".removesuffix(f" {UNDEFINED}") for share, end in zip(written, within, strict=True)],
    )


def _estimate(name: str, values: Sequence[float | None], within: Sequence[Interval | None]) -> Iterator[Column]:
    """Numbers with their intervals, in one column so that a table which is folded keeps them together."""
    places = places_of([*values, *(end for one in within if one for end in (one.low, one.high))])
    written, ends = [signed(value, places) for value in values], intervals(within, places)
    wide = max(map(len, written))
    levels = [level_of(one) for one in within if one]
    if not levels:
        yield Column(name, written, True)
        return
    cells = [f"{value:>{wide}} {end}".removesuffix(f" {UNDEFINED}") for value, end in zip(written, ends, strict=True)]
    yield Column(f"{name}, {levels[0]} interval", cells)


def _values(one: Series) -> list[float | None]:
    return [one.first, one.last, one.summary.min, one.summary.max]


def _tests(series: Sequence[Series]) -> Iterator[Column]:
    """Numbers that the direction follows from: of one series its p, of several their false-discovery rate."""
    if len(series) > 1:
        yield Column("q", [p_value(one.q) for one in series], True)
        return
    yield Column(_law(series), [p_value(_p(one, _by_noise(series))) for one in series], True)


def _p(one: Series, by_noise: bool) -> float | None:
    return one.trend_p if by_noise else attainable_p(one.mann_kendall)


def _law(series: Sequence[Series]) -> str:
    """The name of the p-value: of the test on the known noise, or where there is none of Mann and Kendall's."""
    return "trend p" if _by_noise(series) else "exact p" if _exact(series) else "MK p"


def _by_noise(series: Sequence[Series]) -> bool:
    return any(one.logit or one.weighted for one in series)


def _exact(series: Sequence[Series]) -> bool:
    return all(one.mann_kendall.method == "exact" for one in series)


def attainable_p(test: MannKendall | None) -> float | None:
    """The p-value of a test that could have been significant, else nothing."""
    return test.p if test and test.status == "ok" else None


def _words(series: Sequence[Series], notes: Notes) -> Iterator[Column]:
    yield Column("direction", [direction(one) for one in series])
    yield Column("shape", [shape(one.shape) for one in series])
    marks = [notes.mark(*_reasons(one, _by_noise(series))) for one in series]
    if any(marks):
        yield Column("", marks)


def _reasons(one: Series, by_noise: bool) -> list[str | None]:
    """Why numbers of a series are missing."""
    if one.reason:
        return [one.reason]
    test = why(one.logit, "trend p") if by_noise else why(one.mann_kendall, "exact p")
    absent = {
        "change": one.fitted_change.reason if one.fitted_change else None,
        "slope interval": one.slope_interval_reason,
    }
    told = [f"{what}: {reason}" for what, reason in absent.items() if reason]
    no_slope = "slope: undefined" if one.slope is None else None
    return [test, why(one.shape, "shape"), why(one.weighted, "trend p"), *told, no_slope]


def shape(found: SeriesShape | None) -> str:
    """The shape, and where it bends or breaks."""
    if not found or not found.kind:
        return UNDEFINED
    return f"{found.kind} at {label(found.at)}" if found.at is not None else found.kind


def _whole(trends: Mapping[str, GridTrend], along: str) -> Iterator[Block]:
    """The trend of all series together, if there are several."""
    found = trends.get(along)
    if found is None or found.rows == 1:
        return
    law = "exact p" if found.method == "exact" else "p"
    reason = why(found, "All series together, no test")
    yield reason or f"All series together: S = {found.s}, {law} {p_value(found.p)}"


def _legend(document: Statistics, series: Sequence[Series], unit: str) -> Iterator[str]:
    methods = sorted({one.fitted_change.method for one in series if one.fitted_change})
    if methods:
        told = " or ".join(_METHODS.get(method, method) for method in methods)
        yield f"change: from the first level to the last, {told}"
    yield f"slope: Theil–Sen, per {unit}"
    yield from _deciding(document, series)


def _tested(series: Sequence[Series]) -> str:
    """The test behind the p-values, by what is known of the noise."""
    if any(one.logit for one in series):
        tests = {one.logit.test for one in series if one.logit}
        few = "; chi-squared where few cells keep one course" if tests & _FEW else ""
        firth = "; Firth's where the successes are separated" if "firth_likelihood_ratio" in tests else ""
        return f"binomial regression on the trials, allowing for overdispersion{few}{firth}"
    if _by_noise(series):
        runs = any(one.noise == "repeats" for one in series)
        return "t on the runs, their variance pooled" if runs else "regression weighted by the standard errors"
    law = "" if _exact(series) else ", exact unless the series is long"
    return f"Mann–Kendall{law}, two-sided, ties included"


def _family(document: Statistics, series: Sequence[Series]) -> str:
    return f"these {len(series)} series" if document.lost is None else "all series along this axis"


def _deciding(document: Statistics, series: Sequence[Series]) -> Iterator[str]:
    """Notes on what the direction follows from, and what its words claim."""
    params, many = document.params, len(series) > 1
    margin = params.equivalence
    needs = f"; increasing and decreasing need {'q' if many else 'p'} < {params.alpha:g}"
    yield f"{_law(series)}: {_tested(series)}" + (" (in CSV and JSON)" if many else needs)
    if many:
        yield f"q: that p after Benjamini–Hochberg over {_family(document, series)}{needs}"
    words = {one.direction for one in series}
    if "flat" in words and margin is not None:
        yield f"flat: the interval of the change lies within ± {fixed(margin, decimals_of([margin]))}"
    if "inconclusive" in words:
        power = 100 * params.power
        yield f"inconclusive: no trend was shown; could have shown: found with power {power:g} % if it were there"


COLUMNS = (
    *("count", "from", "to", "first", "last", "slope", "slope_low", "slope_high"),
    *("change", "change_low", "change_high", "retained", "retained_low", "retained_high", "detectable", "noise"),
    *("mann_kendall_s", "mann_kendall_p", "min_attainable_p", "mann_kendall_status"),
    *("trend_p", "q", "direction", "shape", "shape_at"),
)
"""What a table says of a series, besides which one it is."""


def csv(document: Statistics) -> str:
    """One row a series."""
    axes = list(dict.fromkeys(name for one in document.series for name in one.at))
    split = document.params.split is not None
    left = document.series_left_out
    rows = ([*_row(document, one, axes), *(splits.cells_of(one) if split else ()), left] for one in document.series)
    after = (*COLUMNS, *(splits.COLUMNS if split else ()), "series_left_out")
    return tidy(["grid", "revision", "along"], rows, axes, after, only=document.slice)


def _row(document: Statistics, one: Series, axes: Sequence[str]) -> list[Any]:
    cells = [document.grid, document.revision, one.along, *(one.at.get(name) for name in axes), *cells_of(one)]
    return [harmless(cell) for cell in cells]


def cells_of(one: Series) -> tuple[Any, ...]:
    """The cells of a series in `COLUMNS`."""
    change, test, left = one.fitted_change, one.mann_kendall, one.retained
    return (
        *(one.count, one.from_, one.to, one.first, one.last, one.slope, *_ends(one.slope_interval)),
        *(change.value if change else None, *_ends(change.interval if change else None)),
        *(left.value if left else None, *_ends(left.interval if left else None)),
        *(one.detectable, one.noise, test.s, test.p, test.min_attainable_p, test.status),
        *(one.trend_p, one.q, one.direction, one.shape.kind, one.shape.at),
    )


def _ends(interval: Interval | None) -> tuple[float | None, float | None]:
    return (interval.low, interval.high) if interval else (None, None)
