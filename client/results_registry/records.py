"""Results that were read back: lists and dictionaries that can turn into pandas and xarray, which are imported then,
and that notebooks show as tables and heatmaps.

HTML of what was read back, for `_repr_html_` in notebooks. All text is escaped; there is no script.
"""

import itertools
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from results_registry.spool import IDENTITY

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr


class Records(list[dict[str, Any]]):
    """Rows as dictionaries with the same keys."""

    def to_pandas(self) -> "pd.DataFrame":
        """A DataFrame with a row for each record."""
        import pandas as pd

        return pd.DataFrame(list(self))

    def _repr_html_(self) -> str:
        return records_html(self)


class Cells(Records):
    """Measured cells, tidy: the grid's id, names and axes, `value`, `trials`, `stderr` and the interval around it.

    A level is a number or a text. A labelled level of a numeric axis ("32b") is its label, and its number stands
    beside it as `<axis>_num`.
    """

    def __init__(self, rows: list[dict[str, Any]], axes: tuple[str, ...]) -> None:
        super().__init__(rows)
        self.axes = axes
        """The names of the axes, those of the first grid first."""

    def to_xarray(self) -> "xr.DataArray":
        """The values over the axes and over each name that varies; unmeasured ones are NaN."""
        frame = self.to_pandas()
        if frame.empty:
            raise ValueError("There are no cells.")
        varying = [name for name in IDENTITY if frame[name].nunique() > 1]
        frame = frame.assign(**{name: frame[f"{name}_num"] for name in self.axes if f"{name}_num" in frame})
        dims = [*varying, *self.axes]
        if absent := [name for name in self.axes if frame[name].isna().any()]:
            raise ValueError(f'Not every grid has the axis "{absent[0]}"; read grids of one shape.')
        if not dims:
            import xarray as xr

            return xr.DataArray(frame["value"].iloc[0])
        array: xr.DataArray = frame.set_index(dims)["value"].to_xarray()
        return array


class GridDocument(dict[str, Any]):
    """A grid as the registry answers it: names, `axes`, `values` nested to their depth, revision, digest, and so on."""

    def to_xarray(self) -> "xr.DataArray":
        """The values with their coordinates: numbers on numeric axes, labels elsewhere; unmeasured ones are NaN."""
        import xarray as xr

        dims = [axis["name"] for axis in self["axes"]]
        coords: dict[str, Any] = {axis["name"]: [_place(level) for level in axis["levels"]] for axis in self["axes"]}
        for axis in self["axes"]:
            if any(isinstance(level, dict) for level in axis["levels"]):
                labels = [label(level) for level in axis["levels"]]
                coords[f"{axis['name']}_label"] = (axis["name"], labels)
        about = {name: self[name] for name in (*IDENTITY[:4], "revision", "digest")}
        unit = {"units": self["metric"]["unit"]} if self["metric"]["unit"] else {}
        return xr.DataArray(
            _measured(self["values"]),
            coords,
            dims,
            name=self["metric"]["name"],
            attrs=about | {"grid": self["id"]} | unit,
        )

    def to_pandas(self) -> "pd.DataFrame | pd.Series[float]":
        """The first axis against the second; a Series for one axis, several axes as rows for more than two."""
        import pandas as pd

        array = self.to_xarray()
        if array.ndim == 0:
            return pd.Series([array.item()], name=array.name)
        if array.ndim <= 2:
            return array.to_pandas()
        return array.to_series().unstack()

    def _repr_html_(self) -> str:
        return grid_html(self)


class RankingDocument(dict[str, Any]):
    """A ranking as the registry answers it; `reason` says why where there is none, or not yet."""

    def to_pandas(self) -> "pd.DataFrame":
        """A row for each name in the order of the ranking, with its names as the index; empty if there is none."""
        import pandas as pd

        frame = pd.DataFrame(list(self.get("ranking") or []))
        return frame.set_index("name") if "name" in frame else frame

    def _repr_html_(self) -> str:
        return ranking_html(self)


class StatisticsDocument(dict[str, Any]):
    """The statistics of a grid as the registry answers them; `state` says whether they are there."""

    def _repr_html_(self) -> str:
        return document_html(self)


