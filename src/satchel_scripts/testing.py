"""What every runner has to do, as tests that run on anybody's.

Example::

    class TestMyRunner(RunnerContract):
        def make_runner(self, **limits):
            return MyRunner(**limits)

Collected by pytest as any class of tests. Scripts are of Python, so the runner needs
one; ``limits`` are ``timeout_s`` and ``output_bytes``.
"""

# ruff: noqa: S101, PLR2004 - assert is how a test speaks, with numbers in place

import hashlib
import json
import threading
import time
from abc import abstractmethod
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Final

from satchel.model import Job, Outcome

if TYPE_CHECKING:
    from satchel.protocols import Runner

__all__ = ["RunnerContract", "run_text"]

_ECHO: Final = "import json, sys; print(json.dumps(sys.argv[1:]))"
_SOON_S: Final = 60.0
_LEAVES_A_GRANDCHILD: Final = """
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for count in range(100):
            with open(sys.argv[1], "w") as file:
                file.write(str(count))
            time.sleep(0.1)
    os._exit(0)
os.wait()
while not os.path.exists(sys.argv[1]):
    time.sleep(0.01)
"""


def run_text(  # noqa: PLR0913 - what a job has, and what makes its pack
    runner: "Runner",
    folder: Path,
    text: str,
    *args: str,
    name: str = "scripts/run.py",
    stdin: str = "",
    work: str = "",
    cancelled: threading.Event | None = None,
) -> Outcome:
    """Run a text as the script of a pack in ``folder``, and return what came of it."""
    pack = folder / "pack"
    script = pack / name
    script.parent.mkdir(parents=True, exist_ok=True)
    script.write_text(text, "utf-8")
    return runner.run(
        Job(
            skill="contract",
            digest="sha256:00",
            path=name,
            args=args,
            stdin=stdin,
            pack=str(pack),
            work=work,
            cancelled=cancelled or threading.Event(),
        )
    )


