"""What the tests of events share."""

from collections.abc import Iterator

import pytest

from tests.unit.usage.postgres import drop_databases


@pytest.fixture(scope="session", autouse=True)
def databases() -> Iterator[None]:
    """Drop the databases at the end, also where a process has no other."""
    yield
    drop_databases()
