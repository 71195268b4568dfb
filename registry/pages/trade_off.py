"""The page of a trade-off: two quantities, a point a name, drawn, said and as a table, with the question as a form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from flask import Response, request

from registry.api.chart_schemas import TradeOffParameters
from registry.api.charts import options_of
from registry.api.context import enter, parts
from registry.api.filters import QUANTITIES, slices_of_quantities
from registry.api.selections import selected
from registry.api.trade_offs import Answer, answer_of, ask_trade_off
from registry.errors import Fault, Invalid, NotFound
from registry.grids.grid import Axis
from registry.grids.slices import PARAMETER, Slice, read_slice
from registry.operations.find import Filters
from registry.operations.form_options import number_labels
from registry.pages.blocks import table_part
from registry.pages.charts import downloads, named, pictures, split_choices
from registry.pages.choices import MOST_LISTED
from registry.pages.front import pages
from registry.pages.live import ANSWERS, PENDING_SECONDS, SETTLED_SECONDS, live_on
from registry.pages.queries import salvaged, state_of, tags_of
from registry.pages.ranking import offer_of
from registry.pages.responses import page
from registry.pages.sharing import asked_query, picture_of
from registry.pages.slices import SliceList, slice_lists, slice_of_page
from registry.renderings.trade_off import trade_off_svg, words
from registry.renderings.trade_off.svg import spans
from registry.renderings.trade_off.tables import table
from registry.results.trade_offs import TradeOff
from registry.views.trade_offs import MOST_POINTS

_FAMILIES = (PARAMETER, *(f"{axis}.{PARAMETER}" for axis in QUANTITIES))


@pages.get("/projects/<project>/trade-offs")
def trade_off(project: str) -> Response:
    """Show a trade-off; while the question is incomplete or wrong, the form and what is missing."""
    query, faults = salvaged(TradeOffParameters, optional=("experiment", "x", "y"), families=_FAMILIES)
    wanted, answer, status = slice_of_page(), Answer(None), 422 if faults else 200
    with parts().database.reading() as connection:
        row = enter(connection, project, "reader")
        offer = offer_of(connection, row.id, query)
        scope = Filters(experiment=[query["experiment"]]) if "experiment" in query else None
        labels = number_labels(connection, row.id, query["by"], scope) if scope else []
    if not faults and named(query, "x", "y"):
        try:
            selection, slices = selected(query, project), slices_of_quantities(_given())
            with parts().database.reading() as connection:
                asked = ask_trade_off(connection, row.id, query, selection, slices)
            answer = answer_of(asked, project, 2.0)
        except (Invalid, NotFound) as error:
            status = 422 if isinstance(error, Invalid) else 404
            faults = list(error.faults) if isinstance(error, Invalid) else [Fault("/experiment", error.detail)]
    pending = answer.open[1] if answer.open else None
    state = "ready" if answer.found else state_of(pending)

    def context() -> dict[str, Any]:
        ticked, choices = split_choices(offer.choices, query["by"])
        return {
            "project": row,
            "query": query,
            "offer": offer,
            "ticked": ticked,
            "choices": choices,
            "quantities": _quantities(offer.metrics, labels),
            "slices": slice_lists(offer.levels, wanted),
            "own_slices": [(axis, _own_slices(offer.levels, axis)) for axis in QUANTITIES],
            "apart": _asks_more(query),
            "faults": faults,
            "most_listed": MOST_LISTED,
            "most": MOST_POINTS,
            "feed": live_on(row, ANSWERS, experiment=query.get("experiment")),
            "state_word": state,
            "reason": pending.reason if state == "failed" and pending else None,
            "every": PENDING_SECONDS if state == "pending" else SETTLED_SECONDS,
            "found": None,
            **(_shown(answer.found, project, row.visibility, query) if answer.found else {}),
        }

    made_of = [row.updated_at, offer, labels, faults, answer.tag, *tags_of(pending)]
    return page("trade_off.html", made_of, context, status=status)


def _given() -> list[tuple[str, list[str]]]:
    """The parameters of the address that are not empty."""
    kept = [(name, [text for text in texts if text]) for name, texts in request.args.lists()]
    return [(name, texts) for name, texts in kept if texts]


def _quantities(metrics: Sequence[str], labels: Sequence[tuple[str, int]]) -> list[tuple[str, str]]:
    """What can stand on an axis: its value in the address, and its name; labels last, with how many numbers."""
    counted = [(f"label:{one}", f"{one} (label, {n} {'number' if n == 1 else 'numbers'})") for one, n in labels]
    return [(f"metric:{one}", one) for one in metrics] + counted


def _own_slices(axes: Sequence[Axis], axis: str) -> list[SliceList]:
    """The lists of a slice that one quantity has for itself."""
    wanted: Slice = read_slice((name[2:], texts) for name, texts in _given() if name.startswith(f"{axis}.{PARAMETER}"))
    lists = slice_lists(axes, wanted)
    return [replace(one, label=f"{axis}: {one.label}", parameter=f"{axis}.{one.parameter}") for one in lists]


def _asks_more(query: Mapping[str, Any]) -> bool:
    """Whether something in the folded part of the form is chosen."""
    own = any(name.startswith(_FAMILIES[1:]) for name, _ in _given())
    return own or query["y_scale"] != "linear" or any(f"{axis}_better" in query for axis in QUANTITIES)


def _shown(found: TradeOff, project: str, visibility: str, query: dict[str, Any]) -> dict[str, Any]:
    options = options_of(query)
    return {
        "found": found,
        "title": words.title(found),
        "about": words.subtitle(found),
        "notes": list(words.notes(found, options, *spans(found, options))),
        "pictures": pictures(lambda one: trade_off_svg(found, one), options) if found.points else {},
        "table": table_part(table(found)),
        "drawn": {point.name for point in found.points},
        "picture": picture_of(f"/projects/{project}/trade-offs.png", visibility, asked_query()),
        "downloads": downloads(f"/projects/{project}/trade-offs", visibility),
    }
