"""The noise floor of an experiment: a sentence a benchmark, and a table of the spreads."""

from __future__ import annotations

from collections.abc import Iterator

from registry.renderings.numbers import UNDEFINED, rough
from registry.renderings.sheet import Block, Heading, Lines
from registry.renderings.table import Column, Table
from registry.renderings.words import about
from registry.results.repeat_noise import BenchmarkNoise, RepeatNoise, RepeatSpread

COLUMNS = ("benchmark", "cells", "between", "between_low", "between_high", "within", "ratio", "ratio_low", "ratio_high")


def page(document: RepeatNoise) -> Iterator[Block]:
    """What is told of the noise."""
    unit = f" ({document.unit})" if document.unit else ""
    yield Heading(f"Noise between repeats{unit} — {about(document)}", 1)
    if document.status != "ok":
        yield f"Nothing is known: {document.reason}."
        return
    shown = document.benchmarks
    yield Table(
        (
            Column("benchmark", [one.benchmark for one in shown]),
            Column("cells", [str(one.cells) for one in shown], True),
            Column("between repeats", [_spread(one.between) for one in shown], True),
            Column("by trials alone", [_spread(one.within) for one in shown], True),
            Column("variance ratio", [_spread(one.ratio) for one in shown], True),
        )
    )
    yield Lines(tuple(one.sentence for one in shown))


def rows(document: RepeatNoise) -> tuple[tuple[str, ...], list[list[object]]]:
    """The names of columns, and a row a benchmark."""
    return COLUMNS, [_row(one) for one in document.benchmarks]


def _row(one: BenchmarkNoise) -> list[object]:
    spread, ratio = _ends(one.between), _ends(one.ratio)
    return [one.benchmark, one.cells, *spread, None if one.within is None else one.within.value, *ratio]


def _ends(found: RepeatSpread | None) -> list[float | None]:
    return [None] * 3 if found is None else [found.value, found.low, found.high]


def _spread(found: RepeatSpread | None) -> str:
    return UNDEFINED if found is None else f"{rough(found.value)} [{rough(found.low)}, {rough(found.high)}]"
