"""Which paths and aggregates are tried: the language bias of relational learners."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from omnirank.core.errors import ParameterError
from omnirank.core.parameters import FLAG, check, choice, count
from omnirank.core.suggestions import did_you_mean
from omnirank.relational.aggregation import AGGREGATES, EXISTS
from omnirank.relational.arguments import mapping_given
from omnirank.relational.database import Database, Relation

Mode = tuple[str, ...]
PRESETS = ("AGG-All", "AGG-Exist", "NO-Rel")

_MODES_EXAMPLE = "{'ratings_stars': [('old', 'new')]}"


@dataclass(frozen=True)
class Bias:
    """Which constructed features are candidates.

    Parameters
    ----------
    preset : "AGG-All", "AGG-Exist" or "NO-Rel"
        All aggregates; only whether there is a match of the whole path; only the columns of the target table.
    aggregates : sequence of str, optional
        The aggregates to use instead of those of the preset: count, count_unique, min, max, mean, sum, mode, exists.
    lookahead : int
        How many steps a candidate may add to a prefix of the inherited path.
    max_path_length : int, optional
        The largest number of steps of a path.
    modes : mapping of str to sequences, optional
        For some relations the ways in which a step may use them. A way says for each component "old" (a variable that
        is known), "new" (a variable that the step introduces) or "c" (each value of its domain, one step per value). An
        empty sequence excludes a relation. The others have one way per object component, with that one old and the
        rest new.
    dedupe_functional : bool
        Whether a step with at most one match has one aggregate that keeps its value (and a count, where it may have no
        match) instead of all the aggregates, which agree there.
    nominal_joins : bool
        Whether components of the same nominal domain may be joined too.
    max_candidates : int or None
        The most candidates of one node; longer paths are left out first, with a warning.

    Examples
    --------
    >>> from omnirank.relational.bias import Bias
    >>> Bias(lookahead=1).allowed
    ('count', 'count_unique', 'min', 'max', 'mean', 'sum', 'mode')
    >>> Bias("AGG-Exist").allowed
    ('exists',)
    """

    preset: str = "AGG-All"
    aggregates: Sequence[str] | None = None
    lookahead: int = 2
    max_path_length: int | None = None
    modes: Mapping[str, Sequence[Mode]] | None = None
    dedupe_functional: bool = True
    nominal_joins: bool = False
    max_candidates: int | None = 10_000

    def __post_init__(self) -> None:
        check("preset", self.preset, choice(*PRESETS))
        check("lookahead", self.lookahead, count(1))
        check("max_path_length", self.max_path_length, choice(None) | count(1))
        check("dedupe_functional", self.dedupe_functional, FLAG)
        check("nominal_joins", self.nominal_joins, FLAG)
        check("max_candidates", self.max_candidates, choice(None) | count(1))
        mapping_given("modes", self.modes, _MODES_EXAMPLE)
        if not isinstance(self.aggregates, Sequence | None) or isinstance(self.aggregates, str):
            raise ParameterError("aggregates", self.aggregates, "give a list of names, such as ['count', 'mean']")
        for name in self.aggregates or ():
            check("aggregates", name, choice(*AGGREGATES, EXISTS))

    @property
    def allowed(self) -> tuple[str, ...]:
        """The aggregates, in a fixed order; the value of a step with one match needs none."""
        if self.aggregates is not None:
            return tuple(name for name in (*AGGREGATES, EXISTS) if name in self.aggregates)
        return {"AGG-All": AGGREGATES, "AGG-Exist": (EXISTS,), "NO-Rel": ()}[self.preset]

    @cached_property
    def modes_key(self) -> str:
        """The modes as a key of tables."""
        return repr(self.modes)

    def within(self, modes: Mapping[str, Sequence[Mode]] | None, aggregates: Sequence[str] | None) -> Bias:
        """Return the bias with the modes and aggregates that a data set declares, where none are given.

        The presets other than AGG-All say themselves what is aggregated.

        Examples
        --------
        >>> from omnirank.relational.bias import Bias
        >>> Bias().within(None, ("max", "count")).allowed
        ('count', 'max')
        >>> Bias("AGG-Exist").within(None, ("max", "count")).allowed
        ('exists',)
        """
        own = aggregates if self.aggregates is None and self.preset == "AGG-All" else self.aggregates
        return replace(self, modes=modes if self.modes is None else self.modes, aggregates=own)

    def modes_of(self, relation: Relation) -> tuple[Mode, ...]:
        """Return the ways in which a step may use a relation."""
        if self.modes is not None and relation.name in self.modes:
            return tuple(tuple(mode) for mode in self.modes[relation.name])
        joined = ("object", "nominal") if self.nominal_joins else ("object",)
        kinds = [component.kind for component in relation.components]
        return tuple(
            tuple("old" if other == position else "new" for other in range(len(kinds)))
            for position, kind in enumerate(kinds)
            if kind in joined
        )

    def check_modes(self, database: Database) -> None:
        """Refuse modes that do not fit the relations of a database."""
        for name, modes in (self.modes or {}).items():
            if name not in database.relations:
                hint = did_you_mean(name, list(database.relations))
                raise ParameterError("modes", name, f"the database has no such relation{hint}")
            components = database.relations[name].components
            if isinstance(modes, str) or not isinstance(modes, Sequence):
                raise ParameterError(
                    "modes", {name: modes}, f"give a list of modes for each relation, such as {_MODES_EXAMPLE}"
                )
            for mode in modes:
                advice = f"say old, new or c for each of the {len(components)} components of {name}"
                if (
                    not isinstance(mode, Sequence)
                    or len(mode) != len(components)
                    or any(word not in ("old", "new", "c") for word in mode)
                ):
                    raise ParameterError("modes", mode, advice)
                if "old" not in mode:
                    raise ParameterError("modes", mode, "at least one component is old: a step continues from it")
                for word, component in zip(mode, components, strict=True):
                    if word != "new" and component.kind == "numeric":
                        raise ParameterError("modes", mode, f"the numbers of {component.name} can only be new")
