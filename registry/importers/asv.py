"""Import airspeed velocity: `results/<machine>/<commit>-<environment>.json`, versions 1 and 2 of its results.

Benchmark: its name. Model: the commit, because commits are what is compared: of two of them `registry compare`, a gate
and a ranking say which is faster, and the label `date` orders a history. Variant: machine and environment, under which
alone times are comparable. Metric: the benchmark's type (`time`, `memory`, `peakmemory`, `track`), with the unit of
`benchmarks.json` in the folder above, or as ASV's own types have it; less is better but of `track`, of which no file
tells. Axes: the parameters, named by `benchmarks.json`, else `param1` … as ASV names them. A value is the median of the
samples; its standard error is computed from the interval at 99 % that ASV wrote. A benchmark that failed (null) or was
skipped (NaN) is a gap with its reason.
"""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from registry.errors import Fault, Invalid
from registry.grids.intake.faults import number
from registry.importers.cell_text import plain_number
from registry.importers.imported_grid import ImportedGrid, Note, Overrides
from registry.importers.scores import listed, mapping, object_in, over, protocol_of, stderr_of, text, unknown_direction
from registry.importers.source import Source

NAME = "asv"
_TYPES = {"time": "time", "timeraw": "time", "mem": "memory", "peakmem": "peakmemory"}
"""Types of benchmarks by what their names begin with, where no `benchmarks.json` tells."""
_UNITS = {"time": "s", "memory": "bytes", "peakmemory": "bytes"}
_COMPUTED = Note("stderr_computed", "standard errors were computed from the intervals at 99 % of the samples")


def looks_like(source: Source) -> bool:
    file = source.document
    return isinstance(file, Mapping) and {"commit_hash", "params", "results"} <= file.keys()


def read(source: Source, wanted: Overrides) -> Iterator[ImportedGrid]:
    """One grid for each benchmark."""
    file = mapping(source.json, "")
    path = source.path.absolute().parent.parent / "benchmarks.json" if source.path is not None else None
    known = mapping(Source(str(path), path).json, "") if path is not None and path.is_file() else {}
    machine = object_in(file, "params")
    environment = text(file.get("env_name")) or (source.path.stem.partition("-")[2] if source.path else "")
    names = {
        "experiment": NAME,
        "model": text(file.get("commit_hash")),
        "variant": f"{text(machine.get('machine'))} {environment}".strip(),
    }
    date = number(file.get("date"))
    labels = {} if date is None else {"date": datetime.fromtimestamp(date / 1000, UTC).isoformat(timespec="seconds")}
    for benchmark, given in mapping(file.get("results"), "/results").items():
        result = _result(given, file, benchmark)
        described = object_in(known, benchmark)
        metric, notes = _metric(benchmark, described)
        if not wanted.takes(metric["name"]):
            continue
        axes, cells = _cells(result, described, f"/results/{benchmark}")
        notes += [_COMPUTED] if any("stderr" in cell for cell in cells.values()) else []
        protocol = protocol_of(
            {"harness": NAME, **machine, "env_vars": file.get("env_vars"), "benchmark_version": result.get("version")}
        )
        sent = {**names, "benchmark": benchmark, "metric": metric, **over(axes, cells), "labels": labels, **protocol}
        yield wanted.applied(ImportedGrid(sent, tuple(notes)))


def _result(given: Any, file: Mapping[str, Any], benchmark: str) -> Mapping[str, Any]:
    """Members of a result by the names of version 2; a value by itself is all that version 1 has without parameters."""
    if file.get("version") == 2:
        return dict(zip(file.get("result_columns") or (), listed(given, f"/results/{benchmark}"), strict=False))
    one = dict(given) if isinstance(given, Mapping) else {"result": given}
    one["version"] = object_in(file, "benchmark_version").get(benchmark)
    if not isinstance(one.get("result"), list | None):
        one["result"] = [one["result"]]
    intervals = [(stats or {}).get("ci_99") or (None, None) for stats in one.get("stats") or ()]
    one |= {f"stats_ci_99_{end}": [pair[place] for pair in intervals] for place, end in enumerate("ab")}
    return one


def _metric(benchmark: str, described: Mapping[str, Any]) -> tuple[dict[str, Any], list[Note]]:
    begins = benchmark.rpartition(".")[2].partition("_")[0].lower()
    kind = text(described.get("type")) or _TYPES.get(begins, "track")
    unit = {"seconds": "s", "unit": "", "": _UNITS.get(kind)}.get(given := text(described.get("unit")), given)
    metric = {"name": kind, "unit": unit or None}
    if kind in _UNITS:
        return metric | {"direction": "lower", "lower": 0.0}, []
    return metric, [unknown_direction(kind)]


def _cells(
    result: Mapping[str, Any], described: Mapping[str, Any], where: str
) -> tuple[list[str], dict[tuple[Any, ...], dict[str, Any]]]:
    levels = [_levels(listed(one, f"{where}/params")) for one in result.get("params") or ()]
    named = described.get("param_names") or ()
    axes = list(named) if len(named) == len(levels) else [f"param{place}" for place in range(1, len(levels) + 1)]
    places = list(itertools.product(*levels))
    values = [None] * len(places) if result.get("result") is None else listed(result["result"], where)
    if len(values) != len(places):
        raise Invalid([Fault(where, f"has {len(values)} values for {len(places)} combinations of its parameters")])
    ends = [result.get(f"stats_ci_99_{end}") or [] for end in "ab"]
    cells = {}
    for at, value, lower, upper in itertools.zip_longest(places, values, *ends):
        stderr = stderr_of(lower, upper, 0.99)
        if number(value) is None:
            cells[at] = {"value": None, "reason": "failed" if value is None else "not_applicable"}
        else:
            cells[at] = {"value": value} | ({} if stderr is None else {"stderr": stderr})
    return axes, cells


def _levels(given: Sequence[Any]) -> list[Any]:
    """Parameters as ASV writes them, in Python: numbers where all are, else texts, without quotation marks if they stay
    distinct."""
    texts = [text(one) for one in given]
    numbers = [plain_number(one) for one in texts]
    if None not in numbers and len(set(numbers)) == len(texts):
        return numbers
    bare = [one[1:-1] if one[:1] == one[-1:] == "'" and len(one) > 2 else one for one in texts]
    return bare if len(set(bare)) == len(bare) else texts
