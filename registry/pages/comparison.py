"""The page of a comparison: both grids in one range of colours, their difference from zero, and what it amounts to."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from flask import Response, request
from sqlalchemy import Connection

from registry.api import serializers
from registry.api.answers import ask
from registry.api.comparisons import ComparisonParameters, comparison_asked
from registry.api.context import enter, parts
from registry.api.statistics import recompute_old
from registry.errors import Fault, Invalid, NotFound
from registry.grids.slices import PARAMETER, Slice, slice_text
from registry.operations.find_grids import Filters
from registry.operations.read import find_grid, find_statistics
from registry.operations.scope_options import search_grids
from registry.operations.stored_grids import StoredGrid, stored_grid
from registry.pages.bar import KEPT
from registry.pages.blocks import ShownVerdict, parts_of, sections_of, shown
from registry.pages.choices import cut, slice_lists, slice_of_page
from registry.pages.compared_models import asks_by_name
from registry.pages.front import pages
from registry.pages.heatmap import fits, heatmap_of
from registry.pages.links import data_path, moved, to
from registry.pages.live import ANSWERS, PENDING_SECONDS, SETTLED_SECONDS, live_on
from registry.pages.palette import BINS, DIFFERENCES
from registry.pages.parameters import LOOK, look, salvaged
from registry.pages.responses import page, state_of, tags_of
from registry.query import ComparisonQuery
from registry.renderings.comparison import page as comparison_blocks
from registry.renderings.heatmap.scale import Options
from registry.renderings.numbers import typeset
from registry.renderings.verdicts.comparison import comparison_verdict
from registry.renderings.verdicts.estimate import Verdict
from registry.renderings.verdicts.grid import counts_note
from registry.renderings.words import title, versus
from registry.results.codec import read
from registry.results.comparison import Comparison
from registry.results.grid import GridDocument
from registry.results.statistics import PICTURED, Statistics

_LISTED = 200
FIND = "find"
"""The parameter with words that the names of the grids to choose from must hold."""
SIDES = ("baseline", "contender")


@dataclass(frozen=True, slots=True)
class Offer:
    """The grids to choose from, those chosen among them; how many were found, and whether there are more of those."""

    grids: Sequence[Any]
    count: int
    more: bool


@dataclass(frozen=True, slots=True)
class _Asked:
    """What the address asks for: the question and both grids with their statistics, or what is wrong with it."""

    project: Any
    offer: Offer
    words: Sequence[str]
    query: Mapping[str, Any]
    wanted: Slice
    faults: Sequence[Fault] = ()
    question: ComparisonQuery | None = None
    sides: Sequence[StoredGrid] = ()
    known: Sequence[Any] = ()
    absent: bool = False

    @property
    def tags(self) -> list[object]:
        """Entity tags of what the page is made of, but for the answer."""
        tags = [*((one.id, one.etag) for one in self.sides), *(one.etag for one in self.known if one)]
        return [self.project.updated_at, self.offer, self.faults, *tags]

    @property
    def status(self) -> int:
        return 404 if self.absent else 422 if self.faults else 200


@pages.get("/projects/<project>/comparisons")
def comparison(project: str) -> Response:
    """Contender less baseline; without both in the address, the form alone. By names, two models."""
    if asks_by_name():
        return moved(project, "compare")
    query, faults = salvaged(ComparisonParameters, also=(*LOOK, *KEPT, FIND), optional=SIDES, families=(PARAMETER,))
    wanted, options = slice_of_page(), look()
    with parts().database.reading() as connection:
        asked = _asked(connection, enter(connection, project, "reader"), query, wanted, faults)
    recompute_old(asked.known)
    found: Any = ask(asked.question, project, patience=2.0)[1] if asked.question else None
    state = state_of(found)

    path, asked_for = f"/projects/{project}/comparisons", [one for one in request.args.items(multi=True) if one[1]]
    given = [one for one in asked_for if one[0] not in (*LOOK, *KEPT, FIND)]

    def context() -> dict[str, Any]:
        document = read(Comparison, found.document) if state == "ready" else None
        sides = [cut(one, wanted) for one in asked.sides]
        known = [read(Statistics, one.document, PICTURED) if one and one.document else None for one in asked.known]
        return {
            "project": asked.project,
            "query": query,
            "offer": asked.offer,
            "faults": asked.faults,
            "find": " ".join(asked.words),
            "kept": [one for one in asked_for if one[0] in (*LOOK, *KEPT)],
            "selection": [one for one in asked_for if one[0] in KEPT or one[0].startswith(PARAMETER)],
            "state_word": state,
            "reason": found.reason if state == "failed" else None,
            "slice_text": slice_text(wanted),
            "slices": slice_lists((axis for one in asked.sides for axis in one.axes), wanted),
            "grid_page": lambda grid: to(f"/grids/{grid}", **{PARAMETER + axis: texts for axis, texts in wanted}),
            "data": lambda suffix="": data_path(f"{path}{suffix}", asked.project.visibility, given),
            "every": PENDING_SECONDS if state == "pending" else SETTLED_SECONDS,
            "feed": live_on(asked.project, ANSWERS, grid=[one.id for one in asked.sides]),
            **_answered(document),
            "maps": _maps(sides, known, options, document) if sides else None,
            "palette": options.palette,
            "bins": range(BINS),
            "difference_bins": range(DIFFERENCES),
        }

    return page("comparison.html", [*asked.tags, *tags_of(found)], context, status=asked.status)


def _asked(
    connection: Connection, project: Any, query: Mapping[str, Any], wanted: Slice, faults: Sequence[Fault]
) -> _Asked:
    words = request.args.get(FIND, "").replace("\0", "").split()
    offer = _offer(connection, project.id, words, [query[side] for side in SIDES if side in query])
    asked = _Asked(project, offer, words, query, wanted, faults)
    if faults or not all(side in query for side in SIDES):
        return asked
    try:
        question = comparison_asked(connection, project.project_id, dict(query), wanted)
        which = ((getattr(question, side), getattr(question, f"{side}_revision")) for side in SIDES)
        sides = [stored_grid(find_grid(connection, uuid.UUID(grid), number)) for grid, number in which]
    except NotFound as error:
        return replace(asked, faults=[Fault("/baseline", error.detail)], absent=True)
    except Invalid as error:
        return replace(asked, faults=list(error.faults))
    # What is best in a whole grid need not be in the slice.
    known = [None if wanted else find_statistics(connection, one.id) for one in sides]
    return replace(asked, question=question, sides=sides, known=known)


def _answered(document: Comparison | None) -> dict[str, Any]:
    """The verdict, and the statistics by their headings."""
    if document is None:
        return {"comparison": None, "verdict": None, "sections": []}
    verdict = comparison_verdict(document)
    told = [part for part in parts_of(comparison_blocks(document)) if part.text != typeset(verdict.text)]
    return {
        "comparison": document,
        "verdict": of_two_grids(verdict),
        "sections": sections_of(told, "All cells together"),
    }


def of_two_grids(verdict: Verdict) -> ShownVerdict:
    """The verdict on two grids: what is shown of them is shown of their cells, not of other questions or benchmarks."""
    return shown(replace(verdict, only="cells" if verdict.answer == "shown" else ""))


def _offer(connection: Connection, project_id: uuid.UUID, words: Sequence[str], chosen: Sequence[str]) -> Offer:
    found = search_grids(connection, project_id, Filters(), _LISTED + 1, words)
    listed = found[:_LISTED]
    known = {str(one.id) for one in listed}
    also = [
        one for name in chosen if name.lower() not in known
        for one in search_grids(connection, project_id, Filters(id=name.lower()), 1)
    ]  # fmt: skip
    return Offer((*also, *listed), len(listed), len(found) > _LISTED)


def _revision(grid: Mapping[str, Any]) -> str:
    return f"revision {grid['revision']}"


def _maps(
    sides: list[StoredGrid], statistics: list[Statistics | None], options: Options, found: Comparison | None
) -> dict[str, Any]:
    """Both grids in the range of both together, and the difference; each in its own range where there is none.
    `small` says whether they fit into tables."""
    baseline, contender = (serializers.grid(one) for one in sides)
    titles, which = ([told(one) for one in (baseline, contender)] for told in (title, _revision))
    names = [[one[kind] for kind in ("benchmark", "model", "variant")] for one in (contender, baseline)]
    same = names[0] == names[1]
    named = {
        "baseline": baseline,
        "contender": contender,
        "titles": which if same else titles,
        "versus": f"{titles[0]}: {which[1]} vs {which[0]}" if same else versus(*names),
        "counts": counts_note(contender) or counts_note(baseline),
    }
    if not (fits(baseline) and fits(contender)):
        return named | {"small": False}
    both = list(zip((baseline, contender), statistics, strict=True))
    if not _subtracted(found, baseline, contender):
        own = Options(palette=options.palette)
        return named | {"small": True, "pair": [heatmap_of(one, known, own) for one, known in both], "difference": None}
    measured = [value for one in sides for value in one.grid.values if value is not None]
    shared = options
    if options.span == "own" and measured and min(measured) < max(measured):
        shared = Options(palette=options.palette, span=(min(measured), max(measured)))
    return named | {
        "small": True,
        "pair": [heatmap_of(one, described, shared) for one, described in both],
        "difference": heatmap_of(contender, None, Options(), "difference", baseline, found),
    }


def _subtracted(found: Comparison | None, baseline: GridDocument, contender: GridDocument) -> bool:
    """Whether the contender less the baseline has a meaning, as far as is known."""
    mine, theirs = baseline["metric"], contender["metric"]
    if (mine["unit"], mine["direction"]) != (theirs["unit"], theirs["direction"]):
        return False
    if found is None:
        return True
    # Values on different scales are matched, which makes their agreement known, and have no gap.
    return found.status != "not_comparable" and (found.mean is not None or found.agreement is None)
