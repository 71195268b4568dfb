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


def record(house: House) -> dict[str, Any]:
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
    ask("audit", "GET", "projects/demo/audit")
    grid = ask("grid_summary", "POST", "projects/demo/grids", json=examples.GRID_IN)["id"]
    ask("pending", "GET", f"grids/{grid}/statistics")
    ask("batch_answer", "POST", "projects/demo/grids/batch", json=[examples.GRID_IN, {"model": "R1-Qwen"}])
    rival = ask(None, "POST", "projects/demo/grids", json=examples.RIVAL_IN)["id"]
    asked = {
        "ranking": "projects/demo/rankings?experiment=type-by-length&metric=accuracy",
        "sweet_spot": "projects/demo/experiments/type-by-length/sweet-spot?metric=accuracy",
        "comparison": f"projects/demo/comparisons?baseline={grid}&contender={rival}",
    }
    for name, question in asked.items():
        ask(f"pending_{name}", "GET", question)
    ask(None, "GET", f"grids/{grid}/thresholds?value=95&value=97.5")
    ask("grids", "GET", "projects/demo/grids?limit=1&model=Qwen-2.5%203B")
    ask("names", "GET", "projects/demo/models")
    house.compute()
    ask("grid", "GET", f"grids/{grid}")
    forms("grid_forms", f"grids/{grid}?", "txt", "md", "csv")
    ask("cells", "GET", f"grids/{grid}/cells")
    forms("cells_forms", f"grids/{grid}/cells?", "txt", "md", "csv", "ndjson")
    ask("badge", "GET", f"grids/{grid}/badge.json")
    ask("share_link", "POST", "projects/demo/shares", json=examples.SHARE_IN)
    ask("shares", "GET", "projects/demo/shares")
    ask("feed", "GET", "projects/demo/cells?model=Qwen-2.5%203B")
    forms("feed_forms", "projects/demo/cells?model=Qwen-2.5%203B", "csv", "ndjson")
    ask("statistics", "GET", f"grids/{grid}/statistics")
    forms("statistics_forms", f"grids/{grid}/statistics?", "txt", "md", "csv")
    ask("trends", "GET", f"grids/{grid}/trends")
    forms("trend_forms", f"grids/{grid}/trends?", "txt", "md", "csv")
    for name, question in asked.items():
        ask(name, "GET", question)
        forms(f"{name}_forms", question, "txt", "md", "csv")
    ask("thresholds", "GET", f"grids/{grid}/thresholds?value=95&value=97.5")
    forms("thresholds_forms", f"grids/{grid}/thresholds?value=95&value=97.5", "txt", "md", "csv")
    ask(None, "PATCH", f"grids/{grid}/cells", json=examples.CELLS_IN)
    ask("revisions", "GET", f"grids/{grid}/revisions")
    ask("difference", "GET", f"grids/{grid}/revisions/1..2")
    ask("limits", "GET", "limits")
    return answers


def main() -> None:
    with tempfile.TemporaryDirectory() as home, embedded_servers(home) as (database_url, redis_url):
        migrate(database_url)
        settings = replace(Settings(), database_url=database_url, redis_url=redis_url, ranking_debounce=0.0)
        answers = record(House(create_app(settings), Database(settings, name="examples"), settings))
    TARGET.write_text(json.dumps(answers, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
