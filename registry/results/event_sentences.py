"""Events in words: for each type of the catalogue a sentence, in parts that a page may link, and as plain text.

Names and texts are people's: here they lose line ends and control characters and are cut. What XML, a page or a chat
makes of the rest is up to whoever writes there.
"""

from collections.abc import Callable, Mapping
from typing import Any

from registry.results.events import CATALOGUE
from registry.results.judgement import EventSentence, Target, Tone, plain
from registry.results.webhooks import TEST

Data = Mapping[str, Any]

_LONGEST_TEXT, _LONGEST_NAME = 300, 120
"""Characters of a text and of a name that are told."""
_PURGED = "what it named was removed for good"
_NAMES = ("experiment", "benchmark", "model", "variant", "metric", "baseline", "name")
_VERDICTS = {
    "supported": "supported",
    "contradicted": "contradicted",
    "not_decidable": "not decidable",
    "ill_posed": "ill-posed",
}
_TONES: Mapping[str, Tone] = {"supported": "good", "contradicted": "bad", "opened": "bad", "resolved": "good"}
_WHY = {
    "passed": "a later verdict passes",
    "policy_changed": "the baseline was replaced",
    "policy_deleted": "the baseline was deleted",
    "deleted": "the contender is gone",
    "fixed_elsewhere": "fixed elsewhere",
}


def event_sentence(type_: str, data: Data) -> EventSentence:
    """An event in words. Without data it was purged, which is said; a type that is not known here is told by its name
    and by what its data name."""
    if not data and type_ in CATALOGUE:
        return EventSentence(CATALOGUE[type_].description.rstrip("."), beside=_PURGED)  # type: ignore[index]
    tell = _TELLS.get(type_)
    return _unknown(type_, data) if tell is None else tell(type_.rpartition(".")[2], data)


def _text(value: object) -> str:
    """A text that people wrote, for the middle of a sentence; "" for none."""
    return plain(value or "", _LONGEST_TEXT).rstrip(".")


def _name(data: Data, field: str) -> str:
    value = data.get(field)
    return "" if value is None else plain(value, _LONGEST_NAME)


def _id(data: Data, field: str) -> str:
    """An id or a name as a target has it: whole, or nothing that leads elsewhere."""
    value = data.get(field)
    return value if isinstance(value, str) else ""


def _count(data: Data, field: str) -> int:
    value = data.get(field)
    return value if isinstance(value, int) else 0


