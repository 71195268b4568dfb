"""Statistics by other settings than the usual ones, and crossings: asked over HTTP, computed once and kept."""

from typing import Any

import pytest
from sqlalchemy import select

from registry.api.statistics import OMITTED, PARTS
from registry.query import StatisticsQuery, ThresholdsQuery, query_of
from registry.storage.rows import metric_of
from registry.storage.tables import cached_results
from tests.house import House, Project
from tests.workers.asking import faults_of
from workers.derive import asked_parameters

FALLING = [99.0, 96.0, 93.0, 88.0, 80.0, 71.0, 60.0]
AXIS = {"name": "Length", "kind": "numeric", "levels": [1, 2, 3, 4, 5, 6, 7]}


@pytest.fixture
def grid(project: Project, house: House) -> str:
    """The path of a grid of one falling series, its usual statistics computed."""
    found = project.published(axes=[AXIS], values=FALLING, trials=300)
    house.compute()
    return f"grids/{found['id']}"


def asked(project: Project, *paths: str) -> list[Any]:
    """The answers to questions that nobody asked before, as JSON."""
    for path in paths:
        assert project.get(path).status_code == 202, path
    project.house.compute()
    answers = [project.get(path) for path in paths]
    assert [answer.text for answer in answers if answer.status_code != 200] == []
    return [answer.get_json() for answer in answers]


def without(document: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in document.items() if name not in names}


def kept(project: Project, grid: str) -> list[Any]:
    """What is stored of questions about the grid."""
    columns = select(cached_results.c.query, cached_results.c.query_key)
    with project.house.database.reading() as connection:
        mine = cached_results.c.query["grid"].astext == grid.removeprefix("grids/")
        return list(connection.execute(columns.where(mine)))


def refused(project: Project, path: str) -> dict[str, str]:
    return faults_of(project.get(path))


def test_the_settings_of_the_query_are_those_of_the_answer(project: Project, grid: str) -> None:
    usual = project.get(f"{grid}/statistics").get_json()
    params = usual["params"]
    assert (params["alpha"], params["sharp_change"], params["equivalence"]) == (0.05, 5.0, 2.0)
    settings: list[dict[str, float]] = [
        {"alpha": 0.01, "sharp_change": 9.5, "equivalence": 0.0},
        {"equivalence": 7.0},
        # JSONB writes 1e16 as a whole number; the question that is read back must be the one that was asked.
        {"sharp_change": 1e16, "equivalence": 1e-7},
        {"alpha": 1e-9},
        {"alpha": 0.999999999},
        {"sharp_change": 1e308},
        {"equivalence": 1e308},
        {"equivalence": 1e-300},
        {"alpha": 0.05, "sharp_change": 5, "equivalence": 2},
    ]
    paths = ["&".join(f"{name}={value!r}".replace("+", "") for name, value in given.items()) for given in settings]
    found = asked(project, *(f"{grid}/statistics?{path}" for path in paths))
    for given, one in zip(settings, found, strict=True):
        assert (one["params"], one["state"]) == (params | given, "ready")
    assert (found[0]["grid"], found[0]["revision"]) == (grid.removeprefix("grids/"), 1)
    assert without(found[-1], "computed_at") == without(usual, "computed_at"), "the usual settings"
    assert len(rows := kept(project, grid)) == len(settings)
    assert [row.query for row in rows if query_of(row.query).key != row.query_key] == []


def test_steps_are_sharp_from_the_asked_size_on_and_a_stricter_level_widens_intervals(
    project: Project, grid: str
) -> None:
    """The steps of the series are 3, 3, 5, 8, 9 and 11 points."""
    nine, eleven, strict = asked(
        project,
        *(
            f"{grid}/statistics?{query}"
            for query in ("part=changes&sharp_change=9", "part=changes&sharp_change=11.5", "part=trends&alpha=0.001")
        ),
    )
    for found, sharp in ((nine, {11.0, 9.0}), (eleven, set())):
        [series] = found["series"]
        assert {abs(step["size"]) for step in series["changes"] if step["sharp"]} <= sharp
    [series] = project.get(f"{grid}/statistics?part=changes").get_json()["series"]
    assert any(step["sharp"] for step in series["changes"])
    [usual], [strict] = project.get(f"{grid}/statistics?part=trends").get_json()["series"], strict["series"]
    assert strict["slope_interval"]["low"] < usual["slope_interval"]["low"]
    assert strict["slope_interval"]["high"] > usual["slope_interval"]["high"]
    assert strict["slope"] == usual["slope"]


