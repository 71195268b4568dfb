"""Publishing: what makes a revision, what does not, and what is answered."""

import math
import random
import struct
from typing import Any

import pytest
from sqlalchemy import func, select

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


def test_a_published_grid_reads_back_as_it_was_sent_and_the_same_again_is_no_revision(project: Project) -> None:
    first, sent = project.publish(), publication()
    grid = project.get(first.headers["Location"]).get_json()
    alike = ("experiment", "benchmark", "model", "variant", "values", "trials")
    assert {name: grid[name] for name in alike} == {name: sent[name] for name in alike}
    assert (grid["shape"], grid["cell_count"], grid["revision"]) == ([2, 3], 5, 1)
    assert (grid["axes"][1]["levels"], grid["derivation"]["state"], grid["warnings"]) == ([0, 1, 2], "pending", [])
    second = project.publish()
    assert (first.status_code, second.status_code) == (201, 200)
    assert (first.get_json(), first.headers["ETag"]) == (second.get_json(), second.headers["ETag"])


def test_other_content_makes_the_next_revision_of_the_same_grid(project: Project) -> None:
    first = project.published()
    second = project.published(trials=150)
    assert (second["id"], second["revision"]) == (first["id"], 2)
    assert second["digest"] != first["digest"]
    old = project.get(f"grids/{first['id']}?revision=1").get_json()
    assert (old["trials"], old["digest"]) == (300, first["digest"])
    assert project.published(trials=150, labels={"git_sha": "a"})["revision"] == 3
    assert project.published(trials=150, labels={"git_sha": "b"})["revision"] == 4
    orders = [(["a", "b"], [1, 2]), (["b", "a"], [2, 1])]
    digests = {project.published(axes=[TYPES | {"levels": at}], values=given)["digest"] for at, given in orders}
    assert len(digests) == 2, "the order of nominal levels is content"


def test_each_name_is_a_part_of_the_identity(project: Project) -> None:
    others = [{name: "something else"} for name in ("experiment", "benchmark", "model", "variant")]
    others += [{"metric": ACCURACY | {"name": "F1"}}, {"model": "a", "variant": "bc"}, {"model": "ab", "variant": "c"}]
    others += [{"model": "é"}, {"model": "e\u0301"}]
    found = [project.published(**changes) for changes in ({}, *others)]
    assert len({one["id"] for one in found}) == len(found)
    assert project.published(model=" a ")["model"] == " a "


def test_levels_of_a_numeric_axis_are_read_in_numeric_order(project: Project) -> None:
    axes = [{"name": "Window", "kind": "numeric", "levels": [3000, 500, 2000, 1000]}]
    grid = stored(project, publication(axes=axes, values=[30.0, None, 20.0, 10.0]))
    assert (grid["axes"][0]["levels"], grid["values"]) == ([500, 1000, 2000, 3000], [None, 10.0, 20.0, 30.0])
    axes[0]["levels"] = [2000, 1000, 500, 3000]
    answer = project.publish(publication(axes=axes, values=[20, 10, None, 30]))
    assert (answer.status_code, answer.get_json()["digest"]) == (200, grid["digest"])


@pytest.mark.parametrize("axes", range(5))
def test_zero_to_four_axes_read_back(project: Project, axes: int) -> None:
    values: Any = 42.5
    for _ in range(axes):
        values = [values, None if isinstance(values, float) else values]
    declared = [{"name": f"axis {i}", "kind": "ordinal", "levels": ["low", "high"]} for i in range(axes)]
    grid = stored(project, publication(axes=declared, values=values))
    assert (grid["values"], grid["shape"]) == (values, [2] * axes)
    assert grid["cell_count"] == {0: 1, 1: 1, 2: 2, 3: 4, 4: 8}[axes]


def test_a_grid_without_cells_is_valid(project: Project, subtests: pytest.Subtests) -> None:
    for number, (axes, values) in enumerate([
        ([TYPES | {"levels": []}], []),
        ([TYPES | {"levels": ["a", "b"]}, SIZES | {"levels": []}], [[], []]),
        ([TYPES | {"levels": []}, SIZES | {"levels": [1, 2]}], []),
        ([TYPES | {"levels": ["a", "b"]}], [None, None]),
        ([], None),
    ]):  # fmt: skip
        with subtests.test(axes=axes, values=values):
            grid = stored(project, scores(axes=axes, values=values, model=f"m{number}"))
            assert (grid["cell_count"], grid["values"]) == (0, values)


