"""Judge claims against grids: what is said, read as a region, and what the data leave possible."""
