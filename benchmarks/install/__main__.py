"""What it costs to install 200 skills, next to git and a copy; and to verify a load.

Run as ``python -m benchmarks.install [ROUNDS]``. Prints the median, and the spread, of
the processor time of each, in seconds, and the ratios.
"""

import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from satchel import Satchel

SKILLS = 200
LOADS = 300
# Loads without and with verification take turns this often in each round.
TURNS = 10
PLAIN, VERIFIED = f"{LOADS} loads", f"{LOADS} loads, verified"
PACK = "---\nname: skill-{0}\ndescription: Use {0} when testing.\n---\n# {0}\n"


def made_repository(folder: Path) -> str:
    """Make a repository of skills, each with four files of 2 to 12 kB."""
    for number in range(SKILLS):
        pack = folder / "skills" / f"skill-{number}"
        (pack / "references").mkdir(parents=True)
        (pack / "SKILL.md").write_text(PACK.format(number) + "Do it.\n" * 300)
        for part in range(3):
            text = "".join(f"{number}.{part}.{line}\n" for line in range(1_000))
            (pack / "references" / f"{part}.md").write_text(text)
    git = ("git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@b.c")
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "add", "-A"], check=True)
    subprocess.run([*git, "commit", "-qm", "x"], check=True)
    return f"file://{folder}"


def spent(run: Callable[[], object]) -> float:
    """Return the processor time of a call, and of all processes that it waited for."""

    def now() -> float:
        children = resource.getrusage(resource.RUSAGE_CHILDREN)
        return time.process_time() + children.ru_utime + children.ru_stime

    before = now()
    run()
    return now() - before


def loads(folder: Path, settings: Path) -> tuple[list[float], list[float]]:
    """Return what loads cost without and with verification, in turn."""
    settings.mkdir(exist_ok=True)
    libraries: list[Satchel] = []
    for verify in ("", '[trust]\nverify = "locked"\n'):
        (settings / "satchel.toml").write_text(verify)
        libraries.append(Satchel(folder, sinks=[]))
    ids = [entry.id for entry in libraries[0]]
    times: tuple[list[float], list[float]] = [], []
    for turn in range(TURNS + 1):
        for library, measured in zip(libraries, times, strict=True):
            began = time.process_time()
            for number in range(LOADS):
                library.load(ids[number % len(ids)])
            if turn:  # the first one fills caches
                measured.append(time.process_time() - began)
    for library in libraries:
        library.close()
    return times


def main(rounds: int) -> None:
    """Measure, interleaved, and print."""
    with tempfile.TemporaryDirectory() as name:
        top = Path(name)
        os.environ |= {"SATCHEL_STORE": str(top / "store"), "HOME": name}
        os.environ |= {f"XDG_{kind}_HOME": name for kind in ("DATA", "CONFIG", "CACHE")}
        address = made_repository(top / "upstream")
        times: dict[str, list[float]] = {}

        def command(*line: str, cwd: Path | None = None) -> Callable[[], object]:
            return lambda: subprocess.run(
                line, cwd=cwd, check=True, capture_output=True
            )

        satchel = (sys.executable, "-m", "satchel")
        for number in range(rounds):
            project = top / f"project-{number}"
            project.mkdir()
            clone = ("git", "clone", "-q", "--bare", "--depth=1", address)
            shutil.rmtree(top / "store", ignore_errors=True)
            steps = {
                "bare shallow clone": command(*clone, str(top / f"clone-{number}")),
                "satchel add": command(*satchel, "add", address, cwd=project),
                "cp -r": command(
                    "cp", "-r", str(project / "skills"), f"{project}-copy"
                ),
                "wipe": command("rm", "-rf", str(project / "skills")),
                "satchel sync --frozen": command(
                    *satchel, "sync", "--frozen", cwd=project
                ),
                "satchel --version": command(*satchel, "--version"),
            }
            for step, run in steps.items():
                times.setdefault(step, []).append(spent(run))
            plain, verified = loads(project / "skills", top / "satchel")
            times.setdefault(PLAIN, []).extend(plain)
            times.setdefault(VERIFIED, []).extend(verified)
        for step, values in times.items():
            low, middle, high = min(values), statistics.median(values), max(values)
            print(f"{step:24} {middle:.4f} s ({low:.4f} to {high:.4f})")
        for first, second in (("satchel sync --frozen", "cp -r"), (VERIFIED, PLAIN)):
            # Of each pair, for what is measured next to each other is slowed alike.
            pairs = zip(times[first], times[second], strict=True)
            ratios = [one / two for one, two in pairs]
            print(f"{first} / {second}: {statistics.median(ratios):.3f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
