"""What a policy says of a load is asked before a file is touched."""

from collections.abc import Mapping
from typing import Any

import pytest

from satchel.errors import (
    ApprovalDeclinedError,
    ApprovalNeededError,
    DeniedError,
    ReferenceNotAllowedError,
    SkillExcludedError,
    SkillNotFoundError,
)
from satchel.load import (
    TurnCache,
    error_result,
    find_loadable,
    load as real_load,
    packs_result,
    render_context_error,
)
from satchel.model import Action, Catalog, Decision, Excluded, Loaded, Request
from satchel.policy import OPEN_POLICY, Policy, allow, ask, deny
from satchel.runtime._authorizer import Authorizer
from tests.unit.load.fake_pack import FakeBackend, FakePack

ANA: dict[str, object] = {"user": "ana"}
BOB: dict[str, object] = {"user": "bob"}
FOR_ANA = Policy(deny("*", unless=lambda who: who["user"] == "ana"))


def load(
    catalog: Catalog,
    request: Request,
    policy: Policy = OPEN_POLICY,
    turn: TurnCache | None = None,
) -> Loaded:
    """Load as a caller for whom nobody is asked."""
    entry = find_loadable(catalog, request.id)
    decision = Authorizer(policy, request.who).decide_load(entry, request)
    return real_load(catalog, request, decision=decision, turn=turn)


@pytest.fixture
def fake() -> FakePack:
    return FakePack.of(references__a_md="A")


@pytest.mark.row("R20", "E18", "G08")
@pytest.mark.parametrize(
    ("policy", "file", "error"),
    [
        (Policy(deny("pdf")), None, DeniedError),
        (Policy(deny("pdf")), "a.md", DeniedError),
        (Policy(deny("*", action="load")), None, DeniedError),
        (Policy(deny("*", action="read")), "a.md", DeniedError),
        (Policy(ask("*")), None, ApprovalNeededError),
        (Policy(ask("*", action="read")), "a.md", ApprovalNeededError),
        (FOR_ANA, None, DeniedError),
    ],
)
def test_what_is_denied_is_not_read(
    policy: Policy, file: str | None, error: type[DeniedError], fake: FakePack
) -> None:
    with pytest.raises(DeniedError) as caught:
        load(fake.catalog(), Request("pdf", file, BOB), policy=policy)

    assert type(caught.value) is error
    assert caught.value.action == ("load" if file is None else "read")
    assert caught.value.reason
    assert fake.asked == []


@pytest.mark.row("R20")
@pytest.mark.parametrize(
    ("policy", "file"),
    [
        (Policy(), None),
        (FOR_ANA, None),
        (Policy(deny("*", action="load")), "a.md"),
        (Policy(deny("*", action="read")), None),
        (Policy(allow("*", when=lambda who: "user" in who), deny("*")), "a.md"),
    ],
)
def test_what_is_allowed_is_read(
    policy: Policy, file: str | None, fake: FakePack
) -> None:
    assert load(fake.catalog(), Request("pdf", file, ANA), policy=policy).text


@pytest.mark.row("R20")
def test_without_a_session_who_is_empty_and_skill_md_is_no_mere_file(
    fake: FakePack,
) -> None:
    with pytest.raises(DeniedError, match="not allowed"):
        load(fake.catalog(), Request("pdf"), policy=FOR_ANA)
    with pytest.raises(DeniedError) as caught:
        load(
            fake.catalog(), Request("pdf", "SKILL.md"), Policy(deny("*", action="load"))
        )
    assert caught.value.action == "load"


def test_who_may_not_read_is_not_told_the_files_and_an_excluded_skill_has_its_own_error(
    fake: FakePack,
) -> None:
    request = Request("pdf", "nowhere.md")

    with pytest.raises(ReferenceNotAllowedError):
        load(fake.catalog(), request)
    with pytest.raises(DeniedError) as caught:
        load(fake.catalog(), request, policy=Policy(deny("*")))
    assert "a.md" not in str(caught.value)

    entry = fake.descriptor()
    catalog = Catalog(excluded=(Excluded(entry, "disabled"),))

    with pytest.raises(SkillExcludedError):
        load(catalog, Request("pdf"), policy=Policy(deny("*")))
    with pytest.raises(SkillNotFoundError):
        load(catalog, Request("nope"), policy=Policy(deny("*")))


@pytest.mark.row("R20", "R09")
def test_what_was_read_for_one_is_not_handed_to_another(fake: FakePack) -> None:
    """Also within one turn: the cache is looked at after the policy."""
    turn = TurnCache()
    catalog = fake.catalog()

    load(catalog, Request("pdf", None, ANA), turn=turn, policy=FOR_ANA)
    with pytest.raises(DeniedError):
        load(catalog, Request("pdf", None, BOB), turn=turn, policy=FOR_ANA)
    load(catalog, Request("pdf", None, ANA), turn=turn, policy=FOR_ANA)

    assert (turn.reads, turn.hits) == (1, 1)


def test_a_policy_is_told_of_a_raw_skill(fake: FakePack) -> None:
    asked: list[object] = []

    class Listening(Policy):
        def decide(
            self,
            action: Action,
            skill: str,
            who: Mapping[str, Any],
            *,
            tool: str = "",
            raw: bool = False,
        ) -> Decision:
            asked.append((action, skill, who, tool, raw))
            return Decision("allow")

    catalog = Catalog(
        (fake.descriptor(category="raw"),), readers=fake.catalog().readers
    )
    load(catalog, Request("pdf", None, ANA), policy=Listening())

    assert asked == [("load", "pdf", ANA, "", True)]


@pytest.mark.parametrize(
    ("kind", "sentence"),
    [
        (ApprovalDeclinedError, 'User declined HITL approval for skill "pdf".'),
        (
            ApprovalNeededError,
            'Skill "pdf" needs an approval, and nobody could be asked.',
        ),
        (DeniedError, 'Skill "pdf" is not allowed here.'),
    ],
)
def test_a_model_is_told_what_happened_and_not_why(
    kind: type[DeniedError], sentence: str
) -> None:
    error = kind("load", "pdf", reason="rule 3 raised KeyError")
    text = render_context_error(error, "pdf")

    assert f"    {sentence} Skill instructions were not loaded.\n" in text
    assert "rule 3" not in text
    assert "rule 3" not in str(error_result(error))


def test_the_dict_of_a_denied_skill_names_none_of_its_files(fake: FakePack) -> None:
    catalog = fake.catalog()
    policy = Policy(deny("pdf", action="load"))

    result = packs_result(
        FakeBackend(catalog, lambda request: load(catalog, request, policy)), "pdf"
    )

    assert result["error"] == "loading skill 'pdf' is not allowed here"
    assert (result["body"], result["available_references"]) == ("", [])
