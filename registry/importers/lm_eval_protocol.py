"""Protocol of a result of lm-evaluation-harness: versions, shots, data, prompts and decoding, as its JSON has them.

`task_hash` is the harness's own digest of the questions, prompts and targets; a chat template is part of the prompts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from registry.importers.protocols import common, protocol_of

HARNESS = "lm-evaluation-harness"
_GENERAL = ("git_hash", "chat_template_sha", "system_instruction_sha", "fewshot_as_multiturn")
_OF_MODEL = ("dtype", "load_in_8bit", "load_in_4bit", "quantization", "max_length", "max_model_len", "max_gen_toks",
             "add_bos_token", "enable_thinking")  # fmt: skip
"""Arguments of the model that change how it is asked or computed, and not which model it is."""
_ARGUMENT = re.compile(r"(?:^|,)\s*([^=,]+)=([^,]*)")
_WORDS = {"true": True, "false": False}


def protocol(file: Mapping[str, Any], benchmark: str, tasks: Sequence[str]) -> dict[str, Any]:
    """The member `protocol` of a grid about a task, or about a group of these tasks."""
    config = _object(file, "config")

    def said(name: str) -> Any:
        """What a part of the file says of the group itself, else of its tasks."""
        known = _object(file, name)
        own = known.get(benchmark)
        return common({task: known.get(task) for task in tasks}) if own is None else own

    def of_tasks(*path: str) -> Any:
        return common({task: _at(_object(file, "configs").get(task), path) for task in tasks})

    return protocol_of(
        {
            "harness": HARNESS,
            "harness_version": file.get("lm_eval_version"),
            "task_version": said("versions"),
            "shots": config.get("num_fewshot") if (shots := said("n-shot")) is None else shots,
            "dataset": of_tasks("dataset_path"),
            "dataset_name": of_tasks("dataset_name"),
            "dataset_revision": of_tasks("dataset_kwargs", "revision"),
            "split": of_tasks("test_split"),
            "task_hash": common({task: _object(file, "task_hashes").get(task) for task in tasks}),
            "generation_kwargs": of_tasks("generation_kwargs") or config.get("gen_kwargs"),
            "repeats": of_tasks("repeats"),
            "limit": config.get("limit"),
            "fewshot_seed": config.get("fewshot_seed"),
            "backend": config.get("model"),
            **{name: file.get(name) for name in _GENERAL},
            **_arguments(config.get("model_args")),
        }
    )


def _object(given: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = given.get(name)
    return found if isinstance(found, Mapping) else {}


def _at(given: Any, path: Sequence[str]) -> Any:
    for name in path:
        given = given.get(name) if isinstance(given, Mapping) else None
    return given


def _arguments(given: Any) -> dict[str, Any]:
    """Arguments of the model that matter, from an object or from `pretrained=x,dtype=float16`."""
    if isinstance(given, str):
        given = {name: _read(text.strip()) for name, text in _ARGUMENT.findall(given)}
    return {name: given.get(name) for name in _OF_MODEL} if isinstance(given, Mapping) else {}


def _read(text: str) -> Any:
    """A text as the harness itself reads it."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 16 else _WORDS.get(text.lower(), text)
