"""Rankings: stored grids to a score matrix to an order, directly or from sums of pairs."""
