"""Pictures; matplotlib is imported only when one is drawn."""

from omnirank.plots.convergence import plot_convergence
from omnirank.plots.critical_difference import plot_critical_difference
from omnirank.plots.curves import plot_curves
from omnirank.plots.heatmap import score_map
from omnirank.plots.ranking import plot_fuji, plot_ranking
from omnirank.plots.scores import plot_scores
from omnirank.plots.selection import plot_selection
from omnirank.plots.stability import plot_rank_intervals

__all__ = [
    "plot_convergence",
    "plot_critical_difference",
    "plot_curves",
    "plot_fuji",
    "plot_rank_intervals",
    "plot_ranking",
    "plot_scores",
    "plot_selection",
    "score_map",
]
