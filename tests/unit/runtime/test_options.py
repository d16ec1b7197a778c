"""A wrong option fails where it is written, with what there is instead."""

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from satchel import Options, Satchel, sources
from satchel.errors import ConfigError, SkillNotFoundError
from tests.fakes import FakeSource, away, pack

pytestmark = pytest.mark.row("F58")


def source() -> FakeSource:
    names = ("sql", "web-a", "web-b")
    return FakeSource("s", {name: {"SKILL.md": pack(name)} for name in names})


def gone() -> FakeSource:
    there = FakeSource("gone", {})
    there.failure = away("gone")
    return there


WORDS: dict[str, tuple[Callable[[Satchel, Any], object], str, str]] = {
    "style of a library": (lambda _, w: Satchel(style=w), "pack", "packs"),
    "profile": (lambda _, w: Satchel(profile=w), "lenien", "lenient"),
    "on_conflict": (lambda _, w: Options(on_conflict=w), "precedense", "precedence"),
    "budget": (lambda _, w: Satchel(budget_tokens=w), "defaul", "default"),
    "format": (lambda s, w: s.prompt(format=w), "xml", "xml-id"),
    "style of a prompt": (
        lambda s, w: s.prompt(style=w),
        "agent-skill",
        "agent-skills",
    ),
    "budget of a prompt": (
        lambda s, w: s.prompt(budget_tokens=w),
        "defaults",
        "default",
    ),
    "style of a session": (lambda s, w: s.session(style=w), "reference", "references"),
    "style of a view": (lambda s, w: s.view(style=w), "pakcs", "packs"),
}


@pytest.mark.parametrize("where", WORDS)
def test_a_word_that_is_none_is_refused_with_the_one_that_was_meant(where: str) -> None:
    act, wrong, meant = WORDS[where]

    with pytest.raises(ConfigError) as caught:
        act(Satchel(source()), wrong)

    assert repr(wrong) in str(caught.value)
    assert f"did you mean {meant!r}" in str(caught.value)
    assert "known: " in str(caught.value)


def test_a_word_that_is_like_no_other_is_refused_with_all_that_there_are() -> None:
    with pytest.raises(ConfigError) as caught:
        Satchel(source()).prompt(format="yaml")  # type: ignore[arg-type]

    assert str(caught.value) == (
        "format: 'yaml' is not known; known: lean, xml-id, markdown, xml-spec, json"
    )


