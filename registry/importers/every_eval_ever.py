"""Import Every Eval Ever, schema 0.2 and 0.3: JSON, or JSON lines, with results of one model on several evaluations.

Experiment: the name of the source, else of the library. Benchmark: the dataset with the name of the evaluation, unless
one says the other. Model: its `id`. Metric: its name, kind or id, whichever is not the evaluation's name, or what is
before "on" in its description. Axes: the metric's parameters, over which results of one benchmark, metric and protocol
are one grid. A standard error is taken as it is, else computed, with a note, from the interval, or from the deviation
and the number of samples; these are trials only where mean and error are those of zeros and ones. Protocol: library,
source, dataset and settings of the generation; what only says "unknown", "other" or that it was run says nothing.
Labels: the document's id, the developer and, as `model.…`, details of the model.
"""

import itertools
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from registry.grids.intake.faults import number
from registry.grids.intake.members import key_of, protocol_of_texts
from registry.importers.imported_grid import ImportedGrid, Note, Overrides
from registry.importers.scores import (
    bounded,
    count,
    is_share,
    left_out,
    listed,
    mapping,
    member,
    object_in,
    over,
    protocol_of,
    stderr_of,
    text,
    trials_of,
)
from registry.importers.source import Source
from registry.renderings.every_eval_ever import DETAILS, HELD, PLACES

NAME = "every-eval-ever"
_SILENT = ("unknown", "other", "evaluation_run")
_OF_ERRORS = ("stderr_method", "num_bootstrap_samples")
_MOST_LABELS, _LONGEST = 40, 256


def looks_like(source: Source) -> bool:
    first = next(iter(source.records), None) if source.begins_like_json else None
    return isinstance(first, Mapping) and {"model_info", "evaluation_results"} <= first.keys()


def read(source: Source, wanted: Overrides) -> Iterator[ImportedGrid]:
    """One grid for each metric of each evaluation."""
    for given in source.records:
        file = mapping(given, "")
        together: dict[str, list[Mapping[str, Any]]] = {}
        for place, one in enumerate(listed(file.get("evaluation_results"), "/evaluation_results")):
            result = mapping(one, f"/evaluation_results/{place}")
            metric = _metric_name(result)
            if wanted.takes(metric):
                protocol = {key: one for key, one in _measured(file, result).items() if key not in _OF_ERRORS}
                key = [_benchmark(result, metric), metric, sorted(_parameters(result)), protocol]
                together.setdefault(json.dumps(key, sort_keys=True), []).append(result)
        for results in together.values():
            yield wanted.applied(_grid(file, results))


def _parameters(result: Mapping[str, Any]) -> Mapping[str, Any]:
    return object_in(object_in(result, "metric_config"), "metric_parameters")


def _metric_name(result: Mapping[str, Any]) -> str:
    config = object_in(result, "metric_config")
    said = [text(config.get(f"metric_{part}")) for part in ("name", "kind", "id")]
    kind = text(config.get("evaluation_description")).partition(" on ")[0]
    own = [one for one in said if one and one != text(result.get("evaluation_name"))]
    return next(iter(own), "") or (kind if kind and len(kind) < 60 else "score")


def _benchmark(result: Mapping[str, Any], metric: str) -> str:
    dataset, name = text(object_in(result, "source_data").get("dataset_name")), text(result.get("evaluation_name"))
    if not dataset or dataset in name:
        return name
    return dataset if name in ("", metric) else f"{dataset}: {name}"


def _measured(file: Mapping[str, Any], result: Mapping[str, Any]) -> dict[str, Any]:
    """What is said of how a result was measured, by key of a protocol."""
    known: dict[str, Any] = {}
    for key, (path, _) in PLACES.items():
        if (one := member({**file, **result}, path)) not in (None, *_SILENT):
            known[key] = one
    uncertainty = object_in(object_in(result, "score_details"), "uncertainty")
    known.setdefault("stderr_method", object_in(uncertainty, "confidence_interval").get("method"))
    for prefix, part in DETAILS.items():
        for name, one in object_in(object_in({**file, **result}, part), "additional_details").items():
            if name != HELD and one != "" and not known.get(f"{prefix}{name}"):
                known[f"{prefix}{name}"] = protocol_of_texts([f"k={one}"])["k"] if isinstance(one, str) else one
    return {key: one for key, one in known.items() if one not in (None, "", [], {})}


