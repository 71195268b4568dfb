"""Acts of administration, each with its line in the audit log.

The API and the pages carry them out by these functions alone. Each works in the caller's transaction, so that there is
no act without its line and no line without its act. Whether the actor may do it is the caller's to check.
"""

from __future__ import annotations

import uuid
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import orjson
from sqlalchemy import Connection

from registry.claims.claim import Claim
from registry.grids.protocol import Rules
from registry.operations import (
    alerts,
    auth,
    baselines,
    experiments,
    names,
    projects,
    retry,
    shares,
    stored_claims,
    suites,
    users,
)
from registry.operations.amend import Restored, restore, tombstone
from registry.operations.audit_log import Action, Actor, record
from registry.operations.auth import Role
from registry.operations.baselines import Expect
from registry.operations.retry import Retried
from registry.operations.stored_claims import Added
from registry.operations.users import MemberKind


def create_project(connection: Connection, actor: Actor, *, slug: str, name: str | None, visibility: str) -> Any:
    """Create a project, named by its slug unless it has a name; `Conflict` when the slug is taken."""
    row = projects.make_project(connection, slug=slug, name=name or slug, visibility=visibility)
    record(connection, actor, "project.created", row.id, project_id=row.id, slug=row.slug)
    return row


def update_project(
    connection: Connection,
    actor: Actor,
    project_id: uuid.UUID,
    changes: dict[str, Any],
    told: dict[str, Any] | None = None,
) -> Any:
    """Change a project and return its row; the log has the changes, or what is `told` of them."""
    row = projects.change_project(connection, project_id, changes)
    record(connection, actor, "project.updated", row.id, project_id=row.id, **(changes if told is None else told))
    return row


def delete_project(connection: Connection, actor: Actor, row: Any, *, cascade: bool) -> None:
    """Put a tombstone on a project; `Conflict` where it holds grids, unless they are to go with it."""
    projects.delete_project(connection, row.id, cascade=cascade)
    record(connection, actor, "project.deleted", row.id, project_id=row.id, slug=row.slug)


def restore_project(connection: Connection, actor: Actor, row: Any) -> Any:
    """Take the tombstone off a project and return its row; one without a tombstone stays as it is, and the log too."""
    restored = projects.restore_project(connection, row.id)
    if restored is None:
        return row
    record(connection, actor, "project.restored", row.id, project_id=row.id, slug=row.slug)
    return restored


def create_token(
    connection: Connection, actor: Actor, project_id: uuid.UUID | None, *, name: str, role: Role, days: int
) -> tuple[Any, str]:
    """Create a token for a project, or (None) for every project: its row and its secret, which is kept nowhere."""
    row, secret = auth.issue_token(connection, project_id=project_id, role=role, name=name, days=days)
    told = {"name": row.name, "role": row.role, "expires_at": row.expires_at.isoformat()}
    record(connection, actor, "token.created", row.id, project_id=project_id, **told)
    return row, secret


def revoke_token(connection: Connection, actor: Actor, project_id: uuid.UUID | None, token_id: uuid.UUID) -> None:
    """Revoke a token of a project, or (None) of every project; `NotFound` if there is no such token."""
    auth.revoke(connection, project_id, token_id)
    record(connection, actor, "token.revoked", token_id, project_id=project_id)


def create_share(connection: Connection, actor: Actor, project: Any, path: str, seconds: int) -> tuple[Any, str]:
    """Create a link to a path of a project: its row, and the address that opens the path."""
    row = shares.make_share(connection, project, path, seconds)
    told = {"path": row.path, "expires_at": row.expires_at.isoformat()}
    record(connection, actor, "share.created", row.id, project_id=project.id, **told)
    return row, shares.share_address(connection, row)


def revoke_share(connection: Connection, actor: Actor, project_id: uuid.UUID, share_id: uuid.UUID) -> None:
    """Revoke a link at once; `NotFound` when the project has no such link."""
    shares.revoke_share(connection, project_id, share_id)
    record(connection, actor, "share.revoked", share_id, project_id=project_id)


