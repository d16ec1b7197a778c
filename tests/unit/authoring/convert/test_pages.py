"""Files of other programs: fields that are not YAML, patterns, links not followed."""

from pathlib import Path

import pytest

from satchel.errors import ConfigError
from satchel.model import DEFAULT_LIMITS
from satchel.skill_md import body_of
from satchel_lab.authoring import Conversion
from satchel_lab.authoring._convert._agents_md import read_agents_md
from satchel_lab.authoring._convert._builder import for_files
from satchel_lab.authoring._convert._formats import (
    FORMATS,
    ForeignPage,
    globs,
    links_out,
    pages_at,
    read_format,
    read_page,
    title,
)
from satchel_lab.authoring._convert._roles import read_roles
from satchel_lab.authoring._packs import PackDraft

LARGE = b"x" * (DEFAULT_LIMITS.file_bytes + 1)
PROMPT = "You test what others have built. You never fix it.\n"


def page(folder: Path, content: str) -> ForeignPage:
    (folder / "a.mdc").write_bytes(content.encode())
    read = read_page(str(folder), "a.mdc", "a.mdc")
    assert isinstance(read, ForeignPage)
    return read


def codes(converted: Conversion | ForeignPage) -> list[str]:
    return [finding.code for finding in converted.findings]


def draft_of(conversion: Conversion) -> PackDraft:
    assert conversion.draft is not None
    return conversion.draft


def agents_md(folder: Path, content: str, name: str = "") -> list[Conversion]:
    """Convert AGENTS.md in a folder, by its sections."""
    file = folder / "AGENTS.md"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content.encode())
    return list(read_agents_md(str(file), "spec", split=True, name=name))


def rules(folder: Path) -> list[Conversion]:
    return list(read_format(str(folder), FORMATS[0], "spec", ""))


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


@pytest.mark.parametrize(
    ("content", "description", "lines"),
    [
        ("---\ndescription: one\n  two\nglobs: *.ts\n---\nBody", "one two", []),
        ("\ufeffBody", "", []),
        ("---\n---\nBody", "", []),
        ("---\nalwaysApply: [\n---\nBody", "", [2]),
        ("---\na: &a [x]\nb: [*a, *a]\n---\nBody", "", [2]),
        ("---\na: " + "[" * 50 + "\n---\nBody", "", [2]),
    ],
    ids=["a long text", "no fields", "empty fields", "not YAML", "aliases", "nested"],
)
def test_fields_and_body(
    content: str, description: str, lines: list[int], tmp_path: Path
) -> None:
    read = page(tmp_path, content)

    assert (read.description, read.body) == (description, "Body")
    assert [(f.code, f.line) for f in read.findings] == [
        ("not-carried", line) for line in lines
    ]


