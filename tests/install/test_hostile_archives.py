"""Archives that want more than to be read: each leaves all else as it was.

Those that a pack alone is refused for are of `tests/unit/files`; here each goes through
``satchel add``.
"""

import io
import os
import stat
import tarfile
import time
import zipfile
from pathlib import Path

import pytest

from tests.functional.library import run
from tests.install.conftest import PACK, check_untouched
from tests.unit.files.archive_makers import (
    SKILL,
    Zipped,
    plain_tar,
    plain_zip,
    raw_tar,
    tar_block,
    zipped,
)
from tests.unit.files.test_archives import (
    HOSTILE_TARS,
    HOSTILE_ZIPS,
    NAMES,
    OVER,
    TWICE,
    pax,
)

_MOST_S = 20.0
_LINK = (stat.S_IFLNK | 0o777) << 16
_GOOD = PACK.format("good").encode()


def link(name: str, target: str, kind: bytes = tarfile.SYMTYPE) -> tarfile.TarInfo:
    """Return a link as a member of a tar."""
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info


def called(name: str) -> bytes:
    """Return a tar of a pack that calls itself by a name."""
    return plain_tar(
        ("a/SKILL.md", f"---\nname: {name}\ndescription: X.\n---\nX\n".encode())
    )


def nested(depth: int) -> bytes:
    """Return a zip in a zip in a zip."""
    data = plain_zip(("SKILL.md", SKILL))
    for _ in range(depth):
        data = plain_zip(("SKILL.md", SKILL), ("inner.zip", data))
    return data


