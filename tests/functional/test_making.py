"""The newcomer's way: from nothing to a served and loaded skill, as the page has it."""

import re
import shlex
from pathlib import Path
from typing import Final

import pytest
from click.testing import Result

from tests.functional.library import run, run_process
from tests.functional.serving import serving

pytestmark = pytest.mark.slow

PAGE: Final = Path(__file__).parents[2] / "docs" / "how-to" / "make-a-skill.md"
AT_MOST: Final = 5
ADDRESS: Final = "http://127.0.0.1:8321"


def section() -> str:
    """Return the page's first section."""
    return re.split(r"^## .*\n", PAGE.read_text("utf-8"), flags=re.MULTILINE)[1]


def commands() -> list[list[str]]:
    """Return the commands of the page's first section, as words without ``satchel``."""
    lines = re.findall(r"^\$ satchel (.*)", section(), re.MULTILINE)
    return [shlex.split(line) for line in lines]


def written_by_the_author() -> str:
    """Return the program of the page's first section, which writes the body."""
    (program,) = re.findall(
        r"^```python\n(.*?)^```", section(), re.MULTILINE | re.DOTALL
    )
    return str(program)


def test_the_way_is_at_most_five_commands_long() -> None:
    assert [words[0] for words in commands()] == ["new", "pack", "serve", "show"]
    assert len(commands()) <= AT_MOST


def test_the_way_leads_to_a_loaded_skill(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At another port: that of the page may be taken."""
    monkeypatch.chdir(tmp_path)
    *making, serve, show = commands()
    for words in making:
        done: Result = run(*words)
        if words[0] == "new":
            exec(written_by_the_author(), {})  # noqa: S102 - the example of the page
        assert done.exit_code == 0, done.output
        assert "error" not in done.output
        assert "warning" not in done.output
    digest = done.stdout.strip()

    assert show[-1] == ADDRESS
    with serving(*serve[1:], cwd=tmp_path) as served:
        listed = run("list", "--json", "--skills", served.url)
        shown = run_process(*show[:-1], served.url, cwd=tmp_path)
        assert served.stop() == 0

    assert digest in listed.stdout
    body = (tmp_path / "skills/brew-tea/SKILL.md").read_bytes().split(b"---\n", 2)[2]
    assert (shown.returncode, shown.stdout) == (0, body)
