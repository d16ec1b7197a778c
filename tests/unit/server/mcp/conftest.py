"""A client of the library that `write_skills` writes; see the hook one folder up."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.unit.server.mcp.clients import connected, library, write_skills

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager
    from pathlib import Path

    from mcp.client import Client


@pytest.fixture
def era() -> str:
    return "auto"


@pytest.fixture
def client(tmp_path: Path, era: str) -> AbstractAsyncContextManager[Client]:
    return connected(library(write_skills(tmp_path)), era)
