"""`python -m results_registry sync`: send what jobs left in the spool, where there is no command `registry`."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from pathlib import Path

from results_registry.config import find_config, spool_root
from results_registry.errors import ClientError
from results_registry.spool import Spool
from results_registry.sync import grids, notes, retry_refused, status_of, sync, troubles


def main() -> int:
    """Exit status: 0 everything was sent, 1 the registry refused some, 4 the token or the project will not do, 5 the
    registry did not answer."""
    parser = ArgumentParser(prog="python -m results_registry", description=__doc__)
    command = parser.add_subparsers(dest="command", required=True).add_parser("sync", description=main.__doc__)
    command.add_argument("--url", help="the registry's address")
    command.add_argument("-p", "--project", help="for what names no project")
    command.add_argument("--spool", type=Path, help="another spool than REGISTRY_SPOOL's")
    command.add_argument("--any-url", action="store_true", help="send also what was meant for another registry")
    command.add_argument("--retry-refused", action="store_true", help="send also what a registry refused before")
    given = parser.parse_args()
    try:
        config = find_config(given.url, project=given.project)
        spool = Spool(given.spool or spool_root(), 0)
        if given.retry_refused:
            retry_refused(spool)
        outcome = sync(spool, config, any_url=given.any_url)
    except ClientError as error:
        sys.stderr.write(f"Error: {error.detail}\n")
        return 1
    sys.stdout.write(f"{grids(outcome.sent)} sent.\n")
    sys.stderr.writelines(f"{line}\n" for line in (*troubles(spool, config, outcome), *notes(spool, outcome)))
    return status_of(outcome)


if __name__ == "__main__":
    sys.exit(main())
