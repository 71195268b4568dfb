"""Check the names in a query: names without any grid in its scope are refused before anything is computed."""

import uuid
from collections.abc import Callable, Collection, Iterator, Sequence
from difflib import get_close_matches
from typing import Any, cast

from sqlalchemy import ColumnElement, Connection, Select, Text, func, literal, select, text, union_all
from sqlalchemy import cast as cast_to

from registry.errors import Fault, Invalid, NotFound
from registry.grids.grid import Axis
from registry.grids.slices import Slice, kept_positions, pointer_to, slice_faults
from registry.operations.find_grids import FILTERED, Filters
from registry.operations.names import Joined, joined_names
from registry.query import SIDES, AggregatesQuery, ModelComparisonQuery, Query, RankingQuery, pairing
from registry.selection import KINDS
from registry.storage.keys import grids_at, in_shard_of, of_current, of_grid
from registry.storage.rows import axis_of
from registry.storage.tables import aliases, grids, revisions

Names = tuple[str, str, str]
"""Benchmark, model and variant of a grid."""
_MOST_SHOWN = 12
"""Existing names that an error message lists."""
_MOST_NEAR, _MOST_SEARCHED = 3, 500
"""Existing names that an error message lists first, and those among which they are looked for."""
_MOST_EXPLAINED = 10
"""Unknown names that are told with what there is: a request has room for hundreds, and looking for each takes 5 ms."""


def check_names(connection: Connection, project_id: uuid.UUID, query: Query, experiments: Sequence[str]) -> None:
    """Raise `NotFound` when no grid of these experiments has the metric, and `Invalid` for each other name of the query
    that none of those grids has. The query is one without aliases. Of a ranking and what changed in it, also the grids
    of then are there."""
    grids_there, scope = _there(project_id, query, experiments)
    known = _known(connection, project_id, scope, grids_there)
    if isinstance(query, RankingQuery) and query.since:
        former, scope_then = _there(project_id, query.then(), experiments)
        known |= _known(connection, project_id, scope_then, former)
    then = f"as of {query.as_of}, " if query.as_of else ""
    if not known:
        there_are = _metrics_text(connection, project_id, experiments, query.metric, grids_there)
        told = f'{then}no grid of experiment "{query.experiment}" has the metric "{query.metric}"{there_are}.'
        raise NotFound(told[0].upper() + told[1:])
    suite = query.suite
    there = {kind: {names[place] for names in known} for place, kind in enumerate(KINDS)}
    lacking = [
        (kind, parameter, wanted)
        for kind, parameter, wanted in query.names()
        if wanted not in there[kind] and not (suite and parameter == "benchmark")
    ]
    faults = [
        Fault(f"/{parameter}", then + _not_found(kind, wanted, there[kind] if place < _MOST_EXPLAINED else None))
        for place, (kind, parameter, wanted) in enumerate(lacking)
    ]
    if suite and there["benchmark"].isdisjoint(query.benchmark):
        faults.append(Fault("/suite", f'{then}no grid of this experiment is of a benchmark of the suite "{suite}"'))
    faults += _unknown_dimensions(query, lambda: _axes(connection, scope, grids_there))
    if query.at:
        faults += slice_faults(axes_in(connection, scope, grids_there), query.at, "no grid of this experiment")
    matching = [names for names in known if _matches(query, names)]
    if not faults and not matching:
        faults = [Fault("", f"{then}no grid of this experiment has all of these names at once")]
    if not faults and isinstance(query, ModelComparisonQuery):
        faults = list(_pairing_faults(query, matching))
    if faults:
        raise Invalid(faults)


def _there(project_id: uuid.UUID, query: Query, experiments: Sequence[str]) -> tuple[Any, list[ColumnElement[bool]]]:
    """What stands in the place of `grids` at the query's instant, and the conditions of its experiment and metric."""
    there = grids_at(project_id, query.as_of)
    here = (there.c.project_id == project_id, there.c.experiment.in_(experiments), there.c.metric == query.metric)
    return there, [*here, there.c.deleted_at.is_(None)]


def _pairing_faults(query: ModelComparisonQuery, known: Collection[Names]) -> Iterator[Fault]:
    """Why these grids, which the query matches, cannot be compared model with model; nothing where they can."""
    variants = {side: sorted({names[2] for names in known if names[1] == getattr(query, f"{side}_model")})
                for side in SIDES}  # fmt: skip
    if query.baseline_model == query.contender_model and query.baseline_variant == query.contender_variant:
        own = variants[SIDES[0]]
        told = f"compare variants of it by baseline_variant and contender_variant; there are {quoted(own)}"
        yield Fault("/contender_model", f"is the baseline too; {told if len(own) > 1 else 'name another model'}")
        return
    found = pairing(query, known)
    if found.ambiguous:
        one = "choose one by variant, or one of each by baseline_variant and contender_variant"
        yield Fault("/variant", f"both models have several variants of a benchmark; {one}: {quoted(found.ambiguous)}")
    elif not found.shared:
        told = f"that has {quoted(found.only_in_baseline)}, and this {quoted(found.only_in_contender)}"
        yield Fault("/contender_model", f"shares no benchmark with the baseline: {told}")
    elif not any(found.shared.values()):
        told = f"{quoted(variants[SIDES[0]])} and {quoted(variants[SIDES[1]])}"
        one = "choose one of each by baseline_variant and contender_variant"
        yield Fault("/contender_variant", f"the models have no variant in common; {one}: {told}")