def test_every_step_is_listed_in_full_and_the_outstanding_ones_without_asking(project: Project, grid: str) -> None:
    def steps(document: Any) -> tuple[list[float], int]:
        [series] = document["series"]
        return [abs(step["size"]) for step in series["changes"]], series["changes_left_out"]

    usual = project.get(f"{grid}/statistics?part=changes").get_json()
    [full] = asked(project, f"{grid}/statistics?part=changes&detail=full")
    assert steps(full) == ([3.0, 3.0, 5.0, 8.0, 9.0, 11.0], 0)
    listed, left_out = steps(usual)
    assert 11.0 in listed
    assert 0 < left_out == 6 - len(listed)
    assert (usual["params"]["detail"], full["params"]["detail"]) == ("outstanding", "full")
    assert "detail=full has all" in project.get(f"{grid}/statistics.txt?part=changes").text
    assert refused(project, f"{grid}/statistics?detail=usual").keys() == {"/detail"}
    lost = f"{grid}/statistics?part=thresholds&value=90&detail=full"
    assert refused(project, lost) == {"/detail": "says nothing of part=thresholds"}


def test_parts_and_forms_select_from_the_asked_as_from_the_stored_and_have_tags(
    project: Project, grid: str, subtests: pytest.Subtests
) -> None:
    [whole] = asked(project, f"{grid}/statistics?alpha=0.05")
    tags = []
    for part in ("statistics", *PARTS):
        query = f"part={part}&along=Length" if part in PARTS else ""
        for suffix in ("json", "txt", "md", "csv"):
            with subtests.test(part, suffix=suffix):
                chosen = project.get(f"{grid}/statistics.{suffix}?alpha=0.05&{query}")
                stored = project.get(f"{grid}/statistics.{suffix}?{query}")
                assert (chosen.status_code, stored.status_code) == (200, 200)
                if suffix != "json":
                    assert chosen.text == stored.text
                else:
                    assert without(chosen.get_json(), "computed_at") == without(stored.get_json(), "computed_at")
                    always = [name for name in PARTS.get(part, ()) if name not in OMITTED]
                    assert {name: whole[name] for name in always} == {name: chosen.get_json()[name] for name in always}
                tag = {"If-None-Match": chosen.headers["ETag"]}
                again = project.get(f"{grid}/statistics.{suffix}?alpha=0.05&{query}", headers=tag)
                assert (again.status_code, again.data, again.headers["ETag"]) == (304, b"", chosen.headers["ETag"])
                tags.append(chosen.headers["ETag"])
    tags.append(project.get(f"{grid}/statistics?part=trends&alpha=5e-2").headers["ETag"])
    assert len(set(tags)) == len(tags) == 4 * (len(PARTS) + 1) + 1
    assert len(kept(project, grid)) == 1, "computed once"
    assert "/along" in refused(project, f"{grid}/statistics?part=trends&alpha=0.05&along=Width")


def test_who_waits_is_told_where_to_come_back(project: Project, grid: str) -> None:
    answer = project.get(f"{grid}/statistics?part=peaks&alpha=0.01&equivalence=3")
    promised = answer.get_json()
    assert (answer.status_code, promised["kind"], promised["state"]) == (202, "statistics", "pending")
    assert (promised["alpha"], promised["derivation"]["href"]) == (
        0.01,
        f"/api/v1/{grid}/statistics?part=peaks&alpha=0.01&equivalence=3",
    )


def test_statistics_of_an_older_revision_are_those_that_it_had(
    project: Project, grid: str, subtests: pytest.Subtests
) -> None:
    usual = {}
    for part in ("", *(f"part={part}&" for part in PARTS)):
        usual[part] = without(project.get(f"{grid}/statistics?{part}").get_json(), "computed_at")
        assert without(project.get(f"{grid}/statistics?{part}revision=1").get_json(), "computed_at") == usual[part]
    [first] = asked(project, f"{grid}/statistics?alpha=0.01")
    project.published(axes=[AXIS], values=FALLING[::-1], trials=300)
    project.house.compute()
    # One question about the older revision answers all parts, another one has other settings or crossings.
    more = ("alpha=0.01", "part=thresholds&value=90", "part=thresholds&value=90&revision=1")
    more = ("revision=1", *more, "revision=1&alpha=0.01&at.Length=<=5")
    _, anew, rising, falling, sliced = asked(project, *(f"{grid}/statistics?{query}" for query in more))
    for part, before in usual.items():
        with subtests.test(part):
            older = project.get(f"{grid}/statistics?{part}revision=1").get_json()
            assert without(older, "computed_at", "params") == without(before, "params")
            for query in (f"{part}revision=2", part):
                assert project.get(f"{grid}/statistics?{query}").get_json()["revision"] == 2
    assert (first["revision"], anew["revision"], anew["series"][0]["first"]) == (1, 2, 60.0)
    assert (falling["revision"], rising["revision"]) == (1, 2)
    assert falling["series"] != rising["series"]
    assert (sliced["revision"], sliced["series"][0]["last"]) == (1, 80.0)


