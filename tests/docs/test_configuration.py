"""The page on satchel.toml names every key, with the default that it has."""

import re
from dataclasses import fields
from pathlib import Path
from typing import Any, Final

import pytest

from satchel.config import Config
from satchel.model import DEFAULT_LIMITS, Limits, LintConfig, Thresholds
from satchel_lab.lint import DEFAULT_THRESHOLDS

PAGE: Final = Path(__file__).parents[2] / "docs" / "reference" / "configuration.md"


def section(title: str) -> str:
    """Return the text below a heading."""
    text = PAGE.read_text("utf-8")
    return text.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def rows(title: str) -> dict[str, list[str]]:
    """Return the rows of the table in a section, by their first cell."""
    lines = re.findall(r"^\| `(\w+)` \|(.*)\|$", section(title), re.MULTILINE)
    return {name: [cell.strip() for cell in rest.split(" | ")] for name, rest in lines}


@pytest.mark.parametrize(
    ("title", "value"),
    [("Skills", Config), ("`[lint]`", LintConfig), ("`[lint.thresholds]`", Thresholds)],
)
def test_every_key_has_a_row(title: str, value: Any) -> None:  # noqa: ANN401
    assert sorted(rows(title)) == sorted(
        field.name for field in fields(value) if field.name != "path"
    )


def test_every_limit_is_named() -> None:
    named = set(re.findall(r"`(\w+)`", section("`[limits]`")))

    assert named == {field.name for field in fields(Limits)}
    assert DEFAULT_LIMITS.file_bytes == 10 * DEFAULT_THRESHOLDS.file_bytes


@pytest.mark.parametrize("name", [field.name for field in fields(Thresholds)])
def test_a_threshold_has_the_default_that_is_shown(name: str) -> None:
    shown = rows("`[lint.thresholds]`")[name][0].partition(";")[0]

    assert int(shown.replace(",", "")) == getattr(DEFAULT_THRESHOLDS, name)


@pytest.mark.parametrize(
    ("title", "value"),
    [("Skills", Config()), ("`[lint]`", LintConfig())],
    ids=["skills", "lint"],
)
def test_a_word_has_the_default_that_is_shown(title: str, value: Any) -> None:  # noqa: ANN401
    for name, (_, default, _) in rows(title).items():
        actual = getattr(value, name)
        if isinstance(actual, bool | int):
            assert default.strip("`") == str(actual).lower()
        elif isinstance(actual, str) and actual:
            assert default == f"`{actual}`"
