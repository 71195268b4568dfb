"""Which axis matters, a part of a grid's statistics in text and on its page: shares of variance and level means."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from registry.renderings.numbers import UNDEFINED, ends, fixed, intervals, named_interval, p_value, places_by_row
from registry.renderings.sheet import Block, Lines
from registry.renderings.table import Column, Table, members, tidy
from registry.renderings.words import label, measure, said
from registry.results.sensitivity import AxisShare, LevelMean, Residual, Sensitivity
from registry.results.statistics import Statistics

_METHODS = {
    "functional_anova": "functional analysis of variance of a full grid",
    "shapley": "Shapley average over the orders of the axes, for the grid has gaps",
}
_OUTSIDE = "*"
_TESTS = {"f": "F", "lr_logit": "likelihood ratio, logit scale"}


def blocks(document: Statistics) -> Iterator[Block]:
    """A table of shares with the residual, and the level means of each axis."""
    found = document.sensitivity
    if found is None or not found.axes:
        yield f"No shares of variance: {(found.reason if found else None) or 'not computed'}."
        return
    method = found.method or ""
    yield f"shares of the variance of {measure(document.metric)}: {_METHODS.get(method, said(method))}"
    p = "adjusted p" if document.opened else "p"
    yield _shares(found, found.axes, p)
    yield from _residual(found.residual, p, document.params.alpha)
    adjusted = [_means(name, axis.levels) for name, axis in found.axes.items() if axis.levels]
    yield from adjusted
    if adjusted:
        yield Lines(tuple(_legend(found.axes, is_raised=document.opened is not None)))


def _legend(axes: Mapping[str, AxisShare], *, is_raised: bool) -> Iterator[str]:
    """What the columns of shares and means are."""
    if is_raised and any(axis.p is not None for axis in axes.values()):
        said = "no less than the p at which anything is said along the axis; of an interaction at most 20 times its own"
        yield f"adjusted p: {said}"
    yield "raw: mean of the level's cells, its interval from their noise if known of all cells, else their scatter"
    if any(level.mean is not None for axis in axes.values() for level in axis.levels):
        yield "adjusted: as if the level had every cell, by the additive model"
    if any(level.logit_mean is not None for axis in axes.values() for level in axis.levels):
        yield "on the logit scale: by the additive model of log-odds, within the bounds of a share"
    if any(level.out_of_bounds for axis in axes.values() for level in axis.levels):
        yield f"{_OUTSIDE} outside the metric's bounds, as no mean can be: an extrapolation to unmeasured cells"


def _shares(found: Sensitivity, axes: Mapping[str, AxisShare], p: str) -> Table:
    """The axes, pairs of axes, and what is left."""
    rows: list[tuple[str, float, int | None, AxisShare | None]] = [
        (name, axis.share, axis.df, axis) for name, axis in axes.items()
    ]
    rows += [("residual", found.residual.share, found.residual.df, None)] if found.residual else []
    rows += [(f"  of it {' × '.join(one.axes)}", one.share, None, None) for one in found.interactions]
    columns = [
        Column("axis", [name for name, *_ in rows]),
        Column("share", [f"{100 * share:.1f} %" for _, share, *_ in rows], True),
        Column("df", [UNDEFINED if df is None else str(df) for _, _, df, _ in rows], True),
    ]
    tested = [axis for *_, axis in rows]
    if any(axis and axis.p is not None for axis in tested):
        columns.append(Column(p, [p_value(axis.p if axis else None) for axis in tested], True))
        columns.append(Column("test", [_TESTS.get(axis.test or "", "") if axis else "" for axis in tested]))
    return Table(columns)


def _residual(residual: Residual | None, p: str, alpha: float) -> Iterator[Block]:
    """Whether what the axes leave is more than noise: on the logit scale where that is known, and as measured. Where
    only the latter shows something, the bounds of the metric may be what makes it."""
    if residual is None or residual.over_noise is None:
        return
    plain = f"{_times(residual.over_noise)} times the known noise, {p} {p_value(residual.p)}"
    if logit := residual.logit:
        bound = residual.p is not None and residual.p < alpha <= logit.p
        yield Lines(
            (
                f"interaction on the logit scale: {_times(logit.over_noise)} times the known noise, {p} "
                f"{p_value(logit.p)} by chi-squared with {logit.df} df",
                f"on the metric's own scale: {plain}" + ("; an end of the scale alone can make that" if bound else ""),
            )
        )
    else:
        yield f"What the axes leave is {plain}."


def _times(over: float) -> str:
    """A ratio to three digits; what arithmetic leaves of 0 is 0."""
    return f"{over:.3g}" if over > 1e-9 else "0"


def _means(name: str, levels: Sequence[LevelMean]) -> Table:
    columns = [Column(name, [label(level.level) for level in levels], not isinstance(levels[0].level, str))]
    places = _places(levels)
    raw = [fixed(level.raw_mean, d, UNDEFINED) for level, d in zip(levels, places, strict=True)]
    columns.append(Column("raw", raw, True))
    found = [level.interval for level in levels]
    if any(found):
        columns.append(Column(named_interval(found), intervals(found, places)))
    outside = [level.out_of_bounds for level in levels]
    for heading, means, marked in (
        ("adjusted", [level.mean for level in levels], outside),
        ("on the logit scale", [level.logit_mean for level in levels], [False] * len(levels)),
    ):
        if any(mean is not None for mean in means):
            marks = ((_OUTSIDE if one else " ") if any(marked) else "" for one in marked)
            rows = zip(means, places, marks, strict=True)
            written = [fixed(mean, d, UNDEFINED) + mark for mean, d, mark in rows]
            columns.append(Column(heading, written, True))
    return Table(columns)


def _places(levels: Sequence[LevelMean]) -> list[int | None]:
    """The decimals of each level's means: those of all, and so many more that every interval shows two digits of its
    width, as far as a number has them."""
    usual = places_by_row([(level.raw_mean, level.mean, level.logit_mean) for level in levels])
    most = dict.fromkeys(usual, 0)
    for level, places in zip(levels, usual, strict=True):
        if (found := level.interval) and (width := found.high - found.low) > 0:
            size = max(abs(found.low), abs(found.high))
            shown = min(1 - math.floor(math.log10(width)), 14 - math.floor(math.log10(size)))
            most[places] = max(most[places], shown)
    return [None if places is None else max(places, most[places]) for places in usual]


_MEANS = ("raw_mean", "mean", "logit_mean", "out_of_bounds")
_HEADER = ("grid", "revision", "axis", "share", "df", "level", *_MEANS, "low", "high", "p", "test")


def csv(document: Statistics) -> str:
    """One row a level of each axis, with the axis's share; a row without a level for the residual."""
    found, head = document.sensitivity, (document.grid, document.revision)
    rows = [
        [*head, name, axis.share, axis.df, *cells, axis.p, axis.test]
        for name, axis in ((found.axes if found else None) or {}).items()
        for cells in (_cells(axis.levels) if axis.levels else [[None] * 7])
    ]
    if found and (residual := found.residual):
        decided = residual.logit or residual
        tail = [*[None] * 7, decided.p, "chi2_logit" if residual.logit else "chi2"]
        rows.append([*head, "residual", residual.share, residual.df, *tail])
    return tidy(_HEADER, rows, only=document.slice)


def _cells(levels: Sequence[LevelMean]) -> list[list[Any]]:
    return [[one.level, *members(one, *_MEANS), *ends(one.interval)] for one in levels]
