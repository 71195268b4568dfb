"""Parts that importers of evaluation logs share: scores, trials, outcomes of items, protocols, what metric names mean.

Recognise a mean that is the share of successes in n trials, by its standard error. The sample standard error (ddof 1)
of n zeros and ones with mean p is sqrt(p (1 - p) / (n - 1)), and p n is whole. A mean that agrees with both to a
millionth is taken for a share; of any other, only the standard error is kept. A standard error of exactly 0 beside a
mean between 0 and 1 was never computed: then the n are handed on, because a mean of scores from 0 to 1 varies at most
as much as a share of n trials.

Outcomes of items as importers find them: the body of `POST /grids/{grid}/items` for one cell, if they fit it.

What a file says of how its values were measured, in the form of a protocol. Only what the file holds: a key that it
lacks, and one whose value is null or empty, is absent.

Meaning of common metric names: the better end, and the bounds.

For sources that only name a metric. Everything taken from here is noted as doubtful.
"""

import hashlib
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

from registry.errors import Fault, Invalid
from registry.grids.grid import Cell, Metric
from registry.grids.intake.faults import number
from registry.grids.intake.members import MOST_KEYS, key_fault, key_of, value_of
from registry.grids.outcomes import Outcomes, disagreement, scale_of
from registry.grids.protocol import Value
from registry.importers.imported_grid import ImportedGrid, Note

_CLOSE = 1e-6
MOST_IN_ID = 200


def single(
    names: Mapping[str, str],
    metric: Mapping[str, Any],
    value: float,
    *,
    trials: int | None = None,
    stderr: float | None = None,
    labels: Mapping[str, str] | None = None,
    notes: Sequence[Note] = (),
) -> ImportedGrid:
    """A grid without axes. Trials are kept only where the metric is a proportion; each answers its own question."""
    checked, more = bounded(dict(metric), [value])
    sent: dict[str, Any] = {**names, "metric": checked, "axes": [], "values": value, "labels": dict(labels or {})}
    if trials is not None and is_share(checked):
        sent["trials"] = sent["questions"] = trials
    if stderr is not None:
        sent["stderr"] = stderr
    return ImportedGrid(sent, (*notes, *more))


def is_share(metric: Mapping[str, Any]) -> bool:
    """Tell whether a metric is a share of trials, by its bounds."""
    return metric.get("lower") == 0 and metric.get("upper") in (1, 100)


def known_metric(name: str) -> tuple[dict[str, Any], list[Note]]:
    """A metric as its name explains it, as a fraction where it is a share; noted, because the source does not tell."""
    meaning = meaning_of(name)
    if meaning is None:
        return {"name": name}, [unknown_direction(name)]
    metric: dict[str, Any] = {"name": name, "direction": meaning.direction}
    metric |= {"lower": 0.0, "upper": 1.0} if meaning.share else {"lower": meaning.lower, "upper": meaning.upper}
    return metric, [Note("metric_read", f'"{name}" was read as: {meaning.direction} is better')]


