"""`registry mirror`: a directory of Parquet files that follows projects."""

import signal
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from registry.commands.arguments import Finite
from registry.commands.group import Unwritable, writable
from registry.commands.session import Session, asks_server
from registry.errors import NotFound, NotInstalled
from registry.renderings.words import counted
from results_registry.errors import NotNow, Unreachable

if TYPE_CHECKING:
    from registry.mirror.directory import MirrorDirectory
    from registry.mirror.refresh import Refreshed

_EVERY = 60.0


class _Stopped(BaseException):
    """SIGTERM came."""


@click.command()
@click.argument("directory", type=click.Path(path_type=Path, file_okay=False))
@click.argument("projects", nargs=-1, metavar="[PROJECT]…")
@click.option("--all", "everything", is_flag=True, help="All projects that may be read, new ones too.")
@click.option("-f", "--follow", is_flag=True, help="Go on with what happens, until Ctrl-C or SIGTERM.")
@click.option(
    "--every",
    type=Finite(0.1),
    default=_EVERY,
    show_default=True,
    metavar="SECONDS",
    help="With --follow: how long to wait between two looks.",
)
@asks_server
def mirror(
    session: Session, directory: Path, projects: tuple[str, ...], everything: bool, follow: bool, every: float
) -> None:
    """Keep the current cells of projects as Parquet files in DIRECTORY, for DuckDB and the like.

    The first run reads everything, a later one what events have told since. Without a PROJECT it is that of -p. What
    was deleted is not current any more, what was purged is removed from the files, and a project that may not be read
    any more goes with its files. It can be killed at any time. See docs/recipes/mirror.md.
    """
    if everything and projects:
        raise click.UsageError("--all takes no PROJECT.")
    _check_installed()
    from registry.mirror.directory import opened_directory

    with ExitStack() as stack:
        with writable(directory):
            opened = stack.enter_context(opened_directory(directory, session.config.url))
        stopped = stack.enter_context(_stoppable(follow))
        while not stopped.is_set():
            try:
                _run(session, opened, projects, everything)
            except (Unreachable, NotNow, Unwritable, NotFound) as error:
                if not follow:
                    raise
                session.screen.note(f"{error.detail} Trying again in {every:g} s.")
            if not follow:
                return
            stopped.wait(every)


def _check_installed() -> None:
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        raise NotInstalled("Mirrors need pyarrow: pip install pyarrow.") from None


@contextmanager
def _stoppable(wanted: bool) -> Iterator[threading.Event]:
    """End the block without an error when SIGTERM comes. What a run had not finished is as if it had not begun."""
    stopped = threading.Event()

    def stop(_signal: int, _frame: Any) -> None:
        stopped.set()  # for what is raised in a finalizer is lost
        raise _Stopped

    if not wanted:
        yield stopped
        return
    before = signal.signal(signal.SIGTERM, stop)
    try:
        with suppress(_Stopped):
            yield stopped
    finally:
        signal.signal(signal.SIGTERM, before)


def _run(session: Session, directory: "MirrorDirectory", projects: tuple[str, ...], everything: bool) -> None:
    from registry.mirror.refresh import refresh
    from registry.mirror.source import Source

    if everything:
        visible = [one["slug"] for one in session.transport.pages("projects")]
        slugs = tuple(dict.fromkeys((*visible, *directory.manifest.projects)))
    else:
        slugs = projects or (session.project,)
    done = []
    for slug in slugs:
        with writable(directory.path):
            refreshed = refresh(directory, Source(session.transport, slug))
        done.append(_told(session, refreshed))
    if session.screen.json:
        session.screen.show_json([asdict(one) for one in done])
    absent = [one.project for one in done if one.state == "absent"]
    if absent and not everything:
        raise NotFound(f"Nothing can be read of {', '.join(absent)}: no such project, or not for this token.")


def _told(session: Session, done: "Refreshed") -> "Refreshed":
    if done.anew:
        session.screen.note(f"{done.project}: read anew. {done.anew}")
    if not session.screen.json and not session.screen.quiet:
        click.echo(f"{done.project}: {_sentence(done)}")
    return done


def _sentence(done: "Refreshed") -> str:
    if done.state == "absent":
        return "nothing there that may be read; it is not in the mirror."
    amount = f"{counted(done.cells, 'cell', 'cells')} of {counted(done.grids, 'grid', 'grids')}"
    amount += f", up to event {done.position:,}"
    return f"{done.state}, {amount}" + (f"; {counted(done.written, 'row', 'rows')} written." if done.written else ".")
