"""A rule for templates: an indented line continues the line before it.

    <tr>
      <td>{{ name }}</td>
    </tr>

is sent as one line, `<tr><td>…</td></tr>`: pages of thousands of cells hold no indentation. A line break that is meant,
as between two words, is followed by a line without indentation.
"""

from __future__ import annotations

import re

from jinja2.ext import Extension


class IndentedLinesContinue(Extension):
    """Takes line breaks that are followed by indentation out of every template."""

    def preprocess(self, source: str, name: str | None, filename: str | None = None) -> str:
        return re.sub(r"\n[ ]+", "", source)
