"""What a file says of how its values were measured, in the form of a protocol.

Only what the file holds: a key that it lacks, and one whose value is null or empty, is absent.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from registry.grids.intake.protocol import MOST_KEYS, key_fault, key_of, value_of
from registry.grids.protocol import Value


def protocol_of(known: Mapping[str, Any]) -> dict[str, Any]:
    """The member `protocol` of a publication, at most `MOST_KEYS` keys of it, the first ones; empty without any.

    Lists and objects become JSON with sorted keys. A text that is too long for a protocol, or has several lines, such
    as a prompt, becomes `sha256:` and the SHA-256 of its UTF-8.
    """
    held = {key_of(key): value for key, given in known.items() if (value := _held(given)) is not None}
    kept = [(key, value) for key, value in held.items() if key_fault(key) is None][:MOST_KEYS]
    return {"protocol": dict(kept)} if kept else {}


def _held(given: Any) -> Value | None:
    if given is None or given in ("", [], {}):
        return None
    if isinstance(given, (list, dict)):
        given = json.dumps(given, sort_keys=True, ensure_ascii=False)
    found = value_of(given)
    return found if found is not None else value_of(str(given)) or digest_of(str(given))


def digest_of(text: str) -> str:
    """What stands for a text in a protocol that has no room for it."""
    return f"sha256:{sha256(text.encode('utf-8', 'replace')).hexdigest()}"


def common(of_each: Mapping[str, Any]) -> Any:
    """What the parts of a grid say under one key, by the parts' names: their value if it is the same in all, else a
    digest of all of them; None if none says anything."""
    values = {name: value for name, value in sorted(of_each.items()) if value not in (None, "", [], {})}
    texts = {json.dumps(value, sort_keys=True) for value in values.values()}
    if len(texts) > 1 or 0 < len(values) < len(of_each):
        return digest_of(json.dumps(values, sort_keys=True))
    return next(iter(values.values()), None)
