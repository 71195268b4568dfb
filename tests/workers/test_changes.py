"""What changed in a ranking between two instants."""

import math
from dataclasses import replace
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

import pytest
from scipy.stats import norm

from registry.query import RankingQuery
from registry.results.codec import to_document
from registry.results.event_sentences import event_sentence
from registry.results.ranking import Ranking
from registry.results.target_pages import page_of_event
from tests.house import Project
from tests.workers.asking import computed, described, faults_of, join, now
from tests.workers.feed import feed
from workers.queries import compute, compute_again

SCOPE = {"experiment": "E", "metric": "accuracy"}
BEFORE = {"A": 50.0, "B": 60.0, "C": 70.0}
ERROR = 1.5
AXES = [{"name": "Length", "kind": "numeric", "levels": [0, 1, 2]}]


def put(project: Project, model: str, *values: float, benchmark: str = "X", **more: Any) -> str:
    """Publish three cells, each with the same standard error."""
    sent = {"axes": AXES, "values": list(values), "trials": None, "stderr": [ERROR] * len(values)}
    names = {"experiment": "E", "model": model, "benchmark": benchmark, "variant": ""}
    return str(project.published(**names | sent | more)["id"])


def asked(project: Project, since: str, suffix: str = "", **more: Any) -> Any:
    query = urlencode(SCOPE | more | {"since": since}, doseq=True)
    return computed(project, f"projects/{project.slug}/rankings{suffix}?{query}")


def changes(project: Project, since: str, **more: Any) -> dict[str, Any]:
    """Of each name what is said of it."""
    change = described(asked(project, since, **more)["change"], "RankingChange")
    assert change["since"] == since
    return {one["name"]: one for one in change["names"]}


def words(found: dict[str, Any]) -> dict[str, str]:
    return {name: one["verdict"] for name, one in found.items()}


def ranks(found: dict[str, Any]) -> dict[str, tuple[int | None, int | None]]:
    return {name: (one["before"], one["now"]) for name, one in found.items()}


@pytest.fixture
def measured(project: Project) -> Project:
    for model, value in BEFORE.items():
        for benchmark in ("X", "Y"):
            put(project, model, value, value + 1, value + 2, benchmark=benchmark)
    return project


def test_names_that_are_new_gone_moved_and_unchanged_are_told(measured: Project) -> None:
    then = now(measured)
    put(measured, "A", 57.0, 57.0, 57.0)
    put(measured, "D", 95.0, 95.0, 95.0)
    for grid in measured.get(f"projects/{measured.slug}/grids?model=C").get_json()["items"]:
        assert measured.call("DELETE", f"grids/{grid['id']}", "admin").status_code == 204
    found = changes(measured, then)
    assert list(found) == ["D", "B", "A", "C"], "in the order of now, then what is gone"
    assert words(found) == {"D": "new", "B": "unchanged", "A": "better", "C": "gone"}
    assert ranks(found) == {"D": (None, 1), "B": (2, 2), "A": (3, 3), "C": (1, None)}
    assert (found["B"]["difference"], found["B"]["cells"], found["B"]["p"]) == (0.0, 6, None)
    a = found["A"]
    # On X 57 less 50, 51 and 52, on Y nothing was measured again: the mean over both is half of 6, and so is its error.
    error = math.sqrt(3 * (ERROR**2 + ERROR**2)) / 3 / 2
    reach = norm.ppf(0.975) * error
    assert (a["difference"], a["cells"], a["test"]) == (pytest.approx(3.0), 6, "z")
    assert [a["interval"][end] for end in ("low", "high")] == pytest.approx([3 - reach, 3 + reach])
    assert (a["p"], a["p_holm"]) == (pytest.approx(2 * norm.sf(3 / error)), a["p"])
    assert a["detectable"] == pytest.approx((norm.ppf(0.975) + norm.ppf(0.8)) * error)


