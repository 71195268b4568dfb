"""A ranking: the order with what the tests leave open, and the pairwise table that it comes from."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise, takewhile
from operator import attrgetter

from registry.renderings import sheet
from registry.renderings.numbers import (
    UNDEFINED,
    ends,
    fixed,
    intervals,
    level_of_picked,
    places_between,
    places_of,
    rank_range,
    signed,
)
from registry.renderings.pairs import pair_blocks
from registry.renderings.policies import MOST_NAMED, friedman_blocks, method, policy_blocks, target
from registry.renderings.ranking_change import CHANGE_COLUMNS, change_blocks, change_cells, change_sentence
from registry.renderings.sheet import Block, Heading, Lines
from registry.renderings.table import Column, Table, tidy
from registry.renderings.verdicts.ranking import (
    all_share,
    compared_on,
    group_word,
    of_measured,
    pair_of,
    why_untested,
    yardstick_of,
)
from registry.renderings.verdicts.targets import verdict_alone
from registry.renderings.words import (
    about,
    asked_columns,
    assumptions,
    counted,
    isolated,
    left_out_and_warnings,
    said,
)
from registry.results.aggregates import Aggregates
from registry.results.ranking import Ranked, Ranking, Slots

_POLICY = ("experiment", "by", "method", "missing", "alpha", "target", "metric")
_FIELDS: Mapping[str, Callable[[Ranked], str | int | float | None]] = {
    **{name: attrgetter(name) for name in ("rank", "name", "score", "rank_low", "rank_high")},
    "group": lambda one: " ".join(one.group),
    **{name: attrgetter(name) for name in ("component", "cells", "compared", "wins", "ties", "losses", "pool", "mean")},
    "mean_low": lambda one: ends(one.mean_interval)[0],
    "mean_high": lambda one: ends(one.mean_interval)[1],
}
"""The columns of a name in CSV; those of the other forms are in `_order`, those of notebooks in the client's
`ranking_html`."""
YIELDS = ("losses", "ties", "wins", "one benchmark less", "one model less", "cells", "stderr", "could show (Holm)")
"""Columns of the order and the pairs that a narrow screen does without, the first of them first."""
MARK = "*"
_LETTERS = 4
"""Groups of a name, as far as their letters are written out."""
_LISTED = 12
"""Pairs that never met, as far as they are written out."""


def ranking_latex(ranking: Ranking, others: Sequence[Ranking] = ()) -> str:
    """The order for LaTeX, and as comments what it leaves open."""
    blocks = page(ranking, others)
    return sheet.latex(takewhile(lambda block: not isinstance(block, Heading) or block.level == 1, blocks))


def ranking_csv(ranking: Ranking) -> str:
    """One row a name, in the order of the ranking; with columns for adjusted means where there are some, and for what
    was asked for; of a change with a row for each name that is gone."""
    head = [getattr(ranking, name) for name in _POLICY]
    also = asked_columns(ranking)
    change = change_cells(ranking.change) if ranking.change else {}
    fields = dict(_FIELDS)
    if any(one.adjusted for one in ranking.ranking):
        fields["adjusted"] = lambda one: bool(one.adjusted)
    own = {one.name: [value(one) for value in fields.values()] for one in ranking.ranking}
    absent, untold = [None] * (len(fields) - 2), [None] * len(CHANGE_COLUMNS) if change else []
    rows = (
        [*head, *own.get(name, [None, name, *absent]), *also.values(), *change.get(name, untold)]
        for name in dict.fromkeys([*own, *change])
    )
    return tidy([*_POLICY, *fields, *also, *(CHANGE_COLUMNS if change else ())], rows)


def page(ranking: Ranking, others: Sequence[Ranking] = ()) -> Iterator[Block]:
    """The ranking's page: the order first, then what it comes from. `others` are the rankings of its other targets, as
    far as they are computed."""
    ranking = of_measured(ranking)
    by = ranking.by or "model"
    who = f"levels of {by.removeprefix('axis:')}" if by.startswith("axis:") else f"{by}s"
    yield Heading(f"Ranking of {who} — {about(ranking)}", 1)
    if ranking.ranking:
        yield verdict_alone(ranking, others).sentence
    if changed := change_sentence(ranking):
        yield changed
    yield from order_blocks(ranking)
    yield from change_blocks(ranking)
    yield from friedman_blocks(ranking.friedman, group_word(ranking))
    yield from pair_blocks(ranking.pairs, len(ranking.ranking), group_word(ranking))
    yield from by_benchmark_blocks(ranking)
    yield from policy_blocks(ranking)
    if ranking.left_out:
        yield Lines(tuple(f"left out: {one.part} ({one.reason})" for one in ranking.left_out))


def order_blocks(ranking: Ranking) -> Iterator[Block]:
    """The question as it was answered, the order, and what it leaves open."""
    yield Lines(tuple(_policy(ranking)))
    if ranking.ranking:
        yield _order(ranking)
        if len(ranking.ranking) > 1:
            yield Lines(tuple(_open_ends(ranking)))
    else:
        yield f"Nothing is ranked: {ranking.reason or 'no name has a cell'}."
    if doubts := tuple(_doubts(ranking)):
        yield Lines(doubts)


def _policy(ranking: Ranking) -> Iterator[str]:
    """The question as it was answered."""
    parts = [f"method {method(ranking.method)}"] if ranking.method else []
    parts += [f"missing {said(ranking.missing)}"] if ranking.missing else []
    parts += [f"alpha {ranking.alpha:g}"] if ranking.alpha else []
    parts += [f"target {target(ranking.target, ranking.assumes)}"] if ranking.target else []
    if parts:
        yield " · ".join(parts)
    over = [_compared(ranking.slots)] if ranking.slots else []
    over += [_benchmarks(ranking.benchmarks)] if ranking.benchmarks else []
    if over:
        yield " · ".join(over)


def _benchmarks(names: Sequence[str]) -> str:
    """All of a few benchmarks by name; of many their number, and the first ones."""
    if len(names) <= _LISTED:
        return f"benchmarks: {', '.join(names)}"
    return f"{len(names):,} benchmarks: {', '.join(names[:_LISTED])} and {len(names) - _LISTED:,} more"


def _compared(slots: Slots) -> str:
    return f"{slots.compared:,} of {counted(slots.total, 'slot', 'slots')} compared"


def _order(ranking: Ranking) -> Table:
    """The columns of every form of a ranking but CSV: the name is the second, whatever an axis is called."""
    rows = ranking.ranking
    places, parts = places_of(row.score for row in rows), [row.component or 0 for row in rows]
    columns = [
        Column("rank", [_whole(row.rank) for row in rows], True),
        Column((ranking.by or "model").removeprefix("axis:"), [row.name for row in rows]),
        *_means(ranking),
        Column("rank range", [rank_range(row.rank_low, row.rank_high) for row in rows]),
        Column("group", [letters_text(row.group) for row in rows]),
        Column("score", [_score(ranking, row, places) for row in rows], True),
        *_stderr(rows, places),
        Column("cells", [cells_text(row) for row in rows], True),
        *(Column(name, [_whole(getattr(row, name)) for row in rows], True) for name in ("wins", "ties", "losses")),
        *_leave_one_out(ranking),
    ]
    component = Column("component", [str(part + 1) for part in parts], True)
    return Table([*columns, component] if any(parts) else columns)


def cells_text(row: Ranked) -> str:
    """The cells that are compared, and of how many where that is not all."""
    return _whole(row.cells) if row.compared in (None, row.cells) else f"{row.compared} of {row.cells}"


def letters_text(group: Sequence[str]) -> str:
    """The letters of a name's groups: the first few, and how many more there are."""
    if len(group) <= _LETTERS + 1:
        return " ".join(group) or UNDEFINED
    return f"{' '.join(group[:_LETTERS])} +{len(group) - _LETTERS}"


