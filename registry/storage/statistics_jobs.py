"""Jobs of statistics: their states, as a query tells them that joins `derivations` by an outer join.

The table holds what is due, what failed and what was settled a short while ago. A revision without a row is ready.

Have statistics that other methods computed be computed again. Until then they are served as they are. A new version of
the methods makes all stored statistics old at once. Those of experiments that somebody looks at are computed again soon
(`workers.jobs.invalidation`), the others when somebody reads them.
"""

from sqlalchemy import ColumnElement, Connection, func, literal_column, or_, select
from sqlalchemy.dialects.postgresql import insert

from registry.methods_version import METHODS_VERSION
from registry.storage.keys import of_current
from registry.storage.tables import derivations, grids, statistics

job_state = func.coalesce(derivations.c.state, literal_column("'ready'"))
"""`pending`, `ready` or `failed`."""
AGAIN = {"state": "pending", "due_at": func.now(), "attempts": 0, "reason": None, "methods_version": None}
"""It waits from now on: the age of its grid is no delay, and an alarm about delays would ring at every upgrade."""


def requeue_statistics(connection: Connection, *which: ColumnElement[bool], most: int | None = None) -> int:
    """Make the jobs of grids due whose current statistics are by other methods than this release's, or not there;
    return how many.

    `which` are conditions on `grids`. Jobs that are pending or failed stay as they are. Of grids that others are
    changing or purging at this moment nothing is made due.
    """
    settled = or_(derivations.c.state.is_(None), derivations.c.state == "ready")
    other = statistics.c.methods_version.is_distinct_from(METHODS_VERSION)
    old = (
        select(grids.c.project_id, grids.c.id, grids.c.revision, literal_column("'pending'"))
        .outerjoin(statistics, of_current(statistics))
        .outerjoin(derivations, of_current(derivations))
        .where(*which, grids.c.deleted_at.is_(None), settled, other)
        .limit(most)
        .with_for_update(of=grids, read=True, key_share=True, skip_locked=True)
    )
    rows = insert(derivations).from_select(["project_id", "grid_id", "revision", "state"], old)
    # By its name: the key has one column more where the table is in partitions.
    again = rows.on_conflict_do_update(constraint="pk_derivations", set_=AGAIN, where=derivations.c.state == "ready")
    return int(connection.execute(again).rowcount)
