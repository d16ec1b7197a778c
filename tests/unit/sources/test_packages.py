"""Skills of installed packages: in their folders, and from entry points."""

import json
import logging
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import ClassVar

import pytest

from satchel import sources
from satchel.errors import SkillError, SourceUnavailableError
from satchel.model import Finding, Found
from satchel_compat import LegacySourceAdapter
from tests.unit.sources.trees import keys, pack, told

Install = Callable[..., None]


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of installed packages, first on the path."""
    root = tmp_path / "site"
    root.mkdir()
    monkeypatch.syspath_prepend(root)
    return root


def write_info(site: Path, name: str, version: str, **files: str) -> Path:
    """Write what an installer says about a distribution."""
    info = site / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir()
    head = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    for file, text in {"METADATA": head, **files}.items():
        (info / file.replace("_DOT_", ".")).write_text(text)
    return info


def install(site: Path, name: str, *packs: str, record: str = "", **files: str) -> None:
    """Write a distribution that brings packs along, and says so in its RECORD."""
    lines = [record] if record else []
    for key in packs:
        pack(site, key, "references/a.md")
        lines += [f"{key}/SKILL.md,sha256=x,1", f"{key}/references/a.md,,"]
    write_info(site, name, "1.2", RECORD="\n".join([*lines, "METADATA,,"]), **files)


@pytest.mark.row("C37")
def test_the_skills_of_one_package(site: Path) -> None:
    """At its top or in a package; distribution and version are the origin."""
    there = [".agents/skills/testing", "fastapi/.agents/skills/routing"]
    install(site, "Fast-API", *there)
    install(site, "other", ".agents/skills/foreign")
    source = sources.package("fast.api")
    found = [item for item in source.scan() if isinstance(item, Found)]

    assert source.label == "Fast-API==1.2"
    assert [(item.key, item.location) for item in found] == [
        (key, f"Fast-API==1.2/{key}") for key in there
    ]
    assert source.read(found[1].key, "references/a.md", 99).startswith(b"---")


def test_all_packages_are_found_only_when_asked_for(
    site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A broken one costs nobody else; of two of one name the first counts."""
    install(site, "b", "b/.agents/skills/x")
    install(site, "a", "a/.agents/skills/x", "a/.agents/skills/x/examples/inner")
    install(site, "without")
    (site / "broken-1.dist-info").mkdir()

    assert [(source.label, keys(source)) for source in sources.packages()] == [
        ("a==1.2", ["a/.agents/skills/x"]),
        ("b==1.2", ["b/.agents/skills/x"]),
    ]
    assert [source.label for source in sources.packages(deny=["A"])] == ["b==1.2"]
    assert [source.label for source in sources.packages(only=["B"])] == ["b==1.2"]

    first = tmp_path / "first"
    first.mkdir()
    install(first, "A", "a/.agents/skills/y")
    monkeypatch.syspath_prepend(first)
    assert [source.label for source in sources.packages()] == ["A==1.2", "b==1.2"]


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


def test_a_pack_that_was_deleted_by_hand(site: Path) -> None:
    """RECORD still names it; the others are there, and it is told."""
    install(site, "a", "a/.agents/skills/gone", "a/.agents/skills/here")
    shutil.rmtree(site / "a/.agents/skills/gone")
    source = sources.package("a")

    assert keys(source) == ["a/.agents/skills/here"]
    assert told(source) == [
        ("error", "unreadable-folder", "a==1.2/a/.agents/skills/gone")
    ]


