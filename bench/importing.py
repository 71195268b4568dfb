"""`registry push` of a folder of MTEB-like files, through batches: grids a second, over everything the command does."""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from bench.figures import Figure, show
from bench.system import system

TARGET = 1000.0


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


def measure(files: int = 5_000) -> Iterator[Figure]:
    """Grids a second of the whole command, with new files and with the same again."""
    with system("serve") as found, tempfile.TemporaryDirectory() as directory:
        write_files(Path(directory), files)
        surroundings = os.environ | {
            "REGISTRY_URL": f"http://127.0.0.1:{found.port}",
            "REGISTRY_TOKEN": found.token,
            "REGISTRY_PROJECT": found.project,
        }
        for name in (f"{files:,} files, new", "… all there already"):
            begun = time.perf_counter()
            command = [sys.executable, "-m", "registry", "push", "-q", directory]
            subprocess.run(command, check=True, env=surroundings, stdout=subprocess.DEVNULL)
            yield Figure(name, files / (time.perf_counter() - begun), "grids/s", at_least=TARGET)


if __name__ == "__main__":
    show(measure())
