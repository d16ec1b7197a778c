"""The wheel of the heart that `tools.readme` tries, and what it accepts."""

from pathlib import Path
from zipfile import ZipFile

import pytest

from tools.readme import ONE_LINE, PROGRAM, build_heart

ROOT = Path(__file__).parents[1]


@pytest.mark.slow
def test_the_wheel_of_the_heart_has_no_other_product(tmp_path: Path) -> None:
    with ZipFile(build_heart(tmp_path / "project")) as wheel:
        names = wheel.namelist()
        (metadata,) = (n for n in names if n.endswith(".dist-info/METADATA"))
        text = wheel.read(metadata).decode()

    folders = {name.partition("/")[0] for name in names}
    assert folders == {"satchel", metadata.partition("/")[0]}
    assert "Requires-Dist: pydantic" in text
    assert "Provides-Extra: langchain" in text


@pytest.mark.parametrize(
    ("page", "name", "last_line"),
    [
        ("README.md", "# first.py", "nothing else ch"),
        ("docs/how-to/adapters/langchain.md", "# agent.py", "send me the form."),
    ],
)
def test_a_page_begins_with_a_program(page: str, name: str, last_line: str) -> None:
    program = PROGRAM.search((ROOT / page).read_text("utf-8"))

    assert program is not None
    assert program["code"].startswith(f"{name}\n")
    assert program["shown"].casefold().endswith(f"{last_line}\n")


@pytest.mark.parametrize(
    ("answer", "accepted"),
    [
        ("error: satchel check needs satchel_lab, which is not here\n", True),
        ("", False),
        ("0 skills\n", False),
        ("Traceback:\nImportError: it needs satchel_lab\n", False),
        ("it needs satchel_lab\nand more\n", False),
    ],
)
def test_what_is_missing_is_named_in_one_line(answer: str, accepted: bool) -> None:
    assert bool(ONE_LINE.fullmatch(answer)) == accepted
