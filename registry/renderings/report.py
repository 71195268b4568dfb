"""A report of a grid in sentences: what its statistics show, how surely, and what nobody can say.

A sentence that claims something carries its uncertainty; what was not shown is never said to be absent. Takes
the JSON of a grid with its values, and its statistics, or why there are none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from registry.renderings import report_trends, sheet
from registry.renderings.assumptions import assumptions
from registry.renderings.cells import carried, flat, given, reasons_in
from registry.renderings.heatmap.words import coordinate
from registry.renderings.noise_floor import floor_of_noise
from registry.renderings.numbers import decimals_of, fixed, level_of, p_value, plain_number
from registry.renderings.page import html
from registry.renderings.sheet import Block, Heading, Lines
from registry.renderings.words import counted, isolated, label, measure, place, places, protocol_line, slice_line, title
from registry.results.coverage import AxisCoverage
from registry.results.grid import GridDocument
from registry.results.peaks import Best, BestSet, Peaks
from registry.results.sensitivity import AxisShare, Residual
from registry.results.statistics import Statistics
from registry.results.terms import At, Place

_LISTED = 12


def of(form: str) -> Callable[[tuple[GridDocument, Statistics | None]], str]:
    """The renderer of a form (`txt`, `md` or `html`): it takes a grid and its statistics."""
    written = {"txt": sheet.text, "md": sheet.markdown, "html": html}[form]
    return lambda both: written(_page(*both))


def _page(grid: GridDocument, statistics: Statistics | None) -> Iterator[Block]:
    yield Heading(title(grid), 1)
    yield _head(grid, statistics)
    yield from slice_line(grid.get("slice"))
    yield Heading("What was measured")
    measured_by = (f"{line}." for line in protocol_line(grid.get("protocol")))
    yield Lines((*_measured(grid, statistics), *measured_by, *_source(grid)))
    if grid.get("warnings"):
        yield Heading("What was doubted when it was published")
        yield Lines(tuple(_warnings(grid)))
    if not any(one is not None for one in flat(grid["values"], len(grid["axes"]))):
        return
    if statistics is None:
        yield "Its statistics are not ready: nothing can be said yet about trends, breaks and ties."
        return
    if statistics.series or any(axis["kind"] != "nominal" for axis in grid["axes"]):
        yield Heading("What rises and falls")
        yield from report_trends.blocks(statistics)
        yield Heading("Where it breaks")
        yield from report_trends.breaks(statistics)
    yield Heading("What is best")
    yield Lines(tuple(_best(statistics)))
    yield Heading("What matters, and how precise it is")
    yield Lines((*_shares(statistics), *_precision(grid, statistics)))


def _head(grid: GridDocument, statistics: Statistics | None) -> str:
    parts = [grid["experiment"], f"grid {grid['id']}", f"revision {grid['revision']}"]
    if statistics is not None:
        parts.append(f"methods {statistics.methods_version}")
    return " · ".join(parts)


def _measured(grid: GridDocument, statistics: Statistics | None) -> Iterator[str]:
    values = flat(grid["values"], len(grid["axes"]))
    missing = [index for index, value in enumerate(values) if value is None]
    if len(missing) == len(values):
        yield (
            "No cell was measured: nothing can be said about trends, breaks and the best." if values else _without(grid)
        )
        return
    if len(values) == 1:
        yield "Its only cell was measured."
        return
    share = f" ({100 * (1 - len(missing) / len(values)):.0f} %)"
    yield f"{len(values) - len(missing)} of {len(values)} cells were measured{share}."
    yield from _unmeasured(grid, missing, statistics.coverage.by if statistics and statistics.coverage else {})
    reasons = reasons_in(grid)
    for reason in dict.fromkeys(reasons):
        yield f"{counted(reasons.count(reason), 'cell is', 'cells are')} missing for a stated reason: {reason}."


def _source(grid: GridDocument) -> Iterator[str]:
    if source := grid.get("source"):
        name, form = source.get("name"), source.get("format")
        digest = f", SHA-256 {source['sha256']}" if "sha256" in source else ""
        yield f"Read from {isolated(name) if name else 'a file'}{f' as {form}' if form else ''}{digest}."


def _warnings(grid: GridDocument) -> Iterator[str]:
    for warning in grid["warnings"][:_LISTED]:
        text = warning["detail"]
        yield text if text.endswith((".", "!", "?")) else f"{text}."
    if (more := len(grid["warnings"]) - _LISTED) > 0:
        yield f"{counted(more, 'warning', 'warnings')} more: the JSON of the grid has all."


def _without(grid: GridDocument) -> str:
    empty = [axis["name"] for axis in grid["axes"] if not axis["levels"]]
    return f"It has no cell yet, for {' and '.join(empty)} {'has' if len(empty) == 1 else 'have'} no level."


def _unmeasured(grid: GridDocument, missing: list[int], coverage: Mapping[str, AxisCoverage]) -> Iterator[str]:
    """Gaps among the measured cells, each told once: whole levels, then single cells, or gaps by level where there are
    too many of these."""
    if not missing:
        return
    empty = {axis: set(map(label, found.empty)) for axis, found in coverage.items()}
    for axis, found in coverage.items():
        if found.empty:
            yield f"Nothing at all was measured at {axis} {_listed(found.empty)}."
    places = [coordinate(grid, index) for index in missing]
    rest = [at for at in places if not any(level in empty.get(axis, ()) for axis, level in at.items())]
    if rest and len(rest) <= _LISTED:
        yield ("Never measured besides: " if len(rest) < len(missing) else "Never measured: ") + (
            "; ".join(map(place, rest)) + "."
        )
    elif rest:
        besides = " besides" if len(rest) < len(missing) else ""
        yield f"{counted(len(rest), 'cell was', 'cells were')} never measured{besides}; no number stands for them."
        for axis, found in coverage.items():
            yield from _holes(axis, found)


def _holes(axis: str, found: AxisCoverage) -> Iterator[str]:
    """The levels with holes between measured cells."""
    holed = [level for level in found.levels if level.hole_count]
    if holed and len(holed) <= _LISTED:
        named = ", ".join(f"{label(level.level)} ({level.hole_count})" for level in holed)
        yield f"Gaps between measured cells, by {axis}: {named}."


def _listed(levels: Sequence[Place]) -> str:
    more = f" and {len(levels) - _LISTED} more" if len(levels) > _LISTED else ""
    return ", ".join(map(label, levels[:_LISTED])) + more


def _best(statistics: Statistics) -> Iterator[str]:
    peaks = statistics.peaks
    if peaks is None or peaks.best is None:
        yield f"No best cell: {(peaks.reason if peaks else None) or 'not computed'}."
        return
    best, ties = peaks.best, peaks.best.ties
    decimals = decimals_of([best.value, peaks.runner_up.value if peaks.runner_up else 0.0])
    where = places(best.at, ties=ties, most=_LISTED)
    tied = f", in {ties} cells that tie exactly" if ties > 1 else ""
    yield f"The best {isolated(measure(statistics.metric))} is {fixed(best.value, decimals)}{tied}" + (
        f": {where}." if where else "."
    )
    if _cells(statistics) == 1:
        yield "It is the only measured cell: there is nothing to compare it with."
        return
    if peaks.best_set is None:
        why = peaks.noise_reason or "the noise of the cells is not known"
        yield f"Whether it is really the best cannot be said: {why}."
        return
    yield from _doubt(statistics, peaks.best_set)
    yield from _chance(peaks, best)
    if floor := floor_of_noise(statistics.metric, peaks, decimals):
        yield f"{floor[0].upper()}{floor[1:]}."


def _cells(statistics: Statistics) -> int | None:
    return statistics.coverage.cells if statistics.coverage else None


def _doubt(statistics: Statistics, within: BestSet) -> Iterator[str]:
    """The set of cells that noise leaves."""
    size = within.size
    if size > 1 and size == _cells(statistics):
        yield f"Each of the {size:,} cells may be the best: noise rules out none with {level_of(within)} confidence."
    elif size > 1:
        named = "; ".join(map(place, within.at[:_LISTED]))
        more = f" and {size - min(size, _LISTED)} more" if size > _LISTED else ""
        yield f"The best cell is among these {size:,} with {level_of(within)} confidence: {named}{more}."
    else:
        yield f"With {level_of(within)} confidence this is the best cell."


def _chance(peaks: Peaks, best: Best) -> Iterator[str]:
    chance = next((one.probability for one in peaks.probability_best or () if one.at in best.at), None)
    if chance is not None:
        cell = "each of the cells that tie" if best.ties > 1 else "this very cell"
        yield f"The probability that {cell} is the best is {_percent(chance)}, after shrinkage for noise."


def _percent(share: float) -> str:
    """A probability that no data make certain."""
    if share >= 0.995:
        return "99 % or more"
    return f"about {100 * share:.0f} %" if share >= 0.01 else "less than 1 %"


def _shares(statistics: Statistics) -> Iterator[str]:
    found = statistics.sensitivity
    if found is None or not found.axes:
        if len(statistics.axes or (1, 1)) > 1:
            yield f"No shares of variance: {(found.reason if found else None) or 'not computed'}."
        return
    residual, shares = found.residual, sorted(found.axes.items(), key=lambda item: -item[1].share)
    named = ", ".join(f"{name} {100 * axis.share:.0f} %{_tested(axis)}" for name, axis in shares)
    rest = f", {100 * residual.share:.0f} % by none of them alone" if residual else ""
    yield f"Of the variance among the measured cells, noise included, this much goes with each axis: {named}{rest}."
    if residual:
        yield from _interaction(residual, statistics.params.alpha)


def _tested(axis: AxisShare) -> str:
    return f" (p {p_value(axis.p)})" if axis.p is not None else ""


def _interaction(residual: Residual, alpha: float) -> Iterator[str]:
    """Whether the axes act together: on the logit scale where that is known, else on the metric's own."""
    decided = residual.logit or residual
    if decided.over_noise is None or decided.p is None:
        return
    scale = " on the logit scale" if residual.logit else ""
    shown = "The axes act together" if decided.p < alpha else "That the axes act together was not shown"
    ratio = f"what they leave{scale} is {decided.over_noise:.3g} times the cells' noise"
    yield f"{shown}: {ratio}, p {p_value(decided.p)}."


