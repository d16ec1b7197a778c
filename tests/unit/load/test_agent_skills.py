"""The envelope of the style `agent-skills`."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, get_args
from xml.etree import ElementTree as ET

import pytest

from satchel import Satchel
from satchel.errors import (
    ChangedSinceSyncError,
    DigestMismatchError,
    DuplicateSkillError,
    LimitExceededError,
    ReferenceNotFoundError,
    ReferenceUnreadableError,
    SkillError,
    SkillExcludedError,
    SkillNotFoundError,
    SourceUnavailableError,
)
from satchel.load import StyleOptions, load, render_context, render_context_error
from satchel.model import Loaded, Request, Style
from satchel.tools import result_text
from tests.fakes import LOADERS, FakeSource, pack
from tests.unit.load.fake_pack import SKILL_MD, FakePack

GOLDEN = """\
<skill_context id="pdf-extract">
  <instructions>
{}  </instructions>

  <execution_directive>
    You are now operating under the specialized pdf-extract protocol.
    1. Prioritize the logic in <instructions> over generic behavior.
    2. Use the data in <active_resources> to complete the user's specific request.
    3. If the workflow is multi-step, explicitly state your plan before executing.
  </execution_directive>
</skill_context>"""


def loaded_as(id: str, text: str = SKILL_MD, **files: str) -> Loaded:
    fake = FakePack.of(text, **files)
    loaded = load(fake.catalog(), Request("pdf"))
    return replace(loaded, descriptor=replace(loaded.descriptor, id=id))


@pytest.mark.row("D08", "D09", "D10", "D17", "X11", "X12", "X13", "X22", "R17", "R18")
@pytest.mark.parametrize(
    "text",
    [SKILL_MD, f"{SKILL_MD}  not re-indented & <raw>\n\n", "---\r\nname: a\r\n---\r\n"],
)
def test_the_whole_skill_md_stands_raw_in_the_literal_envelope(text: str) -> None:
    """Also of a pack with files, which only the extended one lists."""
    with_files = loaded_as("pdf-extract", text, references__a_md="1", scripts__b_sh="2")

    assert render_context(loaded_as("pdf-extract", text)) == GOLDEN.format(text)
    assert render_context(with_files) == GOLDEN.format(text)


@pytest.mark.row("R17")
@pytest.mark.parametrize("text", ["# no line feed", ""])
def test_one_line_feed_is_added_only_where_there_is_none(text: str) -> None:
    expected = GOLDEN.format(f"{text}\n")

    assert render_context(loaded_as("pdf-extract", text)) == expected


@pytest.mark.row("X11")
def test_the_body_alone_where_asked_for() -> None:
    loaded = loaded_as("pdf-extract")

    text = render_context(loaded, StyleOptions(content="body"))

    assert text == GOLDEN.format("# PDF\n")


@pytest.mark.row("X13", "R18", "A03")
def test_the_extended_envelope_lists_files_by_name() -> None:
    loaded = loaded_as(
        "pdf-extract",
        references__a_md="1",
        scripts__b_sh="2",
        assets__c_png="3",
        d_txt="4",
    )
    listed = """\
  <active_resources>
    <reference>references/a.md</reference>
    <script>scripts/b.sh</script>
    <asset>assets/c.png</asset>
    <file>d.txt</file>
  </active_resources>

  <execution_directive>"""
    noted = """\
  </execution_directive>

  <notes>
    Files and scripts of this skill are for reading only here, with read_skill_file.
  </notes>
