"""Protocol of a log of Inspect: versions, data, solver, scorer and judge, decoding and limits, as the log has them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from registry.importers.protocols import protocol_of

_DECODING = ("temperature", "top_p", "top_k", "max_tokens", "seed", "num_choices", "reasoning_effort",
             "reasoning_tokens", "system_message")  # fmt: skip
_LIMITS = ("epochs", "epochs_reducer", "limit", "message_limit", "token_limit", "time_limit", "working_limit")


def protocol(log: Mapping[str, Any], score: Mapping[str, Any]) -> dict[str, Any]:
    """The member `protocol` of the grids of one scorer."""
    run, plan = _object(log, "eval"), _object(log, "plan")
    packages, data, revision = (_object(run, name) for name in ("packages", "dataset", "revision"))
    config = _object(run, "config")
    decoding = {**_object(run, "model_generate_config"), **_object(plan, "config")}
    params = _object(score, "params")
    return protocol_of(
        {
            "harness": "inspect",
            "harness_version": packages.get("inspect_ai"),
            "task_version": run.get("task_version"),
            "task_args": run.get("task_args"),
            "git_hash": revision.get("commit"),
            "git_dirty": revision.get("dirty"),
            "dataset": data.get("name"),
            "dataset_samples": data.get("samples"),
            "dataset_shuffled": data.get("shuffled"),
            **_solver(run, plan),
            "scorer": score.get("scorer"),
            "scorer_params": params,
            "judge": params.get("model") or _judge(run),
            **{name: decoding.get(name) for name in _DECODING},
            **{name: config.get(name) for name in _LIMITS},
            **{f"{name}_version": version for name, version in packages.items() if name != "inspect_ai"},
        }
    )


def _solver(run: Mapping[str, Any], plan: Mapping[str, Any]) -> dict[str, Any]:
    """The solver by its name, or the chain of those of the plan, with their arguments, prompts among them."""
    steps = plan.get("steps")
    known = [step for step in steps if isinstance(step, Mapping)] if isinstance(steps, list) else []
    chain = [str(step.get("solver")) for step in known if step.get("solver")]
    params = [step.get("params") or {} for step in known]
    return {
        "solver": run.get("solver") or " > ".join(chain),
        "solver_params": run.get("solver_args") or (params if any(params) else None),
    }


def _judge(run: Mapping[str, Any]) -> Any:
    """The model that has the role of the grader."""
    return _object(_object(run, "model_roles"), "grader").get("model")


def _object(given: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = given.get(name)
    return found if isinstance(found, Mapping) else {}
