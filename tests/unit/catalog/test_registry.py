"""The registry: what a sync takes in, keeps, reports and leaves alone."""

import os
import shutil
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest

from satchel import Options, Satchel
from satchel.catalog import CatalogRules, DisabledPattern, ParseOptions, Registry
from satchel.errors import DuplicateSkillError, SkillNotFoundError
from satchel.model import Manifest, OnConflict, SyncReport
from tests.fakes import FakeClock, FakeSource, RunningClock, away, pack


def registry(
    *sources: FakeSource,
    on_conflict: OnConflict = "error",
    disabled: tuple[str, ...] = (),
    clock: FakeClock | None = None,
    deadline_s: float = 5.0,
    accept: ParseOptions | None = None,
) -> Registry:
    return Registry(
        sources,
        accept=accept or ParseOptions(),
        rules=CatalogRules(
            on_conflict=on_conflict, disabled=tuple(map(DisabledPattern, disabled))
        ),
        clock=clock or FakeClock(),
        deadline_s=deadline_s,
    )


def one(label: str, name: str, **more: str) -> FakeSource:
    files: dict[str, str | bytes] = {"SKILL.md": pack(name, **more)}
    return FakeSource(label, {name: files})


@pytest.mark.row("D32", "D31", "D36", "D42")
def test_a_first_sync_adds_every_pack() -> None:
    """An entry has the manifest's name, its description and a hash of the file."""
    source = FakeSource(
        "s", {"b": {"SKILL.md": pack("b")}, "a": {"SKILL.md": pack("a")}}
    )
    kept = registry(source)

    report = kept.sync()

    assert (report.added, report.total) == (("a", "b"), 2)
    assert [entry.id for entry in kept.catalog] == ["a", "b"]
    entry = kept.catalog.entries[0]
    assert entry.description == "Use when testing."
    assert entry.digest == "sha256:" + sha256(pack("a").encode()).hexdigest()
    assert kept.last_updated("a") == 1000.0

    assert registry(FakeSource("s", {})).sync().total == 0


@pytest.mark.row("D36", "D31", "A19")
def test_an_entry_is_what_the_manifest_says_and_not_where_it_lies() -> None:
    """Name and description are those of the frontmatter; the hash is of every byte."""
    texts = [
        pack("named", "Use it so.", "# Do\n"),
        pack("named", "Use it so.", "# Do\n "),
        pack("named", "Use it so!", "# Do\n"),
        pack("named", "Use it so.", "# Do\n").replace("name:", "name: "),
    ]
    digests: set[str] = set()
    for text in texts:
        kept = registry(FakeSource("s", {"folder": {"SKILL.md": text}}))
        kept.sync()
        (entry,) = kept.catalog.entries
        assert (entry.id, entry.name) == ("named", "named")
        assert entry.description.startswith("Use it so")
        assert entry.origin.key == "folder"
        digests.add(entry.digest)

    assert len(digests) == len(texts)


@pytest.mark.row("G26", "D31", "D36", "D38", "G12", "X15")
def test_texts_that_agree_in_32_bits_of_their_hash_are_two() -> None:
    """An earlier hash of 8 hex digits would take this edit for none."""
    one, two = (pack("a", body=f"# {number:08}\n") for number in (10898, 36983))
    assert sha256(one.encode()).hexdigest()[:8] == sha256(two.encode()).hexdigest()[:8]
    source, clock = FakeSource("s", {"a": {"SKILL.md": one}}), FakeClock()
    kept = registry(source, clock=clock)
    kept.sync()
    before = kept.catalog.entries[0].digest
    clock.time += 5
    source.packs["a"]["SKILL.md"] = two

    assert kept.sync().updated == ("a",)
    assert kept.catalog.entries[0].digest != before
    assert kept.last_updated("a") == 1005.0


@pytest.mark.row("X15")
def test_an_edit_of_a_bundled_file_is_an_update() -> None:
    """Any edit inside a pack is seen, not only one of SKILL.md."""
    source = one("s", "a")
    source.packs["a"]["references/r.md"] = "old"
    kept = registry(source)
    kept.sync()
    source.packs["a"]["references/r.md"] = "new"

    assert kept.sync().updated == ("a",)


