"""Import logs of Inspect, `.eval` and JSON.

Benchmark: the task. Model: `eval.model`. Variant: the scorer, if the log has more than one, for each judges in its own
way, and the arguments that the task was given. Metric: the name of the scorer's metric (`accuracy`, `mean`); `stderr`
belongs to the mean beside it. The samples that were scored are the trials where mean and standard error are those of
zeros and ones, and the label `n` elsewhere. Inspect does not say which end of a metric is better: only `accuracy` is
known to be a share, higher is better. An `.eval` file is a zip archive; newer ones are compressed with Zstandard, which
needs zstandard.

Protocol of a log of Inspect: versions, data, solver, scorer and judge, decoding and limits, as the log has them.

Samples of Inspect logs: the scores of each sample, the mean over epochs; of `.eval` files from `summaries.json`.
"""

import hashlib
import io
import struct
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import IO, Any

from registry.errors import Malformed
from registry.grids.intake.faults import number
from registry.importers.imported_grid import ImportedGrid, Note, Overrides
from registry.importers.scores import (
    cluster_of,
    count,
    item_id,
    known_metric,
    left_out,
    listed,
    mapping,
    object_in,
    outcomes_of,
    protocol_of,
    single,
    text,
    trials_of,
)
from registry.importers.source import Source, read_json

NAME = "inspect"
EXPERIMENT = "inspect"
_ZSTANDARD = 93
_LONG = 100
_MOST = 64 * 1024 * 1024
_DECODING = ("temperature", "top_p", "top_k", "max_tokens", "seed", "num_choices", "reasoning_effort",
             "reasoning_tokens", "system_message")  # fmt: skip
_LIMITS = ("epochs", "epochs_reducer", "limit", "message_limit", "token_limit", "time_limit", "working_limit")
_LETTERS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
"""As Inspect's `value_to_float` reads them: correct, partial, incorrect, no answer."""


def looks_like(source: Source) -> bool:
    if source.head.startswith(b"PK\x03\x04"):
        return any(name in ("header.json", "_journal/start.json") for name in _entries(source))
    file = source.document
    return isinstance(file, Mapping) and "status" in file and isinstance(file.get("eval"), Mapping)


def read(source: Source, wanted: Overrides) -> Iterator[ImportedGrid]:
    """One grid for each metric of each scorer."""
    zipped = source.head.startswith(b"PK")
    if (log := _entry(source, "header.json") if zipped else mapping(source.json, "")) is None:
        raise Malformed("The log has no header: its run did not end.")
    run = mapping(log.get("eval"), "/eval")
    if log.get("status") != "success" or not isinstance(log.get("results"), Mapping):
        raise Malformed(f'The log has no results: its status is "{text(log.get("status"))}".')
    scores = listed(log["results"].get("scores"), "/results/scores")
    samples = _entry(source, "summaries.json") if zipped else log.get("samples")
    samples = samples if isinstance(samples, list) else []
    for score in scores:
        yield from (
            wanted.applied(replace(found, submission=found.submission | protocol(log, score)))
            for found in _score(run, mapping(score, "/results/scores"), len(scores), wanted, samples)
        )


def _score(
    run: Mapping[str, Any], score: Mapping[str, Any], many: int, wanted: Overrides, samples: Sequence[Any]
) -> Iterator[ImportedGrid]:
    metrics = mapping(score.get("metrics"), "/results/scores/metrics")
    values = {name: number(one.get("value")) for name, one in metrics.items() if isinstance(one, Mapping)}
    stderr = values.get("stderr")
    names = {
        "experiment": EXPERIMENT,
        "benchmark": text(run.get("task")),
        "model": text(run.get("model")),
        "variant": " ".join(([text(score.get("name"))] if many > 1 else []) + _arguments(run)),
    }
    n = count(score.get("scored_samples"))
    labels = {"run_id": text(run.get("run_id")), "n": str(n or "")}
    labels = {name: given for name, given in labels.items() if given}
    skipped = [name for name, value in values.items() if value is None]
    for name, value in values.items():
        if value is None or name == "stderr" or not wanted.takes(name):
            continue
        metric, notes = known_metric(name)
        own = stderr if name in ("accuracy", "mean") else None
        if own is None and stderr is not None:
            notes.append(Note("stderr_left_out", f'the log does not say that its stderr is that of "{name}"'))
        trials = trials_of(value, own, n)
        found = single(
            names, metric, value, trials=trials, stderr=own, labels=labels,
            notes=[*notes, *left_out(skipped, "not a number")],
        )  # fmt: skip
        if samples and name in ("accuracy", "mean"):
            found = with_items(found, samples, score, value, wanted.roles.get("cluster"))
        yield replace(found, edition=text(run.get("created")) or text(run.get("run_id")))


def _arguments(run: Mapping[str, Any]) -> list[str]:
    given = run.get("task_args_passed", run.get("task_args"))
    arguments = (
        " ".join(f"{name}={value}" for name, value in sorted(given.items())) if isinstance(given, Mapping) else ""
    )
    if len(arguments) > _LONG:
        arguments = f"{arguments[:_LONG]}… {hashlib.sha256(arguments.encode()).hexdigest()[:8]}"
    return [arguments] if arguments else []


