"""What clients print, and what they ask a model, is read as it was meant."""

from __future__ import annotations

import json
import sys
import urllib.request
from typing import TYPE_CHECKING

import pytest

from tools.loaders.clients import asking, reading
from tools.loaders.clients.api import FakeApi, answer
from tools.loaders.clients.desk import open_desk
from tools.loaders.clients.installing import Npm, Pip
from tools.loaders.drivers.node import DRIVERS, Client

if TYPE_CHECKING:
    from pathlib import Path

BULLETS = """\
The following skills are available for use with the Skill tool:

- pack: Counts words.
- odd - name (other): Shows
- not a skill: and more

of it
- plain
- of-its-own: belongs to the client
</system-reminder>"""


def test_bullets_begin_where_a_known_folder_does() -> None:
    found = reading.bullets(BULLETS, ["pack", "odd - name", "plain", "absent"])

    assert found == (
        ("pack", "Counts words."),
        ("odd - name", "Shows\n- not a skill: and more\n\nof it"),
        ("plain", None),
    )
    assert reading.bullets(BULLETS, []) == ()


def test_only_angle_brackets_are_put_back() -> None:
    pairs = (("a", "x &lt;b&gt; &amp; y"), ("b", None))

    assert reading.angle_brackets(pairs) == (("a", "x <b> &amp; y"), ("b", None))


def test_xml_is_unescaped() -> None:
    text = (
        "<skill>\n<name>\na&amp;b\n</name>\n<description>\nsays &quot;x&quot;\n"
        "</description>\n</skill><skill><name>c</name><description></description>"
    )

    assert reading.xml(text) == (("a&b", 'says "x"'), ("c", None))


def test_gemini_lists_its_own_apart() -> None:
    text = (
        "Discovered Agent Skills:\n\n"
        "a [Enabled]\n  Description: one\n\nand two\n  Location:    /x/a/SKILL.md\n\n"
        "b [Enabled] [Built-in]\n  Description: its own\n  Location:    /y\n"
    )

    assert reading.gemini(text) == (("a", "one\n\nand two"),)


def test_codex_names_folders_by_alias_or_whole() -> None:
    text = (
        "### Skill roots\n- `r0` = `/home/.system`\n- `r1` = `/p/.agents/skills`\n"
        "### Available skills\n"
        "- own: of Codex (file: r0/own/SKILL.md)\n"
        "- a: one: two (file: r1/group/a/SKILL.md)\n"
        "- b: three (file: /p/.agents/skills/b/SKILL.md)\n"
    )

    assert reading.codex(text, "/p/.agents/skills") == (
        ("a", "one: two"),
        ("b", "three"),
    )


def test_kimi_tells_the_path_last() -> None:
    text = (
        "- a: one\nand two\n  When to use: often\n  Path: /p/skills/a/SKILL.md\n"
        "- b\n  Path: /p/skills/b/SKILL.md\n"
        "- c: three\n  Path: /elsewhere/c/SKILL.md\n"
    )

    assert reading.kimi(text, "/p/skills") == (("a", "one\nand two"), ("b", None))


def test_npx_skills_draws_boxes() -> None:
    text = (
        "⚠ Skipped x\n◇  \x1b[1mAvailable Skills\x1b[22m\n│\n"
        "│    \x1b[36ma\x1b[39m\n│\n│      \x1b[2mone\n\nand two\x1b[22m\n│\n"
        "│    b\n│\n│      three\n│\n└  Use --skill to install\n"
    )

    assert reading.npx_skills(text) == (("a", "one\n\nand two"), ("b", "three"))


def test_hermes_groups_by_folder() -> None:
    text = (
        "Scan.\n<available_skills>\n  a:\n    - a: one\n  b:\n    - b\n"
        "  c:\n    - c: </available_skills> x\n</available_skills>\nProceed."
    )

    assert reading.hermes(text) == (
        ("a", "one"),
        ("b", None),
        ("c", "</available_skills> x"),
    )


def test_a_section_is_found_in_any_text() -> None:
    assert reading.with_section(["x", "one mark two"], "mark") == "mark two"
    assert reading.with_section([], "mark") == ""


