"""The experiment and metric that a question is about, found where there is no other."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from shlex import quote

import click

from registry.commands.grids import KINDS, Named, find_grids
from registry.commands.session import Session
from registry.errors import NotFound

_ASKED = 64
"""Largest number of pairs of an experiment and a metric that are queried one by one."""


def one_scope(session: Session, named: Named, done: str) -> dict[str, str]:
    """Experiment and metric that a question is about; `NotFound` with the choices where there are several. `done` says
    what is done with them."""
    for kind in ("experiment", "metric"):
        if len(named[kind]) > 1:
            raise click.UsageError(f"One {kind} is {done}; --{kind} is given {len(named[kind])} times.")
    if named["experiment"] and named["metric"]:
        return {"experiment": named["experiment"][0], "metric": named["metric"][0]}
    pairs = _pairs(session, named)
    if len(pairs) == 1:
        return dict(zip(("experiment", "metric"), pairs[0], strict=True))
    if not pairs:
        raise NotFound(f"No grid in {session.project} at {session.config.url} fits; `registry ls` lists them.")

    listed = "\n".join(f"  -e {quote(one)} --metric {quote(other)}" for one, other in itertools.islice(pairs, 20))
    raise NotFound(f"Say which of these {len(pairs)} is {done}:\n{listed}")


def _pairs(session: Session, named: Named) -> list[tuple[str, str]]:
    """Experiments with the metrics of their grids: queried pair by pair if those are few, else grid by grid."""
    choices = [list(named[kind]) or _names(session, kind) for kind in ("experiment", "metric")]
    pairs = list(itertools.product(*choices))
    if len(pairs) > _ASKED:
        grids = find_grids(session, _kinds(named))
        return list(dict.fromkeys((one["experiment"], one["metric"]["name"]) for one in grids))
    queries = [({**_kinds(named), "experiment": (one,), "metric": (other,)}, (one, other)) for one, other in pairs]
    return [pair for query, pair in queries if next(find_grids(session, query, limit=1), None) is not None]


def _names(session: Session, kind: str) -> list[str]:
    """The first names of a kind in use; more are not needed for a message."""
    listed = session.transport.get(session.in_project(f"{kind}s"), limit=_ASKED + 1)["items"]
    return [str(one["name"]) for one in listed]


def _kinds(named: Named) -> dict[str, Sequence[str]]:
    return {kind: named[kind] for kind in KINDS}
