"""A grid as it is served: the JSON of it that renderings, pages and commands read.

These are types of dictionaries, for the document goes out as it is; `registry.grids` has the values it is made of.
"""

from datetime import datetime
from typing import Any, Literal, NotRequired, TypedDict
from uuid import UUID

from registry.grids.grid import Direction, Kind, Scale
from registry.results.terms import At, Place, SliceDocument

Carried = Literal["values", "trials", "stderr", "repeats", "sd"]
"""What cells carry: one number for all of them, or numbers nested to the axes."""


class PostedMetric(TypedDict, total=False):
    """The metric of a grid; a part of a document may lack it."""

    name: str
    unit: str | None
    direction: Direction | None
    lower: float | None
    upper: float | None


class NumberedLevel(TypedDict):
    """A level with a label that is not its number."""

    label: str
    number: float


PostedLevel = Place | NumberedLevel


class PostedAxis(TypedDict):
    """An axis of a grid, its levels in order."""

    name: str
    kind: Kind
    unit: str | None
    scale: Scale
    levels: list[PostedLevel]


class PostedSource(TypedDict, total=False):
    """The file that a revision was read from."""

    format: str
    name: str
    sha256: str


class PostedReason(TypedDict):
    """A cell that is missing, and why."""

    at: At
    reason: str


class GridDocument(TypedDict):
    """A grid with its values."""

    id: UUID | str
    project: str
    experiment: str
    benchmark: str
    model: str
    variant: str
    metric: PostedMetric
    axes: list[PostedAxis]
    shape: tuple[int, ...]
    cell_count: int
    revision: int
    digest: str
    derivation: dict[str, Any]
    labels: dict[str, str]
    description: str
    source: NotRequired[PostedSource]
    questions: NotRequired[int]
    design_effect: NotRequired[float]
    derived: NotRequired[bool | list[str]]
    protocol: NotRequired[dict[str, str | float | bool]]
    created_at: datetime | str
    updated_at: datetime | str
    deleted_at: NotRequired[datetime | str]
    warnings: list[dict[str, str]]
    values: Any
    trials: NotRequired[Any]
    stderr: NotRequired[Any]
    repeats: NotRequired[Any]
    sd: NotRequired[Any]
    reasons: NotRequired[list[PostedReason]]
    slice: NotRequired[SliceDocument]
