"""A trade-off: as a picture, a table and tidy CSV."""

from __future__ import annotations

from registry.renderings.trade_off.svg import trade_off_svg
from registry.renderings.trade_off.tables import trade_off_csv, trade_off_markdown, trade_off_text
from registry.renderings.trade_off.vega import trade_off_vega

__all__ = ["trade_off_csv", "trade_off_markdown", "trade_off_svg", "trade_off_text", "trade_off_vega"]
