"""Each importer on a file of its tool's own format; the expected numbers were written down by hand from the files."""

from __future__ import annotations

import gzip
import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from registry.errors import Malformed
from registry.grids.intake.faults import Limits
from registry.importers import formats, parquet, source
from registry.importers.imported_grid import ImportedGrid, Overrides
from registry.importers.mlflow import read_server
from registry.importers.source import Source

FILES = Path(__file__).parent / "files"
NAMED = {
    "lm_eval.json": "lm-eval",
    "lm_eval_early.json": "lm-eval",
    "mteb_early/STS22.json": "mteb",
    "inspect.eval": "inspect",
    "inspect.json": "inspect",
    "mteb/some__encoder/2/STS12.json": "mteb",
    "helm/stats.json": "helm",
    "mlflow.json": "mlflow",
    "model_card.md": "model-index",
    "wandb_chart.csv": "wandb",
    "xarray3.nc": "netcdf",
    "xarray4.nc": "netcdf",
    "tidy.parquet": "parquet",
    "seed_0.txt": "markdown",
}


def grids(name: str, **wanted: Any) -> list[ImportedGrid]:
    path = FILES / name
    return list(formats.read(Source(name, path), Overrides(**wanted)))


def by_name(name: str, **wanted: Any) -> dict[tuple[str, str], dict[str, Any]]:
    found = grids(name, **wanted)
    return {(one.submission["benchmark"], one.submission["metric"]["name"]): one.submission for one in found}


@pytest.mark.parametrize("name", NAMED)
def test_a_format_is_told_by_its_content(name: str, tmp_path: Path) -> None:
    renamed = tmp_path / "without-a-suffix"
    renamed.write_bytes((FILES / name).read_bytes())
    assert formats.detect(Source("x", renamed)) == NAMED[name]


@pytest.mark.parametrize("name", [name for name in NAMED if name.endswith((".json", ".txt", ".csv"))])
def test_a_byte_order_mark_before_a_text_changes_nothing(name: str, tmp_path: Path) -> None:
    beside = tmp_path / (FILES / name).parent.name
    beside.mkdir()
    for path in (FILES / name).parent.iterdir():
        if path.is_file():
            (beside / path.name).write_bytes(path.read_bytes())
    marked = beside / Path(name).name
    marked.write_bytes(b"\xef\xbb\xbf" + marked.read_bytes())
    assert formats.detect(Source("x", marked)) == NAMED[name]
    found = list(formats.read(Source(name, marked), Overrides()))
    assert [one.submission["metric"] for one in found] == [one.submission["metric"] for one in grids(name)]


