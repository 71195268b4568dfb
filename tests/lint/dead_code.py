"""Dead code as vulture finds it, without what is used where vulture does not look.

    python -m tests.lint.dead_code

prints each finding and fails when there is one.
"""

import ast
import re
import sys
from collections.abc import Iterator

from vulture import Vulture
from vulture.core import Item

from tests import ROOT

PACKAGES = ("registry", "workers", "client/results_registry")
RESULTS = ("registry/results", "workers/statistics")
"""The codec writes the fields of these dataclasses one by one, and makes schemas of the classes."""
EXAMPLES = "registry/api/examples.py"
"""All its constants are examples of the document, by their names."""
REGISTERED = [
    "@*.app_errorhandler",
    "@administration.*",
    "@app.task",
    "@*blp.*",
    "@click.*",
    "@*.command",
    "@*.connect",
    "@*.form",
    "@*.page",
    "@pages.*",
    "@pytest.fixture",
    "@validates*",
]
"""Functions with these decorators are called by what they are registered with."""
CALLED_BY_LIBRARIES = [
    # Python, structlog, PyYAML, pyarrow
    "makefile", "readable", "readinto",
    "__doc__", "__getattr__", "exception", "flow_style", "ignore_aliases", "writable",
    # Flask, Jinja, flask-smorest, marshmallow, webargs
    "max_content_length",
    "ARGUMENTS_PARSER", "DEFAULT_*", "error_messages", "handle_error", "handle_http_exception", "filename", "load_json",
    "max_age", "Meta", "nominal", "on_bind_field", "ordinal", "preprocess", "regex", "strict_slashes", "without_nulls",
    # click
    "convert", "format_commands", "get_command",
    # SQLAlchemy, psycopg2
    "autocommit", "bind_processor", "cache_ok", "get_col_spec", "isolation_level", "readonly",
    # markdown-it
    "validateLink",
    # gunicorn
    "handle_exit", "handle_int", "handle_request", "init_process", "init_signals", "library_handler", "load",
    "load_config", "murder_pending",
    "set_accept_enabled",
    # Celery
    "LastingConsumer", "on_connection_error_after_connected", "safe_say",
    # Jupyter, transformers, Inspect, html.parser
    "RegistryCallback", "RegistryHooks", "enabled", "handle_data", "handle_endtag", "handle_starttag", "on_task_end",
    "_repr_html_", "control", "on_evaluate", "on_log",
    # pytest
    "assert_not_worse",
]  # fmt: skip
USED_BY_TESTS = ["RIVAL_IN", "client_url", "demo_grids", "forget", "pids"]


def dead_code() -> list[str]:
    """A line for each name that nothing uses."""
    vulture = Vulture(ignore_names=CALLED_BY_LIBRARIES + USED_BY_TESTS, ignore_decorators=REGISTERED)
    vulture.scavenge([ROOT / package for package in PACKAGES])
    elsewhere, keys = set(_names_of_results()) | _words_of_templates() | _commands(), set(_texts())
    unused: list[Item] = vulture.get_unused_code(sort_by_size=False)
    return [
        f"{item.filename.relative_to(ROOT)}:{item.first_lineno}: {item.message}"
        for item in unused
        if item.name not in elsewhere
        and not (item.typ in ("attribute", "variable") and item.name in keys)
        and not (item.name.isupper() and item.filename == ROOT / EXAMPLES)
    ]


def _texts() -> Iterator[str]:
    """Texts of the code: a field may be read as `sent["field"]`."""
    for path in (path for package in PACKAGES for path in (ROOT / package).rglob("*.py")):
        constants = (node.value for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Constant))
        yield from (value for value in constants if isinstance(value, str))


def _names_of_results() -> Iterator[str]:
    for path in (path for package in RESULTS for path in (ROOT / package).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef):
                yield node.name
                fields = (one.target for one in node.body if isinstance(one, ast.AnnAssign))
                yield from (field.id for field in fields if isinstance(field, ast.Name))


def _words_of_templates() -> set[str]:
    texts = [path.read_text() for path in (ROOT / "registry/pages/templates").iterdir()]
    code = " ".join(one for text in texts for one in re.findall(r"{[{%].*?[}%]}", text, re.DOTALL))
    return set(re.findall(r"\w+", code))


def _commands() -> set[str]:
    """Functions that are named as `module:function`: the command line imports a command when it is called."""
    return set(re.findall(r'"[\w.]+:(\w+)"', (ROOT / "registry/cli.py").read_text()))


if __name__ == "__main__":
    found = dead_code()
    print("\n".join(found))
    sys.exit(bool(found))
