"""Resolve the lock files with the oldest pip on a later day: ``make locks``.

A lock file that is fine today can fail tomorrow: an old pip resolves `coverage[toml]`
again where the lock names only `coverage`, and refuses the release that came out
meanwhile. So this makes an index in a folder, in which each pinned package is there as
pinned and in two newer releases, with the requirements that the real package declares;
the wheels are empty. The oldest pip then installs each lock file from there, and what
it installed must be what the file pins. At last the check checks itself: without the
extras in the file, the same pip must fail.

Source of the pip: 22.3 comes with Python 3.11.0, the first that Satchel supports;
Debian 12 has 23.0.1.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
import tempfile
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import TYPE_CHECKING, Final
from zipfile import ZipFile

from packaging.markers import Marker

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT: Final = Path(__file__).parents[1]
REQUIREMENTS: Final = ROOT / "requirements"
OLDEST_PIP: Final = REQUIREMENTS / "oldest-pip.txt"
LOCKS: Final = (("run",), ("dev",), ("dev", "site"), ("lock",))
"""The files that one environment gets, one after the other."""

_PIN: Final = re.compile(
    r"(?P<name>[a-z0-9-]+)(?P<extras>\[[a-z0-9,-]+\])?==(?P<version>[\w.]+)"
    r"(?P<marker> ; [^\\]+)? \\"
)


def main() -> int:
    """Install each lock file from the index; return the exit status."""
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        pip = work / "pip"
        options = ["--no-deps", "--require-hashes", "--target", str(pip)]
        run(sys.executable, "-m", "pip", *QUIET, *options, "-r", str(OLDEST_PIP))
        index = work / "index"
        index.mkdir()
        wrong = [text for names in LOCKS for text in faults(names, work, pip, index)]
        if not install(("dev",), work, pip, index, extras=False)[0]:
            wrong.append("dev.txt without extras: installs, so this check sees nothing")
        for text in wrong:
            print(text, file=sys.stderr)
        count = len(list(index.glob("*.whl")))
        print(f"{len(LOCKS)} sets of lock files, {count} releases, {len(wrong)} wrong")
    return bool(wrong)


QUIET: Final = ("install", "--quiet", "--disable-pip-version-check", "--no-input")


def faults(names: tuple[str, ...], work: Path, pip: Path, index: Path) -> Iterator[str]:
    """Yield what is wrong after the files of one environment were installed."""
    label = " and ".join(f"{name}.txt" for name in names)
    output, installed = install(names, work, pip, index)
    if output:
        yield f"{label}: {output}"
    elif installed != (pins := pinned(names)):
        yield f"{label}: not as pinned: {sorted(installed ^ pins)}"


def install(
    names: tuple[str, ...], work: Path, pip: Path, index: Path, *, extras: bool = True
) -> tuple[str, set[str]]:
    """Install with the oldest pip; return its complaint, and what is there."""
    home = Path(tempfile.mkdtemp(dir=work))
    run(sys.executable, "-m", "venv", "--without-pip", str(home / "venv"))
    python = str(home / "venv" / "bin" / "python")
    environment = {**os.environ, "PYTHONPATH": str(pip), "PIP_CONFIG_FILE": os.devnull}
    for name in names:
        lock = home / f"{name}.txt"
        lock.write_text("\n".join(translated(name, index, extras=extras)), "utf-8")
        options = ["--require-hashes", "--no-index", "--find-links", str(index)]
        done = subprocess.run(
            [python, "-m", "pip", *QUIET, *options, "-r", str(lock)],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            return done.stderr.strip() or f"status {done.returncode}", set()
    site = next((home / "venv").glob("lib/python*/site-packages"))
    return "", {path.name.removesuffix(".dist-info") for path in site.glob("*-info")}


def translated(name: str, index: Path, *, extras: bool) -> Iterator[str]:
    """Yield a lock file's pins with the hashes that they have in the index."""
    for pin in pins_of(name):
        digests = [
            add_release(index, pin["name"], pin["version"] + later)
            for later in ("", ".post1", ".9999")
        ]
        text = f"{pin['name']}{(pin['extras'] or '') if extras else ''}"
        yield f"{text}=={pin['version']} --hash=sha256:{digests[0]}"


def pinned(names: tuple[str, ...]) -> set[str]:
    """Return ``name-version`` of each pin, as a folder of site-packages spells it."""
    return {
        f"{pin['name'].replace('-', '_')}-{pin['version']}"
        for name in names
        for pin in pins_of(name)
    }


def pins_of(name: str) -> Iterator[re.Match[str]]:
    """Yield the pins of a lock file that are for this machine.

    Raises:
        SystemExit: One is not installed, so that nothing is known of what it requires.
    """
    for line in (REQUIREMENTS / f"{name}.txt").read_text("utf-8").splitlines():
        pin = _PIN.fullmatch(line)
        if pin is None:
            continue
        if pin["marker"] and not Marker(pin["marker"].lstrip(" ;")).evaluate():
            continue
        try:
            distribution(pin["name"])
        except PackageNotFoundError:
            sys.exit(f"{name}.txt: {pin['name']} is not installed: run `make locks`")
        yield pin


def add_release(index: Path, name: str, version: str) -> str:
    """Add an empty wheel with the package's real requirements; return its SHA-256."""
    stem = f"{name.replace('-', '_')}-{version}"
    wheel = index / f"{stem}-py3-none-any.whl"
    if not wheel.exists():
        real = distribution(name).metadata
        lines = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}"]
        for field in ("Requires-Dist", "Provides-Extra"):
            lines += [f"{field}: {value}" for value in real.get_all(field) or ()]
        info = f"{stem}.dist-info"
        with ZipFile(wheel, "w") as file:
            file.writestr(f"{info}/METADATA", "\n".join(lines) + "\n")
            tag = "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
            file.writestr(f"{info}/WHEEL", tag)
            file.writestr(f"{info}/RECORD", "")
    return hashlib.sha256(wheel.read_bytes()).hexdigest()


def run(*command: str) -> None:
    """Run a command that has to succeed."""
    subprocess.run(command, check=True)


if __name__ == "__main__":
    sys.exit(main())
