"""Lines along an axis: a table of their means to read, tidy CSV, and what is said around their picture."""

import itertools
import math
from collections.abc import Iterator, Sequence

from registry.renderings.charts.frame import Span, span_of
from registry.renderings.charts.paint import ChartOptions
from registry.renderings.numbers import (
    MISSING,
    ends,
    ends_of,
    fixed,
    level_of,
    places_of,
    places_of_means,
    short,
    signed,
    span,
    typeset,
)
from registry.renderings.sheet import Block, Heading
from registry.renderings.sheet import Lines as Notes
from registry.renderings.table import Column, Table, tidy
from registry.renderings.words import (
    about,
    asked_columns,
    assumptions,
    counted,
    isolated,
    left_out_line,
    slice_line,
    with_unit,
)
from registry.results.lines import Estimate, LinePoint, Lines
from registry.results.terms import is_apart
from registry.results.trade_offs import TradeOff

_FACTOR, _SPAN = 1.5, 16
"""Levels that grow by at least this factor from each to the next, and from the first to the last, are drawn on a
logarithmic axis: on a linear one most of them crowd at one end."""
_MOST_NAMED = 6
_MOST_BANDS = 4
_ENDS, _HUGE = 2, 1e150
"""Ends of a line, and a size whose square is beyond a double."""


def banded(lines: Lines) -> bool:
    """Whether intervals are bands; of more lines, and without order, they are whiskers, which stay apart."""
    return len(lines.lines) <= _MOST_BANDS and lines.kind != "nominal"


def title(lines: Lines) -> str:
    """`Along Length: accuracy in long-context, Context at least 64000`."""
    return f"Along {lines.along}: {about(lines)}"


def subtitle(lines: Lines) -> str:
    """What has a line, how many there are, and which of them have no mean anywhere."""
    told, without = (
        counted(len(lines.lines), kind(lines.by), kinds(lines.by)),
        [one for one in lines.lines if not one.points],
    )
    if not without:
        return told
    have = "has" if len(without) == 1 else "have"
    aside = any(one.code == "set_aside" for one in lines.warnings)
    why = "no mean: set aside, or too few cells" if aside else "too few cells for a mean"
    drawn = len(lines.lines) - len(without)
    return f"{drawn} of {told}: {listed([one.name or '(none)' for one in without])} {have} {why}"


def kind(by: str) -> str:
    """What one line stands for."""
    return f"level of {by.removeprefix('axis:')}" if by.startswith("axis:") else by


def kinds(by: str) -> str:
    """What the lines stand for."""
    return f"levels of {by.removeprefix('axis:')}" if by.startswith("axis:") else f"{by}s"


def axis_name(lines: Lines, *, log: bool) -> str:
    """The axis with its unit; a logarithmic one says so."""
    return with_unit({"name": lines.along, "unit": lines.unit}) + (", log scale" if log else "")


def metric_name(lines: Lines) -> str:
    """The metric with its unit, and with its better end where that is the lower one."""
    return with_unit(lines.metric) + (", lower is better ↓" if lines.metric["direction"] == "lower" else "")


def x_scale(lines: Lines, options: ChartOptions) -> tuple[bool, str | None]:
    """Whether the axis is logarithmic, and why not where it was to be: asked for, or as the axis says, or because its
    levels grow by factors and would crowd at one end."""
    asked = options.x or (lines.scale if lines.kind == "numeric" else "linear")
    if asked != "log":
        return not options.x and lines.kind == "numeric" and _grow_by_factors(lines), None
    if lines.kind != "numeric":
        return False, f"{lines.along} has no numbers: its levels are evenly spaced, not logarithmic."
    wrong = [level.label for level in lines.levels if not isinstance(level.level, (int, float)) or level.level <= 0]
    if wrong:
        where = ", ".join(wrong[:3])
        return False, f"The axis is linear: {where} of {lines.along} has no place on a logarithmic one."
    return True, None


def _grow_by_factors(lines: Lines) -> bool:
    levels = [one.level for one in lines.levels if isinstance(one.level, (int, float)) and one.level > 0]
    steps = [after / before for before, after in itertools.pairwise(levels)]
    return len(levels) == len(lines.levels) > 1 and min(steps) >= _FACTOR and levels[-1] >= _SPAN * levels[0]


