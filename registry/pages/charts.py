"""What the pages of lines and of trade-offs share: their form's choices, their tables, their pictures and downloads."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from flask import request
from markupsafe import Markup

from registry.grids.slices import PARAMETER, Slice
from registry.pages.choices import Choice
from registry.pages.links import LOOKS, carried, data_path
from registry.renderings.lines import ChartOptions
from registry.results.ranking import Ranking
from registry.views.lines import MOST_LINES

WIDE, SMALL = 1_000, 360
"""Widths of a picture in pixels: on a screen, and on a phone."""
FORMS = (("", "JSON"), (".csv", "CSV"), (".txt", "text"), (".svg", "SVG"), (".png", "PNG"), (".vl.json", "Vega-Lite"))
KINDS = ("model", "variant", "benchmark")


def pictures(draw: Callable[[ChartOptions], str], options: ChartOptions) -> dict[str, Markup]:
    """The picture for a screen and for a phone, drawn in the colours of the page's style sheet."""
    sizes = (("wide", WIDE), ("small", SMALL))
    return {
        name: Markup(draw(ChartOptions("page", width, options.x, options.y, options.band, name)))  # noqa: S704
        for name, width in sizes
    }


def downloads(path: str, visibility: str) -> list[tuple[str, str]]:
    """The addresses of the same numbers in other forms, with what each is called."""
    given = [(name, text) for name, text in request.args.items(multi=True) if text and name not in LOOKS]
    found = [(data_path(f"{path}{suffix}", visibility, given), word) for suffix, word in FORMS]
    return [(href, word) for href, word in found if href]


def split_choices(choices: Sequence[Choice], by: str) -> tuple[Choice | None, list[Choice]]:
    """The names that have a line or a point, where they are few enough to be ticked, and the other choices."""
    ticked = next((one for one in choices if one.kind == by and one.listed and len(one.names) > 1), None)
    return ticked, [one for one in choices if one is not ticked]


def named(query: Mapping[str, Any], *also: str) -> bool:
    """Whether the question is complete."""
    return all(query.get(name) for name in ("experiment", *also))


def lines_of_ranking(project: str, query: Mapping[str, Any], wanted: Slice, answer: Ranking | None) -> str:
    """Where the first of the ranked names are drawn as lines, over the same benchmarks and slice."""
    by = query.get("by", "")
    first = [one.name for one in answer.ranking[:MOST_LINES]] if answer and by in KINDS else []
    asked = [(kind, name) for kind in KINDS for name in query.get(kind, ()) if kind != by or not first]
    slices = [(f"{PARAMETER}{axis}", text) for axis, texts in wanted for text in texts]
    scope = [(name, query.get(name, "")) for name in ("experiment", "metric", "by", "suite")]
    return carried(f"/projects/{quote(project)}/lines", [*scope, *asked, *((by, name) for name in first), *slices])
