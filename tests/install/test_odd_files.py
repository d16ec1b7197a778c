"""Files of a project that are no files, or odd ones: each is an error, and no wait."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from satchel import Satchel
from tests.functional.library import run
from tests.install.conftest import PACK, Upstream


def a_fifo(place: str) -> None:
    os.mkfifo(place)


def a_socket(place: str) -> None:
    with socket.socket(socket.AF_UNIX) as opened:
        opened.bind(os.path.relpath(place))


KINDS: Final[dict[str, Callable[[str], None]]] = {
    "fifo": a_fifo,
    "socket": a_socket,
    "device": lambda place: Path(place).symlink_to("/dev/zero"),
    "folder": os.mkdir,
}
JOURNAL: Final = "skills/.satchel/journal.json"
COMMANDS: Final = (
    *((kind, file, "sync") for kind in KINDS for file in ("satchel.toml", JOURNAL)),
    *((kind, "satchel.lock", "sync") for kind in KINDS),
    ("fifo", "satchel.lock", "sync --frozen"),
    ("fifo", "satchel.lock", "add ../more --name b"),
    ("fifo", "satchel.toml", "remove pdf"),
)


def started(command: str) -> tuple[int, str]:
    """Run a command that ends within 60 s; return its status and all its output."""

    def late(*_: object) -> None:
        raise TimeoutError(command)

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(60)
    try:
        done = run(*command.split())
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
    return done.exit_code, done.output


@pytest.fixture
def shared(tmp_path: Path) -> Path:
    """A folder with a skill, which the project has; ``more`` is another one."""
    for name in ("shared", "more"):
        pack = tmp_path / name / "skills" / f"{name}-x"
        pack.mkdir(parents=True)
        (pack / "SKILL.md").write_text(PACK.format(f"{name}-x"))
        (pack / "more.md").write_text("More.\n")
    assert run("add", "../shared", "--name", "pdf").exit_code == 0
    return tmp_path / "shared"


@pytest.mark.skipif(sys.platform == "win32", reason="it has no such files")
@pytest.mark.usefixtures("shared")
@pytest.mark.parametrize(("kind", "file", "command"), COMMANDS)
def test_what_is_no_regular_file_is_named_and_not_waited_for(
    kind: str, file: str, command: str, project: Path
) -> None:
    place = project / file
    place.unlink(missing_ok=True)
    place.parent.mkdir(exist_ok=True)
    KINDS[kind](str(place))

    status, output = started(command)

    assert status == 2, output
    assert f"{file}: it is no regular file" in output


@pytest.mark.skipif(sys.platform == "win32", reason="it has no such files")
@pytest.mark.usefixtures("shared")
@pytest.mark.parametrize("command", ["verify", "trust --yes"])
def test_a_command_that_needs_a_lock_has_none(command: str, project: Path) -> None:
    (project / "satchel.lock").unlink()
    os.mkfifo(project / "satchel.lock")

    status, output = started(command)

    assert status == 1, output
    assert "there is no satchel.lock" in output


@pytest.mark.skipif(sys.platform == "win32", reason="it has no such files")
@pytest.mark.usefixtures("shared")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["SKILL.md", "more.md", "new.md"])
def test_in_an_installed_pack_it_is_an_edit(
    name: str, kind: str, project: Path
) -> None:
    place = project / "skills/shared-x" / name
    place.unlink(missing_ok=True)
    KINDS[kind](str(place))
    if kind == "folder":
        (place / "x").write_text("x")

    for command in ("sync", "verify"):
        status, output = started(command)

        assert status == 1, output
        assert f"shared-x/{name}" in output


@pytest.mark.skipif(sys.platform == "win32", reason="it has no such files")
@pytest.mark.usefixtures("shared", "verifying")
def test_a_lock_that_is_a_fifo_vouches_for_nothing(project: Path) -> None:
    (project / "satchel.lock").unlink()
    os.mkfifo(project / "satchel.lock")

    with Satchel(sinks=[]) as skills:
        assert [entry.id for entry in skills.catalog] == []


@pytest.mark.usefixtures("shared")
def test_a_byte_order_mark_is_no_statement(project: Path) -> None:
    """Some editors write it; what is added goes below what is there."""
    file = project / "satchel.toml"
    file.write_bytes(b"\xef\xbb\xbf# Ours.\n" + file.read_bytes())

    assert run("sync", "--frozen").exit_code == 0
    assert run("list").exit_code == 0
    assert run("add", "../more").exit_code == 0
    text = file.read_text("utf-8")
    assert text.startswith("# Ours.\n")
    assert "pdf = " in text
    assert "more = " in text


@pytest.mark.skipif(sys.platform != "linux", reason="a small disk is made so on Linux")
@pytest.mark.usefixtures("shared")
@pytest.mark.parametrize(
    ("full", "advice"),
    [("store", "set SATCHEL_STORE to"), ("project", "make room there, and type it")],
)
def test_a_full_disk_is_named_with_what_to_do(
    full: str, advice: str, project: Path, tmp_path: Path
) -> None:
    (tmp_path / "more/skills/more-x/large.md").write_text("x" * 300_000)
    if full == "store":
        place = tmp_path / "full"
        place.mkdir()
    else:
        place = project / "skills"
    mount = "mount -t tmpfs -o size=100k none"
    script = f'{mount} "$1" && SATCHEL_STORE="$2" exec "$3" -m satchel add ../more'
    store = str(place if full == "store" else tmp_path / "store")
    sh = ("unshare", "-rm", "sh", "-c", script, "sh", str(place), store, sys.executable)
    if subprocess.run(["unshare", "-rm", "true"], check=False).returncode:
        pytest.skip("no file system can be mounted here")
    result = subprocess.run(sh, capture_output=True, text=True, check=False)

    assert result.returncode == 2, result.stderr
    assert f"error: {place}" in result.stderr
    assert f": No space left on device; {advice}" in result.stderr
    assert run("sync", "--frozen").exit_code == 0


def test_a_store_that_cannot_be_written_is_named_with_its_variable(
    project: Path, upstream: Upstream, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file in its place stands for all that is not about room."""
    (tmp_path / "a-file").write_text("")
    store = tmp_path / "a-file/store"
    monkeypatch.setenv("SATCHEL_STORE", str(store))

    result = run("add", str(upstream.folder), width=None)

    assert result.exit_code == 2
    assert result.stderr == (
        f"error: {store} was not written: Not a directory; set SATCHEL_STORE to a "
        "folder that can be\n"
    )
    assert not (project / "satchel.lock").exists()


