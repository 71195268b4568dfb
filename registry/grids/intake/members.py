"""Read statements about a whole grid: `questions`, `design_effect`, `derived`, `protocol`; warn of names that suggest
the third.
"""

import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any

from registry.grids.grid import Axis, Grid
from registry.grids.intake.faults import REPORTED, Limits, Report, escaped, number, unsigned_zero, whole
from registry.grids.intake.levels import has_control
from registry.grids.protocol import Value, written
from registry.grids.suspect_names import looks_derived

MOST_KEYS, LONGEST_KEY, LONGEST_TEXT = 32, 64, 500
_HALF = re.compile("[\ud800-\udfff]")
_EXACT = 1e15
"""Whole numbers below this are stored as such; JSON columns give larger ones back in another form."""
MOST_QUESTIONS = 2**31 - 1
MOST_DESIGN_EFFECT = 1e6
_LINE = 80
_ADVICE = "it would count beside what it is made of"
_DECLARE = "publish it with derived, and it is shown but neither ranked nor counted"
MOST_PARTS = 1_000
"""Largest number of names in `derived`."""


def key_of(text: str) -> str:
    """A key as it is compared: lower case in Unicode's form NFC, without spaces around it."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).lower()).strip()


def key_fault(key: str) -> str | None:
    """Find what is wrong with a key that `key_of` returned; None for a good one."""
    if not _is_text(key, LONGEST_KEY) or "=" in key:
        return f"a key is a name of 1 to {LONGEST_KEY} characters without control characters and ="
    return None


def value_of(given: Any) -> Value | None:
    """A value as it is compared: text in the form NFC, 5.0 as 5; None for anything that a protocol cannot hold."""
    if isinstance(given, bool):
        return given
    if isinstance(given, str):
        text = unicodedata.normalize("NFC", given)
        return text if _is_text(text, LONGEST_TEXT) else None
    found = unsigned_zero(number(given))
    if found is None or abs(found) >= _EXACT:
        return None
    return int(found) if found.is_integer() else found


def _is_text(text: str, longest: int) -> bool:
    """Tell whether a text fits and can be stored: no control characters, and no halves of characters."""
    return 1 <= len(text) <= longest and not has_control(text) and not _HALF.search(text)


def read_protocol(sent: Mapping[str, Any], report: Report) -> dict[str, Value] | None:
    """The protocol in canonical form, by key; a null value counts as absent, and None is a protocol without keys."""
    found: dict[str, Value] = {}
    for name, given in sent.items():
        pointer, key, value = f"/protocol/{escaped(name)}", key_of(name), value_of(given)
        if fault := key_fault(key):
            report.fault(pointer, fault)
        elif value is None and given is not None:
            wanted = f"a text of 1 to {LONGEST_TEXT} characters without control characters"
            report.fault(pointer, f"must be {wanted}, a number below 1e15 in size, true or false")
        elif key in found:
            report.fault(pointer, f'comes twice: keys are compared in lower case, as "{key}"')
        elif value is not None:
            found[key] = value
    if len(found) > MOST_KEYS:
        report.fault("/protocol", f"must have at most {MOST_KEYS} keys")
    return dict(sorted(found.items())) or None


def protocol_of_texts(pairs: Iterable[str]) -> dict[str, Value]:
    """Protocol in texts such as `shots=5`, as they stand in a query or on a command line; `ValueError` for another.

    A text that is written as the registry writes a number, true or false is that: `5` but not `5.0` or `1e3`. In
    quotation marks it stays a text: `"5"`.
    """
    found: dict[str, Value] = {}
    for pair in pairs:
        name, sign, text = pair.partition("=")
        if not sign or not name or not text:
            raise ValueError(pair)
        if name in found:
            raise ValueError(pair)
        found[name] = _value_of_text(text)
    return found


def _value_of_text(text: str) -> Value:
    if len(text) > 1 and text[0] == text[-1] == '"':
        return text[1:-1]
    try:
        read = value_of(json.loads(text))
    except (ValueError, RecursionError):
        return text
    return read if read is not None and not isinstance(read, str) and written(read) == text else text


def read_members(sent: Mapping[str, Any], limits: Limits, report: Report) -> dict[str, Any]:
    """Fields of a Grid that were given; null and false count as absent."""
    found: dict[str, Any] = {}
    if (questions := sent.get("questions")) is not None:
        found["questions"] = whole(questions)
        if found["questions"] is None or found["questions"] > MOST_QUESTIONS:
            report.fault("/questions", f"must be a whole number from 1 to {MOST_QUESTIONS}")
    if (effect := sent.get("design_effect")) is not None:
        found["design_effect"] = number(effect)
        if found["design_effect"] is None or not 1 <= found["design_effect"] <= MOST_DESIGN_EFFECT:
            report.fault("/design_effect", f"must be a number from 1 to {MOST_DESIGN_EFFECT:.0f}")
    derived = sent.get("derived")
    if derived is not None and derived is not False:
        found["derived"] = derived is True or _parts(derived, limits, report)
    if (protocol := sent.get("protocol")) is not None:
        found["protocol"] = read_protocol(protocol, report)
    return found


def _parts(given: Any, limits: Limits, report: Report) -> tuple[str, ...]:
    """Names that a grid is made of, in alphabetical order: they are a set."""
    if not isinstance(given, Sequence) or isinstance(given, str) or not 1 <= len(given) <= MOST_PARTS:
        report.fault("/derived", f"must be true, or a list of 1 to {MOST_PARTS} names")
        return ()
    for place, name in enumerate(given):
        if not isinstance(name, str) or not 1 <= len(name) <= limits.name or has_control(name):
            wanted = f"must be a name of 1 to {limits.name} characters without control characters"
            report.fault(f"/derived/{place}", wanted)
            return ()
    if len(set(given)) < len(given):
        report.fault("/derived", "must name each once")
    return tuple(sorted(given))


def check_members(grid: Grid, report: Report) -> None:
    """Check that `questions` and `design_effect` come with trials, and that no cell has fewer trials than questions."""
    known = known_trials(grid)
    for name in ("questions", "design_effect"):
        if getattr(grid, name) is not None and not known:
            report.fault(f"/{name}", "goes with trials")
    if grid.questions is not None and known and grid.questions > min(known):
        report.fault("/questions", f"is above {min(known)}, the smallest number of trials of a cell")


def known_trials(grid: Grid) -> list[int]:
    """Numbers of trials that are known."""
    given = grid.trials if isinstance(grid.trials, tuple) else (grid.trials,)
    return [trials for trials in given if trials is not None]


def check_amended(grid: Grid, pointer: Callable[[int], str], report: Report) -> None:
    """Check that no cell of an amended grid has fewer trials than the grid has questions."""
    if grid.questions is not None and isinstance(grid.trials, tuple):
        for index, trials in enumerate(grid.trials):
            if trials is not None and trials < grid.questions:
                report.fault(pointer(index), f"is below the {grid.questions} questions of the grid")


def warn_of_derived_names(sent: Mapping[str, Any], grid: Grid, report: Report) -> None:
    """Warn of names of averages and totals, which would count in addition to their parts."""
    if grid.derived:
        return
    for kind in ("benchmark", "model", "variant"):
        if _is_suspect(sent[kind]):
            advice = _DECLARE if kind == "benchmark" else _ADVICE
            report.warn("looks_derived", f"/{kind}", f'"{sent[kind]}" is named like an average or a total: {advice}')
    _warn_of_derived_levels(grid.axes, report)


@lru_cache(maxsize=1024)  # grids of a batch share most of their names and levels
def _is_suspect(name: str) -> bool:
    # The name of an average fits on a line; long texts and runs of spaces would take the pattern long.
    return len(name) <= _LINE and looks_derived(" ".join(name.split()))


def _warn_of_derived_levels(axes: Sequence[Axis], report: Report) -> None:
    suspects = (
        (f"/axes/{place}/levels/{level}", one.label)
        for place, axis in enumerate(axes)
        if axis.kind != "numeric"
        for level, one in enumerate(axis.levels)
        if _is_suspect(one.label)
    )
    for pointer, label in islice(suspects, REPORTED):
        detail = f'the level "{label}" is named like an average or a total: {_ADVICE}'
        report.warn("looks_derived", pointer, detail)
