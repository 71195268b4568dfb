"""Prepare a database before anything serves, for `registry up`: schema, roles, the administrator's token.

It runs as a process of its own (`python -m registry.local.preparation`), because the supervisor lives as long as the
service and would keep what Alembic and SQLAlchemy take of memory.
"""

import os
import sys
from pathlib import Path

from sqlalchemy.exc import OperationalError

from registry.errors import Misconfigured, RegistryError, Unauthenticated
from registry.local.processes import OWN_DATABASE
from registry.operations.auth import authenticate, issue_token
from registry.settings import WEB_ROLE, Settings
from registry.storage.database import Database
from results_registry.config import TOKEN_FILE

ADMIN_TOKEN_DAYS = 365


def prepare(settings: Settings, *, own_database: bool) -> None:
    """Bring the database to this code's schema, make the token file of the home if it is missing, and on a database of
    our own the role of the web process."""
    from migrations.apply import migrate
    from migrations.grants import grant_web_role

    migrate(settings.database_url)
    database = Database(settings, name="up")
    admin_token(database, settings.home / TOKEN_FILE)
    database.close()
    if own_database:
        grant_web_role(settings.database_url, WEB_ROLE)


def admin_token(database: Database, path: Path) -> None:
    """Make a file with an administrator's token unless it has one that works; only its owner may read it."""
    with database.transaction() as connection:
        if path.exists():
            try:
                authenticate(connection, path.read_text(encoding="utf-8").strip())
            except Unauthenticated:
                path.unlink()
            else:
                return
        _, token = issue_token(connection, project_id=None, role="admin", name="registry up", days=ADMIN_TOKEN_DAYS)
        write_secret(path, token)


def write_secret(path: Path, token: str) -> None:
    """Write a token to a new file with mode 0600; `Misconfigured` when the file exists."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise Misconfigured(f"{path} is there already.") from None
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(token + "\n")


def main() -> int:
    """Prepare by the settings of the environment; the last line of standard error says why that failed."""
    try:
        prepare(Settings.from_environment(), own_database=OWN_DATABASE in sys.argv)
    except (RegistryError, OperationalError) as error:
        why = error.detail if isinstance(error, RegistryError) else " ".join(str(error.orig).split())
        sys.stderr.write(f"{why}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
