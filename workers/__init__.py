"""Background workers: compute statistics, rankings and comparisons from stored grids."""

import os

# Before NumPy is imported. There are as many worker processes as processors to use; threads of one product of matrices
# that wait for each other while others compute made counting thirty times slower on a busy machine.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
