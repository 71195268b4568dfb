"""Verdicts on the contenders of a baseline as they are stored, and what they are about."""

from __future__ import annotations

import math
import uuid
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

import orjson

from registry.grids.protocol import Rules
from registry.results.codec import to_document
from registry.results.gates import Gate, GateUnit
from workers.gate_sentences import sentence_of_unit
from workers.gates import Grids

MOST_FAILING = 100
"""Benchmarks or cells that a verdict lists as failing, each of which is an alert."""


@dataclass(frozen=True, slots=True)
class NewVerdict:
    """A row of `gate_verdicts` without its number."""

    id: uuid.UUID
    contender: str
    inputs_key: uuid.UUID
    look: int | None
    passes: bool | None
    document: Mapping[str, Any]
    grid_ids: tuple[uuid.UUID, ...]


@dataclass(frozen=True, slots=True)
class Standing:
    """How a contender stands by its last verdict. `failing` are the places that fail, by their keys; `cleared` the keys
    of those that keep to the policy although others fail, as far as there are alerts of them; `confirmed` those that
    failed so often that they are worth an alert."""

    verdict_id: uuid.UUID
    is_new: bool
    passes: bool | None
    failing: Mapping[uuid.UUID, Mapping[str, Any]] = field(default_factory=dict)
    cleared: frozenset[uuid.UUID] = frozenset()
    confirmed: frozenset[uuid.UUID] = frozenset()


def inputs_key(rules: Rules, baseline: Grids, contender: Grids) -> uuid.UUID:
    """First 128 bits of the SHA-256 of what a verdict rests on besides its policy. Rows are those of
    `grids_of_scope`."""
    sides = [
        [side, benchmark, variant, str(row.grid_id), row.number, row.items]
        for side, found in (("baseline", baseline), ("contender", contender))
        for (benchmark, variant), row in sorted(found.items(), key=lambda one: one[0])
    ]
    return _hash([rules.document(), sides])


def alert_key(model: str, place: Mapping[str, Any]) -> uuid.UUID:
    """What makes two failures the same: the model, and the benchmark or cell."""
    return _hash([model, place.get("benchmark"), place.get("at")])


def _hash(value: Any) -> uuid.UUID:
    return uuid.UUID(bytes=sha256(orjson.dumps(value, option=orjson.OPT_SORT_KEYS)).digest()[:16])


def at_look(policy: Mapping[str, Any], look: int) -> dict[str, Any]:
    """The policy with the level of this look: those of all looks sum up to alpha, as 1/k^2 do to pi^2/6."""
    spent = 6 / (math.pi * look) ** 2 if policy.get("looks") == "alpha_spending" else 1.0
    return {**policy, "alpha": policy["alpha"] * spent}


def failing_places(gate: Gate, known: Collection[uuid.UUID]) -> list[dict[str, Any]]:
    """What fails, the surest first: up to a limit, and whatever an alert is of already."""
    if gate.passes is not False:
        return []
    if gate.policy.per == "overall":
        return [_place(None, gate.gap, gate.low, gate.high)]
    failed = [_of_unit(unit) | {"sentence": sentence_of_unit(gate, unit)} for unit in gate.per[: gate.failed]]
    more = (place for place in failed[MOST_FAILING:] if alert_key(gate.contender, place) in known)
    return [*failed[:MOST_FAILING], *more]


def cleared_places(gate: Gate, known: Collection[uuid.UUID]) -> frozenset[uuid.UUID]:
    """The keys among the known ones that keep to the policy by themselves."""
    kept = gate.per[gate.failed + gate.undecided :] if known else ()
    return frozenset(known) & {alert_key(gate.contender, _of_unit(unit)) for unit in kept}


def _of_unit(unit: GateUnit) -> dict[str, Any]:
    return _place(unit, unit.gap, unit.low, unit.high)


def _place(unit: GateUnit | None, gap: float | None, low: float | None, high: float | None) -> dict[str, Any]:
    names = {} if unit is None else {"benchmark": unit.benchmark, "at": unit.at}
    told: dict[str, Any] = to_document({name: value for name, value in names.items() if value is not None})
    return told | {"gap": gap, "low": low, "high": high}


_KEPT = (
    *("verdict", "reason", "sentence", "gap", "low", "high", "margin", "unit", "judged", "failed", "undecided"),
    *("common_share", "warnings"),
)


def document_of(gate: Gate, against: str | None, failing: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What a stored verdict says besides its columns; `against` is the model before, where that is the baseline."""
    told = {name: to_document(getattr(gate, name)) for name in _KEPT}
    inputs = [{"grid": one.grid, "revision": one.revision, "side": one.side} for one in gate.inputs]
    return told | {"inputs": inputs, "alpha": gate.policy.alpha, "against": against, "failing": list(failing)}
