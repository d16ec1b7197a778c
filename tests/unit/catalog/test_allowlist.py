"""Which files of a pack may be read."""

import pytest

from satchel.catalog import allow
from satchel.model import FileStat, Manifest

HELD = tuple(
    FileStat(path, 1)
    for path in (
        "README.md",
        "SKILL.md",
        "assets/logo.png",
        "references/a.md",
        "references/hidden.md",
        "scripts/run.sh",
    )
)


def manifest(
    references: tuple[str, ...] = (),
    scripts: tuple[str, ...] = (),
    assets: tuple[str, ...] = (),
) -> Manifest:
    return Manifest(
        name="a",
        description="d",
        references=references,
        scripts=scripts,
        assets=assets,
        declares_files=bool(references or scripts or assets),
    )


@pytest.mark.row("X08")
def test_a_pack_that_declares_nothing_is_open_to_what_it_holds() -> None:
    listed = allow(manifest(), HELD)

    assert listed.references == ("references/a.md", "references/hidden.md")
    assert listed.scripts == ("scripts/run.sh",)
    assert listed.assets == ("assets/logo.png",)
    assert listed.others == ("README.md",)


@pytest.mark.row("A08", "G08", "X08")
def test_a_pack_that_declares_any_file_is_closed_to_just_these() -> None:
    """An existing sibling that is not declared is not listed."""
    listed = allow(manifest(references=("a.md",)), HELD)

    assert listed.references == ("references/a.md",)
    assert (listed.scripts, listed.assets, listed.others) == ((), (), ())


def test_strict_closes_every_pack() -> None:
    assert allow(manifest(), HELD, closed=True).references == ()


@pytest.mark.row("A20")
def test_a_listed_reference_may_lie_outside_references() -> None:
    listed = allow(manifest(references=("scripts/run.sh",)), HELD)

    assert listed.references == ("scripts/run.sh",)
    assert listed.findings == ()


@pytest.mark.row("A30", "G07", "C11")
def test_a_declared_file_that_is_missing_is_said_and_stays_listed() -> None:
    """So that asking for it is `ReferenceNotFoundError`, not a refusal."""
    listed = allow(manifest(references=("gone.md",)), HELD)

    assert listed.references == ("references/gone.md",)
    assert [f.code for f in listed.findings] == ["listed-file-missing"]


@pytest.mark.row("G06", "A09")
@pytest.mark.parametrize(
    "name", ["../../etc/passwd", "/etc/passwd", "a\\b", "%2e%2e/a"]
)
def test_a_declared_path_that_leaves_the_pack_is_an_error(name: str) -> None:
    listed = allow(manifest(references=(name,)), HELD)

    assert listed.references == ()
    assert [f.code for f in listed.findings] == ["unsafe-declared-file"]
    assert listed.findings[0].severity == "error"


@pytest.mark.row("R28")
def test_a_declared_file_of_a_kind_that_is_never_listed_is_an_error() -> None:
    listed = allow(manifest(assets=(".env",)), HELD)

    assert listed.assets == ()
    assert [f.code for f in listed.findings] == ["left-out-file-declared"]


@pytest.mark.row("C12", "C13")
def test_scripts_and_assets_are_declared_by_their_names() -> None:
    listed = allow(manifest(scripts=("run.sh",), assets=("logo.png",)), HELD)

    assert (listed.scripts, listed.assets) == (
        ("scripts/run.sh",),
        ("assets/logo.png",),
    )
