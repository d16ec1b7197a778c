"""A bound on what one result has: parts, their outline, and folded lists."""

import re
from typing import Any, Final

import pytest

from satchel import Options, Satchel, sources
from satchel.load._parts import first_part, part_of
from satchel.model import Style
from satchel.text import EstimateCounter
from satchel.tools import ErrorText
from tests.fakes import pack

pytestmark = pytest.mark.row("U03")

COUNTER: Final = EstimateCounter()
SECTIONS: Final = "".join(f"## Fee {n}\n\n{'Pay it. ' * 40}\n\n" for n in range(9))
FENCED: Final = "# A\n\n```sh\n# no heading\n" + "echo\n" * 300 + "```\n\n# B\n\nEnd.\n"
GUIDE: Final = f"# Guide\n\nRead it.\n\n{SECTIONS}# Appendix\n\nEnd.\n"


def parts(text: str, most: int) -> list[str]:
    first, lines = part_of(text, most, COUNTER, "")
    count = int(lines[0].split(" of ")[1].partition(".")[0])
    others = (part_of(text, most, COUNTER, str(n)) for n in range(2, count + 1))
    return [first, *(one for one, _ in others)]


@pytest.mark.row("F67")
@pytest.mark.parametrize(
    "text",
    [
        GUIDE,
        FENCED,
        "x" * 5_000,
        "\n" * 5_000,
        "line\r\n" * 900,
        "\u4e2d\u6587" * 900,
        "# \n" * 900,
        "```\n# unclosed\n" + "x\n" * 2_000,
        "\U0001f600" * 700,
    ],
    ids=["guide", "fenced", "line", "blank", "crlf", "cjk", "titles", "open", "emoji"],
)
@pytest.mark.parametrize("most", [1, 40, 300])
def test_all_parts_together_are_the_text_and_each_keeps_to_the_bound(
    text: str, most: int
) -> None:
    text = text[: most * 40]
    cut = parts(text, most)

    assert "".join(cut) == text
    assert all(COUNTER.count(one) <= most for one in cut)
    assert text.startswith(first_part(text, most, COUNTER))
    assert COUNTER.count(first_part(text, most, COUNTER)) <= most


def test_parts_begin_at_headings_and_the_first_has_the_outline() -> None:
    first, lines = part_of(GUIDE, 300, COUNTER, "")

    assert lines == [
        'This is part 1 of 3. Give part "2" for what follows.',
        (
            "Sections, with their part: Guide (1), Fee 0 (1), Fee 1 (1), Fee 2 (1), "
            "Fee 3 (2), Fee 4 (2), Fee 5 (2), Fee 6 (3), Fee 7 (3), Fee 8 (3), "
            "Appendix (3). Give a title as part for a section."
        ),
    ]
    assert first.endswith("Pay it. \n\n")
    assert all(one.startswith("## Fee ") for one in parts(GUIDE, 300)[1:])
    assert part_of(GUIDE, 300, COUNTER, "3")[1] == ["This is part 3 of 3."]


@pytest.mark.row("F67")
@pytest.mark.parametrize(
    ("part", "anchor", "line", "begins", "ends"),
    [
        ("Fee 3", "", "This is 'Fee 3' in part 2 of 3.", "## Fee 3\n", "Pay it. \n\n"),
        ("fee-3", "", "This is 'Fee 3' in part 2 of 3.", "## Fee 3\n", "Pay it. \n\n"),
        ("", "fee-7", "This is 'Fee 7' in part 3 of 3.", "## Fee 7\n", "Pay it. \n\n"),
        ("", "L3", 'This is part 1 of 3. Give part "2" for', "# Guide", "Pay it. \n\n"),
        (
            "Guide",
            "",
            "This is 'Guide' in part 1 of 3. Give part \"2\" for what follows.",
            "# Guide\n",
            "Pay it. \n\n",
        ),
        ("Appendix", "", "This is 'Appendix' in part 3", "# Appendix\n", "End.\n"),
    ],
)
def test_a_section_is_given_by_its_title(
    part: str, anchor: str, line: str, begins: str, ends: str
) -> None:
    text, lines = part_of(GUIDE, 300, COUNTER, part, anchor)

    assert lines[0].startswith(line)
    assert text.startswith(begins)
    assert text.endswith(ends)


