"""The largest tables in partitions by project: the service does there what it does elsewhere, with the same rights."""

import re
import uuid
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import Connection, create_engine, event, make_url, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import NullPool

from migrations.grants import grant_web_role
from registry import create_app
from registry.operations.find_grids import Filters, Page, find_grids
from registry.settings import Settings, driver_url
from registry.storage.database import Database
from registry.storage.tables import grids
from tests.conftest import clone
from tests.house import CITUS, PARTITIONS, House, Project, publication
from tests.registry.test_purging import age, purged
from tests.registry.test_upkeep import command, differences

pytestmark = pytest.mark.skipif(CITUS, reason="a cluster has shards instead")
PASSWORD = "only-for-this-test"
TABLES = ("stored_revisions", "derivations", "statistics")
PARTS = PARTITIONS or 3


@pytest.fixture(scope="module")
def own(servers: tuple[str, str], template: str, settings: Settings) -> Iterator[House]:
    """A registry on a database of this module's own."""
    for url in clone(servers, template):
        mine = replace(settings, database_url=url)
        database = Database(mine, name="tests")
        yield House(create_app(mine), database, mine)
        database.close()


@pytest.fixture(scope="module")
def role(own: House) -> Iterator[str]:
    """A role of the web process, made while the tables were whole."""
    name = f"registry_web_{uuid.uuid4().hex[:8]}"
    grant_web_role(own.url, name, PASSWORD)
    yield name
    with own.database.engine.begin() as connection:
        connection.execute(text(f"DROP OWNED BY {name}"))
        connection.execute(text(f"DROP ROLE {name}"))


@pytest.fixture(scope="module")
def parted(own: House, role: str) -> tuple[House, Project]:
    """A registry whose tables came into partitions when one of its projects had a grid with statistics."""
    project = own.make_project()
    project.published(model="before")
    own.compute()
    if not PARTITIONS:
        assert command(own.settings, "partition", "--parts", PARTS).stdout.count("100% of all grids") == 1
        refused = command(own.settings, "partition", "--parts", PARTS, "--yes")
        assert refused.returncode == 1
        assert "its connections are of: web (1). Stop web processes" in refused.stderr
        own.app.extensions["registry"].database.close()  # as a process that ends; it connects again when it is asked
        ran = command(own.settings, "partition", "--parts", PARTS, "--yes")
        assert ran.returncode == 0, ran.stderr
    return own, project


def scalars(house: House, statement: str) -> list[object]:
    with house.database.reading() as connection:
        return list(connection.scalars(text(statement)))


def test_grids_are_published_amended_ranked_deleted_and_purged(parted: tuple[House, Project]) -> None:
    house, project = parted
    grid = project.published(model="after")
    batch = [publication(model=f"m{number}") for number in range(3)]
    posted = project.call("POST", f"projects/{project.slug}/grids/batch", json=batch)
    assert posted.status_code in (200, 201), posted.text
    cells = {"cells": [{"at": {"Type": "2", "Length": 0}, "value": 50}]}
    assert project.call("PATCH", f"grids/{grid['id']}/cells", json=cells).get_json()["revision"] == 2
    others = [house.make_project() for _ in range(2 * PARTS)]
    for other in others:
        other.published()
    house.compute()
    asked = {"experiment": "type-by-length", "metric": "accuracy"}
    project.get(f"projects/{project.slug}/rankings", query_string=asked)
    house.compute()
    ranking = project.get(f"projects/{project.slug}/rankings", query_string=asked).get_json()
    assert {row["name"] for row in ranking["ranking"]} == {"before", "after", "m0", "m1", "m2"}
    assert scalars(house, "SELECT count(DISTINCT tableoid) > 1 FROM statistics") == [True]
    assert differences(house) == []
    assert project.call("DELETE", f"grids/{grid['id']}").status_code == 204
    age(house, grids)
    assert purged(house) == 1
    house.compute()
    for table in TABLES:
        assert scalars(house, f"SELECT count(*) FROM {table} WHERE grid_id = '{grid['id']}'") == [0], table
    assert differences(house) == []
    said = command(house.settings, "doctor").stdout
    assert f"3 tables in {3 * PARTS} partitions" in said


