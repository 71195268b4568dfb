"""Addresses in pages: `to` another page, `here` this one changed, `moved` redirects an old address.

A share (`operations/shares.py`) opens one path to whoever has its link. On a page that it opened, links carry it on,
and what it does not open is no link but "".
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote, unquote, urlencode

from flask import Response, g, request

from registry.api.smorest import API_PREFIX
from registry.operations.shares import reaches
from registry.results.target_pages import page_of_name

DATA = "/data"
EMBED = "/embed"
LOOKS = ("theme",)
"""Parameters of every page that say how it is shown, not what."""
Query = Iterable[tuple[str, str]]
VIEWS = {
    "ranking": "rankings",
    "table": "aggregates",
    "lines": "lines",
    "trade-off": "trade-offs",
    "compare": "comparisons",
}
"""The views of results, each with the path of its data; that of heat maps is the experiment's. A share names this path,
and opens this view and no other."""
_RESULTS = re.compile("(/projects/[^/]+)/results")
WAS, DROPPED = "was", "dropped"
"""In a sent bar, the experiment that it was about; and in the address that this leads to, what another one has not."""
START = "start"
"""Beside a place in a list, how many of it stand before."""
_PLACES, _DIGITS = ("cursor", "after", "before"), 10
OF_METRIC = "metric:"
"""What a quantity of a trade-off begins with that is measured."""
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
    asked = list(query)
    if "shared" not in g or not path.startswith(_GUARDED):
        return located(path, asked)
    return located(path, [*asked, ("share", g.share)]) if reaches(g.shared, page_path(unquote(path), asked)) else ""


def results_page(project: str, view: str, query: Query) -> str:
    """The address of a view of results, without what is empty; "" where the share does not reach."""
    asked = [("view", view), *query] if view else query
    return carried(f"/projects/{quote(project)}/results", asked)


def last_of(query: Query) -> dict[str, str]:
    """The last text of each parameter that is not empty: what counts where one alone does."""
    return {name: text for name, text in query if text}


def here(**changes: Any) -> str:
    """The address of this page with other parameters; None takes one away, a list gives one several times. An embedded
    page is its whole one."""
    return located(_path(), [*((name, text) for name, text in _changed(changes) if name != DROPPED), *_share()])


def again(**changes: Any) -> str:
    """The same, for a redirect: an embedded page stays one."""
    return instead(_changed(changes))


def instead(query: Query) -> str:
    """The address of this page with these parameters alone, for a redirect."""
    return located(quote(request.path), [*query, *([("share", g.share)] if "share" in g else [])])


def moved(project: str, view: str, experiment: str = "") -> Response:
    """Lead from a former address to a view of results, with everything that it carries."""
    given = [one for one in request.args.items(multi=True) if one[1]]
    asked = [("view", view)] * bool(view) + [("experiment", experiment)] * bool(experiment)
    place = f"{EMBED * ('embedded' in g)}/projects/{quote(project)}/results"
    kept = [one for one in given if one[0] not in dict(asked)]
    address = located(place, [*asked, *kept, *([("share", g.share)] if "share" in g else [])])
    return Response(status=308, headers={"Location": address})


def turned(by: str) -> int | None:
    """How many of a list stand on the pages before this one; None on its first, which has no place in the address."""
    text = request.args.get(START, "")
    return None if not request.args.get(by) else int(text) if text.isdecimal() and len(text) < _DIGITS else 0


def of_data() -> list[tuple[str, str]]:
    """What the address of this page asks of its data: without what is empty, and without what is the page's alone."""
    given = request.args.items(multi=True)
    return [(name, text) for name, text in given if text and name not in (START, *LOOKS)]


def _changed(changes: Mapping[str, Any]) -> Query:
    if any(changes.get(name, "") is None for name in _PLACES):
        changes = {**changes, START: None}
    kept = [(name, value) for name, value in request.args.items(multi=True) if name not in changes]
    given = [(name, value if isinstance(value, list) else [value]) for name, value in changes.items()]
    return [*kept, *((name, value) for name, values in given for value in values if value is not None)]


def _path() -> str:
    return quote(request.path.removeprefix(EMBED) if "embedded" in g else request.path)


def _share() -> Query:
    return [("share", g.share)] if "shared" in g else []


def without(name: str, text: str) -> str:
    """The address of this page without one value of a parameter, from its first grid on."""
    kept = [
        one
        for one in request.args.items(multi=True)
        if one != (name, text) and one[0] not in ("cursor", START, DROPPED)
    ]
    return located(_path(), [*kept, *_share()])


def located(path: str, query: Query) -> str:
    """A path with its query, `?` only where there is one."""
    written = urlencode(list(query))
    return f"{path}?{written}" if written else path


def data_path(path: str, visibility: str, query: Query = ()) -> str:
    """Where a browser reads the JSON (or CSV …) of a page: the API, which knows no cookies; for what is not public,
    the same answers at `/data`."""
    return located(API_PREFIX + path, query) if visibility == "public" else carried(DATA + path, query)


def page_path(path: str, query: Query = ()) -> str:
    """The page whose data are at this path, or that is embedded at it: what a share of the page opens too. Of a view of
    results, the path of this view alone."""
    for prefix in (DATA, EMBED):
        path = path.removeprefix(prefix) if path.startswith(f"{prefix}/") else path
    results, asked = _RESULTS.fullmatch(path), last_of(query)
    if results and asked.get("view") == "heatmaps":
        return f"{results[1]}/experiments/{asked.get('experiment', '')}"
    return f"{results[1]}/{VIEWS[asked['view']]}" if results and asked.get("view") in VIEWS else path


def local_path(path: str) -> bool:
    """Whether this is a path on this server, and nothing that a browser takes for another one."""
    return path.startswith("/") and not path.startswith("//") and "\\" not in path and path.isprintable()
