"""Import lm-evaluation-harness: `results_*.json` of version 0.4 and later (`acc,none`), and of before (`acc`).

Benchmark: the task. Model: `model_name`, or what `model_args` say is `pretrained`. Variant: the number of shots, which
is another protocol. Metric: the name that the harness gives, with its filter (`exact_match,strict-match`), unless that
is `none`; a filter is another way to read answers. Direction: `higher_is_better` of the file. The tasks of a group are
one grid over the axis `task`, so that a suite of 57 subjects weighs as one benchmark in a ranking; the aggregate that
the harness computes of them is left out, lest it counted twice. `<metric>_stderr` is kept; `n-samples` are the trials
where mean and standard error are those of zeros and ones, and the label `n` elsewhere. Samples that were logged beside
the file are the outcomes of its items.

Protocol of a result of lm-evaluation-harness: versions, shots, data, prompts and decoding, as its JSON has them.
`task_hash` is the harness's own digest of the questions, prompts and targets; a chat template is part of the prompts.

Samples of lm-evaluation-harness, `samples_<task>_<time>.jsonl` beside `results_<time>.json` (`--log_samples`). A line
is a document with the metrics of one filter. Items are sorted by `doc_id`, and named by it and `doc_hash`, so that two
runs over the same documents have the same item set, in whatever order they ran.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from registry.grids.intake.faults import number
from registry.importers.imported_grid import ImportedGrid, Note, Overrides
from registry.importers.scores import (
    bounded,
    cluster_of,
    common,
    count,
    item_id,
    left_out,
    listed,
    mapping,
    meaning_of,
    member,
    object_in,
    outcomes_of,
    protocol_of,
    single,
    text,
    trials_of,
)
from registry.importers.source import MOST, Source

NAME = "lm-eval"
EXPERIMENT = "lm-evaluation-harness"
_SHARES = ("acc", "acc_norm", "acc_mutual_info", "acc_bytes", "exact_match", "f1")
_PRETRAINED = re.compile(r"(?:^|,)\s*(?:pretrained|model|engine)=([^,]+)")
_GENERAL = ("git_hash", "chat_template_sha", "system_instruction_sha", "fewshot_as_multiturn")
_OF_MODEL = ("dtype", "load_in_8bit", "load_in_4bit", "quantization", "max_length", "max_model_len", "max_gen_toks",
             "add_bos_token", "enable_thinking")  # fmt: skip
"""Arguments of the model that change how it is asked or computed, and not which model it is."""
_ARGUMENT = re.compile(r"(?:^|,)\s*([^=,]+)=([^,]*)")
_WORDS = {"true": True, "false": False}
_RESULTS = re.compile(r"results_(.+)\.json(?:\.gz)?")


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
    members = {name: group for group, names in _groups(file).items() for name in names}
    skipped: list[str] = []
    together: dict[tuple[str, str], dict[str, Score]] = {}
    for task in results:
        if task in _subtasks(file):
            continue
        for metric, score in _scores(file, task, skipped):
            if wanted.takes(metric):
                together.setdefault((members.get(task, task), metric), {})[task] = score
    notes = left_out(skipped, "not a number")
    samples = Samples(source, wanted.roles.get("cluster"))
    for (benchmark, metric), scores in together.items():
        grouped = benchmark in _subtasks(file)
        found = _grid(file, benchmark, metric, scores, grouped=grouped, notes=notes)
        found = samples.added(found, metric, _cells(scores, grouped=grouped))
        sent = found.submission | protocol(file, found.submission["benchmark"], list(scores))
        yield wanted.applied(replace(found, submission=sent, edition=_edition(file)))


def _cells(scores: Mapping[str, Score], *, grouped: bool) -> dict[str, dict[str, Any]]:
    return {
        task: {
            "at": {"task": task} if grouped else {},
            "value": one.value,
            "trials": trials_of(one.value, one.stderr, one.n),
        }
        for task, one in scores.items()
    }


def _groups(file: Mapping[str, Any]) -> dict[str, list[str]]:
    given = {name: [text(one) for one in inner] for name, inner in _subtasks(file).items()}
    inside = {one for names in given.values() for one in names}

    def leaves(name: str, seen: frozenset[str]) -> list[str]:
        if name in seen:
            return []
        return [leaf for one in given[name] for leaf in leaves(one, seen | {name})] if name in given else [name]

    return {name: leaves(name, frozenset()) for name in given if name not in inside}


def _subtasks(file: Mapping[str, Any]) -> dict[str, Sequence[Any]]:
    given = mapping(file.get("group_subtasks") or {}, "/group_subtasks")
    return {name: listed(inner, f"/group_subtasks/{name}") for name, inner in given.items() if inner}


def _samples(file: Mapping[str, Any], task: str) -> int | None:
    found = mapping(file.get("n-samples") or {}, "/n-samples").get(task)
    return count(found.get("effective")) if isinstance(found, Mapping) else None


def _scores(file: Mapping[str, Any], task: str, skipped: list[str]) -> Iterator[tuple[str, Score]]:
    """Metrics of a task, each behind the filter of its answers (`exact_match,strict-match`) since version 0.4."""
    given = mapping(file["results"][task], f"/results/{task}")
    for key, value in given.items():
        metric, comma, way = key.partition(",")
        if bool(way) != ("configs" in file) or metric.endswith("_stderr"):
            continue
        name = metric if way == "none" else key
        found = number(value)
        if found is None:
            skipped.append(name)
            continue
        yield name, Score(found, number(given.get(f"{metric}_stderr{comma}{way}")), _samples(file, task))


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
    if bare in _SHARES:
        metric |= {"lower": 0.0, "upper": 1.0}
    return metric, notes


def _names(file: Mapping[str, Any], task: str, benchmark: str) -> dict[str, str]:
    config = mapping(file.get("config") or {}, "/config")
    shots = mapping(file.get("n-shot") or {}, "/n-shot").get(task, config.get("num_fewshot"))
    model = text(file.get("model_name")) or _pretrained(config.get("model_args")) or text(config.get("model"))
    variant = f"{shots}-shot" if isinstance(shots, int) else ""
    found = {"experiment": EXPERIMENT, "benchmark": benchmark, "model": model, "variant": variant}
    return {name: given for name, given in found.items() if given or name == "variant"}


def _pretrained(given: Any) -> str:
    """Model that `model_args` names: `pretrained=EleutherAI/pythia-70m,revision=step1000`, or an object."""
    if isinstance(given, Mapping):
        return text(given.get("pretrained"))
    match = _PRETRAINED.search(given) if isinstance(given, str) else None
    return match[1].strip() if match else ""


def _edition(file: Mapping[str, Any]) -> str:
    """Time at which the harness ran, which tells two runs of one protocol apart."""
    date = number(file.get("date"))
    try:
        return "" if date is None else datetime.fromtimestamp(date, UTC).isoformat(timespec="seconds")
    except (OverflowError, ValueError, OSError):  # no instant
        return ""


def _grid(
    file: Mapping[str, Any], benchmark: str, name: str, scores: Mapping[str, Score], *, grouped: bool, notes: list[Note]
) -> ImportedGrid:
    task = next(iter(scores))
    metric, doubtful = _metric(file, task, name)
    names = _names(file, task, benchmark)
    trials = {task: trials_of(one.value, one.stderr, one.n) for task, one in scores.items()}
    if not grouped:
        one = scores[task]
        return single(
            names, metric, one.value, trials=trials[task], stderr=one.stderr,
            labels={"n": str(one.n)} if one.n else {}, notes=[*notes, *doubtful],
        )  # fmt: skip
    metric, more = bounded(metric, [one.value for one in scores.values()])
    sent: dict[str, Any] = {
        **names,
        "metric": metric,
        "axes": [{"name": "task", "kind": "nominal", "levels": list(scores)}],
        "values": [one.value for one in scores.values()],
    }
    if any(one.stderr is not None for one in scores.values()):
        sent["stderr"] = [one.stderr for one in scores.values()]
    if any(trials.values()) and metric.get("upper") == 1:
        sent["trials"] = list(trials.values())
    return ImportedGrid(sent, (*notes, *doubtful, *more))


def protocol(file: Mapping[str, Any], benchmark: str, tasks: Sequence[str]) -> dict[str, Any]:
    """The member `protocol` of a grid about a task, or about a group of these tasks."""
    config = object_in(file, "config")

    def said(name: str) -> Any:
        """Find what a part of the file says of the group itself, else of its tasks."""
        known = object_in(file, name)
        own = known.get(benchmark)
        return common({task: known.get(task) for task in tasks}) if own is None else own

    def of_tasks(name: str) -> Any:
        return common({task: member(object_in(file, "configs").get(task), name) for task in tasks})

    return protocol_of(
        {
            "harness": EXPERIMENT,
            "harness_version": file.get("lm_eval_version"),
            "task_version": said("versions"),
            "shots": config.get("num_fewshot") if (shots := said("n-shot")) is None else shots,
            "dataset": of_tasks("dataset_path"),
            "dataset_name": of_tasks("dataset_name"),
            "dataset_revision": of_tasks("dataset_kwargs.revision"),
            "split": of_tasks("test_split"),
            "task_hash": common({task: object_in(file, "task_hashes").get(task) for task in tasks}),
            "generation_kwargs": of_tasks("generation_kwargs") or config.get("gen_kwargs"),
            "repeats": of_tasks("repeats"),
            "limit": config.get("limit"),
            "fewshot_seed": config.get("fewshot_seed"),
            "backend": config.get("model"),
            **{name: file.get(name) for name in _GENERAL},
            **_arguments(config.get("model_args")),
        }
    )


def _arguments(given: Any) -> dict[str, Any]:
    if isinstance(given, str):
        given = {name: _read_setting(text.strip()) for name, text in _ARGUMENT.findall(given)}
    return {name: given.get(name) for name in _OF_MODEL} if isinstance(given, Mapping) else {}


def _read_setting(text: str) -> Any:
    """A text as the harness itself reads it."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 16 else _WORDS.get(text.lower(), text)


