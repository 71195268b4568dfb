"""A trade-off: a table of its points to read, tidy CSV, and what is said around its picture."""

import itertools
from collections.abc import Iterator, Sequence

from registry.grids.slices import slice_of, slice_text, with_slice
from registry.renderings.aggregates import beside_slots
from registry.renderings.charts.frame import Span, log_span, span_of
from registry.renderings.charts.paint import ChartOptions, XScale
from registry.renderings.lines import axis_range, estimate, kinds, left_out, listed
from registry.renderings.numbers import ends, ends_of, level_at, places_of_means, typeset
from registry.renderings.sheet import Block, Heading
from registry.renderings.sheet import Lines as Notes
from registry.renderings.table import Column, Table, tidy
from registry.renderings.verdicts.estimate import slice_words
from registry.renderings.words import asked_columns, assumptions, counted, isolated, of_selection, with_unit
from registry.results.lines import Estimate
from registry.results.ranking import Ranking
from registry.results.trade_offs import Quantity, TradeOff, TradeOffPoint

PLACES = {
    "front": "on the front",
    "open": "may be on the front",
    "untested": "another looks better, not tested",
    "behind": "behind the front",
}
_MOST_REASONS = 4
_MARKS = {"front": "Filled", "open": "Hollow", "untested": "Hollow and grey", "behind": "Small and grey"}
_RULES = {
    "front": "no other mean is at least as good in both and better in one",
    "open": "another looks better, but the tests leave it open",
    "untested": "the noise of some mean is not known",
    "behind": "one other is better in both, as the tests show",
}
_TESTS = (
    "Tests: one-sided, the larger p of the two quantities (intersection-union test, Berger 1982), at {:g} % over all "
    "pairs of points together (Holm)."
)


def title(found: TradeOff) -> str:
    """`accuracy (%) against latency (s) in serving, suite reasoning`."""
    scope = of_selection(found.selection) if found.selection else found.experiment
    told = [(one, slice_text(slice_of(one.slice or {}))) for one in (found.y, found.x)]
    y, x = (_measure(one) if text and text in scope else named(one) for one, text in told)
    return f"{y} against {x} in {isolated(scope)}"


def named(one: Quantity) -> str:
    """A quantity with its unit, and its slice: `accuracy (%), Context at least 64000`."""
    return _sliced(_measure(one), one)


def _measure(one: Quantity) -> str:
    return with_unit({"name": one.name, "unit": one.unit})


def slices(found: TradeOff) -> str:
    """What is measured at which levels, `Depth 0 on the vertical axis` where the two are not at the same."""
    sides = {word: one for word, one in (("vertical", found.y), ("horizontal", found.x)) if one.source == "metric"}
    told = {word: slice_text(slice_of(one.slice or {})) for word, one in sides.items()}
    if len({*told.values()}) == 1:
        return next(iter(told.values()))
    return ", ".join(f"{text} on the {word} axis" for word, text in told.items() if text)


def _sliced(text: str, one: Quantity) -> str:
    return with_slice(text, slice_of(one.slice or {}))


def subtitle(found: TradeOff) -> str:
    """What has a point, and how many are on the front."""
    drawn = counted(len(found.points), found.by, kinds(found.by))
    return f"{drawn}, {len(found.front)} on the front" if found.points else drawn


def axis(one: Quantity, *, log: bool) -> str:
    """A quantity with its unit and its better end."""
    arrow = "lower is better" if one.direction == "lower" else "higher is better"
    return f"{named(one)}, {arrow}{', log scale' if log else ''}"


def scales(found: TradeOff, options: ChartOptions) -> tuple[bool, bool, list[str]]:
    """Whether each axis is logarithmic, and why not where it was to be."""
    refused: list[str] = []
    both = [_log(found, options.x, "horizontal", refused), _log(found, options.y, "vertical", refused)]
    return both[0], both[1], refused


def _log(found: TradeOff, asked: XScale | None, which: str, refused: list[str]) -> bool:
    if asked != "log" or not found.points:
        return False
    quantity = found.x if which == "horizontal" else found.y
    values = [(point.x if which == "horizontal" else point.y).mean for point in found.points]
    if min(values) > 0:
        return True
    refused.append(
        f"The {which} axis is linear: {min(values):.4g} of {quantity.name} has no place on a logarithmic one."
    )
    return False


def point(one: TradeOffPoint, found: TradeOff) -> str:
    """A point in words, for a pointer that rests on it."""
    x, y = (
        f"{_sliced(q.name, q)}: {typeset(estimate(own, places))}"
        for q, own, places in zip((found.x, found.y), (one.x, one.y), _places(found), strict=True)
    )
    slots = [f"{one.y.slots} and {one.x.slots} slots"] if one.x.slots and one.x.slots != one.y.slots else []
    slots = slots or [counted(max(one.x.slots, one.y.slots), "slot", "slots")]
    return f"{one.name or '(none)'}: {y}, {x}, {slots[0]}; {PLACES[one.place]}"


def _places(found: TradeOff) -> tuple[int | None, int | None]:
    """The decimals of the means of both quantities."""
    both = ([one.x for one in found.points], [one.y for one in found.points])
    x, y = (places_of_means((one.mean, max(1, one.slots)) for one in means) for means in both)
    return x, y


def description(found: TradeOff) -> str:
    """The picture in a few sentences."""
    if found.status != "ok":
        return f"No points: {found.reason}."
    front = listed([name or "(none)" for name in found.front])
    return f"{named(found.y)} against {named(found.x)} of {subtitle(found)}. On the front: {front}."


