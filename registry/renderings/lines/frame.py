"""The frame of a chart: title, axes with their numbers and names, and notes, around the plot that others fill."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from registry.renderings.heatmap.draw import text
from registry.renderings.heatmap.layout import LABEL, LINE, MARGIN, NOTE, SUB, TITLE
from registry.renderings.heatmap.text import FAMILY, broken, fitted, safe, width
from registry.renderings.lines.options import ChartOptions
from registry.renderings.lines.paint import Paint

NOW = "currentColor"
END, MIDDLE = ' text-anchor="end"', ' text-anchor="middle"'
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
    return [line for note in heads.notes for line in broken(note, NOTE, options.width - 2 * MARGIN, 12)]


def _thinned(ticks: Sequence[Tick], wide: float) -> list[Tick]:
    """As many of the numbers as do not touch; the first and the last are among them."""
    shown = [(share, fitted(one, LABEL, 110.0)) for share, one in ticks]
    if len(shown) < 2:
        return shown
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
        yield _plain(one, frame.left - 8, frame.y(share) + 4, END)
    for share, one in frame.x_ticks:
        yield _plain(one, frame.x(share), bottom + LABEL * 1.6, MIDDLE)
    margin = MARGIN if frame.options.alone else 2.0
    yield _plain(fitted(frame.heads.y, LABEL, frame.options.width - 2 * margin), margin, frame.top - LABEL * 1.1)
    name = fitted(frame.heads.x, LABEL, frame.options.width - frame.left - margin)
    middle = max(frame.left + width(name, LABEL) / 2, frame.left + frame.wide / 2)
    yield _plain(name, min(middle, frame.options.width - margin - width(name, LABEL) / 2), bottom + LABEL * 3.2, MIDDLE)
    yield "</g>"


def _plain(content: str, x: float, y: float, extra: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}"{extra}>{safe(content)}</text>'
