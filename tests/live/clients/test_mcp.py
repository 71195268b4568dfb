"""`registry mcp`, asked by the client of the protocol's own SDK over standard input and output."""

import asyncio
import json
import re
from collections.abc import Iterator
from pathlib import Path
from statistics import mean
from typing import Any

import pytest

from registry.commands.mcp import MOST
from registry.demo import demo_grids
from tests import ROOT
from tests.commands.terminal import Person, person_of
from tests.computing import computing
from tests.house import Project

mcp = pytest.importorskip("mcp", reason="the extra mcp is not installed")
SCOPE = {"experiment": "window-by-ratio", "metric": "Pass@1"}
MODELS = ("R1-Llama", "R1-Qwen")


@pytest.fixture
def reader(seeds: Project, address: str, tmp_path: Path) -> Person:
    """Somebody who may only read the seeds."""
    return person_of(seeds, address, tmp_path, "reader")


def answers(person: Person, *calls: tuple[str, dict[str, Any]]) -> tuple[Any, list[Any]]:
    """The tools that one process of the command has, and its answers to these calls."""
    [command, *words] = person.command("mcp")
    server = mcp.StdioServerParameters(command=command, args=words, env=person.environment, cwd=person.home)

    async def ask() -> tuple[Any, list[Any]]:
        async with mcp.Client(server) as client:
            return (await client.list_tools()).tools, [await client.call_tool(name, asked) for name, asked in calls]

    return asyncio.run(ask())


def test_answers_begin_with_the_verdict_and_have_the_numbers_of_the_published_cells(
    reader: Person, seeds: Project, address: str
) -> None:
    """Of AMC23 both models have cells: their difference, and whether it is shown, are computed here from the file."""
    person_of(seeds, address, reader.home).says(
        "baseline", "set", "main", MODELS[0], "-e", SCOPE["experiment"], "--metric", "Pass@1", "--margin", "9",
        "--benchmark", "AMC23", "--missing", "matched", "--common-share", "0.1",
    )  # fmt: skip
    rank = {"about": {**SCOPE, "benchmark": "AMC23"}, "kind": "rank", "by": "model", "name": "R1-Qwen"}
    with computing(seeds.house):
        tools, found = answers(
            reader,
            ("find", {"what": "models", "experiment": SCOPE["experiment"]}),
            ("ranking", SCOPE),
            ("compare", {"baseline": MODELS[0], "contender": MODELS[1], **SCOPE, "benchmarks": ["AMC23"]}),
            ("table", {**SCOPE, "at": ["Ratio=0.3"], "models": ["R1-Qwen"]}),
            ("gate", {"contender": "R1-Qwen"}),
            ("check", {"claims": [rank] * 100}),
        )
    assert {one.name for one in tools} == {"find", "table", "ranking", "compare", "gate", "check"}
    assert all(one.annotations.read_only_hint and len(one.description) > 100 for one in tools)
    assert [(one.is_error, one.structured_content) for one in found] == [(False, None)] * 6
    names, ranking, compared, table, gate, checked = (one.content[0].text for one in found)
    llama, qwen = (dict(cells("AMC23", model)) for model in MODELS)
    common = llama.keys() & qwen.keys()
    gap = mean(qwen[one] - llama[one] for one in common)
    told = f"{gap:.1f} points better"
    assert names.startswith("2 models in ")
    assert ranking.startswith("Whether R1-Qwen or R1-Llama is better cannot be told: R1-Qwen is " + told)
    assert compared.startswith("Whether R1-Qwen or R1-Llama is better cannot be told: R1-Qwen is " + told)
    assert f" on the {len(common)} cells that both have" in compared
    column = [value for (_, ratio), value in qwen.items() if ratio == 0.3]
    assert f" {mean(column):.2f} " in table
    assert gate.startswith("equivalent: ")
    assert f" {gap:+.2f} " in gate
    assert checked.startswith("100 claims: 100 supported.")
    assert 7_000 < len(checked.encode()) <= MOST
    [more] = re.findall(r"\n… and (\d+) more lines: http://\S+/claims\n$", checked)
    assert checked.count("* supported: ") + int(more) == 100


def test_what_the_registry_refuses_is_an_error_in_a_sentence(reader: Person, seeds: Project) -> None:
    calls: list[tuple[str, dict[str, Any], str]] = [
        ("ranking", {}, "Say which of these 3 is meant"),
        ("ranking", {**SCOPE, "at": ["Ratio"]}, '"Ratio" is no condition'),
        ("gate", {"contender": "R1-Qwen", "baseline": "mian"}, 'The project has no baseline "mian"'),
        ("check", {"claims": [{"kind": "rang"}]}, "refuses this: /"),
        ("table", {"project": "nobody's"}, "has nothing there"),
    ]
    _, found = answers(reader, *((name, asked) for name, asked, _ in calls))
    assert [one.is_error for one in found] == [True] * len(calls)
    assert [said for one, (*_, said) in zip(found, calls, strict=True) if said not in one.content[0].text] == []


def test_the_recipe_is_what_a_client_reads_and_gets(reader: Person, seeds: Project) -> None:
    page = (ROOT / "docs/recipes/assistants.md").read_text()
    kept, asked = map(json.loads, re.findall(r"```json\n(.*?)```", page, re.DOTALL))
    server = kept["mcpServers"]["results"]
    assert [server["command"], *server["args"]] == ["registry", "mcp"]
    assert set(server["env"]) <= set(reader.environment)
    with computing(seeds.house):
        tools, [found] = answers(reader, ("compare", asked))
    assert found.content[0].text.startswith(page.split("```\n")[-2])
    assert all(f"`{one.name}`" in page for one in tools)


def cells(benchmark: str, model: str) -> Iterator[tuple[tuple[float, float], float]]:
    """The measured cells of a seed by window and ratio."""
    [seed] = [one for one in demo_grids() if (one["benchmark"], one["model"]) == (benchmark, model)]
    windows, ratios = (axis["levels"] for axis in seed["axes"])
    for window, row in zip(windows, seed["values"], strict=True):
        for ratio, value in zip(ratios, row, strict=True):
            if value is not None:
                yield (float(window), float(ratio)), value
