"""The fields of a grid's statistics that each of its resources serves: the views and the OpenAPI document read them."""

from __future__ import annotations

HEAD = (
    "grid",
    "revision",
    "digest",
    "state",
    "methods_version",
    "params",
    "computed_at",
    "axes",
    "slice",
    "lost",
    "metric",
    "assumes",
    "design_effect",
)
"""Fields of every part: which grid it is about, and by what it was computed."""
OMITTED = ("slice", "lost", "grid_split")
"""Fields of parts that an answer has only where they were asked for."""
PARTS: dict[str, tuple[str, ...]] = {
    "trends": ("series", "series_left_out", "grid_trend", "grid_split"),
    "changes": ("series", "series_left_out"),
    "peaks": ("peaks",),
    "coverage": ("coverage",),
    "sensitivity": ("sensitivity",),
    "precision": ("precision",),
}
"""The path of a part, and the fields that it has beside the head."""
