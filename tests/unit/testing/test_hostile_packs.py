"""The hostile packs are what they say they are, before anybody is tried on them."""

from pathlib import Path

from satchel_lab.hostile import hostile_packs
from satchel_lab.hostile._pack import GOOD_NAME, CannotMake, HostilePack

NEIGHBOUR = [f"{GOOD_NAME}/SKILL.md"]
SMALL = [
    pack
    for pack in hostile_packs()
    if pack.kind in {"special", "link", "encoding", "name", "markup", "escape"}
]


def test_a_pack_writes_something_and_the_same_twice(tmp_path: Path) -> None:
    for number, pack in enumerate(SMALL):
        first = written(pack, tmp_path / f"{number}-one" / "library")
        second = written(pack, tmp_path / f"{number}-two" / "library")

        assert first == second, pack.name
        assert first is None or len(first) > len([GOOD_NAME, *NEIGHBOUR]), pack.name


def written(pack: HostilePack, library: Path) -> list[tuple[str, int]] | None:
    """Return each path of a library with the pack in it, and the kind of thing it is.

    None where this system, or this user, cannot have such a pack.
    """
    for path in NEIGHBOUR:
        (library / path).parent.mkdir(parents=True)
        (library / path).write_text("good", "utf-8")
    try:
        pack.writes(library)
    except CannotMake:
        return None
    return sorted(
        (path.relative_to(library).as_posix(), path.lstat().st_mode)
        for path in library.rglob("*")
    )


def test_packs_hold_what_they_say(tmp_path: Path) -> None:
    packs = {pack.name: pack for pack in SMALL}
    inner = written(packs["folder-in-folder"], tmp_path / "folder" / "library")
    written(packs["marks"], tmp_path / "marks" / "library")
    texts = (path.read_text("utf-8") for path in tmp_path.glob("marks/**/SKILL.md"))

    assert any("SKILL.md/SKILL.md" in path for path, _ in inner or ())
    assert max(text.count("\u0301") for text in texts) == 5_000
