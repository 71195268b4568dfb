"""Order that the pairwise tests leave open: rank intervals, groups that are not separated, components.

Rank intervals count significant wins and losses (Al Mohamad, Goeman and van Zwet 2022, with Holm's adjustment in
place of Tukey's); groups are the maximal cliques of the graph of pairs that met and are not separated (Bron and
Kerbosch 1973, with pivots).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from registry.results.pairs import Pair
from workers.statistics.score_matrix import ScoreMatrix
from workers.statistics.terms import BoolArray, IntArray

MOST_GROUPS = 1_000


def separated(names: Sequence[str], pairs: Sequence[Pair], sign: int, alpha: float) -> IntArray:
    """A square matrix: 1 where the row is significantly better than the column, -1 where worse, else 0."""
    place = {name: i for i, name in enumerate(names)}
    matrix = np.zeros((len(names), len(names)), dtype=np.int64)
    for pair in pairs:
        if pair.p_holm is None or pair.p_holm >= alpha or pair.status == "undefined":
            continue
        ahead = int(np.sign((pair.difference or 0.0) * sign if pair.estimand == "difference" else pair.lead or 0.0))
        i, j = place[pair.a], place[pair.b]
        matrix[i, j], matrix[j, i] = ahead, -ahead
    return matrix


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


def strangers(met: BoolArray, members: Sequence[int]) -> list[tuple[int, int]]:
    """The pairs of members without a common slot."""
    return [(i, j) for p, i in enumerate(members) for j in members[p + 1 :] if not met[i, j]]


def components(standings: ScoreMatrix) -> list[list[int]]:
    """Names that are linked through common slots, each component in the order of the names."""
    present = standings.present.astype(np.float64)
    return parts(present @ present.T > 0)


def parts(linked: BoolArray) -> list[list[int]]:
    """The connected components of a symmetric relation, members in order."""
    left, found = list(range(len(linked))), []
    while left:
        reached = {left[0]}
        frontier = [left[0]]
        while frontier:
            frontier = [j for j in np.flatnonzero(linked[frontier].any(axis=0)).tolist() if j not in reached]
            reached.update(frontier)
        found.append(sorted(reached))
        left = [i for i in left if i not in reached]
    return found


def groups(matrix: IntArray, met: BoolArray, members: Sequence[int]) -> list[list[int]]:
    """The maximal sets of members who all met and of whom no two are separated, at most a thousand.

    Members come best first, and so do the groups and the members within each.
    """
    near = {
        p: {q for q, j in enumerate(members) if q != p and met[i, j] and matrix[i, j] == 0}
        for p, i in enumerate(members)
    }
    found: list[list[int]] = []
    for clique in cliques(set(), set(near), set(), near):
        found.append(sorted(clique))
        if len(found) == MOST_GROUPS:
            break
    return [[members[p] for p in clique] for clique in sorted(found)]


def cliques(chosen: set[int], open_: set[int], closed: set[int], near: dict[int, set[int]]) -> Iterator[set[int]]:
    """Bron and Kerbosch's recursion as a generator."""
    if not open_ and not closed:
        yield chosen
        return
    # Sorted, so that the order of a set, which may differ between processes, never shows in the groups.
    pivot = max(sorted(open_ | closed), key=lambda i: len(open_ & near[i]))
    for i in sorted(open_ - near[pivot]):
        yield from cliques(chosen | {i}, open_ & near[i], closed & near[i], near)
        open_ = open_ - {i}
        closed = closed | {i}


def letters(index: int) -> str:
    """A, B ... Z, AA, AB ..."""
    text = ""
    index += 1
    while index:
        index, rest = divmod(index - 1, 26)
        text = chr(65 + rest) + text
    return text
