"""What the files of evaluation tools say of how their values were measured, beside what those of test_formats say."""

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

from registry.grids.intake import Limits, read_submission
from registry.grids.intake.members import LONGEST_TEXT, MOST_KEYS
from registry.importers import formats
from registry.importers.imported_grid import Overrides
from registry.importers.scores import common, protocol_of
from registry.importers.source import Source
from tests.importers.test_formats import FILES, grids


def read(path: Path) -> list[dict[str, Any]]:
    return [one.submission for one in formats.read(Source("x", path), Overrides())]


def changed(name: str, folder: Path, **parts: Any) -> list[dict[str, Any]]:
    """What is read of a sample file with other parts at its top."""
    path = folder / "changed.json"
    path.write_text(json.dumps(json.loads((FILES / name).read_text()) | parts))
    return read(path)


def test_a_group_of_lm_eval_has_its_own_version_and_a_digest_of_what_its_tasks_differ_in() -> None:
    protocol = grids("lm_eval.json")[0].submission["protocol"]
    hashes = {
        "sums_a": "112d39e6f855f93ca9b50f99de73062e68e67dca5c215daa54752d26d57b7f30",
        "sums_b": "246f5938cec73dfc5ba459b7982125d09d57660aa42c88da350da4d6e291f517",
    }
    assert (protocol["task_version"], protocol["shots"], protocol["split"]) == ("2.0", 0, "test")
    assert protocol["task_hash"] == "sha256:" + sha256(json.dumps(hashes, sort_keys=True).encode()).hexdigest()


def test_lm_eval_says_revisions_templates_and_arguments_of_the_model_that_matter(tmp_path: Path, snapshot) -> None:
    """Which model it is, is its name."""
    file = json.loads((FILES / "lm_eval.json").read_text())
    file["configs"]["words"] |= {"dataset_name": "main", "dataset_kwargs": {"revision": "9c1b3f2"}}
    arguments = "pretrained=a/b,revision=main, dtype=float16,load_in_4bit=True,max_length=4096,peft=c/d"
    parts = {
        "configs": file["configs"], "config": file["config"] | {"model": "hf", "model_args": arguments, "limit": 0.5},
        "chat_template_sha": "ab" * 32, "fewshot_as_multiturn": True, "git_hash": "4f2c1e9",
    }  # fmt: skip
    found = changed("lm_eval.json", tmp_path, **parts)
    [words] = [one for one in found if one["metric"]["name"] == "exact_match,strict-match"]
    assert words["protocol"] == snapshot


def test_inspect_says_judge_decoding_commit_and_packages(tmp_path: Path, snapshot) -> None:
    log = json.loads((FILES / "inspect.json").read_text())
    run = log["eval"] | {
        "task_args": {"difficulty": "hard"},
        "revision": {"type": "git", "origin": "https://example.org/x", "commit": "4f2c1e9", "dirty": True},
        "model_generate_config": {"temperature": 0.5, "max_tokens": 100},
        "model_roles": {"grader": {"model": "openai/gpt-4o-2024-08-06"}},
        "packages": {"inspect_ai": "0.3.285", "inspect_evals": "0.3.1"},
    }
    plan, results = log["plan"] | {"config": {"temperature": 0.7}}, log["results"]
    results["scores"][1]["params"] = {"model": "anthropic/other", "template": "Is it right?\n" * 100}
    found = changed("inspect.json", tmp_path, eval=run, plan=plan, results=results)
    assert [one["protocol"] for one in found] == snapshot
    text = json.dumps(results["scores"][1]["params"], sort_keys=True)
    assert found[1]["protocol"]["scorer_params"] == "sha256:" + sha256(text.encode()).hexdigest()


def test_what_the_caller_says_takes_the_place_of_what_a_file_says() -> None:
    [found] = grids("mteb/some__encoder/2/STS12.json", protocol={"harness_version": "patched", "judge": "none"})
    assert found.submission["protocol"]["harness_version"] == "patched"
    assert (found.submission["protocol"]["harness"], found.submission["protocol"]["judge"]) == ("mteb", "none")


HELD: list[dict[str, Any]] = [
    {"a": "x" * (LONGEST_TEXT + 1), "b": "two\nlines", "c": 2**70, "d": float("nan"), "e": {"f": [1, None]}},
    {"A b=c": 1, "": 2, "x" * 100: 3, "fine": 4},
    {f"k{i}": i for i in range(MOST_KEYS + 5)},
    {"\ud800": "\ud800"},
]


def test_whatever_a_file_holds_becomes_a_protocol_that_is_taken() -> None:
    sent = {"experiment": "e", "benchmark": "b", "model": "m", "variant": "", "metric": {"name": "x"}, "axes": []}
    for held in HELD:
        found = protocol_of(held)
        grid = read_submission(sent | {"values": 1.0} | found, Limits()).grid
        assert (grid.protocol or {}) == found.get("protocol", {})
        assert grid.digest.startswith("sha256:")


def test_what_says_nothing_is_no_key() -> None:
    assert protocol_of({"a": None, "b": "", "c": [], "d": {}}) == {}
    assert protocol_of({"a": False, "b": 0}) == {"protocol": {"a": False, "b": 0}}
    assert common({"x": None, "y": ""}) is None
    assert common({"x": 5, "y": 5}) == 5
    assert common({"x": 5, "y": None}) != common({"x": 5, "y": 3})