def create_alias(
    connection: Connection, actor: Actor, project_id: uuid.UUID, *, kind: str, alias: str, name: str
) -> Any:
    """Make one name stand for another and return the row; `Invalid` for chains, `Conflict` for a taken alias."""
    row = names.make_alias(connection, project_id, kind=kind, alias=alias, name=name)
    record(connection, actor, "alias.created", row.id, project_id=project_id, kind=kind, alias=alias, name=name)
    return row


def delete_alias(connection: Connection, actor: Actor, project_id: uuid.UUID, alias_id: uuid.UUID) -> None:
    """Take an alias back; `NotFound` if the project has no such alias."""
    row = names.remove_alias(connection, project_id, alias_id)
    told = {name: getattr(row, name) for name in ("kind", "alias", "name")}
    record(connection, actor, "alias.deleted", alias_id, project_id=project_id, **told)


def set_protocol_rules(
    connection: Connection, actor: Actor, project_id: uuid.UUID, experiment: str, rules: Rules
) -> None:
    """Set which keys of protocols bind in an experiment; what is so already leaves the log as it is."""
    note, is_changed = experiments.declare(connection, project_id, experiment, rules)
    if is_changed:
        told = {"project_id": project_id, **rules.document()}
        record(connection, actor, "experiment.protocol_set", note.name, **told)


def set_suite(
    connection: Connection, actor: Actor, project_id: uuid.UUID, name: str, benchmarks: Sequence[str]
) -> tuple[Any, bool]:
    """Create a suite or give it other benchmarks: its row, and whether it is new."""
    row, is_new = suites.set_suite(connection, project_id, name, benchmarks)
    record(connection, actor, "suite.set", row.id, project_id=project_id, name=name, benchmarks=list(benchmarks))
    return row, is_new


def delete_suite(connection: Connection, actor: Actor, project_id: uuid.UUID, name: str) -> None:
    """Delete a suite; `NotFound` if the project has none of the name."""
    row = suites.delete_suite(connection, project_id, name)
    told = {"name": row.name, "benchmarks": row.benchmarks}
    record(connection, actor, "suite.deleted", row.id, project_id=project_id, **told)


def set_baseline(
    connection: Connection, actor: Actor, project_id: uuid.UUID, name: str, definition: dict[str, Any], expect: Expect
) -> tuple[Any, bool]:
    """Create a baseline or give it another definition: its row, and whether it is new. One that has this definition
    already stays as it is, and the log too."""
    found = baselines.set_baseline(connection, project_id, name, definition, expect)
    if found.is_changed:
        told = {"name": name, "version": found.row.version, "definition": definition}
        record(connection, actor, "baseline.set", found.row.id, project_id=project_id, **told)
    return found.row, found.is_changed and found.row.version == 1


def delete_baseline(connection: Connection, actor: Actor, project_id: uuid.UUID, name: str, expect: Expect) -> None:
    """Delete a baseline with its versions and resolve its alerts; `NotFound` if the project has none of the name."""
    row = baselines.delete_baseline(connection, project_id, name, expect)
    alerts.resolve_alerts_of(connection, project_id, row.id)
    told = {"name": row.name, "version": row.version, "definition": row.definition}
    record(connection, actor, "baseline.deleted", row.id, project_id=project_id, **told)


def add_claims(
    connection: Connection,
    actor: Actor,
    project_id: uuid.UUID,
    sent: Sequence[tuple[str, Claim]],
    token_id: uuid.UUID | None,
) -> list[Added]:
    """Keep claims, given with their JSON pointers; those that are there already leave the log as it is."""
    found = stored_claims.add_claims(connection, project_id, sent, token_id)
    for one in found:
        if one.is_new or one.is_back:
            action: Action = "claim.created" if one.is_new else "claim.restored"
            record(connection, actor, action, one.row.id, project_id=project_id, **_told_claim(one.row))
    return found


