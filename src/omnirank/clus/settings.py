"""The settings that CLUS knows, their values, and what happens where one is not followed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches

from omnirank.core.errors import FileFormatError
from omnirank.core.text import did_you_mean
from omnirank.data.clus_settings import ClusSettings

# Section -> settings that are followed, and CLUS's defaults, as its output files list them.
_FOLLOWED = {
    "General": "RandomSeed=0",
    "Data": "File= TestSet=None PruneSet=None XVal=10 RemoveMissingTarget=No",
    "Attributes": "Target=Default Clustering=Default Descriptive=Default Key=None Disable=None Weights=Normalize",
    "Constraints": "MaxDepth=Infinity",
    "Model": "MinimalWeight=2.0",
    "Tree": "Heuristic=Default PruningMethod=Default M5PruningMult=2.0 FTest=1.0 SplitPosition=Exact",
    "Ensemble": "Iterations=100 EnsembleMethod=Bagging EnsembleBootstrapping=Undefined SelectRandomSubspaces=0 "
    "FeatureRanking=None FeatureRankingPerTarget=No SymbolicWeight=0.5 SortRankingByRelevance=Yes "
    "NumberOfThreads=1",
    "Hierarchical": "Type=Tree WType=ExpSumParentWeight WParam=0.75 HSeparator=. EmptySetIndicator=n",
    "SemiSupervised": "SemiSupervisedMethod=PCT UnlabeledData= PercentageLabeled=5 InternalFolds=5 "
    "PossibleWeights=[0.0,0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9,1.0]",
    "Relief": "Neighbours=10 Iterations=-1 WeightNeighbours=No WeightingSigma=0.5 MultilabelDistance=HammingLoss",
    "Output": "ShowModels=[Default,Pruned,Others] TrainErrors=Yes TestErrors=Yes AllFoldModels=Yes AllFoldErrors=No",
}
# The same of those that are not.
_NOT_FOLLOWED = {
    "General": "Verbose=1 Compatibility=Latest ResourceInfoLoaded=No DoNotInduce=No "
    "LoggingProperties=logging.properties",
    "Data": "PruneSetMax=Infinity NormalizeData=None",
    "Attributes": "ClusteringWeights=1.0 ReduceMemoryNominalAttrs=No GIS=None",
    "Constraints": "Syntactic=None MaxSize=Infinity MaxError=0.0",
    "Nominal": "MEstimate=1.0",
    "Model": "NominalSubsetTests=Yes MinimalNumberExamples=0 MinimalKnownWeight=0.0 ParamTuneNumberFolds=10 "
    "ClassWeights=0.0 LoadFromModelFile=No",
    "Tree": "HeuristicComplexity=N2 SetDistance=GSMDistance TupleDistance=Euclidean TSDistance=DTW 1-SE-Rule=No "
    "BinarySplit=Yes ConvertToRules=No AlternativeSplits=No Optimize=[] MSENominal=No SplitSampling=None "
    "MissingClusteringAttrHandling=EstimateFromParentNode MissingTargetAttrHandling=ParentNode "
    "InductionOrder=DepthFirst EntropyType=StandardEntropy ConsiderUnlableInstancesInIGCalc=No "
    "SpatialMatrix=Binary SpatialMeasure=GlobalMoran Bandwidth=0.001 Longlat=No NumNeightbours=0.0 Alpha=1.0",
    "Multilabel": "MLCThreshold=0.5 OptimizeThresholds=No MultiLabelRankingMeasure=HammingLoss ShowThresholds=Yes",
    "Ensemble": "TimeBudget=0 VotingType=ProbabilityDistribution SelectRandomTargetSubspaces=SQRT "
    "RandomOutputSelection=None ROSTargetSubspaceSize=SQRT ROSAlgorithmType=Disabled "
    "ROSVotingType=SubspaceAveraging PrintAllModels=No PrintAllModelFiles=No PrintAllModelInfo=No PrintPaths=No "
    "Optimize=No OOBestimate=No WriteEnsemblePredictions=No EnsembleRandomDepth=No BagSelection=-1 BagSize=0",
    "Hierarchical": "Distance=WeightedEuclidean OptimizeErrorMeasure=PooledAUPRC DefinitionFile=None "
    "NoRootPredictions=No PruneInSig=0.0 Bonferroni=No SingleLabel=No CalculateErrors=Yes "
    "ClassificationThreshold=None RecallValues=None EvalClasses=None MEstimate=No",
    "SemiSupervised": "StoppingCriteria=NoneAdded UnlabeledCriteria=Threshold ConfidenceThreshold=0.8 "
    "ConfidenceMeasure=Variance Iterations=10 K=5 UseWeights=No AirbagTrials=0 "
    "ExhaustiveSearchThresholds=[0.5,0.6,0.7,0.8,0.9,0.99] OOBErrorCalculation=LabeledOnly "
    "Normalization=MinMaxNormalization Aggregation=Average CalibrateHmcThreshold=No PruningWhenTuning=No "
    "WeightScoresFile=NO IterationsSupervisionOptimisation=0 ForceInternalXValOptimisation=No "
    "ImputeMissingTargetValues=No InternalFold=-1 ProceedToMain=Yes",
    "Relief": "ChosenInstances=[-1] ReliefStatisticsType=DistanceClassic UseIndicesInRankingNames=No "
    "MissingTargetHandling=Impute",
    "Output": "ValidErrors=Yes AllFoldDatasets=No UnknownFrequency=No BranchFrequency=No ShowInfo=[Count] "
    "PrintModelAndExamples=No WriteErrorFile=No WriteModelFile=No WritePerBagModelFile=Yes WriteOOBFile=No "
    "WritePredictions=[] GzipOutput=No ModelIDFiles=No WriteCurves=No OutputPythonModel=No PythonModelType=Object "
    "OutputROSSubspaces=No OutputJSONModel=No OutputDatabaseQueries=No OutputClowdFlowsJSON=No ComputeSpearman=No",
}

# Sections of methods that are not done here.
_OTHERS = "Beam Distances Exhaustive Experimental HMTR ILevelC kNN kNNTree OptionTree Phylogeny Rules SIT TimeSeries"
OTHER_SECTIONS = _OTHERS.split()

FOLLOWED, NOT_FOLLOWED = (
    {section: dict(pair.partition("=")[::2] for pair in pairs.split()) for section, pairs in table.items()}
    for table in (_FOLLOWED, _NOT_FOLLOWED)
)
DEFAULTS = {section: FOLLOWED.get(section, {}) | NOT_FOLLOWED[section] for section in NOT_FOLLOWED}


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
    [Output] GzipOutput = Yes is not followed
    """
    sections = {name.lower(): name for name in (*DEFAULTS, *OTHER_SECTIONS)}
    notes = []
    for section, given in settings.sections.items():
        if section not in sections:
            hint = did_you_mean(section, sections).replace(*_written(section, sections))
            notes.append(f"[{section}] is no section of CLUS{hint}: it is not followed")
        elif sections[section] in OTHER_SECTIONS:
            notes.append(f"[{sections[section]}] is not followed")
        else:
            notes += _notes_on_section(sections[section], given)
    return notes


def _notes_on_section(section: str, given: Mapping[str, str]) -> list[str]:
    """Notes on the settings of a known section; those that are not followed share one."""
    known = {name.lower(): name for name in DEFAULTS[section]}
    notes, others = [], []
    for name, value in given.items():
        called = known.get(name)
        if called is None:
            hint = did_you_mean(name, known).replace(*_written(name, known))
            notes.append(f"[{section}] {name} is no setting of CLUS{hint}: it is not followed")
        elif called in NOT_FOLLOWED[section] and not _same(value, NOT_FOLLOWED[section][called]):
            others.append(f"{called} = {value}")
    return notes + ([f"[{section}] {', '.join(others)} is not followed"] if others else [])


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
    >>> values.numbers("Ensemble", "Iterations"), values.flag("Ensemble", "SortRankingByRelevance")
    ([2.0, 4.0], True)
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
    for section, defaults in FOLLOWED.items():
        for name, default in defaults.items():
            if (section, name) in _NAMES_TOO:
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
