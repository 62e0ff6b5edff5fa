"""Pictures; matplotlib is imported only when one is drawn."""

from omnirank.plots.curves import plot_curves, plot_selection
from omnirank.plots.methods import plot_critical_difference, plot_differences, plot_grid, plot_radar
from omnirank.plots.points import plot_predictions, plot_trade_off
from omnirank.plots.ranking import (
    plot_explanation,
    plot_fuji,
    plot_overlay,
    plot_rank_intervals,
    plot_ranking,
    plot_scores,
    plot_significance,
)
from omnirank.plots.schema import plot_schema
from omnirank.plots.structure import plot_group_shares, plot_hierarchy, plot_target_scores, score_map
from omnirank.plots.tree import plot_tree

__all__ = [
    "plot_critical_difference",
    "plot_curves",
    "plot_differences",
    "plot_explanation",
    "plot_fuji",
    "plot_grid",
    "plot_group_shares",
    "plot_hierarchy",
    "plot_overlay",
    "plot_predictions",
    "plot_radar",
    "plot_rank_intervals",
    "plot_ranking",
    "plot_schema",
    "plot_scores",
    "plot_selection",
    "plot_significance",
    "plot_target_scores",
    "plot_trade_off",
    "plot_tree",
    "score_map",
]
