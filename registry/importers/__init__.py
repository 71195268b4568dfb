"""From files of evaluation tools, tables and descriptions to grids as they would be POSTed: one module a format."""
