"""What the files of evaluation tools say of how their values were measured; written down by hand from the files."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from registry.grids.intake import Limits, read_submission
from registry.grids.intake.protocol import LONGEST_TEXT, MOST_KEYS
from registry.importers import formats
from registry.importers.imported_grid import Overrides
from registry.importers.protocols import common, protocol_of
from registry.importers.source import Source
from tests.importers.test_formats import FILES, by_name, grids

HARNESS = "lm-evaluation-harness"


def read(path: Path, **wanted: Any) -> list[dict[str, Any]]:
    return [one.submission for one in formats.read(Source("x", path), Overrides(**wanted))]


def changed(name: str, folder: Path, **parts: Any) -> list[dict[str, Any]]:
    """What is read of a sample file with other parts at its top."""
    path = folder / "changed.json"
    path.write_text(json.dumps(json.loads((FILES / name).read_text()) | parts))
    return read(path)


def test_lm_eval_says_versions_shots_data_and_the_hash_of_its_prompts() -> None:
    found = by_name("lm_eval.json")
    assert found["words", "exact_match,strict-match"]["protocol"] == {
        "harness": HARNESS,
        "harness_version": "0.4.13",
        "task_version": 3,
        "shots": 0,
        "dataset": "json",
        "split": "test",
        "task_hash": "3ed2aea5b5c297540384d2cb5c363bf4127628a01b047dc493bdf05dd41db44c",
        "generation_kwargs": '{"until": ["\\n"]}',
        "repeats": 1,
        "fewshot_seed": 1234,
        "backend": "dummy",
    }


def test_a_group_of_lm_eval_has_its_own_version_and_a_digest_of_what_its_tasks_differ_in() -> None:
    protocol = by_name("lm_eval.json")["sums", "acc"]["protocol"]
    hashes = {
        "sums_a": "112d39e6f855f93ca9b50f99de73062e68e67dca5c215daa54752d26d57b7f30",
        "sums_b": "246f5938cec73dfc5ba459b7982125d09d57660aa42c88da350da4d6e291f517",
    }
    assert (protocol["task_version"], protocol["shots"], protocol["split"]) == ("2.0", 0, "test")
    assert protocol["task_hash"] == "sha256:" + sha256(json.dumps(hashes, sort_keys=True).encode()).hexdigest()


def test_lm_eval_says_revisions_templates_and_arguments_of_the_model_that_matter(tmp_path: Path) -> None:
    file = json.loads((FILES / "lm_eval.json").read_text())
    file["configs"]["words"] |= {"dataset_name": "main", "dataset_kwargs": {"revision": "9c1b3f2"}}
    arguments = "pretrained=a/b,revision=main, dtype=float16,load_in_4bit=True,max_length=4096,peft=c/d"
    found = changed(
        "lm_eval.json",
        tmp_path,
        configs=file["configs"],
        config=file["config"] | {"model": "hf", "model_args": arguments, "limit": 0.5},
        chat_template_sha="ab" * 32,
        fewshot_as_multiturn=True,
        git_hash="4f2c1e9",
    )
    [words] = [one for one in found if one["metric"]["name"] == "exact_match,strict-match"]
    wanted = {
        "dataset_name": "main", "dataset_revision": "9c1b3f2", "backend": "hf", "dtype": "float16",
        "load_in_4bit": True, "max_length": 4096, "limit": 0.5, "chat_template_sha": "ab" * 32,
        "fewshot_as_multiturn": True, "git_hash": "4f2c1e9",
    }  # fmt: skip
    assert {name: words["protocol"][name] for name in wanted} == wanted
    assert not {"revision", "pretrained", "peft"} & words["protocol"].keys(), "which model it is, is its name"


def test_early_files_and_printed_tables_of_lm_eval_say_what_they_hold() -> None:
    early = by_name("lm_eval_early.json")["lambada_openai", "acc"]["protocol"]
    assert early == {"harness": HARNESS, "task_version": 0, "shots": 5, "backend": "hf-causal"}
    printed = grids("tables/printed.md", model="m")[0].submission["protocol"]
    assert printed == {"harness": HARNESS, "task_version": 1, "shots": 25}


@pytest.mark.parametrize("name", ["inspect.eval", "inspect.json"])
def test_inspect_says_versions_data_solver_and_scorer(name: str) -> None:
    if name.endswith(".eval"):
        pytest.importorskip("zstandard")
    accuracy, mean = (one.submission["protocol"] for one in grids(name))
    assert accuracy == {
        "harness": "inspect",
        "harness_version": "0.3.285",
        "task_version": 2,
        "dataset_samples": 5,
        "dataset_shuffled": False,
        "solver": "generate",
        "solver_params": '[{"tool_calls": "loop"}]',
        "scorer": "match",
        "epochs": 1,
    }
    assert mean == accuracy | {"scorer": "brevity"}


def test_inspect_says_judge_decoding_commit_and_packages(tmp_path: Path) -> None:
    log = json.loads((FILES / "inspect.json").read_text())
    run, results = log["eval"], log["results"]
    run |= {
        "task_args": {"difficulty": "hard"},
        "revision": {"type": "git", "origin": "https://example.org/x", "commit": "4f2c1e9", "dirty": True},
        "model_generate_config": {"temperature": 0.5, "max_tokens": 100},
        "model_roles": {"grader": {"model": "openai/gpt-4o-2024-08-06"}},
        "packages": {"inspect_ai": "0.3.285", "inspect_evals": "0.3.1"},
    }
    plan = log["plan"] | {"config": {"temperature": 0.7}}
    results["scores"][1]["params"] = {"model": "anthropic/other", "template": "Is it right?\n" * 100}
    first, second = (one["protocol"] for one in changed("inspect.json", tmp_path, eval=run, plan=plan, results=results))
    wanted = {
        "task_args": '{"difficulty": "hard"}', "git_hash": "4f2c1e9", "git_dirty": True, "temperature": 0.7,
        "max_tokens": 100, "judge": "openai/gpt-4o-2024-08-06", "inspect_evals_version": "0.3.1",
    }  # fmt: skip
    assert {name: first[name] for name in wanted} == wanted
    text = json.dumps(results["scores"][1]["params"], sort_keys=True)
    assert second["judge"] == "anthropic/other"
    assert second["scorer_params"] == "sha256:" + sha256(text.encode()).hexdigest()


def test_helm_says_scenario_method_shots_and_prompt(tmp_path: Path) -> None:
    known = {
        "harness": "helm",
        "scenario": "helm.benchmark.scenarios.mmlu_scenario.MMLUScenario",
        "scenario_args": '{"subject": "philosophy"}',
        "shots": 5,
        "method": "multiple_choice_joint",
    }
    assert {one.submission["metric"]["name"]: one.submission["protocol"] for one in grids("helm/stats.json")} == {
        "exact_match": known,
        "bits_per_byte": known,
    }
    spec = json.loads((FILES / "helm/run_spec.json").read_text())
    spec["adapter_spec"] |= {"temperature": 0.0, "stop_sequences": ["\n"], "input_prefix": "Question: ", "random": None}
    spec["annotators"] = [{"class_name": "helm.Judge", "args": {}}]
    (tmp_path / "run_spec.json").write_text(json.dumps(spec))
    (tmp_path / "stats.json").write_bytes((FILES / "helm/stats.json").read_bytes())
    assert read(tmp_path / "stats.json")[0]["protocol"] == known | {
        "temperature": 0,
        "stop_sequences": '["\\n"]',
        "prompt": '{"input_prefix": "Question: "}',
        "annotators": '[{"args": {}, "class_name": "helm.Judge"}]',
    }


def test_mteb_says_its_version_and_that_of_the_data() -> None:
    [found] = grids("mteb/some__encoder/2/STS12.json")
    assert found.submission["protocol"] == {
        "harness": "mteb",
        "harness_version": "2.26.24",
        "dataset_revision": "a0d554a64d88156834ff5ae9920b964011b16384",
        "similarity_fn_name": "cosine",
        "use_instructions": False,
    }
    [early] = grids("mteb_early/STS22.json", model="m")
    assert early.submission["protocol"] == {
        "harness": "mteb",
        "harness_version": "1.0.2",
        "dataset_revision": "6d1ba47164174a496b7fa5d3569dae26a6813b80",
    }


def test_what_the_caller_says_takes_the_place_of_what_a_file_says() -> None:
    [found] = grids("mteb/some__encoder/2/STS12.json", protocol={"harness_version": "patched", "judge": "none"})
    assert found.submission["protocol"]["harness_version"] == "patched"
    assert (found.submission["protocol"]["harness"], found.submission["protocol"]["judge"]) == ("mteb", "none")


@pytest.mark.parametrize(
    "held",
    [
        {"a": "x" * (LONGEST_TEXT + 1), "b": "two\nlines", "c": 2**70, "d": float("nan"), "e": {"f": [1, None]}},
        {"A b=c": 1, "": 2, "x" * 100: 3, "fine": 4},
        {f"k{i}": i for i in range(MOST_KEYS + 5)},
        {"\ud800": "\ud800"},
    ],
)
def test_whatever_a_file_holds_becomes_a_protocol_that_is_taken(held: dict[str, Any]) -> None:
    found = protocol_of(held)
    sent = {"experiment": "e", "benchmark": "b", "model": "m", "variant": "", "metric": {"name": "x"}, "axes": []}
    grid = read_submission(sent | {"values": 1.0} | found, Limits()).grid
    assert (grid.protocol or {}) == found.get("protocol", {})
    assert grid.digest.startswith("sha256:")


def test_what_says_nothing_is_no_key() -> None:
    assert protocol_of({"a": None, "b": "", "c": [], "d": {}}) == {}
    assert protocol_of({"a": False, "b": 0}) == {"protocol": {"a": False, "b": 0}}
    assert common({"x": None, "y": ""}) is None
    assert common({"x": 5, "y": 5}) == 5
    assert common({"x": 5, "y": None}) != common({"x": 5, "y": 3})
