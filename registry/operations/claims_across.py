"""Claims across experiments or metrics: each statement is judged where its grids are, and the verdicts are joined.

Every statement has the same part of the claim's alpha, so that all confidence sets hold together with a probability of
1 - alpha, and so does the verdict that follows from them by Kleene's logic (Bonferroni's inequality).
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection

from registry.claims.claim import Atom, Claim, Part, atoms_of, denials_of
from registry.claims.grammar import read_claim
from registry.claims.normal import digest_of, normal_form
from registry.operations.claims import known_grids
from registry.operations.names import joined_names
from registry.results.codec import to_document
from registry.results.judgement import Judgement, Verdict

MOST_PARTS, MOST_INPUTS = 100, 1_000
_TRUTH = {"contradicted": -1, "not_decidable": 0, "supported": 1}
_VERDICTS: Mapping[int, Verdict] = {-1: "contradicted", 0: "not_decidable", 1: "supported"}
_WORDS = {-1: "Contradicted", 0: "Not decidable", 1: "Supported"}
Placed = tuple[str, Claim]
"""A claim with its JSON pointer in what was sent."""


def apart(connection: Connection, project_id: uuid.UUID, claims: Sequence[Placed]) -> list[list[Placed]]:
    """For each claim what is judged in its place: itself, or each of its statements where these are about several
    experiments or metrics."""
    joined = joined_names(connection, project_id)
    known = known_grids(connection, project_id, claims)

    def scope(atom: Atom) -> tuple[str, str]:
        of = known.get(atom.about.grid, atom.about)
        return joined.get(("experiment", of.experiment), of.experiment), of.metric

    several = [len({scope(atom) for _, atom in atoms_of(claim.says)}) > 1 for _, claim in claims]
    return [list(_statements(*one)) if split else [one] for one, split in zip(claims, several, strict=True)]


def _statements(pointer: str, claim: Claim) -> Iterator[Placed]:
    atoms = list(atoms_of(claim.says))
    # What was measured is no matter of noise, and takes nothing of alpha.
    noisy = max(1, sum(atom.kind != "coverage" for _, atom in atoms))
    yield from ((pointer + at, replace(claim, says=atom, alpha=claim.alpha / noisy)) for at, atom in atoms)


def joined_judgement(claim: Claim, judged: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The judgement on a claim from those on its statements, in their order."""
    answers = {layer: [_TRUTH.get(one[layer], 0) for one in judged] for layer in ("as_posted", "beyond_noise")}
    posted, noise = (_joined(claim.says, iter(answers[layer])) for layer in ("as_posted", "beyond_noise"))
    headline = noise if claim.strength == "noise" else posted
    ill_posed = any(one["verdict"] == "ill_posed" for one in judged)
    # What may be otherwise in a statement is taken as open: the joined verdict stays only where it does not matter.
    both = list(zip(answers["as_posted"], judged, strict=True))
    declared = _joined(claim.says, iter([truth if one["robust_to_missing"] else 0 for truth, one in both]))
    bare = _joined(claim.says, iter([0 if one["depends_on_reading"] else truth for truth, one in both]))
    plain = read_claim(_document(claim, judged))
    pointers = [pointer for pointer, _ in atoms_of(claim.says)]
    parts = [
        {**part, "part": pointer + part["part"]}
        for pointer, one in zip(pointers, judged, strict=True)
        for part in one["parts"]
    ]
    told: Any = lambda truth: "ill_posed" if ill_posed else _VERDICTS[truth]  # noqa: E731
    found = Judgement(
        claim=normal_form(plain),
        digest=digest_of(plain),
        verdict=told(headline),
        as_posted=told(posted),
        beyond_noise=told(noise),
        reason=None if ill_posed else _reason(judged, headline, noise, claim.strength),
        robust_to_missing=None if ill_posed or posted == 0 else declared == posted,
        depends_on_reading=not ill_posed and bare != posted,
        alpha=claim.alpha,
        parts=tuple(parts[:MOST_PARTS]),  # type: ignore[arg-type]
        parts_left_out=sum(one["parts_left_out"] for one in judged) + max(0, len(parts) - MOST_PARTS),
        inputs=tuple(_each_once(judged, "inputs"))[:MOST_INPUTS],
        sentence="Ill-posed: no results can decide this sentence."
        if ill_posed
        else _sentence(claim, answers, posted, noise),
        warnings=tuple(_each_once(judged, "warnings")),
        methods_version=judged[0].get("methods_version"),
        computed_at=min((one["computed_at"] for one in judged if "computed_at" in one), default=None),
    )
    document: dict[str, Any] = to_document(found)
    return document


def _joined(part: Part, answers: Iterator[int]) -> int:
    """Kleene's logic on -1 for false, 0 for open and 1 for true."""
    if isinstance(part, Atom):
        return next(answers)
    found = [_joined(one, answers) for one in part.claims]
    return -found[0] if part.kind == "not" else min(found) if part.kind == "all_of" else max(found)


def _document(claim: Claim, judged: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    statements = iter([{name: said for name, said in one["claim"].items() if name not in ("strength", "alpha")}
                       for one in judged])  # fmt: skip

    def written(part: Part) -> dict[str, Any]:
        if isinstance(part, Atom):
            return next(statements)
        return {"kind": part.kind, "claims": [written(one) for one in part.claims]}

    return written(claim.says) | {"strength": claim.strength, "alpha": claim.alpha}


def _reason(judged: Sequence[Mapping[str, Any]], headline: int, noise: int, strength: str) -> str | None:
    """Why the headline is not decided, else why noise does not decide."""
    if 0 not in (headline, noise):
        return None
    layer = "as_posted" if headline == 0 and strength == "numbers" else "beyond_noise"
    reasons = (one["reason"] for one in judged if one[layer] == "not_decidable")
    return next(filter(None, reasons), "missing_cells")


def _each_once(judged: Sequence[Mapping[str, Any]], field: str) -> list[Any]:
    found: list[Any] = []
    for one in judged:
        found += [item for item in one.get(field, ()) if item not in found]
    return found


def _sentence(claim: Claim, answers: Mapping[str, Sequence[int]], posted: int, noise: int) -> str:
    wanted = [-1 if denied else 1 for denied in denials_of(claim.says)]
    held, shown = (
        sum(answer == one for answer, one in zip(answers[layer], wanted, strict=True))
        for layer in ("as_posted", "beyond_noise")
    )
    count = len(wanted)
    if claim.strength == "noise":
        return (
            f"{_WORDS[noise]} beyond noise: {shown} of {count} statements are shown. "
            f"As posted it is {_WORDS[posted].lower()}: {held} of {count} hold."
        )
    return (
        f"{_WORDS[posted]} as posted: {held} of {count} statements hold. "
        f"{_WORDS[noise]} beyond noise: {shown} of {count} are shown."
    )
