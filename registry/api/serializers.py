"""Write stored rows as the JSON of answers, for views and pages; `registry.results.codec` writes what is computed."""

import math
from typing import Any, cast

from registry.api.context import parts
from registry.grids.grid import Cell, Grid
from registry.grids.slices import Slice, slice_document
from registry.operations.experiments import Experiment
from registry.operations.read import Difference
from registry.operations.stored_grids import GridSummary, StoredGrid, digest_text
from registry.results.grid import GridDocument
from registry.storage.rows import MEMBERS, axis_document, metric_document

CARRIED = ("trials", "stderr", "repeats", "sd")


def project(row: Any) -> dict[str, Any]:
    names = ("id", "slug", "name", "visibility", "description", "labels", "created_at", "updated_at")
    gone = {} if row.deleted_at is None else {"deleted_at": row.deleted_at}
    return {name: getattr(row, name) for name in names} | gone


def experiment(found: Experiment, slug: str) -> dict[str, Any]:
    """An experiment of the project with this slug."""
    return {
        "project": slug,
        "name": found.name,
        "aliases": list(found.aliases),
        "description": found.description,
        "labels": dict(found.labels),
        "protocol": found.rules.document(),
        **found.counts,
        "updated_at": found.updated_at,
    }


def token(row: Any) -> dict[str, Any]:
    names = ("id", "name", "role", "created_at", "expires_at", "last_used_at")
    return {name: getattr(row, name) for name in names}


def identity(row: Any) -> dict[str, Any]:
    return token(row) | {"project": row.project}


def audit_entry(row: Any) -> dict[str, Any]:
    names = ("id", "at", "subject", "detail", "token_id", "user_id", "request_id")
    return {name: getattr(row, name) for name in names} | {"act": row.action}


def share(row: Any) -> dict[str, Any]:
    return {name: getattr(row, name) for name in ("id", "path", "created_at", "expires_at")}


def suite(row: Any) -> dict[str, Any]:
    return {name: getattr(row, name) for name in ("name", "benchmarks", "updated_at")}


def alias(row: Any) -> dict[str, Any]:
    return {name: getattr(row, name) for name in ("id", "kind", "alias", "name", "created_at")}


def summary(stored: GridSummary) -> dict[str, Any]:
    """A grid without its values."""
    return {
        "id": stored.id,
        **({} if stored.deleted_at is not None else {"html_url": f"{parts().settings.url}/grids/{stored.id}"}),
        "project": stored.project,
        **{kind: getattr(stored.names, kind) for kind in ("experiment", "benchmark", "model", "variant")},
        "metric": metric_document(stored.metric),
        "axes": [axis_document(axis) for axis in stored.axes],
        **{name: getattr(stored, name) for name in ("shape", "cell_count", "revision", "digest")},
        "derivation": derivation(stored.state, stored.reason, f"/api/v1/grids/{stored.id}/statistics"),
        "labels": dict(stored.labels),
        "description": stored.description,
        **({} if stored.source is None else {"source": dict(stored.source)}),
        **stored.members,
        "created_at": stored.created_at,
        "updated_at": stored.updated_at,
        **({} if stored.deleted_at is None else {"deleted_at": stored.deleted_at}),
        "warnings": list(stored.warnings),
    }


def derivation(state: str, reason: str | None, href: str) -> dict[str, Any]:
    found = {"state": state, "href": href}
    return found if state != "failed" else found | {"reason": reason}


def grid(stored: StoredGrid, wanted: Slice = ()) -> GridDocument:
    """A grid with its values, and with what was given beside them; `wanted` is the slice that it was cut to."""
    content = stored.grid
    document = summary(stored) | {"values": nested(content.values, content.shape)}
    for name in CARRIED:
        given = getattr(content, name)
        if given is not None:
            document[name] = nested(given, content.shape) if isinstance(given, tuple) else given
    if content.reasons:
        document["reasons"] = [
            {"at": coordinate(content, content.position(index)), "reason": reason}
            for index, reason in content.reasons.items()
        ]
    return cast(GridDocument, document | ({"slice": slice_document(wanted)} if wanted else {}))


def nested(flat: tuple[Any, ...], shape: tuple[int, ...]) -> Any:
    """A flat row-major tuple as lists nested to the shape; the one value where there are no axes."""
    if not shape:
        return flat[0]
    if len(shape) == 1:
        return list(flat)
    step = math.prod(shape[1:])
    return [nested(flat[place * step : (place + 1) * step], shape[1:]) for place in range(shape[0])]


def coordinate(content: Grid, at: tuple[int, ...]) -> dict[str, Any]:
    """A position by the names of its axes: numbers on numeric axes, labels elsewhere."""
    return {
        axis.name: axis_document(axis)["levels"][place] if axis.kind == "numeric" else axis.levels[place].label
        for axis, place in zip(content.axes, at, strict=True)
    }


def measurement(cell: Cell) -> dict[str, Any]:
    """A cell's value and whatever it carries."""
    carried = {name: getattr(cell, name) for name in CARRIED}
    return {"value": cell.value} | {name: value for name, value in carried.items() if value is not None}


def revision(row: Any) -> dict[str, Any]:
    return {
        "revision": row.number,
        "digest": digest_text(row.digest),
        "cell_count": row.cell_count,
        "labels": row.labels,
        **({} if row.source is None else {"source": row.source}),
        "derivation": {"state": row.state},
        "created_at": row.created_at,
    }


def difference(found: Difference) -> dict[str, Any]:
    return {
        "from": found.a,
        "to": found.b,
        "added": [{"at": at} | measurement(cell) for at, cell in found.added],
        "removed": [{"at": at} | measurement(cell) for at, cell in found.removed],
        "changed": [{"at": at, "from": measurement(old), "to": measurement(new)} for at, old, new in found.changed],
        "metric_changed": found.metric_changed,
        "axes_changed": found.axes_changed,
        "labels_changed": found.labels_changed,
        **{f"{name}_changed": name in found.members_changed for name in MEMBERS},
    }
