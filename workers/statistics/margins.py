"""A gap against a margin, for gates and claims: what a policy allows, by a confidence set, with its one-sided p.

Every set has one-sided ends at the level alpha: their wrong passes, and their wrong alarms, each have a probability of
at most alpha (Schuirmann 1987; `judging`); both ends together are the interval of level 1 - 2 alpha that comparisons
have. Gaps are turned here so that positive is better. Proportions: the score test (`score_test`), against a floor
Clopper and Pearson's limits (1934); other estimates: the normal law, or Student's t where an error was estimated; an
exact value is its own set. Proportions of the same items: `paired_score`.

The gap of a contender to a baseline, or of a contender to a floor: in each cell, on a benchmark, over benchmarks. It is
the weighted sum of comparisons (`contrasts`): on a benchmark by Mantel and Haenszel's weights where only trials speak
for the noise, else the mean; over benchmarks their mean. Where some cells are exact the error is that of the others.
Where the noise of a cell is unknown there is no error: that cells differ among themselves is no evidence of how they
would repeat. Where both sides have outcomes of the same items, these go before all of that but exact cells: one cell of
bits by `PairedSample`, else the differences of the items with errors clustered by item (`matching`).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import bdtrc, bdtrik, betainc, betaincinv, ndtr, ndtri, stdtr, stdtrit

from registry.grids.grid import Metric
from registry.plans.closed_forms import smallest_factor
from registry.results.gates import PolicyKind, Verdict
from workers.statistics.cells import noise
from workers.statistics.comparison import cell_df, effective, of_trials
from workers.statistics.judging import Answer, Region, Span, judge
from workers.statistics.matching import Matched, PairedCell, Pairs, sample_of, together
from workers.statistics.noise import uncertainty
from workers.statistics.paired_score import PairedSample
from workers.statistics.score_test import Strata
from workers.statistics.terms import BoolArray, FloatArray


@dataclass(frozen=True, slots=True)
class OneSample:
    """k successes of n trials, against a rate that is to be reached."""

    k: float
    n: float
    floor: float

    def span(self, alpha: float) -> Span:
        """Clopper and Pearson's limits (1934) less the rate, each with one side at alpha."""
        low = float(betaincinv(self.k, self.n - self.k + 1, alpha)) if self.k > 0 else 0.0
        high = float(betaincinv(self.k + 1, self.n - self.k, 1 - alpha)) if self.k < self.n else 1.0
        return Span(low - self.floor, high - self.floor)

    def p_below(self, bound: float) -> float:
        """The binomial test that the rate is no less than the floor and the bound: the chance of k or fewer."""
        rate = min(max(self.floor + bound, 0.0), 1.0)
        return float(betainc(self.n - self.k, self.k + 1, 1 - rate)) if self.k < self.n else 1.0

    def factor(self, alpha: float, power: float) -> float:
        """By how many times the trials of this rate the binomial test shows with this probability on which side of the
        floor it is; infinite beyond 10^9 times. By bisection, as if the power never fell with a trial more."""
        rate, floor = self.k / self.n, self.floor
        if rate < floor:
            return self.turned().factor(alpha, power)

        def shows(factor: float) -> bool:
            trials = math.ceil(factor * self.n)
            least = math.ceil(bdtrik(1 - alpha, trials, floor))
            return bool(bdtrc(least, trials, rate) >= power)

        found = smallest_factor(shows)
        return math.ceil(found * self.n) / self.n if math.isfinite(found) else found

    def turned(self) -> "OneSample":
        """The failures, against a rate that is not to be surpassed."""
        return OneSample(self.n - self.k, self.n, 1 - self.floor)


@dataclass(frozen=True, slots=True)
class Counts:
    """Counts of both sides over slots: one pair, the contender first."""

    strata: Strata

    def p_below(self, bound: float) -> float:
        """One-sided p of the hypothesis that the difference is no less than the bound."""
        return float(ndtr(self.strata.deviate(np.clip([bound], -1.0, 1.0))[0]))

    def factor(self, bound: float, alpha: float, power: float) -> float:
        """By how many times the trials of these rates the test shows with this probability on which side of the bound
        the difference is; infinite beyond 10^9 times."""
        at = np.array([bound])
        needed = float(ndtri(1 - alpha) + ndtri(power) * self.strata.power_needs(at)[0])
        return smallest_factor(lambda factor: abs(self.strata.times(factor).deviate(at)[0]) >= needed)

    def turned(self) -> "Counts":
        """The counts of the difference the other way around."""
        return Counts(self.strata.turned())