def test_an_axis_without_kind_or_levels_grows_from_tidy_cells(project: Project) -> None:
    grid = stored(project, tidy({"at": {"Type": "b"}, "value": 1}, {"at": {"Type": "a"}, "value": 2}))
    assert (grid["axes"][0]["levels"], grid["values"]) == (["b", "a"], [1, 2])
    cells = [{"at": {"Window": window, "Type": kind}, "value": 1.0} for window in (2000, 500) for kind in ("a", "b")]
    grid = stored(project, tidy(*cells, axes=[{"name": "Window"}, {"name": "Type"}], model="kinds"))
    found = [(axis["kind"], axis["levels"]) for axis in grid["axes"]]
    assert found == [("numeric", [500, 2000]), ("nominal", ["a", "b"])]


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
    # By hand: mean (40 + 44 + 45) / 3 = 43; sample variance (9 + 1 + 4) / 2 = 7; and sqrt(0.3^2 + 0.4^2) / 2 = 0.25.
    repeated = [{"at": {"Type": "a"}, "value": value, "trials": 100} for value in (40, 44, 45)]
    grid = stored(project, tidy(*repeated, {"at": {"Type": "b"}, "value": 50, "trials": 100}))
    assert (grid["values"], grid["repeats"], grid["trials"]) == ([43.0, 50.0], [3, None], [300, 100])
    assert grid["sd"] == [pytest.approx(math.sqrt(7), rel=1e-15), None]
    cells = [{"at": {"Type": "a"}, "value": v, "stderr": e} for v, e in ((1.0, 0.3), (2.0, 0.4))]
    assert stored(project, tidy(*cells, model="errors"))["stderr"] == [pytest.approx(0.25, rel=1e-15)]


def test_one_repeat_is_none_in_arrays_as_where_cells_come_one_by_one(project: Project) -> None:
    axes = [{"name": "Type", "kind": "nominal", "levels": ["a", "b"]}]
    once = stored(project, tidy({"at": {"Type": "a"}, "value": 50}, {"at": {"Type": "b"}, "value": 60}))
    for sd in ([None, None], None):
        again = project.publish(publication(axes=axes, values=[50, 60], trials=None, repeats=[1, 1], sd=sd))
        assert (again.status_code, again.get_json()["digest"]) == (200, once["digest"]), again.text
    grid = stored(project, publication(axes=axes, values=[50, 60], repeats=[3, 1], sd=[2.0, None], model="other"))
    assert (grid["repeats"], grid["sd"]) == ([3, None], [2.0, None])
    wrong = publication(axes=axes, values=[50, 60], repeats=[3, 1], sd=[2.0, 1.0])
    assert project.publish(wrong).get_json()["errors"][0]["pointer"] == "/repeats/1"


def test_repeats_that_do_not_match_are_refused(project: Project, subtests: pytest.Subtests) -> None:
    for second in ({"trials": 200}, {}, {"trials": 100, "stderr": 1}, {"value": None}):
        cells = [{"at": {"Type": "a"}, "value": 40, "trials": 100}, {"at": {"Type": "a"}, "value": 41} | second]
        with subtests.test(second=second):
            assert project.publish(tidy(*cells)).status_code == 422


def test_repeats_are_told_with_their_number(project: Project) -> None:
    cells = [{"at": {"Type": level}, "value": value} for value in (1, 2, 3) for level in "abc"]
    cells = [*cells, {"at": {"Type": "d"}, "value": 1}]
    [warning] = stored(project, tidy(*cells))["warnings"]
    assert (warning["code"], warning["pointer"]) == ("repeats_read", "/cells/3")
    assert warning["detail"].startswith("3 coordinates were given several times: ")


def test_a_level_carries_a_label_and_a_number(project: Project) -> None:
    levels = [{"label": "32b", "number": 32e9}, {"label": "7b", "number": 7e9}, 500]
    grid = stored(project, publication(axes=[SIZES | {"levels": levels}], values=[3, 2, 1]))
    assert grid["axes"][0]["levels"] == [500, {"label": "7b", "number": 7e9}, {"label": "32b", "number": 32e9}]
    assert (grid["values"], grid["warnings"]) == ([1, 2, 3], [])
    cell = {"at": {"Size": {"label": "32b", "number": 33e9}}, "value": 1}
    sent = tidy(cell, axes=[SIZES | {"levels": [{"label": "32b", "number": 32e9}]}])
    assert project.publish(sent).get_json()["errors"][0]["pointer"] == "/cells/0/at/Size"


