"""What is known of a client is told before the pack is there."""

from __future__ import annotations

from dataclasses import replace

import pytest

from satchel.authoring import TARGETS, Conversion
from satchel.authoring._convert._targets import predict_client, prediction_findings
from satchel.authoring._convert._values import PackDraft, PackFile
from satchel.clients import Loader, LoaderVerdict, Prediction
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
def test_verdicts(verdict: LoaderVerdict, expected: list[tuple[str, str]]) -> None:
    found = list(
        prediction_findings([Prediction(LOADER, verdict, fix="shorten it")], "p")
    )

    assert [(each.severity, each.code) for each in found] == expected
    assert {each.path for each in found} <= {f"p/{SKILL_FILE}"}
    assert {each.fix for each in found} <= {"shorten it"}


def test_nothing_is_told_of_what_is_for_no_client() -> None:
    skill = PackFile(SKILL_FILE, b"---\nname: A B\ndescription: c\n---\n")
    made = Conversion("p", PackDraft("A B", (skill,)))

    assert predict_client(made, TARGETS["spec"]) is made
    assert predict_client(Conversion("p", None), TARGETS["claude"]).findings == ()


def test_a_client_of_which_nothing_is_known_is_silent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("satchel.clients.loaders", lambda: (LOADER,))
    made = Conversion("p", PackDraft("a", (PackFile(SKILL_FILE, b""),)))

    assert predict_client(made, TARGETS["claude"]).findings == ()


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
    monkeypatch.setattr("satchel.clients.loaders", lambda: (loader,))
    monkeypatch.setattr(
        "satchel.clients.predict",
        lambda _, chosen: [
            Prediction(each, "dropped", fix="rename it") for each in chosen
        ],
    )
    made = Conversion("p", PackDraft("a", (PackFile(SKILL_FILE, b""),)))

    found = predict_client(made, TARGETS[target]).findings

    assert [each.code for each in found] == (["client-refuses"] if known else [])
