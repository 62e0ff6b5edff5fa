"""Measures that need no ranking: plain functions of what is true and what is predicted, with their descriptions.

`omnirank.evaluation.measures` is where users find them, beside `measure`, which gives all measures of a task.
"""