def _several(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else []


def _together(*parts: str, by: str = ", ") -> str:
    return by.join(filter(None, parts))


def _unknown(type_: str, data: Data) -> EventSentence:
    words = plain(type_.replace(".", " ").replace("_", " "), _LONGEST_NAME)
    if not data:
        return EventSentence(words[:1].upper() + words[1:], beside=_PURGED)
    told = data.get("sentence") or data.get("text")
    named = _together(*(f"{one} {_name(data, one)}" for one in _NAMES if data.get(one)))
    return EventSentence(words[:1].upper() + words[1:], beside=_text(told) if isinstance(told, str) else named)


def _grid(data: Data, before: str, after: str, *more: str, there: bool = True, tone: Tone = "") -> EventSentence:
    names = _together(*(_name(data, one) for one in ("benchmark", "model", "variant")), by=" · ")
    grid = _id(data, "grid") if there else ""
    beside = _together(*more, _name(data, "experiment"), _name(data, "metric"))
    target = Target("grid", grid) if grid else None
    if not names:
        before, names = "", before.replace("The grid", "A grid").replace("the grid", "a grid")
    return EventSentence(before, names, after, beside, tone, target)


def _act_on_grid(act: str, data: Data) -> EventSentence:
    words = {
        "published": "was published",
        "revised": f"now has revision {_name(data, 'revision')}",
        "updated": "has another description or other labels",
        "deleted": "was deleted",
        "restored": "was restored",
    }
    return _grid(data, "The grid", words[act], there=act != "deleted")


def _purged(_act: str, _data: Data) -> EventSentence:
    return EventSentence("A deleted grid was removed for good")


def _items(_act: str, data: Data) -> EventSentence:
    count = _count(data, "cells")
    after = f"got outcomes of items in {count:,} {'cell' if count == 1 else 'cells'}"
    return _grid(data, "The grid", after, _together("item set", _name(data, "set"), by=" "))


def _statistics(act: str, data: Data) -> EventSentence:
    revision = f"revision {_name(data, 'revision')}"
    if act == "ready":
        return _grid(data, "The statistics of the grid", "are ready", revision)
    return _grid(data, "The statistics of the grid", "could not be computed", _text(data.get("reason")), tone="bad")


def _ranking(_act: str, data: Data) -> EventSentence:
    leaders = [plain(one, _LONGEST_NAME) for one in _several(data.get("leaders"))]
    more = max(_count(data, "leader_count") - len(leaders), 0)
    named = [*leaders, *([f"{more:,} more"] if more else [])]
    whose = " and ".join(filter(None, (", ".join(named[:-1]), *named[-1:])))
    first = f"first in order: {whose}" if leaders else ""
    moved = [_move(one) for one in _several(data.get("moved")) if isinstance(one, Mapping)]
    if (others := _count(data, "moved_count") - len(moved)) > 0:
        moved.append(f"{others:,} more {'is' if others == 1 else 'are'} new, moved or gone")
    elif not moved and "moved" in data and not data.get("first"):
        moved.append("all keep their ranks, and other names are told apart")
    after = "was computed for the first time" if data.get("first") else "changed"
    about = _together(_name(data, "experiment"), _name(data, "metric"), by=" by ")
    target = Target("ranking", *(_id(data, one) for one in ("experiment", "metric", "since", "as_of")))
    return EventSentence("The ranking of", about, after, _together(first, *moved, by="; "), target=target)


def _move(one: Data) -> str:
    """From which place to which a name went; without the one it is gone, without the other new."""
    name, before, now = (plain(one.get(part), _LONGEST_NAME) for part in ("name", "before", "now"))
    if one.get("now") is None:
        return f"{name} ({before} before) is gone"
    return f"{name} is new at {now}" if one.get("before") is None else f"{name} {before} → {now}"


def _judged(verdict: str, noise: str) -> str:
    """A verdict in words, of two that may stand for the numbers as posted alone with whether noise may explain it."""
    told = _VERDICTS.get(verdict, _text(verdict))
    if verdict not in ("supported", "contradicted") or not noise:
        return told
    if noise == verdict:
        return f"{told} beyond noise"
    return f"{told} as posted{f' and {noise} beyond noise' if noise in ('supported', 'contradicted') else ''}"


def _claim(act: str, data: Data) -> EventSentence:
    verdict, before = _id(data, "verdict"), _id(data, "before")
    judged = _judged(verdict, _id(data, "beyond_noise"))
    words = {
        "created": "was added",
        "deleted": "was removed",
        "restored": "was restored",
        "judged": f"is {judged}" if _count(data, "judgement") < 2 else f"is still {judged}, with other numbers",
        "flipped": f"is now {judged}",
    }
    was = f"it was {_VERDICTS.get(before, _text(before))} before" if before else ""
    text = plain(data.get("text") or "", _LONGEST_TEXT)
    claim = _id(data, "claim") if act != "deleted" else ""
    beside = _together(was, _name(data, "experiment"), by="; ")
    target = Target("claim", claim) if claim else None
    about = f"“{text}”" if text else "without a text"
    return EventSentence("The claim", about, words[act], beside, _TONES.get(verdict, ""), target)


def _on_baseline(data: Data, before: str, after: str, beside: str = "", tone: Tone = "") -> EventSentence:
    target = Target("baseline", _id(data, "baseline"))
    return EventSentence(before, _name(data, "baseline"), after, beside, tone, target if target.name else None)


def _baseline(act: str, data: Data) -> EventSentence:
    if act == "deleted":
        return EventSentence("The baseline", _name(data, "baseline"), "was deleted")
    if data.get("version") == 1:
        return _on_baseline(data, "The baseline", "was created")
    return _on_baseline(data, "The baseline", "was changed", f"version {_name(data, 'version')}")


def _gate(_act: str, data: Data) -> EventSentence:
    passes, verdict = data.get("passes"), _id(data, "verdict")
    undecided = "not comparable" if verdict == "not_comparable" else "not decided"
    found = undecided if passes is None else "it passes" if passes else "it fails"
    tone: Tone = "" if passes is None else "good" if passes else "bad"
    return _on_baseline(
        data, "The baseline", f"judged {_name(data, 'contender')}: {found}", _text(data.get("sentence")), tone
    )


def _alert(act: str, data: Data) -> EventSentence:
    at = data.get("at")
    cell = ", ".join(f"{axis} {level}" for axis, level in at.items()) if isinstance(at, Mapping) else ""
    where = _text(_together(_name(data, "benchmark"), cell, by=": "))
    word = _id(data, "resolution") or _id(data, "reason")
    verb = "opened again" if act == "opened" and data.get("reopened") else act
    why = _text(_WHY.get(word, word.replace("_", " ")))
    after = f"was {verb} for {_name(data, 'model')}"
    return _on_baseline(data, "An alert of the baseline", after, _together(where, why, by="; "), _TONES.get(act, ""))


def _import(_act: str, data: Data) -> EventSentence:
    counts = (f"{_count(data, one):,} {one}" for one in ("new", "unchanged", "failed") if data.get(one))
    more = _count(data, "sources") - 1
    others = f"and {more:,} more " if more > 0 else ""
    tone: Tone = "bad" if data.get("failed") else ""
    return EventSentence("The import of", _text(data.get("source")), f"{others}finished", _together(*counts), tone)


def _alias(act: str, data: Data) -> EventSentence:
    verb = "now stands for" if act == "created" else "no longer stands for"
    before = _together("The", _name(data, "kind"), _name(data, "alias"), verb, by=" ")
    kind: Any = data.get("kind")
    has_page = kind in ("model", "benchmark", "experiment")
    return EventSentence(
        before, _name(data, "name"), target=Target(kind, _id(data, "name")) if has_page and data.get("name") else None
    )


def _suite(act: str, data: Data) -> EventSentence:
    return EventSentence("The suite", _name(data, "suite"), f"was {act}")


def _experiment(act: str, data: Data) -> EventSentence:
    about, target = _name(data, "experiment"), Target("experiment", _id(data, "experiment"))
    if act == "protocol_set":
        return EventSentence("Other keys of protocols now bind in the experiment", about, target=target)
    return EventSentence("The experiment", about, "has another description or other labels", target=target)


def _project(_act: str, data: Data) -> EventSentence:
    changed = _together(*(plain(one, _LONGEST_NAME) for one in _several(data.get("changed"))))
    return EventSentence("", "The project", "was changed", changed, target=Target("project"))


def _share(act: str, data: Data) -> EventSentence:
    return EventSentence("A share link", "", f"was {act}", _together(_name(data, "path"), _until(data)))


def _token(act: str, data: Data) -> EventSentence:
    name = _name(data, "name")
    return EventSentence(
        "The token" if name else "A token", name, f"was {act}", _together(_name(data, "role"), _until(data))
    )


def _until(data: Data) -> str:
    """The day on which it ends."""
    return f"until {_name(data, 'expires_at').partition('T')[0]}" if data.get("expires_at") else ""


def _webhook(_act: str, data: Data) -> EventSentence:
    return EventSentence("A webhook was disabled", beside=_text(data.get("reason")), tone="bad")


def _test(_act: str, _data: Data) -> EventSentence:
    return EventSentence("This is a test: the webhook works", tone="good")


_BY_KIND: Mapping[str, Callable[[str, Data], EventSentence]] = {
    "grid": _act_on_grid,
    "statistics": _statistics,
    "claim": _claim,
    "baseline": _baseline,
    "alert": _alert,
    "alias": _alias,
    "suite": _suite,
    "experiment": _experiment,
    "share": _share,
    "token": _token,
    "items": _items,
    "ranking": _ranking,
    "gate": _gate,
    "import": _import,
    "project": _project,
    "webhook": _webhook,
}
_TELLS: Mapping[str, Callable[[str, Data], EventSentence]] = {
    **{one: _BY_KIND[one.partition(".")[0]] for one in CATALOGUE},
    "grid.purged": _purged,
    TEST: _test,
}
"""By type: a type that is not known here is none of its kind's."""
