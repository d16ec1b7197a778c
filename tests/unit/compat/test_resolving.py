"""resolve_role_prompt: a pack, else a legacy template, else one sentence."""

import logging
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import satchel
from satchel import DuplicateSkillError, resolve_role_prompt
from satchel.errors import ChangedSinceSyncError, InvalidRoleError
from satchel.model import Catalog, Limits, Loaded, Request
from satchel.text import EstimateCounter
from satchel_compat import (
    ResolvedRolePrompt,
    RoleResolver,
    _role_functions as resolving,
    _role_prompt as packed,
    build_index_only,
)
from tests.fakes import FakeSource, pack
from tests.unit.compat.templates import INDEX, edit, write_role, write_template

TOKENS = EstimateCounter().count
PACK = "skills/backend/SKILL.md"
ROLE_LINE, _, REST = INDEX.partition("\n")


def codes(resolved: ResolvedRolePrompt) -> list[str]:
    return [finding.code for finding in resolved.findings]


def body_of(templates: Path, **options: Any) -> ResolvedRolePrompt:  # noqa: ANN401
    return resolve_role_prompt("backend", templates, primary="body", **options)


@pytest.mark.row("C01", "C04", "C19", "C20", "C57", "X01")
def test_the_hint_is_the_golden_text(templates: Path) -> None:
    """One call gives the whole section, from packs that are next to templates."""
    write_template(templates, "qa", "Test.")
    resolved = resolve_role_prompt("backend", templates)

    assert resolved.body == str(resolved) == INDEX
    assert (resolved.source, resolved.skill_name) == ("skill", "backend")
    assert resolved.tokens == TOKENS(INDEX)
    assert resolved.counted_by == EstimateCounter().name
    assert resolved.findings == ()
    assert (resolved.legacy_tokens, resolved.saved_tokens) == (None, None)
    assert satchel.resolve_role_prompt is resolve_role_prompt


@pytest.mark.row("C20", "X01")
@pytest.mark.parametrize(
    ("body", "shown"),
    [
        ("# Backend\n\nDo it well.\n", "\n# Backend\n\nDo it well.\n"),
        ("\n \n    code\n\ntext \n\n", "\n    code\n\ntext\n"),
        (" x", "\n x\n"),
        ("\r\n\r\nx\r\n\r\ny\r\n", "\nx\r\n\r\ny\n"),
        ("x" + " " * 50_000 + "y\n" + "\n" * 50_000, "\nx" + " " * 50_000 + "y\n"),
        ("\n\n", ""),
    ],
    ids=["text", "a block of code", "one line", "CRLF", "long", "empty"],
)
def test_the_body_is_below_the_index_without_empty_lines_around_it(
    body: str, shown: str, templates: Path
) -> None:
    file = write_role(templates, "backend")
    file.write_bytes(file.read_bytes().removesuffix(b"# Do\n") + body.encode())
    resolved = body_of(templates)

    assert resolved.body == f"{REST}{shown}"
    assert (resolved.source, resolved.section and resolved.section.text) == (
        "skill",
        REST,
    )


@pytest.mark.row("X01")
def test_what_is_next_to_the_index_is_one_of_two(templates: Path) -> None:
    with pytest.raises(ValueError, match="primary='Body': expected 'hint' or 'body'"):
        resolve_role_prompt("backend", templates, primary="Body")  # type: ignore[arg-type]


def test_doubts_about_a_body_are_reported(templates: Path) -> None:
    write_role(templates, "backend", body="Do it.\n</instructions>\n")
    resolved = body_of(templates)

    assert "envelope-breakout" in codes(resolved)
    assert {f.path for f in resolved.findings} == {f"{templates}/{PACK}"}


