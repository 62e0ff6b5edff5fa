"""Statistics of methods over data sets: ranks, tests, corrections, and `compare_methods`, which does it all."""

from omnirank.evaluation.statistics_comparison import Comparison, compare_methods
from omnirank.evaluation.statistics_ranks import average_ranks, method_ranks, rounded
from omnirank.evaluation.statistics_tests import (
    Correction,
    FriedmanResult,
    WilcoxonResult,
    bonferroni_dunn_distance,
    correct_p_values,
    friedman_from_ranks,
    friedman_test,
    nemenyi_distance,
    nemenyi_p_values,
    wilcoxon_test,
)

__all__ = [
    "Comparison",
    "Correction",
    "FriedmanResult",
    "WilcoxonResult",
    "average_ranks",
    "bonferroni_dunn_distance",
    "compare_methods",
    "correct_p_values",
    "friedman_from_ranks",
    "friedman_test",
    "method_ranks",
    "nemenyi_distance",
    "nemenyi_p_values",
    "rounded",
    "wilcoxon_test",
]
