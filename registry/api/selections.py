"""The selection and the filters in the parameters of a request: names, labels, slices and an instant."""

import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import sha256
from typing import Any

from flask import request
from marshmallow import Schema
from sqlalchemy import Connection

from registry.api.context import enter, parts
from registry.api.fields import unknown
from registry.errors import Fault, Invalid
from registry.grids.intake.faults import escaped
from registry.grids.intake.levels import has_control
from registry.grids.slices import Slice, read_slice
from registry.operations.find_grids import Filters
from registry.operations.suites import members_of
from registry.selection import KINDS


def slice_of_request(query: Mapping[str, Any], schema: type[Schema]) -> Slice:
    """The slice in the parameters `at.<axis>`; `Invalid` for a name that this schema does not have."""
    _check_names(query, schema, ("at.",))
    return read_slice(request.args.lists())


def slice_mark(wanted: Slice) -> str:
    """What tells the entity tag of a slice from that of the whole."""
    return f"-{sha256(repr(wanted).encode()).hexdigest()[:8]}" if wanted else ""


QUANTITIES = ("x", "y")


def slices_of_request(query: Mapping[str, Any], schema: type[Schema]) -> tuple[Slice, Slice]:
    """The slices of two quantities, in `at.<axis>` for both and in `x.at.<axis>` and `y.at.<axis>` for one, which goes
    first; `Invalid` for a name that this schema does not have."""
    _check_names(query, schema, ("at.", *(f"{axis}.at." for axis in QUANTITIES)))
    return slices_of_quantities(list(request.args.lists()))


def slices_of_quantities(given: Sequence[tuple[str, Sequence[str]]]) -> tuple[Slice, Slice]:
    """The same, of parameters with their texts."""
    both = dict(read_slice(given))
    x, y = (tuple(sorted((both | dict(_own_slice(given, axis))).items())) for axis in QUANTITIES)
    return x, y


def _own_slice(given: Sequence[tuple[str, Sequence[str]]], quantity: str) -> Slice:
    with faults_of(quantity, given):
        return read_slice((name[2:], texts) for name, texts in given if name.startswith(f"{quantity}.at."))


@contextmanager
def faults_of(quantity: str, given: Sequence[tuple[str, Sequence[str]]] | None = None) -> Iterator[None]:
    """Points faults of `at.<axis>` at `x.at.<axis>` or `y.at.<axis>`, where that is what the request has."""
    names = {name for name, _ in (request.args.lists() if given is None else given)}
    own = {f"/{escaped(name[2:])}": f"/{escaped(name)}" for name in names if name.startswith(f"{quantity}.at.")}
    try:
        yield
    except Invalid as wrong:
        raise Invalid(
            [fault._replace(pointer=own.get(fault.pointer, fault.pointer)) for fault in wrong.faults]
        ) from None


def filters_of(query: dict[str, Any], schema: type[Schema], also: tuple[str, ...] = ()) -> Filters:
    """Filters from a query that was read by this schema; `Invalid` for a name that it does not have and that begins
    with none of `also`."""
    _check_names(query, schema, ("label.", *also))
    names = {kind: query[kind] for kind in ("experiment", "benchmark", "model", "variant", "metric")}
    labels = _labels()
    return Filters(
        **names,
        labels=labels,
        updated_since=query.get("updated_since"),
        id=query.get("id", ""),
        words=query.get("q", ()),
        deleted=query.get("deleted", "exclude"),
    )


def _check_names(query: Mapping[str, Any], schema: type[Schema], beginnings: tuple[str, ...]) -> None:
    surplus = unknown([name for name in query if not name.startswith(beginnings)], schema().fields)
    if surplus:
        raise Invalid([Fault(f"/{escaped(name)}", detail) for name, detail in surplus.items()])


def _labels() -> dict[str, list[str]]:
    labels = {name.removeprefix("label."): texts for name, texts in request.args.lists() if name.startswith("label.")}
    faulty = [name for name, texts in labels.items() if any(has_control(text) for text in (name, *texts))]
    if faulty:
        raise Invalid([Fault(f"/label.{name}", "must not hold control characters") for name in faulty])
    return labels


AUTO = ("auto",)
"""How the usual names that are set aside are asked for."""


def selected(query: Mapping[str, Any], project: str, at: Slice = ()) -> dict[str, Any]:
    """The fields of `Selection` in parameters that a schema has read; those that it lacks are left out. A suite brings
    its benchmarks; `Invalid` when there is none of its name, and where benchmarks are named beside it."""
    found: dict[str, Any] = {kind: tuple(sorted(set(query[kind]))) for kind in KINDS if kind in query}
    if "set_aside" in query:
        given = tuple(sorted(set(query["set_aside"])))
        found["set_aside"] = () if given == AUTO else given
    found |= {name: query[name] for name in ("experiment", "metric", "suite", "as_of") if name in query} | {"at": at}
    if found.get("suite"):
        with parts().database.reading() as connection:
            found |= of_suite(connection, enter(connection, project, "reader").id, found)
    return found


def of_suite(connection: Connection, project_id: uuid.UUID, query: Mapping[str, Any]) -> dict[str, Any]:
    """What the suite that parameters name brings to them; `Invalid` where benchmarks are named beside it."""
    if query["benchmark"]:
        raise Invalid([Fault("/suite", "stands in place of benchmarks; give one or the other")])
    return members_of(connection, project_id, query["suite"])
