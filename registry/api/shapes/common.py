"""Descriptions of fields that several shapes have."""

from __future__ import annotations

from registry.api.shapes.words import DIGEST, ID, TEXT, described

EXPERIMENT = described(TEXT, "What is ranked together.")
BENCHMARK = described(TEXT, "What was measured.")
MODEL = described(TEXT, "What it was measured on.")
VARIANT = described(TEXT, "The method or condition; empty where there is only one.")
NUMBER_OF_REVISION = described({"type": "integer", "minimum": 1}, "The number of the revision, from 1.")
CONTENT_DIGEST = described(DIGEST, "SHA-256 of the revision's content in its canonical form.")
GRID_ID = described(ID, "The grid's id.")
DESCRIPTION = described(TEXT, "What people wrote about it, in Markdown; empty: nothing.")
