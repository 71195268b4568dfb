"""A gap against a margin: what a policy allows, by inclusion of a confidence set, with its one-sided p.

Every set has one-sided ends at the level alpha: their wrong passes, and their wrong alarms, each have a probability of
at most alpha (Schuirmann 1987; `judging`). Gaps are turned here so that positive is better. Proportions of one cell:
the score test of Miettinen and Nurminen (1985), against a floor Clopper and Pearson's limits (1934); other estimates:
the normal law, or Student's t where an error was estimated; an exact value is its own set. Proportions of the same
items: Tango's score test (1998) with McNemar's exact test at 0 (`PairedSample`).

The difference of two paired proportions against a margin: Tango's score test, and McNemar's exact test at 0. Tango
(1998), Statistics in Medicine 17:891: the variance is that of the maximum likelihood estimates under the hypothesis
that the difference is the margin, as Miettinen and Nurminen have it for independent samples. At the margin 0 it is
McNemar's test by the normal law, which finds differences too often where few items differ. A hypothesis that allows 0
is therefore not rejected either while McNemar's exact test (1947), one-sided, does not reject 0.

The gap of a contender to a baseline, or of a contender to a floor: in each cell, on a benchmark, over benchmarks.

On a benchmark and over benchmarks the estimate and its error are those of comparisons (Mantel–Haenszel with Sato's
variance, else the mean of the differences). Where these give no error although the noise of every cell is known, as
when every trial came out the same, the error is that of the binomial variances at (k + 1/2) / (n + 1); where some cells
are exact, it is that of the others, since comparisons take the spread of such cells for noise. Where the noise
of a cell is unknown there is no error: that cells differ among themselves is no evidence of how they would repeat.
Where both sides have outcomes of the same items, these go before all of that but exact cells: one cell of bits by
`PairedSample`, else the differences of the items with errors clustered by item (`matching`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import bdtr, betainc, betaincinv, ndtr, ndtri, stdtr, stdtrit

from registry.grids.grid import Metric
from registry.plans.score_interval import TwoSamples, p_above, score_interval
from registry.results.gates import PolicyKind, Verdict
from workers.statistics.cells import noise
from workers.statistics.comparison import effective, of_trials
from workers.statistics.judging import Answer, Region, Span, judge
from workers.statistics.matching import Matched, PairedCell, Pairs, flips_of, together
from workers.statistics.terms import BoolArray, FloatArray

_HALVINGS = 50


@dataclass(frozen=True, slots=True)
class PairedSample:
    """Of n items, `up` came out 1 in the contender alone and `down` in the baseline alone."""

    up: int
    down: int
    n: int

    @property
    def difference(self) -> float:
        """The difference as it was observed, contender less baseline."""
        return (self.up - self.down) / self.n

    @property
    def stderr(self) -> float:
        """Bonett and Price's error (2012), which is not 0 where no item differs."""
        n = self.n + 2
        up, down = (self.up + 1) / n, (self.down + 1) / n
        return math.sqrt((up + down - (up - down) ** 2) / n)

    def span(self, alpha: float) -> Span:
        """The differences that neither one-sided test rejects at the level alpha."""
        critical = float(ndtri(1 - alpha))
        low, high = _end(self, critical), -_end(self.turned(), critical)
        return Span(
            min(low, 0.0) if self.turned().p_of_zero() >= alpha else low,
            max(high, 0.0) if self.p_of_zero() >= alpha else high,
        )

    def p_below(self, bound: float) -> float:
        """One-sided p of the hypothesis that the difference is no less than the bound."""
        p = float(ndtr(score(self, max(-1.0, min(1.0, bound)))))
        return max(p, self.p_of_zero()) if bound <= 0 else p

    def p_of_zero(self) -> float:
        """McNemar's exact p, one-sided: the chance of so few among the items that differ, were both sides equal."""
        both = self.up + self.down
        return float(bdtr(self.up, both, 0.5)) if both else 1.0

    def turned(self) -> PairedSample:
        """The sample of the difference the other way around."""
        return PairedSample(self.down, self.up, self.n)


def score(sample: PairedSample, margin: float) -> float:
    """Distance of the observed difference above a margin in standard errors, from -1 to 1."""
    b, c, n = sample.up, sample.down, sample.n
    linear = (2 * n - b + c) * margin - b - c
    only_down = (math.sqrt(max(0.0, linear**2 + 8 * n * c * margin * (1 - margin))) - linear) / (4 * n)
    variance = n * (2 * only_down + margin * (1 - margin))
    apart = b - c - n * margin
    if abs(apart) < 1e-9:
        return 0.0
    return apart / math.sqrt(variance) if variance > 0 else math.copysign(math.inf, apart)


def _end(sample: PairedSample, critical: float) -> float:
    """The largest margin below the observed difference that the test rejects."""
    low, high = -1.0, sample.difference
    if score(sample, low) < critical:
        return low
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if score(sample, middle) > critical else (low, middle)
    return (low + high) / 2


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

    def turned(self) -> OneSample:
        """The failures, against a rate that is not to be surpassed."""
        return OneSample(self.n - self.k, self.n, 1 - self.floor)


