"""Phrases that several renderings share: titles, levels, slices, names of tests, assumptions, counts.

Numbers are written in `numbers.py`, what an answer adds below in `notes.py`, the texts of a heat map in
`heatmap/words.py`.
"""

import math
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, time
from typing import Any

from registry.grids.protocol import Protocol, written
from registry.grids.slices import slice_of, slice_text, with_slice
from registry.renderings.numbers import UNDEFINED, plain_number, rough
from registry.renderings.table import Column
from registry.results.aggregates import Aggregates
from registry.results.comparison import GapTest, ModelComparison
from registry.results.courses import Onset, Series
from registry.results.pairs import Pair
from registry.results.ranking import Ranking
from registry.results.terms import Incomparable, Interval, ProtocolDifference, Selected, SliceDocument
from registry.results.trend_tests import EndChange, FittedChange


def title(document: Mapping[str, Any]) -> str:
    """`benchmark · model · variant — metric (unit)`."""
    names = [document.get(name) for name in ("benchmark", "model", "variant")]
    return " · ".join(str(name) for name in names if name) + " — " + measure(document["metric"])


def versus(one: Sequence[str], other: Sequence[str]) -> str:
    """`A vs B` of the names in which two sides differ; of all of them where they differ in none."""
    both = list(zip(one, other, strict=True))
    told = [(mine, theirs) for mine, theirs in both if mine != theirs] or both
    return " vs ".join(" · ".join(name or UNDEFINED for name in names) for names in zip(*told, strict=True))


def measure(metric: Mapping[str, Any] | None) -> str:
    """The metric with its unit."""
    return with_unit(metric) if metric else "value"


def with_unit(named: Mapping[str, Any]) -> str:
    """A metric or an axis with its unit, if it has one."""
    return f"{named['name']} ({named['unit']})" if named.get("unit") else str(named["name"])


def label(level: Any) -> str:
    """A level as people read it: its label, or its number."""
    if isinstance(level, dict):
        return str(level["label"])
    return plain_number(level) if isinstance(level, (int, float)) else str(level)


def slice_line(document: SliceDocument, *, short: bool = False) -> Iterator[str]:
    """What a result is restricted to, as a sentence or in short; nothing for a result of whole grids."""
    if document:
        yield (
            slice_text(slice_of(document))
            if short
            else f"Only {isolated(slice_text(slice_of(document)))}; nothing else is counted."
        )


def asked_columns(found: Any, **slices: SliceDocument) -> dict[str, str]:
    """The columns at the end of every CSV of several grids: suite, slice (or `slices`) and instant, as far as asked."""
    cut = slices or {"slice": found.slice}
    told = {name: ", ".join(slice_line(one, short=True)) for name, one in cut.items()}
    asked = {"suite": found.suite, **told, "as_of": found.selection.as_of if found.selection else None}
    return {name: text for name, text in asked.items() if text}


def about(found: Any, *, metric_is_said: bool = False) -> str:
    """What an answer about several grids is about: `accuracy in long-context, suite reasoning`, or without the metric
    where that is said before."""
    if found.selection is not None:
        said_before = f"{found.selection.metric} in " if metric_is_said else ""
        return isolated(of_selection(found.selection).removeprefix(said_before))
    # Of a server of an older version, which may know less.
    metric = found.metric["name"] if isinstance(found.metric, Mapping) else found.metric
    told = [None if metric_is_said else metric, found.experiment]
    return with_slice(" in ".join(filter(None, told)), slice_of(found.slice or {}))


def of_selection(found: Selected) -> str:
    """A selection as its sentence has it, with its instant as people read it."""
    return (
        found.sentence.replace(f"as of {found.as_of}", f"as of {moment(found.as_of)}")
        if found.as_of
        else found.sentence
    )


def protocol_line(protocol: Protocol | None) -> Iterator[str]:
    """How something was measured, `Protocol: harness lm-eval · shots 5`; nothing where that is not known."""
    if protocol:
        told = (f"{isolated(key)} {isolated(written(value))}" for key, value in sorted(protocol.items()))
        yield f"Protocol: {' · '.join(told)}"


