"""Which listed file a name means, in which order it is looked for."""

from __future__ import annotations

import pytest

from satchel.load import resolve
from satchel.model import Descriptor

PACK = Descriptor(
    "pack",
    "Use.",
    references=("references/a.md", "references/sub/deep.md", "scripts.md"),
    scripts=("scripts/a.sh", "scripts/lib/b.md"),
    assets=("assets/logo.png",),
    others=("a.md", "notes/b.md"),
)


@pytest.mark.row("R14", "A18", "A20", "A30")
@pytest.mark.parametrize("path", PACK.resources)
def test_every_listed_path_is_itself(path: str) -> None:
    assert resolve(PACK, path) == path


@pytest.mark.row("R14", "A18")
@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("a.md", "a.md"),
        ("a.sh", "scripts/a.sh"),
        ("logo.png", "assets/logo.png"),
        ("sub/deep.md", "references/sub/deep.md"),
        ("deep.md", "references/sub/deep.md"),
        ("lib/b.md", "scripts/lib/b.md"),
        ("SKILL.md", "SKILL.md"),
    ],
)
def test_exact_then_bucket_then_the_only_one_of_that_name(name: str, path: str) -> None:
    assert resolve(PACK, name) == path
