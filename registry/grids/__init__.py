"""Grids as frozen values, and the intake that makes them from submissions."""
