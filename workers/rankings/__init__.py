"""Rankings: stored grids become a score matrix and an order, directly or by way of pair sums."""