def _score(ranking: Ranking, row: Ranked, places: int | None) -> str:
    signs = ranking.method == "mean_difference"
    return signed(row.score, places) if signs else fixed(row.score, places, UNDEFINED)


def _stderr(rows: Sequence[Ranked], places: int | None) -> Iterator[Column]:
    if any(row.stderr is not None for row in rows):
        yield Column("stderr", [fixed(row.stderr, places, UNDEFINED) for row in rows], True)


def _means(ranking: Ranking) -> Iterator[Column]:
    """How good each name is by itself, with the interval of that."""
    rows = ranking.ranking
    if means := mean_texts(ranking):
        yield Column("mean", means, True)
        if any(row.mean_interval for row in rows):
            places = places_of(row.mean for row in rows)
            yield Column("interval", intervals([row.mean_interval for row in rows], places))


def mean_texts(ranking: Ranking) -> list[str]:
    """The mean of each name, marked where it is over fewer cells than another one's; empty where there are none."""
    rows = ranking.ranking
    if all(row.mean is None for row in rows):
        return []
    places, marks = places_of(row.mean for row in rows), [MARK if one else "" for one in over_fewer(ranking)]
    wide = max(map(len, marks))
    written = [fixed(row.mean, places_between(ends(row.mean_interval), places), UNDEFINED) for row in rows]
    return [f"{one}{mark:{wide}}" if wide else one for one, mark in zip(written, marks, strict=True)]


def cells_of_means(adjusted: Iterable[object], many: str) -> str:
    """Over which cells means are that are compared with one another, of which some may be adjusted."""
    return "all cells, adjusted (*)" if any(adjusted) else f"the cells that all its {many} have"


