"""Each importer on a file of its tool's own format.

The values of `SAMPLES` were written down by hand from the files; all that is sent besides is in `__snapshots__`.
"""

import gzip
import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from registry.errors import Malformed
from registry.grids.intake import Limits, read_submission
from registry.importers import formats, parquet, source
from registry.importers.imported_grid import ImportedGrid, Overrides
from registry.importers.mlflow import read_server
from registry.importers.source import Source

FILES = Path(__file__).parent / "files"
TIDY = {"experiment": "e", "benchmark": "b", "metric": "acc"}
SUMS = ([0.375, 0.6], [0.18298126367784995, 0.24494897427831783])
WORDS = [(0.0, 0.0), (0.0, 0.0), (1.8755636297460478, None), (0.22683105205508416, None)]
INSPECT = [(0.6, 0.24494897427831783), (0.8, 0.12247448713915889)]
MLFLOW = [(0.875, None), (0.125, None), (-0.5, None), (0.75, None), (0.25, None), (-0.5, None)]
SAMPLES: dict[str, tuple[str, dict[str, Any], list[tuple[Any, Any]]]] = {
    "lm_eval.json": ("lm-eval", {}, [SUMS, SUMS, *WORDS]),
    "mteb/some__encoder/2/STS12.json": ("mteb", {}, [([0.1], None)]),
    "inspect.eval": ("inspect", {}, INSPECT),
    "inspect.json": ("inspect", {}, INSPECT),
    "mlflow.json": ("mlflow", {}, MLFLOW),
    "model_card.md": ("model-index", {}, [(0.91, None), (0.25, None)]),
    "tidy.parquet": ("parquet", TIDY, [([0.1, 0.30000000000000004], [0.01, 0.02]), ([None], None)]),
}
"""The format of each file, what is wanted of it, and the values and the standard errors of its grids."""
NAMED = {name: form for name, (form, *_) in SAMPLES.items()}
NAMED |= {"seed_0.txt": "markdown"}


def grids(name: str, **wanted: Any) -> list[ImportedGrid]:
    return list(formats.read(Source(name, FILES / name), Overrides(**wanted)))


def read(path: Path, **wanted: Any) -> list[ImportedGrid]:
    return list(formats.read(Source("x", path), Overrides(**wanted)))


def values_of(sent: dict[str, Any]) -> Any:
    return [cell["value"] for cell in sent["cells"]] if "cells" in sent else sent["values"]


def told(found: list[ImportedGrid]) -> list[dict[str, Any]]:
    """All that is sent, and what is noted; wherever the files are."""
    sent = [one.submission | {"notes": [note.document() for note in one.notes]} for one in found]
    for named in (one["source"] for one in sent if "source" in one):
        named["name"] = named["name"].removeprefix(f"{FILES}/")
    return sent


def test_every_file_is_read_with_its_values_axes_names_protocol_and_notes(subtests, snapshot) -> None:
    for name, (_, wanted, expected) in SAMPLES.items():
        with subtests.test(msg=name):
            found = grids(name, **wanted)
            assert [(values_of(one.submission), one.submission.get("stderr")) for one in found] == expected
            assert told(found) == snapshot(name=name)


def test_a_format_is_told_by_its_content_with_or_without_a_byte_order_mark(subtests, tmp_path: Path) -> None:
    for name, form in NAMED.items():
        with subtests.test(msg=name):
            renamed = tmp_path / "without-a-suffix"
            renamed.write_bytes((FILES / name).read_bytes())
            assert formats.detect(Source("x", renamed)) == form
    for name, form in NAMED.items():
        if name.endswith((".json", ".txt", ".csv")):
            with subtests.test(msg=name, marked=True):
                marked = marked_copy(name, tmp_path / name.replace("/", "-"))
                assert formats.detect(Source("x", marked)) == form
                found, plain = list(formats.read(Source(name, marked), Overrides())), grids(name)
                assert [one.submission["metric"] for one in found] == [one.submission["metric"] for one in plain]


