"""The verdict on a ranking: who is first, from whom the tests do not separate it, and where that could turn."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace

from registry.renderings.numbers import p_value
from registry.renderings.verdicts.estimate import (
    Answer,
    Estimate,
    Only,
    Verdict,
    Yardstick,
    common_cells,
    is_equivalent,
    joined,
    margin_words,
    sentence,
    slice_words,
)
from registry.renderings.verdicts.without_one import carried, fewer, of_them
from registry.renderings.words import counted, every, isolated, levels_named
from registry.results.pairs import Pair
from registry.results.parameters import POWER
from registry.results.ranking import Omission, Ranked, Ranking

FEW_BENCHMARKS = 8
"""Below so many benchmarks little can be said about others."""
MOST_LETTERS = 26
"""Groups up to which a letter names each of them; more say nothing beside the ranges of ranks."""
_LISTED = 4
"""Names, as far as they are written out."""
_TURNS = {
    "rerun": "this is about these cells, run again",
    "new_questions": "this is about these benchmarks, with other questions",
}

_ONLY: Mapping[str, Only] = {"rerun": "cells", "new_questions": "benchmarks"}


def ranking_verdict(ranking: Ranking, *, alone: bool = True) -> Verdict:
    """Who is best of two names or of many, by how much and how surely; or that the tests separate nothing, and why.
    Unless it stands `alone`, something else says what it is about."""
    return _verdict(ranking, _turns(ranking) if alone else "")


def only_of(ranking: Ranking) -> Only:
    """What alone it is about; nothing wider is asked of benchmarks."""
    return _ONLY.get(ranking.target, "") if ranking.by != "benchmark" else ""


def of_measured(ranking: Ranking) -> Ranking:
    """The ranking of the names that have a cell here, if there are any, and share slots with others, where more than
    half of them do: others have a place in no order, and are left out with a word."""
    absent = {row.name: "has no cell here" for row in ranking.ranking if not row.cells}
    sizes = [len(part) for part in ranking.components if not absent.keys() >= {*part}]
    if len(sizes) > 1 and sorted(sizes)[-2] == 1 and 2 * max(sizes) > sum(sizes):
        alone = (part for part in ranking.components if len(part) == 1)
        absent = {name: "shares no slot with the others" for (name,) in alone} | absent
    if not 0 < len(absent) < len(ranking.ranking):
        return ranking
    components = tuple(part for part in ranking.components if not absent.keys() >= {*part})
    place = {name: number for number, part in enumerate(components) for name in part}
    rows = (row for row in ranking.ranking if row.name not in absent)
    return replace(
        ranking,
        ranking=tuple(replace(row, component=place.get(row.name, row.component)) for row in rows),
        components=components,
        pairs=tuple(pair for pair in ranking.pairs if not {pair.a, pair.b} & absent.keys()),
        groups=tuple(group for group in ranking.groups if not absent.keys() >= {*group}),
        never_met=tuple(pair for pair in ranking.never_met if not absent.keys() & {*pair}),
        left_out=(*ranking.left_out, *(Omission(name, why) for name, why in sorted(absent.items()))),
    )


def short_verdict(ranking: Ranking) -> tuple[Answer, str]:
    """What the verdict says of its target, in a few words: `better than all 7 others, than Orion-8B, the next one, by
    3.4 points (95 % interval 1.2 to 5.5)`."""
    ranking = levels_named(of_measured(ranking))
    answer, rows = ranking_verdict(ranking).answer, ranking.ranking
    best = [row for row in rows if row.rank == 1]
    why = why_untested(ranking)
    why = _why_none_could(ranking) if why is None and len(rows) > 2 else why
    if answer == "none" or why is not None:
        return answer, f"cannot be told: {why}" if why else "cannot be told"
    after = rows[1] if len(rows) == 2 else next((row for row in rows if row not in best), rows[-1])
    listed = pair_of(ranking, rows[0].name, after.name)
    size = listed[1].told(yardstick_of(ranking)) if listed and listed[1] else ""
    if len(rows) == 2:
        # By itself the pair may be told apart, and its interval then leaves out 0.
        picked = listed and listed[0].p is not None and listed[0].p < (ranking.alpha or 0.0)
        open_ = "cannot be told, corrected for all pairs: " if picked else "cannot be told: "
        how = {"shown": f"{_word(ranking)} by ", "absent": "equal: "}.get(answer, open_)
        return answer, f"{how}{size}" if size else how.rstrip(": ").removesuffix(" by")
    others, worse = len(rows) - len(best), len(rows) - max(row.rank_high or len(rows) for row in best)
    if not others:
        return answer, "all share the first rank"
    all_ = "the other" if others == 1 else every(others, "others")
    than = all_ if worse == others else f"{worse or 'none'} of {counted(others, 'other', 'others')}"
    gap = _gap(ranking, _not_separated(ranking, best))
    lead = f"; {isolated(rows[0].name)}{gap}" if gap else ""
    if answer == "shown":
        lead = f", than {isolated(after.name)}, the next one, by {size}" if size else ""
    return answer, f"{_word(ranking)} than {than}{lead}"


def _verdict(ranking: Ranking, turns: str) -> Verdict:
    ranking = levels_named(of_measured(ranking))
    rows, several = ranking.ranking, plural_of(ranking.by)
    if len(rows) == 1:
        name = isolated(rows[0].name or f"one {ranking.by or 'model'}")
        return Verdict("none", f"Only {name} can be ranked here: there is nothing to rank it against.")
    if not rows or ranking.status not in (None, "ok"):
        return Verdict("none", sentence(f"Nothing is ranked: {ranking.reason or 'no name has a cell'}"))
    if len(ranking.components) > 1:
        parts = f"The {len(rows):,} {several} fall into {len(ranking.components):,} parts that share no slot"
        return Verdict("none", f"{parts}: they have no common order.", tuple(_weakening(ranking)))
    verdict = _of_two(ranking, turns) if len(rows) == 2 else _of_many(ranking, turns)
    only = only_of(ranking) if verdict.answer == "shown" else ""
    return replace(verdict, more=(*verdict.more, *_weakening(ranking)), only=only)


def plural_of(by: str) -> str:
    """What is ranked, in the plural: models, variants, or the levels of an axis."""
    by = by or "model"
    return f"levels of {isolated(by.removeprefix('axis:'))}" if by.startswith("axis:") else f"{by}s"


def group_word(ranking: Ranking) -> str:
    """The word for what weighs equally, and is left out in turn."""
    return "model" if ranking.by == "benchmark" else "benchmark"


def all_share(ranking: Ranking) -> bool:
    """Whether many names are compared on the slots alone that all of them have."""
    return ranking.missing == "complete" and len(ranking.ranking) > 2


def compared_on(ranking: Ranking, below: str) -> str:
    """On how many slots names are compared, and over which ones something `below` is that has others: a sentence."""
    up_to, two = ("the", " that all have") if all_share(ranking) else ("up to", ", two on those that both have")
    slots = counted(ranking.slots.compared if ranking.slots else 0, "slot", "slots")
    return f"This compares names on {up_to} {slots}{two}; {below}."


def _word(ranking: Ranking) -> str:
    """What a name with better values is: better, or easier if it is a benchmark."""
    return "easier" if ranking.by == "benchmark" else "better"


def yardstick_of(ranking: Ranking) -> Yardstick:
    """How the differences of a ranking are read."""
    return Yardstick.of(asdict(ranking.scale)) if ranking.scale else Yardstick()


def pair_of(ranking: Ranking, first: str, second: str) -> tuple[Pair, Estimate | None] | None:
    """Two names with their difference, positive where the first is better; None where the ranking does not list it."""
    for pair in ranking.pairs:
        if {pair.a, pair.b} == {first, second}:
            return pair, _estimate(ranking, pair, 1 if pair.a == first else -1)
    return None


def _estimate(ranking: Ranking, pair: Pair, sign: int) -> Estimate | None:
    """The difference of a pair; None where the order comes from leads, or nothing was measured in common."""
    if pair.difference is None or pair.estimand == "lead":
        return None
    p = pair.p_holm if pair.status == "ok" else None
    found = Estimate(pair.difference, pair.interval, p, pair.detectable, ranking.alpha or 0.0, pair.stderr)
    return found.turned(sign * _sign(ranking))


def _sign(ranking: Ranking) -> int:
    """-1 where lower is better; by the order, where an older ranking does not say its scale."""
    if ranking.scale is not None:
        return Yardstick.of(asdict(ranking.scale)).sign
    first, last = ranking.ranking[0].name, ranking.ranking[-1].name
    for pair in ranking.pairs:
        if {pair.a, pair.b} == {first, last} and pair.difference:
            return 1 if (pair.difference > 0) == (pair.a == first) else -1
    return 1


def _of_two(ranking: Ranking, turns: str) -> Verdict:
    first, second = (row.name for row in ranking.ranking)
    listed = pair_of(ranking, first, second)
    one, other = isolated(first), isolated(second)
    open_ = f"Whether {one} or {other} is {_word(ranking)} cannot be told"
    if listed is None:
        return Verdict("open", f"{open_}: the pair is not listed.")
    pair, found = listed
    if found is None:
        return _by_leads(ranking, pair, (one, other), turns)
    if found.difference < 0:  # a method whose order is not that of the differences
        one, other, found = other, one, found.turned()
    where, yardstick = f"{_scope(ranking)} {_where(ranking, pair)}", yardstick_of(ranking)
    by, around = yardstick.sized(found.size), found.brackets(yardstick)
    if found.shown:
        small = f", less than the margin of {margin_words(yardstick)}" if found.is_within(yardstick.margin) else ""
        told = f"{one} is {_word(ranking)} than {other} by {by}{around}{where}{small}"
        return Verdict("shown", sentence(f"{told}{_carried(ranking, one)}{turns}"))
    if found.is_within(yardstick.margin):
        mean = " on average" if pair.n_common > 1 else ""
        equal = f"{one} and {other} are equal{mean} within {margin_words(yardstick)}{where}"
        return Verdict("absent", sentence(f"{equal}: they differ by {by}{around}{turns}"))
    seen = found.could_show(yardstick, trials=pair.test == "score")
    size = f"{one} is {by} {_word(ranking)}{around}{where}" if found.difference else f"no difference{around}{where}"
    why = f" {pair.reason[0].upper()}{pair.reason[1:].rstrip('.')}." if pair.status != "ok" and pair.reason else ""
    return Verdict("open", sentence(f"{open_}: {size}" + (f"; {seen}" if seen else "")) + why)


def _by_leads(ranking: Ranking, pair: Pair, names: tuple[str, str], turns: str) -> Verdict:
    """Two names by who wins more slots."""
    one, other = names
    if pair.lead is None or not pair.n_common:
        return Verdict("none", sentence(f"{one} and {other} cannot be compared: {pair.reason or 'no slot in common'}"))
    won, lost = (pair.wins, pair.losses) if isolated(pair.a) == one else (pair.losses, pair.wins)
    record = f"it wins {won:,}, ties {pair.ties:,} and loses {lost:,}{_scope(ranking)} {_where(ranking, pair)}"
    if pair.status == "ok" and pair.p_holm is not None and pair.p_holm < ranking.alpha:
        p = p_value(pair.p_holm)
        told = f"{one} is ahead of {other}: {record} (Holm p {p})"
        return Verdict("shown", sentence(f"{told}{_carried(ranking, one)}{turns}"))
    why = f"; {pair.reason}" if pair.status != "ok" and pair.reason else ""
    return Verdict("open", sentence(f"Whether {one} is ahead of {other} cannot be told: {record}{why}"))


def _carried(ranking: Ranking, better: str) -> str:
    """That one benchmark carries what is shown of two names, if one does."""
    sign = _sign(ranking) * (1 if isolated(ranking.ranking[0].name) == better else -1)
    return carried(ranking.stability.without, yardstick_of(ranking), ranking.alpha or 0.0, sign)


def _where(ranking: Ranking, pair: Pair) -> str:
    """The cells that both have, or with `complete` all, of all that any name has, and over how many benchmarks; where
    these are ranked, over how many models."""
    total, one = max(pair.n_common, ranking.slots.total if ranking.slots else 0), group_word(ranking)
    of = counted(pair.benchmarks, one, f"{one}s") if pair.benchmarks > 1 else ""
    return common_cells(pair.n_common, total, of, "all" if all_share(ranking) else "both")


def _scope(ranking: Ranking) -> str:
    """The suite or the benchmarks that were asked for, and the slice."""
    asked = ranking.selection.benchmark if ranking.selection and not ranking.suite else ()
    return (f" on {joined(asked)}" if asked else "") + slice_words(ranking.slice, ranking.suite)


def _turns(ranking: Ranking) -> str:
    """What the claim is about: others may be asked, and answer otherwise."""
    turn = _TURNS.get(ranking.target) if ranking.by != "benchmark" else _TURNS["rerun"]
    return f"; {turn}" if turn else "; this is about other benchmarks of the kind"


def _of_many(ranking: Ranking, turns: str) -> Verdict:
    rows, several = ranking.ranking, plural_of(ranking.by)
    count, best = len(rows), [row for row in rows if row.rank == 1]
    where = _scope(ranking)
    if (reason := why_untested(ranking)) is not None:
        why = reason or "no noise is known"
        told = f"Which of the {count:,} {several} is best{where} cannot be told: no pair was tested, for {why}"
        return Verdict("open", sentence(told))
    if all(row.rank_low == 1 and row.rank_high == count for row in rows):
        return _nothing_separated(ranking)
    worse, open_ = count - max(row.rank_high or count for row in best), _not_separated(ranking, best)
    name = joined([row.name for row in best], _LISTED)
    share = "is" if len(best) == 1 else "share the rank of the"
    whose = "" if not ranking.by.startswith("axis:") else "its " if len(best) == 1 else "their "
    first = f"{name} {share} first of {whose}{count:,} {'levels' if whose else several}{where}"
    less, each = fewer(ranking.stability.without, worse, group_word(ranking))
    if worse == count - len(best):
        others = "the other" if worse == 1 else every(worse, "others")
        told = f"{first}, shown to be {_word(ranking)} than {others}{less}"
        return Verdict("shown", sentence(f"{told}{turns}"), tuple(lead_of(ranking)), left_out=each)
    told = f"{first}, shown to be {_word(ranking)} than {of_them(worse)}{less}" if worse else first
    untested = [name for name in open_ if not any(_may_tell(ranking, row.name, name) for row in best)]
    tested = [name for name in open_ if name not in untested]
    for words, names in ("not separated from", tested), ("not tested against", untested):
        told += f"; {words} {joined(names, _LISTED)}" if names else ""
    equal, ahead = _equal(ranking, best, open_), _ahead(ranking, best)
    told += equal + ahead
    if not ahead and (gap := _gap(ranking, open_)):
        told += f"; {'it' if len(best) == 1 else isolated(best[0].name)}{gap}"
    answer: Answer = "absent" if equal else "open"
    return Verdict(answer, sentence(f"{told}{turns}"), left_out=each)


def why_untested(ranking: Ranking) -> str | None:
    """Why no two names were tested, "" where it is not said; None where some were."""
    if any(pair.p_holm is not None for pair in ranking.pairs):
        return None
    if ranking.pairs:
        return next((pair.reason for pair in ranking.pairs if pair.reason), "")
    return next((one.reason for one in ranking.left_out if one.part == "pairs"), None)


def is_tested(ranking: Ranking) -> bool:
    """Whether it ranks names and tested some of them."""
    return bool(ranking.ranking) and why_untested(ranking) is None


def open_pair(ranking: Ranking) -> tuple[str, str] | None:
    """The first name and the next one that the tests do not separate from it; None where nothing was tested, or where
    the two do not differ or are shown to be equal within the margin."""
    first, *others = [row.name for row in ranking.ranking] if is_tested(ranking) else [""]
    pair = next(((first, one) for one in others for group in ranking.groups if {first, one} <= {*group}), None)
    margin, found = yardstick_of(ranking).margin, pair and pair_of(ranking, *pair)
    size = found[1] if found else None
    is_over = size and (size.difference == 0 or (margin is not None and size.is_within(margin)))
    return None if is_over else pair


def _not_separated(ranking: Ranking, best: Sequence[Ranked]) -> list[str]:
    """Names, in the order of the ranking, that share a group with one that is first."""
    firsts = {row.name for row in best}
    together = {name for group in ranking.groups if firsts & set(group) for name in group}
    return [row.name for row in ranking.ranking if row.name in together - firsts]


def _may_tell(ranking: Ranking, first: str, second: str) -> bool:
    """Whether the two were tested, or may have been: not every pair is listed."""
    found = pair_of(ranking, first, second)
    return found is None or found[0].p_holm is not None


def _ahead(ranking: Ranking, best: Sequence[Ranked]) -> str:
    """Names that are shown to be better than one that is first: where cells are missing, others decide the order."""
    found = (pair_of(ranking, row.name, other.name) for row in best for other in ranking.ranking if other not in best)
    ahead = [
        pair.b if any(row.name == pair.a for row in best) else pair.a
        for pair, size in filter(None, found)
        if size and size.shown and size.difference < 0
    ]
    if not ahead:
        return ""
    are, first = "is" if len(ahead) == 1 else "are", "it" if len(best) == 1 else "one of them"
    return f"; yet {joined(ahead, _LISTED)} {are} shown to be {_word(ranking)} than {first} on the cells that both have"


def _equal(ranking: Ranking, best: Sequence[Ranked], others: Sequence[str]) -> str:
    """That each name that is not separated from the one that is first is shown to be equal to it within the margin, as
    strictly as for any of all pairs: who is not separated looks equal. "" where that is not so."""
    yardstick = yardstick_of(ranking)
    if yardstick.margin is None or len(best) != 1 or not others:
        return ""
    pairs = [found[0] for name in others if (found := pair_of(ranking, best[0].name, name)) is not None]
    rate = (ranking.alpha or 0.0) / (len(ranking.ranking) * (len(ranking.ranking) - 1))
    if len(pairs) < len(others) or not all(is_equivalent(pair, yardstick.margin, rate) for pair in pairs):
        return ""
    mean = " on average" if any(pair.n_common > 1 for pair in pairs) else ""
    them = "it" if len(others) == 1 else "them"
    return f", and shown to be equal{mean} to {them} within {margin_words(yardstick)}"


def lead_of(ranking: Ranking) -> Iterator[str]:
    """By how much the first leads the second, where the pair is listed."""
    ranking = levels_named(ranking)
    first, second = ranking.ranking[0].name, ranking.ranking[1].name
    listed = pair_of(ranking, first, second)
    if listed and listed[1] and listed[1].difference:
        by, leads = listed[1].told(yardstick_of(ranking)), "trails" if listed[1].difference < 0 else "leads"
        yield f"It {leads} {isolated(second)}, the next one, by {by} {_where(ranking, listed[0])}."


def leading_pair(ranking: Ranking) -> tuple[str, str] | None:
    """The first name and the one that the verdict sets it against; None where it shares slots with no other."""
    ranking = of_measured(ranking)
    rows = tuple(row for row in ranking.ranking if row.component == ranking.ranking[0].component)
    if len(rows) < 2:
        return None
    best = [row for row in rows if row.rank == 1]
    return rows[0].name, _rival(replace(ranking, ranking=rows), _not_separated(ranking, best))


def _rival(ranking: Ranking, open_: Sequence[str]) -> str:
    """The name that a first is set against: the second where it is first too, the first of those that are not separated
    from it, or the second."""
    second = ranking.ranking[1]
    return second.name if second.rank == 1 else next(iter(open_), second.name)


def _gap(ranking: Ranking, open_: Sequence[str] = ()) -> str:
    """By how much a first that is not shown to be alone leads the next one: ` leads beta by 0.4 points (95 % interval
    -1.0 to 1.8)`; empty where the pair is not listed. `open_` are the names that are not separated from it."""
    listed = pair_of(ranking, ranking.ranking[0].name, name := _rival(ranking, open_))
    if not listed or not (found := listed[1]):
        return ""
    if found.difference == 0:
        return f" does not differ from {isolated(name)}"
    alone = " in a test of this pair alone" if found.interval and found.interval.low * found.interval.high > 0 else ""
    leads = "trails" if found.difference < 0 else "leads"
    return f" {leads} {isolated(name)} by {found.told(yardstick_of(ranking))}{alone}"


def _nothing_separated(ranking: Ranking) -> Verdict:
    """That no two names are separated, and what stands in the way."""
    count, several = len(ranking.ranking), plural_of(ranking.by)
    best = [row for row in ranking.ranking if row.rank == 1]
    told = f"The tests separate none of the {count:,} {several}{_scope(ranking)}"
    over = f" over {counted(len(ranking.benchmarks), 'benchmark', 'benchmarks')}" if ranking.benchmarks else ""
    gap, order = _gap(ranking), ", which all share the first rank" if len(best) == count else ""
    if len(best) == 1:
        order = f", though {isolated(best[0].name)} comes first{' and' * bool(gap)}{gap}"
    if equal := _equal(ranking, best, [row.name for row in ranking.ranking if row.rank != 1]):
        return Verdict("absent", sentence(f"{told}{over}{order}{equal.replace('and', 'and is', 1)}"))
    p = p_value(min(pair.p_holm for pair in ranking.pairs if pair.p_holm is not None))
    why = f"the smallest p of the listed pairs is {p} after correction for all pairs that were tested (Holm)"
    if (none := _why_none_could(ranking)) is not None:
        return Verdict("open", sentence(f"{told}{over}{order}, and none could: {none}"))
    seen = sorted(pair.detectable or math.inf for pair in ranking.pairs if pair.detectable or pair.stderr)
    could = ""
    if seen:
        median, whose = seen[len(seen) // 2], "half of the pairs have" if len(seen) > 1 else "the pair has"
        size = yardstick_of(ranking).sized(f"{median:.2g}")
        if median == math.inf:
            size, whose = "any size that the scale has room for", f"{whose} less than"
        could = f"; {whose} {100 * POWER:g} % power to show a true difference of {size}"
    return Verdict("open", sentence(f"{told}{over}{order}: {why}{could}"))


def _why_none_could(ranking: Ranking) -> str | None:
    """Why no pair could have been shown, whatever the results; None where one could."""
    attainable = [pair.min_attainable_p for pair in ranking.pairs if pair.p_holm is not None]
    pairs, least = _corrected(ranking), min((one for one in attainable if one is not None), default=0.0)
    if None in attainable or least * pairs < (ranking.alpha or 0.0):
        return None
    if least >= 1:
        alone = ranking.target == "new_benchmarks" and len(ranking.benchmarks) == 1
        return "one benchmark is no sample of others" if alone else "too few slots are won or lost"
    return f"so few results give no p below {p_value(least)}, and Holm corrects for {counted(pairs, 'pair', 'pairs')}"


def _corrected(ranking: Ranking) -> int:
    """How many pairs Holm corrects for: all but those that are known not to have met or not to be tested."""
    untested = sum(pair.p_holm is None for pair in ranking.pairs)
    return math.comb(len(ranking.ranking), 2) - max(untested, len(ranking.never_met or ()))


def _weakening(ranking: Ranking) -> Iterator[str]:
    """Where the first rank moves: with a benchmark left out, under other policies."""
    first = ranking.ranking[0].name
    name = isolated(first)
    out = next((one for one in ranking.stability.leave_one_out if one.name == first), None)
    if out and out.worst > 1:
        yield f"With one {group_word(ranking)} left out {name} falls as low as rank {out.worst}."
    moved = next((one for one in ranking.policy_sensitivity if one.name == first), None)
    if moved and moved.worst > 1:
        yield f"Under another method or policy for missing cells {name} falls as low as rank {moved.worst}."
    if ranking.target == "new_benchmarks" and (few := len(ranking.benchmarks)) < FEW_BENCHMARKS:
        yield f"It rests on {counted(few, 'benchmark', 'benchmarks')}, which are few for a claim about others."
    if ranking.never_met:
        yield f"{counted(len(ranking.never_met), 'pair', 'pairs')} never met: their order rests on others."
