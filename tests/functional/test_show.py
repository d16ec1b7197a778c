"""``satchel show``: a skill, its files, and the result a tool would give."""

import json
from pathlib import Path

import pytest

from satchel.errors import ReferenceUnreadableError
from satchel.sources import LocalSource
from tests.functional.library import HOSTILE_BYTES, run, write_pack

HEAD = "---\nname: alpha\ndescription: Use alpha when testing.\n---\n"
BODY = "\n# Alpha\n\nDo [red]it[/red] now.\r\nNo line end"
LISTED = (
    "references/raw.txt, references/same.md, scripts/run.py, scripts/same.md, "
    "assets/logo.png, assets/same.md, notes.md"
)
PNG = b"\x89PNG\r\n\x1a\n\x00\x00\xff"


@pytest.fixture(autouse=True)
def library(here: Path) -> Path:
    files: dict[str, str | bytes] = {
        "references/same.md": "a reference\n",
        "references/raw.txt": HOSTILE_BYTES,
        "scripts/same.md": "a script\n",
        "scripts/run.py": "raise SystemExit('never run')\n",
        "assets/same.md": "an asset\n",
        "assets/logo.png": PNG,
        "notes.md": "notes\n",
    }
    return write_pack(here / "skills" / "alpha", HEAD + BODY, files)


def show(*arguments: str) -> bytes:
    result = run("show", *arguments, "--skills", "skills")
    assert result.exit_code == 0, result.stderr
    return result.stdout_bytes


@pytest.mark.row("C44", "C45", "C46", "C56", "G22", "G21", "R14")
@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("", BODY.encode()),
        ("--reference same.md", b"a reference\n"),
        ("--reference references/same.md", b"a reference\n"),
        ("--reference raw.txt", HOSTILE_BYTES),
        ("--script same.md", b"a script\n"),
        ("--script run.py", b"raise SystemExit('never run')\n"),
        ("--asset same.md", b"an asset\n"),
        ("--asset logo.png", PNG),
        ("--reference notes.md", b"notes\n"),
    ],
)
def test_body_and_files_are_printed_byte_for_byte(
    arguments: str, expected: bytes
) -> None:
    assert show("alpha", *arguments.split()) == expected


@pytest.mark.parametrize(
    ("arguments", "key", "content"),
    [
        (["--reference", "same.md", "--envelope", "xml"], "skill_id", "a reference\n"),
        (["--asset", "same.md", "--envelope", "xml"], "skill_id", "an asset\n"),
        (["--asset", "same.md", "--envelope", "json"], "name", "an asset\n"),
    ],
)
def test_what_no_load_skill_gives_is_read_skill_files_result(
    arguments: list[str], key: str, content: str
) -> None:
    text = show("alpha", *arguments).decode()
    document = json.loads(text)

    assert text == f"{json.dumps(document, indent=2)}\n"
    assert document[key] == "alpha"
    assert document["content"] == content


@pytest.mark.row("R12")
@pytest.mark.parametrize("envelope", ["xml", "json"])
@pytest.mark.parametrize("library_is_empty", [False, True])
def test_a_missing_file_of_a_missing_skill_is_a_result(
    envelope: str, library_is_empty: bool, tmp_path: Path
) -> None:
    (tmp_path / "empty").mkdir()
    where = "empty" if library_is_empty else "skills"
    arguments = ("--asset", "x.md", "--envelope", envelope, "--skills", where)
    result = run("show", "nope", *arguments)

    assert result.exit_code == 1
    assert json.loads(result.stdout) == {
        "error": {"code": "skill-not-found", "message": "skill 'nope' not found"}
    }


def test_one_file_at_a_time() -> None:
    arguments = ("--reference", "same.md", "--script", "same.md")

    assert run("show", "alpha", *arguments, "--skills", "skills").exit_code == 2


@pytest.mark.row("R12", "X09")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["alhpa"], "skill 'alhpa' not found; did you mean alpha?"),
        (["Alpha"], "skill 'Alpha' not found"),
        (["alpha", "--reference", "smae.md"], "listed files: "),
        (["alpha", "--reference", "../../x"], "does not stay inside skill 'alpha'"),
        (["a\x1b[31m"], "not found"),
    ],
)
def test_a_miss_is_a_sentence_and_status_1(arguments: list[str], message: str) -> None:
    result = run("show", *arguments, "--skills", "skills")

    assert result.exit_code == 1
    assert result.stdout == ""
    assert message in result.stderr
    assert "\x1b" not in result.stderr
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.row("R18", "D08")
def test_the_xml_envelope_is_the_tools_result() -> None:
    envelope = show("alpha", "--envelope", "xml").decode()

    assert envelope == (
        '<skill_context id="alpha">\n  <instructions>\n'
        f"{HEAD}{BODY}\n"
        "  </instructions>\n\n"
        "  <execution_directive>\n"
        "    You are now operating under the specialized alpha protocol.\n"
        "    1. Prioritize the logic in <instructions> over generic behavior.\n"
        "    2. Use the data in <active_resources> to complete the user's specific "
        "request.\n"
        "    3. If the workflow is multi-step, explicitly state your plan before "
        "executing.\n"
        "  </execution_directive>\n"
        "</skill_context>\n"
    )


