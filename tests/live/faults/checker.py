"""The checker: what a history says was acknowledged, against what the public HTTP API says is there.

It shares no code with the registry, and knows of it what a user knows: README, `openapi.yaml`, answers.
"""

import itertools
import math
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any
from urllib.parse import quote

from tests.live.faults import arithmetic
from tests.live.faults.history import Finding, History, Write
from tests.live.faults.wire import Wire

CHECKS = (
    "lost",
    "gaps",
    "digest mismatches",
    "contents",
    "duplicate effects",
    "order",
    "missing statistics",
    "stale statistics",
    "wrong statistics",
    "missing rankings",
    "stale rankings",
    "wrong rankings",
    "still pending",
    "failed",
    "refused",
    "server errors",
    "slow",
    "no Retry-After",
    "strangers",
    "not numbers",
)


STANDING = ("n_common", "wins", "ties", "losses")


@dataclass
class Verdict:
    """What was found, by check; good when nothing was."""

    findings: list[Finding]
    facts: dict[str, Any] = field(default_factory=dict)

    @property
    def good(self) -> bool:
        return not self.findings

    @property
    def broken(self) -> set[str]:
        """The names of the checks that found something."""
        return {finding.check for finding in self.findings}

    def __str__(self) -> str:
        lines = [f"{name}: {value}" for name, value in self.facts.items()]
        for check in CHECKS:
            found = [finding for finding in self.findings if finding.check == check]
            lines.append(f"  {check:<20} {len(found)}")
            for finding in found[:5]:
                lines += [f"    {finding.what}", *(f"      {line}" for line in finding.lines)]
        return "\n".join(lines)


def check(
    history: History,
    wire: Wire,
    stranger: Wire,
    project: str,
    patience: float = 60.0,
    experiments: Sequence[str] = (),
) -> Verdict:
    """Everything that can be seen from outside, once at most `patience` seconds have passed for it to settle.

    Of the whole project, or of these experiments where others have written to the rest of it.
    """
    if wire.insist("GET", f"projects/{project}").status != 200:
        acknowledged = [write.line() for write in history.writes if write.acknowledged]
        history.find("lost", f"project {project} is not there", *acknowledged)
        return Verdict(list(history.findings), {"writes": history.summary()})
    seen = Seen(history, wire, project, experiments)
    until = time.monotonic() + patience
    seen.read_grids()
    waited = seen.await_statistics(until)
    seen.check_revisions()
    seen.check_statistics()
    seen.check_rankings(until)
    if not experiments:
        seen.check_nothing_waits(until)
    check_strangers(history, stranger, seen)
    check_numbers(history, wire, project)
    facts = {
        "writes": history.summary(),
        "faults": len(history.faults),
        "answers": dict(sorted(history.requests.items())),
        "slowest request": f"{history.slowest:.1f} s",
        "read meanwhile": {name: count for name, count in history.counts.items() if name != "numbers"},
        "grids": len(seen.grids),
        "revisions": sum(map(len, seen.revisions.values())),
        "settled after": f"{waited:.1f} s",
    }
    return Verdict(list(history.findings), facts)


