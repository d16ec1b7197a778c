"""An edit is seen by the load that needs it: no sync in between, and no error."""

import asyncio
import os
import shutil
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from satchel import (
    Policy,
    Satchel,
    SkillLoader,
    SkillNotFoundError,
    ask,
    load_skill,
    sources,
)
from satchel.catalog._reread import PackRereader
from satchel.errors import (
    ChangedSinceSyncError,
    DeniedError,
    DigestMismatchError,
    ReferenceNotAllowedError,
    ReferenceNotFoundError,
    SkillError,
    SkillExcludedError,
)
from satchel.model import FileStat, Finding, Found, Question, Style, SyncReport
from satchel.policy import deny
from satchel.runtime._background_sync import BackgroundSync
from satchel.sources import LocalSource
from satchel.usage import ListSink
from tests.fakes import FakeSource, pack
from tests.unit.release.packs import build

pytestmark = pytest.mark.slow


def write(folder: Path, name: str, body: str = "# One\n", **more: str) -> Path:
    home = folder / name
    home.mkdir(parents=True, exist_ok=True)
    (home / "SKILL.md").write_text(pack(name, body=body, **more), "utf-8")
    return home


@pytest.fixture
def library(tmp_path: Path) -> Path:
    home = write(tmp_path, "sql")
    (home / "references").mkdir()
    (home / "references/a.md").write_text("A\n")
    write(tmp_path, "pdf")
    return tmp_path


@pytest.mark.row("F04", "T05", "D15", "X21")
def test_a_load_sees_an_edit_of_each_kind(library: Path) -> None:
    with Satchel(library) as skills:
        write(library, "sql", "# Two\n", description="Use for SQL.")
        loaded = skills.load("sql")
        assert (loaded.body, loaded.descriptor.description) == (
            "# Two\n",
            "Use for SQL.",
        )
        assert loaded.descriptor == skills.catalog.get("sql")

        (library / "sql/references/a.md").write_text("Other\n")
        assert skills.load("sql", "a.md").text == "Other\n"

        (library / "sql/references/b.md").write_text("B\n")
        assert skills.load("sql", "b.md").text == "B\n"

        (library / "sql/references/b.md").unlink()
        # The source is synced in the background after an edit, perhaps before this.
        gone = (ReferenceNotFoundError, ReferenceNotAllowedError)
        with pytest.raises(gone):
            skills.load("sql", "references/b.md")
        with pytest.raises(ReferenceNotAllowedError):
            skills.load("sql", "references/b.md")


@pytest.mark.row("F04", "T05")
@pytest.mark.parametrize("was_refused", [False, True])
def test_a_sync_that_has_read_an_edit_and_made_no_catalog_yet(
    library: Path, monkeypatch: pytest.MonkeyPatch, *, was_refused: bool
) -> None:
    """As in the thread of a sync that is under way: the load does not wait for it."""
    if was_refused:
        (library / "sql/SKILL.md").write_text("no manifest\n")
    with Satchel(library) as skills:
        write(library, "sql", "# Two\n")
        (library / "sql/references/b.md").write_text("B\n")
        with monkeypatch.context() as patch:
            patch.setattr(skills.registry, "_assemble", lambda: None)
            skills.registry.sync()

        assert skills.load("sql", "b.md").text == "B\n"
        assert skills.load("sql").body == "# Two\n"


@pytest.mark.row("F04", "T05", "D12")
def test_what_became_of_the_pack_is_told_by_the_error_that_fits(library: Path) -> None:
    write(library, "old")
    with Satchel(library) as skills:
        shutil.rmtree(library / "pdf")
        (library / "sql/SKILL.md").write_text("no manifest\n")
        write(library, "old", description="x\nname: new")  # the last name counts
        (library / "old/SKILL.md").write_text(pack("new"))

        with pytest.raises(ChangedSinceSyncError, match="no valid skill any more"):
            skills.load("sql")
        with pytest.raises(SkillExcludedError) as caught:
            skills.load("sql")
        assert caught.value.reason == "refused"
        for gone in ("pdf", "old"):
            with pytest.raises(SkillNotFoundError):
                skills.load(gone)

        (library / "sql/SKILL.md").write_text(pack("sql", body="# Fixed\n"))
        assert skills.load("sql").body == "# Fixed\n"
        assert [entry.id for entry in skills.catalog] == ["new", "sql"]
        assert skills.load("new").id == "new"


