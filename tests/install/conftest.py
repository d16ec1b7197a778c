"""A project, a repository that it installs from, and the user's folders."""

import os
import shutil
import stat
import subprocess
import threading
from collections.abc import Iterator, Mapping
from functools import cache, partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

PACK = "---\nname: {0}\ndescription: Use {0} when testing.\n---\n# {0}\n"
# So often a command is killed at a random time; `make long` asks for more.
KILLS = int(os.environ.get("KILLS", "12"))


@cache
def _new_repository() -> Mapping[str, bytes]:
    """Return the files of an empty repository, which git makes once."""
    command = ["git", "init", "-q", "-b", "main", "--template=", "."]
    environ = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull}
    with TemporaryDirectory() as folder:
        subprocess.run(command, cwd=folder, env=environ, check=True)
        made = Path(folder, ".git")
        files = [path for path in made.rglob("*") if path.is_file()]
        return {file.relative_to(made).as_posix(): file.read_bytes() for file in files}


class Upstream:
    """A git repository on this machine, that others install from."""

    def __init__(self, folder: Path, copied: Path | None = None) -> None:
        self.folder = folder
        self.address = f"file://{folder}"
        if copied is not None:
            shutil.copytree(copied, folder)
            return
        for path, data in _new_repository().items():
            file = folder / ".git" / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data)
        for path in ("objects/info", "objects/pack", "refs/heads", "refs/tags"):
            (folder / ".git" / path).mkdir(parents=True, exist_ok=True)

    def git(self, *args: str) -> str:
        """Run git in the repository, without the settings of anybody."""
        who = ("-c", "user.name=a", "-c", "user.email=a@example.com")
        environ = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull}
        done = subprocess.run(
            ["git", *who, *args],
            cwd=self.folder,
            env=environ,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.strip()

    def commit(self, files: Mapping[str, str]) -> str:
        """Write files, and return the commit."""
        for path, text in files.items():
            file = self.folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(text.encode())
        self.git("add", "-A")
        self.git("commit", "-qm", "Change")
        head = (self.folder / ".git/HEAD").read_text()
        if not head.startswith("ref: "):
            return head.strip()
        return (self.folder / ".git" / head[5:].strip()).read_text().strip()


@pytest.fixture(scope="session")
def first_upstream(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that each ``upstream`` is a copy of."""
    if shutil.which("git") is None:
        pytest.skip("git is not installed; to run this: make engines")
    repository = Upstream(tmp_path_factory.mktemp("first") / "upstream")
    needs = PACK.format("pdf").replace(
        "\n---\n", "\nmetadata:\n  requires: form\n---\n"
    )
    repository.commit(
        {
            "skills/pdf/SKILL.md": needs,
            "skills/pdf/scripts/fill.py": "print('filled')\n",
            "skills/form/SKILL.md": PACK.format("form"),
            "skills/sql-read/SKILL.md": PACK.format("sql-read"),
            "README.md": "Skills.\n",
        }
    )
    return repository.folder


@pytest.fixture
def upstream(tmp_path: Path, first_upstream: Path) -> Upstream:
    """A repository with the skills ``pdf``, which needs ``form``, and ``sql-read``."""
    return Upstream(tmp_path / "upstream", first_upstream)


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty project, which is the working folder; nothing of the user's is used."""
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "HOME"):
        monkeypatch.setenv(name, str(tmp_path / name.lower()))
    monkeypatch.setenv("SATCHEL_STORE", str(tmp_path / "store"))
    monkeypatch.delenv("SATCHEL_CONFIG", raising=False)
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def verifying(tmp_path: Path) -> Path:
    """Let the user's own settings verify each load; return their file."""
    file = tmp_path / "xdg_config_home" / "satchel" / "satchel.toml"
    file.parent.mkdir(parents=True)
    file.write_text('[trust]\nverify = "locked"\n')
    return file


@pytest.fixture
def site(tmp_path: Path, verifying: Path) -> Iterator[tuple[Path, str]]:
    """A folder that a server on this machine shows, and the server's address."""
    verifying.write_text("allow_private = true\n")
    folder = tmp_path / "site"
    folder.mkdir()
    handler = partial(SimpleHTTPRequestHandler, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield folder, f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def canary(tmp_path: Path) -> Path:
    """A folder next to the project that nothing may read, write or run from."""
    folder = tmp_path / "canary"
    folder.mkdir()
    (folder / "secret").write_text("canary-secret\n")
    return folder


def check_untouched(project: Path, tmp_path: Path, canary: Path) -> None:
    """Only plain files of packs are new, and none of them has anything of ours."""
    assert [*canary.iterdir()] == [canary / "secret"]
    assert not any(Path(f"/satchel-canary-{name}").exists() for name in "xy")
    assert not [*tmp_path.rglob("ran")]
    there = {entry.name for entry in tmp_path.iterdir()}
    ours = {"canary", "project", "store", "xdg_data_home"}
    assert there <= ours | {"hostile", "upstream", "given.zip", "given.tar.gz"}
    assert {entry.name for entry in project.iterdir()} <= {
        *("skills", "satchel.lock", "satchel.toml")
    }
    for path in project.rglob("*"):
        status = path.lstat()
        assert stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode), path
        assert stat.S_ISDIR(status.st_mode) or not status.st_mode & 0o7111
        assert status.st_nlink == 1 or path.is_dir()
        if path.is_file():
            assert b"canary-secret" not in path.read_bytes()
            assert b"root:" not in path.read_bytes()
    skills = project / "skills"
    assert not (skills / ".satchel").exists()
    for entry in skills.iterdir() if skills.exists() else ():
        assert (entry / "SKILL.md").is_file()
