"""Which sources are given places to read in, and which need none."""

import pytest

from satchel.catalog._source_scanner import LimitedReader, reader_of
from tests.fakes import FakeClock, FakeSource


@pytest.mark.row("F41")
@pytest.mark.parametrize(
    ("members", "is_placed"),
    [({}, True), ({"near": True}, False), ({"has_places": True}, False)],
)
def test_only_a_source_of_this_machine_or_with_its_own_needs_none(
    members: dict[str, bool], *, is_placed: bool
) -> None:
    class Source(FakeSource):
        near = members.get("near", False)
        if "has_places" in members:
            limits_reads = members["has_places"]

    reader = reader_of(Source("s", {}), "s", FakeClock())

    assert isinstance(reader, LimitedReader) is is_placed
