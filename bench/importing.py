"""`registry push` of a folder of MTEB-like files, through batches: grids a second, over everything the command does.

Against a registry that runs: `REGISTRY_URL=… REGISTRY_TOKEN=… REGISTRY_PROJECT=… python -m bench.importing [files]`.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

FILES = 10_000
TARGET = 1000


def write_files(folder: Path, count: int) -> None:
    """A hundred tasks of each of so many models as needed, laid out as MTEB does."""
    for number in range(count):
        model, task = divmod(number, 100)
        home = folder / f"bench__model-{model}" / "1"
        home.mkdir(parents=True, exist_ok=True)
        (home / "model_meta.json").write_text(json.dumps({"name": f"bench/model-{model}"}))
        score = (number * 7919 % 10_000) / 10_000
        entry = {"hf_subset": "default", "languages": ["eng-Latn"], "main_score": score, "cosine_pearson": score}
        file = {
            "dataset_revision": "1",
            "task_name": f"Task{task}",
            "mteb_version": "2.26.24",
            "scores": {"test": [entry]},
        }
        (home / f"Task{task}.json").write_text(json.dumps(file))


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else FILES
    with tempfile.TemporaryDirectory() as directory:
        write_files(Path(directory), count)
        for name in ("first", "again"):
            begun = time.perf_counter()
            command = [sys.executable, "-m", "registry", "push", "-q", directory]
            subprocess.run(command, check=True)
            seconds = time.perf_counter() - begun
            print(f"{name}: {count} files in {seconds:.1f} s, {count / seconds:.0f} grids/s (target {TARGET})")


if __name__ == "__main__":
    main()
