"""Statistics of grids and rankings: pure functions of numbers, without database, network, clock or chance.

`describe` answers everything about one grid, `gap` about two and `rank` about names that share slots, as values of
`registry.results`. `METHODS_VERSION` is stored beside every answer.
"""

from registry.methods_version import METHODS_VERSION
from registry.results.parameters import Parameters
from workers.statistics.comparison import gap, gap_of_all_cells
from workers.statistics.describe import describe, describe_all
from workers.statistics.ranking import rank
from workers.statistics.score_matrix import ScoreMatrix
from workers.statistics.versus import change, heterogeneity, versus

__all__ = [
    "METHODS_VERSION",
    "Parameters",
    "ScoreMatrix",
    "change",
    "describe",
    "describe_all",
    "gap",
    "gap_of_all_cells",
    "heterogeneity",
    "rank",
    "versus",
]
