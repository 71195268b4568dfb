"""Output of a command: a page for a terminal, TSV for a pipe, JSON on request; notes and progress on stderr."""

from __future__ import annotations

from registry.commands.screen.screen import Screen
from registry.commands.screen.styled_table import StyledTable, coloured, styled, until

__all__ = ["Screen", "StyledTable", "coloured", "styled", "until"]
