"""A rule of a policy that names nothing is loud: a finding, a warning, an error."""

import logging
from pathlib import Path
from typing import Any, Final

import pytest

from satchel.agent import Skill
from satchel.errors import ConfigError
from satchel.model import Finding
from satchel.policy import Policy, PolicyRule, allow, ask, deny
from satchel.runtime import Satchel
from tests.fakes import FakeSource, away, pack

pytestmark = pytest.mark.row("F12", "T03")

CODE: Final = "rule-names-nothing"


def refund(order: str) -> str:
    """Pay it back."""
    return order


def notify(to: str) -> str:
    """Tell somebody."""
    return to


def refunds() -> Skill:
    return Skill(
        "refunds", description="Use it.", instructions="Do it.", tools=[refund]
    )


def source() -> FakeSource:
    names = ("pdf", "pay-eu", "pay-us")
    return FakeSource("folder", {name: {"SKILL.md": pack(name)} for name in names})


def found(*rules: PolicyRule, **options: Any) -> list[Finding]:  # noqa: ANN401
    skills = Satchel(source(), refunds(), policy=Policy(*rules), **options)
    return [finding for finding in skills.findings if finding.code == CODE]


@pytest.mark.row("F105")
@pytest.mark.parametrize(
    ("rule", "says", "fix"),
    [
        (deny("pdff"), "deny('pdff'), names no skill", "write 'pdf', or correct"),
        (deny("PDF"), "names no skill", "write 'pdf', or"),
        (deny(" pdf"), "names no skill", "write 'pdf', or"),
        (deny("pdf ", action="load"), "names no skill", "write 'pdf', or"),
        (allow("pdf-forms", action="script"), "names no skill", ""),
        (deny("paye-*"), "deny('paye-*'), names no skill", ""),
        (deny("[!a-z]*"), "names no skill", ""),
        (deny(""), "names no skill", ""),
        (ask("nope", tool="refnud"), "names no skill", ""),
        (ask("refunds", tool="refnud"), "names no tool", "write 'refund', or"),
        (ask(tool="refnud"), "names no tool", "write 'refund', or"),
        (ask("*", tool="Refund"), "names no tool", "write 'refund', or"),
        (deny("pdf", tool="refund"), "names no tool", ""),
        (deny("pay-*", tool="*"), "names no tool", ""),
        (ask("refunds", tool="refund_*"), "names no tool", "write 'refund', or"),
        (deny("pdff", when=lambda _: False), "names no skill", ""),
        (deny("x" * 100_000), "names no skill", ""),
    ],
)
def test_a_rule_that_names_nothing_is_told(
    rule: PolicyRule, says: str, fix: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, "satchel"):
        (finding,) = found(allow("pdf"), rule)

    assert (finding.severity, finding.path) == ("warning", "policy")
    assert finding.message.startswith("rule 2 of the policy, ")
    assert says in finding.message
    assert fix in finding.fix
    assert "missing_ok=True" in finding.fix
    assert len(finding.message) < 300
    (line,) = [record.message for record in caplog.records if CODE in record.message]
    assert finding.message in line

    with pytest.raises(ConfigError) as caught:
        found(rule, strict=True)
    assert str(caught.value).startswith("policy: rule 1 of the policy, ")


@pytest.mark.row("F105")
@pytest.mark.parametrize(
    "rule",
    [
        deny("pdf"),
        deny("pay-*"),
        deny("p?f"),
        deny(),
        allow("*", action="list"),
        deny("[pq]df"),
        ask("refunds", tool="refund"),
        ask(tool="re*"),
        deny("pdff", missing_ok=True),
        deny("paye-*", missing_ok=True),
        ask("refunds", tool="refnud", missing_ok=True),
    ],
)
def test_a_rule_that_names_something_or_says_so_is_not(rule: PolicyRule) -> None:
    assert found(rule, strict=True) == []


@pytest.mark.parametrize(
    "options",
    [{"disabled": ["pdf"]}, {"disabled": ["p*"]}],
    ids=["one", "pattern"],
)
def test_what_is_there_and_not_listed_is_named(options: dict[str, Any]) -> None:
    assert found(deny("pdf"), **options) == []


def test_a_tool_that_a_pack_names_needs_no_offer(tmp_path: Path) -> None:
    (tmp_path / "mail").mkdir()
    text = "---\nname: mail\ndescription: Use it.\nmetadata:\n  {}: notify\n---\n# M\n"
    for key in ("satchel-tools", "tools"):
        (tmp_path / "mail/SKILL.md").write_text(text.format(key))
        skills = Satchel(tmp_path, policy=Policy(ask("mail", tool="notify")))
        if skills.catalog.names_tools:
            break
    assert skills.catalog.names_tools
    assert CODE not in [finding.code for finding in skills.findings]
    skills.offer(notify)
    assert CODE not in [finding.code for finding in skills.findings]


@pytest.mark.row("F105")
def test_nothing_is_said_of_what_may_be_in_a_source_that_is_away(
    caplog: pytest.LogCaptureFixture,
) -> None:
    other = FakeSource("other", {"pdff": {"SKILL.md": pack("pdff")}})
    other.failure = away("other")
    rules = Policy(deny("pdff"), deny("nope"))

    def said(skills: Satchel) -> list[str]:
        return [f.message for f in skills.findings if f.code == CODE]

    skills = Satchel(source(), other, policy=rules)
    assert said(skills) == []

    other.failure = None
    skills.sync()
    assert said(skills) == [
        "rule 2 of the policy, deny('nope'), names no skill that is here"
    ]
    assert [CODE in r.message for r in caplog.records].count(True) == 1

    other.failure = away("other")
    skills.sync()
    assert len(said(skills)) == 1


def test_what_comes_later_ends_it_and_what_goes_does_not_begin_it() -> None:
    folder = source()
    skills = Satchel(folder, policy=Policy(deny("late"), deny("pdf")))
    assert [f.message for f in skills.findings if f.code == CODE] != []

    folder.packs["late"] = {"SKILL.md": pack("late")}
    del folder.packs["pdf"]
    skills.sync()

    assert [f.message for f in skills.findings if f.code == CODE] == []


@pytest.mark.parametrize("sources", [(), (FakeSource("x", {}),)])
def test_of_an_empty_library_it_is_enough_that_it_is_empty(
    sources: tuple[FakeSource, ...],
) -> None:
    skills = Satchel(*sources, policy=Policy(deny("pdff")))

    assert CODE not in [finding.code for finding in skills.findings]
