"""Write the trends of a grid's series, a part of its statistics in text and on its page."""

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

from registry.renderings.notes import Notes, why
from registry.renderings.numbers import (
    UNDEFINED,
    decimals_of,
    ends,
    fixed,
    intervals,
    level_at,
    level_of,
    p_value,
    places_by_row,
    rounded,
    signed,
)
from registry.renderings.precision import places_posted
from registry.renderings.sheet import Block, Lines
from registry.renderings.statistics_columns import MEASURED
from registry.renderings.table import Column, Table, tidy
from registry.renderings.verdicts.estimate import Yardstick
from registry.renderings.words import (
    UNLIKE_LINE,
    direction,
    isolated,
    label,
    lasting,
    measure,
    reaches_0,
    slope_per,
    times_interval,
    told_change,
    unlike_a_line,
)
from registry.results.courses import Series
from registry.results.parameters import Parameters
from registry.results.statistics import Statistics
from registry.results.terms import Interval
from registry.results.trend_tests import MannKendall

_METHODS = {
    "newcombe": "of these two cells, with Newcombe's interval",
    "welch": "of the runs of these two cells, by Welch's t",
    "z": "of these two cells, by their standard errors",
    "theil_sen": "the slope times the length of the axis",
    "least_squares": "by least squares, for many pairs of values tie",
}
"""How a change is computed. Of a table with several ways the first is told below it, the others at their rows."""
_TRIALS = {
    "likelihood_ratio_f": "binomial regression on the trials, allowing for overdispersion",
    "likelihood_ratio_chi2": "the likelihood ratio of two cells",
    "monotone_chi2": "chi-squared where a monotone course fits",
    "fisher": "Fisher's exact test of two cells",
    "firth_likelihood_ratio": "Firth's where the successes are separated",
}
"""The tests of trials, as far as a series had them."""


def blocks(document: Statistics) -> Iterator[Block]:
    """A table for each axis with series, and what its columns mean."""
    series = document.series
    if not series:
        ordered = any(axis["kind"] != "nominal" for axis in document.axes)
        why = f"no axis {'with an order has a measured cell' if ordered else 'has an order'}"
        yield f"No series: {document.series_reason or why}."
        return
    if document.series_left_out:
        yield f"Not all series are here: {document.series_left_out:,} more, beyond the limits, were not analysed."
    for along, found in itertools.groupby(series, key=lambda one: one.along):
        yield from _along(document, along, list(found))


def _along(document: Statistics, along: str, series: Sequence[Series]) -> Iterator[Block]:
    notes = Notes()
    yield f"{isolated(measure(document.metric))} along {isolated(along)}, {len(series)} series"
    names = named(series)
    words = _words(document, series, notes)
    yield Table([*names, *_course(document, series), *_tests(series), *words], keys=len(names))
    yield from notes.lines()
    if len({one.noise for one in series}) > 1 and document.peaks and (reason := document.peaks.noise_reason):
        yield f"A series with a cell of unknown noise is judged as if none were known: {reason}"
    yield from _whole(document, along)
    yield Lines(tuple(_legend(document, series)))


def _scale(series: Sequence[Series]) -> str:
    return "log10" if any(one.x_scale == "log10" for one in series) else "linear"


def named(series: Sequence[Series]) -> list[Column]:
    """A column for each fixed axis; the axis itself where none is fixed."""
    fixed_axes = list(series[0].at)
    if not fixed_axes:
        return [Column("along", [one.along for one in series])]
    return [Column(name, [label(one.at[name]) for one in series]) for name in fixed_axes]


def _course(document: Statistics, series: Sequence[Series]) -> Iterator[Column]:
    """How many points there are, where they start and end, the changes of the ends and along a line, and the slope,
    with their intervals."""
    ends = places_posted(document, [value for one in series for value in _values(one)])
    own = [places_posted(document, _values(one)) if ends is None else ends for one in series]
    yield Column("points", [str(one.count) for one in series], True)
    yield Column("first", [fixed(one.first, d, UNDEFINED) for one, d in zip(series, own, strict=True)], True)
    yield Column("", ["→"] * len(series))
    yield Column("last", [fixed(one.last, d, UNDEFINED) for one, d in zip(series, own, strict=True)], True)
    changes = [told_change(one) for one in series]
    if any(changes):
        values = [one.value if one else None for one in changes]
        yield from _estimate("change", values, [one.interval if one else None for one in changes], own)
    times = slope_per(document.axes, series[0].along, _scale(series))[0]
    slopes = [None if one.slope is None else times * one.slope for one in series]
    reach = [times_interval(times, one.slope_interval) for one in series]
    yield from _estimate("slope", slopes, reach, own)


