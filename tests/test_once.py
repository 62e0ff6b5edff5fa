"""Results that several processes share."""

from __future__ import annotations

import threading
import time

import pytest

from tools.once import computed_once


def test_one_of_several_computes(tmp_path):
    calls, found = [], []

    def compute():
        calls.append(1)
        time.sleep(0.3)
        return {"n": len(calls)}

    threads = [
        threading.Thread(target=lambda: found.append(computed_once(tmp_path / "r.json", compute))) for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [{"n": 1}] * 3


def test_a_failure_is_not_kept(tmp_path):
    def fail():
        raise OSError("disk")

    with pytest.raises(OSError, match="disk"):
        computed_once(tmp_path / "r.json", fail)
    assert computed_once(tmp_path / "r.json", lambda: [1]) == [1]