def notes(found: TradeOff, options: ChartOptions | None) -> Iterator[str]:
    """What a reader should know, a sentence each; without `options`, of the table alone."""
    if found.status != "ok":
        yield f"No points: {found.reason}."
        return
    yield " ".join(_legend(found, drawn=options is not None))
    yield from _means(found)
    yield from (one.detail for one in found.warnings)
    if any(one.interval for point in found.points for one in (point.x, point.y)):
        where = "In brackets" if options is None else "Crosses"
        yield f"{where}: {level_at(found.alpha)} intervals of the means, were these same cells run again."
        yield from (f"{one[0].upper()}{one[1:]}." for one in assumptions(found.assumes))
    if options is not None:
        x, y = spans(found, options)
        yield f"{axis_range('vertical', y)}. {axis_range('horizontal', x)}."
        yield from scales(found, options)[2]


def _legend(found: TradeOff, *, drawn: bool) -> Iterator[str]:
    """What the places mean that points have, by their marks or by the words of the table, and how they were tested."""
    there = {one.place for one in found.points}
    for place, words in PLACES.items():
        if place in there:
            own = place == "untested" and found.missing == "available"
            rule = "each mean is over slots of its own" if own else _RULES[place]
            yield f"{_MARKS[place]}: {words}; {rule}." if drawn else f"{words[0].upper()}{words[1:]}: {rule}."
    if there & {"open", "behind"}:
        yield _TESTS.format(100 * found.alpha)


def _means(found: TradeOff) -> Iterator[str]:
    for one in (found.y, found.x):
        if one.source == "label":
            yield f"{one.name} is a label of the grids, taken as exact."
        elif found.missing == "matched":
            whose = f"the {len(found.points)} {kinds(found.by)} share" if len(found.points) > 1 else "it has"
            shared = counted(one.shared or 0, "slot", "slots")
            yield f"{_sliced(one.name, one)}: the mean over the {shared} that {whose}."
        else:
            yield f"{_sliced(one.name, one)}: the mean over the slots that each {found.by} has."


def without(found: TradeOff) -> Iterator[str]:
    """The names without a point, those that lack the same together, and what else was left out."""
    why = dict[str, list[str]]()
    for one in found.without:
        why.setdefault(one.reason, []).append(one.name or "(none)")
    told = [
        f"{listed(names)} ({'each: ' * (len(names) > 1)}{reason})"
        for reason, names in itertools.islice(why.items(), _MOST_REASONS)
    ]
    if told:
        yield f"Without a point: {'; '.join(told)}."
    if more := sum(map(len, [*why.values()][_MOST_REASONS:])):
        yield f"{more} more {'has' if more == 1 else 'have'} no point, for want of one of the two."
    yield from left_out(found)


def beside_ranking(found: TradeOff, ranking: Ranking) -> Iterator[str]:
    """Over which slots a ranking is that stands above the picture, and over which its vertical means are: a sentence
    where these are not the same."""
    if found.points and found.y.source == "metric":
        shared = None if found.missing == "available" else found.y.shared or 0
        yield from beside_slots(ranking, shared, "picture", "point", "points", slice_words(found.y.slice))


def spans(found: TradeOff, options: ChartOptions) -> tuple[Span, Span]:
    """The ranges of both axes."""
    x_log, y_log, _ = scales(found, options)
    x = _span(found.x, [one.x for one in found.points], log=x_log)
    return x, _span(found.y, [one.y for one in found.points], log=y_log)


def _span(quantity: Quantity, means: Sequence[Estimate], *, log: bool) -> Span:
    values = [one.mean for one in means]
    known = ends_of(one.interval for one in means)
    values += [end for end in known if end is not None and (not log or end > 0)]
    return log_span(values) if log else span_of(values, quantity.lower, quantity.upper)


_OF_EACH = ("", "_stderr", "_low", "_high", "_slots")


def trade_off_csv(found: TradeOff) -> str:
    """A row for each point."""
    also = asked_columns(found, x_slice=found.x.slice, y_slice=found.y.slice)
    header = ("name", *(f"{axis}{one}" for axis in "xy" for one in _OF_EACH), "place", *also)
    rows = ((one.name, *_numbers(one.x), *_numbers(one.y), one.place, *also.values()) for one in found.points)
    return tidy(header, rows)


def _numbers(one: Estimate) -> tuple[float | None, ...]:
    return (one.mean, one.stderr, *ends(one.interval), one.slots)


def page(found: TradeOff) -> Iterator[Block]:
    yield Heading(title(found), 1)
    yield Notes(tuple(without(found)))
    if found.points:
        yield table(found)
    yield Notes(tuple(notes(found, None)))


def table(found: TradeOff) -> Table:
    """A row a point: both means with their intervals, over how many slots, and the place by the front."""
    points = found.points
    columns = [Column(found.by, [one.name or "(none)" for one in points])]
    x, y = _places(found)
    for quantity, means, places in ((found.y, [one.y for one in points], y), (found.x, [one.x for one in points], x)):
        columns.append(Column(named(quantity), [estimate(one, places) for one in means], True))
        if quantity.source == "metric":
            columns.append(Column("slots", [str(one.slots) for one in means], True))
    return Table([*columns, Column("front", [PLACES[one.place] for one in points])], 1)
