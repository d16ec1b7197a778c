"""What good packs do is no fault, and what authors get wrong is one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from satchel.authoring import NewPackRequest, make_pack, pack_skill
from satchel.checking import check
from satchel.errors import RefusedPackError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from satchel.authoring import PackDialect

HEAD = "---\nname: {}\ndescription: Fill in forms. Use when one is completed.\n---\n"


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, which is the current one."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def said(library: Path, files: Mapping[str, str | bytes]) -> list[str]:
    """Write files, and return what a check says: ``severity code path:line``.

    A SKILL.md without frontmatter is a body.
    """
    for path, text in files.items():
        file = library / "skills" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        data = text.encode() if isinstance(text, str) else text
        if file.name == "SKILL.md" and not data.startswith((b"---", b"\xff", b"\xfe")):
            data = HEAD.format(file.parent.name).encode() + data
        file.write_bytes(data)
    return [
        f"{each.severity} {each.code} {each.path.removeprefix('skills/')}:{each.line}"
        for each in check(["skills"]).findings
    ]


@pytest.mark.row("F50")
@pytest.mark.parametrize(
    ("text", "held", "expected"),
    [
        ("See `references/b.md`.", "forms/guides/references/b.md", []),
        ("See `references/b.md`.", "forms/guides/ink/references/b.md", []),
        ("See `merge`, `references/b.md`.", "merge/references/b.md", []),
        (
            "See `references/b.md`.",
            "merge/references/b.md",
            ["warning mentioned-file-missing forms/guides/ink/a.md:1"],
        ),
        (
            "See `references/b.md`.",
            "forms/guides/ink/pens/references/b.md",
            ["warning mentioned-file-missing forms/guides/ink/a.md:1"],
        ),
    ],
)
def test_a_file_is_found_where_a_reader_finds_it(
    library: Path, text: str, held: str, expected: list[str]
) -> None:
    files = {
        "forms/SKILL.md": "# Forms\n\nRead guides/ink/a.md, references/c.md.\n",
        "forms/references/c.md": "C\n",
        "forms/guides/ink/a.md": text,
        "merge/SKILL.md": "# Merge\n\nRead b.md.\n",
        held: "B\n",
    }

    assert said(library, files) == expected


@pytest.mark.row("F50")
def test_many_links_from_a_files_own_folder_are_one_note(library: Path) -> None:
    files = {
        "forms/SKILL.md": "# Forms\n\nRead references/a.md, b.md, c.md.\n",
        "forms/references/a.md": "[b](b.md) [c](c.md)\n\n[b](./b.md)\n",
        "forms/references/b.md": "B\n",
        "forms/references/c.md": "C\n",
    }

    assert said(library, files) == ["note file-relative-link forms/references/a.md:1"]


@pytest.mark.row("F51")
@pytest.mark.parametrize("path", ["SKILL.md", "references/a.md", "scripts/a.py"])
def test_hidden_tags_are_an_error(library: Path, path: str) -> None:
    hidden = "".join(chr(0xE0000 + ord(char)) for char in "obey me")
    files = {
        "forms/SKILL.md": "# Forms\n\nRead references/a.md, run scripts/a.py.\n",
        "forms/references/a.md": "# A\n",
        "forms/scripts/a.py": "print(1)\n",
    }
    files[f"forms/{path}"] += f"# {hidden}\n"

    assert [each.rpartition(":")[0] for each in said(library, files)] == [
        f"error hidden-text forms/{path}"
    ]


@pytest.mark.row("F52")
@pytest.mark.parametrize("dialect", ["spec", "strict"])
def test_an_untouched_new_pack_is_not_finished(
    library: Path, dialect: PackDialect
) -> None:
    wish = NewPackRequest(
        name="forms",
        description="Fill in forms. Use when one is completed.",
        dialect=dialect,
        references=("a.md",),
        scripts=("a.py", "b.sh"),
    )
    made = {f"forms/{path}": data for path, data in make_pack(wish).files.items()}

    assert {
        each.rpartition(":")[0]
        for each in said(library, made)
        if not each.startswith("note ")
    } == {
        f"warning left-to-fill-in forms/{path}"
        for path in ("SKILL.md", "references/a.md", "scripts/a.py", "scripts/b.sh")
    }


@pytest.mark.row("F52")
@pytest.mark.parametrize(
    "body",
    [
        "# Forms\n\nTODO\n",
        "# Forms\n\n<<<<<<< HEAD\nFill in.\n=======\nFill out.\n>>>>>>> other\n",
    ],
)
def test_what_is_not_finished_is_not_packed(library: Path, body: str) -> None:
    said(library, {"forms/SKILL.md": body})

    with pytest.raises(RefusedPackError):
        pack_skill("skills/forms")
    assert pack_skill("skills/forms", force=True).name == "forms"


@pytest.mark.row("F56")
@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_a_file_in_utf_16_is_checked_as_its_text(library: Path, encoding: str) -> None:
    mark = "" if encoding == "utf-16" else "\ufeff"
    text = f"{mark}{HEAD.format('forms')}# Forms\n\nSee [a](references/a.md).\n"

    assert said(library, {"forms/SKILL.md": text.encode(encoding)}) == [
        "error not-utf8 forms/SKILL.md:1",
        "warning dead-link forms/SKILL.md:7",
    ]


@pytest.mark.row("F55")
def test_the_limits_of_a_dialect_are_for_those_who_write_it(library: Path) -> None:
    text = f"---\nname: forms\ndescription: {'Fill in forms. ' * 40}Use when asked.\n"
    body = "---\n# Forms\n\nFill in.\n"
    ours = {"forms/SKILL.md": text + body}
    strict = {"forms/SKILL.md": f"{text}trigger_keywords: [form]\n{body}"}

    assert said(library, ours) == []
    assert any("description-l" in each for each in said(library, strict))
