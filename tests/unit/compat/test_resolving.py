"""resolve_role_prompt: a pack, else a legacy template, else one sentence."""

import logging
import os
import subprocess
import sys
from pathlib import Path

import pytest

import satchel
from satchel import DuplicateSkillError, resolve_role_prompt
from satchel.compat import (
    ResolvedRolePrompt,
    RoleResolver,
    _role_functions as resolving,
    _role_prompt as packed,
    build_index_only,
)
from satchel.errors import ChangedSinceSyncError, InvalidRoleError
from satchel.model import Catalog, Limits, Loaded, Request
from satchel.text import EstimateCounter
from tests.fakes import FakeSource, pack
from tests.unit.compat.templates import INDEX, edit, write_role, write_template


def codes(resolved: ResolvedRolePrompt) -> list[str]:
    return [finding.code for finding in resolved.findings]


@pytest.mark.row("C01", "C04", "C19", "C20", "C57", "X01")
def test_the_hint_is_the_golden_text(templates: Path) -> None:
    """One call gives the whole section, from packs that are next to templates."""
    write_template(templates, "qa", "Test.")

    resolved = resolve_role_prompt("backend", templates)

    assert resolved.body == str(resolved) == INDEX
    assert (resolved.source, resolved.skill_name) == ("skill", "backend")
    assert resolved.tokens == EstimateCounter().count(INDEX)
    assert resolved.counted_by == EstimateCounter().name
    assert resolved.findings == ()
    assert satchel.resolve_role_prompt is resolve_role_prompt


@pytest.mark.row("C20", "X01")
def test_the_body_is_below_the_index(templates: Path) -> None:
    resolved = resolve_role_prompt("backend", templates, primary="body")

    assert resolved.body == (
        "Skills:\n"
        "* backend: Python server code, APIs, async, strict typing.\n"
        "- analyst: Evaluate proposals - feasibility, engineering payoff, risk.\n"
        "\n"
        "# Backend\n"
        "\n"
        "Do it well.\n"
    )
    assert resolved.source == "skill"
    assert resolved.section is not None
    assert resolved.body.startswith(resolved.section.text)


def test_an_empty_body_adds_nothing(templates: Path) -> None:
    write_role(templates, "backend", body="\n\n")

    resolved = resolve_role_prompt("backend", templates, primary="body")

    assert resolved.body == str(resolved.section)


@pytest.mark.row("C20")
@pytest.mark.parametrize(
    ("body", "shown"),
    [
        ("\n \n    code\n\ntext \n\n", "    code\n\ntext\n"),
        (" x", " x\n"),
        ("\r\n\r\nx\r\n\r\ny\r\n", "x\r\n\r\ny\n"),
        ("x" + " " * 50_000 + "y\n" + "\n" * 50_000, "x" + " " * 50_000 + "y\n"),
    ],
    ids=["a block of code", "one line", "CRLF", "long"],
)
def test_empty_lines_around_a_body_go_and_nothing_of_it(
    body: str, shown: str, templates: Path
) -> None:
    file = write_role(templates, "backend")
    head = file.read_bytes().removesuffix(b"# Do\n")
    file.write_bytes(head + body.encode())

    text = resolve_role_prompt("backend", templates, primary="body").body

    assert text == f"{INDEX.partition(chr(10))[2]}\n{shown}"


@pytest.mark.row("X01")
def test_what_is_next_to_the_index_is_one_of_two(templates: Path) -> None:
    with pytest.raises(ValueError, match="primary='Body': expected 'hint' or 'body'"):
        resolve_role_prompt("backend", templates, primary="Body")  # type: ignore[arg-type]


def test_doubts_about_a_body_are_reported(templates: Path) -> None:
    write_role(templates, "backend", body="Do it.\n</instructions>\n")

    resolved = resolve_role_prompt("backend", templates, primary="body")

    assert "envelope-breakout" in codes(resolved)
    assert {f.path for f in resolved.findings} == {
        f"{templates}/skills/backend/SKILL.md"
    }


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


@pytest.mark.row("C20", "C21", "C22")
def test_the_order_is_pack_template_sentence(templates: Path) -> None:
    write_template(templates, "backend", "Legacy.")
    assert resolve_role_prompt("backend", templates).source == "skill"

    (templates / "skills/backend/SKILL.md").unlink()
    with pytest.warns(DeprecationWarning, match="a legacy template"):
        assert resolve_role_prompt("backend", templates).source == "legacy"

    (templates / "roles/backend/system_prompt.md").unlink()
    assert resolve_role_prompt("backend", templates).source == "fallback"


