"""Loads as spans of OpenTelemetry."""

from typing import TYPE_CHECKING, Final

from satchel.errors import ExtraMissingError
from satchel.model import UsageEvent
from satchel.usage import EventSink

try:
    from opentelemetry import trace
except ImportError as error:
    raise ExtraMissingError("satchel_server.usage._tracing", "otel") from error

if TYPE_CHECKING:
    from opentelemetry.util.types import AttributeValue


# The name of every span; the skill, which may be any text, is an attribute.
SPAN: Final = "load_skill"
_NS: Final = 1_000_000_000
_ATTRIBUTES: Final = (
    *("name", "reference", "script", "source", "file", "via", "digest"),
    *("size_bytes", "tokens", "release", "owner", "agent", "client"),
)


class TracingSink(EventSink):
    """Makes a span of every load, as a child of the current span.

    It starts and ends when the load did. Attributes are ``gen_ai.skill.name`` and so
    on, named like the fields of the event; empty ones are left out. ``error.type`` is
    the code of a failure, which also sets the status. The current span, such as a
    framework's span of its tool call, gets the attributes of the skill too, if it is
    recording; after several loads, those of the last. The span is made on the caller's
    thread, which alone has the context.

    Raises:
        ExtraMissingError: The extra ``otel`` is not installed.
    """

    def __init__(self, provider: "trace.TracerProvider | None" = None) -> None:
        """Take the tracer provider; None is that of the process."""
        self._tracer = trace.get_tracer("satchel", tracer_provider=provider)

    def record(self, event: UsageEvent) -> None:
        """Make the finished span, and add the attributes to the current one."""
        attributes: dict[str, AttributeValue] = {
            f"gen_ai.skill.{name}": value
            for name in _ATTRIBUTES
            if (value := getattr(event, name)) not in ("", None)
        }
        current = trace.get_current_span()
        if event.code is not None:
            attributes["error.type"] = event.code
        elif current.is_recording():
            current.set_attributes(attributes)
        end = int(event.at * _NS)
        span = self._tracer.start_span(
            SPAN, attributes=attributes, start_time=end - int(event.duration_s * _NS)
        )
        if event.code is not None:
            span.set_status(trace.Status(trace.StatusCode.ERROR, event.error))
        span.end(end)
