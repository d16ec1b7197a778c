"""Which findings count, and how much: from a file and from a command line."""

from __future__ import annotations

from dataclasses import fields

import pytest

from satchel.errors import ConfigError
from satchel.lint import RULES, LintSettings, settings_of
from satchel.lint._settings import thresholds_for
from satchel.model import DEFAULT_THRESHOLDS, Finding, LintConfig

LONG = Finding("long-description", "note", "long", "a/SKILL.md", 3)
HIDDEN = Finding("hidden-text", "warning", "1 tag", "a/SKILL.md", 4)
DEAD = Finding("dead-link", "warning", "no file", "a/references/b.md", 5)


def levels(settings: LintSettings) -> list[str]:
    judged = [settings.judge(each) for each in (LONG, HIDDEN, DEAD)]
    return [each.severity if each else "off" for each in judged]


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        (LintConfig(), ["note", "warning", "warning"]),
        (LintConfig(select=("hidden-text",)), ["off", "warning", "off"]),
        (LintConfig(ignore=("hidden-text",)), ["note", "off", "warning"]),
        (LintConfig(ignore=("invalid-markdown",)), ["note", "warning", "off"]),
        (
            LintConfig(severity=(("long-description", "error"),)),
            ["error", "warning", "warning"],
        ),
        (
            LintConfig(severity=(("dead-link", "off"), ("hidden-text", "note"))),
            ["note", "note", "off"],
        ),
        (
            LintConfig(
                select=("dead-link", "hidden-text"),
                ignore=("hidden-text",),
                severity=(("dead-link", "note"),),
            ),
            ["off", "off", "note"],
        ),
    ],
    ids=lambda value: None if isinstance(value, list) else "",
)
@pytest.mark.row("E02")
def test_a_file_turns_codes_off_and_weighs_them(
    config: LintConfig, expected: list[str]
) -> None:
    assert levels(settings_of(config, "/x/satchel.toml")) == expected


@pytest.mark.parametrize(
    ("glob", "off"),
    [
        ("a/**", True),
        ("a", True),
        ("./a/", True),
        ("**/SKILL.md", True),
        ("*/SKILL.md", True),
        ("SKILL.md", False),
        ("b/**", False),
        ("a/*.txt", False),
    ],
)
def test_a_file_turns_codes_off_below_a_path(glob: str, off: bool) -> None:
    """Relative to the folder of the file, wherever the check runs."""
    config = LintConfig(per_path=((glob, ("hidden-text",)),))
    settings = settings_of(config, "satchel.toml")

    assert levels(settings) == ["note", "off" if off else "warning", "warning"]


def test_the_command_line_goes_before_the_file() -> None:
    config = LintConfig(
        profile="strict",
        fail_on="warning",
        select=("dead-link",),
        ignore=("hidden-text",),
        severity=(("long-description", "off"),),
    )
    by_file = settings_of(config, "x/satchel.toml")
    over = settings_of(
        config,
        "x/satchel.toml",
        profile="lenient",
        fail_on="never",
        select=["hidden-text, long-description"],
        ignore=["dead-link"],
    )

    assert (by_file.profile, by_file.fail_on) == ("strict", "warning")
    assert (over.profile, over.fail_on) == ("lenient", "never")
    assert levels(by_file) == ["off", "off", "warning"]
    assert levels(over) == ["note", "warning", "off"]


@pytest.mark.parametrize(
    ("config", "ignore", "told_by"),
    [
        (LintConfig(), (), ""),
        (LintConfig(severity=(("dead-link", "note"),)), (), ""),
        (LintConfig(severity=(("dead-link", "off"),)), (), "satchel.toml"),
        (LintConfig(), ("dead-link",), "the command line"),
        (
            LintConfig(ignore=("dead-link",)),
            ("hidden-text",),
            "satchel.toml and the command line",
        ),
    ],
    ids=["nobody", "lower", "file", "line", "both"],
)
def test_who_turned_something_off_is_told(
    config: LintConfig, ignore: tuple[str, ...], told_by: str
) -> None:
    settings = settings_of(config, "x/satchel.toml", ignore=ignore)

    assert settings.turned_off_by == told_by


@pytest.mark.parametrize(
    ("config", "ignore", "said"),
    [
        (LintConfig(select=("dead-lnk",)), (), "satchel.toml: no code 'dead-lnk'"),
        (LintConfig(ignore=("x",)), (), "satchel.toml: no code 'x'"),
        (LintConfig(severity=(("x", "off"),)), (), "satchel.toml: no code 'x'"),
        (LintConfig(per_path=(("a", ("x",)),)), (), "satchel.toml: no code 'x'"),
        (LintConfig(), ("hiden-text",), "line: no code 'hiden-text'; did you mean hi"),
        (LintConfig(), ("mising-frontmatter",), "did you mean missing-frontmatter"),
    ],
    ids=["select", "ignore", "severity", "path", "line", "alias"],
)
def test_a_code_that_is_none_is_refused_with_close_ones(
    config: LintConfig, ignore: tuple[str, ...], said: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        settings_of(config, "satchel.toml", ignore=ignore)

    assert said in str(caught.value)


def test_a_rule_of_which_every_code_is_off_is_not_asked() -> None:
    settings = settings_of(select=("hidden-text",))
    asked = {rule.name for rule in RULES if settings.needs(rule) and rule.codes}

    assert asked == {"suspicious_content"}
    assert all(settings_of().needs(rule) for rule in RULES)


def test_a_rule_that_hands_on_what_others_found_is_always_asked() -> None:
    silent = [rule.name for rule in RULES if not rule.codes]
    settings = settings_of(select=("hidden-text",))

    assert silent
    assert all(settings.needs(rule) for rule in RULES if rule.name in silent)


def test_thresholds_are_the_specification_s_and_in_strict_an_earlier_lint_s() -> None:
    """Body under 5,000 tokens and 500 lines; 5 KiB only where packs are that short."""
    given = thresholds_for("spec", {"body_tokens": 9, "file_bytes": 0})

    assert (DEFAULT_THRESHOLDS.body_tokens, DEFAULT_THRESHOLDS.body_lines) == (
        5000,
        500,
    )
    assert thresholds_for("spec") == DEFAULT_THRESHOLDS
    assert thresholds_for("strict").body_bytes == 5 * 1024
    assert thresholds_for("strict", {"body_bytes": 1}).body_bytes == 1
    assert (given.body_tokens, given.file_bytes, given.body_lines) == (9, 0, 500)


def test_every_threshold_is_a_count() -> None:
    values = [getattr(DEFAULT_THRESHOLDS, f.name) for f in fields(DEFAULT_THRESHOLDS)]

    assert all(type(value) is int and value >= 0 for value in values)
