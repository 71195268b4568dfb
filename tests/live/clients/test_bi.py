"""SQL tools as a role of the schema `bi`: they see the projects that they were given, and nothing else."""

import os
import secrets
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import make_url, text

from registry.errors import Invalid, NotFound
from registry.local.embedded.copying import find_program
from registry.operations.bi import make_reader
from registry.settings import driver_url
from tests.house import House, Project
from tests.live.clients.test_tables import duck, expected

VIEWS = ("cells", "coverage", "grids", "peaks", "rankings", "trends")


class Reader:
    """A role of bi, and a way to ask as it would."""

    def __init__(self, house: House, projects: list[str]) -> None:
        self.house, self.name = house, f"bi_{secrets.token_hex(6)}"
        with house.database.transaction() as connection:
            make_reader(connection, self.name, secrets.token_urlsafe(16), projects)

    def ask(self, query: str) -> list[Any]:
        with self.house.database.transaction(rehearse=True) as connection:
            connection.execute(text(f"SET LOCAL ROLE {self.name}"))
            return list(connection.execute(text(query)).all())

    def drop(self) -> None:
        drop_role(self.house, self.name)


def drop_role(house: House, name: str) -> None:
    with house.database.transaction() as connection:
        connection.execute(text(f"DROP OWNED BY {name}"))
        connection.execute(text(f"DROP ROLE {name}"))


@pytest.fixture
def reader(house: House, seeds: Project) -> Iterator[Reader]:
    made = Reader(house, [seeds.slug])
    yield made
    made.drop()


def test_the_cells_are_exactly_those_that_were_published(reader: Reader, first_grid: dict[str, Any]) -> None:
    query = "SELECT level_1, number_2, value FROM bi.cells WHERE benchmark = 'Core Generalization'"
    assert {(kind, length): value for kind, length, value in reader.ask(query)} == expected(first_grid)


def test_the_views_say_what_the_documents_say(reader: Reader, seeds: Project, first_grid: dict[str, Any]) -> None:
    document = seeds.get(f"grids/{first_grid['id']}/statistics").get_json()
    where = f"WHERE grid = '{first_grid['id']}'"
    trends = reader.ask(f"SELECT at ->> 'Type', slope, slope_low, q, direction, onset_by FROM bi.trends {where}")
    assert {tuple(row) for row in trends} == {
        (
            one["at"]["Type"], one["slope"], one["slope_interval"]["low"], one["q"], one["direction"],
            None if one["onset"]["by"] is None else str(one["onset"]["by"]),
        )
        for one in document["series"]
    }  # fmt: skip
    peaks = reader.ask(f"SELECT at, standing FROM bi.peaks {where}")
    assert [at for at, standing in peaks if standing == "best"] == document["peaks"]["best"]["at"]
    assert len(peaks) == document["peaks"]["best_set"]["size"]
    assert reader.ask(f"SELECT cells, possible FROM bi.coverage {where}") == [(97, 140)]


def test_a_ranking_that_was_asked_for_is_there(reader: Reader, seeds: Project) -> None:
    path = f"projects/{seeds.slug}/rankings?experiment=window-by-ratio&metric=Pass@1"
    seeds.get(path)
    seeds.house.compute()
    ranking = seeds.get(path).get_json()["ranking"]
    rows = reader.ask("SELECT rank, name, score FROM bi.rankings WHERE experiment = 'window-by-ratio' ORDER BY rank")
    assert [tuple(row) for row in rows] == [(one["rank"], one["name"], one["score"]) for one in ranking]


def test_another_project_is_not_seen(reader: Reader, house: House) -> None:
    other = house.make_project("public")
    other.published()
    for view in VIEWS:
        assert reader.ask(f"SELECT 1 FROM bi.{view} WHERE project = '{other.slug}'") == []


def test_a_role_for_every_project_sees_those_to_come(house: House) -> None:
    everything = Reader(house, [])
    later = house.make_project()
    later.published()
    assert everything.ask(f"SELECT count(*) FROM bi.cells WHERE project = '{later.slug}'") == [(5,)]
    everything.drop()


def test_a_role_has_no_right_to_anything_else(reader: Reader, house: House) -> None:
    with house.database.reading() as connection:
        tables = connection.execute(text("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")).scalars().all()
        for table in tables:
            for right in ("SELECT", "INSERT", "UPDATE", "DELETE"):
                allowed = text(f"SELECT has_table_privilege('{reader.name}', 'public.{table}', '{right}')")
                assert connection.scalar(allowed) is False, (table, right)
        for view in VIEWS:
            for right in ("INSERT", "UPDATE", "DELETE"):
                allowed = text(f"SELECT has_table_privilege('{reader.name}', 'bi.{view}', '{right}')")
                assert connection.scalar(allowed) is False
        create = text(f"SELECT has_schema_privilege('{reader.name}', 'bi', 'CREATE')")
        assert connection.scalar(create) is False
    assert len(tables) > 10


