"""HTTP as a job speaks it: the standard library, one connection a thread, no answer means "unknown"."""

import contextlib
import http.client
import json
import time
from dataclasses import dataclass, field
from typing import Any

NO_ANSWER = 0
PATIENCE = 25.0
"""Far beyond the longest that a request may take, so that one which takes too long is seen to."""


@dataclass(frozen=True)
class Answer:
    """What came back; status 0 when nothing did."""

    status: int
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def unknown(self) -> bool:
        """Whether the request may or may not have taken effect."""
        return self.status == NO_ANSWER or self.status >= 500

    @property
    def retry_after(self) -> float:
        return float(self.headers.get("retry-after", "0.2"))


class Wire:
    """A connection that is made anew when it breaks; not shared by threads."""

    def __init__(self, port: int, token: str | None) -> None:
        self.port, self.token = port, token
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)

    def call(self, method: str, path: str, sent: Any = None, **headers: str) -> Answer:
        """Send a request; paths without a leading slash are under /api/v1/. Bytes are sent as they are."""
        begun = time.monotonic()
        given = {"Content-Type": "application/json"} | {name.replace("_", "-"): text for name, text in headers.items()}
        if self.token is not None:
            given["Authorization"] = f"Bearer {self.token}"
        body = sent if sent is None or isinstance(sent, bytes) else json.dumps(sent).encode()
        full = path if path.startswith("/") else f"/api/v1/{path}"
        try:
            self._connection.request(method, full, body, given)
            response = self._connection.getresponse()
            read = response.read()
        except (OSError, http.client.HTTPException):
            self._connection.close()
            return Answer(NO_ANSWER, seconds=time.monotonic() - begun)
        named = {name.lower(): text for name, text in response.headers.items()}
        return Answer(response.status, read, named, time.monotonic() - begun)

    def insist(self, method: str, path: str, sent: Any = None, *, within: float = 30.0, **headers: str) -> Answer:
        """Send until the answer says what happened: not "unknown", not "come back later"."""
        until = time.monotonic() + within
        while True:
            answer = self.call(method, path, sent, **headers)
            later = "retry-after" in answer.headers or answer.unknown
            if not later or time.monotonic() > until:
                return answer
            time.sleep(min(answer.retry_after, 0.3))

    def pages(self, path: str) -> list[Any]:
        """The items of a list, page by page to its end."""
        items, following = [], ""
        while True:
            joint = "&" if "?" in path else "?"
            answer = self.insist("GET", f"{path}{joint}limit=1000{following}")
            assert answer.status == 200, (path, answer.status, answer.body[:300])
            page = answer.json
            items += page["items"]
            if page["next"] is None:
                return items
            following = f"&cursor={page['next']}"

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._connection.close()
