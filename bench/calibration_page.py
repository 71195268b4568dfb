"""The published page of rates."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path

from bench.scenarios import Scenario

Row = tuple[Scenario, float, float, int, bool]
"""A scenario, its rate, the Monte Carlo error of that, how many worlds, and whether the limit is broken."""
_HEAD, _TAIL = (Path(__file__).parent / f"calibration_{part}.md" for part in ("head", "tail"))


def written(rows: Sequence[Row]) -> str:
    """The page as Markdown."""
    around = (part.read_text(encoding="utf-8") for part in (_HEAD, _TAIL))
    return ("\n".join(_tables(rows)) + "\n").join(around)


def _tables(rows: Sequence[Row]) -> Iterator[str]:
    statements = list(dict.fromkeys(row[0].statement for row in rows))
    for statement in statements:
        found = [row for row in rows if row[0].statement == statement]
        yield from ("", f"### {statement[0].upper()}{statement[1:]}", "", _promise(found[0][0]), "")
        yield "| setting | actual, % | ± | worlds | |"
        yield "|---|---:|---:|---:|---|"
        for scenario, rate, error, worlds, broken in found:
            shown = f"{100 * rate:.1f} | {100 * error:.1f}" if math.isfinite(rate) else "— | —"
            mark = "beyond the limit" if broken else "" if math.isfinite(rate) else "none is given"
            yield f"| {scenario.setting} | {shown} | {worlds:,} | {mark} |"


def _promise(scenario: Scenario) -> str:
    if scenario.limit is None:
        return "Nothing is promised; the rate is shown as it is."
    share = f"{100 * scenario.limit:g} %"
    return f"Promised: at most {share}." if scenario.sense == "at_most" else f"Promised: at least {share}."
