"""The pairwise table of a ranking: its primary result."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from registry.renderings.numbers import UNDEFINED, intervals, level_of, p_value, places_of, rough, signed
from registry.renderings.sheet import Block, Heading, Lines
from registry.renderings.table import Column, Table
from registry.renderings.words import counted, said
from registry.results.codec import from_document
from registry.results.terms import Interval

Document = dict[str, Any]


def interval_in(document: Document, name: str = "interval") -> Interval | None:
    """The interval that a part of a document has."""
    found = document.get(name)
    return from_document(Interval, found) if found else None


_RECORD = ("wins", "ties", "losses")
_LISTED = 40
"""Pairs that never met, as far as they are written out."""


def pair_blocks(document: Document) -> Iterator[Block]:
    """A table of the pairs that met, and the names of those that did not."""
    pairs = document.get("pairs") or []
    met = [pair for pair in pairs if _met(pair)]
    apart = [pair for pair in pairs if not _met(pair)]
    if met:
        yield Heading("Pairs, a minus b", 2)
        yield _pair_table(met)
        tests = list(dict.fromkeys(_test(pair["test"]) for pair in met if pair.get("test")))
        told = f"test: {', '.join(tests) or 'none'}; Holm p over {counted(_tested(met), 'pair', 'pairs')}"
        yield Lines((told, *_legend(met), *_doubts(met)))
    if apart:
        yield Heading("Not comparable: no slot in common", 2)
        yield Lines(tuple(f"{pair.get('a')} and {pair.get('b')}" for pair in apart[:_LISTED]))
        if len(apart) > _LISTED:
            yield f"and {counted(len(apart) - _LISTED, 'more pair', 'more pairs')}"


def _met(pair: Document) -> bool:
    return pair.get("status") != "not_comparable" and bool(pair.get("n_common"))


def _pair_table(pairs: Sequence[Document]) -> Table:
    return Table(
        [
            Column("a", [str(pair.get("a")) for pair in pairs]),
            Column("b", [str(pair.get("b")) for pair in pairs]),
            Column("slots", [str(pair.get("n_common")) for pair in pairs], True),
            *(Column(name, [str(pair.get(name, UNDEFINED)) for pair in pairs], True) for name in _RECORD),
            *_estimates(pairs),
            Column("Holm p", [p_value(_p(pair)) for pair in pairs], True),
        ]
    )


def _estimates(pairs: Sequence[Document]) -> Iterator[Column]:
    """The lead where the order comes from it, else the difference with its interval and what it could have shown."""
    if any(pair.get("lead") is not None for pair in pairs) and not any(_has(pair, "difference") for pair in pairs):
        yield Column("lead", [signed(pair.get("lead"), 2) for pair in pairs], True)
        return
    found = [interval_in(pair) for pair in pairs]
    ends = [end for one in found if one for end in (one.low, one.high)]
    places = places_of([*(pair.get("difference") for pair in pairs), *ends])
    level = next((f"{level_of(one)} interval" for one in found if one), "interval")
    yield Column("difference", [signed(pair.get("difference"), places) for pair in pairs], True)
    yield Column(level, intervals(found, places))
    if any(_has(pair, "detectable") for pair in pairs):
        yield Column("could show", [rough(pair.get("detectable")) for pair in pairs], True)


def _has(pair: Document, name: str) -> bool:
    return pair.get(name) is not None


def _legend(pairs: Sequence[Document]) -> Iterator[str]:
    if any(pair.get("estimand") == "lead" for pair in pairs):
        yield "lead: wins less losses over slots, benchmarks weighing equally; order and p are about it"
    elif any(_has(pair, "difference") for pair in pairs):
        yield "difference: within each benchmark, then the mean over benchmarks; order, interval and p are about it"
    if any(_has(pair, "detectable") for pair in pairs):
        yield "could show: a true difference of this size would have had p < alpha with power 80 %, before Holm"


def _tested(pairs: Sequence[Document]) -> int:
    return sum(pair.get("p_holm") is not None for pair in pairs)


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
