"""Inspect, `.eval` and JSON logs.

Benchmark: the task. Model: `eval.model`. Variant: the scorer, if the log has more than one, for each judges in its own
way, and the arguments that the task was given. Metric: the name of the scorer's metric (`accuracy`, `mean`); `stderr`
belongs to the mean beside it. The samples that were scored are the trials where mean and standard error are those of
zeros and ones, and the label `n` elsewhere. Inspect does not say which end of a metric is better: only `accuracy` is
known to be a share, higher is better. An `.eval` file is a zip archive; newer ones are compressed with Zstandard, which
needs zstandard. Protocol: `inspect_protocol.py`.
"""

from __future__ import annotations

import hashlib
import io
import struct
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import IO, Any

from registry.errors import Malformed
from registry.importers.counts import trials_of
from registry.importers.imported_grid import ImportedGrid, Note, Overrides
from registry.importers.inspect_protocol import protocol
from registry.importers.inspect_samples import with_items
from registry.importers.scores import count, found_number, known_metric, left_out, listed, mapping, single, text
from registry.importers.source import Source, read_json

NAME = "inspect"
EXPERIMENT = "inspect"
_ZSTANDARD = 93
_LONG = 100
_MOST = 64 * 1024 * 1024


def looks_like(source: Source) -> bool:
    if source.head.startswith(b"PK\x03\x04"):
        return any(name in ("header.json", "_journal/start.json") for name in _entries(source))
    file = source.document
    return isinstance(file, Mapping) and "status" in file and isinstance(file.get("eval"), Mapping)


def read(source: Source, wanted: Overrides) -> Iterator[ImportedGrid]:
    """One grid for each metric of each scorer."""
    zipped = source.head.startswith(b"PK")
    log = mapping(_header(source) if zipped else source.json, "")
    run = mapping(log.get("eval"), "/eval")
    if log.get("status") != "success" or not isinstance(log.get("results"), Mapping):
        raise Malformed(f'The log has no results: its status is "{text(log.get("status"))}".')
    scores = listed(log["results"].get("scores"), "/results/scores")
    samples = _summaries(source) if zipped else log.get("samples")
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
    values = {name: found_number(one.get("value")) for name, one in metrics.items() if isinstance(one, Mapping)}
    stderr = values.get("stderr")
    names = {
        "experiment": EXPERIMENT,
        "benchmark": text(run.get("task")),
        "model": text(run.get("model")),
        "variant": " ".join(([text(score.get("name"))] if many > 1 else []) + _arguments(run)),
    }
    n = count(score.get("scored_samples"))
    labels = {
        "task_version": text(run.get("task_version")),
        "inspect_version": _version(run),
        "run_id": text(run.get("run_id")),
        "epochs": _epochs(run),
    }
    labels = {name: given for name, given in labels.items() if given} | ({"n": str(n)} if n else {})
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
            found = with_items(found, samples, score, value, found.submission.get("trials"))
        yield replace(found, edition=text(run.get("created")) or text(run.get("run_id")))


def _arguments(run: Mapping[str, Any]) -> list[str]:
    """Arguments of the task, which make another protocol."""
    given = run.get("task_args_passed", run.get("task_args"))
    arguments = (
        " ".join(f"{name}={value}" for name, value in sorted(given.items())) if isinstance(given, Mapping) else ""
    )
    if len(arguments) > _LONG:
        arguments = f"{arguments[:_LONG]}… {hashlib.sha256(arguments.encode()).hexdigest()[:8]}"
    return [arguments] if arguments else []


def _epochs(run: Mapping[str, Any]) -> str:
    """Number of epochs, if more than one."""
    config = run.get("config")
    epochs = count(config.get("epochs")) if isinstance(config, Mapping) else None
    return str(epochs) if epochs is not None and epochs > 1 else ""


def _version(run: Mapping[str, Any]) -> str:
    packages = run.get("packages")
    return text(packages.get("inspect_ai")) if isinstance(packages, Mapping) else ""


def _entries(source: Source) -> list[str]:
    """Names in a zip archive; none if it is broken."""
    try:
        with _opened(source) as file, zipfile.ZipFile(file) as archive:
            return archive.namelist()
    except (zipfile.BadZipFile, NotImplementedError, struct.error):
        return []


def _opened(source: Source) -> IO[bytes]:
    """The archive, which may be larger than the part that is read."""
    return source.path.open("rb") if source.path is not None else io.BytesIO(source.content)


def _header(source: Source) -> Any:
    """The log without its samples, from the archive."""
    try:
        return _entry(source, "header.json")
    except KeyError:
        raise Malformed("The log has no header: its run did not end.") from None


def _summaries(source: Source) -> Any:
    """What the log says of each sample in short; None where it does not."""
    try:
        return _entry(source, "summaries.json")
    except KeyError:
        return None


def _entry(source: Source, name: str) -> Any:
    """JSON of a file in the archive; `KeyError` if there is none of the name."""
    try:
        with _opened(source) as file, zipfile.ZipFile(file) as archive:
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