@pytest.mark.parametrize("content", [b"\x00\x01\x02", b"just a sentence", b"{}", b"[1, 2]", b"\xff\xfe"])
def test_an_unknown_file_is_refused_with_what_was_tried(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "unknown.json"
    path.write_bytes(content)
    with pytest.raises(Malformed, match=r"tried: grid, lm-eval, inspect, .*--format"):
        formats.detect(Source("x", path))


def test_lm_eval_keeps_stderr_and_n_and_takes_groups_together() -> None:
    sent = [one.submission for one in grids("lm_eval.json")]
    found = {(one["experiment"], one["benchmark"], one["metric"]["name"]): one for one in sent}
    harness = "lm-evaluation-harness"
    sums = found[harness, "sums", "acc"]
    assert sums["axes"] == [{"name": "task", "kind": "nominal", "levels": ["sums_a", "sums_b"]}]
    assert (sums["values"], sums["trials"]) == ([0.375, 0.6], [8, 5])
    assert sums["stderr"] == [0.18298126367784995, 0.24494897427831783]
    assert sums["metric"] == {"name": "acc", "direction": "higher", "lower": 0.0, "upper": 1.0}
    assert (sums["model"], sums["variant"]) == ("bu6tyawv", "0-shot")
    words = found[harness, "words", "exact_match,strict-match"]
    assert (words["values"], words["trials"], words["questions"], words["axes"]) == (0.0, 8, 8, [])
    assert "questions" not in sums
    reading = found[harness, "reading", "word_perplexity"]
    assert reading["metric"]["direction"] == "lower"
    assert "stderr" not in reading
    assert "trials" not in reading
    assert reading["labels"]["n"] == "8"
    whole = found[f"{harness} groups", "sums", "acc"]
    assert (whole["values"], whole["stderr"]) == (0.46153846153846156, 0.14664070547940125)
    assert len(found) == 7


@pytest.mark.parametrize("name", ["inspect.eval", "inspect.json"])
def test_inspect_knows_trials_from_means(name: str) -> None:
    if name.endswith(".eval"):
        pytest.importorskip("zstandard")
    accuracy, mean = (one.submission for one in grids(name))
    assert (accuracy["benchmark"], accuracy["model"], accuracy["variant"]) == ("sums", "mockllm/model", "match")
    assert (accuracy["values"], accuracy["stderr"]) == (0.6, 0.24494897427831783)
    assert (accuracy["trials"], accuracy["questions"]) == (5, 5)
    assert (mean["values"], mean["stderr"], mean["labels"]["n"]) == (0.8, 0.12247448713915889, "5")
    assert "trials" not in mean
    assert "direction" not in mean["metric"]


def test_mteb_takes_the_main_score_and_names_what_it_leaves() -> None:
    [found] = grids("mteb/some__encoder/2/STS12.json")
    assert found.submission["model"] == "mteb/baseline-random-encoder"
    assert found.submission["benchmark"] == "STS12"
    assert found.submission["axes"] == [
        {"name": "split", "kind": "nominal", "levels": ["test"]},
        {"name": "subset", "kind": "nominal", "levels": ["default"]},
    ]
    assert found.submission["cells"] == [{"at": {"split": "test", "subset": "default"}, "value": 0.1}]
    assert found.submission["metric"] == {"name": "main_score", "direction": "higher"}
    assert "cosine_pearson" in found.notes[0].detail
    [chosen] = grids("mteb/some__encoder/2/STS12.json", only=("cosine_pearson",))
    assert [cell["value"] for cell in chosen.submission["cells"]] == [0.510407]


def test_helm_takes_its_own_metrics_over_splits_and_perturbations() -> None:
    found = by_name("helm/stats.json")
    benchmark = "mmlu:subject=philosophy,method=multiple_choice_joint"
    assert set(found) == {(benchmark, "exact_match"), (benchmark, "bits_per_byte")}
    match = found[benchmark, "exact_match"]
    assert match["model"] == "openai/gpt2"
    assert [(one["at"], one["value"]) for one in match["cells"]] == [
        ({"split": "valid", "perturbation": "none"}, 0.5),
        ({"split": "test", "perturbation": "none"}, 0.25),
        ({"split": "test", "perturbation": "typos"}, 0.125),
    ]
    assert match["labels"] == {"n": "8"}
    bits = found[benchmark, "bits_per_byte"]
    assert bits["metric"]["direction"] == "lower"
    assert [(axis["name"], axis["levels"]) for axis in bits["axes"]] == [
        ("split", ["test"]),
        ("perturbation", ["none"]),
    ]


def test_mlflow_takes_the_last_value_of_each_metric() -> None:
    found = {
        (one.submission["model"], one.submission["metric"]["name"]): one.submission for one in grids("mlflow.json")
    }
    assert {key: one["values"] for key, one in found.items()} == {
        ("small", "accuracy"): 0.75, ("small", "val_loss"): 0.25, ("small", "skew"): -0.5,
        ("large", "accuracy"): 0.875, ("large", "val_loss"): 0.125, ("large", "skew"): -0.5,
    }  # fmt: skip
    assert found["small", "val_loss"]["metric"]["direction"] == "lower"
    assert found["small", "skew"]["metric"].get("direction") is None
    assert found["small", "accuracy"]["benchmark"] == "addition"


class Tracking(BaseHTTPRequestHandler):
    """An MLflow server's two searches over the runs of the file, one run a page."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        runs = json.loads((FILES / "mlflow.json").read_text())["runs"]
        page = int(asked.get("page_token", 0))
        more = {"next_page_token": str(page + 1)} if page + 1 < len(runs) else {}
        answers: dict[str, Any] = {
            "/api/2.0/mlflow/experiments/search": {"experiments": [{"experiment_id": "1", "name": "sums"}]},
            "/api/2.0/mlflow/runs/search": {"runs": [runs[page]]} | more,
        }
        sent = json.dumps(answers[self.path]).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(sent)))
        self.end_headers()
        self.wfile.write(sent)

    def log_message(self, *_given: object) -> None:
        pass


def test_a_live_mlflow_server_is_read_page_after_page() -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), Tracking) as server:
        serving = Thread(target=server.serve_forever)
        serving.start()
        found = list(read_server(f"http://127.0.0.1:{server.server_port}", Overrides()))
        server.shutdown()
        serving.join()
    in_file = grids("mlflow.json")
    assert len(found) == len(in_file) == 6
    assert {one.submission["experiment"] for one in found} == {"sums"}
    assert [one.submission["values"] for one in found] == [one.submission["values"] for one in in_file]


def test_a_model_card_gives_single_scores() -> None:
    found = by_name("model_card.md")
    assert found["GLUE (sst2)", "accuracy"]["values"] == 0.91
    assert found["GLUE (sst2)", "loss"]["metric"]["direction"] == "lower"


def test_a_chart_of_wandb_is_a_grid_over_its_steps() -> None:
    [found] = grids("wandb_chart.csv")
    assert found.submission["axes"] == [{"name": "Step", "kind": "numeric", "levels": [0, 20]}]
    assert (found.submission["model"], found.submission["values"]) == ("run-a", [0.5, 0.75])


@pytest.mark.parametrize("name", ["xarray3.nc", "xarray4.nc"])
def test_netcdf_brings_axes_units_and_gaps(name: str) -> None:
    pytest.importorskip("xarray")
    [found] = grids(name)
    assert found.submission["values"] == [[0.5, 0.25, None], [1.0, 0.75, 0.125]]
    assert found.submission["axes"] == [
        {"name": "task", "kind": "nominal", "levels": ["sum", "sort"]},
        {"name": "length", "unit": "tokens", "kind": "numeric", "levels": [1, 2, 4]},
    ]
    assert [found.submission[name] for name in ("experiment", "benchmark", "model", "variant")] == ["e", "b", "m", "v"]


def test_parquet_keeps_the_bits_of_its_numbers() -> None:
    first, second = (one.submission for one in grids("tidy.parquet", experiment="e", benchmark="b", metric="acc"))
    assert (first["model"], first["values"], first["stderr"]) == ("a", [0.1, 0.30000000000000004], [0.01, 0.02])
    assert (second["model"], second["cells"] if "cells" in second else second["values"]) == ("b", [None])


def test_runs_that_did_not_finish_are_named(tmp_path: Path) -> None:
    path = tmp_path / "runs.json"
    path.write_text((FILES / "mlflow.json").read_text().replace('"FINISHED"', '"FAILED"', 1))
    found = list(formats.read(Source("x", path), Overrides()))
    assert {one.submission["model"] for one in found} == {"small"}
    assert "these runs did not finish: second" in {note.detail for note in found[0].notes}


def test_a_table_of_runs_of_wandb_is_single_scores(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    path.write_text("Name,State,Runtime,accuracy\na,finished,10,0.5\nb,crashed,3,0.25\n")
    [found] = formats.read(Source("x", path), Overrides())
    assert (found.submission["model"], found.submission["values"]) == ("a", 0.5)
    assert "these runs did not finish: b" in {note.detail for note in found.notes}


def test_a_format_is_told_by_a_key_behind_the_first_mebibyte(tmp_path: Path) -> None:
    entries = [{"hf_subset": f"{number:05}", "main_score": 0.5, "note": "x" * 100} for number in range(10_000)]
    path = tmp_path / "XQuADRetrieval.json"
    path.write_text(json.dumps({"scores": {"test": entries}, "task_name": "XQuADRetrieval"}))
    source = Source("x", path)
    assert formats.detect(source) == "mteb"
    [found] = formats.read(source, Overrides())
    assert len(found.submission["cells"]) == 10_000


def test_lm_eval_before_0_4_is_read() -> None:
    found = by_name("lm_eval_early.json")
    assert set(found) == {("lambada_openai", "ppl"), ("lambada_openai", "acc"), ("hendrycksTest-anatomy", "acc"),
                          ("hendrycksTest-anatomy", "acc_norm")}  # fmt: skip
    accuracy = found["lambada_openai", "acc"]
    assert (accuracy["model"], accuracy["variant"], accuracy["values"]) == ("EleutherAI/pythia-70m", "5-shot", 0.1875)
    assert (accuracy["stderr"], accuracy["metric"]["direction"]) == (0.005437, "higher")
    assert found["lambada_openai", "ppl"]["metric"]["direction"] == "lower"


def test_mteb_before_1_11_is_read_with_the_main_score_of_its_kind() -> None:
    [found] = grids("mteb_early/STS22.json", model="some/encoder")
    assert (found.submission["benchmark"], found.submission["metric"]["name"]) == ("STS22", "main_score")
    assert [(cell["at"]["split"], cell["at"]["subset"], cell["value"]) for cell in found.submission["cells"]] == [
        ("test", "en", 0.625), ("test", "zh", 0.5)
    ]  # fmt: skip
    assert '"cosine_spearman" was read as the main score' in {note.detail for note in found.notes}
    [found] = grids("mteb_early/Banking77.json", model="some/encoder")
    assert [(cell["at"], cell["value"]) for cell in found.submission["cells"]] == [
        ({"split": "test", "subset": "default"}, 0.75)
    ]


def test_two_metrics_of_one_type_in_a_card_are_two_grids(tmp_path: Path) -> None:
    card = (FILES / "model_card.md").read_text()
    path = tmp_path / "README.md"
    path.write_text(
        card.replace(
            "{type: loss, value: 0.25, name: Loss}",
            """{type: accuracy, value: 0.5, name: Majority}
    - {type: f1, value: 0.4, args: {average: macro}}
    - {type: f1, value: 0.6, args: {average: micro}}""",
        )
    )
    found = {
        one.submission["metric"]["name"]: one.submission["values"]
        for one in formats.read(Source("x", path), Overrides())
    }
    assert found == {
        "accuracy": 0.91, "accuracy (Majority)": 0.5,
        'f1 ({"average": "macro"})': 0.4, 'f1 ({"average": "micro"})': 0.6,
    }  # fmt: skip


def test_two_calls_of_a_task_of_inspect_are_two_protocols(tmp_path: Path) -> None:
    log = json.loads((FILES / "inspect.json").read_text())
    log["eval"]["task_args_passed"] = {"difficulty": "hard"}
    path = tmp_path / "log.json"
    path.write_text(json.dumps(log))
    first = next(iter(formats.read(Source("x", path), Overrides())))
    assert first.submission["variant"] == "match difficulty=hard"


def test_what_a_small_gzip_file_inflates_to_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "MOST", 2**20)
    path = tmp_path / "bomb.csv.gz"
    path.write_bytes(gzip.compress(bytes(2**24)))
    with pytest.raises(Malformed, match="is larger than 1 MiB"):
        formats.detect(Source("x", path))
    path.write_bytes(gzip.compress(b"Step,value\n0,1\n1,2\n") + gzip.compress(b"2,3\n"))
    [found] = formats.read(Source("x", path), Overrides())
    assert found.submission["values"] == [1.0, 2.0, 3.0]
    path.write_bytes(path.read_bytes()[:20])
    with pytest.raises(Malformed, match="ends before its end"):
        formats.detect(Source("x", path))


def test_a_large_file_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "large.csv"
    with path.open("wb") as file:
        file.write(b"Step,value\n" + b"0,1\n" * 2**15)
        file.truncate(300 * 2**20)
    with pytest.raises(Malformed, match="is larger than 256 MiB"):
        list(formats.read(Source("x", path), Overrides()))


def test_netcdf_of_more_cells_than_a_grid_may_have_is_refused_before_it_is_loaded() -> None:
    pytest.importorskip("xarray")
    with pytest.raises(Malformed, match="has 6 cells; a grid has at most 5"):
        grids("xarray4.nc", limits=Limits(cells=5))


def test_parquet_of_very_many_cells_is_refused_before_it_is_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet, "MOST", 5)
    with pytest.raises(Malformed, match="at most 5 cells of a Parquet file are read"):
        grids("tidy.parquet")


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_a_byte_order_mark_is_no_part_of_a_heading_and_utf_16_is_read(encoding: str, tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("Step,value\n0,1\n1,2\n", encoding=encoding)
    [found] = formats.read(Source("x", path), Overrides())
    assert [axis["name"] for axis in found.submission["axes"]] == ["Step"]
    path = tmp_path / "log.json"
    path.write_text((FILES / "lm_eval.json").read_text(), encoding=encoding)
    assert formats.detect(Source("x", path)) == "lm-eval"
