"""What an interpreter says of a program that it does not run."""

import io
import json
import sys
from pathlib import Path

import pytest

from satchel_lab.checking import check
from satchel_lab.lint import _compile_worker as compiling, _programs as programs
from satchel_lab.lint._programs import (
    ProgramCheck,
    compile_python,
    find_shell,
    is_python,
    read_by_shell,
    shell_of,
    sound_scripts,
)
from tests.functional.library import write_pack

SHELLS = [path for path in (find_shell("bash"), find_shell("sh")) if path]
needs_shell = pytest.mark.skipif(not SHELLS, reason="no shell on this machine")


def answered(*files: bytes) -> list[dict[str, object]]:
    """What the worker says, asked in this process."""
    requests = b"".join(b"%d\n%b" % (len(data), data) for data in files)
    answers = io.BytesIO()
    compiling.serve(io.BytesIO(requests), answers)
    first, *lines = answers.getvalue().splitlines()
    assert first == b"{}"
    return [json.loads(line) for line in lines]


@pytest.mark.row("A32")
@pytest.mark.parametrize(
    ("data", "error"),
    [
        (b"def f(:\n", [1, "invalid syntax"]),
        (b"x = 1\n\nreturn x\n", [3, "'return' outside function"]),
        (b"x = " + b"(" * 100_000, [1, "too many nested parentheses"]),
        (b"x = " + b"-" * 100_000 + b"1", [None, "it is nested too deeply for Python"]),
    ],
    ids=["syntax", "meaning", "100,000 parentheses", "100,000 signs"],
)
def test_what_is_not_python_has_its_line(data: bytes, error: list[object]) -> None:
    assert answered(b"x = 1\n", data, b"y = 2\n") == [
        {"prompts": []},
        {"error": error},
        {"prompts": []},
    ]


@pytest.mark.parametrize("data", [b"a\0b", b"# coding: nope\n", b"caf\xe9 = 1\n"])
def test_bytes_that_are_no_python_are_an_error(data: bytes) -> None:
    (answer,) = answered(data)

    assert "error" in answer


@pytest.mark.row("A32")
@pytest.mark.filterwarnings("error")
def test_what_is_python_is_not_error() -> None:
    files = (
        b"\xef\xbb\xbfx = 1\r\n",
        "# -*- coding: latin-1 -*-\nx = 'é'\n".encode("latin-1"),
        b"x = '\\d'\nassert (x, 'always')\n",
        b"",
    )

    assert answered(*files) == [{"prompts": []}] * len(files)


def test_where_python_waits_for_input() -> None:
    text = (
        b"import getpass\n"
        b"def g():\n    return input('x')\n"
        b"getpass.getpass()\n"
        b"self.input(); x = [input]; other.getpass.getpass()\n"
    )

    assert answered(text, b"def input(): pass\ninput()\n") == [
        {"prompts": [3, 4]},
        {"prompts": []},
    ]


@pytest.mark.row("A32")
def test_python_is_compiled_in_a_process_of_its_own(tmp_path: Path) -> None:
    """Nothing runs: neither the file, nor what its import would."""
    mark = tmp_path / "ran"
    text = f"open({str(mark)!r}, 'w').close()\nimport this_is_not_there\n"

    assert compile_python([text.encode(), b"x = (\n"]) == (
        ProgramCheck(),
        ProgramCheck("'(' was never closed", 1),
    )
    assert not mark.exists()


def test_without_an_interpreter_nothing_is_checked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "executable", "")

    assert compile_python([b"x"]) == (ProgramCheck(checked=False),)

    monkeypatch.setattr(sys, "executable", "/not/there")

    assert compile_python([]) == ()
    assert compile_python([b"x"]) == (ProgramCheck(checked=False),)


