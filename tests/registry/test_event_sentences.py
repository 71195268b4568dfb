"""The catalogue of events names every type once, with who reads it; and each has a sentence, safe and bounded."""

import dataclasses
import re
import types
import typing
from collections.abc import Mapping
from typing import Any, Literal, get_args, get_origin, get_type_hints

import pytest
from syrupy.assertion import SnapshotAssertion

from registry.results.event_data import Move
from registry.results.event_sentences import event_sentence
from registry.results.events import CATALOGUE, TYPES
from registry.results.judgement import Target, plain
from registry.results.target_pages import page_of_event, page_of_target
from registry.results.webhooks import TEST
from tests import ROOT

GRID = {
    "grid": "8c7c2f0e-4f5d-4c39-9d57-0a4f6b8f0e11",
    "revision": 3,
    "experiment": "type-by-length",
    "benchmark": "Core Generalization",
    "model": "Qwen-2.5 3B",
    "variant": "",
    "metric": "accuracy",
}
CLAIM = {"claim": "c1", "text": "A wins."}
JUDGED = CLAIM | {"judgement": 2, "verdict": "contradicted", "experiment": "E", "metric": "m"}
GATE = {"baseline": "main", "contender": "B", "passes": False, "sentence": "B is 2 points worse.", "metric": "m"}
ALERT = {"alert": "a", "baseline": "main", "model": "B", "state": "open", "reopened": 0}
RANKED = {"experiment": "E", "metric": "m", "leaders": ["A", "B", "C"], "leader_count": 5, "first": False}
EXAMPLES: Mapping[str, Mapping[str, Any]] = {
    "grid.published": GRID,
    "grid.revised": GRID,
    "grid.updated": GRID,
    "grid.deleted": GRID,
    "grid.restored": GRID | {"variant": "v"},
    "grid.purged": {"grid": "g"},
    "items.added": GRID | {"set": "S", "cells": 1},
    "statistics.ready": GRID,
    "statistics.failed": GRID | {"reason": "It took too long."},
    "ranking.changed": RANKED
    | {"moved": [{"name": "A", "before": 2, "now": 1}, {"name": "D", "before": 1, "now": None}], "moved_count": 4},
    "claim.created": CLAIM,
    "claim.deleted": CLAIM,
    "claim.restored": {"claim": "c1", "text": ""},
    "claim.judged": JUDGED,
    "claim.flipped": JUDGED | {"before": "not_decidable", "beyond_noise": "not_decidable"},
    "baseline.set": {"baseline": "main", "version": 2},
    "baseline.deleted": {"baseline": "main", "version": 2},
    "gate.verdict": GATE | {"verdict": "regressed"},
    "alert.opened": ALERT | {"reopened": 1, "benchmark": "Q", "at": {"Length": 9, "Type": "1"}},
    "alert.acknowledged": ALERT,
    "alert.dismissed": ALERT | {"reason": "fixed_elsewhere"},
    "alert.resolved": ALERT | {"resolution": "passed"},
    "import.finished": {"source": "runs.csv", "format": "csv", "sources": 3, "new": 1200, "unchanged": 0, "failed": 1},
    "alias.created": {"alias": "q", "name": "Qwen", "kind": "model"},
    "alias.deleted": {"alias": "q", "name": "Qwen", "kind": "variant"},
    "suite.set": {"suite": "S"},
    "suite.deleted": {"suite": "S"},
    "experiment.updated": {"experiment": "E"},
    "experiment.protocol_set": {"experiment": "E"},
    "project.updated": {"changed": ["name", "visibility"]},
    "share.created": {"share": "s", "path": "/grids/1", "expires_at": "2026-12-01T00:00:00Z"},
    "share.revoked": {"share": "s"},
    "token.created": {"token": "t", "name": "ci", "role": "writer"},
    "token.revoked": {"token": "t"},
    "webhook.disabled": {"webhook": "w", "reason": "It is gone."},
}
HOSTILE = "a\r\nb\x1b[2J\x07\x9b\u202ec\u2028d\ufffe" + "e" * 5_000


def filled(kind: type, text: str) -> dict[str, Any]:
    """Data of a type of event whose every text is this one."""
    hints = get_type_hints(kind)
    return {one.name: value(hints[one.name], text) for one in dataclasses.fields(kind)}


def value(hint: Any, text: str) -> Any:
    origin, inside = get_origin(hint), get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return value(inside[0], text)
    if origin is tuple:
        return [value(inside[0], text)] * 5
    if origin is Literal or hint is str:
        return text
    if hint is Move:
        return filled(Move, text)
    return {int: 7, bool: True, float: 0.5}.get(hint, {text: text})


def test_every_type_of_the_catalogue_has_a_sentence_of_its_own(snapshot: SnapshotAssertion) -> None:
    assert tuple(EXAMPLES) == tuple(CATALOGUE)
    assert {type_: event_sentence(type_, data).text for type_, data in EXAMPLES.items()} == snapshot


def test_a_purged_event_says_what_happened_and_that_the_rest_is_gone(subtests: pytest.Subtests) -> None:
    for type_, kind in CATALOGUE.items():
        with subtests.test(type_):
            found = event_sentence(type_, {})
            assert found.text == f"{kind.description[:-1]} (what it named was removed for good)"
            assert found.target is None
            assert page_of_event("demo", 7, found) == "/projects/demo/events?before=8"


