"""Write the noise floor of an experiment: how far repeats are apart, and from where on one run is worse than chance."""

from collections.abc import Iterator

from registry.renderings.numbers import UNDEFINED, fixed, level_of, places_of, rough
from registry.renderings.sheet import Block, Heading, Lines
from registry.renderings.table import Column, Table, members
from registry.renderings.words import about
from registry.results.grid import PostedMetric
from registry.results.peaks import Peaks
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
    if document.floors:
        yield floors(document)


def floors(document: RepeatNoise) -> Lines:
    """From where on one more run is worse than chance, a sentence a cell."""
    return Lines(tuple(one.sentence for one in document.floors))


def rows(document: RepeatNoise) -> tuple[tuple[str, ...], list[list[object]]]:
    """The names of columns, and a row a benchmark."""
    return COLUMNS, [_row(one) for one in document.benchmarks]


FLOORS = ("benchmark", "model", "variant", "at", "runs", "mean", "sd", "limit", "finds", "questions_sd")


def rows_of_floors(document: RepeatNoise) -> tuple[tuple[str, ...], list[list[object]]]:
    """The names of columns, and a row a floor."""
    at = [", ".join(f"{axis} {level}" for axis, level in one.at.items()) for one in document.floors]
    rows = zip(document.floors, at, strict=True)
    return FLOORS, [[*members(one, *FLOORS[:3]), here, *members(one, *FLOORS[4:])] for one, here in rows]


def _row(one: BenchmarkNoise) -> list[object]:
    spread, ratio = (members(found, "value", "low", "high") for found in (one.between, one.ratio))
    return [one.benchmark, one.cells, *spread, *members(one.within, "value"), *ratio]


def _spread(found: RepeatSpread | None) -> str:
    return UNDEFINED if found is None else f"{rough(found.value)} [{rough(found.low)}, {rough(found.high)}]"


def floor_of_noise(metric: PostedMetric, peaks: Peaks, decimals: int | None) -> str | None:
    """Where the best of equal cells would lie, and whether this one lies beyond what they show at the level of the
    best set; None where the noise is not known or there is a single cell."""
    expected, most = peaks.expected_max_if_equal, peaks.plausible_max_if_equal
    if peaks.best is None or expected is None or most is None:
        return None
    lower = metric.get("direction") == "lower"
    best, bound = peaks.best.value, metric.get("lower") if lower else metric.get("upper")
    if bound is not None:
        # The noise of a cell at the end of its scale reaches beyond that; no value does.
        expected, most = (max(expected, bound), max(most, bound)) if lower else (min(expected, bound), min(most, bound))
    places = places_of([best, expected, most])
    finer = None if decimals is None or places is None else min(decimals + 1, places)
    beyond = (most - best if lower else best - most) > 1e-12 * abs(most)
    side, word = ("above", "lower") if lower else ("below", "higher")
    if fixed(expected, finer) == fixed(bound, finer):
        return None
    verdict = f"this one is {word}" if beyond else f"this one is not {word}, so it proves nothing by itself"
    share = level_of(peaks.best_set) if peaks.best_set else "95 %"
    told = f"the best of as many equal cells would be expected at {fixed(expected, finer)} and"
    if fixed(most, finer) == fixed(bound, finer):
        return f"{told} may be at the end of the scale, so this one proves nothing by itself"
    if finer is not None and beyond and fixed(most, finer) == fixed(best, finer):
        finer += 2
    return f"{told} would be at or {side} {fixed(most, finer)} in {share} of cases; {verdict}"
