"""The page that leads through the heart: its files exist, and it has all rooms."""

import re
from typing import Final

from tools.api import ROOT

PAGE: Final = ROOT / "docs" / "contributing" / "heart.md"
HEART: Final = ROOT / "src" / "satchel"
TEXT: Final = PAGE.read_text("utf-8")
_STOP: Final = re.compile(r"^(?:- )?\[`(src/[\w/]+\.py)`\]", re.MULTILINE)


def test_each_stop_is_a_file_that_has_what_is_said_of_it() -> None:
    """The first name that is in code after the file is defined there."""
    _, *parts = _STOP.split(TEXT)
    stops = dict(zip(parts[::2], parts[1::2], strict=True))

    assert len(stops) > 15
    for path, about in stops.items():
        source = (ROOT / path).read_text("utf-8")
        named = re.match(r"\S*:\s+(?:read )?`(\w+)[.`]", about.partition(")")[2])
        assert named is None or re.search(rf"(class|def) {named[1]}\b", source), path


def test_each_room_is_mentioned() -> None:
    rooms = {
        path.stem
        for path in HEART.iterdir()
        if (path.is_dir() or path.suffix == ".py") and not path.name.startswith("_")
    }
    words = {*re.findall(r"\w+", " ".join(re.findall(r"`[^`\n]+`", TEXT)))}

    assert sorted(rooms - words) == []
