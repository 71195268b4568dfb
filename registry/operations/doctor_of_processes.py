"""Checks of a registry's dispatchers and workers, by what they report themselves."""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy import Connection

from registry.methods_version import METHODS_VERSION
from registry.operations.check import Check
from registry.operations.processes import Process, activity_of
from results_registry import __version__

MOST_LAG = 60.0
"""Seconds that webhooks may be behind."""


def check_processes(connection: Connection, pending: int) -> Iterator[Check]:
    """Check that a dispatcher and a worker run, that the broker answers them, and that all are of one release.

    That there is no dispatcher is bad as soon as jobs are pending.
    """
    activity = activity_of(connection)
    dispatchers, workers, inline = (activity.alive(role) for role in ("dispatcher", "worker", "inline-worker"))
    waits = pending + activity.invalidations > 0
    yield _check_dispatchers(dispatchers, activity.dispatcher_silent_seconds, waits=waits)
    yield _check_workers(workers, inline)
    if activity.broker_up is False:
        advice = "The dispatcher does not reach Redis: compare its REGISTRY_REDIS_URL and its log."
        yield Check("broker of dispatcher", "doubtful", "does not answer", advice)
    yield _check_webhooks(activity.webhook_lag)
    everyone = [*dispatchers, *workers, *inline]
    if everyone:
        yield _check_versions(everyone)
        yield _check_methods(everyone)


def _check_dispatchers(dispatchers: list[Process], silent: float, *, waits: bool) -> Check:
    if dispatchers:
        return Check("dispatcher", "good", f"{_places(dispatchers)}, last heard of {silent:.0f} s ago")
    found = "none ever reported" if silent == float("inf") else f"last heard of {silent:.0f} s ago"
    advice = "Start `registry dispatch`: nothing is computed without one."
    return Check("dispatcher", "bad" if waits else "doubtful", found, advice)


def _check_workers(workers: list[Process], inline: list[Process]) -> Check:
    if workers:
        return Check("workers", "good", _places(workers))
    advice = "Start `registry worker`: the dispatcher computes by itself meanwhile, with one process."
    return Check("workers", "doubtful", "only the inline worker" if inline else "none", advice)


def _check_webhooks(lag: float) -> Check:
    if lag <= MOST_LAG:
        return Check("webhooks", "good", f"at most {lag:.0f} s behind")
    advice = "More happens than a receiver takes: fewer types, or one that answers at once (docs/events.md)."
    return Check("webhooks", "doubtful", f"the oldest event has waited for {lag:.0f} s", advice)


def _check_versions(everyone: list[Process]) -> Check:
    versions = sorted({one.version for one in everyone})
    if versions == [__version__]:
        return Check("versions", "good", __version__)
    others = ", ".join(f"{one.role} {one.pid} on {one.host}" for one in everyone if one.version != __version__)
    advice = f"This is {__version__}. Restart what is of another release: {others}."
    return Check("versions", "doubtful", ", ".join(versions), advice)


def _check_methods(everyone: list[Process]) -> Check:
    found = sorted({one.methods_version for one in everyone})
    if found == [METHODS_VERSION]:
        return Check("methods of workers", "good", found[0])
    told = "; ".join(f"{one.methods_version} on {one.host} ({one.role} {one.pid})" for one in everyone)
    if len(found) == 1:
        advice = f"They compute by another release; this one's are {METHODS_VERSION}. Restart them, or update."
        return Check("methods of workers", "doubtful", told, advice)
    advice = "Workers of two releases compute the same results by turns: stop those of the older one."
    return Check("methods of workers", "bad", told, advice)


def _places(found: list[Process]) -> str:
    hosts = sorted({one.host for one in found})
    return f"{len(found)} on {', '.join(hosts)}"
