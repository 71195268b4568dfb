"""Mappings: real files of archives, read as the shipped mappings say; the numbers were read off the files by hand."""

import json
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from registry.errors import Malformed
from registry.importers.imported_grid import Overrides
from registry.importers.mapping_file import SCHEMA, names, read_mapping
from registry.importers.proposal import proposed
from registry.importers.reading import Item, items_of
from registry.importers.source import Source

FILES = Path(__file__).parent / "files/archives"
HELM = "mmlu-subject=philosophy,method=multiple_choice_joint"
OLD = "eva02_large_patch14_448.mim_m38m_ft_in22k_in1k"
COMMIT = "5b78858eb718649a31fb93d8dc96ca2cee41a4cd"
PERCENT = {"unit": "%", "direction": "higher", "lower": 0, "upper": 100}
SHARE = {"direction": "higher", "lower": 0, "upper": 1}
TIME = {"direction": "lower", "lower": 0}


def read(path: str | Path, mapping: str) -> dict[tuple[str, str, str], dict[str, Any]]:
    """The grids of a file or folder, by benchmark, model and metric."""
    found = list(items_of(replace(read_mapping(mapping), names=(str(path),))))
    assert all(isinstance(one, Item) for one in found), found
    grids = [one.found.submission for one in found if isinstance(one, Item)]
    return {(grid["benchmark"], grid.get("model", ""), grid["metric"]["name"]): grid for grid in grids}


@pytest.mark.parametrize(
    ("mapping", "path", "count", "key", "value", "metric"),
    [
        ("timm", "timm", 10, ("imagenet", OLD, "top1"), [[[90.056]]], PERCENT),
        ("timm", "timm", 10, ("imagenet", "eva_giant_patch14_336.m30m_ft_in22k_in1k", "top5"), [[[98.952]]], PERCENT),
        ("evalplus", "evalplus.json", 12, ("mbpp+", "OpenCoder-8B-Instruct", "pass@1"), 71.4, PERCENT),
        ("aider", "aider", 8, ("polyglot", "gpt-4o-mini-2024-07-18", "pass_rate_2"), 3.6, PERCENT),
        ("aider", "aider", 8, ("polyglot", "gpt-4o-mini-2024-07-18", "total_cost"), 0.3236, TIME | {"unit": "$"}),
        ("helm", "helm", 1, (HELM, "openai_gpt2", "exact_match"), [0.1111111111111111, 0.0], SHARE),
        ("pytest-benchmark", "pytest-benchmark.json", 1, ("test_xfast_parametrized[0]", COMMIT, "time"),
         2.5172336199924715e-07, TIME | {"unit": "s"}),
        ("google-benchmark", "google-benchmark.json", 6, ("BM_DifferentTimeUnit", "", "cpu_time"), 1,
         TIME | {"unit": "s"}),
        ("hugging-face", "hugging-face/01-ai/Yi-1.5-34B-Chat/.eval_results", 1,
         ("TIGER-Lab/MMLU-Pro", "01-ai/Yi-1.5-34B-Chat", "score"), [52.29], {}),
        ("ruler", "ruler.md", 5, ("RULER", "Jamba-1.5-large* (94B/398B)", "accuracy"),
         [96.7, 96.6, 96.4, 96.0, 95.4, 95.1], PERCENT),
    ],
)  # fmt: skip
def test_an_archive_comes_in_by_its_mapping(
    mapping: str, path: str, count: int, key: tuple[str, str, str], value: Any, metric: dict[str, Any]
) -> None:
    found = read(FILES / path, mapping)
    assert len(found) == count
    assert found[key]["values"] == value
    assert found[key]["metric"] == {"name": key[2], **metric}


