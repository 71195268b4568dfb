"""Launcher: runs one program so that neither it nor its descendants outlive the supervisor.

A script of its own, run as `python -I -S launch.py NAME`: it imports only the standard library, so it starts in 20 ms,
and the supervisor may have threads because it never runs Python between a fork and an exec. Standard input is one end
of a socket pair. The supervisor first sends a line of JSON (see `Order`), receives the program's process id, and may
then send `stop SECONDS`. When the socket is closed or the supervisor is gone, the program is stopped. The exit status
is the program's (128 + n after signal n).
"""

import contextlib
import ctypes
import json
import math
import os
import select
import signal
import socket
import sys
import time

# Type checkers take it for true. Every program has a launcher for as long as it runs, and `typing` is a megabyte.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn, TypedDict

    class Order(TypedDict):
        """Program to run, its user, and the signal that stops it."""

        argv: list[str]
        env: dict[str, str]
        cwd: str | None
        parent: int
        lock: int | None
        user: list[int] | None
        namespace: bool
        stop_signal: int
        orphan_signal: int


LINUX = sys.platform.startswith("linux")
PR_SET_PDEATHSIG, PR_SET_KEEPCAPS, PR_SET_SECUREBITS, PR_SET_CHILD_SUBREAPER, PR_CAP_AMBIENT = 1, 8, 28, 36, 47
SECBIT_NO_SETUID_FIXUP = 4
PR_CAP_AMBIENT_RAISE = 2
CAP_DAC_OVERRIDE = 1
CAPABILITY_VERSION_3 = 0x20080522
CLONE_NEWUSER = 0x10000000
HEARD = (signal.SIGCHLD, signal.SIGUSR1, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
ORPHAN_GRACE = 2.0  # the next `registry up` may be waiting for this home already
SIGNALLED_GRACE = 10.0


def main() -> int:
    """Carry out the order on standard input and return its exit status; no descendant is left."""
    wakeup = signals_as_bytes()
    line = socket.socket(fileno=0)
    order: Order = json.loads(read_line(line))
    if order["lock"] is not None:
        os.set_inheritable(order["lock"], False)
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    prctl(PR_SET_PDEATHSIG, signal.SIGUSR1)
    # A signal between fork and exec waits for the program, instead of getting lost in our own handlers.
    signal.pthread_sigmask(signal.SIG_BLOCK, HEARD)
    pid = os.fork()
    if pid == 0:
        become_program(order)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, HEARD)
    try:
        with contextlib.suppress(OSError):
            line.sendall(b"%d\n" % pid)
        return Watch(pid, order, line, wakeup).run()
    finally:
        kill_descendants(pid)


def signals_as_bytes() -> socket.socket:
    """Turn each signal of interest into a byte to read, so that one `select` receives all events."""
    reading, writing = socket.socketpair()
    reading.setblocking(False)
    writing.setblocking(False)
    signal.set_wakeup_fd(writing.detach(), warn_on_full_buffer=False)
    for number in HEARD:
        signal.signal(number, lambda *_: None)
    return reading


def read_line(line: socket.socket) -> bytes:
    text = b""
    while not text.endswith(b"\n"):
        piece = line.recv(65536)
        if not piece:
            sys.exit("the supervisor went away before it said what to run")
        text += piece
    return text


class Watch:
    """Wait for the program to end, and stop it on request or when the supervisor is gone."""

    def __init__(self, pid: int, order: "Order", line: socket.socket, wakeup: socket.socket) -> None:
        self.pid, self.order, self.line, self.wakeup = pid, order, line, wakeup
        self.sources = [line, wakeup]
        self.deadline = math.inf
        self.stopping = False

    def run(self) -> int:
        self.notice_a_lost_parent()
        while (status := reap(self.pid)) is None:
            left = max(0.0, self.deadline - time.monotonic())
            heard, _, _ = select.select(self.sources, [], [], None if math.isinf(left) else left)
            if self.line in heard:
                self.obey()
            if self.wakeup in heard:
                self.hear_signals()
            if time.monotonic() >= self.deadline:
                os.kill(self.pid, signal.SIGKILL)
                self.deadline = math.inf
        return status

    def obey(self) -> None:
        try:
            text = self.line.recv(4096).decode()
        except OSError:
            text = ""
        if not text:
            self.sources.remove(self.line)
            self.stop(ORPHAN_GRACE)
        for order in text.splitlines():
            self.stop(float(order.removeprefix("stop ")))

    def hear_signals(self) -> None:
        numbers = self.wakeup.recv(4096)
        if {signal.SIGTERM, signal.SIGINT, signal.SIGHUP} & set(numbers):
            self.stop(SIGNALLED_GRACE)
        self.notice_a_lost_parent()

    def notice_a_lost_parent(self) -> None:
        # The kernel also signals when only the *thread* that started us ends; then the parent is the same.
        if os.getppid() != self.order["parent"]:
            self.stop(ORPHAN_GRACE)

    def stop(self, grace: float) -> None:
        """Send the stop signal once; the earliest deadline of all requests counts."""
        if not self.stopping:
            os.kill(self.pid, self.order["stop_signal"])
        self.stopping = True
        self.deadline = min(self.deadline, time.monotonic() + grace)


