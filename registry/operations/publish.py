"""Publish grids: lock the identity, compare digests, write the revision and its job."""

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from sqlalchemy import Connection, bindparam, func, select, update
from sqlalchemy.dialects.postgresql import insert as upsert

from registry.errors import Busy, PreconditionFailed
from registry.grids.intake import Submission
from registry.operations.names import note_names
from registry.operations.revisions import invalidate_scopes, write_first_revision, write_revisions, write_shapes
from registry.operations.search import KINDS
from registry.operations.stored_grids import GridSummary, grid_summaries, grid_summary, revision_tag
from registry.results.codec import to_document
from registry.results.event_data import ImportEvent
from registry.storage.arrivals import Arrival, announce, cut, of_grid
from registry.storage.keys import in_shards, of_current
from registry.storage.rows import columns_of
from registry.storage.tables import grids, new_id, revisions

_TRIES = 3
_CLAIMED = (grids.c.id, grids.c.identity, grids.c.created_at, grids.c.description)


@dataclass(frozen=True, slots=True)
class Published:
    """A published grid; `is_new` when this publication made its revision, `is_described` when it gave the grid, which
    was there, another description."""

    stored: GridSummary
    is_new: bool
    is_described: bool = False


@dataclass(frozen=True, slots=True)
class Claimed:
    """A grid whose row this transaction has locked."""

    id: uuid.UUID
    revision: int
    """Current revision; 0 for a grid that this transaction has inserted."""
    deleted: bool
    created_at: Any
    description: str


def publish(
    connection: Connection,
    project: Any,
    submissions: Sequence[Submission],
    *,
    token_id: uuid.UUID | None = None,
    only_new: bool = False,
    expected: Sequence[str] | None = None,
) -> list[Published]:
    """Publish each submission; return the results in the order of the submissions.

    Content that a grid already has makes no revision. Writers of the same identity wait for each other, always in the
    same order. With `only_new` a grid that exists already raises `PreconditionFailed`, and so does one that is not at
    one of the `expected` revision tags (`*`: any).
    """
    if not submissions:
        return []
    warnings = note_names(connection, project.id, (submission.names for submission in submissions))
    # In shards one statement for all is several tasks, sent to every node: single ones are faster, and go to one node.
    if len(submissions) == 1 and expected is None and not in_shards(connection):
        new = _publish_new(connection, project, *_with_warnings(submissions[0], warnings), token_id)
        if new is not None:
            return [new]
    write_shapes(connection, project.id, (submission.grid for submission in submissions))
    answers: dict[int, Published] = {}
    for wave in _waves(submissions):
        chosen = {place: _with_warnings(submissions[place], warnings) for place in wave}
        answers |= _publish_wave(connection, project, chosen, token_id, only_new, expected)
    return [answers[place] for place in range(len(submissions))]


def _publish_new(
    connection: Connection,
    project: Any,
    submission: Submission,
    warnings: list[dict[str, str]],
    token_id: uuid.UUID | None,
) -> Published | None:
    """Publish what is most often published, a grid that nobody has published before; None for any other."""
    row = write_first_revision(connection, project.id, submission, warnings=warnings, token_id=token_id)
    if row is None:
        return None
    claimed = Claimed(row.id, 0, False, row.created_at, submission.description or "")
    return Published(_stored(project, claimed, submission, warnings, None), True)


def _waves(submissions: Sequence[Submission]) -> list[list[int]]:
    """Indices of the submissions, in rounds in which no identity occurs twice."""
    waves: list[list[int]] = []
    met: dict[uuid.UUID, int] = {}
    for place, submission in enumerate(submissions):
        round_ = met.get(submission.names.key, 0)
        met[submission.names.key] = round_ + 1
        if round_ == len(waves):
            waves.append([])
        waves[round_].append(place)
    return waves


def _with_warnings(
    submission: Submission, warnings: dict[tuple[str, str], Any]
) -> tuple[Submission, list[dict[str, str]]]:
    named = [warnings.get((kind, getattr(submission.names, kind))) for kind in KINDS]
    return submission, [warning.document() for warning in (*named, *submission.warnings) if warning is not None]


