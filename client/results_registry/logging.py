"""`log_grid`, `log_cells`, `flush`: one line in a job, which it never has to wait for and never fails because of."""

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from results_registry.config import DEFAULT_URL, Config, find_config, is_silent
from results_registry.data import read_cells, read_data
from results_registry.data.records import read_items
from results_registry.data.values import quantity, whole
from results_registry.errors import BadAddress, BadData, Unreachable, log, log_once
from results_registry.outbox import existing_outbox, outbox
from results_registry.sender import Receipt
from results_registry.spool import CELLS, GRID, make_item

_STRICT_SECONDS = 60.0
_METRIC_FIELDS = ("name", "unit", "direction", "lower", "upper")


def log_grid(  # noqa: PLR0913 (a grid has that many names, all by keyword)
    data: Any,
    *,
    experiment: str,
    benchmark: str,
    model: str,
    metric: str | Mapping[str, Any],
    variant: str = "",
    axes: Any = None,
    trials: Any = None,
    stderr: Any = None,
    questions: int | None = None,
    design_effect: float | None = None,
    derived: bool | Sequence[str] = False,
    protocol: Mapping[str, Any] | None = None,
    labels: Mapping[str, Any] | None = None,
    description: str | None = None,
    source: Mapping[str, str] | None = None,
    items: Mapping[str, Any] | None = None,
    project: str | None = None,
    url: str | None = None,
    token: str | None = None,
    strict: bool = False,
    all_ranks: bool | None = None,
) -> Receipt:
    """Publish a grid from a job: it is on disk when this returns, and sent in the background.

    `data` is an xarray DataArray, a pandas or polars table (tidy or wide), a numpy array, nested lists, a nested or
    tuple-keyed dict, a list of records, or one number; None and NaN are unmeasured. `axes` names the axes and, where
    the data does not, their levels: `["Type", "Length"]`, `{"Type": ["1", "2"], "Length": [0, 1]}`. `metric` is a name
    or `{"name", "unit", "direction", "lower", "upper"}`. `trials` and `stderr` are one number or shaped like the data.
    With `trials` go `questions`, that they are about (trials = questions × samples), and `design_effect`, a cell's
    variance over that of independent trials. `derived`: the values are made of other grids, or of these names.
    `protocol` says how they were measured: `{"harness": "lm-eval", "shots": 5}`, texts, numbers or booleans by key.
    `description` is Markdown for the pages and takes the place of the one that the grid has; `source` says where the
    values come from: any of `format`, `name` (of a file) and `sha256` (of its bytes, 64 hexadecimal digits).
    `items` are the outcomes behind the values, by which grids of the same items are compared one by one: `name`, `ids`
    (or a `digest`), and `outcomes`, a list of 0 and 1 (or scores between) for a single number, else such lists by
    coordinate: `{("1", 0): [0, 1, 1]}`; `repeats` where a score is the mean of several trials, `clusters` where items
    are not independent: for each the name of what it belongs to.

    Raises nothing unless `strict`: then bad data, a refusal or a registry that cannot be reached within a minute is
    an error, and the answer is waited for. In a job of several processes only rank 0 speaks, unless `all_ranks`.
    """
    names = _names(experiment, benchmark, model, variant, metric)

    def document() -> dict[str, Any]:
        members = _members(questions, design_effect, derived, protocol) | _notes(description, source)
        read = read_data(data, axes, names, trials, stderr)
        sent = [] if items is None else [read_items(items, [axis["name"] for axis in read.get("axes", ())])]
        return _header(names, metric, labels) | members | read | ({"items": sent} if sent else {})

    return _log(GRID, document, (url, token, project), strict=strict, all_ranks=all_ranks)


def log_cells(  # noqa: PLR0913
    cells: Any,
    *,
    experiment: str,
    benchmark: str,
    model: str,
    metric: str | Mapping[str, Any],
    variant: str = "",
    axes: Any = None,
    questions: int | None = None,
    design_effect: float | None = None,
    derived: bool | Sequence[str] = False,
    protocol: Mapping[str, Any] | None = None,
    labels: Mapping[str, Any] | None = None,
    project: str | None = None,
    url: str | None = None,
    token: str | None = None,
    strict: bool = False,
    all_ranks: bool | None = None,
) -> Receipt:
    """Add cells to a grid, or replace them, while the job goes on; the grid is made if it is not there.

    `cells` is one record (`{"Step": 100, "value": 0.7}`), several, or anything that `log_grid` takes. Calls within a
    second go in one request. Otherwise like `log_grid`; `questions`, `design_effect`, `derived`, `protocol` and
    `labels` count only for a grid that is made.
    """
    names = _names(experiment, benchmark, model, variant, metric)

    def document() -> dict[str, Any]:
        read_axes, read = read_cells(cells, axes, names)
        if not read:
            raise BadData("There is no measured cell in this.")
        members = _members(questions, design_effect, derived, protocol)
        return _header(names, metric, labels) | members | {"axes": read_axes, "cells": read}

    return _log(CELLS, document, (url, token, project), strict=strict, all_ranks=all_ranks)


