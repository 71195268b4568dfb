"""States of the jobs of statistics, as a query tells them that joins `derivations` by an outer join.

The table holds what is due, what failed and what was settled a short while ago. A revision without a row is ready.
"""

from __future__ import annotations

from sqlalchemy import func, literal_column

from registry.storage.tables import derivations

job_state = func.coalesce(derivations.c.state, literal_column("'ready'"))
"""`pending`, `ready` or `failed`."""
