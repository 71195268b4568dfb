"""Grids as documents of Every Eval Ever, schema 0.3: one JSON a model, a result for each measured cell.

`PLACES` and `DETAILS` say what key of a protocol stands where, in both directions. What the schema has no place for,
such as the kinds and the order of axes, is JSON under `HELD` in the details of the metric of a grid's first result.
"""

import itertools
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from registry.grids.intake.members import protocol_of_texts
from registry.grids.protocol import Value, written
from registry.renderings.grid import flat
from registry.results.grid import GridDocument

HELD = "registry_grid"
_HELD = ("variant", "metric", "axes", "labels", "questions", "design_effect", "derived", "reasons")
_COUNT = range(1, 2**53)
_NESTED = ()  # a list or an object, which a protocol has as text
_REPOSITORY = re.compile(r"[\w.-]+/[\w.-]+")
_RELATIONS = ("first_party", "third_party", "collaborative", "other")
_ARGUMENTS = {
    "temperature": float, "top_p": float, "top_k": float, "max_tokens": _COUNT, "max_attempts": _COUNT,
    "reasoning": bool, "prompt_template": str, "execution_command": str, "incorrect_attempt_feedback": str,
    **dict.fromkeys(("agentic_eval_config", "eval_plan", "eval_limits", "sandbox"), _NESTED),
}  # fmt: skip
PLACES: dict[str, tuple[str, Any]] = {
    "harness": ("eval_library.name", str),
    "harness_version": ("eval_library.version", str),
    "source_type": ("source_metadata.source_type", ("documentation", "evaluation_run")),
    "evaluator_relationship": ("source_metadata.evaluator_relationship", _RELATIONS),
    "source_organization_name": ("source_metadata.source_organization_name", str),
    "source_organization_url": ("source_metadata.source_organization_url", str),
    "source_organization_logo_url": ("source_metadata.source_organization_logo_url", str),
    "inference_platform": ("model_info.inference_platform", str),
    "inference_engine": ("model_info.inference_engine.name", str),
    "inference_engine_version": ("model_info.inference_engine.version", str),
    "dataset": ("source_data.hf_repo", _REPOSITORY),
    "split": ("source_data.hf_split", str),
    "dataset_samples": ("source_data.samples_number", _COUNT),
    "sample_ids": ("source_data.sample_ids", _NESTED),
    "dataset_url": ("source_data.url", _NESTED),
    "judge": ("metric_config.llm_scoring", _NESTED),
    "stderr_method": ("score_details.uncertainty.standard_error.method", _NESTED),
    "num_bootstrap_samples": ("score_details.uncertainty.num_bootstrap_samples", _NESTED),
    **{name: (f"generation_config.generation_args.{name}", kind) for name, kind in _ARGUMENTS.items()},
}  # fmt: skip
"""Where a key stands, and which values are written there; others are texts among the details of the generation."""
DETAILS = {"harness.": "eval_library", "source.": "source_metadata", "dataset.": "source_data",
           "metric.": "metric_config", "": "generation_config"}  # fmt: skip
"""What a key begins with whose rest is a name among the `additional_details` of a part."""
_OF_MODEL = {
    "deployment_type": ("self_deployed", "externally_managed"),
    "model_availability": ("open_weights", "closed_weights"),
}


def documents(grids: Iterable[GridDocument]) -> Iterator[dict[str, Any]]:
    """The documents: one for each experiment, model and variant, or several where its grids differ in the library, the
    source or the engine. A grid without a value is in none."""
    together: dict[str, tuple[dict[str, Any], list[float], list[dict[str, Any]]]] = {}
    for grid in grids:
        whole = _whole(grid)
        head = {name: whole.pop(name) for name in ("schema_version", "source_metadata", "eval_library", "model_info")}
        head["evaluation_id"] = grid["labels"].get("evaluation_id", "")
        if results := list(_results(grid, whole)):
            key = json.dumps([grid["variant"], head], sort_keys=True)
            _, instants, found = together.setdefault(key, (head, [], []))
            instants.append(datetime.fromisoformat(str(grid["updated_at"])).timestamp())
            found += results
    for head, instants, found in together.values():
        instant = str(max(instants))
        name = f"{head['source_metadata']['source_name']}/{head['model_info']['name']}/{instant}"
        own = {"evaluation_id": head["evaluation_id"] or name, "retrieved_timestamp": instant}
        yield {**head, **own, "evaluation_results": found}


