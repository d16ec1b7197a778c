"""The how-to page of the adapter whose turn it is runs, and what other pages show."""

from __future__ import annotations

import asyncio
import gc
import re
import shutil
import warnings
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

import pytest

from satchel import Satchel
from tests.docs.pages import run_page
from tools.adapters.frameworks import ROOT, Adapter

# Pages that show how a few frameworks are attached, in few lines each.
OTHERS: Final = (
    *("README.md", "docs/tutorial/first-agent.md"),
    "docs/how-to/adapters/index.md",
)
LINES: Final = 5
_BLOCK: Final = (
    r'<!--- skip: next "runs next to its framework: {}" -->\n\n```python\n([^`]*)```'
)

if TYPE_CHECKING:
    from pathlib import Path


def test_the_page_runs(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = Adapter(request.config.getoption("adapter")).page
    shutil.copytree(ROOT / "examples" / "skills", tmp_path / "skills")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))  # what a framework keeps goes with it

    assert page.exists(), f"write {page.relative_to(ROOT)}"
    try:
        run_page(page)
    finally:
        _close_loops()


@pytest.mark.parametrize("page", OTHERS)
def test_its_lines_on_other_pages_run(
    page: str,
    request: pytest.FixtureRequest,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What is shown for a few frameworks attaches, in five lines, and answers."""
    name: str = request.config.getoption("adapter")
    shutil.copytree(ROOT / "examples" / "skills", tmp_path / "skills")
    monkeypatch.chdir(tmp_path)
    text = (ROOT / page).read_text("utf-8")

    for block in re.findall(_BLOCK.format(name), text):
        assert len([line for line in block.splitlines() if line]) <= LINES
        example = {"skills": Satchel("skills"), "model": _model(name), "mine": _mine}
        try:
            exec(compile(block, page, "exec"), example)  # noqa: S102
        finally:
            _close_loops()


def _model(name: str) -> object:
    """Return the fake model of the adapter's driver, which says one thing."""
    driver: Any = import_module(f"tests.adapters.{name}")
    return driver.fake_model(lambda _: "Done.")


def _mine(city: str) -> str:
    """Tell the weather."""
    return f"sunny in {city}"


def _close_loops() -> None:
    """Close the event loops that a framework's synchronous calls left, if any did.

    A page that goes on with `asyncio.run` has taken the place of the first.
    """
    with warnings.catch_warnings(action="ignore"):
        with suppress(RuntimeError):
            asyncio.get_event_loop().close()
        asyncio.set_event_loop(None)
        gc.collect()
