"""Redocly and Spectral with their recommended rules find nothing in the document."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.mark.parametrize("view", ["whole", "client"])
def test_redocly_finds_nothing(view: str, node: Callable[..., str], documents: dict[str, Path], tmp_path: Path) -> None:
    (tmp_path / "redocly.yaml").write_text("extends: [recommended]\ntelemetry: off\n", encoding="utf-8")
    said = node("redocly", "lint", documents[view], "--config", "redocly.yaml", "--format", "json", cwd=tmp_path)
    found = json.loads(said[said.index("{") : said.rindex("}") + 1])
    assert [(one["ruleId"], one["message"]) for one in found["problems"]] == []


@pytest.mark.parametrize("view", ["whole", "client"])
def test_spectral_finds_nothing(
    view: str, node: Callable[..., str], documents: dict[str, Path], tmp_path: Path
) -> None:
    (tmp_path / "rules.yaml").write_text('extends: ["spectral:oas"]\n', encoding="utf-8")
    node("spectral", "lint", documents[view], "-r", "rules.yaml", "-f", "json", "-o", "found.json", cwd=tmp_path)
    found = json.loads((tmp_path / "found.json").read_text(encoding="utf-8"))
    assert [(one["code"], one["path"]) for one in found] == []