def test_nobody_changes_a_revision_by_its_partition(parted: tuple[House, Project], role: str) -> None:
    house, _ = parted
    [holding] = scalars(house, "SELECT tableoid::regclass::text FROM stored_revisions LIMIT 1")
    for forbidden in ("UPDATE {} SET cell_count = 0", "DELETE FROM {}", "TRUNCATE {} CASCADE"):
        for table in ("stored_revisions", holding):
            with pytest.raises(DBAPIError, match="never changed"), house.database.engine.begin() as connection:
                connection.execute(text(forbidden.format(table)))
    _refuses(house, role, str(holding))
    grant_web_role(house.url, role, PASSWORD)  # as after each migration
    _refuses(house, role, str(holding))
    rights = f"SELECT has_table_privilege('{role}', 'stored_revisions', 'SELECT, INSERT')"
    assert scalars(house, rights) == [True]
    with house.database.engine.begin() as connection:
        connection.execute(text(f"GRANT UPDATE ON {holding} TO {role}"))
    assert f"which {role} may change" in command(house.settings, "doctor").stdout
    with house.database.engine.begin() as connection:
        connection.execute(text(f"REVOKE UPDATE ON {holding} FROM {role}"))


def _refuses(house: House, role: str, holding: str) -> None:
    web = make_url(driver_url(house.url)).set(username=role, password=PASSWORD)
    engine = create_engine(web, poolclass=NullPool)
    for forbidden in (f"DELETE FROM {holding}", f"UPDATE {holding} SET cell_count = 0", "DELETE FROM stored_revisions"):
        with pytest.raises(DBAPIError, match="permission denied"), engine.begin() as connection:
            connection.execute(text(forbidden))
    with engine.connect() as connection:
        assert connection.scalar(text("SELECT count(*) > 0 FROM stored_revisions")) is True


def test_the_project_leads_every_key(parted: tuple[House, Project]) -> None:
    house, _ = parted
    query = """SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE contype IN ('p', 'u', 'f')
        AND conparentid = 0 AND (conrelid = ANY(CAST(:tables AS regclass[])) AND contype <> 'f'
            OR confrelid = 'stored_revisions'::regclass)"""
    with house.database.reading() as connection:
        found = connection.scalars(text(query), {"tables": [*TABLES]}).all()
    assert len(found) == 7, "three keys and four references"
    assert all("(project_id, grid_id, " in one for one in found), found


def test_a_list_reads_one_partition_of_each_table(parted: tuple[House, Project]) -> None:
    house, project = parted
    for sort in ("-updated_at", "model", "-cell_count"):
        read = _read(house, lambda connection, sort=sort: find_grids(connection, project.id, Filters(), Page(sort)))  # type: ignore[misc]
        assert {table: len(parts) for table, parts in read.items()} == {"stored_revisions": 1, "derivations": 1}


def _read(house: House, ask: Callable[[Connection], object]) -> dict[str, set[str]]:
    """The partitions that the plans of the statements name, by table."""
    plans: list[str] = []

    def explain(_: Connection, cursor: Any, statement: str, parameters: Any, *__: Any) -> None:
        if statement.startswith("SELECT"):
            cursor.execute(f"EXPLAIN {statement}", parameters)
            plans.extend(row[0] for row in cursor.fetchall())

    with house.database.reading() as connection:
        event.listen(connection, "before_cursor_execute", explain)
        ask(connection)
    read: dict[str, set[str]] = defaultdict(set)
    for table, part in re.findall(rf" on ({'|'.join(TABLES)})_(\d+) ", "\n".join(plans)):
        read[table].add(part)
    return read


def test_tables_come_into_partitions_once_and_not_where_there_are_none(parted: tuple[House, Project]) -> None:
    house, _ = parted
    for words in (("--parts", PARTS, "--yes"), ()):
        ran = command(house.settings, "partition", *words)
        assert (ran.returncode, ran.stdout, "in partitions already" in ran.stderr) == (1, "", True)
    for words in (("--citus", "--yes"), ("--citus",)):
        ran = command(house.settings, "partition", *words)
        assert (ran.returncode, ran.stdout, "add its nodes" in ran.stderr) == (1, "", True)
    nowhere = make_url(house.url).set(database="registry_of_nobody").render_as_string(hide_password=False)
    ran = command(replace(house.settings, database_url=nowhere), "partition", "--yes")
    assert (ran.returncode, 'database "registry_of_nobody" does not exist' in ran.stderr) == (5, True)