def quoted(names: Collection[str]) -> str:
    """The first of some names in quotation marks, the empty one too, and how many more there are."""
    shown = ", ".join(f'"{name}"' for name in sorted(names)[:_MOST_SHOWN]) or "none"
    return shown + (f" and {len(names) - _MOST_SHOWN} more" if len(names) > _MOST_SHOWN else "")


def _unknown_dimensions(query: Query, known: Callable[[], Collection[str]]) -> list[Fault]:
    given: dict[str, tuple[str, ...]] = {"by": (query.by,)} if isinstance(query, RankingQuery) else {}
    if isinstance(query, AggregatesQuery):
        given = {"group_by": query.group_by, "over": query.over}
    named = [
        (place, dimension.removeprefix("axis:"))
        for place, dimensions in given.items()
        for dimension in dimensions
        if dimension.startswith("axis:")
    ]
    axes = known() if named else ()
    return [Fault(f"/{place}", _not_found("axis", axis, axes)) for place, axis in named if axis not in axes]


def check_filters(connection: Connection, project_id: uuid.UUID, filters: Filters) -> None:
    """Raise `Invalid` for names that no grid of the project ever had; the messages list what there is."""
    faults = [Fault(f"/{kind}", detail) for kind, detail in unknown_names(connection, project_id, filters)]
    if faults:
        raise Invalid(faults)


def unknown_names(connection: Connection, project_id: uuid.UUID, filters: Filters) -> list[tuple[str, str]]:
    """The kind of each name in the filters that no grid of the project ever had, deleted ones included, and that is no
    alias either; and what there is in its place."""
    wanted = {kind: [name for name in getattr(filters, kind) if name] for kind in FILTERED}
    wanted = {kind: names for kind, names in wanted.items() if names}
    if not wanted:
        return []
    here = grids.c.project_id == project_id
    known = [
        select(literal(kind).label("kind"), grids.c[kind].label("name"))
        .where(here, grids.c[kind].in_(names))
        .distinct()
        for kind, names in wanted.items()
    ]
    every = [name for names in wanted.values() for name in names]
    mine = aliases.c.project_id == project_id
    known += [
        select(cast_to(aliases.c.kind, Text), one).where(mine, one.in_(every))
        for one in (aliases.c.alias, aliases.c.name)
    ]
    found = {(row.kind, row.name) for row in connection.execute(union_all(*known))}
    lacking = [(kind, name) for kind, names in wanted.items() for name in names if (kind, name) not in found]
    told = [(kind, _never_had(connection, project_id, kind, name)) for kind, name in lacking[:_MOST_EXPLAINED]]
    more = lacking[_MOST_EXPLAINED:]
    return [*told, *((kind, f'no grid of this project has the {kind} "{name}"') for kind, name in more)]


def _never_had(connection: Connection, project_id: uuid.UUID, kind: str, name: str) -> str:
    there = select(grids.c[kind]).where(grids.c.project_id == project_id, grids.c.deleted_at.is_(None)).distinct()
    names = connection.scalars(there.order_by(grids.c[kind]).limit(_MOST_SEARCHED)).all()
    several = "; repeat the parameter for several" if "," in name else ""
    there_are = known_metrics_text(names, name) if kind == "metric" else known_names_text(names, name)
    return f'no grid of this project has the {kind} "{name}"; {there_are}{several}'


def check_slice_of_grid(
    connection: Connection, grid_id: uuid.UUID, revision: int, wanted: Slice, whose: str = "the grid"
) -> None:
    """Raise `Invalid` when a revision has no such axis or none of its levels; the messages list what there is."""
    query = select(revisions.c.axes).join(grids, of_grid(revisions))
    here = (grids.c.id == grid_id, in_shard_of(connection, grid_id), revisions.c.number == revision)
    documents = connection.scalars(query.where(*here)).one()
    axes = [axis_of(document) for document in documents]
    faults = slice_faults(axes, wanted, whose)
    if not faults and kept_positions({axis.name: axis.levels for axis in axes}, wanted) is None:
        faults = [Fault(pointer_to(wanted[0][0]), f"{whose} has no level that fulfils all of it")]
    if faults:
        raise Invalid(faults)


def check_slice_of_grids(connection: Connection, conditions: Sequence[ColumnElement[bool]], wanted: Slice) -> None:
    """Raise `Invalid` when no grid that fulfils these conditions has such an axis, or such a level."""
    faults = slice_faults(axes_in(connection, conditions), wanted, "no grid")
    if faults:
        raise Invalid(faults)


