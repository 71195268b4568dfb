"""Protocols of measurements: read back in every form, and the keys that an experiment declares."""

import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import text
from werkzeug.test import TestResponse

from registry.grids.grid import Grid
from registry.grids.intake import Limits, read_submission
from registry.grids.intake.members import LONGEST_KEY, LONGEST_TEXT, MOST_KEYS, key_of, protocol_of_texts
from tests.house import House, Project, publication
from tests.registry.test_amending import amend, cell
from tests.registry.test_notes import acts
from tests.registry.test_publishing_tables import PERCENT, PIVOT, post
from tests.workers.asking import computed

PROTOCOL = {"harness": "lm-eval", "harness_version": "0.4.9", "shots": 5, "temperature": 0.6, "chat_template": True}


def test_a_protocol_is_answered_and_read_back_in_every_form(project: Project, house: House) -> None:
    made = project.published(protocol=PROTOCOL)
    path = f"grids/{made['id']}"
    grid = project.get(path).get_json()
    [listed] = project.get(f"projects/{project.slug}/grids").get_json()["items"]
    assert made["protocol"] == grid["protocol"] == listed["protocol"] == PROTOCOL
    assert "protocol" not in project.published(model="m2")
    house.compute()
    told = "Protocol: chat_template true · harness lm-eval · harness_version 0.4.9 · shots 5 · temperature 0.6"
    assert told in project.get(f"{path}.txt").get_data(as_text=True)
    page = project.get(f"/grids/{made['id']}").get_data(as_text=True)
    assert "<span>harness_version <b>0.4.9</b></span>" in page
    assert "<span>chat_template <b>true</b></span>" in page
    answer = project.publish(project.get(path).get_json())
    assert (answer.status_code, answer.get_json()["revision"]) == (200, 1), "it may be sent back"


def test_another_protocol_is_another_result(project: Project) -> None:
    first = project.published()
    second = project.published(protocol=PROTOCOL)
    third = project.published(protocol=PROTOCOL | {"chat_template": 1})
    assert [one["revision"] for one in (first, second, third)] == [1, 2, 3]
    assert len({one["digest"] for one in (first, second, third)}) == 3
    for pair in ("from=1&to=2", "from=2&to=3"):
        found = project.get(f"grids/{first['id']}/difference?{pair}").get_json()
        assert (found["protocol_changed"], found["labels_changed"], found["changed"]) == (True, False, [])
    page = project.get(f"/grids/{first['id']}/revisions/1..2").get_data(as_text=True)
    assert "the protocol&#39;s shots none → 5" in page


def test_amended_cells_new_labels_and_batches_keep_the_protocol(project: Project) -> None:
    made = project.published(protocol=PROTOCOL)
    assert amend(project, made, cell("1", 7, 90.0)).get_json()["protocol"] == PROTOCOL
    answer = project.call("PATCH", f"grids/{made['id']}", json={"labels": {"git_sha": "4f2c"}})
    assert (answer.get_json()["revision"], answer.get_json()["protocol"]) == (3, PROTOCOL)
    assert "protocol" not in project.published(), "a publication without one says nothing of how it was measured"
    sent = [publication(model="a", protocol=PROTOCOL), publication(model="b")]
    items = project.call("POST", f"projects/{project.slug}/grids/batch", json=sent).get_json()["items"]
    assert [one["grid"].get("protocol") for one in items] == [PROTOCOL, None]


def test_a_table_says_its_protocol_in_the_query(project: Project, subtests: pytest.Subtests) -> None:
    about = {"columns": "Length", "nominal": "Type", **PERCENT}
    told = [f"{key}={value if isinstance(value, str) else str(value).lower()}" for key, value in PROTOCOL.items()]
    answer = post(project, PIVOT, protocol=told, **about)
    assert (answer.status_code, answer.get_json()["protocol"]) == (201, PROTOCOL)
    for wrong in (["shots"], ["=5"], ["shots="], ["shots=5", "shots=3"], ["shots=5", "Shots=3"]):
        with subtests.test(wrong=wrong):
            answer = post(project, PIVOT, protocol=wrong, **about)
            assert answer.status_code == 422
            assert all(one["pointer"].startswith("/protocol") for one in answer.get_json()["errors"])


def test_a_text_is_a_number_only_as_the_registry_writes_it() -> None:
    read: dict[str, Any] = {"5": 5, "-0.5": -0.5, "true": True, "false": False, '"5"': "5"}
    kept = ["5.0", "1e3", "1.10", "05", "0.4.9", '"', "null", "[5]", "NaN", "a=b", "1000000000000000", "True"]
    for written, value in (read | {one: one for one in kept}).items():
        found = protocol_of_texts([f"k={written}"])["k"]
        assert (found, type(found)) == (value, type(value)), written


