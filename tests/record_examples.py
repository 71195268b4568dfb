"""Ask the service for the answers that openapi.yaml shows: `python -m tests.record_examples`.

Needed when the shape of an answer changes; a test says so.
"""

from __future__ import annotations

import json
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from migrations.apply import migrate
from registry import create_app
from registry.api import examples
from registry.local.embedded import embedded_servers
from registry.settings import Settings
from registry.storage.database import Database
from tests.house import House

TARGET = Path(examples.__file__).with_name("examples.json")


def record(house: House) -> dict[str, Any]:  # noqa: PLR0915 (one session, told in its order)
    """Every example by its name in `registry.api.examples`, from one short session."""
    answers: dict[str, Any] = {}

    def ask(name: str | None, method: str, path: str, **options: Any) -> Any:
        answer = house.call(method, path, token=house.operator, **options)
        assert answer.status_code < 300, answer.text
        found = answer.get_json() if answer.is_json else answer.text
        if name is not None:
            answers[name] = found
        return found

    def forms(name: str, path: str, *suffixes: str) -> None:
        answers[name] = {suffix: ask(None, "GET", path.replace("?", f".{suffix}?", 1)) for suffix in suffixes}

    ask("project", "POST", "projects", json=examples.PROJECT_IN)
    ask("projects", "GET", "projects")
    ask("token_secret", "POST", "projects/demo/tokens", json=examples.TOKEN_IN)
    ask("tokens", "GET", "projects/demo/tokens")
    mine = house.call("GET", "whoami", token=answers["token_secret"]["token"])
    answers["identity"] = mine.get_json()
    ask("alias", "POST", "projects/demo/aliases", json=examples.ALIAS_IN)
    ask("aliases", "GET", "projects/demo/aliases")
    ask("suite", "PUT", "projects/demo/suites/reasoning", json=examples.SUITE_IN)
    ask("suites", "GET", "projects/demo/suites")
    ask("audit", "GET", "projects/demo/audit?limit=1")
    grid = ask("grid_summary", "POST", "projects/demo/grids", json=examples.GRID_IN)["id"]
    ask("pending", "GET", f"grids/{grid}/statistics")
    ask("batch_answer", "POST", "projects/demo/grids/batch", json=[examples.NUMBER_IN, {"model": "R1-Qwen"}])
    ask(None, "POST", "projects/demo/grids", json=examples.RIVAL_IN)
    curve = ask(None, "POST", "projects/demo/grids", json=examples.CURVE_IN)["id"]
    number = ask(None, "POST", "projects/demo/grids", json=examples.NUMBER_IN)["id"]
    ask(None, "POST", "projects/demo/grids", json=examples.PAIR_IN)
    rival = ask(None, "POST", "projects/demo/grids", json=examples.OTHER_NUMBER_IN)["id"]
    ask(None, "POST", "projects/demo/grids", json=examples.OTHER_CURVE_IN)
    asked = {
        "ranking": "projects/demo/rankings?experiment=type-by-length&metric=accuracy",
        "sweet_spot": "projects/demo/experiments/type-by-length/sweet-spot?metric=accuracy",
        "comparison": f"projects/demo/comparisons?baseline={number}&contender={rival}",
    }
    for question in asked.values():
        ask(None, "GET", question)
    ask(None, "GET", f"grids/{curve}/thresholds?value=95")
    ask("grids", "GET", "projects/demo/grids?limit=1&model=Qwen-2.5%203B")
    ask("names", "GET", "projects/demo/models")
    house.compute()
    ask("grid", "GET", f"grids/{grid}")
    forms("grid_forms", f"grids/{grid}?", "md")
    ask("cells", "GET", f"grids/{curve}/cells")
    ask("badge", "GET", f"grids/{grid}/badge.json")
    ask("share_link", "POST", "projects/demo/shares", json=examples.SHARE_IN)
    ask("shares", "GET", "projects/demo/shares")
    feed = "projects/demo/cells?model=Qwen-2.5%203B&benchmark=Ends"
    ask("feed", "GET", feed)
    forms("feed_forms", feed, "csv")
    ask("statistics", "GET", f"grids/{number}/statistics")
    for part in ("trends", "peaks", "coverage", "sensitivity", "precision"):
        ask(part, "GET", f"grids/{curve}/{part}")
    ask("changes", "GET", f"grids/{number}/changes")
    for name, question in asked.items():
        ask(name, "GET", question)
    ask("thresholds", "GET", f"grids/{curve}/thresholds?value=95")
    ask(None, "PATCH", f"grids/{grid}/cells", json=examples.CELLS_IN)
    ask("revisions", "GET", f"grids/{grid}/revisions")
    ask("difference", "GET", f"grids/{grid}/revisions/1..2")
    ask("limits", "GET", "limits")
    return answers


_LISTED = 2


def _objects(value: list[Any]) -> bool:
    return all(isinstance(one, dict) for one in value)


def short(value: Any) -> Any:
    """The value with its numbers at six digits, and of long lists of objects the first ones: readers of examples need
    no more."""
    match value:
        case float():
            return float(f"{value:.6g}")
        case dict():
            return {name: short(one) for name, one in value.items()}
        case list():
            return [short(one) for one in (value[:_LISTED] if _objects(value) else value)]
    return value


def main() -> None:
    with tempfile.TemporaryDirectory() as home, embedded_servers(home) as (database_url, redis_url):
        migrate(database_url)
        settings = replace(Settings(), database_url=database_url, redis_url=redis_url, ranking_debounce=0.0)
        answers = record(House(create_app(settings), Database(settings, name="examples"), settings))
    TARGET.write_text(json.dumps(short(answers), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
