"""Published boards, made again from what was imported: `python -m bench.boards timm=results evalplus=results.json
mteb=results`.

timm publishes beside each result how far it is from the clean validation, in both metrics and in places; EvalPlus sorts
its four boards in the browser. Both are computed from the grids that the shipped mappings read, and timm's compared
with the published columns, read by Python's csv; docs/importing.md says what the counts mean. MTEB(eng, v1) is ordered
by Borda counts: each task gives a model as many points as there are models less its average rank, and none where it has
no score (mteb 1.38.0 names the tasks, and their splits and languages). Nothing is sent.
"""

import csv
import itertools
import json
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import rankdata

from registry.importers.mapping_file import read_mapping
from registry.importers.reading import Item, Sources, items_of
from workers.statistics.board import rank_board
from workers.statistics.score_matrix import ScoreMatrix

_CLEAN = {"imagenet-real": "imagenet", "imagenetv2-matched-frequency": "imagenet", "sketch": "imagenet"} | {
    name: f"{name}-clean" for name in ("imagenet-a", "imagenet-r")
}

_TASKS = re.findall(
    r"\S+",
    """
    AmazonCounterfactualClassification AmazonPolarityClassification AmazonReviewsClassification ArguAna
    ArxivClusteringP2P ArxivClusteringS2S AskUbuntuDupQuestions BIOSSES Banking77Classification BiorxivClusteringP2P
    BiorxivClusteringS2S CQADupstackRetrieval ClimateFEVER DBPedia EmotionClassification FEVER FiQA2018 HotpotQA
    ImdbClassification MSMARCO MTOPDomainClassification MTOPIntentClassification MassiveIntentClassification
    MassiveScenarioClassification MedrxivClusteringP2P MedrxivClusteringS2S MindSmallReranking NFCorpus NQ
    QuoraRetrieval RedditClustering RedditClusteringP2P SCIDOCS SICK-R STS12 STS13 STS14 STS15 STS16 STS17 STS22
    STSBenchmark SciDocsRR SciFact SprintDuplicateQuestions StackExchangeClustering StackExchangeClusteringP2P
    StackOverflowDupQuestions SummEval TRECCOVID Touche2020 ToxicConversationsClassification
    TweetSentimentExtractionClassification TwentyNewsgroupsClustering TwitterSemEval2015 TwitterURLCorpus
""",
)
_SUBSETS = {"STS17": "en-en"} | dict.fromkeys(
    [name for name in _TASKS if name.startswith(("AmazonC", "AmazonR", "MTOP", "Massive", "STS22"))], "en"
)

Key = tuple[str, str]
"""A model, and the size of its images if its values have axes."""


def imported(name: str, path: Path) -> dict[tuple[str, str], dict[Key, float]]:
    """The values that the mapping reads, by benchmark and metric."""
    found: dict[tuple[str, str], dict[Key, float]] = {}
    for one in items_of(replace(read_mapping(name), names=(str(path),))):
        if isinstance(one, Item):
            sent = one.found.submission
            board = found.setdefault((sent["benchmark"], sent["metric"]["name"]), {})
            for at, value in _cells(sent):
                board[sent["model"], str(at.get("img_size", ""))] = value
    return found


def _cells(sent: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], float]]:
    """The measured cells of a grid, with their coordinates."""
    if "cells" in sent:
        yield from ((cell["at"], cell["value"]) for cell in sent["cells"])
        return
    for levels in itertools.product(*(enumerate(axis["levels"]) for axis in sent["axes"])):
        value = sent["values"]
        for place, _ in levels:
            value = value[place]
        if value is not None:
            yield {axis["name"]: level for axis, (_, level) in zip(sent["axes"], levels, strict=True)}, value


def places(top1: Mapping[Key, float], top5: Mapping[Key, float]) -> dict[Key, int]:
    """By top1, then top5, then the name, as timm sorts."""
    return {key: place for place, key in enumerate(sorted(top1, key=lambda key: (-top1[key], -top5[key], key[0])))}


def ties(top1: Mapping[Key, float]) -> dict[Key, tuple[int, int]]:
    """The first and the last place that a model may have, by top1 alone: what was rounded may stand in any order."""
    order = sorted(top1.values(), reverse=True)
    first = {value: place for place, value in reversed(list(enumerate(order)))}
    last = {value: place for place, value in enumerate(order)}
    return {key: (first[value], last[value]) for key, value in top1.items()}


