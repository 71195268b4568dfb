"""A ranking: the order with what the tests leave open, and the pairwise table that it comes from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from registry.renderings import sheet
from registry.renderings.assumptions import assumptions
from registry.renderings.numbers import UNDEFINED, fixed, places_of, signed
from registry.renderings.pairs import pair_blocks
from registry.renderings.policies import friedman_blocks, method, policy_blocks, target
from registry.renderings.resampling import resampled, resampling_blocks
from registry.renderings.sheet import Block, Heading, Lines
from registry.renderings.table import Column, Table
from registry.renderings.tidy import harmless, tidy
from registry.renderings.words import counted, measure, said

Document = dict[str, Any]
_COUNTS = ("cells", "wins", "ties", "losses")
_LISTED = 12
"""Pairs that never met, as far as they are written out."""
SIGNED = ("mean_difference", "standardised_difference")
"""Methods whose score is a difference, written with its sign."""


def ranking_text(document: Document) -> str:
    """The ranking for a terminal."""
    return sheet.text(page(document))


def ranking_markdown(document: Document) -> str:
    """The ranking as Markdown."""
    return sheet.markdown(page(document))


def ranking_csv(document: Document) -> str:
    """One row a name, in the order of the ranking."""
    names = ("rank", "name", "score", "rank_low", "rank_high", "group", "component", *_COUNTS, "pool")
    policy = ("experiment", "by", "method", "missing", "alpha", "target")
    head = [harmless(document.get(name)) for name in policy] + [harmless(_metric(document))]
    found = resampled(document)
    rows = (
        [
            *head,
            *(harmless(" ".join(row.get(n) or ()) if n == "group" else row.get(n)) for n in names),
            *(found.get(row.get("name"), {}).get(n) for n in ("low", "high", "first_share")),
        ]
        for row in document.get("ranking") or ()
    )
    return tidy([*policy, "metric", *names, "resampled_low", "resampled_high", "resampled_first_share"], rows)


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
        yield Lines(tuple(_open_ends(document, rows)))
    else:
        yield f"Nothing is ranked: {document.get('reason') or 'no name has a cell'}."
    if doubts := tuple(_doubts(document)):
        yield Lines(doubts)


def _policy(document: Document) -> Iterator[str]:
    """The question as it was answered."""
    parts = [f"method {method(document['method'])}"] if document.get("method") else []
    parts += [f"missing {said(document['missing'])}"] if document.get("missing") else []
    parts += [f"alpha {document['alpha']:g}"] if document.get("alpha") is not None else []
    parts += [f"target {target(document['target'])}"] if document.get("target") else []
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
        Column("rank", [_whole(row.get("rank")) for row in rows], True),
        Column("rank range", [_range(row.get("rank_low"), row.get("rank_high")) for row in rows]),
        Column("group", [" ".join(row.get("group") or ()) or UNDEFINED for row in rows]),
        Column(by.removeprefix("axis:"), [str(row.get("name")) for row in rows]),
        Column("score", [_score(document, row, places) for row in rows], True),
        *_stderr(rows, places),
        *(Column(name, [_whole(row.get(name)) for row in rows], True) for name in _COUNTS),
        *_leave_one_out(document, rows),
    ]
    parts = [row.get("component") or 0 for row in rows]
    return Table([Column("component", [str(part + 1) for part in parts], True), *columns] if any(parts) else columns)


def _score(document: Document, row: Document, places: int | None) -> str:
    if document.get("method") in SIGNED:
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


def _whole(number: Any) -> str:
    return UNDEFINED if number is None else str(number)


def _range(low: Any, high: Any) -> str:
    if low is None or high is None:
        return UNDEFINED
    return str(low) if low == high else f"{low}–{high}"


def _open_ends(document: Document, rows: Sequence[Document]) -> Iterator[str]:
    """What ranks, groups and scores say, and what they do not."""
    alpha = document.get("alpha")
    sure = f" with {100 * (1 - alpha):g} % confidence" if alpha else ""
    yield f"rank range: the ranks that the tests leave open{sure}"
    pairs = document.get("pairs") or []
    if pairs and not any(pair.get("p_holm") is not None for pair in pairs):
        yield f"no pair was tested, so every rank is left open: {next(filter(None, map(_reason, pairs)), 'no noise')}"
    else:
        yield from _groups(document)
    pools = sorted({row["pool"] for row in rows if row.get("pool") is not None})
    if pools:
        yield f"score: against the mean of these {' or '.join(map(str, pools))} names; another pool gives other scores"
    if document.get("prior") == "half_tie" or ("prior" not in document and document.get("mle_exists") is False):
        yield "a name wins or loses everything: its score is finite only by the prior of half a tie"
    parts = document.get("components") or []
    if len(parts) > 1:
        yield f"the names fall into {len(parts)} parts that share no slot; ranks count within a part"


def _reason(pair: Document) -> str | None:
    found: str | None = pair.get("reason")
    return found


def _groups(document: Document) -> Iterator[str]:
    apart = document.get("never_met") or []
    shared = "group: names that share a letter were compared, and the tests do not separate them"
    if not apart:
        yield f"{shared}; that does not make them equal"
        return
    named = "; ".join(f"{a} and {b}" for a, b in apart[:_LISTED])
    more = f"; and {len(apart) - _LISTED} more pairs" if len(apart) > _LISTED else ""
    yield shared
    yield f"names without a common letter are separated only if they met; never met: {named}{more}"


def _doubts(document: Document) -> Iterator[str]:
    """What the tests take for granted, what was left aside, and what a reader should look at."""
    yield from assumptions(document.get("assumes") or ()) if document.get("ranking") else ()
    derived = dict.fromkeys(str(one.get("benchmark")) for one in document.get("derived") or ())
    if derived:
        yield f"not ranked, for they are made of other grids: {', '.join(derived)}"
    for warning in document.get("warnings") or ():
        yield f"warning: {warning.get('detail') or said(warning.get('code'))}"
