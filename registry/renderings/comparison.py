"""A comparison: how far the contender is from the baseline, where, and how surely."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from registry.renderings import sheet
from registry.renderings.assumptions import assumptions
from registry.renderings.numbers import (
    UNDEFINED,
    decimals_of,
    fixed,
    intervals,
    level_of,
    p_value,
    places_of,
    rough,
    signed,
)
from registry.renderings.pairs import interval_in
from registry.renderings.sheet import Block, Heading, Lines
from registry.renderings.table import Column, Table
from registry.renderings.tidy import harmless, tidy
from registry.renderings.words import axis_columns, counted, isolated, label, measure, place, said, slope_per
from registry.results.terms import Interval

Document = dict[str, Any]
_KINDS = ("benchmark", "model", "variant")
_RECORD = ("wins", "ties", "losses")
_TESTS = {
    "cochran_mantel_haenszel": "Cochran–Mantel–Haenszel",
    "fisher": "Fisher's exact test",
    "mantel_haenszel": "Mantel–Haenszel",
    "pooled_z": "z with the trials pooled",
    "sign_flip": "exact sign flip",
    "sign_flip_normal": "sign flip by the normal law",
    "welch": "Welch's t",
}
_SIGNS = ("sign_flip", "sign_flip_normal")
_OF_TRIALS = ("fisher", "pooled_z")


def comparison_text(document: Document) -> str:
    """The comparison for a terminal."""
    return sheet.text(page(document))


def comparison_markdown(document: Document) -> str:
    """The comparison as Markdown."""
    return sheet.markdown(page(document))


def comparison_csv(document: Document) -> str:
    """One row a common cell: its coordinate, both values, the gap and its test."""
    cells = document.get("cells") or []
    axes = [axis["name"] for axis in document.get("axes") or ()]
    after = ["baseline", "contender", "gap", "better", "low", "high", "p", "p_holm", "test"]
    return tidy([], (_row(cell, axes) for cell in cells), axes, after)


def _row(cell: Document, axes: Sequence[str]) -> list[Any]:
    ends = cell.get("interval") or {}
    found = [cell["at"].get(axis) for axis in axes] + [cell[name] for name in ("baseline", "contender", "gap")]
    found += [cell.get("better"), ends.get("low"), ends.get("high"), *(cell.get(n) for n in ("p", "p_holm", "test"))]
    return [harmless(one) for one in found]


def page(document: Document) -> Iterator[Block]:
    """The comparison's page: the whole first, the cells last."""
    baseline, contender = document.get("baseline"), document.get("contender")
    if not isinstance(baseline, Mapping) or not isinstance(contender, Mapping):
        yield Heading("Comparison", 1)
        yield f"No comparison: {document.get('reason')}."
        return
    yield Heading(f"{_title(contender, baseline)} — {measure(contender['metric'])}", 1)
    yield Lines(tuple(_sides(document, baseline, contender)))
    yield Lines(tuple(_findings(document)))
    yield from _margins(document)
    yield from _trends(document)
    yield from _cells(document)


def _title(contender: Mapping[str, Any], baseline: Mapping[str, Any]) -> str:
    """The names that differ, one less the other; all of them where none does."""
    kinds = [kind for kind in _KINDS if contender[kind] != baseline[kind]] or _KINDS
    mine, theirs = (" · ".join(str(one[kind] or UNDEFINED) for kind in kinds) for one in (contender, baseline))
    return f"{mine} less {theirs}"


def _sides(document: Document, baseline: Mapping[str, Any], contender: Mapping[str, Any]) -> Iterator[str]:
    shared = [str(baseline[kind]) for kind in _KINDS if baseline[kind] and baseline[kind] == contender[kind]]
    if shared:
        yield f"both: {' · '.join(shared)}"
    for word, side in (("baseline", baseline), ("contender", contender)):
        yield f"{word}: grid {side['grid']}, revision {side['revision']}"
    for warning in document.get("warnings") or ():
        yield str(warning["detail"])
    if document.get("status") != "ok":
        yield f"{said(document.get('status'))}: {document.get('reason')}"
    yield from assumptions(document.get("assumes") or (), document.get("design_effect"))