WRITTEN = {
    "32b": 32e9, "1.5B": 1.5e9, "0.1k": 100.0, "70M": 70e6, "2t": 2e12, "1e3": 1000.0, "1e-13k": 1e-10, "4.35k": 4350.0,
    " 7 ": 7.0, "0.29m": 290000.0,
}  # fmt: skip


def test_a_label_that_writes_a_number_is_read_with_a_warning(project: Project, subtests: pytest.Subtests) -> None:
    for place, (label, number) in enumerate(WRITTEN.items()):
        with subtests.test(label):
            axes = [SIZES | {"levels": [label, 12345.0]}]
            grid = stored(project, publication(axes=axes, values=[1, 2], benchmark=f"b{place}"))
            assert {"label": label, "number": number} in grid["axes"][0]["levels"]
            assert codes(grid) == ["level_number_read"]
    assert codes(stored(project, publication(axes=[SIZES | {"levels": ["-5", 12345.0]}], values=[1, 2]))) == []
    cells = [{"at": {"Size": "32b", "Seed": i}, "value": i} for i in range(50)]
    axes = [SIZES | {"levels": [32e9]}, {"name": "Seed", "kind": "ordinal"}]
    grid = stored(project, tidy(*cells, axes=axes, metric=LOSS))
    assert (codes(grid), grid["axes"][0]["levels"]) == (["level_number_read"], [32000000000]), "doubted once"


def test_a_level_may_be_any_finite_number_and_minus_zero_is_zero(project: Project) -> None:
    levels = [1, 1e300, -1e300, 2**64, 1e20, 10**30]
    grid = stored(project, publication(axes=[SIZES | {"levels": levels}], values=[1] * 6, trials=None))
    assert [float(found) for found in grid["axes"][0]["levels"]] == sorted(map(float, levels))
    sent = publication(axes=[SIZES | {"levels": [-0.0, 1]}], values=[1, 2], metric=ACCURACY | {"lower": -0.0})
    first = project.publish(sent).get_json()
    again = project.publish(publication(axes=[SIZES | {"levels": [0, 1]}], values=[1, 2]))
    assert (again.status_code, again.get_json()["digest"]) == (200, first["digest"])


def test_trials_and_stderr_are_one_number_or_one_a_cell(project: Project) -> None:
    trials, values = [[100, 200, 300], [None, 100, 100]], [[50, 50, 50], [None, 50, 50]]
    assert stored(project, publication(trials=trials, values=values))["trials"] == trials
    assert stored(project, publication(trials=300.0))["trials"] == 300
    errors = [[0.5, 2, 1e-300], [None, 2.5, None]]
    assert stored(project, publication(stderr=errors))["stderr"] == errors
    assert stored(project, publication(stderr=0.5))["stderr"] == [[0.5, 0.5, 0.5], [None, 0.5, 0.5]]


def test_trials_go_with_proportions_of_one_and_of_a_hundred(project: Project) -> None:
    part = ACCURACY | {"upper": 1, "unit": None}
    assert project.publish(scores(0.5, metric=part, trials=100)).status_code == 201
    assert project.publish(scores(50, trials=100)).status_code == 201
    refused = project.publish(scores(0.5, metric=LOSS, trials=100))
    assert (refused.status_code, "send stderr" in refused.text) == (422, True)


