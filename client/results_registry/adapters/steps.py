"""Metrics by step: what training loops report, as one grid a metric over the axis `Step`."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Mapping
from typing import Any

from results_registry import log_cells
from results_registry.notes import log_once

STEP = {"name": "Step", "kind": "numeric"}
_BOOKKEEPING = ("epoch", "step", "total_flos", "lr", "learning_rate", "grad_norm")
_TIMINGS = ("_runtime", "_per_second", "_time", "_jit_compilation_time")
_MOST_LABELS, _LONGEST_LABEL = 64, 256

Chosen = Mapping[str, str | Mapping[str, Any]] | Iterable[str] | None


class Steps:
    """Logs numbers at steps under one experiment, benchmark, model and variant.

    `metrics` chooses what is logged: names, or a mapping from a reported name to the metric it is
    (`{"eval_accuracy": {"name": "accuracy", "direction": "higher", "lower": 0, "upper": 1}}`). Without it every
    reported number is a metric, except learning rates, timings and counts of epochs.
    """

    def __init__(self, metrics: Chosen, names: Mapping[str, Any], where: Mapping[str, Any]) -> None:
        self._metrics = metrics if metrics is None or isinstance(metrics, Mapping) else {name: name for name in metrics}
        self._names, self._where = dict(names), dict(where)
        self.labels: dict[str, str] = {}

    def log(self, reported: Mapping[str, Any], step: int) -> None:
        """Log what was reported at a step. The caller is the process that speaks for all."""
        for name, value in reported.items():
            metric = self._metric(name, value)
            if metric is not None:
                cell = {"Step": step, "value": value}
                where = {"all_ranks": True} | self._where
                log_cells(cell, metric=metric, axes=[STEP], labels=self.labels, **self._names, **where)

    def _metric(self, name: str, value: Any) -> str | Mapping[str, Any] | None:
        if self._metrics is not None:
            return self._metrics.get(name)
        if name in _BOOKKEEPING or name.endswith(_TIMINGS) or not _is_number(value):
            return None
        return name


def labels_of(parameters: Any) -> dict[str, str]:
    """Hyperparameters as labels, nested ones with dots; says so when there are more than a grid can carry."""
    flat = dict(_flat(parameters if isinstance(parameters, Mapping) else vars(parameters), ""))
    if len(flat) > _MOST_LABELS:
        log_once("labels", f"A grid carries {_MOST_LABELS} labels; {len(flat) - _MOST_LABELS} hyperparameters are not.")
    return {name: text[:_LONGEST_LABEL] for name, text in list(flat.items())[:_MOST_LABELS]}


def _flat(parameters: Mapping[Any, Any], prefix: str) -> Iterable[tuple[str, str]]:
    for name, value in parameters.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}"[:_LONGEST_LABEL], " ".join(str(value).split())


def _is_number(value: Any) -> bool:
    return isinstance(value, numbers.Real) or (getattr(value, "shape", None) == () and hasattr(value, "item"))
