"""Digests that anybody can compute again."""

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from satchel import Satchel, sources
from satchel.files import digest_bytes, tree_digest
from satchel.model import Resource
from satchel_store.release import build_folder

pytestmark = pytest.mark.row("R25")


def test_digest_of_a_tree() -> None:
    """``path NUL hex LF`` of each file, by code point: capitals come first."""
    one, two = hashlib.sha256(b"1").hexdigest(), hashlib.sha256(b"2").hexdigest()
    text = f"SKILL.md\0{one}\nassets/é.md\0{two}\n".encode()
    resources = [
        Resource("assets/é.md", f"sha256:{two}", 1),
        Resource("SKILL.md", f"sha256:{one}", 1),
    ]

    assert digest_bytes(b"1") == f"sha256:{one}"
    expected = "sha256-tree-v1:" + hashlib.sha256(text).hexdigest()
    assert tree_digest(resources) == expected
    assert tree_digest(reversed(resources)) == expected


def test_every_part_counts() -> None:
    digests = {
        tree_digest([]),
        tree_digest([Resource("a", digest_bytes(b""), 0)]),
        tree_digest([Resource("b", digest_bytes(b""), 0)]),
        tree_digest([Resource("a", digest_bytes(b"x"), 1)]),
        tree_digest([Resource("\ud800", digest_bytes(b""), 0)]),
    }

    assert len(digests) == 5


PAGE = Path(__file__).parents[3] / "docs" / "reference" / "release-format.md"


@pytest.mark.row("G20", "F106")
def test_digests_are_made_as_their_page_says(tmp_path: Path) -> None:
    """With the algorithm that it names, of packs and of whole releases."""
    text = " ".join(PAGE.read_text("utf-8").split())
    named = re.search(
        r"The id is `(\S+:)` and the (\S+) of a list with one line for each file, "
        r"sorted by path \(by code point\). A line is the path, a NUL, the (\S+) of "
        r"the file's bytes in hex, and a line feed.",
        text,
    )
    assert named is not None
    prefix, of_list, of_file = named.groups()

    def made(files: Mapping[str, bytes]) -> str:
        lines = "".join(
            f"{path}\0{hashlib.new(of_file.replace('-', ''), data).hexdigest()}\n"
            for path, data in sorted(files.items())
        )
        return (
            prefix + hashlib.new(of_list.replace("-", ""), lines.encode()).hexdigest()
        )

    files = {
        "SKILL.md": b"---\nname: a\ndescription: Use it.\n---\n# A\n",
        "references/B.md": b"B",
        "references/a.md": b"A\r\n",
        "references/\u00e9.md": b"",
        "assets/dot.png": b"\x00\xff",
    }
    with Satchel(sources.memory({"a": files}), sinks=()) as skills:
        built = build_folder(skills, tmp_path / "dist").release
        release = {
            path.relative_to(tmp_path / "dist").as_posix(): path.read_bytes()
            for path in (tmp_path / "dist").rglob("*")
            if path.is_file()
        }
        listed = [f"skills/a/{path}" for path in files]
        others = [file.path for file in built.others]
        counted = {path: release[path] for path in (*listed, *others, "release.json")}

        assert skills.digest("a") == made(files)
        assert built.id == made(counted)
