"""Answer queries for comparisons, of two revisions by id or of two models by name: of these on every benchmark the
comparison of their grids, and over all of them the pair of the ranking of these two."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any
from urllib.parse import urlencode

from sqlalchemy import Connection, and_, select

from registry.grids.grid import Direction, Grid
from registry.grids.outcomes import HeldItems
from registry.grids.protocol import Rules
from registry.grids.slices import PARAMETER
from registry.query import SIDES, ComparisonQuery, ModelComparisonQuery, Pairing, RankingQuery, pairing, sliced_by
from registry.results.codec import to_document
from registry.results.comparison import (
    BenchmarkGap,
    BenchmarkHeterogeneity,
    ComparedGrid,
    ComparedModel,
    ComparedRevision,
    Gap,
    ModelComparison,
    PairedGrid,
    WholeGap,
)
from registry.results.grid import PostedMetric
from registry.results.pairs import Pair
from registry.results.terms import Warning, differing_keys
from registry.storage.item_outcomes import held_items, rows_of_items
from registry.storage.keys import of_grid
from registry.storage.rows import grid_of, sliced_row, unpublished_row
from registry.storage.tables import grids, revisions
from workers.protocols import protocol_doubts
from workers.rankings.direct import suite_warnings
from workers.rankings.ranking_input import RankingInput, build_ranking_input
from workers.rankings.slots import Scales, kind_of, scales
from workers.scope import Aliases, canonical_names, matches
from workers.statistics import gap, gap_of_all_cells, heterogeneity, versus
from workers.statistics.comparison import judged, shallow
from workers.statistics.judging import adjusted
from workers.statistics.matching import NO_ITEMS, Items
from workers.statistics.versus import by_items, errors_alike

MOST_BENCHMARKS = 1_000
"""Benchmarks that an answer lists; all are tested and counted."""
_TOO_LARGE = "too many cells to be compared; ask about fewer benchmarks"
_TIE_DECIMALS = 9
"""Decimals to which a difference of 0 is one: estimates of equal grids differ by rounding errors."""
_DOUBTS = 10
"""Warnings about protocols, the most frequent ones."""
_COMPARISONS = "/api/v1/projects/{}/comparisons?"

Names = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Asked:
    """Where the question was asked: the slug of its project, and the rows of outcomes of items by grid."""

    project: str
    items: Mapping[Any, Sequence[Any]]


@dataclass(frozen=True)
class _Scope:
    """The grids of both sides by benchmark, model and variant, and which of them are compared."""

    rows: Mapping[Names, Any]
    pairs: Pairing
    rules: Rules

    def pair(self, query: ModelComparisonQuery, benchmark: str) -> tuple[Any, Any] | None:
        """The rows of baseline and contender on a benchmark; None where no variant, or several, are in common."""
        if len(self.pairs.shared[benchmark]) != 1:
            return None
        [(mine, theirs)] = self.pairs.shared[benchmark]
        models = query.baseline_model, query.contender_model
        return self.rows[benchmark, models[0], mine], self.rows[benchmark, models[1], theirs]

    @cached_property
    def scales(self) -> Scales:
        """The scales of the metrics of both sides."""
        return scales(kind_of(row.metric) for row in self.rows.values())

    def metric(self) -> PostedMetric | None:
        """The metric as it was posted with values on the scale of the answer."""
        posted: list[PostedMetric] = [row.metric for row in self.rows.values() if self._factor(row) == 1]
        # Sorted, for the order of publishing has no effect; a metric with a direction before one without.
        return min(posted, key=lambda one: (one["direction"] is None, repr(sorted(one.items()))), default=None)

    def grid(self, row: Any) -> Grid:
        """The grid of a row with its values on the scale of the answer: shares of 1 beside percent are percent."""
        grid, factor = grid_of(row), self._factor(row)
        if factor == 1:
            return grid
        errors: dict[str, Any] = {
            name: tuple(None if one is None else one * factor for one in column)
            for name in ("stderr", "sd")
            if (column := getattr(grid, name))
        }
        values = tuple(None if one is None else round(one * factor, _TIE_DECIMALS) for one in grid.values)
        return replace(grid, metric=replace(grid.metric, unit="%", lower=0.0, upper=100.0), values=values, **errors)

    def _factor(self, row: Any) -> float:
        return self.scales.of[kind_of(row.metric)].factor

    def apart(self, query: ModelComparisonQuery) -> dict[str, str]:
        """The benchmarks on which protocols differ in a binding key, each with the reason."""
        found = {
            benchmark: self.rules.obstacle(pair[0].protocol, pair[1].protocol)
            for benchmark in self.pairs.shared
            if (pair := self.pair(query, benchmark)) is not None
        }
        return {benchmark: reason for benchmark, reason in found.items() if reason is not None}

    def doubts(self, query: ModelComparisonQuery, apart: Collection[str]) -> Iterator[Warning]:
        """Doubts about the protocols of the pairs that are compared, each once with how often it came up."""
        pairs = [self.pair(query, benchmark) for benchmark in self.pairs.shared if benchmark not in apart]
        found = Counter(
            doubt
            for pair in pairs
            if pair is not None
            for doubt in protocol_doubts(self.rules, pair[0].protocol, pair[1].protocol)
        )
        for doubt, times in found.most_common(_DOUBTS):
            where = "one benchmark" if times == 1 else f"{times:,} benchmarks"
            yield replace(doubt, detail=f"On {where}: {doubt.detail}")


def refused_model_comparison(query: ModelComparisonQuery) -> dict[str, Any]:
    """Result that says that the grids have too many cells."""
    return _document(query, _frame(query, "undefined", _TOO_LARGE))


def model_comparison_document(
    query: ModelComparisonQuery, rows: Sequence[Any], joined: Aliases, rules: Rules, asked: Asked
) -> dict[str, Any]:
    """Result from rows of grids, oldest update first. Equal inputs give equal bytes."""
    return _document(query, compare_models(query, rows, joined, rules, asked))


def compare_models(
    query: ModelComparisonQuery, rows: Sequence[Any], joined: Aliases, rules: Rules, asked: Asked
) -> ModelComparison:
    """The same as a value."""
    frame, scope, prepared = framed(query, rows, joined, rules)
    if frame.status in ("ok", "confounded"):
        frame = _measured(query, frame, scope, prepared, asked)
    return frame


def framed(
    query: ModelComparisonQuery, rows: Sequence[Any], joined: Aliases, rules: Rules
) -> tuple[ModelComparison, _Scope, RankingInput]:
    """What is compared, with its doubts, and nothing measured yet."""
    mine = [row for row in rows if _is_meant(query, canonical_names(row, joined))]
    counted = {_names_of(row, joined): row for row in mine if row.derived is None}
    scope = _Scope(counted, pairing(query, counted), rules)
    apart = scope.apart(query)
    alike = [row for row in mine if _names_of(row, joined)[0] not in apart]
    prepared = build_ranking_input(_ranking(query), alike, _as_one_variant(query, alike, joined))
    frame = replace(
        _frame(query, *_status(query, scope.pairs, apart)),
        metric=scope.metric() or {"name": query.metric},
        only_in_baseline=scope.pairs.only_in_baseline,
        only_in_contender=scope.pairs.only_in_contender,
        inputs=prepared.inputs,
        derived=prepared.derived,
        warnings=(
            *suite_warnings(query, prepared.scores.benchmark_names, "compared"),
            *prepared.warnings,
            *scope.doubts(query, apart),
        ),
    )
    return frame, scope, prepared


def _document(query: ModelComparisonQuery, frame: ModelComparison) -> dict[str, Any]:
    found: dict[str, Any] = to_document(replace(frame, **sliced_by(query)))
    return found


def _names_of(row: Any, joined: Aliases) -> Names:
    names = canonical_names(row, joined)
    return names["benchmark"], names["model"], names["variant"]


def _is_meant(query: ModelComparisonQuery, names: Mapping[str, str]) -> bool:
    """Return whether a grid is one of either side, and not of the model of one with the variant of the other."""
    sides = [(getattr(query, f"{side}_model"), getattr(query, f"{side}_variant")) for side in SIDES]
    here = any(names["model"] == model and variant in (None, names["variant"]) for model, variant in sides)
    return here and matches(query, names)


def _ranking(query: ModelComparisonQuery) -> RankingQuery:
    by = "variant" if query.baseline_model == query.contender_model else "model"
    return RankingQuery(query.experiment, query.metric, query.benchmark, query.model, suite=query.suite, by=by)


def _as_one_variant(query: ModelComparisonQuery, rows: Sequence[Any], joined: Aliases) -> Aliases:
    """The aliases; where both models and variants differ, as if one more joined both variants."""
    if len(_differing(query)) < 2:
        return joined
    return {**joined, **{("variant", row.variant): str(query.contender_variant) for row in rows}}


def _differing(query: ModelComparisonQuery) -> tuple[str, ...]:
    pairs = {
        "model": (query.baseline_model, query.contender_model),
        "variant": (query.baseline_variant, query.contender_variant),
    }
    return tuple(kind for kind, (one, other) in pairs.items() if one != other)


def _frame(query: ModelComparisonQuery, status: Any, reason: str | None) -> ModelComparison:
    return ModelComparison(
        status,
        query.experiment,
        {"name": query.metric},
        ComparedModel(query.baseline_model, query.baseline_variant),
        ComparedModel(query.contender_model, query.contender_variant),
        query.alpha,
        _differing(query),
        query.suite or None,
        reason=reason,
    )


def _status(query: ModelComparisonQuery, pairs: Pairing, apart: Mapping[str, str]) -> tuple[str, str | None]:
    """How far the comparison can be made, as later publications may have made of a question that could be asked."""
    if pairs.ambiguous:
        named = ", ".join(f'"{variant}"' for variant in pairs.ambiguous)
        return "undefined", f"both models have several variants of a benchmark, of which none was chosen: {named}"
    if not any(pairs.shared.values()):
        return "not_comparable", "no variant is in common" if pairs.shared else "no benchmark is in common"
    if apart and len(apart) == sum(map(bool, pairs.shared.values())):
        first = next(iter(apart))
        return "not_comparable", f"on no benchmark were both measured alike; on {first} {apart[first]}"
    found = judged(Gap("ok", differs=_differing(query)), None)
    return found.status, found.reason


def _measured(
    query: ModelComparisonQuery, frame: ModelComparison, scope: _Scope, prepared: RankingInput, asked: Asked
) -> ModelComparison:
    gaps = [_benchmark_gap(query, scope, benchmark, asked) for benchmark in scope.pairs.shared]
    holm = adjusted([one.test.p if one.test else None for one in gaps], "holm")
    gaps = [replace(one, test=one.test and replace(one.test, p_holm=p)) for one, p in zip(gaps, holm, strict=True)]
    sides = [(getattr(query, f"{side}_model"), getattr(query, f"{side}_variant")) for side in SIDES]
    place = 1 if query.baseline_model == query.contender_model else 0
    given = prepared.scores, str(sides[1][place]), str(sides[0][place])
    found = versus(*given, query.alpha)
    whole = by_items(found.rerun, gaps, query.alpha)
    told: dict[str, Any] = {field.name: getattr(whole or found.rerun, field.name) for field in fields(Pair)}
    told |= _wins(gaps, None if prepared.scores.mixed else prepared.scores.direction, query.alpha)
    return replace(
        frame,
        whole=WholeGap(
            **told,
            heterogeneity=_heterogeneity(gaps, errors_alike(*given)),
            new_benchmarks=found.new_benchmarks,
            paired=whole is not None,
            without=found.without if whole is None else (),
        ),
        assumes=found.assumes if whole is None else ("independent_items",),
        by_benchmark=tuple(gaps[:MOST_BENCHMARKS]),
        by_benchmark_left_out=max(0, len(gaps) - MOST_BENCHMARKS),
    )


def _benchmark_gap(query: ModelComparisonQuery, scope: _Scope, benchmark: str, asked: Asked) -> BenchmarkGap:
    """What the comparison by ids says of all common cells of a benchmark."""
    pair = scope.pair(query, benchmark)
    if pair is None:
        return BenchmarkGap("not_comparable", reason="no variant is in common", benchmark=benchmark)
    baseline, contender = pair
    obstacle = scope.rules.obstacle(baseline.protocol, contender.protocol)
    grids = scope.grid(baseline), scope.grid(contender)
    items = (
        held_items(grids[0], asked.items.get(baseline.id, ())),
        held_items(grids[1], asked.items.get(contender.id, ())),
    )
    found = (
        gap_of_all_cells(*grids, _differing(query), query.alpha, items)
        if obstacle is None
        else Gap("not_comparable", reason=obstacle)
    )
    [variants] = scope.pairs.shared[benchmark]
    mine, theirs = (
        PairedGrid(str(row.id), row.number, "sha256:" + bytes(row.digest).hex(), variant)
        for row, variant in zip(pair, variants, strict=True)
    )
    return BenchmarkGap(
        **shallow(found), benchmark=benchmark, baseline=mine, contender=theirs,
        href=_href(query, benchmark, mine, theirs, asked.project),
        protocol=differing_keys(scope.rules, baseline.protocol, contender.protocol),
    )  # fmt: skip


def _href(
    query: ModelComparisonQuery, benchmark: str, baseline: PairedGrid, contender: PairedGrid, project: str
) -> str:
    asked = [
        ("baseline", baseline.grid),
        ("baseline_revision", baseline.revision),
        ("contender", contender.grid),
        ("contender_revision", contender.revision),
        ("alpha", query.alpha),
        *((PARAMETER + axis, condition) for axis, conditions in query.levels_of(benchmark) for condition in conditions),
    ]
    return _COMPARISONS.format(project) + urlencode(asked)


def _estimate(one: BenchmarkGap) -> float | None:
    return one.test.difference if one.test else None


def _heterogeneity(gaps: Sequence[BenchmarkGap], alike: Mapping[str, float]) -> BenchmarkHeterogeneity:
    """Whether the differences on the benchmarks are of one value, as far as their errors are known; of trials these are
    the errors if they were `alike`."""
    known = [(one.benchmark, one.test) for one in gaps if one.test and one.test.difference is not None]
    errors = [alike.get(name, test.stderr) if test.name == "score" else test.stderr for name, test in known]
    found = [(test.difference or 0.0, error, test.df) for (_, test), error in zip(known, errors, strict=True) if error]
    return heterogeneity([gap for gap, _, _ in found], [error for _, error, _ in found], [df for _, _, df in found])


def _wins(gaps: Sequence[BenchmarkGap], direction: Direction | None, alpha: float) -> dict[str, int]:
    """Benchmarks that each side wins, all of them and those beyond noise; nothing without a better end."""
    if direction is None:
        return {}
    sign = -1 if direction == "lower" else 1
    moves = [(sign * round(found, _TIE_DECIMALS), one) for one in gaps if (found := _estimate(one)) is not None]
    sure = [move for move, one in moves if one.test and one.test.p_holm is not None and one.test.p_holm < alpha]
    return {
        "benchmarks_won": sum(move > 0 for move, _ in moves),
        "benchmarks_tied": sum(move == 0 for move, _ in moves),
        "benchmarks_lost": sum(move < 0 for move, _ in moves),
        "significant_wins": sum(move > 0 for move in sure),
        "significant_losses": sum(move < 0 for move in sure),
    }


def compared_rows(connection: Connection, project_id: Any, query: ComparisonQuery) -> tuple[Any, Any]:
    """Rows of baseline and contender, each a revision with the names of its grid, cut to the query's slice."""
    baseline = sliced_row(revision_row(connection, project_id, query.baseline, query.baseline_revision), query.at)
    if query.content is not None:
        return baseline, unpublished_row(query.content)
    return (
        baseline,
        sliced_row(revision_row(connection, project_id, query.contender, query.contender_revision), query.at),
    )


