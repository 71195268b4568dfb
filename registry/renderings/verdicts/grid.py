"""The verdict on a grid: its best cell and what ties with it, where it rises and falls, and what was never measured."""

import itertools
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from registry.renderings.grid import carried, decimals_shown, flat, noise_of_cells, whole_of
from registry.renderings.numbers import (
    count_of,
    decimals_of,
    fixed,
    interval_of,
    level_of,
    p_value,
    plain_number,
    rough,
    span,
)
from registry.renderings.verdicts.estimate import Estimate, Verdict, Yardstick, joined, margin_words, sentence
from registry.renderings.words import (
    UNLIKE_ENDS,
    counted,
    every,
    isolated,
    label,
    lasting,
    place,
    places,
    reaches_0,
    spoken,
    unlike_a_line,
)
from registry.results.courses import Onset, Series
from registry.results.grid import GridDocument
from registry.results.parameters import POWER
from registry.results.peaks import Best, Peaks
from registry.results.statistics import Statistics

_NAMED = 2
_MOST_DECLINES = 3
_COURSES = (
    ("falls", "fall", ("decreasing",)),
    ("rises", "rise", ("increasing",)),
    ("falls slightly", "fall slightly", ("slightly_decreasing",)),
    ("rises slightly", "rise slightly", ("slightly_increasing",)),
    ("is level within the margin", "are level within the margin", ("flat",)),
    ("has one value throughout", "have one value throughout", ("constant",)),
    ("falls then rises", "fall then rise", ("falls_then_rises",)),
    ("rises then falls", "rise then fall", ("rises_then_falls",)),
    ("varies without a trend", "vary without a trend", ("varies_without_trend",)),
    ("shows no trend", "show no trend", ("inconclusive",)),
    (
        "has too few points or too many ties",
        "have too few points or too many ties",
        ("insufficient_points", "two_points"),
    ),
    ("has a single cell", "have a single cell", ("single_point",)),
)
_TOO_SHORT = ("single_point", "two_points")
_SHOWN = {direction for _, _, directions in _COURSES[:8] for direction in directions}


def grid_verdict(document: GridDocument, statistics: Statistics | None) -> Verdict:
    """The trends along axes that have an order, those shown first, or that none is; which cell is best and how surely;
    then what is missing. Without statistics, only what was measured."""
    values = flat(document["values"], len(document["axes"]))
    known = [value for value in values if value is not None]
    if not known:
        return Verdict("none", "Nothing was measured yet.")
    if len(values) == 1:
        return Verdict("value", _single(document, known[0]))
    courses = dict(_courses(document, statistics)) if statistics else {}
    first = [courses.pop(along) for along in _trends(document, statistics) if along in courses] if statistics else []
    left = [courses.pop(along) for along in _untold(document, statistics) if along in courses] if statistics else []
    together = list(_interaction(document, statistics)) if statistics else []
    more = (*courses.values(), *_holes(len(values) - len(known), len(values)))
    best = _of_cells(document, statistics, len(known), more)
    if first or best.answer == "shown":
        best = replace(best, more=(*together, *best.more))
    else:
        first = together or list(_differing(document, statistics))
    if first:
        return Verdict("shown", " ".join(first), (*left, best.sentence, *best.more))
    return Verdict("open", " ".join(left), (best.sentence, *best.more)) if left else best


def _of_cells(document: GridDocument, statistics: Statistics | None, cells: int, more: tuple[str, ...]) -> Verdict:
    """Which of so many cells is best, as far as that can be said."""
    peaks = statistics.peaks if statistics else None
    if statistics is None or peaks is None or peaks.best is None:
        why = peaks.reason if peaks and peaks.reason else "its statistics are not there"
        return Verdict("none", sentence(f"No cell is named as the best: {why}"), more)
    counts = counts_note(document)
    return _best(document, peaks, peaks.best, cells, (*more, counts) if counts else more)


