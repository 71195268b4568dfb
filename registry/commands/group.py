"""Group of all commands: imports a command when it is called, and turns errors into a sentence and an exit status.

Errors that commands raise themselves, and the exit statuses of all, for scripts to branch on.
"""

import importlib
import os
import sys
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from registry.errors import Forbidden, RegistryError, Unauthenticated, Unavailable
from results_registry.errors import ClientError, NotAllowed, NotNow, Unreachable

Sections = Mapping[str, Mapping[str, tuple[str, str]]]
"""Title of a section → name of a command → ("module:function", line of help)."""


class LazyGroup(click.Group):
    """Commands by name; help and completion read the names and lines, and import no command."""

    def __init__(self, *args: Any, sections: Sections, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._sections = sections
        self._places = {name: place for entries in sections.values() for name, (place, _) in entries.items()}
        # Placeholders, of which click needs only the names: existing commands, and the nearest to a misspelt one.
        self.commands = {
            name: click.Command(name, short_help=line)
            for entries in sections.values()
            for name, (_, line) in entries.items()
        }

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return the command; None if there is none of this name."""
        place = self._places.get(cmd_name)
        if place is None:
            return None
        module, _, function = place.partition(":")
        command = getattr(importlib.import_module(module), function)
        assert isinstance(command, click.Command), place  # noqa: S101 (a mistake in the mapping, not of the user)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Commands in their sections, with the columns aligned over all of them."""
        widest = max(map(len, self.commands))
        for title, entries in self._sections.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(widest), line) for name, (_, line) in entries.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Matching names of commands, with their lines; then the group's own options."""
        found = [
            CompletionItem(name, help=command.short_help)
            for name, command in self.commands.items()
            if name.startswith(incomplete)
        ]
        return found + click.Command.shell_complete(self, ctx, incomplete)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command. An error of the registry becomes one sentence, unless --debug asks for the traceback."""
        try:
            return super().invoke(ctx)
        except USER_ERRORS as error:
            if ctx.params.get("debug"):
                traceback.print_exc()
            click.echo(f"Error: {_sentence(error)}", err=True)
            ctx.exit(status_of(error))
        except KeyboardInterrupt:
            ctx.exit(INTERRUPTED)
        except BrokenPipeError:
            _write_nowhere()
            ctx.exit(0)


def _sentence(error: "UserError") -> str:
    """Say what went wrong; of a database that is away also why, which only those may know who run it."""
    if not isinstance(error, Unavailable) or not error.cause:
        return error.detail
    return (
        f"{error.detail}\n{error.cause}\nREGISTRY_DATABASE_URL, or --home where the command has it, says where it is."
    )


def _write_nowhere() -> None:
    """Discard further output, also at the end of the process, after the reader of a pipe has gone."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


ERROR = 1
USAGE = 2
CHECK_FAILED = 3
REFUSED = 4
UNREACHABLE = 5
UNDECIDED = 6
INTERRUPTED = 130

UserError = RegistryError | ClientError
USER_ERRORS = (RegistryError, ClientError)
"""Errors whose `detail` is one sentence for the user, raised here or by the client library."""


class CheckFailed(RegistryError):
    """The command did its work, and the check it was asked for fails."""

    code = "check_failed"


class Undecided(RegistryError):
    """The command did its work, and what it was asked to decide cannot be decided."""

    code = "undecided"


def status_of(error: UserError) -> int:
    """Exit status for the kind of error that ended the command."""
    match error:
        case CheckFailed():
            return CHECK_FAILED
        case Undecided():
            return UNDECIDED
        case Unauthenticated() | Forbidden() | NotAllowed():
            return REFUSED
        case Unreachable() | NotNow() | Unavailable():
            return UNREACHABLE
        case _:
            return ERROR


class Unwritable(RegistryError):
    """A file or a directory cannot be written."""

    code = "unwritable"


@contextmanager
def writable(target: str | Path) -> Iterator[None]:
    """Report an error of the system as one of this file or directory, and not as one of the connection."""
    try:
        yield
    except OSError as error:
        raise Unwritable(f"{target} cannot be written: {error.strerror or error}.") from error
