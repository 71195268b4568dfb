"""The shapes of answers, as JSON Schema: what a caller may rely on. Fields may be added; one whose
meaning changes gets another name."""

from __future__ import annotations

from registry.api.shapes.cells import CELLS
from registry.api.shapes.grids import GRIDS, limited
from registry.api.shapes.headers import HEADERS, PARAMETERS
from registry.api.shapes.projects import PROJECTS
from registry.api.shapes.service import SERVICE
from registry.api.shapes.words import PLAIN, Shape
from registry.results.comparison import Comparison
from registry.results.ranking import Ranking
from registry.results.schema import components
from registry.results.statistics import Statistics
from registry.results.sweet_spot import SweetSpot
from registry.results.thresholds import Thresholds
from registry.settings import Settings

COMPONENTS: dict[str, Shape] = {
    **SERVICE,
    **PROJECTS,
    **GRIDS,
    **CELLS,
    **components(Statistics, Thresholds, SweetSpot, Comparison, Ranking),
    **limited(Settings()),
}
"""With the usual limits; an application describes its own (`limited`)."""

__all__ = ["COMPONENTS", "HEADERS", "PARAMETERS", "PLAIN", "Shape", "limited"]
