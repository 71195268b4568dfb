"""MTEB, one JSON a task.

Benchmark: the task. Model: the `model_meta.json` beside the file, else the folder two above it, where MTEB writes
`<model>/<revision>/<task>.json`. Axes: `split` and `subset`, each only if there are several. Metric: `main_score`,
which MTEB defines for every task so that higher is better, and does not bound; other scores with `--only`.
"""

from __future__ import annotations

from collections.abc import Iterator

from registry.importers.found import Found, Note, Overrides
from registry.importers.scores import found_number, left_out, listed, mapping, over, text, unknown_direction
from registry.importers.source import Source

NAME = "mteb"
EXPERIMENT = "mteb"


def looks_like(source: Source) -> bool:
    return b'"scores"' in source.head and b'"task_name"' in source.head and b"main_score" in source.content


def read(source: Source, wanted: Overrides) -> Iterator[Found]:
    """A grid for each metric that is wanted."""
    file = mapping(source.json, "")
    scores = mapping(file.get("scores"), "/scores")
    model, notes = _model(source)
    names = {"experiment": EXPERIMENT, "benchmark": text(file.get("task_name")), "variant": ""}
    names |= {"model": model} if model else {}
    labels = {name: text(file.get(name)) for name in ("mteb_version", "dataset_revision") if file.get(name)}
    values: dict[str, dict[tuple[str, ...], float]] = {}
    skipped: list[str] = []
    for split, entries in scores.items():
        for place, given in enumerate(listed(entries, f"/scores/{split}")):
            entry = mapping(given, f"/scores/{split}/{place}")
            for metric, value in entry.items():
                number = found_number(value)
                if number is None:
                    continue
                if wanted.takes(metric, metric == "main_score"):
                    values.setdefault(metric, {})[split, text(entry.get("hf_subset"), "default")] = number
                else:
                    skipped.append(metric)
    notes += left_out(skipped, "not taken; --only NAME or '*' does")
    for metric, cells in values.items():
        better = {"direction": "higher"} if metric == "main_score" else {}
        doubt = [] if better else [unknown_direction(metric)]
        sent = {**names, "metric": {"name": metric, **better}, **over(("split", "subset"), cells), "labels": labels}
        yield wanted.applied(Found(sent, (*notes, *doubt)))


def _model(source: Source) -> tuple[str | None, list[Note]]:
    meta = source.beside("model_meta.json")
    name = mapping(meta.json, "").get("name") if meta is not None else None
    if isinstance(name, str) and name:
        return name, []
    folders = list(source.folders())
    if len(folders) > 2 and "__" in folders[1]:
        model = folders[1].replace("__", "/", 1)
        return model, [Note("identity_read", f'the folder "{folders[1]}" was read as the model "{model}"')]
    return None, []
