"""The sections of the page, one module each, in the order in which they are read."""

from omnirank.report.sections.features import all_features, top_features
from omnirank.report.sections.parameters import parameters
from omnirank.report.sections.scores import scores
from omnirank.report.sections.summary import summary

SECTIONS = (
    summary,
    top_features,
    scores,
    all_features,
    parameters,
)
