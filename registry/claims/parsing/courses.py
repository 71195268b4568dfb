"""Rules of series: trends, steps, and series that stay where they are."""

from __future__ import annotations

from typing import Any

from registry.claims.parsing.clause import Unread
from registry.claims.parsing.numbers import Said
from registry.claims.parsing.setting import Part, Setting, joined

_FLIPPED = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "=": "=", "about": "about"}


def course(setting: Setting) -> Part:
    """ "declines to the low 80s by Length 9", "sharp drop at Length 11", "drops by over 10 points"."""
    clause = setting.clause
    clause.core = [("most_move", None) if one == ("ext", "max") else one for one in clause.core]
    goes = _directions(setting)
    event = clause.core[0][0] == "event" or any(kind == "most_move" for kind in clause.kinds)
    _check_performance(setting, goes)
    if clause.share == "all":
        setting.share()
    along = setting.along()
    steps = [one for one in setting.places if one.place.axis == along and one.prep in ("at", "of", "")
             and not one.before]  # fmt: skip
    target = setting.number("", aside=True)
    moved = setting.number("by", "of") or _in_points(setting)
    single = [one for one in steps if len(one.place.levels) == 1 or len(one.place.levels) == 2]
    if single and len(goes) == 1 and not any(amount.prep in ("to", "from") for amount in setting.numbers):
        return _step(setting, along, goes[0], moved, target)
    if event and any(one.place.axis == along for one in setting.places):
        raise Unread("is a step at more than one level")
    if moved is not None:
        return _change(setting, along, goes, moved)
    return _trend(setting, along, goes, event=event, target=target)


def _in_points(setting: Setting) -> Said | None:
    """ "drops over 10 points": without a preposition, only a number in points is by how much."""
    bare = [one for one in setting.numbers if one.prep == "" and one.said.unit == "points"]
    return setting.number("") if len(bare) == 1 else None


def _directions(setting: Setting) -> list[str]:
    """Where the values go, for better and worse by the direction of the metric."""
    found = []
    for kind, value in setting.clause.core:
        if kind not in ("go", "event", "most_move"):
            raise Unread("has predicates that no rule joins")
        if kind == "most_move":
            continue
        if value in ("better", "worse"):
            direction = setting.scope.metric.direction
            if direction is None:
                raise Unread("says better or worse, and the metric has no better end")
            found.append("up" if (value == "better") == (direction == "higher") else "down")
        else:
            found.append(value)
    if not found or len(set(found)) != len(found) or len(found) > 2 or {"up", "down"} <= set(found):
        raise Unread("goes several ways")
    return found


def _check_performance(setting: Setting, goes: list[str]) -> None:
    literal = {value for _, value in setting.clause.core} & {"up", "down"}
    if "performance" in setting.clause.words and literal and goes and setting.scope.metric.direction != "higher":
        raise Unread("says performance of a metric whose higher end is not the better one")


def _step(setting: Setting, along: str, goes: str, moved: Said | None, target: Said | None) -> Part:
    """The change to a level from the one before it."""
    if goes not in ("up", "down"):
        raise Unread("is a step that goes nowhere")
    one = setting.take_place(along, "at", "of", "", single=False)
    if one is None or len(one.place.levels) > 2 or (len(one.place.levels) == 2 and not one.place.ends):
        raise Unread("is a step at several levels")
    part: Part = {"kind": "step", "along": along, "to": one.place.levels[-1], "goes": goes}
    if len(one.place.levels) == 2:
        part["from"] = one.place.levels[0]
    if moved is not None:
        part["size"] = setting.value(moved)
    if setting.mod(2):
        if "size" in part:
            raise Unread("says the size twice")
        part["size"] = {"op": "<=", "number": setting.points(2)}
    if any(kind == "most_move" for kind in setting.clause.kinds):
        part["largest"] = True
    if setting.mod("largest"):
        part["largest"] = True
        setting.strength = "noise"
    setting.unjudged("overall", "a step is between two cells")
    denied = setting.denied()
    context = setting.context()
    parts = [{**part, **context}]
    if target is not None:
        where = {**context.get("where", {}), along: [one.place.levels[-1]]}
        parts.append({"kind": "value", **context, "where": where, "is": setting.value(target)})
    return _denied(joined(parts), denied=denied)


def _change(setting: Setting, along: str, goes: list[str], moved: Said) -> Part:
    """By how much a series moves from its first to its last cell."""
    if len(goes) != 1 or goes[0] not in ("up", "down") or moved.unit == "factor":
        raise Unread("changes by a number and goes nowhere")
    denied = setting.denied()
    stated = setting.value(moved)
    if moved.unit == "%":
        setting.read(moved.readings[0].phrase if moved.readings else "%", "points: the metric is in percent")
    setting.unjudged("overall", "the change is from the first to the last cell")
    part = {"kind": "value", "of": "change", "along": along, "is": stated if goes[0] == "up" else _negative(stated)}
    return _denied({**part, **setting.context()}, denied=denied)


