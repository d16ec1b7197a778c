"""What the tools read of clients and other loaders, and how they judge it."""

import json
import sys
import urllib.request
from pathlib import Path

import pytest

from satchel_lab.clients import Candidate, PackReader, ShownEntry
from satchel_lab.conformance._cases import (
    NEIGHBOURS,
    Expected,
    expected_of,
    judge,
    write_library,
)
from satchel_lab.conformance._packs import pack
from tools.loaders.clients import asking, reading
from tools.loaders.clients.api import FakeApi, answer
from tools.loaders.clients.desk import open_desk
from tools.loaders.clients.installing import Npm, Pip
from tools.loaders.driver import UnavailableError, uv_command
from tools.loaders.drivers.node import DRIVERS, Client
from tools.loaders.known import PAGE
from tools.loaders.reporting import FILE, FINDINGS, render as render_findings
from tools.loaders.table import render
from tools.loaders.writing import words_for

CASES = Path(__file__).parents[2] / "cases" / "client-output"
GOOD = tuple((name, "A good neighbour.") for name in NEIGHBOURS)
RIGHT = Expected(frozenset(["the-pack"]), "It counts  words")


@pytest.mark.parametrize(
    ("found", "wanted"),
    [
        ((*GOOD, ("the-pack", "It  counts\nwords ")), "loaded"),
        ((*GOOD, ("the-pack", None)), "loaded"),
        ((*GOOD, ("the-pack", "It counts...")), "cut"),
        ((*GOOD, ("the-pack", "")), "wrong"),
        ((*GOOD, ("the-pack", "It counts words and more")), "wrong"),
        ((*GOOD, ("another", "It counts words")), "wrong"),
        ((*GOOD, ("another", ""), ("the-pack", "It counts words")), "loaded"),
        (GOOD, "dropped"),
        (GOOD[:1], "breaks-neighbours"),
        ((("the-pack", "It counts words"), GOOD[1]), "breaks-neighbours"),
        ((), "breaks-neighbours"),
    ],
)
def test_a_verdict_is_what_its_meaning_says(
    found: tuple[tuple[str, str | None], ...], wanted: str
) -> None:
    assert judge(found, RIGHT).verdict == wanted


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="some packs exist there alone")
def test_the_page_of_findings_is_made_from_its_data() -> None:
    """Else run ``python -m tools.loaders report``."""
    data = json.loads(FILE.read_text("utf-8"))

    assert len(data) >= 10
    assert render_findings(data) == FINDINGS.read_text("utf-8")


def test_a_cut_and_a_pack_without_a_description() -> None:
    right = Expected(frozenset(["the-pack"]), "x" * 300)
    found = (*GOOD, ("the-pack", f"{'x' * 120} (some left out) {'x' * 50}"))

    assert judge(found, right).verdict == "cut"

    right = Expected(frozenset(["the-pack"]), None)

    assert judge((*GOOD, ("the-pack", "Something")), right).verdict == "wrong"


@pytest.mark.parametrize(
    ("shown", "words"),
    [
        (ShownEntry("other", "It counts"), {}),
        (ShownEntry("the-pack", "It counts"), {"name": "folder"}),
        (ShownEntry("third", "It"), {"name": "other", "description": "other"}),
        (ShownEntry("other", ""), {"description": "nothing"}),
        (ShownEntry("other", "'It counts'"), {"description": "line"}),
        (ShownEntry(None, None), {}),
    ],
)
def test_what_is_listed_is_put_into_words(
    shown: ShownEntry, words: dict[str, str]
) -> None:
    reading = PackReader(pack("name: other\ndescription: 'It counts'"))

    assert words_for(shown, reading) == words


def test_a_long_beginning_is_measured_by_its_length() -> None:
    reading = PackReader(pack(f"name: the-pack\ndescription: {'x' * 200}"))

    assert words_for(ShownEntry("the-pack", "x" * 120), reading) == {
        "description": "first-120"
    }


@pytest.mark.parametrize(
    ("head", "names", "description"),
    [
        ("name: A_b\ndescription: x", {"A_b", "a-b", "the-pack"}, "x"),
        ("name: a\ndescription: x: y", {"a", "the-pack"}, "x: y"),
        ("name: a\ndescription: &b x", {"a", "the-pack"}, "&b x"),
        ("name: a", {"the-pack"}, None),
    ],
)
def test_what_is_right_is_what_satchel_reads(
    head: str, names: set[str], description: str | None
) -> None:
    expected = expected_of(pack(head))

    assert expected.names >= names
    assert expected.description == description


