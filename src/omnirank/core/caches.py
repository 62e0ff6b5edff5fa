"""Objects that are pickled without what they have computed of themselves."""

from __future__ import annotations

from functools import cache, cached_property
from typing import Any


class PickledWithoutCaches:
    """Base of objects that users share between threads and that have cached properties.

    A pickle of the attributes themselves fails ("dictionary changed size during iteration") when another thread fills
    a cache meanwhile. Caches are left out: whoever reads the pickle computes them when they are needed.

    Examples
    --------
    >>> import pickle
    >>> import omnirank as om
    >>> data = om.Dataset([[1.0], [2.0]])
    >>> name = data.fingerprint
    >>> "fingerprint" in vars(data), "fingerprint" in vars(pickle.loads(pickle.dumps(data)))
    (True, False)
    """

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__.copy()  # at once, as a loop over the attributes is not
        for name in _cached_names(type(self)):
            state.pop(name, None)
        return state


@cache
def _cached_names(cls: type) -> tuple[str, ...]:
    return tuple(
        name for base in cls.__mro__ for name, value in vars(base).items() if isinstance(value, cached_property)
    )
