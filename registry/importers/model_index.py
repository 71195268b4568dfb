"""Import Hugging Face model cards: the `model-index` in the YAML at the head of a README.md.

Benchmark: the dataset, with its configuration. Model: the entry's name. Variant: empty. Metric: its `type`; where a
dataset has several of one type, followed by the name, the split or the arguments that distinguish them. Axis: none;
each result is a single score. A card tells neither the better end nor whether 79 means per cent: common names are read
(with a note), and a share above 1 as a percentage.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from registry.grids.intake.faults import number
from registry.importers.imported_grid import ImportedGrid, Overrides
from registry.importers.scores import explained, left_out, listed, mapping, single, text
from registry.importers.source import Source, read_yaml

NAME = "model-index"
EXPERIMENT = "model-index"


def looks_like(source: Source) -> bool:
    return source.head.startswith(b"---") and b"\nmodel-index:" in source.head


def read(source: Source, wanted: Overrides) -> Iterator[ImportedGrid]:
    """One grid for each metric of each result."""
    parts = source.text.split("\n---", 1)
    front = read_yaml(parts[0].removeprefix("---"), "The front matter")
    for place, given in enumerate(listed(mapping(front, "").get("model-index"), "/model-index")):
        where = f"/model-index/{place}"
        entry = mapping(given, where)
        results = listed(entry.get("results"), f"{where}/results")
        scores = [one for at, result in enumerate(results) for one in _scores(result, f"{where}/results/{at}")]
        for found in _grids(text(entry.get("name")), scores, wanted):
            yield wanted.applied(found)


@dataclass(frozen=True)
class Score:
    """One metric of one result. `apart` may distinguish it from others of the same dataset and type."""

    benchmark: str
    metric: str
    value: float | None
    apart: tuple[str, ...]
    labels: dict[str, str]


def _scores(given: Any, where: str) -> Iterator[Score]:
    result = mapping(given, where)
    dataset = mapping(result.get("dataset") or {}, f"{where}/dataset")
    config = text(dataset.get("config"))
    benchmark = text(dataset.get("name")) or text(dataset.get("type"))
    benchmark = f"{benchmark} ({config})" if config and config not in benchmark else benchmark
    labels = {f"dataset_{name}": text(dataset.get(name)) for name in ("type", "split", "revision") if dataset.get(name)}
    for one in listed(result.get("metrics"), f"{where}/metrics"):
        metric = mapping(one, f"{where}/metrics")
        kind, name = text(metric.get("type")), text(metric.get("name"))
        about = "" if name.casefold() == kind.casefold() else name
        distinctions = [about, text(dataset.get("split")), text(metric.get("config")), _arguments(metric.get("args")),
                _arguments(dataset.get("args")), text(dataset.get("revision"))]  # fmt: skip
        yield Score(benchmark, kind, number(metric.get("value")), tuple(distinctions), labels)


def _arguments(arguments: Any) -> str:
    return "" if not arguments else json.dumps(arguments, sort_keys=True, default=str)


def _grids(model: str, scores: Sequence[Score], wanted: Overrides) -> Iterator[ImportedGrid]:
    together: dict[tuple[str, str], list[Score]] = {}
    for score in scores:
        together.setdefault((score.benchmark, score.metric), []).append(score)
    skipped = left_out([score.metric for score in scores if score.value is None], "not a number")
    for score in scores:
        if score.value is None or not wanted.takes(score.metric):
            continue
        metric, notes = explained({"name": score.metric}, [score.value])
        metric = {**metric, "name": _name(score, together[score.benchmark, score.metric])}
        names = {"experiment": EXPERIMENT, "model": model, "variant": "", "benchmark": score.benchmark}
        yield single(names, metric, score.value, labels=score.labels, notes=[*notes, *skipped])


def _name(score: Score, others: Sequence[Score]) -> str:
    """`rouge`, or `rouge (Test ROUGE-1)` where another rouge of the same dataset is called otherwise."""
    differs = [place for place in range(len(score.apart)) if len({one.apart[place] for one in others}) > 1]
    enough = next((place for place in differs if len({one.apart[place] for one in others}) == len(others)), None)
    distinctions = [score.apart[place] for place in (differs if enough is None else [enough]) if score.apart[place]]
    return f"{score.metric} ({', '.join(distinctions)})" if distinctions else score.metric
