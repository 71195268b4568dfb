"""The trends of a grid as CSV."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from registry.renderings.tidy import harmless, tidy

Document = dict[str, Any]


def csv(document: Document) -> str:
    """One row a series."""
    series = document.get("series") or []
    axes = list(dict.fromkeys(name for one in series for name in one.get("at") or {}))
    after = [*_FIELDS, "slope_low", "slope_high"]
    after += ["change", "change_low", "change_high", "detectable", "noise"]
    after += ["mann_kendall_s", "mann_kendall_p", "min_attainable_p", "mann_kendall_status"]
    after += ["trend_p", "q", "direction", "shape", "shape_at"]
    return tidy(["grid", "revision", "along"], (_row(document, one, axes) for one in series), axes, after)


_FIELDS = ("count", "from", "to", "first", "last", "slope")


def _row(document: Document, one: Document, axes: Sequence[str]) -> list[Any]:
    interval, test, form = (one.get(name) or {} for name in ("slope_interval", "mann_kendall", "shape"))
    change: Document = one.get("fitted_change") or {}
    within = change.get("interval") or {}
    cells = [str(document.get("grid", "")), document.get("revision"), one["along"]]
    cells += [(one.get("at") or {}).get(name) for name in axes] + [one.get(name) for name in _FIELDS]
    cells += [interval.get("low"), interval.get("high"), change.get("value"), within.get("low"), within.get("high")]
    cells += [one.get("detectable"), one.get("noise")]
    cells += [test.get(name) for name in ("s", "p", "min_attainable_p", "status")]
    cells += [one.get("trend_p"), one.get("q"), one.get("direction"), form.get("kind"), form.get("at")]
    return [harmless(cell) for cell in cells]