def revision_row(connection: Connection, project_id: Any, grid: str, number: int) -> Any:
    """Row of a revision with the names of its grid."""
    names = (grids.c.experiment, grids.c.benchmark, grids.c.model, grids.c.variant)
    statement = (
        select(*names, revisions)
        .join(revisions, and_(of_grid(revisions), revisions.c.number == number))
        .where(grids.c.id == grid, grids.c.project_id == project_id)
    )
    return connection.execute(statement).one()


def compared_items(connection: Connection, query: ComparisonQuery, baseline: Any, contender: Any) -> Items:
    """Outcomes of items in both sides' cells, as far as the query knows them."""
    return (
        _items(connection, query.baseline, baseline, query.baseline_items),
        _items(connection, query.contender, contender, query.contender_items),
    )


def _items(connection: Connection, grid: str, row: Any, mark: int) -> Mapping[int, HeldItems]:
    rows = rows_of_items(connection, grid, row.number) if mark else []
    return held_items(grid_of(row), [one for one in rows if one.id <= mark])


def comparison_document(
    query: ComparisonQuery,
    sides: tuple[Any, Any],
    joined: Mapping[tuple[str, str], str],
    rules: Rules,
    items: Items = NO_ITEMS,
) -> dict[str, Any]:
    """Result of a comparison, with its inputs and warnings: equal inputs give equal bytes."""
    baseline, contender = sides
    mine, theirs = (_side(row, joined) for row in sides)
    differs = tuple(_names_apart(mine, theirs))
    if (mine.grid, mine.revision) == (theirs.grid, theirs.revision):
        obstacle: str | None = "baseline and contender are one revision of one grid"
    else:
        obstacle = None if "experiment" in differs else rules.obstacle(baseline.protocol, contender.protocol)
    found = (
        gap(grid_of(baseline), grid_of(contender), differs, query.alpha, items)
        if obstacle is None
        else Gap("not_comparable", alpha=query.alpha, differs=differs, reason=obstacle)
    )
    found = replace(found, protocol=differing_keys(rules, baseline.protocol, contender.protocol))
    doubts = () if obstacle else protocol_doubts(rules, baseline.protocol, contender.protocol)
    inputs = [
        ComparedRevision(side.grid, side.revision, side.digest)
        for side in (mine, theirs)
        if side.grid is not None and side.revision is not None
    ]
    return {
        "baseline": to_document(mine),
        "contender": to_document(theirs),
        "axes": baseline.axes,
        **sliced_by(query),
        **to_document(found),
        "inputs": to_document(inputs),
        "warnings": to_document([*_units(baseline, contender), *doubts]),
    }


def _side(row: Any, joined: Aliases) -> ComparedGrid:
    """Names, revision and digest of a row, with aliases replaced by the names behind them."""
    return ComparedGrid(
        grid=row.grid_id and str(row.grid_id),
        revision=row.number or None,
        digest="sha256:" + bytes(row.digest).hex(),
        experiment=joined.get(("experiment", row.experiment), row.experiment),
        metric=row.metric,
        **canonical_names(row, joined),
    )


def _names_apart(mine: ComparedGrid, theirs: ComparedGrid) -> Iterator[str]:
    """Names in which two grids differ, in the order in which they are told."""
    kinds = ("experiment", "model", "benchmark", "variant")
    yield from (kind for kind in kinds if getattr(mine, kind) != getattr(theirs, kind))
    if mine.metric["name"] != theirs.metric["name"]:
        yield "metric"


def _units(first: Any, second: Any) -> Iterator[Warning]:
    theirs = {axis["name"]: axis["unit"] for axis in second.axes}
    for axis in first.axes:
        mine, other = axis["unit"], theirs.get(axis["name"])
        if mine and other and mine != other:
            detail = f'The axis "{axis["name"]}" is in {mine} in the baseline and in {other} in the contender.'
            yield Warning("axis_units", detail)
