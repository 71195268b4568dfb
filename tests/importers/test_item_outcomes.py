"""Outcomes of items beside what lm-evaluation-harness and Inspect write; results of airspeed velocity."""

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from registry.errors import Malformed
from registry.grids.intake import Limits, read_submission
from registry.importers import formats
from registry.importers.imported_grid import ImportedGrid, Overrides
from registry.importers.mapping_file import read_mapping
from registry.importers.reading import Item, Sources, items_of
from registry.importers.source import Source

STAMP = "2026-11-20T10-00-00.123456"


def harness(folder: Path, tasks: dict[str, list[int]], group: str = "", order: int = 1, **more: Any) -> Path:
    """Results and samples of some tasks, whose documents were answered in this order."""
    folder.mkdir(exist_ok=True)
    results, samples = {}, {}
    for task, flags in tasks.items():
        n, mean = len(flags), sum(flags) / len(flags)
        results[task] = {"alias": task, "acc,none": mean, "acc_stderr,none": (mean * (1 - mean) / (n - 1)) ** 0.5}
        samples[task] = {"original": n, "effective": n}
        lines = [
            {"doc_id": i, "doc": {"q": "?" * 9, "story": {"id": i // 2}}, "doc_hash": f"{task}{i}" * 8,
             "filter": "none", "metrics": ["acc"], "resps": [["x"]], "acc": float(flag)}
            for i, flag in enumerate(flags)
        ][::order]  # fmt: skip
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (folder / f"samples_{task}_{STAMP}.jsonl").write_text(text)
    file = {
        "results": results, "n-samples": samples, "model_name": "m", "versions": {}, "configs": {},
        "higher_is_better": {task: {"acc": True} for task in tasks},
    } | ({"group_subtasks": {group: list(tasks)}} if group else {}) | more  # fmt: skip
    path = folder / f"results_{STAMP}.json"
    path.write_text(json.dumps(file))
    return path


def grids(path: Path, **wanted: Any) -> list[ImportedGrid]:
    return list(formats.read(Source(path.name, path), Overrides(**wanted)))


FLAGS = [1, 0, 1, 1, 0, 1]


def test_samples_of_the_harness_are_the_outcomes_of_its_results(tmp_path: Path) -> None:
    [found] = grids(harness(tmp_path, {"arc": FLAGS}))
    [body] = found.items
    assert body["cells"] == [{"at": {}, "outcomes": FLAGS}]
    assert (body["set"]["name"], body["set"]["count"], len(set(body["set"]["ids"]))) == ("arc", 6, 6)
    assert found.submission["trials"] == 6
    [in_another_order] = grids(harness(tmp_path / "b", {"arc": FLAGS}, order=-1))
    assert found.items == in_another_order.items


def test_tasks_of_a_group_have_a_set_each(tmp_path: Path) -> None:
    found = grids(harness(tmp_path, {"law": FLAGS, "art": [0, 1, 1]}, group="mmlu"))
    [grid] = [one for one in found if one.submission["benchmark"] == "mmlu" and one.submission["axes"]]
    cells = [body["cells"][0] for body in grid.items]
    assert cells == [{"at": {"task": "law"}, "outcomes": FLAGS}, {"at": {"task": "art"}, "outcomes": [0, 1, 1]}]


def test_a_folder_is_pushed_without_its_samples_as_files_of_their_own(tmp_path: Path) -> None:
    path = harness(tmp_path, {"arc": FLAGS})
    assert list(formats.files_of([tmp_path])) == [path]
    lone = tmp_path / "alone" / path.with_name(f"samples_arc_{STAMP}.jsonl").name
    lone.parent.mkdir()
    lone.write_text("{}\n")
    assert lone in formats.files_of([tmp_path])


UNFIT = {
    "{broken\n": "cannot be read",
    "[1]\n": "cannot be read",
    '{"doc_id": 0, "acc": 1.0}\n{"doc_id": 1, "acc": null}\n': "score from 0 to 1",
    '{"doc_id": 0, "acc": 1.0}\n{"doc_id": 0, "acc": 0.0}\n': "an id of its own",
    '{"doc_id": 0, "acc": 1.0}\n': "6 trials",
    "": None,
}


def test_samples_that_do_not_fit_are_left_out_with_a_note(subtests, tmp_path: Path) -> None:
    path = harness(tmp_path, {"arc": FLAGS})
    for text, told in UNFIT.items():
        with subtests.test(text=text):
            (tmp_path / f"samples_arc_{STAMP}.jsonl").write_text(text)
            [found] = grids(path)
            assert found.items == ()
            notes = [note.detail for note in found.notes if note.code == "items_left_out"]
            assert told is None or (len(notes) == 1 and told in notes[0])


def test_what_an_item_belongs_to_is_a_key_of_its_document(tmp_path: Path) -> None:
    path = harness(tmp_path, {"race": FLAGS}, order=-1)
    assert "clusters" not in grids(path)[0].items[0]["set"]
    (tmp_path / "own.toml").write_text('[column]\ncluster = "doc.story.id"\n')
    for roles in ({"cluster": "doc.story.id"}, read_mapping(str(tmp_path / "own.toml")).wanted.roles):
        [found] = grids(path, roles=roles)
        assert found.items[0]["set"]["clusters"] == ["0", "0", "1", "1", "2", "2"]
    assert "clusters" in grids(inspect_json(tmp_path, PASSAGES), roles={"cluster": "metadata.text"})[0].items[0]["set"]
    [found] = grids(inspect_json(tmp_path, PASSAGES[1:] + SAMPLES[:1]), roles={"cluster": "metadata.text"})
    assert "clusters" not in found.items[0]["set"]
    told = [note.detail for note in found.notes if note.code == "clusters_left_out"]
    assert told == ["the clusters of 5 of 6 items were left out: the others have none"]
    with pytest.raises(Malformed, match="--column would change nothing"):
        grids(path, roles={"model": "doc.story.id"})


SAMPLES = [
    {"id": f"s{i}", "epoch": 1, "input": "?", "target": "A", "scores": {"match": {"value": "C" if flag else "I"}}}
    for i, flag in enumerate(FLAGS)
]
PASSAGES = [one | {"metadata": {"text": "A passage of a page. " * 99}} for one in SAMPLES]
METRICS = {"accuracy": {"value": 4 / 6}, "stderr": {"value": (4 / 6 * 2 / 6 / 5) ** 0.5}}
LOG: dict[str, Any] = {
    "version": 2,
    "status": "success",
    "eval": {"task": "theory", "model": "m", "created": "2026-11-20T10:00:00+00:00"},
    "results": {"scores": [{"name": "match", "scorer": "match", "scored_samples": 6, "metrics": METRICS}]},
}


def inspect_json(folder: Path, samples: Any, log: dict[str, Any] = LOG) -> Path:
    path = folder / "log.json"
    path.write_text(json.dumps(log | {"samples": samples}))
    return path


def test_samples_of_an_inspect_log_are_its_outcomes_zipped_or_not(tmp_path: Path) -> None:
    [found] = grids(inspect_json(tmp_path, SAMPLES))
    [body] = found.items
    assert sorted(zip(body["set"]["ids"], body["cells"][0]["outcomes"], strict=True))[0][1] == FLAGS[0]
    assert (body["set"]["count"], sum(body["cells"][0]["outcomes"])) == (6, 4)
    path = tmp_path / "log.eval"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("header.json", json.dumps(LOG))
        archive.writestr("summaries.json", json.dumps(SAMPLES[::-1]))
    assert grids(path)[0].items == found.items


def test_epochs_are_repeats_of_their_item(tmp_path: Path) -> None:
    """Two epochs: the second gets s0 wrong, so that its score is one half."""
    again = [one | {"epoch": 2} for one in SAMPLES]
    again[0] = again[0] | {"scores": {"match": {"value": 0}}}
    log = json.loads(json.dumps(LOG))
    log["results"]["scores"][0]["metrics"] = {"accuracy": {"value": 3.5 / 6}}
    [found] = grids(inspect_json(tmp_path, SAMPLES + again, log))
    [cell] = found.items[0]["cells"]
    assert (cell["repeats"], sorted(cell["outcomes"])) == (2, [0, 0, 0.5, 1, 1, 1])


def test_samples_without_scores_leave_a_log_as_it_was(tmp_path: Path) -> None:
    for samples in (None, [], [{"id": 1}], [3], [{"id": 1, "scores": {"match": {"value": "x"}}}]):
        [found] = grids(inspect_json(tmp_path, samples))
        assert found.items == ()


FILES = Path(__file__).parent / "files"
TIME = {"name": "time", "unit": "s", "direction": "lower", "lower": 0}


def read(folder: str) -> dict[str, dict[str, Any]]:
    """The grids of a folder by benchmark; all of its other files are read with them, or say nothing."""
    found = list(items_of(Sources((str(FILES / folder),), "auto", Overrides())))
    assert all(isinstance(one, Item) for one in found), found
    grids = [one.found.submission for one in found if isinstance(one, Item)]
    return {grid["benchmark"]: grid for grid in grids}


def test_the_product_of_the_parameters_is_a_grid_with_gaps_where_a_run_failed_or_was_skipped() -> None:
    made = read("asv")["suite.Joined.time_made"]
    grid = read_submission(made, Limits()).grid
    assert [(axis.name, axis.kind, [level.label for level in axis.levels]) for axis in grid.axes] == [
        ("length", "numeric", ["10", "100"]),
        ("kind", "nominal", ["list", "tuple", "set"]),
    ]
    assert grid.values == (1.111499841499608e-06, None, 2.119000100719859e-06, 1.6629999208817026e-06,
                           2.7949997729592724e-06, None)  # fmt: skip
    assert grid.reasons == {1: "failed", 5: "not_applicable"}
    assert grid.stderr is not None
    # the interval at 99 % is 9.92e-07 to 1.323e-06, and 2.575829 standard errors to either side
    assert grid.stderr[0] == pytest.approx((1.323e-06 - 9.92e-07) / 2 / 2.575829, rel=1e-6)
    assert made["metric"] == TIME


def test_commits_are_models_under_the_machine_and_environment_that_measured_them() -> None:
    found = read("asv")
    one = found["suite.peakmem_list"]
    assert (one["model"], one["variant"]) == ("cde70ad74b2edf5b4acc294989ddc3aecf57ffd5", "minibox existing-py_python3")
    assert one["labels"] == {"date": "2026-11-27T04:47:06+00:00"}
    assert one["protocol"]["machine"] == "minibox"
    assert one["protocol"]["benchmark_version"].startswith("73dc2c59")
    assert (one["metric"]["name"], one["metric"]["unit"]) == ("peakmemory", "bytes")
    assert found["suite.track_answer"]["metric"] == {"name": "track", "unit": "points"}


def test_results_of_the_first_version_are_read_too() -> None:
    found = read("archives/asv")
    assert len(found) == 21
    latitude = found["time_coordinates.time_latitude"]
    assert (latitude["cells"][0]["value"], latitude["variant"]) == (
        0.0004540278911590576,
        "cheetah py2.7-Cython-numpy1.8",
    )
    assert [cell["value"] for cell in found["time_other.time_parameterized"]["cells"]] == [1, 2, 3]
    assert [found[f"time_AAA_{name}"]["cells"][0]["reason"] for name in ("failure", "skip")] == [
        "failed",
        "not_applicable",
    ]
    assert found["time_ci_small"]["cells"][0]["stderr"] == pytest.approx(0.1 / 2.575829, rel=1e-6)
    assert (found["time_units.mem_unit"]["metric"]["name"], found["time_units.mem_unit"]["cells"][0]["value"]) == (
        "memory",
        344,
    )
