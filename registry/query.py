"""Questions that workers answer, beyond a grid's own statistics: rankings, tables, comparisons, gates, claims. The API
makes them of a request, `cached_results` keeps them, `workers/queries.py` answers them."""

import itertools
import uuid
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from hashlib import sha256
from typing import Any, ClassVar, Self, get_args

import orjson

from registry.grids.slices import slice_document, slice_of
from registry.results.terms import Method, Missing, Reduction, SlotPolicy, Target, common_to_all
from registry.selection import KINDS, Selection

METHODS: tuple[str, ...] = get_args(Method)
MISSING: tuple[str, ...] = get_args(Missing)
TARGETS: tuple[str, ...] = get_args(Target)
REDUCTIONS: tuple[str, ...] = get_args(Reduction)
SLOT_POLICIES: tuple[str, ...] = get_args(SlotPolicy)
SORTS = ("mean", "name")
"""Orders of the rows of a table that are of no column."""


@dataclass(frozen=True, slots=True)
class Query(Selection):
    """Question about a selection. Its result is computed again when a grid of the selection changes."""

    kind: ClassVar[str]

    def document(self) -> dict[str, Any]:
        """Query as it is stored and sent; without a slice, a suite and an instant where there is none."""
        return {"kind": self.kind, **Selection.document(self)}

    @property
    def key(self) -> uuid.UUID:
        """First 128 bits of the SHA-256 of the query."""
        return uuid.UUID(bytes=sha256(orjson.dumps(self._identity(), option=orjson.OPT_SORT_KEYS)).digest()[:16])

    def to_query(self) -> list[tuple[str, str]]:
        """The parameters that ask for it: those of the selection, and its own that are not as usual."""
        own = fields(self)[len(fields(Selection)) :]
        asked = [(one.name, getattr(self, one.name)) for one in own if getattr(self, one.name) != one.default]
        several = [(name, value if isinstance(value, tuple) else (value,)) for name, value in asked]
        return Selection.to_query(self) + [(name, str(one)) for name, values in several for one in values]

    def canonical(self, joined: Mapping[tuple[str, str], str]) -> Self:
        """Query with every alias replaced by the name that it stands for, in its own fields too."""
        own = {one.name for one in fields(self)[len(fields(Selection)) :]}
        named: Any = {place: joined.get((kind, name), name) for kind, place, name in self.names() if place in own}
        return replace(Selection.canonical(self, joined), **named)

    def _identity(self) -> dict[str, Any]:
        return self.document()


@dataclass(frozen=True, slots=True)
class RankingQuery(Query):
    """Ranking of the scope. `by` is `model`, `variant`, `benchmark` or `axis:<name>`; `pairs_of` the name whose pairs
    it lists, "" for those that it lists by itself; `since` the instant with which it is compared, "" for none."""

    kind: ClassVar[str] = "ranking"
    by: str = "model"
    method: str = "mean_difference"
    missing: str = "matched"
    alpha: float = 0.05
    target: str = "rerun"
    pairs_of: str = ""
    since: str = ""

    def document(self) -> dict[str, Any]:
        """Query as it is stored and sent, without what was not asked for; so it was before there was a choice."""
        found = Query.document(self)
        return {name: value for name, value in found.items() if value or name not in ("pairs_of", "since")}

    def then(self) -> Self:
        """The question about the instant with which it is compared."""
        return replace(self, as_of=self.since, since="", pairs_of="")

    @property
    def row_kind(self) -> str:
        """What is ranked."""
        return self.by

    @property
    def aside_of(self) -> str | None:
        """Where two are compared on what both have, names are set aside in the means beside that alone."""
        if self.missing == "available":
            return None
        return "" if common_to_all(self.method, self.missing) else " in means"

    def names(self) -> Iterator[tuple[str, str, str]]:
        """Also the name whose pairs are asked for; none of an axis, whose levels have no aliases."""
        yield from Query.names(self)
        if self.pairs_of and self.by in KINDS:
            yield self.by, "pairs_of", self.pairs_of


@dataclass(frozen=True, slots=True)
class AggregatesQuery(Query):
    """Table of the scope: an entry for each combination of levels of the dimensions in `group_by`, averaged over the
    levels of those in `over`, its rows in the order of `sort`. A dimension is `benchmark`, `model`, `variant` or
    `axis:<name>`."""

    kind: ClassVar[str] = "aggregates"
    group_by: tuple[str, ...] = ("model",)
    over: tuple[str, ...] = ()
    value: str = "mean"
    missing: str = "matched"
    alpha: float = 0.05
    sort: str = "name"

    @property
    def aside_of(self) -> str | None:
        """Nothing where each has its own slots."""
        return None if self.missing == "available" else ""

    def names(self) -> Iterator[tuple[str, str, str]]:
        """Also the name whose column the rows are sorted by."""
        yield from Query.names(self)
        if self._column:
            yield self.group_by[-1], "sort", self.sort

    @property
    def _column(self) -> bool:
        return self.sort not in SORTS and self.group_by[-1] in KINDS

    @property
    def row_kind(self) -> str:
        """What the rows are."""
        return self.group_by[0] if self.group_by else "model"


