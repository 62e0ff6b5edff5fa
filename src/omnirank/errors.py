"""Public address of omnirank's exception and warning types."""

from omnirank.core.errors import (
    DataError,
    DataTypeError,
    DataWarning,
    FileFormatError,
    MissingDependencyError,
    OmnirankError,
    ParameterError,
)

__all__ = [
    "DataError",
    "DataTypeError",
    "DataWarning",
    "FileFormatError",
    "MissingDependencyError",
    "OmnirankError",
    "ParameterError",
]
