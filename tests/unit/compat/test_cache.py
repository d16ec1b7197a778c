"""What is read again, and what is not."""

import os
import shutil
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from satchel import resolve_role_prompt
from satchel.errors import SourceUnavailableError
from satchel.model import Finding, Found
from satchel_compat import (
    LocalDirSkillSource,
    RoleResolver,
    _role_functions as resolving,
)
from satchel_compat._role_library import RolePacks
from tests.fakes import FakeSource, in_threads, pack
from tests.unit.compat.templates import INDEX, edit, write_role


@pytest.mark.row("C19", "C23", "G12", "X15")
def test_an_unchanged_pack_is_parsed_once(templates: Path) -> None:
    """By the function as well, until the cache is invalidated."""
    for _ in range(2):
        assert str(resolve_role_prompt("backend", templates)) == INDEX
    resolver = resolving._resolver(templates, include_plugins=True, deny=())
    resolver.resolve("analyst", primary="body")
    resolver.resolve("vp", budget_tokens=20)
    resolver.build_index_only()
    assert resolver.parses == 2
    resolver.invalidate_cache()

    assert str(resolver.resolve("backend")) == INDEX
    assert resolver.parses == 4


@pytest.mark.row("C24", "X15", "G12")
def test_an_edit_inside_a_pack_is_seen_and_only_that_pack_parsed(
    templates: Path,
) -> None:
    """The time of ``skills`` itself stays as it was; a file next to SKILL.md counts."""
    skills = templates / "skills"
    before = skills.stat().st_mtime_ns
    resolver = RoleResolver(templates)
    resolver.resolve("backend")
    edit(skills / "analyst/SKILL.md", "Evaluate proposals", "Judge them")

    assert "- analyst: Judge them - feasib" in str(resolver.resolve("backend"))
    assert resolver.parses == 3
    (skills / "backend/references").mkdir()
    (skills / "backend/references/more.md").write_text("more")
    resolver.resolve("backend")
    assert resolver.parses == 4
    assert skills.stat().st_mtime_ns == before


@pytest.mark.row("C24", "X15")
def test_packs_that_come_and_go_are_seen(templates: Path) -> None:
    resolver = RoleResolver(templates)
    resolver.resolve("backend")

    write_role(templates, "vp", "Use when it gets big.")
    assert resolver.resolve("vp").source == "skill"
    shutil.rmtree(templates / "skills/vp")
    assert resolver.resolve("vp").source == "fallback"
    assert str(resolver.resolve("backend")) == INDEX
    shutil.rmtree(templates / "skills")
    assert resolver.resolve("backend").source == "fallback"
    write_role(templates, "backend")
    assert resolver.resolve("backend").source == "skill"


