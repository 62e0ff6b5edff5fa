"""The command line: one module per command, no logic that the library lacks."""

from __future__ import annotations

__all__ = ["main"]


def main() -> None:
    """Run the command line."""
    from omnirank.cli.app import app

    app()
