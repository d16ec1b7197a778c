"""``satchel new``: a pack that passes a check, made again with the same bytes."""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest
from click.testing import CliRunner

from satchel.cli import main
from satchel.errors import SkillNotFoundError
from satchel.model import Finding
from satchel_lab.authoring import (
    Dialect,
    NewPackRequest,
    make_pack,
    name_problem,
    role_names,
)
from satchel_lab.checking import check
from tests.functional.library import run, run_terminal, tree

SAID = "Fill in PDF forms. Use when a form has fields, or its user asks for one."


def test_a_new_skill_is_made_and_says_what_comes_next(here: Path) -> None:
    result = run("new", "pdf-forms", "--description", SAID)

    files = "skills/pdf-forms/SKILL.md\nskills/pdf-forms/evals/trigger-evals.json\n"
    assert (result.exit_code, result.stdout) == (0, files)
    assert result.stderr.splitlines() == [
        "next:",
        "  edit   skills/pdf-forms/SKILL.md: write what each TODO asks for",
        "  check  satchel check skills/pdf-forms",
        "  pack   satchel pack skills/pdf-forms",
        "  serve  satchel serve pdf-forms.skill",
    ]
    assert list(tree(here)) == files.splitlines()
    assert run("show", "pdf-forms", "--skills", "skills").exit_code == 0


def test_what_comes_next_can_be_typed(here: Path) -> None:
    made = run("new", "tea", "--in", "my skills", "--description", SAID)
    check_line, pack_line = made.stderr.splitlines()[2:4]

    for line in (check_line, pack_line):
        assert shlex.split(line)[3:] == ["my skills/tea"]


FLAGS = {
    "minimal": [],
    "references": ["--template", "references"],
    "scripts": ["--template", "scripts"],
    "all": [
        *("--references", "fields.md", "--references", "references/map.json"),
        *("--references", "notes.txt", "--references", "shape.py"),
        *("--scripts", "fill.py", "--scripts", "check.sh", "--scripts", "run"),
        *("--scripts", "fill.js", "--author", "Ann Lee"),
    ],
}


@pytest.mark.parametrize("dialect", ["spec", "strict"])
@pytest.mark.parametrize("flags", FLAGS.values(), ids=FLAGS)
def test_what_is_made_passes_a_check_and_is_made_again(
    here: Path, dialect: Dialect, flags: list[str]
) -> None:
    for place in ("one", "two"):
        arguments = ["pdf-forms", "--description", SAID, "--dialect", dialect, *flags]
        result = run("new", *arguments, "--in", place)
        assert result.exit_code == 0, result.stderr
        assert "fix: " not in result.stderr

    report = check(["one/pdf-forms"], profile=dialect)
    assert {f.code for f in report.findings if f.severity != "note"} == {
        "left-to-fill-in"
    }
    assert tree(here / "one") == tree(here / "two")


def lines_of(findings: Iterable[Finding]) -> dict[str, list[int]]:
    """Return the lines that are left to fill in, by file, as the messages give them."""
    lines: dict[str, list[int]] = {}
    for finding in findings:
        assert finding.code == "left-to-fill-in"
        more = re.search(r"\(lines? ([\d, ]+)\)", finding.message)
        others = map(int, more[1].split(", ")) if more else ()
        lines.setdefault(finding.path, []).extend((finding.line or 0, *others))
    return lines


@pytest.mark.parametrize("flags", FLAGS.values(), ids=FLAGS)
def test_every_mark_is_reported_and_nothing_else(here: Path, flags: list[str]) -> None:
    assert run("new", "pdf-forms", *flags).exit_code == 0

    report = check(["skills/pdf-forms"], profile="spec")
    marks = {
        path: [
            number
            for number, line in enumerate(data.splitlines(), 1)
            if b"TODO" in line
        ]
        for path, data in tree(here).items()
        # Queries to fill in are for `satchel eval`, and keep nobody from packing.
        if b"TODO" in data and "/evals/" not in path
    }
    assert len(marks["skills/pdf-forms/SKILL.md"]) >= 6
    assert lines_of(report.findings) == marks


