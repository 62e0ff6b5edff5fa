"""Figures; matplotlib is imported only when one is drawn."""

from omnirank.plots.heatmap import score_map
from omnirank.plots.ranking import plot_fuji, plot_ranking

__all__ = ["plot_fuji", "plot_ranking", "score_map"]
