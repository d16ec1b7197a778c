"""Which findings count: from a file, a command line and the packs themselves."""

from dataclasses import fields

import pytest

from satchel.errors import ConfigError
from satchel.model import Finding, LintConfig, codes
from satchel_lab._pages import UnknownCodeError
from satchel_lab.lint import (
    DEFAULT_THRESHOLDS,
    NEVER_IGNORED,
    RULES,
    LintSettings,
    aliases,
    codes_named,
    read_inline_ignores,
    settings_of,
)
from satchel_lab.lint._settings import ON_REQUEST, glob_pattern, thresholds_for

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


def test_the_command_line_wins_over_the_file() -> None:
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
def test_what_turned_something_off_is_reported(
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
def test_a_code_that_is_invalid_is_refused_with_close_ones(
    config: LintConfig, ignore: tuple[str, ...], said: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        settings_of(config, "satchel.toml", ignore=ignore)

    assert said in str(caught.value)


def test_a_rule_runs_unless_every_code_of_it_is_off() -> None:
    settings = settings_of(select=("hidden-text",))
    asked = {rule.name for rule in RULES if settings.needs(rule) and rule.codes}

    assert asked == {"suspicious_content"}
    needless = [rule for rule in RULES if not settings_of().needs(rule)]

    assert {code for rule in needless for code in rule.codes} <= ON_REQUEST

    silent = [rule.name for rule in RULES if not rule.codes]
    settings = settings_of(select=("hidden-text",))

    assert silent
    assert all(settings.needs(rule) for rule in RULES if rule.name in silent)


def test_thresholds_are_counts_of_the_specification_or_of_strict() -> None:
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

    values = [getattr(DEFAULT_THRESHOLDS, f.name) for f in fields(DEFAULT_THRESHOLDS)]

    assert all(type(value) is int and value >= 0 for value in values)


@pytest.mark.parametrize(
    ("glob", "paths", "others"),
    [
        ("a", ["a", "a/b", "a/b/c"], ["b/a", "ab", "A"]),
        ("./a/", ["a", "a/b"], ["b"]),
        ("*", ["a", "a/b"], []),
        ("*.md", ["a.md", ".md", "a.md/b"], ["a/b.md", "a.mdx"]),
        ("a/*/c", ["a/b/c", "a/b/c/d"], ["a/c", "a/b/b/c"]),
        ("a/**", ["a/b", "a/b/c"], ["a", "b"]),
        ("**/c", ["c", "a/c", "a/b/c", "a/c/d"], ["ac"]),
        ("a/**/c", ["a/c", "a/b/c", "a/b/b/c"], ["a/bc"]),
        ("?", ["a", "a/b"], ["ab", "/"]),
        ("a[b].(c)+", ["a[b].(c)+"], ["ab.c"]),
        ("", [""], ["a"]),
    ],
)
def test_what_a_pattern_matches(glob: str, paths: list[str], others: list[str]) -> None:
    pattern = glob_pattern(glob)

    assert [path for path in paths if not pattern.fullmatch(path)] == []
    assert [path for path in others if pattern.fullmatch(path)] == []


def test_many_wildcards_or_comments_cost_little() -> None:
    """Each start is looked at for a bounded distance."""
    assert not glob_pattern("**/" * 50 + "x").fullmatch("a/" * 2000 + "y")

    text = page("", "<!-- satchel: ignore " * 20_000)

    assert read_inline_ignores(text).codes == frozenset()


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


def test_a_code_means_itself_also_where_it_is_a_name() -> None:
    both = sorted(set(aliases()) & set(codes()))

    assert both == ["invalid-manifest"]
    assert all(name in aliases()[name] for name in both)

    assert codes_named("hidden-text") == ("hidden-text",)


@pytest.mark.parametrize("name", ["", "x", "Hidden-Text", "missing-skill_md"])
def test_any_other_name_is_unknown(name: str) -> None:
    with pytest.raises(UnknownCodeError):
        codes_named(name)


def page(head: str = "", body: str = "") -> str:
    return f"---\nname: x\n{head}description: d\n---\n{body}"


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        (page(), set[str]()),
        (page("# satchel: ignore missing-h1\n"), {"missing-h1"}),
        (page("  #satchel:ignore  dead-link,\n"), {"dead-link"}),
        (page("#satchel: ignore dead-link,missing-h1\n"), {"dead-link", "missing-h1"}),
        (page("# satchel: ignore\n"), set[str]()),
        (page("", "<!-- satchel: ignore missing-h1 -->\n"), {"missing-h1"}),
        (page("", "a\n\n<!--satchel:ignore\n missing-h1\n dead-link\n-->"), {
            "missing-h1",
            "dead-link",
        }),
        (page("# satchel: ignore extra-key\n"), {"unknown-field"}),
        # A heading is no comment, nor is a comment inside a line.
        (page("", "# satchel: ignore missing-h1\n"), set[str]()),
        (page("", "write <!-- satchel: ignore missing-h1 -->\n"), set[str]()),
        (page("", "<!-- satchel: ignored missing-h1 -->\n"), set[str]()),
        (page("license: satchel: ignore x\n"), set[str]()),
        ("no frontmatter\n<!-- satchel: ignore missing-h1 -->\n", {"missing-h1"}),
    ],
)  # fmt: skip
def test_comments_name_codes(text: str, codes: set[str]) -> None:
    inline = read_inline_ignores(text)

    assert inline.codes == codes
    assert inline.findings == ()


@pytest.mark.row("E02")
@pytest.mark.parametrize("code", sorted(NEVER_IGNORED))
def test_nothing_that_deceives_is_hidden(code: str) -> None:
    """A pack may come from anybody; a reviewer has to see this."""
    inline = read_inline_ignores(page(f"# satchel: ignore {code}\n"))
    [said] = inline.findings

    assert not inline.hides(Finding(code, "warning", "m"))
    assert (said.code, said.severity, said.line) == ("unheeded-ignore", "note", 3)
    assert code in said.message


def test_no_error_is_hidden_and_a_misspelt_code_is_reported() -> None:
    inline = read_inline_ignores(page("# satchel: ignore unknown-field missing-h1\n"))

    assert not inline.hides(Finding("unknown-field", "error", "m"))
    assert inline.hides(Finding("unknown-field", "warning", "m"))
    assert inline.hides(Finding("missing-h1", "note", "m"))
    assert not inline.hides(Finding("dead-link", "note", "m"))

    inline = read_inline_ignores(page("", "a\n<!-- satchel: ignore hiden-text -->\n"))
    [said] = inline.findings

    assert inline.codes == frozenset()
    assert said.line == 6
    assert "did you mean hidden-text" in said.message