class ComparisonDocument(dict[str, Any]):
    """A comparison as the registry answers it; `state` says whether it is there."""

    def _repr_html_(self) -> str:
        return comparison_html(self)


class AggregatesDocument(dict[str, Any]):
    """A table as the registry answers it; `reason` says why where there is none, or not yet."""

    def to_pandas(self) -> "pd.DataFrame":
        """A row for each entry with its levels as the index, `value`, `n`, `cells`, `over`, and `low` and `high` of its
        interval; NaN where there is none. Empty if there is no table."""
        import pandas as pd

        entries: list[dict[str, Any]] = list(self.get("entries") or [])
        names = list(self.get("group_by") or [])
        rows = [
            {
                **one["at"],
                **{name: one[name] for name in ("value", "n", "cells", "over")},
                **{end: (one.get("interval") or {}).get(end) for end in ("low", "high")},
            }
            for one in entries
        ]
        frame = pd.DataFrame(rows, columns=[*names, "value", "n", "cells", "over", "low", "high"])
        return frame.astype(dict.fromkeys(("value", "low", "high"), float)).set_index(names) if names else frame

    def _repr_html_(self) -> str:
        return document_html(self)


def read_feed(lines: bytes) -> Cells:
    """A tidy feed as NDJSON, with levels that are plain numbers as numbers."""
    rows: list[dict[str, Any]] = [json.loads(line) for line in lines.splitlines()]
    axes = tuple(name for name in (rows[0] if rows else ()) if f"{name}_num" in rows[0])
    for row in rows:
        for axis in axes:
            number = row[f"{axis}_num"]
            if number is not None and _is_plain(row[axis], number):
                row[axis] = int(number) if float(number).is_integer() else number
                del row[f"{axis}_num"]
            elif number is None:
                del row[f"{axis}_num"]
    return Cells(rows, axes)


def _is_plain(text: str, number: float) -> bool:
    """Tell whether a level's label is nothing but its number."""
    try:
        return float(text) == number and not text.lower().startswith(("0x", "+"))
    except ValueError:
        return False


def label(level: Any) -> Any:
    return level["label"] if isinstance(level, dict) else level


def _place(level: Any) -> Any:
    return level["number"] if isinstance(level, dict) else level


def _measured(values: Any) -> Any:
    if isinstance(values, list):
        return [_measured(one) for one in values]
    return math.nan if values is None else float(values)


_MOST_ROWS, _MOST_COLUMNS, _MOST_TABLES = 60, 40, 12
_CIVIDIS = ((0, 34, 78), (65, 77, 107), (124, 123, 120), (188, 175, 111), (254, 232, 56))
"""Cividis at 0, ¼, ½, ¾ and 1 (Nuñez, Anderton, Renslow 2018, doi:10.1371/journal.pone.0199239)."""
_HATCH = "background:repeating-linear-gradient(135deg,#eee 0 4px,#aaa 4px 5px)"
Coordinate = tuple[int, ...]


def grid_html(grid: Mapping[str, Any]) -> str:
    """A heatmap of the grid: a table for each coordinate of all but its last two axes, missing cells hatched."""
    axes: Sequence[Mapping[str, Any]] = grid["axes"]
    measured = [value for _, value in _flat(grid["values"]) if value is not None]
    scale = _Scale(measured, grid["metric"].get("direction") == "lower")
    outer, inner = axes[:-2], axes[-2:]
    places = list(itertools.product(*(range(len(axis["levels"])) for axis in outer)))
    tables = [_plate(grid["values"], place, outer, inner, scale) for place in places[:_MOST_TABLES]]
    cut = _more(len(places) - _MOST_TABLES, "more tables are not shown")
    return f"<div>{_caption(grid, len(measured))}{''.join(tables)}{cut}</div>"


