"""`registry login logout whoami`: tokens are tried before they are stored, in a file that only the user can read."""

import contextlib
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import click
import tomli_w

from registry.commands.page import Part
from registry.commands.session import Session, asks_server
from registry.errors import Misconfigured, Unauthenticated
from registry.renderings.sheet import Heading
from registry.renderings.table import Column, Table
from registry.settings import inherited_environment
from results_registry.config import read_toml, user_config_path

_SHOWN = ("url", "name", "role", "project", "expires_at", "last_used_at")


@click.command()
@asks_server
def login(session: Session) -> None:
    """Try a token and store it for this registry.

    The token is asked for on a terminal, or read from standard input: registry login < token-file. It is stored in
    ~/.config/results-registry/config.toml, which only you can read, and used for this address only. The address becomes
    the default one, and so does the project that is given with -p.
    """
    url = session.config.url
    token = _token(url)
    with closing(session.config._replace(token=token).transport()) as transport:
        identity = transport.get("whoami")
    path = user_config_path()
    own = read_toml(path)
    project = session.config.project or identity["project"]
    tokens = {**own.get("tokens", {}), url: token}
    write_config(path, {**own, "url": url, **({"project": project} if project else {}), "tokens": tokens})
    session.screen.note(f"{path} now keeps this token for {url}.")
    _show(session, identity)


def _token(url: str) -> str:
    if sys.stdin.isatty():
        return str(click.prompt(f"Token for {url}", hide_input=True, err=True)).strip()
    token = sys.stdin.readline().strip()
    if not token:
        raise click.UsageError("Standard input holds no token.")
    return token


@click.command()
@asks_server
def logout(session: Session) -> None:
    """Delete the stored token of this registry.

    The token stays valid until it expires or is revoked.
    """
    path = user_config_path()
    own = read_toml(path)
    tokens = dict(own.get("tokens", {}))
    if tokens.pop(session.config.url, None) is None:
        raise Unauthenticated(f"{path} keeps no token for {session.config.url}.")
    write_config(path, {**own, "tokens": tokens})
    session.screen.note(f"{path} no longer keeps a token for {session.config.url}; it stays valid until it expires.")
    if inherited_environment().get("REGISTRY_TOKEN"):
        session.screen.note("REGISTRY_TOKEN is set, and is still used.")


@click.command()
@asks_server
def whoami(session: Session) -> None:
    """Show which token is used, what it may do and until when."""
    _show(session, session.transport.get("whoami"))


def _show(session: Session, identity: dict[str, Any]) -> None:
    found = {"url": session.config.url, **identity}

    def parts() -> Iterator[Part]:
        yield Heading(found["url"])
        where = found["project"] or "every project"
        names = ["token", "role", "project", "expires", "last used"]
        values = [found["name"], found["role"], where, _day(found["expires_at"]), _day(found["last_used_at"])]
        yield Table([Column("", names), Column("", values)])

    session.screen.show(
        found, parts, lambda: (_SHOWN, [[found[name] for name in _SHOWN]]), essence=lambda: [found["name"]]
    )


def _day(instant: str | None) -> str:
    return "never" if instant is None else instant[:16].replace("T", " ") + " UTC"


def write_config(path: Path, content: Mapping[str, Any]) -> None:
    """Write a document as TOML with mode 0600, replacing the file."""
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            tomli_w.dump(content, file)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            fresh.unlink()
        raise Misconfigured(f"{path} cannot be written: {error.strerror}.") from None
