"""The skills as one caller from outside may have them."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from satchel import Policy, Satchel, allow, ask, deny
from satchel.errors import (
    ApprovalNeededError,
    DeniedError,
    DuplicateSkillError,
    SkillError,
    SkillExcludedError,
    SkillNotFoundError,
)
from satchel.model import Catalog, Loaded
from satchel.runtime import View
from satchel.testing import write_pack
from satchel.usage import ListSink


@pytest.fixture
def library(tmp_path: Path) -> Path:
    for name in ("alpha", "beta"):
        files = {"references/more.md": f"More of {name}."}
        write_pack(tmp_path, name, f"Use for {name}.", f"Do {name}.\n", files=files)
    given: Any = {"body": "Shake $ARGUMENTS.\n", "disable_model_invocation": True}
    write_pack(tmp_path, "secret-handshake", **given)
    return tmp_path


def call(view: View, skill_id: str) -> str:
    tool = view.tools().get("load_skill")
    assert tool is not None
    return str(tool.call({"skill_id": skill_id}))


def ids(found: object) -> list[str]:
    return [each.id for each in found]  # type: ignore[attr-defined]


def test_everything_is_there_for_anybody(library: Path) -> None:
    view = Satchel(library).view()

    assert ids(view.catalog) == ["alpha", "beta"]
    assert view.load("alpha").body.strip() == "Do alpha."
    assert view.load("alpha", "more.md").text == "More of alpha."
    assert [r.path for r in view.resources("beta")] == [
        "SKILL.md",
        "references/more.md",
    ]
    assert ids(view.find("beta")) == ["beta"]
    assert view.manifest("beta").name == "beta"
    assert "beta" in str(view.prompt())
    references = Satchel(library).view(style="references").tools()
    assert references.get("load_skill_instructions") is not None


def test_each_load_gives_the_whole_text_and_is_an_event(library: Path) -> None:
    sink = ListSink()
    view = Satchel(library, sinks=[sink]).view(via="mcp", client="inspector")

    first, second = view.load("alpha"), view.load("alpha")
    view.load("alpha", as_="look")
    view.manifest("alpha")
    view.resources("alpha")

    assert first.text == second.text
    assert [(e.name, e.via, e.client) for e in sink.events] == [
        ("alpha", "mcp", "inspector"),
        ("alpha", "mcp", "inspector"),
    ]


def test_what_is_not_among_the_patterns_is_not_there(library: Path) -> None:
    view = Satchel(library).view(only=["a*"])

    assert ids(view.catalog) == ["alpha"]
    assert ids(view.find("Use")) == ["alpha"]
    assert "beta" not in str(view.prompt())
    look = partial(view.load, as_="look")
    for read in (view.load, view.resources, view.manifest, look, view.descriptor):
        with pytest.raises(SkillNotFoundError):
            read("beta")
    assert "not found" in str(call(view, "beta"))


def test_the_policy_is_asked_for_this_who(library: Path) -> None:
    policy = Policy(deny("beta", unless=lambda who: who.get("client") == "ci"))
    skills = Satchel(library, policy=policy)

    anybody, machine = skills.view(), skills.view(who={"client": "ci"})

    assert ids(anybody.catalog) == ["alpha"]
    assert ids(machine.catalog) == ["alpha", "beta"]
    look = partial(anybody.load, as_="look")
    for read in (anybody.load, anybody.resources, anybody.manifest, look):
        with pytest.raises(DeniedError):
            read("beta")


def test_a_question_that_nobody_can_answer_is_an_error(library: Path) -> None:
    view = Satchel(library, policy=Policy(ask("alpha", action="load"))).view()

    with pytest.raises(ApprovalNeededError):
        view.load("alpha")


@pytest.mark.row("R20")
def test_a_look_and_a_copy_give_nothing_that_a_load_would_not(library: Path) -> None:
    """Anyone who may not load a skill has no file of it by a look, nor by a copy."""
    rules = deny("beta", action="load"), ask("secret-*", action="load")
    sink = ListSink()
    view = Satchel(library, sinks=[sink], policy=Policy(*rules)).view(via="http")

    for file in (None, "more.md"):
        with pytest.raises(DeniedError):
            view.load("beta", file, as_="look")
        assert view.load("alpha", file, as_="copy") == view.load(
            "alpha", file, as_="look"
        )
    for denied, error in (("beta", DeniedError), ("secret-handshake", SkillError)):
        with pytest.raises(error):
            view.load(denied, as_="copy")
    assert sink.events == []
    assert [(each.name, each.file, each.code) for each in sink.skill_syncs] == [
        ("alpha", "SKILL.md", None),
        ("alpha", "references/more.md", None),
        ("beta", None, "denied-by-policy"),
        ("secret-handshake", None, "approval-required"),
    ]


def test_hidden_skills_are_for_users_alone(library: Path) -> None:
    skills = Satchel(library, policy=Policy(deny("beta"), allow("*")))
    view = skills.view()

    assert ids(view.invocable) == ["alpha", "secret-handshake"]
    assert "Shake Ana Berg." in view.invoke("secret-handshake", "Ana Berg").text
    assert "is hidden" in call(view, "secret-handshake")
    with pytest.raises(SkillNotFoundError):
        view.invoke("nobody")


def test_a_skill_that_no_user_may_invoke_is_no_prompt(tmp_path: Path) -> None:
    write_pack(tmp_path, "inner", user_invocable=False)
    view = Satchel(tmp_path).view()

    assert view.invocable == ()
    with pytest.raises(SkillExcludedError):
        view.invoke("inner")


def test_it_follows_a_sync(library: Path) -> None:
    skills = Satchel(library)
    view = skills.view(only=["*"])
    before = view.catalog
    write_pack(library, "gamma", "Use for gamma.")

    assert view.catalog is before
    skills.sync()

    assert ids(view.catalog) == ["alpha", "beta", "gamma"]


def test_many_skills_are_found_by_a_tool(tmp_path: Path) -> None:
    for number in range(30):
        write_pack(tmp_path, f"s{number}", f"Use for number {number}.")

    tools = Satchel(tmp_path).view().tools()

    assert "find_skills" in [tool.name for tool in tools]


@pytest.mark.row("F03", "T02")
def test_a_conflict_keeps_nobody_out_and_is_told_to_who_may_have_it(
    tmp_path: Path,
) -> None:
    for folder in ("one", "two"):
        write_pack(tmp_path / folder, "same", f"In {folder}.")
    skills = Satchel(tmp_path)

    assert ids(skills.view().catalog) == []
    with pytest.raises(DuplicateSkillError):
        skills.view().load("same")
    with pytest.raises(SkillNotFoundError):
        skills.view(only=["other*"]).load("same")


@pytest.mark.parametrize(
    "door",
    [lambda skills: skills, Satchel.session, Satchel.view],
    ids=["Satchel", "session", "view"],
)
def test_an_unknown_id_is_not_answered_with_one_that_is_hidden(
    library: Path, door: Callable[[Satchel], Any]
) -> None:
    skills = Satchel(library, policy=Policy(deny("beta")))
    with pytest.raises(SkillNotFoundError) as caught:
        door(skills).load("betaa")

    assert caught.value.close == ()
    with pytest.raises(SkillNotFoundError) as caught:
        door(Satchel(library)).load("betaa")
    assert caught.value.close == ("beta",)


@pytest.mark.parametrize("file", [None, "references/more.md"])
def test_a_look_asks_the_policy_about_the_pack_that_it_reads(
    library: Path, monkeypatch: pytest.MonkeyPatch, file: str | None
) -> None:
    """Another thread syncs after the look has begun; the pack is there only then."""
    skills = Satchel(library, policy=Policy(deny("later", missing_ok=True)))
    view, current = skills.view(via="http"), View.current

    def sync_first(
        self: View, skill_id: str, attempt: Callable[[Catalog], Loaded]
    ) -> Loaded:
        write_pack(library, "later", files={"references/more.md": "More.\n"})
        skills.sync()
        return current(self, skill_id, attempt)

    monkeypatch.setattr(View, "current", sync_first)

    with pytest.raises(DeniedError):
        view.load("later", file, as_="look")
