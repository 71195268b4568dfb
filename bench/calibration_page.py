"""The published page of rates: a line for each statement; `calibration.csv` beside this file has every setting."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from bench.scenarios import Scenario

_HEAD, _TAIL = (Path(__file__).parent / f"calibration_{part}.md" for part in ("head", "tail"))
_COLUMNS = (
    "| what is counted | promised, % | least | mean | most | nearest to the limit, or beyond it | settings | worlds |"
)


class Found(Protocol):
    """What was counted of a scenario."""

    worlds: int

    @property
    def rate(self) -> float: ...

    @property
    def error(self) -> float: ...


Row = tuple[Scenario, Found]


def written(parts: Mapping[str, Sequence[Row]], broken: Callable[[Scenario, Found], bool]) -> str:
    """The page as Markdown, of the counted scenarios by the headings they stand under."""
    return "\n".join(
        [_HEAD.read_text(encoding="utf-8"), *_tables(parts, broken), "", _TAIL.read_text(encoding="utf-8")]
    )


def _tables(parts: Mapping[str, Sequence[Row]], broken: Callable[[Scenario, Found], bool]) -> Iterator[str]:
    for heading, rows in parts.items():
        yield from (f"## {heading}", "", _COLUMNS, "|---|---|---:|---:|---:|---|---:|---:|")
        for statement, limit in dict.fromkeys((one.statement, one.limit) for one, _ in rows):
            mine = [row for row in rows if (row[0].statement, row[0].limit) == (statement, limit)]
            yield f"| {statement[0].upper()}{statement[1:]} | {_line(mine, broken)} |"
        yield ""


def _line(rows: Sequence[Row], broken: Callable[[Scenario, Found], bool]) -> str:
    known = [row for row in rows if math.isfinite(row[1].rate)]
    rates = [found.rate for _, found in known]
    scenario, found = min(known, key=_room)
    where = f"{100 * found.rate:.1f} ± {100 * found.error:.1f}: {scenario.setting}"
    beyond = sum(broken(*row) for row in rows)
    settings = f"{len(rows)}" + (f", of {len(rows) - len(known)} none is given" if len(known) < len(rows) else "")
    shown = " | ".join(f"{100 * rate:.1f}" for rate in (min(rates), sum(rates) / len(rates), max(rates)))
    worlds = sorted({found.worlds for _, found in rows})
    return " | ".join(
        (_promise(scenario), shown, where + (f"; **{beyond} beyond**" if beyond else ""), settings, _span(worlds))
    )


def _room(row: Row) -> float:
    """How far a rate is within its limit; where nothing is promised the highest is the nearest."""
    scenario, found = row
    if scenario.sense == "at_least":
        return found.rate - (scenario.limit or 0)
    return (scenario.limit or 0) - found.rate


def _promise(scenario: Scenario) -> str:
    if scenario.limit is None:
        return "nothing"
    return f"{'≤' if scenario.sense == 'at_most' else '≥'} {100 * scenario.limit:g}"


def _span(numbers: Sequence[int]) -> str:
    return "–".join(f"{one:,}" for one in dict.fromkeys((numbers[0], numbers[-1])))
