"""Shapes, written by hand, of projects with tokens, shares, aliases, names and audit log, and of their claims."""

from registry.api.shapes.words import (
    ANY,
    COUNT,
    DESCRIPTION,
    DIGEST,
    FLAG,
    ID,
    INSTANT,
    LABELS,
    NULLABLE_TEXT,
    PLAIN,
    STATE,
    TEXT,
    Shape,
    array_of,
    described,
    extended,
    map_of,
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

_MADE = described(INSTANT, "When it was made.")
_SHARE = {
    "id": described(ID, "The share's id, by which it is revoked."),
    "path": described(TEXT, "What the link opens, with its forms and what is below."),
    "created_at": _MADE,
    "expires_at": described(INSTANT, "From when on the link opens nothing."),
}
_TOKEN: dict[str, Shape] = {
    "id": described(ID, "The token's id, by which it is revoked."),
    "name": described(TEXT, "What uses the token."),
    "role": described(one_of("reader", "writer", "admin"), "What it may do; each may do what those before it may."),
    "created_at": _MADE,
    "expires_at": described(INSTANT, "From when on it is refused."),
    "last_used_at": described(nullable(INSTANT), "When it was last used, to the minute; null: never."),
}

PROJECTS: dict[str, Shape] = {
    "Project": record(
        "A project: it holds grids, and is the boundary of access.",
        id=described(ID, "The project's id."),
        slug=described(TEXT, "Its name in paths; it never changes."),
        name=described(TEXT, "Its name for people."),
        visibility=described(one_of("private", "public"), "Public: read without a token."),
        description=DESCRIPTION,
        labels=described(LABELS, "Texts by name, such as an address of its code."),
        created_at=_MADE,
        updated_at=described(INSTANT, "When its name, visibility, description or labels last changed."),
        deleted_at=may(described(INSTANT, "When it was deleted; absent otherwise.")),
    ),
    "Experiment": record(
        "An experiment: grids that one protocol makes comparable.",
        project=described(TEXT, "The slug of its project."),
        name=described(TEXT, "Its name; that which it stands for, where an alias was asked for."),
        aliases=described(array_of(TEXT), "Other names of it, by which grids were published."),
        description=DESCRIPTION,
        labels=described(LABELS, "Texts by name, such as an address of its protocol."),
        protocol=ref("ProtocolRules"),
        grids=described(COUNT, "How many grids it has."),
        benchmarks=described(COUNT, "How many benchmarks they are about; here and below, joined names count once."),
        models=described(COUNT, "How many models they are of."),
        variants=described(COUNT, "How many variants there are, the empty one included."),
        metrics=described(COUNT, "How many metrics there are."),
        axes=described(COUNT, "How many axes of other names there are."),
        updated_at=described(
            nullable(INSTANT), "When its description or labels last changed; null: nothing was ever written."
        ),
    ),
    "Projects": page("Project", "A page of projects."),
    "Token": record("A token, without its secret.", **_TOKEN),
    "TokenSecret": extended(
        "Token",
        "A token with its secret.",
        token=described(TEXT, "The secret, to be sent as `Authorization: Bearer <token>`; shown this once."),
    ),
    "Tokens": page("Token", "A page of tokens."),
    "Identity": extended(
        "Token",
        "The token that was sent.",
        project=described(NULLABLE_TEXT, "The slug of the project that it is for; null: every project."),
    ),
    "Share": record("A link that opens one path, without it.", **_SHARE),
    "ShareLink": extended(
        "Share",
        "A link that opens one path of a project without a token.",
        url=described(TEXT, "The link, which needs no token; shown this once."),
    ),
    "Shares": page("Share", "A page of shares."),
    "Alias": record(
        "Two names that count as one.",
        id=described(ID, "The alias's id."),
        kind=described(one_of("model", "benchmark", "variant", "experiment"), "What the names are names of."),
        alias=described(TEXT, "What some grids say."),
        name=described(TEXT, "What it stands for."),
        created_at=_MADE,
    ),
    "Aliases": page("Alias", "A page of aliases."),
    "ProtocolRules": record(
        "Which keys of protocols bind in an experiment.",
        binding=described(array_of(TEXT), "Keys in which protocols must agree for grids to be compared."),
        free=described(array_of(TEXT), "Keys that make no difference; others are warned of."),
        required=described(FLAG, "Whether a grid that lacks a binding key, or any protocol, is not compared."),
    ),
    "Suite": record(
        "Benchmarks that are ranked together.",
        name=described(TEXT, "Its name."),
        benchmarks=described(array_of(TEXT), "Its benchmarks as they were written, in their order."),
        updated_at=described(INSTANT, "When it was last set."),
    ),
    "Suites": page("Suite", "A page of suites."),
    "Baselines": page("Baseline", "A page of baselines."),
    "Alerts": page("Alert", "A page of alerts."),
    "Events": record(
        "A page of events.",
        items=described(array_of(ref("Event")), "The events, in the order of their positions."),
        next=described(TEXT, "`after` of the next page, also when there are no items."),
        head=described(TEXT, "The cursor of the latest event: nothing more is there once `next` is the same."),
    ),
    "StoredVerdicts": page("StoredVerdict", "A page of verdicts."),
    "Act": record(
        "A line of the audit log.",
        id=described(ID, "The line's id."),
        at=described(INSTANT, "When it was done."),
        act=described(TEXT, "What was done, `token.created` or `grid.deleted`; more kinds may come."),
        subject=described(TEXT, "The id of what it was done to."),
        detail=described(map_of(ANY), "Names and values, by act."),
        token_id=described(
            nullable(ID),
            "The token that did it; null: a user without one, or a command with access to the database.",
        ),
        user_id=described(nullable(ID), "The user who did it in a page, signed in without a token; null: nobody so."),
        request_id=described(nullable(ID), "The `X-Request-Id` of the request that did it; null: a command."),
    ),
    "Acts": page("Act", "A page of the audit log, the newest line first."),
    "NameInUse": record(
        "A name that grids carry, of an axis too.",
        name=described(TEXT, "The name, as grids were published with it."),
        grids=described(COUNT, "How many grids carry it."),
        alias_of=may(described(NULLABLE_TEXT, "What it is an alias of; null where it is none. Not of an axis.")),
        updated_at=may(described(INSTANT, "When a grid with this name last changed. Not of an axis.")),
        cells=may(described(COUNT, "Of an axis: measured cells of these grids.")),
        levels=may(
            described(
                array_of(
                    object_of(
                        "level grids",
                        level=described(TEXT, "The label of the level."),
                        grids=described(COUNT, "How many grids have it, measured there or not."),
                    )
                ),
                "Of an axis: numbers by size, others as the grids have them; a thousand at most.",
            )
        ),
        levels_left_out=may(described(COUNT, "Of an axis: levels beyond these.")),
    ),
    "Names": page("NameInUse", "A page of names."),
}


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