def marked_copy(name: str, folder: Path) -> Path:
    """The file with a byte order mark, with the files beside it, in a folder of the same name."""
    beside = folder / (FILES / name).parent.name
    beside.mkdir(parents=True)
    for path in (FILES / name).parent.iterdir():
        if path.is_file():
            (beside / path.name).write_bytes(path.read_bytes())
    marked = beside / Path(name).name
    marked.write_bytes(b"\xef\xbb\xbf" + marked.read_bytes())
    return marked


def test_an_unknown_file_is_refused_with_what_was_tried(tmp_path: Path) -> None:
    path = tmp_path / "unknown.json"
    for content in (b"\x00\x01\x02", b"just a sentence", b"{}", b"[1, 2]", b"\xff\xfe"):
        path.write_bytes(content)
        with pytest.raises(Malformed, match=r"tried: grid, lm-eval, inspect, .*--format"):
            formats.detect(Source("x", path))


def test_one_of_several_scores_of_mteb_can_be_chosen() -> None:
    [chosen] = grids("mteb/some__encoder/2/STS12.json", only=("cosine_pearson",))
    assert values_of(chosen.submission) == [0.510407]


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
        serving = Thread(target=server.serve_forever, args=(0.01,))
        serving.start()
        found = list(read_server(f"http://127.0.0.1:{server.server_port}", Overrides()))
        server.shutdown()
        serving.join()
    assert {one.submission["experiment"] for one in found} == {"sums"}
    assert [(one.submission["values"], None) for one in found] == MLFLOW


def test_runs_that_did_not_finish_are_named(tmp_path: Path) -> None:
    path = tmp_path / "runs.json"
    path.write_text((FILES / "mlflow.json").read_text().replace('"FINISHED"', '"FAILED"', 1))
    found = read(path)
    assert {one.submission["model"] for one in found} == {"small"}
    assert "these runs did not finish: second" in {note.detail for note in found[0].notes}


def test_a_format_is_told_by_a_key_behind_the_first_mebibyte(tmp_path: Path) -> None:
    entries = [{"hf_subset": f"{number:05}", "main_score": 0.5, "note": "x" * 1000} for number in range(1_100)]
    path = tmp_path / "XQuADRetrieval.json"
    path.write_text(json.dumps({"scores": {"test": entries}, "task_name": "XQuADRetrieval"}))
    assert formats.detect(Source("x", path)) == "mteb"
    [found] = read(path)
    assert len(found.submission["cells"]) == 1_100


def test_two_metrics_of_one_type_in_a_card_are_two_grids(tmp_path: Path) -> None:
    several = """type: accuracy
      value: 0.5
      name: Majority
    - {type: f1, value: 0.4, args: {average: macro}}
    - {type: f1, value: 0.6, args: {average: micro}}"""
    path = tmp_path / "README.md"
    path.write_text(
        (FILES / "model_card.md").read_text().replace("type: loss\n      value: 0.25\n      name: Loss", several)
    )
    assert {found.submission["metric"]["name"]: found.submission["values"] for found in read(path)} == {
        "accuracy": 0.91, "accuracy (Majority)": 0.5,
        'f1 ({"average": "macro"})': 0.4, 'f1 ({"average": "micro"})': 0.6,
    }  # fmt: skip


def test_two_calls_of_a_task_of_inspect_are_two_protocols(tmp_path: Path) -> None:
    log = json.loads((FILES / "inspect.json").read_text())
    log["eval"]["task_args_passed"] = {"difficulty": "hard"}
    path = tmp_path / "log.json"
    path.write_text(json.dumps(log))
    assert read(path)[0].submission["variant"] == "match difficulty=hard"


def test_what_a_small_gzip_file_inflates_to_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "MOST", 2**20)
    path = tmp_path / "bomb.csv.gz"
    path.write_bytes(gzip.compress(bytes(2**22)))
    with pytest.raises(Malformed, match="is larger than 1 MiB"):
        formats.detect(Source("x", path))
    path.write_bytes(gzip.compress(b"Step,value\n0,1\n1,2\n") + gzip.compress(b"2,3\n"))
    assert read(path)[0].submission["values"] == [1.0, 2.0, 3.0]
    path.write_bytes(path.read_bytes()[:20])
    with pytest.raises(Malformed, match="ends before its end"):
        formats.detect(Source("x", path))


