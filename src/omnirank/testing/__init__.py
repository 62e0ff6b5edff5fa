"""Checks that any ranker must pass, for third parties too."""

from omnirank.testing.checks import check_ranker, ranker_checks, tiny_dataset

__all__ = ["check_ranker", "ranker_checks", "tiny_dataset"]
