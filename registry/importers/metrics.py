"""Meaning of common metric names: the better end, and the bounds.

For sources that only name a metric. Everything taken from here is noted as doubtful.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from registry.importers.imported_grid import Note


@dataclass(frozen=True, slots=True)
class Meaning:
    """Direction and bounds of a metric. `share`: a proportion, from 0 to 1 or, as a percentage, to 100."""

    direction: str | None
    share: bool = False
    lower: float | None = None
    upper: float | None = None


_NAMES: dict[str, Meaning] = {
    "accuracy acc acc_norm balanced_accuracy top-1 top-5 top_1_accuracy top_5_accuracy pass@k pass_rate success_rate "
    "exact_match quasi_exact_match prefix_exact_match em f1 f1_score f1_macro f1_micro f1_weighted macro_f1 micro_f1 "
    "precision recall auroc roc_auc auc average_precision map mrr ndcg hit_rate miou iou win_rate coverage": Meaning(
        "higher", share=True
    ),
    "perplexity ppl word_perplexity byte_perplexity bits_per_byte mse rmse mae mape brier brier_score ter fid latency "
    "runtime inference_runtime wer cer error_rate expected_calibration_error ece toxicity": Meaning("lower", lower=0.0),
    "loss error eval_loss val_loss train_loss validation_loss": Meaning("lower"),
    "bleu sacrebleu chrf rouge rouge1 rouge2 rougel rougelsum meteor": Meaning("higher", lower=0.0),
    "bertscore comet reward return elo r2 mcc matthews_correlation pearson pearsonr spearman": Meaning("higher"),
}
_KNOWN = {name: meaning for names, meaning in _NAMES.items() for name in names.split()}

_PART = re.compile(r"^(eval|val|valid|validation|dev|test|train)/")


def meaning_of(name: str) -> Meaning | None:
    """Meaning of a metric; case, spaces, the k of "pass@k" and the part of the data in "eval/loss" have no effect."""
    key = _PART.sub("", re.sub(r"[\s]+", "_", name.strip().casefold()))
    return _KNOWN.get(key) or _KNOWN.get(re.sub(r"(@|_at_)\d+$", "", key)) or _KNOWN.get(re.sub(r"@\d+$", "@k", key))


def explained(metric: dict[str, Any], values: Sequence[float]) -> tuple[dict[str, Any], list[Note]]:
    """The metric completed by the meaning of its name and unit; each addition gives a note.

    A proportion with values above 1 is read as a percentage. Bounds that a value breaks are not taken.
    """
    notes: list[Note] = []
    meaning = meaning_of(str(metric.get("name", "")))
    if meaning is None:
        if metric.get("direction") is None:
            name = metric.get("name")
            what = f'of "{name}" ' if name else ""
            detail = f"whether more or less {what}is better is not known: no peaks and no rankings"
            notes.append(Note("direction_unknown", detail))
        return metric, notes
    filled = dict(metric)
    meanings: list[str] = []
    if meaning.direction is not None and metric.get("direction") is None:
        filled["direction"] = meaning.direction
        meanings.append(f"{meaning.direction} is better")
    if metric.get("lower") is None and metric.get("upper") is None:
        lower, upper = _bounds(meaning, filled, values)
        if _within(values, lower, upper) and (lower, upper) != (None, None):
            filled["lower"], filled["upper"] = lower, upper
            meanings.append(f"from {lower:g}" + ("" if upper is None else f" to {upper:g}"))
            if upper == 100 and not filled.get("unit"):
                filled["unit"] = "%"
                meanings.append("in %")
    if meanings:
        notes.append(Note("metric_read", f'"{metric["name"]}" was read as: {", ".join(meanings)}'))
    return filled, notes


def _bounds(meaning: Meaning, metric: dict[str, Any], values: Sequence[float]) -> tuple[float | None, float | None]:
    if not meaning.share:
        return meaning.lower, meaning.upper
    if not values and metric.get("unit") != "%":
        return None, None  # a share or a percentage: nothing tells
    percent = metric.get("unit") == "%" or max(values, default=0.0) > 1
    return 0.0, 100.0 if percent else 1.0


def _within(values: Sequence[float], lower: float | None, upper: float | None) -> bool:
    return all((lower is None or value >= lower) and (upper is None or value <= upper) for value in values)


def bounded(metric: dict[str, Any], values: Sequence[float]) -> tuple[dict[str, Any], list[Note]]:
    """The metric, without the bounds that a tool gives it if a value lies outside of them."""
    if _within(values, metric.get("lower"), metric.get("upper")):
        return metric, []
    bounds = f"{metric.get('lower')} … {metric.get('upper')}"
    detail = f'"{metric["name"]}" goes beyond its usual bounds {bounds}: they were left out'
    return {**metric, "lower": None, "upper": None}, [Note("bounds_left_out", detail)]
