"""The grammar of claims: one normal form for one statement, and a pointer to every fault."""

import copy
import random
import uuid
from typing import Any

import orjson
import pytest
from jsonschema import Draft202012Validator

from registry.claims.grammar import claim_schema, read_claim
from registry.claims.kinds import KINDS
from registry.claims.normal import digest_of, normal_form
from registry.errors import Invalid

pytestmark = pytest.mark.unit

ABOUT = {"experiment": "e", "metric": "m"}
SCHEMA = Draft202012Validator(claim_schema())
IS = {"op": ">", "number": 95.0}
CLAIMS: dict[str, dict[str, Any]] = {
    "value": {"kind": "value", "of": "mean", "is": {"between": [91, 92]}, "where": {"T": [1], "L": {"to": 4}}},
    "cells": {"kind": "cells", "is": IS, "cells_hold": "most", "for": {"T": "*"}, "holds": {"at_least": 3}},
    "extreme": {"kind": "extreme", "which": "max", "at": [{"T": 1, "L": 0.4}, {"T": "2", "L": 3}], "alone": False},
    "extreme_level": {"kind": "extreme", "which": "min", "of": "T", "stat": "first", "at": [5], "missing": "available"},
    "trend": {"kind": "trend", "along": "L", "goes": "up_down", "turn": 0.4, "for": {"T": [1, 7]}},
    "flat": {"kind": "trend", "along": "L", "goes": "flat", "margin": 2},
    "step": {"kind": "step", "along": "L", "from": 8, "to": 11, "goes": "down", "size": IS, "largest": True},
    "isolated": {"kind": "extreme", "which": "max", "at": [{"T": 1, "L": 0.4}], "isolated": 0},
    "onset": {"kind": "step", "along": "L", "goes": "down", "onset": 8, "margin": 2},
    "lie": {"kind": "lie", "lowest": 3, "inside": [{"T": [1], "L": {"to": 9}}], "cells_hold": {"share": 0.8}},
    "stable": {"kind": "stable", "along": "L", "within": 2, "for": {"T": "*"}},
    "compare": {
        "kind": "compare", "left": {"model": ["A"]}, "right": {"model": ["B"]}, "is": "better",
        "by": {"op": ">=", "number": 2, "unit": "factor"}, "everywhere": "most",
    },
    "gap": {
        "kind": "compare", "of": "gap", "ahead": {"model": ["A"]}, "behind": {"model": ["B"]},
        "left": {"benchmark": ["X"]}, "right": {"benchmark": ["Y"]}, "is": "better", "by": {"op": ">=", "number": 2},
    },
    "rank": {"kind": "rank", "by": "T", "name": 6, "place": 3, "top": True, "high_first": False},
    "effect": {"kind": "effect", "axes": ["T", "L"], "is": "small", "within": 3},
    "interaction": {"kind": "effect", "axes": ["T", "L"], "is": "present", "interaction": True},
    "sweet_spot": {"kind": "sweet_spot", "at": [{"T": 1, "L": 0.4}, {"T": 2}]},
    "coverage": {"kind": "coverage", "axis": "T", "is": "levels", "levels": [1, 2]},
    "grid": {"kind": "value", "is": IS, "about": {"grid": str(uuid.UUID(int=7))}},
    "ill_posed": {"kind": "ill_posed", "because": "a cause"},
    "not": {"kind": "not", "claims": [{"kind": "any_of", "claims": [{"kind": "value", "is": IS}]}]},
}  # fmt: skip


def said(name: str, **more: Any) -> dict[str, Any]:
    return copy.deepcopy({"about": ABOUT, **CLAIMS[name], **more})


def faults(claim: Any) -> dict[str, str]:
    with pytest.raises(Invalid) as refused:
        read_claim(claim)
    return {fault.pointer: fault.detail for fault in refused.value.faults}


def test_the_normal_form_of_a_normal_form_is_itself(subtests, snapshot) -> None:
    for name in CLAIMS:
        with subtests.test(msg=name):
            claim = read_claim(said(name))
            written = normal_form(claim)
            assert written == snapshot(name=name)
            again = read_claim(orjson.loads(orjson.dumps(written)))
            assert again == claim
            assert normal_form(again) == written
    assert {claim["kind"] for claim in CLAIMS.values()} >= KINDS.keys()


def test_one_statement_has_one_digest() -> None:
    first = said("cells", where={"A": ["1", "0.5"], "B": {"from": 1, "to": 2}}, alpha=0.05)
    second = said(
        "cells", where={"B": {"to": 2.0, "from": 1.0}, "A": [0.5, 1]}, text="as somebody put it", source={"line": 3}
    )
    assert digest_of(read_claim(first)) == digest_of(read_claim(second))
    for other in (
        {"alpha": 0.01},
        {"strength": "noise"},
        {"where": {"A": [1]}},
        {"is": {"op": ">=", "number": 95.0}},
    ):
        assert digest_of(read_claim(first | other)) != digest_of(read_claim(first))