def test_a_large_file_is_refused_before_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "large.csv"
    with path.open("wb") as file:
        file.write(b"Step,value\n" + b"0,1\n" * 2**15)
        file.truncate(300 * 2**20)
    with pytest.raises(Malformed, match="is larger than 256 MiB"):
        read(path)
    monkeypatch.setattr(parquet, "MOST", 5)
    with pytest.raises(Malformed, match="at most 5 cells of a Parquet file are read"):
        grids("tidy.parquet")


def test_a_byte_order_mark_is_no_part_of_a_heading_and_utf_16_is_read(tmp_path: Path) -> None:
    for encoding in ("utf-8-sig", "utf-16"):
        path = tmp_path / "table.csv"
        path.write_text("Step,value\n0,1\n1,2\n", encoding=encoding)
        [found] = read(path)
        assert [axis["name"] for axis in found.submission["axes"]] == ["Step"]
        path = tmp_path / "log.json"
        path.write_text((FILES / "lm_eval.json").read_text(), encoding=encoding)
        assert formats.detect(Source("x", path)) == "lm-eval"


def test_lm_eval_of_before_0_4_has_no_filter_behind_its_metrics(tmp_path: Path) -> None:
    """As in the archive of Pythia."""
    scores = {"acc": 0.2474747474747475, "acc_stderr": 0.008855114414834707, "alias": "easy"}
    config = {"model": "hf-causal", "model_args": "pretrained=EleutherAI/pythia-v1.1-1.4b", "num_fewshot": 5}
    file = {"results": {"arc_easy": scores}, "versions": {"arc_easy": 0}, "config": config}
    (tmp_path / "x.json").write_text(json.dumps(file))
    [found] = read(tmp_path / "x.json")
    sent = found.submission
    assert [sent[name] for name in ("benchmark", "model", "variant")] == [
        "arc_easy",
        "EleutherAI/pythia-v1.1-1.4b",
        "5-shot",
    ]
    stored = read_submission(sent, Limits()).grid
    assert stored.metric.direction == "higher"
    assert (stored.values, stored.stderr) == ((scores["acc"],), (scores["acc_stderr"],))


def test_a_standard_error_that_a_harness_did_not_compute_gives_way_to_the_number_of_samples(tmp_path: Path) -> None:
    """14 and 16 of 307 right, each with 0: no gate may call that an improvement without noise."""
    file = json.loads((FILES / "lm_eval.json").read_bytes())
    for right in (14, 16):
        file["results"]["words"] |= {"exact_match,strict-match": right / 307, "exact_match_stderr,strict-match": 0.0}
        file["n-samples"]["words"] = {"original": 307, "effective": 307}
        (tmp_path / "results.json").write_text(json.dumps(file))
        [found] = read(tmp_path / "results.json", only=("exact_match,strict-match",))
        stored = read_submission(found.submission, Limits())
        assert (stored.grid.values, stored.grid.trials, stored.grid.stderr) == ((right / 307,), 307, None)
        assert [one.code for one in stored.warnings] == ["stderr_zero"]


def test_mteb_files_of_both_forms_at_once_and_of_cells_given_twice_say_what_was_read(tmp_path: Path) -> None:
    """mteb 1.36 wrote `mteb_dataset_name` beside `scores`; one archive has files with an entry twice."""
    entry = {"hf_subset": "default", "main_score": 0.84676969, "spearman": 0.5}
    scores = {"test": [entry, entry | {"main_score": 0.84676986}]}
    file = {"mteb_dataset_name": "X", "task_name": "X", "mteb_version": "1.36.0", "scores": scores}
    (tmp_path / "X.json").write_text(json.dumps(file))
    [found] = read(tmp_path / "X.json", model="m")
    assert values_of(found.submission) == [0.84676986]
    assert [(note.code, "0.84676969" in note.detail) for note in found.notes] == [("given_twice", True)]
    del entry["main_score"]
    (tmp_path / "X.json").write_text(json.dumps(file | {"scores": {"test": [entry]}}))
    with pytest.raises(Malformed, match="No entry has the number main_score; there are spearman"):
        read(tmp_path / "X.json", model="m")
