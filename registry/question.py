"""What can be asked beyond a grid's own statistics: the same values in the web process, the table and the worker."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from hashlib import sha256
from typing import Any, ClassVar

import orjson

METHODS = (
    "mean_difference",
    "mean",
    "adjusted_mean",
    "win_rate",
    "helm_win_rate",
    "bradley_terry",
    "mean_rank",
    "borda",
)
MISSING = ("matched", "observed", "complete", "worst", "zero_votes")
TARGETS = ("fixed_cells", "new_benchmarks")


@dataclass(frozen=True, slots=True)
class Question:
    """A question about the grids of one experiment and metric. `benchmark`, `model` and `variant` name the ones that
    are meant; empty: all of them. Its answer is made anew when a grid of the scope changes."""

    kind: ClassVar[str]
    experiment: str
    metric: str
    benchmark: tuple[str, ...] = ()
    model: tuple[str, ...] = ()
    variant: tuple[str, ...] = ()

    def document(self) -> dict[str, Any]:
        """The question as it is stored and sent."""
        plain = {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}
        return {"kind": self.kind, **plain}

    @property
    def key(self) -> uuid.UUID:
        """The first 128 bits of the SHA-256 of the question."""
        return uuid.UUID(bytes=sha256(orjson.dumps(self.document(), option=orjson.OPT_SORT_KEYS)).digest()[:16])


@dataclass(frozen=True, slots=True)
class RankingQuestion(Question):
    """Who is better? `by` is `model`, `variant` or `axis:<name>`."""

    kind: ClassVar[str] = "ranking"
    by: str = "model"
    method: str = "mean_difference"
    missing: str = "matched"
    alpha: float = 0.05
    target: str = "fixed_cells"


@dataclass(frozen=True, slots=True)
class SweetSpotQuestion(Question):
    """Which coordinate serves all of the grids?"""

    kind: ClassVar[str] = "sweet_spot"


@dataclass(frozen=True, slots=True)
class ThresholdsQuestion(Question):
    """Where do the series of one revision of a grid cross these levels? A revision never changes, so experiment and
    metric are empty: no publication touches the answer. `along` empty: the series of every axis."""

    kind: ClassVar[str] = "thresholds"
    grid: str = ""
    revision: int = 0
    along: str = ""
    thresholds: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class ComparisonQuestion(Question):
    """How far is one revision of a grid from one of another? Revisions never change, so experiment and metric are
    empty here too: only an alias touches the answer."""

    kind: ClassVar[str] = "comparison"
    baseline: str = ""
    baseline_revision: int = 0
    contender: str = ""
    contender_revision: int = 0
    alpha: float = 0.05


_KINDS: dict[str, type[Question]] = {
    one.kind: one for one in (RankingQuestion, SweetSpotQuestion, ThresholdsQuestion, ComparisonQuestion)
}


def question_of(document: Mapping[str, Any]) -> Question:
    """The question in a document of `Question.document`."""
    asked = _KINDS[document["kind"]]
    given = {field.name: document[field.name] for field in fields(asked) if field.name in document}
    for name, value in given.items():
        if isinstance(value, list):
            given[name] = tuple(value)
    if "alpha" in given:
        given["alpha"] = float(given["alpha"])
    return asked(**given)