def ranking_html(ranking: Mapping[str, Any]) -> str:
    """The order with scores, the ranks that noise leaves open, and groups; or why there is none."""
    what = f"{ranking.get('experiment', '')} · {ranking.get('metric', '')}"
    rows = ranking.get("ranking") or []
    if not rows:
        state = ranking.get("reason") or ranking.get("state") or "pending"
        return f"<div><b>Ranking of {escape(what)}</b>: {escape(str(state))}</div>"
    header = ("rank", str(ranking.get("by", "name")), "score", "ranks left open", "group", "cells")
    lines = [
        (one["rank"], one["name"], _number(one["score"]), _span(one["rank_low"], one["rank_high"]),
         " ".join(one.get("group") or ()), one.get("cells"))
        for one in rows[:_MOST_ROWS]
    ]  # fmt: skip
    slots = ranking.get("slots") or {}
    note = f"{slots.get('compared')} of {slots.get('total')} slots are compared" if slots else ""
    return (
        f"<div><b>Ranking of {escape(what)}</b> {_dim(note)}{_table(header, lines)}"
        f"{_more(len(rows) - _MOST_ROWS, 'more names are not shown: .to_pandas() has them')}</div>"
    )


def records_html(rows: Sequence[Mapping[str, Any]]) -> str:
    """The first rows as a table, and how many there are."""
    header = list(dict.fromkeys(name for row in rows[:_MOST_ROWS] for name in row))
    lines = [[_plain(row.get(name)) for name in header] for row in rows[:_MOST_ROWS]]
    count = f"{len(rows):,} row{'' if len(rows) == 1 else 's'}"
    cut = _more(len(rows) - _MOST_ROWS, "more rows are not shown: .to_pandas() has them")
    return f"<div>{_table(header, lines) if rows else ''}{cut or _dim(count)}</div>"


def comparison_html(comparison: Mapping[str, Any]) -> str:
    """The mean difference with its interval, who wins how many cells, and by what test; or why there is none. Of two
    models, that over all benchmarks."""
    whole = comparison.get("whole")
    found, test = (whole, whole) if whole else (comparison, comparison.get("test") or {})
    where = ", ".join(f"{axis} {' '.join(levels)}" for axis, levels in (comparison.get("slice") or {}).items())
    wins = [found.get(name) for name in ("wins", "ties", "losses")]
    lines = {
        "contender": _plain(comparison.get("contender")),
        "baseline": _plain(comparison.get("baseline")),
        "slice": where,
        "benchmarks that both have": found.get("benchmarks"),
        "cells that both have": found.get("n_common"),
        # The interval and p belong to the test's own estimate, which weighs cells by their trials.
        "difference": _number(comparison.get("mean") if test.get("difference") is None else test["difference"]),
        "interval": _plain(test.get("interval")),
        "p": _number(test.get("p")),
        "wins, ties, losses": ", ".join(map(str, wins)) if None not in wins else None,
        "status": comparison.get("status") or comparison.get("state"),
        "reason": comparison.get("reason"),
    }
    return f"<div>{_table(('comparison', ''), (row for row in lines.items() if row[1] not in (None, '')))}</div>"


def document_html(document: Mapping[str, Any]) -> str:
    """The fields of a document as a table: plain ones and intervals with their values, the others by their size."""
    return f"<div>{_table(('field', 'value'), ((name, _plain(value)) for name, value in document.items()))}</div>"


class _Scale:
    """Colours from the least to the greatest value; turned round where lower is better, so that yellow is good."""

    def __init__(self, values: Sequence[float], lower_is_better: bool) -> None:
        self.low, self.high = (min(values), max(values)) if values else (0.0, 0.0)
        self._turned = lower_is_better

    def style(self, value: float | None) -> str:
        """CSS of a cell with this value."""
        if value is None:
            return _HATCH
        share = 0.5 if self.high == self.low else (value / 2 - self.low / 2) / (self.high / 2 - self.low / 2)
        red, green, blue = _colour(1 - share if self._turned else share)
        ink = "#000" if 0.299 * red + 0.587 * green + 0.114 * blue > 120 else "#fff"
        return f"background:rgb({red},{green},{blue});color:{ink}"


def _colour(share: float) -> tuple[int, int, int]:
    place = min(max(share, 0.0), 1.0) * (len(_CIVIDIS) - 1)
    first = min(int(place), len(_CIVIDIS) - 2)
    mixed = [round(a + (b - a) * (place - first)) for a, b in zip(_CIVIDIS[first], _CIVIDIS[first + 1], strict=True)]
    return mixed[0], mixed[1], mixed[2]


