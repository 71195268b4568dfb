"""How far one model is from another: on every benchmark, and over all of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Literal

from registry.results.comparison import ComparedRevision
from registry.results.gaps import Contrast
from registry.results.grid import PostedMetric
from registry.results.inputs import DerivedGrid, Input, Warning
from registry.results.pairs import Pair
from registry.results.protocols import DifferingKeys
from registry.results.selected import About
from registry.results.stability import WithoutOne
from registry.results.statistics import Assumptions
from registry.results.terms import Count, Instant, Keyword, P, Presence, Reason, SliceDocument, Status


@dataclass(frozen=True, slots=True)
class ComparedModel:
    """A side of a comparison by names."""

    model: Annotated[str, "An alias is replaced by what it stands for."]
    variant: Annotated[str | None, "As it was asked for; null: on each benchmark the one that both have."] = None


@dataclass(frozen=True, slots=True)
class PairedGrid(ComparedRevision):
    """The grid of a side on one benchmark."""

    variant: Annotated[str, "Its method or condition."] = ""


@dataclass(frozen=True, slots=True)
class BenchmarkGap(Contrast):
    """One benchmark: what the comparison of both grids by their ids says of all common cells. `test.p_holm` is Holm's
    over the benchmarks."""

    benchmark: Annotated[str, "What was measured."] = ""
    baseline: Annotated[PairedGrid | None, "The baseline's grid; null where no variant is in common."] = None
    contender: Annotated[PairedGrid | None, "The contender's grid."] = None
    href: Annotated[str | None, "The comparison of these revisions by id, with every cell."] = None
    protocol: DifferingKeys = None


@dataclass(frozen=True, slots=True)
class BenchmarkHeterogeneity:
    """Whether benchmarks differ more than their errors explain: Cochran's (1954) Q where these are known, Welch's
    (1951) F where some were estimated."""

    status: Status
    benchmarks: Annotated[Count, "Benchmarks whose difference has an error above 0: those that are tested."]
    test: Annotated[Literal["cochran_q", "welch"] | None, "The test that was used; null: none."] = None
    statistic: Annotated[float | None, "Q, or F."] = None
    df: Annotated[int | None, "Degrees of freedom: benchmarks less one."] = None
    df_error: Annotated[float | None, "welch: degrees of freedom of the errors."] = None
    p: P = None
    reason: Reason = None


@dataclass(frozen=True, slots=True)
class WholeGap(Pair):
    """All benchmarks together: the pair of both names in the ranking of these two, `a` the contender and `b` the
    baseline. It is about these cells, run again (`rerun`)."""

    weights: Annotated[
        Literal["benchmarks_equal"],
        "Every benchmark that both have weighs the same; within one, slots weigh the same, or by their trials as "
        "Mantel and Haenszel weigh them.",
    ] = "benchmarks_equal"
    benchmarks_won: Annotated[
        int | None, "Benchmarks on which the contender's estimate is better; null for a metric without a better end."
    ] = None
    benchmarks_tied: Annotated[int | None, "Benchmarks on which both are as good."] = None
    benchmarks_lost: Annotated[int | None, "Benchmarks on which the baseline's estimate is better."] = None
    significant_wins: Annotated[int | None, "Of those won, the ones with `p_holm` below alpha."] = None
    significant_losses: Annotated[int | None, "Of those lost, the ones with `p_holm` below alpha."] = None
    paired: Annotated[
        bool, "Whether every benchmark was compared item by item: the error then comes from theirs.", Presence.OPTIONAL
    ] = False
    heterogeneity: BenchmarkHeterogeneity | None = None
    new_benchmarks: Annotated[
        Pair | None,
        "The same difference with the benchmarks taken as a sample of others: its error comes from how the benchmarks "
        "differ, by Student's t.",
    ] = None
    without: Annotated[
        tuple[WithoutOne, ...], "The same difference when each benchmark is left out in turn.", Presence.OPTIONAL
    ] = ()


@dataclass(frozen=True, slots=True)
class ModelComparison:
    """How far one model is from another, contender less baseline; or one variant from another."""

    status: Annotated[Status, "confounded: both model and variant differ."]
    experiment: Annotated[str, "The experiment that was asked about."]
    metric: Annotated[PostedMetric, Keyword("$ref", "#/components/schemas/Metric")] = field(
        default_factory=PostedMetric
    )
    baseline: ComparedModel = ComparedModel("")
    contender: ComparedModel = ComparedModel("")
    alpha: Annotated[float, "The level of tests and intervals."] = 0.05
    differs: Annotated[tuple[str, ...], "What is not the same on the two sides: model, variant or both."] = ()
    suite: Annotated[str | None, "The suite that the benchmarks are from.", Presence.OMITTED] = None
    slice: SliceDocument = None
    whole: Annotated[WholeGap | None, "Null where no benchmark has a pair of grids, or several."] = None
    by_benchmark: Annotated[tuple[BenchmarkGap, ...], "The benchmarks that both have, by name."] = ()
    by_benchmark_left_out: Annotated[Count, "Benchmarks beyond the first thousand, which are not listed."] = 0
    only_in_baseline: Annotated[tuple[str, ...], "Benchmarks that only the baseline has."] = ()
    only_in_contender: Annotated[tuple[str, ...], "Benchmarks that only the contender has."] = ()
    assumes: Assumptions = ()
    reason: Reason = None
    inputs: Annotated[tuple[Input, ...], "The grids, and which revision of each."] = ()
    derived: Annotated[tuple[DerivedGrid, ...], "Grids that were declared to be made of others: not compared."] = ()
    warnings: Annotated[tuple[Warning, ...], "Doubts about the inputs."] = ()
    selection: About = None
    methods_version: Annotated[
        str | None, "Changes whenever a stored number would come out differently.", Presence.OMITTED
    ] = None
    computed_at: Annotated[Instant | None, "When it was computed.", Presence.OMITTED] = None
    state: Annotated[Literal["ready"], "It is computed."] = "ready"