Sample = Counts | OneSample | PairedSample


@dataclass(frozen=True, slots=True)
class Estimate:
    """A gap in the metric's unit. `stderr` is None where the noise is unknown, 0 of an exact value; `df` infinite where
    no error was estimated. With a `sample` (the contender first, on a scale of `whole`) that is the estimate. `paired`
    when it is of the differences of the same items."""

    gap: float
    stderr: float | None
    df: float = math.inf
    sample: Sample | None = None
    whole: float = 1.0
    paired: bool = False

    def turned(self) -> "Estimate":
        """The estimate of the gap the other way around."""
        return replace(self, gap=-self.gap, sample=None if self.sample is None else self.sample.turned())

    def p_below(self, bound: float) -> float | None:
        """One-sided p of the hypothesis that the gap is no less than the bound."""
        if self.sample is not None:
            return self.sample.p_below(bound / self.whole)
        if self.stderr is None:
            return None
        if self.stderr == 0:
            return 0.0 if self.gap < bound else 1.0
        z = (self.gap - bound) / self.stderr
        return float(ndtr(z) if math.isinf(self.df) else stdtr(self.df, z))


def spans(estimates: Sequence[Estimate], alpha: float) -> list[Span | None]:
    """Of each the part of the line that is left at the level alpha on either side; None where the noise is unknown. The
    counts of as many slots are asked at once."""
    found = dict[int, Span | None]()
    counts: dict[int, dict[int, Strata]] = {}
    for i, one in enumerate(estimates):
        if isinstance(one.sample, Counts):
            counts.setdefault(one.sample.strata.weight.shape[1], {})[i] = one.sample.strata
        else:
            found[i] = _span(one, alpha)
    for alike in counts.values():
        ends = Strata.stacked(list(alike.values())).ends(np.full(len(alike), ndtri(1 - alpha)))
        for i, low, high in zip(alike, *(end.tolist() for end in ends), strict=True):
            found[i] = Span(low * estimates[i].whole, high * estimates[i].whole)
    return [found[i] for i in range(len(estimates))]


def _span(one: Estimate, alpha: float) -> Span | None:
    if isinstance(one.sample, OneSample | PairedSample):
        ends = one.sample.span(alpha)
        return Span(ends.low * one.whole, ends.high * one.whole)
    if one.stderr is None:
        return None
    if one.stderr == 0:
        return Span(one.gap, one.gap)
    reach = one.stderr * float(ndtri(1 - alpha) if math.isinf(one.df) else stdtrit(one.df, 1 - alpha))
    return Span(one.gap - reach, one.gap + reach)


def region_of(kind: PolicyKind, margin: float) -> Region:
    """The gaps that a policy allows; of a floor the gap is that to the floor."""
    match kind:
        case "improves":
            return [Span(margin, math.inf, low_open=True)]
        case "equivalent":
            return [Span(-margin, margin)]
        case "floor":
            return [Span(0.0, math.inf)]
        case _:
            return [Span(-margin, math.inf)]


def p_allowed(kind: PolicyKind, margin: float, estimate: Estimate) -> float | None:
    """The p of the hypothesis that the gap is allowed: one-sided; of `equivalent` of both tails, where the gap is as
    large as the margin."""
    if kind == "equivalent":
        both = estimate.p_below(-margin), estimate.turned().p_below(-margin)
        return None if both[0] is None or both[1] is None else min(both[0], both[1]) + 1 - max(both[0], both[1])
    return estimate.p_below(limit_of(kind, margin))


def limit_of(kind: PolicyKind, margin: float) -> float:
    """The least gap that a policy allows; of a floor the gap is that to the floor."""
    return {"improves": margin, "floor": 0.0}.get(kind, -margin)


