"""``satchel diff``: what changed between packs, by sections."""

import json
from pathlib import Path
from typing import Any

import pytest

from satchel_lab.authoring import compare_places
from satchel_store.archives import zip_pack
from tests.functional.library import HOSTILE_BYTES, run, run_process, tree, write_pack

OLD = """\
---
name: alpha
description: Use alpha when testing.
license: MIT
metadata:
  owner: ann
  tags: [a, b]
---
# Alpha

One.
Two.
"""
NEW = """\
---
name: alpha
description: Use alpha later.
version: 1.10
metadata:
  tags: [a]
  more:
    deep: true
---
# Alpha

One.
Three."""


@pytest.fixture(autouse=True)
def packs(here: Path) -> None:
    files = {"references/a.md": "a\n", "references/gone.md": "x\n", "logo.png": "\0a"}
    write_pack(here / "old/alpha", OLD, files)
    files = {"references/a.md": "b\n", "scripts/new.py": "1\n", "logo.png": "\0b"}
    write_pack(here / "new/alpha", NEW, files)
    for side in ("old", "new"):
        text = OLD.replace("alpha", "same").replace("Alpha", "Same")
        write_pack(here / side / "same", text)


@pytest.mark.row("E09")
def test_every_section_is_reported() -> None:
    result = run("diff", "old/alpha", "new/alpha")

    assert result.exit_code == 1
    lines = result.stdout.splitlines()
    assert lines[:8] == [
        "alpha: changed",
        "manifest",
        "  ~ description: Use alpha when testing. -> Use alpha later.",
        "  - license: MIT",
        "  - metadata.owner: ann",
        '  ~ metadata.tags: ["a", "b"] -> ["a"]',
        "  + metadata.more.deep: true",
        "  + version: 1.10",
    ]
    assert lines[8:17] == [
        "body",
        "  @@ -1,4 +1,4 @@",
        "   # Alpha",
        "   ",
        "   One.",
        "  -Two.",
        "  +Three.",
        "  \\ No newline at end of file",
        "files",
    ]
    assert lines[17].startswith("  ~ logo.png (2 bytes) sha256:")
    assert lines[18:22] == [
        "  ~ references/a.md (2 bytes)",
        "    @@ -1 +1 @@",
        "    -a",
        "    +b",
    ]
    assert lines[22].startswith("  - references/gone.md (2 bytes)")
    assert lines[25].startswith("  + scripts/new.py (2 bytes)")
    assert lines[28] == "digest"
    assert lines[29].endswith("  old/alpha")
    assert lines[30].endswith("  new/alpha")
    assert lines[31] == "tokens"
    assert lines[32].startswith("  catalog ")
    assert len(lines) == 33


def test_equal_packs_are_silent() -> None:
    for arguments in (["old", "old"], ["old/same", "new/same", "--stat"]):
        result = run("diff", *arguments)
        assert (result.exit_code, result.output) == (0, "")


def test_folders_are_compared_by_name(here: Path) -> None:
    write_pack(here / "old/lost", OLD.replace("alpha", "lost"))
    write_pack(here / "new/found", OLD.replace("alpha", "found"), {"a.md": "a"})
    result = run("diff", "old", "new", "--stat")

    assert result.exit_code == 1
    assert [line.partition(",")[0] for line in result.stdout.splitlines()] == [
        "~ alpha: manifest 6",
        "+ found: tokens catalog 0 -> 24",
        "- lost: tokens catalog 24 -> 0",
    ]
    whole = run("diff", "old", "new").stdout
    assert "found: added\n" in whole
    assert "  + a.md (1 bytes) sha256:" in whole
    assert "lost: removed\n" in whole


