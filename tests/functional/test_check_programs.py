"""``satchel check`` asks one process about the scripts of all packs."""

import sys
from pathlib import Path

import pytest

from satchel_lab.checking import check
from tests.functional.library import write_pack

TEXT = (
    "---\nname: {name}\ndescription: Fills in form {name}. Use when it is due.\n---\n\n"
    "# Forms\n\nRun `python scripts/fill.py`.\n"
)


@pytest.fixture
def starts(here: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a file to which each start of the interpreter adds a line."""
    log, python = here / "starts.txt", here / "python"
    log.touch()
    python.write_text(f'#!/bin/sh\necho >> "{log}"\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(python))
    return log


@pytest.mark.row("F81")
@pytest.mark.skipif(sys.platform == "win32", reason="a shell script counts the starts")
@pytest.mark.parametrize(
    ("script", "codes", "count"),
    [
        ("print({at})\n", [], 1),
        ("print(1)\n", [], 1),
        ("x = (\n", ["python-syntax"] * 4, 1),
        ("name_{at} = input()\n", ["interactive-script"] * 4, 1),
        ("", [], 1),
        (None, [], 0),
    ],
)
def test_one_process_reads_the_scripts_of_all_packs(
    here: Path, starts: Path, script: str | None, codes: list[str], count: int
) -> None:
    for at in range(4):
        name = f"form-{at}"
        text = TEXT.format(name=name)
        files = {} if script is None else {"scripts/fill.py": script.format(at=at)}
        if script is None:
            text = text.replace("Run `python scripts/fill.py`.", "Do it by hand.")
        write_pack(here / "skills" / name, text, files)

    findings = check(["skills"]).findings

    assert [finding.code for finding in findings] == codes
    assert len(starts.read_text().splitlines()) == count
