"""registry gate and baseline: the exit status is the verdict, and nothing to judge is no pass."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt

from tests.commands.terminal import Person
from tests.house import Project, publication

FILES = Path(__file__).parents[1] / "importers" / "files"
NAMES = ("-e", "type-by-length", "--metric", "accuracy")


def put(project: Project, model: str, value: float | None, **changes: Any) -> None:
    project.published(model=model, variant="", **{"axes": [], "values": value, "trials": 1_000} | changes)


@pytest.fixture
def judged(project: Project, person: Person) -> Project:
    """A baseline of 70 with a margin of 3; contenders that are better, worse, undecided and without results."""
    for model, value in (("base", 70.0), ("better", 80.0), ("worse", 60.0), ("close", 68.0)):
        put(project, model, value)
    put(project, "empty", 70.0, benchmark="another")
    assert person.run("baseline", "set", "main", "base", *NAMES, "--margin", "3").exit_code == 0
    return project


def answered(person: Person, project: Project, *words: str) -> Any:
    """The result of the command once the verdict is computed."""
    person.run(*words, "--wait", "0")
    project.house.compute()
    return person.run(*words)


@pytest.mark.parametrize(
    ("contender", "more", "status", "word"),
    [
        ("better", (), 0, "improved"),
        ("worse", (), 3, "regressed"),
        ("close", (), 6, "inconclusive"),
        ("close", ("--inconclusive", "pass"), 0, "inconclusive"),
        ("close", ("--inconclusive", "fail"), 3, "inconclusive"),
        ("empty", (), 6, "not_comparable"),
        ("empty", ("--inconclusive", "pass"), 6, "not_comparable"),
        ("empty", ("--inconclusive", "fail"), 6, "not_comparable"),
        ("never-published", ("--inconclusive", "pass"), 6, "not_comparable"),
    ],
)
def test_the_exit_status_is_the_verdict(
    person: Person, judged: Project, contender: str, more: tuple[str, ...], status: int, word: str
) -> None:
    found = answered(person, judged, "gate", "main", contender, *more)
    assert (found.exit_code, found.stdout.split(":")[0]) == (status, word), found.output


def test_better_but_not_by_the_margin_is_undecided_too(person: Person, judged: Project) -> None:
    person.says("baseline", "set", "best", "base", *NAMES, "--kind", "improves", "--margin", "9")
    for more, status in (((), 6), (("--inconclusive", "fail"), 3), (("--inconclusive", "pass"), 0)):
        found = answered(person, judged, "gate", "best", "better", *more)
        assert (found.exit_code, found.stdout.split(":")[0]) == (status, "improved")


def test_what_is_not_computed_yet_is_pending_and_what_does_not_answer_is_5(person: Person, judged: Project) -> None:
    assert person.says("gate", "main", "better", "--wait", "0", status=6).startswith("pending: ")
    nobody = person.having(REGISTRY_URL="http://127.0.0.1:9")
    assert nobody.run("gate", "main", "better", "--wait", "0").exit_code == 5


def test_the_baseline_itself_is_an_error_and_no_verdict(person: Person, judged: Project) -> None:
    assert "baseline itself" in person.complains("gate", "main", "base", status=1)


def test_what_is_missing_is_named_and_a_project_that_nobody_sees_has_a_hint(person: Person, judged: Project) -> None:
    told = person.complains("gate", "mian", "better", status=1)
    assert 'The project has no baseline "mian"; there is main.' in told
    told = person.complains("protocol", "show", "nope", status=1)
    assert "The project has no grid of such an experiment; there is" in told
    assert "type-by-length" in told
    hidden = person.complains("baseline", "ls", "-p", "nobodys", status=1)
    assert "has nothing there in the project nobodys that this token may see; `registry ls projects` shows" in hidden


def test_json_is_the_document_of_the_api(person: Person, judged: Project) -> None:
    found = answered(person, judged, "gate", "main", "worse", "--format", "json")
    told = json.loads(found.stdout)
    assert (found.exit_code, told["verdict"], told["passes"], told["policy_version"]) == (3, "regressed", False, 1)


def test_the_comment_on_a_pull_request_is_the_markdown_of_the_api(person: Person, judged: Project) -> None:
    person.says("baseline", "set", "each", "base", *NAMES, "--kind", "no_cell_worse", "--margin", "3")
    found = answered(person, judged, "gate", "each", "worse", "--format", "markdown").stdout
    path = f"projects/{judged.slug}/baselines/each/gate?contender=worse"
    assert judged.get(path, headers={"Accept": "text/markdown"}).text == found
    tokens = MarkdownIt().enable("table").parse(found)
    told = [one.content for one in tokens if one.type == "inline"]
    assert told[:2] == ["worse against each: regressed", judged.get(path).get_json()["sentence"]]
    assert told[2:9] == ["judged", "verdict", "gap", "interval", "Core Generalization", "regressed", "-10"]
    assert person.says("gate", "main", "nobody", "--format", "markdown", status=6).startswith(
        "### nobody against main: not comparable\n\nThere is nothing to judge: "
    )


@pytest.mark.parametrize(("contender", "level"), [("better", "notice"), ("worse", "error"), ("close", "warning")])
def test_github_is_told_in_one_line(person: Person, judged: Project, contender: str, level: str) -> None:
    told = answered(person, judged, "gate", "main", contender, "--format", "github").stdout
    assert told.startswith(f"::{level} title=main%3A ")
    assert told.count("\n") == 1
    assert "(90 %25 interval " in told


def test_a_file_is_judged_without_being_published(person: Person, judged: Project) -> None:
    grid = publication(model="pr", variant="", axes=[], values=60.0, trials=1_000)
    (person.home / "grid.json").write_text(json.dumps(grid))
    found = answered(person, judged, "gate", "main", "grid.json")
    assert (found.exit_code, found.stdout.split(":")[0]) == (3, "regressed")
    (person.home / "grid.json").write_text("{")
    assert "This is not JSON" in person.complains("gate", "main", "grid.json", status=1)
    assert "There is no file" in person.complains("gate", "main", "nowhere.json", status=2)


def test_the_files_of_a_harness_are_judged_as_they_are_and_all_must_pass(
    person: Person, project: Project, tmp_path: Path
) -> None:
    """What `push` reads: the baseline comes from one file, the contenders from others that were not published."""
    harness = json.loads((FILES / "lm_eval.json").read_bytes())

    def results(name: str, right: int) -> str:
        file = harness | {"model_name": name, "n-samples": {"words": {"original": 307, "effective": 307}}}
        score = {"exact_match,strict-match": right / 307, "exact_match_stderr,strict-match": 0.0}
        (tmp_path / f"results_{name}.json").write_text(json.dumps(file | {"results": {"words": score}}))
        return str(tmp_path / f"results_{name}.json")

    metric = "exact_match,strict-match"
    person.says("push", results("base", 200))
    names = ("-e", "lm-evaluation-harness", "--metric", metric)
    person.says("baseline", "set", "words", "base", *names, "--margin", "0.05", "--kind", "non_inferior")
    near, better, worse = results("near", 201), results("better", 290), results("worse", 20)
    for files, status, words in (
        ((better,), 0, ["improved"]), ((near,), 6, ["inconclusive"]), ((worse,), 3, ["regressed"]),
        ((better, worse), 3, ["improved", "regressed"]), ((better, near), 6, ["improved", "inconclusive"]),
    ):  # fmt: skip
        found = answered(person, project, "gate", "words", *files)
        told = [line.partition(":")[0] for line in found.stdout.splitlines() if not line.startswith(" ")]
        assert (found.exit_code, told) == (status, words), found.output
    told = person.complains("gate", "words", better, "--experiment", "another", status=1)
    assert "another · words · exact_match,strict-match" in told
    (tmp_path / "notes.json").write_text("{}")
    assert "nothing is judged" in person.complains("gate", "words", better, str(tmp_path / "notes.json"), status=1)
    assert "without options of files" in person.complains("gate", "words", "base", "--unit", "%", status=2)


def test_the_least_share_of_common_cells_is_an_option(person: Person, judged: Project) -> None:
    person.says("baseline", "set", "most", "base", *NAMES, "--missing", "common", "--common-share", "0.9")
    told = judged.get(f"projects/{judged.slug}/baselines/most").get_json()["policy"]
    assert (told["missing"], told["common_share"]) == ("matched", 0.9)


def test_baselines_are_set_shown_listed_and_deleted(person: Person, judged: Project) -> None:
    assert "larger margin" in person.run("baseline", "set", "tight", "base", *NAMES, "--margin", "0.5").stderr
    assert person.json("baseline", "show", "tight")["policy"]["margin"] == 0.5
    rows = {row["name"]: row for row in person.rows("baseline", "ls")}
    assert (rows["main"]["subject"], rows["main"]["margin"], rows["tight"]["version"]) == ("base", "3.0", "1")
    told = person.complains("baseline", "set", "tight", "base", *NAMES, "--margin", "0.5", "--strict", status=1)
    assert "larger margin" in told
    assert ".." not in told
    assert person.run("baseline", "rm", "tight", stdin="n\n").exit_code == 1
    assert person.says("baseline", "ls", "-q").split() == ["main", "tight"]
    person.says("baseline", "rm", "tight", "--yes")
    assert person.says("baseline", "ls", "-q").split() == ["main"]


def test_a_baseline_may_be_the_model_before(person: Person, project: Project) -> None:
    for step in (1, 2):
        project.published(model=f"step {step}", labels={"step": str(step)})
    names = ("-e", "type-by-length", "--metric", "accuracy")
    made = person.json("baseline", "set", "run", "--along", "step", *names, "--looks", "alpha_spending")
    assert (made["subject"], made["policy"]["looks"]) == ({"previous": True, "along": "step"}, "alpha_spending")
    assert "the model before, by step" in person.page("baseline", "ls")
    assert "Give either a MODEL or --along." in person.complains("baseline", "set", "run", *names, status=2)