def test_what_stands_beside_a_value_and_above_it_comes_along() -> None:
    polyglot = read(FILES / "aider", "aider")["polyglot", "gpt-4o-mini-2024-07-18", "pass_rate_1"]
    assert (polyglot["trials"], polyglot["labels"]) == (225, {"commit": "a755079-dirty"})
    assert polyglot["protocol"] == {"edit_format": "whole"}
    [measured] = read(FILES / "pytest-benchmark.json", "pytest-benchmark").values()
    assert measured["protocol"] == {"machine": "minibox", "python": "2.7.3"}
    [card] = read(FILES / "hugging-face/01-ai/Yi-1.5-34B-Chat/.eval_results", "hugging-face").values()
    assert (card["labels"]["date"], card["protocol"]) == (
        "2026-05-01",
        {"dataset_revision": "3a0b9c1", "notes": "5-shot"},
    )
    assert "Gemini-1.5-pro" in {model for _, model, _ in read(FILES / "ruler.md", "ruler")}
    assert ("mbpp", "Code-13B", "pass@1") not in read(FILES / "evalplus.json", "evalplus"), "null is no measurement"


def test_a_mapping_of_ones_own_reads_json_in_any_nesting(tmp_path: Path) -> None:
    runs = {"runs": {"alpha": [{"at": {"len": 1}, "s": {"acc": 0.5, "n": 10}}, {"at": {"len": 2}, "s": {"acc": None}}]}}
    (tmp_path / "r.json").write_text(json.dumps({"suite": "S", **runs}))
    (tmp_path / "m.toml").write_text(
        'experiment = "e"\nrecords = "runs.*.*"\nkeys = ["model"]\naxes = ["Length"]\n'
        '[column]\nLength = "at.len"\nbenchmark = "/suite"\n[metric.accuracy]\ncolumn = "s.acc"\ntrials = "s.n"\n'
    )
    [grid] = read(tmp_path / "r.json", str(tmp_path / "m.toml")).values()
    assert (grid["benchmark"], grid["model"], grid["values"]) == ("S", "alpha", [0.5, None])
    assert grid["trials"] == [10, None]
    assert grid["axes"] == [{"name": "Length", "kind": "numeric", "levels": [1, 2]}]


@pytest.mark.parametrize("name", names())
def test_a_shipped_mapping_fulfils_the_schema(name: str) -> None:
    path = Path("registry/importers/mappings") / f"{name}.toml"
    jsonschema.validate(tomllib.loads(path.read_text()), SCHEMA)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("axis = 1", "axis is not known; there are: format, "),
        ('axes = "a"', "axes is not of the type array"),
        ('[metric.m]\ndirection = "up"', "metric.m.direction is one of higher, lower"),
        ("[labels]\nl = {x = 1}", "labels.l is neither a plain value nor { column = NAME }"),
        ('path = "("', "path is no regular expression"),
        ("trials = true", "trials is not of the type integer"),
        ("a b", "is not TOML"),
    ],
)
def test_what_is_no_mapping_is_refused_with_the_place(text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "m.toml").write_text(text)
    with pytest.raises(Malformed) as refused:
        read_mapping(str(tmp_path / "m.toml"))
    assert said in refused.value.detail


def test_a_file_of_a_harness_is_not_read_by_a_mapping_that_it_has_no_use_for(tmp_path: Path) -> None:
    (tmp_path / "m.toml").write_text('[metric.acc]\ndirection = "lower"\n')
    sources = replace(read_mapping(str(tmp_path / "m.toml")), names=("tests/importers/files/inspect.eval",))
    [skipped] = items_of(sources)
    assert "It is read as inspect, where what only a mapping says would change nothing" in str(skipped)


def test_a_mapping_that_is_not_there_names_those_that_are() -> None:
    with pytest.raises(Malformed, match="There is no mapping nowhere: say a TOML file, or one of aider, evalplus, "):
        read_mapping("nowhere")
    assert read_mapping("timm").wanted != Overrides()


@pytest.mark.parametrize(
    ("path", "key", "value"),
    [
        ("timm/results-imagenet.csv", ("b", OLD, "top1"), 90.056),
        ("evalplus.json", ("b", "zyte-1B", "pass@1.mbpp"), 9.8),
        ("aider/polyglot_leaderboard.yml", ("b", "gpt-4o-mini-2024-07-18", "pass_rate_2"), 3.6),
        ("google-benchmark.json", ("b", "BM_ThirdFaster", "real_time"), 100.0),
    ],
)
def test_what_is_proposed_for_a_file_reads_it_once_the_missing_names_are_said(
    path: str, key: tuple[str, str, str], value: float, tmp_path: Path
) -> None:
    source = Source(path, FILES / path)
    (tmp_path / "m.toml").write_text('experiment = "e"\nbenchmark = "b"\n' + proposed(source))
    assert read(FILES / path, str(tmp_path / "m.toml"))[key]["values"] == value


