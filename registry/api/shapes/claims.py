"""Shapes of claims as they are sent, and of the answer to a list of them."""

from __future__ import annotations

from registry.api.shapes.words import (
    COUNT,
    DIGEST,
    ID,
    INSTANT,
    NULLABLE_TEXT,
    PLAIN,
    STATE,
    TEXT,
    Shape,
    array_of,
    described,
    may,
    nullable,
    object_of,
    one_of,
    page,
    record,
    ref,
)
from registry.claims.grammar import COMPOUND, MOST_CLAIMS
from registry.claims.kinds import KINDS


def _counted(shape: Shape) -> Shape:
    counts = described(ref("VerdictCounts"), "Of all that the filters but `verdict` find.")
    return shape | {
        "required": [*shape["required"], "counts"],
        "properties": shape["properties"] | {"counts": counts},
    }


CLAIMS: dict[str, Shape] = {
    "Claim": described(
        object_of(
            "kind",
            kind=described(one_of(*KINDS, *COMPOUND), "What is said; every kind has fields of its own."),
            about=described(
                {"type": "object"},
                '`{"grid": id}`, or `experiment`, `metric` and, where only some '
                "grids are meant, `benchmark`, `model`, `variant`. Parts of a compound may leave it to the whole.",
            ),
            claims=described(array_of({"type": "object"}), "The parts of `all_of`, `any_of` and `not`."),
            strength=described(one_of("numbers", "noise"), "Which layer is the verdict; `numbers` if not given."),
            looks=described(
                one_of("fixed", "every_revision"),
                "What alpha is of: this revision, if not given, or all revisions together.",
            ),
            text=described(TEXT | {"maxLength": 2000}, "The sentence as it was written."),
        )
        | {"additionalProperties": True},
        "A statement about results: the fields of each kind are in `getClaimSchema`, with examples in docs/claims.md.",
    ),
    "Judgements": record(
        f"Verdicts on up to {MOST_CLAIMS} claims.",
        items=described(array_of(ref("Judgement")), "In the order of the claims."),
    ),
    "ClaimSource": described(
        {
            "type": "object",
            "properties": {
                "url": described(TEXT | {"maxLength": 2000}, "Address of the text, or path of the file."),
                "line": described(COUNT, "Its line there."),
                "digest": described(TEXT, "Of the text, as whoever posted it computes one."),
            },
            "additionalProperties": False,
        },
        "Where a claim stands.",
    ),
    "StoredClaim": record(
        "A claim that is kept, with its latest judgement.",
        id=described(ID, "The claim's id."),
        project=described(TEXT, "The project's slug."),
        experiment=described(TEXT, "As the claim names it, or its grid does."),
        metric=described(TEXT, "The metric's name."),
        claim=described(PLAIN, "The statement in its normal form, as it was posted."),
        digest=described(DIGEST, "SHA-256 of the normal form: one claim of a project has it."),
        text=described(TEXT, "The sentence as it is written; empty: not given."),
        source=ref("ClaimSource"),
        state=described(
            STATE, "`ready`: the judgement is of the grids as they are now; `pending`: it may be of former ones."
        ),
        failure=described(NULLABLE_TEXT, "Why judging failed; null where it did not."),
        verdict=described(nullable(ref("Verdict")), "Of the latest judgement; null: not judged yet."),
        judgement=described(
            nullable(ref("Judgement")), "The latest one; in lists without its parts and inputs. null: none yet."
        ),
        judgement_number=described({"type": ["integer", "null"]}, "Its number, counted from 1."),
        judged_at=described(nullable(INSTANT), "When it was first found."),
        checked_at=described(nullable(INSTANT), "When it was last found to be so; null until it is judged."),
        created_at=described(INSTANT, "When the claim was posted."),
        updated_at=described(INSTANT, "When its text or source last changed."),
        warnings=may(described(array_of(ref("Warning")), "Names that no grid ever had; only where it is posted.")),
    ),
    "AddedClaims": record(
        f"Up to {MOST_CLAIMS} claims that are kept.",
        items=described(array_of(ref("StoredClaim")), "In the order of the claims."),
    ),
    "VerdictCounts": described(
        object_of(
            "supported contradicted not_decidable ill_posed unjudged",
            **{
                name: described(COUNT, f"How many are {name.replace('_', ' ')}.")
                for name in ("supported", "contradicted", "not_decidable", "ill_posed", "unjudged")
            },
        ),
        "Numbers of claims by their latest verdicts.",
    ),
    "RecordedJudgement": record(
        "A judgement in the history of a claim.",
        number=described(COUNT | {"minimum": 1}, "Counted from 1 for each claim."),
        judged_at=described(INSTANT, "When it was first found."),
        judgement=ref("Judgement"),
    ),
    "RecordedJudgements": page("RecordedJudgement", "A page of judgements, the latest first."),
    "StoredClaims": _counted(page("StoredClaim", "A page of claims, the oldest first.")),
}
