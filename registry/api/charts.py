"""Parts that routes of charts share: query schemas of lines and trade-offs, renderers of every form of a picture."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar, get_args

from marshmallow import Schema, ValidationError, validates_schema

from registry.api.fields import Choice, Matching, Name, Share, Whole
from registry.api.pictures import scale_of_png
from registry.api.responses import dumps
from registry.api.schemas import NarrowedParameters, SelectedParameters, SharedSlotsParameters, about, name_or_axis
from registry.grids.grid import Direction
from registry.query import SLOT_POLICIES
from registry.renderings.charts.forest import Forest, forest_svg, forest_vega
from registry.renderings.charts.frame import chart_png
from registry.renderings.charts.paint import ChartOptions, XScale
from registry.renderings.heatmap import THEMES
from registry.results.aggregates import Aggregates
from registry.results.comparison import ModelComparison
from registry.results.lines import Lines
from registry.results.ranking import Ranking
from registry.results.trade_offs import TradeOff

NARROWEST, WIDEST = 320, 2_000
_SCALES = get_args(XScale)
_SCALE = "Of the horizontal axis in pictures; linear where it has a level of 0 or less"
_QUANTITY = r"(metric|label):[^\x00-\x1f\x7f]{1,200}"


class ChartParameters(Schema):
    """What charts add to a selection."""

    missing = Choice(
        *SLOT_POLICIES,
        load_default="matched",
        metadata=about(
            "`matched`: means over the slots that all names share that have any. `available`: over those that each has,"
            " so that two means may be over different slots."
        ),
    )
    alpha = Share(load_default=0.05, metadata=about("The level of tests; intervals have the level 1 - alpha."))
    theme = Choice(*THEMES, load_default="light", metadata=about("The colours of pictures."))
    width = Whole(
        NARROWEST,
        WIDEST,
        text=True,
        load_default=880,
        metadata=about("Of pictures, in pixels; the height follows from it."),
    )
    scale = scale_of_png()


class LinesParameters(SelectedParameters, SharedSlotsParameters, ChartParameters):
    x = Choice(*_SCALES, metadata=about(_SCALE + "; that of the axis if not given."))
    along = Name(
        empty=True,
        load_default="",
        metadata=about("The axis that the lines run along; if not given, the one in order with the most levels."),
    )
    by = name_or_axis(about("What has a line: `model`, `variant`, `benchmark` or `axis:<name>`."))


def _quantity(which: str, example: str) -> Any:
    told = f"The {which} axis: `metric:<name>`, or `label:<key>` for a numeric label such as the size of a model."
    return Matching(_QUANTITY, "is metric:<name> or label:<key>", required=True, metadata=about(told, example))


def _better(which: str) -> Any:
    told = f"The better end of {which}, where its metric says none; of a label it is `lower` if not given."
    return Choice(*get_args(Direction), metadata=about(told))


class TradeOffParameters(NarrowedParameters, SharedSlotsParameters, ChartParameters):
    x = _quantity("horizontal", "label:params")
    y = _quantity("vertical", "metric:accuracy")
    by = Choice("model", "variant", load_default="model", metadata=about("What has a point."))
    x_better = _better("x")
    y_better = _better("y")
    x_scale = Choice(*_SCALES, load_default="linear", metadata=about(_SCALE + "."))
    y_scale = Choice(*_SCALES, load_default="linear", metadata=about("Of the vertical axis in pictures."))

    @validates_schema
    def measured(self, data: Any, **_options: Any) -> None:
        if all(data.get(axis, "").startswith("label:") for axis in ("x", "y")):
            raise ValidationError({"y": ["is a label, as x is: one of the two must be a metric"]})


Drawn = TypeVar("Drawn", Lines, TradeOff, Ranking, ModelComparison, Aggregates)
PICTURES = ("svg", "png", "vl.json")
FORMS = ("json", "txt", "md", "csv", *PICTURES)


def renderers(
    query: Mapping[str, Any],
    kind: type[Drawn],
    tables: Mapping[str, Callable[[Drawn], str]],
    svg: Callable[[Drawn, ChartOptions], str],
    vega: Callable[[Drawn, ChartOptions], Any],
) -> Mapping[str, Callable[[Drawn], str | bytes]]:
    """What writes a chart in each form but JSON, the pictures as they are asked for."""
    options = options_of(query)
    drawn = pictures(kind, lambda found: svg(found, options), lambda found: vega(found, options), query["scale"])
    return {**drawn, **tables}


def pictures(
    kind: type[Drawn], svg: Callable[[Drawn], str], vega: Callable[[Drawn], Any], zoom: float = 1.0
) -> dict[str, Callable[[Drawn], str | bytes]]:
    """What draws a result in each form of a picture."""
    return {
        "svg": svg,
        "png": lambda found: chart_png(kind, found, svg, zoom),
        "vl.json": lambda found: dumps(vega(found)),
    }


def forests(kind: type[Drawn], forest_of: Callable[[Drawn], Forest]) -> dict[str, Callable[[Drawn], str | bytes]]:
    """What draws a result as a forest plot."""
    return pictures(kind, lambda found: forest_svg(forest_of(found)), lambda found: forest_vega(forest_of(found)))


def options_of(query: Mapping[str, Any]) -> ChartOptions:
    """How the picture is asked for; `x` is the scale of lines, and a quantity of a trade-off."""
    return ChartOptions(
        query.get("theme", "light"),
        query.get("width", 880),
        query["x_scale"] if "x_scale" in query else query.get("x"),
        query.get("y_scale"),
    )