class Samples:
    """Samples of the tasks of one file of results."""

    def __init__(self, source: Source, cluster: str | None) -> None:
        self._cluster = cluster
        match = _RESULTS.fullmatch(source.path.name) if source.path is not None else None
        self._folder: Path | None = source.path.parent if source.path is not None and match else None
        self._stamp = match[1] if match else ""
        self._read: dict[str, list[dict[str, Any]] | Note] = {}

    @cached_property
    def _names(self) -> frozenset[str]:
        return frozenset(path.name for path in self._folder.glob("samples_*.jsonl")) if self._folder else frozenset()

    def added(self, found: ImportedGrid, metric: str, cells: Mapping[str, Mapping[str, Any]]) -> ImportedGrid:
        """The grid with the outcomes of its cells, by task, as far as there are samples of them."""
        items, notes = [], []
        for task, cell in cells.items():
            rows = self._rows(task)
            if isinstance(rows, Note):
                notes.append(rows)
            elif rows:
                body, note = outcomes_of(task, _sample_scores(rows, metric), cell, found.submission["metric"])
                items += [body] if body else []
                notes += [note] if note else []
        return replace(found, items=tuple(items), notes=(*found.notes, *notes))

    def _rows(self, task: str) -> list[dict[str, Any]] | Note:
        """Lines of a task without what was asked and answered; none where no samples were logged."""
        name = f"samples_{task}_{self._stamp}.jsonl"
        if self._folder is None or name not in self._names:
            return []
        if task not in self._read:
            self._read[task] = _read_samples(self._folder / name, self._cluster)
        return self._read[task]