@pytest.mark.parametrize(
    ("path", "key"),
    [
        ("/v1/messages", "content"),
        ("/v1/chat/completions", "choices"),
        ("/v1beta/models/fake:generateContent", "candidates"),
        ("/v1/messages/count_tokens", "input_tokens"),
    ],
)
def test_the_fake_model_answers_each_api(path: str, key: str) -> None:
    assert key in json.loads(answer(path, streams=False))
    for line in answer(path, streams=True).splitlines():
        kind, _, data = line.partition(": ")
        assert kind in {"event", "data", ""} or line.startswith("{")
        if kind == "data" and data != "[DONE]":
            json.loads(data)


def _open(address: str, data: bytes | None = None) -> bytes:
    # The address is the fake's own, on this machine.
    with urllib.request.urlopen(address, data) as said:  # noqa: S310
        told: bytes = said.read()
    return told


def test_the_fake_model_remembers_what_it_was_asked() -> None:
    with FakeApi() as api:
        for body in ({"messages": ["first"]}, {"stream": True, "input": {"x": "last"}}):
            data = json.dumps(body).encode()
            _open(f"{api.address}/v1/responses", data)
        models = _open(f"{api.address}/v1/models")
        assert json.loads(models)["data"][0]["id"] == "fake"

        assert api.texts() == ["last", "first"]


def test_a_library_is_laid_where_a_client_looks_and_taken_away(tmp_path: Path) -> None:
    pack = tmp_path / "library" / "pack"
    pack.mkdir(parents=True)
    (pack / "SKILL.md").write_text("x", "utf-8")
    show = "import os, sys; print(os.path.exists(sys.argv[1]), os.environ['HOME'])"
    with open_desk((sys.executable, "-c", show)) as desk:
        for place in (".claude/skills", "~/.pi/agent/skills"):
            with desk.laid(tmp_path / "library", place):
                inside = place.replace("~", str(desk.home))
                done = desk.run((f"{inside}/pack/SKILL.md",), {})
            assert done.out == f"True {desk.home}\n"
            assert not desk.project.exists()
        assert not (desk.home / ".pi" / "agent" / "skills").exists()
    assert not desk.root.exists()


def test_a_client_that_hangs_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tools.loaders.clients.desk.TIMEOUT_S", 0.2)
    code = "import subprocess, time; subprocess.Popen(['sleep', '60']); time.sleep(60)"
    with open_desk((sys.executable, "-c", code)) as desk, desk.laid(tmp_path, "skills"):
        done = desk.run((), {})

    assert (done.status, done.err) == (-1, "it ran out of time")


CLI = """\
import json, sys
if "fail" in sys.argv: sys.exit("no such command")
print(json.dumps([
    {"name": "a", "description": "one", "source": "project"},
    {"name": "b", "description": ["one", 2], "source": "project"},
    {"name": "c", "source": "project"},
    {"name": "own", "description": "x", "source": "builtin"},
]))
"""


def test_a_client_that_lists_as_json_is_read(tmp_path: Path) -> None:
    with open_desk((sys.executable, "-c", CLI)) as desk, desk.laid(tmp_path, "x"):
        seen = asking.copilot(desk)

    assert seen.found == (("a", "one"), ("b", '["one", 2]'), ("c", None))
    assert seen.error == ""


def test_a_client_that_fails_says_how(tmp_path: Path) -> None:
    failing = (sys.executable, "-c", CLI, "fail")
    with open_desk(failing) as desk, desk.laid(tmp_path, "x"):
        seen = asking.copilot(desk)

    assert seen.found == ()
    assert seen.error.startswith("status 1: ")
    assert "no such command" in seen.error


def test_packages_stand_in_folders_of_their_own() -> None:
    codex, pi = Npm("@openai/codex", "bin/x"), Npm("@a/pi@<1", "pi", native=True)

    assert (codex.name, codex.folder.name) == ("@openai/codex", "openai-codex")
    assert (pi.name, pi.command[0][-3:]) == ("@a/pi", "/pi")
    assert Pip("hermes-agent", "3.12").command[0].endswith("hermes-agent/bin/python")


def test_every_client_has_a_name_of_its_own() -> None:
    keys = [driver.key for driver in DRIVERS]

    assert len(set(keys)) == len(keys) >= 16
    assert all(isinstance(driver, Client) and driver.place for driver in DRIVERS)
