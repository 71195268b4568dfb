"""The words that all documents share, and how a type says more about itself.

In `Annotated`, a text is the description of a field, a `Keyword` is one more of its JSON Schema, and a `Presence` says
that a document may lack the field.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Literal

OF_REPEATS = "design_effect_of_repeats"
"""The name of the assumption that repeats say how far the trials of a cell depend on each other."""


@dataclass(frozen=True, slots=True)
class Keyword:
    """A keyword of JSON Schema that a type of Python does not say."""

    name: str
    value: str | int


class Presence(Enum):
    """When a field is missing in a document; a field without one is always there."""

    OMITTED = "left out where it is null"
    OPTIONAL = "left out of parts of the document"


Status = Annotated[
    Literal["ok", "insufficient", "undefined", "not_comparable", "confounded"],
    "ok, or in which way there is too little to go on; `reason` says why.",
]
Reason = Annotated[str | None, "Why `status` is not ok.", Presence.OMITTED]
Place = str | int | float
"""A level as an answer names it: its number on a numeric axis, else its label."""
LevelName = Annotated[Place, "The level: its number on a numeric axis, else its label."]
FirstLevel = Annotated[Place, "The first level: its number on a numeric axis, else its label."]
LastLevel = Annotated[Place, "The last level: its number on a numeric axis, else its label."]
At = Annotated[Mapping[str, Place], "A level for each axis, by the axis's name."]
SliceDocument = Annotated[
    Mapping[str, tuple[str, ...]] | None,
    "Only these levels and ranges were counted, by axis; absent for whole grids.",
    Presence.OMITTED,
]
Count = Annotated[int, Keyword("minimum", 0)]
Identifier = Annotated[str, Keyword("format", "uuid")]
Instant = Annotated[str, Keyword("format", "date-time")]
Digest = Annotated[str, Keyword("pattern", "^sha256:[0-9a-f]{64}$")]
P = Annotated[float | None, "A p-value; null where there is none, and `status` says why."]
KnownNoise = Literal["trials", "stderr", "repeats", "unknown"]
Noise = Annotated[
    KnownNoise,
    "What the tests rest on. A posted standard error goes before trials; repeats are runs whose spread is known.",
]
Detectable = Annotated[
    float | None,
    "The smallest true value that is found significant with probability 80 %: (z of 1 - alpha/2 + z of 0.8) standard "
    "errors, in the metric's unit; null without noise.",
]


@dataclass(frozen=True, slots=True)
class Interval:
    """A confidence interval; its ends are in the unit of what it surrounds."""

    level: Annotated[float, "The probability with which such an interval holds the truth, 0.95 or what is said."]
    low: Annotated[float, "The lower end."]
    high: Annotated[float, "The upper end."]