def _read_samples(path: Path, cluster: str | None) -> list[dict[str, Any]] | Note:
    if path.stat().st_size > 8 * MOST:
        return Note("items_left_out", f"{path.name} is too large")
    kept = []
    try:
        with path.open("rb") as file:
            for line in file:
                row = orjson.loads(line)
                short = {name: one for name, one in row.items() if name not in _LONG}
                kept.append(short | {_CLUSTER: cluster_of(row, cluster)})
    except (OSError, ValueError, AttributeError) as error:
        return Note("items_left_out", f"{path.name} cannot be read: {error}")
    return kept


_CLUSTER = "cluster of the item"
_LONG = ("doc", "arguments", "resps", "filtered_resps", "prompt", "logits")


def _sample_scores(rows: list[dict[str, Any]], metric: str) -> list[tuple[str, Any, str | None]]:
    """Ids, scores and clusters of a metric, as `acc` or `exact_match,strict-match`, in the order of the documents."""
    name, _, way = metric.partition(",")
    mine = [row for row in rows if row.get("filter", way or "none") == (way or "none")]
    numbered = [row for row in mine if isinstance(row.get("doc_id"), int)]
    return [
        (item_id(row["doc_id"], row.get("doc_hash", row.get("target"))), row.get(name), row[_CLUSTER])
        for row in sorted(numbered, key=lambda row: int(row["doc_id"]))
    ]
