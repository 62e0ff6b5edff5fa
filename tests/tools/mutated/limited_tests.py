"""Plugin of pytest: limits the processor time of each test, and reports the outcome and the seconds of each."""

import os
import signal
from pathlib import Path

import pytest


class TooLong(BaseException):
    """A test needs more processor time than it may; not an Exception, which a test could catch."""


def _stop(_signal, _frame):
    if os.environ.get("MUTANT_LATE") == "skipped":
        pytest.skip("too long")
    raise TooLong


def pytest_runtest_setup():
    signal.signal(signal.SIGPROF, _stop)
    signal.setitimer(signal.ITIMER_PROF, *2 * [float(os.environ["MUTANT_SECONDS"])])


def pytest_runtest_teardown():
    signal.setitimer(signal.ITIMER_PROF, 0)


def _report(report):
    if report.failed or getattr(report, "when", "") == "call":
        with Path(os.environ["MUTANT_REPORT"]).open("a") as file:
            file.write(f"{report.outcome} {getattr(report, 'duration', 0)} {report.nodeid}\n")


pytest_runtest_logreport = pytest_collectreport = _report
