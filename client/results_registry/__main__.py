"""`python -m results_registry sync`: send what jobs left in the spool, where there is no command `registry`."""

import sys
from argparse import ArgumentParser
from pathlib import Path

from results_registry.config import find_config
from results_registry.errors import ClientError
from results_registry.sync import synchronize


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
        return synchronize(config, given.spool, any_url=given.any_url, retry_refused=given.retry_refused)
    except ClientError as error:
        sys.stderr.write(f"Error: {error.detail}\n")
        return 1


if __name__ == "__main__":
    sys.exit(main())
