"""Lines along an axis: as a picture, a specification, a table and tidy CSV."""

from __future__ import annotations

from registry.renderings.lines.paint import ChartOptions
from registry.renderings.lines.svg import lines_svg
from registry.renderings.lines.tables import lines_csv, lines_markdown, lines_text
from registry.renderings.lines.vega import lines_vega

__all__ = ["ChartOptions", "lines_csv", "lines_markdown", "lines_svg", "lines_text", "lines_vega"]
