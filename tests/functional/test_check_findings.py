"""What a check reports of packs, by its findings: contracts, dialects, false alarms."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from satchel import Satchel
from satchel.errors import RefusedPackError, SkillError
from satchel.skill_md import Profile
from satchel_lab.authoring import pack_skill
from satchel_lab.checking import check
from tests.functional.library import run

ABOUT = "description: Fills in PDF forms. Use when a form must be filled in.\n"
HEAD = f"---\nname: {{}}\n{ABOUT}---\n"
BODY = "# Forms\n\nRead references/a.md first.\n"
STRICT = f"name: forms\n{ABOUT}trigger_keywords: [pdf]\n"
A = {"forms/references/a.md": "# A\n"}


def forms(head: str = f"name: forms\n{ABOUT}", body: str = BODY) -> dict[str, str]:
    return {"forms/SKILL.md": f"---\n{head}---\n{body}"}


def findings(
    files: Mapping[str, str | bytes] = {},
    profile: Profile | None = None,
) -> list[str]:
    """Write files below skills/; return ``severity code path:line`` of a check.

    A SKILL.md without frontmatter is a body.
    """
    for path, text in files.items():
        data = text.encode() if isinstance(text, str) else text
        if path.endswith("SKILL.md") and not data.startswith(
            (b"---", b"\xff", b"\xfe")
        ):
            data = HEAD.format(path.split("/")[-2]).encode() + data
        file = Path("skills") / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
    report = check(["skills"], profile=profile) if profile else check(["skills"])
    return [
        f"{finding.severity} {finding.code} "
        f"{finding.path.removeprefix('skills/')}:{finding.line}"
        for finding in report.findings
    ]


def codes_of(files: Mapping[str, str | bytes], severity: str = "") -> list[str]:
    """Return ``severity code`` of each finding, or the codes of one severity."""
    lines = [line.rpartition(" ")[0] for line in findings(files)]
    return [
        line.removeprefix(f"{severity} ") for line in lines if line.startswith(severity)
    ]


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
    length: int, profile: Profile, code: str, named: str
) -> None:
    text = f"Use when asked. {'d' * length}"[:length]
    findings(forms(f"name: forms\ndescription: {text}\n", "# F\n"))
    (finding,) = check(["skills"], profile=profile).findings

    assert finding.code == code
    assert named in finding.message


@pytest.mark.row("X06", "R30", "F55")
@pytest.mark.parametrize(
    ("more", "expected"),
    [("", []), ("references: [a.md]\n", ["profile strict would refuse it"])],
)
def test_only_packs_of_the_strict_dialect_hear_of_its_limit(
    more: str, expected: list[str]
) -> None:
    """What profile strict takes is of no use to an author who never heard of it."""
    text = f"Use when asked. {'d' * 584}"
    findings({**forms(f"name: forms\ndescription: {text}\n{more}"), **A})
    report = check(["skills"], profile="auto")

    assert [
        finding.message.partition(": ")[2]
        for finding in report.findings
        if finding.code == "description-limits"
    ] == expected


@pytest.mark.row("X07")
def test_a_pack_of_the_dialect_hears_how_others_see_it() -> None:
    """And the conversion that it names leaves nothing to report."""
    head = f"name: forms\n{ABOUT}version: 1.2.0\nreferences: [a.md]\n"
    assert findings({**forms(head), **A}, "strict") == []
    (finding,) = check(["skills"], profile="lenient").findings

    assert (finding.code, finding.severity, finding.line) == (
        *("spec-incompatible", "note", 4),
    )
    assert "satchel convert --to spec" in finding.fix
    assert run("convert", "skills", "--to", "spec", "--in-place").exit_code == 0
    assert findings() == []


@pytest.mark.row("F11", "F54", "T06", "T07", "A29")
@pytest.mark.parametrize(
    ("head", "finding"),
    [
        (f"{STRICT}references: [a.md]\nextra: 1\n", "error unknown-field"),
        (STRICT.replace(ABOUT, "description: Short.\n"), "error description-length"),
        (f"name: forms\n{ABOUT}references: [b.md]\n", "error listed-file-missing"),
        (STRICT, "error unlisted-reference"),
        (f"{STRICT}refrences: [a.md]\n", "warning misspelled-field"),
    ],
)
def test_its_own_rules_hold_for_it(head: str, finding: str) -> None:
    reported = codes_of({**forms(head), **A})

    assert finding in reported
    assert finding.startswith("error") or "error" not in " ".join(reported)


@pytest.mark.row("F54", "T07")
@pytest.mark.parametrize(
    ("more", "errors"),
    [
        ("", []),
        ("license: MIT\n", []),
        ("metadata:\n  references: a.md\n", []),
        ("version: 1.0.0\n", []),
        ("license: MIT\ntags: a\n", ["unknown-field"]),
        ("version: 1.0.0\ntags: a\n", ["unknown-field"] * 2),
        ("license: MIT\nversion: '1'\n", ["unknown-field"]),
        ("name: 3d-forms\ndescription: Short.\n", ["name-not-folder"]),
    ],
)
def test_any_other_pack_is_judged_by_the_public_specification(
    more: str, errors: list[str]
) -> None:
    head = more if more.startswith("name") else f"name: forms\n{ABOUT}{more}"

    assert codes_of({**forms(head), **A}, "error") == errors


@pytest.mark.row("F54", "T07")
def test_a_folder_may_hold_both_dialects() -> None:
    scans = f"---\nname: scans\n{ABOUT}license: MIT\n---\n{BODY}"
    files = {**forms(f"{STRICT}references: [a.md]\n"), **A}
    files |= {"scans/SKILL.md": scans, "scans/references/a.md": "# A\n"}

    assert codes_of(files) == ["note spec-incompatible"]


@pytest.mark.row("F54")
@pytest.mark.parametrize(
    "how", [["--profile", "dialect"], ["--config", "satchel.toml"]]
)
def test_the_default_profile_has_a_name(here: Path, how: list[str]) -> None:
    (here / "satchel.toml").write_text('[lint]\nprofile = "dialect"\n', "utf-8")
    findings({**forms(f"{STRICT}references: [a.md]\n"), **A})

    assert run("check", "skills", *how).exit_code == 0


@pytest.mark.row("F11", "F54", "A08")
def test_fix_opens_no_pack_that_its_author_closed(here: Path) -> None:
    """Whether a file belongs on the list is for the author to say, or for --profile."""
    hidden = {"forms/references/hidden.md": "# H\n"}
    findings({**forms(f"{STRICT}refrences: [a.md]\n"), **A, **hidden})
    file = here / "skills/forms/SKILL.md"

    run("check", "skills", "--fix")
    assert "\nreferences: [a.md]\n" in file.read_text("utf-8")
    with Satchel(here / "skills") as skills, pytest.raises(SkillError):
        skills.load("forms", "hidden.md")
    run("check", "skills", "--fix", "--profile", "strict")
    assert "\nreferences: [a.md, hidden.md]\n" in file.read_text("utf-8")


@pytest.mark.row("F50")
@pytest.mark.parametrize(
    ("text", "file", "is_found"),
    [
        ("See `references/b.md`.", "forms/guides/references/b.md", True),
        ("See `references/b.md`.", "forms/guides/ink/references/b.md", True),
        ("See `merge`, `references/b.md`.", "merge/references/b.md", True),
        ("See `references/b.md`.", "merge/references/b.md", False),
        ("See `references/b.md`.", "forms/guides/ink/pens/references/b.md", False),
    ],
)
def test_a_file_is_found_where_a_reader_finds_it(
    text: str, file: str, is_found: bool
) -> None:
    files = {
        "forms/SKILL.md": "# Forms\n\nRead guides/ink/a.md, references/c.md.\n",
        "forms/references/c.md": "C\n",
        "forms/guides/ink/a.md": text,
        "merge/SKILL.md": "# Merge\n\nRead b.md.\n",
        file: "B\n",
    }
    missing = "warning mentioned-file-missing forms/guides/ink/a.md:1"

    assert findings(files) == ([] if is_found else [missing])


@pytest.mark.row("F52")
@pytest.mark.parametrize(
    "body",
    [
        "# Forms\n\nTODO\n",
        "# Forms\n\n<<<<<<< HEAD\nFill in.\n=======\nFill out.\n>>>>>>> other\n",
    ],
)
def test_what_is_not_finished_is_not_packed(body: str) -> None:
    findings({"forms/SKILL.md": body})

    with pytest.raises(RefusedPackError):
        pack_skill("skills/forms")
    assert pack_skill("skills/forms", force=True).name == "forms"


@pytest.mark.row("F56")
@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_a_file_in_utf_16_is_checked_as_its_text(encoding: str) -> None:
    mark = "" if encoding == "utf-16" else "\ufeff"
    text = f"{mark}{HEAD.format('forms')}# Forms\n\nSee [a](references/a.md).\n"

    assert findings({"forms/SKILL.md": text.encode(encoding)}) == [
        "error not-utf8 forms/SKILL.md:1",
        "warning dead-link forms/SKILL.md:7",
    ]
