"""Processes of the service, each by itself or all of them on one machine (`registry up`).

The process of `registry up` only watches the others, for as long as they live: what it needs once is imported where it
is needed, or is done by a process of its own.
"""

import errno
import os
import socket
import sys
from collections.abc import Callable
from dataclasses import replace
from http.client import HTTPConnection, HTTPException
from pathlib import Path

from registry.errors import Misconfigured, Unavailable
from registry.local.embedded import Child, Home, Postgres, Supervisor, Valkey
from registry.local.embedded.supervisor import run_to_end
from registry.settings import LOOPBACK, WEB_ROLE, Settings, inherited_environment
from results_registry.config import TOKEN_FILE, announced

# Without -P, a file in the current directory would be imported before ours of the same name.
_MODULE = [sys.executable, "-P", "-m"]
WORKER = [*_MODULE, "workers.worker"]
DISPATCHER = [*_MODULE, "workers.dispatcher"]
SERVE = [*_MODULE, "registry", "serve"]
PREPARE = [*_MODULE, "registry.local.preparation"]
OWN_DATABASE = "--own-database"
"""Word for `PREPARE`: the database is ours alone, and the web process gets a role of its own."""


def serve(settings: Settings) -> None:
    """Serve HTTP until a signal, then finish the requests under way."""
    from registry.web_server import Server

    refuse_if_open(settings)
    Server(settings).run()


def refuse_if_open(settings: Settings) -> None:
    """Raise `Misconfigured` where other machines could reach a registry that has no administrator yet.

    Behind a proxy of ours it may wait for one.
    """
    from registry.operations.auth import has_operator
    from registry.storage.database import Database

    if settings.host in LOOPBACK or settings.proxies:
        return
    database = Database(settings, name="web")
    try:
        with database.reading() as connection:
            someone = has_operator(connection)
    except Unavailable:
        return  # Without the database no caller is admitted either.
    finally:
        database.close()
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
    with Home(settings.home) as home, Supervisor(home) as supervisor:
        refuse_if_taken(settings.host, settings.port)
        if "redis_url" not in given:
            valkey = Valkey(home)
            supervisor.start(valkey.child())
            settings = replace(settings, redis_url=valkey.url)
        if "database_url" not in given:
            postgres = Postgres(home, settings.pg_bin or None)
            supervisor.start(postgres.child())
            settings = replace(settings, database_url=postgres.url)
        environment = serving = replace(settings, home=home.path).environment()
        own = "database_url" not in given
        run_to_end(Child("preparation", [*PREPARE, *([OWN_DATABASE] if own else [])], env=environment), home)
        if own:
            serving = environment | {"REGISTRY_DATABASE_URL": Postgres(home).url_of(WEB_ROLE)}
        for name, command in (("dispatcher", DISPATCHER), ("worker", WORKER)):
            supervisor.start(Child(name, command, env=environment))
        local = _local(settings.host)
        address = f"http://{local}:{settings.port}"
        supervisor.start(Child("web", SERVE, env=serving, ready=probe(local, settings.port, "/readyz")))
        say(f"The results registry is at {settings.url} (documentation: {settings.url}/docs).")
        token_file = home.path / TOKEN_FILE
        say(f"The administrator's token is in {token_file}; the logs are in {home.logs}.")
        greet(settings, token_file, demo=demo, say=say)
        with announced(home.path, address):
            supervisor.run()


def refuse_if_taken(host: str, port: int) -> None:
    """Raise `Misconfigured` where the port cannot be had: whoever has it would be taken for this registry."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as line:
            line.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            line.bind(address)
    except OSError as error:
        taken = error.errno == errno.EADDRINUSE
        why = "another registry, or another program, has it" if taken else error.strerror or error
        raise Misconfigured(
            f"Port {port} of {host} cannot be had: {why}. --port or REGISTRY_PORT names another."
        ) from None


def greet(settings: Settings, token_file: Path, *, demo: bool, say: Callable[[str], None]) -> None:
    """Print curl lines that work when they are pasted."""
    api = f"{settings.url}/api/v1"
    if demo:
        from registry.demo import PROJECT, await_statistics, publish_demo
        from registry.storage.database import Database

        database = Database(settings, name="up")
        grids = publish_demo(database)
        await_statistics(database, grids)
        database.close()
        say("\nTrends of a heatmap, then two models over the slots that they share:\n")
        say(f"curl -s -H 'Accept: text/plain' '{api}/grids/{grids[0]}/statistics?part=trends'")
        question = f"{api}/projects/{PROJECT}/rankings?experiment=window-by-ratio&metric=Pass@1"
        say(f"curl -s -H 'Accept: text/plain' -H 'Prefer: wait=10' '{question}'")
        say("\nWhat people wrote about these heatmaps, and which of it the numbers contradict:\n")
        say(f"{settings.url}/projects/{PROJECT}/claims")
    else:
        say("\nMake a project:\n")
        say(
            f"curl -s '{api}/projects' -H \"Authorization: Bearer $(cat {token_file})\" "
            "-H 'Content-Type: application/json' -d '{\"slug\": \"first\"}'"
        )
    say("\nCtrl-C stops everything.")


def probe(host: str, port: int, path: str) -> Callable[[], bool]:
    """Function that tells whether a path of a server answers 200."""

    def ask() -> bool:
        connection = HTTPConnection(host, port, timeout=2)
        try:
            connection.request("GET", path)
            return connection.getresponse().status == 200
        except (HTTPException, OSError):
            return False
        finally:
            connection.close()

    return ask


def _local(host: str) -> str:
    return {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, host)  # noqa: S104 (compared, not bound)
