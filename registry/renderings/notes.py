"""Footnotes of tables: why a number is missing, each reason told once."""

from typing import Protocol

from registry.renderings.sheet import Lines
from registry.results.terms import Status


class Notes:
    """Collects reasons in the order in which they come up."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def mark(self, *reasons: str | None) -> str:
        """The mark of these reasons, `[1,3]`; empty where there is none."""
        numbers = [self._numbers.setdefault(reason, len(self._numbers) + 1) for reason in reasons if reason]
        return f"[{','.join(map(str, sorted(set(numbers))))}]" if numbers else ""

    def lines(self) -> list[Lines]:
        """The footnotes, as one block; none where nothing was marked."""
        return (
            [Lines(tuple(f"[{number}] {reason}" for reason, number in self._numbers.items()))] if self._numbers else []
        )


class _Statistic(Protocol):
    @property
    def status(self) -> Status: ...

    @property
    def reason(self) -> str | None: ...


def why(found: _Statistic | None, what: str) -> str | None:
    """`what: reason` of a statistic that is not ok."""
    if found is None or found.status == "ok":
        return None
    return f"{what}: {found.reason or found.status.replace('_', ' ')}"
