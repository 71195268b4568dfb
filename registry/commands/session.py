"""Session of a command with a server: options, a connection, a project, errors with advice.

The registry is found by the client's rules, with more care for files that others can write.

Results that a worker is still computing are polled until they are ready, and a terminal is told meanwhile.
"""

import os
import re
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property, wraps
from pathlib import Path
from typing import Any, get_args

import click

from registry.commands.arguments import Finite
from registry.commands.group import USER_ERRORS, UserError
from registry.commands.screen import Colour, Screen
from registry.errors import Misconfigured, RegistryError, TryLater
from registry.settings import inherited_environment
from results_registry.config import Config, find_config, kept_token, read_toml, repository_file, user_config_path
from results_registry.errors import BadAddress, NotAllowed, NotThere, Refused, Unreachable
from results_registry.http import Answer, Transport
from results_registry.origin import segment

Warn = Callable[[str], None]
_HIDDEN = "There is nothing here"
_ERRNO = re.compile(r"\[Errno -?\d+\] ")


def find_registry(url: str | None, project: str | None, warn: Warn) -> Config:
    """Registry, token and project to use. Warns of a token in a file that others can read, and does not use it.

    Raises `BadAddress` for an unusable file.
    """
    above = repository_file(Path.cwd())
    if above is not None and above.stat().st_uid not in (os.geteuid(), 0, Path.cwd().stat().st_uid):
        # It could redirect results and tokens.
        raise BadAddress(f"{above} belongs to another user, so it is not used; remove it, or work elsewhere.")
    found, path = find_config(url=url, project=project), user_config_path()
    kept = kept_token(read_toml(path), found.url)
    if kept is None or kept != found.token or not path.stat().st_mode & 0o077:
        return found
    warn(f"Warning: the token in {path} is not used, because others can read that file; chmod 600 it.")
    return found._replace(token=None)


@dataclass(frozen=True)
class Session:
    """One run of a command: the registry that it talks to, and its output."""

    config: Config
    screen: Screen

    @cached_property
    def transport(self) -> Transport:
        return self.config.transport()

    @cached_property
    def project(self) -> str:
        """The project to use: the one given, else the token's, else the only visible one."""
        slug = self.config.project or (self.config.token and self.transport.get("whoami")["project"])
        if slug:
            return str(slug)
        seen = [found["slug"] for found in self.transport.get("projects", limit=20)["items"]]
        if len(seen) == 1:
            return str(seen[0])
        if not seen:
            hint = "" if self.config.token else " without a token; run `registry login`"
            raise Misconfigured(f"{self.config.url} shows no project{hint}.")
        raise Misconfigured(f"Say which project is meant, with -p or REGISTRY_PROJECT: {', '.join(seen)}.")

    def close(self) -> None:
        if "transport" in self.__dict__:
            self.transport.close()

    def in_project(self, path: str) -> str:
        """Path below the project."""
        return f"projects/{segment(self.project)}/{path}"


_OPTIONS = (
    click.option("--url", metavar="URL", help="The registry's address."),
    click.option("-p", "--project", metavar="SLUG", help="The project's slug."),
    click.option("--json", "as_json", is_flag=True, help="Print JSON."),
    click.option("-q", "--quiet", is_flag=True, help="Print only the essential: no headings, notes or progress."),
    click.option("--color", "colour", type=click.Choice(get_args(Colour)), default="auto", help="When to use colour."),
)


def asks_server(command: Callable[..., None]) -> Callable[..., None]:
    """Decorator: pass the command a `Session` first, and add the options that make one."""

    @wraps(command)
    def run(
        *args: Any,
        url: str | None,
        project: str | None,
        as_json: bool,
        quiet: bool,
        colour: Colour,
        **kwargs: Any,
    ) -> None:
        screen = Screen.of_process(inherited_environment(), colour, json=as_json, quiet=quiet)
        with closing(Session(find_registry(url, project, screen.note), screen)) as session:
            try:
                command(session, *args, **kwargs)
            except USER_ERRORS as error:
                error.detail = advised(error, session.config)
                raise

    for option in reversed(_OPTIONS):
        run = option(run)
    return run


