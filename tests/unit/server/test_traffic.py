"""What a server was asked, as an operator sees it."""

from __future__ import annotations

import pytest

from satchel.server._guard._messages import TrafficCounts


def figures(traffic: TrafficCounts) -> list[str]:
    text = "".join(traffic.lines())
    return [line for line in text.splitlines() if not line.startswith("#")]


@pytest.mark.row("F45")
def test_requests_latency_refusals_and_streams_are_counted() -> None:
    traffic = TrafficCounts()
    traffic.streams = lambda: 3
    for path, status, duration_s in (
        ("/mcp", 200, 0.004),
        ("/mcp", 200, 0.5),
        ("/mcp", 200, None),  # a stream
        ("/mcp", 400, 0.02),
        ("/v1/skills/made-up-1", 404, 9.0),
        ("/.well-known/agent-skills/index.json", 200, 0.01),
        ("/no/such/path", 404, 0.001),
        ("/other", 0, 0.001),
    ):
        traffic.answered(path, status, duration_s)
    traffic.refused("token-required")

    shown = figures(traffic)

    assert {
        'satchel_http_requests_total{part="mcp",status="200"} 3',
        'satchel_http_requests_total{part="mcp",status="400"} 1',
        'satchel_http_requests_total{part="v1",status="404"} 1',
        'satchel_http_requests_total{part="discovery",status="200"} 1',
        'satchel_http_requests_total{part="other",status="404"} 1',
        'satchel_http_requests_total{part="other",status="0"} 1',
        'satchel_http_refusals_total{reason="token-required"} 1',
        "satchel_http_streams 3",
        "satchel_http_busy 0",
        "satchel_http_waiting 0",
        'satchel_http_request_duration_seconds_count{part="mcp"} 3',
        'satchel_http_request_duration_seconds_sum{part="mcp"} 0.524000',
    } <= {*shown}
    of_mcp = [line for line in shown if "_bucket" in line and 'part="mcp"' in line]
    assert [line.rpartition(" ")[2] for line in of_mcp] == ["1", "2", "3", "3"]


@pytest.mark.row("F45", "X03")
def test_nobody_makes_up_labels() -> None:
    traffic = TrafficCounts()
    for number in range(1000):
        traffic.answered(f"/made-up-{number}/x", 404, 0.0)

    assert len(figures(traffic)) == 1 + 6 + 3