@pytest.mark.row("C21", "C54")
def test_without_a_pack_the_legacy_template_is_rendered(templates: Path) -> None:
    file = write_template(
        templates, "qa", "You test {{WHAT}}.\n{{#IF X}}x{{/IF}}{{#IF_NOT X}}y{{/IF}}\n"
    )
    with pytest.warns(DeprecationWarning, match="a legacy template"):
        resolved = resolve_role_prompt("qa", templates, context={"WHAT": "all"})

    assert resolved.body == "You test all.\ny\n"
    assert (resolved.source, resolved.skill_name) == ("legacy", None)
    assert resolved.tokens == 4
    assert codes(resolved) == ["legacy-template"]
    file.write_text("Again.")
    assert str(resolve_role_prompt("qa", templates)) == "Again."


@pytest.mark.row("C22")
@pytest.mark.parametrize("folder", ["", "skills", "roles"])
def test_without_either_it_is_one_sentence(folder: str, tmp_path: Path) -> None:
    (tmp_path / folder).mkdir(exist_ok=True)
    resolved = resolve_role_prompt("vp", tmp_path)

    assert resolved.body == "You are a vp specialist."
    assert (resolved.source, resolved.skill_name) == ("fallback", None)
    assert codes(resolved) == ([] if folder else ["no-templates"])


