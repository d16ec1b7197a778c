"""Packs in a folder: what is found, what is told, and what is never followed."""

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from satchel.errors import (
    LimitExceededError,
    ReferenceEscapesError,
    ReferenceNotFoundError,
    ReferenceUnreadableError,
    SkillNotFoundError,
    SourceUnavailableError,
)
from satchel.files import _listing as walk, mark_of
from satchel.model import FileStat, Found, Limits
from satchel.sources import LocalSource
from tests.unit.sources.trees import keys, pack, told


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder, so that paths are shown as they were written."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.row("R29")
def test_a_folder_with_a_skill_file_is_one_pack(here: Path) -> None:
    pack(here, "pdf", "references/a.md", "examples/inner/SKILL.md")
    (found,) = LocalSource("pdf").scan()

    assert isinstance(found, Found)
    assert (found.key, found.location) == ("pdf", "pdf")
    assert found.files is not None
    assert [file.path for file in found.files] == [
        "SKILL.md",
        "examples/inner/SKILL.md",
        "references/a.md",
    ]
    assert LocalSource("pdf").read("pdf", "references/a.md", 99).startswith(b"---")


def test_one_file_can_be_compared_with_its_stat(here: Path) -> None:
    made = pack(here, "s/pdf", "references/a.md")
    (made / "link.md").symlink_to(made / "references" / "a.md")
    source = LocalSource("s")

    files = source.files("pdf")
    assert all(source.is_unchanged("pdf", stat) for stat in files)
    for path in ("none.md", "link.md", "references", "\x00"):
        assert not source.is_unchanged("pdf", replace(files[0], path=path))


