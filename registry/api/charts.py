"""What the answers with charts share: the options of their pictures, their forms."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from registry.api.responses import MEDIA, dumps
from registry.api.smorest import ready, reply
from registry.renderings.forest import Forest, forest_png, forest_svg, forest_vega
from registry.renderings.lines import ChartOptions
from registry.renderings.lines.png import chart_png
from registry.results.lines import Lines
from registry.results.trade_offs import TradeOff

Chart = TypeVar("Chart", Lines, TradeOff)
PICTURES = ("svg", "png", "vl.json")
FORMS = ("json", "txt", "md", "csv", *PICTURES)


def charted(told: str, shape: str, example: Any, forms: Mapping[str, str | None]) -> dict[str, Any]:
    """The answer with a chart, in words and as pictures."""
    pictures = [MEDIA[form] for form in FORMS if form not in ("json", *forms)]
    return reply(200, told, ready(shape), example=example, forms=forms, media=pictures, headers=["ETag"])


def renderers(
    query: Mapping[str, Any],
    kind: type[Chart],
    tables: Mapping[str, Callable[[Chart], str]],
    svg: Callable[[Chart, ChartOptions], str],
    vega: Callable[[Chart, ChartOptions], Any],
) -> Mapping[str, Callable[[Chart], str | bytes]]:
    """What writes a chart in each form but JSON, the pictures as they are asked for."""
    options = options_of(query)
    pictures: dict[str, Callable[[Chart], str | bytes]] = {
        "svg": lambda found: svg(found, options),
        "png": lambda found: chart_png(kind, found, lambda one: svg(one, options), query["scale"]),
        "vl.json": lambda found: dumps(vega(found, options)),
    }
    return {**pictures, **tables}


def forests(forest_of: Callable[[Any], Forest]) -> dict[str, Callable[[Any], str | bytes]]:
    """What draws a result as a forest plot."""
    return {
        "svg": lambda found: forest_svg(forest_of(found)),
        "png": lambda found: forest_png(forest_of(found)),
        "vl.json": lambda found: dumps(forest_vega(forest_of(found))),
    }


def options_of(query: Mapping[str, Any]) -> ChartOptions:
    """How the picture is asked for; `x` is the scale of lines, and a quantity of a trade-off."""
    return ChartOptions(
        query.get("theme", "light"),
        query.get("width", 880),
        query["x_scale"] if "x_scale" in query else query.get("x"),
        query.get("y_scale"),
        query["band"] == "interval",
    )
