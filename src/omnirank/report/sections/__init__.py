"""The sections of the page, one function and one template each, in the order in which they are read."""

from omnirank.report.sections.agreement import agreement
from omnirank.report.sections.caveats import caveats
from omnirank.report.sections.data_check import data_check
from omnirank.report.sections.features import all_features, top_features
from omnirank.report.sections.how_many import how_many
from omnirank.report.sections.methods import methods
from omnirank.report.sections.models import small_tree, supervision
from omnirank.report.sections.parameters import parameters
from omnirank.report.sections.scores import scores
from omnirank.report.sections.significance import significance
from omnirank.report.sections.stability import stability
from omnirank.report.sections.structure import groups, label_hierarchy, pixels, redundant
from omnirank.report.sections.summary import summary
from omnirank.report.sections.targets import by_target, target_cards
from omnirank.report.sections.worth import worth

SECTIONS = (
    summary,
    data_check,
    top_features,
    scores,
    all_features,
    pixels,
    by_target,
    target_cards,
    label_hierarchy,
    groups,
    redundant,
    worth,
    how_many,
    significance,
    stability,
    agreement,
    small_tree,
    supervision,
    methods,
    parameters,
    caveats,
)
