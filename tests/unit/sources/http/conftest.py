"""Sites for the tests of this folder; each ends with its test."""

from collections.abc import Iterator

import pytest

from tests.unit.sources.http.site import Site, serving


@pytest.fixture
def site() -> Iterator[Site]:
    yield from serving(Site())


@pytest.fixture
def other() -> Iterator[Site]:
    yield from serving(Site())
