"""Files of other programs: fields that are no YAML, patterns, links not followed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from satchel.authoring.convert.agents_md import read_agents_md
from satchel.authoring.convert.cursor import read_cursor
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
from satchel.authoring.convert.roles import read_roles
from satchel.authoring.convert.scoping import for_files
from satchel.errors import ConfigError
from satchel.model import DEFAULT_LIMITS, Limits
from satchel.spec import body_of

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


def test_a_section_is_cut_by_its_lines_not_by_its_form_feeds(tmp_path: Path) -> None:
    body = "# T\n\n## One\nfirst\x0cstill\u2028first.\n## Two\r\nsecond."
    (tmp_path / "AGENTS.md").write_bytes(body.encode())

    made = list(read_agents_md(str(tmp_path / "AGENTS.md"), "spec", split=True))

    drafts = [each.draft for each in made]
    assert [draft and draft.name for draft in drafts] == ["one", "two"]
    texts = [
        body_of(draft.skill_md.decode()).strip("\r\n") for draft in drafts if draft
    ]
    assert texts == ["## One\nfirst\x0cstill\u2028first.", "## Two\r\nsecond."]


def test_sections_of_one_name_are_told_apart(tmp_path: Path) -> None:
    body = "Before all.\n" + "".join(
        f"## {name}\nDo it.\n" for name in ("A", "A 2", "a")
    )
    (tmp_path / "AGENTS.md").write_text(body, "utf-8")

    made = read_agents_md(str(tmp_path / "AGENTS.md"), None, name="all", split=True)

    assert [each.draft and each.draft.name for each in made] == [
        *("all", "a", "a-2", "a-3")
    ]


def test_a_link_named_agents_md_is_refused(tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").symlink_to("CLAUDE.md")

    (made,) = read_agents_md(str(tmp_path / "AGENTS.md"), None)

    assert made.draft is None


@pytest.mark.parametrize(
    ("folder", "name"),
    [("Web Shop", "web-shop"), ("Web Shop/.github", "web-shop"), ("1", "project")],
)
def test_a_title_that_says_nothing_gives_way_to_the_folder(
    folder: str, name: str, tmp_path: Path
) -> None:
    file = tmp_path / folder / "AGENTS.md"
    file.parent.mkdir(parents=True)
    file.write_text("# Agents\n\nDo what is asked, and no more.\n", "utf-8")

    (made,) = read_agents_md(str(file), "strict")

    assert made.draft is not None
    assert made.draft.name == name


def test_a_rule_without_a_name_is_refused(tmp_path: Path) -> None:
    (tmp_path / "001.mdc").write_text("Do what is asked.\n", "utf-8")

    (made,) = read_cursor(str(tmp_path), "spec")

    assert made.draft is None
    assert [each.code for each in made.findings] == ["missing-name"]


def test_roles_are_read_from_files_that_are_no_links(tmp_path: Path) -> None:
    for role in ("a", "b"):
        (tmp_path / "roles" / role).mkdir(parents=True)
    (tmp_path / "secret").write_text("secret", "utf-8")
    (tmp_path / "roles" / "a" / "system_prompt.md").symlink_to(tmp_path / "secret")
    (tmp_path / "roles" / "b" / "system_prompt.md").write_bytes(b"x" * 101)
    (tmp_path / "roles" / "c").symlink_to(tmp_path)

    made = list(read_roles(str(tmp_path), None, {}, limits=Limits(file_bytes=100)))

    assert [each.draft for each in made] == [None, None]
    assert [[found.code for found in each.findings] for each in made] == [
        ["link-in-pack", "missing-prompt"],
        ["limit-exceeded"],
    ]


def test_a_folder_without_roles(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="want folders of roles"):
        list(read_roles(str(tmp_path), None, {}))
