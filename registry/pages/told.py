"""Events as people read them: a sentence with what it is about as a link."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from registry.pages.links import name_page, to
from registry.pages.said import WORDS
from registry.renderings.event_lines import event_line

Data = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Sentence:
    """What was done: words, what it was done to with its page ("" where there is none), words, and more beside it."""

    before: str
    what: str
    page: str
    after: str
    beside: str = ""
    tone: str = ""
    """good, bad, or neither."""


def sentence(project: str, type_: str, data: Data) -> Sentence:
    """An event of the project with this slug in words. One whose names were purged says what kind of thing it was."""
    kind, _, act = type_.partition(".")
    tell = _TELLS.get(kind)
    if not data or tell is None:
        words = type_.replace(".", " ").replace("_", " ")
        return Sentence(words, "", "", "", event_line(data) if data else "what it was about is gone for good")
    return tell(project, act, data)


def _grid(project: str, act: str, data: Data) -> Sentence:
    if act == "purged":
        return Sentence("A deleted grid was removed for good", "", "", "")
    words = {
        "published": "was published",
        "revised": f"has revision {data.get('revision')}",
        "updated": "is described anew",
        "deleted": "was deleted",
        "restored": "is there again",
    }
    return _of_grid(data, words.get(act, act), there=act != "deleted")


def _of_grid(data: Data, after: str, *, there: bool = True, tone: str = "") -> Sentence:
    names = " · ".join(str(data[one]) for one in ("benchmark", "model", "variant") if data.get(one))
    page = to(f"/grids/{data['grid']}") if there and "grid" in data else ""
    return Sentence("", names or "A grid", page, after, str(data.get("experiment", "")), tone)


def _items(_project: str, _act: str, data: Data) -> Sentence:
    count = data.get("cells")
    return _of_grid(data, f"has outcomes of items in {count} more {'cell' if count == 1 else 'cells'}")


def _statistics(_project: str, act: str, data: Data) -> Sentence:
    if act == "failed":
        return _of_grid(data, f"has no statistics: {data.get('reason', '')}", tone="bad")
    return _of_grid(data, f"has its statistics, of revision {data.get('revision')}")


def _ranking(project: str, _act: str, data: Data) -> Sentence:
    experiment, metric = str(data.get("experiment", "")), str(data.get("metric", ""))
    page = to(f"/projects/{project}/rankings", experiment=experiment, metric=metric)
    leaders = [str(one) for one in data.get("leaders", ())]
    leads = f": {', '.join(leaders)} {'leads' if len(leaders) == 1 else 'lead'}" if leaders else ""
    begins = "exists now" if data.get("first") else "has another order"
    moved = [f"{one['name']} {_rank(one['before'])} → {_rank(one['now'])}" for one in data.get("moved", ())]
    return Sentence("The ranking of", f"{experiment} by {metric}", page, f"{begins}{leads}", "; ".join(moved))


def _rank(rank: int | None) -> str:
    return "–" if rank is None else str(rank)


def _claim(_project: str, act: str, data: Data) -> Sentence:
    verdict = str(data.get("verdict", ""))
    judged = WORDS.get(verdict, verdict).lower()
    words = {
        "created": "is kept from now on",
        "updated": "is another sentence, or from another source",
        "deleted": "was removed",
        "restored": "is kept again",
        "judged": f"is {judged}",
        "flipped": f"is now {judged}",
    }
    was = f"it was {WORDS.get(data['before'], data['before']).lower()} before" if data.get("before") else ""
    beside = " · ".join(filter(None, (was, str(data.get("experiment", "")))))
    page = to(f"/claims/{data['claim']}") if act != "deleted" and "claim" in data else ""
    tone = {"contradicted": "bad", "supported": "good"}.get(verdict, "")
    text = str(data.get("text") or "")
    return Sentence("The claim", f"“{text}”" if text else "without words", page, words.get(act, act), beside, tone)


def _baseline(project: str, act: str, data: Data) -> Sentence:
    name, words = str(data.get("baseline", "")), {"set": "has a definition", "deleted": "was deleted"}
    version = f" (version {data['version']})" if act == "set" and data.get("version") else ""
    page = to(f"/projects/{project}/baselines/{name}") if act != "deleted" else ""
    return Sentence("The baseline", name, page, words.get(act, act) + version)


def _gate(project: str, _act: str, data: Data) -> Sentence:
    name, passes = str(data.get("baseline", "")), data.get("passes")
    tone = "" if passes is None else "good" if passes else "bad"
    says = f"says of {data.get('contender')}: {str(data.get('verdict', '')).replace('_', ' ')}"
    page = to(f"/projects/{project}/baselines/{name}")
    return Sentence("The baseline", name, page, says, str(data.get("sentence", "")), tone)


def _alert(project: str, act: str, data: Data) -> Sentence:
    name, words = str(data.get("baseline", "")), {"opened": "opened again" if data.get("reopened") else "opened"}
    cell = ", ".join(f"{axis} {level}" for axis, level in (data.get("at") or {}).items())
    where = ": ".join(filter(None, (str(data.get("benchmark") or ""), cell)))
    why = str(data.get("resolution") or data.get("reason") or "").replace("_", " ")
    after = f"was {words.get(act, act)} for {data.get('model')}"
    tone = {"opened": "bad", "resolved": "good"}.get(act, "")
    page = to(f"/projects/{project}/baselines/{name}")
    return Sentence("An alert of", name, page, after, " · ".join(filter(None, (where, why))), tone)


def _import(_project: str, _act: str, data: Data) -> Sentence:
    counts = ", ".join(f"{data[one]} {one}" for one in ("new", "unchanged", "failed") if data.get(one))
    more = data.get("sources", 1) - 1
    others = f" and {more} more" if more > 0 else ""
    return Sentence("Grids were imported from", str(data.get("source", "")) + others, "", "", counts)


def _alias(project: str, act: str, data: Data) -> Sentence:
    kind, name = str(data.get("kind", "")), str(data.get("name", ""))
    verb = "now stands for" if act == "created" else "no longer stands for"
    return Sentence(f"The {kind} {data.get('alias', '')} {verb}", name, name_page(project, kind, name), "")


def _suite(_project: str, act: str, data: Data) -> Sentence:
    return Sentence("The suite", str(data.get("suite", "")), "", "was deleted" if act == "deleted" else "was set")


def _experiment(project: str, act: str, data: Data) -> Sentence:
    name = str(data.get("experiment", ""))
    after = "has other binding keys of protocols" if act == "protocol_set" else "is described anew"
    return Sentence("The experiment", name, name_page(project, "experiment", name), after)


def _project(project: str, _act: str, data: Data) -> Sentence:
    changed = ", ".join(data.get("changed", ()))
    return Sentence("The project", project, to(f"/projects/{project}"), "has changed", changed)


_TELLS: Mapping[str, Callable[[str, str, Data], Sentence]] = {
    "grid": _grid,
    "items": _items,
    "statistics": _statistics,
    "ranking": _ranking,
    "claim": _claim,
    "baseline": _baseline,
    "gate": _gate,
    "alert": _alert,
    "import": _import,
    "alias": _alias,
    "suite": _suite,
    "experiment": _experiment,
    "project": _project,
}
