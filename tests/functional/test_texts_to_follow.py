"""Texts that can be followed: fixes, lists of names, lines as wide as the terminal."""

import json
from pathlib import Path

import pytest

from satchel_lab.checking import check
from tests.functional.library import run, write_pack

HEAD = "---\nname: {name}\ndescription: {about}\n---\n\n# Forms\n\nDo it.\n"
ABOUT = "Manage the users of the site, one by one. Use when somebody asks for it."


@pytest.mark.row("F83")
@pytest.mark.parametrize(
    ("text", "offer"),
    [
        ("6. Fill in the form. Send it.", "Fill in the form."),
        ("12) Fill in the form", "Fill in the form"),
        (
            "Fill in a form, e.g. a tax form. Send it.",
            "Fill in a form, e.g. a tax form.",
        ),
        ("1. 2. Fill it in.", "2. Fill it in."),
        ("6.", ""),
        ("Forms", ""),
    ],
)
def test_what_a_text_offers_as_description_is_a_sentence(
    here: Path, text: str, offer: str
) -> None:
    write_pack(here / "skills/a", f"{text}\n")

    fixes = {f.code: f.fix for f in check(["skills"]).findings}

    fix = fixes["no-frontmatter"]
    assert fix.endswith(f'offers `description: "{offer}"`' if offer else "again")


@pytest.mark.row("F83")
@pytest.mark.parametrize(
    ("name", "fix"),
    [
        ("\u0430dmin", "give it a name of these"),
        ("\u7ba1\u7406 admin", "give it a name of these"),
        ("Gr\u00f6\u00dfe", "give it a name of these"),
        ("\u03bfrders", "give it a name of these"),
        ("\u00c4rger Amt", "write `name: arger-amt`"),
        ("PDF Forms", "write `name: pdf-forms`"),
    ],
)
def test_a_name_that_loses_letters_is_not_proposed(
    here: Path, name: str, fix: str
) -> None:
    write_pack(here / "skills/admin", HEAD.format(name=name, about=ABOUT))

    fixes = {f.code: f.fix for f in check(["skills"]).findings}

    assert fixes["name-characters"] == fix


@pytest.mark.row("F83")
@pytest.mark.parametrize("name", ["langchain", "cursor", "zed"])
def test_an_unknown_loader_is_told_the_known_ones(here: Path, name: str) -> None:
    write_pack(here / "skills/a", HEAD.format(name="a", about=ABOUT))

    done = run("check", "skills", "--for", name)

    assert done.exit_code == 2
    assert f"no loader '{name}'; known are agent-framework, " in done.stderr
    assert "vs-code" in done.stderr


@pytest.mark.row("F83")
@pytest.mark.parametrize("columns", [60, 80, 100])
@pytest.mark.parametrize("command", ["list", "cost", "eval"])
def test_no_word_is_broken_at_the_edge(here: Path, command: str, columns: int) -> None:
    write_pack(here / "skills/users", HEAD.format(name="users", about=ABOUT))
    cases = {"evals": [{"query": "who may log in", "should_trigger": True}]}
    write_pack(
        here / "skills/users",
        (here / "skills/users/SKILL.md").read_text(),
        {"evals/evals.json": json.dumps(cases)},
    )

    whole = set(run(command, "skills", width=None).stdout.split())
    cut = run(command, "skills", width=columns).stdout

    assert all(len(line) <= columns for line in cut.splitlines())
    words = {word.removesuffix("\u2026").rstrip(".,") for word in cut.split()}
    assert words - {""} <= {word.rstrip(".,") for word in whole}


@pytest.mark.row("F83")
def test_doctor_says_what_all_in_full_takes(here: Path) -> None:
    for at in range(60):
        about = f"Number {at}: {ABOUT} " + "It knows each rule of the office. " * 12
        write_pack(here / f"skills/s{at}", HEAD.format(name=f"s{at}", about=about))

    done = run("doctor", "skills", width=None)

    (line,) = [one for one in done.stdout.splitlines() if "some are cut" in one]
    full = int(
        line.rpartition("take ")[2].partition(" ")[0].strip(",").replace(",", "")
    )
    spent = int(line.split()[0].replace(",", ""))
    assert full > 4_000 > spent
    assert "raise the budget" not in done.stdout
