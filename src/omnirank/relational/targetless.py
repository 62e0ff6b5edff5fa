"""Several tables of which none is named as that of the examples."""

from __future__ import annotations

from collections.abc import Iterable

from omnirank.core.errors import DataError, setting


class NoTargetError(DataError):
    """No target is named; the error knows the tables that there are.

    Examples
    --------
    >>> from omnirank.relational.targetless import NoTargetError
    >>> print(NoTargetError(["films", "roles"], "'shop'"))
    'shop' holds the tables films, roles: name the target by target='table.column', or by a table alone
    """

    def __init__(self, tables: Iterable[str], where: str) -> None:
        self.tables = tuple(tables)
        named = setting("target", "table.column")
        super().__init__(
            f"{where} holds the tables {', '.join(self.tables)}: name the target by {named}, or by a table alone"
        )
