"""Hot reload: an edit on disk becomes a new catalog."""

import sys
import threading
from pathlib import Path

import pytest

from satchel.errors import ExtraMissingError
from satchel.runtime import FolderWatch


@pytest.mark.row("C24", "E08")
def test_several_quick_edits_are_one_call(tmp_path: Path) -> None:
    called = threading.Event()
    calls: list[int] = []

    def on_change() -> None:
        calls.append(1)
        called.set()

    with FolderWatch([str(tmp_path)], on_change, debounce_ms=100):
        for i in range(5):
            (tmp_path / f"{i}.md").write_text("x")
        assert called.wait(10)

    assert len(calls) <= 2


def test_a_missing_extra_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "watchfiles", None)

    with pytest.raises(ExtraMissingError, match=r"\[watch\]"):
        FolderWatch([str(tmp_path)], lambda: None)
