"""What the tests in Debian's Chromium share: a served application, and a script in Node that drives the browser."""

import json
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from werkzeug.serving import make_server

HERE = Path(__file__).parent
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
NODE = shutil.which("node")

NEEDED = [
    pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed (apt-get install chromium)"),
    pytest.mark.skipif(NODE is None, reason="node is not installed (apt-get install nodejs npm)"),
    pytest.mark.skipif(
        not (HERE / "node_modules").is_dir(),
        reason="playwright-core and axe-core are not there (npm ci in tests/live/browser)",
    ),
]


@contextmanager
def served(app: Flask) -> Iterator[str]:
    """The address of the application, served."""
    server = make_server("127.0.0.1", 0, app, threaded=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def run(
    script: str, plan: dict[str, Any], acts: Mapping[str, Callable[[], object]] | None = None
) -> Iterator[dict[str, Any]]:
    """What the script found. Where it says the name of one of the `acts` it waits for its answer."""
    command = [str(NODE), script, json.dumps({"chromium": CHROMIUM} | plan)]
    with subprocess.Popen(
        command, cwd=HERE, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        watchdog = threading.Timer(900, process.kill)
        watchdog.start()
        for line in process.stdout:
            found = json.loads(line)
            act = (acts or {}).get(found["what"])
            if act:
                process.stdin.write(json.dumps(act()) + "\n")
                process.stdin.flush()
            else:
                yield found
        watchdog.cancel()
        assert process.wait() == 0, process.stderr.read()
