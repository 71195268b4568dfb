"""Estimates with their intervals as a forest plot: a row each, from a ranking or from a comparison of two models."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from registry.renderings.charts.frame import Frame, Heads, Span, drawn, frame_of, span_of
from registry.renderings.charts.paint import COLOURS, ChartOptions, dot
from registry.renderings.heatmap.layout import LABEL
from registry.renderings.heatmap.text import fitted, safe
from registry.renderings.heatmap.vega import vega
from registry.renderings.numbers import fixed, level_of, places_of
from registry.renderings.ranking import MARK, over_fewer, what_marks, without_mean
from registry.renderings.verdicts.comparison import model_comparison_verdict, names_of_models
from registry.renderings.verdicts.estimate import Yardstick
from registry.renderings.verdicts.ranking import of_measured, yardstick_of
from registry.renderings.verdicts.targets import verdict_alone
from registry.renderings.words import about, counted, with_unit
from registry.results.comparison import ModelComparison
from registry.results.ranking import Ranking
from registry.results.terms import Interval

MOST_ROWS = 60
"""Rows that are drawn; the rest is counted."""
_ROW = 24.0


@dataclass(frozen=True, slots=True)
class Row:
    """An estimate; without an interval none is known."""

    name: str
    value: float
    interval: Interval | None

    @property
    def ends(self) -> tuple[float, float]:
        return (self.interval.low, self.interval.high) if self.interval else (self.value, self.value)


@dataclass(frozen=True, slots=True)
class Forest:
    """What a forest plot says: its title, the sentence of its result, the quantity, and a row an estimate."""

    title: str
    sentence: str
    quantity: str
    rows: Sequence[Row]
    zero: bool
    """Whether the estimates are differences, of which zero is none."""
    doubts: Sequence[str] = ()

    @property
    def shown(self) -> Sequence[Row]:
        return self.rows[:MOST_ROWS]

    def notes(self) -> Iterator[str]:
        """What the whiskers are, and what is not drawn."""
        known = [row.interval for row in self.shown if row.interval]
        yield f"Whiskers: {level_of(known[0])} intervals, each by itself." if known else "No noise is known."
        yield from self.doubts
        if len(self.rows) > MOST_ROWS:
            yield f"These are the first {MOST_ROWS} of {len(self.rows):,}."

    def told(self, row: Row) -> str:
        """A row in words: `Kestrel-32B: 55.90 (95 % interval 53.10 to 58.70)`."""
        places = places_of([end for one in self.shown for end in (one.value, *one.ends)])
        low, high = (fixed(end, places) for end in row.ends)
        around = f" ({level_of(row.interval)} interval {low} to {high})" if row.interval else ""
        return f"{row.name or '(none)'}: {fixed(row.value, places)}{around}"


def forest_of_ranking(ranking: Ranking, others: Sequence[Ranking] = ()) -> Forest:
    """The means of the names in the order of the ranking; their scores where there are no means. `others` are the
    rankings of its other targets, as far as they are computed."""
    ranking = of_measured(ranking)
    means = any(one.mean is not None for one in ranking.ranking)
    unit = ranking.scale.unit if ranking.scale else None
    fewer = over_fewer(ranking)
    found = [
        Row(
            f"{one.name} {MARK}" if marked else one.name,
            value,
            one.mean_interval,
        )
        for one, marked in zip(ranking.ranking, fewer, strict=True)
        if (value := one.mean if means else one.score) is not None
    ]
    doubts = (
        *without_mean(((one.name, one.mean) for one in ranking.ranking), ranking),
        *([what_marks(ranking.missing, (one.adjusted and one.mean_interval for one in ranking.ranking))] * any(fewer)),
    )
    quantity = with_unit({"name": f"mean {ranking.metric}", "unit": unit}) if means else f"score by {ranking.method}"
    better = ", lower is better ↓" if means and yardstick_of(ranking).sign < 0 else ""
    sentence = verdict_alone(ranking, others).sentence
    return Forest(f"Ranking: {about(ranking)}", sentence, quantity + better, found, zero=not means, doubts=doubts)


def forest_of_models(found: ModelComparison) -> Forest:
    """The difference of two models over all benchmarks and on each of them."""
    contender, baseline = names_of_models(found)
    rows = [(f"over {counted(found.whole.benchmarks, 'benchmark', 'benchmarks')}", found.whole)] if found.whole else []
    rows += [(one.benchmark, one.test) for one in found.by_benchmark if one.test]  # type: ignore[misc]
    drawn = [Row(name, test.difference, test.interval) for name, test in rows if test.difference is not None]
    unit = Yardstick.of(found.metric).unit
    quantity = with_unit({"name": f"{found.metric['name']}, {contender} less {baseline}", "unit": unit})
    sentence = model_comparison_verdict(found).sentence
    models = ", ".join(sorted((found.contender.model, found.baseline.model)))
    where = about(found).replace(f", models {models}", "", 1)  # which the title begins with
    return Forest(f"{contender} vs {baseline}: {where}", sentence, quantity, drawn, zero=True)


def forest_svg(forest: Forest) -> str:
    """The picture."""
    rows, span = forest.shown, _span(forest)
    told = ". ".join(map(forest.told, rows))
    heads = Heads(forest.title, forest.sentence, told, list(forest.notes()), forest.quantity, "")
    names = [fitted(row.name or "(none)", LABEL, 260.0) for row in rows]
    at = [1 - (place + 0.5) / len(rows) for place in range(len(rows))]
    ticks = [(span.share(one), text) for one, text in span.ticks]
    frame = frame_of(
        heads, ChartOptions(), ticks, list(zip(at, names, strict=True)), 16.0, high=_ROW * max(len(rows), 1)
    )
    return drawn(frame, _inside(frame, forest, at, span))


def forest_vega(forest: Forest) -> dict[str, Any]:
    """The same as a Vega-Lite 6 specification with the data inside."""
    values = [
        {"name": row.name or "(none)", "value": row.value, "told": forest.told(row)}
        | ({"low": row.interval.low, "high": row.interval.high} if row.interval else {})
        for row in forest.shown
    ]
    y = {"field": "name", "type": "nominal", "sort": None, "title": None}
    x = {"type": "quantitative", "title": forest.quantity, "scale": {"zero": forest.zero}}
    colour = COLOURS["light"][0]
    zero = {"data": {"values": [{"zero": 0}]}, "mark": {"type": "rule", "strokeDash": [4, 3]}}
    layers = [
        *([zero | {"encoding": {"x": {"field": "zero", **x}}}] if forest.zero else []),
        {
            "transform": [{"filter": "isValid(datum.low)"}],
            "mark": {"type": "rule", "color": colour},
            "encoding": {"y": y, "x": {"field": "low", **x}, "x2": {"field": "high"}},
        },
        {
            "mark": {"type": "point", "filled": True, "size": 60, "color": colour},
            "encoding": {"y": y, "x": {"field": "value", **x}, "tooltip": {"field": "told", "type": "nominal"}},
        },
    ]
    return vega(
        (forest.title, (forest.sentence, *forest.notes())),
        "light",
        (620, 6),
        width=620,
        height={"step": _ROW},
        data={"values": values},
        layer=layers,
    )


def _span(forest: Forest) -> Span:
    ends = [end for row in forest.shown for end in (row.value, *row.ends)]
    return span_of([*ends, *([0.0] if forest.zero else [])])


def _inside(frame: Frame, forest: Forest, at: Sequence[float], span: Span) -> Iterator[str]:
    """Zero, where it is a matter, and in each row the whisker below its dot."""
    bottom = frame.top + frame.high
    if forest.zero:
        x = frame.x(span.share(0.0))
        yield frame.paint.group("faint", ' stroke="currentColor" stroke-dasharray="4 3"')
        yield f'<path d="M{x:.1f} {frame.top:.1f}V{bottom:.1f}"/></g>'
    yield frame.paint.group("k0")
    for row, share in zip(forest.shown, at, strict=True):
        y, (low, high) = frame.y(share), (frame.x(span.share(end)) for end in row.ends)
        if row.interval:
            yield f'<path d="M{low:.1f} {y:.1f}H{high:.1f}" stroke="currentColor" stroke-width="2"/>'
        yield dot(frame.x(span.share(row.value)), y, frame.paint, safe(forest.told(row)), hollow=False, radius=4.4)
    yield "</g>"
