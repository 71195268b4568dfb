"""What a process does not load that sends no traces."""

from __future__ import annotations

import subprocess
import sys


def test_without_the_setting_no_exporter_is_imported() -> None:
    # redis-py imports the rest of OpenTelemetry by itself where it finds it.
    code = "import sys, registry.web_server, workers.app; sys.exit('opentelemetry.exporter' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False, capture_output=True).returncode == 0