@pytest.mark.row("D39", "D43", "D31", "C23", "D41")
def test_a_sync_moves_the_dates_of_what_changed_alone() -> None:
    """An edit, an addition and a removal leave the date of a neighbour as it was."""
    source = FakeSource(
        "s", {name: {"SKILL.md": pack(name)} for name in ("kept", "edited", "gone")}
    )
    clock = FakeClock()
    kept = registry(source, clock=clock)
    kept.sync()
    clock.time += 5
    source.packs["edited"]["SKILL.md"] = pack("edited", body="# Otherwise\n")
    source.packs["new"] = {"SKILL.md": pack("new")}
    del source.packs["gone"]

    report = kept.sync()
    clock.time += 5
    again = kept.sync()

    assert report == SyncReport(("new",), ("edited",), ("gone",), ("kept",), 3)
    assert again == SyncReport(unchanged=("edited", "kept", "new"), total=3)
    dates = {name: kept.last_updated(name) for name in again.unchanged}
    assert dates == {"kept": 1000.0, "edited": 1005.0, "new": 1005.0}
    with pytest.raises(SkillNotFoundError):
        kept.last_updated("gone")
    assert source.manifests_read == 5  # three, and the two that are other ones


@pytest.mark.row("D43", "D16")
def test_repeated_syncs_are_equal() -> None:
    """Two registries over the same packs, and two syncs of one, agree."""
    packs: dict[str, dict[str, str | bytes]] = {
        name: {"SKILL.md": pack(name)} for name in ("c", "a", "b")
    }
    first, second = registry(FakeSource("s", packs)), registry(FakeSource("s", packs))
    first.sync()
    second.sync()
    second.sync()

    assert first.catalog == second.catalog


@pytest.mark.row("C36", "X04")
def test_two_owners_of_one_name_are_both_named() -> None:
    """Sync records the conflict; anyone who needs one answer gets the error."""
    kept = registry(one("first", "a"), one("second", "a", body="# Other\n"))
    kept.sync()

    assert kept.catalog.entries == ()
    assert [o.source for o in kept.catalog.conflicts[0].owners] == ["first", "second"]
    with pytest.raises(DuplicateSkillError, match=r"first/a and second/a"):
        kept.descriptor("a")


@pytest.mark.row("X04")
def test_a_chosen_precedence_keeps_the_shadowed_pack_visible() -> None:
    kept = registry(
        one("first", "a"),
        one("second", "a", body="# Other\n"),
        on_conflict="precedence",
    )
    kept.sync()

    assert kept.catalog.entries[0].source == "first"
    assert kept.catalog.conflicts[0].preferred == kept.catalog.entries[0]
    held = kept.catalog.exclusion_of("a")
    assert held is not None
    assert (held.reason, held.descriptor.source) == ("shadowed", "second")


@pytest.mark.parametrize("other", ["aaa", "zzz", "aaa/mine"])
def test_where_a_precedence_is_chosen_a_folder_keeps_its_own_name(other: str) -> None:
    """A pack cannot take the name of the one next to it by its location."""
    source = FakeSource(
        "s",
        {
            other: {"SKILL.md": pack("mine", "Use me in its place.")},
            "mine": {"SKILL.md": pack("mine")},
        },
    )
    kept = registry(source, on_conflict="precedence")
    kept.sync()

    assert [entry.origin.key for entry in kept.catalog] == ["mine"]
    assert [held.reason for held in kept.catalog.excluded] == ["shadowed"]


@pytest.mark.row("E01")
def test_what_escapes_of_yaml_hide_is_told() -> None:
    """No byte of the file shows it, so it is looked for in the values of all fields."""
    hidden = pack("a", '"x\\U000E0041\\U000E0042y"')
    plain = pack("b", '"a \\\\ and a caf\u00e9"')
    fields = 'x\nwhen_to_use: "a\\eb\\n"\nmetadata: {note: "\\u200b", n: 1}'
    packs = {"a": hidden, "b": plain, "c": pack("c", fields)}
    source = FakeSource("s", {key: {"SKILL.md": file} for key, file in packs.items()})
    kept = registry(source)
    kept.sync()

    assert {each.code for each in kept.catalog.findings} == {"hidden-text"}
    assert [(each.path, each.message) for each in kept.catalog.findings] == [
        ("s/a/SKILL.md", "description holds 2 tag characters, written as escapes"),
        ("s/c/SKILL.md", "when_to_use holds 1 control character, written as escapes"),
        ("s/c/SKILL.md", "note holds 1 zero-width character, written as escapes"),
    ]


