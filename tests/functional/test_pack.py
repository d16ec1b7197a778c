"""``satchel pack``: an archive that is the same everywhere, and its way back."""

import io
import shlex
import zipfile
from pathlib import Path

import pytest

from satchel import Satchel, sources
from satchel.errors import LimitExceededError
from satchel.model import Limits
from satchel_lab.authoring import pack_skill
from satchel_store.archives import unpack
from tests.functional.library import run, tree, write_pack

HEAD = "---\nname: alpha\ndescription: Use alpha when testing.\n---\n"
FILES: dict[str, str | bytes] = {
    "references/a.md": "# A\r\n",
    "scripts/run.sh": "#!/bin/sh\necho\n",
    "assets/\u00e9 \u6280.bin": b"\x00\xff",
    "LICENSE": "free\n",
}
NEVER: dict[str, str | bytes] = {
    "evals/evals.json": "{}",
    "evals/files/x.csv": "1",
    "scripts/__pycache__/run.cpython-311.pyc": b"\x00",
    "node_modules/x/index.js": "x",
    ".DS_Store": b"\x00",
    ".env": "KEY=1",
    "id_rsa": "secret",
    ".git/HEAD": "ref",
}


@pytest.fixture(autouse=True)
def pack(here: Path) -> Path:
    folder = write_pack(here / "skills" / "alpha", f"{HEAD}# Alpha\n", FILES)
    (folder / "scripts/run.sh").chmod(0o755)
    (folder / "LICENSE").chmod(0o600)
    return folder


@pytest.mark.row("R25", "R28")
def test_an_archive_holds_the_pack_and_nothing_else(pack: Path) -> None:
    write_pack(pack, f"{HEAD}# Alpha\n", NEVER)
    result = run("pack", "skills/alpha")

    assert result.exit_code == 0, result.stderr
    assert "key material (2 entries)" in result.stderr
    assert "left out: evals/ (2 files)" in result.stderr
    with zipfile.ZipFile("alpha.skill") as archive:
        names = [member.filename for member in archive.infolist()]
        rights = {m.filename: m.external_attr >> 16 for m in archive.infolist()}
        assert {m.date_time for m in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        assert archive.testzip() is None
    assert names == sorted(f"alpha/{path}" for path in ("SKILL.md", *FILES))
    assert rights.pop("alpha/scripts/run.sh") == 0o100755
    assert set(rights.values()) == {0o100644}


@pytest.mark.row("R25")
def test_anyone_who_unpacks_it_has_the_same_digest(tmp_path: Path, pack: Path) -> None:
    digest = run("pack", "skills/alpha").stdout.strip()
    data = Path("alpha.skill").read_bytes()
    ours = tmp_path / "ours"
    write_pack(ours / "alpha", "", unpack(data))
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        archive.extractall(tmp_path / "theirs")

    places = ["skills", "ours", "theirs", "alpha.skill", str(pack / "SKILL.md")]
    for place in places:
        with Satchel(place if not place.endswith("SKILL.md") else pack) as skills:
            entry = skills.catalog.get("alpha")
            assert entry is not None
            assert skills.registry.digest(entry) == digest


def test_a_pack_with_errors_is_refused_unless_forced(pack: Path) -> None:
    text = HEAD.replace("name:", "tags: x\nname:") + "# Alpha\n"
    (pack / "SKILL.md").write_text(text, "utf-8")
    result = run("pack", "skills/alpha/SKILL.md")

    assert result.exit_code == 1
    assert "SKILL.md:2: error unknown-field: unknown field 'tags'" in result.stderr
    last = result.stderr.splitlines()[-1]
    line = "satchel check --profile spec skills/alpha/SKILL.md"
    assert f"was not packed; {line} shows what to do" in last
    # A check in the dialect of the pack does not have what only the public one refuses.
    shown = run(*shlex.split(line)[1:], "--format", "concise")
    assert "SKILL.md:2: error unknown-field: unknown field 'tags'" in shown.stdout
    assert not Path("alpha.skill").exists()
    assert run("pack", "skills/alpha", "--force").exit_code == 0
    assert Path("alpha.skill").exists()


def test_only_force_goes_over_another_archive(pack: Path) -> None:
    command = ("pack", "skills/alpha", "-o", "out/x.skill")
    assert run(*command).exit_code == 0
    assert ", as before" in run(*command).stderr
    before = tree(Path("out"))
    (pack / "LICENSE").write_text("other")
    refused = run(*command)

    assert refused.exit_code == 1
    assert "error: out/x.skill is there already; nothing was" in refused.stderr
    assert tree(Path("out")) == before
    assert run(*command, "--force").exit_code == 0
    assert tree(Path("out")) != before
    assert [path.name for path in Path("out").iterdir()] == ["x.skill"]


@pytest.mark.parametrize("place", [".", "scripts"])
def test_no_archive_is_in_its_own_pack(
    pack: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    """The next one would hold it, and have another digest."""
    monkeypatch.chdir(pack / place)
    result = run("pack", str(pack), "--force")

    assert result.exit_code == 2
    assert result.stderr.endswith(
        "alpha.skill was not written: it would be in the pack; "
        f"use -o {pack.parent / 'alpha.skill'}\n"
    )
    assert not list(pack.rglob("*.skill"))
    assert run("pack", str(pack), "-o", str(pack.parent / "a.skill")).exit_code == 0


def test_a_name_that_is_no_folder_is_refused_even_when_forced(pack: Path) -> None:
    text = HEAD.replace("alpha", "../up") + "# Up\n"
    (pack / "SKILL.md").write_text(text, "utf-8")
    result = run("pack", "skills/alpha", "--force")

    assert result.exit_code == 1
    assert "no folder can be called '../up'" in result.stderr


def test_what_the_pack_lists_is_never_left_out_in_silence(pack: Path) -> None:
    text = "---\nname: alpha\ndescription: Use alpha when testing.\nmetadata:\n"
    text += "  assets: evals/evals.json\n---\n# A\n"
    write_pack(pack, text, {"evals/evals.json": "{}"})
    result = run("pack", "skills/alpha")

    assert result.exit_code == 1
    assert "it lists evals/evals.json, which is not in the archive" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["skills"], "expected one pack, got 2"),
        ([""], "the path is empty"),
        (["empty"], "there is no folder with a SKILL.md"),
        (["skills/alpha", "-o", "-"], "an archive is a file"),
        (["skills/alpha", "-o", "file/x.skill"], "file/x.skill was not written: "),
        (["x.skill"], "it is an archive already"),
    ],
)
def test_what_cannot_be_packed_is_reported(
    here: Path, arguments: list[str], message: str
) -> None:
    run("pack", "skills/alpha", "-o", "x.skill")
    write_pack(here / "skills/beta", HEAD.replace("alpha", "beta"))
    (here / "empty").mkdir()
    (here / "file").write_text("x")
    before = tree(here)
    result = run("pack", *arguments)

    assert result.exit_code == 2
    assert message in result.stderr
    assert tree(here) == before


