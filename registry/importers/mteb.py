"""Import MTEB since 1.11, one JSON a task.

Benchmark: the task. Model: the `model_meta.json` beside the file, else the folder two above it, where MTEB writes
`<model>/<revision>/<task>.json`. Axes: `split` and `subset`, always both, so that one language is never compared with
another, nor a test with a training set. Metric: `main_score`, which MTEB defines for every task so that higher is
better, and does not bound; other scores with `--only`. Protocol: the versions of the file, and what `model_meta.json`
says of how texts are compared and instructions given.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from registry.errors import Malformed
from registry.grids.intake.faults import number
from registry.importers.imported_grid import ImportedGrid, Note, Overrides
from registry.importers.scores import listed, mapping, over, protocol_of, text, unknown_direction
from registry.importers.source import Source

NAME = "mteb"
EXPERIMENT = "mteb"
_NO_REVISION = ("no_revision_available", "external")
_OF_MODEL = ("similarity_fn_name", "use_instructions", "experiment_kwargs")


def looks_like(source: Source) -> bool:
    file = source.document
    if not isinstance(file, Mapping):
        return False
    return "task_name" in file and isinstance(file.get("scores"), Mapping)


def read(source: Source, wanted: Overrides) -> Iterator[ImportedGrid]:
    """One grid for each wanted metric."""
    file = mapping(source.json, "")
    model, edition, notes = _model(source)
    names = {"experiment": EXPERIMENT, "benchmark": text(file.get("task_name")), "variant": ""}
    names |= {"model": model} if model else {}
    protocol = _protocol(file, source.beside("model_meta.json"))
    values: dict[str, dict[tuple[str, ...], float]] = {}
    skipped: list[str] = []
    for split, subset, entry in _entries(file):
        for metric, value in entry.items():
            found = number(value)
            if found is None:
                continue
            if wanted.takes(metric, metric == "main_score"):
                before = values.setdefault(metric, {}).get((split, subset))
                if before is not None:
                    both = f"first {before:.17g}, then {found:.17g}, which counts"
                    notes.append(Note("given_twice", f'"{metric}" at {split}, {subset} is given twice: {both}'))
                values[metric][split, subset] = found
            else:
                skipped.append(metric)
    if not values:
        wanted_names = " or ".join(wanted.only) or "main_score"
        there = f"; there are {', '.join(dict.fromkeys(skipped))} (--only NAME or '*')" if skipped else ""
        raise Malformed(f"No entry has the number {wanted_names}{there}.")
    for metric, cells in values.items():
        better = {"direction": "higher"} if metric == "main_score" else {}
        direction_note = [] if better else [unknown_direction(metric)]
        sent = {**names, "metric": {"name": metric, **better}, **over(("split", "subset"), cells), **protocol}
        yield wanted.applied(ImportedGrid(sent, (*notes, *direction_note), edition=edition))


def _entries(file: Mapping[str, Any]) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    for split, entries in mapping(file.get("scores"), "/scores").items():
        for place, given in enumerate(listed(entries, f"/scores/{split}")):
            entry = mapping(given, f"/scores/{split}/{place}")
            yield split, text(entry.get("hf_subset"), "default"), entry


def _model(source: Source) -> tuple[str | None, str, list[Note]]:
    meta = source.beside("model_meta.json")
    described = mapping(meta.json, "") if meta is not None else {}
    folders = list(source.folders())
    edition = text(described.get("revision")) or next(iter(folders), "")
    if text(described.get("name")):
        return text(described.get("name")), edition, []
    if len(folders) > 2 and ("__" in folders[1] or folders[0] in _NO_REVISION):
        model = folders[1].replace("__", "/", 1)
        return model, edition, [Note("identity_read", f'the folder "{folders[1]}" was read as the model "{model}"')]
    return None, "", []


def _protocol(file: Mapping[str, Any], meta: Source | None) -> dict[str, Any]:
    described = mapping(meta.json, "") if meta is not None else {}
    versions = {name: file.get(name) for name in ("mteb_version", "dataset_revision", "dataset_version")}
    said = {name: None if given == "None" else given for name, given in versions.items()}
    return protocol_of(
        {
            "harness": NAME,
            "harness_version": said.pop("mteb_version"),
            **said,
            **{name: described.get(name) for name in _OF_MODEL},
        }
    )
