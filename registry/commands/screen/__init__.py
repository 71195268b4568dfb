"""Output of a command: a page for a terminal, TSV for a pipe, JSON on request; notes and progress on stderr."""

from __future__ import annotations

from registry.commands.screen.painted import Painted, coloured, painted, until
from registry.commands.screen.screen import Screen

__all__ = ["Painted", "Screen", "coloured", "painted", "until"]