def test_a_proposal_chooses_as_axes_what_tells_rows_of_one_name_apart(tmp_path: Path) -> None:
    rows = [f"{model},{size},{seed},x,0.{size}{seed}" for model in "AB" for size in (16, 32) for seed in (1, 2)]
    (tmp_path / "r.csv").write_text("model,size,seed,note,loss\n" + "\n".join(rows) + "\n")
    found = tomllib.loads(proposed(Source("r.csv", tmp_path / "r.csv")))
    assert found == {"axes": ["size", "seed"], "metric": {"loss": {"direction": "lower"}}}
    (tmp_path / "t.csv").write_text("a,b\nx,y\nz,w\n")
    with pytest.raises(Malformed, match="No column of it holds numbers"):
        proposed(Source("t.csv", tmp_path / "t.csv"))


def test_a_path_is_matched_from_inside_its_folders_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "CIFAR10").mkdir()
    (tmp_path / "CIFAR10/a.csv").write_text(",acc\nresnet,0.9\n")
    (tmp_path / "m.toml").write_text(
        "experiment = 'e'\npath = '/(?P<benchmark>[^/]+)/a\\.csv'\n[column]\nmodel = ''\n[metric.acc]\n"
    )
    monkeypatch.chdir(tmp_path)  # the path that is given has no folder above it
    assert read("CIFAR10/a.csv", "m.toml").keys() == {("CIFAR10", "resnet", "acc")}


def test_a_benchmark_is_the_headings_above_a_table(tmp_path: Path) -> None:
    table = "\n| Model | F1 | Paper |\n|---|---|---|\n| A | {} | p |\n"
    text = "# NER\n## CoNLL\n### Test" + table.format("\ufeff93.1") + "## Few" + table.format("70.2")
    (tmp_path / "r.md").write_text(text)
    (tmp_path / "m.toml").write_text(
        'experiment = "e"\naxes = []\n[column]\nbenchmark = "/heading"\nmodel = "Model"\n[metric.F1]\n'
    )
    found = read(tmp_path / "r.md", str(tmp_path / "m.toml"))
    assert {key: one["values"] for key, one in found.items()} == {
        ("NER / CoNLL / Test", "A", "F1"): 93.1,
        ("NER / Few", "A", "F1"): 70.2,
    }


def test_a_proposal_keeps_lists_of_other_records_apart_and_reads_a_nameless_column(tmp_path: Path) -> None:
    runs = [{"model": model, "q": q, "ci": [0, 1], "score": 0.5 + q / 8} for model in "AB" for q in (1, 2)]
    (tmp_path / "r.json").write_text(json.dumps({"performances": runs, "models": [{"model": "A"}], "dates": [1]}))
    found = tomllib.loads(proposed(Source("r.json", tmp_path / "r.json")))
    assert (found["records"], found["keys"], found["axes"]) == ("performances.*", [""], ["q"])
    (tmp_path / "t.csv").write_text(",acc\nA,0.5\nB,0.25\n")
    assert tomllib.loads(proposed(Source("t.csv", tmp_path / "t.csv")))["column"] == {"model": ""}
    (tmp_path / "n.csv").write_text(",acc\n0,0.5\n1,0.25\n")
    assert "column" not in tomllib.loads(proposed(Source("n.csv", tmp_path / "n.csv")))


def test_what_is_wrong_with_a_grid_of_records_names_the_grid(tmp_path: Path) -> None:
    for model in "AB":
        (tmp_path / f"{model}.json").write_text(json.dumps({"model": model, "f1": 82.5}))
    (tmp_path / "m.toml").write_text('experiment = "e"\nbenchmark = "b"\nfiles = ["*.json"]\n[metric.f1]\nupper = 1\n')
    [first, _] = items_of(replace(read_mapping(str(tmp_path / "m.toml")), names=(str(tmp_path),)))
    assert isinstance(first, Item)
    [message] = first.problems({"errors": [{"pointer": "/values", "detail": "82.5 is outside"}]})
    assert str(message).endswith("(2 files of records) e · b · A · f1 /values: 82.5 is outside")
