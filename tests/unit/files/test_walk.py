"""What a pack is found to hold."""

import os
from pathlib import Path

import pytest

from satchel.errors import LimitExceededError
from satchel.files import exclusion_kind, is_excluded_file, mark_of, walk_pack
from satchel.model import FileStat, Limits


def make(root: Path, *paths: str) -> str:
    """Write small files and return the folder."""
    for path in ("SKILL.md", *paths):
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text("x")
    return str(root)


def listed(folder: str) -> list[str]:
    return [file.path for file in walk_pack(folder).files]


@pytest.mark.row("C03", "C05", "X08")
def test_files_come_sorted_by_path(tmp_path: Path) -> None:
    """With size, time and inode, as they are remembered for digests."""
    folder = make(tmp_path)
    assert listed(folder) == ["SKILL.md"]
    paths = ["references/b.md", "references/z/a.md", "scripts/b.py"]
    make(tmp_path, *reversed(paths))

    assert listed(folder) == ["SKILL.md", *paths]
    assert walk_pack(folder).findings == ()
    status = (tmp_path / paths[0]).stat()
    assert walk_pack(folder).files[1] == FileStat(paths[0], 1, mark_of(status))


@pytest.mark.row("R28")
def test_each_kind_is_told_once_with_a_count(tmp_path: Path) -> None:
    folder = make(
        tmp_path,
        *(".git/config", ".gitignore", ".hidden.md", "references/guide.md"),
        *("__pycache__/a.pyc", "references/.DS_Store", "node_modules/x/y.js"),
        *(".env", "keys/server.PEM", "keys/id_rsa", ".npmrc"),
    )
    walked = walk_pack(folder)

    assert [file.path for file in walked.files] == ["SKILL.md", "references/guide.md"]
    assert [str(finding) for finding in walked.findings] == [
        (
            "note files-left-out: never listed: cache (3 entries): "
            "__pycache__, node_modules, references/.DS_Store"
        ),
        "note files-left-out: never listed: dot-file (1 entry): .hidden.md",
        (
            "note files-left-out: never listed: key material (4 entries): "
            ".env, .npmrc, keys/id_rsa, keys/server.PEM"
        ),
        (
            "note files-left-out: never listed: version control (2 entries): "
            ".git, .gitignore"
        ),
    ]


@pytest.mark.row("R28")
@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("references/guide.md", None),
        ("a/.git/key.pem", "key material"),
        (".git/x", "version control"),
        ("x/__pycache__/y.py", "cache"),
        ("a/.b/c", "dot-file"),
        (".env.production", "key material"),
        ("id_ed25519.pub", None),
        ("monkey", None),
        ("../x", None),
        ("Thumbs.db", "cache"),
    ],
)
def test_kinds_by_name(path: str, kind: str | None) -> None:
    assert exclusion_kind(path) == kind
    assert is_excluded_file(path) == (kind is not None)


@pytest.mark.row("A09", "E29")
def test_links_and_special_files_are_not_listed(tmp_path: Path) -> None:
    folder = make(tmp_path, "a.md")
    (tmp_path / "b.md").symlink_to("a.md")
    (tmp_path / "up").symlink_to("..")
    os.mkfifo(tmp_path / "pipe")
    walked = walk_pack(folder)

    assert [file.path for file in walked.files] == ["SKILL.md", "a.md"]
    assert [str(finding) for finding in walked.findings] == [
        (
            "b.md: warning link-in-pack: not listed: a link is not followed "
            "(and 1 more like it)"
        ),
        "pipe: warning special-file: not listed: it is a FIFO, a device or a socket",
    ]


def test_names_that_no_path_may_have(tmp_path: Path) -> None:
    """Listed is only what can be asked for."""
    folder = make(tmp_path, "con.md", "a:b.md", "ok.md")
    Path(os.fsdecode(os.fsencode(folder) + b"/\xff.md")).write_text("x")
    walked = walk_pack(folder)

    assert [file.path for file in walked.files] == ["SKILL.md", "ok.md"]
    assert [(finding.code, finding.path) for finding in walked.findings] == [
        ("unsafe-file-name", "a:b.md")
    ]
    assert "and 2 more" in walked.findings[0].message


@pytest.mark.parametrize(
    ("first", "second"),
    [("A.md", "a.md"), ("stra\u00dfe", "STRASSE"), ("é", "e\u0301")],
)
def test_names_that_some_systems_take_for_one(
    tmp_path: Path, first: str, second: str
) -> None:
    folder = make(tmp_path, first, second)
    if len(list(Path(folder).iterdir())) < 3:
        pytest.skip("this file system is one of them")
    walked = walk_pack(folder)

    assert len(walked.files) == 3
    assert [finding.code for finding in walked.findings] == ["colliding-file-names"]


@pytest.mark.parametrize(
    ("limits", "args"),
    [
        (Limits(pack_files=2), ("pack_files", 2, 3, "files", "")),
        (Limits(pack_bytes=2), ("pack_bytes", 2, 3, "bytes", "")),
        (Limits(pack_depth=1), ("pack_depth", 1, 2, "folders", "a/b")),
        # Folders count too, so that a tree of empty ones ends as well.
        (Limits(pack_files=8), ("pack_files", 8, 9, "files", "")),
    ],
)
def test_limits(tmp_path: Path, limits: Limits, args: tuple[object, ...]) -> None:
    """Over a limit the pack is refused: a part of it would be no pack."""
    folder = make(tmp_path, "a/b/c.md", "z.md")
    for number in range(5):
        (tmp_path / f"y{number}").mkdir()

    with pytest.raises(LimitExceededError) as caught:
        walk_pack(folder, limits=limits)
    assert caught.value.args == args


def test_what_goes_away_or_is_closed_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A vanished file was never there; a closed folder is told."""
    folder = make(tmp_path, "a/x.md", "b/x.md", "c/x.md")
    real = os.scandir

    def scandir(path: str) -> object:
        if path.endswith("a"):
            raise FileNotFoundError(2, "No such file or directory")
        if path.endswith("b"):
            raise PermissionError(13, "Permission denied")
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)
    walked = walk_pack(folder)

    assert [file.path for file in walked.files] == ["SKILL.md", "c/x.md"]
    assert [str(finding) for finding in walked.findings] == [
        "b: warning unreadable-file: not listed: Permission denied"
    ]
