"""Names that a project never had, axes in other letters, ranges without a level: each is told, with what there is."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.grids.suspect_names import looks_derived, near_duplicates
from tests.house import House, Project, publication
from tests.recorder import statements

RATIOS = [{"name": "Ratio", "kind": "numeric", "levels": [0.1, 0.2, 0.3]}]
SWEEP = "experiment=sweep&metric=accuracy"
TRADE_OFF = "trade-offs?experiment=sweep&x=metric:accuracy&y=metric:accuracy"


@pytest.fixture(scope="module")
def sweep(house: House) -> Project:
    """Model A has every ratio, model B the first one alone."""
    project = house.make_project()
    more = {"experiment": "sweep", "axes": RATIOS, "variant": "", "trials": 150}
    for model, values in (("A", [50.0, 60.0, 70.0]), ("B", [40.0, None, None])):
        assert project.publish(publication(model=model, values=values, **more)).status_code == 201
    alias = {"kind": "model", "alias": "Ay", "name": "A"}
    assert project.call("POST", f"projects/{project.slug}/aliases", "admin", json=alias).status_code == 201
    return project


def asked(project: Project, path: str) -> Any:
    """The answer to a question that is computed when it is asked."""
    address = f"projects/{project.slug}/{path}"
    while project.get(address, headers={"Prefer": "wait=0"}).status_code in (202, 503):
        project.house.compute()
    return project.get(address)


def fault(project: Project, path: str) -> tuple[str, str]:
    answer = project.get(f"projects/{project.slug}/{path}")
    assert answer.status_code == 422, answer.text
    [one] = answer.get_json()["errors"]
    return one["pointer"], one["detail"]


def test_a_table_of_a_name_that_no_grid_ever_had_is_refused(sweep: Project) -> None:
    for table in ("cells?", "cells.csv?", "statistics?part=trends&", "statistics.csv?part=peaks&"):
        told = fault(sweep, f"{table}model=A&model=C")
        assert told == ("/model", 'no grid of this project has the model "C"; there are A, B')
        assert fault(sweep, f"{table}experiment=Sweep")[1].endswith('did you mean "sweep"; there is sweep')
        assert fault(sweep, f"{table}model=A,B")[1].endswith("; repeat the parameter for several")
    for names in ("model=A", "model=Ay", "model=B&variant=", "updated_since=2999-01-01"):  # known, however empty
        assert sweep.get(f"projects/{sweep.slug}/cells.csv?{names}").status_code == 200


def test_of_hundreds_of_names_ten_are_told_with_what_there_is(sweep: Project) -> None:
    many = "&".join(f"model=m{number}" for number in range(300))
    with statements() as seen:
        listed = sweep.get(f"projects/{sweep.slug}/grids?{many}").get_json()["warnings"]
    assert len(seen) < 20
    ranked = sweep.get(f"projects/{sweep.slug}/rankings?{SWEEP}&{many}").get_json()["errors"]
    for told in (listed, ranked):
        with_names = [one for one in told if "there" in one["detail"]]
        assert with_names == told[:10]
    assert (len(listed), listed[-1]["detail"]) == (300, 'no grid of this project has the model "m299"')


def test_names_of_deleted_grids_are_known(project: Project) -> None:
    gone = project.published(model="gone")
    assert project.call("DELETE", f"grids/{gone['id']}").status_code == 204
    assert project.get(f"projects/{project.slug}/cells.json?model=gone").get_json()["items"] == []
    assert "warnings" not in project.get(f"projects/{project.slug}/grids?model=gone").get_json()


def test_a_list_of_a_name_that_no_grid_ever_had_warns(sweep: Project) -> None:
    told = sweep.get(f"projects/{sweep.slug}/grids?model=A&model=a%20b").get_json()
    assert [one["model"] for one in told["items"]] == ["A"]
    assert told["warnings"] == [
        {"code": "unknown_name", "detail": 'no grid of this project has the model "a b"; there are A, B'}
    ]


def test_an_axis_in_other_letters_is_meant_and_found_in_the_question(sweep: Project) -> None:
    for path, pointer in (
        (f"rankings?{SWEEP}&by=axis:ratio", "/by"),
        (f"aggregates?{SWEEP}&group_by=axis:ratio", "/group_by"),
        (f"lines?{SWEEP}&along=ratio", "/along"),
        (f"rankings?{SWEEP}&at.ratio=0.1", "/at.ratio"),
        (f"{TRADE_OFF}&x.at.ratio=0.1&y.at.Ratio=0.2", "/x.at.ratio"),
        (f"{TRADE_OFF}&x.at.Ratio=0.1&y.at.ratio=0.2", "/y.at.ratio"),
        (f"{TRADE_OFF}&at.ratio=0.1", "/at.ratio"),
    ):
        place, detail = fault(sweep, path)
        assert (place, 'did you mean "Ratio"' in detail) == (pointer, True)
    grid = sweep.get(f"projects/{sweep.slug}/grids?model=A").get_json()["items"][0]["id"]
    [one] = sweep.get(f"grids/{grid}/statistics?along=ratio").get_json()["errors"]
    assert one == {"pointer": "/along", "detail": 'the grid has no axis "ratio"; did you mean "Ratio"; there is Ratio'}


def test_faults_of_a_slice_point_at_the_quantity_and_tell_ends_that_were_exchanged(sweep: Project) -> None:
    assert fault(sweep, f"{TRADE_OFF}&x.at.Ratio=&y.at.Ratio=0.1")[0] == "/x.at.Ratio"
    exchanged = 'the axis "Ratio" has no level that is at most 0.1 and at least 0.3 at once; there are 0.1, 0.2, 0.3'
    for path in (f"rankings?{SWEEP}", f"aggregates?{SWEEP}&group_by=model", "cells.csv?"):
        assert fault(sweep, f"{path}&at.Ratio=>=0.3&at.Ratio=<=0.1") == ("/at.Ratio", exchanged)


def test_a_table_says_who_is_left_when_a_name_has_nothing(sweep: Project) -> None:
    told = asked(sweep, f"aggregates?{SWEEP}&group_by=model&at.Ratio=0.2").get_json()
    assert told["warnings"] == [{"code": "dropped", "detail": "B has no counted cell here: only A is left."}]
    text = sweep.get(f"projects/{sweep.slug}/aggregates.txt?{SWEEP}&group_by=model&at.Ratio=0.2").text
    assert "warning: B has no counted cell here: only A is left." in text
    assert asked(sweep, f"aggregates?{SWEEP}&group_by=model").get_json()["warnings"] == []


def test_a_ranking_and_a_trade_off_say_what_was_compared(sweep: Project) -> None:
    told = asked(sweep, f"rankings?{SWEEP}").get_json()
    assert {one["name"]: (one["cells"], one["compared"]) for one in told["ranking"]} == {"A": (3, 1), "B": (1, 1)}
    assert "1 of 3" in sweep.get(f"projects/{sweep.slug}/rankings.txt?{SWEEP}").text
    path = TRADE_OFF.replace("?", ".txt?") + "&x.at.Ratio=0.1&y.at.Ratio=0.2"
    text = asked(sweep, path).text
    for slot in ("0.1", "0.2"):
        assert f"accuracy (%), Ratio {slot}" in text.splitlines()[5]
    assert "accuracy, Ratio 0.2: the mean over the 1 slot that it has." in text


def test_who_is_compared_with_nobody_comes_last_and_has_no_place(sweep: Project) -> None:
    for slot, rows in (("0.2", [("A", 0), ("B", 0)]), ("0.1", [("A", 1), ("B", 1)])):
        told = asked(sweep, f"rankings?{SWEEP}&at.Ratio={slot}").get_json()
        assert sorted((one["name"], one["compared"]) for one in told["ranking"]) == rows
        ranked = [one for one in told["ranking"] if one["rank"] is not None]
        assert (told["status"], bool(told["groups"]), len(ranked)) == (
            ("ok", True, 2) if slot == "0.1" else ("insufficient", False, 0)
        )


def test_a_difference_is_that_of_the_posted_values_and_not_of_the_counts_behind_them(project: Project) -> None:
    """62.7 % of 150 trials are 94 successes, which are 62.667 %; 50 % are 75."""
    for model, value in (("A", 62.7), ("B", 50.0)):
        project.published(model=model, axes=[], values=value, trials=150)
    pair = "experiment=type-by-length&metric=accuracy&baseline_model=B&contender_model=A"
    told = asked(project, f"comparisons?{pair}").get_json()
    found = told["by_benchmark"][0]["mean"], told["whole"]["difference"]
    assert found == (12.7, 12.7)
    variance = (94 * (150 - 94) + 75 * 75) / 150**3
    assert told["whole"]["stderr"] == pytest.approx(100 * variance**0.5, rel=1e-9)
    assert told["assumes"] == ["independent_trials"]


NAMES = st.sets(st.text("aB1 -", max_size=6), max_size=12)
WORDS = re.compile(r"[a-z]+|[B]+")
"""Of the letters above: a capital after a small one begins a word."""


def _alone(text: str) -> set[int]:
    """Places of digits and of letters that are a word by themselves."""
    words = [match for match in WORDS.finditer(text) if match.end() - match.start() == 1]
    return {match.start() for match in words} | {place for place, one in enumerate(text) if one == "1"}


def _shortened(text: str) -> set[str]:
    """The text less one character that tells nothing by itself."""
    return {(text[:at] + text[at + 1 :]).casefold() for at in set(range(len(text))) - _alone(text)}


def _changed(text: str, other: str) -> bool:
    """Whether the texts differ in one character, which tells nothing by itself in either."""
    at = [place for place, pair in enumerate(zip(text.casefold(), other.casefold(), strict=True)) if len(set(pair)) > 1]
    return len(at) == 1 and not (_alone(text) | _alone(other)) & set(at)


def _bare(text: str) -> str:
    return "".join(c for c in text.casefold() if c.isalnum())


def _looks_like(name: str, other: str) -> bool:
    if name == other:
        return False
    a, b = name.casefold(), other.casefold()
    if bool(_bare(a)) and _bare(a) == _bare(b):
        return True
    if min(len(a), len(b)) < 4:
        return False
    edited = _changed(name, other) if len(a) == len(b) else a in _shortened(other) or b in _shortened(name)
    return a == b or edited


@given(NAMES, NAMES)
def test_a_new_name_has_the_first_twin_of_all_that_look_like_it(new: set[str], known: set[str]) -> None:
    new, known = new - {""}, new | known
    alike = {name: sorted(other for other in known - {""} if _looks_like(name, other)) for name in new}
    assert near_duplicates(new, known) == {name: found[0] for name, found in alike.items() if found}


AVERAGES = ["Average", "AVG", "avg.", "Mean", "overall", "Total", "Macro avg", "Micro avg", "MMLU average", "x_mean"]
AVERAGES += ["mean_score", "Average (5-shot)", "Overall score", "macro-avg (all tasks)"]
OTHERS = [
    "",
    "GSM8K",
    "Mean IoU",
    "Meaning",
    "Totally new",
    "Averaged",
    "demean",
    "GPQA_D",
    "score",
    "Meaning (5-shot)",
    "F1 score",
]


def test_a_name_that_ends_in_the_word_for_an_average_looks_derived() -> None:
    assert [name for name in (*AVERAGES, *OTHERS) if looks_derived(name)] == AVERAGES
