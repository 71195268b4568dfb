"""Statistics by other settings than the usual ones, and crossings: asked over HTTP, computed once and kept."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import func, select

from registry.api.statistics_parts import OMITTED, PARTS
from registry.query import StatisticsQuery, ThresholdsQuery, query_of
from registry.storage.rows import metric_of
from registry.storage.tables import cached_results
from tests.house import House, Project, publication
from workers.statistics_by_settings import asked_parameters

FALLING = [99.0, 96.0, 93.0, 88.0, 80.0, 71.0, 60.0]
AXIS = {"name": "Length", "kind": "numeric", "levels": [1, 2, 3, 4, 5, 6, 7]}


@pytest.fixture
def grid(project: Project, house: House) -> str:
    """The path of a grid of one falling series, its usual statistics computed."""
    found = project.published(axes=[AXIS], values=FALLING, trials=300)
    house.compute()
    return f"grids/{found['id']}"


def asked(project: Project, house: House, path: str) -> dict[str, Any]:
    """The answer to a question that nobody asked before."""
    assert project.get(path).status_code == 202
    house.compute()
    answer = project.get(path)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.get_json()
    return found


def without(document: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in document.items() if name not in names}


def test_the_settings_of_the_query_are_those_of_the_answer(project: Project, house: House, grid: str) -> None:
    usual = project.get(f"{grid}/statistics").get_json()["params"]
    assert (usual["alpha"], usual["sharp_change"], usual["equivalence"]) == (0.05, 5.0, 2.0)
    found = asked(project, house, f"{grid}/statistics?alpha=0.01&sharp_change=9.5&equivalence=0")
    assert found["params"] == usual | {"alpha": 0.01, "sharp_change": 9.5, "equivalence": 0.0}
    assert (found["grid"], found["revision"], found["state"]) == (grid.removeprefix("grids/"), 1, "ready")
    only = asked(project, house, f"{grid}/statistics?equivalence=7")
    assert only["params"] == usual | {"equivalence": 7.0}


def test_the_usual_settings_give_the_usual_statistics(project: Project, house: House, grid: str) -> None:
    usual = project.get(f"{grid}/statistics").get_json()
    found = asked(project, house, f"{grid}/statistics?alpha=0.05&sharp_change=5&equivalence=2")
    assert without(found, "computed_at") == without(usual, "computed_at")


def test_a_step_is_sharp_from_the_asked_size_on(project: Project, house: House, grid: str) -> None:
    """The steps of the series are 3, 3, 5, 8, 9 and 11 points."""
    for size, sharp in ((9, {11.0, 9.0}), (11.5, set())):
        [series] = asked(project, house, f"{grid}/changes?sharp_change={size}")["series"]
        assert {abs(step["size"]) for step in series["changes"] if step["sharp"]} <= sharp
    [series] = project.get(f"{grid}/changes").get_json()["series"]
    assert any(step["sharp"] for step in series["changes"])


def test_a_stricter_level_widens_intervals(project: Project, house: House, grid: str) -> None:
    [usual] = project.get(f"{grid}/trends").get_json()["series"]
    [strict] = asked(project, house, f"{grid}/trends?alpha=0.001")["series"]
    assert strict["slope_interval"]["low"] < usual["slope_interval"]["low"]
    assert strict["slope_interval"]["high"] > usual["slope_interval"]["high"]
    assert strict["slope"] == usual["slope"]


@pytest.mark.parametrize("part", PARTS)
def test_parts_and_forms_select_from_the_asked_as_from_the_stored(
    project: Project, house: House, grid: str, part: str
) -> None:
    query = "alpha=0.05&along=Length"
    whole = asked(project, house, f"{grid}/statistics?alpha=0.05")
    chosen = project.get(f"{grid}/{part}?{query}")
    assert chosen.status_code == 200
    stored = project.get(f"{grid}/{part}?along=Length")
    assert without(chosen.get_json(), "computed_at") == without(stored.get_json(), "computed_at")
    always = [name for name in PARTS[part] if name not in OMITTED]
    assert {name: whole[name] for name in always} == {name: chosen.get_json()[name] for name in always}
    for suffix in ("json", "txt", "md", "csv"):
        same = [project.get(f"{grid}/{part}.{suffix}?{more}") for more in (query, "along=Length")]
        assert [answer.status_code for answer in same] == [200, 200]
        if suffix != "json":
            assert same[0].text == same[1].text


def test_an_axis_that_is_not_there_is_refused(project: Project, house: House, grid: str) -> None:
    asked(project, house, f"{grid}/trends?alpha=0.01")
    answer = project.get(f"{grid}/trends?alpha=0.01&along=Width")
    assert (answer.status_code, answer.get_json()["errors"][0]["pointer"]) == (422, "/along")


def test_who_has_the_answer_already_is_told_so(project: Project, house: House, grid: str) -> None:
    tags = set()
    asked(project, house, f"{grid}/statistics?alpha=0.01")
    for path in ("statistics", "statistics.md", "peaks", "peaks.csv", "trends", "trends.txt"):
        for query in ("alpha=0.01", "alpha=0.01&along=Length"):
            answer = project.get(f"{grid}/{path}?{query}")
            tag = answer.headers["ETag"]
            again = project.get(f"{grid}/{path}?{query}", headers={"If-None-Match": tag})
            assert (again.status_code, again.data, again.headers["ETag"]) == (304, b"", tag)
            tags.add(tag)
    assert len(tags) == 12


def test_it_is_computed_once_and_kept(project: Project, house: House, grid: str) -> None:
    asked(project, house, f"{grid}/statistics?alpha=0.01")
    for path in ("statistics", "peaks", "trends", "coverage.csv", "sensitivity?along=Length", "statistics?alpha=1e-2"):
        more = path if "alpha" in path else f"{path}{'&' if '?' in path else '?'}alpha=0.01"
        assert project.get(f"{grid}/{more}").status_code == 200
    with house.database.reading() as connection:
        mine = cached_results.c.query["grid"].astext == grid.removeprefix("grids/")
        assert connection.scalar(select(func.count()).where(mine)) == 1


def test_waiting_is_told_where_to_come_back(project: Project, grid: str) -> None:
    answer = project.get(f"{grid}/peaks?alpha=0.01&equivalence=3")
    assert answer.status_code == 202
    promised = answer.get_json()
    assert (promised["kind"], promised["state"], promised["alpha"]) == ("statistics", "pending", 0.01)
    assert promised["derivation"]["href"] == f"/api/v1/{grid}/peaks?alpha=0.01&equivalence=3"


def test_a_new_revision_is_asked_anew(project: Project, house: House, grid: str) -> None:
    asked(project, house, f"{grid}/statistics?alpha=0.01")
    project.published(axes=[AXIS], values=FALLING[::-1], trials=300)
    house.compute()
    found = asked(project, house, f"{grid}/statistics?alpha=0.01")
    assert (found["revision"], found["series"][0]["first"]) == (2, 60.0)


@pytest.mark.parametrize("part", ["statistics", *PARTS])
def test_statistics_of_an_older_revision_are_those_that_it_had(
    project: Project, house: House, grid: str, part: str
) -> None:
    usual = project.get(f"{grid}/{part}").get_json()
    assert without(project.get(f"{grid}/{part}?revision=1").get_json(), "computed_at") == without(usual, "computed_at")
    project.published(axes=[AXIS], values=FALLING[::-1], trials=300)
    older = asked(project, house, f"{grid}/{part}?revision=1")
    assert without(older, "computed_at", "params") == without(usual, "computed_at", "params")
    assert project.get(f"{grid}/{part}?revision=2").get_json()["revision"] == 2
    assert project.get(f"{grid}/{part}").get_json()["revision"] == 2


def test_crossings_and_pieces_of_an_older_revision_are_asked_as_of_the_current_one(
    project: Project, house: House, grid: str
) -> None:
    project.published(axes=[AXIS], values=FALLING[::-1], trials=300)
    house.compute()
    rising = asked(project, house, f"{grid}/thresholds?value=90")
    falling = asked(project, house, f"{grid}/thresholds?value=90&revision=1")
    assert (falling["revision"], rising["revision"]) == (1, 2)
    assert falling["series"] != rising["series"]
    found = asked(project, house, f"{grid}/statistics?revision=1&alpha=0.01&at.Length=<=5")
    assert (found["revision"], found["series"][0]["last"]) == (1, 80.0)


@pytest.mark.parametrize(
    ("revision", "status"), [("3", 404), ("2147483647", 404), ("0", 422), ("-1", 422), ("x", 422), ("2147483648", 422)]
)
def test_a_revision_that_is_none_is_refused(project: Project, grid: str, revision: str, status: int) -> None:
    for path in ("statistics?", "peaks?", "thresholds?value=90&", "trends?along=Length&"):
        assert project.get(f"{grid}/{path}revision={revision}").status_code == status


@pytest.mark.parametrize(
    "query", ["alpha=0", "alpha=1", "alpha=1e-300", "alpha=x", "sharp_change=-1", "equivalence=-0.1", "beta=1"]
)
def test_settings_that_cannot_be_meant_are_refused(project: Project, grid: str, query: str) -> None:
    answer = project.get(f"{grid}/statistics?{query}")
    assert answer.status_code == 422
    assert [one["pointer"] for one in answer.get_json()["errors"]] == [f"/{query.split('=', maxsplit=1)[0]}"]


def test_extreme_settings_have_an_answer(project: Project, house: House, grid: str) -> None:
    for query in ("alpha=1e-9", "alpha=0.999999999", "sharp_change=1e308", "equivalence=1e308", "equivalence=1e-300"):
        assert asked(project, house, f"{grid}/statistics?{query}")["state"] == "ready"


def test_only_readers_of_the_project_may_ask(project: Project, house: House, grid: str) -> None:
    for path in ("statistics?alpha=0.01", "thresholds?value=90"):
        assert house.call("GET", f"{grid}/{path}").status_code == 401
        stranger = house.make_project()
        assert stranger.get(f"{grid}/{path}").status_code == 404


def test_thresholds_are_the_trends_that_were_asked_with_a_threshold(project: Project, house: House, grid: str) -> None:
    found = asked(project, house, f"{grid}/thresholds?value=90&value=75&value=90")
    assert found["thresholds"] == [75.0, 90.0]
    same = project.get(f"{grid}/trends?threshold=75&threshold=90")
    assert (same.status_code, same.get_json()) == (200, found)
    for suffix in ("txt", "md", "csv"):
        assert project.get(f"{grid}/thresholds.{suffix}?value=75&value=90").text
    tag = project.get(f"{grid}/thresholds?value=75&value=90").headers["ETag"]
    again = project.get(f"{grid}/thresholds?value=75&value=90", headers={"If-None-Match": tag})
    assert again.status_code == 304
    assert asked(project, house, f"{grid}/thresholds?value=90&along=Length")["series"]


def test_thresholds_take_the_settings_too(project: Project, house: House, grid: str) -> None:
    found = asked(project, house, f"{grid}/thresholds?value=90&alpha=0.01")
    assert found["params"]["alpha"] == 0.01
    assert asked(project, house, f"{grid}/trends?threshold=90&alpha=0.02")["params"]["alpha"] == 0.02


@pytest.mark.parametrize("query", ["", "value=x", "&".join(f"value={i}" for i in range(21))])
def test_thresholds_without_a_level_or_with_too_many_are_refused(project: Project, grid: str, query: str) -> None:
    answer = project.get(f"{grid}/thresholds?{query}")
    assert answer.status_code == 422
    assert answer.get_json()["errors"][0]["pointer"].startswith("/value")


def test_a_question_without_settings_is_the_one_that_was_stored_before() -> None:
    """The key that the release 0.1.0 gives this question."""
    question = ThresholdsQuery("", "", grid="g", revision=1, along="", thresholds=(90.0,))
    assert "alpha" not in question.document()
    assert str(question.key) == "78b68f80-b340-d7f5-634d-9d95f2d1c5de"


def test_a_question_reads_back_as_it_was_stored() -> None:
    for question in (
        StatisticsQuery("", "", grid="g", revision=2, alpha=0.01, equivalence=3.0),
        ThresholdsQuery("", "", grid="g", revision=1, thresholds=(90.0,), sharp_change=0.0),
    ):
        assert query_of(question.document()) == question
        assert query_of(question.document()).key == question.key


def test_a_metric_without_bounds_has_only_the_margins_that_are_asked() -> None:
    loss = metric_of(dict.fromkeys(("unit", "direction", "lower", "upper")) | {"name": "loss"})
    found = asked_parameters(StatisticsQuery("", "", grid="g", revision=1, sharp_change=0.1), loss)
    assert (found.alpha, found.sharp_change, found.equivalence, found.thresholds) == (0.05, 0.1, None, ())


def test_the_old_word_of_a_target_is_still_read(project: Project, house: House) -> None:
    project.publish(publication())
    asked_for = f"projects/{project.slug}/rankings?experiment=type-by-length&metric=accuracy"
    project.get(asked_for)
    house.compute()
    usual, old = project.get(asked_for), project.get(f"{asked_for}&target=fixed_cells")
    assert (usual.status_code, old.status_code, old.get_json()) == (200, 200, usual.get_json())


def test_margins_keep_their_size_in_the_database(project: Project, house: House, grid: str) -> None:
    """JSONB writes 1e16 as a whole number; the question that is read back must be the one that was asked."""
    found = asked(project, house, f"{grid}/statistics?sharp_change=1e16&equivalence=1e-7")
    assert (found["params"]["sharp_change"], found["params"]["equivalence"]) == (1e16, 1e-7)
    with house.database.reading() as connection:
        mine = cached_results.c.query["grid"].astext == grid.removeprefix("grids/")
        row = connection.execute(select(cached_results.c.query, cached_results.c.query_key).where(mine)).one()
    assert query_of(row.query).key == row.query_key


@pytest.mark.parametrize(
    ("query", "pointer", "word"),
    [
        ("split=99", "/split", "splits no axis; Length has"),
        ("split=x", "/split", "must be a finite number"),
        ("lost=-1", "/lost", "must be at least 0"),
        ("threshold=50&lost=1", "/lost", "ask without threshold"),
        ("threshold=50&split=1", "/split", "ask without threshold"),
    ],
)
def test_what_cannot_be_split_or_lost_is_told(project: Project, grid: str, query: str, pointer: str, word: str) -> None:
    answer = project.get(f"{grid}/trends?{query}")
    [fault] = answer.get_json()["errors"]
    assert (answer.status_code, fault["pointer"]) == (422, pointer)
    assert word in fault["detail"]


def test_without_a_better_end_nobody_can_say_what_a_loss_is(project: Project, house: House) -> None:
    made = project.published(metric={"name": "length", "unit": None, "direction": None}, trials=None)
    house.compute()
    answer = project.get(f"grids/{made['id']}/trends?lost=1")
    assert (answer.status_code, answer.get_json()["errors"][0]["pointer"]) == (422, "/lost")
    assert project.get(f"projects/{project.slug}/trends?lost=1&metric=length").get_json()["items"] == []


def test_lost_series_have_a_tag_of_their_own_and_the_q_of_all(project: Project, house: House) -> None:
    made = project.published(values=[[90, 70, 50], [90, 90.5, 90]], trials=300)
    house.compute()
    whole, losing = (project.get(f"grids/{made['id']}/trends{query}") for query in ("", "?lost=10"))
    assert whole.headers["ETag"] != losing.headers["ETag"]
    [series] = losing.get_json()["series"]
    assert (series["at"], series["q"]) == ({"Type": "1"}, whole.get_json()["series"][0]["q"])
    text = project.get(f"grids/{made['id']}/trends.txt?lost=10").text
    assert "Only the 1 of 2 series that lost more than 10" in text
    assert "None of 2 series lost more than 50." in project.get(f"grids/{made['id']}/trends.txt?lost=50").text
    rows = project.get(f"projects/{project.slug}/trends.csv?lost=10").text.splitlines()
    assert len(rows) == 2


def test_a_split_is_told_in_words_and_in_csv(project: Project, house: House) -> None:
    made = project.published(values=[[90, 70, 50], [90, 90, 90]], trials=300)
    path = f"grids/{made['id']}/trends"
    told = asked(project, house, f"{path}?split=1")
    assert [one["split"]["difference"] for one in told["series"]] == [-30, 0]
    text = project.get(f"{path}.txt?split=1").text
    assert "Length beyond 1, less up to 1, as means of cells" in text
    assert "The 2 with both parts, weighing the same: 85.00 → 70.00, -15.00 [" in text
    head, first, _ = project.get(f"{path}.csv?split=1").text.splitlines()
    assert head.endswith(",before,after,difference,difference_low,difference_high")
    assert first.split(",")[-5:-2] == ["80.0", "50.0", "-30.0"]
    assert "split" not in project.get(path).get_json()["series"][0]
