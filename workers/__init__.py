"""Background workers: compute statistics, rankings and comparisons from stored grids."""

from registry.settings import multiply_with_one_thread

# Before NumPy is imported. There are as many worker processes as processors to use; threads of one product of matrices
# that wait for each other while others compute made counting thirty times slower on a busy machine.
multiply_with_one_thread()
