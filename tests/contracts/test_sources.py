"""Every source and every wrapper of ours keeps the contract that others are held to."""

import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import pytest

from satchel import LocalDirSkillSource, Satchel, sources
from satchel.errors import ReferenceNotFoundError
from satchel.model import Limits
from satchel.protocols import SkillSource
from satchel.sources._packages import InstalledSource, PluginSource
from satchel.testing import Packs, SourceContract
from satchel_compat import LegacySourceAdapter, SkillDescriptor, SkillRegistry
from satchel_store.release import build_folder
from tests.unit.sources.mcp.serving import FakeServer

pytestmark = pytest.mark.row("R08")


def write(root: Path, packs: Packs) -> Path:
    """Write packs below ``root``, which is made."""
    root.mkdir(parents=True, exist_ok=True)
    for name, files in packs.items():
        for path, data in files.items():
            place = root / name / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(data)
    return root


class OnDisk(SourceContract):
    """Has a folder, and a path of imports, of its own for each test."""

    folder: Path
    path: pytest.MonkeyPatch

    @pytest.fixture(autouse=True)
    def _folder(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder, self.path = tmp_path, monkeypatch


class TestFolder(OnDisk):
    def make_source(self, packs: Packs) -> SkillSource:
        return sources.folder(write(self.folder / "skills", packs))


class TestNestedFolders(OnDisk):
    def make_source(self, packs: Packs) -> SkillSource:
        write(self.folder / "skills" / "a" / "b", packs)
        return sources.folder(self.folder / "skills")


class TestLinkedRoot(OnDisk):
    def make_source(self, packs: Packs) -> SkillSource:
        write(self.folder / "there", packs)
        (self.folder / "here").symlink_to("there")
        return sources.folder(self.folder / "here")


class TestLinkedPacks(OnDisk):
    """Each pack is a link at the root, to somewhere else."""

    def make_source(self, packs: Packs) -> SkillSource:
        there = write(self.folder / "there", packs)
        here = self.folder / "here"
        here.mkdir()
        for name in packs:
            (here / name).symlink_to(there / name)
        return sources.folder(here)


class TestLocalDir(OnDisk):
    def make_source(self, packs: Packs) -> SkillSource:
        return LocalDirSkillSource(write(self.folder / "skills", packs), "C")


class TestInstalled(OnDisk):
    def make_source(self, packs: Packs) -> SkillSource:
        write(self.folder / "lib" / ".agents" / "skills", packs)
        starts = tuple(f"lib/.agents/skills/{name}" for name in packs)
        starts = starts or ("lib/.agents/skills",)
        return InstalledSource(
            str(self.folder), starts, label="lib==1", limits=Limits()
        )


class TestMemory(SourceContract):
    def make_source(self, packs: Packs) -> SkillSource:
        return sources.memory(packs)


class TestRelease(OnDisk):
    number = 0

    def make_source(self, packs: Packs) -> SkillSource:
        self.number += 1
        out = self.folder / f"dist-{self.number}"
        with Satchel(sources.memory(packs)) as skills:
            build_folder(skills, out, allow_findings=True)
        return sources.released(out)


class TestZippedResource(OnDisk):
    number = 0

    def make_source(self, packs: Packs) -> SkillSource:
        TestZippedResource.number += 1  # a package is imported once in a process
        name = f"zipped_{TestZippedResource.number}"
        archive = self.folder / f"{name}.zip"
        with zipfile.ZipFile(archive, "w") as zipped:
            zipped.writestr(f"{name}/__init__.py", "")
            zipped.writestr(f"{name}/skills/", "")
            for pack, files in packs.items():
                for path, data in files.items():
                    zipped.writestr(f"{name}/skills/{pack}/{path}", data)
        self.path.syspath_prepend(archive)
        return sources.resource(name, "skills")


@dataclass
class Older:
    """A source as the earlier system knows it, over packs in memory."""

    packs: Packs
    name: str = "older"

    def iter_skills(self) -> list[SimpleNamespace]:
        return [
            SimpleNamespace(
                name=name,
                description="What it is for, in a sentence.",
                body="# Body\n",
                **{
                    bucket: [
                        path.removeprefix(f"{bucket}/")
                        for path in files
                        if path.startswith(f"{bucket}/")
                    ]
                    for bucket in ("references", "scripts", "assets")
                },
            )
            for name, files in self.packs.items()
        ]

    def _read(self, name: str, path: str) -> bytes:
        try:
            return self.packs[name][path]
        except KeyError:
            raise FileNotFoundError(path) from None

    def read_reference(self, name: str, file: str) -> bytes:
        return self._read(name, f"references/{file}")

    def read_script(self, name: str, file: str) -> str:
        return self._read(name, f"scripts/{file}").decode()

    def read_asset(self, name: str, file: str) -> bytes:
        return self._read(name, f"assets/{file}")


class TestOlderProtocol(SourceContract):
    exact = False

    def make_source(self, packs: Packs) -> SkillSource:
        return LegacySourceAdapter(Older(packs), label="plugin:older")


class TestRegistry(OnDisk):
    """Each top folder of a pack is a package; all of its files are references."""

    exact = False
    number = 0

    def make_source(self, packs: Packs) -> SkillSource:
        self.number += 1
        root = self.folder / str(self.number)
        for files in packs.values():
            inner = {path: data for path, data in files.items() if path != "SKILL.md"}
            write(root, {".": inner})
        self.path.syspath_prepend(root)
        return SkillRegistry(
            SkillDescriptor(name, "What it is for.", references=tuple(files))
            for name, files in packs.items()
        )


class TestMcp(SourceContract):
    """A server in this process, asked as any other is."""

    @pytest.fixture(autouse=True)
    def _close(self) -> Iterator[None]:
        self.opened: list[SkillSource] = []
        yield
        for source in self.opened:
            source.close()

    def make_source(self, packs: Packs) -> SkillSource:
        source = sources.mcp(FakeServer(packs).server())
        self.opened.append(source)
        return source


class TestWrappers(SourceContract):
    @pytest.fixture(
        autouse=True, params=["prefixed", "renamed", "cached", "only", "plugin"]
    )
    def _wrapper(self, request: pytest.FixtureRequest) -> None:
        self.wrapper = request.param

    def make_source(self, packs: Packs) -> SkillSource:
        inner = sources.memory(packs)
        make: dict[str, Callable[[], SkillSource]] = {
            "prefixed": lambda: sources.prefixed(inner, "team-"),
            "renamed": lambda: sources.renamed(inner, {"alpha": "omega"}),
            "cached": lambda: sources.cached(inner, 60.0),
            "only": lambda: sources.only(inner, ["a*"]),
            "plugin": lambda: PluginSource(inner, "plugin:x"),
        }
        return make[self.wrapper]()


class TestAllWrappersAtOnce(OnDisk):
    def make_source(self, packs: Packs) -> SkillSource:
        inner = sources.folder(write(self.folder / "skills", packs))
        return sources.only(sources.prefixed(sources.cached(inner, 1.0), "x-"), ["*"])


class Wrong(SourceContract):
    """A source that breaks the contract, to see that the contract notices."""

    def make_source(self, packs: Packs) -> SkillSource:
        return Careless(packs)


class Careless(sources.MemorySource):
    """Joins paths as they come, and changes line ends on the way."""

    def read(self, key: str, path: str, limit_bytes: int) -> bytes:  # noqa: ARG002
        data = self._packs[key].get(path.removeprefix("./"))
        if data is None:
            raise ReferenceNotFoundError(key, path)
        return data.replace(b"\r\n", b"\n")

    def files(self, key: str) -> tuple[()]:  # noqa: ARG002
        return ()


def test_the_contract_notices() -> None:
    """A test that cannot fail would prove nothing."""
    for test in (
        *("files", "bytes_come_back_exactly", "no_path_leaves_the_pack"),
        *("a_file_over_the_limit", "what_is_never_listed"),
    ):
        with pytest.raises(AssertionError):
            getattr(Wrong(), f"test_{test}")()