def flush(timeout: float = 30.0) -> bool:
    """Wait until everything logged by this process is sent (or refused); False when that takes longer."""
    box = existing_outbox()
    return box is None or box.flush(time.monotonic() + timeout)


def _names(
    experiment: str, benchmark: str, model: str, variant: str, metric: str | Mapping[str, Any]
) -> dict[str, str]:
    name = metric.get("name", "") if isinstance(metric, Mapping) else metric
    return {
        "experiment": experiment,
        "benchmark": benchmark,
        "model": model,
        "variant": variant or "",
        "metric": str(name),
    }


def _header(
    names: Mapping[str, str], metric: str | Mapping[str, Any], labels: Mapping[str, Any] | None
) -> dict[str, Any]:
    fields = dict(metric) if isinstance(metric, Mapping) else {"name": str(metric)}
    if wrong := [name for name in fields if name not in _METRIC_FIELDS]:
        raise BadData(f"A metric has {', '.join(_METRIC_FIELDS)}, not {wrong[0]!r}.")
    if empty := [name for name, text in names.items() if not text and name != "variant"]:
        raise BadData(f"The grid needs a name for its {empty[0]}.")
    given = {str(name): str(text) for name, text in (labels or {}).items()}
    identity = {name: str(names[name]) for name in ("experiment", "benchmark", "model", "variant")}
    return identity | {"metric": fields} | ({"labels": given} if given else {})


def _members(
    questions: int | None,
    design_effect: float | None,
    derived: bool | Sequence[str],
    protocol: Mapping[str, Any] | None,
) -> dict[str, Any]:
    named = [str(name) for name in derived] if isinstance(derived, (list, tuple, set, frozenset)) else bool(derived)
    if isinstance(derived, str):
        raise BadData("`derived` is True or a list of names, not one text.")
    given = {
        "questions": whole(questions, "questions"),
        "design_effect": quantity(design_effect, "design_effect"),
        "derived": named or None,
        "protocol": {str(key): _plain(value) for key, value in (protocol or {}).items()} or None,
    }
    return {name: value for name, value in given.items() if value is not None}


def _plain(value: Any) -> Any:
    """A value of a protocol: numbers of numpy become Python's, anything but text, numbers and booleans its text."""
    value = value.item() if hasattr(value, "item") else value
    return value if value is None or isinstance(value, (str, bool, int, float)) else str(value)


_SOURCE_FIELDS = ("format", "name", "sha256")


def _notes(description: str | None, source: Mapping[str, str] | None) -> dict[str, Any]:
    """Statements about the grid beside its content."""
    if wrong := [name for name in source or () if name not in _SOURCE_FIELDS]:
        raise BadData(f"A source has {', '.join(_SOURCE_FIELDS)}, not {wrong[0]!r}.")
    given: dict[str, Any] = {} if description is None else {"description": str(description)}
    named = {name: str(text) for name, text in (source or {}).items()}
    return given | ({"source": named} if named else {})


def _config(where: tuple[str | None, str | None, str | None], *, strict: bool) -> Config:
    """Destination. An address that cannot be used loses nothing: the data waits in the spool for `sync`."""
    try:
        config = find_config(*where)
        config.check()
        if strict and config.project is None:
            raise BadAddress("No project is named: give project= or REGISTRY_PROJECT.")
    except BadAddress as error:
        if strict:
            raise
        log_once("address", f"{error.detail} What is logged waits in the spool for `python -m results_registry sync`.")
        return Config(DEFAULT_URL, None, None)
    return config


def _log(
    kind: str,
    document: Callable[[], dict[str, Any]],
    where: tuple[str | None, str | None, str | None],
    *,
    strict: bool,
    all_ranks: bool | None,
) -> Receipt:
    try:
        if (reason := is_silent(all_ranks)) is not None:
            log_once("rank", f"Only rank 0 logs; {reason} here (all_ranks=True changes that).", level=logging.INFO)
            return Receipt("skipped")
        config = _config(where, strict=strict)
        box = outbox()
        item = make_item(kind, document(), config.url if config.named else None, config.project, box.next_number())
        receipt = box.put(item, config)
    except Exception as error:
        if strict:
            raise
        log.warning("Not logged: %s", error)
        log.debug("where it came from", exc_info=True)
        return Receipt("refused", error)
    if strict:
        _insist(receipt, config)
    return receipt


def _insist(receipt: Receipt, config: Config) -> None:
    if receipt.wait(_STRICT_SECONDS) is None:
        raise receipt.error or Unreachable(f"No answer from {config.url} yet; what was logged is in the spool.")