def test_json_says_the_same() -> None:
    result = run("diff", "old", "new", "--json")
    document: dict[str, Any] = json.loads(result.stdout)
    alpha, same = document["packs"]

    assert result.exit_code == 1
    assert document["schema_version"] == 1
    assert (alpha["name"], alpha["change"]) == ("alpha", "changed")
    assert (same["name"], same["change"]) == ("same", "equal")
    assert alpha["old"]["path"] == "old/alpha"
    assert alpha["old"]["catalog_tokens"] > alpha["new"]["catalog_tokens"]
    assert {"field": "license", "change": "removed", "old": "MIT", "new": None} in (
        alpha["manifest"]
    )
    by_path = {item["path"]: item for item in alpha["files"]}
    assert by_path["scripts/new.py"]["old"] is None
    assert by_path["scripts/new.py"]["new"]["size"] == 2
    assert by_path["logo.png"]["diff"] == []
    assert by_path["references/a.md"]["diff"] == ["@@ -1 +1 @@", "-a", "+b"]


def test_archives_and_skill_files_are_packs_too(here: Path) -> None:
    (here / "a.skill").write_bytes(zip_pack("alpha", tree(here / "new/alpha")))

    assert run("diff", "a.skill", "new/alpha/SKILL.md").exit_code == 0
    assert run("diff", "old/alpha", "a.skill").exit_code == 1
    # Two single packs are compared whatever their names are.
    renamed = run("diff", "old/same", "new/alpha").stdout
    assert renamed.startswith("alpha: changed\n")


def test_another_spelling_of_the_same_is_reported(here: Path) -> None:
    text = OLD.replace("license: MIT", 'license: "MIT" # free')
    write_pack(here / "other/alpha", text)
    write_pack(here / "plain/alpha", OLD)
    result = run("diff", "plain", "other")

    assert result.exit_code == 1
    assert "SKILL.md means the same in other bytes" in result.stdout


def test_a_field_that_becomes_a_mapping_is_one_change(here: Path) -> None:
    write_pack(here / "p/alpha", "---\nname: alpha\nmetadata: x\n---\n")
    write_pack(here / "q/alpha", "---\nname: alpha\nmetadata: {a: true}\n---\n")
    (diff,) = compare_places("p", "q")

    assert [(c.field, c.old, c.new) for c in diff.manifest] == [
        ("metadata", "x", {"a": True})
    ]


def test_frontmatter_that_cannot_be_read_is_compared_as_text(here: Path) -> None:
    write_pack(here / "p/alpha", "---\n&a\n---\none\n")
    write_pack(here / "q/alpha", "---\n&a\n---\ntwo\n")
    (diff,) = compare_places("p", "q")

    assert diff.name == "alpha"
    assert diff.manifest == ()
    assert "-one" in diff.body


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("old", "empty", "no folder with a SKILL.md"),
        ("bad.skill", "new", "the archive is not unpacked"),
        ("", "new", "empty"),
        ("twice", "new", "duplicate skill 'alpha'"),
    ],
)
def test_what_cannot_be_compared_is_status_2(
    here: Path, old: str, new: str, message: str
) -> None:
    write_pack(here / "twice/a", OLD)
    write_pack(here / "twice/b", OLD)
    (here / "empty").mkdir()
    (here / "bad.skill").write_text("no")
    result = run("diff", old, new)

    assert result.exit_code == 2
    assert message in result.stderr


def test_one_pack_alone_is_not_enough() -> None:
    result = run("diff", "old")

    assert result.exit_code == 2
    assert "error: missing argument 'NEW'" in result.stderr


@pytest.mark.row("G17")
def test_no_control_character_reaches_a_terminal(here: Path) -> None:
    hostile = HOSTILE_BYTES.decode("utf-8", "replace")
    text = f"---\nname: alpha\ndescription: {json.dumps(hostile)}\n---\n{hostile}"
    write_pack(here / "p/alpha", text, {"a.md": hostile})
    write_pack(here / "q/alpha", OLD, {"a.md": "b"})
    for arguments in ([], ["--stat"], ["--json"]):
        result = run("diff", "p", "q", *arguments)
        assert result.exit_code == 1
        assert "\x1b" not in result.stdout
        assert "\u202e" not in result.stdout


def test_the_order_does_not_depend_on_the_hash_seed() -> None:
    one, other = (
        run_process("diff", "old", "new", env={"PYTHONHASHSEED": seed}).stdout
        for seed in ("0", "1")
    )

    assert one == other