def answer_of(kind: PolicyKind, margin: float, span: Span | None) -> Answer:
    """Tell whether the policy is shown to hold, or not to."""
    return judge(region_of(kind, margin), span)


def verdict_of(kind: PolicyKind, margin: float, span: Span | None) -> Verdict:
    """The word for what a set shows, the strongest that it does."""
    if kind == "floor":
        words: dict[Answer, Verdict] = {"supported": "reached", "contradicted": "missed"}
        return words.get(answer_of(kind, margin, span), "inconclusive")
    better: Region = [Span(0.0, math.inf, low_open=True)]
    shown: dict[Verdict, Region] = {"regressed": [Span(-math.inf, -margin, high_open=True)]}
    if kind == "improves":
        shown |= {"missed": [Span(-math.inf, margin)], "improved": better}
    else:
        shown |= {"improved": better, "equivalent": [Span(-margin, margin)], "non_inferior": [Span(-margin, math.inf)]}
    found: list[Verdict] = [word for word, region in shown.items() if judge(region, span) == "supported"]
    worse = judge([Span(-math.inf, 0.0, high_open=True)], span) == "supported"
    if worse and "non_inferior" in found:
        return "worse_within_margin"
    if kind == "equivalent" and "equivalent" in found:
        return "equivalent"
    return found[0] if found else "inconclusive"


SURE_REPEATS = 3
"""Repeats from which on no spread at all is taken for no noise."""


@dataclass(frozen=True)
class CellNoise:
    """The noise of m common cells, the contender in row 0 and the baseline in row 1: effective successes and trials
    where only trials speak, variances (NaN: unknown) with their degrees of freedom, and which cells are exact."""

    k: FloatArray
    n: FloatArray
    variance: FloatArray
    df: FloatArray
    exact: BoolArray


def cell_noise(found: Matched, metric: Metric) -> CellNoise:
    """Noise of the cells, as far as it is known."""
    whole = metric.proportion_of
    _, _, variance, df, _ = noise(found.standings(metric))
    # Beside trials, or against errors above it, a posted error of 0 is what harnesses write that know none.
    posted = (found.repeats == 0) & (found.trials == 0)
    exact = (found.stderr == 0) & (posted | (found.repeats >= SURE_REPEATS))
    exact &= ~posted | exact.all(axis=0)
    variance = np.where(exact, 0.0, np.where(variance > 0, variance, np.nan))
    trials = of_trials(found) & ~exact
    k, n = effective(found, whole) if whole else (np.zeros(found.values.shape), np.zeros(found.values.shape))
    return CellNoise(np.where(trials, k, 0.0), np.where(trials, n, 0.0), variance, df, exact)


def gap_of(found: Matched, noisy: CellNoise, whole: float | None, cells: Sequence[int]) -> Estimate:
    """The gap in some cells of a benchmark."""
    chosen = np.array(cells, dtype=np.int64)
    gaps, n, k = found.gaps[chosen] / 10.0**found.decimals, noisy.n[:, chosen], noisy.k[:, chosen]
    counted = bool(whole) and bool(n.all())
    weight = n[0] * n[1] / n.sum(axis=0) if counted else np.ones(chosen.size)
    weight = weight / weight.sum()
    gap = math.fsum((gaps * weight).tolist())
    variances, df = noisy.variance[:, chosen] * weight**2, noisy.df[:, chosen]
    estimate = _estimate(gap, variances.ravel(), df.ravel())
    if math.isfinite(estimate.df):
        estimate = replace(estimate, df=float(variances.sum()) ** 2 / float(uncertainty(variances, df)))
    if len(cells) == 1 and math.isfinite(estimate.df):
        estimate = replace(estimate, df=float(cell_df(noisy.variance, noisy.df)[cells[0]]))
    if not counted or not whole:
        return estimate
    strata = Strata(k[:1], n[:1], k[1:], n[1:], weight[None, :], np.array([gap / whole]))
    return replace(estimate, sample=Counts(strata), whole=whole)


