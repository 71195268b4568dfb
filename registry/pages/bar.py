"""The bar above all views of results: what is asked about, and what there is to choose from."""

import uuid
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

from flask import request
from marshmallow import Schema
from sqlalchemy import Connection

from registry.api.selections import AUTO, QUANTITIES
from registry.errors import Fault
from registry.grids.grid import Axis
from registry.grids.slices import PARAMETER, Slice, read_members, slice_faults, slice_text
from registry.operations.find_grids import Filters
from registry.operations.names import joined_of_kind
from registry.operations.query_names import known_names_text
from registry.operations.scope_options import axes_with_levels, name_counts, name_options, scope_options
from registry.operations.suites import MOST_SUITES, list_suites
from registry.pages.choices import MOST_LISTED, Choice, Field, choice_of, select, slice_lists
from registry.pages.links import DROPPED, OF_METRIC, WAS, name_page, results_page
from registry.pages.parameters import LOOK
from registry.query import METHODS, MISSING, TARGETS
from registry.renderings.aggregates import AXIS
from registry.renderings.policies import method, target
from registry.renderings.words import label
from registry.results.terms import unordered
from registry.selection import KINDS, Selection

NAMES = ("experiment", "metric", *KINDS, "suite", "as_of", "since", "set_aside", "missing", "by", "method", "target",
         "alpha")  # fmt: skip
"""Parameters of the bar beside the levels of axes: every link from view to view carries them."""
SETTINGS = ("group_by", "over", "value", "along", *LOOK, "x", "y", "x_better", "y_better", "x_scale", "y_scale")
"""Parameters that single views have: the links of the others keep them too."""
FAMILIES = (PARAMETER, *(f"{axis}.{PARAMETER}" for axis in QUANTITIES))
"""What the names of parameters of levels begin with: those of the selection, and those of a quantity alone."""
SIDES = ("contender_model", "baseline_model", "contender_variant", "baseline_variant")
"""The pair that one view compares: the links of the others keep it."""
KEPT = tuple(one for one in (*NAMES, *SETTINGS) if one not in ("experiment", "metric", "alpha", *LOOK))
"""What of the selection stays beside two grids, which say the rest."""
PLACES = ("cursor", "from", "pairs_of", "sort", DROPPED)
"""Parameters that another question takes away: they are places in an answer."""
_KINDS = ("model", "benchmark", "variant")
_ALPHAS = ("0.1", "0.05", "0.01", "0.001")
_AGO = ((7, "a week"), (30, "a month"), (90, "three months"), (365, "a year"))
_MOST_QUICK = 8
"""Options of a field up to which each is a button."""
_MOST_ASIDE = 12
"""Models of which each is offered to be set aside."""


@dataclass(frozen=True, slots=True)
class Bar:
    """What there is to choose from in a project; `scopes` only where no experiment is chosen."""

    experiments: Choice
    scopes: Sequence[Any] = ()
    metrics: Sequence[str] = ()
    choices: Mapping[str, Choice] = field(default_factory=dict)
    suites: Sequence[str] = ()
    levels: Sequence[Axis] = ()
    """The axes with their levels, from which a slice is chosen."""

    @property
    def axes(self) -> list[str]:
        return sorted({axis.name for axis in self.levels})


def bar_of(connection: Connection, project_id: uuid.UUID, query: Mapping[str, Any], *, of_metric: bool = True) -> Bar:
    """What there is to choose from, given what was chosen: of one metric, or of all that the experiment has."""
    experiment = query.get("experiment")
    experiments = choice_of(connection, project_id, "experiment", [experiment] if experiment else [])
    if not experiment:
        return Bar(experiments, scope_options(connection, project_id, MOST_LISTED + 1))
    scope = Filters(experiment=[experiment])
    metrics = name_options(connection, project_id, "metric", scope)
    if of_metric and query.get("metric") in metrics:
        scope = replace(scope, metric=[query["metric"]])
    return Bar(
        experiments,
        metrics=metrics,
        choices={kind: choice_of(connection, project_id, kind, query.get(kind, ()), scope) for kind in _KINDS},
        suites=list(_suites(connection, project_id, scope)),
        levels=axes_with_levels(connection, project_id, scope),
    )


def _suites(connection: Connection, project_id: uuid.UUID, scope: Filters) -> Iterator[str]:
    """The suites that have a benchmark of the experiment."""
    if found := list_suites(connection, project_id, None, MOST_SUITES):
        joined = joined_of_kind(connection, project_id, "benchmark")
        here = dict(name_counts(connection, project_id, "benchmark", scope)[0])
        for suite in found:
            if any(joined.get(one.benchmark, one.benchmark) in here for one in read_members(suite.benchmarks)):
                yield suite.name


