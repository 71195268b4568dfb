"""lm-evaluation-harness, `results_*.json`: version 0.4 and later (`acc,none`), and those before (`acc`).

Benchmark: the task. Model: `model_name`, before 0.4 what `model_args` say is `pretrained`. Variant: the number of
shots, which is another protocol. Metric: the name that the harness gives, with its filter (`exact_match,strict-match`),
unless that is `none`; a filter is another way to read answers. Direction: `higher_is_better` of the file. The tasks of
a group are one grid over the axis `task`, so that a suite of 57 subjects weighs as one benchmark in a ranking; the
aggregate that the harness computes of them goes into an experiment of its own, "lm-evaluation-harness groups", lest it
counted twice. `<metric>_stderr` is kept; `n-samples` are the trials where mean and standard error are those of zeros
and ones, and the label `n` elsewhere. Samples that were logged beside the file are the outcomes of its items.
Protocol: `lm_eval_protocol.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, NamedTuple

from registry.importers.counts import trials_of
from registry.importers.imported_grid import ImportedGrid, Note, Overrides
from registry.importers.lm_eval_protocol import HARNESS, protocol
from registry.importers.lm_eval_samples import Samples
from registry.importers.metrics import bounded, meaning_of
from registry.importers.scores import count, found_number, left_out, listed, mapping, single, text
from registry.importers.source import Source

NAME = "lm-eval"
EXPERIMENT = HARNESS
SHARES = ("acc", "acc_norm", "acc_mutual_info", "acc_bytes", "exact_match", "f1")


_ABOUT = ("alias", "name", "sample_len", "sample_count")
_PRETRAINED = re.compile(r"(?:^|,)\s*(?:pretrained|model|engine)=([^,]+)")


class Score(NamedTuple):
    value: float
    stderr: float | None
    n: int | None


def looks_like(source: Source) -> bool:
    file = source.document
    if not isinstance(file, Mapping) or not isinstance(file.get("results"), Mapping):
        return False
    return bool({"n-shot", "higher_is_better", "versions", "configs"} & file.keys())


def read(source: Source, wanted: Overrides) -> Iterator[ImportedGrid]:
    """One grid for each metric of each task or group."""
    file = mapping(source.json, "")
    results = mapping(file.get("results"), "/results")
    tasks = {name: mapping(given, f"/results/{name}") for name, given in results.items()}
    members = {name: group for group, names in _groups(file).items() for name in names}
    skipped: list[str] = []
    together: dict[tuple[str, str], dict[str, Score]] = {}
    for task, given in tasks.items():
        if task in _all_groups(file):
            continue
        for metric, score in _scores(given, _samples(file, task), skipped):
            if wanted.takes(metric):
                together.setdefault((members.get(task, task), metric), {})[task] = score
    notes = left_out(skipped, "not a number")
    samples = Samples(source)
    for (benchmark, metric), scores in together.items():
        grouped = benchmark in _all_groups(file)
        found = _grid(file, benchmark, metric, scores, grouped=grouped, notes=notes)
        found = samples.added(found, metric, _cells(scores, grouped=grouped))
        yield wanted.applied(_of_run(found, file, list(scores)))
    for group, given in mapping(file.get("groups") or {}, "/groups").items():
        for metric, score in _scores(mapping(given, f"/groups/{group}"), None, skipped):
            if wanted.takes(metric):
                found = _aggregate(file, group, metric, score)
                yield wanted.applied(_of_run(found, file, _groups(file).get(group, [])))


def _of_run(found: ImportedGrid, file: Mapping[str, Any], tasks: Sequence[str]) -> ImportedGrid:
    """The grid of these tasks with what the file says of the whole run."""
    sent = found.submission | protocol(file, found.submission["benchmark"], tasks)
    return replace(found, submission=sent, edition=_edition(file))


def _cells(scores: Mapping[str, Score], *, grouped: bool) -> dict[str, dict[str, Any]]:
    """The cell of each task."""
    return {
        task: {
            "at": {"task": task} if grouped else {},
            "value": one.value,
            "trials": trials_of(one.value, one.stderr, one.n),
        }
        for task, one in scores.items()
    }


def _groups(file: Mapping[str, Any]) -> dict[str, list[str]]:
    """Tasks of each outermost group."""
    given = {name: [text(one) for one in inner] for name, inner in _subtasks(file).items()}
    inside = {one for names in given.values() for one in names}

    def leaves(name: str, seen: frozenset[str]) -> list[str]:
        if name in seen:
            return []
        return [leaf for one in given[name] for leaf in leaves(one, seen | {name})] if name in given else [name]

    return {name: leaves(name, frozenset()) for name in given if name not in inside}


def _all_groups(file: Mapping[str, Any]) -> set[str]:
    return set(_subtasks(file))


def _subtasks(file: Mapping[str, Any]) -> dict[str, Sequence[Any]]:
    """Members of each group that has some."""
    given = mapping(file.get("group_subtasks") or {}, "/group_subtasks")
    return {name: listed(inner, f"/group_subtasks/{name}") for name, inner in given.items() if inner}


def _samples(file: Mapping[str, Any], task: str) -> int | None:
    found = mapping(file.get("n-samples") or {}, "/n-samples").get(task)
    return count(found.get("effective")) if isinstance(found, Mapping) else None


def _scores(given: Mapping[str, Any], n: int | None, skipped: list[str]) -> Iterator[tuple[str, Score]]:
    """Metrics of a task, as `exact_match,strict-match` or, without a filter, `acc`."""
    filtered = any("," in key for key in given)
    for key, value in given.items():
        metric, _, way = key.partition(",")
        if metric.endswith("_stderr") or (not way and (filtered or metric in _ABOUT)):
            continue
        name = metric if way in ("none", "") else key
        number = found_number(value)
        if number is None:
            skipped.append(name)
            continue
        stderr = f"{metric}_stderr,{way}" if way else f"{metric}_stderr"
        yield name, Score(number, found_number(given.get(stderr)), n)


def _metric(file: Mapping[str, Any], task: str, name: str) -> tuple[dict[str, Any], list[Note]]:
    bare = name.partition(",")[0]
    directions = mapping(file.get("higher_is_better") or {}, "/higher_is_better").get(task) or {}
    better = mapping(directions, f"/higher_is_better/{task}").get(bare)
    notes: list[Note] = []
    direction = {True: "higher", False: "lower"}.get(better) if isinstance(better, bool) else None
    if direction is None:
        meaning = meaning_of(bare)
        direction = meaning.direction if meaning else None
        detail = f'the file does not say whether more of "{name}" is better: {direction or "left open"}'
        notes.append(Note("direction_unknown", detail))
    metric: dict[str, Any] = {"name": name, "direction": direction}
    if bare in SHARES:
        metric |= {"lower": 0.0, "upper": 1.0}
    return metric, notes


def _names(file: Mapping[str, Any], task: str, benchmark: str, experiment: str) -> dict[str, str]:
    config = mapping(file.get("config") or {}, "/config")
    shots = mapping(file.get("n-shot") or {}, "/n-shot").get(task, config.get("num_fewshot"))
    model = text(file.get("model_name")) or _pretrained(config.get("model_args")) or text(config.get("model"))
    variant = f"{shots}-shot" if isinstance(shots, int) else ""
    found = {"experiment": experiment, "benchmark": benchmark, "model": model, "variant": variant}
    return {name: given for name, given in found.items() if given or name == "variant"}


def _pretrained(given: Any) -> str:
    """Model that `model_args` names: `pretrained=EleutherAI/pythia-70m,revision=step1000`, or an object."""
    if isinstance(given, Mapping):
        return text(given.get("pretrained"))
    match = _PRETRAINED.search(given) if isinstance(given, str) else None
    return match[1].strip() if match else ""


def _edition(file: Mapping[str, Any]) -> str:
    """Time at which the harness ran, which tells two runs of one protocol apart."""
    date = found_number(file.get("date"))
    try:
        return "" if date is None else datetime.fromtimestamp(date, UTC).isoformat(timespec="seconds")
    except (OverflowError, ValueError, OSError):  # no instant
        return ""


def _labels(file: Mapping[str, Any], task: str, score: Score | None) -> dict[str, str]:
    labels = {
        "lm_eval_version": text(file.get("lm_eval_version")),
        "task_version": text(mapping(file.get("versions") or {}, "/versions").get(task)),
        "git_hash": text(file.get("git_hash")),
    }
    if score is not None and score.n is not None:
        labels["n"] = str(score.n)
    return {name: given for name, given in labels.items() if given}


def _grid(
    file: Mapping[str, Any], benchmark: str, name: str, scores: Mapping[str, Score], *, grouped: bool, notes: list[Note]
) -> ImportedGrid:
    task = next(iter(scores))
    metric, doubtful = _metric(file, task, name)
    names = _names(file, task, benchmark, EXPERIMENT)
    trials = {task: trials_of(one.value, one.stderr, one.n) for task, one in scores.items()}
    if not grouped:
        one = scores[task]
        return single(
            names, metric, one.value, trials=trials[task], stderr=one.stderr,
            labels=_labels(file, task, one), notes=[*notes, *doubtful],
        )  # fmt: skip
    metric, more = bounded(metric, [one.value for one in scores.values()])
    sent: dict[str, Any] = {
        **names,
        "metric": metric,
        "axes": [{"name": "task", "kind": "nominal", "levels": list(scores)}],
        "values": [one.value for one in scores.values()],
        "labels": _labels(file, benchmark, None),
    }
    if any(one.stderr is not None for one in scores.values()):
        sent["stderr"] = [one.stderr for one in scores.values()]
    if any(trials.values()) and metric.get("upper") == 1:
        sent["trials"] = list(trials.values())
    return ImportedGrid(sent, (*notes, *doubtful, *more))


def _aggregate(file: Mapping[str, Any], group: str, name: str, score: Score) -> ImportedGrid:
    metric, doubtful = _metric(file, group, name)
    names = _names(file, group, group, f"{EXPERIMENT} groups")
    return single(names, metric, score.value, stderr=score.stderr, labels=_labels(file, group, score), notes=doubtful)