@pytest.mark.slow
def test_what_is_left_to_write_is_not_packed(here: Path) -> None:
    """Not even when one place is left, in any file."""
    run("new", "a", *FLAGS["all"][:-2])
    for path, data in tree(here).items():
        (here / path).write_bytes(data.replace(b"TODO: say", b"This is"))
    assert run("pack", "skills/a").exit_code == 0
    written = tree(here / "skills")
    again = tree_of_new(here / "again")
    assert written.keys() == again.keys()

    for path, data in again.items():
        if "/evals/" in path:
            continue
        at = data.find(b"TODO: say")
        while at >= 0:
            end = data.index(b"\n", at)
            left = data[:at].replace(b"TODO: say", b"This is") + data[at:end]
            rest = data[end:].replace(b"TODO: say", b"This is")
            (here / "skills" / path).write_bytes(left + rest)
            refused = run("pack", "skills/a", "-o", "other.skill")
            assert refused.exit_code == 1, path
            assert f"skills/{path}:{data[:at].count(10) + 1}: " in refused.stderr
            at = data.find(b"TODO: say", end)
        (here / "skills" / path).write_bytes(written[path])
    assert not (here / "other.skill").exists()


def tree_of_new(place: Path) -> dict[str, bytes]:
    run("new", "a", *FLAGS["all"][:-2], "--in", str(place))
    return tree(place)


def test_scripts_can_be_run(here: Path) -> None:
    arguments = ("a", "--description", SAID, "--scripts", "a.sh", "--scripts", "a.py")
    run("new", *arguments)
    folder = here / "skills" / "a" / "scripts"

    for name in ("a.sh", "a.py"):
        assert os.access(folder / name, os.X_OK)
        begin = [sys.executable] if name.endswith(".py") else ["sh"]
        for given, status in ((["x"], 0), ([], 2)):
            command = [*begin, str(folder / name), *given]
            done = subprocess.run(command, capture_output=True, check=False)
            assert done.returncode == status, done.stderr
    helped = [sys.executable, str(folder / "a.py"), "--help"]
    assert subprocess.run(helped, capture_output=True, check=False).returncode == 0


@pytest.mark.parametrize("role", ["reviewer", "backend"])
@pytest.mark.parametrize("dialect", ["spec", "strict"])
def test_a_pack_that_ships_is_something_to_begin_with(
    here: Path, role: str, dialect: Dialect
) -> None:
    template = ("--template", f"role:{role}", "--dialect", dialect)
    result = run("new", "our-own", *template)

    assert result.exit_code == 0, result.stderr
    assert "fix: " not in result.stderr
    files = tree(here / "skills" / "our-own")
    assert any(path.startswith("references/") for path in files)
    assert b"name: our-own\n" in files["SKILL.md"]
    assert not check(["skills/our-own"], profile=dialect).fails("warning")


def test_a_role_may_get_another_description(here: Path) -> None:
    run("new", "our-own", "--template", "role:vp", "--description", SAID)

    text = (here / "skills/our-own/SKILL.md").read_text("utf-8")
    assert f"description: {SAID}" in text


def test_every_role_is_offered_where_none_fits() -> None:
    result = run("new", "our-own", "--template", "role:nobody")
    with pytest.raises(SkillNotFoundError) as caught:
        make_pack(NewPackRequest(name="a", role="nobody"))

    assert result.exit_code == 2
    assert caught.value.close == role_names()
    assert len(role_names()) == 17
    assert all(name in " ".join(result.stderr.split()) for name in role_names())


def test_nothing_is_written_over(here: Path) -> None:
    run("new", "pdf-forms", "--description", SAID)
    mine = here / "skills/pdf-forms/SKILL.md"
    mine.write_text("mine", "utf-8")
    result = run("new", "pdf-forms", "--description", SAID)

    assert result.exit_code == 1
    assert result.stderr == (
        "error: skills/pdf-forms is there already: SKILL.md, evals; nothing was "
        "written\n"
    )
    assert tree(here)["skills/pdf-forms/SKILL.md"] == b"mine"


@pytest.mark.parametrize("kind", ["file", "link", "full", "empty"])
def test_only_an_empty_folder_gives_way(here: Path, kind: str) -> None:
    place = here / "skills" / "a"
    place.parent.mkdir()
    if kind == "file":
        place.write_text("mine")
    elif kind == "link":
        place.symlink_to("nowhere")
    else:
        place.mkdir()
    for number in range(12 if kind == "full" else 0):
        (place / f"{number}.txt").write_text("mine")
    result = run("new", "a", "--description", SAID)

    assert result.exit_code == (0 if kind == "empty" else 1)
    if kind == "full":
        assert ": 0.txt, 1.txt, 10.txt, 11.txt, 2.txt, " in result.stderr
        assert " and 2 more; nothing was written" in result.stderr
    assert len(list((here / "skills").iterdir())) == 1


def test_what_the_system_says_is_reported_in_a_sentence(here: Path) -> None:
    (here / "skills").write_text("a file")
    result = run("new", "a", "--description", SAID)

    assert result.exit_code == 2
    assert result.stderr.startswith("error: skills/a was not written: ")
    assert len(result.stderr.splitlines()) == 1


