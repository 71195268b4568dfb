"""What changed in a ranking: in a sentence, as a table, and as columns of its CSV."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from registry.renderings.numbers import (
    UNDEFINED,
    ends,
    ends_of,
    intervals,
    named_interval,
    p_value,
    places_of,
    rank_range,
    signed,
)
from registry.renderings.sheet import Block, Lines
from registry.renderings.table import Column, Table
from registry.renderings.verdicts.estimate import Estimate, Yardstick, sentence
from registry.renderings.verdicts.ranking import plural_of
from registry.renderings.words import counted, isolated, levels_named, moment, said
from registry.results.ranking import NameChange, Ranking, RankingChange

CHANGE_COLUMNS = ("since", "rank_then", "verdict", "change", "change_low", "change_high", "change_p_holm")
_TOLD, _LISTED = 2, 40
"""Names of a kind that the sentence tells, and rows of the table; the rest is counted."""


def change_sentence(ranking: Ranking) -> str:
    """Who is new, gone and moved, and who is better or worse than itself was; "" where nobody asked."""
    ranking = levels_named(ranking)
    if ranking.change is None:
        return ""
    names, since = ranking.change.names, f"Since {moment(ranking.change.since)}"
    kinds = plural_of(ranking.by)
    if not any(map(_differs, names)):
        return sentence(f"{since} nothing changed")
    by = {word: [one for one in names if one.verdict == word] for word in ("new", "gone", "open")}
    told = [
        f"{isolated(found[0].name)} is {word}" if len(found) == 1 else f"{len(found):,} {kinds} are {word}"
        for word in ("new", "gone")
        if (found := by[word])
    ]
    told += _moved(names) or ([] if told else ["the order is the same"])
    told += _opened(names)
    own = [f"{isolated(one.name)} is {one.verdict}{_by(ranking, one)}" for one in _shown(names)[:_TOLD]]
    if rest := _shown(names)[_TOLD:]:
        own.append(f"1 more is {rest[0].verdict}" if len(rest) == 1 else f"{len(rest):,} more are better or worse")
    own += [f"no test tells a change of {_open(by['open'], len(names), kinds)}"] if by["open"] else []
    return sentence(
        "; on the cells measured at both instants ".join(filter(None, (f"{since}: {', '.join(told)}", ", ".join(own))))
    )


def _open(found: Sequence[NameChange], of: int, kinds: str) -> str:
    """The one that is left open, or how many of all."""
    if len(found) == 1:
        return isolated(found[0].name)
    which = f"{len(found):,}" if len(found) < of else "either" if of == 2 else "any"
    return f"{which} of the {of:,} {kinds}"


def change_blocks(ranking: Ranking) -> Iterator[Block]:
    """A row for each name of which anything changed."""
    if ranking.change is None or not (changed := [one for one in ranking.change.names if _differs(one)]):
        return
    yield _table(changed[:_LISTED], ranking.by.removeprefix("axis:"))
    yield Lines(tuple(_legend(ranking, ranking.change, changed)))


def change_cells(change: RankingChange) -> dict[str, list[Any]]:
    """The cells of the columns of what changed, by name."""
    return {
        one.name: [change.since, one.before, one.verdict, one.difference, *ends(one.interval), one.p_holm]
        for one in change.names
    }


def _differs(one: NameChange) -> bool:
    return one.verdict != "unchanged" or one.before != one.now or _is_opened(one)


def _is_opened(one: NameChange) -> bool:
    """Whether the tests leave a name that is in both rankings other ranks than before."""
    before, now = (one.rank_low_before, one.rank_high_before), (one.rank_low, one.rank_high)
    return None not in (*before, *now) and before != now


def _opened(names: Sequence[NameChange]) -> list[str]:
    """The first names to which the tests leave other ranks than before though their own is the same, and how many more
    there are."""
    found = [one for one in names if one.before == one.now and _is_opened(one)]
    told = [
        f"{isolated(one.name)} may have the ranks {rank_range(one.rank_low, one.rank_high)}"
        f" ({rank_range(one.rank_low_before, one.rank_high_before)} before)"
        for one in found[:_TOLD]
    ]
    return told + ([f"{len(found) - _TOLD:,} more may have others"] if len(found) > _TOLD else [])


def _rank(rank: int | None, low: int | None, high: int | None) -> str:
    """A rank, and those that the tests leave open where they are more."""
    if rank is None:
        return UNDEFINED
    return str(rank) if low is None or low == high else f"{rank} ({rank_range(low, high)})"


def _moved(names: Sequence[NameChange]) -> list[str]:
    """The names that went furthest, each with its ranks, and how many more there are."""
    steps = sorted(
        (-abs(one.before - one.now), one.now, one.before, one.name)
        for one in names
        if one.before is not None and one.now is not None and one.before != one.now
    )
    told = [f"{isolated(name)} went from {before} to {now}" for _, now, before, name in steps[:_TOLD]]
    return told + ([f"{len(steps) - _TOLD:,} more moved"] if len(steps) > _TOLD else [])


def _shown(names: Sequence[NameChange]) -> list[NameChange]:
    """The names that are better or worse, the largest differences first."""
    return sorted(
        (one for one in names if one.verdict in ("better", "worse")), key=lambda one: -abs(one.difference or 0)
    )


def _by(ranking: Ranking, one: NameChange) -> str:
    found = Estimate(one.difference or 0.0, one.interval, one.p_holm, one.detectable, ranking.alpha)
    yardstick = Yardstick.of(asdict(ranking.scale)) if ranking.scale else Yardstick()
    size = found.turned(-1 if found.difference < 0 else 1)
    return f" by {size.told(yardstick)}"


def _table(rows: Sequence[NameChange], by: str) -> Table:
    found = [one.interval for one in rows]
    places = places_of([*(one.difference for one in rows), *ends_of(found)])
    columns = [
        Column(by, [one.name for one in rows]),
        Column("rank then", [_rank(one.before, one.rank_low_before, one.rank_high_before) for one in rows], True),
        Column("rank now", [_rank(one.now, one.rank_low, one.rank_high) for one in rows], True),
        Column("now less then", [signed(one.difference, places) for one in rows], True),
        Column(named_interval(found), intervals(found, places)),
        Column("Holm p", [p_value(one.p_holm) for one in rows], True),
        Column("verdict", [said(one.verdict) for one in rows]),
    ]
    return Table(columns)


def _legend(ranking: Ranking, change: RankingChange, changed: Sequence[NameChange]) -> Iterator[str]:
    kinds = plural_of(ranking.by)
    kind = "level" if ranking.by.startswith("axis:") else ranking.by
    yield f"now less then: a {kind}'s own values, over the cells measured at both; interval: were these run again"
    if any(one.verdict == "same_cells" for one in changed):
        yield "same cells: other cells of these grids changed, came or went; those measured at both are the same"
    reasons = [one.reason for one in changed if one.reason]
    for reason in dict.fromkeys(reasons):
        yield f"{UNDEFINED} {reason} ({counted(reasons.count(reason), kind, kinds)})"
    if len(changed) > _LISTED:
        yield f"{len(changed) - _LISTED:,} more {kinds} changed; CSV and JSON have all"
    if rest := len(change.names) - len(changed):
        yield f"unchanged, with the same ranks: {counted(rest, kind, kinds)}"
