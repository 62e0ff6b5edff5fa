"""Import a mutated module in place of the one on the disk.

Python imports this file at its start, because `mutants.py` puts this folder on PYTHONPATH; so do all processes that a
test starts. The tree itself is never changed, and its compiled kernels stay valid.
"""

import os
from importlib.machinery import SourceFileLoader
from pathlib import Path

_get_code = SourceFileLoader.get_code


def _mutated_code(loader, name):
    if loader.path == os.environ.get("MUTANT_FILE"):
        return compile(Path(os.environ["MUTANT_SOURCE"]).read_text(), loader.path, "exec")
    return _get_code(loader, name)


SourceFileLoader.get_code = _mutated_code
