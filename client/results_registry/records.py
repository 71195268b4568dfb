"""Results that were read back: lists and dictionaries that can turn into pandas and xarray, which are imported then,
and that notebooks show as tables and heatmaps."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from results_registry.item import IDENTITY
from results_registry.notebook import comparison_html, document_html, grid_html, ranking_html, records_html

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr


class Records(list[dict[str, Any]]):
    """Rows as dictionaries with the same keys."""

    def to_pandas(self) -> pd.DataFrame:
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

    def to_xarray(self) -> xr.DataArray:
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

    def to_xarray(self) -> xr.DataArray:
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

    def to_pandas(self) -> pd.DataFrame | pd.Series[float]:
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

    def to_pandas(self) -> pd.DataFrame:
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

    def to_pandas(self) -> pd.DataFrame:
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
