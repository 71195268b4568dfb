"""Processes of the service, each by itself or all of them on one machine (`registry up`)."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

from sqlalchemy import make_url

from registry.demo import PROJECT, await_statistics, publish_demo
from registry.errors import Misconfigured, Unauthenticated, Unavailable
from registry.garbage import collect_rarely
from registry.local.embedded import Child, Home, Postgres, Supervisor, Valkey
from registry.operations.auth import authenticate, has_operator, issue_token
from registry.settings import Settings, inherited_environment
from registry.storage.database import Database
from results_registry.local_instance import TOKEN_FILE, announced

LOOPBACK = ("localhost", "127.0.0.1", "::1")
ADMIN_TOKEN_DAYS = 365

WORKER = [sys.executable, "-m", "celery", "-A", "workers.app", "worker", "--loglevel", "WARNING"]
DISPATCHER = [sys.executable, "-m", "workers.dispatcher"]
SERVE = [sys.executable, "-m", "registry", "serve"]


def serve(settings: Settings) -> None:
    """Serve HTTP until a signal, then finish the requests under way."""
    from registry import create_app
    from registry.local.web_server import Server

    app = create_app(settings)
    collect_rarely()
    refuse_if_open(settings, app.extensions["registry"].database)
    Server(app, settings, app.extensions["registry"].stopping).run()


def refuse_if_open(settings: Settings, database: Database) -> None:
    """Raise `Misconfigured` where other machines could reach a registry that has no administrator yet."""
    if settings.host in LOOPBACK:
        return
    try:
        with database.reading() as connection:
            someone = has_operator(connection)
    except Unavailable:
        return  # Without the database no caller is admitted either.
    if not someone:
        raise Misconfigured(
            f"Nobody administers this registry yet, so it does not listen on {settings.host}: make a token with"
            " `registry token --role admin --name …`, or listen on 127.0.0.1."
        )


def become(command: list[str], settings: Settings) -> None:
    """Replace this process by another one with the same settings."""
    os.execve(command[0], command, inherited_environment() | settings.environment())  # noqa: S606


def up(settings: Settings, *, given: set[str], demo: bool, say: Callable[[str], None]) -> None:
    """Run the whole service until Ctrl-C: servers (those whose URLs were not `given`), migrations, web, worker,
    dispatcher."""
    from migrations.apply import migrate
    from migrations.grants import WEB_ROLE, grant_web_role

    with Home(settings.home) as home, Supervisor(home) as supervisor:
        if "redis_url" not in given:
            valkey = Valkey(home)
            supervisor.start(valkey.child())
            settings = replace(settings, redis_url=valkey.url)
        if "database_url" not in given:
            postgres = Postgres(home, settings.pg_bin or None)
            supervisor.start(postgres.child())
            settings = replace(settings, database_url=postgres.url)
        migrate(settings.database_url)
        database = Database(settings, name="up")
        token_file = admin_token(database, home.path / TOKEN_FILE)
        environment = settings.environment()
        serving = environment
        if "database_url" not in given:
            grant_web_role(settings.database_url, WEB_ROLE)
            url = make_url(settings.database_url).set(username=WEB_ROLE)
            serving = replace(settings, database_url=url.render_as_string(hide_password=False)).environment()
        for name, command in (("dispatcher", DISPATCHER), ("worker", WORKER)):
            supervisor.start(Child(name, command, env=environment))
        address = f"http://{_local(settings.host)}:{settings.port}"
        supervisor.start(Child("web", SERVE, env=serving, ready=probe(f"{address}/readyz")))
        say(f"The results registry is at {settings.url} (documentation: {settings.url}/docs).")
        say(f"The administrator's token is in {token_file}; the logs are in {home.logs}.")
        greet(settings, database, token_file, demo=demo, say=say)
        database.close()
        with announced(home.path, address):
            supervisor.run()


def greet(settings: Settings, database: Database, token_file: Path, *, demo: bool, say: Callable[[str], None]) -> None:
    """Print curl lines that work when they are pasted."""
    api = f"{settings.url}/api/v1"
    if demo:
        grids = publish_demo(database)
        await_statistics(database, grids)
        say("\nTrends of a heatmap, then two models over the slots that they share:\n")
        say(f"curl -s -H 'Accept: text/plain' '{api}/grids/{grids[0]}/trends'")
        question = f"{api}/projects/{PROJECT}/rankings?experiment=window-by-ratio&metric=Pass@1"
        say(f"curl -s -H 'Accept: text/plain' -H 'Prefer: wait=10' '{question}'")
    else:
        say("\nMake a project:\n")
        say(
            f"curl -s '{api}/projects' -H \"Authorization: Bearer $(cat {token_file})\" "
            "-H 'Content-Type: application/json' -d '{\"slug\": \"first\"}'"
        )
    say("\nCtrl-C stops everything.")


def probe(url: str) -> Callable[[], bool]:
    """Function that tells whether a URL answers 200."""

    def ask() -> bool:
        try:
            with urlopen(url, timeout=2) as response:  # noqa: S310 (our own server)
                return bool(response.status == 200)
        except (URLError, OSError):
            return False

    return ask


def _local(host: str) -> str:
    return {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, host)  # noqa: S104 (compared, not bound)


def admin_token(database: Database, path: Path) -> Path:
    """File with a working administrator's token, made if there is none; only its owner may read it."""
    with database.transaction() as connection:
        if path.exists():
            try:
                authenticate(connection, path.read_text(encoding="utf-8").strip())
            except Unauthenticated:
                path.unlink()
            else:
                return path
        _, token = issue_token(connection, project_id=None, role="admin", name="registry up", days=ADMIN_TOKEN_DAYS)
        write_secret(path, token)
    return path


def write_secret(path: Path, token: str) -> None:
    """Write a token to a new file with mode 0600; `Misconfigured` when the file exists."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise Misconfigured(f"{path} is there already.") from None
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(token + "\n")
