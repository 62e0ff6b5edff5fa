"""Settings files of CLUS (.s): sections of ``Name = value`` lines; they name the data and the columns."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from omnirank.core.errors import DataError, FileFormatError, ParameterError
from omnirank.core.text import files_like
from omnirank.core.types import PathLike
from omnirank.data.arff import read_arff
from omnirank.data.column_choice import choose_positions
from omnirank.data.files import Content, TextSource
from omnirank.data.roles import Roles

_SECTION = re.compile(r"\[([^\[\]]*)\]")
_NONE = ("none", "")
_TYPES = {"tree": "tree", "dag": "dag"}
# What CLUS takes where a setting is not given.
_SEPARATOR, _EMPTY_SET = ".", "n"
_UNLABELLED = "?"


@dataclass(frozen=True)
class ClusSettings:
    """A settings file.

    Parameters
    ----------
    path : Path
        The file.
    sections : mapping
        Section name -> setting name -> value, as written.
    encoding : str
        The encoding of the file and of the data files that it names.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from omnirank.data.clus_settings import read_clus_settings
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "wq.s")
    ...     _ = path.write_text("[Data]\\nFile = wq.arff\\n[Attributes]\\nTarget = 17-30 % all plants\\n")
    ...     settings = read_clus_settings(path)
    >>> settings.get("data", "file"), settings.get("attributes", "target"), len(settings.roles(30).features)
    ('wq.arff', '17-30', 16)
    """

    path: Path
    sections: Mapping[str, Mapping[str, str]]
    encoding: str = "utf-8"

    def get(self, section: str, name: str) -> str | None:
        """Return a setting as it is written, or None; names in any case."""
        sections = {written.lower(): given for written, given in self.sections.items()}
        own = {written.lower(): value for written, value in sections.get(section.lower(), {}).items()}
        return own.get(name.lower())

    @property
    def data_file(self) -> Path:
        """The data file; where it is not named, it is called like the settings file."""
        name = self.get("data", "file")
        if name is None or name.lower() in _NONE:
            name = self.path.with_suffix(".arff").name
            if not self.path.with_suffix(".arff").exists():
                raise FileFormatError(
                    f"there is no setting File in the section [Data], and no file {name}", path=self.path
                )
        return self.find(name, "[Data] File")

    def find(self, name: str, setting: str) -> Path:
        """Return the path of a file that a setting names: from the working directory, else beside the settings file.

        Parameters
        ----------
        name : str
            The value of the setting.
        setting : str
            Its section and name, for the error message.
        """
        beside = self.path.parent / name
        for path in (Path(name), beside):
            if path.exists():
                return path
        raise FileFormatError(
            f"{setting} = {name}: there is no such file in the working directory, nor beside the settings"
            f"{files_like(beside)}",
            path=self.path,
        )

    @property
    def hierarchy_kind(self) -> str:
        """Kind of the label hierarchy: "tree", "dag", or "auto" where it is not given."""
        given = self.get("hierarchical", "type")
        if given is None:
            return "auto"
        if given.lower() not in _TYPES:
            raise FileFormatError(f"[Hierarchical] Type = {given}: expected Tree or DAG", path=self.path)
        return _TYPES[given.lower()]

    @property
    def hierarchy_separator(self) -> str:
        """What stands between the labels of a path; a point where it is not given, as in CLUS."""
        return self.get("hierarchical", "hseparator") or _SEPARATOR

    @property
    def empty_label_set(self) -> str:
        """What stands for a labelled example without labels."""
        return self.get("hierarchical", "emptysetindicator") or _EMPTY_SET

    def label_notes(self, entries: Sequence[str]) -> list[str]:
        """Return what the user should know about how labels are read: where they are not what they seem.

        Parameters
        ----------
        entries : sequence of str
            The labels.
        """
        notes = []
        if self.get("hierarchical", "hseparator") is None and any("/" in entry for entry in entries):
            notes.append("[Hierarchical] HSeparator is not given: labels are parted by '.', as in CLUS, not by '/'")
        if self.empty_label_set == _UNLABELLED:
            notes.append("[Hierarchical] EmptySetIndicator = ?: an example with ? is unlabelled, as in other files")
        return notes

    def roles(self, n_columns: int) -> Roles:
        """Return the roles of the columns of a file with that number of columns, with the defaults of CLUS.

        Without Target the last column is the target; without Descriptive all columns left are features. Target wins
        over Disable: so a target among several is chosen. Target = Descriptive (or Target = None) means unsupervised
        data.
        """
        target = self._columns("target", n_columns)
        key = self._columns("key", n_columns) or []
        taken = {*key, *(self._columns("disable", n_columns) or [])}
        if target is None:
            target = [i for i in range(n_columns) if i not in taken][-1:]
        features = self._columns("descriptive", n_columns)
        if features is None:
            features = [i for i in range(n_columns) if i not in taken and i not in target]
        features = [i for i in features if i not in taken]
        target = [i for i in target if i not in key]
        notes: list[str] = []
        if target and set(target) == set(features):
            target = []
            notes.append("the settings take the features as the target too: the data are unsupervised")
        both = sorted(set(target) & set(features))
        if both:
            raise FileFormatError(f"column {both[0] + 1} is both Target and Descriptive", path=self.path)
        clustering = self._columns("clustering", n_columns)
        if clustering is not None and set(clustering) not in (set(target), {*target, *features}):
            instead = "impurities are those of the target, and of the features where unlabelled examples count"
            notes.append(f"[Attributes] Clustering = {self.get('attributes', 'clustering')} is not followed: {instead}")
        return Roles(tuple(target), tuple(features), None, tuple(notes))

    def _columns(self, name: str, n_columns: int) -> list[int] | None:
        given = self.get("attributes", name)
        if given is None:
            return None
        if given.lower() in _NONE:
            return []
        try:
            return choose_positions(given, n_columns, name.capitalize())
        except ParameterError as problem:
            raise FileFormatError(f"[Attributes] {problem}", path=self.path) from None


def read_clus_settings(path: PathLike, encoding: str = "utf-8") -> ClusSettings:
    """Read a settings file; a later value of a setting wins, as in CLUS.

    Parameters
    ----------
    path : str or Path
        The file; comments start with ``%``.
    encoding : str
        The encoding of the file and of the data files that it names.
    """
    path = Path(path)
    sections: dict[str, dict[str, str]] = {}
    current: dict[str, str] | None = None
    for number, line in TextSource(path, encoding).lines():
        text = line.partition("%")[0].strip()
        if not text:
            continue
        section = _SECTION.fullmatch(text)
        if section:
            current = sections.setdefault(section[1].strip(), {})
            continue
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            problem = f"expected [Section] or Name = value, found {text[:40]!r}"
            foreign = "" if sections or path.suffix == ".s" else ": not a settings file of CLUS (.s)"
            raise FileFormatError(problem + foreign, path=path, line=number)
        if current is None:
            raise FileFormatError(f"the setting {name.strip()!r} stands before any [Section]", path=path, line=number)
        current[name.strip()] = value.strip().strip("\"'")
    if not sections:
        raise FileFormatError("there is no [Section]: not a settings file of CLUS", path=path)
    return ClusSettings(path, sections, encoding)


def read_clus_data(settings: ClusSettings, data_file: Path) -> Content:
    """Read a data file that settings of CLUS name, as CLUS does.

    Parameters
    ----------
    settings : ClusSettings
        The settings.
    data_file : Path
        The file: ``settings.data_file``, or one of ``settings.find``.
    """
    if ".arff" not in data_file.suffixes[-2:]:
        raise DataError(f"{settings.path}: {data_file.name} is not an ARFF file")
    content = read_arff(
        data_file,
        hierarchy_kind=settings.hierarchy_kind,
        hierarchy_separator=settings.hierarchy_separator,
        empty_label_set=settings.empty_label_set,
        no_label="0",
        first_index=1,
        duplicates="number",  # CLUS goes by position and does not mind
        encoding=settings.encoding,
    )
    if content.labels is not None:
        notes = settings.label_notes(content.labels.hierarchy.labels)
        content = replace(content, notes=(*content.notes, *notes))
    return content


def read_clus(path: PathLike, encoding: str = "utf-8") -> Content:
    """Read the data file that a settings file names; the settings give the columns their roles."""
    settings = read_clus_settings(path, encoding)
    return replace(read_clus_data(settings, settings.data_file), roles=partial(clus_roles, settings))


def clus_roles(settings: ClusSettings, content: Content) -> Roles:
    """Return the roles that settings of CLUS give to the columns of a file.

    Parameters
    ----------
    settings : ClusSettings
        The settings.
    content : Content
        What the file holds.
    """
    roles = settings.roles(len(content.names))
    unusable = [i for i in roles.features if content.kinds[i] in ("string", "key", "hierarchical")]
    notes = tuple(f"the {content.kinds[i]} attribute {content.names[i]!r} is not used" for i in unusable)
    features = tuple(i for i in roles.features if i not in unusable)
    if not features:
        raise DataError(f"{settings.path}: no column is left as a feature")
    return replace(roles, features=features, notes=(*roles.notes, *notes))