def paired_gap(pairs: Pairs, noisy: CellNoise, cells: Sequence[int]) -> Estimate | None:
    """The gap in these cells by their items; None where these are not paired, do not vary, or a cell is exact."""
    chosen = np.array(cells, dtype=np.int64)
    if noisy.exact[:, chosen].any():
        return None
    [first, *more] = (pairs.cells[i] for i in cells)
    if not more and isinstance(first, PairedCell) and first.is_bits:
        sample = sample_of(first)
        error = sample.stderr * pairs.whole
        return Estimate(sample.difference * pairs.whole, error, math.inf, sample, pairs.whole, paired=True)
    _, test = together(pairs, chosen, 0.05)
    if test is None or test.difference is None or not test.stderr:
        return None
    return Estimate(test.difference, test.stderr, math.inf if test.df is None else test.df, paired=True)


def _estimate(gap: float, variance: FloatArray, df: FloatArray) -> Estimate:
    """A sum of independent parts with these variances, by Welch's degrees of freedom."""
    total = float(variance.sum())
    if not math.isfinite(total):
        return Estimate(gap, None)
    weight = float(np.sum(variance**2 / df))
    return Estimate(gap, math.sqrt(total), total**2 / weight if weight > 0 else math.inf)


def overall_gap(parts: Sequence[Estimate]) -> Estimate:
    """The gap over benchmarks, which weigh the same."""
    if len(parts) == 1:
        return parts[0]
    gap = math.fsum(one.gap for one in parts) / len(parts)
    if any(one.stderr is None for one in parts):
        return Estimate(gap, None)
    variance = np.array([((one.stderr or 0.0) / len(parts)) ** 2 for one in parts])
    found = replace(
        _estimate(gap, variance, np.array([one.df for one in parts])), paired=all(one.paired for one in parts)
    )
    counts = [one.sample.strata for one in parts if isinstance(one.sample, Counts)]
    if len(counts) < len(parts):
        return found
    return replace(found, sample=Counts(joined(counts, gap / parts[0].whole)), whole=parts[0].whole)


def joined(counts: Sequence[Strata], difference: float) -> Strata:
    """One pair over the slots of all benchmarks, which weigh the same."""
    k1, n1, k2, n2 = (np.hstack([getattr(one, name) for one in counts]) for name in ("k1", "n1", "k2", "n2"))
    return Strata(k1, n1, k2, n2, np.hstack([one.weight for one in counts]) / len(counts), np.array([difference]))


def to_floor(found: Sequence[tuple[Matched, CellNoise]], floor: float, whole: float | None, cells: slice) -> Estimate:
    """The contender's mean less a floor: over benchmarks, each the mean of these of its cells."""
    means = [float(one.values[0, cells].mean()) for one, _ in found]
    sizes = [one.values[0, cells].size for one, _ in found]
    share = 1 / len(found)
    variance = np.concatenate(
        [noisy.variance[0, cells] * (share / size) ** 2 for (_, noisy), size in zip(found, sizes, strict=True)]
    )
    df = np.concatenate([noisy.df[0, cells] for _, noisy in found])
    value, total = share * math.fsum(means), float(variance.sum())
    counted = whole and all(noisy.n[0, cells].all() for _, noisy in found)
    if not counted or not whole or not math.isfinite(total) or total == 0:
        return _estimate(value - floor, variance, df)
    weights = np.concatenate([np.full(size, share / size) for size in sizes])
    k, trials = (
        np.concatenate([getattr(noisy, name)[0, cells] for _, noisy in found]).astype(np.float64) for name in ("k", "n")
    )
    n = _trials_of_mean(k, trials, weights, total / whole**2)
    return Estimate(value - floor, math.sqrt(total), math.inf, OneSample(value / whole * n, n, floor / whole), whole)


def _trials_of_mean(k: FloatArray, n: FloatArray, weights: FloatArray, variance: float) -> float:
    """Trials of one proportion that says as much as this weighted mean of proportions.

    Where every trial came out the same, the least of n / w: the product of p^n is then at most (sum of w p) to that
    power, whatever the rates are, and the limit exact. Else those of its variance (Korn and Graubard 1998, Survey
    Methodology 24:193), and no more than there are.
    """
    if (k == n).all() or (k == 0).all():
        return float((n / weights).min())
    smooth = float(np.sum(weights * (k + 0.5) / (n + 1)))
    return min(smooth * (1 - smooth) / variance, float(n.sum()))
