"""What an index offers: which skills, as what, and the two forms of it."""

import gzip
from dataclasses import replace

import pytest

from satchel.files import digest_bytes
from satchel.model import Descriptor, FileStat, Limits, Origin
from satchel_store.release import (
    Artifact,
    artifact_bytes,
    index_v1,
    index_v2,
    plan_publication,
)
from satchel_store.release._discovery_index import SCHEMA_V2

ORIGIN = Origin("skills", "x", "skills/x")


def entry(skill_id: str, description: str = "Use it.", *others: str) -> Descriptor:
    return Descriptor(skill_id, description, origins=(ORIGIN,), others=others)


def test_a_pack_of_one_file_is_that_file_and_every_other_an_archive() -> None:
    plan = plan_publication([entry("b", "Use b.", "z.md", "a.md"), entry("a")])

    assert plan.artifacts == (
        Artifact("a", "Use it.", ("SKILL.md",)),
        Artifact("b", "Use b.", ("SKILL.md", "a.md", "z.md")),
    )
    assert [artifact.type for artifact in plan.artifacts] == ["skill-md", "archive"]
    assert [artifact.path for artifact in plan.artifacts] == ["a/SKILL.md", "b.tar.gz"]
    assert [artifact.media_type for artifact in plan.artifacts] == [
        "text/markdown; charset=utf-8",
        "application/gzip",
    ]
    assert plan.findings == ()


@pytest.mark.parametrize(
    "name",
    ["", "A", "a_b", "-a", "a-", "a--b", "a" * 65, "a\n", "a/b", "ü", ".."],
    ids=repr,
)
def test_names_that_no_index_takes(name: str) -> None:
    """A client would drop them without a word."""
    plan = plan_publication([entry(name)])

    assert plan.artifacts == ()
    good = ("a", "3d", "pdf-forms", "a" * 64)
    assert len(plan_publication(map(entry, good)).artifacts) == len(good)
    [result] = plan.findings
    assert (result.code, result.severity) == ("not-publishable", "warning")
    assert result.path == "skills/x/SKILL.md"
    assert result.fix


@pytest.mark.parametrize(
    ("description", "problem"),
    [
        ("", "no description"),
        (" \n", "no description"),
        ("d" * 1_024, ""),
        ("d" * 1_025, "1,025 characters"),
    ],
    ids=["empty", "blank", "longest", "longer"],
)
def test_descriptions_have_1_to_1024_characters(description: str, problem: str) -> None:
    plan = plan_publication([entry("a", description)])

    assert len(plan.artifacts) == (not problem)
    assert all(problem in finding.message for finding in plan.findings)


def test_a_pack_with_a_path_that_no_archive_takes_is_not_offered() -> None:
    plan = plan_publication([entry("a", "Use it.", "n" * 101), entry("b")])

    assert [artifact.id for artifact in plan.artifacts] == ["b"]
    assert "too long for a USTAR archive" in plan.findings[0].message


def test_a_pack_with_a_file_that_is_never_read_is_not_offered() -> None:
    [finding] = plan_publication([Descriptor("A", "Use it.")]).findings
    assert finding.path == "", "it has no origin"
    large = replace(entry("a", "Use it.", "x.bin"), files=(FileStat("x.bin", 9),))

    plan = plan_publication([large, entry("b")], limits=Limits(file_bytes=8))

    assert [artifact.id for artifact in plan.artifacts] == ["b"]
    assert "x.bin has 9 bytes" in plan.findings[0].message
    assert len(plan_publication([large]).artifacts) == 1


def test_indexes_have_the_fields_of_their_versions_and_no_others() -> None:
    plan = plan_publication([entry("b", "Use b.", "a.md"), entry("a")])
    entries = [
        artifact.entry(f"sha256:{artifact.id}") for artifact in reversed(plan.artifacts)
    ]
    assert plan.artifacts[0].entry("d", "/x/a/SKILL.md").url == "/x/a/SKILL.md"

    assert index_v2(entries) == {
        "$schema": SCHEMA_V2,
        "skills": [
            {
                "name": "a",
                "type": "skill-md",
                "description": "Use it.",
                "url": "a/SKILL.md",
                "digest": "sha256:a",
            },
            {
                "name": "b",
                "type": "archive",
                "description": "Use b.",
                "url": "b.tar.gz",
                "digest": "sha256:b",
            },
        ],
    }
    assert index_v1(entries) == {
        "skills": [
            {"name": "a", "description": "Use it.", "files": ("SKILL.md",)},
            {"name": "b", "description": "Use b.", "files": ("SKILL.md", "a.md")},
        ]
    }


def test_an_artifact_is_the_file_or_an_archive_with_skill_md_at_its_root() -> None:
    files = {"SKILL.md": b"# Do\n", "a.md": b"a"}
    alone = Artifact("a", "", ("SKILL.md",))
    both = Artifact("a", "", ("SKILL.md", "a.md"))

    assert artifact_bytes(alone, files.__getitem__) == b"# Do\n"
    archive = artifact_bytes(both, files.__getitem__)
    assert gzip.decompress(archive).startswith(b"SKILL.md\0")
    assert digest_bytes(archive) == digest_bytes(
        artifact_bytes(both, files.__getitem__)
    )