def point(lines: Lines, name: str, one: LinePoint, label: str, places: int | None) -> str:
    """A point in words, for a pointer that rests on it."""
    told = typeset(estimate(one, places))
    return f"{name or '(none)'}, {lines.along} {label}: {told}, {counted(one.slots, 'slot', 'slots')}"


def estimate(one: LinePoint | Estimate, places: int | None) -> str:
    """A mean with its interval."""
    known = one.interval
    value = fixed(one.mean, places)
    return value if known is None else f"{value} [{fixed(known.low, places)}, {fixed(known.high, places)}]"


def mean_places(lines: Lines) -> int | None:
    """The decimals of all means of a chart."""
    return places_of_means((one.mean, one.slots) for line in lines.lines for one in line.points)


def description(lines: Lines) -> str:
    """The picture in a few sentences."""
    if lines.status != "ok":
        return f"No lines: {lines.reason}."
    names = listed([line.name or "(none)" for line in lines.lines])
    first = f"Lines of {with_unit(lines.metric)} along {lines.along} ({counted(len(lines.levels), 'level', 'levels')})"
    return " ".join([f"{first}, for {names}.", *slice_line(lines.slice), policy(lines)])


def notes(lines: Lines, options: ChartOptions) -> Iterator[str]:
    """What a reader should know, a sentence each."""
    if lines.status != "ok":
        yield f"Nothing is drawn: {lines.reason}."
        yield from left_out(lines)
        return
    yield policy(lines)
    yield from (one.detail for one in lines.warnings)
    yield from _gaps(lines)
    yield from _noise(lines)
    yield f"{axis_range('vertical', value_span(lines))}."
    log, refused = x_scale(lines, options)
    if refused:
        yield refused
    if log and lines.scale != "log" and not options.x:
        along = with_unit({"name": lines.along, "unit": lines.unit})
        yield f"{along} has a log scale here, for its levels grow by factors; slopes elsewhere are per unit of it."
    if lines.kind == "nominal":
        yield f"The levels of {lines.along} have no order: points are not joined."
    yield from left_out(lines)


def changes(lines: Lines) -> Iterator[str]:
    """By how much each line changes from the first to the last level, a sentence; none where levels are over different
    slots or have no order. The interval is by the recovery of variances from both limits (MOVER, Zou and Donner 2008,
    Statistics in Medicine 27, 1693-1702), of means whose noise is independent. No word says that a line falls: of a
    dozen flat ones each by itself 42 % of pictures would say it of some."""
    if len(lines.levels) < _ENDS:
        return
    first, last = (lines.levels[place].level for place in (0, -1))
    alike = not _of_each(lines) and all(one.code != "slots_vary" for one in lines.warnings)
    found = list[str]()
    for line in lines.lines if alike and lines.kind != "nominal" else ():
        both = [(one.mean, one.interval) for one in line.points if one.level in (first, last) and one.interval]
        if len(both) == _ENDS and all(abs(end) < _HUGE for mean, one in both for end in (mean, one.low, one.high)):
            (a, of_a), (b, of_b) = both
            low, high = b - a - math.hypot(b - of_b.low, of_a.high - a), b - a + math.hypot(of_b.high - b, a - of_a.low)
            places = places_of([b - a, low, high])
            found.append(f"{isolated(line.name or '(none)')} {signed(b - a, places)} ({span(low, high, places)})")
    if found:
        metric = with_unit(lines.metric | {"unit": "points"} if lines.metric["unit"] == "%" else lines.metric)
        between = f"{lines.levels[0].label} to {lines.levels[-1].label}"
        each = f"each with the {level_of(of_b)} interval of this line alone"
        yield f"{metric} from {lines.along} {between}, {each}: {', '.join(found)}."


def axis_range(which: str, span: Span) -> str:
    """From where to where an axis runs."""
    from_zero = "" if span.low <= 0 <= span.high else ", not from 0"
    return f"The {which} axis runs from {short(span.low)} to {short(span.high)}, as far as the data do{from_zero}"


