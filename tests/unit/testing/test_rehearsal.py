"""A rehearsal: what an agent would be told, offered and answered, without a model."""

from pathlib import Path

import pytest

from satchel import Policy, Run, Satchel, Skill, ask
from satchel.errors import SkillNotFoundError
from satchel.model import Json
from satchel.testing import (
    assert_clean,
    assert_found,
    assert_listed,
    assert_loaded,
    call,
    rehearse,
    user,
    write_pack,
)
from satchel.tools import Tool


def pay(order: str, run: Run) -> str:
    return f"paid {order} back for {run.who.get('user', 'nobody')}"


ORDER: Json = {"order": {"type": "string"}}
SCHEMA: dict[str, Json] = {
    "type": "object",
    "properties": ORDER,
    "required": ["order"],
}
PAY = Tool("pay", "Pay back.", SCHEMA, pay, "run")
REFUNDS = Skill(
    "refunds",
    description="Use when a customer wants money back.",
    instructions="Check first. " * 30,
    tools=[PAY],
)


@pytest.mark.row("N9")
def test_a_script_is_played_against_the_real_thing() -> None:
    played = rehearse(
        REFUNDS,
        call("pay", order="7"),
        call("load_skill", skill_id="refunds"),
        call("pay", order="7"),
        "It is paid.",
        prompt="You are the desk.",
        who={"user": "ana"},
    )

    assert "there is no such tool" in played.results[0]
    assert "Check first." in played.results[1]
    assert played.results[2] == "paid 7 back for ana"
    assert played.text == "It is paid."
    assert played.prompts[0].startswith("You are the desk.\n\nIf a skill fits")
    assert len(set(played.prompts)) == 1
    assert played.tools[0] == played.tools[1] == ("load_skill",)
    assert played.tools[2] == ("load_skill", "pay")
    assert played.loaded == ("refunds",)
    assert_loaded(played, "refunds")


@pytest.mark.row("N9")
def test_calls_side_by_side_and_turns_of_the_user() -> None:
    load = call("load_skill", skill_id="refunds")

    played = rehearse(
        REFUNDS, user("Hi."), [load, load], "Hello.", user("Again."), load
    )

    assert [m.text for m in played.messages if m.role == "user"] == ["Hi.", "Again."]
    assert [m.text for m in played.messages if m.role == "assistant"][-1] == "Done."
    assert "Use its text above" in played.results[2]
    assert played.tokens.results > played.tokens.prompts / 10 > 0


@pytest.mark.row("N9", "E25")
@pytest.mark.parametrize(("answer", "told"), [(True, "paid"), (False, "declined")])
def test_a_person_who_is_asked_answers(*, answer: bool, told: str) -> None:
    skills = Satchel(REFUNDS, policy=Policy(ask("refunds", tool="pay")))

    played = rehearse(
        skills,
        call("load_skill", skill_id="refunds"),
        call("pay", order="7"),
        approve=lambda _: answer,
    )

    assert told in played.results[1]


def test_without_a_script_the_agent_says_one_thing() -> None:
    played = rehearse(REFUNDS)

    assert (played.text, played.results, played.stopped) == ("Done.", (), "answered")
    with pytest.raises(SkillNotFoundError):
        rehearse(REFUNDS, always=["nope"])


class TestClaims:
    def test_that_hold_say_nothing(self, tmp_path: Path) -> None:
        write_pack(tmp_path, "pdf", "Fill in forms of the tax office, as PDF.")
        skills = Satchel(tmp_path)

        assert_listed(skills, "pdf")
        assert_found(skills, "tax forms", "pdf")
        assert_clean(skills)
        assert_loaded(rehearse(skills))

    def test_that_do_not_hold_say_why(self, tmp_path: Path) -> None:
        write_pack(tmp_path, "pdf", "", body="")
        write_pack(tmp_path, "sql", "Write queries.")
        skills = Satchel(tmp_path)

        with pytest.raises(AssertionError, match=r"pdf: parse: .*description"):
            assert_listed(skills, "pdf")
        with pytest.raises(AssertionError, match=r"does not find pdf .* it finds sql"):
            assert_found(skills, "queries", "pdf")
        with pytest.raises(AssertionError, match="finds nothing"):
            assert_found(skills, "zebra", "pdf")
        with pytest.raises(AssertionError, match=r"pdf/SKILL\.md"):
            assert_clean(skills)
        with pytest.raises(AssertionError, match="in use: nothing; expected: sql"):
            assert_loaded(rehearse(skills), "sql")
        with pytest.raises(AssertionError, match=r"last result: (.|\n)*not found"):
            assert_loaded(rehearse(skills, call("load_skill", skill_id="x")), "sql")


class TestPacks:
    def test_have_fields_and_files(self, tmp_path: Path) -> None:
        pack = write_pack(
            tmp_path,
            "pdf",
            "Use: always # really",
            files={"references/a.md": "text", "assets/b.bin": b"\0"},
            metadata={"tools": "pay"},
            disable_model_invocation=True,
        )
        skills = Satchel(tmp_path)

        assert pack == tmp_path / "pdf"
        assert skills.manifest("pdf").description == "Use: always # really"
        assert skills.load("pdf", "a.md").text == "text"
        assert "pdf" not in skills.catalog

    def test_stay_in_their_folder(self, tmp_path: Path) -> None:
        with pytest.raises(ValueError, match="does not stay inside"):
            write_pack(tmp_path, "pdf", files={"../x": ""})


@pytest.mark.slow
@pytest.mark.row("N9")
def test_pytest_finds_the_fixtures_by_itself(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    pytester.makeini("[pytest]")  # else what is in a folder above would count
    pytester.makepyfile("""
        from satchel.testing import assert_listed, call, rehearse

        def test_mine(skill_pack, open_skills):
            skill_pack("pdf", "Use for forms.")
            skills = open_skills(profile="spec")
            assert_listed(skills, "pdf")
            played = rehearse(skills, call("load_skill", skill_id="pdf"))
            assert "Do what" in played.results[0]

        def test_of_nothing(open_skills):
            assert len(open_skills().catalog) == 0
    """)

    pytester.runpytest_subprocess().assert_outcomes(passed=2)
