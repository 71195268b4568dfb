"""Grids as frozen values, and how they are made of what was sent."""
