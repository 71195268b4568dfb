"""Publishing: what makes a revision, what does not, and what is answered."""

from __future__ import annotations

import math
import random
import struct
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import func, select

from registry import create_app
from registry.storage.tables import grids, names
from tests.house import ACCURACY, House, Project, publication

LOSS = {"name": "loss"}
TYPES = {"name": "Type", "kind": "nominal"}
SIZES = {"name": "Size", "kind": "numeric"}


def scores(*values: Any, **changes: Any) -> dict[str, Any]:
    """A publication over one nominal axis, without trials."""
    sent = publication(axes=[TYPES | {"levels": [f"t{i}" for i in range(len(values))]}], values=list(values))
    return {name: value for name, value in sent.items() if name != "trials"} | changes


def tidy(*cells: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """A publication of tidy cells over the axis Type."""
    sent = publication(axes=[TYPES], cells=list(cells)) | changes
    return {name: value for name, value in sent.items() if name not in {"values", "trials"} - changes.keys()}


def stored(project: Project, sent: dict[str, Any]) -> dict[str, Any]:
    """A grid as it is read after it was published."""
    answer = project.publish(sent)
    assert answer.status_code == 201, answer.text
    return project.get(answer.headers["Location"]).get_json()


def codes(answer: dict[str, Any]) -> list[str]:
    return [warning["code"] for warning in answer["warnings"]]


def test_a_published_grid_reads_back_as_it_was_sent(project: Project) -> None:
    answer = project.publish()
    assert answer.status_code == 201
    grid = project.get(answer.headers["Location"]).get_json()
    sent = publication()
    assert {name: grid[name] for name in ("experiment", "benchmark", "model", "variant", "values", "trials")} == {
        name: sent[name] for name in ("experiment", "benchmark", "model", "variant", "values", "trials")
    }
    assert (grid["shape"], grid["cell_count"], grid["revision"]) == ([2, 3], 5, 1)
    assert grid["axes"][1]["levels"] == [0, 1, 2]
    assert grid["derivation"]["state"] == "pending"
    assert grid["warnings"] == []


def test_the_same_post_twice_makes_one_revision(project: Project) -> None:
    first, second = project.publish(), project.publish()
    assert (first.status_code, second.status_code) == (201, 200)
    assert first.get_json() == second.get_json()
    assert first.headers["ETag"] == second.headers["ETag"]


def test_other_content_makes_the_next_revision_of_the_same_grid(project: Project) -> None:
    first = project.published()
    second = project.published(trials=150)
    assert (second["id"], second["revision"]) == (first["id"], 2)
    assert second["digest"] != first["digest"]
    old = project.get(f"grids/{first['id']}?revision=1").get_json()
    assert (old["trials"], old["digest"]) == (300, first["digest"])


@pytest.mark.parametrize("name", ["experiment", "benchmark", "model", "variant", "metric"])
def test_each_name_is_a_part_of_the_identity(project: Project, name: str) -> None:
    first = project.published()
    other = ACCURACY | {"name": "F1"} if name == "metric" else "something else"
    assert project.published(**{name: other})["id"] != first["id"]


def test_names_that_run_together_are_different_identities(project: Project) -> None:
    assert project.published(model="a", variant="bc")["id"] != project.published(model="ab", variant="c")["id"]


def test_levels_of_a_numeric_axis_are_read_in_numeric_order(project: Project) -> None:
    axes = [{"name": "Window", "kind": "numeric", "levels": [3000, 500, 2000, 1000]}]
    grid = project.published(axes=axes, values=[30.0, 5.0, 20.0, 10.0])
    stored = project.get(f"grids/{grid['id']}").get_json()
    assert stored["axes"][0]["levels"] == [500, 1000, 2000, 3000]
    assert stored["values"] == [5.0, 10.0, 20.0, 30.0]


def test_equal_content_in_another_numeric_order_has_the_same_digest(project: Project) -> None:
    first = project.published(axes=[SIZES | {"levels": [1, 2, 3]}], values=[10, None, 30])
    answer = project.publish(publication(axes=[SIZES | {"levels": [3, 1, 2]}], values=[30.0, 10.0, None]))
    assert answer.status_code == 200
    assert answer.get_json()["digest"] == first["digest"]


def test_the_order_of_nominal_levels_is_content(project: Project) -> None:
    first = project.published(axes=[TYPES | {"levels": ["a", "b"]}], values=[1, 2])
    assert project.published(axes=[TYPES | {"levels": ["b", "a"]}], values=[2, 1])["digest"] != first["digest"]


def test_labels_are_content(project: Project) -> None:
    project.published(labels={"git_sha": "a"})
    assert project.published(labels={"git_sha": "b"})["revision"] == 2


@pytest.mark.parametrize("axes", range(5))
def test_zero_to_four_axes_read_back(project: Project, axes: int) -> None:
    values: Any = 42.5
    for _ in range(axes):
        values = [values, None if isinstance(values, float) else values]
    declared = [{"name": f"axis {i}", "kind": "ordinal", "levels": ["low", "high"]} for i in range(axes)]
    grid = stored(project, publication(axes=declared, values=values))
    assert grid["values"] == values
    assert grid["shape"] == [2] * axes
    assert grid["cell_count"] == {0: 1, 1: 1, 2: 2, 3: 4, 4: 8}[axes]


@pytest.mark.parametrize(
    ("axes", "values"),
    [
        ([TYPES | {"levels": []}], []),
        ([TYPES | {"levels": ["a", "b"]}, SIZES | {"levels": []}], [[], []]),
        ([TYPES | {"levels": []}, SIZES | {"levels": [1, 2]}], []),
        ([TYPES | {"levels": ["a", "b"]}], [None, None]),
        ([], None),
    ],
)
def test_a_grid_without_cells_is_valid(project: Project, axes: list[Any], values: Any) -> None:
    grid = stored(project, scores(axes=axes, values=values))
    assert (grid["cell_count"], grid["values"]) == (0, values)


def test_an_axis_without_levels_grows_from_tidy_cells(project: Project) -> None:
    grid = stored(project, tidy({"at": {"Type": "b"}, "value": 1}, {"at": {"Type": "a"}, "value": 2}))
    assert (grid["axes"][0]["levels"], grid["values"]) == (["b", "a"], [1, 2])


def test_tidy_cells_make_the_grid_that_values_make(project: Project) -> None:
    sent = publication()
    cells = [
        {"at": {"Type": kind, "Length": length}, "value": value}
        for kind, row in zip(["1", "2"], sent["values"], strict=True)
        for length, value in enumerate(row)
        if value is not None
    ]
    first = project.published()
    again = {name: value for name, value in sent.items() if name != "values"} | {"cells": cells[::-1]}
    answer = project.publish(again)
    assert (answer.status_code, answer.get_json()["digest"]) == (200, first["digest"])


def test_repeats_become_their_mean_with_count_and_standard_deviation(project: Project) -> None:
    # By hand: mean (40 + 44 + 45) / 3 = 43; sample variance (9 + 1 + 4) / 2 = 7.
    repeated = [{"at": {"Type": "a"}, "value": value, "trials": 100} for value in (40, 44, 45)]
    grid = stored(project, tidy(*repeated, {"at": {"Type": "b"}, "value": 50, "trials": 100}))
    assert grid["values"] == [43.0, 50.0]
    assert grid["repeats"] == [3, None]
    assert grid["sd"] == [pytest.approx(math.sqrt(7), rel=1e-15), None]
    assert grid["trials"] == [300, 100]


def test_the_standard_error_of_a_mean_of_repeats_is_that_of_independent_ones(project: Project) -> None:
    # By hand: sqrt(0.3^2 + 0.4^2) / 2 = 0.25.
    cells = [{"at": {"Type": "a"}, "value": v, "stderr": e} for v, e in ((1.0, 0.3), (2.0, 0.4))]
    assert stored(project, tidy(*cells))["stderr"] == [pytest.approx(0.25, rel=1e-15)]


@pytest.mark.parametrize(
    "second",
    [{"trials": 200}, {}, {"trials": 100, "stderr": 1}, {"value": None}],
)
def test_repeats_that_do_not_match_are_refused(project: Project, second: dict[str, Any]) -> None:
    cells = [{"at": {"Type": "a"}, "value": 40, "trials": 100}, {"at": {"Type": "a"}, "value": 41} | second]
    assert project.publish(tidy(*cells)).status_code == 422


def test_a_mean_of_repeats_between_two_counts_is_not_doubted(project: Project) -> None:
    # 65 and 66 of 150, printed with one decimal; their mean 43.65 has two.
    cells = [{"at": {"Type": "a"}, "value": value, "trials": 150} for value in (43.3, 44.0)]
    other = {"at": {"Type": "b"}, "value": 42.7, "trials": 150}
    assert [one["code"] for one in stored(project, tidy(*cells, other))["warnings"]] == ["repeats_read"]


def test_repeats_are_told_with_their_number_unless_the_sender_has_told_of_them(project: Project) -> None:
    cells = [{"at": {"Type": level}, "value": value} for value in (1, 2, 3) for level in "abc"]
    cells = [*cells, {"at": {"Type": "d"}, "value": 1}]
    [warning] = stored(project, tidy(*cells))["warnings"]
    assert (warning["code"], warning["pointer"]) == ("repeats_read", "/cells/3")
    assert warning["detail"].startswith("3 coordinates were given several times: ")
    told = {"code": "repeats_read", "detail": "6 more rows"}
    assert stored(project, tidy(*cells, model="other", warnings=[told]))["warnings"] == [told]


def test_a_level_carries_a_label_and_a_number(project: Project) -> None:
    levels = [{"label": "32b", "number": 32e9}, {"label": "7b", "number": 7e9}, 500]
    grid = stored(project, publication(axes=[SIZES | {"levels": levels}], values=[3, 2, 1]))
    assert grid["axes"][0]["levels"] == [500, {"label": "7b", "number": 7e9}, {"label": "32b", "number": 32e9}]
    assert (grid["values"], grid["warnings"]) == ([1, 2, 3], [])


@pytest.mark.parametrize(
    ("label", "number"),
    [
        ("32b", 32e9), ("1.5B", 1.5e9), ("0.1k", 100.0), ("70M", 70e6), ("2t", 2e12), ("1e3", 1000.0),
        ("1e-13k", 1e-10),
        ("4.35k", 4350.0), ("-5", -5.0), (" 7 ", 7.0), ("0.29m", 290000.0),
    ],
)  # fmt: skip
def test_a_label_that_writes_a_number_is_read_with_a_warning(project: Project, label: str, number: float) -> None:
    grid = stored(project, publication(axes=[SIZES | {"levels": [label, 12345.0]}], values=[1, 2]))
    assert {"label": label, "number": number} in grid["axes"][0]["levels"] or label == "-5"
    assert codes(grid) == ([] if label == "-5" else ["level_number_read"])


def test_one_spelling_of_a_level_is_doubted_once(project: Project) -> None:
    cells = [{"at": {"Size": "32b", "Seed": i}, "value": i} for i in range(50)]
    axes = [SIZES | {"levels": [32e9]}, {"name": "Seed", "kind": "ordinal"}]
    grid = stored(project, tidy(*cells, axes=axes, metric=LOSS))
    assert codes(grid) == ["level_number_read"]
    assert grid["axes"][0]["levels"] == [32000000000]


def test_a_known_label_with_another_number_is_refused(project: Project) -> None:
    cell = {"at": {"Size": {"label": "32b", "number": 33e9}}, "value": 1}
    sent = tidy(cell, axes=[SIZES | {"levels": [{"label": "32b", "number": 32e9}]}])
    assert project.publish(sent).get_json()["errors"][0]["pointer"] == "/cells/0/at/Size"


@pytest.mark.parametrize("level", [1e300, -1e300, 2**64, 1e20, 10**30])
def test_a_level_may_be_any_finite_number(project: Project, level: float) -> None:
    grid = stored(project, publication(axes=[SIZES | {"levels": [1, level]}], values=[1, 2], trials=None))
    assert float(level) in [float(found) for found in grid["axes"][0]["levels"]]


def test_minus_zero_is_a_level_and_a_bound_like_zero(project: Project) -> None:
    sent = publication(axes=[SIZES | {"levels": [-0.0, 1]}], values=[1, 2], metric=ACCURACY | {"lower": -0.0})
    first = project.publish(sent).get_json()
    again = project.publish(publication(axes=[SIZES | {"levels": [0, 1]}], values=[1, 2]))
    assert (again.status_code, again.get_json()["digest"]) == (200, first["digest"])


def test_trials_are_one_number_or_one_a_cell(project: Project) -> None:
    each = [[100, 200, 300], [None, 100, 100]]
    values = [[50, 50, 50], [None, 50, 50]]
    assert stored(project, publication(trials=each, values=values))["trials"] == each
    assert stored(project, publication(trials=300.0))["trials"] == 300


def test_stderr_is_one_number_or_one_a_cell(project: Project) -> None:
    each = [[0.5, 0, 1e-300], [None, 2.5, None]]
    assert stored(project, publication(stderr=each))["stderr"] == each
    assert stored(project, publication(stderr=0.5))["stderr"] == [[0.5, 0.5, 0.5], [None, 0.5, 0.5]]


def test_trials_go_with_proportions_of_one_and_of_a_hundred(project: Project) -> None:
    part = ACCURACY | {"upper": 1, "unit": None}
    assert project.publish(scores(0.5, metric=part, trials=100)).status_code == 201
    assert project.publish(scores(50, trials=100)).status_code == 201
    refused = project.publish(scores(0.5, metric=LOSS, trials=100))
    assert refused.status_code == 422
    assert "send stderr" in refused.text


def test_a_missing_cell_keeps_its_reason(project: Project) -> None:
    missing = [{"at": {"Type": r}, "value": None, "reason": r} for r in ("failed", "not_applicable", "pending")]
    grid = stored(project, tidy({"at": {"Type": "a"}, "value": 1}, *missing))
    assert (grid["cell_count"], grid["values"]) == (1, [1, None, None, None])
    assert grid["reasons"] == [{"at": {"Type": r}, "reason": r} for r in ("failed", "not_applicable", "pending")]


def test_a_value_off_the_lattice_of_its_trials_is_accepted_with_a_warning(project: Project) -> None:
    # 65 of 150 is 43.3 and 66 of 150 is 44.0: no count gives 43.7.
    grid = stored(project, scores(43.3, 43.7, 44.0, trials=150))
    assert codes(grid) == ["off_lattice"]
    assert grid["warnings"][0]["pointer"] == "/values/1"
    assert "43.7" in grid["warnings"][0]["detail"]


def test_warnings_are_kept_with_the_revision(project: Project) -> None:
    first = project.publish(scores(43.7, trials=150)).get_json()
    again = project.publish(scores(43.7, trials=150)).get_json()
    assert codes(first) == codes(again) == ["off_lattice"]


@pytest.mark.parametrize(
    ("known", "new"),
    [
        ("AIME'24", "AIME24"), ("AIME'24", "aime 24"), ("Qwen-2.5 3B", "Qwen 2.5-3B"), ("Baseline", "Baselin"),
        ("Baseline", "Basseline"), ("Baseline", "Baxeline"), ("GSM8K", "gsm8k"),
    ],
)  # fmt: skip
def test_a_name_that_looks_like_a_known_one_is_warned_of_and_not_merged(project: Project, known: str, new: str) -> None:
    first = project.published(benchmark=known)
    second = project.published(benchmark=new)
    assert second["id"] != first["id"]
    assert codes(second) == ["near_duplicate"]
    assert second["warnings"][0]["pointer"] == "/benchmark"
    assert known in second["warnings"][0]["detail"]


@pytest.mark.parametrize(
    ("known", "new"), [("AIME24", "AIME25"), ("Qwen-3B", "Qwen-7B"), ("v1", "v10"), ("abc", "abd"), ("中文", "中國")]
)
def test_names_that_differ_in_a_digit_are_not_alike(project: Project, known: str, new: str) -> None:
    project.published(benchmark=known)
    assert project.published(benchmark=new)["warnings"] == []


def test_an_alias_settles_the_doubt_about_two_names(project: Project) -> None:
    project.published(benchmark="AIME'24")
    alias = {"kind": "benchmark", "alias": "AIME24", "name": "AIME'24"}
    assert project.call("POST", f"projects/{project.slug}/aliases", json=alias).status_code == 201
    assert project.published(benchmark="AIME24")["warnings"] == []


def test_a_dry_run_says_what_would_be_stored_and_stores_nothing(project: Project, house: House) -> None:
    first = project.published(benchmark="AIME'24")
    path = f"projects/{project.slug}/grids?dry_run=true"
    answer = project.call("POST", path, json=publication(benchmark="AIME24"), headers={"Idempotency-Key": "dry"})
    assert answer.status_code == 200
    assert (answer.get_json()["revision"], codes(answer.get_json())) == (1, ["near_duplicate"])
    changed = project.call("POST", path, json=publication(benchmark="AIME'24", trials=150)).get_json()
    assert (changed["id"], changed["revision"]) == (first["id"], 2)
    with house.database.reading() as connection:
        here = names.c.project_id == project.id, names.c.kind == "benchmark"
        assert list(connection.scalars(select(names.c.name).where(*here))) == ["AIME'24"]
        assert connection.scalar(select(func.count()).where(grids.c.project_id == project.id)) == 1
    assert project.get(f"grids/{first['id']}").get_json()["revision"] == 1
    real = project.publish(publication(benchmark="AIME24"), headers={"Idempotency-Key": "dry"})
    assert real.status_code == 201


def test_a_faulty_dry_run_is_refused_like_a_real_one(project: Project) -> None:
    answer = project.call("POST", f"projects/{project.slug}/grids?dry_run=true", json=publication(values=[1]))
    assert answer.status_code == 422


def test_if_none_match_publishes_only_what_is_new(project: Project) -> None:
    only_new = {"If-None-Match": "*"}
    assert project.publish(headers=only_new).status_code == 201
    assert project.publish(headers=only_new).status_code == 412
    assert project.publish(publication(trials=150), headers=only_new).status_code == 412
    assert project.publish(publication(model="new"), headers=only_new).status_code == 201


def test_if_match_publishes_only_over_the_revision_that_was_read(project: Project) -> None:
    tag = project.publish().headers["ETag"]
    changed = publication(trials=150)
    assert project.publish(changed, headers={"If-Match": '"1-0000000000000000-pending"'}).status_code == 412
    assert project.publish(changed, headers={"If-Match": tag}).status_code == 201
    assert project.publish(publication(), headers={"If-Match": tag}).status_code == 412
    assert project.publish(publication(), headers={"If-Match": "*"}).get_json()["revision"] == 3
    assert project.publish(publication(model="new"), headers={"If-Match": "*"}).status_code == 412


def test_a_deleted_grid_comes_back_with_the_next_revision(project: Project) -> None:
    grid = project.published()
    assert project.call("DELETE", f"grids/{grid['id']}").status_code == 204
    assert project.get(f"grids/{grid['id']}").status_code == 404
    assert project.call("DELETE", f"grids/{grid['id']}").status_code == 404
    back = project.publish(headers={"If-None-Match": "*"})
    assert back.status_code == 201
    assert (back.get_json()["id"], back.get_json()["revision"]) == (grid["id"], 2)


def test_only_the_named_revision_is_deleted(project: Project) -> None:
    grid = project.published()
    project.published(trials=150)
    assert project.call("DELETE", f"grids/{grid['id']}?revision=1").status_code == 412
    assert project.call("DELETE", f"grids/{grid['id']}?revision=2").status_code == 204


@pytest.mark.parametrize("value", [-0.0, 0.0, 1e308, -1.7976931348623157e308, 5e-324, 0.1, 1 / 3, 2**53 + 1, 1e23])
def test_a_finite_number_comes_back_as_the_same_double(project: Project, value: float) -> None:
    back = stored(project, scores(axes=[], values=value, metric=LOSS))["values"]
    assert struct.pack("<d", back) == struct.pack("<d", value)


def test_ten_thousand_doubles_come_back_bit_equal(project: Project) -> None:
    chance = random.Random(20241)
    doubles = [struct.unpack("<d", chance.randbytes(8))[0] for _ in range(10_200)]
    doubles = [value for value in doubles if math.isfinite(value)][:10_000]
    levels = [str(i) for i in range(100)]
    axes = [TYPES | {"levels": levels}, {"name": "Other", "kind": "nominal", "levels": levels}]
    rows = [doubles[i : i + 100] for i in range(0, 10_000, 100)]
    back = stored(project, scores(axes=axes, values=rows, stderr=[[abs(v) for v in row] for row in rows], metric=LOSS))
    flat = [value for row in back["values"] for value in row]
    assert struct.pack("<10000d", *flat) == struct.pack("<10000d", *doubles)
    assert [value for row in back["stderr"] for value in row] == [abs(value) for value in doubles]


@pytest.mark.parametrize("letter", ["x", "é", "漢", "😀", "\u202e", "\u0301", "'", '"', "\\", "/", "~", "%", "<", ";"])
def test_a_name_is_any_200_characters(project: Project, letter: str) -> None:
    long = letter * 200
    names = {kind: f"{long[:-1]}{i}" for i, kind in enumerate(("experiment", "benchmark", "model", "variant"))}
    sent = scores(1.0, metric=LOSS | {"name": long, "unit": long}, labels={letter * 256: letter * 256}, **names)
    sent["axes"] = [{"name": long, "kind": "nominal", "unit": long, "levels": [long]}]
    grid = stored(project, sent)
    assert {kind: grid[kind] for kind in names} == names
    assert (grid["metric"]["name"], grid["axes"][0]["name"], grid["axes"][0]["levels"]) == (long, long, [long])
    assert grid["labels"] == {letter * 256: letter * 256}
    assert project.publish(sent).status_code == 200


def test_names_are_kept_as_they_were_written(project: Project) -> None:
    composed, decomposed = project.published(model="é"), project.published(model="e\u0301")
    assert composed["id"] != decomposed["id"]
    assert project.published(model=" a ")["model"] == " a "


@pytest.mark.parametrize("character", ["\x01", "\t", "\n", "\r", "\x1b", "\x7f", "\x80", "\x9f"])
@pytest.mark.parametrize("place", ["experiment", "benchmark", "model", "variant", "metric", "axis", "level", "label"])
def test_control_characters_are_refused_everywhere(project: Project, character: str, place: str) -> None:
    bad = f"a{character}b"
    changes: dict[str, Any] = {
        "metric": {"metric": ACCURACY | {"name": bad}},
        "axis": {"axes": [TYPES | {"name": bad, "levels": ["x"]}], "values": [1]},
        "level": {"axes": [TYPES | {"levels": [bad]}], "values": [1]},
        "label": {"labels": {"key": bad}},
    }.get(place, {place: bad})
    assert project.publish(publication(**changes)).status_code == 422


def test_limits_are_settings_and_are_answered_with_422_or_413(house: House, project: Project) -> None:
    small = replace(
        house.settings,
        max_cells=6,
        max_levels=3,
        max_name=20,
        max_labels=1,
        max_label_length=3,
        max_batch=2,
        max_body=900,
    )
    tight = Project(replace(house, app=create_app(small)), project.slug, project.id, project.tokens)
    assert tight.publish(publication(benchmark="CG")).status_code == 201
    refused = [
        publication(axes=[TYPES | {"levels": [*"abcd"]}], values=[1] * 4),
        publication(axes=[TYPES | {"levels": [*"abc"]}, SIZES | {"levels": [1, 2, 3]}], values=[[1] * 3] * 3),
        publication(model="m" * 21),
        publication(labels={"a": "1", "b": "2"}),
        publication(labels={"a": "1234"}),
    ]
    assert [tight.publish(sent | {"benchmark": "CG"}).status_code for sent in refused] == [422] * 5
    batch = [scores(axes=[], values=1, benchmark="CG")] * 3
    assert tight.call("POST", f"projects/{project.slug}/grids/batch", json=batch).status_code in (413, 422)
    assert tight.publish(publication(labels={"a": "b"}, unknown="x" * 900)).status_code == 413
    assert tight.get("limits").get_json()["max_cells"] == 6


def test_an_axis_without_kind_and_levels_gets_its_kind_from_the_cells(project: Project) -> None:
    cells = [{"at": {"Window": window, "Type": kind}, "value": 1.0} for window in (2000, 500) for kind in ("a", "b")]
    sent = publication(axes=[{"name": "Window"}, {"name": "Type"}], cells=cells, trials=None)
    del sent["values"]
    grid = stored(project, sent)
    assert [(axis["kind"], axis["levels"]) for axis in grid["axes"]] == [
        ("numeric", [500, 2000]),
        ("nominal", ["a", "b"]),
    ]


def test_a_dry_run_names_no_place_where_nothing_is(project: Project) -> None:
    answer = project.call("POST", f"projects/{project.slug}/grids?dry_run=true", json=publication())
    assert (answer.status_code, "Location" in answer.headers, "ETag" in answer.headers) == (200, False, False)


def test_every_row_of_a_wrong_shape_is_named_at_once(project: Project) -> None:
    axes = [TYPES | {"levels": ["a", "b", "c"]}, SIZES | {"levels": [1, 2]}]
    answer = project.publish(publication(axes=axes, values=[[1, 2, 3], [1, 2], [1]]))
    assert answer.status_code == 422
    assert {fault["pointer"]: fault["detail"] for fault in answer.get_json()["errors"]} == {
        "/values/0": "has 3 entries, but its axis has 2 levels",
        "/values/2": "has 1 entries, but its axis has 2 levels",
    }


def test_values_of_an_axis_that_was_left_out_are_nested_too_deep(project: Project) -> None:
    answer = project.publish(publication(axes=[TYPES | {"levels": ["a", "b"]}], values=[[1, 2], [3, 4]]))
    assert answer.status_code == 422
    wanted = "is a list: nested deeper than there are axes"
    assert [(one["pointer"], one["detail"]) for one in answer.get_json()["errors"]] == [
        ("/values/0", wanted),
        ("/values/1", wanted),
    ]
