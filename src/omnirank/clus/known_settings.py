"""The settings that CLUS knows, with its defaults, and what happens where one is not followed.

A setting that is listed here without a word in ``INSTEAD`` is followed by the modules of this room, which say so
themselves where they follow some of its values only; or it concerns the program CLUS and not its results.
"""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches

from omnirank.core.text import did_you_mean
from omnirank.data.clus_settings import ClusSettings

# Section -> settings and CLUS's defaults, as its output files list them.
_DEFAULTS = {
    "General": "Verbose=1 Compatibility=Latest RandomSeed=0 ResourceInfoLoaded=No DoNotInduce=No "
    "LoggingProperties=logging.properties",
    "Data": "File= TestSet=None PruneSet=None PruneSetMax=Infinity XVal=10 RemoveMissingTarget=No NormalizeData=None",
    "Attributes": "Target=Default Clustering=Default Descriptive=Default Key=None Disable=None Weights=Normalize "
    "ClusteringWeights=1.0 ReduceMemoryNominalAttrs=No GIS=None",
    "Constraints": "Syntactic=None MaxSize=Infinity MaxError=0.0 MaxDepth=Infinity",
    "Nominal": "MEstimate=1.0",
    "Model": "MinimalWeight=2.0 MinimalNumberExamples=0 MinimalKnownWeight=0.0 ParamTuneNumberFolds=10 "
    "ClassWeights=0.0 NominalSubsetTests=Yes LoadFromModelFile=No",
    "Tree": "Heuristic=Default HeuristicComplexity=N2 SetDistance=GSMDistance TupleDistance=Euclidean TSDistance=DTW "
    "PruningMethod=Default M5PruningMult=2.0 1-SE-Rule=No FTest=1.0 BinarySplit=Yes ConvertToRules=No "
    "AlternativeSplits=No Optimize=[] MSENominal=No SplitSampling=None "
    "MissingClusteringAttrHandling=EstimateFromParentNode MissingTargetAttrHandling=ParentNode "
    "InductionOrder=DepthFirst EntropyType=StandardEntropy ConsiderUnlableInstancesInIGCalc=No SpatialMatrix=Binary "
    "SpatialMeasure=GlobalMoran Bandwidth=0.001 Longlat=No NumNeightbours=0.0 Alpha=1.0 SplitPosition=Exact",
    "Multilabel": "MLCThreshold=0.5 OptimizeThresholds=No MultiLabelRankingMeasure=HammingLoss ShowThresholds=Yes",
    "Ensemble": "Iterations=100 TimeBudget=0 EnsembleMethod=Bagging EnsembleBootstrapping=Undefined "
    "VotingType=ProbabilityDistribution SelectRandomSubspaces=0 SelectRandomTargetSubspaces=SQRT "
    "RandomOutputSelection=None ROSTargetSubspaceSize=SQRT ROSAlgorithmType=Disabled ROSVotingType=SubspaceAveraging "
    "PrintAllModels=No PrintAllModelFiles=No PrintAllModelInfo=No PrintPaths=No Optimize=No OOBestimate=No "
    "FeatureRanking=None FeatureRankingPerTarget=No SymbolicWeight=0.5 SortRankingByRelevance=Yes "
    "WriteEnsemblePredictions=No EnsembleRandomDepth=No BagSelection=-1 BagSize=0 NumberOfThreads=1",
    "Hierarchical": "Type=Tree Distance=WeightedEuclidean WType=ExpSumParentWeight WParam=0.75 HSeparator=. "
    "EmptySetIndicator=n OptimizeErrorMeasure=PooledAUPRC DefinitionFile=None NoRootPredictions=No PruneInSig=0.0 "
    "Bonferroni=No SingleLabel=No CalculateErrors=Yes ClassificationThreshold=None RecallValues=None EvalClasses=None "
    "MEstimate=No",
    "SemiSupervised": "SemiSupervisedMethod=PCT StoppingCriteria=NoneAdded UnlabeledCriteria=Threshold "
    "ConfidenceThreshold=0.8 ConfidenceMeasure=Variance Iterations=10 K=5 UnlabeledData= PercentageLabeled=5 "
    "UseWeights=No AirbagTrials=0 ExhaustiveSearchThresholds=[0.5,0.6,0.7,0.8,0.9,0.99] "
    "OOBErrorCalculation=LabeledOnly Normalization=MinMaxNormalization Aggregation=Average CalibrateHmcThreshold=No "
    "PruningWhenTuning=No InternalFolds=5 WeightScoresFile=NO "
    "PossibleWeights=[0.0,0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9,1.0] IterationsSupervisionOptimisation=0 "
    "ForceInternalXValOptimisation=No ImputeMissingTargetValues=No InternalFold=-1 ProceedToMain=Yes",
    "Relief": "Neighbours=10 Iterations=-1 WeightNeighbours=No WeightingSigma=0.5 ChosenInstances=[-1] "
    "MultilabelDistance=HammingLoss ReliefStatisticsType=DistanceClassic UseIndicesInRankingNames=No "
    "MissingTargetHandling=Impute",
    "Output": "ShowModels=[Default,Pruned,Others] TrainErrors=Yes ValidErrors=Yes TestErrors=Yes AllFoldModels=Yes "
    "AllFoldErrors=No AllFoldDatasets=No UnknownFrequency=No BranchFrequency=No ShowInfo=[Count] "
    "PrintModelAndExamples=No WriteErrorFile=No WriteModelFile=No WritePerBagModelFile=Yes WriteOOBFile=No "
    "WritePredictions=[] GzipOutput=No ModelIDFiles=No WriteCurves=No OutputPythonModel=No PythonModelType=Object "
    "OutputROSSubspaces=No OutputJSONModel=No OutputDatabaseQueries=No OutputClowdFlowsJSON=No ComputeSpearman=No",
}

