"""The page of lines: several names along an axis, drawn, said and as a table, with the question as a form."""

from __future__ import annotations

from typing import Any

from flask import Response, redirect

from registry.api.cached_results import ask
from registry.api.chart_schemas import LinesParameters
from registry.api.charts import options_of
from registry.api.context import enter, parts
from registry.api.lines import Asked, ask_lines
from registry.api.selections import selected
from registry.errors import Fault, Invalid, NotFound
from registry.grids.slices import PARAMETER, slice_text
from registry.pages.blocks import table_part
from registry.pages.charts import KINDS, downloads, named, pictures, split_choices
from registry.pages.choices import MOST_LISTED
from registry.pages.front import pages
from registry.pages.links import here
from registry.pages.live import ANSWERS, PENDING_SECONDS, SETTLED_SECONDS, live_on
from registry.pages.queries import salvaged, state_of, tags_of
from registry.pages.ranking import offer_of, only_way
from registry.pages.responses import page
from registry.pages.sharing import asked_query, picture_of
from registry.pages.slices import slice_lists, slice_of_page
from registry.renderings.lines import lines_svg, words
from registry.renderings.lines.svg import value_span
from registry.renderings.lines.tables import table
from registry.results.codec import from_bytes
from registry.views.lines import MOST_LINES


@pages.get("/projects/<project>/lines")
def lines(project: str) -> Response:
    """Show lines; while the question is incomplete or wrong, the form and what is missing."""
    query, faults = salvaged(LinesParameters, optional=("experiment", "metric"), families=(PARAMETER,))
    wanted, asked, status = slice_of_page(), None, 422 if faults else 200
    found: Any = None
    with parts().database.reading() as connection:
        row = enter(connection, project, "reader")
        offer = offer_of(connection, row.id, query)
        only = only_way(offer, query)
        if only and not faults:
            return redirect(here(**only), 303)  # type: ignore[return-value]
    if not faults and named(query, "metric"):
        try:
            selection = selected(query, project, wanted)
            with parts().database.reading() as connection:
                asked = ask_lines(connection, row.id, query, selection)
            found = ask(asked.table, project, patience=2.0)[1]
        except (Invalid, NotFound) as error:
            status = 422 if isinstance(error, Invalid) else 404
            faults = list(error.faults) if isinstance(error, Invalid) else [Fault("/experiment", error.detail)]
    state = state_of(found)

    def context() -> dict[str, Any]:
        ticked, choices = split_choices(offer.choices, query["by"])
        return {
            "project": row,
            "query": query,
            "offer": offer,
            "ticked": ticked,
            "choices": choices,
            "slices": slice_lists(offer.levels, wanted),
            "slice_text": slice_text(wanted),
            "faults": faults,
            "most_listed": MOST_LISTED,
            "most": MOST_LINES,
            "zipped": lambda names: [(name, name) for name in names],
            "bys": [(kind, kind) for kind in KINDS] + [(f"axis:{name}", f"level of {name}") for name in offer.axes],
            "feed": live_on(row, ANSWERS, experiment=query.get("experiment")),
            "state_word": state,
            "reason": found.reason if state == "failed" else None,
            "every": PENDING_SECONDS if state == "pending" else SETTLED_SECONDS,
            "lines": None,
            **(_shown(asked, found, project, row.visibility, query) if asked and state == "ready" else {}),
        }

    made_of = [row.updated_at, offer, faults, asked, *tags_of(found)]
    return page("lines.html", made_of, context, status=status)


def _shown(asked: Asked, answer: Any, project: str, visibility: str, query: dict[str, Any]) -> dict[str, Any]:
    found, options = asked.lines(from_bytes(answer.document)), options_of(query)
    return {
        "lines": found,
        "about": words.subtitle(found),
        "notes": list(words.notes(found, options, value_span(found, options))),
        "pictures": pictures(lambda one: lines_svg(found, one), options) if found.status == "ok" else {},
        "table": table_part(table(found)),
        "drawn": {line.name for line in found.lines},
        "log": words.x_scale(found, options)[0],
        "picture": picture_of(f"/projects/{project}/lines.png", visibility, asked_query()),
        "downloads": downloads(f"/projects/{project}/lines", visibility),
    }
