"""View `lines` of the page of results: several names along an axis, drawn, said and as a table."""

import uuid
from collections.abc import Mapping
from typing import Any

from registry.api.answers import ask
from registry.api.charts import LinesParameters, options_of
from registry.api.context import parts
from registry.api.lines import Asked as Table
from registry.api.lines import ask_lines
from registry.pages.bar import carried_on, page_of_row
from registry.pages.blocks import ShownVerdict, table_part
from registry.pages.choices import Field, select
from registry.pages.links import results_page
from registry.pages.project import verdicts_on
from registry.pages.responses import state_of
from registry.pages.view import PICTURES, SCALES, Asked, Found, View, pictures
from registry.renderings import lines as words
from registry.renderings.charts.lines import lines_svg
from registry.renderings.numbers import typeset
from registry.results.codec import from_bytes

_MOST_TOLD = 4
"""Lines up to which what their grids say is told."""


def find(asked: Asked) -> Found:
    """The lines of the selection."""
    selection = asked.selection
    with parts().database.reading() as connection:
        made = ask_lines(connection, asked.project.id, asked.query, selection)
    row = ask(made.table, asked.slug, patience=2.0)[1]
    told, tags = _verdicts(asked, made, row)
    return Found(row, lambda: _shown(asked, made, row, told), [made, *tags])


def _verdicts(asked: Asked, made: Table, row: Any) -> tuple[dict[uuid.UUID, ShownVerdict], list[object]]:
    """The verdicts on the grids of few lines, where each line is one whole grid as it is now."""
    if state_of(row) != "ready" or asked.wanted or asked.selection.get("as_of"):
        return {}, []
    found = made.lines(from_bytes(row.document))
    if not len(found.inputs) == len(found.lines) <= _MOST_TOLD:
        return {}, []
    with parts().database.reading() as connection:
        return verdicts_on(connection, asked.project.id, [uuid.UUID(one.grid) for one in found.inputs])


def beside(asked: Asked) -> list[Field]:
    """Along which axis, and how it is drawn."""
    axes = [(one, one) for one in asked.bar.axes if asked.query.get("by") != f"axis:{one}"]
    return [
        select("along", "along", axes, asked.query["along"], "the longest axis"),
        select("horizontal axis", "x", SCALES, asked.query.get("x"), "automatic"),
    ]


def _shown(asked: Asked, made: Table, row: Any, told: Mapping[uuid.UUID, ShownVerdict]) -> dict[str, Any]:
    found, options = made.lines(from_bytes(row.document)), options_of(asked.query)
    metric = found.metric["name"] + (f" ({found.metric['unit']})" if found.metric["unit"] else "")
    joined = len(found.levels) < 2 or any(len(line.points) > 1 for line in found.lines)
    return {
        "what": f"{metric} along {found.along}",
        "about": words.subtitle(found),
        "of_grids": told,
        "notes": [typeset(one) for one in (*words.changes(found), *words.notes(found, options))],
        "pictures": pictures(lambda one: lines_svg(found, one), options) if found.status == "ok" and joined else {},
        "links": {line.name: page_of_row(asked.slug, made.table, found.by, line.name) for line in found.lines},
        "apart": results_page(asked.slug, "heatmaps", carried_on()),
        "table": table_part(words.table(found)),
        "drawn": joined,
    }


VIEW = View("lines", "Lines", "lines", "These lines", "charts.html", LinesParameters, find, beside, are="are",
            forms=PICTURES)  # fmt: skip
