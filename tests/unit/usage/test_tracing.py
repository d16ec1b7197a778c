"""Loads as spans, where anyone who loads has one of their own."""

import pytest

pytest.importorskip("opentelemetry.sdk")

from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from satchel import Satchel, Skill
from satchel.errors import SkillNotFoundError
from satchel_server.usage import TracingSink
from tests.unit.usage.library import NOON, load


@pytest.fixture
def exporter() -> InMemorySpanExporter:
    return InMemorySpanExporter()


@pytest.fixture
def provider(exporter: InMemorySpanExporter) -> TracerProvider:
    made = TracerProvider()
    made.add_span_processor(SimpleSpanProcessor(exporter))
    return made


def test_a_span_says_what_was_loaded_and_when(
    provider: TracerProvider, exporter: InMemorySpanExporter
) -> None:
    sink = TracingSink(provider)
    sink.record(load("a", duration_s=0.5, release="r1", agent="desk"))

    (span,) = exporter.get_finished_spans()
    end = int(NOON * 1e9)
    assert span.name == "load_skill"
    assert (span.start_time, span.end_time) == (end - 500_000_000, end)
    assert dict(span.attributes or {}) == {
        "gen_ai.skill.name": "a",
        "gen_ai.skill.source": "team",
        "gen_ai.skill.file": "SKILL.md",
        "gen_ai.skill.via": "tool",
        "gen_ai.skill.digest": "sha256:a",
        "gen_ai.skill.size_bytes": 40,
        "gen_ai.skill.tokens": 10,
        "gen_ai.skill.release": "r1",
        "gen_ai.skill.agent": "desk",
    }
    assert span.status.status_code is StatusCode.UNSET


def test_spans_belong_to_anyone_who_loads_and_failures_say_so(
    provider: TracerProvider, exporter: InMemorySpanExporter
) -> None:
    made = Skill("a", instructions="x", description="d")
    skills = Satchel(made, sinks=[TracingSink(provider)])
    tracer = provider.get_tracer("test")
    with tracer.start_as_current_span("agent") as parent:
        skills.load("a")
        with pytest.raises(SkillNotFoundError):
            skills.load("b")
    skills.load("a")

    good, bad, agent, alone = exporter.get_finished_spans()
    context = parent.get_span_context()
    for span in (good, bad):
        assert span.parent is not None
        assert span.parent.span_id == context.span_id
        assert span.context.trace_id == context.trace_id
        assert agent.start_time is not None
        assert span.start_time is not None
        assert agent.start_time <= span.start_time <= (span.end_time or 0)
    assert alone.parent is None
    assert bad.status.status_code is StatusCode.ERROR
    assert bad.status.description == "skill 'b' not found"
    assert (bad.attributes or {})["error.type"] == "skill-not-found"
    assert skills.sink_failures == {}


@pytest.mark.row("F29")
def test_the_span_of_a_tool_call_says_which_skill_it_loads(
    provider: TracerProvider, exporter: InMemorySpanExporter
) -> None:
    """A skill that is not there is no skill's name, no matter who asks for it."""
    made = Skill("a", instructions="x", description="d")
    session = Satchel(made, sinks=[TracingSink(provider)]).session()
    tracer = provider.get_tracer("framework")

    for skill_id in ("a", "made-up"):
        with tracer.start_as_current_span("execute_tool"):
            session.call("load_skill", {"skill_id": skill_id})

    expected = [
        dict(span.attributes or {}).get("gen_ai.skill.name")
        for span in exporter.get_finished_spans()
        if span.name == "execute_tool"
    ]
    assert expected == ["a", None]
