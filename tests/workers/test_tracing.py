"""A trace leads from the caller through the request and the wake-up to the worker that computed for it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
import structlog
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from registry import create_app, tracing
from registry.api.access_log import watch
from registry.errors import Misconfigured
from registry.settings import Settings
from registry.tracing import current_traceparent, job_span, request_span, start_tracing, stop_tracing
from tests.house import House, Project, publication

TRACE, CALLER = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"


@pytest.fixture
def spans() -> Iterator[InMemorySpanExporter]:
    """The exporter that keeps this process's spans."""
    memory = InMemorySpanExporter()
    start_tracing(Settings(), "tests", memory)
    yield memory
    stop_tracing()
    structlog.contextvars.clear_contextvars()


def told(spans: InMemorySpanExporter) -> dict[str, Any]:
    """Finished spans by name."""
    tracing._here.provider.force_flush()
    return {one.name: one for one in spans.get_finished_spans()}


def test_a_request_continues_its_callers_trace_and_a_worker_links_to_it(
    spans: InMemorySpanExporter, project: Project
) -> None:
    house = project.house
    traced = House(create_app(house.settings), house.database, house.settings)
    watch(traced.app, 9.0, traced=True)
    house.compute()
    sent = {"traceparent": f"00-{TRACE}-{CALLER}-01"}
    path, writer = f"projects/{project.slug}/grids", project.tokens["writer"]
    made = traced.call("POST", path, token=writer, json=publication(), headers=sent)
    woken = structlog.contextvars.get_contextvars()
    request = told(spans)["POST /api/v1/projects/<project>/grids"]
    assert f"{request.context.trace_id:032x}" == TRACE
    assert f"{request.parent.span_id:016x}" == CALLER
    assert request.attributes["http.response.status_code"] == 201
    assert request.attributes["registry.request_id"] == made.headers["X-Request-Id"] == woken["request_id"]
    # What the wake-up carries is all that the worker knows of the request.
    with job_span("workers.derive", [woken["traceparent"]]):
        house.compute()
    turn, derived = told(spans)["workers.derive"], told(spans)["derive"]
    links = [(f"{one.context.trace_id:032x}", one.context.span_id) for one in turn.links]
    assert links == [(TRACE, request.context.span_id)]
    assert turn.context.trace_id != request.context.trace_id
    assert derived.parent.span_id == turn.context.span_id
    assert f"{made.get_json()['id']}@1" in derived.attributes["registry.grids"]


def test_a_trace_that_is_none_begins_a_new_one(spans: InMemorySpanExporter) -> None:
    for sent in (None, "", "x", f"00-{'0' * 32}-{CALLER}-01"):
        with request_span(sent):
            assert current_traceparent() is not None
    tracing._here.provider.force_flush()
    requests = [one for one in spans.get_finished_spans() if one.name == "request"]
    assert [one.parent for one in requests] == [None] * 4


def test_the_setting_is_an_address_wants_the_extra_and_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert start_tracing(Settings(), "tests") is False
    with job_span("nothing"):
        assert current_traceparent() is None
    with pytest.raises(Misconfigured, match="REGISTRY_TRACES is a URL"):
        Settings.from_environment({"REGISTRY_TRACES": "yes"})
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace", None)
    with pytest.raises(Misconfigured, match=r"pip install opentelemetry-sdk"):
        start_tracing(replace(Settings(), traces="http://127.0.0.1:4318/v1/traces"), "tests")
