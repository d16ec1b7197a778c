"""Fixes of a SKILL.md, and that nothing else of it changes."""

import pytest

from satchel.model import Finding, Limits
from satchel.skill_md import Profile, parse
from satchel_lab.lint import SkillFix, fix_skill
from satchel_lab.lint._fixes import Fixer, FixInput

LONG = "Use when a form must be filled in."


def fix(
    text: str | bytes,
    *,
    folder: str = "x",
    files: tuple[str, ...] = (),
    profile: Profile = "spec",
    also: tuple[str, ...] = (),
) -> SkillFix | None:
    data = text.encode() if isinstance(text, str) else text
    found = (
        *parse(data, profile="lenient", directory=folder).findings,
        *parse(data, profile=profile, directory=folder).findings,
        *(Finding(code, "error", "m") for code in also),
    )
    return fix_skill(data, found, folder=folder, files=files, profile=profile)


def fixed(text: str, **options: object) -> str:
    done = fix(text, **options)  # type: ignore[arg-type]

    return done.after.decode() if done else text


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("---\nname: x\ndescription: A: b\n---\nB\n", 'description: "A: b"'),
        ("---\nname: x\ndescription: d\ntags: [@a]\n---\n", 'tags: ["@a"]'),
        ("---\nname: x\ndescription: > A\n  b\n---\n", 'description: "A b"'),
        ("---\nname: x\ndescription: 'it's'\n---\n", "description: \"it's\""),
        ('---\nname: x\ndescription: "\\d"\n---\n', 'description: "\\\\d"'),
        ("---\nname: x\ndescription: d\nm:\n\ta: b\n---\n", "m:\n  a: b"),
        ("---\nname: x\n description: d\n---\n", "name: x\ndescription: d\n"),
        ("---\nname: x\ndescription: a\nb c\n---\n", 'description: "a b c"'),
        ("---\nhello\nname: x\ndescription: d\n---\n", "---\n# hello\nname: x\n"),
        ("---\nname: x\ndescription: a\x07b\n---\n", "description: ab\n"),
        ("\n\n---\nname: x\ndescription: d\n---\nB", "---\nname: x"),
        ("<!-- (c) -->\n---\nname: x\ndescription: d\n---\nB", "---\n# <!-- (c) -->"),
        ("```yaml\n---\nname: x\ndescription: d\n---\n```\nB", "---\nname: x"),
        ("name: x\ndescription: d\n---\nB", "---\nname: x\ndescription: d\n---\nB"),
        ("---\nname: x\ndescription: d\n\n# H\n", "description: d\n\n---\n# H\n"),
        ("---\nname: x\ndescription: d", "description: d\n---\n"),
        ("----\nname: x\ndescription: d\n---\n", "---\nname: x\ndescription: d\n---\n"),
        ("---\nname: x\ndescription: d\n---B\n", "description: d\n---\nB\n"),
        ("---\nname: x\ndescription: [a, b]\n---\n", 'description: "[a, b]"'),
        ("---\ndescription: d\n---\n", "---\nname: x\ndescription: d\n"),
        ("---\nname:\ndescription: d\n---\n", "---\nname: x\ndescription: d\n"),
        ("---\nname: X\ndescription: d\n---\n", "---\nname: x\ndescription: d\n"),
        ("---\nname: 'X '  # c\ndescription: d\n---\n", "---\nname: x\n"),
    ],
)  # fmt: skip
def test_each_mistake_is_fixed(before: str, after: str) -> None:
    text = fixed(before)

    assert after in text
    assert parse(text.encode(), profile="spec", directory="x").findings == () or (
        {"unknown-field"}
        == {
            f.code for f in parse(text.encode(), profile="spec", directory="x").findings
        }
    )


