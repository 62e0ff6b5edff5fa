"""Time-stamped series and events become a learning table: one example per interval of a regular grid."""

from omnirank.timeseries.learning_table import (
    LearningTable,
    aggregate,
    chronological_split,
    event_counts,
    integrals,
    lag_sums,
    state_shares,
    time_since,
)
from omnirank.timeseries.sources import Events, Grid, Series, States, combine

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
