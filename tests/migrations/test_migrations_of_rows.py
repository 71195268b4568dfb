"""Migrations keep the rows that they find, and what the release before may do with them."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import Connection, create_engine, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import NullPool

from migrations.apply import upgrade
from registry.settings import driver_url

PROJECT, GRID, SCOPE, RESULT = (uuid.uuid4() for _ in range(4))
IDS = {"project": PROJECT, "grid": GRID, "scope": SCOPE, "result": RESULT}
RENAMED = {
    "answers": "cached_results",
    "marks": "invalidations",
    "scopes": "pair_sum_scopes",
    "tallies": "pair_sums",
    "counted": "pair_sum_inputs",
    "uncounted": "pair_sum_queue",
    "audit": "audit_log",
}
OLD_ROWS = """
    INSERT INTO projects (id, slug, name, visibility) VALUES (:project, 'old', 'Old', 'private');
    INSERT INTO grids (id, project_id, identity, experiment, benchmark, model, variant, metric, revision)
        VALUES (:grid, :project, :grid, 'e', 'b', 'm', '', 'x', 1);
    INSERT INTO answers (id, project_id, experiment, metric, question, question_key, answered, state, usual, facts)
        VALUES (:result, :project, 'e', 'x', '{"kind": "ranking"}', :grid, 1, 'ready', true, '{"ranking": [[1, "m"]]}');
    INSERT INTO marks (project_id, experiment, metric, grid_ids) VALUES (:project, 'e', 'x', ARRAY[:grid]);
    INSERT INTO scopes (id, project_id, experiment, metric, whole) VALUES (:scope, :project, 'e', 'x', true);
    INSERT INTO tallies (scope_id, place, name, cells, sums) VALUES (:scope, 7, 'm', 2, '');
    INSERT INTO counted (scope_id, grid_id, revision, updated_at) VALUES (:scope, :grid, 1, now());
    INSERT INTO uncounted (scope_id, benchmark) VALUES (:scope, 'b');
    INSERT INTO audit (id, act, subject) VALUES (:project, 'project.made', 'old');
    INSERT INTO bi_readers (id, role_name) VALUES (:project, current_user);
"""


@pytest.fixture
def connection(empty_database_url: str) -> Iterator[Connection]:
    engine = create_engine(driver_url(empty_database_url), poolclass=NullPool)
    with engine.connect() as connection:
        yield connection


def execute(connection: Connection, statements: str) -> None:
    for statement in filter(str.strip, statements.split(";")):
        names = {name for name in IDS if f":{name}" in statement}
        connection.execute(text(statement.replace("::", "\\:\\:")), {name: IDS[name] for name in names})


def _all(connection: Connection, statement: str) -> list[Any]:
    return list(connection.scalars(text(statement)))


def one(connection: Connection, statement: str) -> Any:
    return connection.execute(text(statement)).one()


def test_renamed_tables_keep_their_rows_and_rights_and_the_release_before_goes_on_through_views(
    connection: Connection,
) -> None:
    """From before the tables were renamed, with a row in each and a role, to today's schema."""
    role = f"registry_old_{uuid.uuid4().hex[:12]}"
    upgrade(connection, "0007")
    execute(connection, OLD_ROWS)
    execute(
        connection, f"CREATE ROLE {role}; GRANT SELECT, INSERT ON answers TO {role}; GRANT DELETE ON marks TO {role}"
    )
    upgrade(connection)
    for table in RENAMED.values():
        assert one(connection, f"SELECT count(*) FROM {table}") == (1,), table
    columns = "query ->> 'kind', document_generation, is_default"
    assert one(connection, f"SELECT {columns} FROM cached_results") == ("ranking", 1, True)
    assert one(connection, "SELECT is_complete, position FROM pair_sum_scopes, pair_sums") == (True, 7)
    assert one(connection, "SELECT action FROM audit_log") == ("project.made",)
    assert one(connection, "SELECT question ->> 'kind', name FROM bi.rankings") == ("ranking", "m")
    allowed = {
        (table, right)
        for table in ("answers", "cached_results", "marks", "invalidations")
        for right in ("SELECT", "INSERT", "DELETE")
        if one(connection, f"SELECT has_table_privilege('{role}', '{table}', '{right}')")[0]
    }
    granted = {("answers", "SELECT"), ("answers", "INSERT"), ("marks", "DELETE")}
    assert allowed == granted | {(RENAMED[table], right) for table, right in granted}
    # Only the two views are called by a former name. NOT NULL has a name from PostgreSQL 18 on, which nobody chose.
    statement = """SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace
        UNION SELECT conname FROM pg_constraint WHERE contype <> 'n' UNION SELECT tgname FROM pg_trigger"""
    words = {
        name: {*re.split("_", re.sub("audit_log|pair_sum_scopes", "", name))} for name in _all(connection, statement)
    }
    assert sorted(name for name, its in words.items() if its & {*RENAMED}) == ["answers", "marks"]
    insert = """INSERT INTO answers (id, project_id, experiment, metric, question, question_key)
        VALUES (gen_random_uuid(), :project, 'e', 'x', '{"kind": "ranking"}', :grid) ON CONFLICT DO NOTHING"""
    execute(connection, insert)
    assert one(connection, "SELECT count(*) FROM answers") == (1,), "the key is there already"
    execute(connection, insert.replace(":grid", ":scope"))
    new = "SELECT state, attempts, answered, generation, asked_at IS NULL FROM answers WHERE id <> :result"
    assert connection.execute(text(new), IDS).one() == ("pending", 0, 0, 1, False), "with the table's defaults"
    lease = """WITH due AS MATERIALIZED (SELECT id FROM answers WHERE state = 'pending' FOR UPDATE SKIP LOCKED)
        UPDATE answers SET lease = :scope, answered = generation FROM due WHERE answers.id = due.id
        RETURNING answers.answered"""
    assert connection.execute(text(lease), IDS).one() == (1,)
    execute(connection, "INSERT INTO marks (project_id, experiment, metric) VALUES (:project, 'e', 'x')")
    assert one(connection, "SELECT grid_ids FROM invalidations ORDER BY id DESC LIMIT 1") == (None,), "any grid"
    taken = "DELETE FROM marks WHERE id IN (SELECT id FROM marks FOR UPDATE SKIP LOCKED) RETURNING experiment"
    assert _all(connection, taken) == ["e", "e"]
    assert one(connection, "SELECT count(*) FROM invalidations") == (0,)
    connection.rollback()


