"""Protocol of a revision: how its values were measured, by key; and which keys bind in an experiment."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from hashlib import sha256
from typing import Any, Literal, NamedTuple, Self

Value = str | int | float | bool
Protocol = Mapping[str, Value]
Role = Literal["binding", "free", "other"]
_NAMED = 12
"""Keys that a sentence names; the rest is counted."""


class Difference(NamedTuple):
    """A key under which two protocols have other values; None where one does not say it."""

    key: str
    baseline: Value | None
    contender: Value | None

    @property
    def is_known(self) -> bool:
        """True if both protocols say it."""
        return self.baseline is not None and self.contender is not None

    def __str__(self) -> str:
        one, other = ("not said" if value is None else written(value) for value in (self.baseline, self.contender))
        return f"{self.key} ({one} and {other})"


def differences(mine: Protocol | None, theirs: Protocol | None) -> list[Difference]:
    """The keys that differ, in order. Values are equal or not: true is not 1, and `>=0.4` is a text."""
    one, other = mine or {}, theirs or {}
    return [
        Difference(key, one.get(key), other.get(key))
        for key in sorted({*one, *other})
        if json.dumps(one.get(key)) != json.dumps(other.get(key))
    ]


def varying(protocols: Iterable[Protocol]) -> set[str]:
    """The keys under which these say several values."""
    values: dict[str, set[str]] = {}
    for protocol in protocols:
        for key, value in protocol.items():
            values.setdefault(key, set()).add(json.dumps(value))
    return {key for key, known in values.items() if len(known) > 1}


def joined(names: Iterable[str]) -> str:
    """Names as a sentence lists them: `a, b and c`; the first dozen, and how many more."""
    listed = list(names)
    if len(listed) > _NAMED:
        listed = [*listed[:_NAMED], f"{len(listed) - _NAMED} more"]
    return " and ".join([", ".join(listed[:-1]), listed[-1]] if len(listed) > 1 else listed)


@dataclass(frozen=True, slots=True)
class Rules:
    """Rules of an experiment for its protocols; without a declaration no key binds.

    Values under protocols that differ in a `binding` key are not compared. Keys that are `free` make no difference;
    others are warned of. `required`: a protocol that lacks a binding key, or has no key at all, is not compared either.
    """

    binding: tuple[str, ...] = ()
    free: tuple[str, ...] = ()
    required: bool = False

    @classmethod
    def of(cls, document: Mapping[str, Any] | None) -> Self:
        """Rules as they are stored; None: nothing was declared."""
        if document is None:
            return cls()
        return cls(tuple(document["binding"]), tuple(document["free"]), document["required"])

    def document(self) -> dict[str, Any]:
        """Rules as they are stored and sent."""
        return asdict(self) | {"binding": list(self.binding), "free": list(self.free)}

    def __bool__(self) -> bool:
        """Tell whether anything was declared."""
        return bool(self.binding or self.free or self.required)

    def role_of(self, key: str) -> Role:
        """Kind of a difference in this key."""
        return "binding" if key in self.binding else "free" if key in self.free else "other"

    def is_whole(self, protocol: Protocol | None) -> bool:
        """Tell whether a protocol says every binding key, and anything at all."""
        return not self.unsaid(protocol)

    def unsaid(self, *protocols: Protocol | None) -> str:
        """Write what some of these protocols do not say; "" if all are whole."""
        keys = [key for key in self.binding if any(one is None or key not in one for one in protocols)]
        return joined(keys) or "how it was measured" * (None in protocols)

    def obstacle(
        self, mine: Protocol | None, theirs: Protocol | None, sides: tuple[str, str] = ("the baseline", "the contender")
    ) -> str | None:
        """Why values under two protocols are not compared, which are those of the `sides`; None where they are."""
        both = [one for one in differences(mine, theirs) if one.key in self.binding and one.is_known]
        if both:
            return f"the protocols differ in {joined(map(str, both))}"
        one, other = self.unsaid(mine), self.unsaid(theirs)
        if not self.required or not (one or other):
            return None
        each = [f"{side} does not say {keys}" for side, keys in zip(sides, (one, other), strict=True) if keys]
        told = f"{joined(sides)} do not say {one}" if one == other else ", and ".join(each)
        return f"{told}, which the experiment requires"

    @property
    def tag(self) -> str:
        """Entity tag."""
        return sha256(json.dumps(self.document()).encode()).hexdigest()[:16]


NO_RULES = Rules()
"""Those of an experiment that declares none."""


def written(value: Value) -> str:
    """A value as people read it; a text as it is."""
    return value if isinstance(value, str) else json.dumps(value)
