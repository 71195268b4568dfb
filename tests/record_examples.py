"""Ask the service for the answers that openapi.yaml shows: `python -m tests.record_examples`.

Needed when the shape of an answer changes: `test_openapi_document.py` says so of fields that are gone.
"""

import json
import re
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
    ask("token_secret", "POST", "projects/demo/tokens", json=examples.TOKEN_IN)
    mine = house.call("GET", "whoami", token=answers["token_secret"]["token"])
    answers["identity"] = mine.get_json()
    ask("alias", "POST", "projects/demo/aliases", json=examples.ALIAS_IN)
    ask("suite", "PUT", "projects/demo/suites/reasoning", json=examples.SUITE_IN)
    hook = ask(None, "POST", "projects/demo/webhooks", json=examples.WEBHOOK_IN)["id"]
    hook = f"projects/demo/webhooks/{hook}"
    ask("webhook", "GET", hook)
    ask("delivery", "POST", f"{hook}/test")
    ask("recovery", "POST", f"{hook}/recover", json={"since": "2026-11-21"})
    ask("audit", "GET", "projects/demo/audit?limit=1")
    grid = ask(None, "POST", "projects/demo/grids", json=examples.GRID_IN)["id"]
    ask("pending", "GET", f"grids/{grid}/statistics")
    batch = ask("batch_answer", "POST", "projects/demo/grids/batch", json=[examples.NUMBER_IN, {"model": "R1-Qwen"}])
    del batch["items"][0]["grid"]
    floor = {"kind": "floor", "margin": 99.9, "missing": "matched", "common_share": 0.1}
    ask(None, "PUT", "projects/demo/baselines/floor", json=examples.BASELINE_IN | {"policy": floor})
    ask(None, "POST", "projects/demo/grids", json=examples.RIVAL_IN)
    curve = ask(None, "POST", "projects/demo/grids", json=examples.CURVE_IN)["id"]
    number = ask(None, "POST", "projects/demo/grids", json=examples.NUMBER_IN)["id"]
    measured = ask(None, "POST", "projects/demo/grids", json=examples.MEASURED_IN)["id"]
    ask("items", "POST", f"grids/{measured}/items", json=examples.ITEMS_IN)
    ask(None, "POST", "projects/demo/grids", json=examples.PAIR_IN)
    rival = ask(None, "POST", "projects/demo/grids", json=examples.OTHER_NUMBER_IN)["id"]
    ask(None, "POST", "projects/demo/grids", json=examples.OTHER_CURVE_IN)
    ask("baseline", "PUT", "projects/demo/baselines/main", json=examples.BASELINE_IN)
    halves = "x=metric:accuracy&y=metric:accuracy&x.at.Length=%3C=1&y.at.Length=%3E=2"
    asked = {
        "ranking": "projects/demo/rankings?experiment=type-by-length&metric=accuracy",
        "aggregates": "projects/demo/aggregates?experiment=type-by-length&metric=accuracy&group_by=model,benchmark"
        "&missing=available",
        "noise": "projects/demo/noise?experiment=type-by-length&metric=accuracy&model=Qwen-2.5%203B",
        "gate": "projects/demo/baselines/main/gate?contender=Qwen-2.5%207B",
        "lines": "projects/demo/lines?experiment=type-by-length&metric=accuracy&along=Length",
        "trade_off": f"projects/demo/trade-offs?experiment=type-by-length&{halves}",
        "comparison": f"projects/demo/comparisons?baseline={number}&contender={rival}",
    }
    for question in asked.values():
        ask(None, "GET", question)
    ask(None, "POST", "projects/demo/claims?dry_run=true", json=examples.CLAIM)
    ask(None, "POST", "projects/demo/plan", json=examples.PLAN_IN)
    claim = ask(None, "POST", "projects/demo/claims", json=examples.CLAIM)["id"]
    ask("names", "GET", "projects/demo/names/models")
    ask("experiment", "PATCH", "projects/demo/experiments/type-by-length", json=examples.EXPERIMENT_CHANGE)
    house.compute()
    ask("grid", "GET", f"grids/{grid}")
    forms("grid_forms", f"grids/{grid}?", "md")
    ask("cells", "GET", f"grids/{curve}/cells")
    ask("share_link", "POST", "projects/demo/shares", json=examples.SHARE_IN)
    feed = "projects/demo/cells?model=Qwen-2.5%203B&benchmark=Ends"
    ask("feed", "GET", feed)
    forms("feed_forms", feed, "csv")
    forms("whole_grids_forms", f"projects/demo/grids?grid={curve}", "ndjson")
    ask("trends_feed", "GET", "projects/demo/statistics?part=trends&model=Qwen-2.5%203B&benchmark=Ends")
    ask("statistics", "GET", f"grids/{number}/statistics")
    for name, question in asked.items():
        ask(name, "GET", question)
    ask("plan", "POST", "projects/demo/plan", json=examples.PLAN_IN)
    ask("stored_verdicts", "GET", "projects/demo/baselines/floor/verdicts?limit=1")
    [alert] = ask(None, "GET", "projects/demo/alerts?limit=1")["items"]
    ask("alert", "PATCH", f"projects/demo/alerts/{alert['id']}", json=examples.ALERT_CHANGE)
    ask("stored_claim", "GET", f"claims/{claim}")
    ask(None, "PATCH", f"grids/{grid}/cells", json=examples.CELLS_IN)
    ask("revisions", "GET", f"grids/{grid}/revisions")
    ask("difference", "GET", f"grids/{grid}/difference?from=1&to=2")
    ask("events", "GET", "projects/demo/events?type=grid.published&limit=1")
    ask("limits", "GET", "limits")
    return answers


_LISTED, _LARGE = 2, 4
"""Objects that a list of an example has, and the number of fields from which one object is enough."""


def _listed(value: list[Any]) -> int:
    return 1 if value and len(value[0]) >= _LARGE else _LISTED


def _objects(value: list[Any]) -> bool:
    return all(isinstance(one, dict) for one in value)


def short(value: Any) -> Any:
    """The value with its numbers at four digits, and of long lists of objects the first ones: readers of examples need
    no more."""
    match value:
        case float():
            return float(f"{value:.4g}")
        case dict():
            return {name: short(one) for name, one in value.items()}
        case list():
            return [short(one) for one in (value[: _listed(value)] if _objects(value) else value)]
    return value


_PLAIN_LIST = re.compile(r"\[\n[^][{}]*\n *\]")


def _on_a_line(found: re.Match[str]) -> str:
    one = json.dumps(json.loads(found[0]), ensure_ascii=False)
    return one if len(one) <= _LINE else found[0]


_LINE = 80
"""Characters of a list of texts or numbers that is written on one line."""


def main() -> None:
    with tempfile.TemporaryDirectory() as home, embedded_servers(home) as (database_url, redis_url):
        migrate(database_url)
        settings = replace(Settings(), database_url=database_url, redis_url=redis_url, ranking_debounce=0.0)
        answers = record(House(create_app(settings), Database(settings, name="examples"), settings))
    text = json.dumps(short(answers), indent=1, ensure_ascii=False)
    TARGET.write_text(_PLAIN_LIST.sub(_on_a_line, text) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
