"""The trends of a grid: one row a series."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

from registry.renderings.notes import Notes, why
from registry.renderings.numbers import UNDEFINED, decimals_of, fixed, intervals, p_value, places_of
from registry.renderings.sheet import Block, Lines
from registry.renderings.table import Column, Table
from registry.renderings.tidy import harmless, tidy
from registry.renderings.words import label, measure, said

Document = dict[str, Any]
_WORDS = {"insufficient_points": "too few points", "flat_within_noise": "flat within noise"}


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
    yield f"{measure(document.get('metric'))} along {along}, {len(series)} series"
    yield Table([*named(series), *_course(series), *_tests(series), *_words(series, notes)], keys=0)
    yield from notes.lines()
    yield from _whole(document.get("grid_trend"), along)
    yield Lines(tuple(_legend(series, _per(document, along, series))))


def _per(document: Document, along: str, series: Sequence[Document]) -> str:
    """What a slope is per: a unit of the axis, or a factor of ten on a logarithmic one."""
    if any(one.get("x_scale") == "log10" for one in series):
        return f"factor of ten of {along}"
    units = {axis["name"]: axis.get("unit") for axis in document.get("axes") or ()}
    return f"{units[along]} of {along}" if units.get(along) else f"unit of {along}"


def named(series: Sequence[Document]) -> list[Column]:
    """A column for each fixed axis; the axis itself where none is fixed."""
    fixed_axes = list(series[0].get("at") or {})
    if not fixed_axes:
        return [Column("along", [one["along"] for one in series])]
    return [Column(name, [label(one["at"][name]) for one in series]) for name in fixed_axes]


def _course(series: Sequence[Document]) -> Iterator[Column]:
    """How many points there are, where they start and end, and the slope with its interval."""
    ends = decimals_of(value for one in series for value in _values(one) if value is not None)
    slopes = [one.get("slope") for one in series]
    places = places_of([*slopes, *(end for one in series for end in _ends(one.get("slope_interval")))])
    yield Column("points", [str(one.get("count", 0)) for one in series], True)
    yield Column("first", [fixed(one.get("first"), ends, UNDEFINED) for one in series], True)
    yield Column("", ["→"] * len(series))
    yield Column("last", [fixed(one.get("last"), ends, UNDEFINED) for one in series], True)
    yield Column("slope", [fixed(slope, places, UNDEFINED) for slope in slopes], True)
    yield Column(_level(series), intervals([one.get("slope_interval") for one in series], places))


def _values(one: Document) -> list[float | None]:
    summary = one.get("summary") or {}
    return [one.get("first"), one.get("last"), summary.get("min"), summary.get("max")]


def _ends(interval: Document | None) -> list[float]:
    return [interval["low"], interval["high"]] if interval else []


def _level(series: Sequence[Document]) -> str:
    levels = [one["slope_interval"]["level"] for one in series if one.get("slope_interval")]
    return f"{100 * levels[0]:g} % interval" if levels else "interval"


def _tests(series: Sequence[Document]) -> Iterator[Column]:
    """The exact test; the test on the known noise where there is one; the false-discovery rate."""
    yield Column(
        "exact p" if _exact(series) else "MK p",
        [p_value(attainable_p(one.get("mann_kendall"))) for one in series],
        True,
    )
    if any(one.get("logit") or one.get("weighted") for one in series):
        yield Column("trend p", [p_value(one.get("trend_p")) for one in series], True)
    yield Column("q", [p_value(one.get("q")) for one in series], True)


def _exact(series: Sequence[Document]) -> bool:
    return all((one.get("mann_kendall") or {}).get("method", "exact") == "exact" for one in series)


def attainable_p(test: Document | None) -> float | None:
    """The p-value of a test that could have been significant, else nothing."""
    return test.get("p") if test and test.get("status", "ok") == "ok" else None


def _words(series: Sequence[Document], notes: Notes) -> Iterator[Column]:
    yield Column("direction", [direction(one) for one in series])
    yield Column("shape", [shape(one.get("shape")) for one in series])
    marks = [notes.mark(*_reasons(one)) for one in series]
    if any(marks):
        yield Column("", marks)


def _reasons(one: Document) -> list[str | None]:
    if one.get("reason"):
        return [one["reason"]]
    parts = {"exact p": "mann_kendall", "trend p": "logit", "shape": "shape"}
    reasons = [why(one.get(name), what) for what, name in parts.items()]
    no_slope = "slope: undefined" if one.get("slope") is None else None
    return [*reasons, why(one.get("weighted"), "trend p"), no_slope]


def direction(one: Document) -> str:
    """The direction in words."""
    found = one.get("direction")
    return _WORDS.get(found, said(found)) if found else UNDEFINED


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
        reason = why(entry, "All series together")
        s = f"S = {entry['s']}, " if entry.get("s") is not None else ""
        law = "exact p" if entry.get("method", "exact") == "exact" else "p"
        yield reason or f"All series together: {s}{law} {p_value(entry.get('p'))}"


def _legend(series: Sequence[Document], unit: str) -> Iterator[str]:
    law = "exact p: Mann–Kendall" if _exact(series) else "MK p: Mann–Kendall, exact unless the series is long"
    yield f"slope: Theil–Sen, per {unit}; {law}, two-sided, ties included"
    if any(one.get("logit") for one in series):
        yield "trend p: binomial regression on the trials, allowing for overdispersion; the direction follows from it"
    elif any(one.get("weighted") for one in series):
        yield "trend p: regression weighted by the standard errors; the direction follows from it"
    if len(series) > 1:
        yield f"q: Benjamini–Hochberg over these {len(series)} series"


def csv(document: Document) -> str:
    """One row a series."""
    series = document.get("series") or []
    axes = list(dict.fromkeys(name for one in series for name in one.get("at") or {}))
    header = ["grid", "revision", "along", *axes, *_FIELDS, "slope_low", "slope_high"]
    header += ["mann_kendall_s", "mann_kendall_p", "min_attainable_p", "mann_kendall_status"]
    header += ["trend_p", "q", "direction", "shape", "shape_at"]
    return tidy(header, (_row(document, one, axes) for one in series))


_FIELDS = ("count", "from", "to", "first", "last", "slope")


def _row(document: Document, one: Document, axes: Sequence[str]) -> list[Any]:
    interval, test, form = (one.get(name) or {} for name in ("slope_interval", "mann_kendall", "shape"))
    cells = [str(document.get("grid", "")), document.get("revision"), one["along"]]
    cells += [(one.get("at") or {}).get(name) for name in axes] + [one.get(name) for name in _FIELDS]
    cells += [interval.get("low"), interval.get("high")]
    cells += [test.get(name) for name in ("s", "p", "min_attainable_p", "status")]
    cells += [one.get("trend_p"), one.get("q"), one.get("direction"), form.get("kind"), form.get("at")]
    return [harmless(cell) for cell in cells]
