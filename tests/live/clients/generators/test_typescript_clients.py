"""openapi-typescript with openapi-fetch, and @hey-api/openapi-ts: what they generate compiles strictly and works."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.live.clients.generators.conftest import EXPECTED, HERE, told


@pytest.fixture(scope="module")
def built(node: Callable[..., str], documents: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Both sessions, compiled against what the generators made of the document."""
    home = tmp_path_factory.mktemp("typescript")
    (home / "node_modules").symlink_to(HERE / "node_modules")
    for file in (*HERE.glob("*.ts"), HERE / "tsconfig.json"):
        shutil.copy(file, home)
    said = [
        node("openapi-typescript", documents["client"], "-o", "schema.ts", cwd=home),
        node("openapi-ts", "-i", documents["client"], "-o", "hey", "--no-log-file", cwd=home),
    ]
    assert [one for one in said if "warn" in one.lower() or "error" in one.lower()] == []
    node("tsc", "-p", ".", cwd=home)
    return home / "built"


@pytest.mark.parametrize("session", ["with_openapi_fetch", "with_hey_api"])
def test_a_generated_client_publishes_waits_ranks_pages_and_is_told_what_is_wrong(
    session: str, built: Path, node: Callable[..., str], given: Callable[[], dict[str, str]]
) -> None:
    output = node("node", f"{session}.js", json.dumps(given()), cwd=built)
    assert told(output) == EXPECTED