def test_a_standard_error_of_0_is_no_exactness_of_a_proportion_between_its_bounds(
    project: Project, subtests: pytest.Subtests
) -> None:
    """14 of 307 answers right, with the 0 that a harness wrote for want of a standard error."""
    part, point = ACCURACY | {"unit": None, "upper": 1}, {"at": {"Type": "a"}, "value": 14 / 307, "stderr": 0}
    csv = "experiment,benchmark,model,metric,lower,upper,Type,value,stderr\ne,b,m,acc,0,1,a,0.0456,0\n"
    doors: dict[str, tuple[Any, Any, Any]] = {
        "values": (scores(14 / 307, stderr=[0], metric=part), None, None),
        "one for all": (scores(14 / 307, stderr=0, metric=part), None, None),
        "per cent": (scores(4.56, stderr=[0.0]), None, None),
        "trials": (scores(14 / 307, stderr=[0], trials=307, metric=part), None, 307),
        "cells": (tidy(point, metric=part), None, None),
        "trials of a cell": (tidy(point | {"trials": 307}, metric=part), None, [307]),
        "at the ends": (scores(0, 0.5, 1, stderr=[0, 0, 0], metric=part), [0, None, 0], None),
        "a loss": (scores(0.5, stderr=[0], metric=LOSS), [0], None),
        "csv": (csv, None, None),
    }
    for door, (sent, stderr, trials) in doors.items():
        with subtests.test(msg=door):
            data = {"data": sent, "content_type": "text/csv"} if door == "csv" else {"json": sent}
            answer = project.call("POST", f"projects/{project.slug}/grids", **data)
            assert answer.status_code in (200, 201), answer.text
            grid = project.get(f"grids/{answer.get_json()['id']}").get_json()
            assert (grid.get("stderr"), grid.get("trials")) == (stderr, trials)
            told = [one["detail"] for one in grid["warnings"] if one["code"] == "stderr_zero"]
            noise = "307 trials" if trials else "unknown"
            assert [noise in one for one in told] == ([] if door == "a loss" else [True])
    grid = project.published(model="amended", axes=[TYPES | {"levels": ["a", "b"]}], values=[50, 60], stderr=[2, 3])
    cells = [{"at": {"Type": "a"}, "value": 40, "stderr": 0}]
    answer = project.call("PATCH", f"grids/{grid['id']}/cells", json={"cells": cells})
    assert answer.status_code == 200, answer.text
    assert "stderr_zero" in codes(answer.get_json())
    assert project.get(f"grids/{grid['id']}").get_json()["stderr"] == [None, 3]


def test_a_missing_cell_keeps_its_reason(project: Project) -> None:
    missing = [{"at": {"Type": r}, "value": None, "reason": r} for r in ("failed", "not_applicable", "pending")]
    grid = stored(project, tidy({"at": {"Type": "a"}, "value": 1}, *missing))
    assert (grid["cell_count"], grid["values"]) == (1, [1, None, None, None])
    assert grid["reasons"] == [{"at": {"Type": r}, "reason": r} for r in ("failed", "not_applicable", "pending")]


def test_a_value_off_the_lattice_of_its_trials_is_accepted_with_a_warning_that_is_kept(project: Project) -> None:
    # 65 of 150 is 43.3 and 66 of 150 is 44.0: no count gives 43.7. The mean 43.65 of two repeats is between two counts.
    grid = stored(project, scores(43.3, 43.7, 44.0, trials=150))
    [warning] = grid["warnings"]
    assert (warning["code"], warning["pointer"], "43.7" in warning["detail"]) == ("off_lattice", "/values/1", True)
    assert project.publish(scores(43.3, 43.7, 44.0, trials=150)).get_json()["warnings"] == [warning]
    cells = [{"at": {"Type": "a"}, "value": value, "trials": 150} for value in (43.3, 44.0)]
    other = {"at": {"Type": "b"}, "value": 42.7, "trials": 150}
    assert codes(stored(project, tidy(*cells, other))) == ["repeats_read"]


def test_a_name_that_looks_like_a_known_one_is_warned_of_and_not_merged(project: Project) -> None:
    first, second = (project.published(benchmark=name) for name in ("AIME'24", "AIME24"))
    [told] = second["warnings"]
    assert (told["code"], told["pointer"], "AIME'24" in told["detail"]) == ("near_duplicate", "/benchmark", True)
    assert second["id"] != first["id"]
    alias = {"kind": "benchmark", "alias": "AIME 24", "name": "AIME'24"}
    assert project.call("POST", f"projects/{project.slug}/aliases", json=alias).status_code == 201
    assert project.published(benchmark="AIME 24")["warnings"] == [], "an alias settles the doubt"


