"""The documents of comparisons: `Comparison` of two grids, `ModelComparison` of two models, and their parts.
`workers/answers/comparisons.py` fills them; `renderings/comparison.py` and `comparison_of_models.py` write them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Literal

from registry.results.courses import XScale
from registry.results.grid import PostedMetric
from registry.results.pairs import Pair, WithoutOne
from registry.results.sensitivity import BreslowDay, OddsRatio
from registry.results.statistics import Assumptions, AxisDocument
from registry.results.terms import (
    About,
    At,
    Count,
    DerivedGrid,
    Detectable,
    DifferingKeys,
    Digest,
    Identifier,
    Input,
    Instant,
    Interval,
    Keyword,
    LevelName,
    P,
    Presence,
    Reason,
    SliceDocument,
    Status,
    Warning,
)
from registry.results.trend_tests import GridTrend, MannKendall

Better = Literal["contender", "baseline", "tie"]
CellTest = Literal["score", "z", "welch", "mcnemar", "paired_t"]


@dataclass(frozen=True, slots=True)
class Flips:
    """Items by what came out of them in both grids, 1 or 0."""

    both: Annotated[Count, "1 in both."]
    only_contender: Annotated[Count, "1 in the contender alone."]
    only_baseline: Annotated[Count, "1 in the baseline alone."]
    neither: Annotated[Count, "0 in both."]


@dataclass(frozen=True, slots=True)
class McNemar:
    """McNemar's test of the items that came out differently, two-sided (Fagerland, Lydersen and Laake 2013)."""

    p: Annotated[float, "Exact: the binomial law of one half."]
    mid_p: Annotated[float, "The same with half of the probability of what was seen; less cautious."]


@dataclass(frozen=True, slots=True)
class CellItems:
    """Outcomes of the same items in a cell of both grids."""

    items: Annotated[Count, "Different items; one that is in several cells counts once."]
    flips: Annotated[Flips | None, "Over all cells; null where outcomes are scores."] = None
    mcnemar: Annotated[
        McNemar | None, "Null for scores, and where an item is in several cells: these are not independent."
    ] = None


@dataclass(frozen=True, slots=True)
class ItemPairs(CellItems):
    """Whether these cells were compared item by item. If so, `test` is of the differences of the items: McNemar's in
    one cell of bits, else Student's t, with errors clustered by the item (Miller 2024, equation 4)."""

    paired: Annotated[bool, "Whether every cell has outcomes of the same items in both grids."] = False
    cells: Annotated[Count, "Cells that have."] = 0
    caution: Annotated[str | None, "Why the error may be too small; absent without doubts.", Presence.OMITTED] = None
    reason: Reason = None


@dataclass(frozen=True, slots=True)
class GapTest:
    """Whether the mean gap differs from 0. For these very cells: with outcomes of the same items by their differences,
    with trials by the score test, with standard errors by z or Welch's t. For other cells of the kind, where the noise
    of some cell is not known: `t_over_cells`, Student's t over the cells."""

    status: Status
    name: Annotated[str | None, "The test that was used; null: none."] = None
    difference: Annotated[float | None, "The estimate that `interval` and `p` belong to."] = None
    interval: Interval | None = None
    stderr: Annotated[float | None, "Of `difference`; null where the test has none."] = None
    df: Annotated[float | None, "Degrees of freedom of its t law; null where the law is normal or exact."] = None
    p: P = None
    p_holm: Annotated[float | None, "Holm over the levels of the axis; null for all cells together."] = None
    detectable: Detectable = None
    reason: Reason = None


