"""The best cells: everywhere, beside their noise floor, and on each level of each axis."""

from collections.abc import Iterator, Sequence

from registry.renderings.numbers import UNDEFINED, fixed, level_of, p_value, places_of
from registry.renderings.precision import places_posted
from registry.renderings.repeat_noise import floor_of_noise
from registry.renderings.sheet import Block, Lines
from registry.renderings.table import Column, Table, tidy
from registry.renderings.words import axis_columns, isolated, label, measure, places
from registry.results.peaks import Best, LevelBest, Peaks, RunnerUp
from registry.results.statistics import Statistics
from registry.results.terms import At, Place

_LISTED = 10
"""Coordinates written out for the runner-up, and rows of the probable cells."""


def blocks(document: Statistics) -> Iterator[Block]:
    """The best cells with all ties, the runner-up, the noise floor, and the best of each level."""
    peaks = document.peaks
    if peaks is None or peaks.best is None:
        yield f"No peaks: {(peaks.reason if peaks else None) or 'not computed'}."
        return
    decimals = places_posted(document, _values(peaks, peaks.best))
    yield from _best(document, peaks, peaks.best, decimals)
    yield Lines((*_runner_up(peaks.runner_up, decimals, peaks.best.ties), *_noise(document, peaks, decimals)))
    yield from _guaranteed(document, peaks, decimals)
    sizes = {axis["name"]: len(axis["levels"]) for axis in document.axes if "levels" in axis}
    for axis, levels in (peaks.by or {}).items():
        # Of one level it is the best cell, and of levels with one cell each it is the grid again.
        if len(levels) > 1 and any(size > 1 for name, size in sizes.items() if name != axis):
            yield _by(axis, levels, decimals)


def _values(peaks: Peaks, best: Best) -> Iterator[float]:
    yield best.value
    if peaks.runner_up:
        yield peaks.runner_up.value
    for levels in (peaks.by or {}).values():
        yield from (level.value for level in levels)


def _best(document: Statistics, peaks: Peaks, best: Best, decimals: int | None) -> Iterator[Block]:
    """The best value and its cells, each with its chance."""
    tied = f", {best.ties} cells tie" if best.ties > 1 else ""
    yield f"best {isolated(measure(document.metric))}: {fixed(best.value, decimals)}{tied}"
    rows = best.at[:_LISTED]
    if any(rows):
        yield Table(axis_columns(rows))
    if best.ties > len(rows):
        yield f"and {best.ties - len(rows)} more"


def _chances(peaks: Peaks, cells: Sequence[At]) -> Iterator[Column]:
    """The probability that a cell is the best: after shrinkage, and if cells had nothing in common."""
    known = peaks.probability_best
    if known:
        found = [next((one for one in known if one.at == at), None) for at in cells]
        yield Column("P(best)", [p_value(one.probability if one else None) for one in found], True)
        yield Column("if unrelated", [p_value(one.if_unrelated if one else None) for one in found], True)


def _runner_up(runner: RunnerUp | None, decimals: int | None, ties: int) -> Iterator[str]:
    if runner is None:
        yield "runner-up: none" + (", all cells tie" if ties > 1 else "")
        return
    where = places(runner.at, ties=runner.ties, most=_LISTED)
    gap = fixed(runner.gap, decimals, UNDEFINED)
    yield f"runner-up: {fixed(runner.value, decimals)}, gap {gap}" + (f", at {where}" if where else "")


def _noise(document: Statistics, peaks: Peaks, decimals: int | None) -> Iterator[str]:
    """Lines about the best of as many equal cells by chance alone, and the peak without its luck."""
    shrunken, finer = peaks.shrunken, finer_than(decimals, peaks)
    if not is_shown(peaks) and (floor := floor_of_noise(document.metric, peaks, decimals)):
        yield f"noise floor: {floor}"
    if shrunken:
        value, mean = fixed(shrunken.value, finer), fixed(shrunken.mean, finer)
        yield f"shrunken for noise: {value} (towards {mean}, the random-effects mean)"
    if peaks.noise_reason:
        yield f"no best set and no floor of noise: {peaks.noise_reason}"


def finer_than(decimals: int | None, peaks: Peaks) -> int | None:
    """Decimals of what is computed from values: one more than these, as far as that says anything."""
    places = places_of([peaks.best.value if peaks.best else None, peaks.expected_max_if_equal])
    return None if decimals is None or places is None else min(decimals + 1, places)


def _guaranteed(document: Statistics, peaks: Peaks, decimals: int | None) -> Iterator[Block]:
    """The set that holds the best cell with a stated confidence, and what its probabilities rest on."""
    within = peaks.best_set
    cells = document.coverage.cells if document.coverage else None
    if within is None or cells == 1:
        return
    size, rows, sure = within.size, within.at[:_LISTED], f"with {level_of(within)} confidence"
    told = f"{sure} the best is among these {size:,} cells (Gupta)"
    told = f"each of the {size:,} cells may be the best, {sure} (Gupta)" if size == cells else told
    if is_shown(peaks):
        yield f"{sure} no other measured cell is better (Gupta)." if size != cells else f"{told}."
        return
    yield f"{told}:"
    values = [_value(peaks, at) for at in rows]
    if any(rows):
        shown = Column("value", [fixed(value, decimals, UNDEFINED) for value in values], True)
        yield Table([*axis_columns(rows), shown, *_chances(peaks, rows)])
    if size > len(rows):
        yield f"and {size - len(rows)} more"
    if peaks.probability_best:
        yield Lines(
            (
                "P(best): after shrinking the cells towards each other; if unrelated: as if they had nothing in common",
                "neither keeps a rate of error by itself; the set does",
            )
        )


def is_shown(peaks: Peaks) -> bool:
    """Whether no cell but those of the best value may be the best."""
    return bool(peaks.best and peaks.best_set and peaks.best_set.size <= peaks.best.ties)


def _value(peaks: Peaks, at: At) -> float | None:
    """The value of a cell of the set, as far as the document lists it."""
    known = [(one.at, one.value) for one in peaks.probability_best or ()]
    known += [(where, peaks.best.value) for where in peaks.best.at] if peaks.best else []
    return next((value for where, value in known if where == at), None)


def _by(axis: str, levels: Sequence[LevelBest], decimals: int | None) -> Table:
    where = [places(level.at, axis, level.ties) for level in levels]
    columns = [
        Column(axis, [label(level.level) for level in levels], not isinstance(levels[0].level, str)),
        Column("best", [fixed(level.value, decimals) for level in levels], True),
    ]
    return Table([*columns, Column("at", where)] if any(where) else columns)


def csv(document: Statistics) -> str:
    """One row for each tied cell: everywhere (`of` is `best`), the runner-up, and of each level of each axis."""
    found = list(_listed(document.peaks)) if document.peaks else []
    axes = list(dict.fromkeys(name for _, _, entry in found for at in entry.at for name in at))
    head = (document.grid, document.revision)
    rows = (
        [*head, of, level, *(at.get(name) for name in axes), entry.value]
        for of, level, entry in found
        for at in entry.at
    )
    return tidy(["grid", "revision", "of", "level"], rows, axes, ["value"], only=document.slice)


def _listed(peaks: Peaks) -> Iterator[tuple[str, Place | None, Best | RunnerUp | LevelBest]]:
    if peaks.best:
        yield "best", None, peaks.best
    if peaks.runner_up:
        yield "runner_up", None, peaks.runner_up
    for axis, levels in (peaks.by or {}).items():
        yield from ((axis, level.level, level) for level in levels)