def policy(lines: Lines) -> str:
    """Over which slots the means are."""
    if _of_each(lines):
        return f"Each mean is over the slots that its {kind(lines.by)} has."
    shared = [level.shared for level in lines.levels]
    left = sum(level.left_out for level in lines.levels)
    none = shared.count(0)
    whose = (
        f"all {kinds(lines.by)} with that level share" if len(lines.lines) > 1 else f"the {kind(lines.by)} has there"
    )
    told = f"Each mean is over the {_range([one for one in shared if one])} that {whose}"
    rest = f"; {counted(left, 'slot is', 'slots are')} left out that only some of them have" if left else ""
    empty = f"; at {counted(none, 'level', 'levels')} they share none" if none else ""
    return f"{told}{rest}{empty}."


def _of_each(lines: Lines) -> bool:
    """Whether each mean is over what its own name has."""
    return lines.missing == "available" or is_apart(lines.warnings)


def _range(found: Sequence[int]) -> str:
    if not found:
        return "slots"
    low, high = min(found), max(found)
    return counted(low, "slot", "slots") if low == high else f"{low} to {high} slots"


def _gaps(lines: Lines) -> Iterator[str]:
    missing = sum(len(lines.levels) - len(line.points) for line in lines.lines)
    if missing:
        means = counted(missing, "mean is", "means are")
        why = "for want of cells" if _of_each(lines) else "for want of cells that others have too"
        yield f"{means} missing {why}: lines are broken there, not drawn through."


def _noise(lines: Lines) -> Iterator[str]:
    known = next((point.interval for line in lines.lines for point in line.points if point.interval), None)
    if known is not None:
        shape = "Bands" if banded(lines) else "Whiskers"
        yield f"{shape}: {level_of(known)} intervals of the means, were these same cells run again."
        yield from (f"{one[0].upper()}{one[1:]}." for one in assumptions(lines.assumes))


def left_out(lines: Lines | TradeOff) -> Iterator[str]:
    """What there was no room for, and what counts in no mean."""
    yield from (f"{one[0].upper()}{one[1:]}." for one in left_out_line(lines.incomparable, "counted"))
    if lines.not_shown:
        more = counted(len(lines.not_shown), f"{kind(lines.by)} is", f"{kinds(lines.by)} are")
        yield f"{more} not shown: {listed(lines.not_shown)}."
    if lines.derived:
        yield f"{counted(len(lines.derived), 'derived grid counts', 'derived grids count')} in no mean."


def listed(names: Sequence[str]) -> str:
    shown = ", ".join(isolated(name) for name in names[:_MOST_NAMED])
    return shown + (f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else "")


def value_span(lines: Lines) -> Span:
    """The range of everything that is drawn."""
    found = [point.mean for line in lines.lines for point in line.points]
    known = ends_of(point.interval for line in lines.lines for point in line.points)
    found += [end for end in known if end is not None]
    return span_of(found, lines.metric.get("lower"), lines.metric.get("upper"))


_HEADER = ("level", "number", "mean", "stderr", "low", "high", "slots")


def lines_csv(lines: Lines) -> str:
    """A row for each mean; `number` is empty where the level has none."""
    labels, also = {level.level: level.label for level in lines.levels}, asked_columns(lines)
    rows = (
        (
            line.name,
            labels[point.level],
            point.level if isinstance(point.level, (int, float)) else None,
            point.mean,
            point.stderr,
            *ends(point.interval),
            point.slots,
            *also.values(),
        )
        for line in lines.lines
        for point in line.points
    )
    return tidy(("name", *_HEADER, *also), rows)


def page(lines: Lines) -> Iterator[Block]:
    yield Heading(title(lines), 1)
    if lines.status == "ok":
        yield table(lines)
    yield Notes((*changes(lines), *notes(lines, ChartOptions())))


def table(lines: Lines) -> Table:
    """A row a level, a column a name; with the number of slots where all names have the same."""
    matched = not _of_each(lines)
    points = [{point.level: point for point in line.points} for line in lines.lines]
    places = mean_places(lines)
    columns = [Column(lines.along, [level.label for level in lines.levels], lines.kind == "numeric")]
    for line, known in zip(lines.lines, points, strict=True):
        cells = [
            (estimate(one, places) + ("" if matched else f" ({one.slots})")) if one else MISSING
            for one in (known.get(level.level) for level in lines.levels)
        ]
        columns.append(Column(line.name or "(none)", cells, True))
    if matched:
        columns.append(Column("slots", [str(level.shared) for level in lines.levels], True))
    return Table(columns, 1)
