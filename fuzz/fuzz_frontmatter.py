"""Fuzz the parser: ``python fuzz/fuzz_frontmatter.py --seconds 600``.

A child process parses what a coverage-guided fuzzer makes of the seeds (atheris, if
it is installed; else the seeds and simple mutations of them), so that even a crash of
the interpreter is seen and reported. For every input:

- nothing is raised, in any profile, within a second of processor time;
- a file is refused exactly where an error finding says so and no profile matched;
- what is accepted can be written as JSON, and written and read again;
- every line that a finding names is in the file.

Exit status: 0 nothing found, 1 an input broke a promise (its bytes are in the message
or in the file that libFuzzer names).
"""

from __future__ import annotations

import argparse
import contextlib
import json
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
SEEDS = (HERE / "seeds", ROOT / "tests" / "cases" / "spec")
MAX_BYTES = 4096
MAX_CPU_S = 1.0
STARTUP_S = 120

sys.path.insert(0, str(ROOT / "src"))

try:
    import atheris
except ImportError:
    atheris = None

with (
    atheris.instrument_imports(["satchel.skill_md", "satchel.text"])
    if (atheris is not None)
    else contextlib.nullcontext()
):
    from satchel.skill_md import body_of, parse, render_frontmatter
    from satchel.text import decode


class BrokenPromiseError(Exception):
    """An input for which the parser did not keep its word."""


def check(data: bytes) -> None:
    """Parse ``data`` in every profile and hold the parser to its promises."""
    started = time.process_time()
    for profile in ("auto", "lenient", "spec", "strict"):
        parsed = parse(data, profile=profile, path="p", directory="d")
        refused = parsed.manifest is None
        errors = [f for f in parsed.findings if f.severity == "error"]
        _promise(refused == (parsed.profile == ""), "refused without saying so")
        _promise(not refused or bool(errors), "refused without an error")
        broken = [f for f in errors if f.code == "parser-failed"]
        _promise(not broken, f"an exception inside: {broken}")
        lines = data.count(b"\n") + data.count(b"\r") + 1
        for finding in parsed.findings:
            _promise((finding.line or 1) <= lines, f"{finding} is past the end")
        if parsed.manifest is not None and profile in {"auto", "spec"}:
            json.dumps(dict(parsed.manifest.frontmatter), allow_nan=False).encode()
            again = parse(
                render_frontmatter(parsed.manifest.frontmatter).encode(), directory="d"
            ).manifest
            _promise(again is not None, "what was written is refused")
            same = again and again.frontmatter == parsed.manifest.frontmatter
            _promise(bool(same), "what was written reads otherwise")
    text = decode(data).text
    _promise(text.endswith(body_of(text)), "the body is no end of the text")
    spent = time.process_time() - started
    _promise(spent < MAX_CPU_S, f"took {spent:.1f} s")


def _promise(kept: object, why: str) -> None:
    if not kept:
        raise BrokenPromiseError(why)


def seeds() -> list[bytes]:
    """Return the seeds: our own, and the SKILL.md of each test case."""
    files = [*SEEDS[0].iterdir(), *SEEDS[1].glob("*/SKILL.md")]
    return [path.read_bytes() for path in sorted(files) if path.is_file()]


def fuzz(seconds: int) -> None:
    """Let libFuzzer look for inputs that reach new code."""
    with tempfile.TemporaryDirectory() as corpus:
        for number, data in enumerate(seeds()):
            (Path(corpus) / str(number)).write_bytes(data)
        arguments = [
            f"-max_total_time={seconds}",
            f"-max_len={MAX_BYTES}",
            f"-dict={HERE / 'dict'}",
            f"-artifact_prefix={tempfile.gettempdir()}/",
            "-print_final_stats=1",
            "-timeout=20",
        ]
        atheris.Setup([sys.argv[0], *arguments, corpus], check)
        atheris.Fuzz()


def replay(seconds: int) -> None:
    """Check the seeds, then mutations of them, the same ones each time."""
    known, chance = seeds(), random.Random(0)  # noqa: S311
    for data in known:
        check(data)
    end, count = time.monotonic() + seconds, len(known)
    while time.monotonic() < end:
        data = _mutated(chance.choice(known), chance.choice(known), chance)
        try:
            check(data)
        except Exception:
            sys.stderr.write(f"broken by {data!r}\n")
            raise
        count += 1
    print(f"{count} inputs, nothing found (no coverage: atheris is not installed)")


def _mutated(data: bytes, other: bytes, chance: random.Random) -> bytes:
    """Return ``data`` with a few pieces cut, doubled, or taken from ``other``."""
    for _ in range(chance.randint(1, 4)):
        start = chance.randint(0, len(data))
        end = min(len(data), start + chance.randint(0, 20))
        at = chance.randint(0, len(other))
        piece = chance.choice(
            [b"", data[start:end] * 2, other[at : at + 30], chance.randbytes(2)]
        )
        data = data[:start] + piece + data[end:]
    return data[:MAX_BYTES]


def main() -> int:
    """Run the child, and tell how it ended."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        (replay if atheris is None else fuzz)(options.seconds)
        return 0
    command = [sys.executable, __file__, "--child", "--seconds", str(options.seconds)]
    try:
        status = subprocess.run(
            command, check=False, timeout=options.seconds + STARTUP_S
        ).returncode
    except subprocess.TimeoutExpired:
        status = None
    if status == 0:
        return 0
    how = "did not end" if status is None else f"ended with status {status}"
    sys.stderr.write(f"the child {how}: the input above broke a promise\n")
    return 1


if __name__ == "__main__":
    raise SystemExit(main())
