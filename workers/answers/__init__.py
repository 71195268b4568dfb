"""Answers about several grids, from their rows."""
