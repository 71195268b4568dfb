"""The shapes of answers, as JSON Schema: what a caller may rely on. Fields may be added, never taken away."""

from __future__ import annotations

from registry.api.shapes.asked import ASKED
from registry.api.shapes.compared import COMPARED
from registry.api.shapes.headers import HEADERS, PARAMETERS
from registry.api.shapes.series import SERIES
from registry.api.shapes.statistics import STATISTICS
from registry.api.shapes.stored import STORED
from registry.api.shapes.words import PLAIN, Shape

COMPONENTS: dict[str, Shape] = STORED | SERIES | STATISTICS | ASKED | COMPARED

__all__ = ["COMPONENTS", "HEADERS", "PARAMETERS", "PLAIN", "Shape"]
