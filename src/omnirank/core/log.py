"""The one logger of omnirank; silent unless the application says otherwise."""

from __future__ import annotations

import logging

logger = logging.getLogger("omnirank")
logger.addHandler(logging.NullHandler())
