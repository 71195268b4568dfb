"""Judge the contenders of a baseline whose inputs changed since their last verdicts.

`gate.py` gives each verdict; here it gets the form in which `alerts.py` stores it.
"""

import math
import time
import uuid
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from hashlib import sha256
from typing import Any

import orjson
from sqlalchemy import ColumnElement, Connection, and_, func, select

from registry.grids.protocol import Rules
from registry.query import BaselineQuery, GateQuery
from registry.results.codec import to_document
from registry.results.gates import Gate, GateUnit
from registry.storage.database import Database
from registry.storage.gate_scope import PUBLISHED, along_of, grids_of_scope, in_order, question_of
from registry.storage.item_outcomes import Revision, marks_of
from registry.storage.tables import alerts, baseline_versions, baselines, gate_verdicts, new_id, projects
from workers.gates.gate import Grids, gate_of, named, pinned_rows, read_sides, too_large
from workers.gates.wording import sentence_of_unit
from workers.protocols import rules_of
from workers.scope import Aliases, alias_map

SHIFT = 5.0
"""Seconds after which the contenders that are left wait for the next turn."""
_REMEMBERED = 10
"""Verdicts on a contender among which the same inputs are looked for."""


@dataclass(frozen=True, slots=True)
class Judging:
    """What one turn found. `contenders` are all that the baseline judges, in their order; `alerting` those of which
    alerts may be opened; `left` of them have inputs without a verdict yet."""

    name: str
    contenders: tuple[str, ...] = ()
    alerting: frozenset[str] = frozenset()
    verdicts: "tuple[NewVerdict, ...]" = ()
    standings: "Mapping[str, Standing]" = field(default_factory=dict)
    left: int = 0

    @property
    def document(self) -> dict[str, Any]:
        """What is kept with the standing question, which nobody reads: without names."""
        return {"contenders": len(self.contenders), "left": self.left}


@dataclass(frozen=True)
class _Scope:
    """A baseline's question, the grids around it, and what is stored of it."""

    question: GateQuery
    since: datetime
    """When the baseline was first set: what was published before is judged, and alerts nobody."""
    confirm: int
    along: str | None
    rules: Rules
    slug: str
    joined: Aliases
    sides: Mapping[str, Grids]
    order: tuple[str, ...]
    pinned: Grids
    marks: Mapping[Revision, int]
    """Marks of the outcomes of items that these revisions have."""
    looked: int
    """Tests of this version so far."""
    history: Mapping[str, Sequence[Any]]
    keys: Mapping[str, frozenset[uuid.UUID]]
    """Keys of the alerts of each model."""


def judge_contenders(
    database: Database, project_id: uuid.UUID, query: BaselineQuery, most_cells: int, until: float
) -> Judging:
    """Judge one contender after another until the time is over; nothing where the version is no longer the current."""
    with database.snapshot() as connection:
        scope = _scope_of(connection, project_id, query)
    if scope is None:
        return Judging("")
    found, standings, left = list[NewVerdict](), dict[str, Standing](), 0
    looked = scope.looked
    pairs = list(_pairs(scope))
    for contender, before in pairs:
        last = next(iter(scope.history.get(contender, ())), None)
        if last is not None and last.inputs_key == _inputs_key(scope, *_sides(scope, contender, before)):
            failing = {alert_key(contender, place): place for place in last.failing}
            standings[contender] = Standing(last.id, False, last.passes, failing)
        elif found and time.monotonic() > until:
            left += 1
        else:
            with database.reading() as connection:
                judged = _judge(connection, project_id, scope, (contender, before), looked, most_cells)
            if judged is None:
                left += 1
                continue
            verdict, standings[contender] = judged
            looked = max(looked, verdict.look or 0)
            found.append(verdict)
    contenders = tuple(contender for contender, _ in pairs)
    since = [one for one in contenders if any(row.published_at > scope.since for row in scope.sides[one].values())]
    alerting = since if scope.along is None else [one for one in since if one == contenders[-1]]
    return Judging(scope.question.baseline_name, contenders, frozenset(alerting), tuple(found), standings, left)


def _scope_of(connection: Connection, project_id: uuid.UUID, query: BaselineQuery) -> _Scope | None:
    current = and_(
        baseline_versions.c.baseline_id == baselines.c.id, baseline_versions.c.version == baselines.c.version
    )
    here = (baselines.c.id == query.baseline, baselines.c.version == query.policy_version)
    first = select(func.min(baseline_versions.c.created_at)).where(baseline_versions.c.baseline_id == query.baseline)
    since = first.scalar_subquery().label("since")
    columns = (baselines.c.name, baseline_versions.c.definition, projects.c.slug, since)
    statement = (
        select(*columns).join(baseline_versions, current).join(projects, projects.c.id == baselines.c.project_id)
    )
    row = connection.execute(statement.where(*here)).one_or_none()
    if row is None:
        return None
    confirm = row.definition["policy"].get("confirm", 1)
    joined = alias_map(connection, project_id)
    question = question_of(row.name, query.policy_version, row.definition).canonical(joined)
    rows = grids_of_scope(connection, project_id, question, joined)
    of_model: dict[str, list[Any]] = {}
    for one in rows:
        of_model.setdefault(joined.get(("model", one.model), one.model), []).append(one)
    sides = {model: named(question, mine, joined) for model, mine in of_model.items()}
    sides = {model: found for model, found in sides.items() if found}
    pinned = named(question, pinned_rows(connection, project_id, question), joined)
    read = [(one.grid_id, one.number) for found in (*sides.values(), pinned) for one in found.values()]
    along = along_of(row.definition)
    measured = ((model, one) for model, found in sides.items() for one in found.values())
    return _Scope(
        question,
        row.since,
        confirm,
        along,
        rules_of(connection, project_id, question.experiment),
        row.slug,
        joined,
        sides,
        tuple(model for _, model in in_order(measured, along or PUBLISHED)),
        pinned,
        marks_of(connection, read),
        connection.scalar(select(func.max(gate_verdicts.c.look)).where(*_of_version(query))) or 0,
        _history(connection, query, confirm),
        _keys(connection, query),
    )


