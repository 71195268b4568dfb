"""What a worker loads of a library that takes long to load."""

from __future__ import annotations

import subprocess
import sys


def test_a_worker_loads_no_laws_and_optimisers_of_scipy() -> None:
    code = "import sys, workers.app; print([m for m in ('scipy.stats', 'scipy.optimize') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
