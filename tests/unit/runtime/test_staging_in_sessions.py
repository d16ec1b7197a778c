"""A session's copies: made on a load, told in its result, narrowed by the policy."""

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from satchel import Satchel
from satchel.errors import ApprovalNeededError, DeniedError
from satchel.model import SeenMessage
from satchel.policy import Policy, ask, deny
from satchel.runtime import LocalStager
from tests.fakes import FakeSource, pack

BODY = "Run `python ${CLAUDE_SKILL_DIR}/scripts/a.py`.\n"


def source() -> FakeSource:
    return FakeSource(
        "s",
        {
            "pdf": {"SKILL.md": pack("pdf", body=BODY), "scripts/a.py": "print(1)\n"},
            "style": {"SKILL.md": pack("style")},
        },
    )


class Uploads:
    """A stager that keeps what it was given."""

    def __init__(self) -> None:
        self.given: list[dict[str, bytes]] = []

    def stage(self, skill_id: str, digest: str, files: Mapping[str, bytes]) -> str:
        del digest
        self.given.append(dict(files))
        return f"/box/{skill_id}"


@pytest.mark.row("E23")
def test_files_are_staged_when_the_skill_is_loaded_and_not_before() -> None:
    box = Uploads()
    session = Satchel(source()).session(stage=box)
    session.instructions()
    session.tools()
    before = len(box.given)

    result = str(session.call("load_skill", {"skill_id": "pdf"}))
    session.call("load_skill", {"skill_id": "style"})

    assert (before, len(box.given)) == (0, 1)
    assert sorted(box.given[0]) == ["SKILL.md", "scripts/a.py"]
    assert "Run `python /box/pdf/scripts/a.py`." in result
    assert "Relative paths in these instructions are relative to /box/pdf." in result


@pytest.mark.row("E23")
def test_a_failure_degrades_to_the_list_of_files(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    stager = LocalStager(tmp_path / "file/below")

    result = (
        Satchel(source()).session(stage=stager).call("load_skill", {"skill_id": "pdf"})
    )

    assert "Files (read_skill_file): scripts/a.py\n" in str(result)
    assert "The files of this skill were not staged: Not a directory." in str(result)
    assert str(tmp_path) not in str(result)


def test_a_file_that_changed_is_staged_again() -> None:
    """Although SKILL.md is the same."""
    box, packs = Uploads(), source()
    skills = Satchel(packs)
    session = skills.session(stage=box)
    session.call("load_skill", {"skill_id": "pdf"})
    packs.packs["pdf"]["scripts/a.py"] = "print(2)\n"
    skills.sync()

    session.call("load_skill", {"skill_id": "pdf"})

    assert [files["scripts/a.py"] for files in box.given] == [
        b"print(1)\n",
        b"print(2)\n",
    ]


@pytest.mark.parametrize(
    ("rule", "error"),
    [
        (deny("pdf", action="read"), DeniedError),
        (ask("pdf", action="read"), ApprovalNeededError),
    ],
)
def test_what_may_not_be_read_is_not_staged(
    rule: object, error: type[DeniedError]
) -> None:
    """A copy can be read without a question, so it is made only where none is asked."""
    box = Uploads()
    skills = Satchel(source(), policy=Policy(rule))  # type: ignore[arg-type]
    session = skills.session(stage=box)

    result = str(session.call("load_skill", {"skill_id": "pdf"}))

    assert "The files of this skill were not staged: reading a file" in result
    with pytest.raises(error):
        session.stage("pdf")
    assert box.given == []


@pytest.mark.row("E29")
def test_what_a_user_types_is_never_filled_in_and_the_folder_can_be_asked_for() -> None:
    folder = Path(str(Satchel(source()).session().stage("pdf")))

    assert (folder / "scripts/a.py").read_text() == "print(1)\n"
    assert re.fullmatch(r"pdf-[0-9a-f]{12}", folder.name)

    session = Satchel(source()).session(stage=Uploads())

    text = str(session.invoke("pdf", "${SKILL_DIR} $0"))

    assert "python /box/pdf/scripts/a.py" in text
    assert "ARGUMENTS: ${SKILL_DIR} $0" in text


@pytest.mark.row("E27")
def test_what_was_filled_in_is_known_again() -> None:
    """So that a second load of a staged skill costs a line, too."""
    packs = source()
    packs.packs["pdf"]["SKILL.md"] = pack("pdf", body=BODY * 9)
    session = Satchel(packs).session(stage=Uploads())
    arguments = {"skill_id": "pdf"}
    first = str(session.call("load_skill", arguments))
    session.see(
        [
            SeenMessage("user", "Hi."),
            SeenMessage("tool", first, "load_skill", arguments),
        ]
    )

    again = str(session.call("load_skill", arguments))

    assert "/box/pdf/scripts/a.py" in first
    assert "is unchanged" in again
    assert "/box" not in again


@pytest.mark.row("U02", "F65")
@pytest.mark.parametrize(
    "path",
    ["/box/pdf/scripts/a.py", "/box/pdf/scripts//a.py", "\\box\\pdf\\scripts\\a.py"],
)
def test_a_file_is_read_by_its_path_in_the_copy(path: str) -> None:
    session = Satchel(source()).session(stage=Uploads())
    asked = {"skill_id": "pdf", "path": path}

    before = str(session.call("read_skill_file", asked))
    session.call("load_skill", {"skill_id": "pdf"})
    after = str(session.call("read_skill_file", asked))
    other = str(session.call("read_skill_file", {**asked, "skill_id": "style"}))

    assert "does not stay inside" in before
    assert after == "File: scripts/a.py of pdf\n\nprint(1)\n"
    assert "does not stay inside" in other
