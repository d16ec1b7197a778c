"""The how-to page of the adapter whose turn it is: its examples run."""

from __future__ import annotations

import asyncio
import shutil
import warnings
from contextlib import suppress
from typing import TYPE_CHECKING

from tests.docs.test_examples import run_page
from tools.adapters.known import ROOT, Adapter

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_the_page_runs(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = Adapter(request.config.getoption("adapter")).page
    shutil.copytree(ROOT / "examples" / "skills", tmp_path / "skills")
    monkeypatch.chdir(tmp_path)

    assert page.exists(), f"write {page.relative_to(ROOT)}"
    try:
        run_page(page)
    finally:
        _close_loop()


def _close_loop() -> None:
    """Close the event loop that a framework's synchronous call left, if one did."""
    with suppress(RuntimeError), warnings.catch_warnings(action="ignore"):
        asyncio.get_event_loop().close()
    asyncio.set_event_loop(None)
