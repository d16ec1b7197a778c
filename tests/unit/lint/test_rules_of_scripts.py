"""What the rules of scripts say where a machine lacks what they ask."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from satchel.lint import LintContext
from satchel.lint._programs import MAX_BYTES
from satchel.lint._rules.interactive_script import interactive_script
from satchel.lint._rules.json_syntax import json_syntax
from satchel.lint._rules.python_syntax import python_syntax
from satchel.lint._rules.shell_syntax import shell_syntax
from satchel.model import Descriptor, FileStat, Manifest

if TYPE_CHECKING:
    from collections.abc import Mapping

KSH = b"#!/bin/ksh\necho\n"


def pack(files: Mapping[str, bytes]) -> LintContext:
    return LintContext(
        descriptor=Descriptor(
            "x",
            "d",
            scripts=tuple(files),
            files=tuple(FileStat(path, len(data)) for path, data in files.items()),
        ),
        manifest=Manifest(name="x", description="d"),
        text="---\nname: x\n---\n# X\n",
        read=lambda path: files[path],
    )


def test_a_shell_that_this_machine_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    """One note for all scripts of a pack, at the first."""

    def find_none(_: str) -> str:
        return ""

    rules = sys.modules["satchel.lint._rules.shell_syntax"]
    monkeypatch.setattr(rules, "find_shell", find_none)
    (found,) = shell_syntax(pack({"scripts/a": KSH, "scripts/b.sh": b"echo\n"}))

    assert (found.code, found.severity, found.path) == (
        "program-not-checked",
        "note",
        "scripts/a",
    )
    assert "nor 1 more" in found.message


def test_no_python_to_ask(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "")
    (found,) = python_syntax(pack({"scripts/a.py": b"x = (\n"}))

    assert (found.code, found.path) == ("program-not-checked", "scripts/a.py")


def test_a_program_over_the_bound_is_not_looked_at() -> None:
    large = b"(" * (MAX_BYTES + 1)
    context = pack({"a.py": large, "a.sh": large, "a.json": large})

    for rule in (python_syntax, shell_syntax, json_syntax, interactive_script):
        assert list(rule(context)) == []


@pytest.mark.parametrize(
    ("data", "line", "problem"),
    [
        (b"{", 1, "Expecting property name enclosed in double quotes"),
        (b"[1,\n2,\n]", 3, "Expecting value"),
        (b'{"a": "\xff"}', None, "it is not UTF-8"),
        (b"[" * 100_000, None, "it is nested too deeply"),
    ],
    ids=["open", "comma", "latin-1", "deep"],
)
def test_what_is_no_json(data: bytes, line: int | None, problem: str) -> None:
    (found,) = json_syntax(pack({"a.json": data}))

    assert found.line == line
    assert found.message.startswith(f"it is not valid JSON: {problem}")


@pytest.mark.parametrize("data", [b"", b"9" * 5_000, b"\xef\xbb\xbf[]", b'"\\ud800"'])
def test_what_is_json_is_silent(data: bytes) -> None:
    assert list(json_syntax(pack({"a.json": data}))) == []
