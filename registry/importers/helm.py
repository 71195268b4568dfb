"""HELM: `stats.json` with the `run_spec.json` beside it.

Benchmark: the run's name without its model. Model: `adapter_spec.model`. Axes: `split` and `perturbation`, always both.
Values: the means. `stats.json` aggregates over training trials, of which there is mostly one, so its standard deviation
tells nothing about the samples and is not taken; `num_instances` becomes the label `n`. Direction and bounds: HELM's
own list of metrics (`schema_classic.yaml`, `lower_is_better`). HELM's secondary counts (tokens, runtimes, reasons to
finish) and metrics missing from its list are skipped, with a note; `--only` takes any of them. Protocol: scenario,
adapter and annotators of the run's specification; `shots` is `max_train_instances`, `prompt` the texts of the adapter.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping
from typing import Any

from registry.errors import Malformed
from registry.importers.imported_grid import ImportedGrid, Note, Overrides
from registry.importers.metrics import bounded
from registry.importers.protocols import protocol_of
from registry.importers.scores import found_number, left_out, listed, mapping, over, put, text, unknown_direction
from registry.importers.source import Source

NAME = "helm"
EXPERIMENT = "helm"
_SHARES = """exact_match quasi_exact_match prefix_exact_match quasi_prefix_exact_match f1_score f1_set_match
classification_macro_f1 classification_micro_f1 math_equiv math_equiv_chain_of_thought exact_match_indicator
final_number_exact_match exact_set_match iou_set_match NDCG@10 NDCG@20 RR@10 RR@20 rouge_1 rouge_2 rouge_l bleu_1 bleu_4
code_eval_acc pass test_avg strict_acc""".split()  # noqa: SIM905 (a list of words is read as one)
_HIGHER = """logprob logprob_per_byte percent_valid summac QAFactEval BERTScore-P BERTScore-R BERTScore-F edit_distance
HumanEval-faithfulness HumanEval-relevance HumanEval-coherence""".split()  # noqa: SIM905
_LOWER = """bits_per_byte perplexity absolute_value_difference distance longest_common_prefix_length edit_similarity
bbq_metric_ambiguous_bias bbq_metric_unambiguous_bias expected_max_toxicity max_toxicity_probability
toxic_frac ece_1_bin ece_10_bin""".split()  # noqa: SIM905
_ADAPTER = ("method", "temperature", "num_outputs", "max_tokens", "stop_sequences", "num_train_trials", "num_trials",
            "max_eval_instances", "sample_train", "multi_label", "eval_splits", "model_deployment")  # fmt: skip
_PROMPT = ("global_prefix", "global_suffix", "instructions", "input_prefix", "input_suffix", "reference_prefix",
           "reference_suffix", "output_prefix", "output_suffix", "instance_prefix", "substitutions")  # fmt: skip
_AT_K = re.compile(r"@\d+$")


def looks_like(source: Source) -> bool:
    file = source.document
    first = file[0] if isinstance(file, list) and file else None
    return isinstance(first, Mapping) and isinstance(first.get("name"), Mapping) and {"count", "sum"} <= first.keys()


def read(source: Source, wanted: Overrides) -> Iterator[ImportedGrid]:
    """One grid for each metric."""
    spec = source.beside("run_spec.json")
    if spec is None and (wanted.model is None or wanted.benchmark is None):
        raise Malformed("No run_spec.json lies beside it to name model and benchmark: say --model and --benchmark.")
    names = _names(mapping(spec.json, "")) if spec is not None else {"experiment": EXPERIMENT, "variant": ""}
    protocol = _protocol(mapping(spec.json, "")) if spec is not None else {}
    suite = next(itertools.islice(source.folders(), 1, None), "")
    values: dict[str, dict[tuple[str, ...], float]] = {}
    skipped: list[str] = []
    twice: list[Note] = []
    labels: dict[str, str] = {}
    for place, given in enumerate(listed(source.json, "")):
        stat = mapping(given, f"/{place}")
        metric = mapping(stat.get("name"), f"/{place}/name")
        name, mean = text(metric.get("name")), found_number(stat.get("mean"))
        perturbation = metric.get("perturbation")
        at = (_split(metric), text(perturbation.get("name")) if isinstance(perturbation, Mapping) else "none")
        if name == "num_instances" and mean is not None and at[1] == "none":
            labels["n"] = f"{mean:g}"
        if mean is not None and wanted.takes(name, _known(name) is not None):
            put(values, name, at, mean, twice)
        else:
            skipped.append(name)
    notes = twice + left_out(skipped, "not among HELM's metrics, or without a mean; --only NAME takes it")
    for name, cells in values.items():
        metric, more = bounded(_known(name) or {"name": name}, list(cells.values()))
        direction_note = [] if "direction" in metric else [unknown_direction(name)]
        sent = {**names, "metric": metric, **over(("split", "perturbation"), cells), "labels": labels, **protocol}
        yield wanted.applied(ImportedGrid(sent, (*notes, *more, *direction_note), edition=suite))


def _known(name: str) -> dict[str, Any] | None:
    """A metric of HELM's list; `exact_match@5` is one of five completions."""
    bare = name if name in _SHARES else _AT_K.sub("", name)
    if bare in _SHARES:
        return {"name": name, "direction": "higher", "lower": 0.0, "upper": 1.0}
    if bare in _HIGHER:
        return {"name": name, "direction": "higher"}
    if bare in _LOWER or name.startswith("bias_metric:"):
        return {"name": name, "direction": "lower"}
    return None


def _split(metric: Mapping[str, Any]) -> str:
    split, sub = text(metric.get("split"), "all"), metric.get("sub_split")
    return f"{split}/{sub}" if isinstance(sub, str) and sub else split


def _names(spec: Mapping[str, Any]) -> dict[str, str]:
    adapter = spec.get("adapter_spec")
    model = text(adapter.get("model")) if isinstance(adapter, Mapping) else ""
    head, _, rest = text(spec.get("name")).partition(":")
    kept = [part for part in rest.split(",") if part and not part.startswith(("model=", "model_deployment="))]
    benchmark = head + (":" + ",".join(kept) if kept else "")
    names = {"experiment": EXPERIMENT, "benchmark": benchmark, "model": model, "variant": ""}
    return {name: given for name, given in names.items() if given or name == "variant"}


def _protocol(spec: Mapping[str, Any]) -> dict[str, Any]:
    scenario, adapter = (
        found if isinstance(found := spec.get(name), Mapping) else {} for name in ("scenario_spec", "adapter_spec")
    )
    return protocol_of(
        {
            "harness": NAME,
            "scenario": scenario.get("class_name"),
            "scenario_args": scenario.get("args"),
            "shots": adapter.get("max_train_instances"),
            **{name: adapter.get(name) for name in _ADAPTER},
            "prompt": {name: adapter[name] for name in _PROMPT if name in adapter},
            "annotators": spec.get("annotators"),
        }
    )
