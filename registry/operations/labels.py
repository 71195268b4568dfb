"""Labels that are changed by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from registry.errors import Fault, Invalid


def changed_labels(labels: Mapping[str, str], changes: Mapping[str, str | None], most: int) -> dict[str, str]:
    """Labels with the changed ones set and those that are None taken away; `Invalid` if there are more than `most`."""
    merged = {**labels, **changes}
    found = {name: text for name, text in merged.items() if text is not None}
    if len(found) > most:
        raise Invalid([Fault("/labels", f"with these there are {len(found)} labels; at most {most} are allowed")])
    return found


def told_changes(changes: Mapping[str, Any]) -> dict[str, Any]:
    """Changes as the audit log keeps them: of a description its length, because the log outlives a purge."""
    told = dict(changes)
    if "description" in told:
        told["description"] = f"{len(told['description'])} characters"
    return told
