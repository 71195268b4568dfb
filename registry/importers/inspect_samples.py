"""Samples of Inspect logs: the scores of each sample, the mean over epochs; of `.eval` files from `summaries.json`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from registry.importers.imported_grid import ImportedGrid
from registry.importers.item_outcomes import item_id, outcomes_of

_LETTERS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
"""As Inspect's `value_to_float` reads them: correct, partial, incorrect, no answer."""


def with_items(
    found: ImportedGrid, samples: Sequence[Any], score: Mapping[str, Any], value: float, trials: int | None
) -> ImportedGrid:
    """A grid of one number with the outcomes that it is the mean of, if the log has them."""
    by_item: dict[str, list[float]] = {}
    names = (score.get("name"), score.get("scorer"))
    for sample in samples:
        given = _score(sample, names)
        if given is not None:
            by_item.setdefault(item_id(sample.get("id"), sample.get("target")), []).append(given)
    epochs = {len(scores) for scores in by_item.values()}
    if len(epochs) != 1:
        return found
    name = str(found.submission["benchmark"])
    cell = {"at": {}, "value": value, "trials": trials}
    scores = [(one, sum(given) / len(given)) for one, given in by_item.items()]
    body, note = outcomes_of(name, sorted(scores), cell, found.submission["metric"], epochs.pop())
    return ImportedGrid(
        found.submission,
        (*found.notes, note) if note else found.notes,
        found.place_of,
        found.edition,
        (body,) if body else (),
    )


def _score(sample: Any, names: Sequence[Any]) -> float | None:
    scores = sample.get("scores") if isinstance(sample, Mapping) else None
    if not isinstance(scores, Mapping):
        return None
    given = next((scores[name] for name in names if isinstance(scores.get(name), Mapping)), None)
    value = given.get("value") if given is not None else None
    if isinstance(value, bool):
        return float(value)
    return _LETTERS.get(value) if isinstance(value, str) else value if isinstance(value, (int, float)) else None