def _estimate(
    name: str, values: Sequence[float | None], within: Sequence[Interval | None], posted: Sequence[int | None]
) -> Iterator[Column]:
    """Numbers with their intervals, in one column so that a table which is folded keeps them together. Where the values
    that they are made of have no decimals in common, no row is too small for its own; what a row's own values have no
    fixed notation for has none here."""
    rows = [(value, *ends(one)) for value, one in zip(values, within, strict=True)]
    found = places_by_row(rows) if len(set(posted)) == 1 else places_by_row(rows, 0.0)
    places = [None if of is None else d for of, d in zip(posted, found, strict=True)]
    written, told = [signed(value, d) for value, d in zip(values, places, strict=True)], intervals(within, places)
    wide = max(map(len, written))
    levels = [level_of(one) for one in within if one]
    if not levels:
        yield Column(name, written, True)
        return
    cells = [f"{value:>{wide}} {end}".removesuffix(f" {UNDEFINED}") for value, end in zip(written, told, strict=True)]
    yield Column(f"{name}, {levels[0]} interval", cells)


def _values(one: Series) -> list[float]:
    return [value for value in (one.first, one.last, one.summary.min, one.summary.max) if value is not None]


def _tests(series: Sequence[Series]) -> Iterator[Column]:
    """Numbers that the direction follows from: the false-discovery rate, of one series without noise its p."""
    if has_q(series):
        yield Column("q", [p_value(one.q) for one in series], True)
        return
    yield Column(name_of_p(series), [p_value(attainable_p(one.mann_kendall)) for one in series], True)


def has_q(series: Sequence[Series]) -> bool:
    """Return whether q may be more than the p of a series by itself."""
    return len(series) > 1 or _by_noise(series)


def name_of_p(series: Sequence[Series]) -> str:
    """The name of the p-value: of the test on the known noise, or where there is none of Mann and Kendall's."""
    return "trend p" if _by_noise(series) else "exact p" if _exact(series) else "MK p"


def _by_noise(series: Sequence[Series]) -> bool:
    return any(one.logit or one.weighted for one in series)


def _exact(series: Sequence[Series]) -> bool:
    return all(one.mann_kendall.method == "exact" for one in series)


def attainable_p(test: MannKendall | None) -> float | None:
    """The p-value of a test that could have been significant, else nothing."""
    return test.p if test and test.status == "ok" else None


def _words(document: Statistics, series: Sequence[Series], notes: Notes) -> Iterator[Column]:
    yield Column("direction", [direction(one, document.params.alpha) for one in series])
    declines = [lasting(one, document.metric) for one in series]
    if any(declines):
        yield Column("gets worse", [f"after {label(one.until)}, by {label(one.by)}" if one else "" for one in declines])
    usual = next(iter(_ways(series)), None)
    marks = [notes.mark(*_reasons(one, _by_noise(series)), _way(one, usual)) for one in series]
    if any(marks):
        yield Column("", marks)


def _ways(series: Sequence[Series]) -> list[str]:
    """The methods of the changes, in the order of `_METHODS`."""
    found = {change.method for one in series if (change := told_change(one))}
    return sorted(found, key=[*_METHODS, *found].index)


def _way(one: Series, usual: str | None) -> str | None:
    """How the change of a series is computed, where not in the usual way of its table."""
    change = told_change(one)
    return None if change is None or change.method == usual else f"change: {_METHODS.get(change.method, change.method)}"


