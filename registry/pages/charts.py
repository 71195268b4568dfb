"""What the pages of lines and of trade-offs share: their form's choices, their tables, their pictures and downloads."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import quote

from flask import request
from markupsafe import Markup

from registry.pages.choices import Choice
from registry.pages.links import LOOKS, carried, data_path
from registry.query import SLOT_POLICIES, RankingQuery
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


def lines_of_ranking(project: str, question: RankingQuery, answer: Ranking) -> str:
    """Where the first of the ranked names are drawn as lines, of the same selection."""
    first: dict[str, Any] = {}
    if question.by in KINDS and not (question.by == "benchmark" and question.suite):
        first = {question.by: tuple(one.name for one in answer.ranking[:MOST_LINES])}
    scope = replace(question.selection, **first).to_query()
    missing = [("missing", question.missing)] if question.missing in SLOT_POLICIES[1:] else []
    return carried(f"/projects/{quote(project)}/lines", [*scope, ("by", question.by), *missing])
