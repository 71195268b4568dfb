"""What a ranking is asked for: the same value in the web process, in the table and in the worker."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from hashlib import sha256
from typing import Any

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


@dataclass(frozen=True, slots=True)
class Question:
    """`by` is `model`, `variant` or `axis:<name>`. `benchmark` and `variant` empty: all of them."""

    experiment: str
    metric: str
    by: str = "model"
    benchmark: tuple[str, ...] = ()
    variant: tuple[str, ...] = ()
    method: str = "mean_difference"
    missing: str = "matched"
    alpha: float = 0.05

    @property
    def key(self) -> uuid.UUID:
        """The first 128 bits of the SHA-256 of the question."""
        return uuid.UUID(bytes=sha256(orjson.dumps(asdict(self), option=orjson.OPT_SORT_KEYS)).digest()[:16])

    def document(self) -> dict[str, Any]:
        return asdict(self) | {"benchmark": list(self.benchmark), "variant": list(self.variant)}

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Question:
        """The question in a document of `document()`."""
        lists = {name: tuple(document[name]) for name in ("benchmark", "variant")}
        return cls(**{**document, **lists, "alpha": float(document["alpha"])})
