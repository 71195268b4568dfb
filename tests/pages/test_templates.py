"""How templates are written."""

from __future__ import annotations

from pathlib import Path

from jinja2 import Environment

import registry.pages
from registry.pages.line_breaks import IndentedLinesContinue

TEMPLATES = sorted((Path(registry.pages.__file__).parent / "templates").glob("*.html"))


def test_an_indented_line_continues_the_line_before_it() -> None:
    environment = Environment(extensions=[IndentedLinesContinue], autoescape=True)
    template = "<ul>\n  {% for n in numbers %}\n    <li>{{ n }}</li>\n  {% endfor %}\n </ul>\nand\nmore"
    assert environment.from_string(template).render(numbers=[1, 2]) == "<ul><li>1</li><li>2</li></ul>\nand\nmore"


def test_no_template_has_endless_lines() -> None:
    longest = {path.name: max(map(len, path.read_text().splitlines())) for path in TEMPLATES}
    assert longest
    assert {name: length for name, length in longest.items() if length > 260} == {}