def test_what_people_wrote_is_cut_and_has_no_line_end_and_no_control_character(subtests: pytest.Subtests) -> None:
    for type_, kind in CATALOGUE.items():
        with subtests.test(type_):
            found = event_sentence(type_, filled(kind.data, HOSTILE))
            for part in (found.before, found.about, found.after, found.beside):
                assert len(part) < 1_500
                assert all(one.isprintable() for one in part), part
            assert "a b\ufffd[2J\ufffd\ufffd\ufffdc d" in found.text or type_ == "grid.purged"


def test_data_that_say_less_or_other_things_than_they_should_are_still_a_sentence(subtests: pytest.Subtests) -> None:
    for type_ in CATALOGUE:
        for data in ({"new": 1}, {"moved": 3, "leaders": "x", "at": [], "text": 5, "changed": None}):
            with subtests.test(type_, **data):
                assert event_sentence(type_, data).head[:1].isupper()


def test_a_first_ranking_a_first_judgement_and_a_first_baseline_say_so() -> None:
    first = {"experiment": "E", "metric": "m", "leaders": ["A"], "leader_count": 1, "first": True}
    ranked = event_sentence("ranking.changed", first)
    assert ranked.text == "The ranking of E by m was computed for the first time (first in order: A)"
    apart = event_sentence("ranking.changed", RANKED | {"moved": [], "moved_count": 0})
    assert apart.text.endswith(
        "(first in order: A, B, C and 2 more; all keep their ranks, and other names are told apart)"
    )
    told_of = {"": "", "contradicted": " beyond noise", "supported": " as posted and supported beyond noise"}
    for noise, told in told_of.items():
        judged = JUDGED | {"judgement": 1, "beyond_noise": noise}
        assert event_sentence("claim.judged", judged).head == f"The claim “A wins.” is contradicted{told}"
    assert event_sentence("baseline.set", {"baseline": "main", "version": 1}).text == "The baseline main was created"


def test_a_newer_type_is_told_by_its_name_and_what_its_data_name() -> None:
    assert event_sentence("report.signed_off", {}).text == "Report signed off (what it named was removed for good)"
    told = event_sentence("grid.frozen", GRID | {"by": "x"})
    assert told.text == (
        "Grid frozen (experiment type-by-length, benchmark Core Generalization, model Qwen-2.5 3B, metric accuracy)"
    )
    assert event_sentence("claim.praised", {"text": "It is good.", "id": "1"}).text == "Claim praised (It is good)"
    assert event_sentence(TEST, {"webhook": "w"}).text == "This is a test: the webhook works"


def test_what_a_verdict_says_is_a_tone() -> None:
    assert event_sentence("claim.flipped", JUDGED).tone == "bad"
    assert event_sentence("claim.flipped", JUDGED | {"verdict": "supported"}).tone == "good"
    assert event_sentence("gate.verdict", GATE | {"passes": True}).tone == "good"
    for verdict, said in (("inconclusive", "not decided"), ("not_comparable", "not comparable")):
        open_ = event_sentence("gate.verdict", GATE | {"passes": None, "verdict": verdict})
        assert (open_.head, open_.tone) == (f"The baseline main judged B: {said}", "")
    assert event_sentence("alert.opened", ALERT).tone == "bad"


def test_a_sentence_leads_to_the_page_of_what_it_is_about() -> None:
    found = {type_: event_sentence(type_, data).target for type_, data in EXAMPLES.items()}
    assert found["grid.published"] == Target("grid", GRID["grid"])
    assert found["grid.deleted"] is found["claim.deleted"] is found["baseline.deleted"] is None
    assert found["claim.flipped"] == Target("claim", "c1")
    assert found["ranking.changed"] == Target("ranking", "E", "m")
    assert found["gate.verdict"] == found["alert.opened"] == Target("baseline", "main")
    assert found["alias.created"] == Target("model", "Qwen")
    # Variants have no page.
    assert found["alias.deleted"] is None


def test_a_page_is_an_encoded_path() -> None:
    for target, path in (
        (Target("grid", "1/../2"), "/grids/1%2F..%2F2"),
        (Target("claim", "c"), "/claims/c"),
        (Target("ranking", "a b", "m&n"), "/projects/demo/rankings?experiment=a+b&metric=m%26n"),
        (Target("baseline", "a/b?c"), "/projects/demo/baselines/a%2Fb%3Fc"),
        (Target("project"), "/projects/demo"),
        (Target("model", "org/name 1"), "/projects/demo/models/org/name%201"),
        (Target("benchmark", "../x"), "/projects/demo/benchmarks?name=..%2Fx"),
        (Target("experiment", "a//b"), "/projects/demo/grids?experiment=a%2F%2Fb"),
    ):
        assert str(page_of_target("demo", target)) == path


def test_a_text_keeps_its_letters_and_is_cut_with_an_ellipsis() -> None:
    family = "\U0001f469\u200d\U0001f469\u200d\U0001f467 می\u200cخواهم"
    assert plain(f"  {family}\t\n x ", 100) == f"{family} x"
    assert plain("a" * 10, 10) == "a" * 10
    assert plain("a" * 11, 10) == "a" * 9 + "…"


def test_the_page_about_events_names_every_type_and_who_reads_it() -> None:
    page = (ROOT / "docs" / "events.md").read_text()
    rows = re.findall(r"^\| `(\w+)` \| (.+) \| (.*) ?\|$", page.partition("## Types")[2], re.MULTILINE)
    readers = {f"{kind}.{one}": told.strip() for kind, types, told in rows for one in re.findall(r"`(\w+)`", types)}
    assert tuple(readers) == TYPES == tuple(CATALOGUE)
    closed = {name for name, kind in CATALOGUE.items() if kind.reader == "admin"}
    assert {name for name, told in readers.items() if told == "for administrators"} == closed