class Seen:
    """What the API shows after the run."""

    def __init__(self, history: History, wire: Wire, project: str, experiments: Sequence[str] = ()) -> None:
        self.history, self.wire, self.project = history, wire, project
        self.filter = "&".join(f"experiment={quote(name)}" for name in experiments)
        self.writes = [one for one in history.writes if not experiments or one.identity[0] in experiments]
        self.grids: dict[str, dict[str, Any]] = {}
        self.revisions: dict[str, list[dict[str, Any]]] = {}
        self.contents: dict[tuple[str, int], dict[str, Any]] = {}

    def find(self, check: str, what: str, *writes: Write) -> None:
        self.history.find(check, what, *(write.line() for write in writes))

    # What is there

    def read_grids(self) -> None:
        """The grids of the project; every identity once."""
        for grid in self.wire.pages(f"projects/{self.project}/grids?{self.filter}"):
            self.grids[grid["id"]] = grid
        for write in self.writes:
            if write.acknowledged and write.grid not in self.grids:
                self.find("lost", f"grid {write.grid} is not there", write)
        names = [(grid["experiment"], grid["benchmark"], grid["model"]) for grid in self.grids.values()]
        for name in {name for name in names if names.count(name) > 1}:
            self.find("duplicate effects", f"two grids of one identity {name}")

    def await_statistics(self, until: float) -> float:
        """Until every revision of every grid is derived; how long that took. What is not by then is missing."""
        begun = time.monotonic()
        for grid in self.grids:
            while True:
                rows = self.wire.pages(f"grids/{grid}/revisions")
                late = [row["revision"] for row in rows if row["derivation"]["state"] != "ready"]
                if not late or time.monotonic() > until:
                    break
                time.sleep(0.1)
            self.revisions[grid] = rows
            failed = [row["revision"] for row in rows if row["derivation"]["state"] == "failed"]
            if failed:
                self.find("failed", f"grid {grid}, revisions {failed}", *self._writes_of(grid, failed))
            if set(late) - set(failed):
                missing = sorted(set(late) - set(failed))
                self.find("missing statistics", f"grid {grid}, revisions {missing}", *self._writes_of(grid, missing))
        return time.monotonic() - begun

    def _writes_of(self, grid: str, numbers: list[int]) -> list[Write]:
        return [one for one in self.writes if one.grid == grid and one.revision in numbers]

    def content(self, grid: str, number: int) -> dict[str, Any]:
        """A revision as it is served."""
        if (grid, number) not in self.contents:
            answer = self.wire.insist("GET", f"grids/{grid}?revision={number}")
            assert answer.status == 200, (grid, number, answer.status, answer.body[:300])
            self.contents[grid, number] = answer.json
        return self.contents[grid, number]

    # Revisions

    def check_revisions(self) -> None:
        """Numbers without gaps, what was acknowledged is there as it was sent, every revision has one origin."""
        acknowledged: dict[str, dict[int, list[Write]]] = defaultdict(lambda: defaultdict(list))
        for write in self.writes:
            if write.acknowledged:
                acknowledged[write.grid][write.revision].append(write)
        origins: dict[int, list[tuple[str, int]]] = defaultdict(list)
        for grid, rows in self.revisions.items():
            numbers = [row["revision"] for row in rows]
            if numbers != list(range(1, len(numbers) + 1)):
                self.find("gaps", f"grid {grid} has revisions {numbers}")
            for number, writes in acknowledged[grid].items():
                if number not in numbers:
                    self.find("lost", f"revision {number} of grid {grid} is not there", *writes)
            for row in rows:
                self._check_digest(grid, row, acknowledged[grid][row["revision"]])
                origin = self._origin(grid, row["revision"])
                if origin is not None:
                    origins[origin.number].append((grid, row["revision"]))
            self._check_order(grid)
        self._check_origins(origins)

    def _check_digest(self, grid: str, row: dict[str, Any], writes: list[Write]) -> None:
        served = self.content(grid, row["revision"])
        told = {row["digest"], served["digest"], arithmetic.digest(served), *(write.digest for write in writes)}
        if len(told) > 1:
            self.find("digest mismatches", f"revision {row['revision']} of grid {grid}: {sorted(told)}", *writes)

    def _origin(self, grid: str, number: int) -> Write | None:
        """The write that made a revision: a publication by its label, an amendment by the cells that it changed."""
        now = self.content(grid, number)
        before = self.content(grid, number - 1) if number > 1 else None
        if before is None or before["labels"] != now["labels"]:
            found = [one for one in self.writes if str(one.number) == now["labels"].get("write")]
            if not found or arithmetic.cells(now) != sent_cells(found[0]):
                self.find("contents", f"revision {number} of grid {grid} is not what anybody sent", *found)
                return None
            return found[0]
        changed = difference(arithmetic.cells(before), arithmetic.cells(now))
        found = [one for one in self.writes if one.method == "PATCH" and sent_cells(one) == changed]
        if not found:
            self.find("contents", f"revision {number} of grid {grid} changes {changed}, which nobody sent")
            return None
        return found[0]

    def _check_origins(self, origins: Mapping[int, list[tuple[str, int]]]) -> None:
        """A write has one effect, which is the one that it was told of."""
        for write in self.writes:
            made = origins[write.number]
            if len(made) > 1:
                self.find("duplicate effects", f"write {write.number} made {made}", write)
            if write.acknowledged and (write.grid, write.revision) not in made:
                self.find("contents", f"write {write.number} was told of a revision that it did not make", write)

    def _check_order(self, grid: str) -> None:
        """What was answered before something else was sent has the lower number."""
        writes = sorted((one for one in self.writes if one.grid == grid), key=lambda one: one.ended)
        newest: Write | None = None
        for write in sorted(writes, key=lambda one: one.began):
            earlier = [one for one in writes if one.ended < write.began]
            newest = max(earlier, key=lambda one: one.revision, default=None)
            if newest is not None and newest.revision >= write.revision:
                self.find("order", f"grid {grid}: the later write has the lower revision", newest, write)

    # Statistics

    def check_statistics(self) -> None:
        """Those of the newest revision, and their numbers."""
        for grid, rows in self.revisions.items():
            answer = self.wire.insist("GET", f"grids/{grid}/statistics", within=1.0)
            newest = max(rows, key=lambda row: row["revision"])
            writes = self._writes_of(grid, [newest["revision"]])
            if answer.status != 200:
                if newest["derivation"]["state"] == "ready":
                    self.find("missing statistics", f"grid {grid} answers {answer.status}", *writes)
                continue
            document = answer.json
            if document["state"] != "ready":
                continue  # found above
            if (document["revision"], document.get("digest")) != (newest["revision"], newest["digest"]):
                what = f"grid {grid}: of revision {document['revision']}, the newest is {newest['revision']}"
                self.find("stale statistics", what, *writes)
                continue
            version = f"{document['revision']}, methods {document['methods_version']}"
            self.history.same_bytes(f"statistics of {grid}", version, answer.body)
            for what in wrong_statistics(document, self.content(grid, newest["revision"])):
                self.find("wrong statistics", f"grid {grid}, revision {newest['revision']}: {what}", *writes)

    # Rankings

    def check_rankings(self, until: float) -> None:
        """Each experiment's ranking is over its newest revisions, and counts as we count."""
        ranked = {grid["experiment"] for grid in self.grids.values() if grid["metric"]["direction"] is not None}
        for experiment in sorted(ranked):
            path = f"projects/{self.project}/rankings?experiment={quote(experiment)}&metric=accuracy"
            answer = self.wire.insist("GET", path, within=max(1.0, until - time.monotonic()))
            if answer.status != 200:
                self.find("missing rankings", f"{experiment}: {answer.status}")
                continue
            document = answer.json
            if document["state"] != "ready":
                self.find("failed", f"the ranking of {experiment}: {document['reason']}")
                continue
            mine = {
                grid: rows[-1]["revision"]
                for grid, rows in self.revisions.items()
                if self.grids[grid]["experiment"] == experiment
            }
            inputs = {one["grid"]: one["revision"] for one in document["inputs"]}
            if inputs != mine:
                self.find("stale rankings", f"{experiment} is over {inputs}, the newest are {mine}")
                continue
            for what in wrong_ranking(document, self._slots(mine)):
                self.find("wrong rankings", f"{experiment}: {what}")

    def check_nothing_waits(self, until: float) -> None:
        """The service says itself that nothing is pending, rankings neither; what nobody claims stays so for ever."""
        while True:
            ready = self.wire.insist("GET", "/readyz", within=max(1.0, until - time.monotonic())).json
            waiting = {kind: ready[kind]["pending"] for kind in ("derivations", "answers")}
            if not any(waiting.values()):
                return
            if time.monotonic() > until:
                self.find("still pending", f"{waiting}")
                return
            time.sleep(0.3)

    def _slots(self, newest: Mapping[str, int]) -> dict[str, dict[Any, float]]:
        """Value by slot (benchmark, task, step) of each model."""
        models: dict[str, dict[Any, float]] = defaultdict(dict)
        for grid, number in newest.items():
            names = self.grids[grid]
            for (task, step), value in arithmetic.cells(self.content(grid, number)).items():
                models[names["model"]][names["benchmark"], task, step] = value
        return models