def reap(pid: int) -> int | None:
    """Collect all ended children; return the exit status of `pid` if it was among them."""
    result = None
    with contextlib.suppress(ChildProcessError):
        while (ended := os.waitpid(-1, os.WNOHANG))[0]:
            if ended[0] == pid:
                code = os.waitstatus_to_exitcode(ended[1])
                result = code if code >= 0 else 128 - code
    return result


def kill_descendants(pid: int) -> None:
    """Kill the rest of the ended program's process group and, on Linux, all processes adopted by this one."""
    with contextlib.suppress(OSError):
        os.killpg(pid, signal.SIGKILL)
    with contextlib.suppress(ChildProcessError):
        while True:
            for child in adopted():
                with contextlib.suppress(OSError):
                    os.kill(child, signal.SIGKILL)
            os.waitpid(-1, 0)


def adopted() -> list[int]:
    """Child processes at this moment, from /proc; empty where there is none."""
    found = []
    for entry in os.listdir("/proc") if LINUX else []:
        if entry.isdigit():
            with contextlib.suppress(OSError), open(f"/proc/{entry}/stat", "rb") as file:
                parent = file.read().rpartition(b")")[2].split()[1]
                if int(parent) == os.getpid():
                    found.append(int(entry))
    return found


def become_program(order: "Order") -> "NoReturn":
    """Become the program in the forked child: change the user, set the death signal (a change of user clears it), run
    the program."""
    launcher = os.getppid()
    try:
        os.setpgid(0, 0)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        if order["user"] is not None:
            change_user(*order["user"], namespace=order["namespace"])
        if order["cwd"] is not None:
            os.chdir(order["cwd"])
        prctl(PR_SET_PDEATHSIG, order["orphan_signal"])
        if os.getppid() != launcher:
            os._exit(1)
        for name, value in order["env"].items():
            os.putenv(name, value)
        for number in (*HEARD, signal.SIGQUIT, signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        os.execv(order["argv"][0], order["argv"])  # noqa: S606
    except BaseException as error:
        os.write(2, f"cannot run {order['argv'][0]}: {error}\n".encode())
    os._exit(127)


def change_user(uid: int, gid: int, *, namespace: bool) -> None:
    """Become another user: inside a user namespace where our files stay ours, or for good."""
    if namespace:
        was = os.geteuid(), os.getegid()
        check(libc().unshare(CLONE_NEWUSER))
        for name, text in (
            ("setgroups", "deny"),
            ("uid_map", f"{uid} {was[0]} 1"),
            ("gid_map", f"{gid} {was[1]} 1"),
        ):
            with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
                file.write(text)
        return
    prctl(PR_SET_KEEPCAPS, 1)
    with contextlib.suppress(OSError):
        prctl(PR_SET_SECUREBITS, SECBIT_NO_SETUID_FIXUP)  # else access(2), which initdb asks, says no
    os.setgroups([])
    os.setgid(gid)
    os.setuid(uid)
    keep_reading_files()


def keep_reading_files() -> None:
    """Keep CAP_DAC_OVERRIDE, and no other capability, over the exec: root's home is closed to `nobody`.

    Where root has no such capability, the server runs without it, in directories that every user can pass.
    """
    if not LINUX:
        return
    header = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION_3, 0)
    bit = 1 << CAP_DAC_OVERRIDE
    if libc().capset(header, (ctypes.c_uint32 * 6)(bit, bit, bit, 0, 0, 0)) == 0:
        libc().prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_DAC_OVERRIDE, 0, 0)
    else:
        libc().capset(header, (ctypes.c_uint32 * 6)())


def prctl(option: int, value: int) -> None:
    """Set a property of this process on Linux; elsewhere only the end of the socket tells that the parent is gone."""
    if LINUX:
        check(libc().prctl(option, value, 0, 0, 0))


def libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def check(result: int) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


if __name__ == "__main__":
    sys.exit(main())
