"""The form of each view of the page of results: which parameters it knows, and what it makes of a question."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flask import request
from markupsafe import Markup
from marshmallow import Schema

from registry.api.selections import selected
from registry.grids.slices import PARAMETER, Slice
from registry.pages.bar import Bar
from registry.pages.choices import Field
from registry.pages.links import Query, data_path
from registry.pages.live import ANSWERS
from registry.pages.responses import state_of
from registry.pages.sharing import picture_of
from registry.renderings.charts.paint import ChartOptions

TABLES = (("", "JSON"), (".csv", "CSV"), (".md", "Markdown"), (".txt", "text"))
DRAWN = ((".svg", "SVG"), (".png", "PNG"), (".vl.json", "Vega-Lite"))
PICTURES = (*TABLES[:2], TABLES[3], *DRAWN)
_WIDTHS = (("wide", 1_000), ("small", 360), ("sheet", 700))
"""Widths of a picture in pixels: on a screen, on a phone, and on paper."""
SCALES = (("linear", "linear"), ("log", "log scale"))


@dataclass(frozen=True, slots=True)
class Asked:
    """What the address asks of a view, as far as the view knows it."""

    project: Any
    view: "View"
    query: Mapping[str, Any]
    wanted: Slice
    bar: Bar
    foreign: Mapping[str, str]
    """What the address says in words of other views."""

    @property
    def slug(self) -> str:
        return str(self.project.slug)

    @property
    def selection(self) -> dict[str, Any]:
        """The fields of the selection."""
        return selected(self.query, self.slug, self.wanted)

    def given(self) -> list[tuple[str, str]]:
        """The parameters in the address that the API knows of this view."""
        known = {*self.query} - {*self.view.own, *self.foreign}
        asked = [(name, text) for name, text in request.args.items(multi=True) if text]
        return [one for one in asked if one[0] in known or one[0].startswith(self.view.families)]


@dataclass(frozen=True, slots=True)
class Found:
    """How the answer of a view stands: the row of it, or its state; and what the template takes once it is there."""

    row: Any = None
    shown: Callable[[], Mapping[str, Any]] = dict
    tags: Sequence[object] = ()
    meant: Query = ()
    """What the API is asked besides the address, where that names nothing."""
    lacking: Query = ()
    """What the address has to say before there is an answer."""
    progress: float | None = None
    computed: str = ""
    """The state where no row says it."""
    best: Mapping[str, Any] | None = None
    """The rows of the rankings by target, where it has asked for them."""
    pending: bool = False
    """Whether something beside the answer is being computed."""

    @property
    def state(self) -> str:
        return self.computed or state_of(self.row)


@dataclass(frozen=True, slots=True)
class View:
    """A view of results. `path` is that of its data below the project, and of the links that open it and no other."""

    name: str
    word: str
    path: str
    what: str
    template: str
    schema: type[Schema]
    find: Callable[[Asked], Found]
    beside: Callable[[Asked], Sequence[Field]] = lambda _asked: ()
    """The fields that it alone has."""
    folded: Callable[[Asked], Sequence[Field]] = lambda _asked: ()
    """Those of them that are folded."""
    are: str = "is"
    wants: str = ""
    """What is said where the question lacks something that it alone needs."""
    own: Sequence[str] = ()
    """Parameters of the page alone, which the API does not know."""
    optional: Sequence[str] = ()
    families: tuple[str, ...] = (PARAMETER,)
    forms: Sequence[tuple[str, str]] = TABLES
    events: Sequence[str] = (*ANSWERS, "ranking.changed")

    @property
    def fields(self) -> set[str]:
        return set(self.schema().fields)

    def data(self, asked: Asked, found: Found, suffix: str = "") -> str:
        """Where a browser reads the same answer; "" where the share does not reach."""
        path = f"/projects/{asked.slug}/{self.path}{suffix}"
        return data_path(path, asked.project.visibility, [*asked.given(), *found.meant])

    def picture(self, asked: Asked, found: Found) -> str | None:
        """The whole address of its picture, of what is public."""
        path = f"/projects/{asked.slug}/{self.path}.png"
        return picture_of(path, asked.project.visibility, [*asked.given(), *found.meant])


def pictures(draw: Callable[[ChartOptions], str], options: ChartOptions) -> dict[str, Markup]:
    """The picture for a screen, for a phone and for paper, drawn in the colours of the page's style sheet."""
    return {
        name: Markup(draw(ChartOptions("page", width, options.x, options.y, name)))  # noqa: S704
        for name, width in _WIDTHS
    }
