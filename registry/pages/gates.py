"""Pages of gates: a project's alerts, and a baseline with its verdicts. Settings preview a candidate here: what it
would have said of what was published lately."""

import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

from flask import Response
from sqlalchemy import Connection

from registry.api.answers import ask, settled
from registry.api.baselines import reached
from registry.api.context import enter, parts
from registry.grids.slices import PARAMETER
from registry.operations.alerts import (
    LIVE,
    alert_of,
    alerts_of,
    count_dismissed,
    count_failing,
    last_verdicts,
    list_alerts,
    verdict_of,
)
from registry.operations.baselines import find_baseline, is_being_judged, list_baselines
from registry.operations.gate_questions import gates_since
from registry.operations.scope_options import posted_metric
from registry.operations.suites import suites_by_benchmarks
from registry.pages.drawings import Whiskers, whiskers_of
from registry.pages.front import pages
from registry.pages.links import data_path, results_page
from registry.pages.live import GATES, PENDING_SECONDS, SETTLED_SECONDS, live_on
from registry.pages.responses import page, state_of
from registry.renderings.numbers import places_of, signed, typeset
from registry.renderings.policies import benchmarks_in_words, policy_in_words, reach_in_words, subject_in_words
from registry.renderings.verdicts.estimate import Yardstick
from registry.renderings.words import label, place
from registry.results.alerts import Alert, FailingPlace, StoredVerdict
from registry.results.codec import from_document, read, to_document
from registry.results.gates import Definition, Gate, PolicyKind, Reachable
from registry.results.terms import Interval

_LIVE, _BASELINES, _VERDICTS, _PLACES = 200, 200, 200, 5
"""How many of each a page lists, and places in which one contender fails; all of them are in the JSON."""
_GOING = (*LIVE, "dismissed")
_WHOLE = "the mean over its benchmarks"
Gap = StoredVerdict | FailingPlace | Gate
"""What has a gap to a baseline."""


@pages.get("/projects/<project>/alerts")
def alerts(project: str) -> Response:
    """What fails now, and the baselines."""
    with parts().database.reading() as connection:
        row = enter(connection, project, "reader")
        live = list_alerts(connection, row.id, {"state": LIVE}, None, _LIVE + 1)
        dismissed = count_dismissed(connection, row.id)
        baselines = list_baselines(connection, row.id, None, _BASELINES)
        suites = suites_by_benchmarks(connection, row.id)
        failing = count_failing(connection, baselines)

    defined = {one.name: definition_of(one) for one in baselines}

    def context() -> dict[str, Any]:
        return {
            "project": row,
            "alerts": [(told(one), where(one), one.opened_at, links_of(project, one, defined)) for one in live[:_LIVE]],
            "more": len(live) > _LIVE,
            "dismissed": dismissed,
            "baselines": [
                (one, *said_of_baseline(defined[one.name], suites), failing.get(one.id)) for one in baselines
            ],
            "feed": live_on(row, GATES),
            "json": data_path(f"/projects/{project}/alerts", row.visibility),
        }

    made_of = [tags(live), dismissed, [(one.id, one.version) for one in baselines], failing, sorted(suites.values())]
    return page("alerts.html", made_of, context)


@pages.get("/projects/<project>/baselines/<baseline>")
def baseline(project: str, baseline: str) -> Response:
    """What a baseline asks for, whether it can be reached, and how its contenders stand."""
    with parts().database.reading() as connection:
        row = enter(connection, project, "reader")
        found = find_baseline(connection, row.id, baseline)
        definition = definition_of(found)
        reached_ = reached(connection, row.id, definition)
        judging = is_being_judged(connection, row.id, found)
        latest = last_verdicts(connection, found.id, found.version, _VERDICTS)
        going = list_alerts(connection, row.id, {"baseline": (found.name,), "state": _GOING}, None, _LIVE)
        _, precision = alerts_of(connection, found.id)
        yardstick = yardstick_of(connection, row.id, definition)
        suite = suites_by_benchmarks(connection, row.id).get(frozenset(definition.benchmarks), "")

    def context() -> dict[str, Any]:
        verdicts = [verdict_of(one) for one in latest]
        return {
            "project": row,
            "baseline": found,
            "definition": definition,
            "subject": subject_in_words(definition),
            "sentences": list(policy_in_words(definition, yardstick, suite)),
            "reach": list(reach_in_words(definition.policy.kind, reached_, yardstick)),
            "warnings": reached_.warnings,
            "standings": standings_shown(project, standings_of(verdicts, going), verdicts, definition, yardstick),
            "precision": precision,
            "judging": judging,
            "every": PENDING_SECONDS if judging else SETTLED_SECONDS,
            "feed": live_on(row, GATES, baseline=[baseline]),
            "json": data_path(f"/projects/{project}/baselines/{baseline}", row.visibility),
            "verdicts_json": data_path(f"/projects/{project}/baselines/{baseline}/verdicts", row.visibility),
        }

    made_of = [found.version, reached_, [one.id for one in latest], tags(going), precision, yardstick, suite, judging]
    return page("baseline.html", made_of, context)


