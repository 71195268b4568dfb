"""`registry protocol`: which keys of protocols bind in an experiment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from registry.commands.page import styled
from registry.commands.session import Session, asks_server
from registry.renderings.table import Column, Table
from results_registry.origin import segment

_RULES = ("experiment", "required", "role", "key")


@click.group(name="protocol")
def protocol() -> None:
    """Show and set which keys of protocols bind in an experiment."""


@protocol.command(name="show")
@click.argument("experiment")
@asks_server
def show_rules(session: Session, experiment: str) -> None:
    """Show which keys of the protocols of EXPERIMENT bind, and which are free."""
    _show(session, session.transport.get(_path(session, experiment)))


@protocol.command(name="set")
@click.argument("experiment")
@click.option("--binding", multiple=True, metavar="KEY", help="Grids that differ in it are not compared; repeatable.")
@click.option("--free", multiple=True, metavar="KEY", help="Differences in it are not mentioned; repeatable.")
@click.option("--required", is_flag=True, help="A grid that does not say the binding keys is not compared either.")
@asks_server
def set_rules(session: Session, experiment: str, binding: Sequence[str], free: Sequence[str], required: bool) -> None:
    """Declare which keys bind in EXPERIMENT, in place of what was declared before; no key at all: none binds."""
    sent = {"binding": list(binding), "free": list(free), "required": required}
    _show(session, session.transport.call("PATCH", _path(session, experiment), {"protocol": sent}).json())


def _show(session: Session, document: dict[str, Any]) -> None:
    found = {"experiment": document["name"], **document["protocol"]}
    rows = [
        [found["experiment"], "yes" if found["required"] else "no", role, key]
        for role in ("binding", "free")
        for key in found[role]
    ]
    silent = "; a grid that does not say them is not compared" if found["required"] else ""
    told = f"In {found['experiment']} {len(found['binding']) or 'no'} {_keys(len(found['binding']))}{silent}."
    shown = [told, *([_table(_RULES[2:], [row[2:] for row in rows])] if rows else [])]
    session.screen.show(found, lambda: shown, lambda: (_RULES, rows), essence=lambda: list(found["binding"]))


def _keys(count: int) -> str:
    return "key binds" if count < 2 else "keys bind"


def _table(names: Sequence[str], rows: Sequence[Sequence[str]]) -> Any:
    return styled(Table([Column(name, [row[place] for row in rows]) for place, name in enumerate(names)]), {})


def _path(session: Session, experiment: str) -> str:
    return session.in_project(f"experiments/{segment(experiment)}")
