"""A grid as a picture: what was measured in colour with its number, what was not hatched."""

from registry.renderings.heatmap.scale import PALETTES, THEMES, Options
from registry.renderings.heatmap.svg import heatmap_svg
from registry.renderings.heatmap.vega import heatmap_vega

__all__ = ["PALETTES", "THEMES", "Options", "heatmap_svg", "heatmap_vega"]
