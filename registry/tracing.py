"""Traces of requests and of what workers compute for them (OpenTelemetry), off unless REGISTRY_TRACES says where to.

A request is a span, in its caller's trace if that sent `traceparent`. A worker's turn is a trace of its own with links
to the requests that woke it: it computes for many, and may begin after all of them were answered.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from registry.errors import Misconfigured
from registry.settings import Settings
from results_registry import __version__


@dataclass(slots=True)
class _Tracing:
    """Where the spans of this process go; nothing of OpenTelemetry is imported while there is no provider."""

    provider: Any = None


_here = _Tracing()


def start_tracing(settings: Settings, role: str, exporter: Any = None) -> bool:
    """Send the spans of this process to the collector of the settings, or to an exporter; return whether to any."""
    if not settings.traces and exporter is None:
        return False
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError:
        raise Misconfigured(
            "REGISTRY_TRACES needs pip install opentelemetry-sdk opentelemetry-exporter-otlp-proto-http."
        ) from None
    told = {"service.name": "results-registry", "service.version": __version__, "registry.role": role}
    _here.provider = TracerProvider(resource=Resource.create(told))
    _here.provider.add_span_processor(BatchSpanProcessor(exporter or OTLPSpanExporter(endpoint=settings.traces)))
    return True


def stop_tracing() -> None:
    """Send what is left, and trace nothing any more."""
    if _here.provider is not None:
        _here.provider.shutdown()
        _here.provider = None


@contextmanager
def request_span(traceparent: str | None) -> Iterator[None]:
    """Span of a request, below the caller's."""
    from opentelemetry.trace import SpanKind

    tracer = _here.provider.get_tracer("registry")
    with tracer.start_as_current_span("request", _context_of(traceparent), SpanKind.SERVER):
        yield


@contextmanager
def job_span(name: str, links: Iterable[str] = (), **attributes: Any) -> Iterator[None]:
    """Span of a worker: below the current one, or with links (each a `traceparent`) the root of a trace."""
    if _here.provider is None:
        yield
        return
    from opentelemetry.trace import Link, get_current_span

    found = [Link(get_current_span(_context_of(one)).get_span_context()) for one in links]
    tracer = _here.provider.get_tracer("registry")
    with tracer.start_as_current_span(name, links=found, attributes=attributes):
        yield


def annotate(name: str, attributes: Mapping[str, Any]) -> None:
    """Name the current span and say more of it."""
    if _here.provider is not None:
        from opentelemetry.trace import get_current_span

        span = get_current_span()
        span.update_name(name)
        span.set_attributes(attributes)


def current_traceparent() -> str | None:
    """The current span as a `traceparent`; None if there is none."""
    if _here.provider is None:
        return None
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

    carrier: dict[str, str] = {}
    TraceContextTextMapPropagator().inject(carrier)
    return carrier.get("traceparent")


def _context_of(traceparent: str | None) -> Any:
    from opentelemetry.context import Context
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

    return TraceContextTextMapPropagator().extract({"traceparent": traceparent or ""}, Context())
