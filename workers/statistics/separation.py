"""What the pairwise tests leave open: rank intervals, groups that are not separated, components.

Rank intervals count significant wins and losses (Mohamad, Goeman and van Zwet 2019); groups are the maximal
cliques of the graph of pairs that are not separated (Bron and Kerbosch 1973, with pivots).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from workers.statistics.pairs import Pair
from workers.statistics.standings import Standings
from workers.statistics.terms import BoolArray, IntArray

MOST_GROUPS = 1_000


def superiority(names: Sequence[str], pairs: Sequence[Pair], sign: int, alpha: float) -> IntArray:
    """A square matrix: 1 where the row is significantly better than the column, -1 where worse, else 0."""
    place = {name: i for i, name in enumerate(names)}
    matrix = np.zeros((len(names), len(names)), dtype=np.int64)
    for pair in pairs:
        if pair.p_holm is None or pair.p_holm >= alpha:
            continue
        ahead = pair.wins - pair.losses if pair.difference is None else pair.difference * sign
        i, j = place[pair.a], place[pair.b]
        matrix[i, j], matrix[j, i] = int(np.sign(ahead)), -int(np.sign(ahead))
    return matrix


def rank_interval(matrix: IntArray, members: Sequence[int], i: int) -> tuple[int, int]:
    """The ranks that a member may have among the members: 1 + its betters to M - its inferiors."""
    row = matrix[i, members]
    return 1 + int(np.count_nonzero(row < 0)), len(members) - int(np.count_nonzero(row > 0))


def components(standings: Standings) -> list[list[int]]:
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


def groups(matrix: IntArray, members: Sequence[int]) -> list[list[int]]:
    """The maximal sets of members of whom no two are separated, at most a thousand; never-met counts as not.

    Members come best first, and so do the groups and the members within each.
    """
    near = {p: {q for q, j in enumerate(members) if q != p and matrix[i, j] == 0} for p, i in enumerate(members)}
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
