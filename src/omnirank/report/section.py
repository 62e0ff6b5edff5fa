"""What a section of the page is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Section:
    """A section of the page.

    Parameters
    ----------
    key : str
        Its anchor; the template is ``<key>.html`` unless another one is named.
    title : str
        Its heading.
    content : mapping
        What the template shows.
    left_out : str
        Why there is nothing to show; empty where there is.
    seconds : float or None
        What further fits for it took.
    template : str
        File of the template.
    """

    key: str
    title: str
    content: Mapping[str, Any] = field(default_factory=dict)
    left_out: str = ""
    seconds: float | None = None
    template: str = ""

    @property
    def file(self) -> str:
        """Name of the template's file."""
        return self.template or f"{self.key}.html"
