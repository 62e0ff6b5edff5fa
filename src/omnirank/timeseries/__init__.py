"""Time-stamped series and events become a learning table: one example per interval of a regular grid."""

from omnirank.timeseries.features import aggregate, event_counts, integrals, lag_sums, state_shares, time_since
from omnirank.timeseries.grid import Grid
from omnirank.timeseries.learning_table import LearningTable, chronological_split
from omnirank.timeseries.sources import Events, Series, States, combine

__all__ = [
    "Events",
    "Grid",
    "LearningTable",
    "Series",
    "States",
    "aggregate",
    "chronological_split",
    "combine",
    "event_counts",
    "integrals",
    "lag_sums",
    "state_shares",
    "time_since",
]