def test_code_has_no_headings_and_an_outline_is_short() -> None:
    many = "# Top\n\n" + "".join(f"## {n} {'t' * 90}\n\ntext\n\n" for n in range(900))

    assert "no heading" not in part_of(FENCED, 100, COUNTER, "")[1][1]
    assert "B (" in part_of(FENCED, 100, COUNTER, "")[1][1]
    outline = part_of(many, 300, COUNTER, "")[1][1]
    assert outline.startswith("Sections, with their part: Top (1), 0 ttt")
    assert " and 861 more. Give a title" in outline
    assert len(outline) < 3_000


def big(**options: Any) -> Satchel:  # noqa: ANN401 - of `Options`
    files = {
        "SKILL.md": pack("fees", body=GUIDE),
        "references/rates.md": GUIDE,
        "references/rates.txt": "x" * 4_000,
        "short.md": "Hi.\n",
    }
    source = sources.memory({"fees": files, "plain": {"SKILL.md": pack("plain")}})
    return Satchel(source, options=Options(**options))


RATES: Final = {"skill_id": "fees", "path": "rates.md"}


@pytest.mark.row("F67")
@pytest.mark.parametrize(
    ("tool", "arguments", "head"),
    [
        (
            "load_skill",
            {"skill_id": "fees"},
            (
                "Skill: fees\nFiles (read_skill_file): references/rates.md, "
                "references/rates.txt, short.md\nThis is part 1 of 3. Give part"
            ),
        ),
        (
            "load_skill",
            {"skill_id": "fees", "part": "Fee 3"},
            (
                "Skill: fees\nFiles (read_skill_file): references/rates.md, "
                "references/rates.txt, short.md\nThis is 'Fee 3' in part 2 of 3.\n\n##"
            ),
        ),
        ("read_skill_file", RATES, "File: references/rates.md of fees\nThis is part 1"),
        (
            "read_skill_file",
            {**RATES, "path": "rates.md#fee-7"},
            "File: references/rates.md of fees\nThis is 'Fee 7' in part 3 of 3.\n\n## ",
        ),
        (
            "read_skill_file",
            {**RATES, "part": "3"},
            "File: references/rates.md of fees\nThis is part 3 of 3.\n\n## Fee 6\n",
        ),
        (
            "read_skill_file",
            {**RATES, "path": "rates.txt", "part": "2"},
            'File: references/rates.txt of fees\nThis is part 2 of 4. Give part "3" ',
        ),
        (
            "read_skill_file",
            {**RATES, "path": "short.md"},
            "File: short.md of fees\n\n",
        ),
        (
            "read_skill_file",
            {**RATES, "part": "9"},
            "Error: part: there is no '9': give 1 to 3, or a title.",
        ),
        (
            "read_skill_file",
            {**RATES, "path": "short.md", "part": "Fees"},
            "Error: part: there is no 'Fees': give 1 to 1, or a title.",
        ),
        (
            "read_skill_file",
            {**RATES, "path": "short.md", "part": None},
            "File: short.",
        ),
    ],
)
@pytest.mark.parametrize("served", [False, True])
def test_a_long_text_comes_in_parts(
    tool: str, arguments: dict[str, object], head: str, *, served: bool
) -> None:
    skills = big(max_result_tokens=300)
    tools = skills.view().tools() if served else skills.session()

    result = str(tools.call(tool, arguments))

    assert result.startswith(head)
    assert COUNTER.count(result) <= 300 + 100