@pytest.mark.parametrize(
    "text",
    [
        f"---\nname: x\ndescription: {LONG}\n---\nB\n",
        "",
        "no frontmatter\n",
        "---\nname: x\n---\nB\n",  # what it is for, only its author knows
        "---\nname: y\ndescription: d\n---\n",  # which of the two is meant?
        "---\nname: x\nname: y\ndescription: d\n---\n",
        "---\nname: X\nname: X\ndescription: d\n---\n",
        "---\nname: x\ndescription: d\nmodel: &a b\n---\n",
        "---\nname: x\ndescription: d\ntags: [a]\n---\n",
        "---\n**名称：** x\n**描述：** d\n---\n",
        b"---\nname: x\ndescription: caf\xe9: d\n---\n",
        b"\xff\xfe-\x00-\x00-\x00",
    ],
)
def test_what_only_the_author_knows_is_not_changed(text: str | bytes) -> None:
    assert fix(text) is None


def test_what_cannot_be_fixed_safely_is_not_changed() -> None:
    """A name at the margin would make other entries, all indented, no YAML."""
    assert fix("---\ndescription: d\n---\n", folder="My Skill") is None
    assert fix("---\nname: my-skill\ndescription: d\n---\n", folder="My Skill") is None

    text = f"---\nname: x\ndescription: {LONG}\nreferences: [a.md,\n  b.md]\n---\n"
    files = ("references/a.md", "references/b.md", "references/c.md")

    assert (
        fix(text, profile="strict", files=files, also=("unlisted-reference",)) is None
    )

    text = "---\n description: Use it.\n---\n"

    assert fix(text) is None

    data = b"---\nname: x\ndescription: A: b\n---\n" + b"B" * 100
    found = (Finding("unquoted-colon", "error", "m"),)

    assert fix_skill(data, found, limits=Limits(skill_md_bytes=50)) is None


def test_only_the_broken_entry_is_rewritten_and_line_ends_stay() -> None:
    before = (
        "---\nname:   x   # my name\nlicense: 'MIT'\n\ndescription: A: b\n"
        "metadata: {a:  'b'}\n---\n"
    )
    done = fix(before)

    assert done is not None
    assert [
        line
        for line in done.diff.splitlines()
        if line[0] in "+-" and line[1] != line[0]
    ] == ["-description: A: b", '+description: "A: b"']

    before = "\ufeff---\r\nname: X\r\ndescription: A: b\r\n# c\r\n---\r\nB\nC\r\n"

    assert fixed(before) == (
        '\ufeff---\r\nname: x\r\ndescription: "A: b"\r\n# c\r\n---\r\nB\nC\r\n'
    )


@pytest.mark.row("A29")
@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "---\nname: x\r\ndescription: A: b\nrefrences: [a.md]\r\n---\nB\r\n",
            '---\nname: x\r\ndescription: "A: b"\nreferences: [a.md]\r\n---\nB\r\n',
        ),
        (
            "---\nname: x\ndescription: A: b\r\nrefrences: [a.md]\n---\r\nB\n",
            '---\nname: x\ndescription: "A: b"\r\nreferences: [a.md]\n---\r\nB\n',
        ),
        (
            "---\rname: x\rdescription: A: b\r---\rB\r",
            '---\rname: x\rdescription: "A: b"\r---\rB\r',
        ),
    ],
)
def test_each_line_that_is_fixed_ends_as_it_did(before: str, after: str) -> None:
    assert fixed(before) == after


