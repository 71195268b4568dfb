"""Numbers that were measured in different ways are not compared unawares."""

import re
from collections import Counter
from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from registry.grids.protocol import Rules, differences
from registry.query import RankingQuery
from tests.house import House, Project
from tests.workers.asking import computed, join
from tests.workers.test_comparisons_of_models import answered, pair_of, put
from workers.protocols import commonest
from workers.queries import about, compute, compute_again, document_of

NAMES = {"experiment": "leaderboard", "metric": "accuracy"}
VALUES = {"A": [52.0, 61.0], "B": [58.0, 60.5], "C": [70.0, 66.0], "D": [71.0, 40.0]}
AXES = [{"name": "Length", "kind": "numeric", "levels": [1, 2]}]
FIVE, THREE = {"shots": 5, "harness": "h"}, {"shots": 3, "harness": "h"}
DIFFER = "the protocols differ in shots (5 and 3)"


def declare(project: Project, **sent: Any) -> None:
    path = f"projects/{project.slug}/experiments/leaderboard"
    assert project.call("PATCH", path, json={"protocol": sent}).status_code == 200


def scored(project: Project, model: str, protocol: Any = None, benchmark: str = "X", **more: Any) -> dict[str, Any]:
    said = {} if protocol is None else {"protocol": protocol}
    return put(project, model, benchmark, VALUES[model], axes=AXES, **said | more)


def compared(project: Project, baseline: dict[str, Any], contender: dict[str, Any], **more: Any) -> dict[str, Any]:
    asked = {"baseline": baseline["id"], "contender": contender["id"]} | more
    return computed(project, f"projects/{project.slug}/comparisons", query_string=asked)


def ranked(project: Project, **asked: Any) -> dict[str, Any]:
    return computed(project, f"projects/{project.slug}/rankings", query_string=NAMES | asked)


def codes(document: dict[str, Any]) -> list[str]:
    return [one["code"] for one in document["warnings"]]


def names(document: dict[str, Any]) -> list[str]:
    return [row["name"] for row in document["ranking"]]


def left_out(document: dict[str, Any]) -> list[tuple[str, str]]:
    return [(one["model"], one["benchmark"]) for one in document.get("incomparable", [])]


def test_a_difference_is_a_warning_or_nothing_or_no_comparison_as_the_experiment_declares(project: Project) -> None:
    one, other = scored(project, "A", FIVE), scored(project, "B", THREE)
    found = compared(project, one, other)
    assert (found["status"], found["n_common"], codes(found)) == ("ok", 2, ["protocol_differs"])
    assert found["warnings"][0]["detail"] == "The protocols differ in shots (5 and 3); no such key binds."
    assert found["protocol"] == [{"key": "shots", "baseline": 5, "contender": 3, "role": "other"}]
    declare(project, free=["shots"])
    found = compared(project, one, other)
    assert (codes(found), "protocol" in found) == ([], False)
    declare(project, binding=["shots"])
    found = compared(project, one, other)
    assert (found["status"], found["reason"], found["n_common"], found["cells"]) == ("not_comparable", DIFFER, 0, [])
    assert found["protocol"] == [{"key": "shots", "baseline": 5, "contender": 3, "role": "binding"}]
    assert (found.get("mean"), codes(found)) == (None, [])
    sides = f"baseline={one['id']}&contender={other['id']}"
    assert f"cannot be compared: {DIFFER}" in project.get(f"projects/{project.slug}/comparisons.txt?{sides}").text
    assert DIFFER in project.get(f"/projects/{project.slug}/comparisons?{sides}").text
    gate = f"projects/{project.slug}/baselines/main"
    assert project.call("PUT", gate, json=NAMES | {"subject": {"model": "A"}, "policy": {}}).status_code == 201
    found = computed(project, f"{gate}/gate", query_string={"contender": "B"})
    assert (found["reason"], f"on X {DIFFER}." in found["sentence"]) == ("protocol", True)
    scored(project, "A", THREE)
    found = compared(project, one, one, baseline_revision=1, contender_revision=2)
    assert (found["status"], found["protocol"][0]["key"]) == ("not_comparable", "shots"), "of one grid, too"