def no_axis(wanted: str, axes: Collection[str]) -> str:
    """Error message for the name of an axis that a grid does not have."""
    return f'the grid has no axis "{wanted}"; {known_names_text(axes, wanted)}'


def _metrics_text(
    connection: Connection, project_id: uuid.UUID, experiments: Sequence[str], wanted: str, there: Any
) -> str:
    """End of a sentence: the metrics of these experiments; empty where there is none, as of an unknown experiment."""
    names = metrics_of(connection, project_id, experiments, there)
    return f"; {known_metrics_text(names, wanted)}" if names else ""


def metrics_of(connection: Connection, project_id: uuid.UUID, experiments: Sequence[str], there: Any) -> Sequence[str]:
    """The metrics of these experiments in `there`, which are the grids or those of an instant (`keys.grids_at`)."""
    here = (there.c.project_id == project_id, there.c.experiment.in_(experiments), there.c.deleted_at.is_(None))
    return connection.scalars(select(there.c.metric).where(*here).distinct()).all()


def _known(
    connection: Connection, project_id: uuid.UUID, scope: Sequence[ColumnElement[bool]], there: Any
) -> set[Names]:
    """Combinations of benchmark, model and variant in a scope, with aliases replaced by the names behind them."""
    rows = connection.execute(select(*(there.c[kind] for kind in KINDS)).where(*scope).distinct())
    found = [tuple(row) for row in rows]
    joined = joined_names(connection, project_id)
    return {cast(Names, tuple(joined.get(pair, pair[1]) for pair in zip(KINDS, one, strict=True))) for one in found}


def _axes(connection: Connection, scope: Sequence[ColumnElement[bool]], there: Any) -> set[str]:
    names: Any = func.jsonb_path_query(revisions.c.axes, text("'$[*].name'")).op("#>>")(text("'{}'"))
    query = select(names).select_from(there).join(revisions, of_current(revisions, there)).where(*scope).distinct()
    return set(connection.scalars(query))


def axes_in(connection: Connection, scope: Sequence[ColumnElement[bool]], there: Any = grids) -> list[Axis]:
    """The different axes of all grids that fulfil these conditions, at their current revisions; one name may come with
    several sets of levels. `there`: what stands in the place of `grids`."""
    return [axis_of(document) for document in connection.scalars(_axes_of(select(_EACH_AXIS), scope, there))]


def axes_by_benchmark(
    connection: Connection, scope: Sequence[ColumnElement[bool]], joined: Joined, there: Any = grids
) -> dict[str, list[Axis]]:
    """The same axes by benchmark, with aliases replaced by the names behind them."""
    found = dict[str, list[Axis]]()
    for benchmark, document in connection.execute(_axes_of(select(there.c.benchmark, _EACH_AXIS), scope, there)):
        found.setdefault(joined.get(("benchmark", benchmark), benchmark), []).append(axis_of(document))
    return found


_EACH_AXIS: Any = func.jsonb_array_elements(revisions.c.axes)


def _axes_of(statement: Select[Any], scope: Sequence[ColumnElement[bool]], there: Any) -> Select[Any]:
    return statement.select_from(there).join(revisions, of_current(revisions, there)).where(*scope).distinct()


def _matches(query: Query, names: Names) -> bool:
    wanted_names = (getattr(query, kind) for kind in KINDS)
    return all(not wanted or name in wanted for wanted, name in zip(wanted_names, names, strict=True))


def _not_found(kind: str, wanted: str, there: Collection[str] | None) -> str:
    told = f'no grid of this experiment has the {kind} "{wanted}"'
    if there is None:
        return told
    several = "; repeat the parameter for several" if "," in wanted else ""
    return f"{told}; {known_names_text(there, wanted)}{several}"


def known_names_text(names: Collection[str], wanted: str = "") -> str:
    """End of a sentence: the name that is the wanted one in other letters, and the existing names, those first that
    look like it, and how many more there are."""
    there = sorted(filter(None, names))
    folded = {name.casefold(): name for name in there[:_MOST_SEARCHED]}
    near = [folded[one] for one in get_close_matches(wanted.casefold(), folded, n=_MOST_NEAR)]
    shown = [*near, *(name for name in there if name not in near)][:_MOST_SHOWN]
    if not shown:
        return "there is none"
    more = len([name for name in names if name]) - len(shown)
    listed = f"there {'is' if len(shown) == 1 else 'are'} {', '.join(shown)}" + (f" and {more} more" if more else "")
    meant = next((f'did you mean "{name}"; ' for name in there if name.casefold() == wanted.casefold()), "")
    return meant + listed


def known_metrics_text(names: Collection[str], wanted: str) -> str:
    """The same of metrics, of which there are few: the name that looks most like the wanted one may be meant."""
    told = known_names_text(names, wanted)
    near = get_close_matches(wanted.casefold(), {name.casefold(): name for name in names}, n=1)
    meant = next((name for name in names if near and name.casefold() == near[0]), "")
    return f'did you mean "{meant}"; {told}' if meant and not told.startswith("did you mean") else told
