"""Read protocols: how values were measured, as a few keys with a text, a number or a boolean each."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Any

from registry.grids.intake.faults import Report, escaped, number, unsigned_zero
from registry.grids.intake.levels import has_control
from registry.grids.protocol import Value, written

MOST_KEYS, LONGEST_KEY, LONGEST_TEXT = 32, 64, 500
_HALF = re.compile("[\ud800-\udfff]")
_EXACT = 1e15
"""Whole numbers below this are stored as such; JSON columns give larger ones back in another form."""


def key_of(text: str) -> str:
    """A key as it is compared: lower case in Unicode's form NFC, without spaces around it."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).lower()).strip()


def key_fault(key: str) -> str | None:
    """What is wrong with a key that `key_of` returned; None for a good one."""
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
    """Whether a text fits and can be stored: no control characters, and no halves of characters."""
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
