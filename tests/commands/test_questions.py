"""show, trends, peaks, rank, compare, noise: what a pipe, a terminal and --json get of the same answers."""

import json
from typing import Any

import pytest

from results_registry.http import Transport
from tests.commands.terminal import Person
from tests.computing import computing
from tests.house import House, Project
from tests.workers.asking import now

FALLING = [[99.0, 90.0, 80.0, 70.0, 60.0, 50.0]]
AXES = [
    {"name": "Type", "kind": "nominal", "levels": ["1"]},
    {"name": "Length", "kind": "numeric", "levels": [0, 1, 2, 3, 4, 5]},
]


@pytest.fixture
def falling(project: Project, house: House) -> str:
    """The id of a grid that falls by ten a step and never rises."""
    grid = project.published(axes=AXES, values=FALLING)
    house.compute()
    return str(grid["id"])


def test_show_prints_measured_cells_tidy_in_a_pipe(person: Person, ready: Project) -> None:
    rows = person.rows("show", "model=Qwen-2.5 3B")
    assert [row["value"] for row in rows] == ["99.3", "96.7", "98.3", "100.0", "99.7"]
    assert [(row["Type"], row["Length"]) for row in rows][3:] == [("2", "1"), ("2", "2")]
    assert {row["trials"] for row in rows} == {"300"}


def test_show_prints_a_slice_and_says_so(person: Person, ready: Project) -> None:
    asked = ("show", "model=Qwen-2.5 3B", "--at", "Length>=1", "--at", "Type=1")
    assert [row["value"] for row in person.rows(*asked)] == ["96.7", "98.3"]
    page = person.page(*asked).splitlines()
    assert "Only Length at least 1, Type 1; nothing else is counted." in page
    assert any(line.startswith("2 of 2 cells measured") for line in page)


def test_show_prints_a_table_with_holes_on_a_terminal(person: Person, ready: Project) -> None:
    page = person.page("show", "model=Qwen-2.5 3B").splitlines()
    assert page[0] == "Core Generalization · Qwen-2.5 3B · Baseline — accuracy (%)"
    [second] = [line.split() for line in page if line.startswith("2 ")]
    assert second == ["2", "·", "100.0", "99.7"]
    assert any("not measured" in line for line in page)
    assert "5 of 6 cells measured · revision 1 · trials 300" in page


def test_the_lowest_and_the_highest_cell_have_the_ends_of_the_palette(person: Person, ready: Project) -> None:
    shown = person.says("show", "model=Qwen-2.5 3B", "--color", "always")
    assert "48;5;17" in shown  # cividis begins with a dark blue
    assert "48;5;221" in shown  # and ends with yellow
    missing = [part for part in shown.split("\x1b[") if "·" in part and "m" in part]
    assert not any(part.startswith("48;") for part in missing)


def test_an_older_revision_is_shown(person: Person, project: Project) -> None:
    project.published()
    project.published(values=[[1.0, 2.0, 3.0], [None, 4.0, 5.0]])
    assert person.rows("show", "--revision", "1")[0]["value"] == "99.3"
    assert person.rows("show")[0]["value"] == "1.0"


@pytest.mark.parametrize("values", [7.5, None])
def test_a_single_score_and_an_empty_grid_are_shown(person: Person, project: Project, values: Any) -> None:
    sent = {"axes": [], "values": values} if values is not None else {"values": [[None] * 3] * 2, "trials": None}
    project.published(**sent)
    assert ("7.5" if values else "No cell was measured.") in person.page("show")


def test_trends_are_one_line_a_series_in_a_pipe(person: Person, falling: str) -> None:
    [row] = person.rows("trends", falling)
    assert (row["along"], row["Type"], row["count"]) == ("Length", "1", "6")
    assert float(row["mann_kendall_s"]) == -15  # all 15 pairs fall
    assert float(row["mann_kendall_p"]) == 0.002778  # 2 / 720, Kendall 1970: two of 6! orders are as extreme
    assert row["direction"] == "decreasing"


def test_peaks_list_every_tied_cell(person: Person, project: Project, house: House) -> None:
    project.published(values=[[90.0, 95.0, 95.0], [None, 80.0, 70.0]])
    house.compute()
    rows = person.rows("peaks")
    assert [(row["Type"], row["Length"], row["value"]) for row in rows if row["of"] == "best"] == [
        ("1", "1", "95.0"),
        ("1", "2", "95.0"),
    ]
    assert "2 cells tie" in person.page("peaks")


