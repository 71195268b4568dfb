"""Rules of values: one cell, the first and the last, the largest and the smallest, and how many cells."""

from __future__ import annotations

from typing import Any

from registry.claims.parsing.clause import Unread
from registry.claims.parsing.numbers import Said
from registry.claims.parsing.setting import Part, Setting


def amount(setting: Setting) -> Part:
    """ "99.3% at Length 0", "above 97%", "mostly in the 91-92% range", "97.3% - 100.0%"."""
    only = setting.only()
    said = setting.number("", "at", "of", "to", "with", "from")
    if said is None:
        raise Unread("has no number that a rule knows")
    stated = setting.value(said)
    bare = not setting.clause.core
    denied = setting.denied()
    share = setting.share()
    setting.need_one_grid()
    if only:
        if bare:
            raise Unread("has only, and nothing that it excludes")
        return _only_in(setting, stated, said)
    one_cell = _is_one_cell(setting)
    if one_cell and share is None:
        return _denied({"kind": "value", "is": stated, **setting.context()}, denied=denied)
    if said.form == "one" and said.op in ("=", "about") and share is None and not setting.clause.keeps:
        raise Unread("has a number, and does not say of which cell")
    if said.form == "range" and share is None and not setting.clause.keeps:
        ends = _ends(setting, said)
        return _denied({"kind": "all_of", "claims": ends}, denied=denied)
    part: Part = {"kind": "cells", "is": stated}
    if share not in (None, "all"):
        part["cells_hold"] = share
    quantified = bool(setting.clause.groups)
    return _denied({**part, **setting.context(each=quantified)}, denied=denied)


def _is_one_cell(setting: Setting) -> bool:
    """Whether every axis has one level, in each group."""
    single = {one.place.axis for one in setting.places if len(one.place.levels) == 1 and one.place.lower is None
              and one.place.upper is None}  # fmt: skip
    grouped = {group.dimension for group in setting.clause.groups}
    listed = {one.place.axis for one in setting.places if one.before and len(one.place.levels) > 1
              and one.place.lower is None and one.place.upper is None}  # fmt: skip
    return {axis.name for axis in setting.axes} <= single | grouped | listed


def _ends(setting: Setting, said: Said) -> list[Part]:
    """A range with a dash: its smallest and its largest value."""
    context = setting.context()
    parts = []
    for of, end in (("min", said.low), ("max", said.high)):
        stated = {"op": "=", "number": end, "decimals": said.decimals}
        parts.append({"kind": "value", "of": of, "is": stated, **context})
    return parts


def span(setting: Setting) -> Part:
    """ "ranges from 24 to 89"."""
    low, high = setting.number("from"), setting.number("to")
    both = setting.number("", "at", "of") if low is None else None
    if low is not None and high is not None and low.form == high.form == "one":
        setting.value(low), setting.value(high)
        both = Said("range", low.low, high.low, max(low.decimals, high.decimals))
    if both is None or both.form == "one" or both.low > both.high:
        raise Unread("ranges between no numbers")
    setting.value(both)
    setting.need_one_grid()
    return {"kind": "all_of", "claims": _ends(setting, both)}


def _only_in(setting: Setting, stated: dict[str, Any], said: Said) -> Part:
    """ "cells > 98 only in Types 1 and 2"."""
    inside = {one.place.axis: one.place.condition() for one in setting.places if not one.before}
    if setting.clause.kinds[0] != "cells" or not inside or said.form != "one":
        raise Unread("has only, and nothing that it excludes")
    for axis in inside:
        setting.take_place(axis, single=False)
    hold = {} if "concentrated" in setting.clause.kinds else {"cells_hold": "all"}
    return {"kind": "lie", "matching": stated, "inside": [inside], **hold, **setting.context()}


def concentrated(setting: Setting) -> Part:
    """ "values > 98 are concentrated in Types 1 and 2"."""
    setting.only()
    said = setting.number("", "of", "at")
    if said is None:
        raise Unread("is concentrated, and does not say which cells")
    return _only_in(setting, setting.value(said), said)


def ending(setting: Setting) -> Part:
    """ "starts at 99.7", "reaches 89.7 at Length 19"."""
    if len(setting.clause.core) != 1:
        raise Unread("has predicates that no rule joins")
    [(_, of)] = setting.clause.core
    said = setting.number("", "at", "to", "with", "from", "of")
    if said is None:
        raise Unread("begins or ends, and does not say at what")
    stated = setting.value(said)
    setting.mod("overall")
    if _is_one_cell(setting):
        setting.need_one_grid()
        context = setting.context()
        at_level = {"kind": "value", "is": stated, **context}
        # "starts at 80.3 at Length 7" says which the first one is as well.
        return at_level if of == "last" else {"kind": "all_of", "claims": [at_level, _first(setting, stated, context)]}
    return {"kind": "value", "of": of, "along": setting.along(), "is": stated, **setting.context()}


def _first(setting: Setting, stated: dict[str, Any], context: Part) -> Part:
    ordered = [
        one.place.axis for one in setting.clause.places if not one.before and setting.scope.axis(one.place.axis).ordered
    ]
    if len(ordered) != 1 or ordered[0] not in context.get("where", {}):
        raise Unread("begins at a place that is not on one axis")
    where = {axis: condition for axis, condition in context["where"].items() if axis != ordered[0]}
    rest = {name: said for name, said in context.items() if name != "where"}
    return {
        "kind": "value",
        "of": "first",
        "along": ordered[0],
        "is": stated,
        **rest,
        **({"where": where} if where else {}),
    }