def test_a_name_against_itself_is_the_comparison_of_two_models(measured: Project, project: Project) -> None:
    grid = {"experiment": "E", "variant": "", "axes": AXES, "trials": [40, 60, 80]}
    values = {"X": ([50.0, 60.0, 70.0], [60.0, 60.0, 80.0]), "Y": ([20.0, 30.0, 40.0], [25.0, 35.0, 35.0])}
    for benchmark, pair in values.items():
        for model, one in zip(("old", "new"), pair, strict=True):
            project.published(**grid, benchmark=benchmark, model=model, values=one)
        project.published(**grid, benchmark=benchmark, model="T", values=pair[0])
    then = now(project)
    for benchmark, pair in values.items():
        project.published(**grid, benchmark=benchmark, model="T", values=pair[1])
    query = urlencode(SCOPE | {"baseline_model": "old", "contender_model": "new"})
    whole = computed(project, f"projects/{project.slug}/comparisons?{query}")["whole"]
    found = changes(project, then)["T"]
    assert whole["test"] == "score"
    same = ("difference", "interval", "p", "detectable", "test")
    assert {name: found[name] for name in same} == {name: whole[name] for name in same}
    assert found["cells"] == whole["n_common"] == 6


def test_only_cells_measured_at_both_are_subtracted(measured: Project) -> None:
    then = now(measured)
    put(measured, "B", 60.0, 61.0, 62.0, 99.0, axes=[AXES[0] | {"levels": [0, 1, 2, 3]}])
    put(measured, "A", 10.0, 20.0, 30.0, benchmark="Z")
    found = changes(measured, then)
    assert words(found) == {"A": "same_cells", "B": "same_cells", "C": "unchanged"}
    assert [(found[name]["difference"], found[name]["cells"]) for name in "AB"] == [(0.0, 6), (0.0, 6)]
    put(measured, "A", 60.0, axes=[AXES[0] | {"levels": [1]}])
    a = changes(measured, then)["A"]
    error = math.sqrt(ERROR**2 + ERROR**2) / 2
    assert (a["difference"], a["cells"]) == (pytest.approx((60 - 51) / 2), 4)
    assert a["p"] == pytest.approx(2 * norm.sf(4.5 / error))


def test_holm_counts_the_names_that_were_measured_again(measured: Project) -> None:
    then = now(measured)
    put(measured, "A", 54.0, 55.0, 56.0)
    put(measured, "B", 62.0, 63.0, 64.0)
    found = changes(measured, then)
    error = math.sqrt(2 * ERROR**2 / 3) / 2
    ps = [2 * norm.sf(2 / error), 2 * norm.sf(1 / error)]
    assert [found[name]["p"] for name in "AB"] == pytest.approx(ps)
    assert [found[name]["p_holm"] for name in "AB"] == pytest.approx([2 * ps[0], max(2 * ps[0], ps[1])])
    assert words(found) == {"A": "better", "B": "open", "C": "unchanged"}


def test_amended_deleted_and_restored_grids_and_aliases_between(measured: Project) -> None:
    then = now(measured)
    grids = measured.get(f"projects/{measured.slug}/grids?model=C&benchmark=X").get_json()["items"]
    for method, path in (("DELETE", "grids/{}"), ("POST", "grids/{}/restore")):
        assert measured.call(method, path.format(grids[0]["id"]), "admin").status_code < 300
    assert set(words(changes(measured, then)).values()) == {"unchanged"}
    [grid] = measured.get(f"projects/{measured.slug}/grids?model=A&benchmark=X").get_json()["items"]
    cells = [{"at": {"Length": 0}, "value": 20.0, "stderr": ERROR}]
    assert measured.call("PATCH", f"grids/{grid['id']}/cells", json={"cells": cells}).status_code == 200
    join(measured, "model", "B", "Bee")
    found = changes(measured, then)
    assert words(found) == {"A": "worse", "Bee": "unchanged", "C": "unchanged"}
    assert found["A"]["difference"] == pytest.approx((20 - 50) / 3 / 2)


@pytest.mark.parametrize("by", ["model", "benchmark", "variant", "axis:Length"])
def test_since_now_nothing_changed(measured: Project, by: str) -> None:
    since = now(measured)
    answer = asked(measured, since, by=by)
    found = answer["change"]["names"]
    assert {(one["verdict"], one["difference"], one["before"] == one["now"]) for one in found} == {
        ("unchanged", 0.0, True)
    }
    assert [one["name"] for one in found] == [one["name"] for one in answer["ranking"]]
    assert {one["cells"] for one in found} == {one["cells"] for one in answer["ranking"]}
    assert "nothing changed." in asked(measured, since, ".txt", by=by).text
    plain = computed(measured, f"projects/{measured.slug}/rankings?{urlencode(SCOPE | {'by': by})}")
    alone = {name: value for name, value in answer.items() if name not in ("change", "computed_at")}
    assert alone == {name: value for name, value in plain.items() if name != "computed_at"}