def test_an_unknown_protocol_is_a_warning_unless_the_experiment_requires_one(project: Project) -> None:
    one, other = scored(project, "A", FIVE), scored(project, "B", {"harness": "h"})
    silent, mute = scored(project, "C"), scored(project, "D")
    found = compared(project, silent, mute)
    assert (found["status"], codes(found), "protocol" in found) == ("ok", [], False)
    assert codes(compared(project, one, silent)) == ["protocol_unknown"]
    declare(project, binding=["shots"])
    found = compared(project, one, other)
    assert (found["status"], codes(found)) == ("ok", ["protocol_unknown"])
    assert found["warnings"][0]["detail"] == "The contender does not say shots."
    declare(project, binding=["shots"], required=True)
    found = compared(project, one, other)
    assert found["status"] == "not_comparable"
    assert found["reason"] == "the contender does not say shots, which the experiment requires"
    found = compared(project, silent, mute)
    assert found["reason"] == "the baseline and the contender do not say shots, which the experiment requires"
    declare(project, binding=["shots", "harness"], required=True)
    found = compared(project, scored(project, "A", {"shots": 5}, "Y"), scored(project, "B", {"harness": "h"}, "Y"))
    told = "the baseline does not say harness, and the contender does not say shots, which the experiment requires"
    assert found["reason"] == told
    declare(project, required=True)
    assert compared(project, one, other)["status"] == "ok"
    found = compared(project, silent, one)
    assert found["reason"] == "the baseline does not say how it was measured, which the experiment requires"


def test_versions_are_equal_or_not(project: Project) -> None:
    one = scored(project, "A", {"version": "0.4.9"})
    declare(project, binding=["version"])
    others = [{"version": version} for version in (">=0.4", "0.4.9.0", "0.4", 0.4)] + [{"VERSION": "0.4.9"}]
    grids = [put(project, f"B{i}", "X", VALUES["B"], axes=AXES, protocol=said) for i, said in enumerate(others)]
    found = [compared(project, one, other)["status"] for other in grids]
    assert found == ["not_comparable"] * 4 + ["ok"]


def test_two_models_are_compared_on_the_benchmarks_on_which_both_were_measured_alike(project: Project) -> None:
    for benchmark, protocol in (("X", FIVE), ("Y", FIVE), ("Z", THREE)):
        scored(project, "A", FIVE, benchmark)
        scored(project, "B", protocol, benchmark)
    declare(project, binding=["shots"])
    found = answered(project)
    x, y, z = found["by_benchmark"]
    assert (found["status"], x["status"], y["status"], z["status"]) == ("ok", "ok", "ok", "not_comparable")
    assert (z["reason"], z["n_common"], z.get("test")) == (DIFFER, 0, None)
    assert z["protocol"] == [{"key": "shots", "baseline": 5, "contender": 3, "role": "binding"}]
    alone = pair_of(project, model=["A", "B"], benchmark=["X", "Y"])
    assert (found["whole"]["difference"], found["whole"]["p"]) == (-alone["difference"], alone["p"])
    by_id = computed(project, z["href"])
    assert (by_id["status"], by_id["reason"]) == ("not_comparable", z["reason"])
    declare(project)
    for benchmark in "XY":
        scored(project, "B", THREE, benchmark)
    found = answered(project)
    assert (found["status"], codes(found)) == ("ok", ["protocol_differs"])
    assert found["warnings"][0]["detail"].startswith("On 3 benchmarks: The protocols differ in shots")
    declare(project, binding=["shots"])
    found = answered(project)
    assert (found["status"], found["whole"]) == ("not_comparable", None)
    assert f"on X {DIFFER}" in found["reason"]