def object_in(given: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """The object under a name; an empty one where there is none."""
    found = given.get(name)
    return found if isinstance(found, Mapping) else {}


def mapping(value: Any, where: str) -> Mapping[str, Any]:
    """An object of the source; `Invalid` with the place if it is none."""
    if not isinstance(value, Mapping):
        raise Invalid([Fault(where, "is not an object")])
    return value


def listed(value: Any, where: str) -> Sequence[Any]:
    """A list of the source; `Invalid` with the place if it is none."""
    if not isinstance(value, list):
        raise Invalid([Fault(where, "is not a list")])
    return value


def text(value: Any, default: str = "") -> str:
    """The value as text; the default for null alone."""
    return value if isinstance(value, str) else default if value is None else str(value)


def count(value: Any) -> int | None:
    """A positive whole number, also as 300.0; None for anything else."""
    found = number(value)
    return int(found) if found is not None and found == int(found) and found > 0 else None


def left_out(names: Sequence[str], why: str) -> list[Note]:
    """One note for metrics that are not taken, with their names."""
    if not names:
        return []
    distinct = list(dict.fromkeys(names))
    shown = ", ".join(distinct[:8]) + (f" and {len(distinct) - 8} more" if len(distinct) > 8 else "")
    return [Note("left_out", f"{why}: {shown}")]


def over(names: Sequence[str], cells: Mapping[tuple[Any, ...], Any]) -> dict[str, Any]:
    """Values at coordinates, or objects that are cells without their `at`, over all of the names.

    An axis stays even if it has one level: two files often differ in just that level, and files with more levels share
    those that both have. An axis of numbers is numeric, any other nominal.
    """
    levels = [list(dict.fromkeys(key[place] for key in cells)) for place in range(len(names))]
    axes = [
        {"name": name, "kind": "numeric" if None not in map(number, found) else "nominal", "levels": found}
        for name, found in zip(names, levels, strict=True)
    ]
    bodies = {key: one if isinstance(one, Mapping) else {"value": one} for key, one in cells.items()}
    return {"axes": axes, "cells": [{"at": dict(zip(names, key, strict=True)), **one} for key, one in bodies.items()]}


def stderr_of(lower: Any, upper: Any, level: float) -> float | None:
    """The standard error behind an interval at a level of confidence, as if it were that of a normal distribution; None
    without two finite ends."""
    ends = number(lower), number(upper)
    return None if None in ends else (ends[1] - ends[0]) / 2 / NormalDist().inv_cdf((1 + level) / 2)  # type: ignore[operator]


def unknown_direction(name: str) -> Note:
    return Note("direction_unknown", f'whether more or less of "{name}" is better is not known')


def trials_of(mean: float, stderr: float | None, n: int | None, scale: float = 1.0) -> int | None:
    """The n that are handed on as trials; None where the standard error tells more, or there is none."""
    never_computed = stderr == 0 and 0 < mean < scale
    return n if never_computed or are_trials(mean, stderr, n, scale) else None


def are_trials(mean: float, stderr: float | None, n: int | None, scale: float = 1.0) -> bool:
    """Tell whether n zeros and ones have this mean and this standard error, both multiplied by `scale`."""
    if n is None or stderr is None or n < 2 or not 0 <= mean <= scale:
        return False
    p = mean / scale
    if abs(p * n - round(p * n)) > _CLOSE * n:
        return False
    return math.isclose(stderr / scale, math.sqrt(p * (1 - p) / (n - 1)), rel_tol=_CLOSE, abs_tol=1e-9)


def item_id(own: Any, content: Any) -> str:
    """Id of an item that changes with its content: a data set that was revised has other items under the same names."""
    text = json.dumps(content, sort_keys=True, ensure_ascii=False, default=str)
    return f"{str(own)[: MOST_IN_ID - 17]}:{hashlib.sha256(text.encode('utf-8', 'replace')).hexdigest()[:16]}"


def member(node: Any, name: str) -> Any:
    """What an object holds under a name with dots, which may belong to a key or stand between keys."""
    if not isinstance(node, Mapping):
        return None
    if name in node:
        return node[name]
    parts = name.split(".")
    for place in range(1, len(parts)):
        found = member(node.get(".".join(parts[:place])), ".".join(parts[place:]))
        if found is not None:
            return found
    return None


def cluster_of(node: Mapping[str, Any], name: str | None) -> str | None:
    """Name of what an item belongs to, by its key; a digest of a text that is too long, such as a passage."""
    found = None if name is None else member(node, name)
    told = None if found in (None, "", [], {}) else found if isinstance(found, str) else json.dumps(found)
    return told if told is None or (len(told) <= MOST_IN_ID and told.isprintable()) else digest_of(told)


def outcomes_of(
    name: str,
    found: Sequence[tuple[str, Any, str | None]],
    cell: Mapping[str, Any],
    metric: Mapping[str, Any],
    repeats: int = 1,
) -> tuple[dict[str, Any] | None, Note | None]:
    """The body for a cell with `at`, `value` and `trials`, from ids, scores and clusters in their order; or why there
    is none, or none of the clusters that only some items have."""
    scores = [number(int(score) if isinstance(score, bool) else score) for _, score, _ in found]
    known = [score for score in scores if score is not None and 0 <= score <= 1]
    ids, clusters = [one for one, *_ in found], [cluster for *_, cluster in found]
    if not found or len(known) < len(scores) or len(set(ids)) < len(ids):
        return None, _left_out(name, "not every one has an id of its own and a score from 0 to 1")
    scale = scale_of(Metric("", metric.get("unit"), None, metric.get("lower"), metric.get("upper")))
    given = Outcomes(len(known), scores=tuple(known), repeats=repeats)
    odd = disagreement(Cell((), cell["value"], cell.get("trials")), scale, given) if scale else "no proportion"
    if odd is not None:
        return None, _left_out(name, odd)
    told = {"at": cell["at"], "outcomes": [int(one) if one.is_integer() else one for one in known]}
    if repeats > 1:
        told["repeats"] = repeats
    of: dict[str, Any] = {"name": name[:200], "count": len(ids), "ids": ids}
    some = f"the clusters of {len(ids) - clusters.count(None)} of {len(ids)} items were left out: the others have none"
    if None not in clusters:
        return {"set": of | {"clusters": clusters}, "cells": [told]}, None
    return {"set": of, "cells": [told]}, Note("clusters_left_out", some) if any(clusters) else None


def _left_out(name: str, why: str) -> Note:
    return Note("items_left_out", f'the outcomes of the items of "{name}" were left out: {why}')


def protocol_of(known: Mapping[str, Any]) -> dict[str, Any]:
    """The member `protocol` of a publication, at most `MOST_KEYS` keys of it, the first ones; empty without any.

    Lists and objects become JSON with sorted keys. A text that is too long for a protocol, or has several lines, such
    as a prompt, becomes `sha256:` and the SHA-256 of its UTF-8.
    """
    held = {key_of(key): value for key, given in known.items() if (value := _held(given)) is not None}
    kept = [(key, value) for key, value in held.items() if key_fault(key) is None][:MOST_KEYS]
    return {"protocol": dict(kept)} if kept else {}


def _held(given: Any) -> Value | None:
    if given is None or given in ("", [], {}):
        return None
    if isinstance(given, (list, dict)):
        given = json.dumps(given, sort_keys=True, ensure_ascii=False)
    found = value_of(given)
    return found if found is not None else value_of(str(given)) or digest_of(str(given))


def digest_of(text: str) -> str:
    """Stand-in for a text in a protocol that has no room for it."""
    return f"sha256:{hashlib.sha256(text.encode('utf-8', 'replace')).hexdigest()}"


def common(of_each: Mapping[str, Any]) -> Any:
    """Join what the parts of a grid say under one key, by the parts' names: their value if it is the same in all, else
    a digest of all of them; None if none says anything."""
    values = {name: value for name, value in sorted(of_each.items()) if value not in (None, "", [], {})}
    texts = {json.dumps(value, sort_keys=True) for value in values.values()}
    if len(texts) > 1 or 0 < len(values) < len(of_each):
        return digest_of(json.dumps(values, sort_keys=True))
    return next(iter(values.values()), None)


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
