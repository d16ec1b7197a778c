"""Sites for the tests of this folder; each ends with its test."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.unit.sources.http.site import Site, serving

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def site() -> Iterator[Site]:
    yield from serving(Site())


@pytest.fixture
def other() -> Iterator[Site]:
    yield from serving(Site())