@pytest.fixture
def worker(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Put a worker in place that `end` ends, and `slow` delays."""
    script = tmp_path / "worker.py"
    script.write_text(
        "import faulthandler, sys, time\nprint('{}', flush=True)\n"
        "while head := sys.stdin.readline():\n"
        "    text = sys.stdin.read(int(head))\n"
        "    if 'end' in text: sys.exit(3)\n"
        "    faulthandler.dump_traceback_later(0.5, exit=True)\n"
        "    if 'slow' in text: time.sleep(20)\n"
        "    print('{\"prompts\": []}', flush=True)\n"
    )
    monkeypatch.setattr(programs, "_WORKER", script)


def test_a_file_that_ends_python_is_reported_and_the_next_is_checked(
    worker: None,
) -> None:
    ended = ProgramCheck("compiling it ends Python")

    assert compile_python([b"a", b"end", b"b"]) == (
        ProgramCheck(),
        ended,
        ProgramCheck(),
    )
    assert compile_python([b"end", b"end 2", b"b"]) == (
        ended,
        ended,
        ProgramCheck(checked=False),
    )


def test_a_text_is_asked_for_once(worker: None) -> None:
    """An equal file that ended Python is not tried again, and costs no other one."""
    ended = ProgramCheck("compiling it ends Python")

    assert compile_python([b"end", b"end", b"b"]) == (ended, ended, ProgramCheck())


def test_a_worker_that_does_not_start_is_no_fault_of_a_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    script = tmp_path / "worker.py"
    script.write_text("import sys\nsys.exit(1)\n")
    monkeypatch.setattr(programs, "_WORKER", script)

    assert compile_python([b"x", b"y"]) == (ProgramCheck(checked=False),) * 2


def test_to_serve_bounds_no_process_unasked() -> None:
    """Otherwise the system would kill a process that serves by itself."""
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_CPU)
    compiling.serve(io.BytesIO(b"1\nx"), io.BytesIO())

    assert resource.getrlimit(resource.RLIMIT_CPU) == before


def test_a_process_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    resource = pytest.importorskip("resource")
    bounds: list[int] = []

    def refuse(kind: int, _: tuple[int, int]) -> None:
        bounds.append(kind)
        raise ValueError

    monkeypatch.setattr(resource, "setrlimit", refuse)
    compiling.limit()
    monkeypatch.setitem(sys.modules, "resource", None)
    compiling.limit()

    assert bounds == [resource.RLIMIT_AS, resource.RLIMIT_CORE]


def test_each_file_has_its_own_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the files before it took is no fault of it."""
    resource = pytest.importorskip("resource")
    given: list[tuple[int, int]] = []
    clock: list[float] = []
    monkeypatch.setattr(
        "faulthandler.dump_traceback_later", lambda s, **_: clock.append(s)
    )
    most = [resource.RLIM_INFINITY]
    monkeypatch.setattr(resource, "getrlimit", lambda _: (5, most[0]))
    monkeypatch.setattr(resource, "setrlimit", lambda _, pair: given.append(pair))
    monkeypatch.setattr("time.process_time", lambda: 7.9)
    compiling.limit_time()
    most[0] = 20
    compiling.limit_time()
    most[0] = 12  # a bound that holds already is left as it is
    compiling.limit_time()
    monkeypatch.setitem(sys.modules, "resource", None)
    compiling.limit_time()

    assert given == [(17, resource.RLIM_INFINITY), (17, 20)]
    assert clock == [compiling.CLOCK_S] * 4


def test_a_file_that_takes_too_long_is_not_error(worker: None) -> None:
    assert compile_python([b"a", b"slow"]) == (
        ProgramCheck(),
        ProgramCheck(checked=False),
    )


@pytest.mark.row("A32")
@pytest.mark.parametrize(
    ("asked", "checked"),
    [(">=3.99", False), (">3.98,<4", False), (">=3.8", True), ("<3.99", True)],
)
def test_what_is_for_a_later_python_is_not_judged(asked: str, checked: bool) -> None:
    head = f'# /// script\n# requires-python = "{asked}"\n# ///\n'.encode()

    assert answered(head + b"x = (\n") == [
        {"error": [4, "'(' was never closed"]} if checked else {}
    ]
    assert answered(head + b"x = 1\n") == [{"prompts": []}]
    assert compile_python([head + b"x = (\n"])[0].checked is checked


@pytest.mark.parametrize(
    ("path", "data", "expected"),
    [
        ("a.py", b"", True),
        ("a.PYW", b"", True),
        ("scripts/tool", b"#!/usr/bin/env python3\nx\n", True),
        ("tool", b"#!/usr/bin/python3.12 -I\n", True),
        ("tool", b"#!/usr/bin/env -S uv run --script\n", True),
        ("tool", b"#!/bin/sh\npython3 x\n", False),
        ("tool", b"#!/usr/bin/env pythonista\n", False),
        ("tool", b"x = 1\n", False),
        ("a.txt", b"#!/usr/bin/python3\n", False),
        ("a.py", b"#!/usr/bin/env python2\n", False),
        ("a.py", b"#!/usr/bin/python2.7\r\n", False),
    ],
)
def test_what_is_python(path: str, data: bytes, expected: bool) -> None:
    assert is_python(path, data) is expected


def test_the_worker_answers_on_its_standard_output(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    written = io.BytesIO()
    bounds: list[str] = []  # this process must not be bounded itself
    monkeypatch.setattr(compiling, "limit", lambda: bounds.append("at first"))
    monkeypatch.setattr(compiling, "limit_time", lambda: bounds.append("each"))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"1\nx")))
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written))

    compiling.main()

    assert written.getvalue() == b'{}\n{"prompts": []}\n'
    assert bounds == ["at first", "each"]


