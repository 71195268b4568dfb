"""Inspect, `.eval` and JSON logs.

Benchmark: the task. Model: `eval.model`. Variant: the scorer, if the log has more than one, for each judges in its own
way. Metric: the name of the scorer's metric (`accuracy`, `mean`); `stderr` belongs to the mean beside it. The samples
that were scored are the trials where mean and standard error are those of zeros and ones, and the label `n` elsewhere.
Inspect does not say which end of a metric is better: only `accuracy` is known to be a share, higher is better.
An `.eval` file is a zip archive; newer ones are compressed with Zstandard, which needs `results-registry[inspect]`.
"""

from __future__ import annotations

import io
import json
import struct
import zipfile
from collections.abc import Iterator, Mapping
from typing import Any

from registry.errors import Malformed
from registry.importers.counts import are_trials
from registry.importers.found import Found, Note, Overrides
from registry.importers.scores import count, found_number, known_metric, left_out, listed, mapping, single, text
from registry.importers.source import Source

NAME = "inspect"
EXPERIMENT = "inspect"
_ZSTANDARD = 93
_MOST = 64 * 1024 * 1024


def looks_like(source: Source) -> bool:
    if source.head.startswith(b"PK\x03\x04"):
        return b"_journal/start.json" in source.head or b"header.json" in source.content[-65536:]
    return b'"eval"' in source.head and b'"task"' in source.head and b'"status"' in source.head


def read(source: Source, wanted: Overrides) -> Iterator[Found]:
    """A grid for each metric of each scorer."""
    log = mapping(_header(source) if source.head.startswith(b"PK") else source.json, "")
    run = mapping(log.get("eval"), "/eval")
    if log.get("status") != "success" or not isinstance(log.get("results"), Mapping):
        raise Malformed(f'The log has no results: its status is "{text(log.get("status"))}".')
    scores = listed(log["results"].get("scores"), "/results/scores")
    for score in scores:
        yield from (
            wanted.applied(found) for found in _score(run, mapping(score, "/results/scores"), len(scores), wanted)
        )


def _score(run: Mapping[str, Any], score: Mapping[str, Any], many: int, wanted: Overrides) -> Iterator[Found]:
    metrics = mapping(score.get("metrics"), "/results/scores/metrics")
    values = {name: found_number(one.get("value")) for name, one in metrics.items() if isinstance(one, Mapping)}
    stderr = values.get("stderr")
    names = {
        "experiment": EXPERIMENT,
        "benchmark": text(run.get("task")),
        "model": text(run.get("model")),
        "variant": text(score.get("name")) if many > 1 else "",
    }
    n = count(score.get("scored_samples"))
    labels = {
        "task_version": text(run.get("task_version")),
        "inspect_version": _version(run),
        "run_id": text(run.get("run_id")),
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
        trials = n if are_trials(value, own, n) else None
        yield single(
            names, metric, value, trials=trials, stderr=own, labels=labels,
            notes=[*notes, *left_out(skipped, "not a number")],
        )  # fmt: skip


def _version(run: Mapping[str, Any]) -> str:
    packages = run.get("packages")
    return text(packages.get("inspect_ai")) if isinstance(packages, Mapping) else ""


def _header(source: Source) -> Any:
    """The log without its samples, out of the archive."""
    try:
        with zipfile.ZipFile(io.BytesIO(source.content)) as archive:
            entry = archive.getinfo("header.json")
            if entry.file_size > _MOST:
                raise Malformed("The log's header is too large.")
            plain = entry.compress_type != _ZSTANDARD
            content = archive.read(entry) if plain else _inflated(source.content, entry)
    except KeyError:
        raise Malformed("The log has no header: its run did not end.") from None
    # NotImplementedError is how zipfile refuses a way of packing that it does not know.
    except (zipfile.BadZipFile, NotImplementedError, struct.error) as error:
        raise Malformed(f"The log is not a zip archive that can be read: {error}.") from None
    return json.loads(content)


def _inflated(content: bytes, entry: zipfile.ZipInfo) -> bytes:
    try:
        import zstandard
    except ImportError:
        hint = "install results-registry[inspect], or write JSON with `inspect log convert --to json`"
        raise Malformed(f"The log is compressed with Zstandard: {hint}.") from None
    at = entry.header_offset
    name, extra = struct.unpack("<HH", content[at + 26 : at + 30])
    packed = content[at + 30 + name + extra :][: entry.compress_size]
    try:
        return bytes(zstandard.ZstdDecompressor().decompress(packed, max_output_size=_MOST))
    except zstandard.ZstdError as error:
        raise Malformed(f"The log is damaged: {error}.") from None
