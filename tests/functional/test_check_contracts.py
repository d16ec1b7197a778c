"""What the rows ask of a check, each in a few lines of a pack."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from satchel.checking import check
from satchel.skill_md import parse, render_frontmatter, to_spec

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from satchel.skill_md import Profile

HEAD = "name: forms\ndescription: Fill in forms. Use when one has to be completed.\n"
BODY = "# Forms\n\nRead references/a.md first.\n"


class Forms:
    """A pack named forms in the current folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def found(self, files: Mapping[str, str], profile: Profile = "spec") -> list[str]:
        """Write files, and return what a check says: ``severity code path:line``."""
        for path, text in files.items():
            file = self.folder / "forms" / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, "utf-8")
        return [
            f"{each.severity} {each.code} "
            f"{each.path.removeprefix('forms/')}:{each.line}"
            for each in check(["forms"], profile=profile).findings
        ]


@pytest.fixture
def forms(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Forms:
    monkeypatch.chdir(tmp_path)
    return Forms(tmp_path)


def skill(more: str = "", body: str = BODY) -> dict[str, str]:
    return {"SKILL.md": f"---\n{HEAD}{more}---\n{body}"}


@pytest.mark.row("A31", "R36")
def test_references_are_valid_markdown(forms: Forms) -> None:
    reference = "# A\n\n### C\n\n[x][nowhere] [y](b.md) [z](#none)\n\n```sh\nmake\n"

    assert forms.found({**skill(), "references/a.md": reference}) == [
        "warning skipped-heading references/a.md:3",
        "warning dead-anchor references/a.md:5",
        "warning dead-link references/a.md:5",
        "warning undefined-link references/a.md:5",
        "warning unclosed-fence references/a.md:7",
    ]


@pytest.mark.row("A32")
def test_python_references_are_compiled(forms: Forms) -> None:
    body = "# Forms\n\nRead references/a.py.\n"

    assert forms.found({**skill(body=body), "references/a.py": "x = 1\nx = (\n"}) == [
        "error python-syntax references/a.py:2"
    ]


@pytest.mark.row("A26")
@pytest.mark.parametrize(
    ("profile", "expected"),
    [
        ("spec", ["warning reference-not-mentioned SKILL.md:None"]),
        (
            "strict",
            ["error reference-not-mentioned SKILL.md:None"],
        ),
    ],
)
def test_each_listed_reference_is_mentioned(
    forms: Forms,
    profile: Profile,
    expected: list[str],
) -> None:
    files = {
        **skill("references: [a.md, b.md]\n"),
        "references/a.md": "# A\n",
        "references/b.md": "# B\n",
    }
    if profile == "spec":
        files |= skill("metadata:\n  references: a.md b.md\n")

    assert forms.found(files, profile) == expected


@pytest.mark.row("A29", "X08")
def test_undeclared_is_an_error_where_packs_are_closed(forms: Forms) -> None:
    files = {**skill(), "references/a.md": "# A\n"}

    assert forms.found(files) == []
    assert forms.found(files, "strict") == ["error unlisted-reference SKILL.md:None"]


@pytest.mark.row("G07")
def test_a_listed_file_that_is_missing_is_noticed(forms: Forms) -> None:
    assert forms.found(skill("metadata:\n  references: a.md\n")) == [
        "error listed-file-missing SKILL.md:5",
        "warning mentioned-file-missing SKILL.md:9",
    ]


@pytest.mark.row("X05")
def test_names_outside_of_what_all_take_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once: what the profile in use refuses itself is not said again."""
    monkeypatch.chdir(tmp_path)
    for name in ("3d-forms", "forms--3d", "forms-", "forms-3d"):
        file = tmp_path / "skills" / name / "SKILL.md"
        file.parent.mkdir(parents=True)
        file.write_text(
            f"---\n{HEAD}---\n# F\n".replace("name: forms", f"name: {name}")
        )

    def told(profile: Profile) -> list[str]:
        return [
            f"{each.code} {each.path.split('/')[1]}"
            for each in check(["skills"], profile=profile).findings
        ]

    assert told("spec") == [
        "name-not-portable 3d-forms",
        "name-characters forms--3d",
        "name-characters forms-",
    ]
    assert told("strict") == [
        "name-characters 3d-forms",
        "name-not-portable forms--3d",
        "name-not-portable forms-",
    ]
    assert len(told("auto")) == 3


@pytest.mark.row("X06", "R30")
@pytest.mark.parametrize(
    ("length", "profile", "code", "named"),
    [
        (15, "spec", "description-limits", "too few"),
        (900, "spec", "long-description", "800 characters"),
        (1100, "auto", "description-limits", "specification refuses"),
        (1100, "spec", "description-length", "at most 1024"),
        (600, "strict", "description-length", "20 to 500"),
    ],
)
def test_the_strictest_profile_that_is_broken_is_named(
    tmp_path: Path, length: int, profile: Profile, code: str, named: str
) -> None:
    text = "Use when asked. " + "d" * length
    pack = tmp_path / "forms"
    pack.mkdir()
    (pack / "SKILL.md").write_text(
        f"---\nname: forms\ndescription: {text[:length]}\n---\n# F\n"
    )
    (finding,) = check([str(pack)], profile=profile).findings

    assert finding.code == code
    assert named in finding.message


@pytest.mark.row("X06", "R30", "F55")
@pytest.mark.parametrize(
    ("more", "told"),
    [("", []), ("references: [a.md]\n", ["profile strict would refuse it"])],
)
def test_only_packs_of_the_strict_dialect_hear_of_its_limit(
    tmp_path: Path, more: str, told: list[str]
) -> None:
    """What profile strict takes is of no use to an author who never heard of it."""
    pack = tmp_path / "forms"
    (pack / "references").mkdir(parents=True)
    (pack / "references" / "a.md").write_text("# A\n")
    text = f"Use when asked. {'d' * 584}"
    head = f"name: forms\ndescription: {text}\n{more}"
    (pack / "SKILL.md").write_text(f"---\n{head}---\n{BODY}")
    findings = check([str(pack)], profile="auto").findings

    assert [
        each.message.partition(": ")[2]
        for each in findings
        if each.code == "description-limits"
    ] == told


@pytest.mark.row("X07")
def test_a_pack_of_the_dialect_is_told_how_others_see_it(tmp_path: Path) -> None:
    """And the conversion that it names leaves nothing to say."""
    pack = tmp_path / "forms"
    (pack / "references").mkdir(parents=True)
    (pack / "references" / "a.md").write_text("# A\n")
    text = f"---\n{HEAD}version: 1.2.0\nreferences: [a.md]\n---\n{BODY}"
    (pack / "SKILL.md").write_text(text)
    assert check([str(pack)], profile="strict").findings == ()
    (finding,) = check([str(pack)], profile="lenient").findings

    assert (finding.code, finding.severity, finding.line) == (
        "spec-incompatible",
        "note",
        4,
    )
    assert "satchel convert --to spec" in finding.fix

    manifest = parse(text.encode()).manifest
    assert manifest is not None
    (pack / "SKILL.md").write_text(
        render_frontmatter(to_spec(manifest.frontmatter)) + BODY
    )

    assert check([str(pack)]).findings == ()
