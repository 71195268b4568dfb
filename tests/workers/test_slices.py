"""A slice is answered as if only its cells had been posted, by everything that is computed and by feeds."""

import csv
import json
import random
import re
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.errors import Invalid
from registry.grids.grid import Level
from registry.grids.slices import kept_levels, read_slice
from tests.house import ACCURACY, House, Project

AXES = [
    {"name": "Task", "kind": "nominal", "levels": ["lookup", "sum", "<8k"]},
    {"name": "Context", "kind": "numeric", "unit": "tokens", "levels": [1000, 8000, 64000, 128000]},
]
WHOLE = [0, 1, 2], [0, 1, 2, 3]
SCOPE = {"experiment": "long", "metric": "accuracy"}
LONG = {"at.Context": ">=64000"}
CASES: list[tuple[dict[str, Any], list[int], list[int]]] = [
    ({"at.Context": [">1000", "<128000"]}, [0, 1, 2], [1, 2]),
    (LONG, [0, 1, 2], [2, 3]),
    ({"at.Task": ["sum", "<8k"], "at.Context": "<=64000"}, [1, 2], [0, 1, 2]),
    ({"at.Task": "lookup", "at.Context": ["1000", "64000.0"]}, [0], [0, 2]),
]
"""A query, and the levels that it keeps of both axes."""
RANKINGS: list[dict[str, Any]] = [
    {"by": "axis:Context"}, {"method": "borda"}, {"by": "axis:Task", "missing": "available"}, {}
]  # fmt: skip


def values(model: int, benchmark: int) -> list[list[float | None]]:
    chance = random.Random(10 * model + benchmark)
    return [
        [None if chance.random() < 0.15 else round(60 - 5 * place + 8 * model + chance.gauss(0, 4), 1)
         for place in range(4)]
        for _ in range(3)
    ]  # fmt: skip


def fill(project: Project, tasks: list[int], contexts: list[int]) -> dict[tuple[int, int], str]:
    """The ids of grids with only these levels, by the number of their model and benchmark."""
    axes = [
        {**axis, "levels": [axis["levels"][place] for place in kept]}
        for axis, kept in zip(AXES, (tasks, contexts), strict=True)
    ]
    return {
        (model, benchmark): project.published(
            experiment="long", model=f"model {model}", benchmark=f"benchmark {benchmark}", axes=axes, trials=200,
            values=[[values(model, benchmark)[task][context] for context in contexts] for task in tasks],
        )["id"]
        for model in range(3) for benchmark in range(2)
    }  # fmt: skip


