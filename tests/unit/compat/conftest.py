"""A folder with two role packs, and nothing kept from test to test."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from satchel_compat import invalidate_cache
from tests.unit.compat.templates import DESCRIPTIONS, write_role


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    invalidate_cache()
    yield
    invalidate_cache()


@pytest.fixture
def templates(tmp_path: Path) -> Path:
    folder = tmp_path / "templates"
    for name in DESCRIPTIONS:
        write_role(folder, name, body=f"# {name.title()}\n\nDo it well.\n")
    return folder