@dataclass(frozen=True, slots=True)
class RepeatNoiseQuery(Query):
    """What values vary by between repeats of one cell, and by their trials."""

    kind: ClassVar[str] = "noise"
    alpha: float = 0.05


OF_REVISIONS = ("", "")  # experiment and metric of queries about revisions, which no publication invalidates


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
    detail: str | None = None


@dataclass(frozen=True, slots=True)
class ThresholdsQuery(RevisionQuery):
    """Positions where the series of the revision cross these levels. `along` empty: the series of every axis."""

    kind: ClassVar[str] = "thresholds"
    along: str = ""
    thresholds: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class ComparisonQuery(Query):
    """Difference between a revision of one grid and a revision of another, or `content`: a grid that is not stored.
    Revisions never change, so experiment and
    metric are empty here too: only an alias, or what an experiment declares of protocols, invalidates the result.
    Outcomes of items may come later: `baseline_items` and `contender_items` are the last that were known (0: none), so
    that others make another query."""

    kind: ClassVar[str] = "comparison"
    baseline: str = ""
    baseline_revision: int = 0
    contender: str = ""
    contender_revision: int = 0
    alpha: float = 0.05
    baseline_items: int = 0
    contender_items: int = 0
    content: Mapping[str, Any] | None = None

    def document(self) -> dict[str, Any]:
        """Query as it is stored and sent, without items where none were posted; so it was before there were any."""
        found = Query.document(self)
        return {name: value for name, value in found.items() if value or not name.endswith(("_items", "content"))}


@dataclass(frozen=True, slots=True)
class ModelComparisonQuery(Query):
    """Difference between two models, or two variants of models, on every benchmark and over all of them. The variants
    of both sides are None where a side may have any: then a grid is compared with that of the same variant.

    Made by `model_comparison`, which restricts the scope to both sides.
    """

    kind: ClassVar[str] = "model_comparison"
    baseline_model: str = ""
    baseline_variant: str | None = None
    contender_model: str = ""
    contender_variant: str | None = None
    alpha: float = 0.05

    def document(self) -> dict[str, Any]:
        """Query as it is stored and sent, without what was not asked for."""
        return {name: value for name, value in Query.document(self).items() if value is not None}

    def names(self) -> Iterator[tuple[str, str, str]]:
        """Every name in the query, those of the sides as the parameters of the sides."""
        sides = [(kind, f"{side}_{kind}") for side in SIDES for kind in ("model", "variant")]
        yield from ((kind, place, name) for kind, place in sides if (name := getattr(self, place)) is not None)
        taken = {"model"} if self.baseline_variant is None else {"model", "variant"}
        yield from (one for one in Query.names(self) if one[0] not in taken)


@dataclass(frozen=True, slots=True)
class ClaimsQuery(Query):
    """Claims about grids of one experiment and metric, each the JSON text of its normal form, without aliases."""

    kind: ClassVar[str] = "claims"
    claims: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ClaimPlanQuery(ClaimsQuery):
    """What decides one claim beyond noise with this probability."""

    kind: ClassVar[str] = "claim_plan"
    power: float = 0.8


@dataclass(frozen=True, slots=True)
class StoredClaimsQuery(Query):
    """Claims that are kept about one experiment and metric, as they name them; `part` is one of the lists in which
    they are judged. Which claims are in it is no part of the query: another one invalidates the result."""

    kind: ClassVar[str] = "stored_claims"
    part: int = 0


SIDES = ("baseline", "contender")


def model_comparison(
    baseline: tuple[str, str | None], contender: tuple[str, str | None], **asked: Any
) -> ModelComparisonQuery:
    """Query that compares two models, each with a variant; None: the same of both sides."""
    (mine, my_variant), (theirs, their_variant) = baseline, contender
    if my_variant is not None and their_variant is not None:
        asked |= {"variant": tuple(sorted({my_variant, their_variant}))}
    return ModelComparisonQuery(
        model=tuple(sorted({mine, theirs})),
        baseline_model=mine,
        baseline_variant=my_variant,
        contender_model=theirs,
        contender_variant=their_variant,
        **asked,
    )


