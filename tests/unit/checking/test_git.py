"""Files of a commit in a folder: no more than fit, and none outside of it."""

from pathlib import Path

import pytest

from satchel.errors import RevisionError
from satchel.model import DEFAULT_LIMITS, Limits
from satchel_lab.checking._git import GitRepository, open_repository, write_packs
from tests.unit.checking.history import commit, git, write


def write_out(repository: GitRepository, *places: str, **limits: int) -> Path:
    """Write the packs of a commit into a folder next to the repository."""
    out = Path(repository.root).parent / "out"
    out.mkdir()
    write_packs(repository, places, out, Limits(**limits) if limits else DEFAULT_LIMITS)
    return out


def mirror(folder: Path, **limits: int) -> Path:
    return write_out(open_repository(str(folder), "HEAD"), "skills", **limits)


def names(folder: Path) -> list[str]:
    return sorted(
        str(file.relative_to(folder)) for file in folder.rglob("*") if not file.is_dir()
    )


def tree(folder: Path, *entries: tuple[str, str, str]) -> GitRepository:
    """Commit a tree that no working tree gave: mode, path, content, in this order."""
    git(folder, "init", "-q", "-b", "main")
    lines: list[str] = []
    for mode, path, content in entries:
        oid = git(folder, "hash-object", "-w", "--stdin", data=content.encode())
        if "/" in path:
            head, _, rest = path.partition("/")
            inner = f"100644 blob {oid}\t{rest}\n"
            oid = git(folder, "mktree", data=inner.encode())
            lines.append(f"040000 tree {oid}\t{head}")
        else:
            lines.append(f"{mode} blob {oid}\t{path}")
    made = git(folder, "mktree", data="".join(f"{x}\n" for x in lines).encode())
    done = git(folder, "commit-tree", made, "-m", "x")
    git(folder, "update-ref", "refs/heads/main", done)
    return open_repository(str(folder), "main")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "repo"
    path.mkdir()
    return path


def test_only_packs_are_written(folder: Path) -> None:
    write(folder / "skills", "a", references__b_dot_md="# B\n")
    (folder / "large.bin").write_bytes(b"x" * 100)
    (folder / "skills" / "README.md").write_text("x")
    script = write(folder / "other", "c", run="x") / "run"
    script.chmod(0o755)
    commit(folder)
    out = mirror(folder)

    assert names(out) == [
        "other/c/SKILL.md",
        "other/c/run",
        "skills/a/SKILL.md",
        "skills/a/references/b.md",
    ]
    assert (out / "other/c/run").stat().st_mode & 0o111
    assert not (out / "other/c/SKILL.md").stat().st_mode & 0o111


def test_bytes_are_those_of_the_commit(folder: Path) -> None:
    """No line ends are turned, also with .gitattributes."""
    pack = write(folder, "a")
    (pack / "crlf.txt").write_bytes(b"a\r\nb\n\x00\xff")
    commit(folder)
    (folder / ".gitattributes").write_text("* text=auto eol=crlf\n")

    assert (mirror(folder) / "a/crlf.txt").read_bytes() == b"a\r\nb\n\x00\xff"


def test_a_file_that_nobody_reads_is_as_long_and_empty(folder: Path) -> None:
    pack = write(folder, "a")
    (pack / "large").write_bytes(b"x" * 2_000)
    commit(folder)
    out = mirror(folder, file_bytes=1_000)

    assert (out / "a/large").read_bytes() == b"\0" * 2_000


def test_more_files_than_a_scan_looks_at_are_refused(folder: Path) -> None:
    write(folder, "a", one="1", two="2")
    commit(folder)

    with pytest.raises(RevisionError, match="3 files in packs; 2 fit"):
        mirror(folder, scan_entries=2)


def test_a_folder_that_cannot_be_written_is_reported(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(folder, "a")
    commit(folder)

    def fail(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    out = folder.parent / "full"
    out.mkdir()
    repository = open_repository(str(folder), "HEAD")
    monkeypatch.setattr(Path, "mkdir", fail)
    with pytest.raises(RevisionError, match=r"a/SKILL\.md cannot be written: No space"):
        write_packs(repository, (), out, DEFAULT_LIMITS)


@pytest.mark.parametrize("name", ["..", ".git", ".GIT", "."])
def test_names_that_climb_are_skipped(folder: Path, name: str) -> None:
    """Git makes no such tree; other programs may."""
    try:
        repository = tree(
            folder, ("100644", "SKILL.md", "x"), ("100644", f"{name}/evil", "x")
        )
    except Exception:  # noqa: BLE001 - this git refuses to make it
        pytest.skip("git refuses the tree")

    assert names(write_out(repository)) == ["SKILL.md"]
    assert not (folder.parent / "evil").exists()


def test_no_file_is_written_through_a_link(folder: Path) -> None:
    """A tree may have a link and a folder of one name, if git did not make it."""
    target = folder.parent / "target"
    target.mkdir()
    repository = tree(
        folder,
        ("100644", "SKILL.md", "x"),
        ("120000", "sub", str(target)),
        ("100644", "sub/evil", "x"),
    )
    out = write_out(repository)

    assert list(target.iterdir()) == []
    assert names(out) == ["SKILL.md", "sub/evil"]


def test_links_stay_links(folder: Path) -> None:
    write(folder / "real", "a")
    (folder / "skills").mkdir()
    (folder / "skills" / "a").symlink_to("../real/a")
    (folder / "skills" / "up").symlink_to("../../elsewhere")
    (folder / "skills" / "far").symlink_to("/nowhere")
    (folder / "else").symlink_to("real")
    commit(folder)
    out = mirror(folder)

    assert (out / "skills/a").readlink().as_posix() == "../real/a"
    assert (out / "skills/up").readlink() == folder.parent.resolve() / "elsewhere"
    assert (out / "skills/far").readlink().as_posix() == "/nowhere"
    assert not (out / "else").is_symlink()