def completed(bar: Bar, query: Mapping[str, Any]) -> dict[str, Any]:
    """What the question lacks, where there is one way to say it, and the first metric where none is named; the only one
    in place of another, which is `dropped`."""
    if "experiment" not in query:
        alone = len({one.experiment for one in bar.scopes}) == 1
        return {"experiment": bar.scopes[0].experiment, "metric": bar.scopes[0].metric} if alone else {}
    lone = len(bar.metrics) == 1 and not of_the_past(query) and query.get("metric") != bar.metrics[0]
    if not bar.metrics or ("metric" in query and not lone):
        return {}
    gone = [f"metric {query['metric']}"] if "metric" in query else []
    return {"metric": bar.metrics[0], DROPPED: [*request.args.getlist(DROPPED), *gone]}


def of_the_past(query: Mapping[str, Any]) -> bool:
    """Whether names may be meant that no grid has now."""
    return bool(query.get("as_of") or query.get("since"))


def absent(bar: Bar, query: Mapping[str, Any]) -> Iterator[Fault]:
    """That no grid has the experiment or its metric."""
    experiment, metric = query.get("experiment"), query.get("metric")
    if experiment and not bar.metrics:
        yield Fault("/experiment", f'The project has no grid of an experiment "{experiment}".')
    elif experiment and metric and metric not in bar.metrics:
        told = known_names_text(bar.metrics)
        yield Fault("/metric", f'No grid of "{experiment}" has the metric "{metric}"; {told}.')


def carried_on() -> list[tuple[str, str]]:
    """What of the address goes on to every view."""
    given = [one for one in request.args.items(multi=True) if one[1]]
    return [one for one in given if one[0] in (*NAMES, *SIDES, *SETTINGS) or one[0].startswith(FAMILIES)]


def switched(bar: Bar) -> list[tuple[str, str]]:
    """What a sent bar asks, and, as `dropped`, what cannot be of it: what its method has no order for, and of another
    experiment than it was about what this one has not."""
    asked = [(name, text) for name, text in request.args.items(multi=True) if text and name != WAS]
    same = request.args[WAS] == request.args.get("experiment") or not bar.metrics
    lost = [one for one in asked if not (_is_ordered(*one) and (same or _has(bar, *one)))]
    return [*(one for one in asked if one not in lost), *((DROPPED, _named(*one)) for one in lost)]


def _named(name: str, text: str) -> str:
    axis = name.removeprefix(PARAMETER)
    if not _is_ordered(name, text):
        return f"order by {method(_method())} with {method(text)}"
    return f"{name} {text}" if axis == name else slice_text(((axis, (text,)),))


def _method() -> str:
    return request.args.get("method") or METHODS[0]


def _is_ordered(name: str, text: str) -> bool:
    """Whether what is asked for missing cells has an order by the method that is asked for."""
    return name != "missing" or request.args.get("view") != "ranking" or unordered(_method(), text) is None


def _has(bar: Bar, name: str, text: str) -> bool:
    """Whether there is what a parameter asks for; of what names nothing, yes."""
    if PARAMETER in name[:5]:
        return not slice_faults(bar.levels, ((name.partition(PARAMETER)[2], (text,)),), "")
    if text.startswith("axis:"):
        lines = request.args.get("view") == "lines"
        return text.removeprefix("axis:") in _compared(bar, request.args.get("along"), lines=lines)
    if text.startswith(OF_METRIC):
        return text.removeprefix(OF_METRIC) in bar.metrics
    kind = name.partition("_")[2] if name in SIDES else name
    if found := bar.choices.get(kind):
        return bool(dict(found.options).get(text, not found.listed))
    return text in {"metric": bar.metrics, "suite": bar.suites, "along": bar.axes}.get(name, [text])


def _compared(bar: Bar, along: str | None, *, lines: bool) -> list[str]:
    """The axes whose levels may be compared: of lines not the one that they run along."""
    return [one for one in bar.axes if not lines or (one != along and len(bar.axes) > 1)]


def page_of_row(project: str, selection: Selection, by: str, name: str) -> str:
    """Where a name leads: to its results where levels or benchmarks were chosen, which its page does not know; "" for
    none and for a level."""
    if by.startswith(AXIS) or not name:
        return ""
    kept = [one for one, _ in carried_on() if one != by]
    narrowed = any(one.startswith(PARAMETER) or one in ("benchmark", "suite") for one in kept)
    return grids_page(project, selection, {by: name}) if narrowed else name_page(project, by, name)


def grids_page(project: str, selection: Selection, at: Mapping[str, Any]) -> str:
    """The grids of the selection that have these names, at these levels; "" where a name is empty. A benchmark stands
    in place of the suite, whose own levels of it stay."""
    named = [(one.replace(AXIS, PARAMETER, 1), label(level)) for one, level in at.items()]
    own = selection.levels_of(at.get("benchmark", ""))[len(selection.at) :]
    named += [(PARAMETER + axis, text) for axis, texts in own if AXIS + axis not in at for text in texts]
    gone = {*SIDES, *(name for name, _ in named), *(["suite"] if "benchmark" in at else [])}
    kept = [one for one in carried_on() if one[0] not in gone]
    return results_page(project, "heatmaps", [*kept, *named]) if all(text for _, text in named) else ""


