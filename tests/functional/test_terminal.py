"""On a terminal no control character of a pack is obeyed by any command (T31)."""

import re
import sys
from pathlib import Path

import pytest

from tests.functional.library import (
    HOSTILE_BYTES,
    run_process,
    run_terminal,
    write_pack,
)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="it has no pseudo-terminals"),
    pytest.mark.row("G21", "G17"),
]

# What YAML can spell in a name and a description: ESC, OSC 8, CR, C1, bidi, tags.
NASTY = r"\e[31m\e]8;;https://e.org\a x \r\x9b31m \u202e \U000e0041\x7f\n- forged: line"

COMMANDS = (
    "list --skills skills",
    "list --json --skills skills",
    "find testing --skills skills",
    "find testing --json --skills skills",
    "show nasty --skills skills",
    "show nasty --reference raw.txt --skills skills",
    "show nasty --envelope xml --skills skills",
    "show nasty --envelope json --skills skills",
    "show no\x1b[31mpe --skills skills",
    "show no\x1b[31mpe --envelope xml --skills skills",
    "prompt --skills skills",
    "prompt --format markdown --skills skills",
    "prompt --format xml-spec --skills skills",
    "prompt --format json --skills skills",
    "doctor --skills skills",
    "why nasty --skills skills",
    "why no\x1b[31mpe --skills skills",
    "check skills",
    "check no\x1b]0;pe",
    "diff skills/nasty no\x1b]0;pe",
    "check skills --baseline no\x1b]0;pe",
    "check skills --statistics",
    "check skills --color always --format concise",
    "check skills --format json",
    "check skills --format github",
    "check skills --format markdown",
    "check skills --format sarif",
    "explain no\x1b[31mpe",
    "convert skills --to spec -o out",
    "convert skills/files --to claude --json",
    "diff skills/nasty skills/worse",
    "diff skills/worse skills/nasty --stat",
    "diff skills/nasty skills --json",
    "diff skills/nasty no\x1b[31mpe",
    "pack skills/nasty",
    "pack skills/worse --force",
    "pack skills/files -o no\x1b[31mpe/x.skill",
    "retire nasty --for files --skills skills",
    "retire no\x1b[31mpe --skills skills",
    "new files --scripts no\x1b[31mpe --description testing",
    "show nasty --layers --skills skills",
    "show no\x1b[31mpe --layers --skills skills",
    "no\x1b[31mpe",
    "list --skills no\x1b[31mpe",
)

# Colours, and a code as a link to its page.
_OURS = re.compile(
    rb"\x1b\[(?:0|(?:1;)?3[0-7]|1|2)?m"
    rb"|\x1b\]8;;(?:file://[\w.-]+/[\w./-]+/codes/[a-z0-9-]+\.md)?\x1b\\"
)
_DANGEROUS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]"
)


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """Packs that would like to write on anyone who looks at them."""
    skills = tmp_path / "skills"
    text = f'---\nname: nasty\ndescription: "Use when testing {NASTY}"\n---\n'.encode()
    write_pack(
        skills / "nasty", text + HOSTILE_BYTES, {"references/raw.txt": HOSTILE_BYTES}
    )
    write_pack(
        skills / "worse",
        f'---\nname: "worse {NASTY}"\ndescription: Use when testing.\n'
        f'"key {NASTY}": 1\n---\n',
    )
    write_pack(skills / "none", b"---\nname: none \x1b[31m\ndescription: [\n---\n")
    name = "\x1b]0;title\x07"
    write_pack(skills / "files", _PLAIN, {f"references/{name}.md": "x"})
    write_pack(skills / name, _PLAIN)
    return tmp_path


_PLAIN = "---\nname: files\ndescription: Use when testing.\n---\n"


@pytest.mark.parametrize("command", COMMANDS)
def test_no_control_character_reaches_a_terminal(command: str, hostile: Path) -> None:
    seen = run_terminal(*command.split(" "), cwd=hostile)
    text = _OURS.sub(b"", seen).replace(b"\r\n", b"\n").decode("utf-8")

    assert text
    assert _DANGEROUS.findall(text) == []
    assert "Traceback" not in text
    assert "a fault of" not in text


def test_only_a_terminal_gets_colours_unless_they_are_off(
    hostile: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = ("list", "--skills", "skills")
    done = run_process(*command, cwd=hostile)
    bold = run_terminal(*command, cwd=hostile)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")

    assert bold.lstrip().startswith(b"\x1b[1mSKILL")
    assert b"\x1b" not in done.stdout + done.stderr
    assert b"\x1b" not in run_terminal(*command, cwd=hostile)


def test_into_a_pipe_the_same_bytes_are_exact(hostile: Path) -> None:
    command = "show nasty --reference raw.txt --skills skills"

    assert run_process(*command.split(), cwd=hostile).stdout == HOSTILE_BYTES


def test_a_binary_file_is_named_and_not_printed_on_a_terminal(hostile: Path) -> None:
    data = b"\x89PNG\x1b[31m\x00"
    write_pack(hostile / "skills" / "nasty", _PLAIN.replace("files", "nasty"))
    (hostile / "skills" / "nasty" / "logo.png").write_bytes(data)
    command = ["show", "nasty", "--reference", "logo.png", "--skills", "skills"]
    seen = run_terminal(*command, cwd=hostile)

    assert b"image/png, 10 bytes" in seen
    assert b"PNG\x1b" not in seen
    assert run_process(*command, cwd=hostile).stdout == data


@pytest.mark.parametrize("columns", [20, 40, 80, 200])
def test_lines_of_the_table_fit_the_terminal(columns: int, hostile: Path) -> None:
    command = ("find", "testing", "--skills", "skills")
    seen = run_terminal(*command, cwd=hostile, columns=columns)
    lines = _OURS.sub(b"", seen).decode("utf-8").splitlines()

    assert max(map(len, lines)) <= columns
