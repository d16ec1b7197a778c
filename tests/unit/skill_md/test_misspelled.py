"""Keys that are nearly known ones count as what was meant, and are reported."""

from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from satchel import Satchel
from satchel.errors import SkillError
from satchel.model import Finding
from satchel.skill_md import SPEC_FIELDS, Parsed, Profile, parse
from satchel.skill_md._manifest import STRICT_FIELDS
from satchel_lab.checking import check
from satchel_lab.lint import fix_skill

ABOUT = "description: Use when a form must be filled in."
CODE = "misspelled-field"


def page(*lines: str) -> bytes:
    return "\n".join(["---", *lines, "---", "# X", "Do it.", ""]).encode()


def reported(parsed: Parsed) -> list[tuple[str, str, int | None]]:
    return [(f.severity, f.code, f.line) for f in parsed.findings]


@pytest.mark.row("F11", "T06")
@pytest.mark.parametrize("profile", ["auto", "lenient", "spec"])
@pytest.mark.parametrize(
    ("lines", "field", "value"),
    [
        (("Name: x", ABOUT), "name", "x"),
        (("nmae: x", ABOUT), "name", "x"),
        (("name: x", "desciption: It does."), "description", "It does."),
        (("name: x", "Description: It does."), "description", "It does."),
        (("name: x", "descripiton: It does."), "description", "It does."),
        (("name: x", ABOUT, "refrences: [a.md]"), "references", ("a.md",)),
        (("name: x", ABOUT, "References: a.md"), "references", ("a.md",)),
        (("name: x", ABOUT, "referenses: [a.md]"), "references", ("a.md",)),
        (("name: x", ABOUT, "scirpts: [a.py]"), "scripts", ("a.py",)),
        (("name: x", ABOUT, "script: [a.py]"), "scripts", ("a.py",)),
        (("name: x", ABOUT, "asets: [a.txt]"), "assets", ("a.txt",)),
        (("name: x", ABOUT, "allowedTools: Read"), "allowed_tools", ("Read",)),
        (("name: x", ABOUT, "alowed-tools: Read"), "allowed_tools", ("Read",)),
        (("name: x", ABOUT, "allowed_tools: Read"), "allowed_tools", ("Read",)),
        (("name: x", ABOUT, "trigger-keywords: [a]"), "trigger_keywords", ("a",)),
        (("name: x", ABOUT, "licence: MIT"), "license", "MIT"),
        (("name: x", ABOUT, "verison: 1.10"), "version", "1.10"),
        (("name: x", ABOUT, "metdata:", "  version: 2.0"), "version", "2.0"),
        (
            ("name: x", ABOUT, "metadata:", "  refrences: a.md b.md"),
            "references",
            ("a.md", "b.md"),
        ),
        (("name: x", ABOUT, "metadata:", "  replacd-by: y"), "replaced_by", "y"),
    ],
)
def test_a_misspelled_field_counts_and_is_a_warning(
    lines: tuple[str, ...], field: str, value: object, profile: Profile
) -> None:
    parsed = parse(page(*lines), profile=profile, directory="x")

    assert parsed.manifest is not None
    assert getattr(parsed.manifest, field) == value
    warned = [f for f in parsed.findings if f.code == CODE]
    assert [f.severity for f in warned] == ["warning"]
    assert warned[0].line is not None
    assert "did you mean" in warned[0].message


@pytest.mark.row("F11", "T06")
def test_what_was_written_stays_in_the_frontmatter() -> None:
    parsed = parse(page("Name: x", ABOUT, "metadata:", "  toosl: a b"))

    assert parsed.manifest is not None
    assert parsed.manifest.frontmatter["Name"] == "x"
    assert parsed.manifest.frontmatter["metadata"] == {"toosl": "a b"}
    assert parsed.manifest.metadata == {"tools": "a b"}


@pytest.mark.row("C16", "T06", "E15", "R06", "F11")
def test_each_profile_says_what_was_meant() -> None:
    """It has no `references` at the top, however that is spelled."""
    parsed = parse(page("name: x", ABOUT, "refrences: [a.md]"), profile="strict")

    assert parsed.manifest is None
    assert reported(parsed) == [("error", "unknown-field", 4)]
    assert "references" in parsed.findings[0].fix

    parsed = parse(
        page("name: x", ABOUT, "manifest_schema: 2", "refrences: [a.md]"),
        profile="strict",
    )

    assert parsed.manifest is not None
    assert parsed.manifest.references == ("a.md",)
    assert reported(parsed) == [("warning", CODE, 5)]

    parsed = parse(page("name: x", ABOUT, "refrences: [a.md]"), profile="spec")

    assert reported(parsed) == [("warning", CODE, 4), ("error", "unknown-field", 4)]

    text = page("name: x", ABOUT, "refrences: [a.md]")

    assert fixed(text, "strict") == page("name: x", ABOUT, "references: [a.md]")