def _best(document: GridDocument, peaks: Peaks, best: Best, cells: int, more: tuple[str, ...]) -> Verdict:
    value, where = _value(document, best.value), places(best.at, ties=best.ties, most=_NAMED)
    subject, size = _value_of(document), peaks.best_set.size if peaks.best_set else 0
    named = value if subject == "value" else f"{isolated(document['metric']['name'])} {value}"
    told = f"The best {subject} is {value} at {where}"
    if peaks.best_set is None:
        why = peaks.noise_reason or "the noise of the cells is not known"
        told = (
            f"{every(cells, 'cells').capitalize()} have {named}; which is best cannot be told"
            if best.ties == cells > 1
            else f"{told}; whether that is really the best cannot be told"
        )
        return Verdict("open", sentence(f"{told}: {why}"), more)
    if cells == 1:
        return Verdict("value", sentence(f"The only measured cell is {where}: {named}"), more)
    sure = f"with {level_of(peaks.best_set)} confidence"
    if size == cells:
        told = f"Which cell is best cannot be told: each of the {cells:,} may be, {sure}"
        held = f"all have {value}" if best.ties == cells else f"the best value is {value} at {where}"
        return Verdict("open", sentence(f"{told}; {held}"), more)
    if size <= best.ties:
        return Verdict("shown", sentence(f"{told}; {sure} no other measured cell is better"), more)
    others = counted(size - best.ties, "other cell may be the best", "other cells may be the best")
    out = counted(cells - size, "remaining cell is not", "remaining cells are not")
    return Verdict("open", sentence(f"{told}; {others} as well, and {sure} the {out} better"), more)


def _single(document: GridDocument, value: float) -> str:
    """The one cell with what is known of its noise."""
    [noise] = noise_of_cells(document)
    trials, _, repeats, sd = noise
    ends = interval_of(value, whole_of(document["metric"]), noise)
    decimals, places = decimals_of([value]), decimals_shown(document)
    subject, name = _value_of(document), isolated(document["metric"]["name"])
    told = f"{'The ' * (subject != name)}{subject} is {_value(document, value)}"
    if ends:
        told += f" (95 % interval {span(*ends, places)})"
    if sd is not None and repeats:
        told += f", the mean of {repeats:,} repeats with a standard deviation of {rough(sd)}"
    count = count_of(value, document["metric"], trials, decimals)
    if count is not None:
        told += f", {count:,} of {trials:,} trial{'' if trials == 1 else 's'}"
    return sentence(told if ends else f"{told}; its noise is not known")


def _value_of(document: GridDocument) -> str:
    """The metric before what its value is; the value alone where the unit is the metric, as in `0 errors`."""
    metric = document["metric"]
    return "value" if metric["unit"] == metric["name"] else _as_one(document, "value of ")


def _as_one(document: GridDocument, one: str = "the metric ") -> str:
    """The name of the metric before a verb in the singular: of a plural, as `tokens`, behind `one` thing."""
    name = document["metric"]["name"]
    return one * (name.endswith("s") and not name.endswith("ss")) + isolated(name)


def _value(document: GridDocument, value: float) -> str:
    """A value with the decimals of its grid, and its unit."""
    unit = document["metric"]["unit"]
    return f"{fixed(value, decimals_shown(document))} {unit or ''}".rstrip()


def _trends(document: GridDocument, statistics: Statistics) -> list[str]:
    """The axes with an order along which any series is shown to fall, to rise or to be level, or the only one to end
    elsewhere than it began, or all together move."""
    count = Counter(one.along for one in statistics.series)
    shown = {
        one.along for one in statistics.series if one.direction in _SHOWN or (count[one.along] == 1 and _is_apart(one))
    }
    shown.update(along for along in count if any(_together(statistics, along)))
    return [axis["name"] for axis in document["axes"] if axis["kind"] != "nominal" and axis["name"] in shown]


def _untold(document: GridDocument, statistics: Statistics) -> list[str]:
    """The axes with an order along which a series has more than two points."""
    tested = {one.along for one in statistics.series if one.direction not in _TOO_SHORT}
    return [axis["name"] for axis in document["axes"] if axis["kind"] != "nominal" and axis["name"] in tested]


def _interaction(document: GridDocument, statistics: Statistics) -> Iterator[str]:
    """That what one axis does depends on the others, where that is shown, of shares on the logit scale too."""
    found, alpha = statistics.sensitivity.residual if statistics.sensitivity else None, statistics.params.alpha
    if found is None or found.p is None:
        return
    p = max(found.p, found.logit.p) if found.logit else found.p
    if p < alpha:
        axes = [isolated(axis["name"]) for axis in document["axes"] if len(axis["levels"]) > 1]
        along = f"{axes[0]} depends on {axes[1]}" if len(axes) == 2 else "one axis depends on the others"
        yield f"How {_as_one(document)} differs along {along} (p {p_value(p)})."


