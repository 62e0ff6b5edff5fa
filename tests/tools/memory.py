"""Peak memory of programs that tests start."""

from __future__ import annotations

import sys

import pytest

# Begins a program: kilobytes of this process alone. What the module resource tells begins with the parent's peak.
PEAK = """
def peak():
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmHWM"))
"""

needs_peak = pytest.mark.skipif(sys.platform != "linux", reason="the system does not tell the peak of a process")