MODULE = '''\
"""What plug-ins of tests point at."""
import sys
from pathlib import Path
from satchel_compat import LocalDirSkillSource
from satchel.sources import memory

HERE = Path(__file__).parent
TEXT = "---\\nname: {0}\\ndescription: About {0}.\\n---\\n"

def folder():
    return LocalDirSkillSource(HERE / "packs", source_name="plugin:my-data-pack")

def other_label():
    return memory({"m": {"SKILL.md": TEXT.format("m")}}, label="plugin:my-data-pack")

ready = memory({"r": {"SKILL.md": TEXT.format("r")}}, label="own")

class AsClass(LocalDirSkillSource):
    def __init__(self):
        super().__init__(HERE / "packs")

class Skill:
    name, description, body = "old", "From the older protocol.", "# Old"
    references, scripts, assets = ("a.md", "none.md"), ["run.sh"], []
    version, author, trigger_keywords = "2.0", None, ["x: y"]

class Artifact:
    manifest = Skill()
    body = "# From an artifact"

class Older:
    name = "older"
    def iter_skills(self):
        return [Skill()]
    def read_reference(self, skill, file):
        if file == "none.md":
            raise FileNotFoundError(file)
        if file == "up":
            raise ValueError("escapes")
        return "guide"
    def read_script(self, skill, file):
        return b"echo"

def older():
    return Older()

def broken():
    raise RuntimeError("boom")

def leaves():
    sys.exit(3)

def wrong():
    return 42

number = 7
'''


