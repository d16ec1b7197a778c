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
def test_a_folder_with_a_skill_file_is_one_pack(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is in the folder is shown as it was written, and found from elsewhere."""
    folder = pack(here, "pdf", "references/a.md", "examples/inner/SKILL.md")
    source = LocalSource("pdf")
    found, _ = source.scan()

    assert isinstance(found, Found)
    assert (found.key, found.location) == ("pdf", "pdf")
    paths = ["SKILL.md", "examples/inner/SKILL.md", "references/a.md"]
    assert [file.path for file in found.files or ()] == paths
    assert found.stamp == found.files
    status = (folder / "SKILL.md").stat()
    nested = ("note", "unlisted-skill", "pdf/examples/inner/SKILL.md")
    assert told(source) == [nested]
    assert found.files is not None
    assert found.files[0] == FileStat("SKILL.md", status.st_size, mark_of(status))
    assert repr(LocalSource("s", label="x")) == "LocalSource('s', label='x')"

    monkeypatch.chdir(folder)
    assert source.read("pdf", "references/a.md", 99).startswith(b"---")
    found, _ = LocalSource(".").scan()
    assert isinstance(found, Found)
    assert (found.key, found.location) == ("pdf", ".")


def test_one_file_can_be_compared_with_its_stat(here: Path) -> None:
    made = pack(here, "s/pdf", "references/a.md")
    (made / "link.md").symlink_to(made / "references" / "a.md")
    source = LocalSource("s")

    files = source.files("pdf")
    assert all(source.is_unchanged("pdf", stat) for stat in files)
    for path in ("none.md", "link.md", "references", "\x00"):
        assert not source.is_unchanged("pdf", replace(files[0], path=path))


@pytest.mark.row("R29")
def test_search_goes_six_folders_deep(here: Path) -> None:
    """Past version control and packages, never into a pack; sorted by code point."""
    for key in ("one", "2/3/4/5/six", "2/3/4/5/6/7/eight", "b/c", "b-c", "B", "\u00e9"):
        pack(here / "s", key)
    for key in (".git/hidden", "node_modules/vendored", "one/nested"):
        pack(here / "s", key)
    source = LocalSource("s")

    assert keys(source) == ["2/3/4/5/six", "B", "b-c", "b/c", "one", "\u00e9"]
    assert told(source) == [
        ("note", "unsearched-folder", "s/.git"),
        ("note", "limit-exceeded", "s/2/3/4/5/6/7/eight/SKILL.md"),
        ("note", "unsearched-folder", "s/node_modules"),
        ("note", "unlisted-skill", "s/one/nested/SKILL.md"),
    ]


def test_paths_are_shown_as_they_were_written(here: Path) -> None:
    pack(here, "s/a", ".env")

    for written in ("s", "./s", "../" + here.name + "/s", str(here / "s"), "s/"):
        source = LocalSource(written)
        (found, finding) = source.scan()
        shown = f"{written.rstrip('/')}/a"
        assert isinstance(found, Found)
        assert (found.location, finding.path) == (shown, shown)  # type: ignore[union-attr]
        assert source.label == written


@pytest.mark.row("X15")
def test_any_edit_inside_a_pack_changes_its_stamp(here: Path) -> None:
    folder = pack(here, "s/a", "references/a.md")
    pack(here, "s/b")
    source = LocalSource("s")
    for path in ("SKILL.md", "references/a.md", "new.md"):
        before = [pack.stamp for pack in source.scan() if isinstance(pack, Found)]
        (folder / path).write_text("something else")
        after = [pack.stamp for pack in source.scan() if isinstance(pack, Found)]

        assert before[0] != after[0]
        assert before[1] == after[1]


# --- roots that are not there ---


@pytest.mark.row("R19", "D34")
def test_a_missing_root(here: Path) -> None:
    with pytest.raises(SourceUnavailableError, match="no such folder"):
        LocalSource("none").scan()
    assert LocalSource("none", missing_ok=True).scan() == ()
    (here / "file").write_text("x")
    for root in ("file", "a\0b", "\ud800"):
        with pytest.raises(SourceUnavailableError):
            LocalSource(root).scan()


def test_a_pack_that_goes_away(here: Path) -> None:
    """File by file; in the end with the folder that it is in."""
    folder = pack(here, "s/a", "a.md")
    source = LocalSource("s")
    source.scan()

    def refuses(error: type[Exception]) -> None:
        for ask in (source.manifest, source.files):
            with pytest.raises(error):
                ask("a")
        with pytest.raises(error):
            source.read("a", "a.md", 9)

    (folder / "a.md").unlink()
    with pytest.raises(ReferenceNotFoundError):
        source.read("a", "a.md", 9)
    (folder / "SKILL.md").unlink()
    refuses(SkillNotFoundError)
    folder.rmdir()
    refuses(SkillNotFoundError)
    folder.parent.rmdir()
    refuses(SourceUnavailableError)


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


def _linked(place: Path) -> None:
    pack(place.parents[2], "secret")
    place.symlink_to("../../secret/SKILL.md")


@pytest.mark.row("E29", "R29")
@pytest.mark.parametrize(
    "make",
    [os.mkfifo, lambda place: place.symlink_to("/dev/zero"), _linked, Path.mkdir],
    ids=["fifo", "device", "link", "folder"],
)
def test_a_skill_file_that_is_no_file(here: Path, make: Callable[[Path], None]) -> None:
    pack(here, "s/good")
    (here / "s" / "bad").mkdir()
    make(here / "s" / "bad" / "SKILL.md")
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
    for name in ("good", "bad\nname", "persian\u200cname", os.fsdecode(b"\xff\xfe")):
        folder = here / "s" / name
        folder.mkdir(parents=True)
        (folder / "SKILL.md").touch()
    source = LocalSource("s")

    assert keys(source) == ["good", "persian\u200cname"]
    assert told(source) == [
        ("warning", "unsafe-file-name", "s/\\udcff\\udcfe"),
        ("warning", "unsafe-file-name", "s/bad\\nname"),
    ]


@pytest.mark.parametrize(
    ("limit", "small"), [("pack_files", 3), ("pack_bytes", 100), ("pack_depth", 1)]
)
def test_a_pack_over_a_limit_is_refused_alone(
    here: Path, limit: str, small: int
) -> None:
    pack(here, "s/good")
    pack(here, "s/bad", "a/b/c.md", "d.md")
    source = LocalSource("s", limits=Limits(**{limit: small}, skill_md_bytes=10))

    assert keys(source) == ["good"]
    assert told(source) == [("error", "limit-exceeded", "s/bad")]
    with pytest.raises(LimitExceededError, match=limit):
        source.files("bad")
    with pytest.raises(LimitExceededError, match="skill_md_bytes"):
        source.manifest("good")


def test_a_search_ends_at_its_limit(here: Path) -> None:
    for number in range(30):
        pack(here, f"s/p{number}")
    source = LocalSource("s", limits=Limits(scan_entries=40))

    assert 5 < len(keys(source)) < 15
    error, *notes = told(source)
    assert error == ("error", "limit-exceeded", "s")
    rest = {f"p{number}" for number in range(30)}.difference(keys(source))
    assert notes == [("note", "unsearched-folder", f"s/{key}") for key in sorted(rest)]


def test_ten_thousand_entries(here: Path) -> None:
    """As files of a pack they are too many; as neighbours they are no matter."""
    pack(here, "s/good")
    (here / "s" / "sibling").mkdir()
    for folder, count in ((pack(here, "s/huge"), 2_500), (here / "s/sibling", 10_000)):
        for number in range(count):
            (folder / str(number)).touch()
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
    source = LocalSource("s")
    source.scan()
    refuse["/closed"] = PermissionError(13, "Permission denied")
    refuse["/gone"] = FileNotFoundError(2, "No such file or directory")
    with pytest.raises(SourceUnavailableError, match="Permission denied"):
        source.files("closed")

    assert keys(source) == ["good"]
    assert told(source) == [("error", "unreadable-folder", "s/closed")]
    refuse["/s"] = PermissionError(13, "Permission denied")
    with pytest.raises(SourceUnavailableError, match="Permission denied"):
        source.scan()


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
