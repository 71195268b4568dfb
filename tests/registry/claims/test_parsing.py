"""Sentences read as claims by rules: what they come to, what is left unparsed, and that nothing is guessed."""

from __future__ import annotations

import random
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from registry.claims.claim import atoms_of
from registry.claims.dictionary import table
from registry.claims.dimensions import faults_of, names_in
from registry.claims.grammar import read_claim
from registry.claims.normal import normal_form
from registry.claims.parsing.parse import parse
from registry.claims.parsing.scope import Scope
from registry.claims.read_as import readings_of
from registry.grids.grid import Axis, Level, Metric
from tests.registry.claims.readings import PERCENT, TYPE, TYPES, WINDOWS, claims, numeric, reasons, scope

pytestmark = pytest.mark.unit

FRACTIONS = scope(TYPE, numeric("Length", *range(20)), metric=Metric("accuracy", None, "higher", 0.0, 1.0))
LOSS = scope(TYPE, numeric("Length", *range(20)), metric=Metric("loss", None, None))
STEPS = Axis("Step", "numeric", tuple(Level(str(number), float(number)) for number in range(10_000)))
KINDS = Axis("Kind", "nominal", tuple(Level(f"kind {number}") for number in range(10_000)))
LARGE = scope(STEPS, KINDS, TYPE, models="(a+)+$,.*,A," + "a b" * 20)
parse("Type 1", [LARGE], {})  # builds its index of names, which no text makes longer
T1: dict[str, Any] = {"where": {"Type": ["1"]}}
DOWN: dict[str, Any] = {"kind": "trend", "along": "Length", "goes": "down"}


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("Type 1: general downward trend", DOWN | T1),
        ("Type 1 never falls.", {"kind": "value", "of": "drawdown", "along": "Length",
                                 "is": {"op": "<=", "number": 0}} | T1),
        ("Type 1 is 99.3 % at Length 0", {"kind": "value", "where": {"Type": ["1"], "Length": ["0"]},
                                          "is": {"op": "=", "number": 99.3}}),
        ("Type 1 drops by over 10 points", {"kind": "value", "of": "change", "along": "Length",
                                            "is": {"op": "<", "number": -10.0}} | T1),
        ("Type 3 dips into the mid-80s", {"kind": "value", "of": "min", "is": {"between": [83.5, 86.5]},
                                          "where": {"Type": ["3"]}}),
        ("Type 4 is mostly in the 91–92% range", {"kind": "cells", "is": {"between": [91, 92], "decimals": 0},
                                                  "cells_hold": "most", "where": {"Type": ["4"]}}),
        ("Type 6 is consistently above 97%", {"kind": "cells", "is": {"op": ">", "number": 97.0},
                                              "where": {"Type": ["6"]}}),
        ("Type 4: Sharp drop at Length 11", {"kind": "step", "along": "Length", "to": "11", "goes": "down",
                                             "largest": True, "strength": "noise", "where": {"Type": ["4"]}}),
        ("Type 7 is robust up to Length 4", {"kind": "stable", "along": "Length", "within": 3,
                                             "where": {"Type": ["7"], "Length": {"to": 4.0}}}),
        ("Most types decline", DOWN | {"for": {"Type": "*"}, "holds": "most"}),
        ("All types except 5 decline with length", DOWN | {"for": {"Type": "*"}, "except": ["5"]}),
        ("No type declines", DOWN | {"for": {"Type": "*"}, "holds": "none"}),
        ("Type 1 does not decline", {"kind": "not", "claims": [DOWN | T1]}),
        ("Types 1 and 7 show clear degradation", DOWN | {"for": {"Type": ["1", "7"]}}),
        ("Type 5 shows the lowest initial accuracy", {"kind": "extreme", "which": "min", "of": "Type", "at": ["5"],
                                                      "stat": "first", "missing": "observed"}),
        ("no data beyond 17", {"kind": "coverage", "is": "cells", "count": {"op": "=", "number": 0, "decimals": 0},
                               "where": {"Length": {"from": 18.0}}}),
        ("Type 5 only has data for longer lengths (7-19)",
         {"kind": "coverage", "is": "span", "axis": "Length", "levels": ["7", "19"], "where": {"Type": ["5"]}}),
        ("Cells >98% only in Types 1, 2 and 6",
         {"kind": "lie", "matching": {"op": ">", "number": 98.0}, "inside": [{"Type": ["1", "2", "6"]}],
          "cells_hold": "all"}),
        ("Significant variability across the Types",
         {"kind": "effect", "axes": ["Type"], "is": "present", "strength": "noise"}),
        ("Type 1 should improve", {"kind": "ill_posed", "because": "should: advice, which no results decide"}),
        ("R1-Qwen outperforms R1-Llama by at least 6 points on AIME24",
         {"kind": "compare", "left": {"model": ["R1-Qwen"]}, "right": {"model": ["R1-Llama"]}, "is": "better",
          "by": {"op": ">=", "number": 6.0}}),
        ("R1-Qwen beats R1-Llama on 3 of 4 benchmarks",
         {"kind": "compare", "left": {"model": ["R1-Qwen"]}, "right": {"model": ["R1-Llama"]}, "is": "better",
          "for": {"benchmark": "*"}, "holds": {"at_least": 3}}),
        ("On AMC23, R1-Qwen is comparable to R1-Llama",
         {"kind": "compare", "left": {"model": ["R1-Qwen"]}, "right": {"model": ["R1-Llama"]}, "is": "equal",
          "margin": 3.0}),
        ("R1-Qwen outperforms all other models", {"kind": "rank", "by": "model", "name": "R1-Qwen"}),
        ("The best window is 2000",
         {"kind": "rank", "by": "Local Window Size", "name": "2000", "high_first": True}),
        ("Ratio has little impact", {"kind": "effect", "axes": ["Ratio"], "is": "small", "within": 3.0}),
        ("AIME’24, R1-Llama: increases up to 0.4, then decreases at window 2000",
         {"kind": "trend", "along": "Ratio", "goes": "up_down", "turn": "0.4",
          "where": {"Local Window Size": ["2000"]}}),
        ("R1-Llama on AIME24: peak at (2000, 0.4)",
         {"kind": "extreme", "which": "max", "at": [{"Local Window Size": "2000", "Ratio": "0.4"}]}),
    ],
)  # fmt: skip
def test_sentences_come_to_claims(text: str, claim: dict[str, Any]) -> None:
    of = WINDOWS if "R1" in text or "window" in text or "Ratio" in text else TYPES
    found = claims(text, of)
    about = {"about": {"experiment": "e", "metric": "accuracy"}}
    assert [normal_form(read_claim(one | about)) for one in found] == [normal_form(read_claim(claim | about))]


