"""Bagging, random forests and extra trees of predictive clustering trees; bootstraps, scores, predictors."""

from omnirank.ensembles.scores import FeatureScores, Score, ScoredTree, register_score, unregister_score

__all__ = ["FeatureScores", "Score", "ScoredTree", "register_score", "unregister_score"]