def _findings(document: Document) -> Iterator[str]:
    """All cells together, one line a statistic."""
    common = document.get("n_common", 0)
    alone = [(document.get(f"only_in_{word}") or {}).get("count", 0) for word in ("baseline", "contender")]
    if document.get("status") != "not_comparable" or any(alone):
        # Grids whose cells cannot be matched have counts of 0, which nobody counted.
        count = counted(common, "cell", "cells")
        yield f"{count} in common; only in the baseline {alone[0]}, only in the contender {alone[1]}"
    if document.get("wins") is not None:
        yield f"the contender wins {document['wins']}, ties {document['ties']}, loses {document['losses']}"
    places = _places(document)
    if document.get("mean") is not None:
        yield f"gap: mean {signed(document['mean'], places)}, median {signed(document['median'], places)}"
    if document.get("test"):
        yield _test(document["test"], places)
    yield from _odds(document)
    tau = (document.get("agreement") or {}).get("tau")
    if tau is not None:
        yield f"agreement of both on which cells are hard: Kendall's tau {tau:.2f}"


def _places(document: Document) -> int | None:
    ends = (document.get("test") or {}).get("interval") or {}
    return places_of([document.get("mean"), document.get("median"), ends.get("low"), ends.get("high")])


def _test(test: Document, places: int | None) -> str:
    if test.get("status") != "ok":
        return f"no test: {test.get('reason') or said(test.get('status'))}"
    name, ends = _named(test["name"]), interval_in(test)
    about = f" {intervals([ends], places)[0]} ({100 * ends.level:g} %)" if ends else ""
    seen = f"; could have shown {rough(test['detectable'])}" if test.get("detectable") is not None else ""
    return f"{name}: {signed(test['difference'], places)}{about}, p {p_value(test.get('p'))}{seen}"


def _odds(document: Document) -> Iterator[str]:
    ratio = (document.get("mantel_haenszel") or {}).get("odds_ratio") or {}
    alike = document.get("breslow_day") or {}
    if ratio.get("value") is not None:
        ends = ratio["interval"]
        yield f"odds ratio {ratio['value']:.3g} [{ends['low']:.3g}, {ends['high']:.3g}] over all cells"
    elif ratio:
        yield f"odds ratio: {ratio.get('reason')}"
    if alike.get("p") is not None:
        yield f"the same odds ratio in all cells (Breslow–Day, Tarone): p {p_value(alike['p'])}"


def _margins(document: Document) -> Iterator[Block]:
    for axis, margin in (document.get("by") or {}).items():
        levels = [level for level in margin["levels"] if level["n_common"]]
        if not levels:
            continue
        yield Heading(f"By {axis}", 2)
        yield _margin(axis, levels)
        yield Lines(tuple(_margin_notes(axis, levels)))
        silent = len(margin["levels"]) - len(levels)
        if silent:
            yield f"{counted(silent, 'level', 'levels')} without a common cell"
        if margin["left_out"]:
            yield f"{counted(margin['left_out'], 'more level', 'more levels')}"


def _margin(axis: str, levels: Sequence[Document]) -> Table:
    tests = [level.get("test") or {} for level in levels]
    found = [interval_in(test) for test in tests]
    places = places_of([*(level["mean"] for level in levels), *(end for one in found if one for end in _ends(one))])
    columns = [
        Column(axis, [label(level["level"]) for level in levels], True),
        Column("cells", [str(level["n_common"]) for level in levels], True),
    ]
    if levels[0].get("wins") is not None:
        columns += [Column(name, [str(level[name]) for level in levels], True) for name in _RECORD]
    return Table(
        [
            *columns,
            Column("mean", [signed(level["mean"], places) for level in levels], True),
            Column("median", [signed(level["median"], places) for level in levels], True),
            Column("interval", intervals(found, places)),
            Column("Holm p", [p_value(_attainable(test)) for test in tests], True),
        ]
    )