def test_rank_needs_no_words_where_there_is_one_experiment(person: Person, ready: Project) -> None:
    rows = person.rows("rank")
    assert next(row["name"] for row in rows) == person.says("rank", "-q").split("\n", maxsplit=1)[0]
    # common cells: 99.3/99.7, 96.7/99.0, 98.3/98.7 in row 1 and 100.0/99.7 in row 2: three wins to one
    assert {row["name"]: (row["wins"], row["losses"]) for row in rows} == {
        "Qwen-2.5 7B": ("3", "1"),
        "Qwen-2.5 3B": ("1", "3"),
    }
    page = person.page("rank", "--wait", "0")
    assert page.startswith("Ranking of models — accuracy in type-by-length")
    assert "Pairs" not in page
    assert "Pairs" in person.page("rank", "--full", "--wait", "0")


def test_the_page_of_rank_claims_no_less_than_the_web_page_does(person: Person, project: Project, house: House) -> None:
    for model, values in (("A", (90.0, 91.0, 89.0)), ("B", (50.0, 49.0, 51.0))):
        for benchmark, value in zip("XYZ", values, strict=True):
            project.published(model=model, benchmark=benchmark, axes=[], values=value, trials=400)
    person.run("rank", "--wait", "0")
    house.compute()
    for last in ("", "--wait=0"):
        page = " ".join(person.page("rank", *([last] if last else [])).split())
        house.compute()
    assert "A is better than B by 40.0 points" in page
    assert "this is shown for other benchmarks of the kind too" in page


def test_rank_lists_the_choices_where_there_are_several(person: Person, ready: Project) -> None:
    ready.published(experiment="another one")
    told = person.complains("rank")
    assert "-e 'another one' --metric accuracy" in told
    assert "-e type-by-length --metric accuracy" in told
    assert person.complains("rank", "-e", "nothing").startswith("Error: No grid")
    assert "twice" in person.complains("rank", "-e", "a", "-e", "b", status=2).replace("2 times", "twice")


def test_rank_asks_the_question_that_was_asked(person: Person, ready: Project, house: House) -> None:
    command = (
        "rank",
        "--by",
        "axis:Type",
        "--method",
        "mean",
        "--missing",
        "available",
        "--alpha",
        "0.1",
        "--wait",
        "0",
    )
    person.run(*command)
    house.compute()
    found = person.json(*command)
    assert (found["by"], found["method"], found["missing"], found["alpha"]) == ("axis:Type", "mean", "available", 0.1)


def test_a_table_is_models_by_benchmarks_unless_other_dimensions_are_named(
    person: Person, ready: Project, house: House
) -> None:
    command = ("table", "type-by-length", "accuracy")
    asked = (
        (),
        ("--rows", "Type", "--columns", "none"),
        ("--each", "model", "--rows", "Type", "--columns", "Length", "--missing", "available"),
    )
    for more in asked:
        person.run(*command, *more, "--wait", "0")
    house.compute()
    # Common cells: 99.3, 96.7, 98.3 and 100.0 of the one model, 99.7, 99.0, 98.7 and 99.7 of the other.
    rows = person.rows(*command)
    assert {row["model"]: float(row["value"]) for row in rows} == pytest.approx(
        {"Qwen-2.5 3B": 98.575, "Qwen-2.5 7B": 99.275}
    )
    page = person.page(*command)
    assert page.startswith("Mean of accuracy (%) by model and benchmark — type-by-length")
    assert "slots that every entry of its column has" in page
    assert person.json(*command, *asked[1])["group_by"] == ["axis:Type"]
    assert person.says(*command, *asked[1], "--csv").startswith(
        "experiment,metric,reduced_by,missing,averaged_over,Type,"
    )
    written = [line.split() for line in person.says(*command, *asked[2], "--markdown").splitlines()]
    assert ["|", "2", "|", "·", "|", "100.0", "|", "99.7", "|"] in written
    latex = person.says(*command, *asked[2], "--latex")
    assert [line for line in latex.splitlines() if not line.startswith("% ")][:6] == [
        r"\begin{tabular}{lrrr}", r"\toprule", r"Type / Length & 0 & 1 & 2 \\", r"\midrule",
        r"1 & 99.3 & 96.7 & 98.3 \\", r"2 & $\cdot$ & 100.0 & 99.7 \\",
    ]  # fmt: skip
    scope = {"experiment": "type-by-length", "metric": "accuracy", "missing": "available"}
    scope |= {"group_by": "model,axis:Type,axis:Length"}
    assert ready.get(f"projects/{ready.slug}/aggregates.tex", query_string=scope).text == latex


