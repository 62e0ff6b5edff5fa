"""Plugin of pytest: limits the processor time of each test, and reports which tests and files fail."""

import os
import signal
from pathlib import Path


class TooLong(BaseException):
    """A test needs more processor time than it may; not an Exception, which a test could catch."""


def _stop(_signal, _frame):
    raise TooLong


def _report(report):
    if report.failed:
        with Path(os.environ["MUTANT_REPORT"]).open("a") as file:
            file.write(report.nodeid + "\n")


def pytest_runtest_setup():
    signal.signal(signal.SIGPROF, _stop)
    signal.setitimer(signal.ITIMER_PROF, *2 * [float(os.environ["MUTANT_SECONDS"])])


def pytest_runtest_teardown():
    signal.setitimer(signal.ITIMER_PROF, 0)


pytest_runtest_logreport = pytest_collectreport = _report