def test_a_dry_run_says_what_would_be_stored_and_stores_nothing(project: Project, house: House) -> None:
    first = project.published(benchmark="AIME'24")
    path = f"projects/{project.slug}/grids?dry_run=true"
    answer = project.call("POST", path, json=publication(benchmark="AIME24"), headers={"Idempotency-Key": "dry"})
    assert (answer.status_code, "Location" in answer.headers, "ETag" in answer.headers) == (200, False, False)
    assert (answer.get_json()["revision"], codes(answer.get_json())) == (1, ["near_duplicate"])
    changed = project.call("POST", path, json=publication(benchmark="AIME'24", trials=150)).get_json()
    assert (changed["id"], changed["revision"]) == (first["id"], 2)
    assert project.call("POST", path, json=publication(values=[1])).status_code == 422
    with house.database.reading() as connection:
        here = names.c.project_id == project.id, names.c.kind == "benchmark"
        assert list(connection.scalars(select(names.c.name).where(*here))) == ["AIME'24"]
        assert connection.scalar(select(func.count()).where(grids.c.project_id == project.id)) == 1
    assert project.get(f"grids/{first['id']}").get_json()["revision"] == 1
    real = project.publish(publication(benchmark="AIME24"), headers={"Idempotency-Key": "dry"})
    assert real.status_code == 201


def test_a_thousand_finite_numbers_come_back_as_the_same_doubles(project: Project) -> None:
    chance = random.Random(20241)
    doubles = [-0.0, 0.0, 1e308, -1.7976931348623157e308, 5e-324, 0.1, 1 / 3, 2**53 + 1, 1e23]
    doubles += [struct.unpack("<d", chance.randbytes(8))[0] for _ in range(1020)]
    doubles = [value for value in doubles if math.isfinite(value)][:1000]
    axes = [TYPES | {"levels": [str(i) for i in range(40)]}, SIZES | {"levels": list(range(25))}]
    rows = [doubles[i : i + 25] for i in range(0, 1000, 25)]
    back = stored(project, scores(axes=axes, values=rows, stderr=[[abs(v) for v in row] for row in rows], metric=LOSS))
    flat = [value for row in back["values"] for value in row]
    assert struct.pack("<1000d", *flat) == struct.pack("<1000d", *doubles)
    assert [value for row in back["stderr"] for value in row] == [float(abs(value)) for value in doubles]


def test_a_name_is_any_200_characters(project: Project, subtests: pytest.Subtests) -> None:
    for letter in ["x", "é", "漢", "😀", "\u202e", "\u0301", "'", '"', "\\", "/", "~", "%", "<", ";"]:
        long = letter * 200
        names = {kind: f"{long[:-1]}{i}" for i, kind in enumerate(("experiment", "benchmark", "model", "variant"))}
        sent = scores(1.0, metric=LOSS | {"name": long, "unit": long}, labels={letter * 256: letter * 256}, **names)
        sent["axes"] = [{"name": long, "kind": "nominal", "unit": long, "levels": [long]}]
        with subtests.test(letter):
            grid = stored(project, sent)
            assert {kind: grid[kind] for kind in names} == names
            assert (grid["metric"]["name"], grid["axes"][0]["name"], grid["axes"][0]["levels"]) == (long, long, [long])
            assert grid["labels"] == {letter * 256: letter * 256}
            assert project.publish(sent).status_code == 200


def test_what_is_nested_otherwise_than_there_are_axes_is_named_at_once(project: Project) -> None:
    def faults(axes: list[Any], values: list[Any]) -> dict[str, str]:
        answer = project.publish(publication(axes=axes, values=values))
        assert answer.status_code == 422
        return {one["pointer"]: one["detail"] for one in answer.get_json()["errors"]}

    axes = [TYPES | {"levels": ["a", "b", "c"]}, SIZES | {"levels": [1, 2]}]
    assert faults(axes, [[1, 2, 3], [1, 2], [1]]) == {
        "/values/0": "has 3 entries, but its axis has 2 levels",
        "/values/2": "has 1 entries, but its axis has 2 levels",
    }
    deeper = "is a list: nested deeper than there are axes"
    found = faults([TYPES | {"levels": ["a", "b"]}], [[1, 2], [3, 4]])
    assert found == {"/values/0": deeper, "/values/1": deeper}


@pytest.mark.parametrize("name", ["higher_is_better", "bounds"])
def test_an_unknown_field_of_a_metric_is_told_which_fields_there_are(project: Project, name: str) -> None:
    answer = project.publish(publication(metric=ACCURACY | {name: True}, other=1))
    told = {one["pointer"]: one["detail"] for one in answer.get_json()["errors"]}
    few = "Unknown field; there are name, unit, direction, lower, upper."
    assert (answer.status_code, told) == (422, {f"/metric/{name}": few, "/other": "Unknown field."})
