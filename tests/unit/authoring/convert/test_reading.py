"""Files of other programs: fields that are no YAML, patterns, links not followed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from satchel.authoring.convert.draft import Conversion
from satchel.authoring.convert.making import as_text
from satchel.authoring.convert.reading import (
    Page,
    globs,
    links_out,
    pages_at,
    read_page,
    title,
)
from satchel.authoring.convert.scoping import for_files
from satchel.errors import ConfigError
from satchel.model import DEFAULT_LIMITS, Limits

if TYPE_CHECKING:
    from pathlib import Path


def page(folder: Path, content: str, limits: Limits = DEFAULT_LIMITS) -> Page:
    (folder / "a.mdc").write_bytes(content.encode())
    read = read_page(str(folder), "a.mdc", "a.mdc", limits)
    assert isinstance(read, Page)
    return read


@pytest.mark.parametrize(
    ("value", "patterns"),
    [
        ("**/*.ts, src/**", ["**/*.ts", "src/**"]),
        ("*.{ts,tsx},*.js", ["*.{ts,tsx}", "*.js"]),
        ('"*.py,*.pyi"', ["*.py", "*.pyi"]),
        ("['*.py', '*.pyi']", ["*.py", "*.pyi"]),
        ("\n  - '*.py'\n  - src", ["*.py", "src"]),
        ("*", ["*"]),
        ("", []),
        ("*.ts # comment", ["*.ts"]),
        ("{ts,js", ["{ts", "js"]),
    ],
)
def test_patterns(value: str, patterns: list[str], tmp_path: Path) -> None:
    read = page(tmp_path, f"---\nglobs: {value}\n---\n")

    assert globs(read.fields, "globs") == patterns


def test_a_text_that_goes_on_is_left_to_yaml(tmp_path: Path) -> None:
    read = page(tmp_path, "---\ndescription: one\n  two\nglobs: *.ts\n---\nBody")

    assert read.description == "one two"
    assert read.body == "Body"


def test_a_file_without_fields(tmp_path: Path) -> None:
    read = page(tmp_path, "\ufeffBody")

    assert (read.description, read.body, read.findings) == ("", "Body", ())
    assert page(tmp_path, "---\n---\nBody").findings == ()


def test_fields_that_cannot_be_read_are_told(tmp_path: Path) -> None:
    read = page(tmp_path, "---\nalwaysApply: [\n---\nBody")

    assert [(each.code, each.line) for each in read.findings] == [("not-carried", 2)]
    assert read.body == "Body"


@pytest.mark.parametrize("bomb", ["a: &a [x]\nb: [*a, *a]", "a: " + "[" * 50])
def test_a_bomb_is_no_field(bomb: str, tmp_path: Path) -> None:
    read = page(tmp_path, f"---\n{bomb}\n---\nBody")

    assert [each.code for each in read.findings] == ["not-carried"]


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret", "utf-8")
    (tmp_path / "AGENTS.md").symlink_to(tmp_path / "secret")

    read = read_page(str(tmp_path), "AGENTS.md", "AGENTS.md", DEFAULT_LIMITS)

    assert isinstance(read, Conversion)
    assert [each.code for each in read.findings] == ["reference-escapes"]
    assert "secret" not in str(read)


def test_a_file_that_is_too_large_is_refused(tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").write_bytes(b"x" * 101)

    read = read_page(str(tmp_path), "AGENTS.md", "A", Limits(skill_md_bytes=100))

    assert isinstance(read, Conversion)
    assert [each.code for each in read.findings] == ["limit-exceeded"]


def test_a_folder_without_such_files(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"want files \*.mdc"):
        list(pages_at(str(tmp_path), ".mdc", DEFAULT_LIMITS))


def test_links_to_the_project_are_told_once() -> None:
    body = (
        "[a](docs/a.md#x) [b](docs/a.md) ![c](img/c.png) [d](https://e.org) [e](#f)\n"
        "[g](/root) [h](mailto:a@b.org) [i](1) [j](2) [k](3) [l](4)\n"
    )

    (found,) = links_out(body, "p")

    assert found.severity == "note"
    assert found.message.endswith(": 1, 2, 3, 4, docs/a.md, ...")
    assert links_out("no link", "p") == []


def test_a_title_is_a_heading_of_level_one() -> None:
    assert title("## No\n\nYes\n===\n") == "Yes"
    assert title("none") == ""


@pytest.mark.parametrize(
    ("patterns", "description", "sentence"),
    [
        ([], "", ""),
        (["*.py"], "For *.py only", ""),
        (["*.py", "*.ts"], "For *.py", "Use for files that match *.ts."),
        (list("abcdefgh"), "", "Use for files that match a, b, c, d, e, f and others."),
    ],
)
def test_for_which_files(patterns: list[str], description: str, sentence: str) -> None:
    assert for_files(patterns, description) == sentence


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("a", "a"),
        (["a", "b"], "a, b"),
        (["a,b"], '["a,b"]'),
        ([1], "[1]"),
        (True, "true"),
        ({"a": None}, '{"a": null}'),
    ],
)
def test_a_value_as_text(value: object, text: str) -> None:
    assert as_text(value) == text  # type: ignore[arg-type]