def moment(instant: str | datetime) -> str:
    """A day as it is, `2 Nov 2026`; another instant to the minute, `2 Nov 2026, 12:34 UTC`."""
    at = (datetime.fromisoformat(instant) if isinstance(instant, str) else instant).astimezone(UTC)
    return f"{at:%-d %b %Y}" if at.time() == time.min else f"{at:%-d %b %Y, %H:%M} UTC"


def place(at: Mapping[str, Any], without: str | None = None) -> str:
    """A coordinate, `Type 2, Length 1`."""
    return ", ".join(_at(name, spoken(level)) for name, level in at.items() if name != without)


def _at(name: str, level: str) -> str:
    """A level with the name of its axis, once: `Type 4` of the axis Type has it."""
    return isolated(level if level.startswith(f"{name} ") else f"{isolated(name)} {isolated(level)}")


def levels_named(ranking: Ranking) -> Ranking:
    """The ranking with the name of their axis before its levels, as sentences have it."""
    axis = (ranking.by or "").removeprefix("axis:")
    return ranking.renamed(lambda level: place({axis: level})) if axis != (ranking.by or "") else ranking


def isolated(text: str) -> str:
    """A name in a sentence, `(none)` for an empty one: one that is written from right to left does not turn around what
    stands beside it."""
    text = text or "(none)"
    if text.isascii() or not any(unicodedata.bidirectional(character) in ("R", "AL") for character in text):
        return text
    return f"\u2068{text}\u2069"


def spoken(level: Any) -> str:
    """A level in a sentence: seven digits and more of a number by thousands, `70 000 000 000`."""
    if isinstance(level, (int, float)) and level == int(level) and 1e6 <= abs(level) < 1e15:
        return f"{int(level):,}".replace(",", "\u202f")
    return label(level)


def places(
    found: Sequence[Mapping[str, Any]], without: str | None = None, ties: int | None = None, most: int = 12
) -> str:
    """Coordinates, at most so many, and how many more there are."""
    named = [name for name in (place(at, without) for at in found[:most]) if name]
    more = max(ties or 0, len(found)) - len(found[:most])
    return "; ".join(named) + (f"; and {more:,} more" if more > 0 and named else "")


def said(word: Any) -> str:
    """A word of the wire in plain writing."""
    return str(word).replace("_", " ")


_LARGE = 10_000
"""The number of a level from which on slopes are per thousand."""


def slope_per(axes: Sequence[Mapping[str, Any]], along: str, x_scale: Any) -> tuple[float, str, str]:
    """What a slope is told per, by what the stored one is multiplied for that, and what that is per: a doubling of the
    axis on a logarithmic scale, for a factor of ten; a level where there is only an order; else a unit, or a thousand
    where levels are large."""
    axis: Mapping[str, Any] = next((one for one in axes if one["name"] == along), {})
    if x_scale == "log10":
        return math.log10(2), f"doubling of {along}", "factor of ten"
    if axis.get("kind") == "ordinal":
        return 1.0, f"level of {along}", "level"
    unit = axis.get("unit") or ""
    numbers = (level["number"] if isinstance(level, Mapping) else level for level in axis.get("levels", ()))
    if any(isinstance(one, (int, float)) and abs(one) >= _LARGE for one in numbers):
        return 1000.0, " ".join(filter(None, ("1k", unit, "of", along))), unit or "unit"
    return 1.0, f"{unit or 'unit'} of {along}", unit or "unit"


def times_interval(times: float, within: Interval | None) -> Interval | None:
    """An interval of what is so many times as large."""
    return within and Interval(within.level, times * within.low, times * within.high)


def counted(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}"


def every(number: int, many: str) -> str:
    """All of them, which are several: `both cells`, `all 3 cells`."""
    return f"both {many}" if number == 2 else f"all {number:,} {many}"


def axis_columns(cells: Sequence[Mapping[str, Any]]) -> list[Column]:
    """A column for each axis of some coordinates."""
    names = list(dict.fromkeys(name for at in cells for name in at))
    return [Column(name, [label(at.get(name, "")) for at in cells], _numeric(cells, name)) for name in names]