@pytest.mark.parametrize("mark", ["* ", "- ", "+ ", "  - ", "> ", "> - "])
def test_the_mark_of_a_list_is_no_part_of_a_sentence(mark: str) -> None:
    said = "Type 1 never falls."
    assert claims(f"{mark}{said}\n{mark}{said}") == [*claims(said), *claims(said)]


def test_several_statements_of_a_sentence_are_joined() -> None:
    [found] = claims("Type 1: declines to the low 80s by Length 9")
    assert [(one["kind"], one.get("is")) for one in found["claims"]] == [
        ("trend", None), ("value", {"between": [80.0, 83.4], "decimals": 1})
    ]  # fmt: skip
    [found] = claims("Type 6 is the top performer, while Type 5 shows the lowest initial accuracy")
    assert [one["kind"] for one in found["claims"]] == ["rank", "extreme"]


def test_a_heading_holds_for_its_line() -> None:
    found = claims("* **Type 1:** declines. It ends at 83.7.\nIt declines.")
    assert [one["where"] for one in found] == [{"Type": ["1"]}] * 2


def test_two_readings_are_two_candidates() -> None:
    percent = claims("R1-Qwen is better than R1-Llama by over 5%", WINDOWS)
    assert [one["by"].get("unit") for one in percent] == [None, "percent"]
    assert [one["kind"] for one in claims("Type 6 has the highest accuracy")] == ["rank", "extreme"]