# Section -> what it is for; none of it is done here.
OTHER_SECTIONS = {
    "Beam": "beam search for trees",
    "Distances": "distances of time series, sets and tuples",
    "Exhaustive": "exhaustive search for trees",
    "Experimental": "experiments of its authors",
    "HMTR": "hierarchies of numeric targets",
    "ILevelC": "clustering with instance-level constraints",
    "kNN": "nearest neighbours as predictors",
    "kNNTree": "nearest neighbours in the leaves of trees",
    "OptionTree": "option trees",
    "Phylogeny": "phylogenetic trees",
    "Rules": "predictive clustering rules",
    "SIT": "inductive transfer between targets",
    "TimeSeries": "clustering of time series",
}

DEFAULTS: dict[str, dict[str, str]] = {
    section: dict(pair.partition("=")[::2] for pair in pairs.split()) for section, pairs in _DEFAULTS.items()
}

_NO_FILE = "this file is not written"
_ONE_THRESHOLD = "a label is predicted from a frequency of 1/2 on"
_SELF_TRAINING = "it is a setting of self-training, which is not done"
_SPATIAL = "no spatial statistics are used"
_STRUCTURED = "targets are numbers, classes and label sets"
_ALWAYS = "errors are always computed"

# Section and name -> what happens instead.
INSTEAD: dict[tuple[str, str], str] = {
    ("General", "Compatibility"): "the rules are those of the latest version",
    ("General", "DoNotInduce"): "models are learned",
    ("Data", "PruneSetMax"): "all examples of the pruning set are used",
    ("Data", "NormalizeData"): "features are taken as they are: neither trees nor Relief depend on their units",
    ("Attributes", "ClusteringWeights"): "all clustering attributes weigh the same",
    ("Attributes", "GIS"): _SPATIAL,
    ("Constraints", "Syntactic"): "trees are grown from the root",
    ("Constraints", "MaxSize"): "trees of any size are kept",
    ("Constraints", "MaxError"): "trees of any error are kept",
    ("Nominal", "MEstimate"): "leaves predict plain frequencies",
    ("Model", "MinimalNumberExamples"): "MinimalWeight alone limits the leaves",
    ("Model", "MinimalKnownWeight"): "MinimalWeight alone limits the leaves",
    ("Model", "ClassWeights"): "all classes weigh the same",
    ("Model", "LoadFromModelFile"): "the model is learned",
    ("Tree", "HeuristicComplexity"): _STRUCTURED,
    ("Tree", "SetDistance"): _STRUCTURED,
    ("Tree", "TupleDistance"): _STRUCTURED,
    ("Tree", "TSDistance"): _STRUCTURED,
    ("Tree", "1-SE-Rule"): "it belongs to a method of pruning that is not done",
    ("Tree", "BinarySplit"): "all tests are binary",
    ("Tree", "ConvertToRules"): "trees are not converted to rules",
    ("Tree", "AlternativeSplits"): "alternative tests are not listed",
    ("Tree", "MSENominal"): "errors of classes are accuracies",
    ("Tree", "SplitSampling"): "tests are judged by all examples of a node",
    ("Tree", "MissingClusteringAttrHandling"): "a branch without a known value takes no part in the target's variance",
    ("Tree", "MissingTargetAttrHandling"): "a leaf without a known value predicts what its nearest ancestor does",
    ("Tree", "InductionOrder"): "the tree does not depend on the order in which it is grown",
    ("Tree", "EntropyType"): "impurities are variances, not entropies",
    ("Tree", "ConsiderUnlableInstancesInIGCalc"): "impurities are variances, not entropies",
    ("Tree", "SpatialMatrix"): _SPATIAL,
    ("Tree", "SpatialMeasure"): _SPATIAL,
    ("Tree", "Bandwidth"): _SPATIAL,
    ("Tree", "Longlat"): _SPATIAL,
    ("Tree", "NumNeightbours"): _SPATIAL,
    ("Tree", "Alpha"): _SPATIAL,
    ("Multilabel", "MLCThreshold"): _ONE_THRESHOLD,
    ("Multilabel", "OptimizeThresholds"): _ONE_THRESHOLD,
    ("Multilabel", "MultiLabelRankingMeasure"): "the permutation score of labels is that of their Hamming loss",
    ("Ensemble", "TimeBudget"): "all trees are grown",
    ("Ensemble", "VotingType"): "frequencies and numbers are averaged over the trees",
    ("Ensemble", "SelectRandomTargetSubspaces"): "all trees see all targets",
    ("Ensemble", "RandomOutputSelection"): "all trees see all targets",
    ("Ensemble", "ROSTargetSubspaceSize"): "all trees see all targets",
    ("Ensemble", "ROSAlgorithmType"): "all trees see all targets",
    ("Ensemble", "ROSVotingType"): "all trees see all targets",
    ("Ensemble", "PrintAllModelFiles"): _NO_FILE,
    ("Ensemble", "PrintAllModelInfo"): "the sizes of all trees together are written",
    ("Ensemble", "PrintPaths"): _NO_FILE,
    ("Ensemble", "WriteEnsemblePredictions"): "WritePredictions writes what is predicted",
    ("Ensemble", "EnsembleRandomDepth"): "MaxDepth limits all trees",
    ("Ensemble", "BagSelection"): "all trees are grown",
    ("Ensemble", "BagSize"): "a bag is as large as the training set",
    ("Hierarchical", "Distance"): "the distance is the weighted Euclidean one",
    ("Hierarchical", "OptimizeErrorMeasure"): "the level of the F-test is chosen by the pooled precision-recall curve",
    ("Hierarchical", "DefinitionFile"): "the hierarchy is the one that the data file declares",
    ("Hierarchical", "NoRootPredictions"): "the root is no label",
    ("Hierarchical", "PruneInSig"): "labels of leaves are not tested",
    ("Hierarchical", "Bonferroni"): "labels of leaves are not tested",
    ("Hierarchical", "SingleLabel"): "examples may have several labels",
    ("Hierarchical", "CalculateErrors"): _ALWAYS,
    ("Hierarchical", "ClassificationThreshold"): _ONE_THRESHOLD,
    ("Hierarchical", "RecallValues"): "areas under precision-recall curves are written",
    ("Hierarchical", "EvalClasses"): "errors are those of all labels",
    ("Hierarchical", "MEstimate"): "leaves predict plain frequencies",
    ("SemiSupervised", "StoppingCriteria"): _SELF_TRAINING,
    ("SemiSupervised", "UnlabeledCriteria"): _SELF_TRAINING,
    ("SemiSupervised", "ConfidenceThreshold"): _SELF_TRAINING,
    ("SemiSupervised", "ConfidenceMeasure"): _SELF_TRAINING,
    ("SemiSupervised", "Iterations"): _SELF_TRAINING,
    ("SemiSupervised", "K"): _SELF_TRAINING,
    ("SemiSupervised", "UseWeights"): _SELF_TRAINING,
    ("SemiSupervised", "AirbagTrials"): _SELF_TRAINING,
    ("SemiSupervised", "ExhaustiveSearchThresholds"): _SELF_TRAINING,
    ("SemiSupervised", "OOBErrorCalculation"): _SELF_TRAINING,
    ("SemiSupervised", "Normalization"): _SELF_TRAINING,
    ("SemiSupervised", "Aggregation"): _SELF_TRAINING,
    ("SemiSupervised", "CalibrateHmcThreshold"): _SELF_TRAINING,
    ("SemiSupervised", "PruningWhenTuning"): "single trees are compared as they are pruned",
    ("SemiSupervised", "InternalFolds"): "levels are compared in 4 folds",
    ("SemiSupervised", "WeightScoresFile"): _NO_FILE,
    ("SemiSupervised", "IterationsSupervisionOptimisation"): "levels are compared by ensembles of the usual size",
    ("SemiSupervised", "ForceInternalXValOptimisation"): "several levels are always compared by cross-validation",
    ("SemiSupervised", "ImputeMissingTargetValues"): "unknown target values stay unknown",
    ("SemiSupervised", "InternalFold"): "all folds are done",
    ("SemiSupervised", "ProceedToMain"): "the model is learned",
    ("Relief", "ChosenInstances"): "the examples are drawn by the seed",
    ("Relief", "ReliefStatisticsType"): "the statistics are those of distances; hits and misses for one class",
    ("Relief", "UseIndicesInRankingNames"): "rankings are called by the names of targets",
    ("Relief", "MissingTargetHandling"): "pairs of examples count in the targets that both know",
    ("Output", "ValidErrors"): "errors of the pruning set are not written",
    ("Output", "AllFoldDatasets"): _NO_FILE,
    ("Output", "UnknownFrequency"): "nodes show their tests only",
    ("Output", "BranchFrequency"): "nodes show their tests only",
    ("Output", "ShowInfo"): "leaves show how many examples they have",
    ("Output", "PrintModelAndExamples"): "leaves show how many examples they have",
    ("Output", "WriteErrorFile"): _NO_FILE,
    ("Output", "WriteModelFile"): _NO_FILE,
    ("Output", "WriteOOBFile"): "out-of-bag errors are in the .out file",
    ("Output", "GzipOutput"): "files are plain text",
    ("Output", "ModelIDFiles"): _NO_FILE,
    ("Output", "WriteCurves"): _NO_FILE,
    ("Output", "OutputPythonModel"): _NO_FILE,
    ("Output", "PythonModelType"): _NO_FILE,
    ("Output", "OutputJSONModel"): "this file is not written; omnirank tree --json writes trees",
    ("Output", "OutputROSSubspaces"): _NO_FILE,
    ("Output", "OutputDatabaseQueries"): _NO_FILE,
    ("Output", "OutputClowdFlowsJSON"): _NO_FILE,
    ("Output", "ComputeSpearman"): "Pearson's coefficient is written",
}