def _history(connection: Connection, query: BaselineQuery, confirm: int) -> dict[str, list[Any]]:
    """The last verdicts of this version by contender, the last first."""
    columns = [gate_verdicts.c[name] for name in ("contender", "number", "id", "inputs_key", "look", "passes")]
    failing = gate_verdicts.c.document["failing"].label("failing")
    place = func.row_number().over(partition_by=gate_verdicts.c.contender, order_by=gate_verdicts.c.number.desc())
    recent = select(*columns, failing, place.label("place")).where(*_of_version(query)).subquery()
    found: dict[str, list[Any]] = {}
    wanted = select(recent).where(recent.c.place <= max(confirm, _REMEMBERED)).order_by(recent.c.number.desc())
    for row in connection.execute(wanted):
        found.setdefault(row.contender, []).append(row)
    return found


def _of_version(query: BaselineQuery) -> tuple[ColumnElement[bool], ...]:
    return gate_verdicts.c.baseline_id == query.baseline, gate_verdicts.c.policy_version == query.policy_version


def _keys(connection: Connection, query: BaselineQuery) -> dict[str, frozenset[uuid.UUID]]:
    statement = select(alerts.c.model, alerts.c.key).where(alerts.c.baseline_id == query.baseline)
    found: dict[str, set[uuid.UUID]] = {}
    for row in connection.execute(statement):
        found.setdefault(row.model, set()).add(row.key)
    return {model: frozenset(keys) for model, keys in found.items()}


def _pairs(scope: _Scope) -> Iterator[tuple[str, str]]:
    """Each contender with the model that it is judged against, "" for pinned revisions."""
    if scope.along is not None:
        yield from zip(scope.order[1:], scope.order, strict=False)
        return
    revisions = {(row.grid_id, row.number) for row in scope.pinned.values()}
    for model in scope.order:
        mine = {(row.grid_id, row.number) for row in scope.sides[model].values()}
        if model != scope.question.baseline_model and not mine <= revisions:
            yield model, scope.question.baseline_model


def _sides(scope: _Scope, contender: str, before: str) -> tuple[Grids, Grids]:
    return scope.sides.get(before, {}) if before else scope.pinned, scope.sides[contender]


def _revisions(sides: Iterable[Grids]) -> list[Any]:
    return [{names: (row.grid_id, row.number) for names, row in side.items()} for side in sides]


def _judge(
    connection: Connection,
    project_id: uuid.UUID,
    scope: _Scope,
    pair: tuple[str, str],
    looked: int,
    most_cells: int,
) -> "tuple[NewVerdict, Standing] | None":
    """The verdict on a contender; None where a grid has changed since the scope was read."""
    contender, before = pair
    models = tuple(sorted({name for name in pair if name}))
    query = replace(scope.question, contender_model=contender, baseline_model=before, model=models)
    both = read_sides(connection, project_id, query, scope.joined)
    sides = _sides(scope, contender, before)
    if _revisions(sides) != _revisions((both.baseline, both.contender)):
        return None
    key = _inputs_key(scope, *sides)
    history = scope.history.get(contender, ())
    # The same inputs again, after others, are no other test.
    look = next((row.look for row in history if row.inputs_key == key and row.look), looked + 1)
    query = replace(query, policy=at_look(query.policy, look))
    cells = sum(row.cell_count for side in (both.baseline, both.contender) for row in side.values())
    gate = too_large(query) if cells > most_cells else gate_of(query, both, scope.rules, scope.slug)
    known = scope.keys.get(contender, frozenset())
    places = failing_places(gate, known)
    rows = (*both.baseline.values(), *both.contender.values())
    verdict = NewVerdict(
        new_id(),
        contender,
        key,
        None if gate.verdict == "not_comparable" else look,
        gate.passes,
        document_of(gate, before if scope.along is not None else None, places),
        tuple(sorted({row.grid_id for row in rows})),
    )
    return verdict, _standing(verdict, gate, history[: scope.confirm - 1], scope.confirm, known)


def _standing(
    verdict: "NewVerdict", gate: Gate, before: Sequence[Any], confirm: int, known: frozenset[uuid.UUID]
) -> "Standing":
    failing = {alert_key(verdict.contender, place): place for place in verdict.document["failing"]}
    again = [{alert_key(verdict.contender, place) for place in row.failing} for row in before]
    confirmed = set(failing).intersection(*again) if len(again) == confirm - 1 else set()
    kept = gate.per[gate.failed + gate.undecided :] if known else ()
    cleared = known & {alert_key(gate.contender, _of_unit(unit)) for unit in kept}
    return Standing(verdict.id, True, verdict.passes, failing, cleared, frozenset(confirmed))


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


def _inputs_key(scope: _Scope, baseline: Grids, contender: Grids) -> uuid.UUID:
    """First 128 bits of the SHA-256 of what a verdict rests on besides its policy."""
    sides = [
        [side, *names, str(row.grid_id), _judged(row), scope.marks.get((row.grid_id, row.number), 0)]
        for side, found in (("baseline", baseline), ("contender", contender))
        for names, row in sorted(found.items(), key=lambda one: one[0])
    ]
    return _hash([scope.rules.document(), sides])


def _judged(row: Any) -> int:
    """The first revision of which a verdict would be the same; a pinned one is what it is."""
    return int(getattr(row, "judged", row.number))


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
