"""Which characters there are glyphs for: in the font that comes with the registry, and in the machine's own.

Read from the fonts' own tables of characters ("cmap", formats 4 and 12 of OpenType 1.9), so that a picture never shows
an empty box for a letter.
"""

import os
import struct
import unicodedata
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from pathlib import Path

_FOLDERS = (
    "/usr/share/fonts", "/usr/local/share/fonts", "~/.fonts", "~/.local/share/fonts",
    "/System/Library/Fonts", "/Library/Fonts", "~/Library/Fonts", "C:\\Windows\\Fonts",
)  # fmt: skip
"""Where the library that draws looks for fonts, too."""
_SUFFIXES = (".ttf", ".otf", ".ttc", ".otc")
_MOST_FILES, _MOST_BYTES = 1_000, 64 * 1024 * 1024
_INVISIBLE = ("Mn", "Me", "Cf", "Cc", "Zs", "Zl", "Zp")
Ranges = tuple[tuple[int, int], ...]


def beyond_ours(text: str) -> frozenset[str]:
    """The characters of a text that are to be seen and that the packaged font does not have."""
    return frozenset(one for one in set(text) if not one.isascii() and not _has(ours(), one) and _visible(one))


def without_glyph(characters: frozenset[str]) -> frozenset[str]:
    """Those that no font of the machine has."""
    return frozenset(one for one in characters if not any(_has(ranges, one) for ranges in _of_the_machine()))


def _visible(character: str) -> bool:
    return unicodedata.category(character) not in _INVISIBLE


def _has(ranges: Ranges, character: str) -> bool:
    return any(first <= ord(character) <= last for first, last in ranges)


@cache
def ours() -> Ranges:
    """The characters of the packaged font."""
    return ranges_of((files("registry.renderings") / "fonts" / "DejaVuSans.ttf").read_bytes())


@cache
def _of_the_machine() -> tuple[Ranges, ...]:
    return tuple(ranges for ranges in map(_read, _files()) if ranges)


def _files() -> Iterator[Path]:
    left = _MOST_FILES
    for folder in _FOLDERS:
        for parent, _, names in os.walk(Path(folder).expanduser()):
            for name in names:
                if left and name.lower().endswith(_SUFFIXES):
                    left -= 1
                    yield Path(parent) / name


def _read(path: Path) -> Ranges:
    """The characters of a font; none of one that cannot be read."""
    try:
        return ranges_of(path.read_bytes()) if path.stat().st_size <= _MOST_BYTES else ()
    except (OSError, struct.error, IndexError):
        return ()


def ranges_of(font: bytes) -> Ranges:
    """The characters of a font's bytes, first and last of each run; `struct.error` where they are cut short."""
    start = struct.unpack_from(">I", font, 12)[0] if font[:4] == b"ttcf" else 0
    found: set[tuple[int, int]] = set()
    for number in range(struct.unpack_from(">H", font, start + 4)[0]):
        tag, _, offset, _ = struct.unpack_from(">4sIII", font, start + 12 + 16 * number)
        if tag == b"cmap":
            for table in range(struct.unpack_from(">H", font, offset + 2)[0]):
                at = offset + struct.unpack_from(">HHI", font, offset + 4 + 8 * table)[2]
                found.update(_subtable(font, at))
    return tuple(sorted(found))


def _subtable(font: bytes, at: int) -> Iterator[tuple[int, int]]:
    kind = struct.unpack_from(">H", font, at)[0]
    if kind == 12:
        for group in range(struct.unpack_from(">I", font, at + 12)[0]):
            first, last, _ = struct.unpack_from(">III", font, at + 16 + 12 * group)
            yield first, last
    elif kind == 4:
        count = struct.unpack_from(">H", font, at + 6)[0] // 2
        ends = struct.unpack_from(f">{count}H", font, at + 14)
        starts = struct.unpack_from(f">{count}H", font, at + 16 + 2 * count)
        yield from ((first, last) for first, last in zip(starts, ends, strict=True) if first < 0xFFFF)