@pytest.mark.usefixtures("shared")
def test_an_entry_that_is_replaced_is_named(project: Path, upstream: Upstream) -> None:
    """Also another folder, or another ref, of the same place."""
    text = PACK.format("form")
    upstream.git("tag", "v1")

    same = run("add", "../shared", "--name", "pdf")
    other = run("add", upstream.address, "--rev", "v1", "--name", "pdf")
    again = run("add", upstream.address, "--name", "pdf", "--json")

    assert "was" not in same.stderr
    assert "warning: pdf was ../shared in [skills], and is " in other.stderr
    assert f"and is {upstream.address} v1 now" in other.stderr
    assert f"pdf was {upstream.address} v1 in [skills]" in again.stdout
    assert (project / "skills/form/SKILL.md").read_text() == text


@pytest.mark.parametrize(
    "name", ["fd\u202ep", "a\u2066b\u2069", "a\u200eb", "a\u200bb", "a\U000e0041"]
)
def test_a_name_that_hides_something_is_refused_with_its_line(
    name: str, project: Path
) -> None:
    text = f'# Ours.\n\n[skills]\nx = {{folder = "x"}}\n"{name}" = {{folder = "y"}}\n'
    (project / "satchel.toml").write_text(text, "utf-8")

    result = run("sync")
    added = run("add", "x/y", "--name", name)

    assert result.exit_code == added.exit_code == 2
    assert "satchel.toml:5: skills." in result.stderr
    assert "it has hidden characters; delete them" in result.stderr
    assert "<U+" in result.stderr
    assert name not in result.stderr + added.stderr


@pytest.mark.usefixtures("shared")
@pytest.mark.parametrize("name", ["büro", "日本語", "می‌خواهم"])
def test_a_name_of_any_script_is_one(name: str) -> None:
    assert run("add", "../more", "--name", name).exit_code == 0
    assert run("sync", "--frozen").exit_code == 0


@pytest.mark.skipif(sys.platform == "win32", reason="it locks no folder")
@pytest.mark.usefixtures("shared")
@pytest.mark.parametrize(("seconds", "status"), [(0.3, 0), (60, 2)])
def test_a_command_waits_a_moment_for_another_one(
    seconds: float, status: int, project: Path
) -> None:
    """As for what a command that was killed has started, and then it says so."""
    program = (
        "import fcntl, os, sys, time; fd = os.open('.', os.O_RDONLY); "
        "fcntl.flock(fd, fcntl.LOCK_EX); print('held', flush=True); "
        "time.sleep(float(sys.argv[1]))"
    )
    other = [sys.executable, "-c", program, str(seconds)]
    with subprocess.Popen(other, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        ended, output = started("sync")
        holder.kill()

    assert ended == status, output
    if status:
        assert f"{project} was not written: another satchel command is" in output


def test_other_patterns_of_an_entry_are_named(upstream: Upstream) -> None:
    assert run("add", upstream.address, "--name", "x", "--skill", "f*").exit_code == 0

    other = run("add", upstream.address, "--name", "x", "--skill", "s*")

    was, now = (f"{upstream.address} ({one})" for one in ("f*", "s*"))
    assert f"warning: x was {was} in [skills], and is {now} now" in other.stderr
