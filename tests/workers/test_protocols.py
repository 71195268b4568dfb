"""Numbers that were measured in different ways are not compared unawares."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.grids.protocol import Rules, differences
from registry.query import RankingQuery
from tests.house import House, Project
from tests.workers.test_comparisons_of_models import answered, computed, pair_of, put
from workers.protocols import commonest
from workers.queries import compute, compute_again, document_of

NAMES = {"experiment": "leaderboard", "metric": "accuracy"}
VALUES = {"A": [52.0, 61.0], "B": [58.0, 60.5], "C": [70.0, 66.0], "D": [71.0, 40.0]}
AXES = [{"name": "Length", "kind": "numeric", "levels": [1, 2]}]
FIVE, THREE = {"shots": 5, "harness": "h"}, {"shots": 3, "harness": "h"}


def declare(project: Project, **sent: Any) -> None:
    path = f"projects/{project.slug}/experiments/leaderboard/protocol"
    assert project.call("PUT", path, json=sent).status_code == 200


def scored(project: Project, model: str, protocol: Any = None, benchmark: str = "X", **more: Any) -> dict[str, Any]:
    said = {} if protocol is None else {"protocol": protocol}
    return put(project, model, benchmark, VALUES[model], axes=AXES, **said | more)


def compared(project: Project, baseline: dict[str, Any], contender: dict[str, Any]) -> dict[str, Any]:
    asked = {"baseline": baseline["id"], "contender": contender["id"]}
    return computed(project, f"projects/{project.slug}/comparisons", query_string=asked)


def ranked(project: Project, **asked: Any) -> dict[str, Any]:
    return computed(project, f"projects/{project.slug}/rankings", query_string=NAMES | asked)


def codes(document: dict[str, Any]) -> list[str]:
    return [one["code"] for one in document["warnings"]]


def test_a_binding_key_with_two_values_is_no_comparison(project: Project) -> None:
    one, other = scored(project, "A", FIVE), scored(project, "B", THREE | {"git_hash": "4f2c"})
    declare(project, binding=["shots"], free=["git_hash"])
    found = compared(project, one, other)
    reason = "the protocols differ in shots (5 and 3)"
    assert (found["status"], found["reason"], found["n_common"], found["cells"]) == ("not_comparable", reason, 0, [])
    assert found["protocol"] == [{"key": "shots", "baseline": 5, "contender": 3, "role": "binding"}]
    assert "mean" not in found or found["mean"] is None
    assert codes(found) == []
    path = f"projects/{project.slug}/comparisons.txt?baseline={one['id']}&contender={other['id']}"
    assert f"cannot be compared: {reason}" in project.get(path).get_data(as_text=True)
    page = project.get(f"/projects/{project.slug}/comparisons?baseline={one['id']}&contender={other['id']}")
    assert reason in page.get_data(as_text=True)


def test_the_page_of_a_grid_draws_no_difference_from_one_that_was_measured_otherwise(project: Project) -> None:
    one, other = scored(project, "A", FIVE), scored(project, "B", THREE)
    path = f"/grids/{other['id']}?show=difference&baseline={one['id']}"
    notice = "There is no difference to show: the protocols differ in shots (5 and 3)"
    compared(project, one, other)
    assert notice not in project.get(path).get_data(as_text=True)
    declare(project, binding=["shots"])
    compared(project, one, other)
    assert notice in project.get(path).get_data(as_text=True)


def test_without_a_declaration_a_difference_is_a_warning_with_both_values(project: Project) -> None:
    one, other = scored(project, "A", FIVE), scored(project, "B", THREE)
    found = compared(project, one, other)
    assert (found["status"], found["n_common"], codes(found)) == ("ok", 2, ["protocol_differs"])
    assert found["warnings"][0]["detail"] == "The protocols differ in shots (5 and 3); no such key binds."
    assert found["protocol"] == [{"key": "shots", "baseline": 5, "contender": 3, "role": "other"}]
    declare(project, free=["shots"])
    found = compared(project, one, other)
    assert (codes(found), "protocol" in found) == ([], False)


def test_grids_without_protocols_are_compared_as_they_always_were(project: Project) -> None:
    found = compared(project, scored(project, "A"), scored(project, "B"))
    assert (found["status"], codes(found), "protocol" in found) == ("ok", [], False)


def test_an_unknown_protocol_is_a_warning_unless_the_experiment_requires_one(project: Project) -> None:
    one, other = scored(project, "A", FIVE), scored(project, "B", {"harness": "h"})
    silent = scored(project, "C")
    assert codes(compared(project, one, silent)) == ["protocol_unknown"]
    declare(project, binding=["shots"])
    found = compared(project, one, other)
    assert (found["status"], codes(found)) == ("ok", ["protocol_unknown"])
    assert found["warnings"][0]["detail"] == "The contender does not say shots."
    declare(project, binding=["shots"], required=True)
    found = compared(project, one, other)
    assert found["status"] == "not_comparable"
    assert found["reason"] == "the contender does not say shots, which the experiment requires"
    declare(project, required=True)
    assert compared(project, one, other)["status"] == "ok"
    found = compared(project, silent, one)
    assert found["reason"] == "the baseline does not say how it was measured, which the experiment requires"


def test_two_revisions_of_one_grid_may_have_two_protocols(project: Project) -> None:
    one, _ = scored(project, "A", FIVE), scored(project, "A", THREE)
    declare(project, binding=["shots"])
    asked = {"baseline": one["id"], "contender": one["id"], "baseline_revision": 1, "contender_revision": 2}
    found = computed(project, f"projects/{project.slug}/comparisons", query_string=asked)
    assert (found["status"], found["protocol"][0]["key"]) == ("not_comparable", "shots")


def test_versions_are_equal_or_not(project: Project) -> None:
    one = scored(project, "A", {"version": "0.4.9"})
    declare(project, binding=["version"])
    for version in (">=0.4", "0.4.9.0", "0.4", 0.4):
        assert compared(project, one, scored(project, "B", {"version": version}))["status"] == "not_comparable"
    assert compared(project, one, scored(project, "B", {"VERSION": "0.4.9"}))["status"] == "ok"


def test_two_models_are_compared_on_the_benchmarks_on_which_both_were_measured_alike(project: Project) -> None:
    for benchmark, protocol in (("X", FIVE), ("Y", FIVE), ("Z", THREE)):
        scored(project, "A", FIVE, benchmark)
        scored(project, "B", protocol, benchmark)
    declare(project, binding=["shots"])
    found = answered(project)
    x, y, z = found["by_benchmark"]
    assert (found["status"], x["status"], y["status"], z["status"]) == ("ok", "ok", "ok", "not_comparable")
    assert (z["reason"], z["n_common"], z.get("test")) == ("the protocols differ in shots (5 and 3)", 0, None)
    assert z["protocol"] == [{"key": "shots", "baseline": 5, "contender": 3, "role": "binding"}]
    alone = pair_of(project, model=["A", "B"], benchmark=["X", "Y"])
    assert (found["whole"]["difference"], found["whole"]["p"]) == (-alone["difference"], alone["p"])
    by_id = computed(project, z["href"])
    assert (by_id["status"], by_id["reason"]) == ("not_comparable", z["reason"])


def test_two_models_that_were_never_measured_alike_are_not_compared(project: Project) -> None:
    for benchmark in ("X", "Y"):
        scored(project, "A", FIVE, benchmark)
        scored(project, "B", THREE, benchmark)
    assert (answered(project)["status"], codes(answered(project))) == ("ok", ["protocol_differs"])
    assert answered(project)["warnings"][0]["detail"].startswith("On 2 benchmarks: The protocols differ in shots")
    declare(project, binding=["shots"])
    found = answered(project)
    assert (found["status"], found["whole"]) == ("not_comparable", None)
    assert "on X the protocols differ in shots (5 and 3)" in found["reason"]


def test_the_commonest_protocol_is_ranked_and_the_others_are_named(project: Project) -> None:
    for model, protocol in (("A", FIVE), ("B", FIVE), ("C", THREE)):
        scored(project, model, protocol)
    odd = scored(project, "D", THREE | {"shots": 4}, variant="v")
    declare(project, binding=["shots"])
    found = ranked(project)
    assert [row["name"] for row in found["ranking"]] == ["B", "A"]
    assert [(one["model"], one["variant"], one["benchmark"], one["revision"]) for one in found["incomparable"]] == [
        ("C", "", "X", 1),
        ("D", "v", "X", 1),
    ]
    assert found["incomparable"][1]["grid"] == odd["id"]
    assert found["incomparable"][1]["differs"] == [{"key": "shots", "baseline": 5, "contender": 4, "role": "binding"}]
    told = "not ranked, for they were measured otherwise: C on X (shots 3, not 5); D · v on X (shots 4, not 5)"
    scope = "rankings{}?experiment=leaderboard&metric=accuracy"
    assert told in project.get(f"projects/{project.slug}/{scope.format('.txt')}").get_data(as_text=True)
    assert told in project.get(f"/projects/{project.slug}/{scope.format('')}").get_data(as_text=True)
    declare(project)
    found = ranked(project)
    assert ([row["name"] for row in found["ranking"]], "incomparable" in found) == (["C", "B", "A", "D"], False)
    assert codes(found) == ["protocol_differs"]


def test_each_benchmark_has_a_commonest_protocol_of_its_own(project: Project) -> None:
    """A data set revision is another on every benchmark: that alone leaves nothing out."""
    for model, on_y in (("A", "r2"), ("B", "r2"), ("C", "r3")):
        scored(project, model, {"dataset_revision": "r1"}, "X")
        scored(project, model, {"dataset_revision": on_y}, "Y")
    declare(project, binding=["dataset_revision"])
    found = ranked(project)
    assert [(one["model"], one["benchmark"]) for one in found["incomparable"]] == [("C", "Y")]
    assert {row["name"]: row["cells"] for row in found["ranking"]} == {"A": 4, "B": 4, "C": 2}


def test_joined_benchmarks_share_a_protocol(project: Project) -> None:
    for model, benchmark, shots in (("A", "X", 5), ("B", "X", 5), ("C", "X'", 3), ("D", "X'", 3)):
        scored(project, model, {"shots": shots}, benchmark)
    declare(project, binding=["shots"])
    assert "incomparable" not in ranked(project)
    alias = {"kind": "benchmark", "alias": "X'", "name": "X"}
    assert project.call("POST", f"projects/{project.slug}/aliases", json=alias).status_code == 201
    project.house.compute()
    assert len(ranked(project)["incomparable"]) == 2


def test_grids_that_do_not_say_it_are_ranked_with_a_warning_unless_it_is_required(project: Project) -> None:
    for model, protocol in (("A", FIVE), ("B", None), ("C", {"harness": "h"}), ("D", FIVE)):
        scored(project, model, protocol)
    declare(project, binding=["shots"])
    found = ranked(project)
    assert {row["name"] for row in found["ranking"]} == {"A", "B", "C", "D"}
    assert found["warnings"][-1]["detail"] == "2 of 4 grids do not say shots; they are compared all the same."
    declare(project, binding=["shots"], required=True)
    found = ranked(project)
    assert {row["name"] for row in found["ranking"]} == {"A", "D"}
    assert [(one["model"], one["differs"][0]["contender"]) for one in found["incomparable"]] == [
        ("B", None),
        ("C", None),
    ]


def test_derived_grids_decide_nothing(project: Project) -> None:
    for variant in ("1", "2", "3"):
        scored(project, "D", THREE, derived=True, variant=variant)
    for model in "AB":
        scored(project, model, FIVE)
    declare(project, binding=["shots"])
    found = ranked(project)
    assert ([row["name"] for row in found["ranking"]], "incomparable" in found) == (["B", "A"], False)


def test_levels_of_an_axis_are_compared_within_grids_of_any_protocol(project: Project) -> None:
    for model, protocol in (("A", FIVE), ("B", FIVE), ("C", THREE)):
        scored(project, model, protocol)
    declare(project, binding=["shots"])
    found = ranked(project, by="axis:Length")
    assert {row["cells"] for row in found["ranking"]} == {3}


def test_averages_over_grids_that_were_measured_otherwise_are_warned_of(project: Project) -> None:
    spot = f"projects/{project.slug}/experiments/leaderboard/sweet-spot"
    scored(project, "A", FIVE)
    scored(project, "B", THREE | {"harness": "h2"}, "Y")
    assert "warnings" not in computed(project, spot, query_string={"metric": "accuracy"}), "one protocol a benchmark"
    scored(project, "C", THREE)
    declare(project, binding=["shots"])
    found = computed(project, spot, query_string={"metric": "accuracy"})
    assert (found["status"], found["grids"]) == ("ok", 3), "no grid is left out"
    [warning] = found["warnings"]
    told = "Grids of one benchmark were measured by protocols that differ in shots, by which they are not comparable"
    assert (warning["code"], warning["detail"].partition(";")[0]) == ("protocol_differs", told)
    assert ranked(project, by="axis:Length")["warnings"] == [warning]
    for suffix in (".txt", ".md"):
        assert told in project.get(f"{spot}{suffix}?metric=accuracy").get_data(as_text=True)
    page = project.get(f"/projects/{project.slug}/experiments/leaderboard").get_data(as_text=True)
    assert f"<li>{told}" in page
    declare(project, free=["shots"])
    assert "warnings" not in computed(project, spot, query_string={"metric": "accuracy"})


def test_a_table_counts_the_commonest_protocol(project: Project) -> None:
    for model, protocol in (("A", FIVE), ("B", FIVE), ("C", THREE)):
        scored(project, model, protocol)
    declare(project, binding=["shots"])
    path = f"projects/{project.slug}/aggregates"
    found = computed(project, path, query_string=NAMES | {"group_by": "model"})
    assert [entry["value"] for entry in found["entries"]] == [56.5, 59.25]
    assert [one["model"] for one in found["incomparable"]] == ["C"]
    text = project.get(f"{path}.txt", query_string=NAMES | {"group_by": "model"}).get_data(as_text=True)
    assert "not counted, for they were measured otherwise: C on X (shots 3, not 5)" in text
    declare(project)
    found = computed(project, path, query_string=NAMES | {"group_by": "model"})
    assert (len(found["entries"]), "incomparable" in found, codes(found)[-1]) == (3, False, "protocol_differs")


@pytest.mark.parametrize("way", ["board", "sums"])
def test_large_rankings_leave_out_the_same_grids(project: Project, house: House, way: str) -> None:
    for benchmark in ("X", "Y"):
        for model, protocol in (("A", FIVE), ("B", FIVE), ("C", THREE), ("D", FIVE)):
            scored(project, model, protocol, benchmark)
    large = replace(house.settings, ranking_work=0, **({} if way == "board" else {"ranking_cells": 0}))
    question = RankingQuery(**NAMES)

    def found() -> dict[str, Any]:
        house.compute()
        result = compute(house.database, large, project.id, question)
        assert result is not None
        document = document_of(result)
        assert compute_again(house.database, large, project.id, question) == document
        return document

    whole = found()
    assert (len(whole["ranking"]), codes(whole), "incomparable" in whole) == (4, ["protocol_differs"], False)
    declare(project, binding=["shots"])
    cells, large_one = ranked(project), found()
    assert large_one["incomparable"] == cells["incomparable"]
    if way == "board":
        names = [(row["name"], row["rank"]) for row in large_one["ranking"]]
        assert names == [(row["name"], row["rank"]) for row in cells["ranking"]]
        assert large_one["inputs_left_out"]["count"] == 6
    else:
        assert (large_one["status"], large_one["ranking"]) == ("undefined", [])
        assert "protocols differ in keys that bind" in large_one["reason"]
    declare(project)
    assert [row["name"] for row in found()["ranking"]] == [row["name"] for row in whole["ranking"]]


@pytest.mark.parametrize("seed", range(6))
def test_equal_numbers_under_two_protocols_never_share_a_rank(project: Project, seed: int) -> None:
    """Twelve models with the very same numbers: whatever their protocols, no two that differ are ranked together."""
    chosen = random.Random(seed)
    protocols = {}
    for number in range(12):
        protocols[f"m{number}"] = {
            key: chosen.choice(["a", "b"]) for key in ("judge", "prompt") if chosen.random() < 0.8
        }
        put(project, f"m{number}", "X", [50.0, 60.0], axes=AXES, protocol=protocols[f"m{number}"] or None)
    declare(project, binding=["judge", "prompt"])
    found = ranked(project)
    names = [row["name"] for row in found["ranking"]]
    assert set(names) | {one["model"] for one in found["incomparable"]} == set(protocols)
    for one in names:
        for other in names:
            apart = [key for key in ("judge", "prompt") if key in protocols[one] and key in protocols[other]
                     and protocols[one][key] != protocols[other][key]]  # fmt: skip
            assert apart == []


_PROTOCOLS = st.dictionaries(st.sampled_from("abc"), st.sampled_from([1, "1", True, 2.5]), max_size=3)


@given(st.lists(_PROTOCOLS, min_size=1, max_size=12), st.sets(st.sampled_from("abcd")), st.booleans())
def test_what_is_compared_agrees_in_every_binding_key_that_two_say(
    protocols: list[dict[str, Any]], binding: set[str], required: bool
) -> None:
    rules = Rules(tuple(sorted(binding)), (), required)
    known = {str(place): one for place, one in enumerate(protocols)}
    common, taken = commonest(rules, known, Counter(dict.fromkeys(known, 1)))
    for one in taken:
        assert required <= rules.is_whole(known[one])
        for other in taken:
            assert rules.obstacle(known[one], known[other]) is None
    for name in known.keys() - taken:
        apart = [one for one in differences(common, known[name]) if one.key in rules.binding and one.is_known]
        assert apart or (required and not rules.is_whole(known[name])), "only what differs is left out"
    turned = commonest(rules, dict(reversed(known.items())), Counter(dict.fromkeys(known, 1)))
    assert turned == (common, taken), "in whatever order the grids come"
