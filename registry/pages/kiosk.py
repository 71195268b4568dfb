"""Pages on a wall: `kiosk=1` shows a page alone and as wide as the screen, and `rotate` goes on to others."""

from __future__ import annotations

from dataclasses import dataclass

from flask import request

from registry.errors import Fault, Invalid
from registry.pages.links import LOOKS, local_path, located

_PAGES = 20
_SHORTEST, _USUAL, _LONGEST = 5, 30, 3600


@dataclass(frozen=True, slots=True)
class Kiosk:
    """Where a page on a wall goes next, "" when it stays, and after how many seconds."""

    next: str
    seconds: int


def kiosk_of() -> Kiosk | None:
    """What the address asks for; None for an ordinary page. `Invalid` for what is no page to go on to."""
    if request.args.get("kiosk") != "1":
        return None
    following = [path for path in request.args.getlist("rotate") if path]
    faults = [
        Fault(f"/rotate/{place}", "is no page of this registry: begin with one /, as in /projects/demo")
        for place, path in enumerate(following)
        if not local_path(path)
    ]
    if len(following) > _PAGES:
        faults.append(Fault("/rotate", f"names more than {_PAGES} pages"))
    text = request.args.get("seconds") or str(_USUAL)
    if not (len(text) <= 4 and text.isascii() and text.isdecimal() and _SHORTEST <= int(text) <= _LONGEST):
        faults.append(Fault("/seconds", f"is a whole number from {_SHORTEST} to {_LONGEST}"))
    if faults:
        raise Invalid(faults)
    return Kiosk(_next(following, text), int(text))


def _next(following: list[str], seconds: str) -> str:
    """The address of the next page, which goes on to the others and at last comes back to this one."""
    if not following:
        return ""
    own = [(name, text) for name, text in request.args.items(multi=True) if name not in LOOKS]
    rotation = [*following[1:], located(request.path, own)]
    path, _, query = following[0].partition("?")
    rest = [("kiosk", "1"), ("seconds", seconds), *(("rotate", one) for one in rotation)]
    written = located(path, rest)
    return f"{written}&{query}" if query else written