def _reasons(one: Series, by_noise: bool) -> list[str | None]:
    """Why numbers of a series are missing."""
    if one.reason:
        return [one.reason]
    test = why(one.logit, "trend p") if by_noise else why(one.mann_kendall, "exact p")
    change = one.fitted_change.reason if one.fitted_change else None
    if one.fitted_change and told_change(one) is None:
        change = "that along a line and that of the ends are more than a hundredfold apart"
    absent = {"change": change, "slope interval": one.slope_interval_reason}
    if change and change == one.slope_interval_reason:
        absent, own = {"intervals": change}, one.mann_kendall.reason
        if test and own and change.startswith(own):
            test, absent = None, {"exact p and intervals": own}
    told = [f"{what}: {reason}" for what, reason in absent.items() if reason]
    no_slope = "slope: undefined" if one.slope is None else None
    return [test, why(one.weighted, "trend p"), *told, no_slope]


def _whole(document: Statistics, along: str) -> Iterator[Block]:
    """The trend of all series together, if there are several."""
    found = document.grid_trend.get(along)
    if found is None or found.rows < 2:
        return
    law = ("adjusted " if document.opened else "") + ("exact p" if found.method == "exact" else "p")
    over = ", by the sums of their columns, not in each" if found.over == "columns" else ""
    together = f"All series together{over}"
    yield why(found, f"{together}, no test") or f"{together}: S = {found.s}, {law} {p_value(found.p)}"


def _legend(document: Statistics, series: Sequence[Series]) -> Iterator[str]:
    if ways := _ways(series):
        reaches = "; it reaches to 0 where no trend is shown" if any(map(reaches_0, series)) else ""
        if any(map(_ends_at_0, series)):
            reaches += "; where it ends at 0 beside a trend, as for ties, the test is the finer of both and excludes 0"
        how = _METHODS.get(ways[0], ways[0]) + (", where no note says otherwise" if len(ways) > 1 else "")
        yield f"change: from the first level to the last, {how}{reaches}"
    if any(one.slope is not None for one in series):
        by = "q" if has_q(series) else name_of_p(series)
        apart = f"; its interval is of the slope alone: the direction follows {by} where they differ"
        times, per, stored = slope_per(document.axes, series[0].along, _scale(series))
        unit = Yardstick.of(document.metric).unit
        told = (f"in {unit} per {per}" if unit else f"per {per}") + f" (in CSV and JSON per {stored})" * (times != 1.0)
        yield f"slope: of a straight line (Theil–Sen), {told}{apart * any(map(_clash, series))}"
    if any(_tested_p(one) is not None for one in series):
        yield from _deciding(document, series)
    yield from _inconclusive(series, document.params)
    shown = [onset for one in series if (onset := lasting(one, document.metric))]
    if shown and shown[0].level:
        margin = f"by more than {rounded(shown[0].margin)}" if shown[0].margin else "by any amount"
        side = "below" if shown[0].goes == "falls" else "above"
        sure = f"with {level_at(document.params.alpha)} confidence"
        yield f"gets worse: {side} the first value {margin} for good, after the one level and by the other, {sure}"


def _ends_at_0(one: Series) -> bool:
    """Whether a series is shown to move by a test that excludes the 0 at which the interval of its change ends."""
    within = one.fitted_change.interval if one.fitted_change and one.end_change is None else None
    return "creasing" in one.direction and within is not None and 0.0 in (within.low, within.high)


def _clash(one: Series) -> bool:
    """Whether the interval of the slope holds 0 beside a shown trend, or excludes it where none is shown."""
    within, moves = one.slope_interval, "creasing" in one.direction
    if within is None or not (moves or one.direction in ("inconclusive", "varies_without_trend")):
        return False
    return moves == (within.low <= 0.0 <= within.high)


def _tested_p(one: Series) -> float | None:
    """The p that was adjusted to q; of a series by itself its test's."""
    return one.trend_p if one.q is None else one.q


