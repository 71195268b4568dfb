"""A report of a grid in sentences: what its statistics show, how surely, and what nobody can say.

A sentence that claims something carries its uncertainty; a difference that noise explains is not called one. Takes
the JSON of a grid with its values, and its statistics, or why there are none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from registry.renderings import report_trends, sheet
from registry.renderings.cells import carried, flat
from registry.renderings.heatmap.words import coordinate
from registry.renderings.numbers import decimals_of, fixed, p_value, plain_number
from registry.renderings.page import html
from registry.renderings.sheet import Block, Heading, Lines
from registry.renderings.words import counted, label, measure, place, title

Document = Mapping[str, Any]
_LISTED = 12


def of(form: str) -> Callable[[tuple[Document, Document | None]], str]:
    """The renderer of a form (`txt`, `md` or `html`): it takes a grid and its statistics."""
    written = {"txt": sheet.text, "md": sheet.markdown, "html": html}[form]
    return lambda both: written(_page(*both))


def _page(grid: Document, statistics: Document | None) -> Iterator[Block]:
    yield Heading(title(grid), 1)
    yield _head(grid, statistics)
    yield Heading("What was measured")
    yield Lines(tuple(_measured(grid, statistics)))
    if statistics is None:
        yield "Its statistics are not ready: nothing can be said yet about trends, breaks and ties."
        return
    yield Heading("What rises and falls")
    yield from report_trends.blocks(statistics)
    yield Heading("Where it breaks")
    yield from report_trends.breaks(statistics)
    yield Heading("What is best")
    yield Lines(tuple(_best(statistics)))
    yield Heading("What matters, and how precise it is")
    yield Lines((*_shares(statistics), *_precision(grid, statistics)))


def _head(grid: Document, statistics: Document | None) -> str:
    parts = [grid["experiment"], f"grid {grid['id']}", f"revision {grid['revision']}"]
    if statistics is not None:
        parts.append(f"methods {statistics['methods_version']}")
    return " · ".join(parts)


def _measured(grid: Document, statistics: Document | None) -> Iterator[str]:
    values = flat(grid["values"], len(grid["axes"]))
    missing = [index for index, value in enumerate(values) if value is None]
    share = f" ({100 * (1 - len(missing) / len(values)):.0f} %)" if values else ""
    yield f"{len(values) - len(missing)} of {len(values)} cells were measured{share}."
    if not missing:
        return
    if len(missing) <= _LISTED and grid["axes"]:
        yield "Never measured: " + "; ".join(place(coordinate(grid, index)) for index in missing) + "."
    else:
        yield f"{counted(len(missing), 'cell was', 'cells were')} never measured; no number stands for them."
    for axis, found in ((statistics or {}).get("coverage") or {}).get("by", {}).items():
        yield from _levels(axis, found)
    reasons = [entry["reason"].replace("_", " ") for entry in grid.get("reasons") or ()]
    for reason in dict.fromkeys(reasons):
        yield f"{counted(reasons.count(reason), 'cell is', 'cells are')} missing for a stated reason: {reason}."


def _levels(axis: str, found: Document) -> Iterator[str]:
    """The levels without any cell, and those with holes between measured ones."""
    if found.get("empty"):
        yield f"Nothing at all was measured at {axis} {_listed(found['empty'])}."
    holed = [level for level in found.get("levels") or () if level.get("hole_count")]
    if holed and len(holed) <= _LISTED:
        named = ", ".join(f"{label(level['level'])} ({level['hole_count']})" for level in holed)
        yield f"Gaps between measured cells, by {axis}: {named}."


def _listed(levels: list[Any]) -> str:
    more = f" and {len(levels) - _LISTED} more" if len(levels) > _LISTED else ""
    return ", ".join(map(label, levels[:_LISTED])) + more


def _best(statistics: Document) -> Iterator[str]:
    peaks = statistics.get("peaks") or {}
    best = peaks.get("best")
    if not best:
        yield f"No best cell: {peaks.get('reason') or 'not computed'}."
        return
    decimals = decimals_of([best["value"], (peaks.get("runner_up") or {}).get("value") or 0.0])
    where = "; ".join(name for name in map(place, best["at"][:_LISTED]) if name)
    ties = best.get("ties") or len(best["at"])
    tied = f", in {ties} cells that tie exactly" if ties > 1 else ""
    yield f"The best {measure(statistics.get('metric'))} is {fixed(best['value'], decimals)}{tied}" + (
        f": {where}." if where else "."
    )
    within = peaks.get("best_set")
    if not within:
        why = peaks.get("noise_reason") or "the noise of the cells is not known"
        yield f"Whether it is really the best nobody can say: {why}."
        return
    yield from _doubt(peaks, within, ties, decimals, statistics)


def _doubt(peaks: Document, within: Document, ties: int, decimals: int | None, statistics: Document) -> Iterator[str]:
    """What noise leaves of the peak."""
    best = peaks["best"]
    size = within.get("size") or len(within["at"])
    chance = next((one["probability"] for one in peaks.get("probability_best") or () if one["at"] in best["at"]), None)
    if chance is not None:
        cell = "each of these cells" if ties > 1 else "this very cell"
        yield f"The probability that {cell} is the best is {_percent(chance)}."
    if size > 1:
        named = "; ".join(map(place, within["at"][:_LISTED]))
        more = f" and {size - min(size, _LISTED)} more" if size > _LISTED else ""
        yield (
            f"Noise cannot tell {size} cells apart: the best is among them with a probability of "
            f"{_percent(within['level'])} or more: {named}{more}."
        )
    floor = peaks.get("expected_max_if_equal")
    if floor is not None:
        lower = (statistics.get("metric") or {}).get("direction") == "lower"
        beyond = best["value"] < floor if lower else best["value"] > floor
        finer = None if decimals is None else decimals + 1
        yield (
            f"If every cell were equally good, the best would be expected at {fixed(floor, finer)}: "
            + ("this peak goes beyond that." if beyond else "this peak does not, so it proves nothing by itself.")
        )


def _percent(share: float) -> str:
    if share >= 0.995:
        return "more than 99 %" if share < 1 else "100 %"
    return f"{100 * share:.0f} %" if share >= 0.01 else "less than 1 %"


def _shares(statistics: Document) -> Iterator[str]:
    found = statistics.get("sensitivity") or {}
    shares = [
        (name, axis["share"]) for name, axis in (found.get("axes") or {}).items() if axis.get("share") is not None
    ]
    if not shares:
        yield f"No shares of variance: {found.get('reason') or 'not computed'}."
        return
    if not _any_signal(statistics):
        yield "No series moves by more than noise, so shares of the variance would describe noise and are left out."
        return
    residual = found.get("residual") or {}
    named = ", ".join(f"{name} {100 * share:.0f} %" for name, share in sorted(shares, key=lambda one: -one[1]))
    rest = f", {100 * residual['share']:.0f} % by neither alone" if residual.get("share") is not None else ""
    yield f"Of the variance among the measured cells, this much goes with each axis: {named}{rest}."
    if residual.get("over_noise") is not None and residual.get("p") is not None:
        alpha = (statistics.get("params") or {}).get("alpha") or 0.05
        noise = "more than the cells' noise" if residual["p"] < alpha else "no more than the cells' noise explains"
        yield f"What is left is {noise} ({residual['over_noise']:.3g} times it, p {p_value(residual['p'])})."


def _any_signal(statistics: Document) -> bool:
    """Whether anything among the series is more than noise, or the noise is not known."""
    still = ("flat_within_noise", "flat", "constant", "single_point")
    directions = [one.get("direction") for one in statistics.get("series") or ()]
    return not directions or any(direction not in still for direction in directions)


def _precision(grid: Document, statistics: Document) -> Iterator[str]:
    known = [name for name in ("trials", "stderr", "repeats") if grid.get(name) is not None]
    for name in known:
        found = [one for one in carried(dict(grid), name) if one is not None]
        if found:
            low, high = plain_number(min(found)), plain_number(max(found))
            shown = low if low == high else f"{low} to {high}"
            yield {"trials": "Trials a cell", "stderr": "Standard error", "repeats": "Repeats"}[name] + f": {shown}."
    precision = statistics.get("precision") or {}
    if not known:
        implied = precision.get("implied_trials")
        hint = f"; the printed decimals would fit {implied} trials a cell or more" if implied else ""
        yield f"Neither trials nor standard errors were given: every interval here rests on the scatter alone{hint}."
    if precision.get("off_lattice_count"):
        cannot = counted(precision["off_lattice_count"], "value cannot", "values cannot")
        yield f"{cannot} come from the given number of trials: check them."
