"""Order that the pairwise tests leave open: rank intervals, groups that are not separated, components.

Rank intervals count significant wins and losses (Al Mohamad, Goeman and van Zwet 2022, with Holm's adjustment in
place of Tukey's); groups are the maximal cliques of the graph of pairs that met and are not separated (Bron and
Kerbosch 1973, with pivots).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np
from scipy.sparse import coo_matrix, csr_matrix
from scipy.sparse.csgraph import connected_components

from registry.results.pairs import Pair
from registry.results.ranking import Omission
from workers.statistics.score_matrix import ScoreMatrix
from workers.statistics.terms import BoolArray, IntArray

MOST_GROUPS = 1_000
MOST_GROUPED, MOST_STRANGERS = 300_000, 45_000
"""Members of all groups of a component together, and pairs that never met, up to which they are listed."""
TOO_LONG = {
    "groups": Omission("groups", f"more than {MOST_GROUPED:,} names in all of them; ask about fewer with model=…"),
    "never_met": Omission("never_met", f"more than {MOST_STRANGERS:,} pairs; ask about fewer names with model=…"),
}


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
    for clique in itertools.islice(cliques([_bits(row) for row in near]), MOST_GROUPS):
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


def _bits(row: BoolArray) -> int:
    return int.from_bytes(np.packbits(row, bitorder="little").tobytes(), "little")


def _places(bits: int) -> list[int]:
    """The members of a set, in order."""
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
