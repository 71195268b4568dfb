"""pull, completion: files, whole or not at all; documents of Every Eval Ever go out as they came in."""

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from registry.grids.intake import Limits, Names, Submission, read_submission
from registry.importers import formats
from registry.importers.imported_grid import Overrides
from registry.importers.source import Source
from tests.commands.terminal import Person
from tests.house import ACCURACY, Project

ONE = "model=Qwen-2.5 3B"


@pytest.mark.parametrize("form", ["json", "md", "txt"])
def test_a_grid_is_written_as_the_api_sends_it(person: Person, ready: Project, form: str) -> None:
    grid = person.json("show", ONE)["id"]
    assert person.says("pull", ONE, "-o", f"x.{form}") == ""
    assert (person.home / f"x.{form}").read_bytes() == ready.get(f"grids/{grid}.{form}").data
    assert person.says("pull", ONE, "--format", form) == ready.get(f"grids/{grid}.{form}").text


def test_all_cells_that_fit_are_one_table(person: Person, ready: Project) -> None:
    person.says("pull", "-o", "all.csv")
    rows = list(csv.DictReader((person.home / "all.csv").read_text(encoding="utf-8").splitlines()))
    assert len(rows) == 10
    assert {row["model"] for row in rows} == {"Qwen-2.5 3B", "Qwen-2.5 7B"}
    lines = person.says("pull", "-m", "Qwen-2.5 7B", "--format", "ndjson").splitlines()
    assert [json.loads(line)["value"] for line in lines] == [99.7, 99.0, 98.7, 98.0, 99.7]


def test_a_statistic_of_every_grid_is_one_table(person: Person, ready: Project) -> None:
    person.says("pull", "--statistic", "trends", "-o", "trends.csv")
    feed = ready.get(f"projects/{ready.slug}/statistics.csv?part=trends")
    assert (person.home / "trends.csv").read_bytes() == feed.data
    lines = person.says("pull", "--statistic", "peaks", "-m", "Qwen-2.5 7B", "--format", "ndjson").splitlines()
    assert [(json.loads(line)["model"], json.loads(line)["value"]) for line in lines] == [("Qwen-2.5 7B", 99.7)] * 2
    assert "registry peaks GRID" in person.complains("pull", ONE, "--statistic", "peaks", status=2)
    assert "does not cut this table" in person.complains("pull", "--statistic", "peaks", "--at", "Length>=1")


def test_a_slice_is_written_and_drawn_alone(person: Person, ready: Project) -> None:
    grid, query = person.json("show", ONE)["id"], {"at.Length": ">=1", "at.Type": "1"}
    asked = ("--at", "Length>=1", "--at", "Type=1")
    for form in ("csv", "md", "ndjson"):
        path = f"grids/{grid}.{form}" if form == "md" else f"grids/{grid}/cells.{form}"
        assert person.says("pull", ONE, "--format", form, *asked) == ready.get(path, query_string=query).text
    assert len(person.says("pull", "--format", "ndjson", *asked).splitlines()) == 4
    assert "Length at least 1, Type 1" in person.says("pull", ONE, "--format", "svg", *asked)
    assert "there are Type, Length" in person.complains("pull", ONE, "--format", "svg", "--at", "Depth=1")


def test_many_grids_are_no_markdown(person: Person, ready: Project) -> None:
    assert "needs one GRID" in person.complains("pull", "-o", "x.md", status=2)


def test_what_fails_leaves_the_file_as_it_was(person: Person, ready: Project) -> None:
    before = person.home / "x.csv"
    before.write_text("mine")
    assert person.run("pull", "00000000-0000-7000-8000-000000000000", "-o", "x.csv").exit_code == 1
    assert before.read_text() == "mine"
    assert [path.name for path in person.home.iterdir() if path.name.startswith(".x")] == []
    assert "cannot be written" in person.complains("pull", ONE, "-o", "no/such/x.csv")


@pytest.mark.parametrize(("name", "begins"), [("x.svg", b"<svg"), ("x.png", b"\x89PNG\r\n"), ("x.vl.json", b"{")])
def test_a_heatmap_is_drawn_in_the_form_of_its_name(person: Person, ready: Project, name: str, begins: bytes) -> None:
    answer = person.run("pull", ONE, "-o", name)
    assert answer.exit_code == 0, answer.output
    written = (person.home / name).read_bytes()
    assert written.startswith(begins)
    assert answer.stderr == f"{name}: {len(written):,} bytes.\n"


@pytest.mark.parametrize(("shell", "word"), [("bash", "complete -o"), ("zsh", "compdef"), ("fish", "complete -")])
def test_each_shell_gets_its_completion(person: Person, shell: str, word: str) -> None:
    script = person.says("completion", shell)
    assert word in script
    assert "_REGISTRY_COMPLETE" in script


def test_the_openapi_documents_are_printed(person: Person) -> None:
    """Those that are committed are current."""
    for name, options in (("openapi.yaml", ()), ("openapi.client.yaml", ("--client",))):
        assert person.says("openapi", *options) == (Path(__file__).parents[2] / name).read_text(encoding="utf-8")


