"""Where the links of a page lead: on a page that was opened by a share they carry the share on, and what the share does
not open is no link."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from urllib.parse import quote, unquote, urlencode

from flask import g, request

from registry.api.smorest import API_PREFIX
from registry.operations.shares import reaches
from registry.results.target_pages import page_of_name

DATA = "/data"
EMBED = "/embed"
LOOKS = ("theme",)
"""Parameters of every page that say how it is shown, not what."""
Query = Iterable[tuple[str, str]]
_VIEWS = {"rankings": "Ranking", "aggregates": "Table", "lines": "Lines", "trade-offs": "Trade-off"}
_SELECTED = ("experiment", "suite", "benchmark", "model", "variant", "as_of", "set_aside")
"""Parameters of a selection; the metric is one of the quantities in a trade-off."""
_HOLES = [("missing", "available")]
"""What all views know of missing cells, besides what is usual."""
_OF_METRIC = "metric:"
_GUARDED = ("/projects/", "/grids/", "/claims/", f"{DATA}/", f"{EMBED}/")
"""What not everybody may open."""


def to(path: str, **query: Any) -> str:
    """The address of an encoded path with a query, a tuple as one name several times, without what is empty; "" where
    the share does not reach."""
    several = ((name, one) for name, given in query.items() for one in (given if isinstance(given, tuple) else [given]))
    return carried(path, [(name, str(text)) for name, text in several if text not in (None, "")])


def name_page(project: str, kind: str, name: str) -> str:
    """The address of the page of a name; "" for an empty name, and where the share does not reach."""
    found = page_of_name(project, kind, name)
    return to(found.path, **found.query) if name else ""


def search_path(project: str) -> str:
    """Where the search box leads: to the search of a project, or of all; "" where the share does not reach.

    The share itself is left out: a form sends it as a field.
    """
    path = f"/projects/{project}/search" if project else "/search"
    return path if to(path) else ""


def carried(path: str, query: Query = ()) -> str:
    """The address with the share of this page, if it was opened by one; "" where the share does not reach."""
    if "shared" not in g or not path.startswith(_GUARDED):
        return located(path, query)
    return located(path, [*query, ("share", g.share)]) if reaches(g.shared, page_path(unquote(path))) else ""


def other_views(project: str, view: str) -> list[tuple[str, str]]:
    """The other views of the selection in this address, each with its name; none while nothing is selected."""
    given = [(name, text) for name, text in request.args.items(multi=True) if text]
    metrics = [text for name, text in given if name == "metric"]
    metrics += [text.removeprefix(_OF_METRIC) for name, text in given if name in "yx" and text.startswith(_OF_METRIC)]
    kept = [one for one in given if one[0] in _SELECTED or one[0].startswith("at.") or one in _HOLES]
    if not metrics or "experiment" not in dict(kept):
        return []
    as_metric, as_quantity = [("metric", metrics[0])], [("y", f"{_OF_METRIC}{metrics[0]}")]
    found = [
        (
            carried(f"/projects/{quote(project)}/{path}", kept + (as_quantity if path == "trade-offs" else as_metric)),
            word,
        )
        for path, word in _VIEWS.items()
        if path != view
    ]
    return [(href, word) for href, word in found if href]


def here(**changes: Any) -> str:
    """The address of this page with other parameters; None takes one away, a list gives one several times. An embedded
    page is its whole one."""
    kept = [(name, value) for name, value in request.args.items(multi=True) if name not in changes]
    given = [(name, value if isinstance(value, list) else [value]) for name, value in changes.items()]
    new = [(name, value) for name, values in given for value in values if value is not None]
    return located(_path(), [*kept, *new, *_share()])


def _path() -> str:
    return quote(request.path.removeprefix(EMBED) if "embedded" in g else request.path)


def _share() -> Query:
    return [("share", g.share)] if "shared" in g else []


def without(name: str, text: str) -> str:
    """The address of this page without one value of a parameter, from its first grid on."""
    kept = [one for one in request.args.items(multi=True) if one != (name, text) and one[0] != "cursor"]
    return located(_path(), [*kept, *_share()])


def located(path: str, query: Query) -> str:
    """A path with its query, `?` only where there is one."""
    written = urlencode(list(query))
    return f"{path}?{written}" if written else path


def data_path(path: str, visibility: str, query: Query = ()) -> str:
    """Where a browser reads the JSON (or CSV …) of a page: the API, which knows no cookies; for what is not public,
    the same answers at `/data`."""
    return located(API_PREFIX + path, query) if visibility == "public" else carried(DATA + path, query)


def page_path(path: str) -> str:
    """The page whose data are at this path, or that is embedded at it: what a share of the page opens too."""
    for prefix in (DATA, EMBED):
        if path.startswith(f"{prefix}/"):
            return path.removeprefix(prefix)
    return path


def local_path(path: str) -> bool:
    """Whether this is a path on this server, and nothing that a browser takes for another one."""
    return path.startswith("/") and not path.startswith("//") and "\\" not in path and path.isprintable()
