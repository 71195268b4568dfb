"""The words of the statistics, as the API's reference defines them, and where a page explains them.

A word that is explained is a button that opens its explanation (HTML's `popover`): by touch and keyboard, without a
script. The explanations stand once, at the end of the page.
"""

import re
import tomllib
from functools import cache
from importlib.resources import files

from flask import g
from markupsafe import Markup, escape

_WORDS = {
    "adjusted": "adjusted mean",
    "as posted contradicted, beyond noise supported": "beyond noise",
    "contradicted as posted": "as posted",
    "contradicted beyond noise": "beyond noise",
    "change": "change (fitted)",
    "could show": "detectable, could show",
    "could show (Holm)": "detectable, could show",
    "holes": "coverage",
    "Holm p": "Holm",
    "interval": "interval",
    "lead": "wins, ties, losses",
    "one benchmark less": "rank range",
    "P(best)": "probability of being best",
    "picked, interval": "picked",
    "points": "series",
    "policy": "missing",
    "score": "pool",
    "gets worse": "gets worse",
    "slots": "slot",
    "supported as posted": "as posted",
    "supported beyond noise": "beyond noise",
    "trend p": "p",
    "wins": "wins, ties, losses",
}
_WORDS |= {
    one: one
    for one in (
        "as posted", "beyond noise", "block", "component", "contradicted", "direction", "group", "ill-posed", "missing",
        "not decidable", "picked", "q", "rank range", "sharp", "slope", "supported", "tau", "variance ratio",
    )
}  # fmt: skip
"""Words of tables and notes, and the terms that explain them."""
_SAID = ("adjusted", "could show", "group", "picked", "rank range", "score")
"""Words whose notes say what their terms do."""
_BEFORE_COLON = re.compile("|".join(f"{re.escape(word)}(?=:)" for word in sorted(_WORDS, key=len, reverse=True)))


@cache
def glossary() -> dict[str, str]:
    """Term to definition, in alphabetical order."""
    return tomllib.loads(files(__package__).joinpath("templates/glossary.toml").read_text(encoding="utf-8"))


def identifier(term: str) -> str:
    """The id of a term in a page: `word-rank-range`."""
    return "word-" + re.sub(r"[,()]", "", term).replace(" ", "-").lower()


def explained(text: str) -> Markup:
    """The text of a table's head, or of a note `word: what it is`, with the word opening its explanation; once in the
    head of each table."""
    found = text if text in _WORDS else None
    if found is None and (start := _BEFORE_COLON.match(text)):
        found = start.group()
    term = _WORDS.get(found or "")
    if found is None or term not in glossary():
        return escape(text)
    g.setdefault("explained", {})[term] = None
    button = Markup('<button type="button" class="term" popovertarget="{}">{}</button>')
    return button.format(identifier(term), found) + escape(text[len(found) :])


def repeats(note: str) -> bool:
    """Whether a note says again what a head of this page opens: it is for paper, where nothing opens."""
    word = note.partition(":")[0]
    return word in _SAID and _WORDS[word] in g.get("explained", {})


def explanations() -> list[tuple[str, str, str]]:
    """The id, the term and the meaning of what this page has explained so far."""
    return [(identifier(term), term, glossary()[term]) for term in g.get("explained", {})]
