"""Every example of the README and the docs runs, and prints what it shows.

The examples of one page run in order, in one folder, in which ``./skills`` is a copy of
``examples/skills``, ``./legacy/roles`` one of ``examples/templates/roles``. To leave
one out, say why, on the line before it::

    <!--- skip: next "asks for an account" -->
"""

import re
import shutil
from pathlib import Path
from textwrap import dedent
from typing import Final

import pytest
from sybil.example import SybilFailure

from satchel import published
from tests.docs.console import matches
from tests.docs.pages import run_page
from tests.form import FORM_PAGE, open_form

ROOT: Final = Path(__file__).parents[2]
DOCS: Final = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")),
    *sorted(ROOT.glob("docs/**/*.md")),
]
# Pages of adapters run next to their frameworks: tests/adapters/test_page.py.
PAGES: Final = [
    page
    for page in DOCS
    if page.parent != ROOT / "docs" / "how-to" / "adapters" or page.stem == "index"
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(ROOT / "examples" / "skills", tmp_path / "skills")
    roles = ROOT / "examples" / "templates" / "roles"
    shutil.copytree(roles, tmp_path / "legacy" / "roles")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_page(page: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if page == ROOT / "README.md":  # its reader has an empty folder
        (folder / "empty").mkdir()
        monkeypatch.chdir(folder / "empty")
    if page == FORM_PAGE:
        open_form(folder / "form")
        monkeypatch.chdir(folder / "form")
    run_page(page)


def test_the_form_page_shows_the_programs_as_they_are() -> None:
    page = FORM_PAGE.read_text("utf-8")

    for program in (ROOT / "examples" / "form").glob("*.py"):
        block = f"# {program.name}\n{program.read_text('utf-8')}```"
        assert f"```python\n{block}" in page, program.name


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("```python\nassert 1 == 2\n```\n", AssertionError),
        ("```python\n>>> 1 + 1\n3\n```\n", SybilFailure),
        ("```console\n$ echo one\ntwo\n```\n", SybilFailure),
        ("```console\n$ false\n```\n", SybilFailure),
        (
            "```python\n# a.py\nprint(1)\n```\n\n```console\n$ python a.py\n2\n```\n",
            SybilFailure,
        ),
        ("```sh\nsatchel list\n```\n", SybilFailure),
        ("```sh\nmake coffee\n```\n", SybilFailure),
        ("```json\n{\n```\n", ValueError),
        ("```bash\nls\n```\n", SybilFailure),
        ("<!--- skip: next -->\n\n```python\n1 / 0\n```\n", ValueError),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_wrong_example_fails(text: str, wrong: type[Exception], folder: Path) -> None:
    page = folder / "page.md"
    page.write_text(text, "utf-8")

    with pytest.raises(wrong):
        run_page(page)


def test_right_examples_pass(folder: Path) -> None:
    page = folder / "page.md"
    page.write_text(
        dedent("""\
            ```toml
            # satchel.toml
            sources = ["skills"]
            ```

            ```console
            $ cat satchel.toml
            # satchel...
            ...
            $ cat \\
            > nowhere
            ...nowhere...
            $ echo $?
            1
            ```

            ```python
            from pathlib import Path
            ```

            ```python
            >>> Path("skills").is_dir()
            True
            ```

            ```python
            # program.py
            name = "Ana"
            print(f"Hello {name}.")
            ```

            ```console
            $ python program.py
            Hello Ana.
            ```

            ```python
            >>> name
            'Ana'
            ```

            <!--- skip: next "it never ends" -->

            ```python
            1 / 0
            ```
        """),
        "utf-8",
    )

    run_page(page)


@pytest.mark.parametrize(
    ("shown", "actual", "same"),
    [
        ("a\nb", "a \nb\n\n", True),
        ("a...z", "abcz", True),
        ("a...z", "a\nz", False),
        ("a\n...\nz", "a\nb\nc\nz", True),
        ("a\n...", "a", True),
        ("a.c", "abc", False),
        ("a", "a\nb", False),
    ],
)
def test_output_matches(shown: str, actual: str, same: bool) -> None:
    assert matches(shown, actual) is same


@pytest.mark.skipif(bool(published.NAME), reason="there is a name to install")
@pytest.mark.parametrize("page", DOCS, ids=lambda page: str(page.relative_to(ROOT)))
def test_nobody_is_told_to_install_a_name_that_is_not_ours(page: Path) -> None:
    """Somebody else could take it; in a clone it is ``pip install ".[extra]"``."""
    text = page.read_text("utf-8")

    assert not re.findall(
        r"(?:pip install|uv add|uvx|pipx \w+) .*(?<!/)\bsatchel\b.*", text
    )
    assert not re.findall(r".*satchel\[.*|.*\bOWNER/.*", text)