def _whole(grid: GridDocument) -> dict[str, Any]:
    """A document and a result of it in one object, without the score and what is a cell's own."""
    metric, labels = grid["metric"], grid["labels"]
    of_model = {
        name.removeprefix("model."): text
        for name, text in labels.items()
        if name.startswith("model.") and text in _OF_MODEL.get(name.removeprefix("model."), (text,))
    }
    whole: dict[str, Any] = {
        "schema_version": "0.3.0",
        "source_metadata": {"source_name": grid["experiment"], "source_type": "evaluation_run",
                            "source_organization_name": "unknown", "evaluator_relationship": "other"},
        "eval_library": {"name": "unknown", "version": "unknown"},
        "model_info": {"name": f"{grid['model']} {grid['variant']}".strip(), "id": grid["model"],
                       "additional_details": dict.fromkeys(_OF_MODEL, "unknown") | of_model},
        "evaluation_name": grid["benchmark"],
        "source_data": {"dataset_name": grid["benchmark"]},
        "metric_config": {"metric_name": metric["name"], "lower_is_better": metric.get("direction") == "lower"},
    }  # fmt: skip
    bounds = {"min_score": metric.get("lower"), "max_score": metric.get("upper")}
    whole["metric_config"] |= {name: one for name, one in bounds.items() if one is not None}
    if None not in bounds.values():
        whole["metric_config"]["score_type"] = "continuous"
    if unit := metric.get("unit"):
        whole["metric_config"]["metric_unit"] = "percent" if unit == "%" else unit
    if grid.get("description"):
        whole["metric_config"]["evaluation_description"] = grid["description"]
    if "developer" in labels:
        whole["model_info"]["developer"] = labels["developer"]
    for key, value in grid.get("protocol", {}).items():
        _place(whole, key, value)
    whole["source_data"]["source_type"] = "hf_dataset" if "hf_repo" in whole["source_data"] else "other"
    return whole


def _place(whole: dict[str, Any], key: str, value: Value) -> None:
    path, wanted = PLACES.get(key, ("", _NESTED))
    *parts, last = path.split(".")
    if not _fits(value, wanted):
        prefix = next(one for one in DETAILS if key.startswith(one) and key != one)
        parts, last, value = [DETAILS[prefix], "additional_details"], key.removeprefix(prefix), _text(value)
    for part in parts:
        whole = whole.setdefault(part, {})
    whole[last] = value


def _fits(value: Value, wanted: Any) -> bool:
    if isinstance(wanted, type):
        return isinstance(value, wanted) if wanted is not float else type(value) in (int, float)
    if isinstance(wanted, re.Pattern):
        return isinstance(value, str) and wanted.fullmatch(value) is not None
    return not isinstance(value, bool) and value in wanted


def _text(value: Value) -> str:
    """A value as a text that is read as the same value."""
    text = written(value)
    return text if json.dumps(protocol_of_texts([f"k={text}"])["k"]) == json.dumps(value) else f'"{text}"'


def _results(grid: GridDocument, result: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    given: Mapping[str, Any] = grid
    names = [axis["name"] for axis in grid["axes"]]
    levels = [[one["label"] if isinstance(one, Mapping) else one for one in axis["levels"]] for axis in grid["axes"]]
    nested = {name: given.get(name) for name in ("trials", "stderr", "repeats", "sd")}
    columns = {name: flat(one, len(names)) for name, one in nested.items() if isinstance(one, list) or not names}
    held = {name: given[name] for name in _HELD if name in given}
    held |= {"trials": nested["trials"]} if isinstance(nested["trials"], int) else {}
    for index, (at, value) in enumerate(zip(itertools.product(*levels), flat(grid["values"], len(names)), strict=True)):
        if value is None:
            continue
        metric = dict(result["metric_config"])
        if names:
            metric["metric_parameters"] = dict(zip(names, at, strict=True))
        if held:
            metric["additional_details"] = {**metric.get("additional_details", {}), HELD: json.dumps(held)}
            held = {}
        cell = {name: column[index] for name, column in columns.items() if column[index] is not None}
        samples = str(cell.get("trials") or cell.get("repeats") or nested["trials"] or grid["labels"].get("n"))
        uncertainty: dict[str, Any] = {"num_samples": int(samples)} if samples.isdecimal() else {}
        if "stderr" in cell:
            uncertainty["standard_error"] = {"value": cell["stderr"]}
        if "sd" in cell:
            uncertainty["standard_deviation"] = cell["sd"]
        own = {name: str(cell[name]) for name in ("trials", "repeats") if name in cell}
        yield {
            **result,
            "metric_config": metric,
            "score_details": {"score": value, "uncertainty": uncertainty, "details": own},
        }
