"""When the database drops connections: a clean 503 that says to repeat, and the next request is answered."""

import re
import uuid
from dataclasses import replace

from sqlalchemy import create_engine, text
from sqlalchemy.pool import NullPool

from registry import create_app
from registry.operations.doctor_database import check_server
from registry.settings import Settings, driver_url
from tests.house import House, publication


def cut(house: House) -> None:
    """End every connection to the database, as a restart of the server does."""
    engine = create_engine(driver_url(house.url), poolclass=NullPool)
    with engine.connect() as connection:
        others = "datname = current_database() AND pid <> pg_backend_pid()"
        connection.execute(text(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {others}"))


def test_a_cut_connection_is_503_once_and_then_all_is_well(own: House) -> None:
    project = own.make_project()
    home, grid = f"projects/{project.slug}", project.published()
    ranking = f"{home}/rankings?experiment=type-by-length&metric=accuracy"
    project.get(ranking)
    own.compute()
    for path in (home, f"grids/{grid['id']}", f"grids/{grid['id']}/statistics", ranking, f"{home}/grids"):
        method, sent = ("POST", publication()) if path.endswith("/grids") else ("GET", None)
        assert project.call(method, path, json=sent).status_code == 200
        cut(own)
        seen = [project.call(method, path, json=sent).status_code for _ in range(4)]
        assert (set(seen) <= {200, 503}, seen[-1]) == (True, 200), path
        assert own.call("GET", "/healthz").status_code == 200


def test_a_full_disk_is_told_as_a_full_disk(own: House) -> None:
    project = own.make_project()
    # What PostgreSQL says when it cannot extend a file.
    raising = (
        "CREATE FUNCTION no_room() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'could not extend file'"
        " USING ERRCODE = 'disk_full'; END $$"
    )
    trigger = "CREATE TRIGGER full_disk BEFORE INSERT ON {} FOR EACH STATEMENT EXECUTE FUNCTION no_room()"
    assert own.call("GET", "/readyz").get_json()["writes"] == "taken"
    engine = create_engine(driver_url(own.url), poolclass=NullPool)
    with engine.begin() as connection:
        connection.execute(text(raising))
        connection.execute(text(trigger.format("stored_revisions")))
    refused = project.publish(publication())
    assert (refused.status_code, "disk of the database is full" in refused.get_json()["detail"]) == (503, True)
    assert own.call("GET", "/readyz").get_json()["writes"] == "disk_full"
    assert "its disk is full" in own.call("GET", "/status").get_data(as_text=True)
    said = own.call("GET", "/metrics").get_data(as_text=True)
    assert "registry_database_disk_full 1.0" in said
    assert re.search(r'registry_refusals_total\{reason="disk_full",status="503"\} 1.0', said)
    assert abs(float(re.findall(r"^registry_clock_difference_seconds (\S+)$", said, re.MULTILINE)[0])) < 60
    with engine.begin() as connection:
        connection.execute(text("DROP TRIGGER full_disk ON stored_revisions"))
    assert project.publish(publication()).status_code in (200, 201)


def test_a_database_that_is_read_only_is_told_as_such(own: House) -> None:
    project = own.make_project()
    grid = project.published()
    here = {"options": "-c citus.enable_ddl_propagation=off"}  # on a cluster the nodes go on taking writes
    engine = create_engine(driver_url(own.url), poolclass=NullPool, isolation_level="AUTOCOMMIT", connect_args=here)
    name = engine.url.database
    with engine.connect() as connection:
        connection.execute(text(f'ALTER DATABASE "{name}" SET default_transaction_read_only = on'))
        cut(own)
    assert project.call("GET", f"grids/{grid['id']}").status_code == 503
    refused = project.publish(publication())
    assert (refused.headers["Retry-After"], refused.get_json()["type"]) == ("2", "/docs#problem-unavailable")
    assert refused.get_json()["detail"].startswith("The database takes no writes")
    assert own.call("GET", "/readyz").get_json()["writes"] == "read_only"
    assert "it is read-only" in own.call("GET", "/status").get_data(as_text=True)
    project.get(f"grids/{grid['id']}")
    with engine.connect() as connection:
        told = {one.name: one.state for one in check_server(connection)}
        connection.execute(text("SET default_transaction_read_only = off"))
        connection.execute(text(f'ALTER DATABASE "{name}" SET default_transaction_read_only = off'))
        cut(own)
    project.call("GET", f"grids/{grid['id']}")
    assert (told["writes"], project.publish(publication(model="later")).status_code) == ("bad", 201)


def test_a_role_without_rights_is_told_to_get_them(own: House, settings: Settings) -> None:
    role = f"bare_{uuid.uuid4().hex[:8]}"
    engine = create_engine(driver_url(own.url), poolclass=NullPool)
    with engine.begin() as connection:
        connection.execute(text(f"CREATE ROLE {role} LOGIN PASSWORD 'x'"))
    try:
        url = engine.url.set(username=role, password="x").render_as_string(hide_password=False)
        client = create_app(replace(settings, database_url=url)).test_client()
        for path in ("/readyz", "/api/v1/projects"):
            answer = client.get(path)
            assert (answer.status_code, "registry migrate" in answer.get_json()["detail"]) == (503, True), path
        assert "registry migrate" in client.get("/status").get_data(as_text=True)
        assert "registry_database_up 0.0" in client.get("/metrics").get_data(as_text=True)
    finally:
        with engine.begin() as connection:
            connection.execute(text(f"DROP ROLE {role}"))
