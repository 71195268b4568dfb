"""A ranking: the order with what the tests leave open, and the pairwise table that it comes from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from registry.renderings import sheet
from registry.renderings.numbers import UNDEFINED, fixed, places_of, signed
from registry.renderings.pairs import pair_blocks
from registry.renderings.policies import friedman_blocks, method, policy_blocks
from registry.renderings.resampling import resampled, resampling_blocks
from registry.renderings.sheet import Block, Heading, Lines
from registry.renderings.table import Column, Table
from registry.renderings.tidy import harmless, tidy
from registry.renderings.words import counted, measure, said

Document = dict[str, Any]
_COUNTS = ("cells", "wins", "ties", "losses")
_SIGNED = ("mean_difference",)
"""Methods whose score is a difference, written with its sign."""


def ranking_text(document: Document) -> str:
    """The ranking for a terminal."""
    return sheet.text(page(document))


def ranking_markdown(document: Document) -> str:
    """The ranking as Markdown."""
    return sheet.markdown(page(document))


def ranking_csv(document: Document) -> str:
    """One row a name, in the order of the ranking."""
    names = ("rank", "name", "score", "rank_low", "rank_high", "group", "component", *_COUNTS)
    policy = ("experiment", "by", "method", "missing", "alpha")
    head = [harmless(document.get(name)) for name in policy] + [harmless(_metric(document))]
    found = resampled(document)
    rows = (
        [
            *head,
            *(harmless(" ".join(row.get(n) or ()) if n == "group" else row.get(n)) for n in names),
            *(found.get(row.get("name"), {}).get(n) for n in ("low", "high", "first")),
        ]
        for row in document.get("ranking") or ()
    )
    return tidy([*policy, "metric", *names, "resampled_low", "resampled_high", "resampled_first"], rows)


def _metric(document: Document) -> str:
    found = document.get("metric")
    return measure(found) if isinstance(found, Mapping) else str(found or "")


def page(document: Document) -> Iterator[Block]:
    """The ranking's page: the order first, then what it comes from."""
    by = str(document.get("by") or "model")
    who = f"levels of {by.removeprefix('axis:')}" if by.startswith("axis:") else f"{by}s"
    about = " · ".join(part for part in (document.get("experiment"), _metric(document)) if part)
    yield Heading(f"Ranking of {who}" + (f" — {about}" if about else ""), 1)
    yield from order_blocks(document)
    yield from friedman_blocks(document)
    yield from pair_blocks(document)
    yield from resampling_blocks(document)
    yield from policy_blocks(document)
    if left_out := document.get("left_out"):
        yield Lines(tuple(f"left out: {one['part']} ({one['reason']})" for one in left_out))


def order_blocks(document: Document) -> Iterator[Block]:
    """The question as it was answered, the order, and what it leaves open."""
    yield Lines(tuple(_policy(document)))
    rows = document.get("ranking") or []
    if rows:
        yield _order(document, rows, str(document.get("by") or "model"))
        yield Lines(tuple(_open_ends(document)))
    else:
        yield f"Nothing is ranked: {document.get('reason') or 'no name has a cell'}."


def _policy(document: Document) -> Iterator[str]:
    """The question as it was answered."""
    parts = [f"method {method(document['method'])}"] if document.get("method") else []
    parts += [f"missing {said(document['missing'])}"] if document.get("missing") else []
    parts += [f"alpha {document['alpha']:g}"] if document.get("alpha") is not None else []
    parts += [f"target {said(document['target'])}"] if document.get("target") else []
    if parts:
        yield " · ".join(parts)
    slots, benchmarks = document.get("slots") or {}, document.get("benchmarks") or []
    over = (
        [f"{slots.get('compared', 0)} of {counted(slots.get('total', 0), 'slot', 'slots')} compared"] if slots else []
    )
    over += [f"benchmarks: {', '.join(map(str, benchmarks))}"] if benchmarks else []
    if over:
        yield " · ".join(over)


def _order(document: Document, rows: Sequence[Document], by: str) -> Table:
    places = places_of(row.get("score") for row in rows)
    columns = [
        Column("rank", [str(row.get("rank", UNDEFINED)) for row in rows], True),
        Column("rank range", [_range(row.get("rank_low"), row.get("rank_high")) for row in rows]),
        Column("group", [" ".join(row.get("group") or ()) or UNDEFINED for row in rows]),
        Column(by.removeprefix("axis:"), [str(row.get("name")) for row in rows]),
        Column("score", [_score(document, row, places) for row in rows], True),
        *_stderr(rows, places),
        *(Column(name, [str(row.get(name, UNDEFINED)) for row in rows], True) for name in _COUNTS),
        *_leave_one_out(document, rows),
    ]
    parts = [row.get("component") or 0 for row in rows]
    return Table([Column("component", [str(part + 1) for part in parts], True), *columns] if any(parts) else columns)


def _score(document: Document, row: Document, places: int | None) -> str:
    if document.get("method") in _SIGNED:
        return signed(row.get("score"), places)
    return fixed(row.get("score"), places, UNDEFINED)


def _stderr(rows: Sequence[Document], places: int | None) -> Iterator[Column]:
    if any(row.get("stderr") is not None for row in rows):
        yield Column("stderr", [fixed(row.get("stderr"), places, UNDEFINED) for row in rows], True)


def _leave_one_out(document: Document, rows: Sequence[Document]) -> Iterator[Column]:
    """The ranks that a name takes when one benchmark after the other is left out."""
    left = (document.get("stability") or {}).get("leave_one_out")
    if left:
        ranges = {one.get("name"): _range(one.get("best"), one.get("worst")) for one in left}
        yield Column("one benchmark less", [ranges.get(row.get("name"), UNDEFINED) for row in rows])


def _range(low: Any, high: Any) -> str:
    if low is None or high is None:
        return UNDEFINED
    return str(low) if low == high else f"{low}–{high}"


def _open_ends(document: Document) -> Iterator[str]:
    yield "rank range: the ranks that the tests leave open; names that share a group letter are not separated"
    if document.get("mle_exists") is False:
        yield "a name wins or loses everything: its score is finite only by the prior of half a tie"
    parts = document.get("components") or []
    if len(parts) > 1:
        yield f"the names fall into {len(parts)} parts that share no slot; ranks count within a part"