@pytest.mark.parametrize(
    ("path", "data", "shell"),
    [
        ("a.sh", b"echo\n", "bash"),
        ("a.SH", b"#!/bin/sh\n", "sh"),
        ("a", b"#!/usr/bin/env bash\n", "bash"),
        ("a", b"#! /usr/bin/env -S dash -e\n", "dash"),
        ("a.sh", b"#!/usr/bin/env python3\n", ""),
        ("a", b"echo\n", ""),
        ("a", b"#!/usr/bin/env -S A=1 bash -e\n", "bash"),
        ("a.sh", b"#!\n", "bash"),
    ],
)
def test_the_shell_of_a_script(path: str, data: bytes, shell: str) -> None:
    assert shell_of(path, data) == shell


@needs_shell
@pytest.mark.parametrize("shell", SHELLS)
def test_a_script_is_read_and_never_run(
    shell: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither it, nor what the environment names for a shell to run first."""
    mark = tmp_path / "ran"
    start = tmp_path / "start.sh"
    start.write_text(f"touch {mark}\n")
    for name in ("BASH_ENV", "ENV"):
        monkeypatch.setenv(name, str(start))
    monkeypatch.setenv("BASH_FUNC_echo%%", f"() {{ touch {mark}; }}")
    text = f"#!/bin/sh\nset +n\ntouch {mark}\necho $(touch {mark})\nx=`touch {mark}`\n"

    assert read_by_shell(shell, text.encode()) == ProgramCheck()
    assert not mark.exists()


@needs_shell
@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize(
    ("data", "line"),
    [
        (b"if true; then\necho\n", 2),
        (b"if true; then\r\necho", 2),
        (b"echo\n\nfi\necho\n", 3),
    ],
)
def test_what_no_shell_can_read_has_its_line(
    shell: str, data: bytes, line: int
) -> None:
    found = read_by_shell(shell, data)

    assert "yntax error" in found.error
    assert found.line == line


@pytest.mark.skipif(not find_shell("bash"), reason="no bash on this machine")
def test_a_text_in_a_script_that_is_never_ended() -> None:
    bash = find_shell("bash")
    found = read_by_shell(bash, b"#!/bin/bash\ncat <<EOF\nx\nEOF \nls\n")

    assert found == ProgramCheck("no line is only EOF, to end this", 2)
    assert read_by_shell(bash, b"cat <<EOF\nx\nEOF") == ProgramCheck()


def test_a_shell_that_is_not_there_gives_no_answer() -> None:
    assert read_by_shell("/not/there/sh", b"echo\n") == ProgramCheck(checked=False)


@needs_shell
@pytest.mark.parametrize(
    ("does", "answer"),
    [
        ("exec sleep 20", ProgramCheck(checked=False)),
        ("exit 3", ProgramCheck("the shell cannot read it")),
    ],
    ids=["too long", "no line"],
)
def test_a_shell_that_does_not_say_what_is_wrong(
    does: str, answer: ProgramCheck, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    shell = tmp_path / "bash"
    shell.write_text(f"#!{SHELLS[-1]}\n{does}\n")
    shell.chmod(0o755)
    monkeypatch.setattr(programs, "SHELL_TIMEOUT_S", 0.5)

    assert read_by_shell(str(shell), b"echo\n") == answer


def test_a_system_that_needs_its_root_is_given_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SYSTEMROOT", "/windows")

    assert compile_python([b"x = 1\n"]) == (ProgramCheck(),)


LATER = [
    ("x = f'{'a'}'\n", (3, 12)),
    ("def f[T](x: T) -> T: ...\n", (3, 12)),
    ("class A[T]: ...\n", (3, 12)),
    ("type X = int\n", (3, 12)),
    ("try:\n    pass\nexcept ValueError, OSError:\n    pass\n", (3, 14)),
    ('x = t"{1}"\n', (3, 14)),
]
NEVER = [
    "print 'x'\n",
    "def f(:\n",
    "x = [1, 2\n",
    "foo bar\n",
    "return 1\n",
    "class A(:\n",
]


@pytest.mark.row("F51")
@pytest.mark.parametrize(("text", "version"), LATER)
def test_what_a_later_python_may_accept_is_a_note(
    tmp_path: Path, text: str, version: tuple[int, int]
) -> None:
    expected = [] if sys.version_info >= version else [("python-syntax", "note")]

    assert said_of(tmp_path, text) == expected


@pytest.mark.row("F51")
@pytest.mark.parametrize("text", NEVER)
def test_what_no_python_accepts_is_an_error(tmp_path: Path, text: str) -> None:
    assert said_of(tmp_path, text) == [("python-syntax", "error")]


def said_of(here: Path, text: str) -> list[tuple[str, str]]:
    head = "---\nname: forms\ndescription: Fills in forms. Use when one is due.\n---\n"
    body = "# Forms\n\nRun `python scripts/fill.py`.\n"
    write_pack(here / "forms", head + body, {"scripts/fill.py": text})
    return [(one.code, one.severity) for one in check([str(here / "forms")]).findings]


SOUND = [
    *(b"", b"# it's", b"echo 'a'\n", b"cat <<EOF\nx\nEOF\n", b"cat <<'E-F'\n'\nE-F\n"),
    *(
        b"function f { echo; }\n",
        b"echo \\\n",
        b"cat <<-EOF\n\tx\n\tEOF\n",
        b"(( x = 1 << y ))\n",
    ),
]
BROKEN = [
    *(b"echo 'a\n", b'echo "a\n', b"echo `a\n", b"cat <<EOF\nx\n", b"if true; then\n"),
    *(
        b"fi\n",
        b"echo ${x\n",
        b"echo $(x\n",
        b"f() {\n",
        b"}\n",
        b"x=(1 2\n",
        b"esac\n",
    ),
    b"case a in\na) x;;\n",
]


@pytest.mark.row("F81")
@pytest.mark.skipif(not find_shell("bash"), reason="no bash on this machine")
@pytest.mark.parametrize("broken", BROKEN)
def test_one_shell_tells_sound_scripts_from_others(broken: bytes) -> None:
    """A fault is not made good by what is in the next script."""
    scripts = [*SOUND, broken, *SOUND, broken + b"#\n", *SOUND]

    assert sound_scripts(find_shell("bash"), scripts) == frozenset(SOUND)
