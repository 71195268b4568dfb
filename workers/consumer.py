"""The part of a Celery worker that hears of messages, which the setting `worker_consumer` names."""

from __future__ import annotations

from celery.worker.consumer import Consumer


class LastingConsumer(Consumer):  # type: ignore[misc]
    """Celery's, which a broker that goes away while a task runs does not end.

    Celery 5.7.0 closes a lost connection twice. The first time, the channel of kombu 5.7.0 may give up at the reply
    that will not come, and stays open; the second time it puts back unfinished messages through a connection that has
    forgotten its address, which is an AttributeError. A channel that gave up once before is closed by the first.
    """

    def on_connection_error_after_connected(self, exc: Exception) -> None:
        """Close the channel, then do as Celery does."""
        if self.task_consumer:
            self.connection.maybe_close_channel(self.task_consumer.channel)
        super().on_connection_error_after_connected(exc)