@pytest.mark.row("T01", "R18")
@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (
            "",
            f"Skill: alpha\nFiles (read_skill_file): {LISTED}\n\n{BODY.lstrip()}\n",
        ),
        ("--asset same.md", "File: assets/same.md of alpha\n\nan asset\n\n"),
    ],
)
def test_what_a_model_gets_by_default_is_printed(arguments: str, text: str) -> None:
    given = show("alpha", *arguments.split(), "--envelope", "lean").decode()

    assert given == text


def test_a_miss_is_printed_as_a_model_gets_it() -> None:
    for file in ((), ("--asset", "x.md")):
        arguments = ("show", "nope", *file, "--skills", "skills")
        missed = run(*arguments, "--envelope", "lean")

        assert missed.exit_code == 1
        assert missed.stdout == "Error: skill 'nope' was not found.\n"
        assert missed.stderr == ""


@pytest.mark.row("C32", "D11", "D14", "R12", "R18")
def test_a_miss_in_an_envelope_is_the_tools_result_too() -> None:
    arguments = ("show", "nope", "--skills", "skills", "--envelope")
    xml, as_json = run(*arguments, "xml"), run(*arguments, "json")

    assert (xml.exit_code, as_json.exit_code) == (1, 1)
    assert xml.stdout == (
        '<skill_context id="nope">\n  <error>\n'
        '    Skill with id "nope" was not found in the current registry.\n'
        "  </error>\n</skill_context>\n"
    )
    error = "skill 'nope' not found"
    assert json.loads(as_json.stdout) == result_of(name="nope", error=error)
    assert xml.stderr + as_json.stderr == ""


def result_of(**fields: object) -> dict[str, object]:
    """Return what a tool gives in the JSON envelope, with some fields."""
    keys = ("reference_content", "script_content", "error")
    empty = {"available_references": [], "available_scripts": [], "body": ""}
    return {**empty, **dict.fromkeys(keys), "name": "alpha", **fields}


FILES = {
    "available_references": ["raw.txt", "same.md"],
    "available_scripts": ["run.py", "same.md"],
}


@pytest.mark.row("C27", "C28", "C29", "C30", "C31")
@pytest.mark.parametrize(
    ("arguments", "fields"),
    [
        ("", {"body": BODY}),
        ("--reference same.md", {"reference_content": "a reference\n"}),
        ("--script same.md", {"script_content": "a script\n"}),
    ],
)
def test_the_json_envelope_is_the_tools_result(
    arguments: str, fields: dict[str, object]
) -> None:
    document = json.loads(show("alpha", *arguments.split(), "--envelope", "json"))

    assert document == result_of(**FILES, **fields)


@pytest.mark.row("D13", "D12", "G16")
def test_a_file_that_cannot_be_read_is_different_from_one_that_is_missing(
    library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And no absolute path of this machine is in any of the texts (G16, R24)."""

    def refuse(self: LocalSource, key: str, path: str, limit_bytes: int) -> bytes:
        raise ReferenceUnreadableError(key, path, detail="Permission denied")

    monkeypatch.setattr(LocalSource, "read", refuse)
    xml = run("show", "alpha", "--envelope", "xml", "--skills", "skills")
    plain = run("show", "alpha", "--skills", "skills")

    assert (xml.exit_code, plain.exit_code) == (1, 1)
    assert xml.stdout == (
        '<skill_context id="alpha">\n  <error>\n'
        '    Failed to load SKILL.md for "alpha": Permission denied\n'
        "  </error>\n</skill_context>\n"
    )
    assert "'SKILL.md' of skill 'alpha' cannot be read" in plain.stderr
    for text in (xml.output, plain.output):
        assert str(library.parent) not in text


@pytest.mark.row("F97", "C44", "C45", "C46")
@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("--reference same.md", b"a reference\n"),
        ("--script run.py", b"raise SystemExit('never run')\n"),
        ("", BODY.encode()),
    ],
)
@pytest.mark.parametrize("named", ["after", "before", "advised"])
def test_a_checkout_with_role_packs_is_shown_as_its_page_says(
    here: Path, named: str, arguments: str, expected: bytes
) -> None:
    """Without a folder the advice says what to type, and that works."""
    (here / "templates").mkdir()
    (here / "skills").rename(here / "templates/skills")
    options = arguments.split()
    command = ["show", "alpha", *options]
    if named == "after":
        command += ["templates/skills"]
    elif named == "before":
        command = ["show", "alpha", "templates/skills", *options]
    else:
        refused = run(*command)
        assert refused.exit_code == 1
        advice = refused.stderr.partition("type: satchel ")[2].splitlines()[0]
        command = advice.split()

    result = run(*command)

    assert result.stdout_bytes == expected, result.stderr
