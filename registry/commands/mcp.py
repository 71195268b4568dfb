"""`registry mcp`: questions to the registry as tools of the Model Context Protocol, over standard input and output.

Each tool only reads. It answers with the verdict, then a page as Markdown of at most `MOST` bytes, and never with JSON.
What the registry refuses is an error of the tool, in its sentence.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import urlencode

import click

from registry.commands.arguments import parameters
from registry.commands.finding import KINDS, Named, find_grid, is_grid, one_scope
from registry.commands.gate import judged
from registry.commands.group import USER_ERRORS
from registry.commands.listing import listed, table_of
from registry.commands.page import until
from registry.commands.screen import Screen
from registry.commands.session import Session, advised, asks_server, awaited, waits
from registry.errors import NotInstalled
from registry.renderings import aggregates, comparison, comparison_of_models, ranking, sheet
from registry.renderings import gate as gates
from registry.renderings.sheet import Block, Lines
from registry.renderings.words import counted, said
from registry.results.aggregates import Aggregates
from registry.results.codec import from_document
from registry.results.comparison import Comparison, ModelComparison
from registry.results.ranking import Ranking
from results_registry import __version__
from results_registry.config import Config
from results_registry.http import API
from results_registry.origin import segment

MOST = 8_000
"""Bytes of an answer."""
_LISTED = 100
_SILENT = Screen(is_terminal=False, notes_are_seen=False, colour=False, width=120)
_ABOUT = """Evaluation results as grids: one metric over up to four axes, for one model on one benchmark. Begin with
find. A cell that nobody measured is missing, and not 0. Quote verdicts as they are: inconclusive, or a shared group,
says that the results do not separate the two, and not that they are equal. If experiment or metric is left out, the
only one is taken, or the choices are named."""
Names = list[str] | None


@click.command()
@waits
@asks_server
def mcp(session: Session, seconds: float) -> None:
    """Answer the questions of a language model, as tools of the Model Context Protocol.

    A client starts this command and talks to it over standard input and output. The tools find, table, ranking,
    compare, gate and check only read.
    """
    try:
        from mcp.server.mcpserver import MCPServer
        from mcp.types import ToolAnnotations
    except ImportError:
        raise NotInstalled("Tools of models need the SDK of MCP: pip install mcp.") from None
    server = MCPServer("results-registry", version=__version__, instructions=_ABOUT, log_level="WARNING")
    tools = Tools(session.config, seconds)
    for tool in (tools.find, tools.table, tools.ranking, tools.compare, tools.gate, tools.check):
        server.add_tool(tool, structured_output=False, annotations=ToolAnnotations(read_only_hint=True))
    server.run()


@dataclass(frozen=True)
class Tools:
    """The tools, each a method whose words describe it to a model; `project` is the one of the command if not given."""

    config: Config
    seconds: float

    def find(
        self,
        what: Literal["projects", "grids", "experiments", "benchmarks", "models", "variants", "metrics"] = "grids",
        words: str | None = None,
        experiment: str | None = None,
        metric: str | None = None,
        benchmarks: Names = None,
        models: Names = None,
        project: str | None = None,
    ) -> str:
        """List what there is: projects, grids with their ids, or the names in use, which other tools take as they are.

        words: only names that hold these words. The other arguments narrow to the grids that have these names.
        """
        narrowed = {"q": words, **_named(experiment, metric, benchmarks, models)}
        with self._asked(project) as session:
            path = "projects" if what == "projects" else session.in_project("grids")
            path = path if what in ("projects", "grids") else session.in_project(f"names/{what}")
            found = listed(session, what, {"q": words} if what == "projects" else narrowed, _LISTED)
            many = f"More than {_LISTED}" if len(found) > _LISTED else f"{len(found)}"
            where = "" if what == "projects" else f" in {session.project}"
            parts: list[Block] = [f"{many} {what if len(found) != 1 else what[:-1]}{where}."]
            parts += [table_of(what, found[:_LISTED])] if found else []
            return _bounded(sheet.markdown(parts), self._address(path, narrowed, ""))

    def table(
        self,
        experiment: str | None = None,
        metric: str | None = None,
        group_by: Names = None,
        benchmarks: Names = None,
        models: Names = None,
        at: Names = None,
        project: str | None = None,
    ) -> str:
        """Tabulate means, by default of models by benchmarks, over the slots that all entries have.

        group_by: what runs down, then across: model, variant, benchmark or axis:NAME. at: only these levels, such as
        Type=1 or Length>=64. It says what it leaves out. Which is better is a question for ranking.
        """
        by = {"group_by": group_by or ["model", "benchmark"]}
        with self._asked(project) as session:
            asked = self._scope(session, experiment, metric, benchmarks, models, at) | by
            told = awaited(session, session.in_project("aggregates"), "table", self.seconds, **asked)
            return self._told(session, "aggregates", asked, aggregates.page(from_document(Aggregates, told)))

    def ranking(
        self,
        experiment: str | None = None,
        metric: str | None = None,
        by: str = "model",
        benchmarks: Names = None,
        models: Names = None,
        at: Names = None,
        project: str | None = None,
    ) -> str:
        """Rank models, or with `by` variant, benchmark or axis:NAME, on the cells that both of each pair have.

        The rank range are the ranks that the tests leave open; the tests do not separate names that share a group. at:
        only these levels, such as Type=1 or Length>=64.
        """
        with self._asked(project) as session:
            asked = self._scope(session, experiment, metric, benchmarks, models, at) | {"by": by}
            told = awaited(session, session.in_project("rankings"), "ranking", self.seconds, **asked)
            parts = until(ranking.page(from_document(Ranking, told)), lambda part: part.level == 2)
            return self._told(session, "rankings", asked, parts)

    def compare(
        self,
        baseline: str,
        contender: str,
        experiment: str | None = None,
        metric: str | None = None,
        benchmarks: Names = None,
        at: Names = None,
        project: str | None = None,
    ) -> str:
        """Compare two models by name, or two grids by id: the contender less the baseline, on the cells that both have.

        It has the difference with its interval, and whether it is shown. at: only these levels, such as Type=1.
        """
        page: Iterable[Block]
        with self._asked(project) as session:
            if is_grid(baseline) and is_grid(contender):
                ids = [find_grid(session, one, _named(None, None)) for one in (baseline, contender)]
                asked = {"baseline": ids[0], "contender": ids[1], **parameters(at or ())}
            else:
                asked = self._scope(session, experiment, metric, benchmarks, None, at)
                asked |= {"baseline_model": baseline, "contender_model": contender}
            told = awaited(session, session.in_project("comparisons"), "comparison", self.seconds, **asked)
            if "baseline" in asked:
                page = until(comparison.page(from_document(Comparison, told)), lambda part: part.text == "Cells")
            else:
                page = comparison_of_models.page(from_document(ModelComparison, told))
            return self._told(session, "comparisons", asked, page)

    def gate(self, contender: str, baseline: str = "main", project: str | None = None) -> str:
        """Judge whether a model, or a grid by its id, may replace a baseline, by the policy that the baseline states.

        Only what is shown passes. inconclusive is no pass and no failure, and names the trials that would decide.
        """
        with self._asked(project) as session:
            case = judged(session, baseline, contender, None, self.seconds)
            path = session.in_project(f"baselines/{segment(baseline)}/gate")
            return _bounded(gates.text(case), self._address(path, {"contender": contender}))

    def check(self, claims: list[dict[str, Any]], project: str | None = None) -> str:
        """Judge sentences about results, written as claims: supported, contradicted, not_decidable or ill_posed.

        Each is a mapping with `about` and `kind`, such as {"about": {"experiment": "E", "metric": "accuracy",
        "benchmark": "B"}, "kind": "compare", "left": {"model": ["M"]}, "right": {"model": ["N"]}, "is": "higher",
        "strength": "noise"}. Other kinds: {"kind": "trend", "along": "Length", "goes": "down", "where": {"model":
        ["M"], "Type": [1]}}, {"kind": "value", "where": {"model": ["M"], "Length": [9]}, "is": {"op": ">=", "number":
        80}}, {"kind": "rank", "by": "model", "name": "M"}. Nothing is kept.
        """
        with self._asked(project) as session:
            path = session.in_project("claims")
            found = awaited(session, path, "judgements", self.seconds, body=claims, dry_run=True)["items"]
        verdicts = [str(one["verdict"]) for one in found]
        counts = ", ".join(f"{verdicts.count(one)} {said(one)}" for one in dict.fromkeys(verdicts))
        judgements = (
            " ".join([one["verdict"] + ":", one["sentence"], *(doubt["detail"] for doubt in one.get("warnings", ()))])
            for one in found
        )
        parts: list[Block] = [f"{counted(len(found), 'claim', 'claims')}: {counts}.", Lines(tuple(judgements))]
        return _bounded(sheet.markdown(parts), self._address(path, {}, ""))

    @contextmanager
    def _asked(self, project: str | None) -> Iterator[Session]:
        """A session of one question; what the registry refuses is an error of the tool."""
        from mcp.server.mcpserver.exceptions import ToolError

        config = self.config._replace(project=project or self.config.project)
        with closing(Session(config, _SILENT)) as session:
            try:
                yield session
            except USER_ERRORS as error:
                raise ToolError(advised(error, config)) from error
            except click.UsageError as error:
                raise ToolError(error.format_message()) from error

    def _scope(
        self, session: Session, experiment: str | None, metric: str | None, benchmarks: Names, models: Names, at: Names
    ) -> dict[str, Any]:
        named = _named(experiment, metric, benchmarks, models)
        return one_scope(session, named, "meant", "benchmark", "model") | parameters(at or ())

    def _told(self, session: Session, path: str, asked: Mapping[str, Any], parts: Iterable[Block]) -> str:
        """The page with its first sentence, which is the verdict, before its heading."""
        blocks = list(parts)
        first = next((one for one in blocks if isinstance(one, str)), None)
        blocks = blocks if first is None else [first, *(one for one in blocks if one is not first)]
        return _bounded(sheet.markdown(blocks), self._address(session.in_project(path), asked))

    def _address(self, path: str, asked: Mapping[str, Any], suffix: str = ".md") -> str:
        given = {name: value for name, value in asked.items() if value}
        return f"{self.config.url}{API}/{path}{suffix}" + (f"?{urlencode(given, doseq=True)}" if given else "")


def _named(experiment: str | None, metric: str | None, benchmarks: Names = None, models: Names = None) -> Named:
    one = {"experiment": [experiment] if experiment else [], "metric": [metric] if metric else []}
    return {kind: [] for kind in KINDS} | one | {"benchmark": benchmarks or [], "model": models or []}


def _bounded(text: str, address: str) -> str:
    """The text; of one over `MOST` bytes the first lines, with how many more there are, and the address of all."""
    whole, room = text.encode(), MOST - len(address.encode()) - 40
    if len(whole) <= MOST:
        return text
    kept = whole[: max(0, room)].decode(errors="ignore").rpartition("\n")[0]
    more = text.count("\n") - kept.count("\n") - 1
    return f"{kept}\n… and {more} more lines: {address}"[: MOST - 8] + "\n"
