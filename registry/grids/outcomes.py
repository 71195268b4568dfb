"""Outcomes of items: one bit or one score for each question of a set that is behind the value of a cell.

An item set is a list of questions in an order; its digest stands for it. Grids whose cells have outcomes of the same
set are compared item by item (Miller 2024, arXiv 2411.00640).
"""

import hashlib
import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial, reduce
from statistics import NormalDist

import orjson

from registry.grids.grid import Cell, Metric

_normal = NormalDist().inv_cdf
_ROUNDING = 1e-9
"""Of a mean, relative: what adding up scores may be off by."""


@dataclass(frozen=True, slots=True)
class ItemSet:
    """A set of items by the SHA-256 that stands for their order (`sha256:` and 64 digits), and their ids if known."""

    name: str
    digest: str
    count: int
    ids: tuple[str, ...] | None = None
    clusters: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class Outcomes:
    """Outcomes of one cell in the order of the items: `bits`, packed with the first item in the highest bit of the
    first byte and 0 in the bits that are left over, or `scores` from 0 to 1. A score is the mean of `repeats` trials.
    `clusters` has a number for each item, the same where items are not independent: questions about one text.
    """

    count: int
    bits: bytes | None = None
    scores: tuple[float, ...] | None = None
    repeats: int = 1
    clusters: tuple[int, ...] | None = None

    @property
    def items(self) -> int:
        """The number of items, also where these are outcomes by cluster."""
        return self.count if self.clusters is None else len(self.clusters)

    @property
    def stderr(self) -> float | None:
        """Standard error of the mean, by clusters where there are some (Miller 2024, equation 4, with the G / (G - 1)
        of G clusters that Cameron and Miller 2015 advise); None of one item or cluster."""
        one = self.by_cluster()
        mean, free = one.mean, one.count - 1
        squares = (
            mean * (1 - mean) * one.count
            if one.bits is not None
            else math.fsum((x - mean) ** 2 for x in one.scores or ())
        )
        return math.sqrt(squares / free / one.count) if free else None

    def passes(self, k: int) -> tuple[float, float] | None:
        """Without bias, from the c of n repeats of each item that succeeded: how often at least one of k tries does,
        pass@k (Chen et al. 2021, arXiv 2107.03374), and how often all k do, pass^k = C(c, k) / C(n, k) (Yao et al.
        2024, tau-bench, arXiv 2406.12045). None of fewer repeats, or scores that count no successes."""
        n = self.repeats
        if k > n or _no_count(self) is not None:
            return None
        some = every = 0
        for right, items in Counter(round(score * n) for score in _scores(self)).items():
            some += items * (math.comb(n, k) - math.comb(n - right, k))
            every += items * math.comb(right, k)
        return some / (whole := self.count * math.comb(n, k)), every / whole

    def by_cluster(self) -> "Outcomes":
        """Scores of as many independent items as there are clusters, with the same mean and the standard error of this:
        the mean and G / n times the sum of the deviations within a cluster. They may lie outside of 0 to 1."""
        if self.clusters is None or self.count < len(self.clusters):
            return self
        mean, sums = self.mean, [0.0] * (max(self.clusters) + 1)
        for cluster, score in zip(self.clusters, _scores(self), strict=True):
            sums[cluster] += score - mean
        scores = tuple(mean + one * len(sums) / self.count for one in sums)
        return Outcomes(len(sums), scores=scores, repeats=self.repeats, clusters=self.clusters)

    @property
    def mean(self) -> float:
        """Mean of the outcomes, from 0 to 1."""
        if self.bits is not None:
            return int.from_bytes(self.bits).bit_count() / self.count
        return math.fsum(self.scores or ()) / self.count


Labels = tuple[str, ...]
"""A coordinate by the labels of its levels, in the order of the axes' names."""


@dataclass(frozen=True, slots=True)
class HeldItems:
    """Outcomes of one cell: of which set, in which cell, and what was posted there."""

    set_name: str
    digest: str
    at: Labels
    value: float
    trials: int | None
    outcomes: Outcomes

    def by_cluster(self) -> "HeldItems":
        """The same by cluster; the clusters belong to what the items are."""
        if (clusters := self.outcomes.clusters) is None:
            return self
        digest = f"{self.digest} {digest_of_ids([str(one) for one in clusters])}"
        return replace(self, digest=digest, outcomes=self.outcomes.by_cluster())


def digest_of_ids(ids: Sequence[str]) -> str:
    """Digest of a set: SHA-256 of its ids as one compact JSON array in UTF-8."""
    return "sha256:" + hashlib.sha256(orjson.dumps(list(ids))).hexdigest()


def size_of_bits(count: int) -> int:
    """Bytes that so many bits are packed in."""
    return (count + 7) // 8


def packed_bits(flags: Sequence[float]) -> bytes:
    """Bits of outcomes that are 0 or 1."""
    size = size_of_bits(len(flags))
    number = int("".join("1" if flag else "0" for flag in flags), 2) << (8 * size - len(flags))
    return number.to_bytes(size)


def flipped(before: Outcomes, after: Outcomes) -> tuple[list[int], list[int]]:
    """Positions of the items that were gained (from 0 to 1) and lost between outcomes of one set; for scores those that
    rose and fell."""
    pairs = list(zip(_scores(before), _scores(after), strict=True))
    return [n for n, (a, b) in enumerate(pairs) if b > a], [n for n, (a, b) in enumerate(pairs) if b < a]