def test_the_former_word_of_missing_is_read() -> None:
    former = read_claim(said("extreme_level", missing="observed"))
    assert former == read_claim(said("extreme_level")) != read_claim(said("extreme_level", missing="matched"))


def test_decimals_are_part_of_a_number() -> None:
    rounds = {text: read_claim(said("value", **{"is": orjson.loads(text)})).says.says.is_.ends() for text in (
        '{"op": "=", "number": 84}', '{"op": "=", "number": 84.0}', '{"op": "=", "number": 84.0, "decimals": 2}',
        '{"between": [91, 92.5]}', '{"about": 84, "within": 3}')}  # fmt: skip
    assert [ends[:2] for ends in rounds.values()] == [
        (83.5, 84.5), (83.95, 84.05), (83.995, 84.005), (90.95, 92.55), (81.0, 87.0)
    ]  # fmt: skip


CHANGES: dict[str, list[dict[str, Any]]] = {
    "value": [{"kind": "vlue"}, {"wher": {}}, {"about": {"experiment": "e"}}, {"about": {"grid": "x"}},
        {"where": {"L": {"from": 3, "to": 2}}}, {"where": {"L": {"to": -1}}, "is": None}, {"where": {"a/b": []}},
        {"where": {"L": {"until": 2}}}, {"is": {"between": [2, 1]}}, {"is": {"op": "=", "number": float("nan")}},
        {"is": {"op": "=", "number": float("inf")}}, {"is": {"op": "=", "number": True}},
        {"is": {"op": "==", "number": 1}}, {"is": {"op": "=", "number": 1, "unit": "percent"}}, {"is": {"number": 1}},
        {"along": "L"}, {"holds": "any"}, {"alpha": 1}, {"text": "x" * 2001}, {"revision": 3},
        {"about": ABOUT | {"revision": 3}}, {"looks": "sometimes"}],
    "cells": [{"holds": {"at_least": 3}, "for": {"T": [1, 2]}}, {"holds": {"at_least": 0}}, {"holds": {"share": 1.5}},
        {"holds": "some"}, {"for": {"T": list(range(101)), "L": list(range(100))}, "holds": "all"},
        {"where": {"T": [1]}}],
    "stable": [{"except": [1]}],
    "extreme": [{"at": [1]}],
    "extreme_level": [{"at": [{"T": 1}]}, {"isolated": 1}],
    "flat": [{"margin": None}],
    "trend": [{"margin": 1}, {"goes": "up"}],
    "compare": [{"margin": 2}, {"is": "equal"}, {"right": {"model": ["A"]}},
        {"by": {"op": ">", "number": 1, "unit": "metres"}}, {"ahead": {"T": [1]}}],
    "lie": [{"highest": 2}, {"inside": [{}]}],
    "coverage": [{"is": "span", "levels": [1, 2, 3]}, {"is": "most"}, {"is": "span", "axis": None, "levels": [1, 2]}],
    "rank": [{"place": 0}],
    "grid": [{"about": CLAIMS["grid"]["about"] | {"model": "A"}}],
    "sweet_spot": [{"at": []}, {"at": [1]}, {"criterion": "regret"}],
    "isolated": [{"isolated": -1}],
    "step": [{"to": None, "from": None}, {"onset": 8}, {"margin": 2}],
    "onset": [{"size": IS}, {"largest": True}, {"from": 2}],
    "gap": [{"ahead": None}, {"behind": {}}, {"behind": {"model": ["A"]}},
        {"by": {"op": ">", "number": 1, "unit": "factor"}}, {"everywhere": "all"}, {"left": {"model": ["A"]}},
        {"of": "median"}],
    "interaction": [{"axes": ["T"]}, {"axes": ["T", "T"]}],
}  # fmt: skip
"""What makes the examples of these names claims that cannot be read."""
UNREAD: list[Any] = [
    {"kind": "value", "is": IS},
    {"kind": "not", "about": ABOUT, "claims": [said("value"), said("value")]},
    {"kind": "all_of", "claims": []},
    {"kind": "all_of", "where": {}, "claims": [said("value")]},
    "Type 1 falls",
    None,
    [],
]


def test_what_cannot_be_read_is_pointed_at(subtests, snapshot) -> None:
    given = {str(claim): claim for claim in UNREAD}
    for name, changes in CHANGES.items():
        given |= {f"{name} with {str(change)[:80]}": said(name, **change) for change in changes}
    for name, claim in given.items():
        with subtests.test(msg=name):
            assert faults(claim) == snapshot(name=name)


