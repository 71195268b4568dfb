"""Schemas of the parameters of claims that are kept."""

from __future__ import annotations

from typing import Any, get_args

from marshmallow import Schema, fields

from registry.api.fields import Choice, Matching, Name
from registry.api.schemas import ByIdParameters, RevisionsParameters, about, many_names
from registry.results.judgement import Verdict

_ADDRESS = r"[^\u0000-\u001f\u007f-\u009f]{1,2000}"


class DryRun(Schema):
    dry_run = fields.Boolean(load_default=False, metadata=about("Judge the claims, and keep none."))


def _several(field: Any, text: str) -> Any:
    return fields.List(field, load_default=list, metadata=about(text))


class ClaimsParameters(ByIdParameters):
    verdict = _several(Choice(*get_args(Verdict)), "The latest verdict; repeat for OR.")
    state = _several(
        Choice("pending", "ready", "failed"), "Whether that is of the grids as they are now; repeat for OR."
    )
    experiment = many_names("As the claim names it; repeat for OR.")
    source = _several(
        Matching(_ADDRESS, "is 1 to 2,000 characters, none of them a control character"),
        "`url` of the source; repeat for OR.",
    )


class JudgementsParameters(RevisionsParameters):
    """A page of the judgements of a claim."""


class ClaimBadgeParameters(Schema):
    label = Name(load_default="claim", metadata=about("The left half."))
