"""Skills that came with installed distributions."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from satchel import sources
from satchel.errors import SourceUnavailableError
from satchel.model import Found
from tests.unit.sources.trees import keys, pack, told

Install = Callable[..., Path]


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of installed packages, first on the path."""
    root = tmp_path / "site"
    root.mkdir()
    monkeypatch.syspath_prepend(root)
    return root


def install(site: Path, name: str, *packs: str, record: str = "", **files: str) -> Path:
    """Write a distribution that brings packs along, and says so in its RECORD."""
    info = site / f"{name.replace('-', '_')}-1.2.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.2\n"
    )
    lines = [record] if record else []
    for each in packs:
        pack(site, each, "references/a.md")
        lines += [f"{each}/SKILL.md,sha256=x,1", f"{each}/references/a.md,,"]
    (info / "RECORD").write_text("\n".join([*lines, f"{info.name}/METADATA,,"]))
    for file, text in files.items():
        (info / file.replace("_DOT_", ".")).write_text(text)
    return info


@pytest.mark.row("C37")
def test_the_skills_of_one_package(site: Path) -> None:
    """At its top or in a package; distribution and version are the origin."""
    install(
        site, "Fast-API", "fastapi/.agents/skills/routing", ".agents/skills/testing"
    )
    install(site, "other", ".agents/skills/foreign")
    source = sources.package("fast.api")
    found = [each for each in source.scan() if isinstance(each, Found)]

    assert source.label == "Fast-API==1.2"
    assert [(each.key, each.location) for each in found] == [
        (".agents/skills/testing", "Fast-API==1.2/.agents/skills/testing"),
        (
            "fastapi/.agents/skills/routing",
            "Fast-API==1.2/fastapi/.agents/skills/routing",
        ),
    ]
    assert source.read(found[1].key, "references/a.md", 99).startswith(b"---")


def test_all_packages_are_found_only_when_asked_for(site: Path) -> None:
    install(site, "b", "b/.agents/skills/x")
    install(site, "a", "a/.agents/skills/x", "a/.agents/skills/x/examples/inner")
    install(site, "without")

    assert [source.label for source in sources.packages()] == ["a==1.2", "b==1.2"]
    assert [keys(source) for source in sources.packages()] == [
        ["a/.agents/skills/x"],
        ["b/.agents/skills/x"],
    ]
    assert [source.label for source in sources.packages(deny=["A"])] == ["b==1.2"]
    assert [source.label for source in sources.packages(only=["B"])] == ["b==1.2"]


def test_the_first_of_two_installations_counts(
    site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As it does for an import."""
    install(site, "a", "a/.agents/skills/x")
    first = tmp_path / "first"
    first.mkdir()
    install(first, "A", "a/.agents/skills/y")
    monkeypatch.syspath_prepend(first)

    assert [source.label for source in sources.packages()] == ["A==1.2"]


def test_what_is_not_there(site: Path) -> None:
    install(site, "without")
    for name, reason in (("without", "without a folder"), ("none", "no distribution")):
        with pytest.raises(SourceUnavailableError, match=reason):
            sources.package(name)
        with pytest.raises(SourceUnavailableError, match=reason):
            sources.packages(only=[name])
    with pytest.raises(SourceUnavailableError, match="no distribution"):
        sources.package("")


def test_a_package_with_a_plugin_alone_is_enough(site: Path) -> None:
    (site / "plug_alone.py").write_text(
        "from satchel.sources import memory\nsource = memory({})\n"
    )
    points = "[satchel.skill_sources]\nx = plug_alone:source\n"
    install(site, "Plug.Alone", entry_points_DOT_txt=points)
    (source,) = sources.packages(only=["plug-alone"])

    assert source.label == "plugin:x"


@pytest.mark.row("A09")
@pytest.mark.parametrize(
    "record",
    [
        "../outside/.agents/skills/x/SKILL.md,,",
        "/outside/.agents/skills/x/SKILL.md,,",
        ".agents/skills/../../../outside/SKILL.md,,",
    ],
)
def test_a_record_that_points_elsewhere(site: Path, record: str) -> None:
    """Others write it; it names no folder outside of the installation."""
    pack(site.parent, "outside/.agents/skills/x")
    pack(site.parent, "outside")
    install(site, "evil", "evil/.agents/skills/good", record=record)

    assert keys(sources.package("evil")) == ["evil/.agents/skills/good"]


def test_editable_installations(
    site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They list no files: the folder is looked for where the package is imported."""
    src = tmp_path / "src"
    pack(src, "my_tool/.agents/skills/one")
    (src / "my_tool" / "__init__.py").touch()
    monkeypatch.syspath_prepend(src)
    direct = json.dumps({"url": "file:///x", "dir_info": {"editable": True}})
    install(site, "my-tool", direct_url_DOT_json=direct)
    install(site, "gone", direct_url_DOT_json=direct)
    install(site, "top", direct_url_DOT_json=direct, top_level_DOT_txt="my_tool\n")

    assert keys(sources.package("my-tool")) == ["my_tool/.agents/skills/one"]
    assert keys(sources.package("top")) == ["my_tool/.agents/skills/one"]
    with pytest.raises(SourceUnavailableError):
        sources.package("gone")


def test_a_broken_installation_costs_nobody_else(site: Path) -> None:
    (site / "broken-1.dist-info").mkdir()
    install(site, "a", "a/.agents/skills/x")

    assert [source.label for source in sources.packages()] == ["a==1.2"]


def test_a_pack_that_was_deleted_by_hand(site: Path) -> None:
    """RECORD still names it; the others are there, and it is told."""
    install(site, "a", "a/.agents/skills/gone", "a/.agents/skills/here")
    shutil.rmtree(site / "a/.agents/skills/gone")
    source = sources.package("a")

    assert keys(source) == ["a/.agents/skills/here"]
    assert told(source) == [
        ("error", "unreadable-folder", "a==1.2/a/.agents/skills/gone")
    ]
