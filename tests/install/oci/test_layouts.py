"""Layouts of others: an archive, a layer for each file, an image of one layer."""

import gzip
import io
import tarfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from satchel.errors import SkillError
from tests.functional.library import run
from tests.install.conftest import PACK
from tests.install.oci.conftest import MANIFEST, FakeRegistry, digest, opened, pushed

pytestmark = pytest.mark.slow

_EMPTY = {"mediaType": "application/vnd.oci.empty.v1+json", "size": 2}
FILES = {"SKILL.md": PACK.format("pdf"), "scripts/fill.py": "print('filled')\n"}
INDEX = "application/vnd.oci.image.index.v1+json"


def tar(files: Mapping[str, str | bytes], start: str = "") -> bytes:
    """Return files as a plain tar, as a layer of an image is."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as archive:
        for path, text in files.items():
            data = text.encode() if isinstance(text, str) else text
            member = tarfile.TarInfo(start + path)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return made.getvalue()


def put(
    fake: FakeRegistry,
    layers: list[tuple[bytes, str, str]],
    artifact_type: str = "",
    config: str = _EMPTY["mediaType"],  # type: ignore[assignment]
) -> str:
    """Put an artifact of layers (bytes, media type, title) under ``prod``."""
    rows: list[dict[str, Any]] = []
    for data, kind, title in layers:
        row: dict[str, Any] = {"mediaType": kind, **fake.put_blob(data)}
        if title:
            row["annotations"] = {"org.opencontainers.image.title": title}
        rows.append(row)
    head = {"schemaVersion": 2, "mediaType": MANIFEST, "layers": rows}
    settings = {"mediaType": config, **fake.put_blob(b"{}")}
    kinds = {"artifactType": artifact_type} if artifact_type else {}
    return fake.put("prod", {**head, "config": settings, **kinds})


# What each is called in the wild: the registry of Alibaba, one of many tools around
# ORAS, images that are made from scratch, and agentskills-oci.
ARCHIVE = "application/vnd.agent.skill.content.v1.tar+gzip"
LAYOUTS: dict[str, tuple[list[tuple[bytes, str, str]], str, str]] = {
    "one archive": (
        [(gzip.compress(tar(FILES)), ARCHIVE, "")],
        *("application/vnd.agent.skill.v1+json", str(_EMPTY["mediaType"])),
    ),
    "one archive in a folder": (
        [(gzip.compress(tar(FILES, "pdf/")), ARCHIVE, "pdf.tar.gz")],
        *("application/vnd.agent.skill.v1+json", str(_EMPTY["mediaType"])),
    ),
    "an image": (
        [(tar(FILES, "skills/pdf/"), "application/vnd.oci.image.layer.v1.tar", "")],
        *("", "application/vnd.oci.image.config.v1+json"),
    ),
    "an image of Docker's": (
        [
            (
                gzip.compress(tar(FILES, "pdf/")),
                *("application/vnd.docker.image.rootfs.diff.tar.gzip", ""),
            )
        ],
        *("", "application/vnd.docker.container.image.v1+json"),
    ),
    "a layer for each file": (
        [(text.encode(), "text/plain", path) for path, text in FILES.items()],
        *("application/vnd.agentskills.skill.v1", str(_EMPTY["mediaType"])),
    ),
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_layouts_of_others_load(name: str, fake: FakeRegistry) -> None:
    layers, kind, config = LAYOUTS[name]
    expected = put(fake, layers, kind, config)
    with opened(fake) as skills:
        assert not skills.registry.health().problems
        assert [entry.id for entry in skills.catalog.entries] == ["pdf"]
        assert skills.load("pdf").data.decode() == FILES["SKILL.md"]
        assert skills.load("pdf", "scripts/fill.py").text == FILES["scripts/fill.py"]
        assert skills.catalog.release == expected
        tree = skills.registry.digest(skills.registry.descriptor("pdf"))
    run("withdraw", fake.address(), tree)
    with opened(fake) as skills, pytest.raises(SkillError, match="withdrawn"):
        skills.load("pdf")


def test_an_index_of_one_leads_there(fake: FakeRegistry) -> None:
    layers, kind, config = LAYOUTS["an image"]
    inner = put(fake, layers, kind, config)
    entries = [
        {"digest": inner, "platform": {"os": "linux", "architecture": "amd64"}},
        {"digest": inner, "platform": {"os": "unknown", "architecture": "unknown"}},
    ]
    index = {"schemaVersion": 2, "mediaType": INDEX, "manifests": entries}
    outer = fake.put("prod", index, INDEX)
    with opened(fake) as skills:
        assert skills.load("pdf").data
        assert skills.catalog.release == outer
        before = len(fake.requests)
        skills.sync()
        assert not any("GET" in one for one in fake.requests[before:])


@pytest.mark.parametrize("name", ["evil", "../../other/manifests/prod", "sha256:0"])
def test_an_index_names_digests_alone(name: str, fake: FakeRegistry) -> None:
    """What is pinned must not lead to a tag, which anybody can move."""
    layers, kind, config = LAYOUTS["an image"]
    fake.manifests["evil"] = fake.manifests[put(fake, layers, kind, config)]
    index = {"schemaVersion": 2, "mediaType": INDEX, "manifests": [{"digest": name}]}
    outer = fake.put("prod", index, INDEX)
    with opened(fake, f"@{outer}") as skills:
        assert not skills.catalog.entries
        assert "manifests[0].digest" in skills.registry.health().problems[0]


def bomb() -> list[tuple[bytes, str, str]]:
    """Return an archive of 900 MB, which takes too long for a table to make."""
    return [(gzip.compress(bytes(900 * 1024 * 1024), 1), ARCHIVE, "")]


HOSTILE: dict[str, list[tuple[bytes, str, str]]] = {
    "a path above": [(b"x", "text/plain", "../SKILL.md")],
    "a path from the root": [(b"x", "text/plain", "/etc/SKILL.md")],
    "two layers of archives": [(tar(FILES), ARCHIVE, ""), (tar(FILES), ARCHIVE, "")],
    "no archive": [(b"x" * 600, ARCHIVE, "")],
    "a cut archive": [(gzip.compress(tar(FILES))[:-20], ARCHIVE, "")],
    "a member above": [(gzip.compress(tar(FILES, "../")), ARCHIVE, "")],
    "zstd": [(b"\x28\xb5\x2f\xfd" + bytes(600), f"{ARCHIVE[:-4]}zstd", "")],
    "release.json alone": [(b"{}", "application/json", "release.json")],
}


@pytest.mark.parametrize("name", [*HOSTILE, "a bomb"])
def test_hostile_artifacts_are_refused_with_a_reason(
    name: str, fake: FakeRegistry
) -> None:
    put(fake, HOSTILE[name] if name in HOSTILE else bomb())
    with opened(fake) as skills:
        assert not skills.catalog.entries
        (problem,) = skills.registry.health().problems
        assert fake.address() in problem


def test_a_release_whose_file_is_not_in_its_list(
    fake: FakeRegistry, library: Path
) -> None:
    pushed(fake, library)
    document = fake.manifest("prod")
    for layer in document["layers"]:
        if layer["annotations"]["org.opencontainers.image.title"].endswith(
            "pdf/SKILL.md"
        ):
            evil = PACK.format("pdf").encode() + b"Evil.\n"
            layer.update(fake.put_blob(evil))
            assert layer["digest"] == digest(evil)
    fake.put("prod", document)
    with opened(fake) as skills:
        with pytest.raises(SkillError, match=r"digest|bytes"):
            skills.load("pdf")
        assert skills.load("sql").data
