"""A command imports what it needs: most of what a person waits for is imports."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = """\
import sys
from satchel.cli import main
try:
    main({arguments!r}, prog_name="satchel")
except SystemExit as end:
    print(end.code, *sys.modules)
"""

HEAVY = frozenset(
    """
    asyncio concurrent.futures difflib http importlib.metadata pathlib pydoc rich
    satchel_lab.lint satchel.load satchel.prompt satchel.runtime._session satchel.search
    satchel.tools socket sqlite3 urllib.parse yaml
    """.split()  # noqa: SIM905 - a list would be a column of words
)


def modules(*arguments: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT.format(arguments=list(arguments))],
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    status, *names = done.stdout.splitlines()[-1].split()
    assert status == "0"
    return set(names)


@pytest.mark.parametrize("arguments", ["list", "list --json"])
def test_a_list_of_nothing_imports_nothing_heavy(
    arguments: str, tmp_path: Path
) -> None:
    assert sorted(modules(*arguments.split(), "--skills", str(tmp_path)) & HEAVY) == []


def test_help_imports_no_command() -> None:
    loaded = modules("--help")

    assert [name for name in loaded if name.startswith("satchel.cli._commands")] == []
    assert "satchel.runtime" not in loaded