@dataclass(frozen=True, slots=True)
class Links:
    """Where the numbers of a gate lead: to the comparison with the baseline, "" without one, and to the contender's
    grids."""

    compared: str = ""
    grids: str = ""


def links_to(project: str, definition: Definition, contender: str, against: str | None, place: Any = None) -> Links:
    """What leads to the numbers of a verdict, or of the benchmark or cell of a `place` alone."""
    benchmarks = [place.benchmark] if place and place.benchmark else definition.benchmarks
    at = (place.at or {}) if place else {}
    asked = [
        *(("experiment", definition.experiment), ("metric", definition.metric)),
        *(("benchmark", one) for one in benchmarks),
        *(("variant", one) for one in definition.variants),
        *((PARAMETER + axis, label(level)) for axis, level in at.items()),
    ]
    baseline = against or definition.subject.model
    sides = [("contender_model", contender), ("baseline_model", baseline or "")]
    compares = baseline and definition.policy.kind != "floor"
    return Links(
        results_page(project, "compare", [*asked, *sides]) if compares else "",
        results_page(project, "heatmaps", [*asked, ("model", contender)]),
    )


def links_of(project: str, alert: Any, defined: Mapping[str, Definition]) -> Links:
    """The same of an alert."""
    definition = defined.get(alert.baseline)
    return links_to(project, definition, alert.model, alert.against, alert) if definition else Links()


@dataclass(frozen=True, slots=True)
class Stands:
    """How a contender stands, or a `place` of it that fails; `gap` has the numbers."""

    model: str
    gap: Gap
    word: tuple[str, str]
    """A class, and whether it passes, in words."""
    sentence: str
    against: str = ""
    place: str = ""
    alert: Any = None
    links: Links = Links()


@dataclass(frozen=True, slots=True)
class Standings:
    """How contenders stand, with their gaps as texts and as a forest plot; `previous` says that each has a baseline
    of its own, `floor` that gaps are to a floor."""

    rows: Sequence[Stands]
    gaps: Sequence[str]
    forest: Whiskers | None
    previous: bool
    floor: bool


def standings_shown(
    project: str,
    rows: Sequence[Stands],
    verdicts: Sequence[StoredVerdict | Gate],
    definition: Definition,
    yardstick: Yardstick,
) -> Standings:
    """The rows as a template takes them, with the margin of the verdicts that they are made of."""
    rows = [
        replace(one, links=links_to(project, definition, one.model, one.against, one.gap if one.place else None))
        for one in rows
    ]
    places = places_of(one.gap.gap for one in rows)
    gaps = [typeset(signed(one.gap.gap, places)) if one.gap.gap is not None else "" for one in rows]
    margin = next((one.margin for one in verdicts if one.margin is not None), None)
    margins = margins_of(definition.policy.kind, margin, yardstick.direction == "lower")
    forest = forest_of([one.gap for one in rows], margins)
    return Standings(rows, gaps, forest, bool(definition.subject.previous), definition.policy.kind == "floor")


def forest_of(gaps: Sequence[Gap], margins: Sequence[float]) -> Whiskers | None:
    """Gaps to a baseline as a forest plot around no difference, with the margins; None where no gap is known."""

    def between(one: Gap) -> Interval | None:
        return None if one.low is None or one.high is None else Interval(0.0, one.low, one.high)

    return whiskers_of([(one.gap, between(one)) for one in gaps], around_zero=True, margins=margins)


def margins_of(kind: PolicyKind, margin: float | None, lower_is_better: bool) -> list[float]:
    """Where a policy turns: on the worse side of no difference, of `improves` on the better one, or on both."""
    if kind == "floor" or not margin:
        return []
    if kind == "equivalent":
        return [-margin, margin]
    return [margin if lower_is_better is not (kind == "improves") else -margin]


_FAILS = "refused", "fails"
WORDS = {False: _FAILS, None: ("", "not shown"), True: ("kept", "passes")}
"""Whether a contender passes, as a class and in words, what fails first."""