@pytest.mark.parametrize(("by", "name", "difference"), [("benchmark", "X", 2.0), ("variant", "", 1.0)])
def test_benchmarks_variants_and_levels_are_set_against_themselves(
    measured: Project, by: str, name: str, difference: float
) -> None:
    then = now(measured)
    put(measured, "A", 56.0, 57.0, 58.0)
    assert changes(measured, then, by=by)[name]["difference"] == pytest.approx(difference)
    put(measured, "A", 50.0, 57.0, 52.0)
    levels = changes(measured, then, by="axis:Length")
    assert words(levels) == {"0": "same_cells", "1": levels["1"]["verdict"], "2": "same_cells"}
    assert levels["1"]["difference"] == pytest.approx(6 / 3 / 2)


@pytest.mark.parametrize("by", ["model", "benchmark", "axis:Length"])
def test_revisions_that_change_no_cell_change_nothing(measured: Project, by: str) -> None:
    then = now(measured)
    for model, value in BEFORE.items():
        put(measured, model, value, value + 1, value + 2, labels={"git_sha": "4f2"}, protocol={"shots": 5})
    put(measured, "A", 90.0, 91.0, 92.0, benchmark="Y")
    put(measured, "A", 50.0, 51.0, 52.0, benchmark="Y")
    found = changes(measured, then, by=by)
    assert {(one["verdict"], one["difference"]) for one in found.values()} == {("unchanged", 0.0)}
    assert "nothing changed." in asked(measured, then, ".txt", by=by).text
    if by == "model":
        put(measured, "B", 90.0, 91.0, 92.0)
        b = changes(measured, then)["B"]
        assert (b["verdict"], b["p_holm"]) == ("better", b["p"]), "Holm counts one name"


def test_names_without_a_cell_at_these_levels_are_not_told(measured: Project) -> None:
    """Of three levels the last is asked about, at which `none` has no cell at either instant."""
    cells = {2: {"values": [5.0, 1.0, None], "stderr": [ERROR, ERROR, None]}, 3: {}}
    for model, count in (("none", 2), ("new", 2), ("gone", 3)):
        put(measured, model, 5.0, 1.0, 2.0, **cells[count])
    then, last = now(measured), {"at.Length": "2"}
    put(measured, "none", 6.0, 1.0, 2.0, **cells[2] | {"values": [6.0, 1.0, None]})
    put(measured, "new", 5.0, 1.0, 2.0)
    put(measured, "gone", 5.0, 1.0, 2.0, **cells[2])
    assert words(changes(measured, then, **last)) == dict.fromkeys("CBA", "unchanged") | {"new": "new", "gone": "gone"}
    assert ": new is new, gone is gone." in asked(measured, then, ".md", **last).text
    assert ": 4 models are new." in asked(measured, "2020-01-01T00:00:00Z", ".md", **last).text
    rows = [line.split(",") for line in asked(measured, then, ".csv", **last).text.splitlines()]
    assert {row[8]: row[rows[0].index("verdict")] for row in rows}["none"] == ""
    assert len({len(row) for row in rows}) == 1


def test_both_ends_may_be_past_and_lower_may_be_better(project: Project) -> None:
    metric = {"name": "accuracy", "unit": "s", "direction": "lower", "lower": 0, "upper": None}
    for model in ("A", "B"):
        put(project, model, 50.0, 51.0, 52.0, metric=metric)
    first = now(project)
    put(project, "A", 30.0, 31.0, 32.0, metric=metric)
    second = now(project)
    put(project, "A", 90.0, 91.0, 92.0, metric=metric)
    put(project, "C", 1.0, 1.0, 1.0, metric=metric)
    assert words(changes(project, first, as_of=second)) == {"A": "better", "B": "unchanged"}
    assert words(changes(project, second)) == {"C": "new", "B": "unchanged", "A": "worse"}
    assert "A is worse by 60.0 s (lower is better; 95 % interval" in asked(project, second, ".md").text