def test_a_grid_says_how_it_was_measured_and_leaves_the_views_when_it_is_deleted(reader: Reader, house: House) -> None:
    project = house.make_project()
    with house.database.transaction() as connection:
        make_reader(connection, reader.name, "another", [project.slug])
    project.published(protocol={"shots": 5})
    silent = project.published(model="silent")["id"]
    found = reader.ask("SELECT model, protocol ->> 'shots' FROM bi.grids ORDER BY model")
    assert [tuple(row) for row in found] == [("Qwen-2.5 3B", "5"), ("silent", None)]
    assert reader.ask("SELECT count(*) FROM bi.cells") == [(10,)]
    project.call("DELETE", f"grids/{silent}")
    assert reader.ask("SELECT count(*) FROM bi.cells") == [(5,)]


def test_a_role_that_is_something_else_is_left_alone(house: House, seeds: Project) -> None:
    with house.database.reading() as connection:
        owner = connection.scalar(text("SELECT current_user"))
    refused = [(owner, Invalid), ('x"; DROP TABLE grids', Invalid), ("Upper", Invalid)]
    for name, error in refused:
        with pytest.raises(error), house.database.transaction() as connection:
            make_reader(connection, str(name), "password", [seeds.slug])
    with pytest.raises(NotFound), house.database.transaction() as connection:
        make_reader(connection, "bi_absent", "password", ["absent"])


def test_psql_logs_in_with_what_the_command_printed(house: House, seeds: Project, first_grid: dict[str, Any]) -> None:
    name = f"bi_{secrets.token_hex(6)}"
    environment = {key: value for key, value in os.environ.items() if not key.startswith("REGISTRY_")}
    registry = [sys.executable, "-m", "registry", "bi-role", name, "--project", seeds.slug]
    made = subprocess.run(
        registry, env=environment | house.settings.environment(), capture_output=True, text=True, check=True
    )
    url = make_url(driver_url(house.settings.database_url))
    address = {
        "PGHOST": url.host or str(url.query["host"]),
        "PGPORT": str(url.port or url.query.get("port", 5432)),
        "PGDATABASE": url.database or "",
        "PGUSER": name,
        "PGPASSWORD": made.stdout.strip(),
    }

    def psql(query: str) -> subprocess.CompletedProcess[str]:
        command = [find_program("psql"), "--no-psqlrc", "--tuples-only", "--no-align", "--command", query]
        return subprocess.run(command, env=environment | address, capture_output=True, text=True, check=False)

    try:
        # The search path of the role is `bi`: no schema needs to be named.
        told = psql("SELECT level_1, number_2, value FROM cells WHERE benchmark = 'Core Generalization'")
        rows = [line.split("|") for line in told.stdout.splitlines()]
        assert {(kind, float(at)): float(value) for kind, at, value in rows if value} == {
            key: value for key, value in expected(first_grid).items() if value is not None
        }
        assert "permission denied" in psql("SELECT count(*) FROM public.grids").stderr
        assert "read-only transaction" in psql("CREATE TABLE public.mine (n int)").stderr
    finally:
        drop_role(house, name)


def test_duckdb_attaches_the_views(house: House, seeds: Project, first_grid: dict[str, Any]) -> None:
    every = Reader(house, [seeds.slug])
    url = make_url(driver_url(house.settings.database_url))
    host = url.host or url.query.get("host")
    parts = {"host": host, "port": url.port, "dbname": url.database, "user": url.username, "password": url.password}
    settings = " ".join(f"{name}={value}" for name, value in parts.items() if value)
    try:
        with duck("postgres_scanner") as connection:
            as_role = f"{settings} options='-c role={every.name}'".replace("'", "''")
            connection.execute(f"ATTACH '{as_role}' AS registry (TYPE postgres, READ_ONLY, SCHEMA 'bi')")
            query = "SELECT level_1, number_2, value FROM registry.bi.cells WHERE benchmark = 'Core Generalization'"
            found = connection.execute(query).fetchall()
        assert {(kind, length): value for kind, length, value in found} == expected(first_grid)
    finally:
        every.drop()