def _entries(source: Source) -> list[str]:
    try:
        with _opened(source) as file, zipfile.ZipFile(file) as archive:
            return archive.namelist()
    except (zipfile.BadZipFile, NotImplementedError, struct.error):
        return []


def _opened(source: Source) -> IO[bytes]:
    """The archive, which may be larger than the part that is read."""
    return source.path.open("rb") if source.path is not None else io.BytesIO(source.content)


def _entry(source: Source, name: str) -> Any:
    try:
        with _opened(source) as file, zipfile.ZipFile(file) as archive:
            if name not in archive.namelist():
                return None
            entry = archive.getinfo(name)
            if entry.file_size > _MOST:
                raise Malformed(f"The log's {name} is too large.")
            plain = entry.compress_type != _ZSTANDARD
            content = archive.read(entry) if plain else _inflated(file, entry)
    # NotImplementedError is how zipfile refuses a way of packing that it does not know.
    except (zipfile.BadZipFile, NotImplementedError, struct.error) as error:
        raise Malformed(f"The log is not a zip archive that can be read: {error}.") from None
    return read_json(content, f"The log's {name}")


def _inflated(file: IO[bytes], entry: zipfile.ZipInfo) -> bytes:
    try:
        import zstandard
    except ImportError:
        hint = "pip install zstandard, or write JSON with `inspect log convert --to json`"
        raise Malformed(f"The log is compressed with Zstandard: {hint}.") from None
    file.seek(entry.header_offset + 26)
    name, extra = struct.unpack("<HH", file.read(4))
    file.seek(name + extra, io.SEEK_CUR)
    packed = file.read(entry.compress_size)
    try:
        return bytes(zstandard.ZstdDecompressor().decompress(packed, max_output_size=_MOST))
    except zstandard.ZstdError as error:
        raise Malformed(f"The log is damaged: {error}.") from None


def protocol(log: Mapping[str, Any], score: Mapping[str, Any]) -> dict[str, Any]:
    """The member `protocol` of the grids of one scorer."""
    run, plan = object_in(log, "eval"), object_in(log, "plan")
    packages, data, revision = (object_in(run, name) for name in ("packages", "dataset", "revision"))
    config = object_in(run, "config")
    decoding = {**object_in(run, "model_generate_config"), **object_in(plan, "config")}
    params = object_in(score, "params")
    return protocol_of(
        {
            "harness": "inspect",
            "harness_version": packages.get("inspect_ai"),
            "task_version": run.get("task_version"),
            "task_args": run.get("task_args"),
            "git_hash": revision.get("commit"),
            "git_dirty": revision.get("dirty"),
            "dataset": data.get("name"),
            "dataset_samples": data.get("samples"),
            "dataset_shuffled": data.get("shuffled"),
            **_solver(run, plan),
            "scorer": score.get("scorer"),
            "scorer_params": params,
            "judge": params.get("model") or object_in(object_in(run, "model_roles"), "grader").get("model"),
            **{name: decoding.get(name) for name in _DECODING},
            **{name: config.get(name) for name in _LIMITS},
            **{f"{name}_version": version for name, version in packages.items() if name != "inspect_ai"},
        }
    )


def _solver(run: Mapping[str, Any], plan: Mapping[str, Any]) -> dict[str, Any]:
    """The solver by its name, or the chain of those of the plan, with their arguments, prompts among them."""
    steps = plan.get("steps")
    known = [step for step in steps if isinstance(step, Mapping)] if isinstance(steps, list) else []
    chain = [str(step.get("solver")) for step in known if step.get("solver")]
    params = [step.get("params") or {} for step in known]
    return {
        "solver": run.get("solver") or " > ".join(chain),
        "solver_params": run.get("solver_args") or (params if any(params) else None),
    }


def with_items(
    found: ImportedGrid, samples: Sequence[Any], score: Mapping[str, Any], value: float, cluster: str | None
) -> ImportedGrid:
    """A grid of one number with the outcomes that it is the mean of, if the log has them."""
    by_item: dict[str, list[float]] = {}
    clusters: dict[str, str | None] = {}
    names = (score.get("name"), score.get("scorer"))
    for sample in samples:
        given = _sample_score(sample, names)
        if given is not None:
            own = item_id(sample.get("id"), sample.get("target"))
            by_item.setdefault(own, []).append(given)
            clusters[own] = cluster_of(sample, cluster)
    epochs = {len(scores) for scores in by_item.values()}
    if len(epochs) != 1:
        return found
    name = str(found.submission["benchmark"])
    cell: dict[str, Any] = {"at": {}, "value": value, "trials": found.submission.get("trials")}
    scores = [(one, sum(given) / len(given), clusters[one]) for one, given in by_item.items()]
    body, note = outcomes_of(name, sorted(scores), cell, found.submission["metric"], epochs.pop())
    notes = (*found.notes, note) if note else found.notes
    return replace(found, notes=notes, items=(body,) if body else ())


def _sample_score(sample: Any, names: Sequence[Any]) -> float | None:
    scores = sample.get("scores") if isinstance(sample, Mapping) else None
    if not isinstance(scores, Mapping):
        return None
    given = next((scores[name] for name in names if isinstance(scores.get(name), Mapping)), None)
    value = given.get("value") if given is not None else None
    if isinstance(value, bool):
        return float(value)
    return _LETTERS.get(value) if isinstance(value, str) else value if isinstance(value, (int, float)) else None