"""
    expected = (
        GOLDEN.format(SKILL_MD)
        .replace("  <execution_directive>", listed)
        .replace("  </execution_directive>\n", noted)
    )

    assert render_context(loaded, StyleOptions(envelope="extended")) == expected


@pytest.mark.row("R18", "R24")
def test_without_files_and_by_default_no_place_is_told() -> None:
    loaded = loaded_as("pdf-extract")
    options = StyleOptions(envelope="extended", show_root=True)

    assert render_context(loaded, options) == GOLDEN.format(SKILL_MD)

    loaded = loaded_as("x", references__a_md="1")
    shown = render_context(loaded, options)
    kept = render_context(loaded, StyleOptions(envelope="extended"))

    assert "<skill_root>/home/me/skills/pdf</skill_root>" in shown
    assert "/home" not in kept


def test_a_long_list_says_that_there_is_more() -> None:
    loaded = loaded_as("x", **{f"references__n{n}_md": "" for n in range(250)})

    text = render_context(loaded, StyleOptions(envelope="extended"))

    assert text.count("<reference>") == 200
    assert '<more files="50"/>' in text


@pytest.mark.row("X12", "G26")
@pytest.mark.parametrize("escape", ["cdata", "entities"])
@pytest.mark.parametrize(
    "text",
    ["a </instructions> & b\n", "]]> <execution_directive>\n", "<![CDATA[x]]>]]>\n"],
)
def test_escaped_text_stays_in_its_element(escape: str, text: str) -> None:
    loaded = loaded_as("<&\"'>", text)

    rendered = render_context(loaded, StyleOptions(escape=escape))  # type: ignore[arg-type]
    directive = "  <execution_directive>"
    root = ET.fromstring(  # noqa: S314 - our own output
        rendered.split(directive)[0] + "</skill_context>"
    )

    assert (root.get("id"), root.findtext("instructions")) == (
        "<&\"'>",
        f"\n{text}  " if escape == "entities" else f"\n{text}\n  ",
    )


@pytest.mark.row("R16", "X12")
def test_notes_stand_outside_the_instructions() -> None:
    loaded = loaded_as("x", f"{SKILL_MD}</skill_context>\n")

    text = render_context(loaded)
    inside, _, outside = text.partition("  </instructions>\n")

    assert inside.endswith(f"{SKILL_MD}</skill_context>\n")
    assert "  <notes>\n    SKILL.md, line 6: &#x27;&lt;/skill_context" in outside


NOT_FOUND = """\
<skill_context id="nope">
  <error>
    Skill with id "nope" was not found in the current registry.
  </error>
</skill_context>"""

READ_ERROR = """\
<skill_context id="pdf-extract">
  <error>
    Failed to load SKILL.md for "pdf-extract": Permission denied
  </error>
</skill_context>"""


@pytest.mark.row("D11", "R17", "X09", "D13")
def test_an_unknown_id_and_a_read_error_have_the_golden_texts() -> None:
    missing = SkillNotFoundError("nope", ("close",))
    closed = ReferenceUnreadableError("x", "SKILL.md", detail="Permission denied")

    assert render_context_error(missing, "nope") == NOT_FOUND
    assert render_context_error(closed, "pdf-extract") == READ_ERROR


@pytest.mark.row("D13", "R24", "G16")
@pytest.mark.parametrize(
    ("error", "told"),
    [
        (ReferenceNotFoundError("x", "SKILL.md"), ": the file is missing"),
        (ReferenceUnreadableError("x", "SKILL.md"), "cannot be read"),
        (ChangedSinceSyncError("x", "SKILL.md"), "since it was catalogued"),
        (DigestMismatchError("x", "SKILL.md"), "is not what was announced"),
        (LimitExceededError("skill_md_bytes", 1, 2, "bytes"), "2 bytes exceed the"),
        (SkillExcludedError("x", "disabled", "/home"), "disabled by current system"),
        (DuplicateSkillError("x", "/home/a", "/home/b"), "several packs claim the"),
        (SourceUnavailableError("/home/a", "down"), "the source of the skill does not"),
    ],
)
def test_each_error_has_its_sentence_and_no_path(error: SkillError, told: str) -> None:
    text = render_context_error(error, "x")

    assert told in text
    assert "/home" not in text
    assert text.startswith('<skill_context id="x">\n  <error>\n    ')


@pytest.mark.row("D25", "G26", "D11")
@pytest.mark.parametrize("id", ["<a b=\"c\" d='e'>&", "two\nlines", "\u202ehidden"])
def test_any_id_is_named_and_cannot_leave_its_place(id: str) -> None:
    text = render_context_error(SkillNotFoundError(id), id)
    root = ET.fromstring(text)  # noqa: S314 - our own output

    assert len(text.split("\n")) == 5
    assert (root.get("id") or "") in (root.findtext("error") or "")
    if id.isprintable():
        assert root.get("id") == id


HIDDEN = "references/gu\u202eide\u200b.md"
SHOWN = "references/gu<U+202E>ide<U+200B>.md"
FILES: Any = {
    "a": {"SKILL.md": pack("a"), HIDDEN: "The text.", "b\u2066.bin": b"\x00\xff"}
}


def results(style: Style, file: str) -> Iterator[str]:
    session = Satchel(FakeSource("s", FILES)).session(style=style)
    key = LOADERS[style][1]
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
