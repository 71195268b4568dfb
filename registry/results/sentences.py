"""A sentence about something that has a page: in parts, so that a page links it, and as plain text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Tone = Literal["", "good", "bad"]
TargetKind = Literal["grid", "claim", "ranking", "baseline", "project", "model", "benchmark", "experiment"]
_JOINERS = "\u200c\u200d"
"""Invisible, but letters of Persian and many emoji need them."""


@dataclass(frozen=True, slots=True)
class Target:
    """What a sentence is about, by its id or name; of a ranking, `name` is the experiment and `metric` its metric,
    and `since` and `as_of` are the instants that it is about; empty: it is that of now."""

    kind: TargetKind
    name: str = ""
    metric: str = ""
    since: str = ""
    as_of: str = ""


@dataclass(frozen=True, slots=True)
class EventSentence:
    """What was done: words, what it was done to, words, and what stands beside it. Each part may be empty; none has a
    line end or a control character."""

    before: str
    about: str = ""
    after: str = ""
    beside: str = ""
    tone: Tone = ""
    target: Target | None = None

    @property
    def head(self) -> str:
        """The sentence as plain text, without what stands beside it."""
        return " ".join(filter(None, (self.before, self.about, self.after)))

    @property
    def text(self) -> str:
        """The sentence as plain text, on one line."""
        return f"{self.head} ({self.beside})" if self.beside else self.head


def plain(text: object, longest: int) -> str:
    """A text on one line: without control characters and marks that turn the direction of writing, and cut."""
    line = " ".join(str(text).split())
    kept = line if len(line) <= longest else f"{line[: longest - 1]}…"
    return "".join(one if one.isprintable() or one in _JOINERS else "\ufffd" for one in kept)