REFUSED: list[tuple[Any, str]] = [
    ([], "/protocol"),
    ("lm-eval", "/protocol"),
    ({"a": []}, "/protocol/a"),
    ({"a": {"b": 1}}, "/protocol/a"),
    ({"a": ""}, "/protocol/a"),
    ({"a": "x" * (LONGEST_TEXT + 1)}, "/protocol/a"),
    ({"a": "x\ny"}, "/protocol/a"),
    ({"a": 1e15}, "/protocol/a"),
    ({"a": -(2**70)}, "/protocol/a"),
    ({"": 1}, "/protocol/"),
    ({"  ": 1}, "/protocol/  "),
    ({"a=b": 1}, "/protocol/a=b"),
    ({"a/b\x01": 1}, "/protocol/a~1b\x01"),
    ({"x" * (LONGEST_KEY + 1): 1}, "/protocol/" + "x" * (LONGEST_KEY + 1)),
    ({"Shots": 5, "shots": 5}, "/protocol/shots"),
    ({"caf\u00e9": 5, "cafe\u0301": 5}, "/protocol/cafe\u0301"),
    ({f"k{i}": i for i in range(MOST_KEYS + 1)}, "/protocol"),
]


def test_what_cannot_be_meant_is_refused_at_its_place(project: Project, subtests: pytest.Subtests) -> None:
    """And the limits themselves are allowed."""
    for protocol, pointer in REFUSED:
        with subtests.test(pointer, protocol=str(protocol)[:60]):
            answer = project.publish(publication(protocol=protocol))
            assert answer.status_code == 422, answer.text
            assert [one["pointer"] for one in answer.get_json()["errors"]] == [pointer]
    full = {f"{i:0{LONGEST_KEY}}": "x" * LONGEST_TEXT for i in range(MOST_KEYS)}
    assert project.published(protocol=full)["protocol"] == full


def grid_of(protocol: dict[str, Any]) -> Grid:
    return read_submission(publication(protocol=protocol), Limits()).grid


_TEXTS = st.text(st.characters(exclude_categories=("C",)), min_size=1, max_size=40)
_VALUES = st.one_of(
    _TEXTS, st.booleans(), st.integers(-(10**14), 10**14), st.floats(-1e14, 1e14, allow_nan=False, allow_infinity=False)
)
_KEYS = _TEXTS.filter(lambda key: "=" not in key and 1 <= len(key_of(key)) <= LONGEST_KEY)


@given(st.dictionaries(_KEYS, _VALUES, max_size=8), st.randoms(use_true_random=False))
def test_neither_the_order_of_keys_nor_a_form_of_unicode_changes_the_digest(
    protocol: dict[str, Any], random: Any
) -> None:
    known = {key_of(key): value for key, value in protocol.items()}
    again = list(known.items())
    random.shuffle(again)

    def turned(given: Any) -> Any:
        form = random.choice(["NFC", "NFD"])
        return unicodedata.normalize(form, given) if isinstance(given, str) else given

    other = {turned(key): turned(value) for key, value in again}
    assert grid_of(other).digest == grid_of(known).digest


def test_keys_are_lower_case_and_whole_numbers_are_one_number() -> None:
    mine = grid_of({"Harness": "lm-eval", " SHOTS ": 5.0, "zero": -0.0})
    assert mine.protocol == {"harness": "lm-eval", "shots": 5, "zero": 0}
    assert mine.digest == grid_of({"shots": 5, "zero": 0, "harness": "lm-eval"}).digest
    assert mine.digest != grid_of({"shots": "5", "zero": 0, "harness": "lm-eval"}).digest


def test_numbers_come_back_from_the_database_as_they_were_sent(project: Project, house: House) -> None:
    numbers = [0.1, 1e-7, 123456789.125, 999999999999999, 1e14 + 0.5, 5e-324]
    sent = {f"n{place}": number for place, number in enumerate(numbers)}
    made = project.published(protocol=sent)
    assert project.get(f"grids/{made['id']}").get_json()["protocol"] == sent
    answer = amend(project, made, cell("1", 0, 99.3, trials=300))
    assert (answer.status_code, answer.get_json()["revision"]) == (200, 1), "equal content makes no revision"
    project.published(model="without")
    with house.database.reading() as connection:
        assert connection.scalar(text("SELECT count(*) FROM revisions WHERE protocol = 'null'::jsonb")) == 0


NOTHING = {"binding": [], "free": [], "required": False}


def rules(project: Project, experiment: str = "type-by-length") -> str:
    return f"projects/{project.slug}/experiments/{experiment}"


def declare(project: Project, experiment: str = "type-by-length", **sent: Any) -> TestResponse:
    return project.call("PATCH", rules(project, experiment), json={"protocol": sent})


def logged(project: Project) -> list[dict[str, Any]]:
    return [one["detail"] for one in acts(project, "experiment.protocol_set")]