def test_a_slice_is_asked_for_by_axis(person: Person, ready: Project, house: House) -> None:
    for command in (["rank", "--at", "Length>=1", "--at", "Type=1"], ["trends", "model=Qwen-2.5 3B", "--at", "Type=1"]):
        person.run(*command, "--wait", "0")
        house.compute()
    # Row 1 of the second and the third level: 96.7 to 99.0, 98.3 to 98.7.
    rows = person.rows("rank", "--at", "Length>=1", "--at", "Type=1")
    assert {row["name"]: row["wins"] for row in rows} == {"Qwen-2.5 7B": "2", "Qwen-2.5 3B": "0"}
    assert ", Length at least 1, Type 1\n" in person.page("rank", "--at", "Length>=1", "--at", "Type=1")
    assert person.json("rank", "--at", "Length=>=1", "--at", "Type=1")["slice"] == {"Length": [">=1"], "Type": ["1"]}
    assert [row["Type"] for row in person.rows("trends", "model=Qwen-2.5 3B", "--at", "Type=1")] == ["1"]
    assert 'no axis "Depth"; there are Type, Length' in person.complains(
        "trends", "model=Qwen-2.5 3B", "--at", "Depth=1"
    )
    assert "AXIS=LEVEL" in person.complains("rank", "--at", "Length", status=2)


@pytest.fixture
def pair(project: Project, house: House, person: Person) -> tuple[str, str]:
    """A baseline and a contender that loses 10 points in each of three cells of 300 trials."""
    axes = AXES[1:]
    strong = project.published(axes=axes, values=[90.0, 90.0, 90.0, None, None, None])
    weak = project.published(axes=axes, values=[80.0, 80.0, 80.0, None, None, None], model="worse")
    person.run("compare", strong["id"], weak["id"], "--wait", "0")
    house.compute()
    return strong["id"], weak["id"]


def test_compare_lists_the_common_cells(person: Person, pair: tuple[str, str]) -> None:
    rows = person.rows("compare", *pair)
    assert [(row["Length"], row["baseline"], row["contender"], row["gap"]) for row in rows] == [
        (level, "90.0", "80.0", "-10.0") for level in "012"
    ]
    assert person.json("compare", *pair)["mean"] == -10.0
    assert "worse vs Qwen-2.5 3B" in person.page("compare", *pair)


@pytest.fixture
def two_models(person: Person, project: Project, house: House) -> list[str]:
    """Models B and A on two benchmarks, B 10 and 4 points worse; the comparison of them is computed."""
    for benchmark, mine, theirs in (("X", 80.0, 70.0), ("Y", 60.0, 56.0)):
        for model, value in (("A", mine), ("B", theirs)):
            project.published(model=model, benchmark=benchmark, axes=[], values=value, trials=1000)
    asked = ["compare", "A", "B", "-e", "type-by-length", "--metric", "accuracy"]
    person.run(*asked, "--wait", "0")
    house.compute()
    return asked


def test_two_models_are_compared_by_name_on_every_benchmark(person: Person, two_models: list[str]) -> None:
    rows = person.rows(*two_models)
    assert [(row["benchmark"], float(row["mean"])) for row in rows] == [("X", -10.0), ("Y", -4.0)]
    document = person.json(*two_models)
    assert (document["whole"]["difference"], document["whole"]["a"]) == (pytest.approx(-7.0), "B")
    page = person.page(*two_models)
    assert page.startswith("B vs A — accuracy (%)\n")
    assert "over 2 benchmarks, which weigh the same: -7.00 [" in page
    assert person.json("compare", "A", "B")["whole"] == document["whole"]  # the one experiment and metric that there is