def test_a_link_is_not_followed_nor_a_large_file_read(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret", "utf-8")
    (tmp_path / "AGENTS.md").symlink_to(tmp_path / "secret")

    read = read_page(str(tmp_path), "AGENTS.md", "AGENTS.md")
    (converted,) = read_agents_md(str(tmp_path / "AGENTS.md"), None)

    assert isinstance(read, Conversion)
    assert codes(read) == ["reference-escapes"]
    assert read.findings[0].message.startswith("it is a link")
    assert "secret" not in str(read)
    assert converted.draft is None
    (tmp_path / "large").write_bytes(b"x" * (DEFAULT_LIMITS.skill_md_bytes + 1))
    large = read_page(str(tmp_path), "large", "A")
    assert isinstance(large, Conversion)
    assert codes(large) == ["limit-exceeded"]


def test_a_folder_without_such_files(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"expected files \*.mdc"):
        list(pages_at(str(tmp_path), ".mdc"))
    with pytest.raises(ConfigError, match="expected folders of roles"):
        list(read_roles(str(tmp_path), None, {}))


def test_links_to_the_project_are_reported_once() -> None:
    body = (
        "[a](docs/a.md#x) [b](docs/a.md) ![c](img/c.png) [d](https://e.org) [e](#f)\n"
        "[g](/root) [h](mailto:a@b.org) [i](1) [j](2) [k](3) [l](4)\n"
    )

    (finding,) = links_out(body, "p")

    assert finding.severity == "note"
    assert finding.message.endswith(": 1, 2, 3, 4, docs/a.md, img/c.png")
    assert links_out("no link", "p") == []
    assert (title("## No\n\nYes\n===\n"), title("none")) == ("Yes", "")


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


def test_a_section_is_cut_by_its_lines_not_by_its_form_feeds(tmp_path: Path) -> None:
    body = "# T\n\n## One\nfirst\x0cstill\u2028first.\n## Two\r\nsecond."

    drafts = [draft_of(pack) for pack in agents_md(tmp_path, body)]

    assert [draft.name for draft in drafts] == ["one", "two"]
    assert [body_of(draft.skill_md.decode()).strip("\r\n") for draft in drafts] == [
        "# One\nfirst\x0cstill\u2028first.",
        "# Two\r\nsecond.",
    ]


def test_sections_of_one_name_get_numbers(tmp_path: Path) -> None:
    body = "".join(f"## {name}\nDo it.\n" for name in ("A", "A 2", "a"))

    packs = agents_md(tmp_path, f"Before all.\n{body}", name="all")

    assert [draft_of(pack).name for pack in packs] == ["all", "a", "a-2", "a-3"]


@pytest.mark.parametrize(
    ("folder", "name"),
    [("Web Shop", "web-shop"), ("Web Shop/.github", "web-shop"), ("1", "project")],
)
def test_the_folder_names_a_pack_whose_title_is_generic(
    folder: str, name: str, tmp_path: Path
) -> None:
    content = "# Agents\n\nDo what is asked, and no more.\n"

    (pack,) = agents_md(tmp_path / folder, content)

    assert draft_of(pack).name == name


@pytest.mark.parametrize(
    ("content", "code"),
    [
        ("", "missing-description"),
        ("# Shop\n", "check-description"),
        ("Text, and no line end", "check-description"),
    ],
)
def test_a_file_without_sections_is_read(
    content: str, code: str, tmp_path: Path
) -> None:
    (pack,) = agents_md(tmp_path, content)

    assert code in codes(pack)
    if content:
        assert draft_of(pack).skill_md.endswith(f"---\n\n{content}".encode())


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
@pytest.mark.parametrize("head", ["# Shop", "Shop\n===="])
def test_a_title_without_text_is_reported(
    head: str, line_end: str, tmp_path: Path
) -> None:
    content = f"{head}\n\n## Tests\n\nRun all of the tests first.\n"

    (pack,) = agents_md(tmp_path, content.replace("\n", line_end))

    (finding,) = (f for f in pack.findings if f.code == "not-carried")
    assert (finding.line, finding.severity) == (1, "warning")
    assert "'Shop'" in finding.message


def test_rules_that_are_left_out_are_reported(tmp_path: Path) -> None:
    (tmp_path / "001.mdc").write_text("Do what is asked.\n", "utf-8")
    (tmp_path / "a.mdc").write_text("Text is here to be taken.\n", "utf-8")
    (tmp_path / "b.mdc").symlink_to(tmp_path / "a.mdc")
    (tmp_path / ".env").write_text("key", "utf-8")

    unnamed, good, *others = rules(tmp_path)

    assert (unnamed.draft, codes(unnamed)) == (None, ["missing-name"])
    assert good.draft is not None
    assert [(pack.draft, pack.source, codes(pack)[0]) for pack in others] == [
        (None, str(tmp_path), "files-left-out"),
        (None, f"{tmp_path}/b.mdc", "link-in-pack"),
    ]


def role(folder: Path, files: dict[str, str]) -> Path:
    made = folder / "roles" / "qa"
    for name, content in {"system_prompt.md": PROMPT, **files}.items():
        (made / name).parent.mkdir(parents=True, exist_ok=True)
        (made / name).write_text(content, "utf-8")
    return made


def test_roles_are_read_from_files_that_are_not_links(tmp_path: Path) -> None:
    roles = tmp_path / "roles"
    for name in ("a", "b"):
        (roles / name).mkdir(parents=True)
    (tmp_path / "secret").write_text("secret", "utf-8")
    (roles / "a" / "system_prompt.md").symlink_to(tmp_path / "secret")
    (roles / "b" / "system_prompt.md").write_bytes(LARGE)
    (roles / "c").symlink_to(tmp_path)

    packs = list(read_roles(str(tmp_path), None, {}))

    assert [(pack.draft, codes(pack)) for pack in packs] == [
        (None, ["link-in-pack", "missing-prompt"]),
        (None, ["limit-exceeded"]),
        (None, ["link-in-pack"]),
    ]


@pytest.mark.row("C54")
@pytest.mark.parametrize("other", ["task-prompt.md", "Task-Prompt.md"])
def test_two_files_of_a_role_never_become_one(other: str, tmp_path: Path) -> None:
    role(tmp_path, {"task_prompt.md": "one\n", other: "two\n"})

    (pack,) = read_roles(str(tmp_path), "strict", {})

    files = draft_of(pack).files
    assert sorted(files) == sorted(
        ["SKILL.md", "references/task_prompt.md", f"references/{other}"]
    )
    assert files[f"references/{other}"] == b"two\n"


@pytest.mark.row("C54")
def test_scripts_of_a_role_stay_executable_and_comments_are_reported(
    tmp_path: Path,
) -> None:
    config = "# why\nmodel: x # the best\nn: '# none'\n"
    folder = role(tmp_path, {"run.sh": "#!/bin/sh\n", "config.yaml": config})
    (folder / "run.sh").chmod(0o755)

    (to_spec,) = read_roles(str(tmp_path), "spec", {})
    (to_strict,) = read_roles(str(tmp_path), "strict", {})

    draft = draft_of(to_strict)
    assert [*draft.files] == ["SKILL.md", "assets/config.yaml", "assets/run.sh"]
    assert draft.programs == {"assets/run.sh"}
    (finding,) = (f for f in to_spec.findings if f.code == "comments-dropped")
    assert "2 comments: '# why'" in finding.message
    assert "comments-dropped" not in codes(to_strict)
