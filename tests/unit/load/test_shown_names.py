"""Names of files that hide characters are shown, and can be asked for as shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args

import pytest

from satchel import Satchel
from satchel.model import Style
from satchel.tools import result_text
from tests.fakes import FakeSource, pack

if TYPE_CHECKING:
    from collections.abc import Iterator

HIDDEN = "references/gu\u202eide\u200b.md"
SHOWN = "references/gu<U+202E>ide<U+200B>.md"
FILES: Any = {
    "a": {"SKILL.md": pack("a"), HIDDEN: "The text.", "b\u2066.bin": b"\x00\xff"}
}
KEY = {"agent-skills": "skill_id", "packs": "name", "references": "skill_name"}


def results(style: Style, file: str) -> Iterator[str]:
    session = Satchel(FakeSource("s", FILES)).session(style=style)
    key = KEY[style]
    yield session.instructions()
    for tool in session.tools():
        for arguments in (
            {key: "a"},
            {key: "a", "path": file},
            {key: "a", "path": "b\u2066.bin"},
            {key: "a", "reference": file},
            {key: "a", "reference": "nope"},
            {key: "a", "script": "b\u2066.bin"},
            {},
            {"query": "gu"},
        ):
            yield result_text(session.call(tool.name, arguments))


@pytest.mark.row("F29")
@pytest.mark.parametrize("file", [HIDDEN, SHOWN, SHOWN.removeprefix("references/")])
@pytest.mark.parametrize("style", get_args(Style))
def test_no_hidden_character_of_a_name_reaches_a_model(style: Style, file: str) -> None:
    texts = "\n".join(results(style, file))

    for character in "\u202e\u200b\u2066":
        assert character not in texts
        assert f"\\u{ord(character):04x}" not in texts
    assert "The text." in texts


@pytest.mark.row("F29")
def test_a_name_as_it_is_shown_is_the_file() -> None:
    skills = Satchel(FakeSource("s", FILES))

    assert skills.load("a", SHOWN).file == HIDDEN
    assert skills.load("a", HIDDEN).file == HIDDEN
