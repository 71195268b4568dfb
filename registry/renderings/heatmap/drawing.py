"""Draw an SVG with resvg. As a program it reads the options as JSON from standard input and writes the PNG.

resvg keeps Python's lock for as long as it draws: several seconds for a large picture, in which no other thread of the
process goes on. So large pictures are drawn by a process of their own, which imports nothing of the registry.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

INSIDE = 1_000_000
"""Pixels up to which a picture is drawn in this process: a quarter of a second at most."""
_LONGEST = 60.0
"""Seconds after which a process that draws is ended."""


def draw(pixels: float, options: dict[str, Any]) -> bytes:
    """The PNG of about so many pixels, by the options of `resvg_py.svg_to_bytes`."""
    if pixels <= INSIDE:
        return _drawn(options)
    program = [sys.executable, "-I", __file__]
    return subprocess.run(
        program, input=json.dumps(options).encode(), stdout=subprocess.PIPE, check=True, timeout=_LONGEST
    ).stdout


def _drawn(options: dict[str, Any]) -> bytes:
    from resvg_py import svg_to_bytes

    drawn: bytes = svg_to_bytes(**options)
    return drawn


if __name__ == "__main__":
    sys.stdout.buffer.write(_drawn(json.load(sys.stdin.buffer)))
