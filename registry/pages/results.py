"""The page of results: one selection in six views, below one bar that stays; and where former addresses lead to it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import quote

from flask import Response, g, redirect, request
from sqlalchemy import Connection

from registry.api.context import enter, parts
from registry.api.rankings import RankingParameters
from registry.errors import Fault, Invalid, NotFound
from registry.grids.slices import PARAMETER, Slice, slice_faults, slice_text
from registry.operations.experiments import find_note
from registry.pages import aggregates, compared_models, heatmaps, lines, ranking, trade_off
from registry.pages.bar import (
    FAMILIES,
    NAMES,
    PLACES,
    SIDES,
    Bar,
    absent,
    bar_of,
    carried_on,
    completed,
    fields_of,
    of_the_past,
    quick_choices,
    switched,
    takes,
)
from registry.pages.blocks import Part, parts_of
from registry.pages.choices import MOST_LISTED, Field, slice_of_page
from registry.pages.front import pages
from registry.pages.links import (
    DROPPED,
    LOOKS,
    WAS,
    again,
    carried,
    data_path,
    here,
    instead,
    last_of,
    moved,
    results_page,
)
from registry.pages.live import PENDING_SECONDS, SETTLED_SECONDS, live_on
from registry.pages.parameters import salvaged
from registry.pages.project import Experiment, experiments_told
from registry.pages.prose import prose_of
from registry.pages.responses import page, state_of, tags_of
from registry.pages.targets import by_target, rankings_of, rows_of_targets, who_is_best
from registry.pages.view import Asked, Found, View
from registry.renderings.policies import TARGETS
from registry.renderings.ranking import scale_words
from registry.renderings.ranking_change import change_blocks, change_sentence
from registry.renderings.verdicts.estimate import joined
from registry.renderings.verdicts.ranking import (
    is_tested,
    open_pair,
)
from registry.renderings.verdicts.targets import spoken
from registry.renderings.words import moment
from registry.results.ranking import Ranking
from registry.selection import KINDS, Selection

VIEWS: Mapping[str, View] = {
    one.name: one
    for one in (ranking.VIEW, aggregates.VIEW, lines.VIEW, heatmaps.VIEW, trade_off.VIEW, compared_models.VIEW)
}
_FORMER = {one.path: one.name for one in VIEWS.values()}
_KNOWN = {"view", WAS, DROPPED, *NAMES, *(name for one in VIEWS.values() for name in (*one.fields, *one.own))}
_MOST_LACKING = 4
"""Names that lack cells of which a table shows which."""
_MOST_AXES = 2
"""Axes whose levels are chosen in the row of the bar."""


@pages.get("/projects/<project>/results")
def results(project: str) -> Response:
    """Show a view of a selection; while the question is incomplete or wrong, the bar and what is missing."""
    name = last_of(request.args.items(multi=True)).get("view", "")
    view = VIEWS.get(name, VIEWS["table"])
    foreign = dict(_foreign(view))
    also = (*(_KNOWN - view.fields), *foreign)
    query, faults = salvaged(view.schema, also, ("experiment", "metric", *view.optional), FAMILIES)
    faults += [] if "since" in view.fields else _since()[1]
    wanted = slice_of_page()
    with parts().database.reading() as connection:
        row = enter(connection, project, "reader")
        bar = bar_of(connection, row.id, query, of_metric=view is not trade_off.VIEW)
        told = [] if "experiment" in query else experiments_told(connection, row.id)[1]
        note = _note(connection, row, bar, query, name)
    if WAS in request.args:
        return redirect(instead(switched(bar)), 303)  # type: ignore[return-value]
    if name and name not in VIEWS:
        faults.append(Fault("/view", f"is one of {', '.join(VIEWS)}"))
    lacking = completed(bar, query)
    if not name and "experiment" in query:
        lacking = {"view": _first_view(bar), **lacking}
    if lacking and not faults:
        return redirect(again(**lacking), 303)  # type: ignore[return-value]
    missing = [] if faults or of_the_past(query) else list(absent(bar, query))
    asked, found = Asked(row, view, query, wanted, bar, foreign), Found()
    status = 404 if missing else 422 if faults else 200
    faults += missing
    if not faults and "experiment" in query:
        try:
            found = view.find(asked)
            if found.state == "unasked" and (wrong := slice_faults(bar.levels, wanted, "no grid")):
                raise Invalid(wrong)
            if found.lacking:
                return redirect(again(**dict(found.lacking)), 303)  # type: ignore[return-value]
        except (Invalid, NotFound) as error:
            status = 422 if isinstance(error, Invalid) else 404
            faults = list(error.faults) if isinstance(error, Invalid) else [Fault("/experiment", error.detail)]
    if found.best is None and not faults:
        found = replace(found, best=rows_of_targets(asked, found.row if view.name == "ranking" else None))
    best = found.best or {}
    noted = [note.tag, note.rules.tag] if note else []
    stand = [tag for one in (found.row, *best.values()) for tag in tags_of(one)]
    made_of = [row.updated_at, bar, told, faults, *noted, *stand, *found.tags]
    return page(
        "results.html", made_of, lambda: _context(asked, found, best, faults, note, name) | _of_all(told), status=status
    )


def _since() -> tuple[str, list[Fault]]:
    """The instant before, of which the ranking above a view tells, and what is wrong with it."""
    others = tuple({*request.args} - {"since", "as_of"})
    query, wrong = salvaged(RankingParameters, others, ("experiment", "metric"), (PARAMETER,))
    return query.get("since", ""), [one for one in wrong if one.pointer == "/since"]


def _of_all(told: Sequence[Experiment]) -> dict[str, Any]:
    """What the results of the experiments say, as the overview has it, for whoever has chosen none."""
    with_verdicts = [(scope.experiment, scope.metric) for scope, verdicts, _ in told if verdicts]
    return {"told_experiments": told if with_verdicts else (), "told_scopes": with_verdicts}


def _context(
    asked: Asked, found: Found, best: Mapping[str, Any], faults: Sequence[Fault], note: Any, named: str
) -> dict[str, Any]:
    """The page as the template takes it; `named` is the view that the address names, if it names one."""
    view, query, bar, project = asked.view, asked.query, asked.bar, asked.slug
    shown = found.shown() if found.state == "ready" else {}
    rankings = rankings_of(best)
    told = next(iter(rankings.values()), None)
    # Of one name nobody asks who is best, but by the ranking itself; of two that are compared the view's own verdict.
    asks = told is not None and (len(told.ranking) != 1 or view.name == "ranking") and view.name != "compare"
    targets = by_target(best, rankings)
    who = [who_is_best([*rankings.values()], shown.get("beside_ranking"), listed=bool(targets))] if asks else []
    waits = found.pending or "pending" in (found.state, *map(state_of, best.values()))
    return {
        "project": asked.project,
        "view": view,
        "views": list(_views(asked)),
        "carried": carried_on(),
        "query": query,
        "bar": bar,
        "asked_view": named,
        "sentence": _sentence(query, asked.wanted),
        "narrowed": _narrowed(query),
        **_of_bar(asked),
        "foreign": asked.foreign,
        "dropped": (dropped := request.args.getlist(DROPPED)),
        "instead": query.get("metric") if any(one.startswith("metric ") for one in dropped) else "",
        "slice_text": slice_text(asked.wanted),
        "faults": faults,
        "most_listed": MOST_LISTED,
        "state_word": found.state,
        "reason": found.row.reason if found.state == "failed" and found.row else None,
        "verdicts_": [*who, *shown.get("verdicts", ())],
        "next": list(_next(asked, told)) if asks and told else (),
        "targets": targets,
        **_of_rankings(rankings, told),
        "heading": "",
        "drawn": False,
        "picture": view.picture(asked, found) if shown.get("drawn") else None,
        "data": lambda suffix="": view.data(asked, found, suffix),
        "every": PENDING_SECONDS if waits else SETTLED_SECONDS,
        "feed": live_on(asked.project, view.events, experiment=query.get("experiment")),
        "note": note,
        "prose_": prose_of(note.description) if note else "",
        "about_json": note
        and data_path(f"/projects/{project}/experiments/{quote(query['experiment'])}", asked.project.visibility),
        "progress": found.progress,
        "elsewhere": list(trade_off.elsewhere(asked)) if view is trade_off.VIEW and found.state == "unasked" else (),
        "outside": 0,
        "whole": {name: None for name in request.args if name.startswith(view.families)},
        **shown,
    }


def _of_rankings(rankings: Mapping[str, Ranking], told: Ranking | None) -> dict[str, Any]:
    """What stands beside the verdict on the rankings of all targets, of which one is told."""
    return {
        "speaks": request.args.get("target") or (spoken(rankings.values()).target if rankings else ""),
        "scale": scale_words(told) if told else "",
        "tested": next(((one, TARGETS[one]) for one in TARGETS if one in rankings and is_tested(rankings[one])), None),
        "changed": list(_changed(told)) if told else [],
    }


def _of_bar(asked: Asked) -> dict[str, Any]:
    """The fields of the bar, those beside and below it, and what of the selection they do not hold."""
    fields, beside, folded = _fields(asked) if "experiment" in asked.query else ([], [], [])
    return {
        "fields": fields,
        "slices": _folded_slices(fields),
        "quick": list(quick_choices([*fields, *folded])),
        "beside": beside,
        "folded": folded,
        "folded_asked": list(_unusual(folded, asked.query)),
        "chosen": [one for one in asked.bar.choices.values() if one.kind in asked.view.fields],
        "kept": list(_kept(asked.view, [*fields, *beside, *folded])),
    }


def _changed(ranking: Ranking) -> Iterator[Part]:
    """What changed in the ranking; of names that are all new, that nothing had been measured."""
    if ranking.change and {one.verdict for one in ranking.change.names} == {"new"}:
        yield from parts_of([change_sentence(ranking), "Nothing of this was there before."])
    elif ranking.change:
        yield from parts_of([change_sentence(ranking), *change_blocks(ranking)])


def _next(asked: Asked, ranking: Ranking) -> Iterator[tuple[str, str]]:
    """What to measure next, and the page that tells more: the cells that a name lacks, and those of an open pair."""
    rows, kept, project = ranking.ranking, [one for one in carried_on() if one[0] not in SIDES], asked.slug
    most = max((one.compared or 0 for one in rows), default=0)
    lacking = [one.name for one in rows if one.mean is None or one.adjusted or (one.compared or most) < most]
    whole = [one.name for one in rows if one.name not in lacking]
    if lacking and whole:
        what = f"what {joined(lacking)} {'lacks' if len(lacking) == 1 else 'lack'}"
        shown = _lacks(asked, ranking.by, [*lacking[:_MOST_LACKING], whole[0]])
        yield f"measure {what}: a table shows where cells are missing", shown
    # Trials tell what these cells are; other questions, and cells that stand for others, stay as they are.
    of_cells = ranking.target == "rerun" and "exchangeable_cells" not in ranking.assumes
    if ranking.by == "model" and of_cells and (pair := open_pair(ranking)):
        sides = [*kept, *zip(compared_models.MODEL_SIDES, pair, strict=True)]
        yield f"how many trials would tell {pair[0]} from {pair[1]}", results_page(project, "compare", sides)


def _lacks(asked: Asked, by: str, names: Sequence[str]) -> str:
    """The table of everything that these names have, cell by cell along one axis; the last of them lacks nothing."""
    axes = [f"axis:{one}" for one in asked.bar.axes if f"axis:{one}" != by][:1]
    groups = [by, "model" if by == "benchmark" else "benchmark", *axes]
    ours = {"by", "missing", "set_aside", "group_by", "over", "value", *([by] if by in KINDS else [])}
    kept = [one for one in carried_on() if one[0] not in (*SIDES, *ours)]
    kept += [("missing", "available"), ("set_aside", "none"), *(("group_by", one) for one in groups)]
    kept += [(by, one) for one in names] if by in KINDS and axes else []
    shown = results_page(asked.slug, "table", kept)
    return shown and f"{shown}#table"


def _note(connection: Connection, project: Any, bar: Bar, query: Mapping[str, Any], view: str) -> Any:
    """What is noted of the experiment, on its first view and beside its grids, for whoever may see these."""
    name = query.get("experiment", "")
    shown = bar.metrics and view in ("heatmaps", _first_view(bar))
    reached = shown and carried(f"/projects/{project.slug}/experiments/{quote(name)}")
    return find_note(connection, project.id, name) if reached else None


def _first_view(bar: Bar) -> str:
    """The view that suits the grids: a table of single scores, lines along one axis, else heat maps."""
    return {0: "table", 1: "lines"}.get(len(bar.axes), "heatmaps")


def _views(asked: Asked) -> Iterator[tuple[str, str, bool]]:
    """Each view with its address for the same selection and whether it is this one; none that there cannot be."""
    project, bar, current = asked.slug, asked.bar, asked.view
    for name, view in VIEWS.items():
        word = "Grids" if name == "heatmaps" and not bar.axes else view.word  # single scores have no heat maps
        if name == current.name:
            yield word, here(), True
            continue
        kept = [one for one in carried_on() if not _refused(name, *one)]
        there = bar.metrics and (bar.axes or name != "lines") and (name != "trade-off" or trade_off.has_two(asked))
        if there and (href := results_page(project, name, kept)):
            yield word, href, False


def _refused(view: str, name: str, text: str) -> bool:
    """Whether a view has no answer to what others have one to: an axis whose levels are compared is none that lines
    could run along, and benchmarks are ranked as they are."""
    if view == "lines":
        return name == "by" and text.startswith("axis:")
    return view == "ranking" and name == "target" and request.args.get("by") == "benchmark"


def _foreign(view: View) -> Iterator[tuple[str, str]]:
    """What the address asks in words of other views: it stays in the address, and this view does as usual."""
    for name in ("missing", "by", "x"):
        text = request.args.get(name) or ""
        known = [one for one in VIEWS.values() if name in one.fields and takes(one.schema, **{name: text})]
        if text and known and name in view.fields and view not in known:
            yield name, text


def _narrowed(query: Mapping[str, Any]) -> str:
    """What a title says of the selection besides experiment, metric, levels and instant: `, suite reasoning`."""
    whole = {name: query[name] for name in ("experiment", "metric") if name in query}
    return _sentence({**query, "as_of": ""}, ()).removeprefix(_sentence(whole, ()))


def _sentence(query: Mapping[str, Any], wanted: Slice) -> str:
    """The selection in words, as far as it is made."""
    asked: dict[str, Any] = {kind: tuple(query.get(kind, ())) for kind in KINDS}
    asked |= {name: query.get(name) or "" for name in ("experiment", "metric", "suite")}
    asked["as_of"] = moment(query["as_of"]) if query.get("as_of") else ""
    return Selection(**asked, at=wanted).sentence()


def _fields(asked: Asked) -> tuple[list[Field], list[Field], list[Field]]:
    """The fields of the bar, those of the view, and those that are folded."""
    # The ranking above a view says what changed, whether or not the view itself knows of another instant.
    since = {"since": _since()[0]} if asked.view.name != "compare" else {}
    query = {**since, **asked.query, **asked.foreign}
    first, folded = fields_of(asked.bar, asked.view.schema, query, asked.wanted, since)
    beside, more = [*asked.view.beside(asked)], [*folded, *asked.view.folded(asked)]
    if asked.view.name in ("table", "lines"):  # their rows, columns and axes suit most, and the data come first
        before = [one for one in first if one.parameter == "since"]
        return [one for one in first if one not in before], [], [*before, *beside, *more]
    dates = [one for one in first if beside and one.parameter in ("as_of", "since")]
    return [one for one in first if one not in dates], beside, [*dates, *more]


def _folded_slices(fields: Sequence[Field]) -> list[Field]:
    """The fields of levels, where they are of more axes than a row holds."""
    slices = [one for one in fields if one.parameter.startswith(PARAMETER)]
    return slices if len({one.parameter for one in slices}) > _MOST_AXES else []


def _unusual(fields: Sequence[Field], query: Mapping[str, Any]) -> Iterator[str]:
    """What the folded fields ask for, where the address says it."""
    for one in fields:
        if text := request.args.get(one.parameter):
            said = moment(text) if one.parameter == "as_of" and query.get("as_of") else text
            yield f"{one.label} {', '.join(option.text for option in one.options if option.chosen) or said}"


def _kept(view: View, fields: Sequence[Any]) -> Iterator[tuple[str, str]]:
    """What the address asks and the bar has no field for."""
    there = {*PLACES, *LOOKS, "view", "experiment", *(one.parameter for one in fields)}
    there |= {kind for kind in KINDS if kind in view.fields}
    for name, text in request.args.items(multi=True):
        if text and name not in there and not name.startswith(view.families):
            yield name, text


@pages.get("/projects/<project>/<any(rankings,aggregates,lines,'trade-offs'):path>")
def former(project: str, path: str) -> Response:
    """Lead from the address that a view had, and that a link of it alone still has, to the view."""
    return moved(project, _FORMER[path])


@pages.get("/projects/<project>/experiments/<path:experiment>", endpoint="experiment")
def of_experiment(project: str, experiment: str) -> Response:
    """Lead from an experiment to its results; by a link of it alone to its heat maps, which that opens."""
    return moved(project, "heatmaps" if "share" in g else "", experiment)
