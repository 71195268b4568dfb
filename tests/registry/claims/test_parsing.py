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
STEPS = Axis("Step", "numeric", tuple(Level(str(number), float(number)) for number in range(3_000)))
KINDS = Axis("Kind", "nominal", tuple(Level(f"kind {number}") for number in range(3_000)))
LARGE = scope(STEPS, KINDS, TYPE, models="(a+)+$,.*,A," + "a b" * 20)


SENTENCES = """\
Type 1: general downward trend
Type 1 never falls.
Type 1 is 99.3 % at Length 0
Type 1 drops by over 10 points
Type 3 dips into the mid-80s
Type 4 is mostly in the 91–92% range
Type 6 is consistently above 97%
Type 4: Sharp drop at Length 11
Type 7 is robust up to Length 4
Most types decline
All types except 5 decline with length
No type declines
Type 1 does not decline
Types 1 and 7 show clear degradation
Type 5 shows the lowest initial accuracy
Type 5 starts at 80.3 at Length 7
Type 5 ends at 89.7 at Length 19
no data beyond 17
Type 5 only has data for longer lengths (7-19)
Cells >98% only in Types 1, 2 and 6
Significant variability across the Types
Type 1 should improve
R1-Qwen outperforms R1-Llama by at least 6 points on AIME24
R1-Qwen beats R1-Llama on 3 of 4 benchmarks
On AMC23, R1-Qwen is comparable to R1-Llama
R1-Qwen outperforms all other models
The best window is 2000
Ratio has little impact
AIME’24, R1-Llama: increases up to 0.4, then decreases at window 2000
R1-Llama on AIME24: peak at (2000, 0.4)
Type 1: declines to the low 80s by Length 9
Type 6 is the top performer, while Type 5 shows the lowest initial accuracy
R1-Qwen is better than R1-Llama by over 5%
Type 6 has the highest accuracy
""".splitlines()
"""The last four are two statements each, or can be read in two ways."""


def test_sentences_come_to_claims(subtests, snapshot) -> None:
    for text in SENTENCES:
        with subtests.test(text=text):
            found = claims(text, WINDOWS if "R1" in text or "window" in text or "Ratio" in text else TYPES)
            assert found == snapshot(name=text)
            for one in found:
                read_claim(one | {"about": {"experiment": "e", "metric": "accuracy"}})


def test_the_mark_of_a_list_is_no_part_of_a_sentence() -> None:
    said = "Type 1 never falls."
    for mark in ("* ", "- ", "+ ", "  - ", "> ", "> - "):
        assert claims(f"{mark}{said}\n{mark}{said}") == [*claims(said), *claims(said)], mark


def test_a_heading_holds_for_its_line() -> None:
    found = claims("* **Type 1:** declines. It ends at 83.7.\nIt declines.")
    assert [one["where"] for one in found] == [{"Type": ["1"]}] * 2


def test_a_number_beside_a_word_that_asks_for_noise_is_a_claim_of_its_own() -> None:
    text = "Type 4: Sharp drop at Length 11 (63.3%)"
    found = parse(text, [TYPES], {})[0]
    assert [(one.text, one.claim["kind"], one.claim.get("strength")) for one in found] == [
        (text[: one.end] if place == 0 else "63.3%", kind, strength)
        for place, (one, kind, strength) in enumerate(zip(found, ("step", "value"), ("noise", None), strict=True))
    ]


UNPARSED = """\
Type 1 declines, except at Length 7
Type 1 declines but not for long lengths
Type 1 declines while Type 2 zigzags
If lengths grow, Type 1 declines
Type 1 is 99.3 at Length 0 or 96.7 at Length 1
Type 99 declines
Type 1 peaks at Length 42
general downward trend
Type 1 falls below 90% at Length 4
Type 1 declines at high lengths
Type 1 is 83.7
Types decline
All types except 5 and 6 decline
4 of 9 types decline
The sky is blue
Type 1 is not never stable
Type 1 at Length 9 is 0.837x
Mostly 3 of 7 types mostly decline
""".splitlines()


def test_what_no_rule_covers_whole_is_unparsed(subtests, snapshot) -> None:
    for text in UNPARSED:
        with subtests.test(text=text):
            found, [left] = parse(text, [TYPES], {})
            assert not found
            assert left.text == text
            assert left.reason == snapshot(name=text)


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


def test_every_candidate_is_a_claim_of_what_there_is() -> None:
    chance = random.Random(0)
    for _ in range(700):
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


UNITS = [
    "Type 1, ", "and ", "(", "1,", "-", "Step 1-2999, ", "kind 1, kind ", "91-92% ", "most of the ", "<b>Type 1</b> ",
    "\u202eType 1\u202c ", "a\u0301", "Type 1 falls. ", "Type 1: ", "of ", "1.2.3.", "(a+)+$ ", "a", "'", "3 of 4 ",
]  # fmt: skip


def test_the_work_grows_with_the_text(subtests) -> None:
    parse("Type 1", [LARGE], {})  # builds its index of names, which no text makes longer
    for unit in UNITS:
        with subtests.test(unit=unit):
            work = [_work((unit * 800)[:length], LARGE) for length in (200, 800)]
            assert work[1] <= 4.5 * work[0] + 500


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