@pytest.mark.row("D40")
def test_project_goes_before_user_whatever_the_order_or_the_dates() -> None:
    """Where every owner's source has a precedence, the lower number is kept."""
    user, project = one("user", "a"), one("project", "a", body="# Other\n")
    user.precedence, project.precedence = 2, 1  # type: ignore[attr-defined]
    kept = registry(user, project)
    kept.sync()

    assert kept.catalog.entries[0].source == "project"


def test_equal_packs_are_one_entry_and_other_files_a_conflict() -> None:
    """A folder that is linked twice is no conflict."""
    kept = registry(one("first", "a"), one("second", "a"))
    kept.sync()

    assert kept.catalog.conflicts == ()
    origins = kept.catalog.entries[0].origins
    assert [origin.source for origin in origins] == ["first", "second"]

    first, second = one("first", "a"), one("second", "a")
    first.packs["a"]["references/r.md"] = "one"
    second.packs["a"]["references/r.md"] = "two"
    kept = registry(first, second)
    kept.sync()

    assert len(kept.catalog.unresolved) == 1


@pytest.mark.row("C42", "E08")
def test_a_source_that_fails_or_goes_away_costs_nothing_but_its_own() -> None:
    """It is marked stale, with the age of the answer."""
    source, clock = one("s", "a"), FakeClock()
    kept = registry(source, clock=clock)
    kept.sync()
    source.failure = away("s")
    clock.time += 60

    report = kept.sync()

    assert report.unchanged == ("a",)
    health = kept.health().sources[0]
    assert (health.state.stale, health.age_s) == (True, 60.0)

    broken = FakeSource("broken", {})
    broken.failure = ZeroDivisionError("oops")
    kept = registry(one("good", "a"), broken)

    kept.sync()

    assert [entry.id for entry in kept.catalog] == ["a"]
    assert kept.catalog.sources[1].error == "the source raised ZeroDivisionError: oops"
    assert not kept.health().ok


def test_a_source_that_hangs_does_not_delay_the_others() -> None:
    """It keeps its one thread, and is taken in once it answers."""
    slow = one("slow", "b")
    slow.hold = threading.Event()
    kept = Registry(
        (one("good", "a"), slow),
        accept=ParseOptions(),
        rules=CatalogRules(),
        clock=RunningClock(),
        deadline_s=0.05,
    )
    kept.sync()

    assert [entry.id for entry in kept.catalog] == ["a"]
    assert kept.catalog.sources[1].error == "no progress for 0.05 s"
    kept.sync()
    assert slow.scans == 1

    slow.hold.set()
    for _ in range(100):
        kept.sync()
        if "b" in kept.catalog:
            break
    assert "b" in kept.catalog


@pytest.mark.row("X18", "R04")
def test_a_pack_that_cannot_be_used_hides_no_other() -> None:
    """Without frontmatter or SKILL.md, or one for which the source raises."""

    class Shaky(FakeSource):
        def manifest(self, key: str) -> bytes | Manifest:
            if key == "b":
                raise ZeroDivisionError("oops")
            return super().manifest(key)

    source = Shaky("s", {key: {"SKILL.md": pack(key)} for key in ("a", "b", "z")})
    source.packs |= {"c": {"SKILL.md": "nothing\n"}, "d": {"README.md": "x"}}
    kept = registry(source)
    kept.sync()

    assert [entry.id for entry in kept.catalog] == ["a", "z"]
    assert {held.reason for held in kept.catalog.excluded} == {"refused"}
    assert [(f.code, f.path) for f in kept.catalog.findings] == [
        ("source-error", "s/b/SKILL.md"),
        ("no-frontmatter", "s/c/SKILL.md"),
        ("reference-not-found", "s/d/SKILL.md"),
    ]


@pytest.mark.row("E24")
@pytest.mark.parametrize(
    ("lines", "disabled", "reason"),
    [
        ("", ("a",), "disabled"),
        ("metadata:\n  status: deprecated\n  replaced-by: b\n", (), "deprecated"),
        ("disable-model-invocation: true\n", (), "hidden"),
        ("disable-model-invocation: ture\n", (), "hidden"),
        ("disable-model-invocation: flase\n", (), "hidden"),
        ("disable_model_invocation: yes please\n", (), "hidden"),
        ("disable-model-invocation: [true]\n", (), "hidden"),
    ],
)
def test_what_is_taken_out_of_the_catalog_is_said(
    lines: str, disabled: tuple[str, ...], reason: str
) -> None:
    text = f"---\nname: a\ndescription: Use when testing.\n{lines}---\n# Do\n"
    source = FakeSource("s", {"a": {"SKILL.md": text}})
    kept = registry(source, one("t", "b"), disabled=disabled)
    kept.sync()

    assert [entry.id for entry in kept.catalog] == ["b"]
    assert [(held.descriptor.id, held.reason) for held in kept.catalog.excluded] == [
        ("a", reason)
    ]


