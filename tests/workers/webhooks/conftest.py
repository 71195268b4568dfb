"""A project whose webhooks may send to this machine, and what it takes to have them sent."""

import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import func, select, update

from registry import create_app
from registry.settings import Settings
from registry.storage.arrivals import Arrival, announce
from registry.storage.database import Database
from registry.storage.tables import deliveries, delivery_attempts, webhooks
from tests.house import House, Project
from tests.workers.webhooks.receiver import Receiver, receiving
from workers.jobs.upkeep import sequence_arrivals
from workers.webhooks.courier import send_line
from workers.webhooks.lines import claim_line


@dataclass(frozen=True)
class Hooks:
    """A project and its webhooks; nothing is sent but by `send`."""

    project: Project

    @property
    def database(self) -> Database:
        return self.project.house.database

    @property
    def settings(self) -> Settings:
        return self.project.house.settings

    @property
    def path(self) -> str:
        return f"projects/{self.project.slug}/webhooks"

    def call(self, method: str, path: str = "", **options: Any) -> Any:
        return self.project.call(method, f"{self.path}{path}", "admin", **options)

    def add(self, url: str, *types: str, **more: Any) -> dict[str, Any]:
        """A webhook, with its secret."""
        answer = self.call("POST", json={"url": url, "types": list(types) or ["*"], **more})
        assert answer.status_code == 201, answer.text
        self.change(answer.get_json()["id"], due_at=func.now())
        return answer.get_json()

    def tell(self, *numbers: int, type_: str = "grid.published", **data: Any) -> None:
        """Events with positions, one for each number."""
        happened = [Arrival(type_, f"grids/{number}", {"number": number, **data}) for number in numbers]  # type: ignore[arg-type]
        with self.database.transaction() as connection:
            announce(connection, self.project.id, happened)
        sequence_arrivals(self.database)

    def send(self) -> int:
        """Send everything that is due; the number of attempts."""
        count = 0
        while line := claim_line(self.database, (), only_healthy=False):
            count += send_line(self.settings, self.database, line)
        return count

    def hurry(self) -> None:
        """Have everything be due that waits for another attempt."""
        mine = webhooks.c.project_id == self.project.id
        pending = (deliveries.c.project_id == self.project.id, deliveries.c.state == "pending")
        with self.database.transaction() as connection:
            connection.execute(update(webhooks).where(mine).values(due_at=func.now(), paused_until=None))
            connection.execute(update(deliveries).where(*pending).values(due_at=func.now()))

    def let_leases_run_out(self) -> None:
        over = {"leased_until": func.now() - timedelta(seconds=1)}
        with self.database.transaction() as connection:
            connection.execute(update(webhooks).where(webhooks.c.project_id == self.project.id).values(over))

    def change(self, webhook_id: str, **values: Any) -> None:
        with self.database.transaction() as connection:
            connection.execute(update(webhooks).where(webhooks.c.id == uuid.UUID(webhook_id)).values(values))

    def read(self, webhook: Mapping[str, Any]) -> dict[str, Any]:
        return self.call("GET", f"/{webhook['id']}").get_json()

    def deliveries(self, webhook: Mapping[str, Any], **asked: Any) -> list[dict[str, Any]]:
        return self.call("GET", f"/{webhook['id']}/deliveries", query_string=asked).get_json()["items"]

    def states(self) -> list[tuple[int | None, str, int]]:
        """Position, state and attempts of each delivery, in the order of positions."""
        query = select(deliveries.c.position, deliveries.c.state, deliveries.c.attempts)
        with self.database.reading() as connection:
            rows = connection.execute(
                query.where(deliveries.c.project_id == self.project.id).order_by(deliveries.c.position)
            )
            return [tuple(row) for row in rows]

    def attempts(self) -> int:
        joined = delivery_attempts.join(deliveries)
        query = select(func.count()).select_from(joined).where(deliveries.c.project_id == self.project.id)
        with self.database.reading() as connection:
            return int(connection.scalar(query) or 0)


@pytest.fixture(scope="session")
def inner_house(house: House) -> House:
    """An application whose webhooks may send to this machine, also without encryption."""
    settings = replace(house.settings, webhook_allow="127.0.0.0/8", webhook_schemes="https,http")
    return House(create_app(settings), house.database, settings)


@pytest.fixture
def hooks(inner_house: House) -> Iterator[Hooks]:
    found = Hooks(inner_house.make_project())
    yield found
    with found.database.transaction() as connection:
        mine = webhooks.c.project_id == found.project.id
        connection.execute(update(webhooks).where(mine).values(state="disabled"))


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as found:
        yield found