@dataclass(frozen=True, slots=True)
class Contrast:
    """Some cells: who wins more of them, the mean gap and its test; not_comparable without a common cell."""

    status: Status
    n_common: Annotated[Count, "Cells that both grids have."] = 0
    wins: Annotated[int | None, "Cells where the contender is better; null for a metric without a better end."] = None
    ties: Annotated[int | None, "Cells where both are as good."] = None
    losses: Annotated[int | None, "Cells where the baseline is better."] = None
    mean: Annotated[
        float | None, "Contender less baseline, in the metric's unit; every common cell weighs the same."
    ] = None
    median: Annotated[float | None, "The median of the gaps, in the metric's unit."] = None
    test: GapTest | None = None
    reason: Reason = None
    items: Annotated[ItemPairs | None, Presence.OMITTED] = None


@dataclass(frozen=True, slots=True)
class LevelGap(Contrast):
    """The gap at one level of an axis."""

    level: LevelName = ""


@dataclass(frozen=True, slots=True)
class GapMargin:
    """The gap at the levels of one axis."""

    levels: Annotated[tuple[LevelGap, ...], "One for each level that both grids have."]
    left_out: Annotated[Count, "Levels beyond the limit, which are not listed."]


@dataclass(frozen=True, slots=True)
class CellGap:
    """The gap in one cell."""

    at: At
    baseline: Annotated[float, "The baseline's value, in the metric's unit."]
    contender: Annotated[float, "The contender's value, in the metric's unit."]
    gap: Annotated[float, "Contender less baseline, in the metric's unit."]
    better: Annotated[Better | None, "Which is better; null for a metric without a better end."]
    interval: Annotated[
        Interval | None,
        "By the score test with trials, which errs in up to 7 % at some rates where trials are few; z or Welch's t "
        "with standard errors; Tango's or t by items. Of a gap that is shown its level is 1 - R alpha / m, with R "
        "shown of m tested cells.",
    ]
    p: Annotated[float | None, "The p-value of the cell; null without noise."]
    p_holm: Annotated[float | None, "Holm over all tested cells."]
    test: Annotated[CellTest | None, "The test that was used; null: none."]
    items: Annotated[CellItems | None, "Where the cell was compared item by item.", Presence.OMITTED] = None


@dataclass(frozen=True, slots=True)
class SeriesGap:
    """The gap along one series."""

    at: At
    count: Annotated[Count, "How many cells of the series both have."]
    slope: Annotated[float | None, "Theil-Sen of the gap on the axis values; null below two cells."]
    slope_interval: Annotated[Interval | None, "Null where no ordering of so few points could be significant."]
    mann_kendall: MannKendall


@dataclass(frozen=True, slots=True)
class GapTrend:
    """How the gap changes along an axis with an order, over all series of two common cells or more."""

    along: Annotated[str, "The axis."]
    x_scale: Annotated[XScale, "log10: slopes are per factor of ten of the axis."]
    status: Status
    series_count: Annotated[Count, "How many series there are."]
    slope: Annotated[float | None, "The median of all slopes within series (Hirsch, Slack and Smith)."] = None
    slope_interval: Annotated[
        Interval | None,
        "Sen's, with the variances of all series (Gilbert); null where no ordering could be significant.",
    ] = None
    slope_series_used: Annotated[Count, "How many of them the slope comes from."] = 0
    mann_kendall: GridTrend | None = None
    series: Annotated[tuple[SeriesGap, ...], "The gap along each series."] = ()
    series_left_out: Annotated[Count, "Series beyond the limits, which are not listed."] = 0
    reason: Reason = None


@dataclass(frozen=True, slots=True)
class ComparedRevision:
    """A revision of a grid that a comparison is made from."""

    grid: Annotated[Identifier, "The grid's id."] = ""
    revision: Annotated[Count, "The revision that was compared."] = 0
    digest: Annotated[Digest, "Of that revision's content."] = ""


