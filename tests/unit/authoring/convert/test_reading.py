"""Files of other programs: fields that are no YAML, patterns, links not followed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from satchel.authoring import Conversion
from satchel.authoring._convert._agents_md import read_agents_md
from satchel.authoring._convert._builder import as_text, for_files
from satchel.authoring._convert._formats import FORMATS, read_format
from satchel.authoring._convert._page import (
    ForeignPage,
    globs,
    links_out,
    pages_at,
    read_page,
    title,
)
from satchel.authoring._convert._roles import read_roles
from satchel.errors import ConfigError
from satchel.model import DEFAULT_LIMITS, Limits
from satchel.skill_md import body_of

if TYPE_CHECKING:
    from pathlib import Path


def page(folder: Path, content: str, limits: Limits = DEFAULT_LIMITS) -> ForeignPage:
    (folder / "a.mdc").write_bytes(content.encode())
    read = read_page(str(folder), "a.mdc", "a.mdc", limits)
    assert isinstance(read, ForeignPage)
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
    with pytest.raises(ConfigError, match=r"expected files \*.mdc"):
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
    assert texts == ["# One\nfirst\x0cstill\u2028first.", "# Two\r\nsecond."]


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

    (made,) = read_format(str(tmp_path), FORMATS[0], "spec", "", DEFAULT_LIMITS)

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

    assert [each.draft for each in made] == [None, None, None]
    assert [[found.code for found in each.findings] for each in made] == [
        ["link-in-pack", "missing-prompt"],
        ["limit-exceeded"],
        ["link-in-pack"],
    ]


def test_a_folder_without_roles(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="expected folders of roles"):
        list(read_roles(str(tmp_path), None, {}))


def role(folder: Path, files: dict[str, str]) -> Path:
    made = folder / "roles" / "qa"
    for name, content in {"system_prompt.md": PROMPT, **files}.items():
        (made / name).parent.mkdir(parents=True, exist_ok=True)
        (made / name).write_text(content, "utf-8")
    return made


PROMPT = "You test what others have built. You never mend it.\n"


@pytest.mark.row("C54")
@pytest.mark.parametrize("other", ["task-prompt.md", "Task-Prompt.md"])
def test_two_files_of_a_role_never_become_one(other: str, tmp_path: Path) -> None:
    role(tmp_path, {"task_prompt.md": "one\n", other: "two\n"})

    (made,) = read_roles(str(tmp_path), "strict", {})

    assert made.draft is not None
    files = {each.path: each.data for each in made.draft.files}
    assert sorted(files) == sorted(
        ["SKILL.md", "references/task_prompt.md", f"references/{other}"]
    )
    assert files[f"references/{other}"] == b"two\n"


@pytest.mark.row("C54")
def test_a_script_of_a_role_can_still_be_executed(tmp_path: Path) -> None:
    made = role(tmp_path, {"run.sh": "#!/bin/sh\n", "data.csv": "a\n"})
    (made / "run.sh").chmod(0o755)

    (read,) = read_roles(str(tmp_path), "strict", {})

    assert read.draft is not None
    assert {each.path: each.executable for each in read.draft.files} == {
        "SKILL.md": False,
        "assets/data.csv": False,
        "assets/run.sh": True,
    }


@pytest.mark.row("C54")
def test_comments_of_a_configuration_are_told(tmp_path: Path) -> None:
    role(tmp_path, {"config.yaml": "# why\nmodel: x # the best\nn: '# none'\n"})

    (to_spec,) = read_roles(str(tmp_path), "spec", {})
    (to_strict,) = read_roles(str(tmp_path), "strict", {})

    (found,) = (f for f in to_spec.findings if f.code == "comments-dropped")
    assert "2 comments: '# why'" in found.message
    assert all(f.code != "comments-dropped" for f in to_strict.findings)


def test_a_role_that_is_a_link_is_told(tmp_path: Path) -> None:
    (tmp_path / "roles" / "linked").parent.mkdir()
    (tmp_path / "roles" / "linked").symlink_to(role(tmp_path / "else", {}))
    role(tmp_path, {})

    linked, qa = read_roles(str(tmp_path), "strict", {})

    assert (linked.draft, [f.code for f in linked.findings]) == (None, ["link-in-pack"])
    assert qa.draft is not None


def test_rules_that_are_passed_by_are_told(tmp_path: Path) -> None:
    (tmp_path / "a.mdc").write_text("Text is here to be taken.\n", "utf-8")
    (tmp_path / "b.mdc").symlink_to(tmp_path / "a.mdc")
    (tmp_path / ".env").write_text("key", "utf-8")

    first, *others = read_format(str(tmp_path), FORMATS[0], "spec", "", DEFAULT_LIMITS)

    assert first.draft is not None
    assert [each.draft for each in others] == [None, None]
    assert [(each.source, each.findings[0].code) for each in others] == [
        (str(tmp_path), "files-left-out"),
        (f"{tmp_path}/b.mdc", "link-in-pack"),
    ]


@pytest.mark.parametrize(
    ("content", "code"),
    [("", "missing-description"), ("# Shop\n", "check-description")],
    ids=["empty", "a heading"],
)
def test_a_file_without_sections_is_not_passed_by(
    content: str, code: str, tmp_path: Path
) -> None:
    (tmp_path / "AGENTS.md").write_text(content, "utf-8")

    (made,) = read_agents_md(str(tmp_path / "AGENTS.md"), "spec", split=True)

    assert code in [each.code for each in made.findings]


def test_without_sections_the_whole_keeps_its_bytes(tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").write_text("Text, and no line end", "utf-8")

    (made,) = read_agents_md(str(tmp_path / "AGENTS.md"), "spec", split=True)

    assert made.draft is not None
    assert made.draft.skill_md.endswith(b"---\n\nText, and no line end")


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
@pytest.mark.parametrize("title", ["# Shop", "Shop\n===="])
def test_a_title_without_text_is_told(
    title: str, line_end: str, tmp_path: Path
) -> None:
    content = f"{title}\n\n## Tests\n\nRun all of the tests first.\n"
    (tmp_path / "AGENTS.md").write_bytes(content.replace("\n", line_end).encode())

    (made,) = read_agents_md(str(tmp_path / "AGENTS.md"), "spec", split=True)

    (found,) = (each for each in made.findings if each.code == "not-carried")
    assert (found.line, found.severity) == (1, "warning")
    assert "'Shop'" in found.message
