"""A callback that says how many packs are read so far."""

import logging
import threading

import pytest

from satchel import Options, Satchel
from tests.fakes import FakeSource, pack


class SlowSource(FakeSource):
    """Gives one manifest, and the others when it is asked for them."""

    def __init__(self) -> None:
        names = ("a", "b", "c")
        super().__init__("s", {n: {"SKILL.md": pack(n, "Use it.")} for n in names})
        self.gate = threading.Event()

    def manifest(self, key: str) -> bytes:
        if key == "b":
            assert self.gate.wait(60)
        return self.read(key, "SKILL.md", 1 << 20)


def test_packs_are_counted_while_a_sync_waits() -> None:
    source, counts = SlowSource(), list[int]()

    def progress(packs: int) -> None:
        counts.append(packs)
        source.gate.set()

    with Satchel(source, options=Options(progress=progress)) as skills:
        assert len(skills) == 3
    assert counts[0] == 1


def test_one_that_fails_is_logged_and_not_called_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    source, counts = SlowSource(), list[int]()

    def progress(packs: int) -> None:
        counts.append(packs)
        source.gate.set()
        raise ValueError("no terminal")

    with caplog.at_level(logging.ERROR, "satchel"):
        skills = Satchel(source, options=Options(progress=progress))
    assert (len(skills), counts) == (3, [1])
    assert "the progress callback failed" in caplog.text
    source.gate.clear()
    source.packs["d"] = {"SKILL.md": pack("d", "Use it.")}
    source.packs["b"]["SKILL.md"] = pack("b", "Use it twice.")
    threading.Timer(0.3, source.gate.set).start()
    skills.sync()
    assert (len(skills), counts) == (4, [1])
