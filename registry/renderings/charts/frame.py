"""The frame of a chart: the range of its axes, its title and notes, and the picture as PNG."""

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from sys import float_info

import orjson

from registry.renderings.charts.paint import ChartOptions, Paint
from registry.renderings.heatmap.layout import LABEL, LINE, MARGIN, NOTE, SUB, TITLE
from registry.renderings.heatmap.png import absent_glyphs, png_of
from registry.renderings.heatmap.scale import share_of
from registry.renderings.heatmap.text import FAMILY, broken, fitted, safe, text, width
from registry.renderings.numbers import short, typeset
from registry.results.codec import Result, from_document, to_document

NOW = "currentColor"
END, MIDDLE = ' text-anchor="end"', ' text-anchor="middle"'
_EVEN = 1e-6
Tick = tuple[float, str]
"""Where it stands, 0 to 1, and its text."""


@dataclass(frozen=True, slots=True)
class Heads:
    """The words around a plot."""

    title: str
    subtitle: str
    told: str
    """What the picture shows, for those who do not see it."""
    notes: Sequence[str]
    x: str
    y: str


@dataclass(frozen=True, slots=True)
class Frame:
    """Where the plot is, in pixels, and all that stands around it."""

    heads: Heads
    options: ChartOptions
    x_ticks: Sequence[Tick]
    y_ticks: Sequence[Tick]
    left: float
    top: float
    wide: float
    high: float
    height: float

    @property
    def paint(self) -> Paint:
        return Paint(self.options.ground)

    def x(self, share: float) -> float:
        return self.left + share * self.wide

    def y(self, share: float) -> float:
        return self.top + (1 - share) * self.high


def frame_of(
    heads: Heads,
    options: ChartOptions,
    x_ticks: Sequence[Tick],
    y_ticks: Sequence[Tick],
    right: float,
    high: float | None = None,
) -> Frame:
    """The frame with so much room at the right of the plot, which is so high."""
    margin = MARGIN if options.alone else 2.0
    left = margin + max((width(one, LABEL) for _, one in y_ticks), default=0.0) + 10
    wide = max(80.0, options.width - left - right - margin)
    top = margin + LABEL * 2.2
    if options.alone:
        top += LINE * (len(_titles(heads, options)) * TITLE + len(_subtitles(heads, options)) * SUB) + 6
    high = high or min(400.0, max(240.0, options.width * 0.44))
    below = LABEL * 4 + 8
    notes = len(_notes(heads, options)) * NOTE * LINE + 8 if options.alone else 0.0
    height = top + high + below + notes + margin / 2
    return Frame(heads, options, _thinned(x_ticks, wide), y_ticks, left, top, wide, high, height)


def _titles(heads: Heads, options: ChartOptions) -> list[str]:
    return broken(heads.title, TITLE, options.width - 2 * MARGIN, 3)


def _subtitles(heads: Heads, options: ChartOptions) -> list[str]:
    return broken(heads.subtitle, SUB, options.width - 2 * MARGIN, 3)


def _notes(heads: Heads, options: ChartOptions) -> list[str]:
    return [line for note in heads.notes for line in broken(typeset(note), NOTE, options.width - 2 * MARGIN, 12)]


def _thinned(ticks: Sequence[Tick], wide: float) -> list[Tick]:
    """As many of the numbers as do not touch: of those evenly spaced every so many, else the ends are among them."""
    shown = [(share, fitted(one, LABEL, 110.0)) for share, one in ticks]
    if len(shown) < 2:
        return shown
    gaps = [after[0] - before[0] for before, after in itertools.pairwise(shown)]
    if max(gaps) - min(gaps) < _EVEN:
        steps = (shown[::step] for step in range(1, len(shown) + 1))
        return next(some for some in steps if all(_apart(*two, wide) for two in itertools.pairwise(some)))
    (first, *middle), last = shown[:-1], shown[-1]
    kept = [first]
    for tick in middle:
        if _apart(kept[-1], tick, wide) and _apart(tick, last, wide):
            kept.append(tick)
    return [*kept, last] if _apart(kept[-1], last, wide) else [*kept[:-1], last] if len(kept) > 1 else [first]