def _is_hidden(error: NotThere) -> bool:
    """Tell whether the server says no more than that there is nothing, as of a project that the caller may not see, or
    another program than a registry answered."""
    return error.detail.startswith(_HIDDEN) or "type" not in error.problem


def advised(error: UserError, config: Config) -> str:
    """Sentence of the error, with the place it happened at and advice."""
    match error:
        case NotAllowed(status=401) if config.token is None:
            return f"{config.url} asks for a token: run `registry login`, or set REGISTRY_TOKEN."
        case NotAllowed(status=401):
            return f"{config.url} refuses the token: {error.detail} Run `registry login`."
        case NotThere() if _is_hidden(error):
            where = f" in the project {config.project}" if config.project else ""
            who = "this token" if config.token else "a visitor without a token"
            return (
                f"{config.url} has nothing there{where} that {who} may see; `registry ls projects` shows what there is."
            )
        case Unreachable():
            where = "" if config.named else f" ({config.url_from})"
            reason = _ERRNO.sub("", error.detail)
            other = "name another with --url or REGISTRY_URL, or with REGISTRY_HOME the home that it was started with"
            return f"{reason}{where} Start one with `registry up`, or {other}."
        case Refused(errors=[(pointer, detail), *_]):
            return f"{config.url} refuses this: {pointer} {detail}."
        case _:
            return error.detail


_ONE_ASK = 10
"""Seconds for which one request waits on the server."""
_SEVERAL = ("judgements", "statistics", "trends", "peaks", "thresholds")


class Failed(RegistryError):
    """A computation failed; the detail says why."""

    code = "failed"


class NotDefined(RegistryError):
    """The query has a result, but the requested thing is not defined; the detail says why."""

    code = "not_defined"


def awaited(
    session: Session, path: str, what: str, seconds: float, *, body: Any = None, **query: Any
) -> dict[str, Any]:
    """Document at a path, or the answer to a question that is sent there, once it is ready; raises what `polled`
    raises."""
    method = "GET" if body is None else "POST"
    return polled(
        session, what, seconds, lambda sent: session.transport.call(method, path, body, query=query, headers=sent)
    )


def polled(
    session: Session, what: str, seconds: float, ask: Callable[[Mapping[str, str] | None], Answer]
) -> dict[str, Any]:
    """Document that a request answers with, given headers, once it is ready.

    Raises `Failed` when its computation failed, and `TryLater` when it is not ready after so many seconds.
    """
    until, share = time.monotonic() + seconds, None
    try:
        while True:
            session.screen.progress(sentence(what, share))
            left = max(0, min(_ONE_ASK, round(until - time.monotonic())))
            answer = ask({"Prefer": f"wait={left}"} if left else None)
            if answer.status != 202:
                break
            share = answer.json().get("derivation", {}).get("progress")
            if time.monotonic() >= until:
                verb = "are" if what in _SEVERAL else "is"
                raise TryLater(
                    f"The {what} {verb} not there after {seconds:g} s; ask again, or wait longer with --wait."
                )
            time.sleep(0.1 if left else 0.0)  # a server too busy to wait answers at once
    finally:
        session.screen.progress("")
    document: dict[str, Any] = answer.json()
    if document.get("state") == "failed":
        raise Failed(f"The {what} could not be computed: {document.get('reason')}")
    return document


def sentence(what: str, progress: float | None) -> str:
    """Write what is waited for, and how much of it is done where the server tells."""
    return f"waiting for {what}" + ("" if progress is None else f", {progress:.0%} counted")


def waits(command: Callable[..., None]) -> Callable[..., None]:
    """Decorator: pass the command `seconds`, from the option --wait."""
    text = "How long to wait for what is still being computed."
    option = click.option("--wait", "seconds", type=Finite(0), default=60, show_default=True, help=text)
    return option(command)
