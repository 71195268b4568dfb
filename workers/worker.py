"""The worker process: `registry worker`, or `python -P -m workers.worker`.

Celery puts the current directory before everything else that Python imports from, each time it imports by name. So it
runs in the root directory, where only root writes, and finds its application here rather than by `celery -A`.
"""

import os
import sys

# Workers do not talk to each other: everything that they must know of each other is in the database.
ARGUMENTS = ["--quiet", "worker", "--without-gossip", "--without-mingle", "--without-heartbeat"]


def main() -> int:
    """Compute until SIGTERM; the exit status that Celery gives."""
    os.chdir("/")
    from workers.app import app

    return app.worker_main(ARGUMENTS) or 0


if __name__ == "__main__":
    sys.exit(main())
