"""The tables that grow with the grids on the nodes of a Citus cluster, by project: `registry partition --citus`.

Revisions and statistics, nine tenths of the bytes, come into shards, those of a project side by side on one node. What
else they are joined with stays whole on the coordinator. What the code asks stays the same, and what it promises too,
but for references between a table in shards and one that is whole.
"""

from collections.abc import Callable, Iterator

from sqlalchemy import Connection, create_engine, make_url, text
from sqlalchemy.pool import NullPool

from migrations.apply import changing
from migrations.partitions import LONGEST_WAIT, check_ready, check_stopped, has_citus, references_of, triggers_of
from registry.errors import Conflict
from registry.settings import driver_url

DISTRIBUTED = {
    "shapes": "id",
    "stored_revisions": "grid_id, number",
    "statistics": "grid_id, revision",
    "item_outcomes": "id",
    "item_continuations": "grid_id, revision",
}
"""The tables, and the key of each within a project."""
_SETTINGS = {
    # That rows are never changed is a trigger of each shard, and a purge says so to each node.
    "citus.enable_unsafe_triggers": "on",
    "citus.propagate_set_commands": "local",
}


def distribute(
    database_url: str, shards: int, said: Callable[[str], None] = lambda _: None, *, beside_service: bool = False
) -> None:
    """Bring the tables into `shards` shards each; `said` is told what is being done.

    Nobody else reads or writes them meanwhile. Raises `Conflict` as `check_distributing`, and if processes of the
    service are connected, unless it may run beside.
    """
    database = make_url(database_url).database
    with changing(database_url, lock_timeout=LONGEST_WAIT) as connection:
        _check(connection)
        if not beside_service:
            check_stopped(connection)
        for name, value in _SETTINGS.items():
            connection.exec_driver_sql(f'ALTER DATABASE "{database}" SET {name} = {value}')
            connection.exec_driver_sql(f"SET LOCAL {name} = {value}")
        for statement in _statements(connection, shards):
            if "create_" in statement:
                said(statement.split("'")[1])
            connection.exec_driver_sql(statement)


def check_distributing(database_url: str) -> None:
    """Raise `Conflict` if there is no cluster, the tables are in shards or partitions already, or the database is not
    at this code's schema."""
    with create_engine(driver_url(database_url), poolclass=NullPool).connect() as connection:
        _check(connection)


def _check(connection: Connection) -> None:
    if not has_citus(connection):
        raise Conflict("This database has no Citus: CREATE EXTENSION citus, and add its nodes, on the coordinator.")
    if connection.scalar(text("SELECT count(*) FROM citus_get_active_worker_nodes()")) == 0:
        raise Conflict("The coordinator knows no nodes: SELECT citus_add_node('host', 5432) for each.")
    check_ready(connection)
    if connection.scalar(text("SELECT count(*) FROM citus_tables WHERE citus_table_type = 'distributed'")):
        raise Conflict("The tables are in shards already; citus_rebalance_start() moves them to new nodes.")


def _statements(connection: Connection, shards: int) -> Iterator[str]:
    references = references_of(connection, DISTRIBUTED)
    for one in references:
        yield f'ALTER TABLE {one.table} DROP CONSTRAINT "{one.name}"'
    triggers = [one for table in DISTRIBUTED for one in triggers_of(connection, table)]
    for trigger in triggers:  # one of them would refuse to empty what is in shards by then
        yield f'DROP TRIGGER "{trigger.name}" ON {trigger.table}'
    for table, key in DISTRIBUTED.items():
        yield f"ALTER TABLE {table} DROP CONSTRAINT pk_{table}"
        yield f"ALTER TABLE {table} ADD CONSTRAINT pk_{table} PRIMARY KEY (project_id, {key})"
        # For who asks without a project; a dump of a coordinator has it.
        yield f"CREATE INDEX IF NOT EXISTS ix_{table}_key ON {table} ({key})"
        beside = "" if table == "shapes" else ", colocate_with => 'shapes'"
        count = "" if beside else f", shard_count => {shards}"
        yield f"SELECT create_distributed_table('{table}', 'project_id'{beside}{count})"
        yield f"SELECT truncate_local_data_after_distributing_table('{table}')"
    for trigger in triggers:  # it is told the name of its table, as a shard has another one
        yield trigger.definition.replace("registry_refuse_change()", f"registry_refuse_change('{trigger.table}')")
    for one in references:
        if one.table in DISTRIBUTED and one.target in DISTRIBUTED:
            yield one.with_project()
