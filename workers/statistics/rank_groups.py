"""Order that pairwise tests leave open, for `ranking.py`: rank intervals, groups that are not separated, components.

Rank intervals count significant wins and losses (Al Mohamad, Goeman and van Zwet 2022, with Holm's adjustment in
place of Tukey's); groups are the maximal cliques of the graph of pairs that met and are not separated (Bron and
Kerbosch 1973, with pivots).

Dependence of an order, and of the claim that one name is first, on the choice of method, policy and benchmarks.
"""

import itertools
from collections.abc import Iterator, Sequence

import numpy as np
from scipy.sparse import coo_matrix, csr_matrix
from scipy.sparse.csgraph import connected_components

from registry.results.pairs import LeaveOneOut, WithoutOne
from registry.results.ranking import Omission
from registry.results.terms import Method, Missing, Target, Warning
from workers.statistics.contrasts import contrasts_of, mean_over
from workers.statistics.counted import blocks_of
from workers.statistics.pairs import WORK, estimand_of, pair_table
from workers.statistics.ranking_methods import METHODS, MISSING, Scores, of_differences, order, prepared
from workers.statistics.ranks import shared_ranks, tie_pattern, untied_pairs
from workers.statistics.score_matrix import ScoreMatrix, only
from workers.statistics.terms import BoolArray, FloatArray, IntArray

MOST_GROUPS = 1_000
MOST_GROUPED, MOST_STRANGERS = 300_000, 45_000
"""Members of all groups of a component together, and pairs that never met, up to which they are listed."""
TOO_LONG = {
    "groups": Omission("groups", f"more than {MOST_GROUPED:,} names in all of them; ask about fewer with model=…"),
    "never_met": Omission("never_met", f"more than {MOST_STRANGERS:,} pairs; ask about fewer names with model=…"),
}


def in_order(apart: IntArray, members: Sequence[int], ranks: IntArray) -> tuple[IntArray, list[tuple[int, int]]]:
    """The separations that agree with the members' ranks, and the pairs (better, worse) that contradict them.

    A rank interval counts the former only, so that a name's rank lies within its own.
    """
    at = np.ix_(members, members)
    agrees = np.sign(ranks - ranks[:, None])
    kept = np.zeros_like(apart)
    kept[at] = np.where(apart[at] == agrees, apart[at], 0)
    against = np.argwhere((apart[at] > 0) & (agrees <= 0))
    return kept, [(members[i], members[j]) for i, j in against.tolist()]


def rank_interval(matrix: IntArray, members: Sequence[int], i: int) -> tuple[int, int]:
    """The ranks that a member may have among the members: 1 + its betters to M - its inferiors."""
    row = matrix[i, members]
    return 1 + int(np.count_nonzero(row < 0)), len(members) - int(np.count_nonzero(row > 0))


def strangers(met: BoolArray, members: Sequence[int]) -> list[tuple[int, int]] | None:
    """The pairs of members without a common slot; None where they are too many to be listed."""
    apart = np.argwhere(np.triu(~met[np.ix_(members, members)], 1))
    return None if len(apart) > MOST_STRANGERS else [(members[p], members[q]) for p, q in apart.tolist()]


def components(standings: ScoreMatrix) -> list[list[int]]:
    """Names that are linked through common slots, each component in the order of the names."""
    names, slots = np.nonzero(standings.present)
    size = len(standings.names)
    # Names and slots as the two sides of one graph: no matrix of the pairs of names.
    linked = coo_matrix((np.ones(names.size), (names, size + slots)), shape=(size + standings.values.shape[1],) * 2)
    return _members(connected_components(linked, directed=False)[1][:size])


def parts(linked: BoolArray) -> list[list[int]]:
    """The connected components of a symmetric relation, members in order."""
    return _members(connected_components(csr_matrix(linked), directed=False)[1])


def _members(labels: IntArray) -> list[list[int]]:
    found = dict[int, list[int]]()
    for i, label in enumerate(labels.tolist()):
        found.setdefault(label, []).append(i)
    return list(found.values())


def groups(matrix: IntArray, met: BoolArray, members: Sequence[int]) -> list[list[int]] | None:
    """The maximal sets of members who all met and of whom no two are separated, at most a thousand; None where they are
    too long to be listed.

    Members come best first, and so do the groups and the members within each.
    """
    at = np.ix_(members, members)
    near = met[at] & (matrix[at] == 0)
    np.fill_diagonal(near, False)
    found, length = list[list[int]](), 0
    bits = [int.from_bytes(np.packbits(row, bitorder="little").tobytes(), "little") for row in near]
    for clique in itertools.islice(cliques(bits), MOST_GROUPS):
        found.append(_places(clique))
        length += len(found[-1])
        if length > MOST_GROUPED:
            return None
    return [[members[p] for p in clique] for clique in sorted(found)]


