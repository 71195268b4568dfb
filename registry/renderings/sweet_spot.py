"""A sweet spot: which coordinate serves several grids, by several criteria, and how far they agree."""

from __future__ import annotations

from collections.abc import Iterator

from registry.renderings import sheet
from registry.renderings.numbers import UNDEFINED, p_value
from registry.renderings.sheet import Block, Heading, Lines
from registry.renderings.table import Column, Table
from registry.renderings.tidy import harmless, tidy
from registry.renderings.words import about, counted, label, places, said
from registry.results.sweet_spot import Favourite, SweetSpot


def criteria_of(document: SweetSpot) -> list[tuple[str, Favourite]]:
    """The criteria that have a favourite, by name."""
    found = {
        "mean_rank": document.mean_rank,
        "mean_z": document.mean_z,
        "mean_regret": document.mean_regret,
        "mean_normalised_regret": document.mean_normalised_regret,
        "minimax_normalised_regret": document.minimax_normalised_regret,
    }
    return [(name, favourite) for name, favourite in found.items() if favourite]


def sweet_spot_text(document: SweetSpot) -> str:
    """The sweet spot for a terminal."""
    return sheet.text(sweet_spot_blocks(document))


def sweet_spot_markdown(document: SweetSpot) -> str:
    """The sweet spot as Markdown."""
    return sheet.markdown(sweet_spot_blocks(document))


def sweet_spot_csv(document: SweetSpot) -> str:
    """One row a criterion and favoured coordinate."""
    axes = list(document.axes or ())
    rows = (
        [harmless(document.experiment), harmless(document.metric), name, found.value]
        + [harmless(label(at[axis])) if axis in at else "" for axis in axes]
        for name, found in criteria_of(document)
        for at in found.at
    )
    return tidy(["experiment", "metric", "criterion", "value"], rows, axes)


def sweet_spot_blocks(document: SweetSpot) -> Iterator[Block]:
    """The criteria with their favourites, what supports them, and the margins."""
    yield Heading(f"Sweet spot — {about(document)}", 1)
    grids, cells = document.grids, document.common_cells
    yield f"{counted(grids, 'grid', 'grids')}, {counted(cells, 'cell', 'cells')} in common"
    if document.status != "ok":
        yield f"No sweet spot: {document.reason}."
        return
    shown = criteria_of(document)
    yield Table(
        (
            Column("criterion", [said(name) for name, _ in shown]),
            Column("value", [f"{found.value:.4g}" for _, found in shown], True),
            Column("best at", [places(found.at) for _, found in shown]),
        )
    )
    yield Lines(tuple(_evidence(document)))
    yield from _margins(document)
    yield from (f"warning: {warning.detail}" for warning in document.warnings)


def _evidence(document: SweetSpot) -> Iterator[str]:
    """Evidence for the favourite and against it."""
    if document.best_rank_p is not None:
        yield f"so low a mean rank of any cell by chance: p at most {p_value(document.best_rank_p)}"
    if shared := document.agreement:
        where = places(shared.at)
        yield f"the peak of {shared.grids} grids is at {where}; by chance: p at most {p_value(shared.p)}"
    yield f"not beaten everywhere by another cell (Pareto): {places(document.pareto)}"


def _margins(document: SweetSpot) -> Iterator[Block]:
    for axis, margin in (document.axes or {}).items():
        test = margin.friedman
        ranks = test.mean_ranks or [None] * len(margin.levels)
        yield Heading(axis, 2)
        yield Table(
            (
                Column(axis, [label(level) for level in margin.levels], True),
                Column("mean rank", [UNDEFINED if rank is None else f"{rank:.2f}" for rank in ranks], True),
                Column("best in", [str(count) for count in margin.best_count], True),
            )
        )
        p = test.p if test.exact_p is None else test.exact_p
        kind = "chi-squared" if test.exact_p is None else "exact"
        if p is None:
            yield f"levels are not tested: {test.reason or 'too little'}"
        else:
            yield f"equal levels (Friedman, {kind}): p {p_value(p)}"