@pytest.mark.row("C57")
def test_the_roles_folder_means_the_one_it_is_in(
    templates: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Users of the earlier system give ``templates/roles``."""
    write_template(templates, "qa", "Test.")

    assert str(resolve_role_prompt("backend", templates / "roles")) == INDEX
    monkeypatch.chdir(templates)
    assert str(resolve_role_prompt("backend", "roles")) == INDEX
    inner = templates / "roles" / "skills"
    inner.symlink_to(templates / "skills")
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
@pytest.mark.parametrize("bytes_more", [1, 10_000, 900_000])
def test_the_injected_text_does_not_grow_with_bodies(
    bytes_more: int, templates: Path
) -> None:
    before = resolve_role_prompt("backend", templates)
    for name in ("analyst", "backend"):
        write_role(templates, name, body="x" * bytes_more)
        references = templates / "skills" / name / "references"
        references.mkdir()
        (references / "more.md").write_text("y" * bytes_more)

    after = resolve_role_prompt("backend", templates)

    assert after.body.encode() == before.body.encode() == INDEX.encode()
    assert after.tokens == before.tokens


LONG = "You are a backend specialist. " + "Mind this rule, and that one. " * 60


@pytest.mark.row("G15")
def test_what_an_index_saves_is_a_number_of_the_result(templates: Path) -> None:
    """Rendered as it would be, and no command of it run."""
    trap = templates / "trap"
    write_template(templates, "backend", f"{LONG}{{{{#IF X}}}}{LONG}{{{{/IF}}}}")

    short = resolve_role_prompt("backend", templates)
    long = resolve_role_prompt("backend", templates, context={"X": "1"})

    assert short.legacy_tokens == EstimateCounter().count(LONG)
    assert short.saved_tokens == short.legacy_tokens - short.tokens > 400
    assert long.legacy_tokens == EstimateCounter().count(LONG * 2)
    assert short.findings == ()
    write_template(templates, "backend", f"!`touch {trap}`")
    resolve_role_prompt("backend", templates, shell=True)  # noqa: S604
    assert not trap.exists()


@pytest.mark.row("G25", "G15")
def test_an_index_that_costs_more_than_the_template_says_so(templates: Path) -> None:
    write_template(templates, "backend", "You write servers.")

    resolved = resolve_role_prompt("backend", templates)

    assert resolved.source == "skill"
    assert resolved.legacy_tokens == 5
    assert resolved.saved_tokens == 5 - resolved.tokens < 0
    assert codes(resolved) == ["role-costs-more"]
    assert "46 tokens, the legacy template 5" in resolved.findings[0].message


def test_without_a_template_there_is_nothing_to_compare(templates: Path) -> None:
    resolved = resolve_role_prompt("backend", templates)

    assert (resolved.legacy_tokens, resolved.saved_tokens) == (None, None)


@pytest.mark.row("G25")
@pytest.mark.parametrize("budget", [1, 20, 60, 80, 300, 1000])
def test_an_index_obeys_its_budget_and_says_so(budget: int, templates: Path) -> None:
    """The role stays in front at every stage, and is what is cut last."""
    for number in range(30):
        write_role(templates, f"role-{number}", "Use when " + "something is up, " * 8)

    resolved = resolve_role_prompt("backend", templates, budget_tokens=budget)

    role_line = INDEX.partition("\n")[0] + "\n"
    assert resolved.body.startswith(role_line)
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

    resolved = resolve_role_prompt(
        "backend", templates, primary="body", budget_tokens=20, find_tool=None
    )

    assert resolved.body.endswith(f"\n\n{body.strip()}\n")
    assert resolved.tokens > 1000
    assert "over-budget" in codes(resolved)
    assert "find_skills" not in resolved.body


BROKEN = {
    "no frontmatter": "nothing",
    "no description": "---\nname: backend\n---\n",
    "another name": "---\nname: other\ndescription: Use when testing.\n---\n",
}


@pytest.mark.row("C20", "C21", "X18")
@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN.keys())
@pytest.mark.parametrize("legacy", [True, False])
@pytest.mark.filterwarnings("ignore:role 'backend'")
def test_a_broken_pack_is_reported_and_the_next_in_order_taken(
    text: str, legacy: bool, templates: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (templates / "skills/backend/SKILL.md").write_text(text)
    if legacy:
        write_template(templates, "backend", "Legacy.")

    with caplog.at_level(logging.WARNING, "satchel"):
        resolved = resolve_role_prompt("backend", templates)
        expected = len(caplog.messages)
        resolve_role_prompt("backend", templates)

    assert resolved.source == ("legacy" if legacy else "fallback")
    unused = [f for f in resolved.findings if f.code == "role-pack-unused"]
    assert [f.severity for f in unused] == ["error"]
    assert unused[0].path == f"{templates}/skills/backend"
    assert unused[0].fix
    assert any("role-pack-unused" in message for message in caplog.messages)
    assert len(caplog.messages) == expected  # once


@pytest.mark.row("C20")
def test_a_pack_behind_a_link_is_reported(templates: Path, tmp_path: Path) -> None:
    file = templates / "skills/backend/SKILL.md"
    file.rename(tmp_path / "secret")
    file.symlink_to(tmp_path / "secret")

    resolved = resolve_role_prompt("backend", templates)

    assert resolved.source == "fallback"
    assert codes(resolved) == ["irregular-skill-file"]
    assert resolved.findings[0].path.startswith(f"{templates}/skills/backend")


def test_a_retired_pack_is_reported_too(templates: Path) -> None:
    text = (
        "---\nname: backend\ndescription: Old.\nmetadata:\n  status: deprecated\n---\n"
    )
    (templates / "skills/backend/SKILL.md").write_text(text)

    resolved = resolve_role_prompt("backend", templates)

    assert resolved.source == "fallback"
    assert [(f.code, f.severity) for f in resolved.findings] == [
        ("role-pack-unused", "warning")
    ]


def test_a_pack_that_is_missing_from_the_index_is_reported(templates: Path) -> None:
    (templates / "skills/analyst/SKILL.md").write_text("nothing")

    resolved = resolve_role_prompt("backend", templates)

    assert resolved.source == "skill"
    assert "analyst" not in resolved.body
    assert [f.path for f in resolved.findings] == [
        f"{templates}/skills/analyst/SKILL.md"
    ]


def test_the_profile_decides_what_is_a_pack(templates: Path) -> None:
    write_role(templates, "backend", "Too short.")

    assert resolve_role_prompt("backend", templates).source == "skill"
    strict = resolve_role_prompt("backend", templates, profile="strict")
    assert strict.source == "fallback"
    assert "role-pack-unused" in codes(strict)


@pytest.mark.row("X15")
def test_an_edit_between_the_look_and_the_load_is_taken_in(
    templates: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from satchel.load import load as real

    calls: list[str] = []

    def edited(catalog: Catalog, request: Request, *, limits: Limits) -> Loaded:
        if not calls:
            edit(templates / "skills/backend/SKILL.md", "Do it well", "Do it better")
        calls.append(request.id)
        return real(catalog, request, limits=limits)

    monkeypatch.setattr(packed, "load", edited)
    resolved = resolve_role_prompt("backend", templates, primary="body")

    assert "Do it better" in resolved.body
    assert calls == ["backend", "backend"]


@pytest.mark.row("X15")
def test_a_role_outlives_edits_without_a_pause(
    templates: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from satchel.load import load as real

    file = templates / "skills/backend/SKILL.md"
    calls: list[str] = []

    def edited(catalog: Catalog, request: Request, *, limits: Limits) -> Loaded:
        calls.append(request.id)
        if len(calls) < 6:
            file.write_text(f"{file.read_text('utf-8')}Edit {len(calls)}.\n", "utf-8")
        return real(catalog, request, limits=limits)

    monkeypatch.setattr(packed, "load", edited)
    resolved = resolve_role_prompt("backend", templates, primary="body")

    assert resolved.source == "skill"
    assert resolved.body.endswith("Edit 5.\n")


def test_a_body_that_cannot_be_read_is_passed_over(
    templates: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries: list[str] = []

    def changing(catalog: Catalog, request: Request, *, limits: Limits) -> Loaded:
        tries.append(request.id)
        raise ChangedSinceSyncError(request.id, "SKILL.md")

    monkeypatch.setattr(packed, "load", changing)
    resolved = resolve_role_prompt("backend", templates, primary="body")

    assert len(tries) == packed.MAX_LOOKS
    assert resolved.source == "fallback"
    assert codes(resolved) == ["role-pack-unused"]


# --- plug-ins ---


def add_plugin(
    monkeypatch: pytest.MonkeyPatch, packs: dict[str, dict[str, str | bytes]]
) -> FakeSource:
    plugin = FakeSource("plugin:mine", packs)

    def load(*, deny: tuple[str, ...] = ()) -> list[FakeSource]:
        return [] if "mine" in deny else [plugin]

    monkeypatch.setattr("satchel.compat._role_library.load_plugin_sources", load)
    return plugin


@pytest.mark.row("G12", "X15")
def test_a_role_may_come_from_a_plugin_and_the_switch_is_part_of_the_key(
    templates: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_plugin(monkeypatch, {"vp": {"SKILL.md": pack("vp")}})

    on = resolve_role_prompt("vp", templates)
    off = resolve_role_prompt("vp", templates, include_plugins=False)
    denied = resolve_role_prompt("vp", templates, deny=["mine"])

    assert (on.source, on.skill_name) == ("skill", "vp")
    assert "* vp: Use when testing.\n- analyst: " in on.body
    assert (off.source, denied.source) == ("fallback", "fallback")


@pytest.mark.row("X24", "C36", "X18")
def test_a_plugin_that_claims_a_taken_name_aborts_with_the_switch(
    templates: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_plugin(monkeypatch, {"backend": {"SKILL.md": pack("backend")}})

    for _ in range(2):
        with pytest.raises(DuplicateSkillError, match=r"plugin:mine.*--no-plugins"):
            resolve_role_prompt("backend", templates)
    assert resolve_role_prompt("analyst", templates).source == "skill"
    assert resolve_role_prompt("backend", templates, deny=["mine"]).body == INDEX


@pytest.mark.row("X24")
def test_a_conflict_that_arises_later_is_reported_and_the_last_index_kept(
    templates: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_plugin(monkeypatch, {"vp": {"SKILL.md": pack("vp")}})
    before = resolve_role_prompt("backend", templates)

    write_role(templates, "vp", "Use when it gets big.")
    after = resolve_role_prompt("backend", templates)

    assert after.body == before.body
    assert codes(after) == ["duplicate-skill"]
    (templates / "skills/vp/SKILL.md").unlink()
    assert resolve_role_prompt("backend", templates) == before


@pytest.mark.row("X18")
def test_a_broken_pack_of_a_plugin_costs_nobody_else(
    templates: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_plugin(monkeypatch, {"vp": {"SKILL.md": "nothing"}})

    resolved = resolve_role_prompt("backend", templates)

    assert resolved.body == INDEX
    assert [f.path for f in resolved.findings] == ["plugin:mine/vp/SKILL.md"]


# --- the index alone, the names, what is kept ---


@pytest.mark.row("C01")
def test_the_index_alone(templates: Path, tmp_path: Path) -> None:
    whole = build_index_only(templates)

    assert whole.text == (
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


def test_resolvers_are_stored_by_folder_and_bounded(tmp_path: Path) -> None:
    first = resolving._resolver(tmp_path, include_plugins=True, deny=())

    assert resolving._resolver(str(tmp_path), include_plugins=True, deny=()) is first
    for number in range(resolving.MAX_KEPT):
        resolve_role_prompt("vp", tmp_path / str(number))
    assert len(resolving._resolvers) == resolving.MAX_KEPT
    assert resolving._resolver(tmp_path, include_plugins=True, deny=()) is not first


@pytest.mark.row("C36")
def test_two_packs_of_one_folder_that_claim_a_name_get_a_way_out(
    templates: Path,
) -> None:
    """No prefix and no precedence: there are none for roles."""
    write_role(templates, "coder")
    edit(templates / "skills/coder/SKILL.md", "name: coder", "name: backend")

    with pytest.raises(DuplicateSkillError) as caught:
        resolve_role_prompt("backend", templates)

    assert caught.value.fix == "rename one of the two, and its folder with it"
    assert "precedence" not in str(caught.value)


def test_plugins_of_a_folder_that_is_not_kept_are_closed(
    templates: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plugin = add_plugin(monkeypatch, {})
    resolve_role_prompt("backend", templates)
    for number in range(resolving.MAX_KEPT):
        resolve_role_prompt("vp", tmp_path / str(number), include_plugins=False)

    assert plugin.closed == 1


@pytest.mark.row("C56")
def test_a_prompt_is_plain_text_and_needs_no_framework() -> None:
    script = (
        "import sys\n"
        "from satchel import resolve_role_prompt\n"
        "resolve_role_prompt('vp', '.', include_plugins=False)\n"
        "print(*{name.partition('.')[0] for name in sys.modules})\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, check=True, text=True
    )
    loaded = set(done.stdout.split())

    assert "satchel" in loaded
    assert not loaded & {
        *("agents", "langchain", "pydantic", "mcp", "click", "jinja2", "httpx", "rich")
    }


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