def test_plugins_are_asked_again_after_a_change_only(
    templates: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plugin = FakeSource("plugin:mine", {"vp": {"SKILL.md": pack("vp")}})
    monkeypatch.setattr(
        "satchel_compat._role_library.load_plugin_sources", lambda **_: [plugin]
    )
    resolver = RoleResolver(templates)
    for _ in range(3):
        resolver.resolve("vp")
    assert plugin.scans == 1

    write_role(templates, "qa")
    resolver.resolve("vp")
    assert plugin.scans == 2
    resolver.invalidate_cache()
    assert plugin.closed == 1
    resolver.resolve("vp")
    assert plugin.scans == 3


@pytest.mark.row("C23", "C24")
def test_many_threads_parse_once_and_see_the_same(templates: Path) -> None:
    resolver = RoleResolver(templates)
    together = threading.Barrier(8)
    seen: list[str] = []

    def spawn(_: int) -> None:
        together.wait()
        seen.extend(str(resolver.resolve("backend")) for _ in range(5))

    in_threads(spawn, range(8))

    assert seen == [INDEX] * 40
    assert resolver.parses == 2


class CoarseSource(LocalDirSkillSource):
    """On a file system whose times show no edit; counts how often one is read."""

    reads = 0
    settled = False

    def scan(self) -> tuple[Found | Finding, ...]:
        return tuple(
            replace(item, stamp="", settled=self.settled)
            if isinstance(item, Found)
            else item
            for item in super().scan()
        )

    def manifest(self, key: str) -> bytes:
        self.reads += 1
        return super().manifest(key)


def same_size_edit(file: Path, new: str) -> None:
    """Edit a file so that size, modification time and inode stay."""
    before = file.stat()
    file.write_text(new)
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    after = file.stat()
    assert (after.st_size, after.st_mtime_ns, after.st_ino) == (
        before.st_size,
        before.st_mtime_ns,
        before.st_ino,
    )


def taken_in(tree: RolePacks) -> object:
    """Look, and read every pack as a registry does; return what was seen."""
    seen = tree.look()
    for results in tree.scan():
        assert isinstance(results, Found)
        tree.manifest(results.key)
    return seen


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return write_role(tmp_path, "a", "One of equal size.")


@pytest.mark.row("X15")
def test_an_edit_that_bears_the_same_time_is_seen_by_its_bytes(file: Path) -> None:
    """As long as there is a doubt the file is hashed again, and not parsed."""
    source = CoarseSource(file.parents[1])
    tree = RolePacks(source)
    seen = taken_in(tree)

    assert tree.look() == tree.look() == seen
    assert (tree.parses, source.reads) == (1, 3)
    same_size_edit(file, file.read_text().replace("One", "Two"))
    edited = taken_in(tree)
    assert edited != seen
    assert tree.look() == edited


@pytest.mark.row("X15", "C23")
def test_where_there_is_no_doubt_nothing_is_read(file: Path) -> None:
    source = CoarseSource(file.parents[1])
    tree = RolePacks(source)
    seen = taken_in(tree)
    source.settled = True

    assert tree.look() == seen  # hashed a last time
    reads = source.reads
    assert tree.look() == tree.look() == seen
    assert source.reads == reads == 2


@pytest.mark.row("X15")
def test_a_modification_time_that_was_put_back_hides_no_edit(file: Path) -> None:
    """The time of its status change is newer."""
    tree = RolePacks(LocalDirSkillSource(file.parents[1]))
    seen = taken_in(tree)
    before = file.stat()
    while file.stat().st_ctime_ns == before.st_ctime_ns:
        same_size_edit(file, file.read_text().replace("One", "Two"))

    assert tree.look() != seen


def test_nothing_stays_of_packs_that_went(file: Path) -> None:
    tree = RolePacks(LocalDirSkillSource(file.parents[1]))
    taken_in(tree)
    file.parent.rename(file.parents[1] / "b")
    taken_in(tree)

    assert list(tree._digests) == list(tree._states) == ["b"]


def test_a_file_that_cannot_be_read_for_doubt_is_no_change(file: Path) -> None:
    class Closed(CoarseSource):
        def manifest(self, key: str) -> bytes:
            raise SourceUnavailableError(key, "closed")

    tree = RolePacks(Closed(file.parents[1]))
    seen = tree.look()
    with pytest.raises(SourceUnavailableError):
        taken_in(tree)

    assert tree.look() == seen


def test_a_pack_that_goes_while_it_is_looked_at_is_no_fault(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = LocalDirSkillSource(file.parents[1])
    results = source.scan()
    shutil.rmtree(file.parent)
    monkeypatch.setattr(source, "scan", lambda: results)

    tree = RolePacks(source)
    tree.look()

    assert [item.key for item in tree.scan() if isinstance(item, Found)] == ["a"]


def test_a_folder_that_cannot_be_listed_is_a_state(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The packs of its last good answer stay in use."""
    resolver = RoleResolver(file.parents[2])
    resolver.resolve("a")
    real = LocalDirSkillSource.scan

    def refuse(self: LocalDirSkillSource) -> None:
        raise SourceUnavailableError(self.label, "Input/output error")

    monkeypatch.setattr(LocalDirSkillSource, "scan", refuse)
    away = resolver.resolve("a")
    monkeypatch.setattr(LocalDirSkillSource, "scan", real)

    assert away.source == "skill"
    assert [f.code for f in away.findings] == ["source-unavailable"]
    assert resolver.resolve("a").findings == ()
    assert resolver.parses == 1
