"""Rules of comparisons, of effects, and of what was measured."""

from __future__ import annotations

from typing import Any

from registry.claims.claim import FACETS
from registry.claims.parsing.clause import Unread
from registry.claims.parsing.numbers import Said
from registry.claims.parsing.setting import Part, Setting, joined

Side = tuple[str, str]


def compare(setting: Setting) -> list[Part]:
    """ "A outperforms B by at least 6 points on 3 of 4 benchmarks", "A is comparable to B"."""
    if len(setting.clause.core) != 1:
        raise Unread("has predicates that no rule joins")
    [(kind, said)] = setting.clause.core
    if any(group.holds == "others" for group in setting.clause.groups):
        return [_beats_all(setting, said)]
    left, right = _sides(setting, pair=kind == "alike")
    part: Part = {"kind": "compare", "left": {left[0]: [left[1]]}, "right": {right[0]: [right[1]]}}
    setting.mod("overall")
    share = setting.share()
    if share is not None:
        part["everywhere"] = share
    denied = setting.denied()
    parts = [{**part, "is": "equal", "margin": _margin(setting)}] if kind == "alike" else _ahead(setting, part, said)
    context = setting.context()
    return [_denied({**one, **context}, denied=denied) for one in parts]


def _margin(setting: Setting) -> float:
    within = setting.number("within")
    if within is None:
        return setting.points(float(setting.clause.core[0][1]))
    if within.form != "one" or within.op != "=":
        raise Unread("is equal within no number")
    return float(setting.value(within)["number"])


def _ahead(setting: Setting, part: Part, said: str) -> list[Part]:
    """Better, worse, higher or lower, by a number if there is one; a percent sign has two readings."""
    if said in ("better", "worse") and setting.scope.metric.direction is None:
        raise Unread("says better or worse, and the metric has no better end")
    part = {**part, "is": said}
    number = setting.number("by", "", "with", "at")
    if number is None:
        return [{**part, "by": {"op": "<=", "number": setting.points(2)}}] if setting.mod(2) else [part]
    if number.unit == "factor":
        return [{**part, "by": number.document("factor")}]
    if number.unit == "%":
        setting.read("%", "points first, or percent of the other side")
        points = [{**part, "by": setting.value(number)}] if setting.scope.point == 1 else []
        return [*points, {**part, "by": number.document("percent")}]
    return [{**part, "by": setting.value(number)}]


def _sides(setting: Setting, *, pair: bool) -> tuple[Side, Side]:
    """What stands before the predicate against what stands behind it; both may stand before it with "comparable"."""
    clause = setting.clause
    found: list[tuple[Side, Side]] = []
    for facet in FACETS:
        before = [name for kind, name, early in clause.names if kind == facet and early]
        behind = [name for kind, name, early in clause.names if kind == facet and not early]
        if pair and len(before) == 2 and not behind:
            before, behind = before[:1], before[1:]
        if len(before) == len(behind) == 1:
            found.append(((facet, before[0]), (facet, behind[0])))
    for axis in {one.place.axis: None for one in setting.places}:
        mine = [one for one in setting.places if one.place.axis == axis]
        levels = [one.place.levels for one in mine]
        if len(mine) == 2 and mine[0].before and not mine[1].before and all(len(one) == 1 for one in levels):
            found.append(((axis, levels[0][0]), (axis, levels[1][0])))
        elif pair and len(mine) == 1 and mine[0].before and len(levels[0]) == 2 and not mine[0].place.ends:
            found.append(((axis, levels[0][0]), (axis, levels[0][1])))
    if len(found) != 1 or found[0][0] == found[0][1]:
        raise Unread("does not say what is compared with what")
    [(left, right)] = found
    clause.names = [one for one in clause.names if one[0] != left[0]]
    for one in [one for one in setting.places if one.place.axis == left[0]]:
        setting.take_exactly(one)
    return left, right


def _beats_all(setting: Setting, said: str) -> Part:
    """ "A outperforms all other models"."""
    clause = setting.clause
    group = next(group for group in clause.groups if group.holds == "others")
    mine = [name for kind, name, early in clause.names if kind == group.dimension and early]
    mine += [
        one.place.levels[0]
        for one in setting.places
        if one.place.axis == group.dimension and len(one.place.levels) == 1
    ]
    if len(mine) != 1 or said not in ("better", "worse", "higher", "lower") or group.without:
        raise Unread("does not say what is compared with all others")
    clause.groups = [one for one in clause.groups if one is not group]
    clause.names = [one for one in clause.names if one[0] != group.dimension]
    setting.take_place(group.dimension)
    setting.mod("overall")
    part: Part = {"kind": "rank", "by": group.dimension, "name": mine[0]}
    if said in ("higher", "lower"):
        part["high_first"] = said == "higher"
    elif said == "worse":
        part["place"] = "last"
    return {**part, **setting.context()}


