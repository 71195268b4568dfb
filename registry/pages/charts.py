"""What the views of lines and of trade-offs share: their pictures, and how these are asked for."""

from __future__ import annotations

from collections.abc import Callable

from markupsafe import Markup

from registry.renderings.lines import ChartOptions

WIDE, SMALL = 1_000, 360
"""Widths of a picture in pixels: on a screen, and on a phone."""
SCALES = (("linear", "linear"), ("log", "logarithmic"))
BANDS = (("interval", "95 %"), ("none", "none"))


def pictures(draw: Callable[[ChartOptions], str], options: ChartOptions) -> dict[str, Markup]:
    """The picture for a screen and for a phone, drawn in the colours of the page's style sheet."""
    sizes = (("wide", WIDE), ("small", SMALL))
    return {
        name: Markup(draw(ChartOptions("page", width, options.x, options.y, options.band, name)))  # noqa: S704
        for name, width in sizes
    }
