"""Which axis matters: shares of variance and level means."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from registry.renderings.numbers import UNDEFINED, fixed, intervals, level_of, p_value, places_of
from registry.renderings.sheet import Block, Lines
from registry.renderings.table import Column, Table
from registry.renderings.tidy import harmless, tidy
from registry.renderings.words import label, measure, said

Document = dict[str, Any]
_METHODS = {
    "functional_anova": "functional analysis of variance of a full grid",
    "shapley": "Shapley average over the orders of the axes, for the grid has gaps",
}
_TESTS = {"f": "F", "lr_logit": "likelihood ratio, logit scale"}
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
                "raw: mean of the level's cells, its interval from their noise if that is known, else their scatter",
                "adjusted: as if the level had every cell, by the additive model",
                *(["on the logit scale: the same, within the bounds of a proportion"] if _has_logit(found) else []),
            )
        )


def _shares(found: Document) -> Table:
    """The axes, pairs of axes, and what is left."""
    rows = list(found["axes"].items())
    residual = found.get("residual")
    rows += [("residual", {key: residual.get(key) for key in ("share", "df")})] if residual else []
    rows += [
        (f"  of it {' × '.join(one['axes'])}", {"share": one.get("share")}) for one in found.get("interactions") or ()
    ]
    shares, freedoms = ([one.get(key) for _, one in rows] for key in ("share", "df"))
    columns = [
        Column("axis", [name for name, _ in rows]),
        Column("share", [UNDEFINED if share is None else f"{100 * share:.1f} %" for share in shares], True),
        Column("df", [UNDEFINED if df is None else str(df) for df in freedoms], True),
    ]
    if any(one.get("p") is not None for _, one in rows):
        columns.append(Column("p", [p_value(one.get("p")) for _, one in rows], True))
        columns.append(Column("test", [_TESTS.get(str(one.get("test")), "") for _, one in rows]))
    return Table(columns)


def _residual(residual: Document | None) -> Iterator[Block]:
    """Whether what the axes leave is more than noise: on the logit scale where that is known, and as measured."""
    if not residual or residual.get("over_noise") is None:
        return
    plain = f"{residual['over_noise']:.3g} times the known noise, p {p_value(residual.get('p'))}"
    logit = residual.get("logit")
    if logit and logit.get("over_noise") is not None:
        yield Lines(
            (
                f"interaction on the logit scale: {logit['over_noise']:.3g} times the known noise, chi-squared p "
                f"{p_value(logit.get('p'))} with {logit.get('df')} df",
                f"on the metric's own scale: {plain}; a ceiling alone can make that",
            )
        )
    else:
        yield f"What the axes leave is {plain} (chi-squared)."


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
            columns += _intervals(levels, places) if key == "raw_mean" else []
    return Table(columns)


def _intervals(levels: Sequence[Document], places: int | None) -> list[Column]:
    found = [level.get("interval") for level in levels]
    known = next((one for one in found if one), None)
    return [Column(f"{level_of(known)} interval", intervals(found, places))] if known else []


def csv(document: Document) -> str:
    """One row a level of each axis, with the axis's share; a row without a level for the residual."""
    found = document.get("sensitivity") or {}
    means = [key for key, _ in _MEANS]
    header = ["grid", "revision", "axis", "share", "df", "level", *means, "low", "high", "p", "test"]
    head = [str(document.get("grid", "")), document.get("revision")]
    rows = [
        [
            *(
                *head,
                harmless(name),
                axis.get("share"),
                axis.get("df"),
                harmless(level["level"]),
                *map(level.get, means),
            ),
            *((level.get("interval") or {}).get(end) for end in ("low", "high")),
            *(axis.get("p"), axis.get("test")),
        ]
        for name, axis in (found.get("axes") or {}).items()
        for level in axis.get("levels") or [dict.fromkeys(("level", *means))]
    ]
    if found.get("residual"):
        residual = found["residual"]
        decided = residual.get("logit") or residual
        tail = [*[None] * 6, decided.get("p"), "chi2_logit" if residual.get("logit") else "chi2"]
        rows.append([*head, "residual", residual.get("share"), residual.get("df"), *tail])
    return tidy(header, rows)
