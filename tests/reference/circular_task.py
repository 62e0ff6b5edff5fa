"""A task that omnirank does not have: a direction in degrees, where 359 is next to 1. All of it is in this module."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from omnirank.measures.table import larger, smaller
from omnirank.tasks import Task, prototype_columns


class Circular(Task):
    """One direction an example: trees average the point on the circle, (cos, sin)."""

    name = "circular"
    kind = "numbers"
    single = True
    measures = (
        smaller("angular_error", "angular error", "mean angle between true and predicted direction, in degrees"),
        larger("within_quarter", "within 90°", "share of examples with an angle of less than 90 degrees"),
    )
    default_neighbors = 7
    distances = ("chord",)

    def columns(self, target, hierarchy=None, w0=0.75):
        """Return the coordinates of the direction."""
        angle = np.radians(target.values[:, 0])
        return replace(
            prototype_columns(target),
            matrix=np.column_stack([np.cos(angle), np.sin(angle)]),
            variable=np.arange(2),
            level=np.full(2, -1),
            names=("cos", "sin"),
            levels=(None, None),
            weights=np.ones(2),
        )

    def predict(self, means, columns, threshold=0.5):
        """Return the direction of the mean, in [0, 360)."""
        return np.degrees(np.arctan2(means[:, 1], means[:, 0])) % 360

    def error(self, truth, means, columns):
        """Return the mean of (1 - cos of the angle) / 2."""
        return float(np.nanmean(np.sin(self._angles(truth, means) / 2) ** 2))

    def measure(self, case):
        """Return the mean angle, and how often it is less than a right one."""
        angles = np.degrees(self._angles(case.truth, case.means))
        known = angles[~np.isnan(angles)]
        return {"angular_error": float(known.mean()), "within_quarter": float(np.mean(known < 90))}

    def distance(self, target, kind, hierarchy=None, w0=0.75):
        """Return the chords between directions."""
        return Chords(target)

    def _angles(self, truth, means):
        apart = np.arctan2(truth.matrix[:, 1], truth.matrix[:, 0]) - np.arctan2(means[:, 1], means[:, 0])
        return np.abs(np.arctan2(np.sin(apart), np.cos(apart)))


class Chords:
    """Half the straight line between two directions on the unit circle, in [0, 1]."""

    def __init__(self, target):
        self.target = target

    def __call__(self, rows, ids):
        """Return the distances of rows[i] and ids[i, q]."""
        angle = np.radians(self.target.values[:, 0])
        return np.where(ids >= 0, np.abs(np.sin((angle[rows][:, None] - angle[ids]) / 2)), np.nan)

    def of_each(self, first, second):
        """Return the distances of pairs, for the one target."""
        return self(first, second[:, None]).T