FILES = Path(__file__).parents[1] / "importers/files/archives/every-eval-ever"
SCHEMA = json.loads((FILES / "eval.schema.json").read_text())
PROTOCOL = {"harness": "own", "shots": 5, "seed": "5", "chat": True, "temperature": 0.5, "max_tokens": 0, "top_p": "1",
            "dataset": "org/data", "dataset.part": "x", "evaluator_relationship": "me", "reasoning": False}  # fmt: skip


def submissions(text: str) -> Iterator[Submission]:
    for found in formats.read(Source("x.json", given=text.encode()), Overrides()):
        yield read_submission(found.submission, Limits())


def pulled(person: Person, *words: str) -> str:
    """The documents of grids, a line each, each of them valid."""
    text = person.says("pull", *words, "--format", "every-eval-ever")
    for line in text.splitlines():
        jsonschema.Draft7Validator(SCHEMA).validate(json.loads(line))
    return text


def without_held(text: str) -> str:
    """The same documents as another program might have written them."""
    documents = [json.loads(line) for line in text.splitlines()]
    for result in (one for document in documents for one in document["evaluation_results"]):
        result["metric_config"]["additional_details"].pop("registry_grid")
    return "\n".join(map(json.dumps, documents))


@pytest.mark.parametrize("name", ["hfopenllm", "lm-eval"])
def test_a_document_that_came_in_goes_out_the_same(person: Person, name: str) -> None:
    path = FILES / f"{name}.json"
    person.says("push", str(path))
    text = pulled(person)
    assert len(text.splitlines()) == 1
    before = {one.names: one for one in submissions(path.read_text())}
    for out in (text, without_held(text)):
        after = {one.names: one for one in submissions(out)}
        assert {names: one.grid.digest for names, one in after.items()} == {
            names: one.grid.digest for names, one in before.items()
        }
    assert json.loads(text)["evaluation_id"] == json.loads(path.read_text())["evaluation_id"]


def test_a_grid_of_ours_is_a_result_a_cell_and_comes_in_as_it_was(person: Person, project: Project) -> None:
    levels: list[Any] = [{"label": "1k", "number": 1000}, {"label": "2k", "number": 2000}, 4000]
    axes = [
        {"name": "Task", "kind": "ordinal", "levels": ["b", "a"]},
        {"name": "Length", "kind": "numeric", "levels": levels, "unit": "tokens", "scale": "log"},
    ]
    more = {"axes": axes, "labels": {"commit": "4f2c1e9"}, "protocol": PROTOCOL, "questions": 20}
    project.published(**more)
    repeats = {"repeats": [[3, None, 2], [None, 5, 2]], "sd": [[0.5, None, 1.0], [None, 0.25, 0.125]]}
    stderr = [[0.1, 0.2, None], [None, 0.4, 0.5]]
    trials = [[10, None, 30], [None, 50, 60]]
    other = {"metric": ACCURACY | {"direction": None}, "stderr": stderr, "trials": trials, "derived": True}
    missing = [{"at": {"Task": "a", "Length": 1000}, "reason": "failed"}]
    project.published(**more | other | repeats | {"questions": None, "benchmark": "B", "reasons": missing})
    project.published(model="Qwen-2.5 7B", axes=[], values=99.5, metric={"name": "loss"}, trials=None)
    lines = pulled(person).splitlines()
    assert [len(json.loads(line)["evaluation_results"]) for line in lines] == [1, 10]
    [first] = [one for line in lines for one in json.loads(line)["evaluation_results"]
               if one["metric_config"].get("metric_parameters") == {"Task": "b", "Length": 4000}
               and one["evaluation_name"] == "B"]  # fmt: skip
    assert first["score_details"] == {
        "score": 98.3,
        "uncertainty": {"num_samples": 30, "standard_deviation": 1.0},
        "details": {"trials": "30", "repeats": "2"},
    }
    assert first["generation_config"]["generation_args"] == {"temperature": 0.5, "reasoning": False}
    after = {
        (one.names.benchmark, one.names.model): (one.names, one.grid.digest) for one in submissions("\n".join(lines))
    }
    for grid in project.get(f"projects/{project.slug}/grids").get_json()["items"]:
        names, digest = after[grid["benchmark"], grid["model"]]
        assert digest == grid["digest"]
        assert names == Names(
            grid["experiment"], *map(grid.get, ("benchmark", "model", "variant")), grid["metric"]["name"]
        )


def test_each_model_is_a_file_of_a_folder(person: Person, ready: Project) -> None:
    assert "folder/001_type-by-length" not in person.says("pull", "--format", "every-eval-ever", "-o", "folder")
    files = sorted((person.home / "folder").iterdir())
    assert [json.loads(one.read_text())["model_info"]["id"] for one in files] == ["Qwen-2.5 7B", "Qwen-2.5 3B"]
    person.says("pull", "model=Qwen-2.5 3B", "--format", "every-eval-ever", "-o", "one.json")
    assert len(json.loads((person.home / "one.json").read_text())["evaluation_results"]) == 5
    form = ("--format", "every-eval-ever")
    assert "2 documents" in person.complains("pull", *form, "-o", "x.json", status=2)
