"""The pages of what baselines found: the alerts of a project, and a baseline with its verdicts."""

from __future__ import annotations

import itertools
import uuid
from collections.abc import Sequence
from typing import Any

from flask import Response
from sqlalchemy import Connection

from registry.api.context import enter, parts
from registry.errors import Invalid
from registry.operations.alerts import LIVE, alert_of, alerts_of, count_dismissed, list_alerts
from registry.operations.baseline_checks import what_it_reaches
from registry.operations.baselines import find_baseline, list_baselines
from registry.operations.verdicts import last_verdicts, list_verdicts, verdict_of
from registry.pages.front import pages
from registry.pages.links import data_path
from registry.pages.live import GATES, live_on
from registry.pages.responses import page
from registry.renderings.policy import policy_in_words, subject_in_words
from registry.results.codec import from_document
from registry.results.gates import Definition, Reachable
from registry.results.inputs import Warning

_LIVE, _SETTLED, _BASELINES, _VERDICTS = 200, 50, 200, 200
"""How many of each a page lists; all of them are in the JSON."""


@pages.get("/projects/<project>/alerts")
def alerts(project: str) -> Response:
    """What fails now, by the change that it came with; what was settled last; and the baselines."""
    with parts().database.reading() as connection:
        row = enter(connection, project, "reader")
        live = list_alerts(connection, row.id, {"state": LIVE}, None, _LIVE + 1)
        settled = list_alerts(connection, row.id, {"state": ("dismissed", "resolved")}, None, _SETTLED)
        dismissed = count_dismissed(connection, row.id)
        baselines = list_baselines(connection, row.id, None, _BASELINES)

    def context() -> dict[str, Any]:
        return {
            "project": row,
            "groups": groups_of(live[:_LIVE]),
            "more": len(live) > _LIVE,
            "dismissed": dismissed,
            "settled": [(alert_of(one), where(one), one.updated_at) for one in settled],
            "baselines": [(one, subject_in_words(definition_of(one))) for one in baselines],
            "feed": live_on(row, GATES),
            "json": data_path(f"/projects/{project}/alerts", row.visibility),
        }

    made_of = [tags(live), tags(settled), dismissed, [(one.id, one.version) for one in baselines]]
    return page("alerts.html", made_of, context)


@pages.get("/projects/<project>/baselines/<baseline>")
def baseline(project: str, baseline: str) -> Response:
    """What a baseline asks for, whether it can be reached, and how its contenders stand."""
    with parts().database.reading() as connection:
        row = enter(connection, project, "reader")
        found = find_baseline(connection, row.id, baseline)
        definition = definition_of(found)
        reached = _reached(connection, row.id, definition)
        latest = last_verdicts(connection, found.id, found.version, _VERDICTS)
        history = list_verdicts(connection, found, None, None, _SETTLED)
        live = list_alerts(connection, row.id, {"baseline": (found.name,), "state": LIVE}, None, _LIVE)
        going, precision = alerts_of(connection, found.id)
        dismissed = count_dismissed(connection, row.id, found.id)

    def context() -> dict[str, Any]:
        return {
            "project": row,
            "baseline": found,
            "definition": definition,
            "subject": subject_in_words(definition),
            "sentences": list(policy_in_words(definition)),
            "reached": reached,
            "latest": [(verdict_of(one), one.created_at) for one in latest],
            "history": [(verdict_of(one), one.created_at) for one in history],
            "groups": groups_of(live),
            "going": going,
            "dismissed": dismissed,
            "precision": precision,
            "feed": live_on(row, GATES, baseline=[baseline]),
            "json": data_path(f"/projects/{project}/baselines/{baseline}", row.visibility),
        }

    made_of = [
        found.version,
        reached,
        [one.id for one in latest],
        [one.id for one in history],
        tags(live),
        precision,
        dismissed,
    ]
    return page("baseline.html", made_of, context)


def definition_of(row: Any) -> Definition:
    """The definition of a baseline."""
    return from_document(Definition, row.definition)


def _reached(connection: Connection, project_id: uuid.UUID, definition: Definition) -> Reachable:
    try:
        return what_it_reaches(connection, project_id, definition)
    except Invalid as error:
        return Reachable(False, warnings=tuple(Warning("gone", f"{at[1:]}: {told}.") for at, told in error.faults))


def groups_of(rows: Sequence[Any]) -> list[list[Any]]:
    """Alerts with their places and when they were opened, together where one change of the scope opened them."""
    grouped = itertools.groupby(rows, lambda one: (one.opened_at, one.group_id))
    return [[(alert_of(one), where(one), one.opened_at) for one in mine] for _, mine in grouped]


def where(row: Any) -> str:
    """What of the contender fails."""
    cell = ", ".join(f"{name} {level}" for name, level in (row.at or {}).items())
    return ": ".join(filter(None, (row.benchmark or "", cell))) or "over all benchmarks"


def tags(rows: Sequence[Any]) -> list[tuple[Any, int]]:
    """What tells one state of a list of alerts from another."""
    return [(one.id, one.version) for one in rows]
