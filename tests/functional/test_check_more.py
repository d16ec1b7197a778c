"""What a check says besides the rules: duplicates, key material, baselines, counts."""

import json
from pathlib import Path

import pytest

from satchel.checking import check
from tests.functional.library import run, write_pack
from tests.unit.checking.history import commit

PACK = "---\nname: {name}\n{about}{more}---\n# Forms\n\nDo it as {how} does.\n"
ABOUT = "description: Fills in PDF forms. Use when a form must be filled in.\n"


def put(
    folder: Path, place: str, name: str = "", more: str = "", about: str = ABOUT
) -> None:
    name = name or place.rpartition("/")[2]
    text = PACK.format(name=name, about=about, more=more, how=place)
    write_pack(folder / place, text, {})


def codes(folder: Path, code: str) -> list[str]:
    return [f.path for f in check([str(folder)]).findings if f.code == code]


@pytest.mark.row("F15", "C36")
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({}, {}),
        ({"more": "bogus: 1\n"}, {}),
        ({}, {"more": "bogus: [\n"}),
        ({"more": "license: [1]\n"}, {"more": "license: [1]\n"}),
        ({"about": ""}, {"about": ""}),
        ({"about": ""}, {"more": "version: [1]\n"}),
    ],
)
def test_a_name_claimed_twice_is_reported_whatever_else_is_wrong(
    tmp_path: Path, one: dict[str, str], other: dict[str, str]
) -> None:
    put(tmp_path, "a/forms", **one)
    put(tmp_path, "b/forms", **other)

    assert codes(tmp_path, "duplicate-skill") == [f"{tmp_path}/b/forms/SKILL.md"]


@pytest.mark.row("F15")
def test_a_misspelled_name_is_claimed_too(tmp_path: Path) -> None:
    put(tmp_path, "a/forms")
    write_pack(tmp_path / "b/forms", f"---\nName: forms\n{ABOUT}---\n# B\n\nDo.\n", {})

    assert codes(tmp_path, "duplicate-skill") == [f"{tmp_path}/b/forms/SKILL.md"]


@pytest.mark.row("F15")
def test_copies_and_files_without_frontmatter_claim_nothing(tmp_path: Path) -> None:
    for place in ("a/forms", "b/forms"):
        text = PACK.format(name="forms", about=ABOUT, more="bogus: 1\n", how="it")
        write_pack(tmp_path / place, text, {})
        write_pack(tmp_path / place.replace("forms", "none"), f"# {place}\n", {})

    assert codes(tmp_path, "duplicate-skill") == []


@pytest.mark.row("F15", "R28")
def test_key_material_is_named_without_what_it_holds(tmp_path: Path) -> None:
    put(tmp_path, "forms")
    (tmp_path / "forms/.env").write_text("TOKEN=hunter2\n", "utf-8")
    (tmp_path / "forms/keys").mkdir()
    (tmp_path / "forms/keys/id_rsa").write_text("hunter2\n", "utf-8")

    message = run("check", str(tmp_path)).stdout

    assert "key material (2 entries): .env, keys/id_rsa" in message
    assert "hunter2" not in message


@pytest.mark.row("F15")
@pytest.mark.parametrize("to", ["moved", "deep/er/moved", "."])
def test_a_baseline_holds_wherever_the_library_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, to: str
) -> None:
    monkeypatch.chdir(tmp_path)
    put(tmp_path, "lib/a/forms", more="bogus: 1\n")
    put(tmp_path, "lib/b/forms")
    names = run("check", "lib", "--format", "json").stdout
    (tmp_path / "known.json").write_text(names, "utf-8")
    if to == ".":
        monkeypatch.chdir(tmp_path / "lib")
    else:
        (tmp_path / to).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "lib").rename(tmp_path / to)

    result = run("check", to, "--baseline", str(tmp_path / "known.json"))

    assert result.exit_code == 0
    assert "no findings (2 more in the baseline)" in result.stdout
    assert "none of its" not in result.stderr


@pytest.mark.row("F15")
def test_a_baseline_that_matches_nothing_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    put(tmp_path, "lib/forms", more="bogus: 1\n")
    put(tmp_path, "other/mail", more="tags: 1\n")
    names = run("check", "lib", "--format", "json").stdout
    (tmp_path / "known.json").write_text(names, "utf-8")

    result = run("check", "other", "--baseline", "known.json")

    assert result.exit_code == 1
    assert "known.json: none of its 1 findings is here" in result.stderr


@pytest.mark.row("F15", "T17")
def test_a_baseline_of_before_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has no places: its paths are compared as they are printed."""
    monkeypatch.chdir(tmp_path)
    put(tmp_path, "lib/forms", more="bogus: 1\n")
    names = json.loads(run("check", "lib", "--format", "json").stdout)
    del names["places"]
    (tmp_path / "known.json").write_text(json.dumps(names), "utf-8")

    assert run("check", "lib", "--baseline", "known.json").exit_code == 0
    assert run("check", "./lib", "--baseline", "known.json").exit_code == 0


@pytest.mark.row("F55")
def test_every_command_counts_the_same_packs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Or says what makes the difference: refused, claimed twice, disabled, a copy."""
    monkeypatch.chdir(tmp_path)
    commit(tmp_path)
    for name in ("mail", "scan", "odd"):
        put(tmp_path, f"lib/{name}", more="bogus: 1\n" if name == "odd" else "")
    put(tmp_path, "lib/a/twice")
    put(tmp_path, "lib/b/twice")
    put(tmp_path, "lib/none", about="")
    for place in ("lib/c/copy", "lib/d/copy"):
        text = PACK.format(name="copy", about=ABOUT, more="", how="it")
        write_pack(tmp_path / place, text, {})
    message = (
        "8 packs: 4 skills listed; not listed: 2 of a name claimed twice, 1 refused, "
        "1 copy of another"
    )

    assert "8 packs checked" in run("check", "lib").stdout
    assert message in run("list", "--skills", "lib").stderr
    assert message in run("doctor", "--skills", "lib").stdout
    since = run("check", "lib", "--since", "HEAD").stdout
    assert "0 -> 4 skills" in since
    assert "4 of 8 packs not listed" in since
    assert "8 packs checked" in since


@pytest.mark.row("F55")
def test_where_all_are_listed_nothing_is_explained(tmp_path: Path) -> None:
    put(tmp_path, "mail")

    assert run("list", "--skills", str(tmp_path)).stderr == ""
    assert "  1 skill listed\n" in run("doctor", "--skills", str(tmp_path)).stdout
