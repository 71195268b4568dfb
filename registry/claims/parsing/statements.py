"""The statements of a sentence: each clause by the rule for its predicate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from registry.claims.dictionary import Reading
from registry.claims.parsing.amounts import amount, concentrated, ending, extreme, span
from registry.claims.parsing.clause import Clause, Unread
from registry.claims.parsing.clause_reader import clause_of
from registry.claims.parsing.courses import course, stable, turning
from registry.claims.parsing.item import Item
from registry.claims.parsing.scope import Scope
from registry.claims.parsing.segments import segments
from registry.claims.parsing.setting import Part, Setting
from registry.claims.parsing.sides import compare, coverage, declared, effect


@dataclass(frozen=True, slots=True)
class Read:
    """One statement with its readings: claims without what they are about."""

    parts: Sequence[Part]
    about: Mapping[str, str]
    readings: tuple[Reading, ...]
    strength: str


def statements(items: Sequence[Item], scope: Scope, heading: Clause | None) -> list[Read]:
    """The statements of a sentence, in its order."""
    turned = _turn(items, scope, heading)
    if turned is not None:
        return [turned]
    found: list[Read] = []
    subject = heading
    for _, piece in segments(items):
        clause = clause_of(piece, scope, subject)
        found.append(_read(clause, scope))
        if heading is None:
            subject = clause
    if not found:
        raise Unread("has no predicate")
    return found


def _turn(items: Sequence[Item], scope: Scope, heading: Clause | None) -> Read | None:
    """ "increases up to 0.4, then decreases": one statement of two predicates; None where it is no such sentence."""
    goes = [at for at, item in enumerate(items) if item.kind == "go"]
    if len(goes) != 2 or {items[at].value for at in goes} != {"up", "down"}:
        return None
    first, second = goes
    between = items[first + 1 : second]
    joints = {item.phrase.casefold() for item in between if item.kind in ("sep", "mark")}
    if not joints & {"then", "and then", "before", "followed by"}:
        return None
    level, rest = _turned_at(between)
    whole = [*items[: first + 1], *rest, *items[second + 1 :]]
    clause = clause_of([item for item in whole if item.kind != "sep"], scope, heading)
    if clause.kinds != ("go",) or clause.numbers:
        raise Unread("turns, and says more than where")
    setting = Setting(clause, scope)
    along = setting.along()
    if level is not None and level not in scope.levels[along] and float(level) not in scope.by_number[along]:
        raise Unread("turns at what is no level")
    setting = Setting(clause, scope)
    turn = (
        None
        if level is None
        else (level if level in scope.levels[along] else scope.by_number[along][float(level)].label)
    )
    return _closed(setting, [turning(setting, clause.core[0][1], turn)])


def _turned_at(between: Sequence[Item]) -> tuple[str | None, list[Item]]:
    """The level at which a series turns, and what else stands there."""
    rest: list[Item] = []
    level = None
    for item in between:
        if (
            level is None
            and item.kind == "number"
            and item.value.form == "one"
            and not item.value.unit
            and item.value.op in ("=", "<=")
        ):
            level = f"{item.value.low:.{item.value.decimals}f}"
        elif level is None and item.kind == "place" and (len(item.value.levels) == 1 or item.value.upper is not None):
            level = item.value.levels[-1]
        elif item.kind == "axis":
            rest.append(Item("prep", "with", item.start, item.end, "with"))
            rest.append(item)
        elif item.kind not in ("prep", "sep", "mark", "fill"):
            rest.append(item)
    return level, rest


def _read(clause: Clause, scope: Scope) -> Read:
    setting = Setting(clause, scope)
    kinds = set(clause.kinds)
    if kinds & {"go", "event"}:
        parts = [course(setting)]
    elif "stable" in kinds:
        parts = [stable(setting)]
    elif "ext" in kinds:
        parts = extreme(setting)
    elif kinds & {"start", "end"}:
        parts = [ending(setting)]
    elif kinds & {"cmp", "alike"}:
        parts = compare(setting)
    elif kinds & {"effect", "no_effect"}:
        parts = [effect(setting)]
    elif kinds & {"data", "most_data", "no_data"}:
        parts = [coverage(setting)]
    elif "concentrated" in kinds:
        parts = [concentrated(setting)]
    elif "span" in kinds and clause.numbers:
        parts = [span(setting)]
    elif kinds <= {"cells"} and clause.numbers:
        parts = [amount(setting)]
    else:
        parts = [declared(setting)]
    return _closed(setting, parts)


def _closed(setting: Setting, parts: Sequence[Part]) -> Read:
    setting.close()
    return Read(parts, setting.about(), tuple(setting.readings), setting.strength)