def takes(schema: type[Schema], **asked: Any) -> bool:
    """Whether a view takes these parameters together, as far as it knows them."""
    known = {name: text for name, text in asked.items() if text and name in schema().fields}
    return not schema(only=tuple(known)).validate(known)


def fields_of(
    bar: Bar, schema: type[Schema], query: Mapping[str, Any], wanted: Slice, also: Collection[str] = ()
) -> tuple[list[Field], ...]:
    """The fields of the bar that a view knows, and `also` these, and those of them that are folded."""
    asked, known = {name: query.get(name) for name in NAMES}, {*schema().fields, *also}
    metrics = [(one, one) for one in bar.metrics]
    axes = [(AXIS + name, f"levels of {name}") for name in _compared(bar, query.get("along"), lines="along" in known)]
    compared = [*((one, f"{one}s") for one in ("model", "variant", "benchmark")), *axes]
    compared = [one for one in compared if takes(schema, by=one[0], target=asked["target"])]
    policies = [one for one in MISSING if takes(schema, missing=one, method=asked["method"])]
    targets = [one for one in TARGETS if takes(schema, target=one, by=asked["by"])]
    aside = [one for one in asked["set_aside"] or () if one not in AUTO]
    models = bar.choices["model"].names if bar.choices["model"].total <= _MOST_ASIDE else aside
    first = {
        "metric": select("metric", "metric", metrics, asked["metric"]),
        "suite": select("suite", "suite", [(one, one) for one in bar.suites], asked["suite"], "all benchmarks"),
    }
    dates = {
        "as_of": _instant("as of, in UTC", "as_of", asked["as_of"]),
        "since": _instant("changed since, in UTC", "since", asked["since"]),
    }
    folded = {
        "by": select("compared are", "by", compared, asked["by"], usual="model"),
        "missing": select("missing cells", "missing", [(one, method(one)) for one in policies], asked["missing"],
                          usual="available" if query.get("value") == "count" else "matched"),
        "set_aside": select("set aside", "set_aside", [("none", "nobody"), *((one, one) for one in models)], aside,
                            "who lacks more than a fifth"),
        "method": select("method", "method", [(one, method(one)) for one in METHODS], asked["method"],
                         usual=METHODS[0]),
        "target": select("holds for", "target", [(one, target(one)) for one in targets], asked["target"],
                         usual="" if request.args.get("target") else TARGETS[0]),
        "alpha": select("alpha", "alpha", [(one, one) for one in _ALPHAS], str(asked["alpha"]), usual="0.05"),
    }  # fmt: skip
    if not bar.suites and not asked["suite"]:
        del first["suite"]
    kept = [[one for name, one in some.items() if name in known] for some in (first, dates, folded)]
    return [*kept[0], *slice_lists(bar.levels, wanted), *kept[1]], kept[2]


@dataclass(frozen=True, slots=True)
class Quick:
    """A field of which one click sends another value, beside what else is `kept`; each value with its text and whether
    it is asked now."""

    field: Field
    kept: Sequence[tuple[str, str]]
    offered: Sequence[tuple[str, str, bool]]


def quick_choices(fields: Sequence[Field]) -> Iterator[Quick]:
    """Another suite, other lowest levels, another instant before."""
    until = next((one.typed for one in fields if one.parameter == "as_of"), "")
    for one in fields:
        offered, instead = [(option.value, option.text, option.chosen) for option in one.options], [one.parameter]
        if one.parameter == "since":
            offered = [(at, words, at == one.typed) for at, words in _ago() if not until or at < until]
        elif one.parameter.startswith(PARAMETER):
            offered = [option for option in offered[1:] if option[0].startswith(">=")]
        elif one.parameter == "suite":
            instead = ["suite", "benchmark"]
        else:
            continue
        if 0 < len(offered) <= _MOST_QUICK:
            kept = [
                (name, text)
                for name, text in request.args.items(multi=True)
                if text and name not in PLACES and (name not in instead or text.startswith("<="))
            ]
            usual = "none" if one.parameter == "since" else one.nothing
            asked = one.typed or any(chosen for *_, chosen in offered)
            yield Quick(one, kept, [("", usual, not asked), *offered])


def _instant(label: str, name: str, text: Any) -> Field:
    """A day with its minute; an instant between two seconds in a field for any text, for browsers have none for it."""
    local = str(text or "").removesuffix("Z")
    local = local.removesuffix(":00") if local.count(":") > 1 else local
    if "." in local:
        return Field(label, name, (), str(text))
    return Field(label, name, (), local, kind="datetime-local")


def _ago() -> Iterator[tuple[str, str]]:
    for days, words in _AGO:
        yield days_ago(days), f"{words} ago"


def days_ago(days: int) -> str:
    """The beginning of a day, as a field of instants has it."""
    today: date = datetime.now(UTC).date()
    return f"{today - timedelta(days)}T00:00"
