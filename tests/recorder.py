"""What is sent to the database: every statement of SQLAlchemy's, and the prepared ones that go beside it."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from sqlalchemy import Connection, Engine, event

from registry.storage.statements import Prepared


@contextmanager
def statements() -> Iterator[list[str]]:
    """The text of every statement while the block lasts, in order; of a prepared one what was prepared.

    BEGIN and COMMIT are not among them.
    """
    seen: list[str] = []

    def note(_connection: Any, _cursor: Any, statement: str, *_more: Any) -> None:
        seen.append(statement)

    execute = Prepared.one_or_none

    def prepared(self: Prepared, connection: Connection, values: Mapping[str, Any]) -> Any:
        seen.append(self._prepare)
        return execute(self, connection, values)

    event.listen(Engine, "before_cursor_execute", note)
    try:
        with patch.object(Prepared, "one_or_none", prepared):
            yield seen
    finally:
        event.remove(Engine, "before_cursor_execute", note)