def test_the_grids_of_a_file_are_compared_with_those_of_a_model_or_a_grid_and_not_published(
    person: Person, two_models: list[str], house: House
) -> None:
    rows = ("benchmark,system,score,of", "X,pr,60,1000", "Y,pr,61,1000")
    (person.home / "results.csv").write_text("\n".join(rows))
    (person.home / "m.toml").write_text(
        'variant = "Baseline"\naxes = []\n[column]\nmodel = "system"\ntrials = "of"\n'
        '[metric.accuracy]\ncolumn = "score"\nunit = "%"\ndirection = "higher"\nlower = 0\nupper = 100\n'
    )
    with computing(house):
        asked = ("compare", "A", "results.csv", "--mapping", "m.toml", "-e", "type-by-length")
        found = person.page(*asked, "--full")
    assert "A is better than pr by 20.0 points" in found
    assert "pr is 1.0 points better" in found
    assert found.count("contender: not published\n") == 2
    assert '"suite" is about what is published' in person.complains(*asked, "--suite", "s", status=2)
    assert "No grid of" in person.complains("compare", "nobody", *asked[2:], status=1)
    # What the baseline lacks keeps nothing else from being compared.
    (person.home / "results.csv").write_text("\n".join((*rows[:1], "Z,pr,61,1000", *rows[1:])))
    with computing(house):
        both = person.run(*asked, "--json")
    assert (both.exit_code, [one["contender"]["benchmark"] for one in json.loads(both.stdout)]) == (1, ["X", "Y"])
    assert "benchmark 'Z'" in both.stderr
    assert {row["model"] for row in person.rows("ls")} == {"A", "B"}


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["compare", "A", "model=B"], '"model=B" is a grid and "A" a model'),
        (["compare", "A", "B", "--full"], "--full and --model are for grids"),
        (["compare", "A", "B", "-m", "C"], "--full and --model are for grids"),
        (["compare", "model=A", "model=B", "--suite", "s"], "--suite is for models"),
        (["compare", "A", "B", "-e", "x", "-e", "y"], "--experiment is given 2 times"),
    ],
)
def test_words_for_models_and_words_for_grids_are_not_mixed(
    person: Person, project: Project, words: list[str], told: str
) -> None:
    assert told in " ".join(person.complains(*words, status=2).split())


def test_a_grid_is_named_by_its_id_its_beginning_or_names(person: Person, ready: Project) -> None:
    grid = person.rows("ls", "-m", "Qwen-2.5 3B")[0]["id"]
    for said in ([grid], [grid.upper()], [grid[:-2]], ["model=Qwen-2.5 3B"], ["-m", "Qwen-2.5 3B"]):
        assert person.json("show", *said)["id"] == grid
    assert person.json("show", "model=Qwen-2.5 3B,benchmark=Core Generalization")["id"] == grid


def test_of_several_grids_the_candidates_are_listed(person: Person, ready: Project) -> None:
    told = person.complains("show")
    assert told.startswith("Error: 2 grids fit; name one by its id, or by more of its names:\n")
    assert "Qwen-2.5 7B" in told


def test_a_name_that_nobody_has_brings_the_near_ones(person: Person, ready: Project) -> None:
    assert "Did you mean model Qwen-2.5 3B" in person.complains("show", "-m", "qwen2.5 3b")
    assert "begins with" in person.complains("show", "ffff")


@pytest.mark.parametrize("said", ["Qwen", "colour=red", "01"])
def test_what_names_no_grid_is_a_usage_error(person: Person, ready: Project, said: str) -> None:
    assert person.complains("show", said, status=2)


def test_a_ranking_that_is_refused_says_why_and_ends_with_1(person: Person, project: Project, house: House) -> None:
    for model in ("a", "b"):
        project.published(model=model, metric={"name": "skew"}, trials=None)
    asked = ["rank", "--metric", "skew", "--wait", "0"]
    person.run(*asked)
    house.compute()
    for words in ([], ["-q"], ["--json"]):
        answer = person.run(*asked, *words)
        assert answer.exit_code == 1
        assert answer.stderr == "Error: There is no ranking: the metric has no better end.\n"


def test_grids_without_a_common_cell_are_no_comparison_and_end_with_1(
    person: Person, project: Project, house: House
) -> None:
    for model, level in (("a", "x"), ("b", "y")):
        axes = [{"name": "Type", "kind": "nominal", "levels": [level]}]
        project.published(model=model, axes=axes, values=[50.0])
    asked = ["compare", "model=a", "model=b", "--wait", "0"]
    assert person.complains(*asked) == (
        "Error: The comparison is not there after 0 s; ask again, or wait longer with --wait.\n"
    )
    house.compute()
    answer = person.run(*asked)
    assert (answer.exit_code, answer.stderr) == (
        1, "Error: There is no comparison: no coordinate was measured in both.\n"
    )  # fmt: skip


