"""What a session has to say about the results of its tools, in every style."""

from dataclasses import replace
from typing import Any, get_args

import pytest

from satchel.errors import SkillError
from satchel.load import (
    PlainBackend,
    StyleOptions,
    load,
    offer_reader,
    packs_result,
    render_context,
    tools_for,
)
from satchel.model import Catalog, Descriptor, Loaded, Request, Style
from tests.fakes import LOADERS
from tests.unit.load.fake_pack import SKILL_MD, FakeBackend, FakePack

EXTENDED = StyleOptions(envelope="extended")
RUN = "Run ${CLAUDE_SKILL_DIR}/scripts/a.py, ${SKILL_DIR}/b, ${HOME}\n"


def fake() -> FakePack:
    return FakePack.of(
        f"{SKILL_MD}{RUN}",
        references__a_md="# A ${SKILL_DIR}\n",
        scripts__a_py="print()\n",
        NOTICE_txt="free\n",
    )


def call(  # noqa: PLR0913 - what a test varies, all by name
    style: Style,
    /,
    *,
    tool: str = "",
    id: str = "pdf",
    extended: bool = True,
    answers: dict[str, Any] | None = None,
    one: FakePack | None = None,
    **arguments: str,
) -> Any:  # noqa: ANN401 - JSON
    load_tool, key = LOADERS[style]
    box = tools_for(
        style,
        FakeBackend((one or fake()).catalog(), **answers or {}),
        options=StyleOptions(envelope="extended" if extended else "2026-02"),
    )
    return box.call(tool or load_tool, {key: id, **arguments})


def notes_of(style: Style, result: Any) -> list[str]:  # noqa: ANN401 - JSON
    if style == "lean":
        head = result.partition("\n\n")[0].split("\n")
        return [line for line in head[1:] if not line.startswith("Files ")]
    if style != "agent-skills":
        return list(result.get("notes", ()))
    if "<notes>" not in result:
        return []
    inner = result.partition("<notes>\n")[2].partition("  </notes>")[0]
    return [line.strip() for line in inner.splitlines()]


INSTEAD = """\
<skill_context id="pdf">
  <note>Above &lt;it&gt;.</note>
  <note>New.</note>
</skill_context>"""
MISS = """\
<skill_context id="x">
  <error>
    Skill with id "x" was not found in the current registry.
  </error>
</skill_context>
Ask for &lt;pdf&gt;."""
READ_ONLY: dict[Style, str] = {
    "agent-skills": "read_skill_file",
    "packs": "load_skill and read_skill_file",
    "references": "load_skill_instructions",
}


@pytest.mark.row("D08", "R18")
@pytest.mark.parametrize("style", [*READ_ONLY])
def test_a_session_says_with_what_the_files_are_read(style: Style) -> None:
    (note,) = notes_of(style, call(style))

    assert note.startswith("Files and scripts of this skill are for reading only here")
    assert note.endswith(f", with {READ_ONLY[style]}.")

    # Not outside of a session, and not of a skill without files.
    assert notes_of(style, call(style, extended=False)) == []
    assert notes_of(style, call(style, one=FakePack.of(SKILL_MD))) == []


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"references__a_md": "1"}, "load_skill"),
        ({"assets__a_md": "1"}, "read_skill_file"),
        ({"n_txt": "1", "scripts__a_py": "1"}, "load_skill and read_skill_file"),
    ],
)
def test_in_packs_only_tools_that_give_something_are_named(
    files: dict[str, str], expected: str
) -> None:
    catalog = FakePack.of(SKILL_MD, **files).catalog()

    result: Any = packs_result(FakeBackend(catalog), "pdf", options=EXTENDED)

    assert result["notes"][0].endswith(f"with {expected}.")


@pytest.mark.row("E23")
@pytest.mark.parametrize("style", get_args(Style))
def test_a_root_is_told_and_filled_in(style: Style) -> None:
    """In the instructions; a file stays as it is, byte for byte."""
    answers = {
        "folder": lambda loaded: f"/staged/{loaded.id}",
        "notes": lambda loaded: (f"Tools of {loaded.id} are open.",),
    }

    result = call(style, answers=answers)

    assert notes_of(style, result) == [
        "Relative paths in these instructions are relative to /staged/pdf.",
        "Tools of pdf are open.",
    ]
    assert "Run /staged/pdf/scripts/a.py, /staged/pdf/b, ${HOME}" in _text(result)


def _text(result: Any) -> str:  # noqa: ANN401 - JSON
    if isinstance(result, str):
        return result
    return str(result.get("body") or result.get("instructions"))


def test_a_file_is_never_filled_in_and_a_shown_root_is_named() -> None:
    answers = {"folder": lambda _: "/staged"}
    in_packs = call("packs", answers=answers, reference="a.md")

    assert in_packs["reference_content"] == "# A ${SKILL_DIR}\n"
    assert "notes" not in in_packs
    assert call("references", answers=answers, reference="a.md") == "# A ${SKILL_DIR}\n"

    loaded = load(fake().catalog(), Request("pdf"))

    text = render_context(loaded, replace(EXTENDED, show_root=True))

    assert notes_of("agent-skills", text) == [
        "Relative paths in these instructions are relative to &lt;skill_root&gt;."
    ]