def _grid(file: Mapping[str, Any], results: Sequence[Mapping[str, Any]]) -> ImportedGrid:
    first = results[0]
    config, name = object_in(first, "metric_config"), _metric_name(first)
    held = json.loads(text(object_in(config, "additional_details").get(HELD), "{}"))
    metric = held.get("metric") or _metric(name, config)
    cells, notes = _cells(results, metric, own=bool(held))
    metric, more = bounded(metric, [cell["value"] for cell in cells.values() if cell["value"] is not None])
    measured = _measured(file, first)
    protocol = protocol_of(measured)
    kept = protocol.get("protocol", {})
    digests = [key for key, one in kept.items() if text(one).startswith("sha256:")]
    notes += [
        *more,
        *left_out([key for key in measured if key_of(key) not in kept], "the protocol has no room"),
        *left_out(digests, "of long texts a digest is kept"),
        *left_out([key for key in ("detailed_evaluation_results",) if file.get(key)], "samples are not read"),
    ]
    model, library = object_in(file, "model_info"), text(object_in(file, "eval_library").get("name"))
    samples = {one.pop("n") for one in cells.values()}
    labels = {"evaluation_id": file.get("evaluation_id"), "developer": model.get("developer")}
    labels |= {f"model.{key}": one for key, one in object_in(model, "additional_details").items()}
    labels |= {"n": samples.pop()} if len(samples) == 1 else {}
    notes += left_out([str(n) for n in samples if not held], "cells have several numbers of samples")
    known = {key: text(one)[:_LONGEST] for key, one in labels.items() if one not in (None, "", *_SILENT)}
    source = text(object_in(file, "source_metadata").get("source_name"))
    about = {"description": text(config["evaluation_description"])} if config.get("evaluation_description") else {}
    sent = {
        "experiment": source or ("" if library in _SILENT else library) or NAME,
        "benchmark": _benchmark(first, name),
        "model": text(model.get("id")) or text(model.get("name")),
        "variant": "",
        "metric": metric,
        "labels": dict(list(known.items())[:_MOST_LABELS]),
        **about,
        **protocol,
        **_body(list(_parameters(first)), cells, held),
    }
    edition = text(file.get("evaluation_timestamp")) or text(file.get("retrieved_timestamp"))
    return ImportedGrid(sent, tuple(dict.fromkeys(notes)), edition=edition)


def _body(axes: Sequence[str], cells: Mapping[tuple[Any, ...], Any], held: Mapping[str, Any]) -> dict[str, Any]:
    """Axes and cells, with what a registry held of them if it still fits."""
    known = held.get("axes", [])
    levels = [[one["label"] if isinstance(one, Mapping) else one for one in axis["levels"]] for axis in known]
    kept = {name: one for name, one in held.items() if name not in ("metric", "axes", "reasons")}
    if [axis["name"] for axis in known] != list(axes) or not cells.keys() <= set(itertools.product(*levels)):
        return over(axes, cells) | kept
    names = {name for cell in cells.values() for name in cell}

    def nested(name: str, at: tuple[Any, ...] = ()) -> Any:
        if len(at) == len(levels):
            return cells.get(at, {}).get(name)
        return [nested(name, (*at, one)) for one in levels[len(at)]]

    body = {"axes": known} | {{"value": "values"}.get(name, name): nested(name) for name in names}
    if not axes and "trials" in names and not held:
        body["questions"] = body["trials"]
    return body | kept | {name: one for name, one in held.items() if name == "reasons"}


def _metric(name: str, config: Mapping[str, Any]) -> dict[str, Any]:
    unit, bounds = text(config.get("metric_unit")), (number(config.get("min_score")), number(config.get("max_score")))
    if bounds == (None, None):
        bounds = {"percent": (0.0, 100.0), "proportion": (0.0, 1.0)}.get(unit, bounds)
    direction = {True: "lower", False: "higher"}.get(config["lower_is_better"]) if "lower_is_better" in config else None
    shown = {"percent": "%", "proportion": None}.get(unit, unit or None)
    return {"name": name, "direction": direction, "unit": shown, "lower": bounds[0], "upper": bounds[1]}


def _cells(
    results: Sequence[Mapping[str, Any]], metric: Mapping[str, Any], *, own: bool
) -> tuple[dict[tuple[Any, ...], dict[str, Any]], list[Note]]:
    """Cells by their parameters, each with its number `n` of samples; `own` ones are of a registry."""
    cells: dict[tuple[Any, ...], dict[str, Any]] = {}
    notes: list[Note] = []
    for result in results:
        details, parameters = object_in(result, "score_details"), _parameters(result)
        value, n = number(details.get("score")), count(object_in(details, "uncertainty").get("num_samples"))
        cell: dict[str, Any] = {"value": value, "n": n}
        if value is None or (value == -1 and object_in(result, "metric_config").get("has_unknown_level") is True):
            cell["value"] = None
        else:
            counts = {name: count(int(one)) for name, one in object_in(details, "details").items() if own}
            cell |= counts | _error(object_in(details, "uncertainty"), n, notes, repeated="repeats" in counts)
            trials = trials_of(value, cell.get("stderr"), n, metric.get("upper") or 1)
            if not own and trials and is_share(metric):
                cell["trials"] = trials
        at = tuple(
            one if isinstance(one, str) or number(one) is not None else json.dumps(one)
            for one in (parameters[name] for name in _parameters(results[0]))
        )
        if at in cells:
            detail = f"{cells[at]['value']} and {value} are of one evaluation: the last counts"
            notes.append(Note("given_twice", detail))
        cells[at] = cell
    return cells, notes


def _error(given: Mapping[str, Any], n: int | None, notes: list[Note], *, repeated: bool) -> dict[str, float]:
    """The standard error of a cell, and the standard deviation if it is that of its repeats."""
    interval, sd = object_in(given, "confidence_interval"), number(given.get("standard_deviation"))
    stderr, level = number(object_in(given, "standard_error").get("value")), number(interval.get("confidence_level"))
    if repeated and sd is not None:
        return {"sd": sd} | ({} if stderr is None else {"stderr": stderr})
    computed = {
        "confidence_interval": stderr_of(interval.get("lower"), interval.get("upper"), level)
        if level and level < 1
        else None,
        "standard_deviation": sd / math.sqrt(n) if sd is not None and n else None,
    }
    source = next((name for name, one in computed.items() if stderr is None and one is not None), "")
    if source:
        stderr = computed[source]
        notes.append(Note("stderr_computed", f"the standard error was computed from the {source}"))
    notes += left_out([name for name in computed if given.get(name) and name != source], "not read")
    return {} if stderr is None else {"stderr": stderr}