def _apart(one: Tick, other: Tick, wide: float) -> bool:
    room = (width(one[1], LABEL) + width(other[1], LABEL)) / 2 + 8
    return abs(other[0] - one[0]) * wide >= room


def drawn(frame: Frame, inside: Iterator[str]) -> str:
    """The whole picture, with what is inside of the plot."""
    return "".join((*_front(frame), *_axes(frame), *inside, "</svg>"))


def _front(frame: Frame) -> Iterator[str]:
    options, heads = frame.options, frame.heads
    wide, high = f"{options.width}", f"{frame.height:.0f}"
    named = f'role="img" aria-labelledby="{options.name}-title {options.name}-desc"'
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide}" height="{high}" viewBox="0 0 {wide} {high}" {named} '
        f'font-family="{FAMILY}"><title id="{options.name}-title">{safe(heads.title)}</title>'
        f'<desc id="{options.name}-desc">{safe(heads.told)}</desc>'
    )
    if options.alone:
        yield f'<rect width="100%" height="100%" {frame.paint.hollow}/>'
        yield from _words(frame)


def _words(frame: Frame) -> Iterator[str]:
    """Title and notes."""
    y = MARGIN
    for name, lines, size in (
        ("ink", _titles(frame.heads, frame.options), TITLE),
        ("faint", _subtitles(frame.heads, frame.options), SUB),
    ):
        yield frame.paint.group(name)
        for line in lines:
            y += size * LINE
            yield text(line, MARGIN, y - size * 0.35, size, NOW)
        yield "</g>"
    y = frame.top + frame.high + LABEL * 4 + 8
    yield frame.paint.group("faint")
    for line in _notes(frame.heads, frame.options):
        y += NOTE * LINE
        yield text(line, MARGIN, y - NOTE * 0.35, NOTE, NOW)
    yield "</g>"


def _axes(frame: Frame) -> Iterator[str]:
    """The rules across, the numbers beside them, and the names of both axes."""
    right, bottom = frame.left + frame.wide, frame.top + frame.high
    yield frame.paint.group("rule", ' stroke="currentColor"')
    for share, _ in frame.y_ticks:
        yield f'<path d="M{frame.left:.1f} {frame.y(share):.1f}H{right:.1f}"/>'
    yield f'<path d="M{frame.left:.1f} {bottom:.1f}H{right:.1f}"/>'
    for share, _ in frame.x_ticks:
        yield f'<path d="M{frame.x(share):.1f} {bottom:.1f}v5"/>'
    yield "</g>"
    yield frame.paint.group("faint", f' font-size="{LABEL:g}" fill="currentColor"')
    for share, one in frame.y_ticks:
        yield _plain(typeset(one), frame.left - 8, frame.y(share) + 4, END)
    for share, one in frame.x_ticks:
        yield _plain(typeset(one), frame.x(share), bottom + LABEL * 1.6, MIDDLE)
    margin = MARGIN if frame.options.alone else 2.0
    yield _plain(fitted(frame.heads.y, LABEL, frame.options.width - 2 * margin), margin, frame.top - LABEL * 1.1)
    name = fitted(frame.heads.x, LABEL, frame.options.width - frame.left - margin)
    middle = max(frame.left + width(name, LABEL) / 2, frame.left + frame.wide / 2)
    yield _plain(name, min(middle, frame.options.width - margin - width(name, LABEL) / 2), bottom + LABEL * 3.2, MIDDLE)
    yield "</g>"


def _plain(content: str, x: float, y: float, extra: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}"{extra}>{safe(content)}</text>'


_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
_PAD, _TICKS = 0.04, 6


@dataclass(frozen=True, slots=True)
class Span:
    """From the lower to the higher end of an axis, which differ; `ticks` with their texts."""

    low: float
    high: float
    ticks: Sequence[tuple[float, str]]
    log: bool = False

    def share(self, value: float) -> float:
        """Where a value lies, 0 to 1."""
        if self.log:
            return share_of(math.log10(value), math.log10(self.low), math.log10(self.high))
        return share_of(value, self.low, self.high)