# Settings that concern the program and not its results.
_OF_THE_PROGRAM = {
    "General": ("Verbose", "ResourceInfoLoaded", "LoggingProperties"),
    "Attributes": ("ReduceMemoryNominalAttrs",),
    "Model": ("ParamTuneNumberFolds",),
    "Tree": ("Optimize",),
    "Multilabel": ("ShowThresholds",),
    "Ensemble": ("Optimize",),
    "Output": ("WritePerBagModelFile",),
}
_NOTHING_CHANGES = "it concerns the program CLUS, and changes nothing here"


def default_of(section: str, name: str) -> str:
    """Return what CLUS takes where a setting is not given.

    Examples
    --------
    >>> from omnirank.clus.known_settings import default_of
    >>> default_of("Ensemble", "SymbolicWeight")
    '0.5'
    """
    return DEFAULTS[section][name]


def notes_on(settings: ClusSettings) -> list[str]:
    """Return what is not followed, or not known, among the settings that a file gives.

    A setting with the value that CLUS would take anyway is not mentioned.

    Parameters
    ----------
    settings : ClusSettings
        The settings.

    Examples
    --------
    >>> from pathlib import Path
    >>> from omnirank.clus.known_settings import notes_on
    >>> from omnirank.data.clus_settings import ClusSettings
    >>> given = {"tree": {"prunning": "M5", "convertttorules": "No"}, "output": {"gzipoutput": "Yes"}}
    >>> for note in notes_on(ClusSettings(Path("run.s"), given)):
    ...     print(note)
    [Tree] prunning is no setting of CLUS (did you mean 'PruningMethod'?): it is not followed
    [Tree] convertttorules is no setting of CLUS (did you mean 'ConvertToRules'?): it is not followed
    [Output] GzipOutput = Yes is not followed: files are plain text
    """
    sections = {name.lower(): name for name in (*DEFAULTS, *OTHER_SECTIONS)}
    others = {name.lower(): what for name, what in OTHER_SECTIONS.items()}
    notes = []
    for section, given in settings.sections.items():
        if section in others:
            notes.append(f"[{sections[section]}] is not followed: {others[section]} are not done here")
        elif section not in sections:
            hint = did_you_mean(section, sections).replace(*_written(section, sections))
            notes.append(f"[{section}] is no section of CLUS{hint}: it is not followed")
        else:
            notes += _notes_on_section(sections[section], given)
    return notes


