"""Hugging Face's Trainer: `trainer_state.json`, and `all_results.json` or another `…_results.json` beside it.

A state gives a grid over `step` for each number of its log; results give a single score for each number. Model: the
last folder of `best_model_checkpoint`, else the folder of the file (the one above, if that is `checkpoint-500`).
Benchmark: "training". Timings, counts and learning rates are skipped, with a note; `--only` takes any. Direction and
bounds: common names are read, with a note.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from registry.errors import Malformed
from registry.importers.imported_grid import ImportedGrid, Note, Overrides
from registry.importers.metrics import explained
from registry.importers.scores import found_number, left_out, listed, mapping, single, text
from registry.importers.source import NOT_A_NUMBER, Source

NAME = "trainer"
_NAMES = {"experiment": "transformers", "benchmark": "training", "variant": ""}
_ABOUT = ("epoch", "step", "total_flos", "grad_norm", "learning_rate", "num_input_tokens_seen")
_TIMINGS = ("_runtime", "_per_second", "_samples", "_time", "_jit_compilation_time")
_CHECKPOINT = re.compile(r"checkpoint-\d+")
_MARKS = ("train_runtime", "eval_runtime", "train_loss", "eval_loss", "train_samples_per_second")


def looks_like(source: Source) -> bool:
    file = source.document
    if not isinstance(file, Mapping):
        return False
    return isinstance(file.get("log_history"), list) or any(mark in file for mark in _MARKS)


def read(source: Source, wanted: Overrides) -> Iterator[ImportedGrid]:
    """One grid for each number that was logged."""
    file = mapping(source.json, "")
    model, edition, notes = _model(source, file)
    names = {**_NAMES, "model": model} if model else _NAMES
    curves, unread = _curves(file) if "log_history" in file else _results(file)
    missing = [place for name, place in unread if wanted.takes(name, not _is_about(name))]
    skipped = [name for name in curves if not wanted.takes(name, not _is_about(name))]
    notes = [*notes, *left_out(skipped, "about the training and no result; --only NAME takes it")]
    notes += left_out(missing, "not a number")
    if missing and not curves.keys() - set(skipped):
        raise Malformed(f"It holds no number of a result; not a number: {', '.join(missing[:8])}.")
    for name, points in curves.items():
        if name in skipped:
            continue
        metric, more = _explained(name, [value for _, value in points])
        if "log_history" not in file:
            yield wanted.applied(single(names, metric, points[0][1], notes=[*notes, *more]))
            continue
        steps = dict(points)  # a step that is logged again counts as it was logged last
        if len(steps) < len(points):
            detail = f'{len(points) - len(steps)} steps of "{name}" are given twice: the last number counts'
            more = [*more, Note("given_twice", detail)]
        axis = {"name": "step", "kind": "numeric", "levels": sorted(steps)}
        sent = {**names, "metric": metric, "axes": [axis], "values": [steps[step] for step in sorted(steps)]}
        yield wanted.applied(ImportedGrid(sent, (*notes, *more), edition=edition))


_Curves = dict[str, list[tuple[float, float]]]
_Missing = list[tuple[str, str]]
"""Entries without a number: name and place."""


def _results(file: Mapping[str, Any]) -> tuple[_Curves, _Missing]:
    """Numbers of a file of results, and the other entries."""
    numbers = {name: found_number(value) for name, value in file.items()}
    curves = {name: [(0.0, number)] for name, number in numbers.items() if number is not None}
    return curves, [(name, name) for name, value in file.items() if value == NOT_A_NUMBER]


def _curves(file: Mapping[str, Any]) -> tuple[_Curves, _Missing]:
    """Steps and values of each number, and the other entries: NaN and Infinity, which JSON does not have."""
    curves: _Curves = {}
    missing: _Missing = []
    for place, given in enumerate(listed(file.get("log_history"), "/log_history")):
        entry = mapping(given, f"/log_history/{place}")
        step = found_number(entry.get("step"))
        for name, value in entry.items():
            number = found_number(value)
            if name == "step":
                continue
            if value == NOT_A_NUMBER or (number is not None and step is None):
                where = f"{name} in entry {place} without a step" if step is None else f"{name} at step {step:g}"
                missing.append((name, where))
            elif number is not None and step is not None:
                curves.setdefault(name, []).append((step, number))
    return curves, missing


def _is_about(name: str) -> bool:
    return name in _ABOUT or name.endswith(_TIMINGS)


def _explained(name: str, values: list[float]) -> tuple[dict[str, Any], list[Note]]:
    """The metric as its name says it: `eval_accuracy` is an accuracy."""
    metric, notes = explained({"name": name.removeprefix("eval_").removeprefix("train_")}, values)
    return {**metric, "name": name}, notes


def _model(source: Source, file: Mapping[str, Any]) -> tuple[str, str, list[Note]]:
    """The model, the checkpoint of this state, and how they were read."""
    folders = list(source.folders())
    checkpoint = next((name for name in folders[:1] if _CHECKPOINT.fullmatch(name)), "")
    best = [part for part in text(file.get("best_model_checkpoint")).split("/") if not _CHECKPOINT.fullmatch(part)]
    name = (best[-1] if best else "") or next((name for name in folders if not _CHECKPOINT.fullmatch(name)), "")
    return name, checkpoint, [Note("identity_read", f'the folder "{name}" was read as the model')] if name else []
