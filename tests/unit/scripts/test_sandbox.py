"""The sandbox, from its door: what is refused, what is granted, what is cut."""

import os
import re
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from satchel.model import Job
from satchel_scripts import Sandbox, Subprocess, _bubblewrap, _sandbox, _seccomp
from satchel_scripts.testing import run_text

pytestmark = pytest.mark.slow


@pytest.fixture(params=["bubblewrap", "landlock"])
def kind(request: pytest.FixtureRequest) -> str:
    name = str(request.param)
    if reason := Sandbox(kind=name).reason:  # type: ignore[arg-type]
        pytest.skip(reason)
    return name


def test_it_refuses_where_nothing_works(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It says why, and what to do; no script runs bare."""
    monkeypatch.setattr(_bubblewrap, "bwrap_path", lambda: "")
    monkeypatch.setattr(_sandbox, "find_spec", lambda _name: None)
    runner = Sandbox()
    outcome = run_text(runner, tmp_path, "print(1)")

    assert (runner.kind, outcome.ending) == ("none", "refused")
    for words in ("no bwrap", "no sandlock", "[scripts]", "Subprocess()"):
        assert words in outcome.detail
    assert outcome.detail == runner.reason


def test_limits_are_above_zero() -> None:
    for options in ({"timeout_s": 0}, {"files": -1}, {"memory_bytes": 0}):
        with pytest.raises(ValueError, match="expected more than 0"):
            Sandbox(**options)  # type: ignore[arg-type]


def test_python_is_a_program(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no program"):
        Sandbox(python=tmp_path / "no")
    with pytest.raises(ValueError, match="no environment"):
        Subprocess(python=tmp_path)


def test_an_environment_is_used_with_what_is_installed_in_it(
    kind: str, tmp_path: Path
) -> None:
    environment = tmp_path / "environment"
    environment.mkdir(0o755)
    _make_environment(environment)
    packages = next(environment.glob("lib/python*/site-packages"))
    (packages / "only_here.py").write_text("VALUE = 5", "utf-8")
    runner = Sandbox(kind=kind, python=environment)  # type: ignore[arg-type]
    outcome = run_text(runner, tmp_path, "import only_here; print(only_here.VALUE)")

    assert outcome.stdout == "5\n", outcome


def _make_environment(folder: Path) -> None:
    import venv

    venv.create(folder, with_pip=False, symlinks=True)


def test_variables_are_granted_by_skill(kind: str, tmp_path: Path) -> None:
    """The variables of this process are not there, and no others than the granted."""
    text = "import os; print(os.environ.get('A'), os.environ.get('B'), len(os.environ))"
    environ = {"contract": {"A": "1"}, "other-*": {"B": "2"}}
    runner = Sandbox(kind=kind, environ=environ)  # type: ignore[arg-type]
    outcome = run_text(runner, tmp_path, text)

    assert outcome.stdout == "1 None 7\n"


def test_a_granted_value_is_on_no_command_line(kind: str, tmp_path: Path) -> None:
    secret = "only-for-this-script"  # noqa: S105 - one of the test
    runner = Sandbox(kind=kind, environ={"*": {"KEY": secret}})  # type: ignore[arg-type]
    seen: list[bytes] = []
    ended = threading.Event()

    def look() -> None:
        while not ended.wait(0.05):
            for path in Path("/proc").glob("[0-9]*/cmdline"):
                try:
                    seen.append(path.read_bytes())
                except OSError:
                    continue

    thread = threading.Thread(target=look)
    thread.start()
    outcome = run_text(runner, tmp_path, "import time; time.sleep(0.5)")
    ended.set()
    thread.join()

    assert outcome.is_ok
    assert not [line for line in seen if secret.encode() in line]


def test_other_interpreters_are_named_by_suffix(kind: str, tmp_path: Path) -> None:
    runner = Sandbox(kind=kind, interpreters={".txt": "/bin/cat", ".sh": ""})  # type: ignore[arg-type]

    assert run_text(runner, tmp_path, "text", name="a.txt").stdout == "text"
    assert run_text(runner, tmp_path, "echo", name="a.sh").ending == "refused"


def test_a_shell_script(kind: str, tmp_path: Path) -> None:
    text = 'set -e\nprintf \'%s|\' "$#" "$1" | sed s/x/y/ > out.txt\ncat out.txt'
    runner = Sandbox(kind=kind)  # type: ignore[arg-type]

    assert run_text(runner, tmp_path, text, "x z", name="a.sh").stdout == "1|y z|"


def test_more_to_read(kind: str, tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    (data / "a.txt").write_text("5", "utf-8")
    os.chmod(data, 0o755)  # noqa: PTH101, S103 - others have to read it
    text = f"print(open({str(data / 'a.txt')!r}).read())"

    assert not run_text(Sandbox(kind=kind), tmp_path, text).is_ok  # type: ignore[arg-type]
    runner = Sandbox(kind=kind, read=[data])  # type: ignore[arg-type]
    assert run_text(runner, tmp_path, text).stdout == "5\n"


def test_a_limit_ends_a_run(kind: str, tmp_path: Path) -> None:
    runner = Sandbox(kind=kind, cpu_s=1)  # type: ignore[arg-type]
    outcome = run_text(runner, tmp_path, "while True: pass")

    assert (outcome.ending, outcome.exit_code) == ("limit", None)
    assert "processor time" in outcome.detail
    assert outcome.limits["processor time of a process"] == "hard"


def test_a_work_folder_that_is_too_large_is_refused(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    for number in range(4):
        (work / f"{number}").write_bytes(bytes(10))
    for options in ({"files": 3}, {"work_bytes": 39}):
        runner = Subprocess(**options)  # type: ignore[arg-type]
        outcome = run_text(runner, tmp_path, "print(1)", work=str(work))

        assert outcome.ending == "refused"
        assert "smaller" in outcome.detail


def test_what_is_beyond_the_bounds_is_left_out(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    text = "for n in range(70): open(f'{n:02}', 'w').write('x')"
    outcome = run_text(Subprocess(files=10), tmp_path, text, work=str(work))

    assert [file.path for file in outcome.files] == [f"{n:02}" for n in range(10)]
    assert outcome.left_out[0] == "10: more than 10 files"
    assert outcome.left_out[-1] == "10 more"
    assert len(list(work.iterdir())) == 10


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"interpreters": {"rb": "/bin/sh"}}, "'rb': a suffix begins with a dot"),
        ({"environ": {"pdf": {"PORT": 80}}}, "expected a text for PORT, got 80"),
    ],
)
@pytest.mark.parametrize("runner", [Sandbox, Subprocess])
def test_what_no_script_could_be_run_with_is_an_error_at_once(
    runner: type[Sandbox | Subprocess], options: dict[str, Any], reason: str
) -> None:
    with pytest.raises((TypeError, ValueError), match=re.escape(reason)):
        runner(**options)


@pytest.mark.parametrize("program", ["/gone/ruby", "gone-ruby"])
def test_scripts_of_an_interpreter_that_is_not_there_are_refused(
    program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One table is for many machines; the working folder may be a stranger's."""
    monkeypatch.chdir(tmp_path)
    stranger = tmp_path / "gone-ruby"
    stranger.write_text("#!/bin/sh\necho owned\n")
    stranger.chmod(0o755)
    runner = Subprocess(interpreters={".rb": program})
    outcome = run_text(runner, tmp_path, "puts 1", name="scripts/a.rb")

    assert outcome.ending == "refused"
    assert outcome.detail == f"{program}, named for '.rb', is no program here"
    assert run_text(runner, tmp_path, "print(1)").stdout == "1\n"


def test_an_interpreter_is_found_by_its_name(tmp_path: Path) -> None:
    runner = Subprocess(interpreters={".txt": "cat", ".js": ""})
    outcome = run_text(runner, tmp_path, "told", name="scripts/a.txt")

    assert outcome.stdout == "told"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("\ud800", "an argument is no valid Unicode"),
        ("ü" * 66_000, "an argument is too long: 132,000 bytes, at most 131,071"),
    ],
)
def test_an_argument_that_cannot_be_passed_is_refused_with_what_to_do(
    text: str, reason: str, tmp_path: Path
) -> None:
    outcome = run_text(Subprocess(), tmp_path, "print(1)", "a", text)

    assert outcome.ending == "refused"
    assert outcome.detail.startswith(reason)


