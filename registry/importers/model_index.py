"""Hugging Face model cards: the `model-index` in the YAML at the head of a README.md.

Benchmark: the dataset, with its configuration. Model: the entry's name. Variant: empty. Metric: its `type`; `name` is
for people. Axis: none; each result is a single score. A card does not say which end is better nor whether 79 means per
cent: common names are read (with a note), and a share above 1 as a percentage.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import yaml

from registry.errors import Malformed
from registry.importers.found import Found, Overrides
from registry.importers.metrics import explained
from registry.importers.scores import found_number, left_out, listed, mapping, single, text
from registry.importers.source import Source

NAME = "model-index"
EXPERIMENT = "model-index"


def looks_like(source: Source) -> bool:
    return source.head.startswith(b"---") and b"\nmodel-index:" in source.head


def read(source: Source, wanted: Overrides) -> Iterator[Found]:
    """A grid for each metric of each result."""
    parts = source.text.split("\n---", 1)
    try:
        front = yaml.safe_load(parts[0].removeprefix("---"))
    except yaml.YAMLError as error:
        raise Malformed(f"The front matter is not YAML: {str(error).splitlines()[0]}.") from None
    for place, given in enumerate(listed(mapping(front, "").get("model-index"), "/model-index")):
        where = f"/model-index/{place}"
        entry = mapping(given, where)
        for at, result in enumerate(listed(entry.get("results"), f"{where}/results")):
            for found in _result(text(entry.get("name")), mapping(result, f"{where}/results/{at}"), wanted):
                yield wanted.applied(found)


def _result(model: str, result: Any, wanted: Overrides) -> Iterator[Found]:
    dataset = mapping(result.get("dataset") or {}, "/dataset")
    config = text(dataset.get("config"))
    benchmark = text(dataset.get("name")) or text(dataset.get("type"))
    names = {"experiment": EXPERIMENT, "model": model, "variant": ""}
    names |= {"benchmark": f"{benchmark} ({config})" if config and config not in benchmark else benchmark}
    labels = {f"dataset_{name}": text(dataset.get(name)) for name in ("type", "split", "revision") if dataset.get(name)}
    metrics = [mapping(one, "/metrics") for one in listed(result.get("metrics"), "/metrics")]
    skipped = left_out(
        [text(one.get("type")) for one in metrics if found_number(one.get("value")) is None], "not a number"
    )
    for given in metrics:
        name, value = text(given.get("type")), found_number(given.get("value"))
        if not wanted.takes(name):
            continue
        if value is None:
            continue
        explained_metric, notes = explained({"name": name}, [value])
        yield single(names, explained_metric, value, labels=labels, notes=[*notes, *skipped])