def sent_cells(write: Write) -> dict[tuple[str, float], float]:
    """The cells that a write sent."""
    if write.method == "POST":
        return arithmetic.cells(write.sent)
    return {(one["at"]["Task"], float(one["at"]["Step"])): one["value"] for one in write.sent["cells"]}


def difference(before: arithmetic.Cells, after: arithmetic.Cells) -> dict[tuple[str, float], float | None]:
    """The cells that are other than before, with their new value."""
    places = before.keys() | after.keys()
    return {place: after.get(place) for place in places if before.get(place) != after.get(place)}


def is_served(mean: float, served: float, values: Iterable[float]) -> bool:
    """Whether a mean was rounded to the digits that the changelog promises of a grid with these values: two more than
    its largest has with the decimals of all, five to nine."""
    posted = [Decimal(repr(value)).normalize() for value in values if value]
    decimals = max([0, *(-int(one.as_tuple().exponent) for one in posted)])
    digits = min(max(max((one.adjusted() for one in posted), default=0) + 1 + decimals + 2, 5), 9)
    unit = 10.0 ** (math.floor(math.log10(abs(mean))) + 1 - digits) if mean else 0.0
    return abs(mean - served) <= 0.500001 * unit


def wrong_statistics(document: Mapping[str, Any], content: Mapping[str, Any]) -> list[str]:
    """Coverage, and of each series along Step: count, mean, first and last, which are those of its content alone."""
    cells = arithmetic.cells(content)
    possible = math.prod(len(axis["levels"]) for axis in content["axes"])
    wrong = []
    if (document["coverage"]["cells"], document["coverage"]["possible"]) != (len(cells), possible):
        wrong.append(f"coverage {document['coverage']['cells']} of {document['coverage']['possible']}")
    series = {one["at"]["Task"]: one for one in document["series"] if one["along"] == "Step"}
    for task in content["axes"][0]["levels"]:
        values = [value for (label, _), value in sorted(cells.items()) if label == task]
        served = series.get(task, {"count": 0})
        if served["count"] != len(values):
            wrong.append(f"{served['count']} points of {task}, not {len(values)}")
        elif len(values) >= 3:
            ours = [math.fsum(values) / len(values), values[0], values[-1]]
            theirs = [served["summary"]["mean"], served["first"], served["last"]]
            if ours[1:] != theirs[1:] or not is_served(ours[0], theirs[0], cells.values()):
                wrong.append(f"mean, first, last of {task} are {theirs}, not {ours}")
    return wrong


