"""The demonstration and the visitor of the tests of pages, here in front of a browser."""

from tests.pages.conftest import demo, visitor

__all__ = ["demo", "visitor"]
