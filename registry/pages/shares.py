"""Which axis matters, as bars: the shares of the variance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Bar:
    """A share of the whole: where it begins and how long it is, in hundredths for an SVG attribute."""

    name: str
    percent: str
    start: str
    length: str


def shares_of(statistics: Mapping[str, Any]) -> list[Bar]:
    """The axes' shares and the residual, one after the other; none where they are not computed."""
    found = statistics.get("sensitivity") or {}
    shares = [(name, axis.get("share")) for name, axis in (found.get("axes") or {}).items()]
    shares += [("residual", (found.get("residual") or {}).get("share"))] if shares else []
    bars, start = [], 0.0
    for name, share in shares:
        if share is not None:
            length = max(0.0, 100 * share)
            bars.append(Bar(name, f"{100 * share:.0f} %", f"{start:.2f}", f"{length:.2f}"))
            start += length
    return bars