@pytest.mark.parametrize(
    ("version", "columns", "empty"),
    [("0012", "protocol", (None,)), ("0010", "source, labels, warnings", (None, {}, []))],
)
def test_revisions_from_before_a_column_have_none_and_the_release_before_goes_on_writing(
    connection: Connection, version: str, columns: str, empty: tuple[Any, ...]
) -> None:
    insert = """INSERT INTO revisions (grid_id, number, digest, metric, axes, cell_count, values)
        VALUES (:grid, {number}, '\\x00', '{{}}', '[]', 1, ARRAY[1.5])"""
    upgrade(connection, version)
    execute(connection, OLD_ROWS[: OLD_ROWS.index("INSERT INTO answers")])
    execute(connection, insert.format(number=1))
    upgrade(connection)
    execute(connection, insert.format(number=2))
    found = connection.execute(text(f"SELECT number, values, {columns} FROM revisions ORDER BY number"))
    assert [tuple(row) for row in found] == [(1, [1.5], *empty), (2, [1.5], *empty)]
    described = one(connection, "SELECT projects.description, labels, grids.description FROM projects, grids")
    assert described == ("", {}, "")
    connection.rollback()


def test_rows_get_the_project_of_their_grid_and_so_do_those_that_the_release_before_writes(
    connection: Connection,
) -> None:
    """More revisions than one batch takes."""
    upgrade(connection, "0021")
    content = "grid_id, number, digest, metric, axes, cell_count, values"
    of_revisions = ("derivations (grid_id, revision)", "item_continuations (grid_id, revision, since)")
    execute(connection, OLD_ROWS[: OLD_ROWS.index("INSERT INTO answers")])
    execute(
        connection,
        f"""INSERT INTO stored_revisions ({content})
            SELECT :grid, number, '\\x00', '{{}}', '[]', 1, ARRAY[1.5] FROM generate_series(1, 4100) number;
        INSERT INTO {of_revisions[0]} SELECT :grid, number FROM generate_series(1, 4100) number;
        INSERT INTO {of_revisions[1]} SELECT :grid, number, 1 FROM generate_series(2, 4100) number;
        INSERT INTO statistics (grid_id, revision, methods_version, etag, document) VALUES (:grid, 4100, '1', '', '');
        INSERT INTO item_outcomes (grid_id, revision, set_name, digest, count, cells, outcomes)
            VALUES (:grid, 1, 's', '', 1, '', '')""",
    )
    upgrade(connection)
    execute(
        connection,
        f"""INSERT INTO stored_revisions ({content}) VALUES (:grid, 4101, '\\x00', '{{}}', '[]', 1, ARRAY[1.5]);
        INSERT INTO {of_revisions[0]} VALUES (:grid, 4101);
        INSERT INTO {of_revisions[1]} VALUES (:grid, 4101, 1)""",
    )
    counts = {"stored_revisions": 4101, "derivations": 4101, "item_continuations": 4100, "statistics": 1}
    for table, count in (counts | {"item_outcomes": 1}).items():
        found = one(connection, f"SELECT count(*), count(DISTINCT project_id), min(project_id::text) FROM {table}")
        assert found == (count, 1, str(PROJECT)), table
    connection.commit()
    with pytest.raises(DBAPIError, match="never changed"):
        execute(connection, "SET registry.filling = 'on'; UPDATE stored_revisions SET cell_count = 2 WHERE number = 1")
    connection.rollback()