@dataclass(frozen=True, slots=True)
class GateQuery(Query):
    """Whether a contender is shown to be as good as a baseline. The baseline is a model, or revisions as
    `<grid>@<revision>`; the contender a model, such a revision, or `content`: the columns of a grid that is not stored,
    with its benchmark and variant. The rest is the policy (`registry.results.gates.Policy`)."""

    kind: ClassVar[str] = "gate"
    baseline_name: str = ""
    policy_version: int = 0
    baseline_model: str = ""
    baseline_grids: tuple[str, ...] = ()
    contender_model: str = ""
    contender_grid: str = ""
    content: Mapping[str, Any] | None = None
    policy: Mapping[str, Any] = field(default_factory=dict)

    def document(self) -> dict[str, Any]:
        """Query as it is stored and sent, without what it does not name."""
        return {name: value for name, value in Query.document(self).items() if value or name in KINDS}

    def names(self) -> Iterator[tuple[str, str, str]]:
        """Every name in the query, those of the sides as the parameters of the sides."""
        sides = (("baseline", self.baseline_model), ("contender", self.contender_model))
        yield from (("model", side, name) for side, name in sides if name)
        yield from (one for one in Query.names(self) if one[0] != "model")

    def canonical(self, joined: Mapping[tuple[str, str], str]) -> Self:
        """Query with every alias replaced by the name that it stands for."""
        sides: Any = {
            f"{side}_model": joined.get((kind, name), name) for kind, side, name in self.names() if side in SIDES
        }
        return replace(Query.canonical(self, joined), **sides)


@dataclass(frozen=True, slots=True)
class BaselineQuery(Query):
    """What the contenders of a baseline are, by this version of its policy. Nobody asks it: it stands as long as the
    version does, and each change of the scope has the contenders judged that changed."""

    kind: ClassVar[str] = "baseline"
    baseline: str = ""
    policy_version: int = 0

    def _identity(self) -> dict[str, Any]:
        # Without the experiment, which another alias may give another name.
        return {"kind": self.kind, "baseline": self.baseline, "policy_version": self.policy_version}


def sliced_by(query: Query) -> dict[str, Any]:
    """The field `slice` of a result: nothing where it is about whole grids."""
    return {"slice": slice_document(query.at)} if query.at else {}


_KINDS: dict[str, type[Query]] = {
    one.kind: one
    for one in (
        RankingQuery,
        AggregatesQuery,
        RepeatNoiseQuery,
        StatisticsQuery,
        ThresholdsQuery,
        ComparisonQuery,
        ModelComparisonQuery,
        GateQuery,
        BaselineQuery,
        ClaimsQuery,
        ClaimPlanQuery,
        StoredClaimsQuery,
    )
}


def query_of(document: Mapping[str, Any]) -> Query:
    """Query in a document made by `Query.document`."""
    query_class = _KINDS[document["kind"]]
    given = {field.name: document[field.name] for field in fields(query_class) if field.name in document}
    if "at" in given:
        given["at"] = slice_of(given["at"])
    if "slices" in given:
        given["slices"] = tuple((name, slice_of(own)) for name, own in sorted(given["slices"].items()))
    for name, value in given.items():
        if isinstance(value, list):
            given[name] = tuple(value)
    if "alpha" in given:
        given["alpha"] = float(given["alpha"])
    given |= {name: float(given[name]) for name in ("sharp_change", "equivalence") if name in given}
    return query_class(**given)


@dataclass(frozen=True, slots=True)
class Pairing:
    """Which grids of two models are compared. `shared` has the benchmarks of both, each with the variants of its pairs
    of grids, the baseline's first: several where both models have several variants, none where they have no variant in
    common."""

    shared: Mapping[str, tuple[tuple[str, str], ...]]
    only_in_baseline: tuple[str, ...]
    only_in_contender: tuple[str, ...]

    @property
    def ambiguous(self) -> tuple[str, ...]:
        """Variants to choose from, where a benchmark has several pairs of grids; else nothing."""
        several = [pairs for pairs in self.shared.values() if len(pairs) > 1]
        return tuple(sorted({variant for pairs in several for variant, _ in pairs}))


def pairing(query: ModelComparisonQuery, grids: Iterable[tuple[str, str, str]]) -> Pairing:
    """The pairs among grids of a scope, each named by benchmark, model and variant without aliases."""
    held = [dict[str, set[str]](), dict[str, set[str]]()]
    sides = [(getattr(query, f"{side}_model"), getattr(query, f"{side}_variant")) for side in SIDES]
    for benchmark, model, variant in grids:
        for known, (wanted, of) in zip(held, sides, strict=True):
            if model == wanted and of in (None, variant):
                known.setdefault(benchmark, set()).add(variant)
    mine, theirs = held
    both = {name: itertools.product(sorted(mine[name]), sorted(theirs[name])) for name in sorted(mine.keys() & theirs)}
    chosen = query.baseline_variant is not None
    return Pairing(
        {name: tuple(pair for pair in pairs if chosen or pair[0] == pair[1]) for name, pairs in both.items()},
        tuple(sorted(mine.keys() - theirs)),
        tuple(sorted(theirs.keys() - mine)),
    )
