"""What building added to this installation: its commit, and the files of the production shape (`build_steps.py`).

Installed in editable mode nothing was added; then the checkout itself is asked.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

PACKAGE = Path(__file__).parent
CHECKOUT = PACKAGE.parent


def commit() -> str | None:
    """The commit that runs, in hexadecimal; None where nobody knows."""
    built = PACKAGE / "commit.txt"
    if built.exists():
        return built.read_text(encoding="utf-8").strip()
    if not (CHECKOUT / ".git").exists():
        return None
    try:
        asked = ["git", "-C", str(CHECKOUT), "rev-parse", "HEAD"]
        return subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None


def production_files() -> dict[str, Path]:
    """Files of the production shape, by the path that they have in a checkout; none where none were shipped."""
    places = [place for place in (PACKAGE / "production", CHECKOUT) if (place / "docker-compose.yml").exists()]
    if not places:
        return {}
    root = places[0]
    found = [root / "docker-compose.yml", *sorted((root / "deploy").rglob("*"))]
    return {str(path.relative_to(root)): path for path in found if path.is_file() and "__pycache__" not in path.parts}
