"""A worker process: takes orders from its input, computes them one at a time, and ends when its parent does.

Orders and outcomes are lines of JSON. A process of its own for each worker, started afresh and not forked, means that
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


def main(memory_limit: int | None = None) -> None:
    """Serve orders until the input ends.

    Parameters
    ----------
    memory_limit : int, optional
        Most bytes of data that the process may hold.
    """
    with suppress(ValueError):
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides what an interrupt means
    answers = _private_output()
    orders: queue.SimpleQueue[str] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(orders,), daemon=True).start()
    if memory_limit is not None:
        _limit_memory(memory_limit)
    from omnirank.core.errors import DataWarning
    from omnirank.evaluation.experiments.fit import perform

    warnings.simplefilter("ignore", DataWarning)  # said once for every job: ``omnirank info`` says it once
    while True:
        outcome = perform(json.loads(orders.get()))
        answers.write(json.dumps(outcome) + "\n")
        answers.flush()


def _limit_memory(n_bytes: int) -> None:
    """Make allocations beyond a number of bytes fail."""
    import resource

    # Linux counts what is written here; the address space would also hold libraries and reserved ranges.
    kind = resource.RLIMIT_DATA if sys.platform == "linux" else resource.RLIMIT_AS
    _, hard = resource.getrlimit(kind)
    resource.setrlimit(kind, (n_bytes if hard == resource.RLIM_INFINITY else min(n_bytes, hard), hard))


def _private_output() -> Any:
    """The stream of answers; what anything else prints goes to the error stream and cannot garble them."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return answers


def _listen(orders: queue.SimpleQueue[str]) -> None:
    """Pass orders on; the end of the input means that the parent is gone, however it ended: so end at once."""
    for line in sys.stdin:
        orders.put(line)
    os._exit(0)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else None)