@pytest.mark.row("C57")
def test_the_roles_folder_means_the_one_it_is_in(
    templates: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Users of the earlier system give ``templates/roles``."""
    write_template(templates, "qa", "Test.")

    assert str(resolve_role_prompt("backend", templates / "roles")) == INDEX
    monkeypatch.chdir(templates)
    assert str(resolve_role_prompt("backend", "roles")) == INDEX
    (templates / "roles/skills").symlink_to(templates / "skills")
    assert RoleResolver(templates / "roles").templates_dir == str(templates / "roles")


@pytest.mark.row("G24", "E17")
@pytest.mark.parametrize(
    "role",
    [
        *("", "../backend", "a/b", "a\\b", "/etc", "Backend", "a\n", "a b", "3d", "-a"),
        *("a_b", "ä", "a\0", "con", "nul", "x" * 65),
    ],
)
def test_a_role_is_checked_before_any_file_is_looked_at(
    role: str, templates: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def touched(*args: object, **options: object) -> None:
        raise AssertionError(args)

    # No longer than the call: pytest looks at files itself when a test fails.
    with monkeypatch.context() as patch:
        for name in ("open", "stat", "lstat", "scandir"):
            patch.setattr(os, name, touched)
        with pytest.raises(InvalidRoleError) as caught:
            resolve_role_prompt(role, templates / "roles")

    assert isinstance(caught.value, ValueError)
    assert caught.value.name == role


@pytest.mark.row("C02", "G15", "C01")
@pytest.mark.parametrize("bytes_more", [1, 900_000])
def test_the_injected_text_does_not_grow_with_bodies(
    bytes_more: int, templates: Path
) -> None:
    for name in ("analyst", "backend"):
        file = write_role(templates, name, body="x" * bytes_more)
        (file.parent / "references").mkdir()
        (file.parent / "references/more.md").write_text("y" * bytes_more)
    resolved = resolve_role_prompt("backend", templates)

    assert resolved.body.encode() == INDEX.encode()
    assert resolved.tokens == TOKENS(INDEX)


LONG = "You are a backend specialist. " + "Mind this rule, and that one. " * 60


@pytest.mark.row("G15", "G25")
def test_what_an_index_saves_or_costs_is_a_number_of_the_result(
    templates: Path,
) -> None:
    """Rendered as it would be, and no command of it run."""
    trap = templates / "trap"
    write_template(templates, "backend", f"{LONG}{{{{#IF X}}}}{LONG}{{{{/IF}}}}")
    short = resolve_role_prompt("backend", templates)
    long = resolve_role_prompt("backend", templates, context={"X": "1"})
    write_template(templates, "backend", f"!`touch {trap}`")
    resolve_role_prompt("backend", templates, shell=True)  # noqa: S604
    write_template(templates, "backend", "You write servers.")
    dear = resolve_role_prompt("backend", templates)

    assert short.legacy_tokens == TOKENS(LONG)
    assert short.saved_tokens == short.legacy_tokens - short.tokens > 400
    assert long.legacy_tokens == TOKENS(LONG * 2)
    assert short.findings == ()
    assert not trap.exists()
    assert (dear.source, dear.legacy_tokens) == ("skill", 5)
    assert dear.saved_tokens == 5 - dear.tokens < 0
    assert codes(dear) == ["role-costs-more"]
    assert "46 tokens, the legacy template 5" in dear.findings[0].message


@pytest.mark.row("G25")
@pytest.mark.parametrize("budget", [1, 20, 60, 80, 300, 1000])
def test_an_index_obeys_its_budget_and_says_so(budget: int, templates: Path) -> None:
    """The role stays in front at every stage, and is what is cut last."""
    for number in range(30):
        write_role(templates, f"role-{number}", "Use when " + "something is up, " * 8)
    resolved = resolve_role_prompt("backend", templates, budget_tokens=budget)

    assert resolved.body.startswith(f"{ROLE_LINE}\n")
    assert resolved.section is not None
    assert not resolved.section.complete
    assert "over-budget" in codes(resolved)
    assert resolved.section.budget_tokens == budget
    if budget >= 60:
        assert resolved.tokens <= budget
        assert resolved.body.splitlines()[2].startswith("* backend")
    assert resolve_role_prompt("backend", templates, budget_tokens=None).tokens > 1000


@pytest.mark.row("G25")
def test_a_body_is_whole_whatever_the_budget_is(templates: Path) -> None:
    body = "word " * 1000
    write_role(templates, "backend", body=body)
    resolved = body_of(templates, budget_tokens=20, find_tool=None)

    assert resolved.body.endswith(f"\n\n{body.strip()}\n")
    assert resolved.tokens > 1000
    assert "over-budget" in codes(resolved)
    assert "find_skills" not in resolved.body


HEAD = "---\nname: backend\ndescription: "
UNUSED: dict[str, tuple[str, str, Any]] = {
    "no frontmatter": ("nothing", "error", {}),
    "no description": ("---\nname: backend\n---\n", "error", {}),
    "another name": ("---\nname: x\ndescription: Use at work.\n---\n", "error", {}),
    "retired": (f"{HEAD}Old.\nmetadata:\n  status: deprecated\n---\n", "warning", {}),
    "not strict": (f"{HEAD}Short.\n---\n# Do\n", "error", {"profile": "strict"}),
}


@pytest.mark.row("C20", "C21", "C22", "X18")
@pytest.mark.parametrize("reason", UNUSED)
@pytest.mark.parametrize("source", ["legacy", "fallback"])
@pytest.mark.filterwarnings("ignore:role 'backend'")
def test_a_pack_that_is_not_used_is_reported_and_the_next_in_order_taken(
    reason: str, source: str, templates: Path, caplog: pytest.LogCaptureFixture
) -> None:
    text, severity, options = UNUSED[reason]
    (templates / PACK).write_text(text)
    if source == "legacy":
        write_template(templates, "backend", "Legacy.")
    if options:
        assert resolve_role_prompt("backend", templates).source == "skill"
    with caplog.at_level(logging.WARNING, "satchel"):
        resolved = resolve_role_prompt("backend", templates, **options)
        logged = list(caplog.messages)
        resolve_role_prompt("backend", templates, **options)

    assert resolved.source == source
    (unused,) = (f for f in resolved.findings if f.code == "role-pack-unused")
    assert (unused.severity, unused.path) == (severity, f"{templates}/skills/backend")
    assert bool(unused.fix) is (severity == "error")
    assert any("role-pack-unused" in message for message in logged)
    assert caplog.messages == logged, "once"


@pytest.mark.row("C20")
def test_a_pack_behind_a_link_and_one_missing_from_the_index_are_reported(
    templates: Path, tmp_path: Path
) -> None:
    (templates / PACK).rename(tmp_path / "secret")
    (templates / PACK).symlink_to(tmp_path / "secret")
    own = resolve_role_prompt("backend", templates)
    other = resolve_role_prompt("analyst", templates)

    assert (own.source, codes(own)) == ("fallback", ["irregular-skill-file"])
    assert own.findings[0].path.startswith(f"{templates}/skills/backend")
    assert (other.source, other.findings) == ("skill", own.findings)
    assert "backend" not in other.body


@pytest.fixture
def before_load(
    monkeypatch: pytest.MonkeyPatch,
) -> Callable[[Callable[[int], None]], list[str]]:
    """Call a function before each load, with how many there were; note what loads."""
    from satchel.load import load as real

    def patch(act: Callable[[int], None]) -> list[str]:
        calls: list[str] = []

        def load(catalog: Catalog, request: Request, *, limits: Limits) -> Loaded:
            calls.append(request.id)
            act(len(calls))
            return real(catalog, request, limits=limits)

        monkeypatch.setattr(packed, "load", load)
        return calls

    return patch


@pytest.mark.row("X15")
@pytest.mark.parametrize("edits", [1, 5])
def test_edits_between_the_look_and_the_load_are_taken_in(
    edits: int, templates: Path, before_load: Callable[..., list[str]]
) -> None:
    """Also without a pause: a script that writes costs no agent its role."""
    file = templates / PACK

    def append(number: int) -> None:
        if number <= edits:
            file.write_text(f"{file.read_text('utf-8')}Edit {number}.\n", "utf-8")

    calls = before_load(append)

    assert body_of(templates).body.endswith(f"Edit {edits}.\n")
    assert calls == ["backend"] * (edits + 1)


def test_a_body_that_cannot_be_read_is_passed_over(
    templates: Path, before_load: Callable[..., list[str]]
) -> None:
    def fail(_: int) -> None:
        raise ChangedSinceSyncError("backend", "SKILL.md")

    calls = before_load(fail)
    resolved = body_of(templates)

    assert len(calls) == packed.MAX_LOOKS
    assert (resolved.source, codes(resolved)) == ("fallback", ["role-pack-unused"])


@pytest.fixture
def plugin(monkeypatch: pytest.MonkeyPatch) -> FakeSource:
    """A plug-in without packs, that ``deny=["mine"]`` leaves out."""
    made = FakeSource("plugin:mine", {})

    def load(*, deny: tuple[str, ...] = ()) -> list[FakeSource]:
        return [] if "mine" in deny else [made]

    monkeypatch.setattr("satchel_compat._role_library.load_plugin_sources", load)
    return made


@pytest.mark.row("G12", "X15")
def test_a_role_may_come_from_a_plugin_and_the_switch_is_part_of_the_key(
    templates: Path, plugin: FakeSource
) -> None:
    plugin.packs["vp"] = {"SKILL.md": pack("vp")}
    on = resolve_role_prompt("vp", templates)
    off = resolve_role_prompt("vp", templates, include_plugins=False)
    denied = resolve_role_prompt("vp", templates, deny=["mine"])

    assert (on.source, on.skill_name) == ("skill", "vp")
    assert "* vp: Use when testing.\n- analyst: " in on.body
    assert (off.source, denied.source) == ("fallback", "fallback")


@pytest.mark.row("X24", "C36", "X18")
def test_a_plugin_that_claims_a_taken_name_aborts_with_the_switch(
    templates: Path, plugin: FakeSource
) -> None:
    plugin.packs["backend"] = {"SKILL.md": pack("backend")}

    for _ in range(2):
        with pytest.raises(DuplicateSkillError, match=r"plugin:mine.*--no-plugins"):
            resolve_role_prompt("backend", templates)
    assert resolve_role_prompt("analyst", templates).source == "skill"
    assert resolve_role_prompt("backend", templates, deny=["mine"]).body == INDEX


@pytest.mark.row("X24")
def test_a_conflict_that_arises_later_is_reported_and_the_last_index_kept(
    templates: Path, plugin: FakeSource
) -> None:
    plugin.packs["vp"] = {"SKILL.md": pack("vp")}
    before = resolve_role_prompt("backend", templates)
    file = write_role(templates, "vp", "Use when it gets big.")
    after = resolve_role_prompt("backend", templates)

    assert after.body == before.body
    assert codes(after) == ["duplicate-skill"]
    file.unlink()
    assert resolve_role_prompt("backend", templates) == before


@pytest.mark.row("X18")
def test_a_broken_pack_of_a_plugin_costs_nobody_else(
    templates: Path, plugin: FakeSource
) -> None:
    plugin.packs["vp"] = {"SKILL.md": "nothing"}
    resolved = resolve_role_prompt("backend", templates)

    assert resolved.body == INDEX
    assert [f.path for f in resolved.findings] == ["plugin:mine/vp/SKILL.md"]


@pytest.mark.row("C01")
def test_the_index_alone(templates: Path, tmp_path: Path) -> None:
    assert build_index_only(templates).text == (
        "Skills:\n"
        "- analyst: Evaluate proposals - feasibility, engineering payoff, risk.\n"
        "- backend: Python server code, APIs, async, strict typing.\n"
    )
    assert not build_index_only(templates, budget_tokens=20).complete
    assert build_index_only(tmp_path / "nowhere").text == ""


def test_the_roles_that_there_are(templates: Path) -> None:
    for role in ("qa", "backend", "Not A Role"):
        write_template(templates, role, "x")
    (templates / "roles" / "empty").mkdir()
    write_role(templates, "3d", "Use when there is no letter in front.")

    assert RoleResolver(templates).roles() == ("analyst", "backend", "qa")
    assert RoleResolver(templates / "skills").roles() == ()


def test_resolvers_are_stored_by_folder_bounded_and_closed(
    tmp_path: Path, plugin: FakeSource
) -> None:
    first = resolving._resolver(tmp_path, include_plugins=True, deny=())
    resolve_role_prompt("vp", tmp_path)

    assert resolving._resolver(str(tmp_path), include_plugins=True, deny=()) is first
    for number in range(resolving.MAX_KEPT):
        assert plugin.closed == 0
        resolve_role_prompt("vp", tmp_path / str(number), include_plugins=False)
    assert plugin.closed == 1
    assert len(resolving._resolvers) == resolving.MAX_KEPT
    assert resolving._resolver(tmp_path, include_plugins=True, deny=()) is not first


@pytest.mark.row("C36")
def test_two_packs_of_one_folder_that_claim_a_name_get_a_way_out(
    templates: Path,
) -> None:
    """No prefix and no precedence: there are none for roles."""
    edit(write_role(templates, "coder"), "name: coder", "name: backend")

    with pytest.raises(DuplicateSkillError) as caught:
        resolve_role_prompt("backend", templates)
    assert caught.value.fix == "rename one of the two, and its folder with it"
    assert "precedence" not in str(caught.value)


@pytest.mark.row("C20", "C21")
@pytest.mark.filterwarnings("ignore:role ")
def test_a_resolver_stays_with_the_folder_it_was_given(
    templates: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Packs and templates alike, wherever the working folder goes later."""
    write_template(templates, "qa", "You test. !`true`")
    monkeypatch.chdir(templates.parent)
    resolver = RoleResolver("templates")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    seen = [resolver.resolve(role, primary="body") for role in ("backend", "qa", "vp")]

    assert [item.source for item in seen] == ["skill", "legacy", "fallback"]
    assert [finding.path for finding in seen[1].findings] == [
        "templates/roles/qa/system_prompt.md",
        "templates/roles/qa",
    ]
    assert seen[2].findings == ()
    assert resolver.roles() == ("analyst", "backend", "qa")


@pytest.mark.row("C21", "C54")
@pytest.mark.filterwarnings("ignore:role ")
@pytest.mark.parametrize("role", ["skills", "roles"])
def test_a_role_may_be_called_as_the_folders_are(role: str, templates: Path) -> None:
    """The folder of roles, given as in the earlier system, then holds such a one."""
    write_template(templates, role, "Mine.")

    assert resolve_role_prompt(role, templates / "roles").body == "Mine."
    assert resolve_role_prompt("backend", templates / "roles").source == "skill"
