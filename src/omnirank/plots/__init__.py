"""Pictures; matplotlib is imported only when one is drawn."""

from omnirank.plots.convergence import plot_convergence
from omnirank.plots.critical_difference import plot_critical_difference
from omnirank.plots.curves import plot_curves
from omnirank.plots.groups import plot_group_shares
from omnirank.plots.heatmap import score_map
from omnirank.plots.hierarchy import plot_hierarchy
from omnirank.plots.overlay import plot_overlay
from omnirank.plots.radar import plot_radar
from omnirank.plots.ranking import plot_fuji, plot_ranking
from omnirank.plots.scores import plot_scores
from omnirank.plots.selection import plot_selection
from omnirank.plots.significance import plot_significance
from omnirank.plots.stability import plot_rank_intervals
from omnirank.plots.targets import plot_target_scores
from omnirank.plots.tree import plot_tree

__all__ = [
    "plot_convergence",
    "plot_critical_difference",
    "plot_curves",
    "plot_fuji",
    "plot_group_shares",
    "plot_hierarchy",
    "plot_overlay",
    "plot_radar",
    "plot_rank_intervals",
    "plot_ranking",
    "plot_scores",
    "plot_selection",
    "plot_significance",
    "plot_target_scores",
    "plot_tree",
    "score_map",
]
