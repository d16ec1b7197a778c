"""What is known of a client is told before the pack is there."""

from __future__ import annotations

from dataclasses import replace

import pytest

from satchel.authoring.convert.draft import Conversion, Draft, File
from satchel.authoring.convert.foretelling import foretell, told
from satchel.authoring.convert.targets import TARGETS
from satchel.compat import Loader, Outcome, Verdict
from satchel.model import SKILL_FILE

LOADER = Loader("codex", "Codex", "1", "client", "2026-11-01", "documented", "docs")


@pytest.mark.parametrize(
    ("verdict", "expected"),
    [
        ("loaded", []),
        ("unknown", []),
        ("cut", [("note", "client-cuts")]),
        ("wrong", [("warning", "client-refuses")]),
        ("dropped", [("warning", "client-refuses")]),
        ("breaks-neighbours", [("warning", "client-refuses")]),
    ],
)
def test_verdicts(verdict: Verdict, expected: list[tuple[str, str]]) -> None:
    found = list(told([Outcome(LOADER, verdict, fix="shorten it")], "p"))

    assert [(each.severity, each.code) for each in found] == expected
    assert {each.path for each in found} <= {f"p/{SKILL_FILE}"}
    assert {each.fix for each in found} <= {"shorten it"}


def test_nothing_is_told_of_what_is_for_no_client() -> None:
    skill = File(SKILL_FILE, b"---\nname: A B\ndescription: c\n---\n")
    made = Conversion("p", Draft("A B", (skill,)))

    assert foretell(made, TARGETS["spec"]) is made
    assert foretell(Conversion("p", None), TARGETS["claude"]).findings == ()


def test_a_client_of_which_nothing_is_known_is_silent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("satchel.compat.loaders", lambda: (LOADER,))
    made = Conversion("p", Draft("a", (File(SKILL_FILE, b""),)))

    assert foretell(made, TARGETS["claude"]).findings == ()


@pytest.mark.parametrize(
    ("target", "title", "known"),
    [
        ("claude", "Claude Code", True),
        ("copilot", "GitHub Copilot CLI", True),
        ("copilot", "VS Code", True),
        ("vibe", "Mistral Vibe", True),
        ("claude", "VS Code", False),
        ("agents", "Any Agent CLI", False),
    ],
)
def test_a_loader_is_known_by_its_name(
    target: str, title: str, known: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    loader = replace(LOADER, title=title)
    monkeypatch.setattr("satchel.compat.loaders", lambda: (loader,))
    monkeypatch.setattr(
        "satchel.compat.predict",
        lambda _, chosen: [
            Outcome(each, "dropped", fix="rename it") for each in chosen
        ],
    )
    made = Conversion("p", Draft("a", (File(SKILL_FILE, b""),)))

    found = foretell(made, TARGETS[target]).findings

    assert [each.code for each in found] == (["client-refuses"] if known else [])
