"""A ranking from sums of pairs: the same estimates as from the cells, for any number of grids.
`workers/rankings/direct.py` brings the sums; `ranking.py` is the same from cells.

What needs the cells themselves is named in `left_out`.

A ranking of a leaderboard: too many names or cells for exact tests of every pair, few enough to have all cells at
hand. Every method and policy has its order; pairs are tested as from sums.

Where a score is an average of what each benchmark gives a name, leaving each benchmark out is a product of matrices.
Least-squares scores of pairs are one where every name has every benchmark; with gaps they are replaced by their
linear part in the benchmarks' weights (the infinitesimal jackknife, Efron 1982, The Jackknife, the Bootstrap and Other
Resampling Plans, section 6.2), which is exact without gaps: the weights change the mean differences of pairs, whose
system of equations stays that of all benchmarks.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from registry.results.pairs import LeaveOneOut, Pair
from registry.results.ranking import Omission, Ranking
from registry.results.terms import Interval, Method, Missing
from workers.statistics.counted import (
    Blocks,
    Counted,
    SumEvidence,
    blocks_of,
    counted_cells,
    difference_within,
    evidence_of,
)
from workers.statistics.pairs import ALIKE, ALONE, APART, couples, estimand_of, pairs_left_out, quantiles
from workers.statistics.power import detectable
from workers.statistics.rank_groups import components, dominance, parts, ranges
from workers.statistics.ranking import Contest, Orders, asked, assembled, compared_slots, obstacle, unasked
from workers.statistics.ranking_methods import (
    Refused,
    Scores,
    block_goodness,
    borda_points,
    log_strengths,
    of_differences,
    order,
    prepared,
    refusal,
    shares_beaten,
    win_rates,
)
from workers.statistics.ranks import rank_rows, ranks_of, shared_ranks
from workers.statistics.score_matrix import ScoreMatrix, of
from workers.statistics.terms import FloatArray

MOST_COUNTED = 1_000
"""Names that a ranking from sums compares."""
OF_PAIRS: tuple[Method, ...] = ("mean_difference", "win_rate", "bradley_terry")
"""Methods whose order comes from pairs."""
UNUSED = "the noise of the cells is not used for so many names"
OF_CELLS = "needs every cell; ask about fewer models, benchmarks or variants"


OrdersOf = Callable[[Sequence[int]], Orders | Refused]
"""From the members of a component."""


def rank_counted(
    counted: Counted, method: str, missing: str, alpha: float, target: str, pairs_of: str | None = None
) -> Ranking:
    """The ranking of what was counted, as `ranking.rank` gives it."""
    frame = asked(counted.slots, method, missing, alpha, target, pairs_of)
    if len(counted.names) > MOST_COUNTED:
        reason = f"more than {MOST_COUNTED:,} names; name up to {MOST_COUNTED:,} of them with model=…"
        return replace(frame, status="undefined", reason=reason)
    if refused := unanswered(counted.names, frame):
        return refused
    if not sums_have_order(method, missing):
        return replace(frame, status="undefined", reason=f"{frame.method} with missing={frame.missing} {OF_CELLS}")
    few = [Omission("stability.leave_one_out", OF_CELLS)]
    few += [Omission(name, f"in part: {OF_CELLS}") for name in ("pairs.interval", "policy_sensitivity")]
    few.append(Omission("by_benchmark", OF_CELLS))
    return ranked(counted, frame, lambda part: _orders_of_sums(counted, frame, part), tuple(few))


def sums_have_order(method: str, missing: str) -> bool:
    """Return whether sums of pairs give an order by this method and policy."""
    return method in OF_PAIRS and missing in ("matched", "available")


def unanswered(names: Sequence[str], frame: Ranking) -> Ranking | None:
    """The answer where the target asks for the noise of the cells, or where nobody was asked about."""
    if frame.target == "new_questions":
        return replace(frame, status="undefined", reason=f"the target new questions {OF_CELLS}")
    return unasked(frame, names)


def ranked(
    counted: Counted, frame: Ranking, orders_of: OrdersOf, left_out: tuple[Omission, ...], *, mixed: bool = False
) -> Ranking:
    """Fills the frame: each component in its order, and the pairs."""
    members = parts(counted.linked)
    orders = [orders_of(part) for part in members]
    refused = next((one.reason for one in orders if isinstance(one, Refused)), None)
    if refused is not None:
        return replace(frame, status="undefined", reason=refused)
    estimand = estimand_of(frame.method, mixed)
    evidence = evidence_of(counted, estimand, frame.target)
    size = counted.lead if estimand == "lead" else counted.mean * counted.sign
    apart = np.where(evidence.p_holm < frame.alpha, np.sign(size), 0).astype(np.int64)
    tested = np.asarray(np.isfinite(evidence.p).any(axis=1), dtype=np.bool_)
    contest = Contest(counted.names, counted.cells, None, counted.records, tested, counted.linked, apart)
    found = assembled(frame, contest, members, [one for one in orders if isinstance(one, Orders)])
    place = {name: i for i, name in enumerate(counted.names)}
    order = [place[row.name] for row in found.ranking]
    return replace(
        found,
        pairs=tuple(_pair(counted, evidence, i, j, frame) for i, j in couples(counted.names, order, frame.pairs_of)),
        left_out=(*left_out, *found.left_out, *pairs_left_out(len(order), frame.pairs_of)),
        assumes=("exchangeable_cells",) if frame.target == "rerun" and estimand == "lead" else (),
    )


def _orders_of_sums(counted: Counted, frame: Ranking, part: Sequence[int]) -> Orders | Refused:
    own = order_of(counted, part, frame.method)
    if isinstance(own, Refused) or frame.pairs_of is not None:
        return own if isinstance(own, Refused) else Orders(own)
    found = {method: order_of(counted, part, method) for method in OF_PAIRS if method != frame.method}
    return Orders(own, others={(one, "matched"): s.goodness for one, s in found.items() if isinstance(s, Scores)})


def order_of(counted: Counted, part: Sequence[int], method: Method) -> Scores | Refused:
    """The order of the members of a component by one of the methods that compare pairs."""
    if method != "mean_difference":
        return (win_rates if method == "win_rate" else log_strengths)(counted.tally.of(part))
    here = np.ix_(part, part)
    difference = counted.mean[here] * counted.unit
    return of_differences(difference, counted.linked[here], counted.sign, bounded=counted.bounded)


def _pair(counted: Counted, evidence: SumEvidence, i: int, j: int, frame: Ranking) -> Pair:
    names, estimand = (counted.names[i], counted.names[j]), evidence.estimand
    if not counted.linked[i, j]:
        return Pair(*names, "not_comparable", 0, 0, 0, 0, 0, None, frame.target, estimand, reason=APART)
    common, ties, larger = (int(one[i, j]) for one in (counted.common, counted.equal, counted.larger))
    ends = (larger, common - ties - larger)[:: counted.sign]
    lead, benchmarks = float(counted.lead[i, j]), int(counted.benchmarks[i, j])
    base = Pair(*names, "ok", common, benchmarks, ends[0], ties, ends[1], lead, frame.target, estimand)
    if estimand == "difference":
        return _estimated(base, counted, evidence, i, j, frame)
    possible = bool(evidence.least[i, j] < frame.alpha)
    return replace(
        base,
        status="ok" if possible else "insufficient",
        p=float(evidence.p[i, j]),
        p_holm=float(evidence.p_holm[i, j]),
        min_attainable_p=float(evidence.least[i, j]),
        test="sign_flip_normal" + ("_over_benchmarks" if frame.target == "new_benchmarks" else ""),
        reason=None if possible else f"no signs of these differences have a p below {frame.alpha}",
    )


def _estimated(base: Pair, counted: Counted, evidence: SumEvidence, i: int, j: int, frame: Ranking) -> Pair:
    """Adds the difference and, over benchmarks, its test, with an interval by its error, and what would have been found
    as strictly as Holm asks of the first of all pairs."""
    base = replace(base, difference=float(counted.mean[i, j]) * counted.unit)
    if not math.isfinite(evidence.p[i, j]):
        alone = ALIKE if base.benchmarks > 1 else ALONE
        return replace(base, status="insufficient", reason=UNUSED if frame.target == "rerun" else alone)
    tested, shown = int(np.isfinite(evidence.p).sum()) // 2, int((evidence.p_holm < frame.alpha).sum()) // 2
    p_holm, df = float(evidence.p_holm[i, j]), float(evidence.df[i, j])
    stderr, size = float(evidence.stderr[i, j]) * counted.unit, base.difference or 0.0
    tail = (frame.alpha * shown / tested if p_holm < frame.alpha else frame.alpha) / 2
    reach = float(quantiles(np.array(1 - tail), df))
    return replace(
        base,
        interval=Interval(1 - 2 * tail, size - reach * stderr, size + reach * stderr),
        stderr=stderr,
        df=df if math.isfinite(df) else None,
        p=float(evidence.p[i, j]),
        p_holm=p_holm,
        detectable=detectable(stderr, df, frame.alpha / tested),
        test="t_over_benchmarks",
    )


MOST_PAIRED = 1_500
"""Names up to which each is tested against every other one; what is kept of the pairs grows with their square."""
Averages = tuple[FloatArray, FloatArray]
_UNPAIRED = f"more than {MOST_PAIRED:,} names are not tested against each other; name those to compare with model=…"
_LEFT_OUT = (
    Omission("noise", "trials, repeats and standard errors are not used for so many names; ask about fewer of them"),
    Omission("pairs.interval", "in part: needs every cell's noise; ask about fewer names"),
    Omission("policy_sensitivity", "in part: ask about fewer names"),
    Omission(
        "stability.leave_one_out", "in part: of an order that is no average over benchmarks; ask about fewer names"
    ),
    Omission("by_benchmark", "ask about fewer names or benchmarks"),
)


def rank_board(
    standings: ScoreMatrix, method: str, missing: str, alpha: float, target: str, pairs_of: str | None = None
) -> Ranking:
    """The ranking of many names: as `ranking.rank` orders them when nothing is known of their cells' noise.

    Raises `ValueError` for a method, policy or target that does not exist.
    """
    frame = asked(standings.slots, method, missing, alpha, target, pairs_of)
    if answer := unanswered(standings.names, frame) or obstacle(standings, frame):
        return answer
    kept = prepared(standings, frame.missing)
    if not kept.present.any():
        return replace(frame, status="insufficient", reason="no slot has all names")
    frame = replace(frame, slots=compared_slots(standings, kept, frame.missing))
    if len(standings.names) > MOST_PAIRED:
        return _without_pairs(standings, kept, frame)
    counted = replace(counted_cells(kept), slots=standings.slots, cells=tuple(standings.present.sum(axis=1).tolist()))
    if estimand_of(frame.method, kept.mixed) == "difference":
        frame = replace(frame, warnings=dominance(kept))
    return ranked(
        counted, frame, lambda part: _orders(standings, kept, counted, frame, part), _LEFT_OUT, mixed=kept.mixed
    )


def _without_pairs(posted: ScoreMatrix, kept: ScoreMatrix, frame: Ranking) -> Ranking:
    """The order alone of very many names: sorting takes n log n for each slot, and no test narrows a range of ranks."""
    members = components(kept)
    found = [_unpaired(of(kept, part), frame.method, frame.missing) for part in members]
    refused = next((one.reason for one in found if isinstance(one, Refused)), None)
    if refused is not None:
        return replace(frame, status="undefined", reason=refused)
    cells, nobody = posted.present.sum(axis=1).tolist(), np.zeros(len(kept.names), dtype=np.bool_)
    contest = Contest(kept.names, cells, None, _records(kept), nobody, None, None)
    ordered = assembled(frame, contest, members, [Orders(one) for one in found if isinstance(one, Scores)])
    return replace(
        ordered, left_out=(*_LEFT_OUT, *(Omission(part, _UNPAIRED) for part in ("pairs", "groups", "never_met")))
    )


def _unpaired(here: ScoreMatrix, method: Method, missing: Missing) -> Scores | Refused:
    """One order of the members of a component without a table of their pairs."""
    if method not in OF_PAIRS or refusal(here, method, missing):
        return order(here, method, missing)
    if method == "bradley_terry" or not here.present.all():
        many = f"it compares pairs, and {len(here.names):,} names have too many"
        other = "the method Borda and zero points for missing cells"
        return Refused(f"{many}; ask with {other}, or about up to {MOST_PAIRED:,} names")
    weights = here.weights(np.arange(here.values.shape[1]))
    if method == "win_rate":
        return Scores(shares_beaten(here) @ weights)
    means = here.values @ weights
    return Scores(means - means.mean(), here.sign > 0)


def _records(standings: ScoreMatrix) -> list[tuple[int, int, int]]:
    """Wins, ties and losses of each name over all others that are there, summed over the slots."""
    found = np.zeros((len(standings.names), 3), dtype=np.int64)
    for slot in range(standings.values.shape[1]):
        there = np.flatnonzero(standings.present[:, slot])
        ticks = standings.ticks[there, slot] * standings.sign
        _, place, counts = np.unique(ticks, return_inverse=True, return_counts=True)
        below = np.cumsum(counts) - counts
        wins, ties = below[place], counts[place] - 1
        found[there] += np.stack([wins, ties, there.size - 1 - wins - ties], axis=1)
    return [(wins, ties, losses) for wins, ties, losses in found.tolist()]


def _orders(
    posted: ScoreMatrix, kept: ScoreMatrix, counted: Counted, frame: Ranking, part: Sequence[int]
) -> Orders | Refused:
    """The order that was asked for and those beside it, of the members of one component."""
    here, method, missing = of(kept, part), frame.method, frame.missing
    own = _order(here, counted, part, method, missing)
    if isinstance(own, Refused) or frame.pairs_of is not None:
        return own if isinstance(own, Refused) else Orders(own)
    label: Missing = missing if missing in ("complete", "worst") else "matched"
    found = {(one, label): _order(here, counted, part, one, label) for one in OF_PAIRS}
    found["mean", "available"] = order(of(posted, part), "mean", "available")
    found["borda", "zero_points"] = order(of(posted, part), "borda", "zero_points")
    others = {
        key: scores.goodness
        for key, scores in found.items()
        if isinstance(scores, Scores) and key != (method, missing) and np.isfinite(scores.values).all()
    }
    return Orders(own, None, others, without_each_benchmark(here, counted, part, own, method, missing))


def _order(
    here: ScoreMatrix, counted: Counted, part: Sequence[int], method: Method, missing: Missing
) -> Scores | Refused:
    """One order of the members of a component, from what was counted where that has it."""
    if method not in OF_PAIRS or missing == "zero_votes":
        return order(here, method, missing)
    return refusal(here, method, missing) or order_of(counted, part, method)


def without_each_benchmark(
    here: ScoreMatrix, counted: Counted, part: Sequence[int], own: Scores, method: Method, missing: Missing
) -> tuple[LeaveOneOut, ...]:
    """The range of ranks of each member of a component when each benchmark is left out without which they still hang
    together; empty where that is none, and where the order is no average over benchmarks."""
    if len(part) < 2 or np.unique(here.benchmarks).size < 2:
        return ()
    found = averages(here, counted, part, own, method, missing)
    if found is None:
        return ()
    given, weight = found
    left = weight.sum(axis=0) - weight
    again = np.divide(given.sum(axis=0) - given, left, out=np.full(left.shape, np.nan), where=left > 0)
    if method == "mean_difference":
        again[_joints(here, counted.benchmarks[np.ix_(part, part)])] = np.nan
    defined = rank_rows(again[np.isfinite(again).all(axis=1)])
    return ranges(here.names, np.vstack([shared_ranks(own.goodness), defined])) if defined.size else ()


def _joints(here: ScoreMatrix, benchmarks: FloatArray) -> list[int]:
    """The benchmarks without which not all names are connected, of pairs that have so many in common."""
    there = (blocks_of(here).held > 0).astype(np.float64)
    once = np.flatnonzero((((benchmarks == 1) @ there) * there).any(axis=0)).tolist()
    return [one for one in once if len(parts(benchmarks > np.outer(there[:, one], there[:, one]))) > 1]


def averages(
    here: ScoreMatrix, counted: Counted, part: Sequence[int], own: Scores, method: Method, missing: Missing
) -> Averages | None:
    """Benchmarks x names: what each benchmark gives, of which more is better, and its weight. A score is the sum of the
    first over that of the second. None where the order is no average of benchmarks."""
    if method == "mean_difference":
        return _of_differences(here, counted, part, own)
    if method == "borda":
        return _of_ranks(here, missing)
    if method == "win_rate" and here.present.all():
        return _of_cells(here, shares_beaten(here), 1)
    if method != "mean":
        return None
    usable = here.present if missing == "available" else here.present.all(axis=0)
    return _of_cells(here, np.where(usable, here.values, np.nan), here.sign)


def _of_cells(here: ScoreMatrix, values: FloatArray, sign: int) -> Averages:
    """The mean of a name's values within each benchmark; the weight is 1 where it has any."""
    order = np.argsort(here.benchmarks, kind="stable")
    starts = np.unique(here.benchmarks[order], return_index=True)[1]
    there = np.isfinite(values[:, order])
    held = np.add.reduceat(there, starts, axis=1, dtype=np.int64)
    total = np.add.reduceat(np.where(there, values[:, order], 0.0), starts, axis=1)
    return ((sign * total / np.maximum(held, 1)).T, (held > 0).T.astype(np.float64))


