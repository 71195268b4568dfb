"""registry gate, baseline and plan: the exit status is the verdict, and nothing to judge is no pass."""

import json
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt

from tests.commands.terminal import Person
from tests.house import House, Project, publication

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
    assert told[2:9] == ["judged", "verdict", "gap", "90 % interval", "Core Generalization", "regressed", "-10"]
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


def test_two_models_are_planned(person: Person, project: Project, house: House) -> None:
    for model, value in (("A", 70.0), ("B", 74.0)):
        project.published(model=model, axes=[], values=value, trials=200)
    words = ("plan", "A", "B")
    assert "is not there after 0 s" in person.complains(*words, "--wait", "0", status=1)
    house.compute()
    page = person.page(*words)
    assert "measured: +4, standard error 4.5: not told apart from 0" in page
    assert "with the present trials a difference of 13 would be found" in page
    assert "times the trials of every cell" in page
    [row] = person.rows(*words, "--budget", "1000")
    assert (row["benchmark"], row["share"], row["trials"]) == ("Core Generalization", "1.0", "500")
    assert (row["affordable"], row["impossible"], row["reason"]) == ("false", "", "")
    [row] = person.rows(*words, "--item-limit", "30")
    assert (row["affordable"], row["impossible"]) == ("", "item_limit")
    assert row["reason"].endswith("there are 30 items: more trials are samples of the same items")
    assert person.json(*words, "--effect", "2")["needed"]["effect"] == 2.0
    # (1.96 sqrt(2 x .765 x .235) + .8416 sqrt(.7 x .3 + .83 x .17))^2 / .13^2 (Fleiss 1981, without correction)
    assert int(person.says(*words, "--effect", "13", "-q")) == pytest.approx(165.8, abs=1.5)


def test_one_thing_is_planned_at_once(person: Person) -> None:
    for words in ((), ("A",), ("A", "B", "--claim", "{}"), ("--claim", "{}", "--gate", "main", "A")):
        assert "Name two models or grids" in person.complains("plan", *words, status=2)


def test_a_claim_is_planned_from_json_or_a_file(person: Person, project: Project, house: House, tmp_path: Path) -> None:
    """71 of 100 at 200 trials against 67: 4 above, with the error of a binomial share."""
    about = {"experiment": "e", "metric": "accuracy"}
    project.published(experiment="e", model="A", axes=[], values=71.0, trials=200)
    claim = json.dumps({"kind": "value", "about": about, "is": {"op": ">", "number": 67}})
    assert "is not there after 0 s" in person.complains("plan", "--claim", claim, "--wait", "0", status=1)
    house.compute()
    file = tmp_path / "claim.json"
    file.write_text(claim)
    page = person.page("plan", "--claim", str(file))
    assert "what is stored does not decide the claim beyond noise" in page
    assert "to decide it: " in page
    [row] = person.rows("plan", "--claim", claim, "--budget", "10")
    assert (row["affordable"], float(row["factor"]) > 1) == ("false", True)
    for wrong in ("{", str(tmp_path / "none.json")):
        assert "neither JSON nor a file" in person.complains("plan", "--claim", wrong, status=2)


def test_cells_that_come_first_are_listed(person: Person, project: Project, house: House) -> None:
    axis = {"name": "L", "kind": "numeric", "levels": [1, 2]}
    project.published(experiment="e", model="A", benchmark="X", axes=[axis], values=[90.0, None], trials=100)
    claim = {"kind": "value", "about": {"experiment": "e", "metric": "accuracy"}, "where": {"L": [2]},
             "is": {"op": ">", "number": 60}}  # fmt: skip
    person.complains("plan", "--claim", json.dumps(claim), "--wait", "0", status=1)
    house.compute()
    assert "to be measured first, as the claim is about them" in person.page("plan", "--claim", json.dumps(claim))
    [row] = person.rows("plan", "--claim", json.dumps(claim))
    assert (row["benchmark"], row["model"], row["at"], row["why"]) == ("X", "A", "L 2", "missing_for_claim")


def test_a_gate_is_planned(person: Person, project: Project, house: House) -> None:
    for model, value in (("A", 60.0), ("B", 59.0)):
        project.published(experiment="e", model=model, axes=[], values=value, trials=100)
    policy = {"kind": "non_inferior", "margin": 3}
    sent = {"experiment": "e", "metric": "accuracy", "subject": {"model": "A"}, "policy": policy}
    assert project.call("PUT", f"projects/{project.slug}/baselines/main", json=sent).status_code == 201
    person.complains("plan", "--gate", "main", "B", "--wait", "0", status=1)
    house.compute()
    page = person.page("plan", "--gate", "main", "B")
    assert "to decide it 2: " in page
    assert "equal scores and trials would exclude a loss of 11, which does not pass" in page
    assert "Name two models or grids" in person.complains("plan", "A", "B", "--gate", "main", "B", status=2)
