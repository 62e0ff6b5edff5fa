"""Public address of omnirank's exception and warning types."""

from omnirank.core.errors import (
    ConstantTargetError,
    DataError,
    DataTypeError,
    DataWarning,
    FileFormatError,
    MissingDependencyError,
    OmnirankError,
    ParameterError,
)

__all__ = [
    "ConstantTargetError",
    "DataError",
    "DataTypeError",
    "DataWarning",
    "FileFormatError",
    "MissingDependencyError",
    "OmnirankError",
    "ParameterError",
]