def test_a_difference_is_in_the_unit_of_the_ranking(measured: Project) -> None:
    then = now(measured)
    share = {"name": "accuracy", "unit": None, "direction": "higher", "lower": 0, "upper": 1}
    put(measured, "A", 0.56, 0.57, 0.58, metric=share, stderr=[0.015] * 3)
    put(measured, "B", 0.60, 0.61, 0.62, metric=share, stderr=[0.015] * 3)
    found = changes(measured, then)
    assert found["A"]["difference"] == pytest.approx(6 / 2)
    assert found["B"]["verdict"] == "same_cells"
    for model, value in BEFORE.items():
        for benchmark in ("X", "Y"):
            values = [(value + place) / 100 for place in range(1, 4)]
            put(measured, model, *values, benchmark=benchmark, metric=share, stderr=[0.015] * 3)
    again = changes(measured, then)
    assert [again[name]["difference"] for name in BEFORE] == pytest.approx([0.01] * 3)


def test_what_was_measured_by_another_protocol_is_not_subtracted(measured: Project) -> None:
    put(measured, "A", 50.0, 51.0, 52.0, protocol={"shots": 0})
    then = now(measured)
    for model, value in BEFORE.items():
        put(measured, model, value + 9, value + 9, value + 9, protocol={"shots": 5})
    path = f"projects/{measured.slug}/experiments/E"
    assert measured.call("PATCH", path, json={"protocol": {"binding": ["shots"]}}).status_code == 200
    found = changes(measured, then)
    assert (found["A"]["verdict"], found["A"]["difference"], found["A"]["cells"]) == ("same_cells", 0.0, 3)
    assert found["B"]["difference"] == pytest.approx((9 - 1) / 2), "its protocol said no shots then"


def test_a_board_has_the_same_changes_and_reads_only_what_changed(measured: Project) -> None:
    then = now(measured)
    put(measured, "A", 57.0, 57.0, 57.0)
    put(measured, "D", 95.0, 95.0, 95.0)
    house, question = measured.house, RankingQuery("E", "accuracy", since=then)

    def change(work: int) -> Any:
        found = compute(house.database, replace(house.settings, ranking_work=work), measured.id, question)
        assert isinstance(found, Ranking)
        assert found.change is not None
        # The tests of a board are others, and leave other ranks open.
        names = (
            replace(one, rank_low_before=None, rank_high_before=None, rank_low=None, rank_high=None)
            for one in found.change.names
        )
        return to_document(replace(found.change, names=tuple(names)))

    of_cells, of_board, none = change(8_000_000), change(12), change(11)
    assert of_board == of_cells, "twelve cells of A at both instants are read"
    assert [one["verdict"] for one in none["names"]] == ["new", "unchanged", "unchanged", "open"]
    assert none["names"][-1]["reason"].startswith("too many cells changed")
    again = compute_again(house.database, house.settings, measured.id, question)
    assert again is not None
    assert [one["verdict"] for one in again["change"]["names"]] == [one["verdict"] for one in of_cells["names"]]


def test_where_one_of_the_two_has_no_order_the_change_is_left_out(measured: Project) -> None:
    then = now(measured)
    put(measured, "D", 5.0, benchmark="V", axes=[AXES[0] | {"levels": [9]}])
    found = asked(measured, then, missing="complete", set_aside="none")
    assert "change" not in found
    assert {one["part"] for one in found["left_out"]} == {"change"}
    before_all = changes(measured, "2020-01-01T00:00:00Z")
    assert set(words(before_all).values()) == {"new"}


def test_since_must_be_before_the_other_instant(measured: Project) -> None:
    path = f"projects/{measured.slug}/rankings"

    def told(**asked: str) -> str:
        return faults_of(measured.get(f"{path}?{urlencode(SCOPE | asked)}"))["/since"]

    assert told(since="2999-01-01").startswith("is in the future")
    assert told(since="2026-01-01", as_of="2026-01-01") == "must be before as_of"
    assert told(since="2026-01-02", as_of="2026-01-01T23:00:00-01:00") == "must be before as_of"
    assert told(since="last month").startswith("must be an instant")


