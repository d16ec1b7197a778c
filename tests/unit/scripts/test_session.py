"""A session with a real runner: where scripts work, and what stays."""

from pathlib import Path
from typing import Final

import pytest

from satchel import Policy, Satchel, allow
from satchel.model import ScriptOutput
from satchel.runtime import Session
from satchel_scripts import Subprocess

pytestmark = pytest.mark.row("U14", "N08")

CALL: Final = {"skill_id": "notes", "path": "scripts/add.py"}


@pytest.fixture
def skills(tmp_path: Path) -> Satchel:
    pack = tmp_path / "skills" / "notes"
    (pack / "scripts").mkdir(parents=True)
    (pack / "SKILL.md").write_text(
        "---\nname: notes\ndescription: Keep notes.\n---\nRun `scripts/add.py`.\n"
    )
    (pack / "scripts" / "add.py").write_text(
        "import os; open('notes.txt', 'a').write('x'); print(open('notes.txt').read())"
    )
    policy = Policy(allow("notes", "script"))
    return Satchel(tmp_path / "skills", policy=policy, runner=Subprocess())


def add(session: Session) -> str:
    """Run the script in a session; return what it printed."""
    session.call("load_skill", {"skill_id": "notes"})
    output = session.call("run_skill_script", CALL)
    assert isinstance(output, ScriptOutput)
    assert output.outcome.is_ok, output
    return output.outcome.stdout.strip()


def test_a_private_folder_is_there_and_goes_on(skills: Satchel) -> None:
    session = skills.session()

    assert (add(session), add(session)) == ("x", "xx")
    assert add(skills.session(resume=session.dump())) == "xxx"
    assert add(skills.session()) == "x"


def test_a_folder_that_is_missing_is_made(skills: Satchel, tmp_path: Path) -> None:
    work = tmp_path / "work" / "ana"

    add(skills.session(work=work))

    assert (work / "notes.txt").read_text() == "x"


def test_a_folder_that_cannot_be_made_is_an_error(
    skills: Satchel, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    session = skills.session(work=tmp_path / "file" / "ana")
    session.call("load_skill", {"skill_id": "notes"})

    result = session.call("run_skill_script", CALL)

    assert "the work folder cannot be used: Not a directory" in str(result)
    assert str(tmp_path) not in str(result)