def _of_ranks(here: ScoreMatrix, missing: Missing) -> Averages | None:
    if missing == "zero_points":
        points = borda_points(here)
        return (points, np.ones(points.shape))
    goodness = block_goodness(here, missing)
    if isinstance(goodness, Refused):
        return None
    return (-ranks_of(goodness), np.ones(goodness.shape))


def _of_differences(here: ScoreMatrix, counted: Counted, part: Sequence[int], own: Scores) -> Averages:
    """What each benchmark adds to the least-squares scores, to first order in its weight."""
    at = np.ix_(part, part)
    linked, mean = counted.linked[at], counted.mean[at]
    share = np.where(linked, 1 / np.maximum(counted.benchmarks[at], 1), 0.0)
    found = blocks_of(here)
    flow = _flows(found, share, mean)
    laplacian = np.diag(linked.sum(axis=1)) - linked.astype(np.float64)
    moved = np.zeros(flow.shape)
    moved[1:] = np.linalg.solve(laplacian[1:, 1:], flow[1:])
    moved -= moved.mean(axis=0)
    size = flow.shape[1]
    given = here.sign * (own.values[:, None] + size * moved)
    return (given.T, np.ones((size, len(part))))


def _flows(found: Blocks, share: FloatArray, mean: FloatArray) -> FloatArray:
    """Names x benchmarks: the sum over rivals of (difference in the benchmark less mean difference) / benchmarks."""
    flow = np.zeros(found.held.shape)
    chosen = np.flatnonzero(found.whole)
    has = (found.held[:, chosen] > 0).astype(np.float64)
    values = np.add.reduceat(found.values, found.starts, axis=1)[:, chosen] / found.sizes[chosen]
    flow[:, chosen] = has * (values * (share @ has) - share @ values - (share * mean) @ has)
    for benchmark in np.flatnonzero(~found.whole).tolist():
        rows, common, means = difference_within(found, benchmark)
        at = np.ix_(rows, rows)
        flow[rows, benchmark] = np.where(common > 0, (means - mean[at]) * share[at], 0.0).sum(axis=1)
    return flow
