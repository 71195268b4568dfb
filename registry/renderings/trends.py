"""The trends of a grid: one row a series."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

from registry.renderings.directions import direction
from registry.renderings.notes import Notes, why
from registry.renderings.numbers import (
    UNDEFINED,
    decimals_of,
    fixed,
    intervals,
    level_of,
    p_value,
    places_of,
    signed,
)
from registry.renderings.sheet import Block, Lines
from registry.renderings.table import Column, Table
from registry.renderings.words import isolated, label, measure, slope_per

Document = dict[str, Any]
_FEW = {"likelihood_ratio_chi2", "monotone_chi2"}
_METHODS = {
    "least_squares": "by least squares, for most pairs of values tie",
    "logit": "by the fitted binomial regression",
    "pooled_repeats": "by regression on the runs",
    "theil_sen": "the slope times the length of the axis",
    "weighted": "by weighted regression",
}


def blocks(document: Document) -> Iterator[Block]:
    """A table for each axis with series, and what its columns mean."""
    series = document.get("series") or []
    if not series:
        yield "No series: no axis with an order has a measured cell."
        return
    for along, found in itertools.groupby(series, key=lambda one: one["along"]):
        yield from _along(document, along, list(found))
    if document.get("series_left_out"):
        yield f"{document['series_left_out']} series beyond the limits were left out."


def _along(document: Document, along: str, series: Sequence[Document]) -> Iterator[Block]:
    notes = Notes()
    yield f"{isolated(measure(document.get('metric')))} along {isolated(along)}, {len(series)} series"
    names = named(series)
    yield Table([*names, *_course(series), *_tests(series), *_words(series, notes)], keys=len(names))
    yield from notes.lines()
    yield from _whole(document.get("grid_trend"), along)
    yield Lines(tuple(_legend(document, series, slope_per(document.get("axes") or (), along, _scale(series)))))


def _scale(series: Sequence[Document]) -> str:
    return "log10" if any(one.get("x_scale") == "log10" for one in series) else "linear"


def named(series: Sequence[Document]) -> list[Column]:
    """A column for each fixed axis; the axis itself where none is fixed."""
    fixed_axes = list(series[0].get("at") or {})
    if not fixed_axes:
        return [Column("along", [one["along"] for one in series])]
    return [Column(name, [label(one["at"][name]) for one in series]) for name in fixed_axes]


def _course(series: Sequence[Document]) -> Iterator[Column]:
    """How many points there are, where they start and end, the fitted change and the slope with their intervals."""
    ends = decimals_of(value for one in series for value in _values(one) if value is not None)
    yield Column("points", [str(one.get("count", 0)) for one in series], True)
    yield Column("first", [fixed(one.get("first"), ends, UNDEFINED) for one in series], True)
    yield Column("", ["→"] * len(series))
    yield Column("last", [fixed(one.get("last"), ends, UNDEFINED) for one in series], True)
    changes: list[Document] = [one.get("fitted_change") or {} for one in series]
    if any(changes):
        yield from _estimate("change", [one.get("value") for one in changes], [one.get("interval") for one in changes])
    yield from _estimate("slope", [one.get("slope") for one in series], [one.get("slope_interval") for one in series])


def _estimate(name: str, values: Sequence[float | None], within: Sequence[Document | None]) -> Iterator[Column]:
    """Numbers with their intervals, in one column so that a table which is folded keeps them together."""
    places = places_of([*values, *(end for one in within if one for end in (one["low"], one["high"]))])
    written, ends = [signed(value, places) for value in values], intervals(within, places)
    wide = max(map(len, written))
    levels = [level_of(one) for one in within if one]
    if not levels:
        yield Column(name, written, True)
        return
    cells = [f"{value:>{wide}} {end}".removesuffix(f" {UNDEFINED}") for value, end in zip(written, ends, strict=True)]
    yield Column(f"{name}, {levels[0]} interval", cells)


def _values(one: Document) -> list[float | None]:
    summary = one.get("summary") or {}
    return [one.get("first"), one.get("last"), summary.get("min"), summary.get("max")]


def _tests(series: Sequence[Document]) -> Iterator[Column]:
    """What the direction follows from: of one series its p, of several their false-discovery rate."""
    if len(series) > 1:
        yield Column("q", [p_value(one.get("q")) for one in series], True)
        return
    yield Column(_law(series), [p_value(_p(one, _by_noise(series))) for one in series], True)


def _p(one: Document, by_noise: bool) -> float | None:
    return one.get("trend_p") if by_noise else attainable_p(one.get("mann_kendall"))


def _law(series: Sequence[Document]) -> str:
    """The name of the p-value: of the test on the known noise, or where there is none of Mann and Kendall's."""
    return "trend p" if _by_noise(series) else "exact p" if _exact(series) else "MK p"


