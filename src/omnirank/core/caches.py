"""Objects that are pickled without what they have computed of themselves."""

from __future__ import annotations

from functools import cached_property
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
        return {name: value for name, value in state.items() if not _is_cache(type(self), name)}


def _is_cache(cls: type, name: str) -> bool:
    return isinstance(getattr(cls, name, None), cached_property)
