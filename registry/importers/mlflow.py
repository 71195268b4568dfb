"""Import MLflow: the JSON of `runs/search`, or a live server by its URL.

Model: the parameter or tag `model`, `model_name` or `base_model`, else the run's name. Benchmark: the parameter or tag
`benchmark`, `dataset`, `task`, else "mlflow". Experiment: its name on a live server, its id in a file. Variant: empty.
Metric: each metric of the run, its last value. MLflow says nothing of direction and bounds: common names are read, with
a note. Parameters and the run's id become labels. Runs that did not finish are left out.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlsplit
from urllib.request import Request, urlopen

from registry.errors import Malformed
from registry.grids.intake.faults import number
from registry.importers.imported_grid import ImportedGrid, Note, Overrides
from registry.importers.scores import explained, left_out, listed, mapping, single, text
from registry.importers.source import Source

NAME = "mlflow"
_MODEL = ("model", "model_name", "base_model")
_BENCHMARK = ("benchmark", "dataset", "task")
_PAGE = 1000
_ENDED = (None, "FINISHED")
_MOST_LABELS, _LONGEST = 40, 256


def looks_like(source: Source) -> bool:
    file = source.document
    if not isinstance(file, Mapping) or not isinstance(file.get("runs"), list):
        return False
    return all(isinstance(run, Mapping) and "info" in run for run in file["runs"][:1])


def read(source: Source, wanted: Overrides) -> Iterator[ImportedGrid]:
    """One grid for each metric of each run."""
    file = mapping(source.json, "")
    truncated = [Note("truncated", "the answer has a next_page_token: more runs are on the server")]
    notes = truncated if file.get("next_page_token") else []
    runs = listed(file.get("runs"), "/runs")
    notes += unfinished(runs)
    for place, run in enumerate(runs):
        yield from read_run(mapping(run, f"/runs/{place}"), {}, wanted, notes)


def read_server(url: str, wanted: Overrides) -> Iterator[ImportedGrid]:
    """Runs of every experiment of a tracking server, page after page."""
    experiments = _pages(url, "experiments/search", {"max_results": _PAGE}, "experiments")
    titles = {text(one.get("experiment_id")): text(one.get("name")) for one in experiments}
    if wanted.experiment is not None:
        titles = {key: name for key, name in titles.items() if wanted.experiment in (name, key)} or titles
    for key in titles:
        runs = list(_pages(url, "runs/search", {"experiment_ids": [key], "max_results": _PAGE}, "runs"))
        notes = unfinished(runs)
        for run in runs:
            yield from read_run(run, titles, wanted, notes)


def unfinished(runs: Sequence[Any]) -> list[Note]:
    """Note that names the skipped runs, which did not finish."""
    infos = [run["info"] for run in runs if isinstance(run, Mapping) and isinstance(run.get("info"), Mapping)]
    names = [text(info.get("run_name")) for info in infos if info.get("status") not in _ENDED]
    return left_out(names, "these runs did not finish")


def _pages(url: str, path: str, body: dict[str, Any], name: str) -> Iterator[Mapping[str, Any]]:
    token = None
    while True:
        answer = _post(url, path, body | ({"page_token": token} if token else {}))
        yield from (mapping(one, f"/{name}") for one in answer.get(name) or [])
        token = answer.get("next_page_token")
        if not token:
            return


def _post(url: str, path: str, body: Mapping[str, Any]) -> Mapping[str, Any]:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https"):
        raise Malformed(f"{url} is not the URL of an MLflow server.")
    address = f"{url.rstrip('/')}/api/2.0/mlflow/{quote(path)}"
    request = Request(address, json.dumps(body).encode(), {"Content-Type": "application/json"})  # noqa: S310
    try:
        with urlopen(request, timeout=30) as answer:  # noqa: S310
            return mapping(json.loads(answer.read()), "")
    except HTTPError as error:
        raise Malformed(f"{address} answered {error.code}.") from None
    except (URLError, OSError, ValueError) as error:
        raise Malformed(f"No MLflow server answers at {url}: {error}.") from None


def read_run(
    run: Mapping[str, Any], titles: Mapping[str, str], wanted: Overrides, notes: Sequence[Note]
) -> Iterator[ImportedGrid]:
    """One grid for each metric of a run; none of an unfinished one. `titles` gives the names of experiments by id."""
    info, data = mapping(run.get("info"), "/info"), mapping(run.get("data") or {}, "/data")
    if info.get("status") not in _ENDED:
        return
    entries = {
        text(one.get("key")): text(one.get("value"))
        for name in ("tags", "params")
        for one in (mapping(given, f"/data/{name}") for given in listed(data.get(name) or [], f"/data/{name}"))
    }
    name = text(info.get("run_name")) or entries.get("mlflow.runName") or text(info.get("run_id"))
    key = text(info.get("experiment_id"))
    model = next((entries[one] for one in _MODEL if entries.get(one)), None)
    doubtful = [] if model else [Note("identity_read", f'the run "{name}" names no model: it is the model')]
    names = {
        "experiment": titles.get(key) or f"mlflow {key}",
        "benchmark": next((entries[one] for one in _BENCHMARK if entries.get(one)), "mlflow"),
        "model": model or name,
        "variant": "",
    }
    labels = {"run_id": text(info.get("run_id"))}
    params = [mapping(one, "/data/params") for one in (data.get("params") or [])[:_MOST_LABELS]]
    labels |= {text(one.get("key")): text(one.get("value"))[:_LONGEST] for one in params}
    found_values = [
        (text(one.get("key")), number(one.get("value")))
        for metric in listed(data.get("metrics") or [], "/data/metrics")
        if wanted.takes(text((one := mapping(metric, "/data/metrics")).get("key")))
    ]
    skipped = [title for title, value in found_values if value is None]
    for title, value in found_values:
        if value is None:
            continue
        described, more = explained({"name": title}, [value])
        every = [*notes, *doubtful, *more, *left_out(skipped, "not a number")]
        found = single(names, described, value, labels=labels, notes=every)
        yield wanted.applied(replace(found, edition=name if model else text(info.get("run_id"))))