def change_claim(
    connection: Connection, actor: Actor, claim: Any, changes: Mapping[str, Any], expected: Collection[str] | None
) -> None:
    """Give a claim another text or source; what is so already leaves the log as it is."""
    row, is_changed = stored_claims.change_notes(connection, claim, changes, expected)
    if is_changed:
        record(connection, actor, "claim.updated", row.id, project_id=row.project_id, **_told_claim(row))


def remove_claim(connection: Connection, actor: Actor, claim: Any, expected: Collection[str] | None) -> None:
    """Remove a claim; its judgements stay until it is purged."""
    row = stored_claims.remove_claim(connection, claim, expected)
    told = _told_claim(row) | {"verdict": row.verdict, "judgement": row.judgement}
    record(connection, actor, "claim.deleted", row.id, project_id=row.project_id, **told)


def _told_claim(row: Any) -> dict[str, Any]:
    return {"claim": orjson.loads(row.normal), "text": row.text, "source": row.source}


def answer_alert(
    connection: Connection,
    actor: Actor,
    project_id: uuid.UUID,
    alert_id: uuid.UUID,
    said: Mapping[str, Any],
    expect: Expect,
) -> Any:
    """Acknowledge or dismiss an alert and return its row; one that is so already leaves the log as it is."""
    row, is_changed = alerts.answer_alert(connection, project_id, alert_id, said, expect)
    if is_changed:
        told = {"baseline": row.baseline, "model": row.model, **said}
        record(connection, actor, "alert.answered", alert_id, project_id=project_id, **told)
    return row


def retry_failed(connection: Connection, actor: Actor, project_id: uuid.UUID | None) -> Retried:
    """Make the failed jobs of a project, or (None) of all, due again; without any the log stays as it is."""
    found = retry.retry_failed(connection, project_id)
    if found.derivations or found.answers:
        record(connection, actor, "jobs.retried", project_id or "all", project_id=project_id, **asdict(found))
    return found


def delete_grid(
    connection: Connection,
    actor: Actor,
    project_id: uuid.UUID,
    grid_id: uuid.UUID,
    *,
    revision: int | None = None,
    expected: Sequence[str] | None = None,
) -> None:
    """Put a tombstone on a grid, with `revision` or `expected` only if its current revision is among them."""
    stored = tombstone(connection, grid_id, revision=revision, expected=expected)
    told = {"names": asdict(stored.names), "revision": stored.revision}
    record(connection, actor, "grid.deleted", grid_id, project_id=project_id, **told)


def restore_grid(connection: Connection, actor: Actor, project_id: uuid.UUID, grid_id: uuid.UUID) -> Restored:
    """Take the tombstone off a grid; one without a tombstone stays as it is, and the log too."""
    restored = restore(connection, grid_id)
    if restored.was_deleted:
        told = {"names": asdict(restored.stored.names), "revision": restored.stored.revision}
        record(connection, actor, "grid.restored", grid_id, project_id=project_id, **told)
    return restored


def create_member(
    connection: Connection, actor: Actor, project_id: uuid.UUID | None, *, kind: MemberKind, name: str, role: Role
) -> Any:
    """Give a user or a group a role in a project, or (None) in every project; `Conflict` when it has one there."""
    row = users.add_member(connection, project_id, kind=kind, name=name, role=role)
    record(connection, actor, "member.created", row.id, project_id=project_id, kind=kind, name=row.name, role=role)
    return row


def delete_member(connection: Connection, actor: Actor, project_id: uuid.UUID | None, member_id: uuid.UUID) -> None:
    """Take a role back at once; `NotFound` if there is no such member."""
    row = users.remove_member(connection, project_id, member_id)
    told = {"kind": row.kind, "name": row.name, "role": row.role}
    record(connection, actor, "member.deleted", member_id, project_id=project_id, **told)
