"""``make run``: the tour ends by itself, with 0, on any folder of packs."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.functional.library import HOSTILE_BYTES, write_pack

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
PACK = "---\nname: {name}\ndescription: Use {name} when testing.\n---\n{body}\n"


def tour(*arguments: str, cwd: Path = ROOT) -> str:
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples" / "tour.py"), *arguments],
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )
    assert done.returncode == 0
    # What is wrong with a library is logged, a line each, and nothing else is.
    assert all("; fix: " in line for line in done.stderr.splitlines())
    return done.stdout


def test_the_library_that_ships() -> None:
    seen = tour()
    section, everything, task, _ = (
        int(number.replace(",", ""))
        for number in re.findall(r"([\d,]+) tokens  #", seen)
    )

    assert section < task < everything
    assert everything > 10 * section
    for what in (
        "| <available_skills>",
        "-> load_skill('pdf-forms')",
        "-> read_skill_file('pdf-forms', 'references/fields.md')",
        "'calc' first; that opens it",
        "tools: load_skill, calculate",
        "     0.3",
        "examples/broken/deploy-checklist/SKILL.md:3",
        "examples/broken/meeting-notes/SKILL.md",
        "fix: ",
        "satchel list examples/skills",
    ):
        assert what in seen
    assert max(map(len, seen.splitlines())) <= 80


@pytest.mark.row("F60")
@pytest.mark.parametrize(
    "words",
    [
        "what to fix",
        "What is in the prompt",
        "satchel list examples/skills ",
        "from satchel.adapters.langchain import attach",
    ],
)
def test_it_has_todays_words(words: str) -> None:
    assert words in tour()


def test_what_it_says_to_type_works() -> None:
    """Each line of the last section, as it stands there."""
    seen = tour()
    lines = re.findall(r"^  (\S*satchel .*?)  +#", seen, re.MULTILINE)

    assert len(lines) == 4
    for line in lines:
        words = line.split()[1:]
        command = [sys.executable, "-m", "satchel", *words]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, check=False)
        assert done.returncode == 0, line


def test_a_folder_of_hostile_packs(tmp_path: Path) -> None:
    nasty = r"\e]8;;https://e.org\a \x9b31m \u202e"
    skills = tmp_path / "sk'ills"
    body = HOSTILE_BYTES.decode()
    write_pack(
        skills / "nasty",
        f'---\nname: "x {nasty}"\ndescription: "{nasty}"\n---\n{body}',
        {"references/raw.txt": HOSTILE_BYTES, "references/a.png": b"\x89PNG\x00\xff"},
    )
    write_pack(skills / "bad", b"---\nname: \xff\x1b[\ndescription: {[\n---\n")
    for place in ("one", "two"):
        write_pack(skills / place / "same", PACK.format(name="same", body=place))
    seen = tour(str(skills))

    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]", seen)
    assert "1. What is in the prompt" in seen
    assert "sk'\"'\"'ills" in seen


def test_a_folder_with_nothing_of_use(tmp_path: Path) -> None:
    assert "no folder with a SKILL.md" in tour(str(tmp_path))
    write_pack(tmp_path / "bad", "---\nname: bad\n---\n")
    seen = tour(str(tmp_path))

    assert "There is no skill that can be used" in seen
    assert "no description" in seen


@pytest.mark.parametrize("missing", ["nowhere", "no\x1b[31mwhere"])
def test_a_folder_that_is_not_there(missing: str) -> None:
    command = [sys.executable, "examples/tour.py", missing]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, check=False)

    assert done.returncode == 2
    assert done.stderr.startswith(b"satchel: no")
    assert b"\x1b" not in done.stderr
