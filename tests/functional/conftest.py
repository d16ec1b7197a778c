"""What tests of commands share."""

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder of the test's own, so that paths are short, and known."""
    monkeypatch.chdir(tmp_path)
    return tmp_path
