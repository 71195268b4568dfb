"""Renderings: pure functions that write a document as text, Markdown, CSV, LaTeX or a picture."""
