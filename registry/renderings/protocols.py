"""Grids that were left out of an answer because of their protocols, in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from registry.grids.protocol import written
from registry.renderings.words import isolated
from registry.results.terms import Incomparable, ProtocolDifference

_LISTED = 12


def left_out_line(found: Sequence[Incomparable] | None, done: str) -> Iterator[str]:
    """`not ranked, for they were measured otherwise: m1 on GSM8K (shots 3, not 5)`; `done` says what they are not."""
    if not found:
        return
    named = "; ".join(_named(one) for one in found[:_LISTED])
    more = f"; and {len(found) - _LISTED:,} more" if len(found) > _LISTED else ""
    yield f"not {done}, for they were measured otherwise: {named}{more}"


def _named(one: Incomparable) -> str:
    names = " · ".join(isolated(name) for name in (one.model, one.variant) if name)
    why = ", ".join(map(_said, one.differs)) or "no protocol"
    return f"{names} on {isolated(one.benchmark)} ({why})"


def _said(one: ProtocolDifference) -> str:
    key = isolated(one.key)
    if one.contender is None:
        return f"{key} not said"
    other = "" if one.baseline is None else f", not {isolated(written(one.baseline))}"
    return f"{key} {isolated(written(one.contender))}{other}"
