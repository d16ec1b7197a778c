"""One fleet for the tests of a module; skipped aloud where an engine is missing."""

from collections.abc import Iterator

import pytest

from tests.fleet.engines import MissingEngineError
from tests.fleet.running import Fleet, fleet


@pytest.fixture(scope="module")
def running() -> Iterator[Fleet]:
    """Three servers without tokens."""
    try:
        with fleet() as started:
            yield started
    except MissingEngineError as missing:
        pytest.skip(f"a fleet needs {missing}; to run this: make fleet")