def _differing(document: GridDocument, statistics: Statistics | None) -> Iterator[str]:
    """Between the levels of which axes without an order the metric is shown to differ."""
    if statistics is None or statistics.sensitivity is None:
        return
    for axis in document["axes"]:
        found = (statistics.sensitivity.axes or {}).get(axis["name"])
        if axis["kind"] == "nominal" and found and found.p is not None and found.p < statistics.params.alpha:
            along, p = isolated(axis["name"]), p_value(found.p)
            yield f"Between the levels of {along} {_as_one(document)} differs (p {p})."


def _together(statistics: Statistics, along: str) -> Iterator[str]:
    """Where all series along an axis are shown to go by their common test, though few of them are by themselves."""
    found = statistics.grid_trend.get(along)
    alone = [one.direction in _SHOWN for one in statistics.series if one.along == along]
    common = found is not None and found.p is not None and found.p < statistics.params.alpha
    if found and common and found.rows > 1 and 2 * sum(alone) < len(alone):
        yield f"All together are shown to {'rise' if found.s > 0 else 'fall'} (p {p_value(found.p)})."


def _courses(document: GridDocument, statistics: Statistics) -> Iterator[tuple[str, str]]:
    """Each axis, and in how many series along it the metric falls, rises, or neither; of how
    many, where not all were analysed."""
    there = _series(document) if statistics.series_left_out else {}
    single = [axis["name"] for axis in document["axes"] if len(axis["levels"]) == 1]
    for along, found in itertools.groupby(statistics.series, key=lambda one: one.along):
        series = list(found)
        if along in single:
            continue
        told = [
            f"{number:,} {one if number == 1 else many}"
            for one, many, directions in _COURSES
            if (number := sum(each.direction in directions for each in series))
        ]
        count, among = len(series), there.get(along, 0)
        if count == 1 and among <= 1:
            yield along, _course(document, series[0])
            continue
        first, *rest = told
        leading, _, verb = first.partition(" ")
        if among > count:
            whole = f"the first {count:,} of {among:,} series {'was' if count == 1 else 'were'} analysed: "
            of = leading if rest else "all of them" if count > 1 else "it"
        else:
            whole, of = "", f"{leading} of {count:,} series" if rest else f"{count:,} series"
        said = f"Along {isolated(along)} {whole}{joined([f'{of} {verb}', *rest], len(_COURSES))}"
        quiet = [one.detectable or math.inf for one in series if one.direction == "inconclusive"]
        said += f", where {_found(document, max(quiet))}." if len(quiet) == count and max(quiet) < math.inf else "."
        together = _together(statistics, along)
        yield along, " ".join([said, *together, *_declines(document, along, series)])


def _declines(document: GridDocument, along: str, series: Sequence[Series]) -> Iterator[str]:
    """From which level on the series lastingly decline that do, the earliest first."""
    levels = next(axis["levels"] for axis in document["axes"] if axis["name"] == along)
    order = {label(told): at for at, level in enumerate(levels) for told in (level, _number(level))}
    found = [(one, onset) for one in series if (onset := lasting(one, document["metric"]))]
    found.sort(key=lambda pair: order[label(pair[1].by)])
    if found:
        (first, onset), *others = found
        begins = f"{place(first.at)} is {decline(first, onset, Yardstick.of(document['metric']))}"
        more = [f"{place(one.at)} from {spoken(other.by)} on" for one, other in others]
        yield sentence(joined([begins, *more], _MOST_DECLINES))


def _number(level: Any) -> Any:
    """What statistics call a level with a label of its own."""
    return level["number"] if isinstance(level, dict) and level.get("number") is not None else level


