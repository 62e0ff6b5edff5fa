"""Public address of omnirank's exception types."""

from omnirank.core.errors import (
    DataError,
    DataTypeError,
    FileFormatError,
    MissingDependencyError,
    OmnirankError,
    ParameterError,
)

__all__ = [
    "DataError",
    "DataTypeError",
    "FileFormatError",
    "MissingDependencyError",
    "OmnirankError",
    "ParameterError",
]
