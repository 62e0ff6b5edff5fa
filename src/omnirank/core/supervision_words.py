"""How many labels a fitted model trusted, in words."""

from __future__ import annotations

from typing import Any


def supervision_lines(model: Any) -> list[str]:
    """Return the level of supervision of a fitted model, why it is that one, and the errors of the others, in words."""
    reason = getattr(model, "supervision_reason_", None)
    if reason is None or reason == "all examples are labelled":
        return []
    lines = [f"supervision {model.supervision_:g}: {reason}"]
    if model.supervision_curve_:
        errors = ", ".join(f"{w:g}: {error:.4g}" for w, error in sorted(model.supervision_curve_.items()))
        lines.append(f"errors by level of supervision: {errors}")
    return lines
