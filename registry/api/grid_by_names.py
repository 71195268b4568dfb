"""A grid by its names instead of its id: addresses that can be written by hand and stay when a grid is new."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote, urlencode

import flask
from flask import Response, current_app, request
from marshmallow import INCLUDE
from werkzeug.datastructures import ImmutableMultiDict

from registry.api.context import enter, parts
from registry.api.schemas import GridByNamesParameters
from registry.api.selections import named_filters
from registry.api.smorest import API_PREFIX, Blueprint, reply
from registry.operations.find import the_only_grid

blp = Blueprint("grid by names", "The one grid that has these names.")

_NAMES = ("experiment", "benchmark", "model", "variant", "metric")
_OPTIONS: dict[str, Any] = {"errors": [409], "public": True, "parameters": ["labels"]}
_ID = "`Content-Location` has the grid's id."


@blp.get("/projects/<project>/grid", operation="findGrid")
@blp.arguments(GridByNamesParameters, location="query", unknown=INCLUDE)
@blp.answers(reply(200, f"The grid with its values. {_ID}", "Grid", forms=("txt", "md")), **_OPTIONS)
def find_grid_by_names(_query: dict[str, Any], project: str) -> Response:
    """Read a grid by its names

    As many names as tell it from others: 404 says which there are, 409 in what several grids differ. `.md` and
    `.txt` work too.
    """
    return _under_id(project, "")


@blp.get("/projects/<project>/grid/<path:part>", operation="findGridPart")
@blp.arguments(GridByNamesParameters, location="query", unknown=INCLUDE)
@blp.answers(reply(200, f"What is answered under the grid's id. {_ID}"), reply(202, "Pending"), **_OPTIONS)
def find_part_by_names(_query: dict[str, Any], project: str, part: str) -> Response:
    """Read what is below a grid by the grid's names

    `part` is what follows the grid's id in an address: `statistics`, `cells.csv`, `heatmap.svg`. It takes the
    parameters that it takes there, but for `If-None-Match`: what is read by names is never a 304, as they may be
    another grid's by then; ask at `Content-Location` for one. `PATCH` of `cells` works too; a grid is deleted and
    restored by its id.
    """
    return _under_id(project, f"/{part}")


def _served(rule: str, name: str, view: Any, method: str = "GET") -> None:
    """Add a route that is told in the description of the others: generated clients need it not."""
    flask.Blueprint.add_url_rule(blp, f"/projects/<project>/{rule}", name, view, methods=[method])


_served("grid.<any(json,txt,md):suffix>", "find_form", lambda project, suffix: _under_id(project, f".{suffix}"))
_served("grid/cells", "amend_by_names", lambda project: _under_id(project, "/cells"), "PATCH")


def _under_id(project: str, part: str) -> Response:
    """The answer to this request at the address that has the grid's id in place of its names."""
    with parts().database.reading() as connection:
        grid = the_only_grid(connection, enter(connection, project, "reader").id, named_filters(_NAMES))
    given = request.args.items(multi=True)
    rest = [(name, text) for name, text in given if name not in _NAMES and not name.startswith("label.")]
    request.args = ImmutableMultiDict(rest)
    request.query_string = urlencode(rest).encode()
    request.path = f"{API_PREFIX}/grids/{grid}{part}"
    # The names may be another grid's tomorrow, and a tag does not tell two grids with the same values apart.
    request.environ.pop("HTTP_IF_NONE_MATCH", None)
    request.url_rule, found = current_app.url_map.bind_to_environ(request).match(request.path, return_rule=True)
    request.view_args = dict(found)
    view: Any = current_app.view_functions[request.url_rule.endpoint]
    response: Response = view(**found)
    response.headers["Cache-Control"] = "no-store"
    response.headers["Content-Location"] = quote(request.path) + (f"?{urlencode(rest)}" if rest else "")
    return response