def fourfold(before: Outcomes, after: Outcomes) -> dict[str, float | None]:
    """How far two outcomes in bits agree, by item: `both` 1, `neither`, the share that is the same, Cohen's kappa and
    its standard error (Fleiss, Cohen and Everitt 1969, equation 13), null where one side says the same of all items: it
    agrees as often as chance whatever the other says. `needed`
    items must differ for the share of those that were gained to be found; null where as many were lost. Nothing of
    scores."""
    if before.bits is None or after.bits is None:
        return {}
    one, other, n = int.from_bytes(before.bits), int.from_bytes(after.bits), before.count
    both, lost, gained = (found.bit_count() for found in (one & other, one & ~other, other & ~one))
    neither = n - both - lost - gained
    p, q, same = (both + lost) / n, (both + gained) / n, (both + neither) / n
    chance, kappa, error = p * q + (1 - p) * (1 - q), None, None
    if 0 < p < 1 and 0 < q < 1:
        kappa = (same - chance) / (1 - chance)
        left = 1 - kappa
        on = both * (1 - (p + q) * left) ** 2 + neither * (1 - (2 - p - q) * left) ** 2
        off = left**2 * (lost * (q + 1 - p) ** 2 + gained * (p + 1 - q) ** 2)
        variance = (on + off) / n - (kappa - chance * left) ** 2
        error = math.sqrt(max(0.0, variance) / n) / (1 - chance)
    needed = None if gained == lost else _discordant(max(gained, lost) / (gained + lost))
    told = {"both": both, "neither": neither, "agreement": same, "kappa": kappa, "kappa_stderr": error}
    return told | {"needed": needed}


def _discordant(share: float) -> int:
    """How many items must differ for McNemar's exact test to find at 0.05 with 80 % that so many of them were gained;
    of many by the normal law (Connor 1987)."""
    normal = ((_normal(0.975) / 2 + _normal(0.8) * math.sqrt(share * (1 - share))) / (share - 0.5)) ** 2
    if normal > 500:
        return math.ceil(normal)
    n, power = max(5, int(normal) - 1), 0.0
    while power < 0.8:
        n, tail, power = n + 1, 0, 0.0
        for k in range(n, 0, -1):
            if 2 * (tail := tail + math.comb(n, k)) > 0.05 * 2**n:
                break
            power += math.comb(n, k) * share**k * (1 - share) ** (n - k)
    return n


def fates(of_all: Sequence[Outcomes]) -> tuple[list[int], list[int], list[int]]:
    """Positions of the items of one set that came out 0 in all, 1 in all, and not alike."""
    least, most = (_scores(reduce(partial(_end, end), of_all)) for end in (min, max))
    places = range(len(least))
    alike = ([n for n in places if least[n] == most[n] == outcome] for outcome in (0, 1))
    return *alike, [n for n in places if least[n] < most[n]]  # type: ignore[return-value]


def _end(end: Callable[[float, float], float], one: Outcomes, other: Outcomes) -> Outcomes:
    """The smaller or the larger outcome of each item, by `min` or `max`."""
    if one.bits is None or other.bits is None:
        return replace(one, bits=None, scores=tuple(map(end, _scores(one), _scores(other))))
    first, second = int.from_bytes(one.bits), int.from_bytes(other.bits)
    return replace(one, bits=(first | second if end is max else first & second).to_bytes(len(one.bits)))


def _scores(given: Outcomes) -> Sequence[float]:
    if given.bits is None:
        return given.scores or ()
    written = format(int.from_bytes(given.bits), f"0{8 * len(given.bits)}b")
    return [float(one) for one in written[: given.count]]


def has_spare_bits(bits: bytes, count: int) -> bool:
    """Tell whether one of the bits beyond the last item is set."""
    return bool(bits) and bits[-1] & (0xFF >> (8 - (-count % 8)) if count % 8 else 0) != 0


def scale_of(metric: Metric) -> float | None:
    """Value of an outcome of 1 in the metric's unit: 1 or 100; None for a metric that is no mean of such outcomes."""
    if metric.lower is None and metric.upper is None:
        return 100.0 if metric.unit == "%" else 1.0
    return metric.proportion_of


def disagreement(cell: Cell, whole: float, given: Outcomes) -> str | None:
    """Why these outcomes cannot be those behind the value of a cell; None where they agree.

    With known trials the number of successes must be the same; the mean must be within half a unit of the value's last
    decimal.
    """
    trials = given.count * given.repeats
    if cell.trials is not None and cell.trials != trials:
        many = f"{given.count} items" + (f" × {given.repeats} repeats" if given.repeats > 1 else "")
        return f"the cell has {cell.trials} trials; {many} are {trials}"
    if cell.trials is not None and (odd := _no_count(given)) is not None:
        return f"{odd} is no mean of {given.repeats} trials"
    mean = given.mean * whole
    slack = _half_unit(cell.value, whole) + _ROUNDING * max(abs(mean), whole / trials)
    if cell.trials is not None:
        successes, said = round(given.mean * trials), round(cell.value / whole * trials)
        agrees = successes == said and abs(mean - cell.value) <= slack
        told = f"its outcomes have {successes} successes in {trials} trials, {mean:.6g}"
    else:
        agrees, told = abs(mean - cell.value) <= slack, f"the mean of its outcomes is {mean:.6g}"
    return None if agrees else f"{told}; the cell has {cell.value:.6g}"


def _no_count(given: Outcomes) -> float | None:
    """A score that is no whole number of successes in its repeats."""
    if given.scores is None:
        return None
    off = (one for one in given.scores if abs(one * given.repeats - round(one * given.repeats)) > _ROUNDING)
    return next(off, None)


def _half_unit(value: float, whole: float) -> float:
    """Half a unit of the last decimal with which a value is written; of a whole number half a percent of the scale."""
    if value.is_integer():
        return whole / 200
    exponent = Decimal(repr(value)).as_tuple().exponent
    return float(Decimal(5).scaleb(int(exponent) - 1))
