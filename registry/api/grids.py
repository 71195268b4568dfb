"""Routes of grids: publish, find, read, amend, delete; list revisions, and what changed from one to another."""

import uuid
from dataclasses import asdict, replace
from functools import partial
from typing import Any

import orjson
from flask import Response, request
from marshmallow import INCLUDE
from sqlalchemy import Connection

from registry.api import examples, publication, serializers
from registry.api.context import actor, caller, enter, entered, grid_row, owned, parts
from registry.api.grid_schemas import AmendParameters, CellsIn, PublishParameters
from registry.api.idempotency import idempotent_write, written
from registry.api.long_poll import preference, waited
from registry.api.paging import page, read_key, write_key
from registry.api.responses import (
    check_legible,
    dumps,
    expected_notes,
    expected_revisions,
    json_answer,
    known_tags,
    rendered,
    wanted_form,
)
from registry.api.schemas import (
    DeleteParameters,
    DifferenceParameters,
    FindParameters,
    GridChange,
    RevisionParameters,
    RevisionsParameters,
)
from registry.api.selections import filters_of, slice_mark, slice_of_request
from registry.api.smorest import API_PREFIX, Blueprint, reply
from registry.errors import Unauthenticated
from registry.grids.slices import PARAMETER, read_slice
from registry.operations import amend as changing
from registry.operations.amend import amend, describe, told_changes
from registry.operations.audit_log import record
from registry.operations.auth import Caller, authorize
from registry.operations.find_grids import Page, find_grids, sort_key
from registry.operations.publish import Published, publish
from registry.operations.query_names import check_slice_of_grid, unknown_names
from registry.operations.read import compare_revisions, find_summary, list_revisions
from registry.operations.stored_grids import cut_to_slice, grid_summary, stored_grid
from registry.renderings.grid import page as page_of_grid
from registry.renderings.sheet import forms
from registry.results.terms import Warning

blp = Blueprint("grids", "The values of one metric over zero to four axes.")

_FORMS = ("json", "txt", "md")


@blp.post("/projects/<project>/grids", operation="publishGrid")
@blp.arguments(PublishParameters, location="query")
@blp.answers(
    reply(
        201, "A new revision", "GridSummary", headers=["Location", "ETag", "Idempotent-Replayed", "Preference-Applied"]
    ),
    reply(200, "The grid has this content already, or a dry run", "GridSummary", headers=["ETag"]),
    errors=[413],
    parameters=["If-None-Match-Any", "If-Match", "Prefer"],
    requestBody=publication.GRID_BODY,
)
def publish_grid(query: dict[str, Any], project: str) -> Response:
    """Publish a grid

    The identity is (project, experiment, benchmark, model, variant, metric name). Other content for the same identity
    makes the next revision, content that it has already makes none. Give `values` or `cells`. A grid may be sent as it
    was read: what the registry itself says of it (`id`, `revision`, `digest` …) is ignored. A CSV table, tidy or a
    pivot, and a Markdown pipe table say in the query what they do not say themselves; their faults and warnings point
    to `/line/3/column/2`. The registry's own CSV can be sent back too; what it does not hold, such as the metric's
    `direction` and bounds, stands in the query. `Prefer: wait=10` waits for the statistics; `derivation.state` says how
    they stand.
    """
    submission = publication.read_publication(query)

    def write(connection: Connection, row: Any) -> Response:
        [published] = publish(
            connection,
            row,
            [submission],
            token_id=caller(connection).token_id,
            only_new="*" in known_tags(),
            expected=expected_revisions(),
        )
        publication.record_description(connection, row.id, published)
        if query["dry_run"]:
            told = serializers.summary(published.stored)
            del told["html_url"]  # nothing is there, so no Location and no ETag either
            return json_answer(told)
        return published_answer(published, made=201)

    home = partial(enter, slug=project, needs="writer")
    return _computed(written(home, write, rehearse=query["dry_run"]), rehearsed=query["dry_run"])


