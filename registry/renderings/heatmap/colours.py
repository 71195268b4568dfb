"""Colours: two palettes that people with colour-blindness can read, and text that stands out of either.

cividis: Nuñez, Anderton & Renslow 2018, PLOS ONE 13(7), e0199239. Blues: ColorBrewer (Brewer & Harrower).
Contrast: WCAG 2.2, "relative luminance".
"""

from dataclasses import dataclass
from functools import cache

STEPS = 256
_STOPS = {
    "cividis": (
        "00224e 002e6a 1a386f 32436d 434e6c 535a6d 61656f 6f7073 7d7c78 8c8878 9b9476 aba072 bcae6c cdbb63 dec958 "
        "f0d846 fee838"
    ),
    "blues": (
        "f7fbff eaf3fb deebf7 d2e3f3 c6dbef b2d2e8 9dcae1 84bcdb 6aaed6 56a0ce 4191c6 3181bd 2070b4 1460a8 08509b "
        "084082 08306b"
    ),
}
DARK_INK, LIGHT_INK = "#000000", "#ffffff"


@dataclass(frozen=True, slots=True)
class Theme:
    """The colours of everything that is not a value."""

    ground: str
    ink: str
    faint: str
    hatch: str
    bare: str
    peak: str


THEMES = {
    "light": Theme("#ffffff", "#16191d", "#545b64", "#9aa1a9", "#eef0f2", "#d0006f"),
    "dark": Theme("#14171b", "#eceff2", "#a9b1ba", "#5d656e", "#22272d", "#ff5fae"),
}


@cache
def ramp(palette: str) -> tuple[str, ...]:
    """The palette in `STEPS` steps, low to high, as `#rrggbb`."""
    stops = [_channels(stop) for stop in _STOPS[palette].split()]
    return tuple(_between(stops, step / (STEPS - 1)) for step in range(STEPS))


def _channels(colour: str) -> tuple[int, ...]:
    return tuple(int(colour[place : place + 2], 16) for place in (0, 2, 4))


def _between(stops: list[tuple[int, ...]], share: float) -> str:
    whole = share * (len(stops) - 1)
    first = min(int(whole), len(stops) - 2)
    rest = whole - first
    mixed = (round(a + (b - a) * rest) for a, b in zip(stops[first], stops[first + 1], strict=True))
    return "#" + "".join(f"{channel:02x}" for channel in mixed)


def colour(share: float, palette: str) -> str:
    """The colour of a share of the range, 0 to 1; what lies beyond has the colour of the end."""
    return ramp(palette)[step_of(share)]


def step_of(share: float) -> int:
    """The step of the palette for a share of the range."""
    return round(min(1.0, max(0.0, share)) * (STEPS - 1))


@cache
def ink_on(background: str) -> str:
    """Dark or light text, whichever has more contrast with the background."""
    light = luminance(background)
    return DARK_INK if _contrast(light, luminance(DARK_INK)) >= _contrast(light, luminance(LIGHT_INK)) else LIGHT_INK


def luminance(colour: str) -> float:
    """Relative luminance of `#rrggbb`, 0 to 1."""
    linear = [
        channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4
        for channel in (value / 255 for value in _channels(colour[1:]))
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _contrast(one: float, other: float) -> float:
    high, low = max(one, other), min(one, other)
    return (high + 0.05) / (low + 0.05)
