"""Skills and sources that an operator switches off by environment (E24)."""

from pathlib import Path

import pytest

from satchel.errors import ConfigError, SkillExcludedError
from satchel.load import error_result
from satchel.runtime import Options, Satchel
from tests.fakes import FakeSource, pack

pytestmark = pytest.mark.row("E24")


def both() -> tuple[FakeSource, FakeSource]:
    def source(label: str, *names: str) -> FakeSource:
        return FakeSource(label, {name: {"SKILL.md": pack(name)} for name in names})

    return source("user:~/skills", "draft", "pdf"), source("house", "pay-eu", "pay-us")


def listed(skills: Satchel) -> list[str]:
    return [entry.id for entry in skills.catalog]


@pytest.mark.parametrize(
    ("variable", "value", "left"),
    [
        ("SATCHEL_DISABLED", "", ["draft", "pay-eu", "pay-us", "pdf"]),
        ("SATCHEL_DISABLED", " , ", ["draft", "pay-eu", "pay-us", "pdf"]),
        ("SATCHEL_DISABLED", "pdf", ["draft", "pay-eu", "pay-us"]),
        ("SATCHEL_DISABLED", " pdf , draft,", ["pay-eu", "pay-us"]),
        ("SATCHEL_DISABLED", '["pdf", " draft "]', ["pay-eu", "pay-us"]),
        ("SATCHEL_DISABLED", "pay-*", ["draft", "pdf"]),
        ("SATCHEL_DISABLED", "PDF", ["draft", "pay-eu", "pay-us", "pdf"]),
        ("SATCHEL_DISABLED_SOURCES", "user:*", ["pay-eu", "pay-us"]),
        ("SATCHEL_DISABLED_SOURCES", '["house"]', ["draft", "pdf"]),
        ("SATCHEL_DISABLED_SOURCES", "pdf", ["draft", "pay-eu", "pay-us", "pdf"]),
    ],
)
def test_the_environment_switches_off_by_id_and_by_source(
    variable: str, value: str, left: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert listed(Satchel(*both(), options=Options(environ={variable: value}))) == left

    monkeypatch.setenv(variable, value)

    assert listed(Satchel(*both())) == left


def test_it_adds_to_what_the_program_and_the_file_switch_off_unless_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a", "b", "c", "d"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "SKILL.md").write_text(pack(name))
    settings = tmp_path / "satchel.toml"
    settings.write_text('skills = ["."]\ndisabled = ["a"]\n')

    skills = Satchel(
        disabled=["b"],
        options=Options(config=settings, environ={"SATCHEL_DISABLED": "c"}),
    )

    assert listed(skills) == ["d"]

    monkeypatch.setenv("SATCHEL_DISABLED", "*")

    assert len(Satchel(*both(), options=Options(environ={})).catalog) == 4


@pytest.mark.parametrize(
    ("variable", "value", "detail"),
    [
        ("SATCHEL_DISABLED", "p*", "it is switched off"),
        ("SATCHEL_DISABLED_SOURCES", "user:*", "its source is switched off"),
    ],
    ids=["skill", "source"],
)
def test_what_is_off_is_an_error_with_a_reason_and_a_fix(
    variable: str, value: str, detail: str
) -> None:
    skills = Satchel(*both(), options=Options(environ={variable: value}))
    why = skills.why("pdf")
    with pytest.raises(SkillExcludedError) as caught:
        skills.load("pdf")

    expected = ("disabled", detail, f"take it off {variable}")
    assert (why.stage, why.message, why.fix) == expected
    assert caught.value.reason == "disabled"
    assert error_result(caught.value) == {
        "error": {
            "code": "skill-withheld",
            "message": "skill 'pdf' is disabled and cannot be loaded",
        }
    }


@pytest.mark.parametrize("value", ["[", "[pdf]", '["a", 1]', '[["a"]]', "[" * 99_999])
def test_a_variable_that_cannot_be_read_is_loud(value: str) -> None:
    """A switch that silently switches nothing off would be found too late."""
    with pytest.raises(ConfigError, match="SATCHEL_DISABLED: expected a JSON") as got:
        Satchel(*both(), options=Options(environ={"SATCHEL_DISABLED": value}))

    assert len(str(got.value)) < 300