def test_a_number_beside_a_word_that_asks_for_noise_is_a_claim_of_its_own() -> None:
    text = "Type 4: Sharp drop at Length 11 (63.3%)"
    found = parse(text, [TYPES], {})[0]
    assert [(one.text, one.claim["kind"], one.claim.get("strength")) for one in found] == [
        (text[: one.end] if place == 0 else "63.3%", kind, strength)
        for place, (one, kind, strength) in enumerate(zip(found, ("step", "value"), ("noise", None), strict=True))
    ]


@pytest.mark.parametrize(
    "text",
    [
        "Type 1 declines, except at Length 7",
        "Type 1 declines but not for long lengths",
        "Type 1 declines while Type 2 zigzags",
        "If lengths grow, Type 1 declines",
        "Type 1 is 99.3 at Length 0 or 96.7 at Length 1",
        "Type 99 declines",
        "Type 1 peaks at Length 42",
        "general downward trend",
        "Type 1 falls below 90% at Length 4",
        "Type 1 declines at high lengths",
        "Type 1 is 83.7",
        "Types decline",
        "All types except 5 and 6 decline",
        "4 of 9 types decline",
        "The sky is blue",
        "Type 1 is not never stable",
        "Type 1 at Length 9 is 0.837x",
    ],
)
def test_what_no_rule_covers_whole_is_unparsed(text: str) -> None:
    found, left = parse(text, [TYPES], {})
    assert not found
    assert [one.text for one in left] == [text]
    assert left[0].reason


def test_units_are_not_converted() -> None:
    assert claims("Type 1 is 0.93 at Length 0", FRACTIONS)
    for text in ("Type 1 is 93% at Length 0", "Type 1 drops by 6 points", "Type 1 dips into the low 80s"):
        assert not claims(text, FRACTIONS)
    [found] = claims("Type 1 is stable", FRACTIONS)
    assert found["within"] == 0.02
    assert not claims("Type 1 is stable", LOSS)
    assert not claims("Type 1 improves with length", LOSS)
    assert claims("Type 1 rises with length", LOSS)
    assert not claims("accuracy of Type 1 rises with length", LOSS)


def test_what_several_grids_have_is_left_open() -> None:
    assert not claims("Ratio 0.1, window 500: 43.7", WINDOWS)
    assert claims("Ratio 0.1, window 500: 43.7", WINDOWS, benchmark="AMC23", model="R1-Qwen") == []
    one = scope(*WINDOWS.axes)
    assert claims("At ratio 0.1 and window 500 it is 43.7", one)[0]["is"]["number"] == 43.7


def test_names_that_are_words_are_names_only_as_they_are_spelt() -> None:
    of = scope(TYPE, benchmarks="X", models="A,B,best,.*,(a+)+$,[x")
    assert claims("A beats B", of)[0]["left"] == {"model": ["A"]}
    assert not claims("a drop beats b", of)
    assert not claims("A drop at Length 3", scope(TYPE, numeric("Length", 1, 2, 3), benchmarks="X", models="A,B"))
    assert parse("(a+)+$ beats [x", [of], {})[0] == []


def test_spans_are_places_in_the_text_as_it_was_sent() -> None:
    text = "<b>\u202eType\u202c 1 declines</b>. “Type 2” is stable — “really”.\n\nType 3 rises; Type 4 rises!"
    found, left = parse(text, [TYPES], {})
    for one in (*found, *left):
        assert text[one.start : one.end] == one.text
    assert [one.text for one in found] == ["Type 3 rises", "Type 4 rises"]


