"""Read the sentences of a text as claims: by rules, the same text always in the same way.

A sentence becomes a candidate only where rules take every word of it. One that no rule takes whole stays unparsed, with
the reason: a claim that leaves out "except Type 5" would be worse than none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from registry.claims.dictionary import Reading
from registry.claims.grammar import read_claim
from registry.claims.parsing.clause import Clause, Unread
from registry.claims.parsing.clause_reader import clause_of
from registry.claims.parsing.item import Item
from registry.claims.parsing.items import items_of
from registry.claims.parsing.scope import Scope
from registry.claims.parsing.setting import Part, joined
from registry.claims.parsing.statements import statements
from registry.claims.parsing.tokens import Token, sentences, tokens_of
from registry.claims.read_as import noise_words
from registry.claims.reading import LONGEST_TEXT
from registry.errors import Invalid

_MOST_CANDIDATES = 4
"""Readings of one sentence."""
_OF_RESULTS = frozenset(("place", "name", "axis", "performance", "accuracy", "data"))


@dataclass(frozen=True, slots=True)
class Candidate:
    """A claim that a part of a text may state."""

    start: int
    end: int
    text: str
    claim: Mapping[str, Any]
    read_as: tuple[Reading, ...]


@dataclass(frozen=True, slots=True)
class Unparsed:
    """A part of a text that no rule reads, and why."""

    start: int
    end: int
    text: str
    reason: str


Stated = tuple[dict[str, Any], tuple[Reading, ...], tuple[int, int]]
"""A claim without its text, its readings, and its first token and the one after it; 0 and 0 for the whole sentence."""


def parse(text: str, scopes: Sequence[Scope], about: Mapping[str, Any]) -> tuple[list[Candidate], list[Unparsed]]:
    """The candidates of each sentence and the sentences that are none; `about` is what all of them are about, beside
    the experiment and metric of a scope."""
    candidates: list[Candidate] = []
    unparsed: list[Unparsed] = []
    headings: dict[int, Clause] = {}
    last = 0
    for tokens in sentences(text, tokens_of(text)):
        if not any(token.text[0].isalnum() for token in tokens):
            continue
        if "\n" in text[last : tokens[0].start]:
            headings = {}
        last = tokens[-1].end
        start, end = _trimmed(tokens)
        said = text[start:end]
        found: list[Candidate] = []
        reasons: dict[str, None] = {}
        for place, whole in _meant(tokens, scopes, headings):
            try:
                items = _headed(whole, scopes[place], place, headings)
                claims = _claims_of(items, headings.get(place), scopes[place], about, noise_words(said))
                found += [_candidate(text, tokens, (start, end), one) for one in claims]
            except Unread as why:
                reasons[str(why)] = None
        candidates += found[:_MOST_CANDIDATES]
        if not found:
            unparsed.append(Unparsed(start, end, said, next(iter(reasons), "names nothing of the project")))
    return candidates, unparsed


def _candidate(text: str, tokens: Sequence[Token], whole: tuple[int, int], stated: Stated) -> Candidate:
    claim, readings, (first, last) = stated
    start, end = (tokens[first].start, tokens[last - 1].end) if last else whole
    said = text[start:end]
    kept = [one for one in readings if not last or one.phrase in said]
    return Candidate(start, end, said, {**claim, "text": said[:LONGEST_TEXT]}, tuple(kept))


def _headed(items: Sequence[Item], scope: Scope, place: int, headings: dict[int, Clause]) -> Sequence[Item]:
    """The items behind a heading such as "Type 1:", which holds for the sentences after it on its line, too."""
    colon = next((at for at, item in enumerate(items) if item.kind == "mark" and item.value == ":"), None)
    if not colon:
        return items
    before = items[:colon]
    if any(item.kind in ("place", "name") for item in before):
        headings.pop(place, None)
        if any(item.kind not in ("place", "name", "fill") for item in before):
            return items
        clause = clause_of(before, scope, None)
        clause.words.add("heading")
        headings[place] = clause
    elif any(item.kind not in ("fill", "performance", "accuracy", "data") for item in before):
        return items
    return items[colon + 1 :]


def _trimmed(tokens: Sequence[Token]) -> tuple[int, int]:
    """Where the words of a sentence begin and end, without the marks of a list around them."""
    said = [token for token in tokens if token.text[0].isalnum() or token.text in "()%<>=~+-"]
    kept = [token for token in said if token.text[0].isalnum()]
    first = next((one for one in said if one.text not in ")%+-"), kept[0])
    last = next((one for one in reversed(said) if one.text not in "(<>=~+-"), kept[-1])
    return first.start, last.end


def _meant(
    tokens: Sequence[Token], scopes: Sequence[Scope], headings: Mapping[int, Clause]
) -> list[tuple[int, list[Item]]]:
    """The places of the scopes of which a sentence names the most things, with its items there; the only one in any
    case."""
    read = [items_of(tokens, scope) for scope in scopes]
    counts = [
        sum(1 for item in items if item.kind in ("place", "name", "axis") or item.value == "experiment")
        + (place in headings)
        for place, items in enumerate(read)
    ]
    most = max(counts, default=0)
    found = [(place, items) for place, items in enumerate(read) if counts[place] == most]
    return found if most or len(scopes) == 1 else []


def _claims_of(
    items: Sequence[Item], heading: Clause | None, scope: Scope, about: Mapping[str, Any], noise: Sequence[Reading]
) -> list[Stated]:
    """The claims that a sentence may state in a scope; `Unread` where there is none."""
    base = {"experiment": scope.experiment, "metric": scope.metric.name, **about}
    if "grid" in about:
        base = {"grid": about["grid"]}
    if any(item.kind == "ill_posed" for item in items):
        return [_ill_posed(items, base)]
    reads = statements(items, scope, heading)
    strength = next((read.strength for read in reads if read.strength), "noise" if noise else "")
    readings = tuple(dict.fromkeys(reading for read in reads for reading in (*read.readings, *noise)))
    found = []
    for place in range(max(len(read.parts) for read in reads)):
        parts = _flat([_about(read.parts[min(place, len(read.parts) - 1)], base, read.about) for read in reads])
        # Noise never shows that a value is one number, so that such a statement is a claim of its own.
        exact = [part for part in parts if strength and _is_exact(part)]
        rest = [part for part in parts if part not in exact]
        for some, noisy in ((rest, strength), (exact, "")):
            if some:
                claim = _lifted(joined(some))
                numbers = [item for item in items if item.kind == "number"]
                start, end = (numbers[0].start, numbers[-1].end) if some is exact and rest else (0, 0)
                found.append((_checked(claim, noisy), readings, (start, end)))
    return found


def _is_exact(part: Part) -> bool:
    return part["kind"] == "value" and ("about" in part["is"] or part["is"].get("op") == "=")


def _checked(claim: dict[str, Any], strength: str) -> dict[str, Any]:
    """The claim as it is sent, which the grammar reads."""
    claim |= {"strength": strength} if strength else {}
    try:
        read_claim(claim)
    except Invalid as error:
        raise Unread(f"would be no claim: {error.faults[0].detail}") from None
    return claim


def _ill_posed(items: Sequence[Item], base: Mapping[str, Any]) -> Stated:
    if not any(item.kind in _OF_RESULTS for item in items):
        raise Unread("names nothing of the project")
    item = next(item for item in items if item.kind == "ill_posed")
    because = item.entry.read_as if item.entry is not None else ""
    claim = {"kind": "ill_posed", "about": dict(base), "because": f"{item.phrase}: {because}"}
    return claim, (Reading(item.phrase, because),), (0, 0)


def _about(part: Part, base: Mapping[str, Any], named: Mapping[str, str]) -> Part:
    for facet, name in named.items():
        if base.get(facet, name) != name:
            raise Unread(f'names the {facet} "{name}", and the text is about "{base[facet]}"')
    whole = dict(base) if "grid" in base else {**base, **named}
    if "claims" in part:
        return {**part, "claims": [_about(one, base, named) for one in part["claims"]]}
    return {"kind": part["kind"], "about": whole, **part}


def _flat(parts: Sequence[Part]) -> list[Part]:
    """Statements that all hold, as one list."""
    return [one for part in parts for one in (part["claims"] if part["kind"] == "all_of" else [part])]


def _lifted(part: Part) -> Part:
    """What all statements are about, said once."""
    abouts = _abouts(part)
    if "claims" not in part or any(one != abouts[0] for one in abouts):
        return dict(part)
    return {"kind": part["kind"], "about": abouts[0], "claims": [_without_about(one) for one in part["claims"]]}


def _abouts(part: Part) -> list[Any]:
    return [about for one in part["claims"] for about in _abouts(one)] if "claims" in part else [part["about"]]


def _without_about(part: Part) -> Part:
    if "claims" in part:
        return {**part, "claims": [_without_about(one) for one in part["claims"]]}
    return {name: said for name, said in part.items() if name != "about"}
