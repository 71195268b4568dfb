"""The colours of values as a style sheet: a class a bin, the ink that is legible on it, no inline style anywhere.

The pages and the pictures have the same colours. The diverging palette is ColorBrewer's RdBu (Brewer & Harrower):
its middle is no difference.
"""

from functools import cache

from flask import Response

from registry.pages.front import pages
from registry.renderings.heatmap.colours import ink_on, ramp
from registry.renderings.heatmap.scale import PALETTES

BINS = 32
DIFFERENCES = 21
"""Odd, so that no difference has a bin of its own in the middle."""
_DIVERGING = [
    "67001f",
    "b2182b",
    "d6604d",
    "f4a582",
    "fddbc7",
    "f7f7f7",
    "d1e5f0",
    "92c5de",
    "4393c3",
    "2166ac",
    "053061",
]


def bin_of(share: float) -> int:
    """The bin of a share of the range, 0 to 1."""
    return min(BINS - 1, max(0, int(share * BINS)))


def difference_bin(difference: float, most: float, *, falling: bool = False) -> int:
    """The bin of a difference between `-most` and `most`; exactly no difference is in the middle, what is better has
    the later bins: more, or less where lower is better."""
    half = DIFFERENCES // 2
    if difference == 0 or most == 0:
        return half
    steps = min(half, max(1, round(half * min(1.0, abs(difference) / most))))
    return half + steps if (difference > 0) != falling else half - steps


@cache
def style_sheet() -> str:
    """`.c0` … of each palette and `.d0` … of differences, as CSS."""
    colours = {
        f".{palette} .c{number}": steps[round((number + 0.5) / BINS * (len(steps) - 1))]
        for palette in PALETTES
        for steps in [ramp(palette)]
        for number in range(BINS)
    } | {f".d{number}": _diverging(number) for number in range(DIFFERENCES)}
    rules = (f"{one}{{background:{colour};color:{ink_on(colour)};fill:{colour}}}" for one, colour in colours.items())
    return "\n".join(rules) + "\n"


def _diverging(number: int) -> str:
    """The colour of a bin of differences; every other one is ColorBrewer's, the rest lie halfway."""
    pair = _DIVERGING[number // 2], _DIVERGING[-(-number // 2)]
    channels = (sum(int(one[at : at + 2], 16) for one in pair) // 2 for at in (0, 2, 4))
    return "#" + "".join(f"{channel:02x}" for channel in channels)


@pages.get("/assets/palette.css")
def palette() -> Response:
    response = Response(style_sheet(), content_type="text/css; charset=utf-8")
    response.headers["Cache-Control"] = "public, max-age=31536000, immutable"
    return response