def test_every_form_tells_it(measured: Project) -> None:
    then = now(measured)
    put(measured, "A", 70.0, 71.0, 72.0)
    put(measured, "D", 95.0, 95.0, 95.0)
    put(measured, "C", 10.0, 11.0, 12.0)
    at = f"{datetime.fromisoformat(then):%-d %b %Y, %H:%M} UTC"
    spoken = f"Since {at}: D is new, C went from 1 to 4, A went from 3 to 2, 1 more moved"
    sentence = (
        f"{spoken}; on the cells measured at both instants C is worse by 30.0 points (95 % interval 28.8 to 31.2), A is"
        " better by 10.0 points (95 % interval 8.8 to 11.2)."
    )
    measured.call("PATCH", f"projects/{measured.slug}", "admin", json={"visibility": "public"})
    asked(measured, then)
    page = measured.house.call("GET", f"/projects/{measured.slug}/rankings?{urlencode(SCOPE | {'since': then})}")
    assert f'<p class="said">{sentence}</p>' in page.text
    assert f'name="since" value="{then}"' in page.text
    assert sentence in asked(measured, then, ".md").text
    text = asked(measured, then, ".txt").text
    assert [line.split()[:7] for line in text.splitlines() if line.startswith("A  ") and "better" in line] == [
        ["A", "3", "2", "(2–3)", "+10.00", "[", "8.80,"]
    ]
    rows = [line.split(",") for line in asked(measured, then, ".csv").text.splitlines()]
    head = rows[0].index("since")
    assert rows[0][head:] == [
        "since", "rank_then", "verdict", "change", "change_low", "change_high", "change_p_holm"
    ]  # fmt: skip
    assert {row[8]: row[head + 1 : head + 3] for row in rows[1:]} == {
        "D": ["", "new"], "A": ["3", "better"], "B": ["2", "unchanged"], "C": ["1", "worse"]
    }  # fmt: skip


def test_a_lead_that_is_not_shown_any_more_is_told_though_the_order_is_the_same(measured: Project) -> None:
    then = now(measured)
    first, second = BEFORE["C"], BEFORE["C"] - 0.2
    for benchmark in ("X", "Y"):
        put(measured, "B", second, second + 1, second + 2, benchmark=benchmark)
    found = changes(measured, then)
    assert ranks(found) == {"C": (1, 1), "B": (2, 2), "A": (3, 3)}
    assert first > second
    lead = {name: found["C"][name] for name in ("verdict", "rank_high_before", "rank_high")}
    assert lead == {"verdict": "unchanged", "rank_high_before": 1, "rank_high": 2}
    told = "the order is the same, C may have the ranks 1–2 (1 before), B may have the ranks 1–2 (2 before)"
    assert told in asked(measured, then, ".txt").text.replace("\n  ", " ")


def test_the_link_of_an_event_answers_what_the_event_says(measured: Project) -> None:
    def turn() -> Any:
        measured.house.compute()
        return feed(measured, "ranking.changed")[-1]

    assert "since" not in turn().data
    put(measured, "A", 56.0, 57.0, 58.0)
    assert turn().data["first"], "other numbers, the same order"
    put(measured, "D", 95.0, 95.0, 95.0)
    for benchmark in ("X", "Y"):
        put(measured, "A", 95.0, 96.0, 97.0, benchmark=benchmark)
    event = turn()
    put(measured, "A", 1.0, 1.0, 1.0)
    measured.house.compute()
    assert page_of_event(measured.slug, 9, event_sentence(event.type, event.data)) == f"/{event.subject}"
    answer = computed(measured, event.subject)
    assert (answer["change"]["since"], answer["selection"]["as_of"]) == (event.data["since"], event.data["as_of"])
    told = sorted((one["name"], one["before"], one["now"]) for one in event.data["moved"])
    ranked = {one["name"]: (one["name"], one["before"], one["now"]) for one in answer["change"]["names"]}
    assert told == sorted(one for one in ranked.values() if one[1] != one[2])
    assert told == [("A", 3, 1), ("B", 2, 4), ("C", 1, 3), ("D", None, 2)]
    [a] = [one for one in answer["change"]["names"] if one["name"] == "A"]
    assert a["difference"] == pytest.approx(((95 - 56) + (95 - 50)) / 2), "since the last answer, told or not"
    for model in "ABCD":
        for grid in measured.get(f"projects/{measured.slug}/grids?model={model}").get_json()["items"]:
            measured.call("DELETE", f"grids/{grid['id']}", "admin")
    gone = computed(measured, turn().subject)["change"]["names"]
    assert {one["verdict"] for one in gone} == {"gone"}