def of_tar_modes() -> bytes:
    """Return a tar whose files may be run, are of root, and set the user id."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        for name in ("SKILL.md", "run.sh"):
            info = tarfile.TarInfo(name)
            info.mode, info.uid, info.size = 0o6777, 0, len(SKILL)
            archive.addfile(info, io.BytesIO(SKILL))
    return out.getvalue()


# Files of a library that may be read in part: what is good of it is installed.
LIBRARIES: dict[str, bytes] = {
    "a link as SKILL.md": plain_tar(
        ("good/SKILL.md", _GOOD), link("a/SKILL.md", "../../canary/secret")
    ),
    "a link in a pack": plain_tar(
        ("good/SKILL.md", _GOOD), link("good/x.md", "../../../canary/secret")
    ),
    "a link, then a file through it": plain_tar(
        ("good/SKILL.md", _GOOD), link("good/d", "../../canary"), ("good/d/x", b"x")
    ),
    "a folder that is a link": plain_tar(
        link("good", "../canary"), ("good/SKILL.md", _GOOD)
    ),
    "a hard link to a secret": plain_tar(
        ("good/SKILL.md", _GOOD), link("good/x", "/etc/passwd", tarfile.LNKTYPE)
    ),
    "a link in a zip": zipped(
        Zipped(b"good/SKILL.md", _GOOD),
        Zipped(b"good/x", b"../../canary/secret", attributes=_LINK),
    ),
    "a link and a file through it in a zip": zipped(
        Zipped(b"good/d", b"../../canary", attributes=_LINK),
        Zipped(b"good/d/SKILL.md", _GOOD),
    ),
    "an id that climbs": called("../../canary/x"),
    "an absolute id": called("/satchel-canary-y"),
    "an id of dots": called('".."'),
    "an id of our own folder": called(".satchel"),
    "an id with an escape": called('"a\\e[2Jb"'),
    "an id that is a device": called("con"),
    "two of one id": plain_tar(
        ("a/good/SKILL.md", _GOOD), ("b/good/SKILL.md", _GOOD + b"Other.\n")
    ),
    "a folder of an id in other letters": plain_tar(
        ("Good/SKILL.md", _GOOD), ("good/SKILL.md", _GOOD)
    ),
    "a pack in a pack": plain_tar(
        ("good/SKILL.md", _GOOD), ("good/in/SKILL.md", PACK.format("in").encode())
    ),
    "files of ours": plain_tar(
        ("good/SKILL.md", _GOOD), ("satchel.lock", b"{}"), ("satchel.toml", b"x = [")
    ),
    "our own folder": plain_tar(
        ("skills/.satchel/journal.json", b"{}"), ("skills/good/SKILL.md", _GOOD)
    ),
    "a repository of git": plain_tar(
        ("good/SKILL.md", _GOOD),
        (".git/config", b"[core]\nfsmonitor = touch ran\n"),
        (".git/HEAD", b"ref: refs/heads/main\n"),
        ("good/.git/hooks/post-checkout", b"#!/bin/sh\ntouch ran\n"),
    ),
    "secrets": plain_tar(
        ("good/SKILL.md", _GOOD), ("good/.env", b"K=1"), ("good/.ssh/id", b"K")
    ),
    "modes": of_tar_modes(),
    "a zip in a zip": nested(4),
    "needs that climb": plain_tar(
        (
            "good/SKILL.md",
            _GOOD.replace(b"\n---\n#", b"\nmetadata:\n  requires: ../../x\n---\n#"),
        )
    ),
    "no text": plain_tar(("good/SKILL.md", b"\xff\xfe\0")),
    "a name of one's own in another place": raw_tar(
        pax((b"path", b"good/../../canary/x")), tar_block(b"good/SKILL.md", _GOOD)
    ),
    "modules of Python": plain_tar(
        ("good/SKILL.md", _GOOD),
        ("good/__init__.py", b"open('ran', 'w')\n"),
        ("good/sitecustomize.py", b"open('ran', 'w')\n"),
        ("good/__pycache__/x.pyc", b"x"),
    ),
}


def _all() -> dict[str, bytes]:
    data: dict[str, bytes] = dict(LIBRARIES)
    data |= {f"zip: {name}": made for name, (made, _) in HOSTILE_ZIPS.items()}
    data |= {f"tar: {name}": made for name, (made, _) in HOSTILE_TARS.items()}
    data |= {f"over: {name}": made for name, (made, _, _) in OVER.items()}
    for case, name in NAMES.items():
        member = Zipped(name.encode(), b"evil")
        data[f"zip, name: {case}"] = zipped(Zipped(), member)
        blocks = pax((b"path", name.encode())), tar_block(b"x")
        data[f"tar, name: {case}"] = raw_tar(tar_block(), *blocks)
    for case, names in TWICE.items():
        members = (Zipped(name.encode(), b"") for name in names)
        data[f"zip, twice: {case}"] = zipped(Zipped(), *members)
    data["a file of nothing"] = b""
    data["a page"] = b"<html>not found</html>"
    data["a zip in front of a tar"] = plain_zip(("SKILL.md", SKILL)) + plain_tar()
    return data


ATTACKS = _all()
# What is tried in each run; `make hostile` has all.
OFTEN = {*LIBRARIES}


@pytest.mark.parametrize(
    "attack",
    [
        pytest.param(one, marks=() if one in OFTEN else pytest.mark.hostile)
        for one in ATTACKS
    ],
)
def test_a_hostile_archive_does_nothing(
    attack: str, project: Path, tmp_path: Path, canary: Path
) -> None:
    data = ATTACKS[attack]
    name = "given.zip" if data.startswith(b"PK") else "given.tar.gz"
    file = tmp_path / name
    file.write_bytes(data)
    start = time.monotonic()

    result = run("add", str(file))

    assert time.monotonic() - start < _MOST_S
    assert result.exit_code in (0, 1, 2)
    assert "a fault of satchel's own" not in result.stderr
    assert "Traceback" not in result.stderr
    assert "\x1b" not in result.stderr + result.stdout
    assert "canary-secret" not in result.stderr + result.stdout
    check_untouched(project, tmp_path, canary)
    if result.exit_code == 0:
        assert run("verify").exit_code == 0
        assert run("sync", "--frozen").exit_code == 0
    assert file.read_bytes() == data


@pytest.mark.parametrize(
    "name", ["-x.zip", "--skill.tar.gz", "a\nb.zip", "\x1b[2J.zip"]
)
def test_the_name_of_a_file_is_no_option(
    name: str, project: Path, tmp_path: Path, canary: Path
) -> None:
    data = plain_zip(("good/SKILL.md", _GOOD))
    (project / name).write_bytes(data)

    result = run("add", "--", name)

    assert result.exit_code in (0, 1, 2)
    assert "\x1b" not in result.stderr + result.stdout
    assert "a fault of satchel's own" not in result.stderr
    (project / name).unlink()
    check_untouched(project, tmp_path, canary)


@pytest.mark.parametrize("kind", ["pipe", "folder", "link", "unreadable"])
def test_what_is_called_an_archive_and_is_none(
    kind: str, project: Path, tmp_path: Path, canary: Path
) -> None:
    place = tmp_path / "given.zip"
    if kind == "pipe":
        os.mkfifo(place)
    elif kind == "folder":
        place.mkdir()
    elif kind == "link":
        place.symlink_to(place)
    else:
        place.symlink_to("/proc/self/mem")

    result = run("add", str(place))

    assert result.exit_code in (1, 2)
    assert "a fault of satchel's own" not in result.stderr
    place.rmdir() if kind == "folder" else place.unlink()
    check_untouched(project, tmp_path, canary)
    assert [*project.iterdir()] == []


def test_an_archive_that_changes_behind_a_lock_is_an_error(
    project: Path, tmp_path: Path
) -> None:
    file = tmp_path / "given.zip"
    file.write_bytes(plain_zip(("good/SKILL.md", _GOOD)))
    assert run("add", str(file)).exit_code == 0
    file.write_bytes(plain_zip(("good/SKILL.md", _GOOD + b"Evil.\n")))
    for place in (project / "skills", tmp_path / "store"):
        for old in sorted(place.rglob("*"), reverse=True):
            old.rmdir() if old.is_dir() else old.unlink()

    result = run("sync", "--frozen")

    assert result.exit_code == 1
    assert "good/SKILL.md was sha256:" in result.stderr
    assert not [*(project / "skills").glob("*/*")]


def test_zips_may_lie_about_what_follows(project: Path, tmp_path: Path) -> None:
    """The end record of one archive is in the comment of another."""
    inner = plain_zip(("SKILL.md", SKILL + b"Inner.\n"))
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("SKILL.md", SKILL)
        archive.comment = inner[:60_000]
    (tmp_path / "given.zip").write_bytes(out.getvalue())

    result = run("add", str(tmp_path / "given.zip"))

    assert result.exit_code in (1, 2)
    assert [*project.iterdir()] == []