def test_what_nobody_would_unpack_is_refused(pack: Path) -> None:
    with pytest.raises(LimitExceededError):
        pack_skill(str(pack), limits=Limits(archive_files=2))


@pytest.mark.row("C44", "C45")
def test_an_archive_is_a_source_for_every_command() -> None:
    run("pack", "skills/alpha")

    listed = run("list", "--skills", "alpha.skill")
    assert (listed.exit_code, listed.stderr) == (0, "")
    assert "alpha  4" in listed.stdout
    shown = run("show", "alpha", "--reference", "a.md", "--skills", "alpha.skill")
    assert shown.stdout_bytes == b"# A\r\n"
    assert run("show", "alpha", "--skills", "alpha.skill").stdout == "# Alpha\n"
    assert run("doctor", "--skills", "alpha.skill").exit_code == 0
    with Satchel(sources.archive("alpha.skill", label="mine")) as skills:
        assert [entry.source for entry in skills.catalog] == ["mine"]


@pytest.mark.row("U01")
def test_a_pack_with_packs_in_it_is_packed_without_them(here: Path) -> None:
    text = (
        "---\nname: {0}\ndescription: Does {0}. Use it when asked for {0}.\n---\n# Do\n"
    )
    for place in ("outer", "outer/skills/inner", "outer/.claude/skills/dev"):
        write_pack(here / place, text.format(place.rpartition("/")[2]))
    (here / "outer/notes.md").write_text("Notes. Read them first.\n")
    (here / "outer/skills/inner/notes.md").write_text("Of the inner one.\n")

    for path in ("outer", "outer/", "./outer", "outer/SKILL.md"):
        result = run("pack", path, "--force", "-o", "x.skill")
        assert result.exit_code == 0
        assert "left out: .claude/skills/dev/ (1 file)\n" in result.stderr
        assert "left out: skills/inner/ (2 files)\n" in result.stderr
        with zipfile.ZipFile(here / "x.skill") as made:
            assert made.namelist() == ["outer/SKILL.md", "outer/notes.md"]
        (here / "x.skill").unlink()


@pytest.mark.row("F52", "F69")
@pytest.mark.parametrize(
    ("name", "folder"),
    [
        ("pdf-forms", "skills"),
        ("my-skill", "skills"),
        ("new-skill", "skills"),
        ("role-template", "skills"),
        ("pdf-forms", "templates/skills"),
    ],
)
def test_what_is_left_to_write_goes_to_nobody(
    here: Path, name: str, folder: str
) -> None:
    """Whatever it is called and wherever it is: `satchel new` has made it."""
    run("new", name, "--in", folder)
    path = f"{folder}/{name}"

    assert "left-to-fill-in" in run("check", path).stdout
    for command in (("pack", path), ("build", "dist", path)):
        result = run(*command)
        assert result.exit_code, result.output
        assert "left-to-fill-in" in result.stderr
    assert not (here / f"{name}.skill").exists()
    assert not (here / "dist").exists()