SAYS = ["--description", SAID]
STRICT = ["--dialect", "strict"]
CHOICE = "expected one of minimal, references"
FIELDS = ["--references", "a.md", "--references"]
MISSING = {
    "name": (SAYS, "satchel new NAME"),
    "blank": (["a", "--description", "  "], "leave it out to write it later"),
    "bad-name": (["My Skill!", *SAYS], "try my-skill"),
    "folder-and-name": (["./our/pdf", *SAYS], "try pdf --in ./our"),
    "folder-of-here": (["./pdf/", *SAYS], "characters; try pdf"),
    "device": (["con", *SAYS], "cannot be the name of a folder: it names a device"),
    "no-role": (["a", "--template", "role:"], CHOICE),
    "no-name-near": (["3", *SAYS], "at most 64 characters"),
    "too-long": (["a" * 65, *SAYS], f"try {'a' * 64}"),
    "long-description": (["a", "--description", "x" * 1025], "1025 characters"),
    "short-description": (["a", "--description", "short", *STRICT], "20 to 500"),
    "template": (["a", "--template", "big"], CHOICE),
    "folder": (["a", *SAYS, "--in", ""], "the path is empty"),
    "role-and-files": (["a", "--template", "role:vp", *FIELDS[:2]], "has its own"),
    "strict-license": (["a", *SAYS, *STRICT, "--license", "MIT"], "--license"),
    "up": (["a", *SAYS, "--references", "../a.md"], "slash"),
    "key": (["a", *SAYS, "--scripts", "id_rsa"], "no pack hands out"),
    "nothing": (["a", *SAYS, "--scripts", ""], "empty"),
    "hidden": (["a", *SAYS, "--scripts", "\u202ea.sh"], "invisible"),
    "control": (["a", *SAYS, "--scripts", "a\x1b.sh"], "control"),
    "one-case": (["a", *SAYS, *FIELDS, "A.md"], "the same file"),
    "one-accent": (
        ["a", *SAYS, "--references", "\u00e9.md", "--references", "e\u0301.md"],
        "the same file",
    ),
}


@pytest.mark.row("X05")
@pytest.mark.parametrize(("arguments", "said"), MISSING.values(), ids=MISSING)
def test_what_is_missing_or_wrong_is_an_error_at_once(
    here: Path, arguments: list[str], said: str
) -> None:
    result = run("new", *arguments)

    assert result.exit_code == 2
    assert said in " ".join(result.stderr.split())
    assert "\x1b" not in result.stderr
    assert tree(here) == {}


GOOD_NAMES = ("a", "pdf-forms", "a1-2b", "a" * 64)
BAD_NAMES = ("a" * 65, "3d", "a-", "a--b", "-a", "A", "a\n", "a b", "\u6280\u80fd", "")


@pytest.mark.row("X05")
@pytest.mark.parametrize("name", [*GOOD_NAMES, *BAD_NAMES])
def test_only_names_that_everybody_takes(name: str) -> None:
    request = NewPackRequest(name=name, description=SAID)

    assert (name_problem(name) == "") is (name in GOOD_NAMES)
    if name in GOOD_NAMES:
        skill = make_pack(request).files["SKILL.md"]
        assert skill.startswith(f"---\nname: {name}\n".encode())
    else:
        with pytest.raises(ValueError, match="name"):
            make_pack(request)


def test_warnings_about_a_description_come_at_once() -> None:
    result = run("new", "a", "--description", "Fills in forms of every kind.")

    assert result.exit_code == 0
    assert "description-lacks-when" in result.stderr


def test_on_a_terminal_it_asks(here: Path) -> None:
    answers = ["My Skill", "", SAID]
    seen = run_terminal("new", cwd=here, answers=answers).decode()

    assert "try my-skill" in seen
    assert "[my-skill]" in seen
    assert SAID in (here / "skills/my-skill/SKILL.md").read_text("utf-8")
    assert "skills/my-skill/SKILL.md" in tree(here)


def test_a_bad_answer_is_asked_for_again(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("satchel_lab.commands.new._may_ask", lambda: True)
    typed_in = "3d\nPDF forms\n\n\n"
    result = CliRunner().invoke(main, ["new"], input=typed_in, prog_name="satchel")

    assert result.exit_code == 0, result.output
    assert "try pdf-forms" in result.stderr
    skill = tree(here)["skills/pdf-forms/SKILL.md"]
    assert b'description: "TODO: say' in skill  # Enter: it is written later