def _flat(values: Any, place: Coordinate = ()) -> Iterator[tuple[Coordinate, float | None]]:
    if isinstance(values, list):
        for index, one in enumerate(values):
            yield from _flat(one, (*place, index))
    else:
        yield place, values


def _plate(
    values: Any,
    place: Coordinate,
    outer: Sequence[Mapping[str, Any]],
    inner: Sequence[Mapping[str, Any]],
    scale: _Scale,
) -> str:
    for index in place:
        values = values[index]
    title = ", ".join(
        f"{axis['name']} {_label(axis['levels'][index])}" for axis, index in zip(outer, place, strict=True)
    )
    rows = values if len(inner) == 2 else [values if inner else [values]]
    columns = [_label(level) for level in inner[-1]["levels"]] if inner else []
    labels = [_label(level) for level in inner[0]["levels"]] if len(inner) == 2 else [""] * len(rows)
    corner = f"{inner[0]['name']} \\ {inner[1]['name']}" if len(inner) == 2 else inner[0]["name"] if inner else ""
    head = "".join(f"<th>{escape(text)}</th>" for text in (corner, *columns[:_MOST_COLUMNS])) if inner else ""
    body = "".join(
        f"<tr><th>{escape(text)}</th>{''.join(_cell(value, scale) for value in row[:_MOST_COLUMNS])}</tr>"
        for text, row in zip(labels[:_MOST_ROWS], rows[:_MOST_ROWS], strict=True)
    )
    cut = _more(len(rows) - _MOST_ROWS, "more rows are not shown")
    cut += _more(len(columns) - _MOST_COLUMNS, "more columns are not shown")
    named = f"<div><b>{escape(title)}</b></div>" if title else ""
    return f"{named}<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{cut}"


def _cell(value: float | None, scale: _Scale) -> str:
    text = "<span title='not measured'>·</span>" if value is None else _number(value)
    return f'<td style="text-align:right;{scale.style(value)}">{text}</td>'


def _caption(grid: Mapping[str, Any], measured: int) -> str:
    metric = grid["metric"]
    unit = f" ({metric['unit']})" if metric.get("unit") else ""
    direction = {"higher": ", higher is better", "lower": ", lower is better"}.get(metric.get("direction") or "", "")
    names = " · ".join(grid[name] for name in ("experiment", "benchmark", "model", "variant") if grid.get(name))
    url = grid.get("html_url") or ""
    heading = f"<b>{escape(names)}</b>"
    if url.startswith(("http://", "https://")):
        heading = f'<a href="{escape(url)}">{heading}</a>'
    possible = 1
    for axis in grid["axes"]:
        possible *= len(axis["levels"])
    told = f"{metric['name']}{unit}{direction} · {measured} of {possible} cells measured · revision {grid['revision']}"
    return f"<div>{heading}<br>{_dim(told)}</div>"


def _table(header: Iterable[Any], rows: Iterable[Iterable[Any]]) -> str:
    head = "".join(f"<th>{escape(str(one))}</th>" for one in header)
    body = "".join(
        "<tr>" + "".join(f"<td>{'' if one is None else escape(str(one))}</td>" for one in row) + "</tr>" for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _span(low: Any, high: Any) -> str:
    return "" if low is None else str(low) if low == high else f"{low} to {high}"


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        if {"low", "high"} <= value.keys():
            return f"{_number(value['low'])} to {_number(value['high'])}"
        for name in ("label", "model", "name"):
            if name in value:
                return value[name]
        return f"{{{len(value)} fields}}"
    if isinstance(value, list):
        return f"[{len(value)}]"
    return _number(value) if isinstance(value, float) else value


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.6g}"


def _label(level: Any) -> str:
    return str(level["label"] if isinstance(level, Mapping) else level)


def _dim(text: str) -> str:
    return f'<span style="opacity:.7">{escape(text)}</span>' if text else ""


def _more(count: int, words: str) -> str:
    return f"<div>{_dim(f'{count:,} {words}')}</div>" if count > 0 else ""