def _computed(response: Response, *, rehearsed: bool = False) -> Response:
    """The answer to a write, given after the statistics of what it wrote if the caller prefers to wait for them."""
    if rehearsed or response.status_code not in (200, 201) or not preference():
        return response
    told = orjson.loads(response.get_data())

    def look() -> Any:
        with parts().database.reading() as connection:
            return find_summary(connection, uuid.UUID(told["id"]), told["revision"])

    row = waited(look, lambda row: row is None or row.state != "pending" or row.number != row.current_revision)
    if row is not None:
        stored = grid_summary(row)
        response.set_data(dumps(serializers.summary(stored) | {"warnings": told["warnings"]}))
        response.headers["ETag"] = f'"{stored.etag}"'
    return response


def published_answer(published: Published, *, made: int) -> Response:
    """The answer to a publication or an amendment."""
    stored = published.stored
    response = Response(
        dumps(serializers.summary(stored)), made if published.is_new else 200, content_type="application/json"
    )
    response.headers["ETag"] = f'"{stored.etag}"'
    response.headers["Location"] = f"{API_PREFIX}/grids/{stored.id}"
    return response


@blp.get("/projects/<project>/grids", operation="listGrids")
@blp.arguments(FindParameters, location="query", unknown=INCLUDE)
@blp.answers(
    reply(200, "A page of grids, without values", "Grids", headers=["Link"]),
    public=True,
    parameters=["labels", "slice"],
)
def find(query: dict[str, Any], project: str) -> Response:
    """Find grids

    Filters repeat for OR; `label.<key>=<text>` filters by label, `at.<axis>=<level>` by the levels that a grid has,
    `q` by words of names and labels.
    """
    filters = replace(filters_of(query, FindParameters, also=(PARAMETER,)), at=read_slice(request.args.lists()))
    after = read_key(query["cursor"], query["sort"]) if "cursor" in query else None
    with entered(project) as (connection, row):
        if filters.deleted != "exclude":
            _check_token(caller(connection), row)
        wanted = Page(query["sort"], after, query["limit"])
        found = find_grids(connection, row.id, filters, wanted)
        unknown = unknown_names(connection, row.id, filters)
    sort = query["sort"]
    doubts = [Warning("unknown_name", detail) for _, detail in unknown]
    return page(
        found, query["limit"], serializers.summary, lambda last: write_key(sort_key(last, sort), last.id), doubts
    )


def _check_token(asking: Caller, project: Any) -> None:
    """Refuse who has no token of the project: what was deleted is not public."""
    if asking.is_anyone:
        raise Unauthenticated(
            "What was deleted is listed for tokens of the project. Send one: Authorization: Bearer rgs_…"
        )
    authorize(asking, project._replace(visibility="private"), "reader")


@blp.in_forms(
    "/grids/<uuid:grid>",
    "getGrid",
    _FORMS,
    RevisionParameters,
    "The grid with its values",
    "Grid",
    errors=[413],
    parameters=["slice"],
)
def read_grid(query: dict[str, Any], grid: uuid.UUID, suffix: str | None = None) -> Response:
    """Read a grid

    Also as a text table or a Markdown table, of up to 20,000 cells, by `Accept`; its `cells` are tidy CSV. Cut to a
    slice it says `slice`, and is no grid to publish: what was posted has more cells.
    """
    wanted = slice_of_request(query, RevisionParameters)
    with parts().database.reading() as connection:
        stored = stored_grid(grid_row(connection, grid, "reader", query.get("revision")))
        if wanted:
            check_slice_of_grid(connection, grid, stored.revision, wanted)
            stored = cut_to_slice(stored, wanted)
    form, tag = wanted_form(suffix, _FORMS), stored.etag + slice_mark(wanted)
    check_legible(form, stored.cell_count)
    document = serializers.grid(stored, wanted)
    return rendered(form, document, forms(page_of_grid), tag)


@blp.delete("/grids/<uuid:grid>", operation="deleteGrid")
@blp.arguments(DeleteParameters, location="query")
@blp.answers(reply(204, "Deleted"), parameters=["If-Match"])
@idempotent_write()
def delete_grid(connection: Connection, row: Any, query: dict[str, Any], grid: uuid.UUID) -> Response:
    """Delete a grid

    With `revision`, only if that is the current one: the whole grid is deleted, never an older revision. Publishing
    the same identity brings it back with a new revision.
    """
    revision, expected = query.get("revision"), expected_revisions()
    changing.delete_grid(connection, actor(connection), grid, revision=revision, expected=expected)
    return Response(status=204)