def test_declared_keys_are_read_back_in_the_form_in_which_they_are_compared(project: Project) -> None:
    project.published()
    assert project.get(rules(project)).get_json()["protocol"] == NOTHING
    answer = declare(project, binding=["Shots", "cafe\u0301", "shots"], free=["GIT_HASH"], required=True)
    wanted = {"binding": ["caf\u00e9", "shots"], "free": ["git_hash"], "required": True}
    assert answer.get_json()["protocol"] == wanted
    read = project.get(rules(project))
    assert (read.get_json(), read.headers["ETag"]) == (answer.get_json(), answer.headers["ETag"])
    assert project.get(rules(project), headers={"If-None-Match": read.headers["ETag"]}).status_code == 304
    assert declare(project).get_json()["protocol"] == NOTHING
    for _ in range(2):
        assert declare(project, binding=["shots"]).status_code == 200
    assert logged(project) == [NOTHING | {"binding": ["shots"]}, NOTHING, wanted], "each change once"


REFUSED_RULES: list[tuple[Any, str]] = [
    ({"binding": "shots"}, "/binding"),
    ({"binding": ["a=b"]}, "/binding/0"),
    ({"binding": ["ok", ""]}, "/binding/1"),
    ({"free": [5]}, "/free/0"),
    ({"free": ["\n"]}, "/free/0"),
    ({"binding": [f"k{i}" for i in range(33)]}, "/binding"),
    ({"binding": ["shots"], "free": ["SHOTS"]}, "/free"),
    ({"required": "perhaps"}, "/required"),
    ({"keys": []}, "/keys"),
    ([], ""),
]


def test_rules_that_cannot_be_meant_are_refused_at_their_place(project: Project, subtests: pytest.Subtests) -> None:
    project.published()
    for sent, pointer in REFUSED_RULES:
        with subtests.test(sent=sent):
            answer = project.call("PATCH", rules(project), json={"protocol": sent})
            assert answer.status_code == 422
            assert [one["pointer"] for one in answer.get_json()["errors"]] == [f"/protocol{pointer}"]
    assert project.get(rules(project, "type-by-lenght")).status_code == 404, "nobody published it"
    assert declare(project, "type-by-lenght", binding=["shots"]).status_code == 404
    assert logged(project) == []


def generations(house: House, project: Project) -> dict[str, int]:
    statement = text("SELECT query ->> 'kind' AS kind, generation FROM cached_results WHERE project_id = :project")
    with house.database.reading() as connection:
        return {row.kind: row.generation for row in connection.execute(statement, {"project": project.id})}


def test_another_declaration_is_a_new_generation_of_every_question(project: Project, house: House) -> None:
    for model in "ab":
        project.published(model=model)
    scope = "experiment=type-by-length&metric=accuracy"
    asked = [
        f"projects/{project.slug}/rankings?{scope}",
        f"projects/{project.slug}/aggregates?{scope}&group_by=model",
        f"projects/{project.slug}/comparisons?{scope}&baseline_model=a&contender_model=b",
    ]
    house.compute()
    for path in asked:
        project.get(path)
    house.compute()
    assert {project.get(path).status_code for path in asked} == {200}
    before = generations(house, project)
    assert len(before) == len(asked)
    declare(project, binding=["shots"])
    assert project.get(asked[0]).status_code == 202, "an answer by other rules is not given"
    house.compute()
    assert generations(house, project) == {kind: number + 1 for kind, number in before.items()}
    declare(project, binding=["shots"])
    house.compute()
    assert generations(house, project) == {kind: number + 1 for kind, number in before.items()}


def test_the_page_of_an_experiment_says_which_keys_bind(project: Project) -> None:
    project.published()
    path = f"/projects/{project.slug}/experiments/type-by-length"
    assert "protocols agree" not in project.get(path).get_data(as_text=True)
    declare(project, binding=["judge", "shots"], free=["git_hash"], required=True)
    page = project.get(path).get_data(as_text=True)
    assert "Compared where protocols agree in <b>judge, shots</b>" in page
    assert "free: git_hash" in page


def test_a_chart_leaves_out_what_the_table_leaves_out(project: Project) -> None:
    asked = {"lines": "metric=accuracy", "trade-offs": "x=metric:accuracy&y=metric:accuracy&x.at.Type=1&y.at.Type=2"}
    charts = [f"projects/{project.slug}/{one}?experiment=type-by-length&{query}" for one, query in asked.items()]
    for model, shots in (("a", 5), ("b", 3), ("c", 5)):
        project.published(model=model, protocol={"shots": shots, "git_hash": model})

    def told(field: str) -> list[list[dict[str, Any]]]:
        return [computed(project, path).get(field, []) for path in charts]

    differ = "Grids of one benchmark were measured by protocols that differ in git_hash and shots; no such key binds."
    assert [warnings[0]["detail"] for warnings in told("warnings")] == [differ] * 2
    declare(project, binding=["shots"], free=["git_hash"])
    assert [[one["model"] for one in grids] for grids in told("incomparable")] == [["b"]] * 2