def span_of(values: Iterable[float], lower: float | None = None, upper: float | None = None) -> Span:
    """The range of these values, a little wider but within the bounds."""
    found = list(values) or [0.0]
    least, largest = min(found), max(found)
    pad = (largest / 2 - least / 2) * 2 * _PAD
    if largest == least:
        pad = abs(least) * 0.1 or 1.0
    elif math.isinf(pad):
        pad = 0.0
    low, high = max(least - pad, -float_info.max), min(largest + pad, float_info.max)
    # What is never negative has no room below zero, and the other way round.
    low, high = (max(low, 0.0) if least >= 0 else low), (min(high, 0.0) if largest <= 0 else high)
    low = low if lower is None or least < lower else max(low, lower)
    high = high if upper is None or largest > upper else min(high, upper)
    if low == high:
        low, high = (low - pad, high) if high == upper else (low, high + pad)
    return Span(low, high, ticks(low, high, _TICKS))


def log_span(values: Iterable[float]) -> Span:
    """The range of positive values on a logarithmic axis."""
    found = list(values)
    low, high = math.log10(min(found)), math.log10(max(found))
    pad = (high - low) * _PAD or 0.15
    ends = 10 ** max(low - pad, -307.6), 10 ** min(high + pad, 308.2)
    return Span(*ends, _decades(*ends, _TICKS), log=True)


def ticks(low: float, high: float, most: int) -> list[tuple[float, str]]:
    """At most so many round numbers between two different ends, evenly spaced."""
    width = high - low
    if math.isinf(width) or width < float_info.min * 1e3:
        return [(one, f"{one:.3g}") for one in (low, high)]
    raw = width / most
    magnitude = 10.0 ** math.floor(math.log10(raw))
    step = next((each * magnitude for each in _STEPS if each * magnitude >= raw * 0.999), raw)
    first = math.ceil(low / step - 1e-9)
    found = [number * step for number in range(first, first + most + 2) if number * step <= high + step * 1e-9]
    return [(one, text) for one, text in zip(found, texts(found, step), strict=True)]


def texts(values: Sequence[float], step: float) -> list[str]:
    """Numbers that are a step apart, with as many decimals as tell them apart."""
    largest = max(map(abs, values), default=0.0)
    decimals = max(0, -math.floor(math.log10(step) + 1e-9))
    if round(step * 10**decimals, 6) != round(step * 10**decimals):
        decimals += 1
    if 1e5 <= largest < 1e15 and all(math.isclose(float(f"{value:.4g}"), value, rel_tol=1e-12) for value in values):
        return [short(value + 0.0) for value in values]
    if largest < 1e9 and decimals <= 8:
        return [f"{value + 0.0:.{decimals}f}" for value in values]
    digits = max(1, min(17, math.floor(math.log10(largest or step)) - math.floor(math.log10(step)) + 2))
    return [f"{value + 0.0:.{digits}g}" for value in values]


def _decades(low: float, high: float, most: int) -> list[tuple[float, str]]:
    """Powers of ten, every so many of them; 1, 2 and 5 of each where there are few."""
    if high / low < 10:
        return ticks(low, high, most)
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    every = max(1, math.ceil((last - first) / most))
    heads = (1, 2, 5) if last - first <= 3 else (1,)
    found = [
        float(f"{head}e{power}")
        for power in range(first, last + 1, every)
        for head in heads
        if -308 < power < 309 and math.isfinite(float(f"{head}e{power}"))
    ]
    inside = [one for one in found if low <= one <= high] or [low, high]
    return [(one, short(one)) for one in inside]


def chart_png(kind: type[Result], found: Result, draw: Callable[[Result], str], zoom: float = 1.0) -> bytes:
    """The picture that `draw` makes; a character that no font has is written `<U+6A21>`, never as an empty box."""
    svg = draw(found)
    if names := absent_glyphs(svg):
        document = orjson.loads(orjson.dumps(to_document(found)).decode().translate(names))
        # What is drawn may say more than the document does.
        svg = draw(from_document(kind, document)).translate({one: escape(name) for one, name in names.items()})
    return png_of(svg, zoom)
