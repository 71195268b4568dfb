"""What the answers with charts share: the options of their pictures, their forms."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from registry.api.smorest import reply
from registry.renderings.lines import ChartOptions

FORMS = ("json", "txt", "md", "csv")


def pictured(media: str) -> list[dict[str, Any]]:
    """The answers with a picture."""
    return [reply(200, "The picture", media=[media], headers=["ETag"]), reply(304, "Not modified")]


def options_of(query: Mapping[str, Any]) -> ChartOptions:
    """How the picture is asked for; `x` is the scale of lines, and a quantity of a trade-off."""
    return ChartOptions(
        query.get("theme", "light"),
        query.get("width", 880),
        query["x_scale"] if "x_scale" in query else query.get("x"),
        query.get("y_scale"),
        query["band"] == "interval",
    )
