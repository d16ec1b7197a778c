"""Which paths are looked at at all."""

import os

import pytest

from satchel.errors import ReferenceEscapesError
from satchel.files import check_path, escape_name, path_problem, read_confined
from satchel.testing import ESCAPES


@pytest.mark.row("A09")
@pytest.mark.parametrize("path", ESCAPES, ids=repr)
def test_every_way_out_is_refused(path: str) -> None:
    with pytest.raises(ReferenceEscapesError) as caught:
        check_path(path, "pdf")

    assert (caught.value.name, caught.value.file) == ("pdf", path)
    assert caught.value.detail == path_problem(path)


@pytest.mark.parametrize(
    "path",
    [
        *("SKILL.md", "references/guide.md", "a b.md", "references/café.md"),
        *("ファイル.md", ".hidden", "a..b", "...md", "console.md", "con-air.md"),
        *("comma.md", "100%.md", "50%2.md", "a" * 255, "/".join(["a" * 200] * 5)),
    ],
)
def test_plain_paths_pass(path: str) -> None:
    assert path_problem(path) == ""


@pytest.mark.parametrize(
    ("path", "problem"),
    [
        ("", "it is empty"),
        ("/x", "it is absolute"),
        ("a/../b", "it has a part that is empty, . or .."),
        ("a\\b", "it holds a backslash or a colon"),
        ("a%2Fb", "it holds an encoded dot, slash or NUL"),
        ("aux.txt", "it names a device on Windows"),
        ("x/COM¹", "it names a device on Windows"),
        ("lpt0 .md", "it names a device on Windows"),
        ("a./b", "it has a part that ends in a dot or a space"),
        ("é" * 128, "it has a part longer than 255 bytes"),
        ("é/" * 341 + "é/é", "it is longer than 1024 bytes"),
    ],
)
def test_the_reason_is_reported(path: str, problem: str) -> None:
    assert path_problem(path) == problem


@pytest.mark.row("A13")
def test_a_refused_path_touches_no_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even a stat: whether the file exists must not be to be learned."""

    def touched(*_: object, **__: object) -> None:
        raise AssertionError("the file system was touched")

    for name in ("open", "stat", "lstat", "scandir", "readlink"):
        monkeypatch.setattr(os, name, touched)
    for path in ESCAPES:
        with pytest.raises(ReferenceEscapesError):
            read_confined("/", path, 10)


def test_spelled_shows_what_cannot_be_printed() -> None:
    assert escape_name("a\nb\x1b[31m\udcff é") == "a\\nb\\x1b[31m\\udcff é"