def _publish_wave(
    connection: Connection,
    project: Any,
    chosen: dict[int, tuple[Submission, list[dict[str, str]]]],
    token_id: uuid.UUID | None,
    only_new: bool,
    expected: Sequence[str] | None,
) -> dict[int, Published]:
    claimed = _claim(connection, project.id, [submission for submission, _ in chosen.values()])
    if only_new and any(grid.revision and not grid.deleted for grid in claimed.values()):
        raise PreconditionFailed("A grid of this identity exists already.")
    known = _digests(connection, project.id, [one for one in claimed.values() if one.revision and not one.deleted])
    if expected is not None:
        _check(claimed.values(), known, expected)
    described = _describe(connection, claimed, (submission for submission, _ in chosen.values()))
    fresh, same = {}, {}
    for place, (submission, warnings) in chosen.items():
        grid = claimed[submission.names.key]
        if known.get(grid.id) == submission.grid.digest:
            same[place] = grid.id
        else:
            fresh[place] = (grid, submission, warnings)
    answers = _write(connection, project, fresh, token_id) if fresh else {}
    if same:
        here = (grids.c.project_id == project.id, grids.c.id.in_(same.values()))
        rows = connection.execute(grid_summaries().where(*here))
        stored = {row.id: grid_summary(row) for row in rows}
        answers |= {
            place: Published(_with_new_warnings(stored[grid_id], chosen[place][1]), False)
            for place, grid_id in same.items()
        }
    return {
        place: replace(answer, is_described=answer.stored.id in described) if described else answer
        for place, answer in answers.items()
    }


def _describe(
    connection: Connection, claimed: Mapping[uuid.UUID, Claimed], submissions: Iterable[Submission]
) -> set[uuid.UUID]:
    """Give grids that were there the other descriptions that come with their publications; the ids of those grids."""
    others = {
        grid.id: one.description
        for one in submissions
        for grid in [claimed[one.names.key]]
        if one.description is not None and one.description != grid.description
    }
    if others:
        statement = update(grids).where(grids.c.id == bindparam("grid")).values(description=bindparam("text"))
        connection.execute(statement, [{"grid": grid, "text": text} for grid, text in others.items()])
    return set(others)


def _with_new_warnings(stored: GridSummary, warnings: Sequence[dict[str, str]]) -> GridSummary:
    """The stored grid with its warnings, and those of the same content as it was sent now."""
    # Not by their pointers: numeric levels may come in another order than before.
    known = {(warning["code"], warning["detail"]) for warning in stored.warnings}
    new = [warning for warning in warnings if (warning["code"], warning["detail"]) not in known]
    return replace(stored, warnings=[*stored.warnings, *new]) if new else stored


def _check(held: Iterable[Claimed], known: Mapping[uuid.UUID, str], expected: Sequence[str]) -> None:
    for grid in held:
        tag = revision_tag(grid.revision, known[grid.id]) if grid.id in known else None
        if tag is None or ("*" not in expected and tag not in expected):
            raise PreconditionFailed("The grid is not at the revision that If-Match names; read it again.")


def _claim(
    connection: Connection, project_id: uuid.UUID, submissions: Sequence[Submission]
) -> dict[uuid.UUID, Claimed]:
    """Lock the row of each identity, inserting those that are missing. Sorted, so that two writers cannot deadlock."""
    wanted = sorted(submissions, key=lambda submission: submission.names.key)
    claimed: dict[uuid.UUID, Claimed] = {}
    for _ in range(_TRIES):
        claimed |= _make_or_hold(connection, project_id, [one for one in wanted if one.names.key not in claimed])
        if len(claimed) == len(wanted):
            return claimed
    raise Busy("Grids of these names are being purged.", reason="being_purged")


