"""The table that lm-evaluation-harness prints, which papers and README files keep.

    |  Tasks  |Version|Filter|n-shot|Metric|   |Value |   |Stderr|
    |---------|------:|------|-----:|------|---|-----:|---|-----:|
    |arc_easy |      1|none  |     0|acc   |↑  |0.4377|±  |0.0102|
    |         |       |none  |     0|acc_norm|↑|0.3910|±  |0.0100|

Names are as those of its JSON (`lm_eval.py`). An empty task is that of the row above. The model and, in older tables,
the shots stand in the line above the table: `hf (pretrained=…), …, num_fewshot: 5, …`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from registry.errors import Fault, Invalid
from registry.importers.cell_text import plain_number
from registry.importers.imported_grid import ImportedGrid, Overrides, Place
from registry.importers.lm_eval import EXPERIMENT, HARNESS, SHARES
from registry.importers.markup import listed
from registry.importers.metrics import meaning_of
from registry.importers.scores import protocol_of, single, unknown_direction

_PRETRAINED = re.compile(r"\((?:[^()]*,)?\s*(?:pretrained|model)=([^,()]+)")
_SHOTS = re.compile(r"num_fewshot: (\d+)")
_ARROWS = {"↑": "higher", "↓": "lower"}
_CONTINUED = ("task", "version", "filter", "n-shot")


def is_printed(header: Sequence[str]) -> bool:
    """Tell whether this is the heading of such a table."""
    return _task(header) and {"metric", "value", "stderr"} <= {name.casefold() for name in header}


def _task(header: Sequence[str]) -> bool:
    return header[0].casefold() in ("task", "tasks", "group", "groups")


def read_printed(
    header: Sequence[str], rows: Sequence[tuple[int, list[str]]], above: str, wanted: Overrides
) -> Iterator[ImportedGrid]:
    """One grid for each row; `above` is the text before the table."""
    names = _names(above, aggregated=header[0].casefold().startswith("group"))
    columns = {name.casefold(): place for place, name in reversed(list(enumerate(header))) if name}
    columns["task"] = 0
    before: dict[str, str] = {}
    faults: list[Fault] = []
    for line, cells in rows:
        row = {name: cells[place] for name, place in columns.items() if place < len(cells)}
        if not row["task"]:
            row |= {name: before[name] for name in _CONTINUED if not row.get(name) and before.get(name)}
        before = row
        arrow = next((_ARROWS[cell] for cell in cells if cell in _ARROWS), None)
        found = _score(row, arrow, names)
        if found is None:
            faults.append(Fault(Place(line).pointer(), "has no task, metric or value"))
        elif wanted.takes(found.submission["metric"]["name"]):
            yield wanted.applied(found)
    if faults:
        raise Invalid(faults)


def _names(above: str, *, aggregated: bool) -> dict[str, str]:
    model, shots = _PRETRAINED.findall(above), _SHOTS.findall(above)
    names = {"experiment": f"{EXPERIMENT} groups" if aggregated else EXPERIMENT}
    names |= {"variant": f"{shots[-1]}-shot"} if shots else {"variant": ""}
    return names | ({"model": model[-1].strip()} if model else {})


def _score(row: Mapping[str, str], direction: str | None, names: Mapping[str, str]) -> ImportedGrid | None:
    task, metric, value = listed(row["task"]), row.get("metric", ""), plain_number(row.get("value", ""))
    if not task or not metric or value is None:
        return None
    way = row.get("filter", "none").casefold()
    meaning = meaning_of(metric)
    better = direction or (meaning.direction if meaning else None)
    described: dict[str, Any] = {
        "name": metric if way in ("none", "") else f"{metric},{row['filter']}",
        "direction": better,
    }
    described |= {"lower": 0.0, "upper": 1.0} if metric in SHARES and 0 <= value <= 1 else {}
    shots = row.get("n-shot", "")
    named = {**names, "benchmark": task} | ({"variant": f"{shots}-shot"} if shots.isdecimal() else {})
    labels = {"task_version": row["version"]} if row.get("version") else {}
    notes = [] if better else [unknown_direction(metric)]
    said = {"task_version": row.get("version", ""), "shots": named["variant"].removesuffix("-shot")}
    found = single(named, described, value, stderr=plain_number(row.get("stderr", "")), labels=labels, notes=notes)
    return replace(found, submission=found.submission | _protocol(said))


def _protocol(said: Mapping[str, str]) -> dict[str, Any]:
    """Whole numbers are numbers, as in the harness's own JSON; `Yaml`, a version of older tables, is a text."""
    read = {name: int(text) if text.isdecimal() and len(text) < 16 else text for name, text in said.items()}
    return protocol_of({"harness": HARNESS, **read})