@pytest.mark.row("F04", "T05")
def test_what_decides_about_packs_decides_about_an_edited_one_again(
    library: Path,
) -> None:
    """Switches, the policy, and for whom it is."""
    policy = Policy(deny("secret"))
    with Satchel(library, disabled=["off*"], policy=policy) as skills:
        session = skills.session()
        (library / "sql/SKILL.md").write_text(pack("off"))
        with pytest.raises(SkillNotFoundError):
            skills.load("sql")
        with pytest.raises(SkillExcludedError):
            skills.load("off")

        (library / "sql/SKILL.md").write_text(pack("secret"))
        skills.sync()
        (library / "sql/SKILL.md").write_text(pack("secret", body="# New\n"))
        with pytest.raises(DeniedError):
            skills.load("secret")

        text = "name: pdf\ndescription: x\ndisable-model-invocation: true"
        (library / "pdf/SKILL.md").write_text(f"---\n{text}\n---\n")
        result = str(session.call("load_skill", {"skill_id": "pdf"}))
        assert result.startswith("Error: ")
        assert session.invoke("pdf").text


@pytest.mark.row("F04", "T05")
def test_every_front_sees_an_edit(
    library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sessions in each style, views, the older loader, the plain coroutine, copies."""
    # A load asks for a sync, which could see the first of two edits and not the second.
    monkeypatch.setattr(BackgroundSync, "ask", lambda *_: None)
    plugin_free = SkillLoader(
        [LocalSource(library)], include_plugins=False, profile="lenient"
    )
    with Satchel(library) as skills:
        styles: tuple[Style, ...] = ("lean", "agent-skills", "packs", "references")
        for number, style in enumerate(styles):
            session = skills.session(style=style)
            write(library, "sql", f"# Style {number}\n")
            name = next(t.name for t in session.tools() if t.name.startswith("load"))
            key = {"packs": "name", "references": "skill_name"}.get(style, "skill_id")
            assert f"# Style {number}" in str(session.call(name, {key: "sql"}))

        (library / "sql/references/new.md").write_text("New\n")
        write(library, "sql", "# View\n")
        result = asyncio.run(load_skill("sql", skills=skills))
        assert result["body"] == "# View\n"
        assert result["available_references"] == ["a.md", "new.md"]

        write(library, "sql", "# Again\n")
        assert skills.view().load("sql").body == "# Again\n"
        assert plugin_free.get("sql").body == "# Again\n"

        write(library, "sql", "# Manifest\n", description="Use it now.")
        assert skills.manifest("sql").description == "Use it now."

        write(library, "sql", "# Copy\n")
        (library / "sql/references/new.md").unlink()
        folder = skills.session().stage("sql")
        assert (folder / "SKILL.md").read_text().endswith("# Copy\n")
        assert [each.name for each in (folder / "references").iterdir()] == ["a.md"]


@pytest.mark.row("F04", "R25")
def test_a_manifest_of_bytes_is_of_one_state_of_the_pack(library: Path) -> None:
    with Satchel(library) as skills:
        write(library, "sql", "# Two\n")
        (library / "sql/references/a.md").write_text("Other\n")
        digests = {each.path: each.digest for each in skills.resources("sql")}

        assert digests == {path: skills.load("sql", path).digest for path in digests}
        assert skills.digest("sql") == Satchel(library).digest("sql")
    with Satchel(library) as skills:
        (library / "sql/references/a.md").write_text("Third\n")
        assert skills.view().resources("sql") == Satchel(library).resources("sql")


@pytest.mark.row("F04", "T05")
def test_an_edited_pack_is_one_event_one_question_and_no_news(library: Path) -> None:
    sink, asked = ListSink(), []

    def approve(question: Question) -> bool:
        asked.append(question.skill)
        return True

    with Satchel(library, sinks=[sink], policy=Policy(ask("sql"))) as skills:
        session = skills.session(approve=approve)
        write(library, "sql", "# Two\n")
        session.call("load_skill", {"skill_id": "sql"})

    assert [(e.name, e.error) for e in sink.events] == [("sql", None)]
    assert asked == ["sql"]

    with Satchel(library) as skills:
        session = skills.session()
        session.tools()
        write(library, "sql", "# Four\n")

        again = session.call("load_skill", {"skill_id": "sql"})
        assert "load it again" not in str(again)
        write(library, "sql", "# Three\n")
        skills.sync()
        assert "load it again" in str(session.call("load_skill", {"skill_id": "pdf"}))


class Counting(LocalSource):
    """Counts the manifests that were read, and waits where it is told to."""

    reads = 0
    scans = 0

    def manifest(self, key: str) -> bytes:
        self.reads += 1
        return super().manifest(key)

    def scan(self) -> tuple[Found, ...]:
        self.scans += 1
        return super().scan()  # type: ignore[return-value]


@pytest.mark.row("F04", "T05")
def test_loads_that_wait_share_one_reading(library: Path) -> None:
    source = Counting(library)
    with Satchel(source) as skills:
        write(library, "sql", "# Two\n")
        before = source.reads
        start = threading.Barrier(16)

        def load() -> str:
            start.wait()
            return skills.load("sql").body

        with ThreadPoolExecutor(16) as pool:
            bodies = {each.result() for each in [pool.submit(load) for _ in range(16)]}

        assert bodies == {"# Two\n"}
        # Two looks have to agree, and the sync behind it takes what they saw; it reads
        # once more what was written a moment ago, which is each of the two packs here.
        assert before + 2 <= source.reads <= before + 4


@pytest.mark.row("F04", "T05")
def test_only_the_edited_pack_is_read_and_its_source_is_synced_behind_it(
    library: Path, tmp_path: Path
) -> None:
    write(tmp_path / "elsewhere", "other")
    near, other = Counting(library, label="near"), Counting(tmp_path / "elsewhere")
    reports: list[SyncReport] = []
    skills = Satchel(near, other)
    stop = skills.listen(reports.append)
    write(library, "sql", "# Two\n")
    write(library, "fresh")
    skills.load("sql")
    skills.load("sql")
    skills._components.resync.wait()

    assert [(r.added, r.updated) for r in reports] == [(("fresh",), ("sql",))]
    assert (near.scans, other.scans) == (2, 1)
    stop()
    skills.close()
    write(library, "sql", "# Three\n")
    assert skills.load("sql").body == "# Three\n"
    assert near.scans == 2
    assert not [t for t in threading.enumerate() if t.name == "satchel-resync"]


@pytest.mark.row("F04", "T05")
def test_a_background_sync_is_one_at_a_time_and_ends_with_its_owner() -> None:
    seen: list[str] = []
    under_way, go_on = threading.Event(), threading.Event()
    at_once = 0

    def sync(label: str) -> None:
        nonlocal at_once
        at_once += 1
        assert at_once == 1
        seen.append(label)
        under_way.set()
        go_on.wait()
        at_once -= 1
        if label == "a":
            raise OSError("somebody who listens")

    resync = BackgroundSync(sync)
    for label in ("a", "b", "b", "c"):
        resync.ask(label)
    under_way.wait()
    closing = threading.Thread(target=resync.close)
    closing.start()
    go_on.set()
    closing.join()

    assert seen == ["a"]
    resync.ask("d")
    assert seen == ["a"]


@pytest.mark.row("F04", "T05", "D12")
def test_a_file_that_is_being_written_is_read_again(library: Path) -> None:
    """Half a file is no version of it: two looks have to agree."""
    path = library / "sql/SKILL.md"

    class Slow(LocalSource):
        looks = 0

        def manifest(self, key: str) -> bytes:
            data = super().manifest(key)
            if key == "sql":
                self.looks += 1
                states = ["", pack("sql", body="# Ha"), pack("sql", body="# Half\n")]
                if 1 < self.looks <= 1 + len(states):
                    path.write_text(states[self.looks - 2])
            return data

    with Satchel(Slow(library)) as skills:
        path.write_text("---\nname: sql\n")
        assert skills.load("sql").body == "# Half\n"


@pytest.mark.row("F04", "T05", "D12")
def test_a_sync_takes_no_half_written_pack_for_a_broken_one(library: Path) -> None:
    """One is half written and one away while they are scanned; one is really broken."""
    sql, pdf = library / "sql/SKILL.md", library / "pdf"

    class Meanwhile(LocalSource):
        looks = 0

        def scan(self) -> tuple[Found | Finding, ...]:
            sql.write_text("---\n")
            pdf.rename(library / ".away")
            return super().scan()

        def scan_one(self, key: str, location: str) -> Found | None:
            self.looks += 1
            if self.looks == 3:
                (library / ".away").rename(pdf)
                sql.write_text(pack("sql", body="# New\n"))
            return super().scan_one(key, location)

    write(library, "bad")
    source = Meanwhile(library)
    before = LocalSource.scan(source)
    assert len(before) == 3
    skills = Satchel(LocalSource(library, label="s"))
    skills.registry._scanners[0].source = source  # type: ignore[misc]
    (library / "bad/SKILL.md").write_text("broken\n")
    skills.sync()

    assert [entry.id for entry in skills.catalog] == ["pdf", "sql"]
    assert [held.descriptor.id for held in skills.catalog.excluded] == ["bad"]


@pytest.mark.row("F04", "T05", "X21")
def test_a_pack_that_never_settles_is_served_as_it_was_read(library: Path) -> None:
    """By rename: each look finds another file, and each of them is whole."""
    path = library / "sql/SKILL.md"
    bodies = [f"# {'x' * n}\n" for n in (5, 9)]

    class Hammered(LocalSource):
        reads = 0

        def manifest(self, key: str) -> bytes:
            self._write()
            return super().manifest(key)

        def read(self, key: str, path: str, limit_bytes: int) -> bytes:
            self._write()
            return super().read(key, path, limit_bytes)

        def _write(self) -> None:
            Hammered.reads += 1
            fresh = path.with_name(f"{threading.get_ident()}.new")
            fresh.write_text(pack("sql", body=bodies[self.reads // 2 % 2]))
            fresh.replace(path)

    with Satchel(Hammered(library)) as skills:
        for _ in range(3):
            assert skills.load("sql").body in bodies


@pytest.mark.row("F04", "T05", "D12", "X21")
@pytest.mark.parametrize("by_rename", [True, False])
def test_no_body_is_torn_while_a_thread_writes_without_a_pause(
    library: Path, by_rename: bool
) -> None:
    """By rename every load succeeds; in place some may say that the file changes."""
    path, done = library / "sql/SKILL.md", threading.Event()
    # Less than a page of memory: of more than that, the kernel itself shows a half.
    bodies = ["# One\n" * 450, "# Two\n" * 600]

    def write_on() -> None:
        while not done.is_set():
            for body in bodies:
                at = path.with_name("new") if by_rename else path
                at.write_text(pack("sql", body=body))
                if by_rename:
                    at.replace(path)

    with Satchel(library) as skills:
        path.write_text(pack("sql", body=bodies[0]))
        writer = threading.Thread(target=write_on)
        writer.start()
        seen: list[str] = []
        try:
            for _ in range(8):
                try:
                    seen.append(skills.load("sql").body)
                # A writer that a busy machine stops for long leaves half a file.
                except (ChangedSinceSyncError, SkillExcludedError):
                    assert not by_rename
        finally:
            done.set()
            writer.join()

        assert set(seen) <= set(bodies)
        assert skills.load("sql").body in bodies


@pytest.mark.row("F04", "X21")
def test_a_pack_that_is_another_at_each_look_keeps_the_error() -> None:
    source = FakeSource("s", {"a": {"SKILL.md": pack("a")}})
    count = iter(range(1000))

    class Restless(FakeSource):
        def read(self, key: str, path: str, limit_bytes: int) -> bytes:
            del path, limit_bytes
            return pack(key, body=f"{next(count)}").encode()

        def manifest(self, key: str) -> bytes:
            return pack(key, body="of the catalog").encode()

    restless = Restless("s", source.packs)
    with Satchel(restless) as skills, pytest.raises(ChangedSinceSyncError) as caught:
        skills.load("a")
    for word in ("sync", "restart", "install"):
        assert f"{word} again" not in str(caught.value)
        assert word != str(caught.value)


@pytest.mark.row("F04", "T05", "D15")
def test_an_edit_of_equal_size_and_time_is_seen_in_the_manifest(
    library: Path,
) -> None:
    path = library / "sql/SKILL.md"
    with Satchel(library) as skills:
        status = path.stat()
        path.write_text(path.read_text().replace("One", "Two"))
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))

        assert skills.load("sql").body == "# Two\n"


@pytest.mark.row("F04", "T05")
def test_a_source_that_looks_seldom_or_cannot_look_at_one_pack_is_asked_again(
    library: Path,
) -> None:
    with Satchel(sources.cached(LocalSource(library), ttl_s=1e9)) as skills:
        write(library, "sql", "# Two\n")
        assert skills.load("sql").body == "# Two\n"
        (library / "sql/references/a.md").write_text("Other\n")
        assert skills.load("sql", "a.md").text == "Other\n"

    source = FakeSource("s", {"a": {"SKILL.md": pack("a"), "references/r.md": "x"}})
    with Satchel(source) as skills:
        source.packs["a"]["SKILL.md"] = pack("a", body="# Two\n")
        assert skills.load("a").body == "# Two\n"

        source.packs["a"]["references/r.md"] = "y"
        assert skills.load("a", "r.md").text == "y"

        source.packs["a"]["SKILL.md"] = pack("a", body="# Three\n")
        source.failure = ValueError("a plug-in")
        with pytest.raises(SkillError) as caught:
            skills.load("a")
        assert caught.value.code == "source-unavailable"


@pytest.mark.row("F04", "T05")
def test_a_release_keeps_its_error(tmp_path: Path) -> None:
    build(
        {"sql": {"SKILL.md": pack("sql", body="# One\n").encode()}}, tmp_path / "dist"
    )
    with Satchel(tmp_path / "dist") as skills:
        text = next(tmp_path.rglob("dist/**/sql/SKILL.md"))
        text.chmod(0o644)
        text.write_bytes(text.read_bytes().replace(b"One", b"Two"))
        with pytest.raises(DigestMismatchError):
            skills.load("sql")


@pytest.mark.row("F04", "F41")
def test_a_list_waits_for_no_pack_that_is_being_written(library: Path) -> None:
    """Edited ones are in it as they are, and one that is gone or broken is left out."""
    write(library, "bad")
    waits: list[float] = []
    with Satchel(library) as skills:
        skills.registry._rereader = PackRereader(waits.append)
        view = skills.view().without_waiting
        write(library, "sql", "# Two\n")
        (library / "bad/SKILL.md").write_text("half")
        shutil.rmtree(library / "pdf")

        now = Satchel(library / "sql").resources("sql")
        assert view.resources("sql") == now
        assert view.load("sql", as_="look").body == "# Two\n"
        for gone in ("bad", "pdf"):
            with pytest.raises(SkillError):
                view.load(gone, as_="look")
        assert waits == []


def test_marks_of_a_file_are_told_as_by_a_scan(library: Path) -> None:
    source = LocalSource(library)
    found = {f.key: f for f in source.scan() if isinstance(f, Found)}

    for key, each in found.items():
        again = source.scan_one(key, each.location)
        assert again is not None
        assert replace(again, settled=each.settled) == each
        assert all(isinstance(stat, FileStat) for stat in each.files or ())


def moved(library: Path, *names: str) -> None:
    """Move the folder of each name to the next one, the last to the first."""
    (library / names[0]).rename(library / "away")
    for before, after in zip(names[:0:-1], (*names[:1], *names[:1:-1]), strict=True):
        (library / before).rename(library / after)
    (library / "away").rename(library / names[1 % len(names)])


@pytest.mark.row("T05", "F108")
@pytest.mark.parametrize("order", [("sql", "pdf"), ("pdf", "sql"), ("sql", "csv")])
@pytest.mark.parametrize(
    ("names", "new"),
    [
        (("sql", "pdf"), ""),
        (("sql", "pdf", "csv"), ""),
        (("sql",), "other"),
        (("sql", "pdf"), "group/other"),
    ],
    ids=["swapped", "rotated", "renamed", "replaced"],
)
def test_a_pack_that_moved_while_it_was_open_is_found_again(
    library: Path, names: tuple[str, ...], new: str, order: tuple[str, ...]
) -> None:
    """In another folder, also if its old one is taken; and each body is its own."""
    write(library, "csv", "# Csv\n")
    write(library, "pdf", "# Pdf\n")
    with Satchel(library) as skills:
        if new:
            (library / new).parent.mkdir(exist_ok=True)
            (library / "sql").rename(library / new)
            if len(names) > 1:
                (library / names[1]).rename(library / "sql")
        else:
            moved(library, *names)

        bodies = {"sql": "# One\n", "pdf": "# Pdf\n", "csv": "# Csv\n"}
        for name in (*order, *bodies):
            assert skills.load(name).body == bodies[name]
        assert [entry.id for entry in skills.catalog] == sorted(bodies)


@pytest.mark.row("T05", "F108")
def test_a_session_does_not_say_that_a_pack_that_moved_is_gone(library: Path) -> None:
    with Satchel(library) as skills:
        session = skills.session()
        session.call("load_skill", {"skill_id": "pdf"})
        moved(library, "sql", "pdf")
        text = str(session.call("load_skill", {"skill_id": "sql"}))

        assert "# One" in text
        assert "Gone" not in text


@pytest.mark.row("T05", "F108")
def test_what_is_really_gone_is_looked_for_once(library: Path) -> None:
    with Satchel(library) as skills:
        shutil.rmtree(library / "sql")
        for _ in range(2):
            with pytest.raises(SkillNotFoundError):
                skills.load("sql")
        assert skills.load("pdf").body == "# One\n"
