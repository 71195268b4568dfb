"""Tests of the registry: every folder but `live` follows a package and is the core; `live` needs more than Python."""

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
"""The repository."""
