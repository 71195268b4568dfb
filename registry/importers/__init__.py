"""Importers: turn files of evaluation tools, tables and descriptions into grids as they would be POSTed; one module a
format."""
