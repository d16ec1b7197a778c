"""The folder of role packs, with the members that users of it know."""

from pathlib import Path

import pytest

from satchel.errors import (
    ReferenceEscapesError,
    ReferenceNotAllowedError,
    ReferenceNotFoundError,
    SkillManifestError,
    SkillNotFoundError,
)
from satchel_compat import LocalDirSkillSource
from tests.unit.sources.trees import keys, pack, told


@pytest.mark.row("C37", "R29")
def test_one_level_and_no_more(tmp_path: Path) -> None:
    """Folders right below; a SKILL.md in the root makes no pack of it."""
    pack(tmp_path)
    pack(tmp_path, "backend")
    pack(tmp_path, "group/nested")
    (tmp_path / "flat.md").write_text("x")
    source = LocalDirSkillSource(tmp_path)

    assert keys(source) == ["backend"]
    assert told(source) == []


@pytest.mark.row("C39", "R19", "D34")
def test_names_of_a_folder_that_may_be_missing() -> None:
    default = LocalDirSkillSource("templates/skills")
    named = LocalDirSkillSource("x", source_name="plugin:my-data-pack")

    assert default.name == default.label == "local:templates/skills"
    assert named.name == named.label == "plugin:my-data-pack"
    assert not [*default.iter_skills(), *default.scan()]


@pytest.mark.row("C37")
def test_readers_and_lists(tmp_path: Path) -> None:
    """Each bucket has both, without a scan before."""
    pack(tmp_path, "qa", "references/b.md", "references/a.md", "scripts/run.sh")
    (tmp_path / "qa" / "assets").mkdir()
    (tmp_path / "qa" / "assets" / "x.txt").write_bytes(b"\xffA")
    source = LocalDirSkillSource(tmp_path)

    assert source.list_references("qa") == ["a.md", "b.md"]
    assert source.list_scripts("qa") == ["run.sh"]
    assert source.list_assets("qa") == ["x.txt"]
    assert source.read_reference("qa", "a.md").startswith("---")
    assert source.read_script("qa", "run.sh").startswith("---")
    assert source.read_asset("qa", "x.txt") == "\ufffdA"


@pytest.mark.row("A09")
def test_readers_stay_inside_and_say_what_is_missing(tmp_path: Path) -> None:
    source = LocalDirSkillSource(pack(tmp_path, "qa").parent)

    for file in ("../SKILL.md", "/etc/passwd", "..\\x", ""):
        with pytest.raises(ReferenceEscapesError):
            source.read_reference("qa", file)
    with pytest.raises(ReferenceNotFoundError):
        source.read_script("qa", "none.sh")
    with pytest.raises(SkillNotFoundError):
        source.read_script("nobody", "none.sh")
    with pytest.raises(SkillNotFoundError):
        source.list_references("nobody")


@pytest.mark.row("A08", "G08", "C11")
def test_a_reader_gives_what_the_manifest_lists_and_no_neighbour(
    tmp_path: Path,
) -> None:
    """In the two ways in which a manifest lists files; one without a list is open."""
    pack(tmp_path, "qa", "references/a.md", "references/hidden.md", "scripts/run.sh")
    skill = tmp_path / "qa/SKILL.md"
    source = LocalDirSkillSource(tmp_path)
    assert source.read_reference("qa", "hidden.md")

    for field in ("references: [a.md]", 'metadata: {references: "a.md"}'):
        skill.write_text(f"---\nname: qa\ndescription: Use it to test.\n{field}\n---\n")
        manifest = source.manifest_for("qa")
        assert manifest is not None
        assert manifest.references == ("a.md",)
        assert source.read_reference("qa", "a.md")
        with pytest.raises(ReferenceNotAllowedError):
            source.read_reference("qa", "hidden.md")
        with pytest.raises(ReferenceNotAllowedError):
            source.read_script("qa", "run.sh")
    assert source.manifest_for("none") is None


@pytest.mark.row("C37", "C17", "C18")
def test_whole_skills_and_a_pack_that_is_wrong(tmp_path: Path) -> None:
    folder = pack(tmp_path, "qa")
    text = "---\nname: qa\ndescription: Tests software with care.\n---\n\n# QA\n"
    (folder / "SKILL.md").write_text(text)
    (skill,) = LocalDirSkillSource(tmp_path).iter_skills()

    assert skill.manifest.name == "qa"
    assert skill.body == "# QA"
    assert skill.origin == f"{tmp_path}/qa/SKILL.md"
    (folder / "SKILL.md").write_text("no frontmatter")
    with pytest.raises(SkillManifestError) as caught:
        LocalDirSkillSource(tmp_path).iter_skills()
    assert caught.value.path == f"{tmp_path}/qa/SKILL.md"