def timm(folder: Path) -> None:
    """Print, for each board, how many of its rows have the published differences: equal, and as rounding allows."""
    found = imported("timm", folder)
    for board, clean in _CLEAN.items():
        top1, top5, of1, of5 = (found[name, metric] for name in (board, clean) for metric in ("top1", "top5"))
        here, there = places(top1, top5), places(of1, of5)
        tied, clean_tied = ties(top1), ties(of1)
        with (folder / f"results-{board}.csv").open(newline="", encoding="utf-8") as opened:
            rows = {(row["model"], row["img_size"]): row for row in csv.DictReader(opened)}
        order = sum(here[key] == place for place, key in enumerate(rows))
        told = {key: row for key, row in rows.items() if key in of1}
        blank = sum(not row["rank_diff"] for key, row in rows.items() if key not in of1)
        peers: dict[float, list[Key]] = {}
        for key, value in of1.items():
            peers.setdefault(value, []).append(key)
        counts: list[str] = []
        for name, ours, base in (("top1_diff", top1, of1), ("top5_diff", top5, of5)):
            apart = [abs(round(1000 * (ours[key] - base[key] - float(row[name])))) for key, row in told.items()]
            counts.append(f"{apart.count(0):,}, {sum(one <= 1 for one in apart):,}")
        mixed = sum(
            any(abs(round(1000 * (top5[key] - of5[other] - float(row["top5_diff"])))) <= 1 for other in peers[of1[key]])
            for key, row in told.items()
        )
        counts[-1] += f", {mixed:,}"
        equal = sum(there[key] - here[key] == int(row["rank_diff"]) for key, row in told.items())
        near = sum(
            clean_tied[key][0] - tied[key][1] <= int(row["rank_diff"]) <= clean_tied[key][1] - tied[key][0]
            for key, row in told.items()
        )
        shown = " | ".join([*counts, f"{equal:,}, {near:,}"])
        print(f"| timm {board} | {len(rows):,} | {order:,} | {len(rows) - len(told)}, {blank} | {shown} |", flush=True)


def evalplus(file: Path) -> None:
    """Print, for each board, how many of its rows are at the place that the page's own sort gives them."""
    models = json.loads(file.read_text(encoding="utf-8"))
    for (board, _), values in imported("evalplus", file).items():
        page = sorted(
            ((name, one["pass@1"][board]) for name, one in models.items() if one["pass@1"].get(board) is not None),
            key=lambda row: -row[1],
        )
        ours = sorted(((model, value) for (model, _), value in values.items()), key=lambda row: -row[1])
        print(
            f"| EvalPlus {board} | {len(page):,} | {sum(a == b for a, b in zip(ours, page, strict=True)):,} | | | | |"
        )


def mteb(folder: Path) -> None:
    """Print how many models of MTEB(eng, v1) have the place that its formula gives them by the files themselves."""
    at = {task: ("dev" if task == "MSMARCO" else "test", _SUBSETS.get(task, "default")) for task in _TASKS}
    files = {path: task for task in _TASKS for path in sorted(folder.glob(f"*/*/{task}.json"))}
    ours: dict[tuple[str, str], float] = {}
    for one in items_of(Sources(names=tuple(map(str, files)), form="mteb")):
        if isinstance(one, Item):
            sent = one.found.submission
            wanted = at[sent["benchmark"]]
            for cell, value in _cells(sent):
                if (cell["split"], cell["subset"]) == wanted:
                    ours[sent["model"], sent["benchmark"]] = value
    names = sorted({model for model, _ in ours})
    table = np.array([[ours.get((name, task), np.nan) for task in _TASKS] for name in names])
    standings = ScoreMatrix(tuple(names), table, np.arange(len(_TASKS)), tuple(_TASKS), direction="higher")
    found = {row.name: row.rank for row in rank_board(standings, "borda", "zero_points", 0.05, "rerun").ranking}
    theirs: dict[str, dict[str, float]] = {task: {} for task in _TASKS}
    for path, task in files.items():
        meta, (split, subset) = path.with_name("model_meta.json"), at[task]
        name = json.loads(meta.read_text(encoding="utf-8")).get("name") if meta.exists() else None
        for entry in json.loads(path.read_text(encoding="utf-8")).get("scores", {}).get(split, ()):
            if entry.get("hf_subset", "default") == subset and entry.get("main_score") is not None:
                theirs[task][name or path.parts[-3].replace("__", "/", 1)] = entry["main_score"]
    points = dict.fromkeys({name for each in theirs.values() for name in each}, 0.0)
    for each in theirs.values():
        for name, rank in zip(each, rankdata([-score for score in each.values()]), strict=True):
            points[name] += len(points) - rank
    places = dict(zip(points, rankdata([-one for one in points.values()], "min").tolist(), strict=True))
    equal = sum(found.get(name) == place for name, place in places.items())
    print(f"| MTEB(eng, v1) | {len(places):,} | {equal:,} | | | | |", flush=True)


def main() -> None:
    """Print the table."""
    print("| board | rows | same place | not in clean, blank | top1_diff | top5_diff | rank_diff |")
    print("|---|---|---|---|---|---|---|")
    for given in sys.argv[1:]:
        name, _, path = given.partition("=")
        {"timm": timm, "evalplus": evalplus, "mteb": mteb}[name](Path(path))


if __name__ == "__main__":
    main()