def _margin_notes(axis: str, levels: Sequence[Document]) -> Iterator[str]:
    """What the intervals and the p-values of the levels are."""
    tests = [level["test"] for level in levels if (level.get("test") or {}).get("name")]
    within = [test for test in tests if test.get("interval")]
    if within and (first := interval_in(within[0])):
        yield f"interval: {level_of(first)}, " + _listed(
            "Student's t over the cells" if test["name"] in _SIGNS else _named(test["name"]) for test in within
        )
    if tests:
        yield f"Holm p: {_listed(_named(test['name']) for test in tests)}, over the levels of {isolated(axis)}"
    if any(test["name"] in _SIGNS for test in within):
        yield "Student's t takes the gaps as normally distributed, the sign flip does not: they may disagree"
    if any(_attainable(test) is None for test in tests):
        yield f"Holm p {UNDEFINED}: {next(_why_not(test) for test in tests if _attainable(test) is None)}"


def _why_not(test: Document) -> str:
    return str(test.get("reason") or said(test.get("status")))


def _named(test: str) -> str:
    return _TESTS.get(test, said(test))


def _listed(names: Iterable[str]) -> str:
    return " or ".join(dict.fromkeys(names))


def _attainable(test: Document) -> float | None:
    """A p-value that could have been significant."""
    found: float | None = test.get("p_holm") if test.get("status") == "ok" else None
    return found


def _ends(interval: Interval) -> list[float]:
    return [interval.low, interval.high]


def _trends(document: Document) -> Iterator[Block]:
    trends = document.get("along") or []
    if not trends:
        return
    yield Heading("How the gap changes", 2)
    yield Lines(tuple(_trend(trend, document.get("axes") or ()) for trend in trends))


def _trend(trend: Document, axes: Sequence[Document]) -> str:
    if trend.get("slope") is None:
        return f"along {trend['along']}: {trend.get('reason')}"
    within = interval_in(trend, "slope_interval")
    places = places_of([trend["slope"], *(_ends(within) if within else ())])
    per = slope_per(axes, trend["along"], trend["x_scale"])
    test = trend["mann_kendall"]
    law = "exact p" if test["method"] == "exact" else "p"
    p = f"{law} {p_value(test['p'])}" if trend["status"] == "ok" else str(trend.get("reason"))
    ends = f" {intervals([within], places)[0]}" if within else ""
    series = counted(trend["series_count"], "series", "series")
    return f"per {per}: {signed(trend['slope'], places)}{ends} over {series}; {p}"


def _cells(document: Document) -> Iterator[Block]:
    cells = document.get("cells") or []
    if not cells:
        return
    yield Heading("Cells", 2)
    values = decimals_of(cell[name] for cell in cells for name in ("baseline", "contender"))
    found = [interval_in(cell) for cell in cells]
    columns = [
        *(axis_columns([cell["at"] for cell in cells]) if cells[0]["at"] else ()),
        Column("baseline", [fixed(cell["baseline"], values) for cell in cells], True),
        Column("contender", [fixed(cell["contender"], values) for cell in cells], True),
        Column("gap", [signed(cell["gap"], values) for cell in cells], True),
    ]
    if any(found):
        places = places_of([end for one in found if one for end in _ends(one)])
        columns.append(Column(_level(found), intervals(found, places)))
        columns.append(Column("Holm p", [p_value(cell.get("p_holm")) for cell in cells], True))
    yield Table(columns)
    yield Lines(tuple(_cell_notes([cell["test"] for cell in cells if cell.get("test")])))
    left = document.get("cells_left_out") or 0
    if left:
        yield f"and {counted(left, 'more cell', 'more cells')}: at {place(cells[-1]['at'])} the list ends"


def _cell_notes(tests: Sequence[str]) -> Iterator[str]:
    """What the intervals and the p-values of the cells are."""
    if tests:
        yield "interval: " + _listed("Newcombe's" if test in _OF_TRIALS else _named(test) for test in tests)
        yield f"Holm p: {_listed(map(_named, tests))}, each cell by itself, over all tested cells"


def _level(found: Sequence[Any]) -> str:
    return next(f"{100 * one.level:g} % interval" for one in found if one)