def _numeric(cells: Sequence[Mapping[str, Any]], name: str) -> bool:
    return not any(isinstance(at.get(name), str) for at in cells)


def direction(one: Series, alpha: float) -> str:
    """The direction, and whether it is one along a line; where nothing was shown, the smallest change that would have
    been: `(could have shown 4.1)`; where nothing could be, whether points are too few or tie."""
    found = one.direction
    word = said(found)
    if found == "insufficient_points":
        word = "too many ties" if 2 / math.factorial(min(one.count, 20)) < alpha else "too few points"
    if oddities := ", ".join(unlike_a_line(one, scale="")):
        return f"{word}, {oddities}"
    seen = one.detectable
    return f"{word} (could have shown {rough(seen)})" if found == "inconclusive" and seen is not None else word


UNLIKE_LINE, UNLIKE_ENDS = "not along a line", "though not from end to end"


def unlike_a_line(one: Series, scale: str = " on the logit scale") -> Iterator[str]:
    """How a series that is shown to move does not do so along a line: its cells miss one by more than their noise, of
    trials on the logit `scale`, or its two ends, as of few trials, go the other way."""
    if "creasing" not in one.direction or one.end_change is None:
        return
    if one.fitted_change is None:
        yield UNLIKE_LINE + (scale if one.logit else "")
    if one.end_change.value * (-1 if "decreasing" in one.direction else 1) < 0:
        yield UNLIKE_ENDS


_BEYOND_LINES = 100


def told_change(one: Series) -> EndChange | FittedChange | None:
    """The change of the ends, without noise along a line; `None` where one of the two is more than a hundred times the
    other, with the range for ends that are equal: a line that leaves out a giant step says nothing of such a course."""
    if one.end_change or not one.fitted_change:
        return one.end_change
    line = abs(one.fitted_change.value)
    less, more = sorted((abs(one.last - one.first) or bool(line) * (one.summary.max - one.summary.min), line))
    return None if _BEYOND_LINES * less < more else one.fitted_change


def reaches_0(one: Series) -> bool:
    """Whether the interval of the change ends at 0, to which it was widened as no trend is shown."""
    change = told_change(one)
    within = change.interval if change and "creasing" not in one.direction else None
    return within is not None and 0.0 in (within.low, within.high)


def lasting(one: Series, metric: Mapping[str, Any]) -> Onset | None:
    """Where a series is shown to decline for good; of a metric without a better end nothing is a decline."""
    return one.onset if one.onset and one.onset.by is not None and metric.get("direction") else None


_SENTENCES = {
    "independent_trials": "the trials of a cell are taken as independent; publish design_effect if they are not",
    "weighed_by_trials": (
        "the cells of a benchmark weigh by their trials (Mantel and Haenszel): where they differ by unequal amounts, "
        "all together are not the difference of the means"
    ),
    "design_effect_of_repeats": (
        "repeats vary by more than their trials explain, or so few may: errors of trials are larger by as much as they "
        "show, in all cells alike; where one has eight times the variance of the others, up to 10 % of reports err"
    ),
    "independent_cells": (
        "the repeats of a cell are taken as independent of those of other cells, and few of them as hardly noisier in "
        "one cell than in others: a third of the answers err where half of the variance is that of one run (a seed) in "
        "all cells, up to 12 % where one of two or three repeats is ten times as noisy"
    ),
    "nearest_counts": "where a value is no whole count out of its trials, the tests take the nearest whole count",
    "equal_noise": (
        "the repeats of all cells have about one noise: sets of cells, steps of three cells and more, lasting changes, "
        "thresholds, axes and interactions pool it, trends of few repeats hardly know it in each cell, and up to "
        "20-35 % of reports err where one cell, row or column is five to ten times as noisy"
    ),
    "exact_errors": "posted standard errors are taken as exact; those of few or of skewed results are themselves noisy",
    "rounded_values": (
        "values look printed more coarsely than one of their trials: errors are larger by what that may hide, most "
        "near the ends of the scale; publish more digits"
    ),
    "equal_scatter": (
        "what the axes leave is taken to scatter alike in all cells, whose noise is not known in each; one noisy row "
        "lets axes matter too often"
    ),
    "rows_share_nothing": (
        "the cells of a level share no shock, as that of one bad checkpoint in every row; it would count once for each"
    ),
    "independent_levels": (
        "the scatter about a course is taken as independent from level to level; a curve that drifts slowly, as over "
        "the steps of one run, looks like a trend then"
    ),
    "independent_items": "items, or their clusters, are taken as independent: questions about one text are a cluster",
    "exchangeable_cells": "the cells are taken as exchangeable draws; their own noise is unknown or not used",
    "p(1-p)/questions": "questions are taken as all or nothing, p(1-p)/questions: the most that counts leave possible",
}


