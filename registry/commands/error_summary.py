"""Error lines grouped by reason: of a reason that repeats in a thousand files only a few lines are shown."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from registry.importers.reading import Message

_SHOWN = 3
"""Lines shown for one reason; a further one counts the rest."""
_REASONS = 20
_VARIES = re.compile(r'"[^"]*"|\([^()]*\)|[-+]?\d[\w.,:-]*')


@dataclass
class Reasons:
    """Lines of the form `PLACE: REASON`, in the order in which their reasons first occurred."""

    lines: dict[str, int] = field(default_factory=dict)
    """Number of occurrences of each line."""
    _by_reason: dict[str, list[str]] = field(default_factory=dict)

    def add(self, message: Message) -> None:
        line = str(message)
        self.lines[line] = self.lines.get(line, 0) + 1
        if self.lines[line] == 1:
            self._by_reason.setdefault(reason_of(message.detail), []).append(line)

    def __len__(self) -> int:
        return len(self.lines)

    def shown(self, what: str, elsewhere: str = "; --json has all") -> Iterator[str]:
        """At most a few lines for each reason, each after `what`; the rest of a reason is one line with their number,
        and where they are."""
        for lines in list(self._by_reason.values())[:_REASONS]:
            if len(lines) > _SHOWN:
                yield f"{what}: {lines[0]} (and {len(lines) - 1} more like this{elsewhere})"
                continue
            for line in lines:
                times = self.lines[line]
                yield f"{what}: {line}" + (f" ({times} times)" if times > 1 else "")
        if (more := len(self._by_reason) - _REASONS) > 0:
            yield f"… and {more} more reasons{elsewhere}."


def reason_of(detail: str) -> str:
    """A sentence without the parts that differ between files: quoted names, numbers, and text behind a colon."""
    return _VARIES.sub("…", detail).partition(": ")[0]
