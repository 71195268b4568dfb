"""`registry up` as somebody meets it for the first time: an empty directory, the printed lines, Ctrl-C."""

import html
import json
import re
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psycopg2
import pytest
from scipy.stats import theilslopes

from registry.demo import demo_grids
from registry.local.embedded.home import socket_directory
from tests.live.processes.system import awaited, bare_environment, processes
from tests.ports import free_port
from tests.workers.claims.sentences import VERDICTS


@dataclass
class Up:
    """A running `registry up` and what it printed."""

    process: subprocess.Popen[str]
    said: list[str]
    home: Path

    @property
    def commands(self) -> list[str]:
        return [line.strip() for line in self.said if line.startswith("curl ")]

    def interrupt(self) -> float:
        """Ctrl-C; how many seconds it took to end."""
        begun = time.monotonic()
        self.process.send_signal(signal.SIGINT)
        self.process.wait(30)
        return time.monotonic() - begun


def up(home: Path, port: int, errors: Path) -> Up:
    command = [sys.executable, "-m", "registry", "up", "--home", str(home), "--port", str(port), "--demo"]
    with errors.open("a") as file:
        process = subprocess.Popen(command, env=bare_environment(), stdout=subprocess.PIPE, stderr=file, text=True)
    assert process.stdout is not None
    said = []
    for line in process.stdout:
        said.append(line)
        if "Ctrl-C" in line:
            break
    assert process.poll() is None, errors.read_text()
    return Up(process, said, home)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, int, Path]:
    directory = tmp_path_factory.mktemp("up")
    return directory / "home", free_port(), directory / "errors.log"


@pytest.fixture(scope="module")
def first(place: tuple[Path, int, Path]) -> Iterator[Up]:
    running = up(*place)
    yield running
    if running.process.poll() is None:
        running.process.kill()
        running.process.wait()
    assert running.process.stdout is not None
    running.process.stdout.close()


def run(command: str) -> str:
    """What a printed line shows when it is pasted into a shell."""
    if shutil.which("curl"):
        done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=30, check=True)
        return done.stdout
    [url] = re.findall(r"'(http[^']*)'", command)
    headers = dict(part.split(": ", 1) for part in re.findall(r"-H '([^']*)'", command))
    with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=30) as response:
        return str(response.read().decode())


def read(url: str, token: str | None = None) -> tuple[int, bytes]:
    request = urllib.request.Request(url, headers={"Authorization": f"Bearer {token}"} if token else {})
    with urllib.request.urlopen(request, timeout=10) as response:
        return response.status, response.read()


def test_the_first_printed_line_shows_the_seven_slopes_of_the_first_heatmap(first: Up) -> None:
    text = run(first.commands[0])
    values = demo_grids()[0]["values"]
    assert len(values) == 7
    for label, row in enumerate(values, start=1):
        measured = [(length, value) for length, value in enumerate(row) if value is not None]
        slope = theilslopes([value for _, value in measured], [length for length, _ in measured]).slope
        [line] = re.findall(rf"^{label} .*$", text, flags=re.MULTILINE)
        shown = line.split("[")[1].split()[-1]  # after the interval of the change, before its own
        decimals = len(shown.partition(".")[2])
        assert decimals >= 2
        assert float(shown.replace("−", "-")) == pytest.approx(slope, abs=0.5000001 * 10**-decimals), line


def test_the_second_printed_line_shows_two_models_over_32_slots(first: Up) -> None:
    text = run(first.commands[1])
    assert "32 of 80 slots" in text
    assert re.search(r"^ +1 .*R1-Qwen.*\b24 +1 +7\b", text, flags=re.MULTILINE)
    assert re.findall(r"^ +2 .*R1-Llama.*$", text, flags=re.MULTILINE)


def test_the_sentences_of_the_documents_are_there_with_their_verdicts(first: Up, place: tuple[Path, int, Path]) -> None:
    expected = Counter(row[1] for rows in VERDICTS.values() for row in rows)
    [url] = re.findall(r"^(http\S+/projects/demo/claims)$", "".join(first.said), re.MULTILINE)
    address = f"{url.replace('/projects/', '/api/v1/projects/')}?limit=200"
    awaited(lambda: json.loads(read(address)[1])["counts"]["unjudged"] == 0)
    found = json.loads(read(address)[1])["items"]
    assert Counter(one["judgement"]["as_posted"] for one in found) == expected
    told = {one["text"]: one["judgement"] for one in found}
    assert told["Type 1: … declines to the low 80s by Length 9"]["verdict"] == "contradicted"
    page = html.unescape(read(url)[1].decode())
    assert f"{expected['contradicted']} of {len(found)} sentences are contradicted by their own numbers" in page


