"""Paths of the pages of what sentences are about; whoever writes an address puts a host before, or a share behind."""

from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import quote, urlencode

from registry.results.judgement import EventSentence, Target


class PagePath(NamedTuple):
    """An encoded path and a query of texts that are not encoded."""

    path: str
    query: Mapping[str, str] = {}

    def __str__(self) -> str:
        return f"{self.path}?{urlencode(self.query)}" if self.query else self.path


def page_of_event(project: str, position: int | None, told: EventSentence) -> str:
    """Path and query of the page of what an event is about; without one, that of the events of its project up to it."""
    if told.target is not None:
        return str(page_of_target(project, told.target))
    return str(PagePath(f"/projects/{project}/events", {} if position is None else {"before": str(position + 1)}))


def page_of_target(project: str, target: Target) -> PagePath:
    """The page of a target in the project with this slug."""
    home = f"/projects/{project}"
    match target:
        case Target("project"):
            return PagePath(home)
        case Target("grid" | "claim" as kind, id_):
            return PagePath(f"/{kind}s/{quote(id_, safe='')}")
        case Target("baseline", name):
            return PagePath(f"{home}/baselines/{quote(name, safe='')}")
        case Target("ranking", experiment, metric, since, as_of):
            instants = {"since": since, "as_of": as_of} if since else {}
            return PagePath(f"{home}/rankings", {"experiment": experiment, "metric": metric, **instants})
        case Target(kind, name):
            return page_of_name(project, kind, name)


def page_of_name(project: str, kind: str, name: str) -> PagePath:
    """The page of the name of a model, a benchmark, a metric or an experiment.

    A browser takes `.` and `..` out of a path, and a proxy empty segments: a name with those goes into the query.
    """
    home = f"/projects/{project}/{kind}s"
    if not any(part in ("", ".", "..") for part in name.split("/")):
        return PagePath(f"{home}/{quote(name)}")
    if kind == "experiment":
        return PagePath(f"/projects/{project}/grids", {"experiment": name})
    return PagePath(home, {"name": name})