@blp.post("/grids/<uuid:grid>/restore", operation="restoreGrid")
@blp.answers(reply(200, "The grid", "GridSummary", headers=["ETag"]))
def restore_grid(grid: uuid.UUID) -> Response:
    """Restore a deleted grid

    With the revisions that it had; one that is not deleted stays as it is. A grid that was purged is gone for good.
    """

    def write(connection: Connection, row: Any) -> Response:
        restored = changing.restore_grid(connection, actor(connection), grid)
        return published_answer(Published(restored, False), made=200)

    return written(lambda connection: owned(connection, grid, "writer", deleted=True), write)


@blp.patch("/grids/<uuid:grid>/cells", operation="updateCells")
@blp.arguments(CellsIn, example=examples.CELLS_IN)
@blp.arguments(AmendParameters, location="query")
@blp.answers(
    reply(200, "The grid at its new revision", "GridSummary", headers=["ETag"]),
    errors=[413],
    parameters=["If-Match", "Prefer"],
)
def amend_cells(sent: dict[str, Any], query: dict[str, Any], grid: uuid.UUID) -> Response:
    """Add or replace cells

    For a running job: each call makes a revision. Levels that the axes do not have are added, each with a warning
    `level_added`; with `levels=fixed` they are faults. A null value makes a cell unmeasured again. A coordinate
    given several times is repeats: their mean is stored, with a warning `repeats_read`.
    """

    def write(connection: Connection, _row: Any) -> Response:
        token_id = caller(connection).token_id
        amended = amend(
            connection,
            grid,
            sent["cells"],
            parts().limits,
            may_grow=query["levels"] == "growing",
            token_id=token_id,
            expected=expected_revisions(),
        )
        return published_answer(amended, made=200)

    return _computed(written(lambda connection: owned(connection, grid, "writer"), write))


@blp.patch("/grids/<uuid:grid>", operation="updateGrid")
@blp.arguments(GridChange, example=examples.GRID_CHANGE)
@blp.answers(reply(200, "The grid", "GridSummary", headers=["ETag"]), parameters=["If-Match"])
@idempotent_write()
def change_grid(connection: Connection, row: Any, changes: dict[str, Any], grid: uuid.UUID) -> Response:
    """Change a grid's description or labels

    A description belongs to the grid, and another one makes no revision. Labels are set and taken away by name; they
    are content and part of the digest, so other ones make a revision with the same values. `If-Match` holds for the
    revision and the description.
    """
    changed = describe(
        connection,
        grid,
        changes,
        most_labels=parts().settings.max_labels,
        token_id=caller(connection).token_id,
        expected=expected_notes(),
    )
    if changed.is_new or changed.is_described:
        told = {"names": asdict(changed.stored.names), "revision": changed.stored.revision} | told_changes(changes)
        record(connection, actor(connection), "grid.updated", grid, project_id=row.project_id, **told)
    return published_answer(changed, made=200)


@blp.get("/grids/<uuid:grid>/revisions", operation="listRevisions")
@blp.arguments(RevisionsParameters, location="query")
@blp.answers(reply(200, "A page of revisions", "Revisions", headers=["Link"]), public=True)
def revisions(query: dict[str, Any], grid: uuid.UUID) -> Response:
    """List a grid's revisions

    The oldest first, each with its digest and how its statistics stand.
    """
    with parts().database.reading() as connection:
        owned(connection, grid, "reader")
        rows = list_revisions(connection, grid, int(query.get("cursor", 0)), query["limit"] + 1)
    return page(rows, query["limit"], serializers.revision, lambda row: str(row.number))


@blp.get("/grids/<uuid:grid>/difference", operation="diffRevisions")
@blp.arguments(DifferenceParameters, location="query")
@blp.answers(reply(200, "What changed", "Difference", headers=["ETag"]), public=True, parameters=["If-None-Match"])
def difference(query: dict[str, Any], grid: uuid.UUID) -> Response:
    """Compare two revisions of a grid

    Which cells were added, removed and changed from one to the other, and what else is not the same.
    """
    a, b = query["a"], query["b"]
    with parts().database.reading() as connection:
        owned(connection, grid, "reader")
        found = compare_revisions(connection, grid, a, b)
    return json_answer(serializers.difference(found), tag=f"{grid}-{a}-{b}")