def _course(document: GridDocument, one: Series) -> str:
    """Where the only series along an axis goes, how far its ends are apart, and where a lasting decline begins."""
    verb = next(verb for verb, _, directions in _COURSES if one.direction in directions)
    alone = {
        axis["name"]: one.at[axis["name"]]
        for axis in document["axes"]
        if axis["name"] in one.at and len(axis["levels"]) > 1
    }
    whose = f" of {place(alone)}" if alone else ""
    told = f"Along {isolated(one.along)} {_as_one(document)}{whose} {verb}"
    told += "".join(f", {how}" for how in unlike_a_line(one) if how != UNLIKE_ENDS)
    first, last, moves = spoken(one.from_), spoken(one.to), "creasing" in one.direction
    yardstick, change = Yardstick.of(document["metric"]), one.end_change
    if one.direction == "flat" and yardstick.margin is not None:
        return sentence(f"{told}: any two cells are shown to differ by less than {margin_words(yardstick)}")
    if change is None or change.interval is None:
        between = f" from {_value(document, one.first)} at {first} to {_value(document, one.last)} at {last}"
        return sentence(told + between * moves)
    found = Estimate(change.value, change.interval, None, None, 0.0).turned(-1 if change.value < 0 else 1)
    apart = f"at {last} it is {yardstick.sized(found.size)} {'lower' if change.value < 0 else 'higher'} than at {first}"
    alike = f"at {place({one.along: one.to})} it measured the same as at {place({one.along: one.from_})}"
    around = found.brackets(yardstick, ", widened to 0 as no trend is shown" * reaches_0(one))
    ends = f"{apart if change.value else alike}{around}"
    if not _is_apart(one) and moves:
        how = UNLIKE_ENDS if UNLIKE_ENDS in unlike_a_line(one) else "though its ends alone do not show it"
        return sentence(f"{told}, {how}: {ends}")
    if not _is_apart(one):
        told += f"; {ends}" + ", which noise may explain" * (change.value != 0)
        if one.detectable and one.direction == "inconclusive":
            told += f"; {_found(document, one.detectable)}"
        return sentence(told)
    turned = not moves or (change.value < 0) != ("decreasing" in one.direction)
    ends = f"{told}{', but ' if turned and one.direction not in ('flat', 'constant') else ': '}{ends}"
    onset = lasting(one, document["metric"])
    return sentence(f"{ends}, and {decline(one, onset, yardstick)}" if onset and onset.by != one.to else ends)


def _found(document: GridDocument, change: float) -> str:
    """That so large a change would have been found."""
    size = Yardstick.of(document["metric"]).sized(rough(change))
    return f"a change of {size} along a line would have been found with about {100 * POWER:g} % power"


def _is_apart(one: Series) -> bool:
    """Whether the ends of a series are shown to differ."""
    ends = one.end_change.interval if one.end_change else None
    return ends is not None and not ends.low <= 0 <= ends.high


def decline(one: Series, found: Onset, yardstick: Yardstick) -> str:
    """Where a lasting decline begins."""
    much = f"by more than {yardstick.sized(plain_number(found.margin))} " if found.margin else ""
    side = "below" if found.goes == "falls" else "above"
    told = f"{side} its first value {much}from {isolated(one.along)} {spoken(found.by)} on"
    return told if found.until == one.from_ else f"{told}, but not up to {spoken(found.until)}"


def _series(document: GridDocument) -> dict[str, int]:
    """How many lines of cells along each axis hold a measured one."""
    axes = document["axes"]
    shape = [len(axis["levels"]) for axis in axes]
    known = [at for at, value in enumerate(flat(document["values"], len(axes))) if value is not None]
    found = {}
    for at, axis in enumerate(axes):
        step = math.prod(shape[at + 1 :])
        found[axis["name"]] = len({(one // (step * shape[at]), one % step) for one in known})
    return found


def _holes(missing: int, total: int) -> Iterator[str]:
    if missing:
        yield f"{missing:,} of {total:,} cells {'has' if missing == 1 else 'have'} no value."


def counts_note(document: GridDocument) -> str | None:
    """That scores are counts out of their trials, by the example of the first that is neither none nor all of them;
    None where no trials are known, or any score is no such share."""
    if document.get("trials") is None:
        return None
    values = flat(document["values"], len(document["axes"]))
    decimals = decimals_of(one for one in values if one is not None)
    example = None
    for value, trials in zip(values, carried(document, "trials"), strict=True):
        if value is None or trials is None:
            continue
        count = count_of(value, document["metric"], trials, decimals)
        if count is None:
            return None
        if example is None and 0 < count < trials:
            example = f"{_value(document, value)} of {trials:,} trials is {count:,} of {trials:,}"
    return example and f"Scores are counts out of trials: {example}."