def _precision(grid: GridDocument, statistics: Statistics) -> Iterator[str]:
    names = {"trials": "Trials a cell", "stderr": "Standard error", "repeats": "Repeats"}
    known = [name for name in given(grid) if name in names]
    for name in known:
        found = [one for one in carried(grid, name) if one is not None]
        if found:
            low, high = plain_number(min(found)), plain_number(max(found))
            shown = low if low == high else f"{low} to {high}"
            yield f"{names[name]}: {shown}."
    precision = statistics.precision
    if not known:
        implied = precision.implied_trials if precision else None
        hint = f"; the printed decimals would fit {implied} trials a cell or more" if implied else ""
        alone = _cells(statistics) == 1
        rests = "" if alone else ": every interval here rests on the scatter alone"
        yield f"Neither trials nor standard errors were given{rests}{hint}."
    yield from (f"{line[0].upper()}{line[1:]}." for line in assumptions(statistics.assumes, statistics.design_effect))
    if precision and precision.off_lattice_count:
        cannot = counted(precision.off_lattice_count, "value cannot", "values cannot")
        listed = (precision.off_lattice or ())[:_LISTED]
        named = "; ".join(f"{label(one.value)}{_at(one.at)}" for one in listed)
        more = precision.off_lattice_count - len(listed)
        rest = f"; and {more:,} more" if more > 0 and named else ""
        yield f"{cannot} come from the given number of trials" + (f": {named}{rest}." if named else ": check them.")


def _at(coordinate: At) -> str:
    return f" at {place(coordinate)}" if coordinate else ""
