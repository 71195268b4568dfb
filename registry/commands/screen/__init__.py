"""What a command writes: a page for a terminal, TSV for a pipe, JSON when asked; notes and progress on stderr."""

from __future__ import annotations

from registry.commands.screen.painted import Painted, coloured, painted, until
from registry.commands.screen.screen import Screen

__all__ = ["Painted", "Screen", "coloured", "painted", "until"]