@pytest.mark.parametrize(
    ("entry", "after"),
    [
        ("", "references:\n  - b c.md\n  - d.md\n"),
        ("references: []\n", "references: [b c.md, d.md]\n"),
        ("references: [a.md]  # c\n", "references: [a.md, b c.md, d.md]  # c\n"),
        ("references:\n- a.md\n", "references:\n- a.md\n- b c.md\n- d.md\n"),
        (
            "references:\n    - a.md\n\nscripts: []\n",
            "references:\n    - a.md\n    - b c.md\n    - d.md\n\nscripts: []\n",
        ),
    ],
)
def test_unlisted_references_are_listed_in_profile_strict(
    entry: str, after: str
) -> None:
    text = f"---\nname: x\ndescription: {LONG}\n{entry}---\nB\n"
    held = ("references/b c.md", "references/d.md", "scripts/e.sh")
    files = (*held, "references/a.md") if "a.md" in entry else held
    options = {"files": files, "also": ("unlisted-reference",)}

    strict = fixed(text, profile="strict", **options)

    assert after in strict.replace('"', "")
    assert fixed(text, profile="spec", **options) == text
    assert fixed(strict, profile="strict", **options) == strict


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("name: X\n# note\ndescription: d\n", "name: x\n# note\ndescription: d\n"),
        ("# note\ndescription: d\n", "name: x\n# note\ndescription: d\n"),
        (
            "description: [a, b]\n# note\nname: x\n",
            'description: "[a, b]"\n# note\nname: x\n',
        ),
    ],
)
def test_a_comment_next_to_a_fixed_entry_stays(before: str, after: str) -> None:
    assert fixed(f"---\n{before}---\nB\n") == f"---\n{after}---\nB\n"


def test_a_fix_has_its_codes_and_lines() -> None:
    """As findings and viewers count them, whatever Unicode calls the end of a line."""
    done = fix("---\nname: X\ndescription: A: b\ntags: x\n---\nB\n")

    assert done is not None
    assert done.codes == {"unquoted-colon", "name-characters", "name-not-folder"}
    assert [(each.line, each.lines, each.text) for each in done.changes] == [
        (2, 2, 'name: x\ndescription: "A: b"\n')
    ]

    text = "---\nname: a\nlicense: x\u2028y\ndescription: Use: b\n---\nx"
    made = fix(text)

    assert made is not None
    assert [(each.line, each.lines) for each in made.changes] == [(4, 1)]


@pytest.mark.parametrize(
    ("proposal", "why"),
    [
        ("---\nname: x\ndescription: A\n---\nB\n", "another description"),
        ('---\nname: x\ndescription: "A: b"\n---\nC\n', "another body"),
        ("---\nname: x\ndescription: A: b\n---\nB\n", "nothing"),
        ("---\nname: x\ndescription: A : b: c\n---\nB\n", "not fixed"),
        ("", "nothing left"),
    ],
)
def test_a_fixer_is_not_trusted(
    proposal: str, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its proposal is read again, and dropped where it says something else."""
    codes, nothing = frozenset({"unquoted-colon"}), frozenset[str]()

    def careless(page: FixInput) -> str | None:
        del page
        return proposal

    fixers = (Fixer(careless, codes, nothing, nothing),)
    monkeypatch.setattr("satchel_lab.lint._fixes.FIXERS", fixers)

    assert fix("---\nname: x\ndescription: A: b\n---\nB\n") is None, why


def test_a_fixer_that_goes_on_and_on_is_not_trusted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def restless(page: FixInput) -> str | None:
        return page.text.replace("\nname: x", "\n# more\nname: x")

    nothing = frozenset[str]()
    monkeypatch.setattr(
        "satchel_lab.lint._fixes.FIXERS",
        (Fixer(restless, frozenset({"x-y"}), nothing, nothing),),
    )

    assert fix("---\nname: x\ndescription: d\n---\nB\n", also=("x-y",)) is None


def test_a_difference_of_many_equal_lines_is_soon_found() -> None:
    """The standard library's own search grows with the cube of their number."""
    body = "\n".join("ab"[i * i % 7 % 2] for i in range(40_000))
    before = f"---\nname: x\ndescription: a: b\n---\n{body}\n".encode()
    after = before.replace(b"a: b", b'"a: b"')
    fix = SkillFix("SKILL.md", before, after, frozenset())

    assert [change.line for change in fix.changes] == [3]
    assert '-description: a: b\n+description: "a: b"\n' in fix.diff