def told_by(home: Path, *words: str) -> str:
    """What a command tells that looks after the servers of a home."""
    command = [sys.executable, "-m", "registry", *words, "--home", str(home)]
    done = subprocess.run(command, env=bare_environment(), capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_tokens_and_roles_for_sql_tools_are_made_in_the_home(first: Up, place: tuple[Path, int, Path]) -> None:
    home, port, _ = place
    token = told_by(home, "token", "--project", "demo", "--role", "reader", "--name", "notebook")
    assert read(f"http://127.0.0.1:{port}/api/v1/whoami", token)[0] == 200
    password = told_by(home, "bi-role", "notebook", "--project", "demo")
    host = str(socket_directory(home))
    with psycopg2.connect(host=host, dbname="registry", user="notebook", password=password) as connection:
        cursor = connection.cursor()
        cursor.execute("SELECT count(*) FROM cells")
        served = read(f"http://127.0.0.1:{port}/api/v1/projects/demo/cells.ndjson")[1].splitlines()
        assert cursor.fetchone() == (len(served),)
        assert served
    connection.close()


def test_the_token_of_the_administrator_is_for_its_owner_only(first: Up, place: tuple[Path, int, Path]) -> None:
    home, port, _ = place
    token = home / "admin-token"
    assert oct(token.stat().st_mode & 0o777) == "0o600"
    assert oct(home.stat().st_mode & 0o777) == "0o700"
    status, _ = read(f"http://127.0.0.1:{port}/api/v1/projects/demo/tokens", token.read_text().strip())
    assert status == 200


def test_the_documentation_is_where_the_first_line_says(first: Up) -> None:
    [url] = re.findall(r"documentation: (\S+)\)", "".join(first.said))
    assert read(url)[0] == 200


def test_the_start_of_the_reference_publishes_and_ranks(first: Up, place: tuple[Path, int, Path]) -> None:
    document = read(f"http://127.0.0.1:{place[1]}/docs")[1].decode()
    lines = re.findall(r"<pre[^>]*>(.*?)</pre>", document.partition('id="start"')[2].partition("</section>")[0], re.S)
    script = html.unescape("\n".join(lines))
    assert (len(lines), str(first.home) in document) == (5, False)
    script = f"export REGISTRY_HOME='{first.home}'\n" + script.replace("\ncurl", "\necho; echo ==next==; curl")
    statistics, trends, ranking = run(script).split("==next==\n")[1:]
    assert json.loads(statistics)["state"] == "ready"
    assert "decreasing" in trends
    assert {"my-model", "Qwen-2.5"} <= set(ranking.split())
    # Of these ten cells the demonstration has not measured Type 2, Length 0, and the lines leave out Type 2, Length 2.
    assert re.search(r"^8 of \d+ slots compared", ranking, re.MULTILINE), ranking


def test_a_second_start_keeps_the_grids_and_the_token_and_ctrl_c_leaves_no_process(
    first: Up, place: tuple[Path, int, Path]
) -> None:
    """Runs last in this file: it stops the registry that the others ask."""
    home, port, errors = place
    token = (home / "admin-token").read_text()
    numbers = run(first.commands[0])
    claims = f"http://127.0.0.1:{port}/api/v1/projects/demo/claims?limit=200"
    said = [one["id"] for one in json.loads(read(claims)[1])["items"]]
    assert first.interrupt() < 10
    assert first.process.returncode == 0
    awaited(lambda: not processes(holding=str(home)), within=10)
    second = up(home, port, errors)
    try:
        assert (home / "admin-token").read_text() == token
        assert second.commands == first.commands, "the grids have other ids"
        assert run(second.commands[0]) == numbers
        assert [one["id"] for one in json.loads(read(claims)[1])["items"]] == said
        status, _ = read(f"http://127.0.0.1:{port}/api/v1/projects/demo/tokens", token.strip())
        assert status == 200
    finally:
        took = second.interrupt()
        assert second.process.stdout is not None
        second.process.stdout.close()
    assert took < 10
    awaited(lambda: not processes(holding=str(home)), within=10)
    assert errors.read_text() == ""
