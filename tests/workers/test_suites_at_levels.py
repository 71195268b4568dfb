"""A suite whose members have their own levels is answered as if nothing else had been posted, by every view."""

import random
from dataclasses import replace
from functools import reduce
from typing import Any

import pytest

from registry.operations.suites import members_of
from registry.query import RankingQuery
from tests.house import House, Project
from tests.workers.asking import computed, join
from workers.jobs.invalidation import apply_invalidations
from workers.queries import compute, document_of

AXES: dict[str, dict[str, list[Any]]] = {
    "STS": {"subset": ["de", "en", "fr"], "split": ["test", "dev"]},
    "SUM": {"split": ["test", "dev"]},
    "LEN": {"Length": [1, 2, 3, 4]},
    "PLAIN": {},
    "OTHER": {"split": ["test"]},
}
KEPT: dict[str, dict[str, list[Any]]] = {
    "STS": {"subset": ["en"], "split": ["test"]},
    "SUM": {"split": ["dev"]},
    "LEN": {"Length": [3, 4]},
    "PLAIN": {},
}
"""What the suite leaves of them."""
MEMBERS = ["STS@split=test,subset=en", "SUM@split=dev", "LEN@Length=>=3", "PLAIN"]
SCOPE = {"experiment": "board", "metric": "accuracy", "suite": "own"}
VIEWS: list[tuple[str, dict[str, Any]]] = [
    ("rankings", {}),
    ("rankings", {"method": "borda", "missing": "zero_points"}),
    ("rankings", {"by": "benchmark"}),
    ("rankings", {"by": "axis:Length"}),
    ("aggregates", {"group_by": "model"}),
    ("aggregates", {"group_by": "benchmark,axis:split", "missing": "available"}),
    ("lines", {"along": "Length"}),
    ("comparisons", {"baseline_model": "m1", "contender_model": "m2"}),
    ("noise", {}),
]
ON_BOARDS: list[dict[str, Any]] = [
    {}, {"method": "borda", "missing": "zero_points"}, {"method": "mean", "missing": "available"}, {"by": "variant"}
]  # fmt: skip
_OWN = ("grid", "digest", "computed_at", "selection", "inputs", "inputs_left_out", "revision", "href", "derived")


def fill(project: Project, axes: dict[str, dict[str, list[Any]]], members: list[str]) -> Project:
    """Five models, at these levels of each benchmark; one of them says another name of a benchmark."""
    for benchmark, levels in axes.items():
        for model in range(5):
            values = shaped(benchmark, model, list(levels.items()), {})
            name = "LEN-old" if (benchmark, model) == ("LEN", 3) else benchmark
            kinds = {"Length": "numeric"}
            project.published(
                experiment="board", benchmark=name, model=f"m{model}", trials=200, values=values,
                axes=[{"name": one, "kind": kinds.get(one, "nominal"), "levels": own} for one, own in levels.items()],
            )  # fmt: skip
    project.published(experiment="board", benchmark="PLAIN", model="mean", axes=[], values=1.0, derived=True)
    join(project, "benchmark", "LEN-old", "LEN")
    sent = {"benchmarks": members}
    assert project.call("PUT", f"projects/{project.slug}/suites/own", json=sent).status_code == 201
    return project


def shaped(benchmark: str, model: int, axes: list[tuple[str, list[Any]]], at: dict[str, Any]) -> Any:
    """A value, the same at the same levels whatever else there is; nested by the axes that are left."""
    if axes:
        (name, levels), *rest = axes
        return [shaped(benchmark, model, rest, at | {name: level}) for level in levels]
    chance = random.Random(f"{benchmark} {model} {sorted(at.items())}")
    return None if at and chance.random() < 0.1 else round(50 + 4 * model + chance.gauss(0, 6), 1)


def plain(value: Any) -> Any:
    """A document without what differs between two projects, and without the levels of members that it names."""
    if isinstance(value, str):
        return reduce(lambda told, member: told.replace(member, member.partition("@")[0]), MEMBERS, value)
    if isinstance(value, dict):
        return {name: plain(inner) for name, inner in value.items() if name not in _OWN}
    return [plain(inner) for inner in value] if isinstance(value, list) else value


@pytest.fixture(scope="module")
def whole(house: House) -> Project:
    return fill(house.make_project(), AXES, MEMBERS)


