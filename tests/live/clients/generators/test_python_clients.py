"""openapi-python-client and datamodel-code-generator: what they generate works against a registry."""

import importlib
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.live.clients.generators.conftest import EXPECTED, HERE, SLOPE

NOBODY = "00000000-0000-7000-8000-000000000000"


def generate(command: str) -> str:
    """What the generator says of the document."""
    program, *arguments = command.split()
    done = subprocess.run(
        [Path(sys.executable).with_name(program), *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-5000:]
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A directory from which what was generated is imported."""
    found = tmp_path_factory.mktemp("generated")
    sys.path.insert(0, str(found))
    yield found
    sys.path.remove(str(found))


def grid(model: str, values: list[float | None]) -> dict[str, Any]:
    return {
        "experiment": "length",
        "benchmark": "sums",
        "model": model,
        "metric": {"name": "accuracy", "unit": "%", "direction": "higher", "lower": 0, "upper": 100},
        "axes": [{"name": "Length", "kind": "numeric", "levels": [1, 2, 3, 4]}],
        "values": values,
        "trials": 300,
        "labels": {"seed": "0" if model == "small" else "1"},
    }


def test_a_client_of_openapi_python_client_does_all_that_a_job_does(
    home: Path, documents: dict[str, Path], given: Callable[[], dict[str, str]]
) -> None:
    target, config = home / "opc", HERE / "openapi-python-client.yaml"
    said = generate(
        f"openapi-python-client generate --path {documents['client']} --config {config} --meta none"
        f" --output-path {target} --fail-on-warning"
    )
    assert "arning" not in said
    where = given()
    models = importlib.import_module("opc.models")
    client = importlib.import_module("opc").AuthenticatedClient(base_url=where["base"], token=where["token"])
    project = where["project"]

    def call(module: str, *arguments: Any, **options: Any) -> Any:
        return importlib.import_module(f"opc.api.{module}").sync_detailed(*arguments, client=client, **options)

    def publish(model: str, values: list[float | None], **options: Any) -> Any:
        body = models.GridIn.from_dict(grid(model, values))
        return call("grids.publish_grid", project, body=body, **options)

    small = publish("small", [90, 80, 70, 60]).parsed
    publish("large", [95, 90, 85, None])
    trends = call("statistics.get_statistics", small.id, prefer="wait=20").parsed
    ranking = call("rankings.get_ranking", project, experiment="length", metric="accuracy", prefer="wait=20").parsed
    sort = models.ListGridsSort.MODEL
    first = call("grids.list_grids", project, limit=1, sort=sort).parsed
    second = call("grids.list_grids", project, limit=1, sort=sort, cursor=first.next_).parsed
    labels = models.ListGridsLabels.from_dict({"label.seed": "0"})
    labelled = call("grids.list_grids", project, labels=labels).parsed
    csv = call("cells.get_cells_csv", small.id).parsed
    png = call("pictures.get_heatmap_png", small.id).parsed
    missing = call("grids.get_grid", NOBODY)
    taken = publish("small", [1, 2, 3, 4], if_none_match="*")
    invalid = publish("small", [1, 2, 3])
    assert {
        "slope": trends.series[0].slope,
        "ranked": [one.name for one in ranking.ranking],
        "pages": [[item.model for item in page.items] for page in (first, second)],
        "last": second.next_,
        "labelled": [item.model for item in labelled.items],
        "csv": csv.splitlines()[0],
        "png": list(png.payload.read()[1:4]),
        "missing": [missing.status_code, missing.parsed.title],
        "taken": [taken.status_code, taken.parsed.title],
        "invalid": [invalid.status_code, invalid.parsed.errors[0].pointer],
    } == EXPECTED


def test_the_models_of_datamodel_code_generator_take_what_is_answered(
    home: Path, documents: dict[str, Path], given: Callable[[], dict[str, str]]
) -> None:
    said = generate(
        f"datamodel-codegen --input {documents['client']} --input-file-type openapi --formatters builtin"
        f" --output-model-type pydantic_v2.BaseModel --output {home / 'registry_models.py'}"
    )
    assert said == ""
    models, where = importlib.import_module("registry_models"), given()

    def ask(path: str, body: bytes | None = None) -> bytes:
        headers = {"Authorization": f"Bearer {where['token']}", "Prefer": "wait=20", "Content-Type": "application/json"}
        request = urllib.request.Request(f"{where['base']}/api/v1/{path}", body, headers)
        with urllib.request.urlopen(request, timeout=60) as answer:
            found: bytes = answer.read()
        return found

    sent = models.GridIn.model_validate(grid("small", [90, 80, 70, None])).model_dump_json(exclude_unset=True)
    project = where["project"]
    published = models.GridSummary.model_validate_json(ask(f"projects/{project}/grids", sent.encode()))
    here = f"grids/{published.id}"
    kinds = {
        here: "Grid",
        f"{here}/cells": "Cells",
        f"{here}/statistics": "Statistics",
        f"{here}/statistics?part=peaks": "Statistics",
        f"{here}/statistics?part=coverage": "Statistics",
        f"{here}/revisions": "Revisions",
        f"projects/{project}/grids": "Grids",
        f"projects/{project}/cells": "Feed",
        f"projects/{project}/names/models": "Names",
        f"projects/{project}/rankings?experiment=length&metric=accuracy": "Ranking",
        "limits": "Limits",
    }
    for path, name in kinds.items():
        getattr(models, name).model_validate_json(ask(path))
    trends = models.Statistics.model_validate_json(ask(f"{here}/statistics?part=trends"))
    assert trends.series[0].slope == SLOPE