def test_a_library_has_the_pack_between_good_ones_or_linked(tmp_path: Path) -> None:
    library = tmp_path / "library"
    library.mkdir()
    candidate = Candidate(b"x", "p", "skill.md", depth=2, files=("a/b.txt",))
    write_library(library, candidate, with_neighbours=True)

    found = {path.relative_to(library).as_posix() for path in library.rglob("*.*")}
    assert found == {
        "aa-good-neighbour/SKILL.md",
        "group/p/a/b.txt",
        "group/p/skill.md",
        "zz-good-neighbour/SKILL.md",
    }

    library = tmp_path / "linked" / "library"
    library.mkdir(parents=True)
    write_library(library, Candidate(b"x", "p", is_link=True), with_neighbours=False)

    assert (library / "p").is_symlink()
    assert (library / "p" / "SKILL.md").read_bytes() == b"x"


def test_the_page_is_what_the_data_say() -> None:
    """Else run ``python -m tools.loaders table``."""
    assert PAGE.read_text("utf-8") == render()


@pytest.mark.row("F57")
def test_uv_is_called_where_it_is_or_the_error_says_how_to_get_it(
    tmp_path: Path,
) -> None:
    with pytest.raises(UnavailableError, match="pip install"):
        uv_command(tmp_path / "uv")

    uv = tmp_path / "uv"
    uv.touch()

    assert uv_command(uv)[0] == str(uv)


BULLETS = """\
The following skills are available for use with the Skill tool:

- pack: Counts words.
- odd - name (other): Shows
- not a skill: and more

of it
- plain
- of-its-own: belongs to the client
</system-reminder>"""


def test_what_is_printed_is_taken_apart() -> None:
    found = reading.bullets(BULLETS, ["pack", "odd - name", "plain", "absent"])

    assert found == (
        ("pack", "Counts words."),
        ("odd - name", "Shows\n- not a skill: and more\n\nof it"),
        ("plain", None),
    )
    assert reading.bullets(BULLETS, []) == ()

    pairs = (("a", "x &lt;b&gt; &amp; y"), ("b", None))

    assert reading.angle_brackets(pairs) == (("a", "x <b> &amp; y"), ("b", None))

    assert reading.with_section(["x", "one mark two"], "mark") == "mark two"
    assert reading.with_section([], "mark") == ""


@pytest.mark.parametrize("client", sorted(CASES.glob("*.txt")), ids=lambda p: p.stem)
def test_what_a_client_prints_is_read(client: Path) -> None:
    """Each file of tests/cases/client-output, with what is next to it as JSON."""
    expected = json.loads(client.with_suffix(".json").read_text("utf-8"))
    printed = client.read_bytes().decode()
    entries = getattr(reading, client.stem)(printed, *expected["arguments"])

    assert [list(entry) for entry in entries] == expected["entries"]


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


def test_a_client_that_lists_as_json_is_read_and_one_that_fails_says_how(
    tmp_path: Path,
) -> None:
    with open_desk((sys.executable, "-c", CLI)) as desk, desk.laid(tmp_path, "x"):
        seen = asking.copilot(desk)

    assert seen.found == (("a", "one"), ("b", '["one", 2]'), ("c", None))
    assert seen.error == ""

    failing = (sys.executable, "-c", CLI, "fail")
    with open_desk(failing) as desk, desk.laid(tmp_path, "x"):
        seen = asking.copilot(desk)

    assert seen.found == ()
    assert seen.error.startswith("status 1: ")
    assert "no such command" in seen.error


def test_clients_have_names_and_folders_of_their_own() -> None:
    codex, pi = Npm("@openai/codex", "bin/x"), Npm("@a/pi@<1", "pi", native=True)

    assert (codex.name, codex.folder.name) == ("@openai/codex", "openai-codex")
    assert (pi.name, pi.command[0][-3:]) == ("@a/pi", "/pi")
    assert Pip("hermes-agent", "3.12").command[0].endswith("hermes-agent/bin/python")

    keys = [driver.key for driver in DRIVERS]

    assert len(set(keys)) == len(keys) >= 16
    assert all(isinstance(driver, Client) and driver.place for driver in DRIVERS)
