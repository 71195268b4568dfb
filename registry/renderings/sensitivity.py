"""Which axis matters: shares of variance and level means."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from registry.renderings.numbers import UNDEFINED, fixed, p_value, places_of
from registry.renderings.sheet import Block, Lines
from registry.renderings.table import Column, Table
from registry.renderings.tidy import harmless, tidy
from registry.renderings.words import label, measure, said

Document = dict[str, Any]
_METHODS = {
    "functional_anova": "functional analysis of variance of a full grid",
    "shapley": "Shapley average over the orders of the axes, for the grid has gaps",
}
_MEANS = (("raw_mean", "raw"), ("mean", "adjusted"), ("logit_mean", "on the logit scale"))


def blocks(document: Document) -> Iterator[Block]:
    """A table of shares with the residual, and the level means of each axis."""
    found = document.get("sensitivity")
    if not found or not found.get("axes"):
        yield f"No shares of variance: {(found or {}).get('reason') or 'not computed'}."
        return
    method = str(found.get("method") or "")
    yield f"shares of the variance of {measure(document.get('metric'))}: {_METHODS.get(method, said(method))}"
    yield _shares(found)
    yield from _residual(found.get("residual"))
    adjusted = [_means(name, axis["levels"]) for name, axis in found["axes"].items() if axis.get("levels")]
    yield from adjusted
    if adjusted:
        yield Lines(
            (
                "raw: mean of the level's cells; adjusted: as if the level had every cell, by the additive model",
                *(["on the logit scale: the same, within the bounds of a proportion"] if _has_logit(found) else []),
            )
        )


def _shares(found: Document) -> Table:
    """The axes, pairs of axes, and what is left."""
    rows = [(name, axis.get("share"), axis.get("df")) for name, axis in found["axes"].items()]
    residual = found.get("residual")
    rows += [("residual", residual.get("share"), residual.get("df"))] if residual else []
    pairs = found.get("interactions") or ()
    rows += [(f"  of it {' × '.join(one['axes'])}", one.get("share"), None) for one in pairs]
    return Table(
        [
            Column("axis", [name for name, _, _ in rows]),
            Column("share", [UNDEFINED if share is None else f"{100 * share:.1f} %" for _, share, _ in rows], True),
            Column("df", [UNDEFINED if df is None else str(df) for _, _, df in rows], True),
        ]
    )


def _residual(residual: Document | None) -> Iterator[Block]:
    ratio = (residual or {}).get("over_noise")
    if residual and ratio is not None:
        p = p_value(residual.get("p"))
        yield f"The residual is {ratio:.3g} times the known noise of the cells (chi-squared p {p} that it is noise)."


def _has_logit(found: Document) -> bool:
    levels = (level for axis in found["axes"].values() for level in axis.get("levels") or ())
    return any(level.get("logit_mean") is not None for level in levels)


def _means(name: str, levels: Sequence[Document]) -> Table:
    columns = [Column(name, [label(level["level"]) for level in levels], not isinstance(levels[0]["level"], str))]
    places = places_of(level.get(key) for level in levels for key, _ in _MEANS)
    for key, heading in _MEANS:
        means = [level.get(key) for level in levels]
        if any(mean is not None for mean in means):
            columns.append(Column(heading, [fixed(mean, places, UNDEFINED) for mean in means], True))
    return Table(columns)


def csv(document: Document) -> str:
    """One row a level of each axis, with the axis's share; a row without a level for the residual."""
    found = document.get("sensitivity") or {}
    means = [key for key, _ in _MEANS]
    head = [str(document.get("grid", "")), document.get("revision")]
    rows = [
        [*head, harmless(name), axis.get("share"), axis.get("df"), harmless(level["level"]), *map(level.get, means)]
        for name, axis in (found.get("axes") or {}).items()
        for level in axis.get("levels") or [dict.fromkeys(("level", *means))]
    ]
    if found.get("residual"):
        rows.append([*head, "residual", found["residual"].get("share"), found["residual"].get("df"), *[None] * 4])
    return tidy(["grid", "revision", "axis", "share", "df", "level", *means], rows)