def what_marks(missing: str, intervals: Iterable[object]) -> str:
    """What the mark of means says, of which those that are adjusted have these intervals, if any."""
    if missing == "available":
        return (
            f"{MARK} over fewer cells than other means, which it is not to be compared with; ranks compare common cells"
        )
    about = "; its interval is about noise alone" if any(intervals) else ""
    return f"{MARK} adjusted: it lacks some of what the others have, for which least squares allow{about}"


def over_fewer(ranking: Ranking) -> list[bool]:
    """Say of each name whether its mean is over fewer cells than that of another one: as each has its own, or as it is
    adjusted."""
    most = max((row.compared or 0 for row in ranking.ranking), default=0)
    own = ranking.missing == "available"
    return [
        bool(row.adjusted) or (own and row.mean is not None and (row.compared or most) < most)
        for row in ranking.ranking
    ]


def without_mean(means: Iterable[tuple[object, float | None]], answer: Aggregates | Ranking) -> Iterator[str]:
    """Who has no mean where others have one, and why: who was set aside decides no slots and has none."""
    found = list(means)
    names = [str(name) for name, mean in found if mean is None]
    asked = (answer.selection.set_aside if answer.selection else None) or ()
    out = {*asked, *(one.name for one in answer.set_aside)}
    aside = [name for name in names if name in out]
    lack = [name for name in names if name not in aside]
    whys = (aside, "was", "were", "set aside"), (lack, "lacks", "lack", "too much of what most others have")
    for some, one, many, why in whys if len(names) < len(found) else ():
        if some:
            more = f" and {len(some) - _LISTED} more" if len(some) > _LISTED else ""
            named = ", ".join(name or "(none)" for name in some[:_LISTED])
            yield f"no mean: {named}{more} {one if len(some) == 1 else many} {why}"


def has_holes(ranking: Ranking) -> bool:
    """Whether some name lacks a cell that another one has."""
    total = ranking.slots.total if ranking.slots else 0
    return any(row.cells < total for row in ranking.ranking)


def beside_means(ranking: Ranking) -> Iterator[str]:
    """That names are compared on other slots than the means are over, where the means are not in the order of the
    ranks, or not as far apart as the first leads the next one: a sentence."""
    sign = -1 if ranking.scale and ranking.scale.direction == "lower" else 1
    found = sorted((row.rank, -sign * row.mean) for row in ranking.ranking if row.rank and row.mean is not None)
    ordered = all(a <= b for (_, a), (_, b) in pairwise(found))
    if (ordered and not _leads_otherwise(ranking, sign)) or len(ranking.components) > 1 or all_share(ranking):
        return
    if has_holes(ranking):
        over = "the means are over those that all have"
        if any(row.adjusted for row in ranking.ranking):
            over = "the means are adjusted where a name lacks some of them"
        yield compared_on(ranking, "each mean is over its own" if ranking.missing == "available" else over)


def _leads_otherwise(ranking: Ranking, sign: int) -> bool:
    """Whether a sentence about the first two tells another difference than that of their means."""
    first, second = ranking.ranking[0], ranking.ranking[:2][-1]
    found = pair_of(ranking, first.name, second.name)
    size = found[1] if found else None
    if size is None or None in (first.rank, first.mean, second.mean):
        return False
    return fixed(size.difference, size.decimals) != fixed(
        sign * ((first.mean or 0.0) - (second.mean or 0.0)), size.decimals
    )


def _leave_one_out(ranking: Ranking) -> Iterator[Column]:
    """The ranks that a name takes when one benchmark (or model) after the other is left out."""
    ranges = {one.name: rank_range(one.best, one.worst) for one in ranking.stability.leave_one_out}
    if ranges:
        yield Column(f"one {group_word(ranking)} less", [ranges.get(row.name, UNDEFINED) for row in ranking.ranking])


def _whole(number: int | None) -> str:
    return UNDEFINED if number is None else str(number)


