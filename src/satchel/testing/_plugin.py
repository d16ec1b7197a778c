"""Fixtures for people who have skills; pytest finds them by itself.

``skill_pack`` writes packs into the test's own folder, ``open_skills`` opens them.
``--satchel-loader`` tries a loader of skills instead of running tests.
"""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:  # at the start of every test run, whether it has skills or not
    from collections.abc import Callable, Iterator

    from satchel.runtime import Satchel


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add what tries a loader."""
    group = parser.getgroup("satchel")
    group.addoption(
        "--satchel-loader",
        metavar="TARGET",
        help="try a loader on hundreds of packs: module:function or file.py:function; "
        "behind a comma, what returns the prompt",
    )
    group.addoption(
        "--satchel-runtime",
        metavar="TARGET",
        help="try a runtime on the contract of the adapters: module:class",
    )
    group.addoption(
        "--satchel-python", metavar="PYTHON", help="the Python that has the loader"
    )
    group.addoption(
        "--satchel-report",
        metavar="FILE",
        action="append",
        help="write what came of it: .md, .json (also for a badge), .svg (a badge)",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Try a loader or a runtime, where one is named."""
    if config.getoption("satchel_loader") or config.getoption("satchel_runtime"):
        from satchel.products import import_product

        import_product("satchel_lab.conformance", "--satchel-loader").install(config)


@pytest.fixture
def skill_pack(tmp_path: Path) -> "Callable[..., Path]":
    """Return `satchel.testing.write_pack`, for the test's own folder of packs."""
    from functools import partial

    from satchel.testing._packs import write_pack

    return partial(write_pack, tmp_path / "skills")


@pytest.fixture
def open_skills(tmp_path: Path) -> "Iterator[Callable[..., Satchel]]":
    """Return what opens a `satchel.Satchel` over the packs of the test, and more.

    It takes what ``Satchel`` takes; what it opened is closed when the test is over.
    """
    from satchel.runtime import Satchel

    opened: list[Satchel] = []

    def open_satchel(*more: object, **options: object) -> "Satchel":
        folder = tmp_path / "skills"
        folder.mkdir(exist_ok=True)
        skills = Satchel(folder, *more, **options)  # type: ignore[arg-type]
        opened.append(skills)
        return skills

    yield open_satchel
    for skills in opened:
        skills.close()