@pytest.mark.parametrize("runner", [Subprocess(files=5), Subprocess(work_bytes=50_000)])
def test_a_folder_is_never_filled_so_that_nothing_runs_in_it(
    runner: Subprocess, tmp_path: Path
) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (work / "old").write_bytes(bytes(10_000))
    fill = "for n in range(5): open(f'{n}', 'wb').write(bytes(10_000))"
    filled = run_text(runner, tmp_path, fill, work=str(work))
    # As large as before, and of a name that is there.
    change = "open('old', 'wb').write(b'x' * 10_000)"
    changed = run_text(runner, tmp_path, change, work=str(work))

    assert [file.path for file in filled.files] == ["0", "1", "2", "3"]
    assert [line.partition(":")[0] for line in filled.left_out] == ["4"]
    assert (changed.ending, [file.path for file in changed.files]) == ("exit", ["old"])


def test_folders_that_are_closed_or_deep_are_removed(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    text = (
        "import os\nfor n in range(300): os.mkdir('d'); os.chdir('d')\n"
        "os.chdir(os.environ['WORK_DIR']); os.mkdir('c'); os.chmod('c', 0)\n"
    )
    work = tmp_path / "work"
    work.mkdir()
    runner = Sandbox(kind=kind)  # type: ignore[arg-type]
    outcome = run_text(runner, tmp_path, text, work=str(work))

    assert outcome.is_ok, outcome
    assert list(temporary.iterdir()) == []


def test_time_outs_leave_nothing(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No process, and no file; also of what left its group."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    mark = f"mark-{tmp_path.name}-{os.getpid()}"
    text = (
        "import os, time\nfor n in range(3):\n"
        "    if os.fork() == 0: os.setsid()\ntime.sleep(60)"
    )
    runner = Sandbox(0.6, kind=kind)  # type: ignore[arg-type]
    for _ in range(int(os.environ.get("TIME_OUTS", "5"))):
        assert run_text(runner, tmp_path, text, mark).ending == "time-out"
    left = [
        path
        for path in Path("/proc").glob("[0-9]*/cmdline")
        if path.exists() and mark.encode() in path.read_bytes()
    ]

    assert left == []
    assert list(temporary.iterdir()) == []


def test_a_job_that_is_cancelled_already(kind: str, tmp_path: Path) -> None:
    cancelled = threading.Event()
    cancelled.set()
    runner = Sandbox(kind=kind)  # type: ignore[arg-type]
    outcome = run_text(
        runner, tmp_path, "import time; time.sleep(9)", cancelled=cancelled
    )

    assert outcome.ending == "cancelled"
    assert outcome.seconds < 8


def test_subprocess_says_that_it_isolates_nothing(tmp_path: Path) -> None:
    runner = Subprocess(cpu_s=5, memory_bytes=1 << 30, processes=20)
    outcome = run_text(runner, tmp_path, "print(1)")

    assert (runner.kind, runner.isolated) == ("no isolation", False)
    assert Sandbox.isolated
    assert outcome.runner == "no isolation"
    assert {"memory", "processes", "processor time"} <= set(outcome.limits)
    assert set(outcome.limits.values()) == {"best effort", "hard"}


def test_the_filter_is_for_machines_that_are_listed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _seccomp.make_filter.cache_clear()
    for machine in ("x86_64", "aarch64"):
        monkeypatch.setattr("platform.machine", lambda name=machine: name)

        assert len(_seccomp.make_filter(with_landlock=True)) % 8 == 0
        _seccomp.make_filter.cache_clear()
    monkeypatch.setattr("platform.machine", lambda: "riscv64")
    with pytest.raises(NotImplementedError, match="riscv64"):
        _seccomp.make_filter()


def test_an_exit_status_is_not_taken_for_a_limit(tmp_path: Path) -> None:
    outcome = run_text(Subprocess(), tmp_path, "raise SystemExit(152)")

    assert (outcome.ending, outcome.exit_code) == ("exit", 152)


def test_a_script_that_cannot_be_started(tmp_path: Path) -> None:
    """More arguments than the system takes are a refusal, with the system's reason."""
    outcome = run_text(Subprocess(), tmp_path, "print(1)", *["x" * 100_000] * 99)

    assert outcome.ending == "refused"
    assert "too long" in outcome.detail


def test_a_work_folder_that_is_not_there(tmp_path: Path) -> None:
    job = Job(skill="s", digest="", path="a.py", pack=str(tmp_path), work="/no/such")
    (tmp_path / "a.py").write_text("", "utf-8")

    assert Subprocess(python=sys.executable).run(job).ending == "refused"
