"""The surroundings of the client's own tests."""

from tests.client.conftest import job, nobody_next_door, served, tiny

__all__ = ["job", "nobody_next_door", "served", "tiny"]  # fixtures