def wrong_ranking(document: Mapping[str, Any], models: Mapping[str, Mapping[Any, float]]) -> list[str]:
    """Who is compared, and of each pair: common slots, wins, ties, losses."""
    names = {one["name"] for one in document["ranking"]}
    if names != models.keys():
        return [f"{sorted(names)} are ranked, not {sorted(models)}"]
    pairs = {(pair["a"], pair["b"]): pair for pair in document["pairs"]}
    wrong = []
    for a, b in itertools.combinations(sorted(models), 2):
        pair = pairs.get((a, b), {})
        ours, theirs = arithmetic.standing(models[a], models[b]), tuple(map(pair.get, STANDING))
        if ours != theirs:
            wrong.append(f"{a} and {b}: {STANDING} are {theirs}, not {ours}")
    return wrong


def check_strangers(history: History, stranger: Wire, seen: Seen) -> None:
    """Another project's administrator is told 404 by every route that is documented for a grid or its project."""
    grid = next(iter(seen.grids), None)
    if grid is None:
        return
    filled = {
        "project": seen.project, "grid": grid, "revision": "1", "a": "1", "b": "1", "suffix": "json",
        "kind": "models", "part": "statistics", "experiment": "alpha",
    }  # fmt: skip
    asked = 0
    document = seen.wire.insist("GET", "/openapi.json?view=client").json
    shared = document["components"].get("parameters", {})
    for path, item in document["paths"].items():
        referred = [*item.get("parameters", []), *item.get("get", {}).get("parameters", [])]
        given = [shared[one["$ref"].rpartition("/")[2]] if "$ref" in one else one for one in referred]
        names = {part["name"] for part in given if part.get("in") == "path"}
        if "get" not in item or not {"project", "grid"} & names or not names <= filled.keys():
            continue
        needed = [part for part in given if part.get("in") == "query" and part.get("required")]
        query = "&".join(f"{part['name']}={_some(part, grid)}" for part in needed)
        status = stranger.insist("GET", path.format_map(filled) + f"?{query}").status
        asked += status == 404
        if status not in (404, 422):  # 422: we did not know how to ask
            history.find("strangers", f"{path} answers another project's administrator with {status}")
    if asked < 15:
        history.find("strangers", f"only {asked} routes could be asked")


def _some(parameter: Mapping[str, Any], grid: str) -> str:
    """A value that a required parameter of the query may have."""
    if parameter["schema"].get("format") == "uuid":
        return grid
    return "alpha" if parameter["name"] == "experiment" else "accuracy"


def check_numbers(history: History, wire: Wire, project: str) -> None:
    """What is no finite number in JSON is refused, as a value, a level or within a batch; nothing comes of it."""
    metric = b'"metric": {"name": "not a number"}'
    names = b'"experiment": "nan", "benchmark": "nan", "model": "nan"'
    for token in (b"NaN", b"Infinity", b"-Infinity", b"1e400", b"-1e400"):
        grid = b"{" + names + b", " + metric + b', "axes": [], "values": ' + token + b"}"
        for path, body in (
            (f"projects/{project}/grids", grid),
            (f"projects/{project}/grids/batch", b"[" + grid + b"]"),
        ):
            answer = wire.insist("POST", path, body)
            if answer.status != 400:
                history.find("not numbers", f"{token.decode()} sent to {path} is answered with {answer.status}")
    if wire.pages(f"projects/{project}/grids?experiment=nan"):
        history.find("not numbers", "a grid of something that is no number is there")
