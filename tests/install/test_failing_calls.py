"""One call of the system fails: no pack is half, and the next command repairs."""

import errno
import io
import json
import os
import shutil
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, Self

import pytest

from tests.functional.library import run, tree, write_pack
from tests.install.conftest import PACK

_CALLS: Final = ("rename", "replace", "unlink", "rmdir", "mkdir", "scandir", "listdir")
_MOST_CALLS: Final = 2_000
_FORM: Final = PACK.format("form")
_OPEN: Final = io.open


class Full:
    """A file that takes half of what is written, and then no more."""

    def __init__(self, file: Any, code: int) -> None:  # noqa: ANN401
        self._file = file
        self._code = code

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def write(self, data: bytes) -> None:
        """Write half, and fail."""
        self._file.write(data[: len(data) // 2])
        self._file.flush()
        raise OSError(self._code, os.strerror(self._code))


class Failing:
    """Fails the call of a number, of those that are about folders of a test."""

    def __init__(self, number: int, code: int, folders: tuple[str, ...]) -> None:
        self.number = number
        self.code = code
        self.folders = folders
        self.calls = 0
        self.failed = ""

    def is_due(self, name: str, path: object) -> bool:
        """Count a call; tell whether it is the one."""
        if not isinstance(path, str | Path) or not str(path).startswith(self.folders):
            return False
        self.calls += 1
        if self.calls != self.number:
            return False
        self.failed = f"{name} {path}"
        return True

    def call(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function of `os` that may fail."""

        def call(path: object = ".", *args: object, **kwargs: object) -> object:
            if self.is_due(name, path):
                raise OSError(self.code, os.strerror(self.code), str(path))
            return function(path, *args, **kwargs)

        return call

    def open(self, path: Any, mode: str = "r", *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        """Stand in for `open`: it may fail, and what it opens may be full."""
        if self.is_due(f"open {mode}", path):
            raise OSError(self.code, os.strerror(self.code), str(path))
        file = _OPEN(path, mode, *args, **kwargs)
        if {*mode} & {*"wxa"} and self.is_due("write", path):
            return Full(file, self.code)
        return file


@contextmanager
def failing(number: int, code: int, *folders: Path) -> Generator[Failing]:
    """Let one call fail while the block runs."""
    plan = Failing(number, code, tuple(map(str, folders)))
    with pytest.MonkeyPatch.context() as patch:
        for name in _CALLS:
            patch.setattr(os, name, plan.call(name, getattr(os, name)))
        patch.setattr(io, "open", plan.open)
        patch.setattr("builtins.open", plan.open)
        yield plan


def packs(project: Path) -> dict[str, dict[str, bytes]]:
    """Return the files of each installed pack."""
    folder = project / "skills"
    return {name: tree(folder / name) for name in ("form", "pdf", "sql")}


def prepare(source: Path, command: str) -> list[str]:
    """Write the packs, add them unless that is the command, and change them."""
    for name in ("form", "pdf", "sql"):
        more = {"scripts/a.py": "A\n", "references/b.md": "B\n"}
        write_pack(source / name, PACK.format(name), more)
    if command == "add":
        return ["add", str(source)]
    assert run("add", str(source), "--name", "all").exit_code == 0
    if command == "remove":
        return ["remove", "all"]
    write_pack(source / "form", _FORM + "More.\n", {"new.md": "New.\n"})
    shutil.rmtree(source / "pdf/scripts")
    shutil.rmtree(source / "sql")
    return ["sync", "--upgrade"]


@pytest.mark.parametrize(
    ("code", "command"),
    [
        ("ENOSPC", "remove"),
        *(
            pytest.param(code, command, marks=pytest.mark.slow)
            for code in ("ENOSPC", "EACCES", "EIO")
            for command in ("add", "upgrade", "remove")
            if (code, command) != ("ENOSPC", "remove")
        ),
    ],
)
def test_one_call_that_fails_leaves_each_pack_whole(
    command: str, code: str, project: Path, tmp_path: Path
) -> None:
    line = prepare(tmp_path / "source", command)
    user = tmp_path / "xdg_data_home"
    approvals = user / "satchel/trusted-locks.json"
    approvals.parent.mkdir(parents=True, exist_ok=True)
    noted = json.loads(approvals.read_text()) if approvals.exists() else {}
    other = {"/another/project": ["sha256:" + "0" * 64]}
    approvals.write_text(json.dumps(noted | other))
    places = project, tmp_path / "store", user
    old = packs(project)
    for place in places:
        if place.exists():
            shutil.copytree(place, tmp_path / "saved" / place.name)
    assert run(*line).exit_code == 0
    new = packs(project)

    for number in range(1, _MOST_CALLS):
        for place in places:
            shutil.rmtree(place, ignore_errors=True)
            if (saved := tmp_path / "saved" / place.name).exists():
                shutil.copytree(saved, place)
        os.chdir(project)
        with failing(number, getattr(errno, code), *places) as plan:
            result = run(*line)

        at = f"{number}: {plan.failed}: {result.stderr}"
        assert result.exit_code in (0, 1, 2), at
        assert "a fault of satchel's own" not in result.stderr, at
        assert "Traceback" not in result.stderr, at
        for name, files in packs(project).items():
            assert files in (old[name], new[name], {}), (at, name)
        again = run(*line)
        is_done = command == "remove" and again.exit_code == 2
        assert again.exit_code == 0 or is_done, (at, again.stderr)
        assert packs(project) == new, at
        assert not (project / "skills/.satchel").exists(), at
        assert not [*project.rglob(".satchel-*")], at
        verified = run("verify")
        assert "all as locked" in verified.stderr, at
        assert verified.exit_code == 0, (at, verified.stdout)
        assert "/another/project" in json.loads(approvals.read_text()), at
        if not plan.failed:
            assert number > 30
            return
    pytest.fail("it never came to its end")
