"""MTEB before 1.11: splits at the top of the file, subsets below them if there are several, kinds of similarity below.

    {"mteb_dataset_name": "STS22", "test": {"en": {"cos_sim": {"pearson": 0.6, "spearman": 0.7}}, "evaluation_time": 9}}

Which of the scores is the main one, such a file mostly does not say; what it holds tells, as MTEB's own reader has it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from registry.importers.imported_grid import Note

_ABOUT = ("dataset_revision", "mteb_dataset_name", "mteb_version", "dataset_version", "evaluation_time")
_NAMES = {"cos_sim": "cosine", "manhattan": "manhattan", "euclidean": "euclidean", "dot": "dot", "max": "max"}
_MAIN = ("cosine_spearman", "ndcg_at_10", "v_measure", "max_ap", "cosine_ap", "map", "accuracy", "f1")
"""Main scores of similarity, retrieval, clustering, pairs, reranking, classification and bitext mining."""


def early_entries(file: Mapping[str, Any]) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Split, subset and scores of each entry; `cos_sim.spearman` becomes `cosine_spearman`, its present name."""
    for split, given in file.items():
        if split in _ABOUT or not isinstance(given, Mapping):
            continue
        subsets = {name: one for name, one in given.items() if isinstance(one, Mapping) and name not in _NAMES}
        for subset, scores in subsets.items():
            yield split, subset, _flat(scores)
        if own := _flat({name: one for name, one in given.items() if name not in subsets}):
            yield split, "default", own


def _flat(scores: Mapping[str, Any]) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in scores.items():
        if isinstance(value, Mapping):
            flat |= {f"{_NAMES.get(name, name)}_{key}": one for key, one in value.items()}
        elif name != "evaluation_time":
            flat[name] = value
    return flat


def with_main_score(scores: Mapping[str, Any]) -> tuple[Mapping[str, Any], list[Note]]:
    """Scores with a `main_score`, and a note that names the score it was read from."""
    main = next((name for name in _MAIN if name in scores), None)
    if main is None or "main_score" in scores:
        return scores, []
    return {**scores, "main_score": scores[main]}, [Note("main_score_read", f'"{main}" was read as the main score')]
