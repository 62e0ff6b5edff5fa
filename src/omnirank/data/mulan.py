"""Which attributes are labels: the label file (XML) of Mulan and the relation name of MEKA."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from omnirank.core.errors import FileFormatError
from omnirank.core.text import there_are
from omnirank.core.types import PathLike
from omnirank.data.files import opened
from omnirank.data.hierarchy import Hierarchy

_MEKA = re.compile(r":\s*(?:-\S+\s+)*?-[Cc]\s+(-?[0-9]{1,9})(?![0-9])", re.ASCII)
_FILTERS = "weka.filters"  # what Weka adds to the name when it changes the attributes


@dataclass(frozen=True)
class MulanLabels:
    """Label names in the order of the file, and their hierarchy where labels are nested."""

    names: tuple[str, ...]
    hierarchy: Hierarchy | None


def read_mulan_labels(path: PathLike) -> MulanLabels:
    """Read the label names of a Mulan XML file; nested labels form a hierarchy.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from omnirank.data.mulan import read_mulan_labels
    >>> text = '<labels><label name="a"><label name="b"/></label><label name="c"/></labels>'
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "labels.xml")
    ...     _ = path.write_text(text)
    ...     labels = read_mulan_labels(path)
    >>> labels.names, labels.hierarchy.to_edges()
    (('a', 'b', 'c'), [('a', 'b')])
    """
    path = Path(path)
    with opened(path) as file:
        text = file.read()
    if b"<!DOCTYPE" in text or b"<!ENTITY" in text:
        raise FileFormatError("a label file declares no document type or entities", path=path)
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as problem:
        line, column = problem.position
        raise FileFormatError(f"not well-formed XML ({problem.msg})", path=path, line=line, column=column + 1) from None
    except (ValueError, LookupError) as problem:
        raise FileFormatError(f"the XML cannot be read ({problem})", path=path, line=1) from None
    parents: dict[str, str | None] = {}
    above: list[tuple[str | None, ElementTree.Element]] = [(None, child) for child in reversed(root)]
    while above:
        parent, element = above.pop()
        name, tag = element.get("name"), element.tag.rpartition("}")[2]
        if tag != "label":
            raise FileFormatError(f"unexpected element <{tag}>: expected <label>", path=path)
        if not name or not name.strip():
            raise FileFormatError("a <label> has no name", path=path)
        if name in parents:
            raise FileFormatError(f"the label {name!r} is listed twice", path=path)
        parents[name] = parent
        above += [(name, child) for child in reversed(element)]
    if not parents:
        raise FileFormatError("there is no <label name=...> in the file", path=path)
    edges = [(parent, name) for name, parent in parents.items() if parent is not None]
    hierarchy = Hierarchy.from_edges(edges, labels=parents) if edges else None
    return MulanLabels(tuple(parents), hierarchy)


def labels_of_relation(relation: str, names: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the labels that a relation name of MEKA marks, and notes.

    ``-C 6`` marks the first 6 attributes, ``-C -6`` the last 6.

    Examples
    --------
    >>> from omnirank.data.mulan import labels_of_relation
    >>> labels_of_relation("birds: -C -2", ["a", "b", "c"])
    (('b', 'c'), ('the relation name says -C -2: the last 2 attributes are the target',))
    """
    match = _MEKA.search(relation)
    if match is None or int(match[1]) == 0:
        return (), ()
    count = int(match[1])
    said = f"the relation name says -C {count}"
    if _FILTERS in relation:
        # Filters move and remove attributes and leave the name as it was.
        return (), (f"{said}, but filters were applied after: the labels are not taken from it",)
    if abs(count) > len(names):
        return (), (f"{said}, but {there_are(len(names), 'attribute')}: the labels are not taken from it",)
    which = "first" if count > 0 else "last"
    labels = names[:count] if count > 0 else names[count:]
    attributes = "attribute is" if abs(count) == 1 else f"{abs(count)} attributes are"
    return tuple(labels), (f"{said}: the {which} {attributes} the target",)


def relation_with_labels(name: str, n_last: int) -> str:
    """Return a relation name that marks the last attributes as labels, whatever it said before.

    Examples
    --------
    >>> from omnirank.data.mulan import relation_with_labels
    >>> relation_with_labels("birds: -C 19", 2), relation_with_labels("birds-weka.filters.x: -C 19", 0)
    ('birds: -C -2', 'birds-filters.x')
    """
    name = name.replace(_FILTERS, "filters")
    while _MEKA.search(name):
        name = _MEKA.sub("", name)
    return f"{name}: -C -{n_last}" if n_last else name
