"""Public address of omnirank's exception and warning types."""

from omnirank.core.errors import (
    ClusterError,
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
    "ClusterError",
    "ConstantTargetError",
    "DataError",
    "DataTypeError",
    "DataWarning",
    "FileFormatError",
    "MissingDependencyError",
    "OmnirankError",
    "ParameterError",
]
