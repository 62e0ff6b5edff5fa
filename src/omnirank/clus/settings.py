"""The settings that CLUS knows, their values, and what happens where one is not followed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches

from omnirank.core.errors import FileFormatError
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
_OF_THE_PROGRAM = "it concerns the program CLUS, and changes nothing here"
_FREQUENCIES = "leaves predict plain frequencies"

# Section -> what happens instead -> names of the settings that are not followed.
_NOT_FOLLOWED = {
    "General": {
        "the rules are those of the latest version": "Compatibility",
        "models are learned": "DoNotInduce",
        _OF_THE_PROGRAM: "Verbose ResourceInfoLoaded LoggingProperties",
    },
    "Data": {
        "all examples of the pruning set are used": "PruneSetMax",
        "features are taken as they are: neither trees nor Relief depend on their units": "NormalizeData",
    },
    "Attributes": {
        "all clustering attributes weigh the same": "ClusteringWeights",
        "no spatial statistics are used": "GIS",
        _OF_THE_PROGRAM: "ReduceMemoryNominalAttrs",
    },
    "Constraints": {
        "trees are grown from the root": "Syntactic",
        "trees of any size are kept": "MaxSize",
        "trees of any error are kept": "MaxError",
    },
    "Nominal": {
        _FREQUENCIES: "MEstimate",
    },
    "Model": {
        "MinimalWeight alone limits the leaves": "MinimalNumberExamples MinimalKnownWeight",
        "all classes weigh the same": "ClassWeights",
        "the model is learned": "LoadFromModelFile",
        _OF_THE_PROGRAM: "ParamTuneNumberFolds",
    },
    "Tree": {
        "targets are numbers, classes and label sets": "HeuristicComplexity SetDistance TupleDistance TSDistance",
        "it belongs to a method of pruning that is not done": "1-SE-Rule",
        "all tests are binary": "BinarySplit",
        "trees are not converted to rules": "ConvertToRules",
        "alternative tests are not listed": "AlternativeSplits",
        "errors of classes are accuracies": "MSENominal",
        "tests are judged by all examples of a node": "SplitSampling",
        "a branch without a known value takes no part in the target's variance": "MissingClusteringAttrHandling",
        "a leaf without a known value predicts what its nearest ancestor does": "MissingTargetAttrHandling",
        "the tree does not depend on the order in which it is grown": "InductionOrder",
        "impurities are variances, not entropies": "EntropyType ConsiderUnlableInstancesInIGCalc",
        "no spatial statistics are used": "SpatialMatrix SpatialMeasure Bandwidth Longlat NumNeightbours Alpha",
        _OF_THE_PROGRAM: "Optimize",
    },
    "Multilabel": {
        _ONE_THRESHOLD: "MLCThreshold OptimizeThresholds",
        "the permutation score of labels is that of their Hamming loss": "MultiLabelRankingMeasure",
        _OF_THE_PROGRAM: "ShowThresholds",
    },
    "Ensemble": {
        "all trees are grown": "TimeBudget BagSelection",
        "frequencies and numbers are averaged over the trees": "VotingType",
        "all trees see all targets": "SelectRandomTargetSubspaces RandomOutputSelection ROSTargetSubspaceSize "
        "ROSAlgorithmType ROSVotingType",
        _NO_FILE: "PrintAllModelFiles PrintPaths",
        "the sizes of all trees together are written": "PrintAllModelInfo",
        "WritePredictions writes what is predicted": "WriteEnsemblePredictions",
        "MaxDepth limits all trees": "EnsembleRandomDepth",
        "a bag is as large as the training set": "BagSize",
        _OF_THE_PROGRAM: "Optimize",
    },
    "Hierarchical": {
        "the distance is the weighted Euclidean one": "Distance",
        "the level of the F-test is chosen by the pooled precision-recall curve": "OptimizeErrorMeasure",
        "the hierarchy is the one that the data file declares": "DefinitionFile",
        "the root is no label": "NoRootPredictions",
        "labels of leaves are not tested": "PruneInSig Bonferroni",
        "examples may have several labels": "SingleLabel",
        "errors are always computed": "CalculateErrors",
        _ONE_THRESHOLD: "ClassificationThreshold",
        "areas under precision-recall curves are written": "RecallValues",
        "errors are those of all labels": "EvalClasses",
        _FREQUENCIES: "MEstimate",
    },
    "SemiSupervised": {
        "it is a setting of self-training, which is not done": "StoppingCriteria UnlabeledCriteria "
        "ConfidenceThreshold ConfidenceMeasure Iterations K UseWeights AirbagTrials ExhaustiveSearchThresholds "
        "OOBErrorCalculation Normalization Aggregation CalibrateHmcThreshold",
        "single trees are compared as they are pruned": "PruningWhenTuning",
        _NO_FILE: "WeightScoresFile",
        "levels are compared by the models that are fitted": "IterationsSupervisionOptimisation",
        "several levels are always compared by cross-validation": "ForceInternalXValOptimisation",
        "unknown target values stay unknown": "ImputeMissingTargetValues",
        "all folds are done": "InternalFold",
        "the model is learned": "ProceedToMain",
    },
    "Relief": {
        "the examples are drawn by the seed": "ChosenInstances",
        "the statistics are those of distances; hits and misses for one class": "ReliefStatisticsType",
        "rankings are called by the names of targets": "UseIndicesInRankingNames",
        "pairs of examples count in the targets that both know": "MissingTargetHandling",
    },
    "Output": {
        "errors of the pruning set are not written": "ValidErrors",
        _NO_FILE: "AllFoldDatasets WriteErrorFile WriteModelFile ModelIDFiles WriteCurves OutputPythonModel "
        "PythonModelType OutputROSSubspaces OutputDatabaseQueries OutputClowdFlowsJSON",
        "nodes show their tests only": "UnknownFrequency BranchFrequency",
        "leaves show how many examples they have": "ShowInfo PrintModelAndExamples",
        "out-of-bag errors are in the .out file": "WriteOOBFile",
        "files are plain text": "GzipOutput",
        "this file is not written; omnirank tree --json writes trees": "OutputJSONModel",
        "Pearson's coefficient is written": "ComputeSpearman",
        _OF_THE_PROGRAM: "WritePerBagModelFile",
    },
}
INSTEAD: dict[tuple[str, str], str] = {
    (section, name): instead
    for section, reasons in _NOT_FOLLOWED.items()
    for instead, names in reasons.items()
    for name in names.split()
}


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
    >>> from omnirank.clus.settings import notes_on
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
            if instead is not None:
                shared.setdefault(instead, []).append(f"{known[name]} = {value}")
    return notes + [f"[{section}] {', '.join(names)} is not followed: {why}" for why, names in shared.items()]


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


_FLAGS = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}


@dataclass(frozen=True, eq=False)
class Values:
    """The settings of a file with CLUS's defaults for the others, and what there is to tell about them.

    Parameters
    ----------
    settings : ClusSettings
        The file.
    notes : list of str
        What the user should know; readers of settings add to it by `tell`.

    Examples
    --------
    >>> from pathlib import Path
    >>> from omnirank.clus.settings import Values
    >>> from omnirank.data.clus_settings import ClusSettings
    >>> values = Values(ClusSettings(Path("run.s"), {"ensemble": {"iterations": "[2, 4]"}}))
    >>> values.numbers("Ensemble", "Iterations"), values.flag("Ensemble", "OOBestimate")
    ([2.0, 4.0], False)
    >>> values.name("Tree", "Heuristic")
    'default'
    """

    settings: ClusSettings
    notes: list[str] = field(default_factory=list)

    def text(self, section: str, name: str) -> str:
        """Return a value as it is written."""
        given = self.settings.get(section, name)
        return DEFAULTS[section][name] if given is None else given

    def name(self, section: str, name: str) -> str:
        """Return a name in lower case, without the points and blanks that its spellings differ by."""
        return _plain(self.text(section, name))

    def names(self, section: str, name: str) -> list[str]:
        """Return a list of names, in lower case."""
        return [_plain(part) for part in _parts(self.text(section, name))]

    def flag(self, section: str, name: str) -> bool:
        """Return whether a setting says yes."""
        value = _FLAGS.get(self.name(section, name))
        if value is None:
            raise self.wrong(section, name, "expected Yes or No")
        return value

    def numbers(self, section: str, name: str) -> list[float]:
        """Return a list of numbers; a single number is a list of one. Infinity is a number."""
        parts = _parts(self.text(section, name))
        try:
            values = [float(part) for part in parts]
        except ValueError:
            raise self.wrong(section, name, "expected a number, or a list of numbers such as [2, 4]") from None
        if not values or any(math.isnan(number) for number in values):
            raise self.wrong(section, name, "expected a number")
        return values

    def number(self, section: str, name: str, least: float = -math.inf, most: float = math.inf) -> float:
        """Return one number between two bounds."""
        values = self.numbers(section, name)
        if len(values) > 1 or not least <= values[0] <= most:
            bounds = "" if math.isinf(least) else f" of at least {least:g}"
            bounds += "" if math.isinf(most) else f" and at most {most:g}" if bounds else f" of at most {most:g}"
            raise self.wrong(section, name, f"expected one number{bounds}")
        return values[0]

    def counts(self, section: str, name: str) -> list[int]:
        """Return positive whole numbers, ascending, each once."""
        values = self.numbers(section, name)
        if any(number < 1 or number != int(number) for number in values):
            raise self.wrong(section, name, "expected whole numbers of at least 1")
        return sorted({int(number) for number in values})

    def tell(self, section: str, name: str, what: str) -> None:
        """Note that the value of a setting is not followed, and what happens instead."""
        note = f"[{section}] {name} = {self.text(section, name)} is not followed: {what}"
        if note not in self.notes:
            self.notes.append(note)

    def wrong(self, section: str, name: str, expected: str) -> FileFormatError:
        """Return the error for a value that cannot be read."""
        return FileFormatError(f"[{section}] {name} = {self.text(section, name)}: {expected}", path=self.settings.path)


# Settings whose default is a number, and that take names, too.
_NAMES_TOO = {("Data", "XVal"), ("Ensemble", "SelectRandomSubspaces")}


def check_values(values: Values) -> None:
    """Raise an error for the first setting that should be a flag or a number and is none, used or not.

    Settings are read when a run needs them; a mistake should not wait for -xval. Their defaults show what they are.
    """
    for section, defaults in DEFAULTS.items():
        for name, default in defaults.items():
            if (section, name) in INSTEAD or (section, name) in _NAMES_TOO:
                continue
            if default in ("Yes", "No"):
                values.flag(section, name)
            elif _are_numbers(default):
                values.numbers(section, name)
    n_folds(values, 2)


def _are_numbers(text: str) -> bool:
    try:
        return bool([float(part) for part in _parts(text)])
    except ValueError:
        return False


def n_folds(values: Values, n_examples: int) -> int:
    """Return the number of folds of a cross-validation: as it is set, or one per example (``LOO``).

    Examples
    --------
    >>> from pathlib import Path
    >>> from omnirank.clus.settings import Values, n_folds
    >>> from omnirank.data.clus_settings import ClusSettings
    >>> n_folds(Values(ClusSettings(Path("run.s"), {"data": {"xval": "LOO"}})), 150)
    150
    """
    if values.name("Data", "XVal") == "loo":
        return n_examples
    try:
        return int(values.number("Data", "XVal", least=2))
    except FileFormatError:
        raise values.wrong("Data", "XVal", "expected a number of folds of at least 2, or LOO") from None


def _parts(text: str) -> Sequence[str]:
    inner = text.strip().strip("[]{}").strip()
    return [part.strip() for part in inner.split(",")] if inner else []


def _plain(text: str) -> str:
    return text.strip().strip("[]{}").replace(" ", "").replace(".", "").lower()