@pytest.mark.row("F11")
@pytest.mark.parametrize("profile", ["auto", "spec"])
def test_the_right_key_counts_where_both_are_there(profile: Profile) -> None:
    parsed = parse(page("name: x", "Name: y", ABOUT), profile=profile, directory="x")

    assert parsed.manifest is not None
    assert parsed.manifest.name == "x"
    assert reported(parsed) == [("warning", CODE, 3)]
    assert parsed.findings[0].fix == "keep one of the two"


OWN_WORDS = (
    *("tags", "title", "authors", "agents", "models", "mode", "path", "trigger"),
    *("platform", "content", "contact", "preferences", "replaced", "stats", "tool"),
    *("description_zh", "description-cn", "descriptionEn", "long-description"),
    *("source", "category", "status", "type", "hooks", "impactDescription", "id"),
    *("allowed_sites", "user-facing", "enable-model-invocation", "versions", "状态"),
)


@pytest.mark.row("F11")
@pytest.mark.parametrize("within", [(), ("metadata:",)])
@pytest.mark.parametrize("key", OWN_WORDS)
def test_a_word_of_its_own_is_not_misspelled(key: str, within: tuple[str, ...]) -> None:
    line = f"  {key}: a" if within else f"{key}: a"
    parsed = parse(page("name: x", ABOUT, *within, line), directory="x")

    assert [f for f in parsed.findings if f.code == CODE] == []


@pytest.mark.row("F11", "A08", "R05")
def test_a_typo_does_not_open_a_pack(tmp_path: Path) -> None:
    """What is not listed is refused, and the typo is seen wherever one looks."""
    pack = tmp_path / "skills/x"
    pack.mkdir(parents=True)
    (pack / "SKILL.md").write_bytes(page("name: x", ABOUT, "refrences: [a.md]"))
    (pack / "references").mkdir()
    for name in ("a.md", "hidden.md"):
        (pack / "references" / name).write_text(name, "utf-8")

    with Satchel(tmp_path / "skills") as skills:
        assert skills.load("x", "a.md").text == "a.md"
        with pytest.raises(SkillError):
            skills.load("x", "hidden.md")
        assert CODE in [f.code for f in skills.findings]
    report = check([str(tmp_path / "skills")], profile="auto")
    assert CODE in [f.code for f in report.findings]


@pytest.mark.row("F11", "T06")
@pytest.mark.parametrize(
    ("before", "after"),
    [
        (("Name: x", ABOUT), ("name: x", ABOUT)),
        (("name: x", "desciption: It does."), ("name: x", "description: It does.")),
        (
            ("name: x", ABOUT, "'refrences':  # why", "  - a.md"),
            ("name: x", ABOUT, "'references':  # why", "  - a.md"),
        ),
        (
            ("name: x", ABOUT, "metadata:", "  author: me", "  toosl: a b"),
            ("name: x", ABOUT, "metadata:", "  author: me", "  tools: a b"),
        ),
        (
            ("name: x", ABOUT, "metadata: {toosl: a, author: me}"),
            ("name: x", ABOUT, "metadata: {tools: a, author: me}"),
        ),
        (
            ("Name: x", "Description: It does.", "metdata:", "  replacedby: y"),
            ("name: x", "description: It does.", "metadata:", "  replaced-by: y"),
        ),
        (("name: x", "Name: y", ABOUT), ("name: x", "Name: y", ABOUT)),
    ],
)
def test_fix_renames_it(before: tuple[str, ...], after: tuple[str, ...]) -> None:
    assert fixed(page(*before)) == page(*after)


def fixed(text: bytes, profile: Profile = "spec") -> bytes:
    found: tuple[Finding, ...] = parse(text, profile=profile, directory="x").findings
    done = fix_skill(text, found, folder="x", profile=profile)
    return text if done is None else done.after


KNOWN = sorted(SPEC_FIELDS | STRICT_FIELDS)


@pytest.mark.property
@pytest.mark.row("F11")
@given(st.sampled_from(KNOWN), st.data())
def test_any_one_typo_in_a_long_key_is_seen(key: str, data: st.DataObject) -> None:
    """A letter that is missing, doubled or exchanged with the next; capitals."""
    if len(key) <= 6:
        return
    at = data.draw(st.integers(0, len(key) - 2))
    slip = data.draw(
        st.sampled_from(
            [
                key[:at] + key[at + 1 :],
                key[:at] + key[at] + key[at:],
                key[:at] + key[at + 1] + key[at] + key[at + 2 :],
                key.upper(),
                key.title(),
            ]
        )
    )
    if slip == key:
        return
    parsed = parse(page("name: x", ABOUT, f"{slip}: a"), directory="x")

    assert CODE in [f.code for f in parsed.findings]


@pytest.mark.row("F11")
def test_a_flood_of_unknown_keys_is_compared_up_to_a_bound() -> None:
    """The first hundred are; a slip among them is still seen."""
    keys = [f"k{number}x{'y' * 9}: 1" for number in range(400)]

    early = parse(page("name: x", ABOUT, "refrences: [a.md]", *keys), directory="x")
    late = parse(page("name: x", ABOUT, *keys, "refrences: [a.md]"), directory="x")

    assert [f.code for f in early.findings] == [CODE]
    assert late.findings == ()
