"""The pairwise table of a ranking: its primary result."""

from collections.abc import Iterator, Sequence

from registry.renderings.numbers import UNDEFINED, ends_of, intervals, p_value, places_of, rough, signed
from registry.renderings.sheet import Block, Heading, Lines
from registry.renderings.table import Column, Table
from registry.renderings.words import attainable_p, counted, named_test
from registry.results.pairs import Pair

_LISTED = 40
"""Pairs that never met, as far as they are written out."""
_SHOWS = "could show (Holm)"
"""As strictly as Holm asks of the first of all pairs; what a pair could show by itself is less."""

_SCORE = ("wins", "ties", "losses")


def pair_blocks(pairs: Sequence[Pair], names: int | None = None, group: str = "benchmark") -> Iterator[Block]:
    """A table of the pairs that met, and the names of those that did not; of `names` names these may be some. `group`
    is the word for what weighs equally."""
    met = [pair for pair in pairs if _met(pair)]
    apart = [pair for pair in pairs if not _met(pair)]
    if met:
        yield Heading("Pairs, a minus b", 2)
        yield Table(
            [
                Column("a", [pair.a for pair in met]),
                Column("b", [pair.b for pair in met]),
                Column("slots", [str(pair.n_common) for pair in met], True),
                *(
                    Column(name, [str(getattr(pair, name)) for pair in met], True)
                    for name in ("wins", "ties", "losses")
                ),
                *_estimates(met),
                Column("Holm p", [p_value(attainable_p(pair)) for pair in met], True),
            ]
        )
        tests = list(dict.fromkeys(named_test(pair.test) for pair in met if pair.test))
        whole = not names or len(pairs) == names * (names - 1) // 2
        over = counted(_tested(met), "pair", "pairs") if whole else f"every tested pair of all {names:,} names"
        told = f"test: {', '.join(tests)}; Holm p over {over}" if tests else "test: none"
        yield Lines((told, *_legend(met, group), *_doubts(met)))
    if apart:
        yield Heading("Not comparable: no slot in common", 2)
        yield Lines(tuple(f"{pair.a} and {pair.b}" for pair in apart[:_LISTED]))
        if len(apart) > _LISTED:
            yield f"and {counted(len(apart) - _LISTED, 'more pair', 'more pairs')}"


def _met(pair: Pair) -> bool:
    return pair.status != "not_comparable" and bool(pair.n_common)


def _estimates(pairs: Sequence[Pair]) -> Iterator[Column]:
    """The lead where the order comes from it, else the difference with its interval and what it could have shown."""
    if any(pair.lead is not None for pair in pairs) and not _differ(pairs):
        yield Column("lead", [signed(pair.lead, 2) for pair in pairs], True)
        return
    found = [pair.interval for pair in pairs]
    places = places_of([*(pair.difference for pair in pairs), *ends_of(found)])
    yield Column("difference", [signed(pair.difference, places) for pair in pairs], True)
    yield Column("interval", intervals(found, places))
    if _could_show(pairs):
        yield Column(_SHOWS, [rough(pair.detectable) for pair in pairs], True)


def _differ(pairs: Sequence[Pair]) -> bool:
    return any(pair.difference is not None for pair in pairs)


def _could_show(pairs: Sequence[Pair]) -> bool:
    return any(pair.detectable is not None for pair in pairs)


def _legend(pairs: Sequence[Pair], group: str) -> Iterator[str]:
    if any(pair.estimand == "lead" for pair in pairs):
        yield f"lead: wins less losses over slots, {group}s weighing equally; order and p are about it"
    elif _differ(pairs):
        yield f"difference: within each {group}, then the mean over {group}s; order, interval and p are about it"
    if _could_show(pairs):
        yield f"{_SHOWS}: the only true difference would, of this size, have had Holm p < alpha with power 80 %"


def _tested(pairs: Sequence[Pair]) -> int:
    return sum(pair.p_holm is not None for pair in pairs)


def _doubts(pairs: Sequence[Pair]) -> list[str]:
    """Why pairs have no p-value, each reason once."""
    reasons = [pair.reason for pair in pairs if pair.status != "ok" and pair.reason]
    return [
        f"{UNDEFINED} {reason} ({counted(reasons.count(reason), 'pair', 'pairs')})" for reason in dict.fromkeys(reasons)
    ]