def _negative(stated: dict[str, Any]) -> dict[str, Any]:
    if "between" in stated:
        low, high = stated["between"]
        return {**stated, "between": [-high, -low]}
    if "about" in stated:
        return {**stated, "about": -stated["about"]}
    return {**stated, "op": _FLIPPED[stated["op"]], "number": -stated["number"]}


def _trend(setting: Setting, along: str, goes: list[str], *, event: bool, target: Said | None) -> Part:
    clause = setting.clause
    reached = target or setting.number("to", aside=False)
    left = setting.number("from", aside=False)
    if "never" in clause.words and setting.denied():
        if goes != ["down"] or reached or left:
            raise Unread("never rises, which no kind of statement says")
        return {"kind": "value", "of": "drawdown", "along": along, "is": {"op": "<=", "number": 0}, **setting.context()}
    limit = setting.take_place(along, "by", "to") or (setting.take_place(along, "at", "of") if reached else None)
    start = setting.take_place(along, "from") if limit else None
    if event and reached is not None and limit is None and left is None:
        of = "min" if goes == ["down"] else "max"
        return {"kind": "value", "of": of, "is": setting.value(reached), **setting.context()}
    denied = setting.denied()
    part: Part = {"kind": "trend", "along": along}
    if clause.share == "all" or setting.mod("monotone"):
        part["monotone"] = True
    if setting.mod("strictly"):
        part["strictly"] = True
    setting.mod("overall")
    slight = setting.mod(2)
    if setting.mod("largest"):
        raise Unread("is sharp without a level at which")
    context = setting.context()
    if limit is not None:
        context = _until(context, setting, along, start, limit)
    parts = [{**part, "goes": one, **context} for one in goes]
    if any(one["goes"] == "not_monotone" for one in parts):
        parts = [
            {k: v for k, v in one.items() if one["goes"] != "not_monotone" or k not in ("monotone", "strictly")}
            for one in parts
        ]
    if slight:
        parts.append({"kind": "trend", "along": along, "goes": "flat", "margin": setting.points(2), **context})
    parts += _ends(setting, along, context, limit, left, reached)
    return _denied(joined(parts), denied=denied)


def _until(context: Part, setting: Setting, along: str, start: Any, limit: Any) -> Part:
    axis = setting.scope.axis(along)
    level = setting.scope.levels[along][limit.place.levels[0]]
    if axis.kind != "numeric" or along in context.get("where", {}):
        raise Unread("ends at a level of an axis without numbers")
    bounds = {"to": level.number}
    if start is not None:
        bounds["from"] = setting.scope.levels[along][start.place.levels[0]].number
        if (bounds["from"] or 0) >= (level.number or 0):
            raise Unread("ends before it begins")
    return {**context, "where": {**context.get("where", {}), along: bounds}}


def _ends(
    setting: Setting, along: str, context: Part, limit: Any, left: Said | None, reached: Said | None
) -> list[Part]:
    """The first and the last value that are named."""
    parts: list[Part] = []
    if left is not None:
        parts.append({"kind": "value", "of": "first", "along": along, "is": setting.value(left), **context})
    if reached is not None and limit is not None:
        where = {**context["where"], along: list(limit.place.levels)}
        parts.append({"kind": "value", **context, "where": where, "is": setting.value(reached)})
    elif reached is not None:
        parts.append({"kind": "value", "of": "last", "along": along, "is": setting.value(reached), **context})
    return parts


def turning(setting: Setting, first: str, turn: str | None) -> Part:
    """ "rises to 0.4, then falls"."""
    along = setting.along()
    part: Part = {"kind": "trend", "along": along, "goes": "up_down" if first == "up" else "down_up"}
    if turn is not None:
        part["turn"] = turn
    if setting.share() == "all" or setting.mod("monotone"):
        part["monotone"] = True
    setting.mod("overall")
    setting.unjudged(2, "a turn has no size")
    return {**part, **setting.context()}


def stable(setting: Setting) -> Part:
    """ "is stable", "minimal variation", "robust", "stable within 3 points"."""
    if setting.clause.kinds != ("stable",):
        raise Unread("has predicates that no rule joins")
    if setting.share() not in (None, "all"):
        raise Unread("is stable in some cells")
    within = setting.number("within")
    between = setting.number("", "at", "to") if within is None else None
    setting.mod("overall")
    if between is not None:
        if between.form == "one":
            raise Unread("is stable at one number")
        return {"kind": "cells", "is": setting.value(between), **setting.context()}
    if within is not None and (within.form != "one" or within.op != "="):
        raise Unread("is stable within no number")
    denied = setting.denied()
    along = setting.along()
    if within is not None:
        width = setting.value(within)["number"]
        setting.readings = [one for one in setting.readings if "points of each other" not in one.read_as]
    else:
        width = setting.points(float(setting.clause.core[0][1]))
    return _denied({"kind": "stable", "along": along, "within": width, **setting.context()}, denied=denied)


def _denied(part: Part, *, denied: bool) -> Part:
    return {"kind": "not", "claims": [part]} if denied else part
