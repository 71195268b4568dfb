"""What the answers with charts share: their tags, the options of their pictures, their forms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

import orjson
from flask import request

from registry.api.smorest import reply
from registry.charts.slots import Source
from registry.renderings.lines import ChartOptions

FORMS = ("json", "txt", "md", "csv")
_LOOK = "2"
"""Grows when the same numbers come out differently."""


def pictured(media: str) -> list[dict[str, Any]]:
    """The answers with a picture."""
    return [reply(200, "The picture", media=[media], headers=["ETag"]), reply(304, "Not modified")]


def tag_of(sources: Sequence[Source], more: Sequence[Any], project: Any) -> str:
    """The entity tag of a chart: its question, and the contents of the grids that were read."""
    read = [(one.id, one.revision, one.digest, *one.names.values()) for one in sources]
    asked = sorted(request.args.items(multi=True))
    made_of = [_LOOK, str(project.id), asked, read, list(map(str, more))]
    return sha256(orjson.dumps(made_of)).hexdigest()[:24]


def options_of(query: Mapping[str, Any]) -> ChartOptions:
    """How the picture is asked for; `x` is the scale of lines, and a quantity of a trade-off."""
    return ChartOptions(
        query.get("theme", "light"),
        query.get("width", 880),
        query["x_scale"] if "x_scale" in query else query.get("x"),
        query.get("y_scale"),
        query["band"] == "interval",
    )
