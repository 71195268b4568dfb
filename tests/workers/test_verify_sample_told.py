"""What `registry verify --sample` says at its end, and which options it takes."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys

import pytest
from click.testing import CliRunner
from scipy.stats import hypergeom

from registry.cli import main
from registry.settings import Settings
from tests.house import House
from workers.verify_sample import Seen


def process(settings: Settings, *arguments: object) -> subprocess.CompletedProcess[str]:
    """`registry verify` in a process of its own, since it becomes another program."""
    given = {name: value for name, value in os.environ.items() if not name.startswith("REGISTRY_")}
    given |= {"REGISTRY_DATABASE_URL": settings.database_url, "REGISTRY_REDIS_URL": settings.redis_url}
    argv = [sys.executable, "-m", "registry", "verify", *map(str, arguments)]
    return subprocess.run(argv, env=given, capture_output=True, text=True, check=False, timeout=120)


@pytest.mark.parametrize(
    ("total", "checked", "differing", "expected"),
    [
        (
            1_234_567,
            1_000,
            0,
            "Of 1,000 grids sampled out of 1,234,567, 0 differ; at most 0.30 % of all differ (95 %, ",
        ),
        (100_000_000, 100_000, 0, "0 differ; at most 0.0030 % of all differ (95 %, one-sided, exact)."),
        (
            20,
            19,
            1,
            "Of 19 grids sampled out of 20, 1 differs; at least 5.0 % and at most 10 % of all differ (each 95 %, ",
        ),
        (9, 1, 0, "Of 1 grid sampled out of 9, 0 differ; at most 89 % of all differ (95 %, one-sided, exact)."),
        (12, 12, 0, "Every grid was checked (12): 0 differ."),
        (12, 12, 1, "Every grid was checked (12): 1 differs."),
    ],
)
def test_the_end_says_what_was_seen_and_what_that_tells_of_all(
    total: int, checked: int, differing: int, expected: str
) -> None:
    """1 - 0.05^(1/1000) is 0.299 %. Of 20, where 19 are known, one is open. Of 9, where one is sound, 8 are."""
    assert expected in Seen("grid", "grids", total, checked, differing).sentence()


def test_what_could_not_be_compared_may_differ() -> None:
    seen = Seen("answer", "answers", 1_000, 90, 2, 10, "busy")
    possible = range(1_001)
    low = min(d for d in possible if hypergeom.sf(1, 1_000, d, 100) > 0.05)
    high = max(d for d in possible if hypergeom.cdf(12, 1_000, d, 100) > 0.05)
    assert seen.limits() == (low, high)
    assert seen.sentence().startswith(
        "Of 100 answers sampled out of 1,000, 2 differ, 10 not compared (busy); at least "
    )


def test_limits_are_rounded_away_from_what_was_found() -> None:
    """So that what is printed holds, too."""
    total, checked, differing = 1_234_567, 1_000, 3
    sentence = Seen("grid", "grids", total, checked, differing).sentence()
    low, high = (float(one) / 100 for one in re.findall(r"at (?:least|most) ([0-9.]+) %", sentence))
    assert hypergeom.sf(differing - 1, total, round(low * total) - 1, checked) < 0.05
    assert hypergeom.cdf(differing, total, round(high * total) + 1, checked) < 0.05
    # The 90 % limits of Clopper and Pearson for 3 of 1,000 are 0.0818 % and 0.7735 %.
    assert (low, high) == (pytest.approx(0.00081), pytest.approx(0.0078))


def test_a_sample_is_told_as_json_and_as_text_and_its_seed_draws_it_again(own: House) -> None:
    project = own.make_project()
    for model in ("one", "two", "three"):
        project.published(model=model)
    own.compute()
    own.make_project().published()
    ran = process(own.settings, "--sample", 2, "--seed", 7, "--project", project.slug, "--json")
    assert ran.returncode == 0, ran.stderr
    told = json.loads(ran.stdout)
    assert (told["revisions"], told["differences"], told["next"]) == (2, [], None)
    sample = told["sample"]
    assert (sample["size"], sample["seed"], sample["statistics"]) == (2, 7, 2)
    assert sample["grids"] == {"total": 3, "checked": 2, "differing": 0, "not_compared": 0, "at_least": 0, "at_most": 1}
    assert sample["answers"] == {
        "total": 1,
        "checked": 1,
        "differing": 0,
        "not_compared": 0,
        "at_least": 0,
        "at_most": 0,
    }
    said = process(own.settings, "--sample", 2, "--project", project.slug)
    assert said.returncode == 0
    lines = said.stdout.splitlines()
    assert lines[0] == "Of 2 grids sampled out of 3, 0 differ; at most 34 % of all differ (95 %, one-sided, exact)."
    again = re.fullmatch(rf"The same draw again: (--sample 2 --seed \d+ --project {project.slug})", lines[-1])
    assert again is not None
    assert again[1] in said.stderr, "a run that was broken off can be repeated too"
    assert process(own.settings, *again[1].split()).stdout == said.stdout
    assert process(own.settings, "--sample", 2, "--project", "nobody").returncode == 1


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["--sample", "5", "--most", "5"], "--most"),
        (["--sample", "5", "--after", "x:1"], "--after"),
        (["--seed", "5"], "--seed"),
        (["--sample", "0"], "--sample"),
        (["--sample", "2000000"], "--sample"),
        (["--sample", "5", "--seed", "-1"], "--seed"),
    ],
)
def test_options_that_do_not_go_together_are_refused_by_name(arguments: list[str], named: str) -> None:
    ran = CliRunner().invoke(main, ["verify", *arguments])
    assert ran.exit_code == 2
    assert named in ran.stderr.splitlines()[-1]
