"""Background workers: compute statistics, rankings and comparisons from stored grids."""