def test_what_is_ranked_is_found_without_reading_every_grid(
    person: Person, project: Project, house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(12):
        project.published(model=f"m{number}")
    project.published(experiment="other", metric={"name": "loss", "direction": "lower"}, trials=None)
    asked: list[str] = []
    call = Transport.call

    def watched(self: Transport, method: str, path: str, *given: Any, **options: Any) -> Any:
        asked.append(path.rpartition("/")[2])
        return call(self, method, path, *given, **options)

    monkeypatch.setattr(Transport, "call", watched)
    person.run("rank", "-e", "type-by-length", "--wait", "0")
    assert "grids" not in asked
    assert asked[-1] == "rankings"


def test_what_was_published_later_is_no_part_of_what_is_asked_as_of_before(
    person: Person, ready: Project, house: House
) -> None:
    then = now(ready)
    ready.published(model="R1-Llama", values=[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    house.compute()
    for asked in (("rank",), ("table", "type-by-length", "accuracy")):
        for instant in ((), ("--as-of", then)):
            person.run(*asked, *instant, "--wait", "0")
        house.compute()
        assert "R1-Llama" in person.says(*asked)
        assert "R1-Llama" not in person.says(*asked, "--as-of", then)
    person.run("rank", "--since", then, "--wait", "0")
    house.compute()
    assert "\tnew\t" in person.says("rank", "--since", then)
    told = person.complains("rank", "--as-of", "yesterday", status=2)
    assert "--as-of takes an instant such as 2026-11-21T08:00:00Z, a day, or how long ago such as 2w" in told
    assert "--since takes an instant" in person.complains("rank", "--since", "yesterday", status=2)


def test_noise_is_told_in_a_table_and_in_words(person: Person, project: Project) -> None:
    names = {"model": "A", "variant": "", "axes": []}
    project.published(**names, values=70.0, trials=500, repeats=5, sd=2.0)
    asked = ("noise", "-e", "type-by-length", "--metric", "accuracy")
    person.run(*asked, "--wait", "0")
    project.house.compute()
    page = " ".join(person.page(*asked).split())
    assert "On Core Generalization one repeat varies by 2 points (95 % interval 1.2 to 5.75, 4 degrees" in page
    assert "its trials explain 4.59 points" in page, "by 21 % in 499 of 500 trials"
    [row] = person.rows(*asked)
    assert (row["benchmark"], row["cells"], row["between"]) == ("Core Generalization", "1", "2.0")
    floor = ("floor", *asked[1:], "--model", "A")
    person.run(*floor, "--wait", "0")
    project.house.compute()
    # 70 - 3.747 x 2 x sqrt(6 / 5); Student's t with 4 degrees of freedom at 0.99
    assert "one more run below 61.79 is worse than chance" in person.page(*floor)
    assert person.rows(*floor)[0]["runs"] == "5"
    assert "Say whose runs set the floor" in person.complains(*floor[:-2], status=2)
    project.published(model="B", variant="", axes=[], values=70.0, trials=None, experiment="another")
    person.run("noise", "-e", "another", "--metric", "accuracy", "--wait", "0")
    project.house.compute()
    assert (
        "Nothing is known of the noise between repeats: "
        in person.run("noise", "-e", "another", "--metric", "accuracy").output
    )


def test_the_questions_that_flipped_between_two_grids_are_listed(person: Person, project: Project) -> None:
    grids = [project.published(model=model, variant="", axes=[], values=50.0, trials=2)["id"] for model in "AB"]
    for grid, outcomes in zip(grids, ([1, 0], [0, 1]), strict=True):
        sent = {"set": {"name": "two", "count": 2, "ids": ["q1", "q2"]}, "cells": [{"at": {}, "outcomes": outcomes}]}
        assert project.call("POST", f"grids/{grid}/items", json=sent).status_code == 201
    assert [tuple(row.values()) for row in person.rows("flips", *grids)] == [("", "gained", "q2"), ("", "lost", "q1")]
    said = person.page("flips", *grids)
    assert "1 gained, 1 lost; 0.0% agree, kappa -1.000 (standard error 0.000)." in said
    scope = ("-e", "type-by-length", "-b", "Core Generalization", "--metric", "accuracy")
    assert [row["how"] for row in person.rows("flips", *scope)] == ["deciding", "deciding"]
    assert (
        "0 dead, 0 saturated, 2 deciding, over 2 grids; up to 78% of such models may solve even a dead one."
        in person.page("flips", *scope)
    )
    assert [row["how"] for row in person.rows("flips", *scope, "-m", "A")] == ["dead", "saturated"]
    assert "Name two grids, or none and one --benchmark" in person.complains("flips", grids[0], status=2)
    bare = project.published(model="C", variant="", axes=[], values=50.0, trials=2)["id"]
    assert "No cell has outcomes of the same items" in person.complains("flips", grids[0], bare, status=1)
    sent["cells"] = [{"at": {}, "outcomes": [1, 1]}]
    always = project.published(model="D", variant="", axes=[], values=100.0, trials=2)["id"]
    assert project.call("POST", f"grids/{always}/items", json=sent).status_code == 201
    said = person.page("flips", grids[0], always)
    assert "; 50.0% agree, kappa is not defined, as one side says the same of all items" in " ".join(said.split())