class RunnerContract:
    """Tests of the `Runner` protocol; subclass it and say how to make a runner."""

    @abstractmethod
    def make_runner(self, **limits: float) -> "Runner":
        """Return a new runner with these limits."""
        raise NotImplementedError

    def test_runs(self, tmp_path: Path) -> None:
        """A script prints on both streams, and ends by itself."""
        text = "import sys; print('out'); print('é', file=sys.stderr)"
        outcome = run_text(self.make_runner(), tmp_path, text)

        assert outcome.is_ok, outcome
        assert (outcome.stdout, outcome.stderr) == ("out\n", "é\n")
        assert outcome.runner
        assert outcome.files == ()

    def test_exit_status(self, tmp_path: Path) -> None:
        """What the script returns is no refusal, and no error of the runner."""
        outcome = run_text(self.make_runner(), tmp_path, "raise SystemExit(7)")

        assert (outcome.ending, outcome.exit_code, outcome.is_ok) == ("exit", 7, False)

    def test_arguments_are_exact(self, tmp_path: Path) -> None:
        """No shell, and no parser, reads them on the way."""
        args = ("a b", "", "--", "-c", "$HOME", "*", "é\n", "'\"\\")
        outcome = run_text(self.make_runner(), tmp_path, _ECHO, *args)

        assert json.loads(outcome.stdout) == list(args)

    def test_a_nul_in_an_argument_is_refused(self, tmp_path: Path) -> None:
        """No system can hand it over."""
        assert run_text(self.make_runner(), tmp_path, _ECHO, "\0").ending == "refused"

    def test_stdin(self, tmp_path: Path) -> None:
        """Its text arrives whole, also when it is larger than a pipe; then it ends."""
        text = "import sys; data = sys.stdin.read(); print(len(data), data[:2])"
        runner = self.make_runner()

        assert run_text(runner, tmp_path, text, stdin="é" * 300_000).stdout == (
            "300000 éé\n"
        )
        assert run_text(runner, tmp_path, text).stdout == "0 \n"

    def test_sibling_modules_and_files_are_there(self, tmp_path: Path) -> None:
        """A script imports what is next to it, and finds its pack by its own path."""
        (tmp_path / "pack/scripts").mkdir(parents=True)
        (tmp_path / "pack/scripts/other.py").write_text("VALUE = 5", "utf-8")
        (tmp_path / "pack/data.txt").write_text("six", "utf-8")
        text = (
            "import pathlib, other; "
            "print(other.VALUE, (pathlib.Path(__file__).parents[1] / 'data.txt')"
            ".read_text())"
        )

        assert run_text(self.make_runner(), tmp_path, text).stdout == "5 six\n"

    def test_long_output_is_cut(self, tmp_path: Path) -> None:
        """Its end is there, and the text says that something is left out."""
        text = "print('a' * 50_000, 'middle', 'b' * 200_000, 'end')"
        outcome = run_text(self.make_runner(output_bytes=1_000), tmp_path, text)

        assert outcome.is_ok
        assert len(outcome.stdout.encode()) < 1_200
        assert outcome.stdout.endswith("end\n")
        assert "left out" in outcome.stdout

    def test_output_that_is_no_text(self, tmp_path: Path) -> None:
        """Bytes that are no UTF-8 are replaced."""
        text = "import os; os.write(1, b'a\\xff\\xc3b')"

        assert run_text(self.make_runner(), tmp_path, text).stdout == "a��b"

    def test_time_out(self, tmp_path: Path) -> None:
        """It ends soon after its time; what it printed and wrote is there."""
        work = _work(tmp_path)
        text = (
            "import time; print('begun', flush=True); "
            "open('partial.txt', 'w').write('x'); time.sleep(600)"
        )
        began = time.monotonic()
        outcome = run_text(
            self.make_runner(timeout_s=5), tmp_path, text, work=str(work)
        )

        assert time.monotonic() - began < _SOON_S
        assert (outcome.ending, outcome.exit_code) == ("time-out", None)
        assert outcome.stdout == "begun\n"
        assert [file.path for file in outcome.files] == ["partial.txt"]

    def test_cancelled(self, tmp_path: Path) -> None:
        """It ends soon after nobody waits any more, and leaves nothing."""
        work = _work(tmp_path)
        cancelled = threading.Event()
        timer = threading.Timer(1.0, cancelled.set)
        timer.start()
        text = "import time; open('partial.txt', 'w').write('x'); time.sleep(600)"
        began = time.monotonic()
        outcome = run_text(
            self.make_runner(), tmp_path, text, work=str(work), cancelled=cancelled
        )

        assert time.monotonic() - began < _SOON_S
        assert outcome.ending == "cancelled"
        assert outcome.files == ()
        assert list(work.iterdir()) == []

    def test_descendants_are_gone(self, tmp_path: Path) -> None:
        """What left the group, and keeps the pipe open, does not outlive its run."""
        work = _work(tmp_path)
        began = time.monotonic()
        outcome = run_text(
            self.make_runner(), tmp_path, _LEAVES_A_GRANDCHILD, "n", work=str(work)
        )
        text = (work / "n").read_text()

        assert outcome.is_ok, outcome
        assert time.monotonic() - began < _SOON_S
        time.sleep(0.3)
        assert (work / "n").read_text() == text

    def test_files_in_and_out(self, tmp_path: Path) -> None:
        """New and changed files come out, with what they are; others are untouched."""
        work = _work(tmp_path, {"in.txt": b"1", "same.txt": b"2", "deep/x.txt": b"3"})
        text = (
            "import os, pathlib as p; p.Path('in.txt').write_text('11');"
            "p.Path('new/er').mkdir(parents=True);"
            "p.Path('new/er/r.json').write_text(p.Path('deep/x.txt').read_text());"
            "p.Path('b.bin').write_bytes(bytes(9)); os.unlink('same.txt')"
        )
        outcome = run_text(self.make_runner(), tmp_path, text, work=str(work))

        assert outcome.is_ok, outcome
        assert [file.path for file in outcome.files] == [
            *("b.bin", "in.txt", "new/er/r.json"),
        ]
        binary, _, document = outcome.files
        assert (binary.media_type, binary.size) == ("application/octet-stream", 9)
        assert document.media_type == "application/json"
        assert document.digest == f"sha256:{hashlib.sha256(b'3').hexdigest()}"
        assert (work / "new/er/r.json").read_bytes() == b"3"
        assert (work / "same.txt").read_bytes() == b"2"

    def test_files_come_out_of_a_failure(self, tmp_path: Path) -> None:
        """A script that fails may have written why."""
        work = _work(tmp_path)
        text = "open('log.txt', 'w').write('why'); raise SystemExit(3)"
        outcome = run_text(self.make_runner(), tmp_path, text, work=str(work))

        assert outcome.exit_code == 3
        assert (work / "log.txt").read_text() == "why"

    def test_links_are_not_followed(self, tmp_path: Path) -> None:
        """None that the user has, and none that the script makes; they are named."""
        secret = tmp_path / "secret.txt"
        secret.write_text("secret", "utf-8")
        outside = tmp_path / "outside"
        outside.mkdir()
        work = _work(tmp_path)
        (work / "in").symlink_to(secret)
        (work / "folder").symlink_to(outside)
        text = (
            "import os, pathlib as p; print(os.path.lexists('in')); "
            "p.Path('folder').mkdir(exist_ok=True); "
            "p.Path('folder/x').write_text('x'); "
            "os.symlink('/etc/passwd', 'out'); os.mkfifo('pipe')"
        )
        outcome = run_text(self.make_runner(), tmp_path, text, work=str(work))

        assert outcome.is_ok, outcome
        assert outcome.stdout == "False\n"
        assert outcome.files == ()
        assert list(outside.iterdir()) == []
        assert not (work / "out").is_symlink()
        left_out = "\n".join(outcome.left_out)
        assert all(name in left_out for name in ("in", "folder/x", "out", "pipe"))

    def test_the_pack_is_not_changed(self, tmp_path: Path) -> None:
        """What is verified stays what was verified; `Subprocess` is the exception."""
        text = "open(__file__, 'a').write('# more')"
        run_text(self.make_runner(), tmp_path, text)

        assert (tmp_path / "pack/scripts/run.py").read_text() == text

    def test_no_interpreter(self, tmp_path: Path) -> None:
        """A suffix that nobody named is refused, also where there is a shebang."""
        text = "#!/usr/bin/env python3\nprint(1)\n"
        for name in ("scripts/run.xyz", "scripts/run"):
            outcome = run_text(self.make_runner(), tmp_path, text, name=name)

            assert outcome.ending == "refused"
            assert "interpreter" in outcome.detail

    def test_no_such_script(self, tmp_path: Path) -> None:
        """What is not in the pack does not run, by any path."""
        (tmp_path / "other.py").write_text("print(1)", "utf-8")
        (tmp_path / "pack").mkdir()
        (tmp_path / "pack/link.py").symlink_to(tmp_path / "other.py")
        for path in ("no.py", "../other.py", str(tmp_path / "other.py"), "link.py"):
            job = Job(skill="s", digest="", path=path, pack=str(tmp_path / "pack"))
            outcome = self.make_runner().run(job)

            assert outcome.ending == "refused", path
            assert outcome.detail

    def test_two_at_once(self, tmp_path: Path) -> None:
        """Runs side by side see each its own work folder, and each its own files."""
        text = (
            "import os, sys, time; open(sys.argv[1], 'w').write(sys.argv[1]); "
            "time.sleep(0.5); print(sorted(os.listdir()))"
        )
        runner = self.make_runner()

        def run(name: str) -> Outcome:
            folder = tmp_path / name
            return run_text(runner, folder, text, name, work=str(_work(folder)))

        with ThreadPoolExecutor() as pool:
            outcomes = [*pool.map(run, "ab")]

        for name, outcome in zip("ab", outcomes, strict=True):
            assert outcome.stdout == f"['{name}']\n"
            assert [file.path for file in outcome.files] == [name]


def _work(folder: Path, files: dict[str, bytes] | None = None) -> Path:
    work = folder / "work"
    work.mkdir(parents=True)
    for path, data in (files or {}).items():
        (work / path).parent.mkdir(parents=True, exist_ok=True)
        (work / path).write_bytes(data)
    return work