def _tested(series: Sequence[Series]) -> str:
    """The tests behind the p-values of these series, by what is known of the noise."""
    used = [one for one in series if _tested_p(one) is not None]
    told = []
    if tests := {one.logit.test or "likelihood_ratio_f" for one in used if one.logit}:
        told += [how for test, how in _TRIALS.items() if test in tests]
    if errors := [one for one in used if one.weighted]:
        told += [
            "t on the runs, each cell with the variance of its own"
            if any(one.noise == "repeats" for one in errors)
            else "regression weighted by the standard errors"
        ]
        if any(one.weighted and one.trend_p != one.weighted.p for one in errors):
            told += ["no less than by least squares where cells scatter about any monotone course"]
    if bare := [one for one in used if not one.logit and not one.weighted]:
        law = "" if _exact(bare) else ", exact unless the series is long"
        told += [f"Mann–Kendall{law}, two-sided, ties included" + ", of a series without noise" * bool(told)]
    return "; ".join(told)


def _family(document: Statistics, series: Sequence[Series]) -> str:
    if len(series) == 1:
        return "this series"
    tested = sum(one.q is not None for one in series)
    return f"these {tested} series" if tested == len(series) else f"the {tested} of {len(series)} series that have one"


def _deciding(document: Statistics, series: Sequence[Series]) -> Iterator[str]:
    """Notes on what the direction follows from, and what its words claim."""
    params, many = document.params, has_q(series)
    margin = params.equivalence
    needs = f"; increasing and decreasing need {'q' if many else 'p'} < {params.alpha:g}"
    yield f"{name_of_p(series)}: {_tested(series)}" + (" (in CSV and JSON)" if many else needs)
    if many:
        opens = ", no less than the p at which anything is said along this axis" if document.opened else ""
        yield f"q: that p after Benjamini–Hochberg over {_family(document, series)}{opens}{needs}"
    if any(one.logit and UNLIKE_LINE in unlike_a_line(one, scale="") for one in series):
        yield f"{UNLIKE_LINE}: on the logit scale, on which trials are fitted"
    words = {one.direction for one in series}
    if "flat" in words and margin is not None:
        yield f"flat: any two cells are shown to differ by less than {fixed(margin, decimals_of([margin]))}"


def _inconclusive(series: Sequence[Series], params: Parameters) -> Iterator[str]:
    if any(one.direction == "inconclusive" for one in series):
        shown = any(one.direction == "inconclusive" and one.detectable is not None for one in series)
        could = f"; could have shown: found with power {100 * params.power:g} % if it were there, along a line"
        yield "inconclusive: no trend was shown" + (could if shown else "")


_PLAIN = ("count", "first", "last", "slope", "detectable", "noise", "trend_p", "q", "direction")
_BESIDE = ("along", "x_scale", "series_left_out")
COLUMNS = [one.name for one in MEASURED["trends"] if one.name not in _BESIDE and not one.name.endswith("_num")]
"""What a table says of a series, besides which one it is."""


def csv(document: Statistics) -> str:
    """One row a series."""
    axes = list(dict.fromkeys(name for one in document.series for name in one.at))
    rows = ([*_row(document, one, axes), document.series_left_out] for one in document.series)
    return tidy(["grid", "revision", "along"], rows, axes, (*COLUMNS, "series_left_out"), only=document.slice)


def _row(document: Statistics, one: Series, axes: Sequence[str]) -> list[Any]:
    told = cells_of(one)
    return [document.grid, document.revision, one.along, *map(one.at.get, axes), *(told[name] for name in COLUMNS)]


def cells_of(one: Series) -> dict[str, Any]:
    """The cells of a series by the names in `COLUMNS`."""
    test, onset = one.mann_kendall, one.onset
    found = {name: getattr(one, name) for name in _PLAIN} | {
        "from": one.from_,
        "to": one.to,
        "mann_kendall_s": test.s,
        "mann_kendall_p": test.p,
        "min_attainable_p": test.min_attainable_p,
        "mann_kendall_status": test.status,
        "onset_until": onset and onset.until,
        "onset_by": onset and onset.by,
    }
    within = {"slope": one.slope_interval}
    for name, estimate in (("change", one.fitted_change), ("end_change", one.end_change), ("retained", one.retained)):
        found[name], within[name] = (estimate.value, estimate.interval) if estimate else (None, None)
    for name, interval in within.items():
        found[f"{name}_low"], found[f"{name}_high"] = ends(interval)
    return found