WORDS = """\
Type 1|Type 9|Types 2 and 6|Length 4|lengths 3-7|window 2000|R1-Qwen|R1-Llama|AIME24|all types|most types
no type|except 5|declines|rises|drops|is stable|peaks|outperforms|is comparable to|above|below|by|at least
93.4%|10 points|mostly|slightly|sharply|significantly|not|never|only|in the mid-80s|at|for|on|with|and|, then
(|)|:|best|lowest|highest|data|no data|little impact|Ratio|starts at|reaches|between 91 and 92|2x|more than
up to|because|3 of 4|benchmarks|the|performance|robust|-5|<b>|–|’""".replace("\n", "|").split("|")


@pytest.mark.parametrize("seed", range(12))
def test_every_candidate_is_a_claim_of_what_there_is(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(50):
        text = " ".join(chance.choices(WORDS, k=chance.randint(2, 9)))
        for of in (TYPES, WINDOWS):
            for one in parse(text, [of], {})[0]:
                _is_of(one.claim, of, text)


def _is_of(claim: Any, of: Scope, text: str) -> None:
    read = read_claim(claim)
    assert not list(faults_of(read, of.axes)), (text, claim)
    assert all(name in of.held(facet) for facet, name in names_in(read)), (text, claim)
    assert read_claim({**normal_form(read), "text": claim["text"]}) == read
    shown = {float(one) for one in re.findall(r"\d+(?:\.\d+)?", text)} | {0.0, 2.0, 3.0, 83.5, 86.5}
    for _, atom in atoms_of(read.says):
        for number in (getattr(atom.says, field, None) for field in ("is_", "by", "size", "matching")):
            if number is not None and not isinstance(number, str):
                assert {abs(end) for end in (number.number, number.low, number.high)} <= shown, (text, claim)


@pytest.mark.parametrize(
    "unit",
    ["Type 1, ", "and ", "(", "1,", "-", "Step 1-9999, ", "kind 1, kind ", "91-92% ", "most of the ", "<b>Type 1</b> ",
     "\u202eType 1\u202c ", "a\u0301", "Type 1 falls. ", "Type 1: ", "of ", "1.2.3.", "(a+)+$ ", "a", "'", "3 of 4 "],
)  # fmt: skip
def test_the_work_grows_with_the_text(unit: str) -> None:
    work = [_work((unit * 2000)[:length], LARGE) for length in (1000, 2000)]
    assert work[1] <= 2.5 * work[0] + 2000


def _work(text: str, of: Scope) -> int:
    """How many functions are called."""
    calls = 0

    def count(_frame: Any, event: str, _argument: Any) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        parse(text, [of], {})
    finally:
        sys.setprofile(None)
    return calls


def test_the_published_dictionary_is_the_one_that_is_used() -> None:
    page = (Path(__file__).parents[3] / "docs" / "claims.md").read_text(encoding="utf-8")
    for words, read_as in table():
        assert f"| {words} | {read_as} |" in page


def test_a_judged_claim_tells_how_it_was_read() -> None:
    about = {"experiment": "e", "metric": "m"}
    claim = {"kind": "value", "about": about, "is": {"between": [91, 92]}, "text": "significantly about 91-92"}
    told = {one.phrase: one.read_as for one in readings_of(read_claim(claim))}
    assert list(told) == ["significantly", "/is"]
    assert told["/is"].startswith("rounding [90.5, 92.5]: ")
    assert "bare [91, 92]: " in told["/is"]
    assert read_claim(claim | {"text": "an insignificant gap"}).strength == "numbers"


def test_an_open_experiment_is_found_by_what_a_sentence_names() -> None:
    both = (TYPES, WINDOWS)
    assert [one["kind"] for one in claims("Type 1 declines", *both)] == ["trend"]
    assert [one["kind"] for one in claims("Ratio has little impact", *both)] == ["effect"]
    assert reasons("It declines", *both) == ["names nothing of the project"]
    assert PERCENT.proportion_of == 100
