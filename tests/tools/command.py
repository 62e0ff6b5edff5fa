"""The command line in tests: run in this process, its exit code checked."""

from __future__ import annotations

import csv
import io

from typer.testing import CliRunner

from omnirank.cli.app import app


def run(*arguments, code=0, env=None):
    """Run ``omnirank`` with these arguments and return what came of it, after checking its exit code."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments], env=env)
    assert result.exit_code == code, (result.output, result.exception)
    return result


def rows(*arguments):
    """Run ``omnirank ... --csv`` and return the rows that it prints."""
    return list(csv.DictReader(io.StringIO(run(*arguments, "--csv").stdout)))


def output(*arguments, code=0):
    """Run ``omnirank`` and return all that it says."""
    return run(*arguments, code=code).output