def extreme(setting: Setting) -> list[Part]:
    """ "peaks at Length 9-10 (92.7%)", "lowest 42.7", "the best window is 2000", "Type 6 is the top performer"."""
    clause = setting.clause
    kinds = [(kind, value) for kind, value in clause.core if kind in ("ext", "start", "cells")]
    if len(kinds) != len(clause.core) or sum(kind == "ext" for kind, _ in kinds) != 1:
        raise Unread("has predicates that no rule joins")
    which = next(value for kind, value in kinds if kind == "ext")
    first = any(kind == "start" for kind, _ in kinds)
    overall = setting.mod("overall") or which in ("best", "worst", "most_even") or "performance" in clause.words
    setting.unjudged(2, "how far an extreme stands out")
    subject = _subject(setting)
    if subject is not None:
        return _best_of(setting, *subject, which, overall=overall, first=first)
    if first or which == "most_even":
        raise Unread("does not say of what")
    which = _end_of(setting, which)
    said = setting.number("", "at", "of", "to")
    stated = None if said is None else setting.value(said)
    at = _coordinates(setting)
    setting.need_one_grid()
    context = setting.context()
    parts: list[Part] = []
    if at:
        parts.append({"kind": "extreme", "which": which, "at": at, **context})
    if stated is not None:
        parts.append({"kind": "value", "of": which, "is": stated, **context})
    if not parts:
        raise Unread("does not say where or how large")
    return [parts[0] if len(parts) == 1 else {"kind": "all_of", "claims": parts}]


def _end_of(setting: Setting, which: str) -> str:
    if which in ("max", "min"):
        return which
    direction = setting.scope.metric.direction
    if direction is None:
        raise Unread("says best or worst, and the metric has no better end")
    return "max" if (which == "best") == (direction == "higher") else "min"


def _subject(setting: Setting) -> tuple[str, str] | None:
    """The level or the name that is said to be the extreme one among its like."""
    clause = setting.clause
    axes = setting.take_axes("", "of")
    if axes:
        # "the best window is 2000": the number is a level of the axis that is named.
        said = setting.number("", "at", "of")
        level = None if said is None else setting.scope.by_number.get(axes[0], {}).get(said.low)
        if len(axes) != 1 or level is None or said is None or said.form != "one" or said.unit or said.op != "=":
            raise Unread("names an axis, and none of its levels")
        setting.readings = [one for one in setting.readings if one not in said.readings]
        return axes[0], level.label
    if setting.numbers:
        return None
    named = [(facet, name) for facet, name, before in clause.names if before]
    placed = [one for one in setting.places if one.before and len(one.place.levels) == 1]
    behind = [one for one in setting.places if not one.before]
    if behind or len(placed) + len(named) == 0:
        return None
    if len(placed) == 1:
        setting.take_place(placed[0].place.axis)
        return placed[0].place.axis, placed[0].place.levels[0]
    if placed or len(named) != 1:
        raise Unread("does not say which of several is meant")
    clause.names = [one for one in clause.names if one[:2] != named[0]]
    return named[0]


def _best_of(setting: Setting, by: str, name: str, which: str, *, overall: bool, first: bool) -> list[Part]:
    context = setting.context()
    if which == "most_even":
        setting.read("most consistent", "the smallest standard deviation")
        return [{"kind": "rank", "by": by, "name": name, "stat": "sd", "high_first": False, **context}]
    end = _end_of(setting, which)
    if first:
        setting.read("initial", "the first value that each has")
        part = {"kind": "extreme", "which": end, "of": by, "stat": "first", "missing": "observed", "at": [name]}
        return [{**part, **context}]
    by_mean = {"kind": "rank", "by": by, "name": name, "high_first": end == "max", **context}
    if overall:
        return [by_mean]
    return [
        by_mean,
        {"kind": "extreme", "which": end, "of": by, "stat": end, "missing": "observed", "at": [name], **context},
    ]


def _coordinates(setting: Setting) -> list[Part]:
    """The places of an extreme: one level of each axis that is free, or several of one."""
    behind = [one for one in setting.places if not one.before]
    bound = {one.place.axis for one in setting.places if one.before and len(one.place.levels) == 1}
    bound |= {group.dimension for group in setting.clause.groups}
    if not behind:
        return []
    free = {axis.name for axis in setting.axes} - bound
    if {one.place.axis for one in behind} != free or len(behind) != len(free):
        raise Unread("is an extreme at a place that leaves an axis open")
    several = [one for one in behind if len(one.place.levels) > 1]
    if len(several) > 1 or any(len(one.place.levels) > 20 for one in several):
        raise Unread("is an extreme at several levels of several axes")
    for one in behind:
        setting.take_place(one.place.axis, single=False)
    plain = {one.place.axis: one.place.levels[0] for one in behind if one not in several}
    if not several:
        return [plain]
    return [{**plain, several[0].place.axis: level} for level in several[0].place.levels]


def _denied(part: Part, *, denied: bool) -> Part:
    return {"kind": "not", "claims": [part]} if denied else part