def test_without_a_bound_a_text_comes_whole_and_no_tool_has_a_part() -> None:
    session = big(max_result_tokens=None).session()

    assert GUIDE.strip() in str(session.call("load_skill", {"skill_id": "fees"}))
    assert "part" not in str([tool.parameters for tool in session.tools()])
    assert "part" in str([tool.parameters for tool in big().session().tools()])
    # By default, a text of 25,000 tokens is given whole.
    assert GUIDE.strip() in str(
        big().session().call("load_skill", {"skill_id": "fees"})
    )


@pytest.mark.row("F67")
@pytest.mark.parametrize("style", ["agent-skills", "packs", "references"])
@pytest.mark.parametrize("served", [False, True])
def test_the_older_styles_answer_whole_or_say_that_it_is_too_much(
    style: Style, *, served: bool
) -> None:
    skills = big(max_result_tokens=300)
    session = skills.session(style=style)
    tools: Any = skills.view(style=style).tools() if served else session
    tool = "load_skill_instructions" if style == "references" else "load_skill"
    key = {"packs": "name", "references": "skill_name"}.get(style, "skill_id")

    refused = str(tools.call(tool, {key: "fees"}))
    whole = str(tools.call(tool, {key: "plain"}))

    assert "tokens exceed the limit max_result_tokens = 300 tokens" in refused
    assert "Pay it." not in refused
    assert session.activations == () or not served
    assert "exceed" not in whole


@pytest.mark.parametrize("most", [0, -1])
def test_a_bound_is_a_count(most: int) -> None:
    with pytest.raises(ValueError, match=r"max_result_tokens: expected a count from 1"):
        Options(max_result_tokens=most)


# --- Lists of files -------------------------------------------------------------------


def listed(*paths: str) -> str:
    files = {"SKILL.md": pack("a"), **dict.fromkeys(paths, "x")}
    session = Satchel(sources.memory({"a": files})).session()
    text = str(session.call("load_skill", {"skill_id": "a"}))
    return text.partition("Files (read_skill_file): ")[2].partition("\n")[0]


XSD: Final = [f"assets/schemas/{n:02}.xsd" for n in range(39)]


@pytest.mark.row("F67")
@pytest.mark.parametrize(
    ("paths", "line"),
    [
        (
            ["b.md", *XSD, "scripts/a.py"],
            "scripts/a.py, b.md, assets/schemas/ (39 files)",
        ),
        ([f"references/{n}.md" for n in range(21)], "references/ (21 files)"),
        (
            [f"references/{n}/{m}.md" for n in range(15) for m in range(3)],
            None,
        ),
        (
            [f"t/{n:02}/a.md" for n in range(30)],
            "t/ (30 files)",
        ),
        ([*XSD, *(f"assets/{n:02}.md" for n in range(22))], "assets/ (61 files)"),
        ([f"my docs/{n}.md" for n in range(25)], '"my docs/" (25 files)'),
    ],
)
def test_folders_of_many_files_are_folded(paths: list[str], line: str | None) -> None:
    if line is not None:
        assert listed(*paths) == line
    assert len(re.findall(r"\(\d+ files\)", listed(*paths))) == 1


def test_few_files_are_named_one_by_one() -> None:
    paths = [f"references/{n:02}.md" for n in range(20)]

    assert listed(*paths) == ", ".join(paths)


@pytest.mark.parametrize(
    "path", ["assets/schemas", "./assets/schemas/", "assets//schemas"]
)
def test_a_folder_that_is_asked_for_gives_its_files(path: str) -> None:
    files = {"SKILL.md": pack("a"), **dict.fromkeys(XSD, "x")}
    session = Satchel(sources.memory({"a": files})).session()
    asked = {"skill_id": "a", "path": path}

    text = session.call("read_skill_file", asked)

    assert text == f"Folder: assets/schemas/ of a\nFiles: {', '.join(XSD)}"
    assert not isinstance(text, ErrorText)
    missed = session.call("read_skill_file", {"skill_id": "a", "path": "assets/schema"})
    assert isinstance(missed, ErrorText)