class Filled(NamedTuple):
    """A project, and its grids."""

    project: Project
    grids: dict[tuple[int, int], str]

    def paths(self, ranking: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
        """Everything that is computed of a slice, and its query."""
        here, grid = f"projects/{self.project.slug}", f"grids/{self.grids[2, 1]}"
        return [
            *((f"{here}/rankings", SCOPE | more) for more in ({}, ranking)),
            (f"{here}/comparisons", {"baseline": self.grids[0, 0], "contender": self.grids[1, 0]}),
            (f"{grid}/statistics", {}),
            (f"{grid}/statistics", {"part": "thresholds", "value": 60}),
        ]


@pytest.fixture(scope="module")
def whole(house: House) -> Filled:
    project = house.make_project()
    return Filled(project, fill(project, *WHOLE))


@pytest.fixture(scope="module")
def parts(house: House) -> list[Filled]:
    """For each case a project whose grids have nothing else."""
    projects = [house.make_project() for _ in CASES]
    return [Filled(one, fill(one, *kept)) for one, (_, *kept) in zip(projects, CASES, strict=True)]


def answered(project: Project, path: str, query: dict[str, Any]) -> dict[str, Any]:
    for _ in range(50):
        found = project.get(path, query_string=query)
        if found.status_code != 202:
            break
        project.house.compute()
    assert found.status_code == 200, found.text
    document: dict[str, Any] = found.get_json()
    return document


_OWN = ("grid", "digest", "computed_at", "slice", "selection", "inputs", "project", "revision")


def plain(value: Any) -> Any:
    """A document without what differs between two projects."""
    if isinstance(value, dict):
        return {name: plain(inner) for name, inner in value.items() if name not in _OWN}
    return [plain(inner) for inner in value] if isinstance(value, list) else value


def test_every_answer_of_a_slice_is_that_of_grids_which_have_nothing_else(
    whole: Filled, parts: list[Filled], subtests: pytest.Subtests
) -> None:
    asked = []
    for (query, *_), part, ranking in zip(CASES, parts, RANKINGS, strict=True):
        sliced = [(path, more | query) for path, more in whole.paths(ranking)]
        asked += [(query, part.project, *both) for both in zip(sliced, part.paths(ranking), strict=True)]
    for _, project, mine, theirs in asked:
        whole.project.get(mine[0], query_string=mine[1])
        project.get(theirs[0], query_string=theirs[1])
    for query, project, mine, theirs in asked:
        with subtests.test(mine[0].rpartition("/")[2], **mine[1]):
            found = answered(whole.project, *mine)
            assert plain(found) == plain(answered(project, *theirs))
            given = {name: [texts] if isinstance(texts, str) else texts for name, texts in query.items()}
            assert found["slice"] == {name.removeprefix("at."): sorted(texts) for name, texts in given.items()}


def test_feeds_of_a_slice_have_its_cells_and_no_other(
    whole: Filled, parts: list[Filled], subtests: pytest.Subtests
) -> None:
    for (query, *_), part in zip(CASES, parts, strict=True):
        for form in ("csv", "ndjson", "json"):
            for missing in ("absent", "explicit"):
                with subtests.test(form, missing=missing, **query):
                    for of_grid in (False, True):
                        mine, theirs = (
                            one.project.get(
                                f"grids/{one.grids[1, 1]}/cells.{form}" if of_grid
                                else f"projects/{one.project.slug}/cells.{form}",
                                query_string={"missing": missing} | more,
                            )
                            for one, more in ((whole, query), (part, {}))
                        )  # fmt: skip
                        assert (mine.status_code, theirs.status_code) == (200, 200), mine.text
                        assert numbers(mine, form) == numbers(theirs, form) != []
        shown = whole.project.get(f"grids/{whole.grids[1, 1]}.md", query_string=query).text
        told = re.sub(r"\nOnly .*; nothing else is counted\.\n", "", shown)
        assert told == part.project.get(f"grids/{part.grids[1, 1]}.md").text != shown


def numbers(answer: Any, form: str) -> list[Any]:
    """The rows, without ids, times and the name of the slice."""
    if form == "csv":
        rows: list[Any] = list(csv.DictReader(answer.text.splitlines()))
    else:
        rows = answer.get_json()["items"] if form == "json" else answer.text.splitlines()
    found = [json.loads(row) if isinstance(row, str) else row for row in rows]
    return [
        {name: one for name, one in row.items() if name not in ("grid", "revision", "updated_at", "slice")}
        for row in found
    ]


REFUSED = [
    ({"at.Depth": "1"}, "/at.Depth", 'axis "Depth"; there are '),
    ({"at.Context": "5"}, "/at.Context", 'no level "5"; there are 1000, 8000, 64000, 128000'),
    ({"at.Context": ">200000"}, "/at.Context", "no level above 200000; there are 1000"),
    ({"at.Task": ">=1"}, "/at.Task", "no level at least 1 (its levels have no numbers); there are lookup, sum, <8k"),
    ({"at.Context": ">=long"}, "/at.Context", 'a range is >= and a number, which "long" is not; there are 1000'),
    ({"at.Context": "<=64k"}, "/at.Context", 'a range is <= and a number, which "64k" is not; there are 1000'),
    ({"at.Task": "Lookup"}, "/at.Task", 'no level "Lookup"; did you mean "lookup"; there are lookup, sum'),
    ({"at.Task": ">=SUM"}, "/at.Task", 'which "SUM" is not; did you mean "sum"; there are lookup, sum'),
    ({"at.context": "1000"}, "/at.context", 'axis "context"; did you mean "Context"; there are '),
    ({"at.": "1"}, "/at.", "names no axis"),
    ({"at.Context": ""}, "/at.Context", "is a level"),
    ({"att.Context": "1"}, "/att.Context", ""),
]


def test_a_slice_that_no_grid_has_is_refused_with_what_there_is(whole: Filled, subtests: pytest.Subtests) -> None:
    grid, here = f"grids/{whole.grids[0, 0]}", f"projects/{whole.project.slug}"
    paths = [
        *whole.paths({})[1:4],
        (f"{here}/cells.csv", {}),
        (f"{grid}/statistics", {"part": "trends"}),
        (f"{grid}/cells", {}),
    ]
    paths += [(f"{grid}{form}", {}) for form in ("/heatmap.svg", "/heatmap.png", "", "/cells.csv", ".md")]
    paths += [(f"{grid}/heatmap.vl.json", {}), (f"{grid}/statistics", {"part": "thresholds", "value": 3})]
    for path, more in paths:
        for query, pointer, told in REFUSED:
            with subtests.test(path.rpartition("/")[2], **query):
                answer = whole.project.get(path, query_string=more | query)
                assert answer.status_code == 422, answer.text
                faults = [(fault["pointer"], told in fault["detail"]) for fault in answer.get_json()["errors"]]
                assert (pointer, True) in faults, answer.text


def test_a_ranking_of_a_slice_follows_its_inputs_and_leaves_out_grids_without_the_axis(project: Project) -> None:
    fill(project, *WHOLE)
    project.published(experiment="long", model="scalar", benchmark="benchmark 0", axes=[], values=99, metric=ACCURACY)
    path = f"projects/{project.slug}/rankings"
    project.get(path, query_string=SCOPE | LONG)
    all_of_them, before = (answered(project, path, SCOPE | more) for more in ({}, LONG))
    models = {"model 0", "model 1", "model 2"}
    assert [{row["name"] for row in one["ranking"]} - models for one in (all_of_them, before)] == [{"scalar"}, set()]
    assert "slice" not in all_of_them
    project.published(experiment="long", model="model 2", benchmark="benchmark 0", axes=AXES, values=[[10.0] * 4] * 3)
    after = answered(project, path, SCOPE | LONG)
    assert before["ranking"][0]["name"] == "model 2" != after["ranking"][0]["name"]


@pytest.mark.unit
@given(st.lists(st.integers(-50, 50), unique=True, max_size=8), st.integers(-60, 60), st.integers(-60, 60))
def test_ranges_hold_together_and_levels_by_themselves(levels: list[int], low: int, high: int) -> None:
    known = [Level(str(one), float(one)) for one in levels]
    inside = kept_levels(known, [f">={low}", f"<{high}"])
    assert [levels[place] for place in inside] == [one for one in levels if low <= one < high]
    named = kept_levels(known, [str(low), f"{high}.0"])
    assert [levels[place] for place in named] == [one for one in levels if one in (low, high)]


@pytest.mark.unit
def test_a_label_that_reads_like_a_range_is_a_label_where_there_is_such_a_level() -> None:
    assert kept_levels([Level("<8k"), Level("8k")], ["<8k"]) == [0]
    assert kept_levels([Level("<8", 4.0), Level("8", 8.0)], ["<8"]) == [0]
    assert kept_levels([Level("4", 4.0), Level("8", 8.0)], ["<8"]) == [0]


@pytest.mark.unit
def test_more_conditions_than_a_query_may_have_are_refused() -> None:
    with pytest.raises(Invalid, match="100 conditions"):
        read_slice([("at.x", [str(n) for n in range(101)])])


TASKS = {"name": "Task", "kind": "nominal", "levels": ["lookup", "sum"]}
CONTEXT = {"name": "Context", "kind": "numeric", "levels": [1000, 8000, 64000, 128000]}
VALUES = [[95, 80, 60, 55], [90, 85, 70, None]]
AT = {"at.Context": ">=64000"}
WIDE = {"at.Context": ">=8000"}
"""A slice with cells enough for shares of variance."""
SAID = "Only Context at least 64000; nothing else is counted."
PARTS = ["trends", "peaks", "coverage", "changes", "sensitivity", "precision", "thresholds"]


@pytest.fixture(scope="module")
def place(house: House) -> tuple[Project, str, str]:
    """A grid, and in another project the same grid with nothing but the slice; statistics of both are there."""
    project, part = house.make_project(), house.make_project()
    grid = project.published(axes=[TASKS, CONTEXT], values=VALUES, trials=200)["id"]
    cut = [row[2:] for row in VALUES]
    alone = part.published(axes=[TASKS, CONTEXT | {"levels": [64000, 128000]}], values=cut, trials=200)["id"]
    house.compute()
    crossings = {"part": "thresholds", "value": "65"}
    for query in (crossings, AT, AT | crossings, WIDE, WIDE | crossings):
        project.get(f"grids/{grid}/statistics", query_string=query)
    house.compute()
    return project, grid, alone


def both(place: Any, path: str) -> tuple[str, str]:
    """A text of the slice, and of the grid that has nothing else, without what tells the grids apart."""
    project, *grids = place
    texts = []
    for grid, query in zip(grids, (AT, {}), strict=True):
        answer = project.house.call("GET", f"grids/{grid}{path}", token=project.house.operator, query_string=query)
        assert answer.status_code == 200, answer.text
        texts.append(answer.text.replace(grid, "GRID").replace(f"g{grid.replace('-', '')[-8:]}", "G"))
    return texts[0], texts[1]


def test_a_table_says_the_slice_and_is_else_that_of_the_slice_alone(place: Any, subtests: pytest.Subtests) -> None:
    for path in (".md", ".txt"):
        with subtests.test(path):
            mine, alone = both(place, path)
            assert mine.count(SAID) == 1
            assert re.sub(rf"{re.escape(SAID)}\n+", "", mine) == alone


def test_a_picture_of_a_slice_has_the_marks_of_its_own_statistics(place: Any) -> None:
    # What a picture says: its title, its description, and every text in it.
    mine, alone = (re.findall(r"<(?:title|desc|text)[^>]*>([^<]*)<", one) for one in both(place, "/heatmap.svg"))
    assert SAID in mine[1]
    assert "With 95 % confidence no other measured cell is better." in mine[1]
    assert mine[1].replace(f"{SAID} ", "") == alone[1]
    below = [" ".join(mine[2:]), " ".join(alone[2:])]
    assert below[0].replace("Context at least 64000 · ", "") == below[1] != below[0]
    project, grid, _ = place
    vega = project.get(f"grids/{grid}/heatmap.vl.json", query_string=AT).get_json(force=True)
    assert len(vega["data"]["values"]) == 4
    assert vega["title"]["subtitle"][0].startswith("Context at least 64000")


def test_until_its_statistics_are_there_a_picture_leaves_open_what_else_may_be_best(project: Project) -> None:
    grid = project.published(axes=[TASKS, CONTEXT], values=VALUES, trials=200)["id"]
    project.house.compute()
    path, asked = f"grids/{grid}/heatmap.svg", {"at.Task": "sum"}
    before = project.get(path, query_string=asked)
    assert "No statistics of just these cells are shown here" in before.text.replace("</text>", " ")
    project.house.compute()
    after = project.get(path, query_string=asked, headers={"If-None-Match": before.headers["ETag"]})
    assert (after.status_code, "95 % confidence" in after.text) == (200, True)
    again = {"If-None-Match": after.headers["ETag"]}
    assert project.get(path, query_string=asked, headers=again).status_code == 304
    assert project.get(path, headers=again).status_code == 200
    project.published(axes=[TASKS, CONTEXT], values=[[1, 2, 3, 4], [5, 6, 7, 8]], trials=200)
    for path in ("/heatmap.svg", ".md"):
        old = project.get(f"grids/{grid}{path}", query_string=AT | {"revision": 1}).text
        assert "60" in old
        # Neither within a word, such as the id of the grid, nor the confidence of its intervals.
        assert not re.search(r"(?<![\w.-])95(?! %)(?![\w.-])", old), "an older revision is cut too"


def test_json_of_a_slice_says_so_and_is_no_grid_to_publish(place: Any) -> None:
    project, grid, _ = place
    found = project.get(f"grids/{grid}", query_string=AT).get_json()
    assert (found["values"], found["shape"], found["cell_count"]) == ([[60, 55], [70, None]], [2, 2], 3)
    assert found["slice"] == {"Context": [">=64000"]}
    assert "slice" not in project.get(f"grids/{grid}").get_json()
    answer = project.publish(found)
    assert (answer.status_code, answer.get_json()["errors"][0]["pointer"]) == (422, "/slice")


def test_csv_of_a_slices_statistics_says_the_slice_in_every_row(place: Any, subtests: pytest.Subtests) -> None:
    project, grid, _ = place
    for part in PARTS:
        with subtests.test(part):
            more = {"part": part} | ({"value": "65"} if part == "thresholds" else {})
            head, *rows = project.get(f"grids/{grid}/statistics.csv", query_string=WIDE | more).text.splitlines()
            assert head.endswith(",slice")
            assert rows
            assert all(row.endswith(",Context at least 8000") for row in rows)
            assert ",slice" not in project.get(f"grids/{grid}/statistics.csv", query_string=more).text.splitlines()[0]