def test_the_commonest_protocol_is_ranked_and_counted_and_the_others_are_named(project: Project) -> None:
    for model, protocol in (("A", FIVE), ("B", FIVE), ("C", THREE)):
        scored(project, model, protocol)
    odd = scored(project, "D", THREE | {"shots": 4}, variant="v")
    table = f"projects/{project.slug}/aggregates"
    grouped = NAMES | {"group_by": "model"}
    declare(project, binding=["shots"])
    found, counted = ranked(project), computed(project, table, query_string=grouped)
    assert names(found) == ["B", "A"]
    assert [entry["value"] for entry in counted["entries"]] == [59.25, 56.5]
    for one in (found, counted):
        keys = ("model", "variant", "benchmark", "revision")
        assert [tuple(left[key] for key in keys) for left in one["incomparable"]] == [
            ("C", "", "X", 1),
            ("D", "v", "X", 1),
        ]
    assert found["incomparable"][1]["grid"] == odd["id"]
    assert found["incomparable"][1]["differs"] == [{"key": "shots", "baseline": 5, "contender": 4, "role": "binding"}]
    told = "for they were measured otherwise: C on X (shots 3, not 5); D · v on X (shots 4, not 5)"
    for path in (f"projects/{project.slug}/rankings.txt", f"/projects/{project.slug}/rankings"):
        assert f"not ranked, {told}" in project.get(path, query_string=NAMES).text
    assert f"not counted, {told}" in project.get(f"{table}.txt", query_string=grouped).text
    assert {row["cells"] for row in ranked(project, by="axis:Length")["ranking"]} == {4}, "within grids of any protocol"
    declare(project)
    found, counted = ranked(project), computed(project, table, query_string=grouped)
    assert (names(found), left_out(found), codes(found)) == (["C", "B", "A", "D"], [], ["protocol_differs"])
    assert (len(counted["entries"]), left_out(counted), codes(counted)[-1]) == (4, [], "protocol_differs")


def test_each_benchmark_has_a_commonest_protocol_of_its_own_and_joined_ones_share_one(project: Project) -> None:
    """A data set revision is another on every benchmark: that alone leaves nothing out."""
    for model, on_y in (("A", "r2"), ("B", "r2"), ("C", "r3")):
        scored(project, model, {"dataset_revision": "r1"}, "X")
        scored(project, model, {"dataset_revision": on_y}, "Y")
    declare(project, binding=["dataset_revision"])
    found = ranked(project)
    assert left_out(found) == [("C", "Y")]
    assert {row["name"]: row["cells"] for row in found["ranking"]} == {"A": 4, "B": 4, "C": 2}
    scored(project, "D", {"dataset_revision": "r1"}, "Y'")
    assert left_out(ranked(project)) == [("C", "Y")]
    join(project, "benchmark", "Y'", "Y")
    assert left_out(ranked(project)) == [("C", "Y"), ("D", "Y")]


def test_grids_that_do_not_say_it_are_ranked_with_a_warning_unless_it_is_required(project: Project) -> None:
    for model, protocol in (("A", FIVE), ("B", None), ("C", {"harness": "h"}), ("D", FIVE)):
        scored(project, model, protocol)
    declare(project, binding=["shots"])
    found = ranked(project)
    assert set(names(found)) == {"A", "B", "C", "D"}
    assert found["warnings"][-1]["detail"] == "2 of 4 grids do not say shots; they are compared all the same."
    declare(project, binding=["harness", "shots"])
    for model in "BC":
        scored(project, model, {"harness": "h"})
    assert ranked(project)["warnings"][-1]["detail"].startswith("2 of 4 grids do not say shots; ")
    declare(project, binding=["shots"], required=True)
    found = ranked(project)
    assert set(names(found)) == {"A", "D"}
    unsaid = [(one["model"], one["differs"][0]["contender"]) for one in found["incomparable"]]
    assert unsaid == [("B", None), ("C", None)]
    text = " ".join(project.get(f"projects/{project.slug}/rankings.txt", query_string=NAMES).text.split())
    assert "not ranked, for they do not say how they were measured: B on X (shots not said); C on X" in text