def _notes_on_section(section: str, given: Mapping[str, str]) -> list[str]:
    """Notes on the settings of a known section; those that end in the same way share one."""
    known = {name.lower(): name for name in DEFAULTS[section]}
    notes, shared = [], dict[str, list[str]]()
    for name, value in given.items():
        if name not in known:
            hint = did_you_mean(name, known).replace(*_written(name, known))
            notes.append(f"[{section}] {name} is no setting of CLUS{hint}: it is not followed")
        elif not _same(value, DEFAULTS[section][known[name]]):
            instead = INSTEAD.get((section, known[name]))
            if known[name] in _OF_THE_PROGRAM.get(section, ()):
                instead = _NOTHING_CHANGES
            if instead is not None:
                shared.setdefault(instead, []).append(f"{known[name]} = {value}")
    return notes + [f"[{section}] {', '.join(found)} is not followed: {why}" for why, found in shared.items()]


def _written(name: str, known: Mapping[str, str]) -> tuple[str, str]:
    """The similar name as the hint has it, and as CLUS writes it."""
    [similar] = get_close_matches(name, known, n=1) or [""]
    return repr(similar), repr(known.get(similar, ""))


def _same(value: str, default: str) -> bool:
    """Whether two values mean the same, however they are written."""
    plain = [text.lower().strip("[]{}").replace(" ", "") for text in (value, default)]
    aliases = {"false": "no", "true": "yes", "none": ""}
    if aliases.get(plain[0], plain[0]) == aliases.get(plain[1], plain[1]):
        return True
    try:
        return float(plain[0]) == float(plain[1])
    except ValueError:
        return False
