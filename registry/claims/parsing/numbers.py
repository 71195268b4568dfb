"""Numbers as sentences print them: "99.3%", "over 10 points", "the low 80s", "between 97.7% and 100.0%"."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from registry.claims.dictionary import BARE, PRINTED, ROUNDED, Reading, decade, entries_by_word
from registry.claims.parsing.tokens import Token

_OPS: Mapping[str, str] = {
    "over": ">", "above": ">", "more than": ">", "greater than": ">", "higher than": ">", "exceeding": ">", ">": ">",
    "exceeds": ">", "exceed": ">", "at least": ">=", "no less than": ">=", ">=": ">=", "> =": ">=", "below": "<",
    "under": "<", "less than": "<", "lower than": "<", "fewer than": "<", "<": "<", "at most": "<=",
    "no more than": "<=", "up to": "<=", "<=": "<=", "< =": "<=", "exactly": "=", "=": "=", "beyond": ">",
}  # fmt: skip
_ABOUT = {word: entry for word, entry in entries_by_word() if entry.use == "number"}
_UNITS = {"%": "%", "percent": "%", "points": "points", "point": "points", "pp": "points", "pts": "points",
          "x": "factor", "times": "factor"}  # fmt: skip
_PARTS = {"low": "low", "lower": "low", "mid": "mid", "middle": "mid", "high": "high", "upper": "high"}


@dataclass(frozen=True, slots=True)
class Said:
    """A number as it was said. `form`: one number, the ends of a range (`range`: with a dash or "to"), or `between`
    them; `unit`: "", %, points or factor."""

    form: Literal["one", "range", "between"]
    low: float
    high: float
    decimals: int
    op: str = "="
    unit: str = ""
    readings: tuple[Reading, ...] = ()

    def document(self, unit: str = "points") -> dict[str, Any]:
        """As a claim has it."""
        more = {} if unit == "points" else {"unit": unit}
        if self.form != "one":
            return {"between": [self.low, self.high], "decimals": self.decimals, **more}
        if self.op in ("=", "about"):
            named = {"about": self.low} if self.op == "about" else {"op": "=", "number": self.low}
            return {**named, "decimals": self.decimals, **more}
        return {"op": self.op, "number": self.low, **more}


def number_at(tokens: Sequence[Token], place: int) -> tuple[Said, int] | None:
    """The number that begins at a token, and the token after it."""
    start = place
    op, place = _words_at(tokens, place, _OPS)
    about, place = _words_at(tokens, place, _ABOUT)
    if _word(tokens, place) == "the" and decade_at(tokens, place + 1):
        place += 1
    between = op is None and about is None and _word(tokens, place) == "between"
    found = _plain_at(tokens, place + between)
    if found is None:
        return None
    said, end = found
    if said.form == "one" and op is None and about is None:
        said, end = _ranged(tokens, start, said, end, between=between)
        if between and said.form == "one":
            return None
    elif said.form != "one" and (op or about):
        return None
    if about is not None:
        said = _about(said, op, _text(tokens, start, end), about.read_as)
    elif op is not None:
        said = _with(said, op=op)
    return (_with_reading(said, _text(tokens, start, end)), end)


def _about(said: Said, op: str | None, phrase: str, read_as: str) -> Said:
    """ "about 96", and "above about 96": above what may be about 96."""
    half = 0.5 / 10**said.decimals
    if op in (None, "="):
        return _with(said, op="about", readings=(Reading(phrase, read_as),))
    moved = round(said.low + (half if op in ("<", "<=") else -half), said.decimals + 1)
    return _with(said, low=moved, high=moved, op=op, readings=(Reading(phrase, f"{op} {moved:g}: {read_as}"),))


def _with(said: Said, **more: Any) -> Said:
    old = {name: getattr(said, name) for name in ("form", "low", "high", "decimals", "op", "unit", "readings")}
    return Said(**{**old, **more})


def _with_reading(said: Said, phrase: str) -> Said:
    if said.readings:
        return said
    if said.form != "one":
        half = 0.5 / 10**said.decimals
        low, high = (round(end, said.decimals + 1) for end in (said.low - half, said.high + half))
        rounded = f"rounding [{low:g}, {high:g}]: {ROUNDED}"
        return _with(
            said, readings=(Reading(phrase, rounded), Reading(phrase, f"bare [{said.low:g}, {said.high:g}]: {BARE}"))
        )
    return _with(said, readings=(Reading(phrase, PRINTED),)) if said.op == "=" else said


def _ranged(tokens: Sequence[Token], start: int, first: Said, end: int, *, between: bool) -> tuple[Said, int]:
    """The range that a number begins, or the number itself."""
    joint = _word(tokens, end)
    after_from = start > 0 and _word(tokens, start - 1) == "from"
    if not ((between and joint in ("and", "-")) or (not between and not after_from and joint in ("-", "to"))):
        return first, end
    found = _plain_at(tokens, end + 1)
    if found is None or found[0].form != "one" or found[0].low < first.low or found[0].low < 0:
        return first, end
    second, last = found
    if first.unit and second.unit and first.unit != second.unit:
        return first, end
    decimals = max(first.decimals, second.decimals)
    form: Any = "between" if between or _word(tokens, last) == "range" else "range"
    return Said(form, first.low, second.low, decimals, unit=second.unit or first.unit), last


def _plain_at(tokens: Sequence[Token], place: int) -> tuple[Said, int] | None:
    """A number or a decade with its unit."""
    found = decade_at(tokens, place)
    if found is not None:
        return found
    sign = 1
    if _word(tokens, place) == "-" and place + 1 < len(tokens) and _begins(tokens, place):
        sign, place = -1, place + 1
    if place >= len(tokens):
        return None
    text = tokens[place].text
    unit = "factor" if text[-1:] in "xX" and len(text) > 1 else ""
    digits = text[:-1] if unit else text
    if not (digits.isascii() and digits.replace(".", "", 1).isdigit()) or len(digits) > 15:
        return None
    value = sign * float(digits)
    end = place + 1
    if not unit:
        unit, end = _unit_at(tokens, end)
    return Said("one", value, value, len(digits.partition(".")[2]), unit=unit), end


def _begins(tokens: Sequence[Token], place: int) -> bool:
    """Whether a dash is the sign of a number: nothing stands close before it, and the number close behind."""
    close = place > 0 and tokens[place - 1].end == tokens[place].start and tokens[place - 1].text not in "(["
    return not close and tokens[place].end == tokens[place + 1].start


def _unit_at(tokens: Sequence[Token], place: int) -> tuple[str, int]:
    if _word(tokens, place) in ("percentage", "accuracy") and _word(tokens, place + 1) in ("points", "point"):
        return "points", place + 2
    if _word(tokens, place) == "-" and _word(tokens, place + 1) in ("point", "points"):
        return "points", place + 2
    unit = _UNITS.get(_word(tokens, place), "")
    if unit == "%" and _word(tokens, place + 1) in ("points", "point"):
        return "points", place + 2
    return unit, place + (1 if unit else 0)


def decade_at(tokens: Sequence[Token], place: int) -> tuple[Said, int] | None:
    """ "low 80s", "mid-80s", "80s": a range, with what it was read as."""
    start = place
    part = _PARTS.get(_word(tokens, place), "")
    if part:
        place += 1
        if _word(tokens, place) in ("-", "to"):
            place += 1
    text = _word(tokens, place)
    if text == "-" or len(text) != 3 or text[1:] != "0s" or text[0] not in "123456789":
        return None
    low, high = decade(part, float(text[:2]))
    said = Said(
        "between", low, high, 1, readings=(Reading(_text([*tokens], start, place + 1), f"[{low:g}, {high:g}]"),)
    )
    return said, place + 1


def _words_at(tokens: Sequence[Token], place: int, known: Mapping[str, Any]) -> tuple[Any, int]:
    for length in (3, 2, 1):
        said = " ".join(token.word for token in tokens[place : place + length])
        if len(tokens) - place >= length and said in known:
            return known[said], place + length
    return None, place


def _word(tokens: Sequence[Token], place: int) -> str:
    return tokens[place].word if 0 <= place < len(tokens) else ""


def _text(tokens: Sequence[Token], start: int, end: int) -> str:
    """The tokens as they stand, with single blanks where some were."""
    said = ""
    for place in range(start, end):
        apart = place > start and tokens[place].start > tokens[place - 1].end
        said += (" " if apart else "") + tokens[place].text
    return said
