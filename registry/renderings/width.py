"""How many columns of a terminal a text fills."""

from __future__ import annotations

import re
import unicodedata

_BREAKS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")


def one_line(text: str) -> str:
    """The text without what would break a line or speak to the terminal."""
    return text if text.isascii() and text.isprintable() else _BREAKS.sub(" ", text)


def display_width(text: str) -> int:
    """Columns of a terminal: two for wide and fullwidth characters, none for combining and invisible ones."""
    return len(text) if text.isascii() else sum(map(_columns, text))


def _columns(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf", "Cc"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1


def left(text: str, width: int) -> str:
    return text + " " * (width - display_width(text))


def right(text: str, width: int) -> str:
    return " " * (width - display_width(text)) + text
