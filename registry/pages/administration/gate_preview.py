"""The preview of a baseline: what it would have said of what was published lately, before it is saved."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

from registry.api.cached_results import ask, settled
from registry.api.context import parts
from registry.operations.find import Filters
from registry.operations.gate_questions import gates_since
from registry.operations.scope_options import is_lower_better
from registry.pages.blocks import typeset
from registry.pages.gates import WORDS, Standings, Stands, standings_shown, worst_first
from registry.pages.queries import state_of
from registry.results.codec import read, to_document
from registry.results.gates import Definition, Gate, Reachable

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
    scope = Filters(experiment=[definition.experiment], metric=[definition.metric])
    with parts().database.reading() as connection:
        lower = is_lower_better(connection, project.id, scope)
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
        standings_shown(shown, gates, definition, lower),
        ", ".join(f"{word} {count}" for word, count in counts.items() if count),
        len(questions),
        len(every) - len(questions),
        pending,
        definition.policy.looks == "alpha_spending",
    )