@pytest.mark.row("F12")
@pytest.mark.parametrize(
    ("act", "error", "message"),
    [
        (
            lambda _: Satchel(limits=1),  # type: ignore[arg-type]
            TypeError,
            r"write Satchel\(\.\.\., options=Options\(limits=\.\.\.\)\)",
        ),
        (
            lambda _: Satchel(polcy=1),  # type: ignore[arg-type]
            TypeError,
            "no keyword 'polcy'",
        ),
        (lambda s: s.session(who="ana"), TypeError, "who: expected a mapping"),
        (lambda s: s.view(who="ana"), TypeError, "who: expected a mapping"),
        (lambda s: s.load("sql", who="ana"), TypeError, "who: expected a mapping"),
        (lambda s: s.session(approve="y"), TypeError, "approve: expected a function"),
        (lambda _: Options(deadline_s=0), ConfigError, "deadline_s"),
        (lambda _: Options(deadline_s=-1.0), ConfigError, "deadline_s"),
        (lambda _: Options(deadline_s=float("nan")), ConfigError, "deadline_s"),
        (
            lambda _: Satchel(source(), options=Options(config="satchel.toml")),
            ConfigError,
            "config: it is read only if",
        ),
    ],
    ids=range(10),
)
def test_an_option_of_the_wrong_kind_is_refused(
    act: Callable[[Any], object], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        act(Satchel(source()))


@pytest.mark.row("F12")
@pytest.mark.parametrize(
    "act",
    [
        lambda skills, only: skills.session(only=only),
        lambda skills, only: skills.view(only=only),
        lambda skills, only: skills.session().derive(only=only),
    ],
    ids=["session", "view", "derive"],
)
def test_an_id_in_only_that_no_skill_has_is_refused(
    act: Callable[[Satchel, object], object],
) -> None:
    skills = Satchel(source())

    with pytest.raises(SkillNotFoundError) as caught:
        act(skills, ["web-*", "sqll"])
    assert caught.value.close == ("sql",)
    act(skills, ["web-*", "sql"])
    act(skills, "sql")


@pytest.mark.row("F12")
def test_a_pattern_in_only_may_fit_nothing_and_is_logged_where_nothing_is_left(
    caplog: pytest.LogCaptureFixture,
) -> None:
    skills = Satchel(source())
    skills.session(only=["draft-*", "sql"])
    assert caplog.records == []

    skills.session(only=["draft-*"])

    (line,) = caplog.records
    assert (line.name, line.levelno) == ("satchel", logging.WARNING)
    assert line.getMessage() == "only=: none of the 3 skills fits 'draft-*'"


@pytest.mark.row("F12")
def test_an_id_in_only_that_was_there_or_may_be_elsewhere_is_no_typo() -> None:
    """A running program does not fail because somebody took a skill away."""
    there = source()
    skills = Satchel(there)
    del there.packs["sql"]
    skills.sync()
    skills.session(only=["sql", "web-a"])

    Satchel(source(), gone()).session(only=["far", "web-a"])


@pytest.mark.row("F12")
def test_what_is_disabled_by_a_name_that_no_skill_has_is_refused(
    tmp_path: Path,
) -> None:
    with pytest.raises(ConfigError) as caught:
        Satchel(source(), disabled=["sqll"])
    assert str(caught.value) == (
        "disabled: no skill is called 'sqll', so that nothing is switched off; "
        "write 'sql', or take it off `disabled`"
    )
    (tmp_path / "web").mkdir()
    (tmp_path / "web" / "SKILL.md").write_text(pack("web"))
    (tmp_path / "satchel.toml").write_text('skills = ["."]\ndisabled = ["wep"]\n')
    with pytest.raises(ConfigError, match="'wep'"):
        Satchel(options=Options(config=tmp_path / "satchel.toml"))


@pytest.mark.row("F12")
def test_a_pattern_or_a_skill_that_is_held_back_may_be_disabled() -> None:
    filtered = sources.only(source(), ["web-*"])

    skills = Satchel(filtered, disabled=["draft-*", "sql", "web-a"])

    assert [entry.id for entry in skills.catalog] == ["web-b"]
    assert skills.findings == ()


@pytest.mark.row("F12", "T03")
@pytest.mark.parametrize(
    ("variable", "value", "kind", "fix"),
    [
        ("SATCHEL_DISABLED", "sqll", "skill", "write 'sql', or take it off"),
        ("SATCHEL_DISABLED_SOURCES", "t", "source", "take it off"),
    ],
)
def test_what_the_environment_disables_by_a_wrong_name_is_a_warning(
    variable: str, value: str, kind: str, fix: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Several programs may share it, and each has skills of its own."""
    skills = Satchel(source(), options=Options(environ={variable: value}))

    (finding,) = skills.findings
    assert (finding.code, finding.path) == ("disabled-unknown", variable)
    assert finding.message.startswith(f"no {kind} is called {value!r}")
    assert finding.fix.startswith(fix)
    assert len(caplog.records) == 1
    with pytest.raises(ConfigError):
        Satchel(source(), strict=True, options=Options(environ={variable: value}))


@pytest.mark.row("F12")
def test_while_a_source_is_away_a_name_is_a_warning() -> None:
    skills = Satchel(source(), gone(), disabled=["far"])

    assert "disabled-unknown" in {each.code for each in skills.findings}


@pytest.mark.parametrize("tokens", [0, -1, True])
def test_a_budget_in_which_nothing_fits_is_refused(tokens: int) -> None:
    for act in (
        lambda: Satchel(source(), budget_tokens=tokens),
        lambda: Satchel(source()).prompt(budget_tokens=tokens),
    ):
        with pytest.raises(ConfigError, match="expected a count from 1"):
            act()
    assert Satchel(source(), budget_tokens=1).prompt(budget_tokens=None).text
