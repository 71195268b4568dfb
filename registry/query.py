"""Queries beyond a grid's own statistics: the same values in the web process, the table and the worker."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, fields
from hashlib import sha256
from typing import Any, ClassVar, get_args

import orjson

from registry.grids.slices import Slice, slice_document, slice_of
from registry.results.policies import Method, Missing, Target

METHODS: tuple[str, ...] = get_args(Method)
MISSING: tuple[str, ...] = get_args(Missing)
TARGETS: tuple[str, ...] = get_args(Target)
OLD_TARGETS = {"fixed_cells": "rerun"}
"""Former names of targets, which are still read."""


@dataclass(frozen=True, slots=True)
class Query:
    """Query about the grids of one experiment and metric. `benchmark`, `model` and `variant` restrict it to the named
    ones; empty: all. `at` restricts it to a slice of each grid. Its result is computed again when a grid of the scope
    changes."""

    kind: ClassVar[str]
    experiment: str
    metric: str
    benchmark: tuple[str, ...] = ()
    model: tuple[str, ...] = ()
    variant: tuple[str, ...] = ()
    at: Slice = ()

    def document(self) -> dict[str, Any]:
        """Query as it is stored and sent; without `at` where it is about whole grids."""
        # `asdict` copies deeply, which costs more than the rest of a stored answer's key; all but `at` is flat.
        given = ((field.name, getattr(self, field.name)) for field in fields(self) if field.name != "at")
        plain = {name: list(one) if isinstance(one, tuple) else one for name, one in given}
        return {"kind": self.kind, **plain} | ({"at": slice_document(self.at)} if self.at else {})

    @property
    def key(self) -> uuid.UUID:
        """First 128 bits of the SHA-256 of the query."""
        return uuid.UUID(bytes=sha256(orjson.dumps(self._identity(), option=orjson.OPT_SORT_KEYS)).digest()[:16])

    def _identity(self) -> dict[str, Any]:
        """Content by which equal queries are recognised."""
        return self.document()


@dataclass(frozen=True, slots=True)
class RankingQuery(Query):
    """Ranking of the scope. `by` is `model`, `variant` or `axis:<name>`; `pairs_of` the name whose pairs it lists, ""
    for those that it lists by itself. `suite` is the name of the list that the benchmarks are from, "" for none."""

    kind: ClassVar[str] = "ranking"
    by: str = "model"
    method: str = "mean_difference"
    missing: str = "matched"
    alpha: float = 0.05
    target: str = "rerun"
    pairs_of: str = ""
    suite: str = ""

    def document(self) -> dict[str, Any]:
        """Query as it is stored and sent, without what was not asked for; so it was before there was a choice."""
        found = Query.document(self)
        return {name: value for name, value in found.items() if value or name not in ("pairs_of", "suite")}

    def _identity(self) -> dict[str, Any]:
        # By the former name, so that a result stored under it keeps its row.
        old = {new: word for word, new in OLD_TARGETS.items()}
        return self.document() | {"target": old.get(self.target, self.target)}


@dataclass(frozen=True, slots=True)
class SweetSpotQuery(Query):
    """Coordinate that serves all of the grids best."""

    kind: ClassVar[str] = "sweet_spot"


@dataclass(frozen=True, slots=True)
class RevisionQuery(Query):
    """Query about one revision of a grid, with settings where they are not the default. A revision never changes, so
    experiment and metric are empty: no publication invalidates the result."""

    grid: str = ""
    revision: int = 0
    alpha: float | None = None
    sharp_change: float | None = None
    equivalence: float | None = None

    def document(self) -> dict[str, Any]:
        """Query as it is stored and sent, without settings that have their default."""
        return {name: value for name, value in Query.document(self).items() if value is not None}


@dataclass(frozen=True, slots=True)
class StatisticsQuery(RevisionQuery):
    """Statistics of the revision by these settings."""

    kind: ClassVar[str] = "statistics"


@dataclass(frozen=True, slots=True)
class ThresholdsQuery(RevisionQuery):
    """Positions where the series of the revision cross these levels. `along` empty: the series of every axis."""

    kind: ClassVar[str] = "thresholds"
    along: str = ""
    thresholds: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class ComparisonQuery(Query):
    """Difference between a revision of one grid and a revision of another. Revisions never change, so experiment and
    metric are empty here too: only an alias invalidates the result."""

    kind: ClassVar[str] = "comparison"
    baseline: str = ""
    baseline_revision: int = 0
    contender: str = ""
    contender_revision: int = 0
    alpha: float = 0.05


def sliced_by(query: Query) -> dict[str, Any]:
    """The field `slice` of a result: nothing where it is about whole grids."""
    return {"slice": slice_document(query.at)} if query.at else {}


_KINDS: dict[str, type[Query]] = {
    one.kind: one for one in (RankingQuery, SweetSpotQuery, StatisticsQuery, ThresholdsQuery, ComparisonQuery)
}


def query_of(document: Mapping[str, Any]) -> Query:
    """Query in a document made by `Query.document`."""
    query_class = _KINDS[document["kind"]]
    given = {field.name: document[field.name] for field in fields(query_class) if field.name in document}
    if "at" in given:
        given["at"] = slice_of(given["at"])
    for name, value in given.items():
        if isinstance(value, list):
            given[name] = tuple(value)
    if "target" in given:
        given["target"] = OLD_TARGETS.get(given["target"], given["target"])
    if "alpha" in given:
        given["alpha"] = float(given["alpha"])
    given |= {name: float(given[name]) for name in ("sharp_change", "equivalence") if name in given}
    return query_class(**given)