def standings_of(verdicts: Sequence[StoredVerdict], going: Sequence[Any]) -> list[Stands]:
    """The last verdict on each contender, what fails first and each by its gap, with where it fails below it."""
    alerts_by = {(one.model, where(one)): alert_of(one) for one in going}
    found = []
    for one in sorted(verdicts, key=worst_first):
        alert, name = alerts_by.get((one.contender, _WHOLE)), one.contender
        found.append(Stands(name, one, WORDS[one.passes], typeset(one.sentence), one.against or "", alert=alert))
        places = [(where(failing), failing) for failing in one.failing]
        shown = [(there, failing) for there, failing in places if there != _WHOLE][:_PLACES]
        found += [
            Stands(name, failing, _FAILS, "", one.against or "", there, alert=alerts_by.get((name, there)))
            for there, failing in shown
        ]
        if shown and (more := one.failed - len(shown)) > 0:
            found[-1] = replace(found[-1], place=f"{found[-1].place}, and {more:,} more")
    return found


def worst_first(one: StoredVerdict | Gate) -> tuple[int, float, str]:
    """What verdicts are ordered by: what fails first, and each by its gap."""
    return list(WORDS).index(one.passes), one.gap or 0.0, one.contender


def said_of_baseline(definition: Definition, suites: Mapping[frozenset[str], str]) -> tuple[str, str]:
    """What a baseline is, and of which benchmarks if not of all."""
    suite = suites.get(frozenset(definition.benchmarks), "")
    return subject_in_words(definition), benchmarks_in_words(definition, suite)


def definition_of(row: Any) -> Definition:
    """The definition of a baseline."""
    return from_document(Definition, row.definition)


def yardstick_of(connection: Connection, project_id: uuid.UUID, definition: Definition) -> Yardstick:
    """How gaps to a baseline are read, by the metric as it was posted."""
    return Yardstick.of(posted_metric(connection, project_id, definition.experiment, definition.metric))


def told(row: Any) -> Alert:
    """An alert as it is served, typeset."""
    found = alert_of(row)
    return replace(found, sentence=typeset(found.sentence))


def where(row: Any) -> str:
    """What of the contender fails, by an alert or a place of a verdict."""
    return ": ".join(filter(None, (row.benchmark or "", place(row.at or {})))) or _WHOLE


def tags(rows: Sequence[Any]) -> list[tuple[Any, int]]:
    """What tells one state of a list of alerts from another."""
    return [(one.id, one.version) for one in rows]


DAYS, _MOST = 30, 12
_PATIENCE = 8.0
"""Seconds for which all answers are awaited together."""


@dataclass(frozen=True, slots=True)
class Preview:
    """What a candidate says of the contenders that were `asked` about, and how many were not; `pending` answers are
    being computed."""

    name: str
    reached: Reachable
    standings: Standings
    tally: str
    asked: int
    more: int
    pending: int
    spends: bool
    """Whether its stored verdicts are by less than alpha each."""
    days: int = DAYS


def previewed(project: Any, name: str, definition: Definition, reached: Reachable) -> Preview:
    """Ask the gate about the latest contenders; nothing but its answers is kept, as those of any question are."""
    candidate = SimpleNamespace(name=name, version=0, definition=to_document(definition))
    with parts().database.reading() as connection:
        yardstick = yardstick_of(connection, project.id, definition)
        every = gates_since(connection, project.id, candidate, datetime.now(UTC) - timedelta(DAYS))
    questions = every[:_MOST]
    for question in questions:
        ask(question, project.slug)
    until = time.monotonic() + _PATIENCE
    rows = [ask(question, project.slug, patience=max(0.0, until - time.monotonic()))[1] for question in questions]
    ready = [(read(Gate, row.document), question) for row, question in zip(rows, questions, strict=True)
             if state_of(row) == "ready"]  # fmt: skip
    ready.sort(key=lambda pair: worst_first(pair[0]))
    shown = [
        Stands(gate.contender, gate, WORDS[gate.passes], typeset(gate.sentence), question.baseline_model)
        for gate, question in ready
    ]
    gates = [gate for gate, _ in ready]
    pending = sum(not settled(row) for row in rows)
    counts = {word: sum(gate.passes is passes for gate in gates) for passes, (_, word) in WORDS.items()}
    counts |= {"being computed": pending, "failed to be computed": len(rows) - len(ready) - pending}
    return Preview(
        name,
        reached,
        standings_shown(project.slug, shown, gates, definition, yardstick),
        ", ".join(f"{word} {count}" for word, count in counts.items() if count),
        len(questions),
        len(every) - len(questions),
        pending,
        definition.policy.looks == "alpha_spending",
    )
