"""Documents of Every Eval Ever; the numbers were read off the files by hand."""

import json
from pathlib import Path
from typing import Any

import pytest

from registry.importers import formats
from registry.importers.imported_grid import ImportedGrid, Overrides
from registry.importers.source import Source

FILES = Path(__file__).parent / "files/archives/every-eval-ever"


def read(*documents: dict[str, Any]) -> list[ImportedGrid]:
    text = "\n".join(map(json.dumps, documents))
    return list(formats.read(Source("x.json", given=text.encode()), Overrides()))


def document(name: str = "lm-eval", **result: Any) -> dict[str, Any]:
    """A file with other members in its first result."""
    found: dict[str, Any] = json.loads((FILES / f"{name}.json").read_text())
    found["evaluation_results"][0] |= result
    return found


def scored(uncertainty: dict[str, Any], score: float = 0.375) -> ImportedGrid:
    return read(document(score_details={"score": score, "uncertainty": uncertainty}))[0]


def test_a_document_of_schema_0_2_is_a_grid_for_each_evaluation() -> None:
    found = [one.submission for one in read(document("hfopenllm"))]
    assert [(one["benchmark"], one["metric"]["name"], one["values"]) for one in found] == [
        ("IFEval", "Accuracy", 0.4486),
        ("BBH", "Accuracy", 0.4224),
        ("MATH Level 5", "Exact Match", 0.0249),
    ]
    first = found[0]
    assert (first["experiment"], first["model"]) == ("HF Open LLM v2", "TencentARC/LLaMA-Pro-8B-Instruct")
    assert first["metric"] == {"name": "Accuracy", "unit": None, "direction": "higher", "lower": 0, "upper": 1}
    assert first["protocol"] == {
        "source_type": "documentation",
        "source_organization_name": "Hugging Face",
        "evaluator_relationship": "third_party",
        "dataset": "google/IFEval",
    }
    assert first["labels"]["developer"] == "TencentARC"
    assert first["labels"]["evaluation_id"] == "hfopenllm_v2/TencentARC_LLaMA-Pro-8B-Instruct/1770682486.623709"


def test_a_document_of_schema_0_3_has_errors_and_the_samples_that_are_trials() -> None:
    accuracy = read(document())[0].submission
    assert (accuracy["values"], accuracy["stderr"]) == (0.375, 0.18298126367784995)
    assert (accuracy["trials"], accuracy["questions"], accuracy["labels"]["n"]) == (8, 8, "8")
    assert accuracy["protocol"] == {
        "harness": "lm_eval",
        "harness_version": "0.4.13",
        "source_organization_name": "example",
        "evaluator_relationship": "first_party",
        "stderr_method": "bootstrap",
    }


@pytest.mark.parametrize(
    ("uncertainty", "stderr", "notes"),
    [
        # half of 0.2 is 1.959964 standard errors of a normal distribution at 95 %
        ({"confidence_interval": {"lower": 0.3, "upper": 0.5, "confidence_level": 0.95}}, 0.0510213, ["computed"]),
        ({"standard_deviation": 0.5, "num_samples": 100}, 0.05, ["computed"]),
        ({"confidence_interval": {"lower": 0.3, "upper": 0.5}}, None, ["left_out"]),
        ({"standard_deviation": 0.5}, None, ["left_out"]),
        ({"standard_error": {"value": 0.07}, "standard_deviation": 0.5, "num_samples": 51}, 0.07, ["left_out"]),
    ],
)
def test_an_error_is_taken_or_computed_and_what_is_left_is_noted(
    uncertainty: dict[str, Any], stderr: float | None, notes: list[str]
) -> None:
    found = scored(uncertainty)
    assert found.submission.get("stderr") == (None if stderr is None else pytest.approx(stderr, rel=1e-5))
    assert [note.code.removeprefix("stderr_") for note in found.notes] == notes
    assert "trials" not in found.submission


def test_parameters_of_a_metric_are_axes_and_settings_are_its_protocol() -> None:
    results = [
        document()["evaluation_results"][0]
        | {
            "metric_config": {
                "metric_name": "pass",
                "metric_unit": "percent",
                "lower_is_better": False,
                "metric_parameters": {"k": k},
            },
            "score_details": {"score": value},
            "generation_config": {
                "generation_args": {"temperature": 0.5, "prompt_template": "a\nb", "eval_limits": {"time_limit": 9}},
                "additional_details": {"num_fewshot": "5"},
            },
        }
        for k, value in ((1, 40), (10, 75.5))
    ]
    [found] = read(document() | {"evaluation_results": results})
    assert found.submission["axes"] == [{"name": "k", "kind": "numeric", "levels": [1, 10]}]
    assert [cell["value"] for cell in found.submission["cells"]] == [40, 75.5]
    assert found.submission["metric"] == {
        "name": "pass",
        "unit": "%",
        "direction": "higher",
        "lower": 0,
        "upper": 100,
    }
    protocol = found.submission["protocol"]
    assert (protocol["temperature"], protocol["num_fewshot"], protocol["eval_limits"]) == (0.5, 5, '{"time_limit": 9}')
    assert protocol["prompt_template"].startswith("sha256:")
    assert [note.detail for note in found.notes] == ["of long texts a digest is kept: prompt_template"]


def test_what_the_name_of_the_evaluation_says_more_is_part_of_the_benchmark() -> None:
    named = {"evaluation_name": "MMLU-Pro (Biology)", "source_data": {"dataset_name": "Board", "source_type": "other"}}
    metric = {"metric_name": "MMLU-Pro (Biology)", "metric_kind": "accuracy", "lower_is_better": False}
    found = read(document(**named, metric_config=metric))[0].submission
    assert (found["benchmark"], found["metric"]["name"]) == ("Board: MMLU-Pro (Biology)", "accuracy")
    assert read(document(evaluation_name="sums_a/strict"))[0].submission["benchmark"] == "sums_a/strict"


def test_an_unknown_level_is_a_gap_and_of_one_evaluation_given_twice_the_last_counts() -> None:
    levels = {"lower_is_better": True, "score_type": "levels", "level_names": ["a"], "has_unknown_level": True}
    first, *_ = read(document(metric_config=levels, score_details={"score": -1}))
    assert first.submission["values"] is None
    twice = document()
    twice["evaluation_results"][1] = twice["evaluation_results"][0] | {"score_details": {"score": 0.5}}
    [found] = read(twice)
    assert found.submission["values"] == 0.5
    assert [note.code for note in found.notes] == ["given_twice"]
    assert len(read(document(), document("hfopenllm"))) == 5, "a document a line"
