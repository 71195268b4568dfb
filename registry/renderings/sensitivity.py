"""Which axis matters: shares of variance and level means."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from registry.renderings.numbers import UNDEFINED, fixed, intervals, level_of, p_value, places_of
from registry.renderings.sheet import Block, Lines
from registry.renderings.table import Column, Table, harmless, tidy
from registry.renderings.words import label, measure, said
from registry.results.sensitivity import AxisShare, LevelMean, Residual, Sensitivity
from registry.results.statistics import Statistics

_METHODS = {
    "functional_anova": "functional analysis of variance of a full grid",
    "shapley": "Shapley average over the orders of the axes, for the grid has gaps",
}
_TESTS = {"f": "F", "lr_logit": "likelihood ratio, logit scale"}


def blocks(document: Statistics) -> Iterator[Block]:
    """A table of shares with the residual, and the level means of each axis."""
    found = document.sensitivity
    if found is None or not found.axes:
        yield f"No shares of variance: {(found.reason if found else None) or 'not computed'}."
        return
    method = found.method or ""
    yield f"shares of the variance of {measure(document.metric)}: {_METHODS.get(method, said(method))}"
    yield _shares(found, found.axes)
    yield from _residual(found.residual)
    adjusted = [_means(name, axis.levels) for name, axis in found.axes.items() if axis.levels]
    yield from adjusted
    if adjusted:
        yield Lines(
            (
                "raw: mean of the level's cells, its interval from their noise if that is known, else their scatter",
                "adjusted: as if the level had every cell, by the additive model",
                *(
                    ["on the logit scale: the same, within the bounds of a proportion"]
                    if _has_logit(found.axes)
                    else []
                ),
            )
        )


def _shares(found: Sensitivity, axes: Mapping[str, AxisShare]) -> Table:
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
        columns.append(Column("p", [p_value(axis.p if axis else None) for axis in tested], True))
        columns.append(Column("test", [_TESTS.get(axis.test or "", "") if axis else "" for axis in tested]))
    return Table(columns)


def _residual(residual: Residual | None) -> Iterator[Block]:
    """Whether what the axes leave is more than noise: on the logit scale where that is known, and as measured."""
    if residual is None or residual.over_noise is None:
        return
    plain = f"{residual.over_noise:.3g} times the known noise, p {p_value(residual.p)}"
    if logit := residual.logit:
        yield Lines(
            (
                f"interaction on the logit scale: {logit.over_noise:.3g} times the known noise, chi-squared p "
                f"{p_value(logit.p)} with {logit.df} df",
                f"on the metric's own scale: {plain}; a ceiling alone can make that",
            )
        )
    else:
        yield f"What the axes leave is {plain} (chi-squared)."


def _has_logit(axes: Mapping[str, AxisShare]) -> bool:
    return any(level.logit_mean is not None for axis in axes.values() for level in axis.levels)


def _means(name: str, levels: Sequence[LevelMean]) -> Table:
    columns = [Column(name, [label(level.level) for level in levels], not isinstance(levels[0].level, str))]
    places = places_of(mean for level in levels for mean in (level.raw_mean, level.mean, level.logit_mean))
    columns.append(Column("raw", [fixed(level.raw_mean, places, UNDEFINED) for level in levels], True))
    columns += _intervals(levels, places)
    for heading, means in (
        ("adjusted", [level.mean for level in levels]),
        ("on the logit scale", [level.logit_mean for level in levels]),
    ):
        if any(mean is not None for mean in means):
            columns.append(Column(heading, [fixed(mean, places, UNDEFINED) for mean in means], True))
    return Table(columns)


def _intervals(levels: Sequence[LevelMean], places: int | None) -> list[Column]:
    found = [level.interval for level in levels]
    known = next((one for one in found if one), None)
    return [Column(f"{level_of(known)} interval", intervals(found, places))] if known else []


_MEANS = ("raw_mean", "mean", "logit_mean")
_HEADER = ("grid", "revision", "axis", "share", "df", "level", *_MEANS, "low", "high", "p", "test")


def csv(document: Statistics) -> str:
    """One row a level of each axis, with the axis's share; a row without a level for the residual."""
    found, head = document.sensitivity, (document.grid, document.revision)
    rows = [
        [*head, harmless(name), axis.share, axis.df, *cells, axis.p, axis.test]
        for name, axis in ((found.axes if found else None) or {}).items()
        for cells in (_cells(axis.levels) if axis.levels else [[None] * 6])
    ]
    if found and (residual := found.residual):
        decided = residual.logit or residual
        tail = [*[None] * 6, decided.p, "chi2_logit" if residual.logit else "chi2"]
        rows.append([*head, "residual", residual.share, residual.df, *tail])
    return tidy(_HEADER, rows, only=document.slice)


def _cells(levels: Sequence[LevelMean]) -> Iterator[list[Any]]:
    for one in levels:
        ends = (one.interval.low, one.interval.high) if one.interval else (None, None)
        yield [harmless(one.level), one.raw_mean, one.mean, one.logit_mean, *ends]
