"""A sweet spot: which coordinate serves several grids, by several criteria, and how far they agree."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from registry.renderings import sheet
from registry.renderings.numbers import UNDEFINED, p_value
from registry.renderings.sheet import Block, Heading, Lines
from registry.renderings.table import Column, Table
from registry.renderings.tidy import harmless, tidy
from registry.renderings.words import counted, label, places, said

Document = dict[str, Any]
CRITERIA = (
    "mean_rank",
    "mean_z",
    "mean_regret",
    "mean_normalised_regret",
    "minimax_normalised_regret",
)


def sweet_spot_text(document: Document) -> str:
    """The sweet spot for a terminal."""
    return sheet.text(sweet_spot_blocks(document))


def sweet_spot_markdown(document: Document) -> str:
    """The sweet spot as Markdown."""
    return sheet.markdown(sweet_spot_blocks(document))


def sweet_spot_csv(document: Document) -> str:
    """One row a criterion and favoured coordinate."""
    axes = [str(name) for name in document.get("axes") or ()]
    rows = (
        [harmless(document.get("experiment")), harmless(document.get("metric")), name, found["value"]]
        + [harmless(label(at[axis])) if axis in at else "" for axis in axes]
        for name in CRITERIA
        if (found := document.get(name))
        for at in found["at"]
    )
    return tidy(["experiment", "metric", "criterion", "value"], rows, axes)


def sweet_spot_blocks(document: Document) -> Iterator[Block]:
    """The criteria with their favourites, what supports them, and the margins."""
    yield Heading(f"Sweet spot — {document.get('experiment')} · {document.get('metric')}", 1)
    grids, cells = document.get("grids", 0), document.get("common_cells", 0)
    yield f"{counted(grids, 'grid', 'grids')}, {counted(cells, 'cell', 'cells')} in common"
    if document.get("status") != "ok":
        yield f"No sweet spot: {document.get('reason')}."
        return
    shown = [(name, document[name]) for name in CRITERIA if document.get(name)]
    yield Table(
        (
            Column("criterion", [said(name) for name, _ in shown]),
            Column("value", [f"{found['value']:.4g}" for _, found in shown], True),
            Column("best at", [places(found["at"]) for _, found in shown]),
        )
    )
    yield Lines(tuple(_evidence(document)))
    yield from _margins(document)


def _evidence(document: Document) -> Iterator[str]:
    """What supports the favourite, and what does not."""
    if document.get("best_rank_p") is not None:
        yield f"so low a mean rank of any cell by chance: p at most {p_value(document['best_rank_p'])}"
    agreement = document.get("agreement")
    if agreement:
        where = places(agreement["at"])
        yield f"the peak of {agreement['grids']} grids is at {where}; by chance: p at most {p_value(agreement['p'])}"
    yield f"not beaten everywhere by another cell (Pareto): {places(document.get('pareto') or ())}"


def _margins(document: Document) -> Iterator[Block]:
    for axis, margin in (document.get("axes") or {}).items():
        friedman = margin.get("friedman") or {}
        ranks = friedman.get("mean_ranks") or [None] * len(margin["levels"])
        yield Heading(axis, 2)
        yield Table(
            (
                Column(axis, [label(level) for level in margin["levels"]], True),
                Column("mean rank", [UNDEFINED if rank is None else f"{rank:.2f}" for rank in ranks], True),
                Column("best in", [str(count) for count in margin["best_count"]], True),
            )
        )
        p = friedman.get("exact_p") if friedman.get("exact_p") is not None else friedman.get("p")
        kind = "exact" if friedman.get("exact_p") is not None else "chi-squared"
        if p is None:
            yield f"levels are not tested: {friedman.get('reason') or 'too little'}"
        else:
            yield f"equal levels (Friedman, {kind}): p {p_value(p)}"
