"""Route of a grid's heat map as SVG, PNG or Vega-Lite; `registry.renderings.heatmap` draws it."""

import math
import uuid
from hashlib import sha256
from typing import Any

import orjson
from flask import Response
from marshmallow import ValidationError, validates_schema

from registry.api import serializers
from registry.api.answers import ask
from registry.api.context import grid_row, parts
from registry.api.fields import Choice, Matching, Quantity
from registry.api.responses import dumps, not_modified, send, wanted_form
from registry.api.schemas import RevisionParameters, about
from registry.api.selections import slice_mark, slice_of_request
from registry.api.smorest import Blueprint
from registry.api.statistics import recompute_old
from registry.grids.slices import Slice
from registry.operations.query_names import check_slice_of_grid
from registry.operations.read import find_statistics
from registry.operations.stored_grids import StoredGrid, cut_to_slice, stored_grid
from registry.query import StatisticsQuery
from registry.renderings.heatmap import PALETTES, THEMES, Options, heatmap_svg, heatmap_vega
from registry.renderings.heatmap.png import heatmap_png
from registry.results.codec import read
from registry.results.statistics import PICTURED, Statistics

_NUMBER = r"-?[0-9]{1,308}(?:\.[0-9]{1,30})?(?:[eE][+-]?[0-9]{1,3})?"


def scale_of_png() -> Quantity:
    return Quantity(least=0.25, most=4, load_default=1.0, metadata=about("Of PNG: so many times as large, 0.25 to 4."))


class PictureParameters(RevisionParameters):
    palette = Choice(*PALETTES, load_default="cividis", metadata=about("The colours of values."))
    theme = Choice(*THEMES, load_default="light", metadata=about("The colours of pictures."))
    range = Matching(
        f"own|bounds|{_NUMBER},{_NUMBER}",
        "is own, bounds or low,high",
        load_default="own",
        metadata=about(
            "What the ends of the colours stand for: this grid's range, the metric's bounds, or two numbers."
        ),
    )
    scale = scale_of_png()

    @validates_schema
    def ordered(self, data: Any, **_options: Any) -> None:
        ends = [float(end) for end in data["range"].split(",")] if "," in data["range"] else [0.0, 1.0]
        if not (all(map(math.isfinite, ends)) and ends[0] < ends[1]):
            raise ValidationError({"range": ["is low,high with low below high"]})


blp = Blueprint("pictures", "A grid as a picture.")

_LOOK = "4"
"""Grows when a picture of the same numbers comes out differently."""
_PICTURES = ("svg", "png", "vl.json")


@blp.in_forms(
    "/grids/<uuid:grid>/heatmap",
    "getHeatmap",
    _PICTURES,
    PictureParameters,
    "The picture",
    errors=[413],
    parameters=["slice", "Prefer"],
)
def read_heatmap(query: dict[str, Any], grid: uuid.UUID, suffix: str | None = None) -> Response:
    """Draw a grid

    As SVG, PNG or Vega-Lite 6. What nobody measured is hatched; the best cells are outlined, and with dashes those that
    noise cannot tell from them. Three or four axes are panels with one range of colours, of which the first 60 are
    drawn. Beyond 5,000 cells or 100 columns there are no numbers. Beyond 300 rows, 400 columns or 20,000 cells in all
    panels neighbouring cells are joined. Of a slice (`at.<axis>`) it is the slice alone, with the marks of its own
    statistics: until they are computed (`Prefer: wait=10` waits), the best value alone. Vega-Lite has the data inside,
    of at most 20,000 cells.
    """
    form = wanted_form(suffix, _PICTURES)
    wanted = slice_of_request(query, PictureParameters)
    stored, row = _stored(grid, query.get("revision"), wanted)
    given = sorted((name, query[name]) for name in query.keys() & PictureParameters().fields.keys())
    asked = sha256(orjson.dumps(given)).hexdigest()[:8] + slice_mark(wanted)
    tag = f"{stored.revision_tag}-{_statistics_tag(row)}-{asked}v{_LOOK}.{form}"
    if not_modified(tag):
        return send(b"", tag=tag)
    drawn = serializers.grid(stored, wanted), _statistics(row), _options(query)
    match form:
        case "svg":
            return send(heatmap_svg(*drawn), form=form, tag=tag)
        case "png":
            return send(heatmap_png(*drawn, query["scale"]), form=form, tag=tag)
        case _:
            return send(dumps(heatmap_vega(*drawn)), form=form, tag=tag)


def _stored(grid: uuid.UUID, revision: int | None = None, wanted: Slice = ()) -> tuple[StoredGrid, Any]:
    """The grid, and the row of its statistics if it is the current revision; both cut to a slice. Statistics of a slice
    that nobody asked for are promised, and waited for as preferred; `Invalid` when the grid
    has nothing of it."""
    with parts().database.reading() as connection:
        stored = stored_grid(grid_row(connection, grid, "reader", revision))
        current = stored.revision == stored.current_revision
        if not wanted:
            row = find_statistics(connection, grid) if current else None
        else:
            check_slice_of_grid(connection, grid, stored.revision, wanted)
    if not wanted:
        recompute_old([row])
        return stored, row if row is not None and row.revision == stored.revision else None
    question = StatisticsQuery("", "", at=wanted, grid=str(grid), revision=stored.revision)
    row = ask(question, stored.project)[1] if current else None
    return cut_to_slice(stored, wanted), row


def _statistics_tag(row: Any) -> str:
    return "none" if row is None or row.etag is None else str(row.etag).rsplit("-", 1)[-1]


def _statistics(row: Any) -> Statistics | None:
    return None if row is None or row.etag is None else read(Statistics, row.document, PICTURED)


def _options(query: dict[str, Any]) -> Options:
    asked = query["range"]
    if asked in ("own", "bounds"):
        return Options(query["palette"], query["theme"], asked)
    low, high = map(float, asked.split(","))
    return Options(query["palette"], query["theme"], (low, high))