def effect(setting: Setting) -> Part:
    """ "depends on Type", "Ratio has little impact", "significant variability across the Types"."""
    if len(setting.clause.core) != 1:
        raise Unread("has predicates that no rule joins")
    [(kind, value)] = setting.clause.core
    axes = setting.take_axes()
    denied = setting.denied()
    setting.mod("overall")
    if not axes or any(axis in FACETS for axis in axes):
        raise Unread("does not say which axis has an effect")
    part: Part = {"kind": "effect", "axes": axes, "is": "present"}
    if kind == "no_effect":
        part |= {"is": "small", "within": setting.points(float(value))}
    elif setting.mod(2):
        part |= {"is": "small", "within": setting.points(2)}
    elif denied:
        raise Unread("has no effect, and does not say how small one counts as none")
    return _denied({**part, **setting.context()}, denied=denied)


def coverage(setting: Setting) -> Part:
    """ "no data beyond Length 17", "data only for lengths 7-19", "not all Types have data for all Lengths"."""
    clause = setting.clause
    kinds = set(clause.kinds)
    if kinds == {"most_data"}:
        return _most_data(setting)
    if kinds == {"no_data"}:
        return _no_data(setting)
    if kinds != {"data"}:
        raise Unread("has predicates that no rule joins")
    groups = {group.dimension: group for group in clause.groups}
    if groups and all(group.holds == "all" and not group.without for group in groups.values()) and setting.denied():
        if groups.keys() != {axis.name for axis in setting.axes}:
            raise Unread("does not say of which cells there are some")
        clause.groups = []
        return {"kind": "coverage", "is": "ragged", **setting.context()}
    setting.only()
    return joined(_spans(setting))


def _spans(setting: Setting) -> list[Part]:
    spans = [one for one in setting.places if one.place.ends and not (one.before and setting.clause.core)]
    for one in spans:
        setting.take_exactly(one)
    if not spans:
        raise Unread("does not say from where to where there are data")
    context = setting.context()
    return [
        {"kind": "coverage", "is": "span", "axis": one.place.axis, "levels": list(one.place.ends), **context}
        for one in spans
    ]


def _most_data(setting: Setting) -> Part:
    subject = [one for one in setting.places if one.before and len(one.place.levels) == 1]
    if len(subject) != 1:
        raise Unread("does not say which level has the most data")
    place = subject[0].place
    parts: list[Part] = [{"kind": "coverage", "is": "most", "axis": place.axis, "level": place.levels[0]}]
    said = setting.number("", "at", "of", aside=True)
    others = [axis for axis in setting.axes if axis.name != place.axis]
    setting.take_exactly(subject[0])
    ends = None if said is None or len(others) != 1 else _labels(setting, others[0].name, said)
    if ends:
        where = {place.axis: [place.levels[0]]}
        parts.append({"kind": "coverage", "is": "span", "axis": others[0].name, "levels": ends, "where": where})
        setting.readings = [one for one in setting.readings if said is None or one not in said.readings]
    elif said is not None:
        raise Unread("has a range that is not one of levels")
    elif any(one.place.ends for one in setting.places):
        parts += [{**one, "where": {place.axis: [place.levels[0]]}} for one in _spans(setting)]
    context = setting.context()
    if context:
        raise Unread("has data at places that no rule takes")
    return joined(parts)


def _labels(setting: Setting, axis: str, said: Said) -> list[str]:
    levels = setting.scope.by_number.get(axis, {})
    if said.form == "one" or said.unit or said.low not in levels or said.high not in levels:
        return []
    return [levels[said.low].label, levels[said.high].label]


def _no_data(setting: Setting) -> Part:
    said = setting.number("", "at")
    where: dict[str, Any] = {}
    if said is not None:
        held = [axis.name for axis in setting.axes if axis.kind == "numeric"
                and said.low in setting.scope.by_number[axis.name]]  # fmt: skip
        if said.op != ">" or said.unit or len(held) != 1:
            raise Unread("has no data beyond a number that is no level of one axis")
        above = [level.number for level in setting.scope.axis(held[0]).levels if (level.number or 0) > said.low]
        if not above:
            raise Unread(f'has no data beyond the last level of "{held[0]}", which nothing could have')
        where = {held[0]: {"from": above[0]}}
    context = setting.context()
    if not where and "where" not in context:
        raise Unread("has no data, and does not say where")
    merged = {**context.get("where", {}), **where}
    if len(merged) < len(where) + len(context.get("where", {})):
        raise Unread("names an axis twice")
    return {"kind": "coverage", "is": "cells", "count": {"op": "=", "number": 0}, **context, "where": merged}


def declared(setting: Setting) -> Part:
    """ "Types numbered 1-7; Length 0 to 19"."""
    if "span" not in setting.clause.kinds and not all(one.place.numbered for one in setting.places):
        raise Unread("has no predicate")
    if setting.clause.groups or any(not one.place.ends for one in setting.places):
        raise Unread("ranges between no levels")
    return joined(_spans(setting))


def _denied(part: Part, *, denied: bool) -> Part:
    return {"kind": "not", "claims": [part]} if denied else part
