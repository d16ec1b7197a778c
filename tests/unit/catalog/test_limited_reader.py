"""Which sources have their concurrent reads limited."""

import pytest

from satchel.catalog._packs import ParseOptions
from satchel.catalog._source_scanner import LimitedReader, SourceScanner
from tests.fakes import FakeClock, FakeSource


@pytest.mark.row("F41")
@pytest.mark.parametrize(
    ("abilities", "is_limited"),
    [({}, True), ({"near": True}, False), ({"limits_reads": True}, False)],
)
def test_only_sources_elsewhere_that_do_not_limit_themselves_are_limited(
    abilities: dict[str, bool], *, is_limited: bool
) -> None:
    source = FakeSource("s", {})
    for name, value in abilities.items():
        setattr(source, name, value)

    scanner = SourceScanner(source, "s", ParseOptions(), FakeClock(), lambda: None)

    assert isinstance(scanner.reader, LimitedReader) is is_limited
