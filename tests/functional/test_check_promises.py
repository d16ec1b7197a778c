"""Only what sends the reader to a file of the pack is a promise."""

from pathlib import Path

import pytest

from satchel_lab.checking import check
from satchel_lab.lint import LintSettings
from tests.functional.library import write_pack

HEAD = "---\nname: forms\ndescription: {about}\n---\n\n# Forms\n\n"
ABOUT = "Fills in PDF forms. Use when a form is to be done."
OF_SKILLS = "Creates new skills and improves existing ones. Use to write a SKILL.md."
FILES = {"references/rules.md": "# Rules\n", "scripts/fill.py": "print(1)\n"}
# What a check looks for only when it is asked.
ASKED = LintSettings(
    severity={"skipped-heading": "warning", "unpinned-command": "note"}
)
USES = "Read `references/rules.md`, then run `scripts/fill.py`.\n\n"


def codes(
    here: Path, text: str, about: str = ABOUT, more: dict[str, str] | None = None
) -> list[str]:
    body = HEAD.format(about=about) + USES + text
    write_pack(here / "repo/skills/forms", body, {**FILES, **(more or {})})
    (here / "repo/.git").mkdir()
    findings = check(["repo/skills"], settings=ASKED).findings
    return [one.code for one in findings if one.code != "missing-h1"]


@pytest.mark.row("F80")
@pytest.mark.parametrize(
    "text",
    [
        "See `references/fees.md` for the fees.",
        "- Fees: `references/fees.md`",
        "| fees | `references/fees.md` |",
        "- Paying late -> `references/fees.md`",
        "Load references/fees.md before you pay.",
        "The fees are in `references/fees.md`.",
        "```bash\npython scripts/pay.py --all\n```",
        "Run `scripts/pay.py` at the end.",
        "\u8be6\u89c1 `references/fees.md`\u3002",
        "Details: [the rules](references/rules.md), `references/fees.md`",
        "Use `references/fees.md` for amounts, and write the result down.",
    ],
)
def test_a_promise_is_kept(here: Path, text: str) -> None:
    assert codes(here, text) == ["mentioned-file-missing"]


@pytest.mark.row("F80")
@pytest.mark.parametrize(
    "text",
    [
        # It is made, kept or filled here.
        "Build `references/glossary.md` listing each term.",
        "Capture valuable snippets in `references/usage.md` with their source.",
        "Document the terms in `references/glossary.md` and `references/logic.md`.",
        "Record what failed in `references/log.md`, one line a run.",
        "Keep a log in `scripts/run.log`.",
        "Read `references/n.md` first.\n\nThen save the notes to `references/n.md`.",
        # It may be there.
        "A local copy may also contain `references/full.md`, the whole text.",
        "Read `references/local.md` if it exists.",
        "If there is a `references/team.md`, follow it.",
        # It belongs to a project or another skill.
        "Run `scripts/release.sh` from the root of the repository.",
        "Run `scripts/detect.py` from that skill directory.",
        "Check `scripts/build.sh` in your project.",
        "Look at your `assets/logo.png` first.",
        # It is an example, or drawn.
        "Such as `references/finance.md`.",
        "\u274c Put it all into `references/everything.md`",
        "```text\n\u251c\u2500 references/a.md\n\u2514\u2500\u2500 scripts/a.py\n```",
        "```markdown\nSee `references/finance.md` for more.\n```",
        "**`scripts/new.py`**:\n\n```python\nprint(1)\n```",
    ],
)
def test_all_else_is_none(here: Path, text: str) -> None:
    assert codes(here, text) == []


@pytest.mark.row("F80")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("- `references/finance.md`: what finance needs", []),
        ("1. `references/tech-specs.md` \u2014 auth, limits and endpoints", []),
        ("| Entities | `references/entities.md` | their definitions |", []),
        ("See `references/workflows.md` for steps.", ["mentioned-file-missing"]),
        ("```bash\npython scripts/make.py NAME\n```", ["mentioned-file-missing"]),
    ],
)
def test_a_pack_about_skills_names_files_of_others(
    here: Path, text: str, expected: list[str]
) -> None:
    assert codes(here, text, OF_SKILLS) == expected


@pytest.mark.row("F80")
@pytest.mark.parametrize(
    ("link", "expected"),
    [
        ("/docs/fees.md", []),
        ("/docs/fees.md#late", []),
        ("/plugin:pay", []),
        ("/pay", []),
        ("/docs/none.md", ["outside-link"]),
        ("../../docs/fees.md", ["outside-link"]),
        ("/skills/pay/SKILL.md", ["sibling-link"]),
        ("/references/rules.md", ["file-relative-link"]),
    ],
)
def test_a_link_into_the_same_repository_is_not_outside(
    here: Path, link: str, expected: list[str]
) -> None:
    (here / "repo/docs").mkdir(parents=True)
    (here / "repo/docs/fees.md").write_text("# Late\n")
    write_pack(here / "repo/skills/pay", HEAD.format(about=ABOUT))

    found = codes(here, f"See [the fees]({link}).")

    assert [code for code in found if code.endswith("-link")] == expected


@pytest.mark.row("F80")
@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        (["scripts/office/__init__.py", "scripts/office/pack.py"], []),
        (["scripts/a/__init__.py", "scripts/a/b/__init__.py", "scripts/a/b/c.py"], []),
        (["scripts/__init__.py", "scripts/parts.py"], []),
        (["scripts/office/pack.py"], ["script-not-mentioned"]),
        (["scripts/a/__init__.py", "scripts/b/c.py"], ["script-not-mentioned"]),
    ],
)
def test_modules_of_a_package_are_for_its_programs(
    here: Path, paths: list[str], expected: list[str]
) -> None:
    assert codes(here, "", more=dict.fromkeys(paths, "X = 1\n")) == expected


@pytest.mark.row("F80")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("- \u2717 **Avoid**: `scripts\\fill.py`", []),
        ("Never write `scripts\\fill.py`.", []),
        ("On Windows the path is `scripts\\fill.py`.", []),
        ("Run `scripts\\fill.py`.", ["backslash-path"]),
        ("Run `npx @angular/cli@<version> new app`.", []),
        ("Run `npx create-app@${VERSION}`.", []),
        ("Run `npx create-app`.", []),
        ("Run `npx -y create-app`.", ["unpinned-command"]),
        ("Run `uvx ruff check`.", ["unpinned-command"]),
    ],
)
def test_what_nobody_is_to_write_is_no_mistake(
    here: Path, text: str, expected: list[str]
) -> None:
    assert codes(here, text) == expected