def test_the_schema_takes_every_claim_that_is_read(subtests) -> None:
    Draft202012Validator.check_schema(SCHEMA.schema)
    for name, bare in CLAIMS.items():
        with subtests.test(msg=name):
            whole = said(name, text="As it stands.", source={"url": "README.md", "line": 3})
            for claim in (bare, whole, normal_form(read_claim(whole))):
                SCHEMA.validate(orjson.loads(orjson.dumps(claim)))


MISSHAPEN: list[tuple[str, dict[str, Any]]] = [
    ("value", {"kind": "vlue"}), ("value", {"kind": None}), ("value", {"wher": {}}), ("value", {"is": None}),
    ("value", {"is": {"op": "=="}}), ("value", {"is": {"between": [1]}}), ("value", {"is": {"op": "=", "about": 1}}),
    ("value", {"is": {"op": "=", "number": 1, "unit": "percent"}}), ("value", {"text": "x" * 2001}),
    ("value", {"alpha": 1}), ("value", {"where": {"T": []}}), ("value", {"where": {"T": {}}}),
    ("value", {"about": {"experiment": "e"}}), ("value", {"about": {"grid": "x", "model": "A"}}),
    ("cells", {"holds": "some"}), ("cells", {"for": {}}), ("trend", {"goes": "down_and_up"}),
    ("trend", {"monotone": 1}), ("compare", {"left": None}), ("rank", {"place": 0}), ("coverage", {"level": [1]}),
    ("not", {"claims": []}), ("not", {"claims": [CLAIMS["value"], CLAIMS["value"]]}), ("not", {"where": {}}),
    ("not", {"claims": [{"kind": "value", "is": IS, "strength": "noise"}]}),
]  # fmt: skip


def test_the_schema_refuses_what_has_another_shape_as_the_grammar_does(subtests) -> None:
    for name, change in MISSHAPEN:
        with subtests.test(msg=name, change=str(change)[:80]):
            assert faults(said(name, **change))
            assert not SCHEMA.is_valid(said(name, **change))


def nested(depth: int) -> dict[str, Any]:
    return said("value") if depth == 1 else {"kind": "not", "claims": [nested(depth - 1)]}


def test_limits_of_a_claim() -> None:
    read_claim(nested(4))
    assert "nested deeper" in next(iter(faults(nested(5)).values()))
    several = {"kind": "all_of", "claims": [{"kind": "all_of", "claims": [said("value")] * 32}] * 2}
    read_claim(several)
    several["claims"].append(said("value"))
    assert faults(several) == {"": "has 65 statements; at most 64 are judged together"}


def test_parts_of_a_compound_share_what_it_is_about() -> None:
    claim = {"kind": "all_of", "about": ABOUT, "claims": [{"kind": "value", "is": IS}, said("value")]}
    apart = {"kind": "all_of", "claims": [{"kind": "value", "is": IS, "about": ABOUT}, said("value")]}
    assert digest_of(read_claim(claim)) == digest_of(read_claim(apart))


ODD = (None, True, -1, 0, 0.5, 1e308, 10**30, float("nan"), "", "x", "*", "mean", "\0", "é" * 300, [], {}, [[]], [None],
       {"": 1}, {"from": "x"}, ["a", 1], {"kind": "value"})  # fmt: skip


def places(value: Any) -> list[tuple[Any, Any]]:
    """Every container in a document with a key or position in it."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [pair for key, inner in items for pair in [(value, key), *places(inner)]]


def test_any_json_is_a_claim_or_refused_with_pointers() -> None:
    draw, read = random.Random(0), 0
    for name in CLAIMS:
        for _ in range(60):
            claim = said(name)
            for _ in range(draw.choice([1, 1, 2, 4])):
                holder, key = draw.choice(places(claim))
                holder[key] = copy.deepcopy(draw.choice(ODD))
                if isinstance(holder, dict) and draw.random() < 0.2:
                    name_of = draw.choice(["for", "holds", "where", "claims", "kind", "x/y"])
                    holder[name_of] = copy.deepcopy(draw.choice(ODD))
            try:
                found = read_claim(claim)
            except Invalid:
                assert all(pointer == "" or pointer.startswith("/") for pointer in faults(claim))
            else:
                read += 1
                assert "None" in str(claim) or SCHEMA.is_valid(claim), claim
                assert read_claim(orjson.loads(orjson.dumps(normal_form(found)))) == read_claim(normal_form(found))
                assert normal_form(read_claim(normal_form(found))) == normal_form(found)
    assert read
