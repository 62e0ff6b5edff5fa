"""What rankers say of an iteration that has not converged."""

from __future__ import annotations

import warnings

from sklearn.exceptions import ConvergenceWarning


def warn_unless(converged: bool, method: str, n_iterations: int) -> None:
    """Warn where an iteration has ended before it converged."""
    if not converged:
        warnings.warn(
            f"{method} has not converged in {n_iterations} iterations: its scores are those of the last one; "
            "allow more of them, or stop earlier",
            ConvergenceWarning,
            stacklevel=5,
        )
