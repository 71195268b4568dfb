"""A ranking: the order with what the tests leave open, and the pairwise table that it comes from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from registry.renderings import sheet
from registry.renderings.numbers import UNDEFINED, fixed, intervals, p_value, places_of, signed
from registry.renderings.outline import outline, records
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
    return sheet.text(_page(document))


def ranking_markdown(document: Document) -> str:
    """The ranking as Markdown."""
    return sheet.markdown(_page(document))


def ranking_csv(document: Document) -> str:
    """One row a name, in the order of the ranking."""
    names = ("rank", "name", "score", "rank_low", "rank_high", "group", "component", *_COUNTS)
    policy = ("experiment", "by", "method", "missing", "alpha")
    head = [harmless(document.get(name)) for name in policy] + [harmless(_metric(document))]
    rows = (
        [*head, *(harmless(" ".join(row.get(n) or ()) if n == "group" else row.get(n)) for n in names)]
        for row in document.get("ranking") or ()
    )
    return tidy([*policy, "metric", *names], rows)


def _metric(document: Document) -> str:
    found = document.get("metric")
    return measure(found) if isinstance(found, Mapping) else str(found or "")


def _page(document: Document) -> Iterator[Block]:
    by = str(document.get("by") or "model")
    who = f"levels of {by.removeprefix('axis:')}" if by.startswith("axis:") else f"{by}s"
    about = " · ".join(part for part in (document.get("experiment"), _metric(document)) if part)
    yield Heading(f"Ranking of {who}" + (f" — {about}" if about else ""), 1)
    yield Lines(tuple(_policy(document)))
    rows = document.get("ranking") or []
    if not rows:
        yield f"Nothing is ranked: {document.get('reason') or 'no name has a cell'}."
        return
    yield _order(rows, by, str(document.get("method") or ""))
    yield Lines(tuple(_open_ends(document)))
    yield from _pairs(document)
    yield from _besides(document)


def _policy(document: Document) -> Iterator[str]:
    """The question as it was answered."""
    parts = [f"method {said(document['method'])}"] if document.get("method") else []
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


def _order(rows: Sequence[Document], by: str, method: str) -> Table:
    write = signed if method in _SIGNED else lambda value, places: fixed(value, places, UNDEFINED)
    places = places_of(row.get("score") for row in rows)
    columns = [
        Column("rank", [str(row.get("rank", UNDEFINED)) for row in rows], True),
        Column("rank range", [_interval(row) for row in rows]),
        Column("group", [" ".join(row.get("group") or ()) or UNDEFINED for row in rows]),
        Column(by.removeprefix("axis:"), [str(row.get("name")) for row in rows]),
        Column("score", [write(row.get("score"), places) for row in rows], True),
        *(Column(name, [str(row.get(name, UNDEFINED)) for row in rows], True) for name in _COUNTS),
    ]
    parts = [row.get("component") or 0 for row in rows]
    return Table([Column("component", [str(part + 1) for part in parts], True), *columns] if any(parts) else columns)


def _interval(row: Document) -> str:
    low, high = row.get("rank_low"), row.get("rank_high")
    if low is None or high is None:
        return UNDEFINED
    return str(low) if low == high else f"{low}–{high}"


def _open_ends(document: Document) -> Iterator[str]:
    yield "names that share a group letter are not separated by the tests"
    parts = document.get("components") or []
    if len(parts) > 1:
        yield f"the names fall into {len(parts)} parts that share no slot; ranks count within a part"


def _pairs(document: Document) -> Iterator[Block]:
    pairs = document.get("pairs") or []
    apart = [pair for pair in pairs if pair.get("status") == "not_comparable" or not pair.get("n_common")]
    met = [pair for pair in pairs if pair not in apart]
    if met:
        yield Heading("Pairs, a minus b", 2)
        yield _pair_table(met)
        tests = list(dict.fromkeys(_test(pair["test"]) for pair in met if pair.get("test")))
        yield Lines(
            (f"test: {', '.join(tests) or 'none'}; Holm p over {counted(len(met), 'pair', 'pairs')}", *_doubts(met))
        )
    if apart:
        yield Heading("Not comparable: no slot in common", 2)
        yield Lines(tuple(f"{pair.get('a')} and {pair.get('b')}" for pair in apart))


def _pair_table(pairs: Sequence[Document]) -> Table:
    found = [pair.get("interval") for pair in pairs]
    ends = [end for one in found if one for end in (one["low"], one["high"])]
    places = places_of([*(pair.get("difference") for pair in pairs), *ends])
    level = next((f"{100 * one['level']:g} % interval" for one in found if one), "interval")
    return Table(
        [
            Column("a", [str(pair.get("a")) for pair in pairs]),
            Column("b", [str(pair.get("b")) for pair in pairs]),
            Column("slots", [str(pair.get("n_common")) for pair in pairs], True),
            *(Column(name, [str(pair.get(name, UNDEFINED)) for pair in pairs], True) for name in _COUNTS[1:]),
            Column("difference", [signed(pair.get("difference"), places) for pair in pairs], True),
            Column(level, intervals(found, places)),
            Column("Holm p", [p_value(_p(pair)) for pair in pairs], True),
        ]
    )


def _test(name: str) -> str:
    """A test by the names of its authors."""
    return said(name).replace("mantel haenszel", "Mantel–Haenszel").replace("sign flip", "exact sign flip")


def _p(pair: Document) -> float | None:
    """A p-value that could have been significant."""
    found: float | None = pair.get("p_holm") if pair.get("status", "ok") == "ok" else None
    return found


def _doubts(pairs: Sequence[Document]) -> list[str]:
    """Why pairs have no p-value, each reason once."""
    reasons = [str(pair["reason"]) for pair in pairs if pair.get("status", "ok") != "ok" and pair.get("reason")]
    return [
        f"{UNDEFINED} {reason} ({counted(reasons.count(reason), 'pair', 'pairs')})" for reason in dict.fromkeys(reasons)
    ]


def _besides(document: Document) -> Iterator[Block]:
    """How far the order depends on the method, and what the method adds."""
    if document.get("policy_sensitivity"):
        yield Heading("Under other policies", 2)
        found = document["policy_sensitivity"]
        yield from outline(found) if isinstance(found, Mapping) else [records(found)]
    if document.get("friedman"):
        yield Heading("Friedman test", 2)
        yield from outline(document["friedman"])