def test_the_working_folder_may_be_the_pack(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(pack(here, "pdf"))
    (found,) = LocalSource(".").scan()

    assert isinstance(found, Found)
    assert (found.key, found.location) == ("pdf", ".")


@pytest.mark.row("R29")
def test_search_goes_six_folders_deep(here: Path) -> None:
    """Past dot-folders and node_modules; never into a pack."""
    pack(here, "s/one")
    pack(here, "s/2/3/4/5/six")
    pack(here, "s/2/3/4/5/6/7/eight")
    pack(here, "s/.git/hidden")
    pack(here, "s/node_modules/vendored")
    pack(here, "s/one/nested")
    source = LocalSource("s")

    assert keys(source) == ["2/3/4/5/six", "one"]
    assert told(source) == [("note", "limit-exceeded", "s")]


def test_packs_come_sorted_by_key(here: Path) -> None:
    """By code point of the whole key, which is not the order of a walk."""
    for key in ("b/c", "b-c", "B", "a", "é"):
        pack(here / "s", key)

    assert keys(LocalSource("s")) == ["B", "a", "b-c", "b/c", "é"]


def test_paths_are_shown_as_they_were_written(here: Path) -> None:
    pack(here, "s/a", ".env")

    for written in ("s", "./s", "../" + here.name + "/s", str(here / "s"), "s/"):
        source = LocalSource(written)
        (found, finding) = source.scan()
        shown = f"{written.rstrip('/')}/a"
        assert isinstance(found, Found)
        assert (found.location, finding.path) == (shown, shown)  # type: ignore[union-attr]
        assert source.label == written


def test_what_a_scan_saw_saves_a_second_look(here: Path) -> None:
    folder = pack(here, "s/a")
    status = (folder / "SKILL.md").stat()
    (found,) = LocalSource("s").scan()
    files = (FileStat("SKILL.md", status.st_size, mark_of(status)),)

    assert isinstance(found, Found)
    assert found.files == found.stamp == files


@pytest.mark.row("X15")
@pytest.mark.parametrize("path", ["SKILL.md", "references/a.md", "new.md"])
def test_any_edit_inside_a_pack_changes_its_stamp(here: Path, path: str) -> None:
    folder = pack(here, "s/a", "references/a.md")
    pack(here, "s/b")
    source = LocalSource("s")
    before = [each.stamp for each in source.scan() if isinstance(each, Found)]
    (folder / path).write_text("something else")
    after = [each.stamp for each in source.scan() if isinstance(each, Found)]

    assert before[0] != after[0]
    assert before[1] == after[1]


def test_a_relative_root_stays_where_it_was(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pack(here, "s/a")
    source = LocalSource("s")
    monkeypatch.chdir("/")

    assert keys(source) == ["a"]


# --- roots that are not there ---


@pytest.mark.row("R19", "D34")
def test_a_missing_root(here: Path) -> None:
    with pytest.raises(SourceUnavailableError, match="no such folder"):
        LocalSource("none").scan()
    assert LocalSource("none", missing_ok=True).scan() == ()


@pytest.mark.parametrize("root", ["file", "a\0b", "\ud800"])
def test_a_root_that_is_no_folder(here: Path, root: str) -> None:
    (here / "file").write_text("x")

    with pytest.raises(SourceUnavailableError):
        LocalSource(root).scan()


def test_a_root_that_goes_away(here: Path) -> None:
    folder = pack(here, "s/a", "a.md")
    source = LocalSource("s")
    source.scan()
    for path in (folder / "a.md", folder / "SKILL.md", folder, folder.parent):
        path.unlink() if path.is_file() else path.rmdir()

    with pytest.raises(SourceUnavailableError):
        source.manifest("a")
    with pytest.raises(SourceUnavailableError):
        source.files("a")
    with pytest.raises(SourceUnavailableError):
        source.read("a", "a.md", 9)


def test_a_pack_that_goes_away(here: Path) -> None:
    folder = pack(here, "s/a", "a.md")
    source = LocalSource("s")
    source.scan()
    (folder / "a.md").unlink()
    with pytest.raises(ReferenceNotFoundError):
        source.read("a", "a.md", 9)
    (folder / "SKILL.md").unlink()

    with pytest.raises(SkillNotFoundError):
        source.manifest("a")
    with pytest.raises(SkillNotFoundError):
        source.read("a", "a.md", 9)


# --- links ---


@pytest.mark.row("E29")
def test_a_link_inside_is_followed_once(here: Path) -> None:
    """To where no search would come; where one does, the link adds nothing."""
    pack(here, "s/real/a")
    pack(here, "s/.store/b", "references/x.md")
    (here / "s" / "again").symlink_to("real")
    (here / "s" / "store").symlink_to(".store")
    (here / "s" / "twice").symlink_to(".store/b")
    source = LocalSource("s")

    assert keys(source) == ["real/a", "store/b"]
    assert told(source) == []
    assert source.manifest("store/b").startswith(b"---\nname: b\n")
    assert source.read("store/b", "references/x.md", 99)
    assert [file.path for file in source.files("store/b")] == [
        "SKILL.md",
        "references/x.md",
    ]


@pytest.mark.row("E29")
@pytest.mark.parametrize("target", [".", "..", "loop", "a", "../.."])
def test_no_cycle_goes_round(here: Path, target: str) -> None:
    """Up, down, or onto itself: each pack is found once."""
    pack(here, "s/in/a")
    (here / "s" / "in" / "loop").symlink_to(target)

    assert keys(LocalSource("s")) == ["in/a"]


def test_links_to_each_other_end(here: Path) -> None:
    for one, two in (("x", "y"), ("y", "x")):
        (here / f".{one}").mkdir()
        (here / f".{one}" / "go").symlink_to(f"../.{two}")
    pack(here, ".x/a")
    (here / "start").symlink_to(".y")

    assert keys(LocalSource(".")) == ["start/go/a"]


@pytest.mark.row("E29")
def test_a_link_at_the_top_may_lead_to_a_pack_outside(here: Path) -> None:
    """The layout of clients that keep packs elsewhere; it is told, and pinned."""
    pack(here, "elsewhere/pdf", "references/x.md")
    pack(here, "evil/pdf")
    (here / "s").mkdir()
    (here / "s" / "pdf").symlink_to("../elsewhere/pdf")
    source = LocalSource("s")

    assert keys(source) == ["pdf"]
    assert told(source) == [("note", "linked-pack", "s/pdf")]
    assert source.read("pdf", "references/x.md", 99)

    (here / "s" / "pdf").unlink()
    (here / "s" / "pdf").symlink_to("../evil/pdf")
    assert source.manifest("pdf") == (here / "elsewhere/pdf/SKILL.md").read_bytes()

    (here / "elsewhere").rename(here / "moved")
    (here / "elsewhere").symlink_to("evil")
    with pytest.raises(ReferenceUnreadableError):
        source.manifest("pdf")


@pytest.mark.row("E29", "G26")
@pytest.mark.parametrize(
    ("link", "target"),
    [
        ("s/folder", "../elsewhere"),
        ("s/in/pdf", "../../elsewhere/pdf"),
        ("s/etc", "/etc"),
        ("s/odd", "../odd"),
    ],
)
def test_no_other_link_leads_out(here: Path, link: str, target: str) -> None:
    pack(here, "elsewhere/pdf")
    pack(here, "s/in/a")
    (here / "odd").mkdir()
    (here / "odd" / "SKILL.md").symlink_to("../elsewhere/pdf/SKILL.md")
    (here / link).symlink_to(target)
    source = LocalSource("s")

    assert keys(source) == ["in/a"]
    assert told(source) == [("warning", "link-leaves-root", link)]
    with pytest.raises(ReferenceEscapesError):
        source.read(link.removeprefix("s/"), "SKILL.md", 99)


def test_a_link_to_nothing_is_told(here: Path) -> None:
    pack(here, "s/a")
    (here / "s" / "gone").symlink_to("nowhere")
    (here / "s" / "self").symlink_to("self")
    (here / "s" / "README.md").symlink_to("/etc/hostname")
    source = LocalSource("s")

    assert keys(source) == ["a"]
    assert told(source) == [
        ("warning", "broken-link", "s/gone"),
        ("warning", "broken-link", "s/self"),
    ]


@pytest.mark.row("A09")
def test_a_folder_exchanged_for_a_link_is_not_read(here: Path) -> None:
    """Between the scan and the read: the confined open sees the link."""
    folder = pack(here, "s/a", "x.md")
    pack(here, "secret", "x.md")
    source = LocalSource("s")
    source.scan()
    folder.rename(here / "away")
    folder.symlink_to("../secret")

    with pytest.raises(ReferenceUnreadableError):
        source.manifest("a")
    with pytest.raises(ReferenceEscapesError):
        source.read("a", "x.md", 99)
    with pytest.raises(SkillNotFoundError):
        source.files("a")


# --- hostile trees: the good neighbour is served, and nothing hangs ---


def _fifo(place: Path) -> None:
    place.mkdir()
    os.mkfifo(place / "SKILL.md")


def _zero(place: Path) -> None:
    place.mkdir()
    (place / "SKILL.md").symlink_to("/dev/zero")


def _linked(place: Path) -> None:
    pack(place.parent.parent, "secret")
    place.mkdir()
    (place / "SKILL.md").symlink_to("../../secret/SKILL.md")


def _folder(place: Path) -> None:
    (place / "SKILL.md").mkdir(parents=True)


@pytest.mark.row("E29", "R29")
@pytest.mark.parametrize("make", [_fifo, _zero, _linked, _folder])
def test_a_skill_file_that_is_no_file(here: Path, make: Callable[[Path], None]) -> None:
    pack(here, "s/good")
    make(here / "s" / "bad")
    source = LocalSource("s")

    assert keys(source) == ["good"]
    assert told(source) == [("error", "irregular-skill-file", "s/bad/SKILL.md")]
    with pytest.raises(ReferenceUnreadableError):
        source.manifest("bad")


@pytest.mark.row("R29")
@pytest.mark.parametrize("name", ["skill.md", "Skill.md", "SKILL.MD"])
def test_another_spelling_is_told(here: Path, name: str) -> None:
    pack(here, "s/good")
    pack(here, "s/bad").joinpath("SKILL.md").rename(here / "s" / "bad" / name)
    source = LocalSource("s")
    finding = source.scan()[-1]

    assert keys(source) == ["good"]
    assert told(source) == [("error", "wrong-case-skill-file", f"s/bad/{name}")]
    assert finding.fix == "rename it to SKILL.md"  # type: ignore[union-attr]


def test_names_that_cannot_be_shown(here: Path) -> None:
    """A line break in a name would forge a line of any output."""
    pack(here, "s/good")
    pack(here, "s/bad\nname")
    pack(here, "s/persian\u200cname")
    raw = os.fsencode(here / "s") + b"/\xff\xfe"
    raw_folder = Path(os.fsdecode(raw))
    raw_folder.mkdir()
    (raw_folder / "SKILL.md").touch()
    source = LocalSource("s")

    assert keys(source) == ["good", "persian\u200cname"]
    assert told(source) == [
        ("warning", "unsafe-file-name", "s/\\udcff\\udcfe"),
        ("warning", "unsafe-file-name", "s/bad\\nname"),
    ]


@pytest.mark.parametrize("limit", ["pack_files", "pack_bytes", "pack_depth"])
def test_a_pack_over_a_limit_is_refused_alone(here: Path, limit: str) -> None:
    pack(here, "s/good")
    pack(here, "s/bad", "a/b/c.md", "d.md")
    small = {"pack_files": 3, "pack_bytes": 100, "pack_depth": 1}[limit]
    source = LocalSource("s", limits=Limits(**{limit: small}))

    assert keys(source) == ["good"]
    assert told(source) == [("error", "limit-exceeded", "s/bad")]
    with pytest.raises(LimitExceededError):
        source.files("bad")


def test_a_skill_file_over_the_limit(here: Path) -> None:
    pack(here, "s/a")
    source = LocalSource("s", limits=Limits(skill_md_bytes=10))

    assert keys(source) == ["a"]
    with pytest.raises(LimitExceededError, match="skill_md_bytes"):
        source.manifest("a")


def test_a_search_ends_at_its_limit(here: Path) -> None:
    for number in range(30):
        pack(here, f"s/p{number}")
    source = LocalSource("s", limits=Limits(scan_entries=40))

    assert 5 < len(keys(source)) < 15
    assert told(source) == [("error", "limit-exceeded", "s")]


def test_ten_thousand_entries(here: Path) -> None:
    """As files of a pack they are too many; as neighbours they are no matter."""
    pack(here, "s/good")
    huge = pack(here, "s/huge")
    for number in range(2_500):
        (huge / str(number)).touch()
    sibling = here / "s" / "sibling"
    sibling.mkdir()
    for number in range(10_000):
        (sibling / str(number)).touch()
    source = LocalSource("s")

    assert keys(source) == ["good"]
    assert told(source) == [("error", "limit-exceeded", "s/huge")]


@pytest.fixture
def refuse(monkeypatch: pytest.MonkeyPatch) -> dict[str, OSError]:
    """Errors by the end of the folder's path that cannot be listed."""
    errors: dict[str, OSError] = {}
    real = os.scandir

    def scandir(path: str) -> object:
        for end, error in errors.items():
            if path.endswith(end):
                raise error
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)
    return errors


def test_a_closed_folder_is_told(here: Path, refuse: dict[str, OSError]) -> None:
    for name in ("closed", "good", "gone"):
        pack(here, f"s/{name}")
    refuse["/closed"] = PermissionError(13, "Permission denied")
    refuse["/gone"] = FileNotFoundError(2, "No such file or directory")
    source = LocalSource("s")

    assert keys(source) == ["good"]
    assert told(source) == [("error", "unreadable-folder", "s/closed")]


def test_a_closed_root(here: Path, refuse: dict[str, OSError]) -> None:
    pack(here, "s/a")
    refuse["/s"] = PermissionError(13, "Permission denied")

    with pytest.raises(SourceUnavailableError, match="Permission denied"):
        LocalSource("s").scan()


def test_a_pack_that_closes_between_two_looks(
    here: Path, refuse: dict[str, OSError]
) -> None:
    pack(here, "s/a")
    source = LocalSource("s")
    source.scan()
    refuse["/a"] = PermissionError(13, "Permission denied")

    with pytest.raises(SourceUnavailableError, match="Permission denied"):
        source.files("a")


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything"
)
def test_a_folder_without_rights(here: Path) -> None:
    pack(here, "s/good")
    closed = pack(here, "s/closed")
    listed = pack(here, "s/listed", "a.md")
    closed.chmod(0o000)
    listed.chmod(0o444)
    try:
        source = LocalSource("s")
        assert keys(source) == ["good"]
        assert [code for _, code, _ in told(source)] == ["unreadable-folder"] * 2
    finally:
        closed.chmod(0o755)
        listed.chmod(0o755)


def test_repr_names_the_folder() -> None:
    assert repr(LocalSource("s", label="x")) == "LocalSource('s', label='x')"


def test_a_skill_file_that_cannot_be_looked_at(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder can be listed and not entered: the pack is told, as a whole."""
    pack(here, "s/closed", "a.md")
    pack(here, "s/good", "a.md")
    real = walk.stat_of

    def stat_of(entry: os.DirEntry[str], path: str) -> FileStat:
        if "closed" in entry.path:
            raise PermissionError(13, "Permission denied")
        return real(entry, path)

    monkeypatch.setattr(walk, "stat_of", stat_of)
    source = LocalSource("s")

    assert keys(source) == ["good"]
    assert told(source) == [("error", "unreadable-folder", "s/closed")]


@pytest.mark.row("F07")
def test_a_hundred_thousand_small_packs_fit_one_scan() -> None:
    """102,692 public packs were 205,789 entries: a folder and a SKILL.md each."""
    assert Limits().scan_entries >= 102_692 * 3
