"""What `satchel convert` makes of what, byte for byte, and what it tells.

A case is a folder with ``input``, ``options.toml`` (``args``), ``expect`` (the packs
that come out, below the working folder) and ``told.txt``: the status of the command,
what became of each pack, then one ``severity code path:line`` a finding.
"""

import json
import shutil
import tomllib
from pathlib import Path

import pytest

from tests.functional.library import run, tree

FOLDER = Path(__file__).parents[1] / "cases" / "convert"
CASES = sorted(case for case in FOLDER.iterdir() if case.is_dir())


def converted(case: Path, folder: Path) -> tuple[dict[str, bytes], list[str]]:
    """Convert a case in ``folder``; return the files that are new, and what is told."""
    shutil.copytree(case / "input", folder, dirs_exist_ok=True)
    before = tree(folder)
    args = tomllib.loads((case / "options.toml").read_text("utf-8"))["args"]
    result = run("convert", *args, "--json")
    report = json.loads(result.stdout)
    expected = [f"status {result.exit_code}"]
    for pack in report["packs"]:
        expected.append(f"{pack['status']} {pack['path'] or pack['source']}")
        for item in pack["findings"]:
            line = f":{item['line']}" if item["line"] else ""
            expected.append(f"  {item['severity']} {item['code']} {item['path']}{line}")
            assert item["fix"], item
    after = tree(folder)
    assert {path: after[path] for path in before} == before
    return {path: after[path] for path in after if path not in before}, expected


@pytest.mark.row("X07", "C54", "E13", "E17", "X05", "C14", "C15", "C16")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_case(case: Path, here: Path) -> None:
    made, expected = converted(case, here)

    assert expected == (case / "told.txt").read_text("utf-8").splitlines()
    assert made == tree(case / "expect")
