"""Links: out of the library, in circles, and by the thousand."""

import os
from functools import partial
from pathlib import Path
from typing import Final

from satchel.testing.hostile._pack import (
    BAD,
    GOOD_NAME,
    SECRET,
    HostilePack,
    front,
    write_skill,
)

_link: Final = partial(HostilePack, kind="link")


def _outside(library: Path) -> Path:
    """Write a secret that reads like a SKILL.md next to the library."""
    place = library.parent / "outside"
    place.mkdir()
    secret = place / "secret.md"
    secret.write_text(front(SECRET), "utf-8")
    return secret


def _pack(library: Path) -> Path:
    return write_skill(library, BAD, front().encode())


def _skill_out(library: Path) -> None:
    (library / BAD).mkdir()
    (library / BAD / "SKILL.md").symlink_to(_outside(library))


def _skill_out_relative(library: Path) -> None:
    _outside(library)
    (library / BAD).mkdir()
    (library / BAD / "SKILL.md").symlink_to("../../outside/secret.md")


def _skill_to_neighbour(library: Path) -> None:
    (library / BAD).mkdir()
    (library / BAD / "SKILL.md").symlink_to(f"../{GOOD_NAME}/SKILL.md")


def _folder_out(library: Path) -> None:
    """Link to a folder of secrets from inside the pack, where none is followed."""
    _outside(library)
    pack = _pack(library)
    (pack / "references").symlink_to("../../outside", target_is_directory=True)


def _nested_pack_out(library: Path) -> None:
    """Link to a pack elsewhere from below the library's first level."""
    place = library.parent / "outside" / "other"
    place.mkdir(parents=True)
    (place / "SKILL.md").write_text(front(SECRET, "outside"), "utf-8")
    (library / BAD).mkdir()
    (library / BAD / "inner").symlink_to(place, target_is_directory=True)


def _reference_out(library: Path) -> None:
    secret = _outside(library)
    pack = write_skill(library, BAD, front(more="references: [guide.md]").encode())
    (pack / "references").mkdir()
    (pack / "references" / "guide.md").symlink_to(secret)


def _to_root(library: Path) -> None:
    (library / BAD).symlink_to("/", target_is_directory=True)


def _to_parent(library: Path) -> None:
    (library / BAD).symlink_to("..", target_is_directory=True)


def _magic(library: Path) -> None:
    (library / BAD).mkdir()
    (library / BAD / "root").symlink_to("/proc/self/root", target_is_directory=True)
    (library / BAD / "cwd").symlink_to("/proc/self/cwd", target_is_directory=True)


def _to_library(library: Path) -> None:
    (library / BAD).mkdir()
    (library / BAD / "again").symlink_to(library, target_is_directory=True)


def _to_itself(library: Path) -> None:
    (library / BAD).symlink_to(BAD)


def _pair(library: Path) -> None:
    for one, other in (("a", "b"), ("b", "a")):
        (library / BAD / one).mkdir(parents=True)
        (library / BAD / one / "other").symlink_to(f"../{other}")


def _pack_cycle(library: Path) -> None:
    pack = _pack(library)
    (pack / "references").mkdir()
    (pack / "references" / "again").symlink_to("..", target_is_directory=True)


def _broken(library: Path) -> None:
    (library / BAD).mkdir()
    (library / BAD / "SKILL.md").symlink_to("nowhere.md")
    (library / "bad-folder").symlink_to("nowhere", target_is_directory=True)


def _chain(library: Path) -> None:
    """Make sixty links in a row; systems give up after forty."""
    (library / "bad-0").symlink_to(GOOD_NAME, target_is_directory=True)
    for i in range(1, 60):
        (library / f"bad-{i}").symlink_to(f"bad-{i - 1}", target_is_directory=True)


def _farm(library: Path) -> None:
    for i in range(1_000):
        (library / f"bad-{i:03}").symlink_to(GOOD_NAME, target_is_directory=True)


def _doubling(library: Path) -> None:
    """Make 24 folders with two links each to the next: 16 million ways through."""
    for i in range(24):
        level = library / f"bad-{i:02}"
        level.mkdir()
        for way in ("left", "right"):
            (level / way).symlink_to(f"../bad-{i + 1:02}", target_is_directory=True)
    (library / "bad-24").mkdir()


def _hard_link_out(library: Path) -> None:
    secret = _outside(library)
    pack = _pack(library)
    (pack / "references").mkdir()
    os.link(secret, pack / "references" / "guide.md")


def _hard_link_skill(library: Path) -> None:
    (library / BAD).mkdir()
    os.link(library / GOOD_NAME / "SKILL.md", library / BAD / "SKILL.md")


PACKS: Final[tuple[HostilePack, ...]] = (
    _link(
        "skill-out",
        threat="T3",
        writes=_skill_out,
        what="SKILL.md is a link to a secret",
    ),
    _link(
        "skill-out-relative",
        threat="T3",
        writes=_skill_out_relative,
        what="the same by ../..",
    ),
    _link(
        "skill-to-neighbour",
        threat="T3",
        writes=_skill_to_neighbour,
        what="SKILL.md is a link to that of the good neighbour",
    ),
    _link(
        "folder-out",
        threat="T3",
        writes=_folder_out,
        what="references/ is a link to a folder of secrets",
    ),
    _link(
        "nested-pack-out",
        threat="T3",
        writes=_nested_pack_out,
        what="a link below the first level to a pack elsewhere",
    ),
    _link(
        "reference-out",
        threat="T3",
        writes=_reference_out,
        what="a declared reference is a link to a secret",
    ),
    _link("to-root", threat="T8", writes=_to_root, what="the pack is a link to /"),
    _link(
        "to-parent",
        threat="T8",
        writes=_to_parent,
        what="the pack is a link to what the library is in",
    ),
    _link("magic", threat="T3", writes=_magic, what="links to /proc/self/root and cwd"),
    _link(
        "to-library", threat="T8", writes=_to_library, what="a link back to the library"
    ),
    _link("to-itself", threat="T8", writes=_to_itself, what="a link to itself"),
    _link("pair", threat="T8", writes=_pair, what="two folders that link each other"),
    _link(
        "pack-cycle",
        threat="T8",
        writes=_pack_cycle,
        what="a link inside a pack back to the pack",
    ),
    _link("broken", threat="T8", writes=_broken, what="links to nothing"),
    _link("chain", threat="T8", writes=_chain, what="sixty links in a row"),
    _link("farm", threat="T8", writes=_farm, what="a thousand links to the neighbour"),
    _link(
        "doubling",
        threat="T8",
        writes=_doubling,
        what="links that make sixteen million paths of 25 folders",
    ),
    _link(
        "hard-link-out",
        threat="T5",
        writes=_hard_link_out,
        what="a reference that is a hard link to a secret",
    ),
    _link(
        "hard-link-skill",
        threat="T5",
        writes=_hard_link_skill,
        what="the neighbour's SKILL.md under another name",
    ),
)
