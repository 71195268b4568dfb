"""Answers about several grids, from their rows; `workers.queries` picks the module by the kind of the query."""
