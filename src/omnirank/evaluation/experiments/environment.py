"""Environment variables in plans, as shells write them."""

from __future__ import annotations

import re
from collections.abc import Callable

from omnirank.core.errors import ParameterError

# ${NAME}, or ${NAME:-what stands for it where it is not set}
_VARIABLE = re.compile(r"\$\{(?P<name>\w+)(?::-(?P<default>[^}]*))?\}")


def with_variables(text: str, value_of: Callable[[str], str | None], what: str) -> str:
    """Return a text in which variables stand for their values.

    Parameters
    ----------
    text : str
        The text.
    value_of : callable
        Returns the value of a variable; None and "" are not set.
    what : str
        What the text says, as an error names it.

    Examples
    --------
    >>> from omnirank.evaluation.experiments.environment import with_variables
    >>> with_variables("${HERE}/a/${THERE:-b}", {"HERE": "x"}.get, "folder")
    'x/a/b'
    """

    def set_to(variable: re.Match[str]) -> str:
        name, default = variable["name"], variable["default"]
        held = value_of(name)
        if not held and default is None:
            raise ParameterError(
                f"{what} = {text!r}, but the environment variable {name} is not set: set it, or give a default as in "
                f"${{{name}:-data}}"
            )
        return held or str(default)

    return _VARIABLE.sub(set_to, text)
