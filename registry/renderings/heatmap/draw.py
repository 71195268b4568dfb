"""The shapes that a picture is made of, as SVG elements."""

from __future__ import annotations

from registry.renderings.heatmap.colours import Theme
from registry.renderings.heatmap.text import safe

DASHES = ' stroke-dasharray="3 2.5"'
"""What sets the frame of a tied cell apart from that of the best."""


def text(content: str, x: float, y: float, size: float, ink: str, extra: str = "") -> str:
    """A text with its baseline at y."""
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size:g}" fill="{ink}"{extra}>{safe(content)}</text>'


def outline(x: float, y: float, wide: float, high: float, theme: Theme, dashes: str) -> str:
    """A frame that is seen on every colour: the ground's under the mark's."""
    inner = f'width="{max(0.5, wide - 2):.1f}" height="{max(0.5, high - 2):.1f}" fill="none"'
    box = f'x="{x + 1:.1f}" y="{y + 1:.1f}" {inner}'
    return (
        f'<rect {box} stroke="{theme.ground}" stroke-width="3.6"/>'
        f'<rect {box} stroke="{theme.peak}" stroke-width="2"{dashes}/>'
    )