def _by_noise(series: Sequence[Document]) -> bool:
    return any(one.get("logit") or one.get("weighted") for one in series)


def _exact(series: Sequence[Document]) -> bool:
    return all((one.get("mann_kendall") or {}).get("method", "exact") == "exact" for one in series)


def attainable_p(test: Document | None) -> float | None:
    """The p-value of a test that could have been significant, else nothing."""
    return test.get("p") if test and test.get("status", "ok") == "ok" else None


def _words(series: Sequence[Document], notes: Notes) -> Iterator[Column]:
    yield Column("direction", [direction(one) for one in series])
    yield Column("shape", [shape(one.get("shape")) for one in series])
    marks = [notes.mark(*_reasons(one, _by_noise(series))) for one in series]
    if any(marks):
        yield Column("", marks)


def _reasons(one: Document, by_noise: bool) -> list[str | None]:
    """Why numbers of a series are missing."""
    if one.get("reason"):
        return [one["reason"]]
    parts = {"trend p": "logit", "shape": "shape"} if by_noise else {"exact p": "mann_kendall", "shape": "shape"}
    reasons = [why(one.get(name), what) for what, name in parts.items()]
    change = one.get("fitted_change") or {}
    absent = {"change": change.get("reason"), "slope interval": one.get("slope_interval_reason")}
    told = [f"{what}: {reason}" for what, reason in absent.items() if reason]
    no_slope = "slope: undefined" if one.get("slope") is None else None
    return [*reasons, why(one.get("weighted"), "trend p"), *told, no_slope]


def shape(found: Document | None) -> str:
    """The shape, and where it bends or breaks."""
    if not found or not found.get("kind"):
        return UNDEFINED
    return f"{found['kind']} at {label(found['at'])}" if found.get("at") is not None else str(found["kind"])


def _whole(trend: Any, along: str) -> Iterator[Block]:
    """The trend of all series together, if it is there."""
    entries = trend if isinstance(trend, list) else [trend] if isinstance(trend, dict) else []
    if isinstance(trend, dict) and isinstance(trend.get(along), dict):
        entries = [trend[along] | {"along": along}]
    for entry in entries:
        if entry.get("along", along) != along:
            continue
        if entry.get("rows") == 1:
            continue
        reason = why(entry, "All series together, no test")
        s = f"S = {entry['s']}, " if entry.get("s") is not None else ""
        law = "exact p" if entry.get("method", "exact") == "exact" else "p"
        yield reason or f"All series together: {s}{law} {p_value(entry.get('p'))}"


def _legend(document: Document, series: Sequence[Document], unit: str) -> Iterator[str]:
    methods = sorted({str(one["fitted_change"].get("method")) for one in series if one.get("fitted_change")})
    if methods:
        told = " or ".join(_METHODS.get(method, method) for method in methods)
        yield f"change: from the first level to the last, {told}"
    yield f"slope: Theil–Sen, per {unit}"
    yield from _deciding(document, series)


def _tested(series: Sequence[Document]) -> str:
    """The test behind the p-values, by what is known of the noise."""
    if any(one.get("logit") for one in series):
        tests = {(one.get("logit") or {}).get("test") for one in series}
        few = "; chi-squared where few cells keep one course" if tests & _FEW else ""
        firth = "; Firth's where the successes are separated" if "firth_likelihood_ratio" in tests else ""
        return f"binomial regression on the trials, allowing for overdispersion{few}{firth}"
    if _by_noise(series):
        runs = any(one.get("noise") == "repeats" for one in series)
        return "t on the runs, their variance pooled" if runs else "regression weighted by the standard errors"
    law = "" if _exact(series) else ", exact unless the series is long"
    return f"Mann–Kendall{law}, two-sided, ties included"


def _deciding(document: Document, series: Sequence[Document]) -> Iterator[str]:
    """What the direction follows from, and what its words claim."""
    params = document.get("params") or {}
    alpha, margin, many = params.get("alpha"), params.get("equivalence"), len(series) > 1
    needs = f"; increasing and decreasing need {'q' if many else 'p'} < {alpha:g}" if alpha else ""
    yield f"{_law(series)}: {_tested(series)}" + (" (in CSV and JSON)" if many else needs)
    if many:
        yield f"q: that p after Benjamini–Hochberg over these {len(series)} series{needs}"
    words = {one.get("direction") for one in series}
    if "flat" in words and margin is not None:
        yield f"flat: the interval of the change lies within ± {fixed(margin, decimals_of([margin]))}"
    if "inconclusive" in words:
        power = 100 * (params.get("power") or 0.8)
        yield f"inconclusive: no trend was shown; could have shown: found with power {power:g} % if it were there"
