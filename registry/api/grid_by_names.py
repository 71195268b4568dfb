"""A grid by its names instead of its id: addresses that can be written by hand and stay when a grid is new."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any
from urllib.parse import quote, urlencode

import flask
from flask import Response, g, request
from marshmallow import INCLUDE

from registry.api.context import enter, parts
from registry.api.filters import named_filters
from registry.api.schemas import GridByNamesParameters
from registry.api.smorest import API_PREFIX, Blueprint, reply
from registry.operations.auth import Role
from registry.operations.find import the_only_grid
from registry.operations.stored_grids import Deleted

blp = Blueprint("grid by names", __name__, url_prefix=API_PREFIX, description="The one grid that has these names.")

_NAMES = ("experiment", "benchmark", "model", "variant", "metric")
_DESCRIBED = blp.answers(
    reply(307, "The same under the grid's id, with the rest of the query", headers=["Location"]),
    errors=[409],
    public=True,
    parameters=["labels"],
)


@blp.get("/projects/<project>/grid")
@blp.doc(operationId="findGrid")
@blp.arguments(GridByNamesParameters, location="query", unknown=INCLUDE)
@_DESCRIBED
def find_grid_by_names(_query: dict[str, Any], project: str) -> Response:
    """Find a grid by its names

    Redirects (`curl -L`) to the one grid of these names (as many as tell it from others). 404 says which names there
    are, 409 in what several grids differ. `.csv`, `.md` and `.txt` work too.
    """
    return _redirect(project, "")


@blp.get("/projects/<project>/grid/<path:part>")
@blp.doc(operationId="findGridPart")
@blp.arguments(GridByNamesParameters, location="query", unknown=INCLUDE)
@_DESCRIBED
def find_part_by_names(_query: dict[str, Any], project: str, part: str) -> Response:
    """Find what is below a grid by the grid's names

    `part` is what follows the grid's id in an address: `trends`, `peaks.csv`, `heatmap.svg`. All parameters but the
    names go on to it. `PATCH` of `cells`, `POST` of `restore` (of the deleted grid) and `DELETE` of the grid itself are
    redirected too.
    """
    return _redirect(project, f"/{quote(part)}")


def _served(rule: str, view: Callable[..., Response], method: str = "GET") -> None:
    """Add a route that is told in the description of the others: generated clients need it not."""
    flask.Blueprint.add_url_rule(blp, f"/projects/<project>/{rule}", view.__name__, view, methods=[method])


def find_form_by_names(project: str, suffix: str) -> Response:
    return _redirect(project, f".{suffix}")


def find_cells_to_amend(project: str) -> Response:
    return _redirect(project, "/cells")


def find_grid_to_delete(project: str) -> Response:
    return _redirect(project, "", needs="writer")


def find_grid_to_restore(project: str) -> Response:
    return _redirect(project, "/restore", needs="writer", deleted="only")


_served("grid.<any(json,txt,md,csv):suffix>", find_form_by_names)
_served("grid/cells", find_cells_to_amend, "PATCH")
_served("grid", find_grid_to_delete, "DELETE")
_served("grid/restore", find_grid_to_restore, "POST")


def _redirect(project: str, part: str, *, needs: Role = "reader", deleted: Deleted = "exclude") -> Response:
    filters = replace(named_filters(_NAMES), deleted=deleted)
    with parts().database.reading() as connection:
        grid = the_only_grid(connection, enter(connection, project, needs).id, filters)
    rest = [
        (name, text)
        for name, text in request.args.items(multi=True)
        if name not in _NAMES and not name.startswith("label.")
    ]
    rest += [("share", g.share)] if "share" in g else []
    address = f"{API_PREFIX}/grids/{grid}{part}"
    location = f"{address}?{urlencode(rest)}" if rest else address
    # No body: whoever does not follow would take a page about moving for the grid.
    return Response(status=307, headers={"Location": location, "Cache-Control": "no-store"})
