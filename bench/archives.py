"""What comes in of archives that others published: `python -m bench.archives NAME=PATH …`, a row each.

NAME is a format, a shipped mapping (`timm`, `helm`, `mteb` …) or the file of one, PATH a folder or file of a snapshot.
Nothing is sent. Every value that was read is looked for among the numbers that stand in the text of the files: that
needs no reader of ours; a gap has none to look for. The rows are those of the table in docs/importing.md.
"""

import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from zipfile import ZipFile, is_zipfile

from registry.importers import formats
from registry.importers.mapping_file import names, read_mapping
from registry.importers.reading import Skipped, Sources, items_of

_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3})")


def values_of(node: Any) -> Iterator[float]:
    """All numbers in nested lists."""
    if isinstance(node, list):
        for one in node:
            yield from values_of(one)
    elif isinstance(node, int | float):
        yield float(node)


def numbers_in(path: Path) -> set[float]:
    """All numbers that stand in the text of a file."""
    if is_zipfile(path):  # a log of Inspect
        with ZipFile(path) as held:
            text = " ".join(held.read(one).decode(errors="replace") for one in held.namelist())
    else:
        text = path.read_text(encoding="utf-8", errors="replace")
    return {float(one) for one in _NUMBER.findall(text)} | {
        float(one) for one in _NUMBER.findall(_THOUSANDS.sub("", text))
    }


def row(name: str, path: Path) -> str:
    """The row of one archive."""
    mapped = replace(
        read_mapping(name) if name in names() or name.endswith(".toml") else Sources(form=name), names=(str(path),)
    )
    files = list(formats.files_of([path], mapped.left_out, mapped.files))
    refused: Counter[str] = Counter()
    at_fault: set[str] = set()
    found, grids, values = set[float](), 0, []
    for one in items_of(mapped):
        if isinstance(one, Skipped):
            at_fault |= {one.source, *one.files}
            refused.update(re.sub(r'"[^"]*"|\d+', "…", str(fault.detail))[:80] for fault in one.faults())
            continue
        grids += 1
        sent = one.found.submission
        values += [*values_of(sent.get("values")), *values_of([cell["value"] for cell in sent.get("cells", ())])]
    for file in files:
        found |= numbers_in(file)
    equal = sum(value in found for value in values)
    reasons = "; ".join(f"{count} × {reason}" for reason, count in refused.most_common(3))
    refusals = len(at_fault & set(map(str, files)))
    counts = f"{len(files):,} | {len(files) - refusals:,} | {refusals:,} {reasons}"
    return f"| {name} | {counts} | {grids:,} | {equal:,} of {len(values):,} |"


def main() -> None:
    """Print the table."""
    print("| archive | files | in | refused | grids | numbers that stand in the files |\n|---|---|---|---|---|---|")
    for given in sys.argv[1:]:
        name, _, path = given.partition("=")
        print(row(name, Path(path)), flush=True)


if __name__ == "__main__":
    main()
