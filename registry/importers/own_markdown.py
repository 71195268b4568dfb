"""The registry's own Markdown of a grid, read back.

A heading `benchmark · model · variant — metric (unit)`, tables of two axes each below headings of the other axes'
levels, and a last line that counts the cells. Values have the decimals that are shown. What the form does not say
(experiment, kinds of axes, direction, bounds) is for the caller to say.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from registry.errors import Fault, Invalid
from registry.importers.blocks import Block, blocks, unescaped
from registry.importers.found import Found, Note, Overrides, Place
from registry.importers.sheet import Reading, Sheet
from registry.importers.tables import Table, check_header, even, text_of, value_of
from registry.importers.words import Findings, common_words, plain_number

_LAST = re.compile(r"\d+ of \d+ cells measured · revision \d+(.*)")
_TRIALS = re.compile(r" · trials (\d+)(?: · .*|$)")
_TITLE = re.compile(r"(.*) — (.+?)(?: \(([^()]*)\))?")
_UNIT = re.compile(r"(.+?) \(([^()]*)\)")


def is_own(lines: Sequence[str]) -> bool:
    """Whether these are the lines of a grid as the registry writes it."""
    written = [line for line in lines if line.strip()]
    return len(written) > 1 and written[0].startswith("### ") and _LAST.fullmatch(written[-1]) is not None


def read_own(lines: Sequence[str], wanted: Overrides) -> Iterator[Found]:
    """The one grid of such a document."""
    title, *body, last = list(blocks(lines, emphasis=False))
    names, notes = _names(unescaped(title.text))
    findings = Findings()
    planes = _planes(body)
    leading = _leading([said for said, _ in planes])
    axes: tuple[str, ...] = ()
    units: dict[str, str] = {}
    readings: list[Reading] = []
    levels: dict[str, list[str]] = {}
    for said, block in planes:
        at = [label for _, label in _split(said, leading)]
        for name, label in zip(leading, at, strict=True):
            levels.setdefault(name, []).append(label)
        if block.kind == "table":
            axes, rows = _plane(block, names, findings, levels, units)
            readings += [Reading((*at, *own), value, place) for own, value, place in rows]
        elif (value := plain_number(block.text)) is not None:
            readings.append(Reading((), value, Place(block.line)))
    findings.stop_at_faults()
    sheet = Sheet(names, (*leading, *axes))
    for name, labels in levels.items():
        sheet.declare(name, labels, Place(title.line))
    for reading in readings:
        sheet.add(reading)
    sheet.notes += notes
    rest = _LAST.fullmatch(last.text)
    trials = _TRIALS.fullmatch(rest[1]) if rest else None
    found = sheet.found(wanted)
    if trials and wanted.trials is None:
        found.submission["trials"] = int(trials[1])
    for axis in found.submission["axes"]:
        if axis["name"] in units:
            axis["unit"] = units[axis["name"]]
    yield found


def _names(title: str) -> tuple[dict[str, str], list[Note]]:
    match = _TITLE.fullmatch(title)
    if match is None:
        return {}, []
    parts = match[1].split(" · ")
    names = dict(zip(("benchmark", "model", "variant"), parts, strict=False)) | {"metric": match[2]}
    if match[3]:
        names["unit"] = match[3]
    return names, [Note("identity_read", f'"{title}" was read as benchmark · model · variant — metric')]


def _planes(body: Sequence[Block]) -> list[tuple[str, Block]]:
    """Each table or number with the heading above it."""
    found: list[tuple[str, Block]] = []
    said = ""
    for block in body:
        if block.kind == "heading":
            said = unescaped(block.text)
        else:
            found.append((said, block))
    return found


def _leading(said: Sequence[str]) -> list[str]:
    """The names of the axes in headings such as `Task sum · Size 7b`: the words that do not change."""
    split = [one.split(" · ") for one in said if one]
    if not split:
        return []
    if len({len(parts) for parts in split}) > 1 or len(split) != len(said):
        raise Invalid([Fault("", "the headings of the tables do not name the same axes")])
    names: list[str] = []
    for parts in zip(*split, strict=True):
        words = common_words(parts) if len(set(parts)) > 1 else parts[0].split(" ")[:-1]
        names.append(" ".join(words))
    return names


def _split(said: str, names: Sequence[str]) -> list[tuple[str, str]]:
    return [
        (name, part.removeprefix(name).strip()) for name, part in zip(names, said.split(" · "), strict=False) if names
    ]


def _plane(
    block: Block, names: dict[str, str], findings: Findings, levels: dict[str, list[str]], units: dict[str, str]
) -> tuple[tuple[str, ...], list[tuple[tuple[str, ...], float | None, Place]]]:
    """The axes of a table and what it says: two axes, or one as a row or as a column."""
    (line, header), *rest = block.rows
    table = Table(list(header), [(number, list(row)) for number, row in rest], line, names)
    check_header(table, findings)
    rows = list(even(table, findings))
    measured = f"{names['metric']} ({names['unit']})" if "unit" in names else names.get("metric", "")
    first, *others = header
    corner = first.split(" / ")
    if len(corner) == 1 and others == [measured]:
        axis = _axis(first, units)
        levels.setdefault(axis, []).extend(row[0] for _, row in rows)
        return (axis,), [((row[0],), value_of(row[1], Place(n, 2), findings), Place(n, 2)) for n, row in rows]
    down, across = [_axis(name, units) for name in corner] if len(corner) == 2 else (None, _axis(first, units))
    known = levels.setdefault(across, [])
    known += [label for label in others if label not in known]
    found: list[tuple[tuple[str, ...], float | None, Place]] = []
    for number, row in rows:
        if down is not None:
            known = levels.setdefault(down, [])
            known += [text_of(row[0], Place(number, 1), findings)] if row[0] not in known else []
        for column, (label, cell) in enumerate(zip(others, row[1:], strict=True), start=2):
            place = Place(number, column)
            at = (label,) if down is None else (row[0], label)
            found.append((at, value_of(cell, place, findings), place))
    return ((across,) if down is None else (down, across)), found


def _axis(name: str, units: dict[str, str]) -> str:
    match = _UNIT.fullmatch(name)
    if match is None:
        return name
    units[match[1]] = match[2]
    return match[1]


__all__ = ["is_own", "read_own"]
