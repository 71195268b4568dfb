"""Mutants: the registry with one promise broken, as replacements in the text of its modules.

None of them is ever a part of the product. `sitecustomize.py` beside this file applies them to processes that are
started with this directory on their path; the tests prove that the checker tells each of them from the product.
"""

from typing import NamedTuple


class Patch(NamedTuple):
    """In this module the old text, which stands there once, becomes the new one."""

    module: str
    old: str
    new: str


_PROMISE = '[{"project_id": row["project_id"], "grid_id": row["grid_id"], "revision": row["number"]} for row in rows]'
# For longer than anybody waits, but not for as long as only a clock that ran ahead would write.
_NEVER_DUE = (
    '[{"project_id": row["project_id"], "grid_id": row["grid_id"], "revision": row["number"], "lease": row["grid_id"],'
    ' "leased_until": (datetime.now(UTC) + timedelta(minutes=9)).isoformat()} for row in rows]'
)
_FIRST_PROMISE = """    row = select(_project(), grid.c.id, literal_column("1"))
    return insert(derivations).from_select(["project_id", "grid_id", "revision"], row).cte("job")
"""
_NEVER_DUE_FIRST = """    never = literal_column("now() + interval '9 minutes'").label("never")
    row = select(_project(), grid.c.id, literal_column("1"), grid.c.id.label("lease"), never)
    columns = ["project_id", "grid_id", "revision", "lease", "leased_until"]
    return insert(derivations).from_select(columns, row).cte("job")
"""
_TASK_OF_A_LEASE = '''def derive(_task: Any, lease: str) -> None:
    """Compute what this message is about; no other process knows of it."""
    from uuid import UUID

    from sqlalchemy import select

    from registry.storage.tables import derivations
    from workers import derive
    from workers.jobs.leases import Claim

    with database.reading() as connection:
        rows = connection.execute(select(derivations).where(derivations.c.lease == UUID(lease))).all()
    derive._derive(database, settings, Claim(derivations, UUID(lease), rows), rows)


def _shift(task: Any) -> None:
    """Compute due statistics for one shift; the dispatcher wakes workers again if more are due."""
'''
_TASK = '''def derive(task: Any) -> None:
    """Compute due statistics for one shift; the dispatcher wakes workers again if more are due."""
'''

MUTANTS: dict[str, tuple[Patch, ...]] = {
    # Answers come before the log is on the disk.
    "synchronous_commit=off": (
        Patch("registry.settings", '"synchronous_commit": self.synchronous_commit,', '"synchronous_commit": "off",'),
    ),
    # The dispatcher forgets a promise when it has sent the message: the broker is the record of work.
    "publish-outbox": (
        Patch(
            "workers.dispatcher",
            '                self.celery.send_task(name, retry=False, headers={"origins": self.origins})\n',
            """                from dataclasses import replace
                from workers.jobs.leases import claim
                if name == DERIVE_TASK:
                    for_ever = replace(self.settings, lease_seconds=1e9)
                    claimed = claim(self.database, for_ever, derivations, self.settings.batch_promises)
                    if claimed.rows:
                        self.celery.send_task(name, args=[str(claimed.lease)], retry=False)
                else:
                    self.celery.send_task(name, retry=False)
""",
        ),
        Patch("workers.app", _TASK, _TASK_OF_A_LEASE),
    ),
    # The web process sends the message after its commit, and nobody looks again.
    "commit-then-delay": (
        Patch(
            "registry.operations.revisions",
            "import uuid\n",
            "import uuid\nfrom datetime import UTC, datetime, timedelta\n",
        ),
        Patch("registry.operations.revisions", _PROMISE, _NEVER_DUE),
        Patch("registry.operations.revisions", _FIRST_PROMISE, _NEVER_DUE_FIRST),
        Patch(
            "registry.api.idempotency",
            "    if not rehearse:\n        parts().notifier.notify()\n",
            """    if not rehearse:
        import contextlib
        from registry.broker import DERIVE_TASK, celery_app
        with contextlib.suppress(Exception):
            celery_app(parts().settings).send_task(DERIVE_TASK, args=[response.get_json()["id"]], retry=False)
        parts().notifier.notify()
""",
        ),
        Patch("workers.app", _TASK, _TASK_OF_A_LEASE),
    ),
    # Who comes late settles what another has settled.
    "no lease check": (
        Patch(
            "workers.derive",
            '.where(jobs, derivations.c.lease == claimed.lease, derivations.c.state == "pending")',
            ".where(jobs)",
        ),
    ),
    # Statistics of the first revision stand for all.
    "stale statistics": (
        Patch(
            "registry.operations.read",
            "_JOB.outerjoin(statistics, of_current(statistics))",
            "_JOB.outerjoin(statistics, of_grid(statistics) & (statistics.c.revision == 1))",
        ),
    ),
    # A ranking is served whatever was published since.
    "stale rankings": (
        Patch(
            "registry.api.answers",
            "return row.etag is not None and not row.invalidated and row.document_generation == row.generation",
            "return row.etag is not None",
        ),
    ),
    # A route that asks for the grid, and not whose it is.
    "no project filter": (
        Patch(
            "registry.api.statistics",
            """            row = find_statistics(connection, grid, known)
            authorize(caller(connection), row, "reader")
""",
            """            row = find_statistics(connection, grid, known)
""",
        ),
    ),
    # The reader of the standard library takes NaN, and nobody looks again.
    "NaN accepted": (
        Patch("registry.api.request_body", "value = orjson.loads(body)\n", "value = json.loads(body)\n"),
        Patch(
            "registry.grids.intake.faults",
            "        return value if math.isfinite(value) else None\n",
            "        return value\n",
        ),
        Patch("registry.grids.intake.sent_cells", " and all(map(isfinite, filter(None, leaves)))", ""),
        Patch("registry.storage.rows", "    text = orjson", "    return None\n    text = orjson"),
    ),
}

# No promise broken: grids that no honest client can send, because statistics of them raise or kill.
POISON = (
    Patch(
        "workers.derive",
        "    digest = bytes(revision.digest).hex()\n    computed_at",
        """    import os
    if revision.labels.get("poison") == "dies":
        os.kill(os.getpid(), 9)
    if revision.labels.get("poison") == "raises":
        raise ZeroDivisionError("poison")
    digest = bytes(revision.digest).hex()
    computed_at""",
    ),
)
PATCHES = MUTANTS | {"poison": POISON}


def mutated(name: str, module: str, text: str) -> str:
    """The module's text in this mutant; ValueError when the product has changed so that a patch has lost its place."""
    for patch in PATCHES[name]:
        if patch.module == module:
            if text.count(patch.old) != 1:
                raise ValueError(f"the mutant {name!r} does not apply to {module}: {patch.old!r}")
            text = text.replace(patch.old, patch.new)
    return text
