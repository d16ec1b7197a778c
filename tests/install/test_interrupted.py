"""A command that ends at any step: each pack is whole, and the next one repairs."""

import os
import random
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from satchel import Satchel
from satchel.errors import SkillError
from tests.functional.library import run
from tests.install.conftest import KILLS, PACK, Upstream

# Runs a command, and ends the process at once at the step of a number: a file that is
# opened to be written, a rename, a removal. Status 99 says that it was ended.
_PROGRAM = """
import builtins, io, os, sys
steps, last = 0, int(sys.argv[1])
def counted(function):
    def call(*args, **kwargs):
        global steps
        steps += 1
        if steps == last:
            os._exit(99)
        return function(*args, **kwargs)
    return call
def writes(function):
    step = counted(function)
    def call(path, mode="r", *args, **kwargs):
        chosen = step if set("wxa") & set(mode) else function
        return chosen(path, mode, *args, **kwargs)
    return call
builtins.open = io.open = writes(io.open)
for name in ("rename", "replace", "unlink", "rmdir"):
    setattr(os, name, counted(getattr(os, name)))
from satchel.cli import main
main(sys.argv[2:])
"""
_MOST_STEPS = 400


def end_at(step: int, *command: str) -> int:
    """Run a command that ends at a step, and return its status."""
    line = [sys.executable, "-c", _PROGRAM, str(step), *command]
    return subprocess.run(line, capture_output=True, check=False).returncode


def state(project: Path, skill_id: str) -> dict[str, str]:
    """Return the text of each file of an installed pack."""
    folder = project / "skills" / skill_id
    return {
        file.relative_to(folder).as_posix(): file.read_text()
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }


@pytest.mark.slow
@pytest.mark.parametrize("command", ["add", "upgrade", "remove"])
def test_a_killed_command_leaves_each_pack_whole(
    command: str, project: Path, upstream: Upstream, tmp_path: Path
) -> None:
    packs = "form", "pdf", "sql-read"
    old: dict[str, dict[str, str]] = {name: {} for name in packs}
    line = ["add", upstream.address]
    if command != "add":
        assert run(*line).exit_code == 0
        old = {name: state(project, name) for name in packs}
    if command == "upgrade":
        text = PACK.format("form") + "More.\n"
        upstream.commit({"skills/form/SKILL.md": text, "skills/form/new.md": "New.\n"})
        upstream.commit({"skills/pdf/scripts/fill.py": "print('more')\n"})
        line = ["sync", "--upgrade"]
    elif command == "remove":
        line = ["remove", "upstream"]
    saved = tmp_path / "saved"
    subprocess.run(["cp", "-a", str(project), str(saved)], check=True)
    assert run(*line).exit_code == 0
    new = {name: state(project, name) for name in packs}

    for step in range(1, _MOST_STEPS):
        subprocess.run(["rm", "-rf", str(project)], check=True)
        subprocess.run(["cp", "-a", str(saved), str(project)], check=True)
        os.chdir(project)
        if command != "add":
            run("trust", "--yes")
        status = end_at(step, *line)
        for name in packs:
            assert state(project, name) in (old[name], new[name], {}), (step, name)
        if status == 0:
            assert step > 10
            return
        assert status == 99
        again = run(*line)
        is_done = command == "remove" and again.exit_code == 2
        assert again.exit_code == 0 or is_done, (step, again.stderr)
        assert {name: state(project, name) for name in packs} == new
        assert not (project / "skills/.satchel").exists()
        assert "all as locked" in run("verify").stderr
    pytest.fail("it never came to its end")


@pytest.mark.slow
def test_a_killed_upgrade_at_any_time_leaves_each_pack_whole(
    project: Path, upstream: Upstream
) -> None:
    """A real SIGKILL, also while git runs; what it wrote until then is in no pack."""
    names, times = ("form", "pdf", "sql-read"), random.Random(7)  # noqa: S311
    assert run("add", upstream.address).exit_code == 0
    line = [sys.executable, "-m", "satchel", "sync", "--upgrade"]
    upstream.commit({f"skills/{n}/SKILL.md": f"{PACK.format(n)}\n" for n in names})
    begun = time.monotonic()
    subprocess.run(line, stdout=subprocess.DEVNULL, check=True)
    whole_s = time.monotonic() - begun  # on this machine, as busy as it is
    killed = 0
    for number in range(KILLS):
        old = {name: state(project, name) for name in names}
        more = {f"skills/{n}/SKILL.md": f"{PACK.format(n)}{number}\n" for n in names}
        upstream.commit(more)
        process = subprocess.Popen(
            line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=times.uniform(0.05, whole_s))
        process.kill()
        killed += process.wait() == -signal.SIGKILL
        left = {name: state(project, name) for name in names}

        again = run("sync", "--upgrade")
        assert again.exit_code == 0, (number, again.stderr)
        new = {name: state(project, name) for name in names}
        for name in names:
            assert left[name] in (old[name], new[name], {}), (number, name)
            assert new[name] != old[name]
        assert run("verify").exit_code == 0, number
        assert not (project / "skills/.satchel").exists()
    sys.stdout.write(f"{KILLS} upgrades: {killed} killed\n")
    assert killed


@pytest.mark.slow
@pytest.mark.usefixtures("verifying")
def test_a_file_that_is_swapped_all_the_time_gives_no_other_byte(
    project: Path, upstream: Upstream
) -> None:
    assert run("add", upstream.address, "--skill", "form").exit_code == 0
    file = project / "skills/form/SKILL.md"
    good = file.read_bytes()
    program = (
        "import sys\n"
        "path, good = sys.argv[1], open(sys.argv[1], 'rb').read()\n"
        "for number in range(20_000):\n"
        "    data = good if number % 2 else good.replace(b'#', b'!')\n"
        "    with open(path, 'r+b') as file:\n"
        "        file.write(data)\n"
    )
    with Satchel(sinks=[]) as skills:
        swapping = subprocess.Popen([sys.executable, "-c", program, str(file)])
        loaded = refused = 0
        while swapping.poll() is None:
            try:
                assert skills.load("form").data == good
                loaded += 1
            except SkillError:
                refused += 1
    assert swapping.returncode == 0
    assert loaded + refused > 0