@pytest.mark.parametrize(
    ("style", "expected"),
    [
        ("agent-skills", INSTEAD),
        (
            "packs",
            {
                "name": "pdf",
                "body": "",
                "available_references": ["a.md"],
                "available_scripts": ["a.py"],
                "reference_content": None,
                "script_content": None,
                "error": None,
                "notes": ["Above <it>.", "New."],
            },
        ),
        (
            "references",
            {
                "name": "pdf",
                "instructions": "",
                "tools": [],
                "references": ["references/a.md", "scripts/a.py", "NOTICE.txt"],
                "notes": ["Above <it>.", "New."],
            },
        ),
    ],
)
def test_a_note_may_stand_in_place_of_the_text(style: Style, expected: object) -> None:
    """The other notes stay: some are told only once."""
    answers = {"unchanged": lambda _: "Above <it>.", "notes": lambda _: ("New.",)}

    assert call(style, answers=answers) == expected


def _never(loaded: Loaded) -> str:
    raise AssertionError(loaded)


@pytest.mark.parametrize(
    ("style", "arguments", "content"),
    [
        ("packs", {"reference": "a.md"}, "reference_content"),
        ("packs", {"tool": "read_skill_file", "path": "NOTICE.txt"}, "content"),
        ("agent-skills", {"tool": "read_skill_file", "path": "a.md"}, "content"),
        ("references", {"reference": "a.md"}, "content"),
    ],
)
def test_a_note_may_stand_in_place_of_a_file(
    style: Style, arguments: dict[str, Any], content: str
) -> None:
    answers = {"unchanged": lambda loaded: f"{loaded.file} stands above."}

    result = call(style, answers=answers, **arguments)

    assert result[content] == ""
    assert len(result["notes"]) == 1
    assert result["notes"][0].endswith(" stands above.")


@pytest.mark.parametrize(
    ("style", "arguments", "expected"),
    [
        ("agent-skills", {}, MISS),
        ("packs", {}, "skill 'x' not found"),
        (
            "references",
            {},
            {"error": "unknown_skill", "skill_name": "x", "advice": "Ask for <pdf>."},
        ),
        (
            "agent-skills",
            {"tool": "read_skill_file", "path": "a"},
            {
                "error": {
                    "code": "skill-not-found",
                    "message": "skill 'x' not found. Ask for <pdf>.",
                }
            },
        ),
    ],
)
def test_a_miss_may_get_a_further_sentence(
    style: Style, arguments: dict[str, Any], expected: object
) -> None:
    """It is asked for once an error, and the hooks of results are not."""
    asked: list[SkillError] = []

    def advise(error: SkillError) -> str:
        asked.append(error)
        return "Ask for <pdf>."

    answers = {"advice": advise, "unchanged": _never, "folder": _never}
    result = call(style, answers=answers, id="x", **arguments)

    assert (result["error"] if style == "packs" else result) == expected
    if style == "packs":
        assert result["notes"] == ["Ask for <pdf>."]
    assert [error.code for error in asked] == ["skill-not-found"]


def test_an_error_that_is_no_miss_gets_it_in_its_message() -> None:
    answers = {"advice": lambda _: "Stop."}
    result = call("references", answers=answers, reference="nope.md")

    assert result["error"]["message"].endswith("NOTICE.txt. Stop.")


@pytest.mark.row("E28")
@pytest.mark.parametrize("style", [*READ_ONLY])
def test_the_load_tool_says_how_to_pass_the_id_and_to_go_on(style: Style) -> None:
    box = tools_for(style, PlainBackend(_loads_nothing, fake().catalog))
    tool = box.get(LOADERS[style][0])

    assert tool is not None
    assert "character for character; it is not the name of a tool" in tool.description
    assert tool.description.endswith("After loading, go on with the task.")


def _loads_nothing(request: Request) -> Loaded:
    raise AssertionError(request)


@pytest.mark.parametrize(
    ("entry", "offered"),
    [
        (Descriptor("a", "A."), (False, False)),
        (Descriptor("a", "A.", references=("r",)), (True, False)),
        (Descriptor("a", "A.", scripts=("r",)), (True, False)),
        (Descriptor("a", "A.", assets=("r",)), (True, True)),
        (Descriptor("a", "A.", others=("r",)), (True, True)),
    ],
)
def test_a_reader_is_worth_its_place_where_it_can_give_something(
    entry: Descriptor, offered: tuple[bool, bool]
) -> None:
    catalog = Catalog((Descriptor("0", "None."), entry))

    styles: tuple[Style, ...] = ("agent-skills", "packs")
    assert tuple(offer_reader(style, catalog.entries) for style in styles) == offered
