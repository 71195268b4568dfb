"""Rankings: stored grids become a score matrix, directly or by pair sums, which `workers.statistics.ranking` orders."""
