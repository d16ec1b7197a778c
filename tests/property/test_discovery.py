"""No SKILL.md is lost: each is listed, or named, or in a folder that is named."""

import os
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple

import pytest
from hypothesis import given, strategies as st

from satchel.model import Finding, Found, Limits
from satchel.sources import LocalSource, archive

pytestmark = [pytest.mark.slow, pytest.mark.property]

TEXT: Final = "---\nname: {}\ndescription: Does a thing. Use it for {}.\n---\n# {}\n"
NAMES: Final = (
    *("a", "b", "group", "examples", "references"),
    *("skills", "plugins", "skill", ".claude", ".agents", ".curated", ".hidden"),
    *("node_modules", ".git", ".venv", "venv", "__pycache__", "odd.", ".env"),
)
FOLDERS: Final = st.lists(st.sampled_from(NAMES), max_size=8).map(tuple)
KINDS: Final = (
    *("file", "file", "file", "file", "broken", "folder"),
    *("dead", "outside", "copy", "notes"),
)


class Discovered(NamedTuple):
    """What a scan says of each SKILL.md: paths of files, and of folders it left."""

    listed: set[str]
    named: set[str]
    left: set[str]
    files: dict[str, tuple[str, ...]]


def discover(root: Path, limits: Limits) -> Discovered:
    """Scan a folder from inside, so that all paths are relative to it."""
    items = LocalSource(root, shown=".", limits=limits).scan()
    packs = [item for item in items if isinstance(item, Found)]
    told = [item for item in items if isinstance(item, Finding)]
    listed = {f"{pack.location}/SKILL.md" for pack in packs}
    left = {f.path for f in told if f.code == "unsearched-folder"}
    # Over the limits as a whole, or the search itself.
    left |= {f.path for f in told if f.severity == "error" and f.path == "."}
    paths = {f.path for f in told}
    named = {p if p.endswith("SKILL.md") else f"{p}/SKILL.md" for p in paths}
    files = {
        each.location: tuple(f"{each.location}/{f.path}" for f in each.files or ())
        for each in packs
    }
    return Discovered(listed, named, left, files)


def every_skill_file(root: Path) -> Iterator[str]:
    """Yield what `find -name SKILL.md` prints."""
    for here, folders, files in os.walk(root):
        if "SKILL.md" in (*folders, *files):
            yield f"{here}/SKILL.md".replace(f"{root}", ".", 1)


def is_below(path: str, folders: set[str]) -> bool:
    return any(path.startswith(f"{folder}/") for folder in folders)


def plant(root: Path, folder: tuple[str, ...], kind: str) -> None:
    """Put a SKILL.md of some kind into a folder, unless something is there."""
    place = root.joinpath(*folder)
    place.mkdir(parents=True, exist_ok=True)
    for part in (place, *place.parents):
        if part.name == "venv" and not (part / "pyvenv.cfg").exists():
            (part / "pyvenv.cfg").touch()
    skill, name = place / "SKILL.md", folder[-1] if folder else "root"
    if os.path.lexists(skill):
        return
    if kind == "dead":
        skill.symlink_to("nowhere")
    elif kind == "outside":
        skill.symlink_to(root.parent / "outside" / "SKILL.md")
    elif kind in ("copy", "notes"):
        file = "SKILL.md" if kind == "copy" else "notes.md"
        skill.symlink_to(root / "shared" / file)
    elif kind == "folder":
        skill.mkdir()
    else:
        skill.write_text("---\n" if kind == "broken" else TEXT.format(name, name, name))
    (place / "notes.md").write_text("Notes.\n")


@pytest.mark.row("U01", "F61")
@given(
    st.lists(st.tuples(FOLDERS, st.sampled_from(KINDS)), min_size=1, max_size=14),
    st.lists(st.tuples(FOLDERS, FOLDERS), max_size=2),
    st.sampled_from(
        [
            Limits(),
            Limits(scan_depth=2),
            Limits(scan_entries=12),
            Limits(scan_entries=40),
            Limits(pack_files=2),
            Limits(pack_depth=1),
        ]
    ),
)
def test_listed_and_named_is_all(
    skills: list[tuple[tuple[str, ...], str]],
    links: list[tuple[tuple[str, ...], tuple[str, ...]]],
    limits: Limits,
) -> None:
    """Whatever is nested, linked, behind a dot, deep, or over a limit."""
    with TemporaryDirectory() as folder:
        root = Path(folder).resolve() / "root"
        plant(root.parent, ("outside",), "file")
        plant(root, ("shared",), "file")
        for place, kind in skills:
            plant(root, place, kind)
        for place, target in links:
            link = root.joinpath(*place, "link")
            link.parent.mkdir(parents=True, exist_ok=True)
            if not os.path.lexists(link):
                link.symlink_to(root.joinpath(*target))
        found = discover(root, limits)
        # What only a link leads to is found where the link is.
        for paths in (found.listed, found.named, found.left):
            for path in [*paths]:
                above, name = os.path.split(path)
                real = os.path.realpath(root / above)
                paths.add(f"{real.replace(str(root), '.', 1)}/{name}")

        there = set(every_skill_file(root))
        lost = {
            path
            for path in there - found.listed - found.named
            if not is_below(path, found.left)
        }
        assert not lost
        # Nothing is in two packs, and no pack is a file of another.
        files = [path for paths in found.files.values() for path in paths]
        assert len(files) == len(set(files))
        nested = {path for path in files if path.endswith("/SKILL.md")} - found.listed
        assert nested <= found.named


@pytest.mark.row("U01", "F64")
@given(st.lists(FOLDERS, min_size=1, max_size=12), st.sampled_from(["zip", "gztar"]))
def test_an_archive_has_the_packs_and_findings_of_its_folder(
    folders: list[tuple[str, ...]], kind: str
) -> None:
    """But for names that no archive may have, for which it is refused as a whole."""
    with TemporaryDirectory() as made:
        root = Path(made).resolve() / "root"
        for place in folders:
            if "odd." not in place:
                plant(root, place, "file")
        plant(root, ("shared",), "file")
        plant(root, ("other",), "file")
        (root / "notes.md").unlink(missing_ok=True)
        source = archive(shutil.make_archive(f"{made}/made", kind, root))
        found, folder = source.scan(), LocalSource(root).scan()

        def packs(items: Iterable[Found | Finding]) -> set[tuple[str, ...]]:
            """Return keys and files; a pack at the root has another name here."""
            return {
                (item.key, *(file.path for file in item.files or ()))
                for item in items
                if isinstance(item, Found) and item.key != root.name
            }

        def named(items: Iterable[Found | Finding]) -> list[str]:
            codes = {"unlisted-skill", "unsearched-folder", "limit-exceeded"}
            told = [item.code for item in items if isinstance(item, Finding)]
            return sorted(code for code in told if code in codes)

        assert packs(found) == packs(folder)
        assert named(found) == named(folder)