@pytest.fixture(scope="module")
def part(house: House) -> Project:
    """A project that has nothing but what the suite leaves."""
    return fill(house.make_project(), KEPT, list(KEPT))


def seen(project: Project, view: str, own: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = computed(project, f"projects/{project.slug}/{view}", query_string=SCOPE | own)
    return found


def test_every_view_of_a_suite_is_that_of_grids_which_have_nothing_else(
    whole: Project, part: Project, subtests: pytest.Subtests
) -> None:
    for view, own in VIEWS:
        with subtests.test(view, **own):
            found = seen(whole, view, own)
            assert found["selection"]["slices"] == {
                "STS": {"subset": ["en"], "split": ["test"]}, "SUM": {"split": ["dev"]}, "LEN": {"Length": [">=3"]},
            }  # fmt: skip
            assert plain(found) == plain(seen(part, view, own))
            assert "slots_differ" not in [one["code"] for one in found.get("warnings", ())]


def on_board(project: Project, **own: Any) -> dict[str, Any]:
    """The ranking as a large one is computed: from matrices."""
    house = project.house
    apply_invalidations(house.database, house.settings)
    with house.database.reading() as connection:
        members = members_of(connection, project.id, "own")
    question = RankingQuery("board", "accuracy", **{"suite": "own"} | members | own)
    found = compute(house.database, replace(house.settings, ranking_work=0), project.id, question)
    assert found is not None
    document = document_of(found)
    assert document["inputs_left_out"]["count"] or not document["ranking"]
    return document


def test_a_large_ranking_of_a_suite_is_that_of_grids_which_have_nothing_else(
    whole: Project, part: Project, subtests: pytest.Subtests
) -> None:
    for own in ON_BOARDS:
        with subtests.test(**own):
            found, theirs = on_board(whole, **own), on_board(part, **own)
            assert plain(found) == plain(theirs)
            assert found["inputs_left_out"]["count"] == theirs["inputs_left_out"]["count"] == 20
            assert len(found["derived"]) == len(theirs["derived"]) == 1


def test_a_large_ranking_of_a_slice_has_the_order_that_its_cells_give(whole: Project) -> None:
    at = (("split", ("test",)),)
    own: dict[str, Any] = {"method": "mean", "missing": "available"}
    board = on_board(whole, at=at, suite="", benchmark=(), slices=(), **own)
    cells = computed(
        whole, f"projects/{whole.slug}/rankings", query_string=SCOPE | own | {"suite": "", "at.split": "test"}
    )
    assert board["benchmarks"] == cells["benchmarks"] == ["OTHER", "STS", "SUM"]
    assert board["slots"] == cells["slots"]
    assert [one["name"] for one in board["ranking"]] == [one["name"] for one in cells["ranking"]]


def test_levels_that_a_slice_and_a_member_have_not_in_common_leave_nothing_of_it(whole: Project) -> None:
    found = seen(whole, "rankings", {"at.split": "test"})
    assert found["benchmarks"] == ["STS"]
    [told] = [one["detail"] for one in found["warnings"] if one["code"] == "suite_incomplete"]
    assert told.endswith(": LEN@Length=>=3, PLAIN, SUM@split=dev.")


def test_benchmarks_of_a_suite_with_one_level_beside_others_with_several_are_told(house: House) -> None:
    project = fill(house.make_project(), AXES, ["STS", "SUM@split=dev", "OTHER"])
    wanted = (
        'On the axis "split" 1 of 3 benchmarks of the suite have several levels and the others one; '
        "a member such as STS@split=dev says which count."
    )
    compared = {"baseline_model": "m1", "contender_model": "m2"}
    answers = [
        seen(project, "rankings", {}),
        seen(project, "comparisons", compared),
        on_board(project),
        seen(project, "aggregates", {"group_by": "model,benchmark"}),
    ]
    for found in answers:
        assert [one["detail"] for one in found["warnings"] if one["code"] == "slots_differ"] == [wanted]
    lengths = {"P": {"Length": [1, 2], "split": ["test", "dev"]}, "Q": {"Length": [1, 2], "split": ["test"]}}
    project = fill(house.make_project(), lengths, ["P", "Q"])
    for along, codes in (("Length", ["slots_differ"]), ("split", [])):
        warned = [one["code"] for one in seen(project, "lines", {"along": along})["warnings"]]
        assert [one for one in warned if one == "slots_differ"] == codes, along