def _open_ends(ranking: Ranking) -> Iterator[str]:
    """Notes on what ranks, groups and scores say, and what they do not."""
    sure = f" with {100 * (1 - ranking.alpha):g} % confidence" if ranking.alpha else ""
    if ranking.by == "benchmark":
        yield "rank 1: the benchmark on which values are best; the hardest is last"
    if len(ranking.components) == len(ranking.ranking) > 1:
        yield "no two names share a slot: each is the only one of its part, and its rank says nothing"
        return
    against = any(one.code == "order_contradicts_pair" for one in ranking.warnings)
    but = "; a pair that is shown to be the other way round than this order has it narrows none" if against else ""
    yield f"rank range: the ranks that the tests leave open{sure}{but}"
    yield from _beside_pairs(ranking)
    if (reason := why_untested(ranking)) is not None:
        yield f"no pair was tested, so every rank is left open: {reason or 'no noise'}"
    else:
        yield from _groups(ranking)
    if any(one.interval for one in ranking.pairs):
        yield f"interval of a pair: {level_of_picked((one.interval for one in ranking.pairs), ranking.alpha)}"
    pools = sorted({row.pool for row in ranking.ranking if row.pool and row.pool > 1})
    if pools:
        yield f"score: against the mean of these {' or '.join(map(str, pools))} names; another pool gives other scores"
    if any(row.mean_interval for row in ranking.ranking):
        alike = f"each {group_word(ranking)} alike"
        over = cells_of_means((row.adjusted for row in ranking.ranking), "names")
        over = "its own compared cells" if ranking.missing == "available" else over
        yield f"mean: {alike}, over {over}; interval:{sure}, were these cells run again"
    yield from beside_means(ranking)
    yield from without_mean(((row.name, row.mean) for row in ranking.ranking), ranking)
    if any(over_fewer(ranking)):
        yield what_marks(ranking.missing, (row.adjusted and row.mean_interval for row in ranking.ranking))
    if ranking.prior == "half_tie":
        yield "a name wins or loses everything: its score is finite only by the prior of half a tie"
    parts = len(ranking.components)
    if parts > 1:
        yield f"the names fall into {parts} parts that share no slot; ranks count within a part"


def _beside_pairs(ranking: Ranking) -> Iterator[str]:
    """Neighbours whose own difference is the other way round than the order, which other names decide too; those that
    are shown to be so have a warning."""
    if (ranking.method, ranking.missing) != ("mean_difference", "matched") or ranking.scale is None:
        return
    rows, sign = ranking.ranking, yardstick_of(ranking).sign
    follows = {(a.name, b.name) for a, b in pairwise(rows) if a.component == b.component and a.rank != b.rank}
    found = []
    for pair in ranking.pairs:
        turned = pair.difference and not (pair.p_holm is not None and pair.p_holm < ranking.alpha)
        better, worse = (pair.a, pair.b) if sign * (pair.difference or 0) > 0 else (pair.b, pair.a)
        if turned and (worse, better) in follows:
            found.append(f"{isolated(better)} is ahead of {isolated(worse)}")
    if found:
        more = f", and {len(found) - _LETTERS:,} more neighbours are so" if len(found) > _LETTERS else ""
        told = f"{', '.join(found[:_LETTERS])}{more}"
        yield f"order: the differences of all pairs are solved together; on the cells that both have {told}"


def _groups(ranking: Ranking) -> Iterator[str]:
    apart = ranking.never_met
    tested = all(pair.p_holm is not None for pair in ranking.pairs if pair.n_common)
    shared = "group: names that share a letter were compared, and the tests do not separate them"
    shared += "" if tested else ", or had no noise to test by"
    if not apart:
        yield f"{shared}; that does not make them equal"
        return
    named = "; ".join(f"{a} and {b}" for a, b in apart[:_LISTED])
    more = f"; and {len(apart) - _LISTED} more pairs" if len(apart) > _LISTED else ""
    yield shared
    yield f"names without a common letter are separated only if they met; never met: {named}{more}"


def _doubts(ranking: Ranking) -> Iterator[str]:
    """Notes on assumptions, on what was left out, and on what a reader should look at."""
    yield from assumptions(ranking.assumes) if ranking.ranking else ()
    yield from left_out_and_warnings(ranking, "ranked")


def by_benchmark_blocks(ranking: Ranking) -> Iterator[Block]:
    """A row a benchmark, a column a name in the order of the ranking; nothing of very many names."""
    names = [row.name for row in ranking.ranking]
    if not ranking.by_benchmark or len(names) > MOST_NAMED:
        return
    scores = {(part.benchmark, one.name): one.score for part in ranking.by_benchmark for one in part.names}
    places, benchmarks = places_of(scores.values()), [part.benchmark for part in ranking.by_benchmark]
    columns = [
        Column(name, [fixed(scores.get((benchmark, name)), places, UNDEFINED) for benchmark in benchmarks], True)
        for name in names
    ]
    yield Heading("By benchmark", 2)
    yield Table([Column("benchmark", benchmarks), *columns], keys=1)
    own = "of its own" if ranking.missing == "available" else "of those that all names with a score there have"
    yield f"score: the mean of a name's cells on a benchmark, {own}"


def scale_words(ranking: Ranking) -> str:
    """The unit of what was compared and that lower is better, as they follow its name: ` (ms), lower is better`."""
    scale = ranking.scale
    unit = f" ({scale.unit})" if scale and scale.unit else ""
    return f"{unit}, lower is better" if scale and scale.direction == "lower" else unit