def test_derived_grids_decide_nothing(project: Project) -> None:
    for variant in ("1", "2", "3"):
        scored(project, "D", THREE, derived=True, variant=variant)
    for model in "AB":
        scored(project, model, FIVE)
    declare(project, binding=["shots"])
    found = ranked(project)
    assert (names(found), left_out(found)) == (["B", "A"], [])


def test_averages_over_grids_that_were_measured_otherwise_are_warned_of(project: Project) -> None:
    scored(project, "A", FIVE)
    scored(project, "B", THREE | {"harness": "h2"}, "Y")
    assert ranked(project, by="axis:Length")["warnings"] == [], "one protocol a benchmark"
    scored(project, "C", THREE)
    declare(project, binding=["shots"])
    found = ranked(project, by="axis:Length")
    assert len(found["inputs"]) == 3, "no grid is left out"
    [warning] = found["warnings"]
    told = "Grids of one benchmark were measured by protocols that differ in shots, by which they are not comparable"
    assert (warning["code"], warning["detail"].partition(";")[0]) == ("protocol_differs", told)
    declare(project, free=["shots"])
    assert ranked(project, by="axis:Length")["warnings"] == []


def test_large_rankings_leave_out_the_same_grids(project: Project, house: House) -> None:
    for benchmark in ("X", "Y"):
        for model, protocol in (("A", FIVE), ("B", FIVE), ("C", THREE), ("D", FIVE)):
            scored(project, model, protocol, benchmark)
    board = replace(house.settings, ranking_work=0)
    question = RankingQuery(**NAMES)

    def found() -> list[dict[str, Any]]:
        """The rankings as of a leaderboard and from sums."""
        house.compute()
        documents = []
        for large in (board, replace(board, ranking_cells=0)):
            result = compute(house.database, large, project.id, question)
            assert result is not None
            documents.append(document_of(result) | about(question))
            assert compute_again(house.database, large, project.id, question) == documents[-1]
        return documents

    before = found()
    for whole in before:
        assert (len(whole["ranking"]), codes(whole), "incomparable" in whole) == (4, ["protocol_differs"], False)
    declare(project, binding=["shots"])
    cells, (of_board, of_sums) = ranked(project), found()
    assert of_board["incomparable"] == of_sums["incomparable"] == cells["incomparable"]
    ranks = [[(row["name"], row["rank"]) for row in one["ranking"]] for one in (of_board, cells)]
    assert ranks[0] == ranks[1]
    assert of_board["inputs_left_out"]["count"] == 6
    assert (of_sums["status"], of_sums["ranking"]) == ("undefined", [])
    assert "protocols differ in keys that bind" in of_sums["reason"]
    declare(project)
    assert [names(one) for one in found()] == [names(one) for one in before]


_PROTOCOLS = st.dictionaries(st.sampled_from("abc"), st.sampled_from([1, "1", True, 2.5]), max_size=3)


def test_every_view_of_a_table_says_in_words_what_was_measured_otherwise(project: Project) -> None:
    for model, protocol in (("A", FIVE), ("B", THREE), ("C", THREE)):
        scored(project, model, protocol)
    declare(project, binding=["shots"])
    words, path = "ot counted, for they were measured otherwise: A on X (shots 5, not 3)", f"projects/{project.slug}"
    experiment, quantity = NAMES["experiment"], f"metric:{NAMES['metric']}"
    apart = {"experiment": experiment, "x": quantity, "y": quantity, "x.at.Length": "1", "y.at.Length": "2"}
    for view, asked in (
        ("aggregates", NAMES | {"group_by": "model"}), ("lines", NAMES | {"along": "Length"}), ("trade-offs", apart)
    ):  # fmt: skip
        for form in ("txt", "md", "svg"):
            said = " ".join(computed(project, f"{path}/{view}.{form}", query_string=asked).text.split())
            spoken = " ".join(re.sub(r"<[^>]*>", " ", said).split()).replace("\\", "")
            assert words in spoken, (view, form, spoken)


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