def test_what_cannot_be_meant_is_refused_at_its_place(project: Project, grid: str, subtests: pytest.Subtests) -> None:
    for revision, status in (("3", 404), ("2147483647", 404), *((one, 422) for one in ("0", "-1", "x", "2147483648"))):
        for query in ("", "part=peaks&", "part=thresholds&value=90&", "part=trends&along=Length&"):
            with subtests.test(f"{query}revision={revision}"):
                assert project.get(f"{grid}/statistics?{query}revision={revision}").status_code == status
    settings = ["alpha=0", "alpha=1", "alpha=1e-300", "alpha=x", "sharp_change=-1", "equivalence=-0.1", "beta=1"]
    for query in settings:
        with subtests.test(query):
            assert list(refused(project, f"{grid}/statistics?{query}")) == [f"/{query.split('=', maxsplit=1)[0]}"]
    for query in ("", "value=x", "&".join(f"value={i}" for i in range(21))):
        with subtests.test(f"thresholds?{query}"):
            assert next(iter(refused(project, f"{grid}/statistics?part=thresholds&{query}"))).startswith("/value")
    for query, pointer, words in (("value=50", "/value", "is needed with part=thresholds"),):
        with subtests.test(f"trends?{query}"):
            [(place, detail)] = refused(project, f"{grid}/statistics?part=trends&{query}").items()
            assert (place, words in detail) == (pointer, True), detail
    assert kept(project, grid) == []


def test_thresholds_are_asked_in_any_order_and_take_settings(project: Project, grid: str) -> None:
    found, along, strict = asked(
        project,
        f"{grid}/statistics?part=thresholds&value=90&value=75&value=90",
        f"{grid}/statistics?part=thresholds&value=90&along=Length",
        f"{grid}/statistics?part=thresholds&value=90&alpha=0.01",
    )
    assert (found["thresholds"], bool(along["series"])) == ([75.0, 90.0], True)
    assert strict["params"]["alpha"] == 0.01
    same = project.get(f"{grid}/statistics?part=thresholds&value=75&value=90")
    assert (same.status_code, same.get_json()) == (200, found)
    for suffix in ("txt", "md", "csv"):
        assert project.get(f"{grid}/statistics.{suffix}?part=thresholds&value=75&value=90").text
    tag = project.get(f"{grid}/statistics?part=thresholds&value=75&value=90").headers["ETag"]
    again = project.get(f"{grid}/statistics?part=thresholds&value=75&value=90", headers={"If-None-Match": tag})
    assert again.status_code == 304


def test_a_question_reads_back_as_it_was_stored_and_keeps_its_key() -> None:
    question = ThresholdsQuery("", "", grid="g", revision=1, along="", thresholds=(90.0,))
    assert "alpha" not in question.document()
    assert str(question.key) == "78b68f80-b340-d7f5-634d-9d95f2d1c5de"
    for one in (
        StatisticsQuery("", "", grid="g", revision=2, alpha=0.01, equivalence=3.0),
        ThresholdsQuery("", "", grid="g", revision=1, thresholds=(90.0,), sharp_change=0.0),
    ):
        assert query_of(one.document()) == one
        assert query_of(one.document()).key == one.key


def test_a_metric_without_bounds_has_only_the_margins_that_are_asked() -> None:
    loss = metric_of(dict.fromkeys(("unit", "direction", "lower", "upper")) | {"name": "loss"})
    found = asked_parameters(StatisticsQuery("", "", grid="g", revision=1, sharp_change=0.1), loss)
    assert (found.alpha, found.sharp_change, found.equivalence, found.thresholds) == (0.05, 0.1, None, ())
