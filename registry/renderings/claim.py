"""The verdict on a claim in a few words, and its colour."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from registry.renderings.badge import UNKNOWN

SUPPORTED, CONTRADICTED = "#1b6e3a", "#a3261f"
_WORDS = {"not_decidable": "not decidable", "ill_posed": "ill-posed"}


def verdict_in_words(judgement: Mapping[str, Any] | None, state: str) -> str:
    """`supported beyond noise`; of a judgement that may be out of date, it says so."""
    if judgement is None:
        return "judging failed" if state == "failed" else "not judged yet"
    verdict = judgement["verdict"]
    told = _WORDS.get(verdict)
    if told is None:
        told = f"{verdict} {'beyond noise' if judgement['beyond_noise'] == verdict else 'as posted'}"
    return told + {"pending": ", being judged again", "failed": ", judging again failed"}.get(state, "")


def verdict_color(judgement: Mapping[str, Any] | None) -> str:
    """The colour of a verdict as `#rrggbb`; what is not decided has that of what is not known."""
    colors = {"supported": SUPPORTED, "contradicted": CONTRADICTED}
    return UNKNOWN if judgement is None else colors.get(judgement["verdict"], UNKNOWN)