@pytest.fixture
def install_plugins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Put distributions with entry points on the path."""
    (tmp_path / "plug.py").write_text(MODULE)
    pack(tmp_path, "packs/data", "references/a.md", "scripts/run.sh")
    monkeypatch.syspath_prepend(tmp_path)

    def write(**groups: dict[str, str]) -> None:
        lines: list[str] = []
        for group, points in groups.items():
            lines.append(f"[{group}.skill_sources]")
            lines += [f"{key} = {value}" for key, value in points.items()]
        write_info(tmp_path, "Plug_Pack", "1.0", entry_points_DOT_txt="\n".join(lines))

    monkeypatch.delitem(sys.modules, "plug", raising=False)
    return write


@pytest.mark.row("C38", "C39", "C40", "C41", "G11", "R22")
def test_a_plugin_is_read_like_a_source_of_ours(install_plugins: Install) -> None:
    """Its references and scripts, too; it is looked up at each call."""
    assert sources.load_plugin_sources() == []
    install_plugins(satchel={"data": "plug:folder"})
    (source,) = sources.load_plugin_sources()

    assert source.label == "plugin:my-data-pack"
    assert keys(source) == ["data"]
    assert source.read("data", "references/a.md", 99).startswith(b"---")
    assert source.read("data", "scripts/run.sh", 99).startswith(b"---")
    assert source.read_reference("data", "a.md").startswith("---")  # type: ignore[attr-defined]


@pytest.mark.row("C38", "R22")
@pytest.mark.parametrize(
    ("groups", "labels"),
    [
        (
            {
                "satchel": {"data": "plug:folder", "ready": "plug:ready"},
                "bernstein": {"data": "plug:folder", "klass": "plug:AsClass"},
            },
            ["plugin:my-data-pack", "plugin:klass", "plugin:ready"],
        ),
        (
            {"satchel": {"a": "plug:folder", "b": "plug:other_label"}},
            ["plugin:my-data-pack", "plugin:b=plug:other_label"],
        ),
    ],
    ids=["both groups", "one label"],
)
def test_which_entries_count_and_how_they_are_called(
    install_plugins: Install, groups: dict[str, dict[str, str]], labels: list[str]
) -> None:
    """One entry in both groups counts once; labels are kept apart."""
    install_plugins(**groups)

    assert [source.label for source in sources.load_plugin_sources()] == labels


@pytest.mark.row("C42", "X18")
@pytest.mark.parametrize(
    ("target", "reason"),
    [
        ("plug:broken", "RuntimeError: boom"),
        ("plug:leaves", "SystemExit: 3"),
        ("plug:wrong", "TypeError: expected a skill source"),
        ("plug:number", "TypeError: expected a skill source"),
        ("plug:none", "AttributeError"),
        ("no_such_module_x:y", "ModuleNotFoundError"),
    ],
)
def test_a_broken_plugin_is_skipped(
    install_plugins: Install, caplog: pytest.LogCaptureFixture, target: str, reason: str
) -> None:
    """With a warning in the log, and a finding; the others are there."""
    install_plugins(satchel={"bad": target, "good": "plug:folder"})
    with caplog.at_level(logging.WARNING, "satchel"):
        loaded = sources.load_plugin_sources()
    *found, skipped = sources.packages()
    (finding,) = skipped.scan()

    assert [source.label for source in loaded] == ["plugin:my-data-pack"]
    assert "skill source plug-in 'bad' was skipped" in caplog.text
    assert [source.label for source in found] == ["plugin:my-data-pack"]
    assert told(skipped) == [("warning", "plugin-skipped", "plugin:bad")]
    assert isinstance(finding, Finding)
    assert finding.message.startswith(
        f"plug-in 'bad' of plug-pack was skipped: {reason}"
    )


@pytest.mark.row("X24", "R22")
@pytest.mark.parametrize(
    "deny", ["data", "plugin:data", "plugin:my-data-pack", "plug-pack", "Plug_Pack"]
)
def test_the_deny_list(install_plugins: Install, deny: str) -> None:
    """By entry point, by label or by distribution."""
    install_plugins(satchel={"data": "plug:folder"})

    assert sources.load_plugin_sources(deny=[deny]) == []
    assert sources.packages(deny=[deny]) == []


@pytest.mark.row("R22")
@pytest.mark.parametrize("target", ["plug:older", "plug:Older"])
def test_objects_of_the_older_protocol(install_plugins: Install, target: str) -> None:
    install_plugins(bernstein={"legacy": target})
    (source,) = sources.load_plugin_sources()
    (found,) = source.scan()

    assert isinstance(found, Found)
    assert (source.label, found.key) == ("plugin:legacy", "old")
    assert found.location == "plugin:legacy/old"
    assert source.manifest("old") == (
        b'---\nname: "old"\ndescription: "From the older protocol."\nversion: "2.0"\n'
        b'trigger_keywords: ["x: y"]\nreferences: ["a.md", "none.md"]\n'
        b'scripts: ["run.sh"]\n---\n# Old'
    )
    assert source.read("old", "references/a.md", 9) == b"guide"
    assert source.read("old", "scripts/run.sh", 9) == b"echo"
    sizes = {"SKILL.md": 159, "references/a.md": 5, "scripts/run.sh": 4}
    assert {file.path: file.size for file in source.files("old")} == sizes


class Raising:
    """An older source whose members fail in their own ways."""

    name = "raising"
    answers: ClassVar[dict[str, object]] = {
        "value": ValueError("path escapes"),
        "type": TypeError("whatever"),
        "odd": 3.5,
        "gone": KeyError("gone"),
    }

    class Skill:
        """Has its fields on a manifest."""

        body = "text"
        manifest = SimpleNamespace(
            name="s",
            description="Something.",
            references=("value", "type", "odd", "gone"),
        )

    def __init__(self, *, dead: bool = False) -> None:
        self.dead = dead

    def iter_skills(self) -> list[object]:
        if self.dead:
            raise ConnectionError("offline")
        return [self.Skill()]

    def read_reference(self, _skill: str, file: str) -> object:
        answer = self.answers[file]
        if isinstance(answer, Exception):
            raise answer
        return answer


@pytest.mark.row("R22")
@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("references/value", "reference-escapes"),
        ("references/type", "reference-unreadable"),
        ("references/odd", "reference-unreadable"),
        ("references/gone", "reference-not-found"),
        ("scripts/x", "reference-not-found"),
    ],
)
def test_every_failure_is_one_of_ours(path: str, code: str) -> None:
    source = LegacySourceAdapter(Raising(), label="plugin:raising")
    with pytest.raises(SkillError) as caught:
        source.read("s", path, 99)

    assert caught.value.code == code
    assert [file.path for file in source.files("s")] == ["SKILL.md"]
    assert source.manifest("s") == (
        b'---\nname: "s"\ndescription: "Something."\n'
        b'references: ["value", "type", "odd", "gone"]\n---\ntext'
    )


def test_an_older_source_that_is_away() -> None:
    source = LegacySourceAdapter(Raising(dead=True), label="plugin:raising")
    with pytest.raises(SkillError, match="ConnectionError: offline"):
        source.scan()
    assert repr(source).startswith("LegacySourceAdapter(")