def _make_or_hold(
    connection: Connection, project_id: uuid.UUID, wanted: Sequence[Submission]
) -> dict[uuid.UUID, Claimed]:
    """Insert or lock the rows. One that a purge deletes between the two statements is missing from the result."""
    made = connection.execute(
        upsert(grids).on_conflict_do_nothing().returning(*_CLAIMED),
        [
            {"id": new_id(), "project_id": project_id, "identity": one.names.key, "revision": 1}
            | {kind: getattr(one.names, kind) for kind in KINDS}
            | {"description": one.description or ""}
            for one in wanted
        ],
    )
    claimed = {row.identity: Claimed(row.id, 0, False, row.created_at, row.description) for row in made}
    rest = [one.names.key for one in wanted if one.names.key not in claimed]
    if rest:
        held = connection.execute(
            select(*_CLAIMED, grids.c.revision, grids.c.deleted_at)
            .where(grids.c.project_id == project_id, grids.c.identity.in_(rest))
            .order_by(grids.c.identity)
            .with_for_update()
        )
        for row in held:
            deleted = row.deleted_at is not None
            claimed[row.identity] = Claimed(row.id, row.revision, deleted, row.created_at, row.description)
    return claimed


def _digests(connection: Connection, project_id: uuid.UUID, held: Sequence[Claimed]) -> dict[uuid.UUID, str]:
    if not held:
        return {}
    here = (grids.c.project_id == project_id, grids.c.id.in_([grid.id for grid in held]))
    query = select(grids.c.id, revisions.c.digest).join(revisions, of_current(revisions)).where(*here)
    return {row.id: "sha256:" + bytes(row.digest).hex() for row in connection.execute(query)}


def _write(
    connection: Connection,
    project: Any,
    fresh: dict[int, tuple[Claimed, Submission, list[dict[str, str]]]],
    token_id: uuid.UUID | None,
) -> dict[int, Published]:
    again = [grid.id for grid, _, _ in fresh.values() if grid.revision]
    if again:
        advanced = {"revision": grids.c.revision + 1, "updated_at": func.now(), "deleted_at": None}
        connection.execute(update(grids).where(grids.c.id.in_(again)).values(advanced))
    write_revisions(
        connection,
        [
            {"project_id": project.id, "grid_id": grid.id, "number": grid.revision + 1}
            | {"warnings": warnings, "token_id": token_id, "source": submission.source}
            | columns_of(submission.grid)
            for grid, submission, warnings in fresh.values()
        ],
    )
    touched: dict[tuple[str, str], list[uuid.UUID]] = {}
    for grid, submission, _ in fresh.values():
        touched.setdefault((submission.names.experiment, submission.names.metric), []).append(grid.id)
    told = [
        of_grid(
            "grid.revised" if grid.revision and not grid.deleted else "grid.published",
            grid.id,
            grid.revision + 1,
            asdict(submission.names),
        )
        for grid, submission, _ in fresh.values()
    ]
    invalidate_scopes(connection, project.id, touched, told)
    now = connection.scalar(select(func.now())) if again else None
    return {
        place: Published(_stored(project, grid, submission, warnings, now), True)
        for place, (grid, submission, warnings) in fresh.items()
    }


def _stored(
    project: Any, grid: Claimed, submission: Submission, warnings: list[dict[str, str]], now: Any
) -> GridSummary:
    content = submission.grid
    return GridSummary(
        id=grid.id,
        project=project.slug,
        names=submission.names,
        metric=content.metric,
        axes=content.axes,
        cell_count=content.cell_count,
        labels=content.labels,
        members=content.members,
        revision=grid.revision + 1,
        current_revision=grid.revision + 1,
        digest=content.digest,
        state="pending",
        reason=None,
        created_at=grid.created_at,
        updated_at=now if grid.revision else grid.created_at,
        warnings=warnings,
        source=submission.source,
        description=grid.description if submission.description is None else submission.description,
    )


def announce_import(
    connection: Connection, project: Any, sent: Iterable[Submission], published: Sequence[Published], failed: int
) -> None:
    """Announce a batch that was stored, if it made a revision and a grid of it names its source.

    `failed` grids of the batch were refused. A large import is several batches, and so several events.
    """
    sources = {tuple(sorted(one.source.items())): one.source for one in sent if one.source}
    new = sum(one.is_new for one in published)
    if not sources or not new:
        return
    first = next(iter(sources.values()))
    said = ImportEvent(
        source=cut(first.get("name", "")),
        format=first.get("format", ""),
        sources=len(sources),
        new=new,
        unchanged=len(published) - new,
        failed=failed,
    )
    announce(connection, project.id, [Arrival("import.finished", f"projects/{project.slug}/grids", to_document(said))])
