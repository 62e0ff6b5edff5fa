"""Bagging, random forests and extra trees of predictive clustering trees; bootstraps, scores, predictors."""
