"""The view of lines: several names along an axis, drawn, said and as a table."""

from __future__ import annotations

from typing import Any

from registry.api.cached_results import ask
from registry.api.charts import LinesParameters, options_of
from registry.api.context import parts
from registry.api.lines import Asked as Table
from registry.api.lines import ask_lines
from registry.pages.blocks import table_part
from registry.pages.choices import Field, select
from registry.pages.view import BANDS, PICTURES, SCALES, Asked, Found, View, pictures
from registry.renderings.lines import lines_svg, words
from registry.renderings.lines.svg import value_span
from registry.renderings.lines.tables import table
from registry.results.codec import from_bytes


def find(asked: Asked) -> Found:
    """The lines of the selection."""
    selection = asked.selection
    with parts().database.reading() as connection:
        made = ask_lines(connection, asked.project.id, asked.query, selection)
    row = ask(made.table, asked.slug, patience=2.0)[1]
    return Found(row, lambda: _shown(made, row, asked.query), [made])


def beside(asked: Asked) -> list[Field]:
    """Along which axis, and how it is drawn."""
    axes = [(one, one) for one in asked.bar.axes]
    return [
        select("along", "along", axes, asked.query["along"], "the longest axis"),
        select("horizontal axis", "x", SCALES, asked.query.get("x"), "as the axis says"),
        select("intervals", "band", BANDS, asked.query["band"], usual="interval"),
    ]


def _shown(made: Table, row: Any, query: Any) -> dict[str, Any]:
    found, options = made.lines(from_bytes(row.document)), options_of(query)
    metric = found.metric["name"] + (f" ({found.metric['unit']})" if found.metric["unit"] else "")
    return {
        "what": f"{metric} along {found.along}",
        "about": words.subtitle(found),
        "notes": list(words.notes(found, options, value_span(found, options))),
        "pictures": pictures(lambda one: lines_svg(found, one), options) if found.status == "ok" else {},
        "table": table_part(table(found)),
        "drawn": True,
    }


VIEW = View("lines", "Lines", "lines", "These lines", "charts.html", LinesParameters, find, beside, are="are",
            forms=PICTURES)  # fmt: skip
