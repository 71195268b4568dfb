"""Commands that messages and docs tell people to run."""

from __future__ import annotations

import re
from pathlib import Path

HERE = Path(__file__).parents[2]
TEXTS = [*HERE.glob("*.md"), *HERE.glob("docs/**/*.md"), *HERE.glob("client/**/*.md"), *HERE.glob("*/**/*.py")]
OURS = re.compile(r"pip install(?! --index-url)[^`\n]*?[ '\"](?!dist/)results[-_]registry(?!.*\.whl)")
WARNED_OF = {"installing.md", "0037-packages.md"}
"""Papers that warn of just this."""


def test_nobody_is_told_to_install_a_name_that_is_not_ours() -> None:
    """`results-registry` is on no public index: whoever registers it there decides what such a command runs."""
    assert OURS.search("pip install 'results-registry[parquet]' duckdb")
    texts = {path: path.read_text() for path in TEXTS if path.parts[-2:-1] != ("node_modules",)}
    assert len(texts) > 500
    told = [str(path) for path, text in texts.items() if path != Path(__file__) and OURS.search(text)]
    assert [one for one in told if Path(one).name not in WARNED_OF] == []