def cliques(near: Sequence[int]) -> Iterator[int]:
    """The maximal cliques of a graph, from the neighbours of each node; sets are the bits of whole numbers.

    Bron and Kerbosch's search with its own stack, as deep as a clique is large; those near all others that are open are
    chosen at once.
    """
    every = (1 << len(near)) - 1
    stack = [(0, every, 0)]
    while stack:
        chosen, open_, closed = stack.pop()
        size = open_.bit_count()
        whole = [i for i in _places(open_) if (open_ & near[i]).bit_count() == size - 1]
        for i in whole:
            chosen, open_, closed = chosen | 1 << i, open_ & near[i], closed & near[i]
        if not open_:
            if not closed:
                yield chosen
            continue
        pivot = max(_places(open_ | closed), key=lambda i: (open_ & near[i]).bit_count())
        branches = []
        for i in _places(open_ & ~near[pivot]):
            branches.append((chosen | 1 << i, open_ & near[i], closed & near[i]))
            open_, closed = open_ & ~(1 << i), closed | 1 << i
        stack += reversed(branches)


def _places(bits: int) -> list[int]:
    raw = np.frombuffer(bits.to_bytes((bits.bit_length() + 7) // 8, "little"), dtype=np.uint8)
    found: list[int] = np.flatnonzero(np.unpackbits(raw, bitorder="little")).tolist()
    return found


def letters(index: int) -> str:
    """A, B ... Z, AA, AB ..."""
    text = ""
    index += 1
    while index:
        index, rest = divmod(index - 1, 26)
        text = chr(65 + rest) + text
    return text


MOST_WORK = 200_000_000
"""Comparisons that all alternative orders of a ranking may cost together; above it they are not computed."""
MOST_PAIRS = 5_000
"""Pairs that are compared again, over all benchmarks that are left out; above it none is."""
MOST_VALUES = 20_000_000
"""Values that these compare, each with that of every name."""
ALL_WORK = 100_000_000
"""Additions that the exact laws of all these pairs may cost together."""
MOST_OF_TWO = 0.9
"""Share of the squared differences from which on one of two benchmarks dominates; of more it is half."""


def alternatives(standings: ScoreMatrix, method: Method, missing: Missing) -> dict[tuple[Method, Missing], FloatArray]:
    """The goodness of names that form a component under every other method with the same policy, and every other policy
    with the same method."""
    size, slots = standings.values.shape
    if size**2 * slots * 12 > MOST_WORK:
        return {}
    asked: list[tuple[Method, Missing]] = [(other, missing) for other in METHODS if other != method]
    asked += [(method, other) for other in MISSING if other != missing]
    if method != "mean" and missing != "available":
        asked.append(("mean", "available"))
    found = {key: ordered(standings, *key) for key in asked}
    return {key: scores.goodness for key, scores in found.items() if scores is not None}


def ordered(standings: ScoreMatrix, method: Method, missing: Missing) -> Scores | None:
    """The scores under a policy, where the names stay connected and the order exists."""
    changed = prepared(standings, missing)
    if len(components(changed)) != 1:
        return None
    scores = order(changed, method, missing)
    return scores if isinstance(scores, Scores) else None


def leave_one_out(standings: ScoreMatrix, method: Method, missing: Missing, own: Scores) -> tuple[LeaveOneOut, ...]:
    """The range of the ranks of names that form a component when each benchmark is left out once; empty with fewer than
    two, and without those without which the names fall apart."""
    benchmarks = np.unique(standings.benchmarks).tolist()
    size, slots = standings.values.shape
    if len(benchmarks) < 2 or size < 2 or size**2 * slots * len(benchmarks) > MOST_WORK:
        return ()
    if method == "mean_difference":
        orders = without_each(prepared(standings, missing))
    else:
        kept = (np.flatnonzero(standings.benchmarks != benchmark) for benchmark in benchmarks)
        orders = (ordered(only(standings, slots), method, missing) for slots in kept)
    again = [shared_ranks(scores.goodness) for scores in orders if scores is not None]
    return ranges(standings.names, np.vstack([shared_ranks(own.goodness), *again])) if again else ()


def without_each(standings: ScoreMatrix) -> Iterator[Scores | None]:
    """The order by mean differences without one benchmark at a time, where the names stay connected and it exists: the
    mean of the other benchmarks' differences."""
    found, alone = contrasts_of(standings), np.eye(len(standings.names), dtype=np.bool_)
    for benchmark in range(found.by_benchmark.shape[2]):
        rest = np.delete(found.by_benchmark, benchmark, axis=2)
        linked = np.isfinite(rest).any(axis=2) & ~alone
        one = len(parts(linked)) == 1
        scores = of_differences(mean_over(rest), linked, standings.sign, bounded=standings.bounded) if one else None
        yield scores if isinstance(scores, Scores) else None


def ranges(names: Sequence[str], ranks: IntArray) -> tuple[LeaveOneOut, ...]:
    """The best and the worst of each name's ranks, which are the columns."""
    ends = zip(names, ranks.min(axis=0).tolist(), ranks.max(axis=0).tolist(), strict=True)
    return tuple(LeaveOneOut(name, best, worst) for name, best, worst in ends)


def tau(first: IntArray, second: IntArray) -> float | None:
    """Kendall's tau-b of two rankings with ties; `None` when one is constant."""
    sizes = [untied_pairs(ranks.size, tie_pattern(ranks)) for ranks in (first, second)]
    if min(sizes) == 0:
        return None
    signs = [np.sign(ranks[:, None] - ranks) for ranks in (first, second)]
    return float(np.sum(np.triu(signs[0] * signs[1], 1)) / np.sqrt(float(sizes[0]) * float(sizes[1])))


def without_one(
    standings: ScoreMatrix,
    first: str,
    second: str,
    alpha: float,
    method: Method = "mean_difference",
    missing: Missing = "matched",
    target: Target = "rerun",
) -> tuple[WithoutOne, ...]:
    """The pair of two of these names on the other benchmarks, for each benchmark, of nothing where they meet on it
    alone; Holm is over all pairs of the standings. Empty with one benchmark, and where it would cost too much."""
    benchmarks = np.unique(standings.benchmarks).tolist()
    size, slots = standings.values.shape
    again = size * (size - 1) // 2 * len(benchmarks)
    if len(benchmarks) < 2 or again > MOST_PAIRS or size**2 * slots * len(benchmarks) > MOST_VALUES:
        return ()
    found = []
    for benchmark in benchmarks:
        rest = prepared(only(standings, np.flatnonzero(standings.benchmarks != benchmark)), missing)
        if not rest.present.any():
            found.append(WithoutOne(standings.benchmark_names[benchmark], None, None, None, 0, 0))
            continue
        table = pair_table(rest, alpha, target, estimand_of(method, rest.mixed), min(WORK, ALL_WORK // again))
        i, j = sorted(rest.names.index(name) for name in (first, second))
        [pair] = table.pairs([(i, j)])
        worse = table.apart[rest.names.index(first)] > 0
        left = int(np.count_nonzero(rest.present.any(axis=1))) - 1
        found.append(WithoutOne.of(standings.benchmark_names[benchmark], pair, first, int(worse.sum()), left))
    return tuple(found)


def dominance(standings: ScoreMatrix) -> tuple[Warning, ...]:
    """Warning where one of three benchmarks or more carries over half of the sum, over all pairs, of the squared
    differences, or one of two over nine tenths: its scale, not its evidence, then makes the order. None where the
    metric has two ends: then all benchmarks are on one scale, and between two names of much the same strength some
    benchmark always stands out."""
    if standings.bounded:
        return ()
    found = blocks_of(standings)
    there = found.held > 0
    means = np.add.reduceat(found.values, found.starts, axis=1) / np.maximum(found.held, 1)
    count, total = there.sum(axis=0), np.where(there, means, 0.0).sum(axis=0)
    # Over all pairs of m names the squared differences sum to m times those of the distances from the mean.
    squares = np.maximum(count * np.where(there, means**2, 0.0).sum(axis=0) - total**2, 0.0)
    most = 0.5 if squares.size > 2 else MOST_OF_TWO
    if squares.size < 2 or squares.max() <= most * squares.sum():
        return ()
    used = np.unique(standings.benchmarks[standings.present.any(axis=0)])
    name, share = standings.benchmark_names[used[np.argmax(squares)]], float(squares.max() / squares.sum())
    detail = (
        f'The {standings.group} "{name}" carries {share:.0%} of the squared differences; '
        "the methods win rate and Borda count only who is ahead."
    )
    return (Warning("one_benchmark_dominates", detail),)