def assumptions(assumes: Sequence[str], design_effect: float | None = None) -> Iterator[str]:
    """One line for each assumption that a document names, and the design effect that it was given."""
    for word in assumes:
        yield f"assumed: {_SENTENCES.get(word, said(word))}"
    if design_effect is not None:
        yield f"design effect {design_effect:g}, as published: every binomial variance is multiplied by it"


_TESTS = {
    "clustered_t": "t of the items' differences, clustered by item",
    "mcnemar": "McNemar's exact test",
    "paired_items": "t of the items' differences on each benchmark",
    "paired_t": "t of the items' differences",
    "score": "score test",
    "sign_flip": "exact sign flip",
    "sign_flip_normal": "sign flip by the normal law",
    "sign_flip_normal_over_benchmarks": "sign flip over the benchmarks by the normal law",
    "sign_flip_over_benchmarks": "exact sign flip over the benchmarks",
    "t_over_benchmarks": "Student's t over the benchmarks",
    "t_over_cells": "Student's t over the cells",
    "z": "z",
    "welch": "Welch's t",
}


def why_not(test: GapTest) -> str:
    """Why there is no test."""
    return test.reason or said(test.status)


def named_test(test: str | None) -> str:
    """A test by the names of its authors."""
    return _TESTS.get(test or "", said(test))


def either(names: Iterable[str]) -> str:
    """The different names in one phrase."""
    return " or ".join(dict.fromkeys(names))


def attainable_p(test: GapTest | Pair | None) -> float | None:
    """A p-value that could have been significant."""
    return test.p_holm if test and test.status == "ok" else None


_MOST_LEFT_OUT = 12


def left_out_and_warnings(found: Aggregates | Ranking | ModelComparison, done: str) -> Iterator[str]:
    """Grids that are not `done`, for what they are made of or how they were measured, and the warnings."""
    if derived := dict.fromkeys(one.benchmark for one in found.derived):
        yield f"not {done}, for they are made of other grids: {', '.join(derived)}"
    yield from left_out_line(getattr(found, "incomparable", None), done)
    for warning in found.warnings:
        yield f"warning: {warning.detail}"


def left_out_line(found: Sequence[Incomparable] | None, done: str) -> Iterator[str]:
    """`not ranked, for they were measured otherwise: m1 on GSM8K (shots 3, not 5)`; `done` says what they are not."""
    if not found:
        return
    named = "; ".join(_named(one) for one in found[:_MOST_LEFT_OUT])
    more = f"; and {len(found) - _MOST_LEFT_OUT:,} more" if len(found) > _MOST_LEFT_OUT else ""
    said = [any(key.contender is not None for key in one.differs) for one in found]
    how = "were measured otherwise" if any(said) else "do not say how they were measured"
    yield f"not {done}, for they {how}{', or do not say how' * (any(said) and not all(said))}: {named}{more}"


def _named(one: Incomparable) -> str:
    names = " · ".join(isolated(name) for name in (one.model, one.variant) if name)
    why = ", ".join(map(_differing, one.differs))
    return f"{names} on {isolated(one.benchmark)}{f' ({why})' if why else ''}"


def _differing(one: ProtocolDifference) -> str:
    key = isolated(one.key)
    if one.contender is None:
        return f"{key} not said"
    other = "" if one.baseline is None else f", not {isolated(written(one.baseline))}"
    return f"{key} {isolated(written(one.contender))}{other}"
