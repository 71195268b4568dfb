"""A person at the command line: runs commands against a server, in this process or as a real one."""

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from registry.cli import main
from tests.house import Project

_ESCAPES = re.compile(r"\x1b\[[0-9;]*m")


@dataclass(frozen=True)
class Person:
    """Somebody with a home directory and an environment of their own."""

    home: Path
    environment: dict[str, str]

    def run(self, *words: str, stdin: str | None = None) -> Result:
        """Run a command in this process; its standard output is a pipe."""
        before = os.getcwd()
        os.chdir(self.home)
        try:
            absent: dict[str, str | None] = {name: None for name in os.environ if name.startswith("REGISTRY_")}
            return CliRunner().invoke(main, list(words), env=absent | self.environment, input=stdin)
        finally:
            os.chdir(before)

    def says(self, *words: str, status: int = 0) -> str:
        """What a command writes to standard output; it must end with this status."""
        answer = self.run(*words)
        assert answer.exit_code == status, (answer.exit_code, answer.output, answer.exception)
        return answer.stdout

    def complains(self, *words: str, status: int = 1) -> str:
        """What a command writes to standard error when it ends with this status; nothing on standard output."""
        answer = self.run(*words)
        assert answer.exit_code == status, (answer.exit_code, answer.output, answer.exception)
        assert answer.stdout == ""
        return answer.stderr

    def rows(self, *words: str) -> list[dict[str, str]]:
        """The TSV that a command writes, by its headings."""
        names, *rows = [line.split("\t") for line in self.says(*words).splitlines()]
        assert all(len(row) == len(names) for row in rows)
        return [dict(zip(names, row, strict=True)) for row in rows]

    def json(self, *words: str) -> Any:
        return json.loads(self.says(*words, "--json"))

    def page(self, *words: str, columns: int = 120) -> str:
        """What a command shows on a terminal of this width, its colours taken away."""
        return _ESCAPES.sub("", self.having(COLUMNS=str(columns)).says(*words, "--color", "always"))

    def having(self, **environment: str) -> "Person":
        return replace(self, environment=self.environment | environment)

    def lacking(self, *names: str) -> "Person":
        return replace(self, environment={k: v for k, v in self.environment.items() if k not in names})

    def start(self, *words: str, **options: Any) -> subprocess.Popen[bytes]:
        """Run a command as a process of its own."""
        kept = {name: text for name, text in os.environ.items() if not name.startswith(("REGISTRY_", "COLUMNS"))}
        return subprocess.Popen(self.command(*words), env=kept | self.environment, cwd=self.home, **options)

    @staticmethod
    def command(*words: str) -> list[str]:
        """The command as a process is started with it."""
        return [str(Path(sys.executable).with_name("registry")), *words]


def person_of(project: Project, url: str, home: Path, role: str = "writer") -> Person:
    """Somebody with a token of the project, and no files."""
    return Person(
        home,
        {
            "HOME": str(home),
            "XDG_CONFIG_HOME": str(home / "config"),
            "REGISTRY_HOME": str(home / "none"),
            "REGISTRY_URL": url,
            "REGISTRY_PROJECT": project.slug,
            "REGISTRY_TOKEN": project.tokens[role],
        },
    )
