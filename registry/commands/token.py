"""`registry token`: make a token with direct access to the database, for the first administrator and for containers;
revoke one of every project so too; list and revoke those of a project."""

import uuid
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from registry.commands.listing import one_by_id, show_rows
from registry.commands.processes import home_option, settings_of_servers
from registry.commands.session import Session, asks_server
from registry.errors import NotFound
from registry.local.preparation import write_secret
from registry.operations.acts import create_token, revoke_token
from registry.operations.audit_log import COMMAND
from registry.operations.projects import find_project
from registry.storage.database import Database


@click.group(invoke_without_command=True)
@click.pass_context
@home_option
@click.option(
    "-p", "--project", envvar="REGISTRY_PROJECT", help="The project's slug, else REGISTRY_PROJECT; else every project."
)
@click.option("--role", type=click.Choice(["reader", "writer", "admin"]), default="writer", show_default=True)
@click.option("--name", help="What the token is for.")
@click.option("--days", type=click.IntRange(1, 3650), default=90, show_default=True)
@click.option("--file", "path", type=click.Path(path_type=Path), help="Write it to a new file that only you may read.")
def token(
    context: click.Context,
    home: Path | None,
    project: str | None,
    role: Any,
    name: str | None,
    days: int,
    path: Path | None,
) -> None:
    """Make a token, in the database itself. Its secret is shown only once.

    With a command below: list the tokens of a project, or revoke one, as its administrator.
    """
    if context.invoked_subcommand is not None:
        if given := [one for one in context.params if context.get_parameter_source(one) == ParameterSource.COMMANDLINE]:
            raise click.UsageError(f"--{given[0]} stands behind {context.invoked_subcommand}, if it has it.")
        return
    if name is None:
        raise click.UsageError("Missing option '--name'.")
    with Database(settings_of_servers(home), name="token").transaction() as connection:
        row = find_project(connection, project) if project else None
        if project and row is None:
            raise NotFound(f'There is no project "{project}".')
        project_id = None if row is None else row.id
        _, secret = create_token(connection, COMMAND, project_id, name=name, role=role, days=days)
        if path is not None:
            write_secret(path, secret)
    if path is None:
        click.echo(secret)


@token.command()
@asks_server
def ls(session: Session) -> None:
    """List the tokens of a project, the oldest first, without their secrets.

    Those of every project are on the page /settings/tokens; `registry token revoke-operator` revokes one.
    """
    header = ("id", "name", "role", "created_at", "expires_at", "last_used_at")
    found = list(session.transport.pages(session.in_project("tokens")))
    show_rows(session, found, header, "No token; `registry token --project SLUG --name WHAT` makes one.")


@token.command()
@click.argument("revoked", metavar="ID")
@asks_server
def revoke(session: Session, revoked: str) -> None:
    """Revoke the token with this ID, or its first characters: requests with it are refused from now on."""
    found = one_by_id(session, "tokens", "token", revoked)
    session.transport.call("DELETE", session.in_project(f"tokens/{found['id']}"))
    session.screen.note(f"Revoked the token {found['name']} ({found['role']}).")


@token.command("revoke-operator")
@click.argument("revoked", type=click.UUID, metavar="ID")
@home_option
def revoke_operator(revoked: uuid.UUID, home: Path | None) -> None:
    """Revoke the token of every project with this ID, in the database itself: no token is needed.

    `registry whoami --json` with the token in REGISTRY_TOKEN says its ID.
    """
    with Database(settings_of_servers(home), name="token").transaction() as connection:
        revoke_token(connection, COMMAND, None, revoked)
    click.echo(f"Revoked the token {revoked}, which was of every project.", err=True)
