"""A worker process: takes claims from its input, computes them one at a time, and ends when its parent does.

Claims and outcomes are lines of JSON. A process of its own for each worker, started afresh and not forked, means that
whatever kills a job (a crash, lack of memory) kills nothing else.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import sys
import threading
import warnings
from contextlib import suppress
from typing import Any

from omnirank.evaluation.experiments.memory import limit_memory


def main(memory_limit: int | None = None) -> None:
    """Serve claims until the input ends.

    Parameters
    ----------
    memory_limit : int, optional
        Most bytes of data that the process may hold.
    """
    with suppress(ValueError):
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides what an interrupt means
    answers = _private_output()
    claims: queue.SimpleQueue[str] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(claims,), daemon=True).start()
    if memory_limit is not None:
        limit_memory(memory_limit)
    from omnirank.core.errors import DataWarning
    from omnirank.evaluation.experiments.work import perform

    warnings.simplefilter("ignore", DataWarning)  # said once for every job: ``omnirank info`` says it once
    while True:
        outcome = perform(json.loads(claims.get()))
        answers.write(json.dumps(outcome) + "\n")
        answers.flush()


def _private_output() -> Any:
    """The stream of answers; what anything else prints goes to the error stream and cannot garble them."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return answers


def _listen(claims: queue.SimpleQueue[str]) -> None:
    """Pass claims on; the end of the input means that the parent is gone, however it ended: so end at once."""
    for line in sys.stdin:
        claims.put(line)
    os._exit(0)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else None)
