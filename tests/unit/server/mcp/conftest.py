"""A client of the library that `write_skills` writes; see the hook one folder up."""

from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest
from mcp.client import Client

from tests.unit.server.mcp.clients import connected, library, write_skills


@pytest.fixture
def era() -> str:
    return "auto"


@pytest.fixture
def client(tmp_path: Path, era: str) -> AbstractAsyncContextManager[Client]:
    return connected(library(write_skills(tmp_path)), era)
