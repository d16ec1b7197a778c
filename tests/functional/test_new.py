"""``satchel new``: a pack that passes a check, made again with the same bytes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from satchel.authoring import (
    Dialect,
    NewPackRequest,
    make_pack,
    name_problem,
    role_names,
)
from satchel.checking import check
from satchel.cli import main
from satchel.errors import SkillNotFoundError
from tests.functional.library import run

SAID = "Fill in PDF forms. Use when a form has fields, or its user asks for one."


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def tree(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_a_new_skill_is_made_and_says_what_comes_next(here: Path) -> None:
    result = run("new", "pdf-forms", "--description", SAID)

    assert (result.exit_code, result.stdout) == (0, "skills/pdf-forms/SKILL.md\n")
    assert result.stderr.splitlines() == [
        "next:",
        "  edit   skills/pdf-forms/SKILL.md",
        "  pack   satchel pack skills/pdf-forms, which checks it",
        "  serve  satchel serve pdf-forms.skill",
    ]
    assert list(tree(here)) == ["skills/pdf-forms/SKILL.md"]
    assert run("show", "pdf-forms", "--skills", "skills").exit_code == 0


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

    assert result.exit_code == 2
    said = " ".join(result.stderr.split())
    assert all(name in said for name in role_names())
    assert len(role_names()) == 17


def test_nothing_is_written_over(here: Path) -> None:
    run("new", "pdf-forms", "--description", SAID)
    mine = here / "skills/pdf-forms/SKILL.md"
    mine.write_text("mine", "utf-8")
    result = run("new", "pdf-forms", "--description", SAID)

    assert result.exit_code == 1
    assert result.stderr == (
        "satchel: skills/pdf-forms is there already: SKILL.md; nothing was written\n"
    )
    assert tree(here) == {"skills/pdf-forms/SKILL.md": b"mine"}


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
    for number in range(9 if kind == "full" else 0):
        (place / f"{number}.txt").write_text("mine")
    result = run("new", "a", "--description", SAID)

    assert result.exit_code == (0 if kind == "empty" else 1)
    if kind == "full":
        assert ": 0.txt, 1.txt, 2.txt, 3.txt, 4.txt, ...;" in result.stderr
    assert len(list((here / "skills").iterdir())) == 1


def test_what_the_system_says_is_reported_in_a_sentence(here: Path) -> None:
    (here / "skills").write_text("a file")
    result = run("new", "a", "--description", SAID)

    assert result.exit_code == 2
    assert result.stderr.startswith("satchel: skills/a was not written: ")
    assert len(result.stderr.splitlines()) == 1


MISSING = {
    "name": (["--description", SAID], "satchel new NAME"),
    "description": (["a"], "--description"),
    "blank": (["a", "--description", "  "], "--description"),
    "bad-name": (["My Skill!", "--description", SAID], "try my-skill"),
    "folder-and-name": (["./our/pdf", "--description", SAID], "try pdf --in ./our"),
    "folder-of-here": (["./pdf/", "--description", SAID], "characters; try pdf"),
    "no-role": (["a", "--template", "role:"], "expected one of minimal, references"),
    "no-name-near": (["3", "--description", SAID], "at most 64 characters"),
    "too-long": (["a" * 65, "--description", SAID], f"try {'a' * 64}"),
    "long-description": (["a", "--description", "x" * 1025], "1025 characters"),
    "short-description": (
        ["a", "--description", "short", "--dialect", "strict"],
        "20 to 500",
    ),
    "template": (["a", "--template", "big"], "expected one of minimal, references"),
    "folder": (["a", "--description", SAID, "--in", ""], "the path is empty"),
    "role-and-files": (
        ["a", "--template", "role:vp", "--references", "a.md"],
        "has its own files",
    ),
    "strict-license": (
        ["a", "--description", SAID, "--dialect", "strict", "--license", "MIT"],
        "--license",
    ),
    "up": (["a", "--description", SAID, "--references", "../a.md"], "slash"),
    "key": (["a", "--description", SAID, "--scripts", "id_rsa"], "no pack hands out"),
    "nothing": (["a", "--description", SAID, "--scripts", ""], "empty"),
    "hidden": (["a", "--description", SAID, "--scripts", "\u202ea.sh"], "invisible"),
    "control": (["a", "--description", SAID, "--scripts", "a\x1b.sh"], "control"),
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


@pytest.mark.row("X05")
@pytest.mark.parametrize(
    ("name", "good"),
    [
        ("a", True),
        ("pdf-forms", True),
        ("a1-2b", True),
        ("a" * 64, True),
        ("a" * 65, False),
        ("3d", False),
        ("a-", False),
        ("a--b", False),
        ("-a", False),
        ("A", False),
        ("a\n", False),
        ("a b", False),
        ("\u6280\u80fd", False),
        ("", False),
    ],
)
def test_only_names_that_everybody_takes(name: str, good: bool) -> None:
    assert (name_problem(name) == "") is good
    if good:
        pack = make_pack(NewPackRequest(name=name, description=SAID))
        assert pack.files["SKILL.md"].startswith(f"---\nname: {name}\n".encode())
    else:
        with pytest.raises(ValueError, match="name"):
            make_pack(NewPackRequest(name=name, description=SAID))


@pytest.mark.parametrize("name", ["con", "aux", "com1"])
def test_no_skill_is_called_like_a_device(here: Path, name: str) -> None:
    result = run("new", name, "--description", SAID)

    assert result.exit_code == 2
    assert (
        f"'{name}' cannot be the name of a folder: it names a device" in result.stderr
    )
    assert not list(here.iterdir())


@pytest.mark.parametrize(
    ("one", "other"), [("a.md", "A.md"), ("\u00e9.md", "e\u0301.md")]
)
def test_no_two_files_are_one_on_some_systems(here: Path, one: str, other: str) -> None:
    files = ("--references", one, "--references", other)
    result = run("new", "pdf-forms", "--description", SAID, *files)

    assert result.exit_code == 2
    assert "the same file" in result.stderr
    assert not list(here.iterdir())


def test_warnings_about_a_description_come_at_once() -> None:
    result = run("new", "a", "--description", "Fills in forms of every kind.")

    assert result.exit_code == 0
    assert "description-lacks-when" in result.stderr


def test_on_a_terminal_it_asks(here: Path) -> None:
    seen = typed(here, ["new"], ["My Skill", "", "", SAID])

    assert "try my-skill" in seen
    assert "[my-skill]" in seen
    assert list(tree(here)) == ["skills/my-skill/SKILL.md"]


def typed(cwd: Path, arguments: list[str], lines: list[str]) -> str:
    """Run a command on a terminal, and type lines when it asks."""
    import pty

    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "satchel", *arguments],
        cwd=cwd,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        close_fds=True,
    )
    os.close(theirs)
    seen = b""
    waiting = list(lines)
    try:
        while piece := os.read(ours, 65536):
            seen += piece
            if waiting and seen.endswith(b": "):
                os.write(ours, waiting.pop(0).encode() + b"\n")
                seen += b"\n"
    except OSError:  # Linux: the other side is closed
        pass
    finally:
        os.close(ours)
        process.wait(30)
    return seen.decode()


def test_a_bad_answer_is_asked_for_again(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("satchel.cli._commands.new._may_ask", lambda: True)
    typed_in = "3d\nPDF forms\n\n\n" + f"{SAID}\n"
    result = CliRunner().invoke(main, ["new"], input=typed_in, prog_name="satchel")

    assert result.exit_code == 0, result.output
    assert "try pdf-forms" in result.stderr
    assert list(tree(here)) == ["skills/pdf-forms/SKILL.md"]


def test_a_role_that_is_not_there_is_an_error_in_code() -> None:
    with pytest.raises(SkillNotFoundError) as told:
        make_pack(NewPackRequest(name="a", role="nobody"))

    assert told.value.close == role_names()