def test_an_untrusted_source_shadows_nobody() -> None:
    """Its packs are named as untrusted and claim no id."""
    project = one("project", "a", body="# Mine now\n")
    project.trusted = False  # type: ignore[attr-defined]
    kept = registry(one("user", "a"), project)
    kept.sync()

    assert kept.catalog.entries[0].source == "user"
    assert [held.reason for held in kept.catalog.excluded] == ["untrusted"]
    assert kept.catalog.conflicts == ()


@pytest.mark.parametrize(
    ("limit", "value", "says"),
    [
        ("pack_bytes", 100, "bytes exceed the limit pack_bytes = 100 bytes"),
        ("pack_files", 1, "2 files exceed the limit pack_files = 1 files"),
    ],
)
def test_limits_of_a_pack_name_limit_actual_and_unit(
    limit: str, value: int, says: str
) -> None:
    source = one("s", "a")
    source.packs["a"]["references/r.md"] = "x" * 100
    limits = replace(ParseOptions().limits, **{limit: value})
    kept = registry(source, accept=ParseOptions(limits=limits))
    kept.sync()

    assert says in kept.catalog.findings[0].message


@pytest.mark.row("D15")
def test_readers_never_see_half_a_sync() -> None:
    """A reader that holds a catalog finds every listed id in it, whatever is synced."""
    source = FakeSource("s", {})
    kept = registry(source)
    stop = threading.Event()
    torn: list[str] = []

    def read() -> None:
        while not stop.is_set():
            catalog = kept.catalog
            if len(catalog) not in (0, 50):
                torn.append(f"{len(catalog)} skills")
            torn.extend(e.id for e in catalog.entries if catalog.get(e.id) is not e)

    thread = threading.Thread(target=read)
    thread.start()
    for _ in range(20):
        source.packs = {f"a{i}": {"SKILL.md": pack(f"a{i}")} for i in range(50)}
        kept.sync()
        source.packs = {}
        kept.sync()
    stop.set()
    thread.join()

    assert torn == []


def test_two_sources_of_one_label_are_kept_apart_and_closed() -> None:
    """Each pack is read from the source it came from."""
    both = one("s", "a"), one("s", "b")
    kept = registry(*both)
    kept.sync()

    assert [entry.source for entry in kept.catalog] == ["s", "s#2"]
    assert sorted(kept.catalog.readers) == ["s", "s#2"]

    kept.close()

    assert [source.closed for source in both] == [1, 1]


@pytest.mark.row("D32", "D38", "D39", "D41", "F107")
@pytest.mark.parametrize("warm", [False, True], ids=["first process", "later one"])
def test_a_report_is_the_same_with_an_index(warm: bool, tmp_path: Path) -> None:
    """Only what was read again is compared, and nothing of it shows."""
    library, old = tmp_path / "library", time.time() - 100

    def write(name: str, text: str, at: float) -> None:
        folder = library / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "SKILL.md").write_text(pack(name, text))
        os.utime(folder / "SKILL.md", (at, at))

    for number in range(9):
        write(f"s{number}", "Use it.", old)
    indexed = Options(index=tmp_path / "index.db", environ={})
    if warm:
        Satchel(library, options=indexed).close()
        Satchel(library, options=indexed).close()
    skills = [Satchel(library, options=indexed), Satchel(library, options=PLAIN)]
    edits: list[Callable[[], object]] = [
        lambda: None,
        lambda: write("s3", "Use it now.", old + 1),
        lambda: os.utime(library / "s4" / "SKILL.md", (old + 2, old + 2)),
        lambda: write("s2", "Use it twice.", old + 3),
        lambda: write("t", "Use it too.", old + 4),
        lambda: shutil.rmtree(library / "s5"),
        lambda: None,
    ]
    for edit in edits:
        edit()
        one, other = (each.sync() for each in skills)
        assert one == other
        assert skills[0].catalog.entries == skills[1].catalog.entries


PLAIN = Options(index=False, environ={})
