"""Time-stamped series and events become a learning table: one example per interval of a regular grid."""

from omnirank.timeseries.aggregates import aggregate
from omnirank.timeseries.events import Events, States
from omnirank.timeseries.grid import Grid
from omnirank.timeseries.integrals import integrals
from omnirank.timeseries.lags import lag_sums
from omnirank.timeseries.learning_table import LearningTable
from omnirank.timeseries.occurrences import event_counts, state_shares, time_since
from omnirank.timeseries.series import Series, combine
from omnirank.timeseries.splits import chronological_split

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
