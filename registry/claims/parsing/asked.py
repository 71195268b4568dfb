"""Read what is asked of the parser: a text, and what it is about."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Any, NamedTuple

from registry.claims.reading import LONGEST_TEXT, Reader, any_text, members, name_or_empty, text
from registry.grids.intake.faults import Report


class Asked(NamedTuple):
    """A text, and the names or the id of a grid that it is about, as far as they were given."""

    text: str
    about: Mapping[str, str]


def read_asked(given: Any) -> Asked:
    """What was sent; `Invalid` with a pointer to each fault."""
    report = Report()
    readers: dict[str, Reader] = {"text": any_text(LONGEST_TEXT), "about": _about}
    found = members(given, "", readers, ("text",), report)
    report.stop_at_faults()
    if not found["text"].strip():
        report.fault("/text", "has no words")
    report.stop_at_faults()
    return Asked(found["text"], found.get("about", {}))


def _about(given: Any, pointer: str, report: Report) -> Mapping[str, str]:
    readers: dict[str, Reader] = {
        "grid": text,
        **dict.fromkeys(("experiment", "metric", "benchmark", "model"), text),
        "variant": name_or_empty,
    }
    found = members(given, pointer, readers, (), report)
    if "grid" not in found:
        return found
    if len(found) > 1:
        report.fault(pointer, "is the id of a grid, or names; not both")
    try:
        return {"grid": str(uuid.UUID(found["grid"]))}
    except ValueError:
        report.fault(f"{pointer}/grid", "is no id of a grid")
        return {}
