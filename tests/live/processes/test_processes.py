"""Commands as processes: closed pipes, Ctrl-C, real terminals, completion by the environment."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios

import pytest

from tests.commands.terminal import Person
from tests.house import Project
from tests.live.processes.system import awaited


def bare(text: str) -> str:
    """Text without its colours."""
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


def on_a_terminal(person: Person, *words: str, columns: int = 80) -> str:
    """What a command writes to a terminal of this width."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    running = (
        person.lacking("COLUMNS")
        .having(TERM="xterm-256color")
        .start(*words, stdin=theirs, stdout=theirs, stderr=theirs)
    )
    os.close(theirs)
    written = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:
            break  # the other end is closed
        if not part:
            break
        written += part
    os.close(ours)
    assert running.wait(30) == 0, written
    return written.decode().replace("\r\n", "\n")


def test_a_terminal_gets_colours_and_its_own_width(person: Person, ready: Project) -> None:
    shown = on_a_terminal(person, "show", "model=Qwen-2.5 3B")
    assert "\x1b[48;5;" in shown
    listed = on_a_terminal(person, "ls", columns=60)
    assert max(len(line) for line in bare(listed).splitlines()) <= 60


def test_no_color_is_honoured_on_a_terminal(person: Person, ready: Project) -> None:
    assert "\x1b" not in on_a_terminal(person.having(NO_COLOR="1"), "show", "model=Qwen-2.5 3B")


def test_a_reader_that_goes_away_is_no_error(person: Person, project: Project) -> None:
    sent = [
        {"experiment": "e", "benchmark": "b" * 150, "model": f"m{i}", "metric": {"name": "x"}, "axes": [], "values": i}
        for i in range(1000)
    ]
    assert project.call("POST", f"projects/{project.slug}/grids/batch", json=sent).status_code == 200
    running = person.start("ls", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert running.stdout is not None
    assert running.stderr is not None
    assert running.stdout.read(10) == b"id\texperim"
    running.stdout.close()
    told = running.stderr.read()
    running.stderr.close()
    assert (running.wait(30), told) == (0, b"")


def test_a_reader_of_a_file_that_goes_away_is_no_error(person: Person, ready: Project) -> None:
    running = person.start("pull", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert running.stdout is not None
    running.stdout.close()
    assert running.stderr is not None
    told = running.stderr.read()
    running.stderr.close()
    running.wait(30)
    assert told == b""


def test_an_interrupt_is_quiet_and_130(person: Person, project: Project) -> None:
    grid = project.published()  # nobody computes it
    ours, theirs = pty.openpty()
    running = person.start("trends", grid["id"], stdout=subprocess.DEVNULL, stderr=theirs, stdin=subprocess.DEVNULL)
    os.close(theirs)

    def spins() -> bool:
        return bool(select.select([ours], [], [], 0)[0])

    awaited(spins)
    running.send_signal(signal.SIGINT)
    assert running.wait(20) == 130
    written = b""
    while select.select([ours], [], [], 0)[0]:
        try:
            written += os.read(ours, 65536)
        except OSError:
            break
    os.close(ours)
    assert b"Traceback" not in written
    assert b"waiting for trends" in written


@pytest.mark.parametrize(("typed", "offered"), [("registry tre", "trends"), ("registry compl", "completion")])
def test_a_shell_completes_names(person: Person, typed: str, offered: str) -> None:
    asks = person.having(_REGISTRY_COMPLETE="bash_complete", COMP_WORDS=typed, COMP_CWORD="1")
    ran = asks.start(stdout=subprocess.PIPE)
    assert ran.communicate()[0].decode().splitlines() == [f"plain,{offered}"]
