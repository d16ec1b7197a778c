"""What a check says besides the rules: duplicates, key material, baselines, counts."""

import json
from pathlib import Path

import pytest

from satchel_lab.checking import check
from tests.functional.library import run, write_pack
from tests.unit.checking.history import commit

PACK = "---\nname: {name}\n{about}{more}---\n# Forms\n\nDo it as {how} does.\n"
ABOUT = "description: Fills in PDF forms. Use when a form must be filled in.\n"


def put(place: str, name: str = "", more: str = "", about: str = ABOUT) -> None:
    name = name or place.rpartition("/")[2]
    text = PACK.format(name=name, about=about, more=more, how=place)
    write_pack(Path(place), text)


def duplicates() -> list[str]:
    findings = [f for f in check(["."]).findings if f.code == "duplicate-skill"]
    assert {finding.fix for finding in findings} <= {"rename all but one"}
    return [finding.path for finding in findings]


def known(*paths: str) -> None:
    """Write the findings on these as a baseline."""
    names = run("check", *paths, "--format", "json").stdout
    Path("known.json").write_text(names, "utf-8")


@pytest.mark.row("F15", "C36")
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({}, {}),
        ({"more": "bogus: x\n"}, {}),
        ({}, {"more": "bogus: [\n"}),
        ({"more": "license: [1]\n"}, {"more": "license: [1]\n"}),
        ({"about": ""}, {"about": ""}),
        ({"about": ""}, {"more": "version: [1]\n"}),
        ({}, {"name": "none", "more": "Name: forms\n"}),
    ],
)
def test_a_name_claimed_twice_is_reported_whatever_else_is_wrong(
    one: dict[str, str], other: dict[str, str]
) -> None:
    put("a/forms", **one)
    put("b/forms", **other)
    skill = Path("b/forms/SKILL.md")
    skill.write_text(skill.read_text("utf-8").replace("name: none\n", ""), "utf-8")

    assert duplicates() == ["./b/forms/SKILL.md"]


@pytest.mark.row("F15")
def test_copies_and_files_without_frontmatter_claim_nothing() -> None:
    text = PACK.format(name="forms", about=ABOUT, more="bogus: x\n", how="it")
    for place in ("a", "b"):
        write_pack(Path(place, "forms"), text)
        write_pack(Path(place, "none"), f"# {place}\n")

    assert duplicates() == []


@pytest.mark.row("F15", "R28")
def test_key_material_is_named_without_what_it_holds() -> None:
    put("forms")
    write_pack(Path("forms/keys"), "", {"../.env": "hunter2\n", "id_rsa": "hunter2\n"})
    Path("forms/keys/SKILL.md").unlink()

    message = run("check", "forms").stdout

    assert "key material (2 entries): .env, keys/id_rsa" in message
    assert "hunter2" not in message


@pytest.mark.row("F15")
@pytest.mark.parametrize("to", ["moved", "deep/er/moved", "."])
def test_a_baseline_holds_wherever_the_library_is(
    here: Path, monkeypatch: pytest.MonkeyPatch, to: str
) -> None:
    put("lib/a/forms", more="bogus: x\n")
    put("lib/b/forms")
    known("lib")
    if to == ".":
        monkeypatch.chdir("lib")
    else:
        Path(to).parent.mkdir(parents=True, exist_ok=True)
        Path("lib").rename(to)

    result = run("check", to, "--baseline", str(here / "known.json"))

    assert result.exit_code == 0
    assert "no findings (2 more in the baseline)" in result.stdout
    assert "none of its" not in result.stderr


@pytest.mark.row("F15")
def test_a_baseline_that_matches_nothing_says_so() -> None:
    put("lib/forms", more="bogus: x\n")
    put("other/mail", more="tags: 1\n")
    known("lib")

    result = run("check", "other", "--baseline", "known.json")

    assert result.exit_code == 1
    assert "known.json: none of its 1 findings is here" in result.stderr


@pytest.mark.row("F15", "T17")
@pytest.mark.parametrize("path", ["lib", "./lib"])
def test_a_baseline_of_before_is_read(path: str) -> None:
    """It has no places: its paths are compared as they are printed."""
    put("lib/forms", more="bogus: x\n")
    known("lib")
    names = json.loads(Path("known.json").read_text("utf-8"))
    del names["places"]
    Path("known.json").write_text(json.dumps(names), "utf-8")

    assert run("check", path, "--baseline", "known.json").exit_code == 0


@pytest.mark.row("F55")
def test_every_command_counts_the_same_packs(here: Path) -> None:
    """Or says what makes the difference: refused, claimed twice, disabled, a copy."""
    commit(here)
    put("lib/mail")
    assert run("list", "--skills", "lib").stderr == ""
    assert "  1 skill listed\n" in run("doctor", "--skills", "lib").stdout
    for name in ("scan", "a/twice", "b/twice"):
        put(f"lib/{name}")
    put("lib/odd", more="bogus: x\n")
    put("lib/none", about="")
    for place in ("lib/c/copy", "lib/d/copy"):
        write_pack(
            Path(place), PACK.format(name="copy", about=ABOUT, more="", how="it")
        )
    message = (
        "8 packs: 4 skills listed; not listed: 2 of a name claimed twice, 1 refused, "
        "1 copy of another"
    )

    assert "8 packs checked" in run("check", "lib").stdout
    assert message in run("list", "--skills", "lib").stderr
    assert message in run("doctor", "--skills", "lib").stdout
    since = run("check", "lib", "--since", "HEAD").stdout
    for part in ("0 -> 4 skills", "4 of 8 packs not listed", "8 packs checked"):
        assert part in since
