"""What stands in a prompt names only tools that the style offers, and they work."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, get_args

import pytest

from satchel import Satchel
from satchel.model import SeenMessage, Style
from satchel.policy import Policy, deny
from satchel.tools import result_text
from tests.fakes import FakeSource, pack

if TYPE_CHECKING:
    from satchel.runtime import Session

FILES: dict[str, Any] = {
    "references/a.md": "Text of a.",
    "scripts/b.py": "print('Text of b.')",
    "assets/c.txt": "Text of c.",
}
NAMED = re.compile(r"for reading only here, with (.*)\.$", re.MULTILINE)
KEY: dict[str, str] = {
    "agent-skills": "skill_id",
    "packs": "name",
    "references": "skill_name",
}
LOADER: dict[str, str] = {
    "agent-skills": "load_skill",
    "packs": "load_skill",
    "references": "load_skill_instructions",
}
SUBSETS = [[*FILES], *[[each] for each in FILES]]


def open_session(style: Style, files: list[str], how: str, *rules: Any) -> Session:  # noqa: ANN401
    more = "disable-model-invocation: true\n" if how == "hidden" else ""
    text = pack("a").replace("---\n", f"---\n{more}", 1)
    packs: Any = {"a": {"SKILL.md": text, **{each: FILES[each] for each in files}}}
    skills = Satchel(FakeSource("s", packs), policy=Policy(*rules))
    always = ["a"] if how == "always" else []
    session = skills.session(style=style, always=always)
    if how == "loaded":
        session.call(LOADER[style], {KEY[style]: "a"})
        session.see([SeenMessage("user", "Go on.")])
    return session


def text_of(session: Session, how: str) -> str:
    return session.invoke("a").text if how == "invoked" else session.instructions()


def readable(session: Session, files: list[str]) -> str:
    """Return what the session's tools give for all these files, however asked."""
    key, said = KEY[session.style], []
    for tool in session.tools():
        for file in files:
            for parameter in ("path", "reference", "script"):
                if parameter in str(tool.parameters):
                    arguments = {key: "a", parameter: file}
                    said.append(result_text(session.call(tool.name, arguments)))
    return "".join(said)


@pytest.mark.row("F28")
@pytest.mark.parametrize("files", SUBSETS)
@pytest.mark.parametrize("how", ["always", "loaded", "invoked"])
@pytest.mark.parametrize("style", get_args(Style))
def test_they_are_offered_and_give_the_files(
    style: Style, how: str, files: list[str]
) -> None:
    session = open_session(style, files, how)

    (named,) = NAMED.findall(text_of(session, how))

    offered = {tool.name for tool in session.tools()}
    assert set(named.split(" and ")) <= offered
    text = readable(session, files)
    assert all(FILES[each].strip("print()'") in text for each in files)


@pytest.mark.row("F28")
@pytest.mark.parametrize("files", SUBSETS)
@pytest.mark.parametrize("style", get_args(Style))
def test_so_they_are_where_the_skill_is_not_listed(
    style: Style, files: list[str]
) -> None:
    session = open_session(style, files, "always", deny("*", action="list"))

    (named,) = NAMED.findall(session.instructions())

    assert set(named.split(" and ")) <= {tool.name for tool in session.tools()}
    text = readable(session, files)
    assert all(FILES[each].strip("print()'") in text for each in files)


@pytest.mark.row("F28")
@pytest.mark.parametrize("style", get_args(Style))
def test_no_tool_is_named_that_would_refuse_the_files(style: Style) -> None:
    """Those of a skill that only users invoke."""
    session = open_session(style, [*FILES], "hidden")

    assert NAMED.findall(session.invoke("a").text) == []
    assert readable(session, [*FILES]) == ""


@pytest.mark.row("F28")
@pytest.mark.parametrize("style", get_args(Style))
def test_without_files_no_tool_is_named_or_offered(style: Style) -> None:
    session = open_session(style, [], "always", deny("*", action="list"))

    assert NAMED.findall(session.instructions()) == []
    assert list(session.tools()) == []
