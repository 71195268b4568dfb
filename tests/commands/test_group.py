"""The group of commands: help without imports, sections, completion of names, advice, and what becomes of errors."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from registry.cli import SECTIONS, main
from registry.commands.group import CheckFailed, LazyGroup, UserError
from registry.errors import Conflict, Forbidden, RegistryError, Unauthenticated, Unavailable
from results_registry import NotAllowed, NotNow, Refused, Unreachable

PLACES = {name: entry for entries in SECTIONS.values() for name, entry in entries.items()}


def python(code: str) -> str:
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return ran.stdout


def test_help_imports_nothing_of_the_service() -> None:
    loaded = python(
        "import sys\nfrom click.testing import CliRunner\nfrom registry.cli import main\n"
        "assert CliRunner().invoke(main, ['--help']).exit_code == 0\n"
        "print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    ).split()
    assert "click" in loaded
    assert not {"flask", "sqlalchemy", "celery", "marshmallow", "psycopg2", "alembic", "numpy"} & set(loaded)


def test_help_shows_every_command_in_its_section() -> None:
    shown = CliRunner().invoke(main, ["--help"], terminal_width=100).output
    for title, entries in SECTIONS.items():
        _, _, rest = shown.partition(f"\n{title}:\n")
        section = rest.partition("\n\n")[0].splitlines()
        assert [line.split()[0] for line in section] == list(entries)
        assert [" ".join(line.split()[1:]) for line in section] == [line for _, line in entries.values()]


@pytest.mark.parametrize("name", PLACES)
def test_every_name_leads_to_a_command_of_that_name_that_says_what_it_does(name: str) -> None:
    command = main.get_command(click.Context(main), name)
    assert command is not None
    assert command.name == name
    assert command.help
    assert CliRunner().invoke(main, [name, "--help"]).output.startswith(f"Usage: main {name}")


@pytest.mark.parametrize("name", PLACES)
def test_every_number_on_the_command_line_is_finite(name: str) -> None:
    for command in _all_of(main.get_command(click.Context(main), name)):
        for option in command.params:
            kinds = option.type.types if isinstance(option.type, click.Tuple) else [option.type]
            for kind in kinds:
                if isinstance(kind, click.FloatRange | click.types.FloatParamType):
                    for text in ("nan", "inf", "-inf"):
                        with pytest.raises(click.BadParameter):
                            kind.convert(text, option, None)


def _all_of(command: click.Command | None) -> Iterator[click.Command]:
    assert command is not None
    yield command
    if isinstance(command, click.Group):
        for name in command.list_commands(click.Context(command)):
            yield from _all_of(command.get_command(click.Context(command), name))


def test_a_misspelt_command_is_a_usage_error_that_names_the_near_one() -> None:
    answer = CliRunner().invoke(main, ["opnapi"])
    assert answer.exit_code == 2
    assert "openapi" in answer.stderr


def test_names_are_completed_without_importing_commands() -> None:
    found = main.shell_complete(click.Context(main), "op")
    assert ("openapi", PLACES["openapi"][1]) in [(item.value, item.help) for item in found]
    assert all(item.value.startswith("op") for item in found)


def raising(error: UserError) -> LazyGroup:
    """A group whose callback raises."""

    @click.group(cls=LazyGroup, sections={}, invoke_without_command=True)
    @click.option("--debug", is_flag=True)
    def group(debug: bool) -> None:
        raise error

    return group


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (RegistryError("It broke."), 1),
        (Conflict("It is taken."), 1),
        (CheckFailed("It got worse."), 3),
        (Unauthenticated("No token."), 4),
        (Forbidden("A reader's token."), 4),
        (Unreachable("Nobody answers."), 5),
        (Unavailable("No database."), 5),
        (NotAllowed(403, {"detail": "A reader's token."}), 4),
        (NotNow(503, {"detail": "Too busy."}), 5),
        (Refused(422, {"detail": "No grid."}), 1),
    ],
)
def test_an_error_is_one_sentence_on_standard_error_and_a_status(error: UserError, status: int) -> None:
    answer = CliRunner().invoke(raising(error), [])
    assert (answer.exit_code, answer.stdout, answer.stderr) == (status, "", f"Error: {error.detail}\n")


def test_debug_shows_the_trace() -> None:
    answer = CliRunner().invoke(raising(Conflict("It is taken.")), ["--debug"])
    assert answer.exit_code == 1
    assert answer.stderr.startswith("Traceback (most recent call last):\n")
    assert answer.stderr.endswith("\nError: It is taken.\n")


def test_every_group_lists_by_ls_and_removes_by_rm() -> None:
    context = click.Context(main)
    commands = [main.get_command(context, name) for name in main.list_commands(context)]
    groups = [one for one in commands if isinstance(one, click.Group)]
    words = {word for group in groups for word in group.commands}
    assert len(groups) == 9
    assert {"ls", "rm"} <= words
    assert words.isdisjoint({"list", "remove", "delete"})


HERE = Path(__file__).parents[2]
TEXTS = [*HERE.glob("*.md"), *HERE.glob("docs/**/*.md"), *HERE.glob("client/**/*.md"), *HERE.glob("*/**/*.py")]
OURS = re.compile(r"pip install(?! --index-url)[^`\n]*?[ '\"](?!dist/)results[-_]registry(?!.*\.whl)")
WARNED_OF = {"installing.md", "0037-packages.md"}
"""Papers that warn of just this."""


def test_nobody_is_told_to_install_a_name_that_is_not_ours() -> None:
    """`results-registry` is on no public index: whoever registers it there decides what such a command runs."""
    assert OURS.search("pip install 'results-registry[parquet]' duckdb")
    texts = {path: path.read_text() for path in TEXTS if path.parts[-2:-1] != ("node_modules",)}
    assert len(texts) > 500
    told = [str(path) for path, text in texts.items() if path != Path(__file__) and OURS.search(text)]
    assert [one for one in told if Path(one).name not in WARNED_OF] == []
