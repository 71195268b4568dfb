"""Read names and levels of the axes, the metric and the identity from the prose that Markdown has around a heatmap.

Axes come from lists such as `* **X-axis:** Ratio, ranging from 0.1 to 0.5 with increments of 0.1.`, identities from
titles such as `Baseline - Core Generalization - Qwen-2.5 3B` (variant, benchmark, model) and `R1-Qwen | AIME'24`.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from registry.grids.intake.levels import read_number
from registry.importers.cell_text import plain_number
from registry.importers.imported_grid import Note, Place
from registry.importers.markup import Block
from registry.importers.scores import meaning_of

_KEYED = re.compile(r"\*\*(.+?):?\*\*\s*:?\s*(.*)")
_QUOTED = re.compile(r"[\"“`]([^\"“”`]+)[\"”`]")
_NUMBER = r"-?\d+(?:\.\d+)?"
_LISTED = re.compile(rf"values of ({_NUMBER}(?:,? (?:and )?{_NUMBER})*)")
_STEPPED = re.compile(rf"from ({_NUMBER}) to ({_NUMBER}),? (?:with|in) (?:increments|steps) of ({_NUMBER})")
_WHOLE = re.compile(r"from (-?\d+) to (-?\d+),? with tick marks at (?:each|every) integer")
_NUMBERED = re.compile(r"numbered (\d+) (?:through|to) (\d+)")
_ENDS = re.compile(r"rang(?:ing|es?) from (\d++(?:\.\d++)?\w*+) to (\d++(?:\.\d++)?\w*+)")
_NAMED_MODEL = re.compile(r"model (?:named|called|labeled) [\"“`]([^\"“”`]+)[\"”`]")
_KIND_OF_PICTURE = re.compile(
    r"^(?:heatmap|chart|figure|table|plot|panel)s?(?:\s+series)?(?:\s+\d+)?\s*:\s*", re.IGNORECASE
)
_UNIT = re.compile(r"\(([^()]+)\)$")
_MOST_LEVELS = 10_000


@dataclass(frozen=True, slots=True)
class DeclaredAxis:
    """An axis as the text declares it; `levels` are those that it names."""

    name: str
    kind: str | None
    levels: tuple[str, ...]
    place: Place

    def answers_to(self, name: str) -> bool:
        """Tell whether a shorter name means this axis: `Window` for `Local Window Size`."""
        full, short = self.name.casefold().split(), name.casefold().split()
        return bool(short) and any(full[at : at + len(short)] == short for at in range(len(full)))


def declared_axes(found: Iterable[Block]) -> list[DeclaredAxis]:
    """Axes of a document, that of the rows (y) before that of the columns (x)."""
    names: dict[str, tuple[str, str, Place]] = {}
    ticks: dict[str, tuple[str, ...]] = {}
    for block in found:
        match = _KEYED.fullmatch(block.text) if block.kind == "bullet" else None
        axis = match and next((one for one in "yx" if match[1].casefold().startswith(f"{one}-axis")), None)
        if not match or not axis:
            continue
        if "tick" in match[1].casefold():
            ticks[axis] = tuple(_QUOTED.findall(match[2]))
        elif axis not in names:
            names[axis] = (_name_of(match[2]), match[2], Place(block.line))
    axes: list[DeclaredAxis] = []
    for axis in "yx":
        if axis in names:
            name, rest, place = names[axis]
            axes.append(DeclaredAxis(name, _kind_of(rest), ticks.get(axis) or _levels_of(rest), place))
    return axes


def _kind_of(rest: str) -> str | None:
    """Kind of an axis. Categories are names even if they are numbered; a range between two numbers is a scale."""
    if "categor" in rest.casefold():
        return "nominal"
    ends = _ENDS.search(rest)
    return "numeric" if ends and all(read_number(end) is not None for end in ends.groups()) else None


def _name_of(rest: str) -> str:
    labelled = re.match(r"[Ll]abell?ed\s+", rest)
    quoted = _QUOTED.match(rest, labelled.end() if labelled else 0)
    return (quoted[1] if quoted else re.split(r"[,(.]", rest, maxsplit=1)[0]).strip(" .")


def _levels_of(rest: str) -> tuple[str, ...]:
    """Levels that a sentence names; none if it names only the two ends of a plain scale."""
    if match := _LISTED.search(rest):
        return tuple(re.findall(_NUMBER, match[1]))
    if match := _STEPPED.search(rest):
        return _steps(*match.groups())
    if match := _WHOLE.search(rest) or _NUMBERED.search(rest):
        return _steps(match[1], match[2], "1")
    match = _ENDS.search(rest)
    if match and any(plain_number(end) is None and read_number(end) is not None for end in match.groups()):
        return match[1], match[2]
    return ()


def _steps(first: str, last: str, step: str) -> tuple[str, ...]:
    low, high, by = Decimal(first), Decimal(last), Decimal(step)
    if by <= 0 or high < low or (high - low) / by > _MOST_LEVELS:
        return ()
    return tuple(f"{low + by * place:f}" for place in range(int((high - low) / by) + 1))


def levels_in_text(axis: DeclaredAxis, text: str) -> tuple[str, ...]:
    """Levels of a declared axis and those named anywhere between them: 1.5b between 0.5b and 32b."""
    numbers = [read_number(level) for level in axis.levels]
    suffixes = {re.sub(r"[\d.]", "", level) for level in axis.levels}
    if len(axis.levels) != 2 or len(suffixes) != 1 or suffixes == {""} or None in numbers:
        return axis.levels
    low, high = sorted(number for number in numbers if number is not None)
    met = re.findall(rf"\b\d+(?:\.\d+)?{re.escape(suffixes.pop())}\b", text)
    between = {one: number for one in met if (number := read_number(one)) is not None and low <= number <= high}
    return tuple(sorted({*between, *axis.levels}, key=lambda one: read_number(one) or 0.0))


def metric_named(found: Sequence[Block], text: str) -> dict[str, str]:
    """Name and unit of the metric, if the text gives them: a legend, a name in quotes, a known word."""
    candidates: list[str] = []
    for block in found:
        match = _KEYED.fullmatch(block.text) if block.kind == "bullet" else None
        if match and any(word in match[1].casefold() for word in ("metric", "color", "colour", "legend")):
            candidates += [*_QUOTED.findall(match[2]), match[2].split(",")[0]]
    candidates += _QUOTED.findall(text)
    for candidate in candidates:
        match = _UNIT.search(candidate.strip())
        name = match.string[: match.start()].rstrip() if match else candidate.strip(" .")
        unit = match[1] if match else None
        if meaning_of(name):
            return {"metric": _spelt(name)} | ({"unit": unit} if unit else {})
    for match in re.finditer(r"[A-Za-z][\w@-]*", text):
        if meaning_of(match[0]):
            unit = "%" if re.match(r"\W*\(?(?:in |%|percent)", text[match.end() :]) else None
            return {"metric": _spelt(match[0])} | ({"unit": unit} if unit else {})
    return {}


def _spelt(name: str) -> str:
    """An ordinary word in lower case (`Accuracy`), a name as it is (`Pass@1`)."""
    return name.casefold() if name.isalpha() and name.istitle() else name


def models_named(text: str) -> dict[str, int]:
    """Names that a text gives to models, as in `a model named "R1-Qwen"`, each with its position among them."""
    return {name: place for place, name in enumerate(dict.fromkeys(_NAMED_MODEL.findall(text)))}


def named_by(title: str, known: Mapping[str, int]) -> tuple[dict[str, str], str | None]:
    """Identity in a title, and how it was read; nothing if the title is only words. `known` are names of models."""
    bare = _KIND_OF_PICTURE.sub("", title).strip(" :")
    parts = [part.strip() for part in bare.split(" | ")]
    if len(parts) == 2:
        return {"model": parts[0], "benchmark": parts[1]}, f'"{bare}" was read as model | benchmark'
    parts = [part.strip() for part in bare.split(" - ")]
    models = sorted({part for part in parts if part in known}, key=known.__getitem__)
    if len(parts) == 3 and (not models or models[0] == parts[2]):
        names = dict(zip(("variant", "benchmark", "model"), parts, strict=True))
        return names, f'"{bare}" was read as variant - benchmark - model'
    if len(parts) == 2 and models:
        other = parts[0] if models[0] == parts[1] else parts[1]
        return {"model": models[0], "benchmark": other}, f'"{bare}" was read as the model "{models[0]}" on "{other}"'
    return {}, None


def experiment_of(axes: Sequence[str]) -> tuple[str, Note]:
    """Name for an experiment without one: the axes that its grids share."""
    words = [re.sub(r"[^\w]+", "-", axis.casefold()).strip("-") for axis in axes]
    name = "-by-".join(words) or "scores"
    return name, Note("experiment_named", f'nothing names the experiment: it is called "{name}" after its axes')


def keyed(block: Block) -> tuple[str, str] | None:
    """`**Key:** rest` of a bullet."""
    match = _KEYED.fullmatch(block.text) if block.kind == "bullet" else None
    return (match[1].strip(), match[2].strip()) if match else None
