"""Codes by the names of other tools."""

from __future__ import annotations

import pytest

from satchel.lint import aliases, codes_named
from satchel.model import UnknownCodeError, codes

EARLIER = """
missing-skill-md unreadable-skill-md missing-frontmatter yaml-error frontmatter-shape
invalid-manifest unsafe-reference-path missing-reference sensitive-pattern extra-key
body-too-large missing-h1
""".split()  # noqa: SIM905 - a list would be a column of words
"""The twelve codes of the lint that the profile ``strict`` comes from."""

OURS = """
unlisted-reference reference-not-mentioned envelope-breakout invalid-markdown
python-syntax spec-incompatible
""".split()  # noqa: SIM905


@pytest.mark.row("E02")
@pytest.mark.parametrize("code", [*EARLIER, *OURS])
def test_every_code_of_the_list_is_known(code: str) -> None:
    meant = codes_named(code)

    assert meant
    assert set(meant) <= set(codes())


@pytest.mark.parametrize("name", sorted(aliases()))
def test_a_name_means_codes_that_exist_each_once(name: str) -> None:
    meant = aliases()[name]

    assert sorted(set(meant)) == list(meant)
    assert [code for code in meant if code not in codes()] == []


def test_a_name_that_is_a_code_too_means_itself_as_well() -> None:
    both = sorted(set(aliases()) & set(codes()))

    assert both == ["invalid-manifest"]
    assert all(name in aliases()[name] for name in both)


def test_a_code_means_itself() -> None:
    assert codes_named("hidden-text") == ("hidden-text",)


@pytest.mark.parametrize("name", ["", "x", "Hidden-Text", "missing-skill_md"])
def test_any_other_name_is_unknown(name: str) -> None:
    with pytest.raises(UnknownCodeError):
        codes_named(name)