@dataclass(frozen=True, slots=True)
class ComparedGrid:
    """A grid of a comparison."""

    grid: Annotated[Identifier | None, "The grid's id; null: it is not published."] = None
    revision: Annotated[Count | None, "The revision that was compared; null: it is not published."] = None
    digest: Annotated[Digest, "Of that revision's content."] = ""
    experiment: Annotated[str, "Aliases are replaced by what they stand for."] = ""
    benchmark: Annotated[str, "What was measured."] = ""
    model: Annotated[str, "What it was measured on."] = ""
    variant: Annotated[str, "The method or condition."] = ""
    metric: Annotated[PostedMetric, Keyword("$ref", "#/components/schemas/Metric")] = field(
        default_factory=PostedMetric
    )


@dataclass(frozen=True, slots=True)
class OnlyIn:
    """Cells that only one of the grids has."""

    count: Annotated[Count, "How many cells."] = 0
    at: Annotated[tuple[At, ...], "The first hundred, in the grid's own order."] = ()


@dataclass(frozen=True, slots=True)
class Agreement:
    """Kendall's tau-b over the common cells."""

    status: Status
    tau: Annotated[float | None, "From -1 to 1."] = None
    reason: Reason = None


@dataclass(frozen=True, slots=True)
class Gap(Contrast):
    """The gap between two grids: null and empty fields where the numbers would have no meaning."""

    status: Annotated[
        Status,
        "confounded: more than one of model, benchmark, variant, metric differs. not_comparable: no cell in common, "
        "or protocols that differ in a binding key. undefined: units, directions or scales differ, so that only "
        "coverage and agreement mean anything.",
    ]
    alpha: Annotated[float, "The level of tests and intervals."] = 0.05
    differs: Annotated[tuple[str, ...], "What is not the same in the two grids."] = ()
    protocol: DifferingKeys = None
    only_in_baseline: OnlyIn = OnlyIn()
    only_in_contender: OnlyIn = OnlyIn()
    by: Annotated[Mapping[str, GapMargin] | None, "By the levels of each axis."] = None
    along: Annotated[tuple[GapTrend, ...], "How the gap changes along each axis with an order."] = ()
    odds_ratio: Annotated[OddsRatio | None, "Over the cells with trials in both grids."] = None
    breslow_day: BreslowDay | None = None
    agreement: Annotated[Agreement | None, "Are the same cells hard for both?"] = None
    assumes: Assumptions = ()
    cells: Annotated[tuple[CellGap, ...], "The common cells, in row-major order."] = ()
    cells_left_out: Annotated[Count, "Common cells beyond the limit, which are not listed."] = 0


@dataclass(frozen=True, slots=True)
class Comparison(Gap):
    """How far one grid is from another."""

    baseline: ComparedGrid = ComparedGrid()
    contender: ComparedGrid = ComparedGrid()
    axes: Annotated[tuple[AxisDocument, ...], "The axes that both grids have, with the levels of both."] = ()
    slice: SliceDocument = None
    inputs: Annotated[tuple[ComparedRevision, ...], "The grids that are published, the baseline first."] = ()
    warnings: Annotated[tuple[Warning, ...], "Doubts about the inputs."] = ()
    methods_version: Annotated[
        str | None, "Changes whenever a stored number would come out differently.", Presence.OMITTED
    ] = None
    computed_at: Annotated[Instant | None, "When it was computed.", Presence.OMITTED] = None
    state: Annotated[Literal["ready"], "It is computed."] = "ready"


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
    """Whether benchmarks differ more than their errors explain: Cochran's (1954) Q where these are known, the F of
    Brown and Forsythe (1974) where some were estimated."""

    status: Status
    benchmarks: Annotated[Count, "Benchmarks whose difference has an error above 0: those that are tested."]
    test: Annotated[Literal["cochran_q", "brown_forsythe"] | None, "The test that was used; null: none."] = None
    statistic: Annotated[float | None, "Q; of brown_forsythe F times df."] = None
    df: Annotated[float | None, "Degrees of freedom: benchmarks less one, of brown_forsythe from 1 to that."] = None
    df_error: Annotated[float | None, "brown_forsythe: degrees of freedom of the errors."] = None
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
