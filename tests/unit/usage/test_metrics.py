"""What Prometheus reads."""

import importlib
import sys
from collections.abc import Iterator

import pytest

from satchel.errors import ExtraMissingError
from satchel.model import UsageEvent
from satchel.usage import Sinks
from tests.unit.usage.library import NOON, copied, load, miss, sync

pytest.importorskip("prometheus_client")

from satchel_server.usage import MetricsSink


@pytest.fixture
def sink() -> Iterator[MetricsSink]:
    made = MetricsSink()
    yield made
    made.close()


def lines(sink: MetricsSink) -> list[str]:
    text, kind = sink.render()
    assert kind.startswith("text/plain")
    return [line for line in text.decode().splitlines() if not line.startswith("#")]


@pytest.mark.row("C48", "C49", "G14", "X03", "F45")
def test_the_names_and_labels_are_exactly_these(sink: MetricsSink) -> None:
    for event in (
        load("a", duration_s=0.0002),
        load("a", duration_s=0.02, reference="references/r.md"),
        load('b"\n', source="other", duration_s=20.0),
        miss("made-up"),
        load("a", error="denied", code="denied-by-policy", duration_s=9.0),
    ):
        sink.record(event)
    shown = lines(sink)

    assert [line for line in shown if not line.startswith("skill_load_duration")] == [
        'skill_load_total{name="a",source="team"} 2.0',
        'skill_load_total{name="b\\"\\n",source="other"} 1.0',
        'skill_load_tokens_total{name="a"} 20.0',
        'skill_load_tokens_total{name="b\\"\\n"} 10.0',
        'skill_load_errors_total{reason="denied-by-policy"} 1.0',
        'skill_load_errors_total{reason="skill-not-found"} 1.0',
    ]
    times = [line for line in shown if line.startswith("skill_load_duration_seconds")]
    of_a = 'skill_load_duration_seconds_{}{{name="a"}} {}'
    assert of_a.format("count", 2.0) in times
    assert of_a.format("sum", 0.0202) in times
    buckets = [line for line in times if "_bucket" in line and 'name="a"' in line]
    assert buckets == [
        'skill_load_duration_seconds_bucket{le="0.001",name="a"} 1.0',
        'skill_load_duration_seconds_bucket{le="0.05",name="a"} 2.0',
        'skill_load_duration_seconds_bucket{le="1.0",name="a"} 2.0',
        'skill_load_duration_seconds_bucket{le="+Inf",name="a"} 2.0',
    ]
    assert 'skill_load_duration_seconds_bucket{le="1.0",name="b\\"\\n"} 0.0' in times


@pytest.mark.row("F45")
def test_a_skill_that_was_loaded_has_eight_lines_and_no_other_has_any(
    sink: MetricsSink,
) -> None:
    """Two registries do not meet."""
    sink.synced(sync(NOON, *(f"s{number}" for number in range(1000))))
    sink.record(load("s1"))
    shown = [line for line in lines(sink) if "name=" in line]

    assert len(shown) == 8
    assert all('name="s1"' in line for line in shown)
    assert lines(MetricsSink()) == []


@pytest.mark.row("F40", "T10")
def test_a_copy_is_counted_apart(sink: MetricsSink) -> None:
    sink.skill_synced(copied("a"))
    sink.skill_synced(copied("b"))
    sink.skill_synced(copied("c", code="skill-not-found"))

    assert lines(sink) == ['skill_sync_total{source="team"} 2.0']


@pytest.mark.row("X03")
def test_an_unknown_name_is_never_a_label(sink: MetricsSink) -> None:
    for number in range(100):
        Sinks([sink]).emit(UsageEvent, (miss, f"made-up-{number}"))

    assert lines(sink) == ['skill_load_errors_total{reason="skill-not-found"} 100.0']


def test_the_size_of_the_catalog(sink: MetricsSink) -> None:
    sink.measure_catalog(lambda: 435)
    sink.synced(sync(NOON, "a", "b"))

    assert lines(sink) == ["skill_catalog_skills 2.0", "skill_catalog_tokens 435.0"]


def test_sources_by_other_names(sink: MetricsSink) -> None:
    """A label may be a path of this machine; the name of a folder may be any bytes."""
    sink.record(load("a", source="skills\udcff"))
    sink.flush()
    names = {"/home/ana/skills": "skills", "/home/ana/other": "other"}
    sink.name_sources(lambda label: names.pop(label, ""))
    sink.record(load("a", source="/home/ana/skills"))
    sink.record(load("a", source="/home/ana/other"))
    shown = lines(sink)

    for name in ("skills<U+DCFF>", "skills", "other"):
        assert f'skill_load_total{{name="a",source="{name}"}} 1.0' in shown


@pytest.mark.parametrize(
    ("module", "library", "extra"),
    [
        ("satchel_server.usage._metrics", "prometheus_client", "serve"),
        ("satchel_server.usage._tracing", "opentelemetry", "otel"),
    ],
)
def test_without_the_extra_its_name_is_reported(
    module: str, library: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, module, raising=False)
    for name in list(sys.modules):
        if name.partition(".")[0] == library:
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, library, None)

    with pytest.raises(ExtraMissingError, match=rf"\[{extra}\]"):
        importlib.import_module(module)