Sample = TwoSamples | OneSample | PairedSample


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

    def turned(self) -> Estimate:
        """The estimate of the gap the other way around."""
        return replace(self, gap=-self.gap, sample=None if self.sample is None else self.sample.turned())

    def span(self, alpha: float) -> Span | None:
        """Parts of the line that are left at the level alpha on either side; None where the noise is unknown."""
        if self.sample is not None:
            ends = (
                Span(*score_interval(self.sample, alpha))
                if isinstance(self.sample, TwoSamples)
                else self.sample.span(alpha)
            )
            return Span(ends.low * self.whole, ends.high * self.whole)
        if self.stderr is None:
            return None
        if self.stderr == 0:
            return Span(self.gap, self.gap)
        reach = self.stderr * float(ndtri(1 - alpha) if math.isinf(self.df) else stdtrit(self.df, 1 - alpha))
        return Span(self.gap - reach, self.gap + reach)

    def p_below(self, bound: float) -> float | None:
        """One-sided p of the hypothesis that the gap is no less than the bound."""
        if isinstance(self.sample, OneSample | PairedSample):
            return self.sample.p_below(bound / self.whole)
        if self.sample is not None:
            return p_above(self.sample.turned(), max(-1.0, min(1.0, -bound / self.whole)))
        if self.stderr is None:
            return None
        if self.stderr == 0:
            return 0.0 if self.gap < bound else 1.0
        z = (self.gap - bound) / self.stderr
        return float(ndtr(z) if math.isinf(self.df) else stdtr(self.df, z))


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
    """One-sided p of the hypothesis that the gap is allowed."""
    if kind == "equivalent":
        both = estimate.p_below(-margin), estimate.turned().p_below(-margin)
        return None if both[0] is None or both[1] is None else min(both[0], both[1])
    return estimate.p_below({"improves": margin, "floor": 0.0}.get(kind, -margin))


def answer_of(kind: PolicyKind, margin: float, span: Span | None) -> Answer:
    """Tell whether the policy is shown to hold, or not to."""
    return judge(region_of(kind, margin), span)


def verdict_of(kind: PolicyKind, margin: float, span: Span | None) -> Verdict:
    """The word for what a set shows, the strongest that it does."""
    shown: dict[Verdict, Region] = {
        "regressed": [Span(-math.inf, -margin, high_open=True)],
        "improved": [Span(0.0, math.inf, low_open=True)],
        "equivalent": [Span(-margin, margin)],
        "non_inferior": [Span(-margin, math.inf)],
    }
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
    # Beside trials a posted error of 0 is what harnesses write for 0 or 100 %, and says nothing.
    posted = (found.repeats == 0) & (found.trials == 0)
    exact = (found.stderr == 0) & (posted | (found.repeats >= SURE_REPEATS))
    variance = np.where(exact, 0.0, np.where(variance > 0, variance, np.nan))
    trials = of_trials(found) & ~exact
    k, n = effective(found, whole) if whole else (np.zeros(found.values.shape), np.zeros(found.values.shape))
    return CellNoise(np.where(trials, k, 0.0), np.where(trials, n, 0.0), variance, df, exact)


def cell_gap(found: Matched, noisy: CellNoise, whole: float | None, i: int) -> Estimate:
    """The gap in one cell."""
    gap = float(found.gaps[i]) / 10.0**found.decimals
    if whole and noisy.n[:, i].all():
        (k1, k2), (n1, n2) = noisy.k[:, i].tolist(), noisy.n[:, i].tolist()
        error = math.sqrt(float(noisy.variance[:, i].sum()))
        return Estimate(gap, error, math.inf, TwoSamples(k1, n1, k2, n2), whole)
    return _estimate(gap, noisy.variance[:, i], noisy.df[:, i])


def paired_gap(pairs: Pairs, noisy: CellNoise, cells: Sequence[int]) -> Estimate | None:
    """The gap in these cells by their items; None where these are not paired, do not vary, or a cell is exact."""
    chosen = np.array(cells, dtype=np.int64)
    if noisy.exact[:, chosen].any():
        return None
    [first, *more] = (pairs.cells[i] for i in cells)
    if not more and isinstance(first, PairedCell) and first.is_bits:
        flips = flips_of(first)
        sample = PairedSample(flips.only_contender, flips.only_baseline, first.of[1])
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


def benchmark_gap(
    found: Matched, noisy: CellNoise, difference: float | None, stderr: float | None, df: float | None
) -> Estimate:
    """The gap on a benchmark, from what the comparison says of it as far as it says anything."""
    known = bool(np.isfinite(noisy.variance).all())
    if difference is not None and stderr and known and not noisy.exact.any():
        return Estimate(difference, stderr, math.inf if df is None else df)
    gaps = found.gaps / 10.0**found.decimals
    trials = noisy.n.all(axis=0).all()
    weight = noisy.n[0] * noisy.n[1] / noisy.n.sum(axis=0) if trials else np.ones(found.count)
    weight = weight / weight.sum()
    parts = noisy.variance * weight**2
    plain = float(np.sum(gaps * weight))
    return _estimate(plain if difference is None else difference, parts.ravel(), noisy.df.ravel())


def overall_gap(
    parts: Sequence[Estimate], difference: float | None, stderr: float | None, df: float | None, *, exact: bool = False
) -> Estimate:
    """The gap over benchmarks, which weigh the same; `exact` says that some of their cells are."""
    gap = math.fsum(one.gap for one in parts) / len(parts)
    if all(one.paired for one in parts):
        return parts[0] if len(parts) == 1 else replace(_mean(gap, parts), paired=True)
    if any(one.stderr is None for one in parts):
        return Estimate(gap if difference is None else difference, None)
    if difference is not None and stderr and not exact and any(one.stderr for one in parts):
        return Estimate(difference, stderr, math.inf if df is None else df)
    return _mean(gap, parts)


def _mean(gap: float, parts: Sequence[Estimate]) -> Estimate:
    variance = np.array([((one.stderr or 0.0) / len(parts)) ** 2 for one in parts])
    return _estimate(gap, variance, np.array([one.df for one in parts]))


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
