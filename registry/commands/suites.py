"""`registry suite`: set a list of benchmarks that are ranked together, list those there are, delete one."""

from __future__ import annotations

from typing import Any

import click

from registry.commands.screen import styled
from registry.commands.session import Session, asks_server
from registry.errors import NotFound
from registry.renderings.table import Column, Table
from results_registry.errors import NotThere
from results_registry.origin import segment


@click.group(name="suite")
def suite() -> None:
    """Set, list and delete suites: lists of benchmarks for `registry rank --suite`."""


@suite.command(name="set")
@click.argument("name")
@click.argument("benchmarks", nargs=-1, required=True)
@asks_server
def set_suite(session: Session, name: str, benchmarks: tuple[str, ...]) -> None:
    """Make the suite NAME of these BENCHMARKS, or give it other ones.

    Each is whole, or at levels of its own: STS22@subset=en,split=test.
    """
    found = session.transport.call("PUT", _path(session, name), {"benchmarks": list(benchmarks)}).json()
    count = len(found["benchmarks"])
    session.screen.show(
        found,
        lambda: [f"The suite {found['name']} has {count} {'benchmark' if count == 1 else 'benchmarks'}."],
        lambda: _rows([found]),
        essence=lambda: [found["name"]],
    )
    for warning in found["warnings"]:
        session.screen.note(f"Warning: {warning['detail']}")


@suite.command(name="ls")
@asks_server
def list_suites(session: Session) -> None:
    """List the suites of a project with their benchmarks, a row each."""
    found = list(session.transport.pages(session.in_project("suites")))
    header, rows = _rows(found)
    table = Table([Column(title, [row[place] for row in rows]) for place, title in enumerate(header)])
    shown: list[Any] = (
        [styled(table, {})] if rows else ["No suite yet; `registry suite set NAME BENCHMARK …` makes one."]
    )
    session.screen.show(found, lambda: shown, lambda: (header, rows), essence=lambda: [one["name"] for one in found])


@suite.command(name="rm")
@click.argument("name")
@asks_server
def remove(session: Session, name: str) -> None:
    """Delete a suite; the grids stay as they are."""
    try:
        session.transport.call("DELETE", _path(session, name))
    except NotThere:
        raise NotFound(f'The project {session.project} has no suite "{name}".') from None
    session.screen.note(f"Deleted the suite {name}.")


def _path(session: Session, name: str) -> str:
    return session.in_project(f"suites/{segment(name)}")


def _rows(found: list[dict[str, Any]]) -> tuple[tuple[str, str], list[list[str]]]:
    return ("suite", "benchmark"), [[one["name"], benchmark] for one in found for benchmark in one["benchmarks"]]
