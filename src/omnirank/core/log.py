"""The one logger of omnirank; silent unless the application says otherwise."""

from __future__ import annotations

import logging

__all__ = ["logger"]

logger = logging.getLogger("omnirank")
logger.addHandler(logging.NullHandler())
