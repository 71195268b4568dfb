"""View `trade-off` of the page of results: two quantities, a point a name, drawn, said and as a table."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from registry.api.charts import TradeOffParameters, options_of
from registry.api.context import parts
from registry.api.fields import Name
from registry.api.lines import answer_of, ask_trade_off
from registry.api.selections import QUANTITIES, selected, slices_of_quantities
from registry.grids.slices import PARAMETER, read_slice
from registry.operations.find_grids import Filters, with_aliases
from registry.operations.query_names import metrics_of
from registry.operations.scope_options import number_labels, scope_options
from registry.pages.bar import FAMILIES, page_of_row
from registry.pages.blocks import table_part
from registry.pages.choices import MOST_LISTED, Field, given, select, slice_lists
from registry.pages.links import OF_METRIC, results_page
from registry.pages.view import PICTURES, SCALES, Asked, Found, View, pictures
from registry.renderings import trade_off as words
from registry.renderings.charts.trade_off import trade_off_svg
from registry.renderings.numbers import typeset
from registry.results.trade_offs import TradeOff
from registry.selection import Selection
from registry.storage.keys import grids_at

FEW = 2
"""Numbers of a label that are no course."""
Metrics = Sequence[tuple[str, str]]
Labels = Sequence[tuple[str, str, int]]


class _Parameters(TradeOffParameters):
    """Those of the API, of which the metric of the selection is the vertical quantity if none is named."""

    metric = Name()


def find(asked: Asked) -> Found:
    """The trade-off of the selection: with the first other quantity where none is chosen; nothing without one."""
    quantities = _quantities(asked.query, *_offered(asked))
    query = {**asked.query, **quantities}
    if not quantities["x"] or not quantities["y"]:
        return Found()
    unmeasured = {name: value for name, value in asked.query.items() if name != "metric"}
    selection, slices = selected(unmeasured, asked.slug), slices_of_quantities(given())
    with parts().database.reading() as connection:
        made = ask_trade_off(connection, asked.project.id, query, selection, slices)
    answer = answer_of(made, asked.slug, 2.0)
    found = answer.found
    meant = [one for one in quantities.items() if one[0] not in asked.query]
    if found is None:
        return Found(answer.open[1], meant=meant)
    shown = partial(_shown, found, query, partial(page_of_row, asked.slug, Selection(metric="", **selection), found.by))
    return Found(None, shown, [answer.tag], meant, computed="ready")


def _quantities(query: Mapping[str, Any], metrics: Metrics, labels: Labels) -> dict[str, str]:
    """The two quantities: those that are asked for, or the metric of the selection and the first other one."""
    vertical = query.get("y") or (f"{OF_METRIC}{query['metric']}" if "metric" in query else "")
    others = [*(value for value, _ in metrics if value != vertical), *(value for value, _, n in labels if n > FEW)]
    return {"y": vertical, "x": query.get("x") or next(iter(others), "")}


def _offered(asked: Asked) -> tuple[Metrics, Labels]:
    """The metrics that there were at the instant, and the labels that there are, with their words. A label of few
    numbers is chosen, and not usual."""
    query, metrics = asked.query, asked.bar.metrics
    with parts().database.reading() as connection:
        if as_of := query.get("as_of"):
            experiments = with_aliases(connection, asked.project.id, "experiment", [query["experiment"]])
            then = metrics_of(connection, asked.project.id, experiments, grids_at(asked.project.id, as_of))
            metrics = sorted(then)
        labels = number_labels(connection, asked.project.id, query["by"], Filters(experiment=[query["experiment"]]))
    counted = [(f"label:{one}", f"{one} (label, {n} {'number' if n == 1 else 'numbers'})", n) for one, n in labels]
    return [(f"{OF_METRIC}{one}", one) for one in metrics], counted


def has_two(asked: Asked) -> bool:
    """Whether there are two quantities: a second metric, or a label of models that is a number."""
    if len(asked.bar.metrics) > 1:
        return True
    with parts().database.reading() as connection:
        labels = number_labels(connection, asked.project.id, "model", Filters(experiment=[asked.query["experiment"]]))
    return any(count > FEW for _, count in labels)


def elsewhere(asked: Asked) -> Iterator[tuple[str, str]]:
    """The other experiments of the project that have several metrics, with the address of their trade-offs."""
    with parts().database.reading() as connection:
        scopes = scope_options(connection, asked.project.id, MOST_LISTED)
    for name, metrics in Counter(one.experiment for one in scopes).items():
        if metrics > 1 and name != asked.query.get("experiment"):
            yield name, results_page(asked.slug, "trade-off", [("experiment", name)])


def beside(asked: Asked) -> list[Field]:
    """The two quantities, and how they are drawn."""
    query, (metrics, labels) = asked.query, _offered(asked)
    chosen, offered = _quantities(query, metrics, labels), [*metrics, *((value, words) for value, words, _ in labels)]
    return [
        select("vertical", "y", offered, query.get("y"), "the metric"),
        select("horizontal", "x", offered, chosen["x"], "" if chosen["x"] else "choose one"),
        select("horizontal axis", "x_scale", SCALES, query["x_scale"], usual="linear"),
    ]


def folded(asked: Asked) -> list[Field]:
    """The slices of one of the two, and their better ends."""
    better = [("higher", "higher"), ("lower", "lower")]
    return [
        *(one for axis in QUANTITIES for one in _own_slices(asked, axis)),
        *(
            select(f"better end of {axis}", f"{axis}_better", better, asked.query.get(f"{axis}_better"), "its own")
            for axis in QUANTITIES
        ),
        select("vertical axis", "y_scale", SCALES, asked.query["y_scale"], usual="linear"),
    ]


def _own_slices(asked: Asked, axis: str) -> list[Field]:
    """The lists of a slice that one quantity has for itself."""
    wanted = read_slice((name[2:], texts) for name, texts in given() if name.startswith(f"{axis}.{PARAMETER}"))
    lists = slice_lists(asked.bar.levels, wanted)
    return [replace(one, label=f"{axis}: {one.label}", parameter=f"{axis}.{one.parameter}") for one in lists]


def _shown(found: TradeOff, query: Any, link: Callable[[str], str]) -> dict[str, Any]:
    options = options_of(query)
    return {
        "what": words.title(found),
        "about": words.subtitle(found),
        "aside": list(words.without(found)),
        "notes": [typeset(one) for one in words.notes(found, options)],
        "pictures": pictures(lambda one: trade_off_svg(found, one), options) if found.points else {},
        "table": replace(table_part(words.table(found)), links=[link(one.name) for one in found.points]),
        "beside_ranking": partial(words.beside_ranking, found),
        "heading": f"Trade-off of {found.y.name} against {found.x.name} in {found.experiment}",
        "slice_text": words.slices(found),
        "drawn": True,
    }


_WANTS = (
    "Choose a horizontal quantity: another metric, a label that is a number, such as the size of a model, or the same"
    " metric at other levels. Where there is none, publish another metric of these names in this experiment."
)
VIEW = View("trade-off", "Trade-off", "trade-offs", "This trade-off", "charts.html", _Parameters, find, beside, folded,
            own=("metric",), wants=_WANTS, optional=QUANTITIES, families=FAMILIES, forms=PICTURES)  # fmt: skip
