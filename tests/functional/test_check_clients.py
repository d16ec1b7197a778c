"""``satchel check`` speaks with the client that the place of a pack names."""

import json
from pathlib import Path

import pytest

from tests.functional.library import run, write_pack

HEAD = "name: {name}\ndescription: Fills in PDF forms. Use when a form is to be done.\n"
BODY = "---\n\n# Forms\n\nAsk for what is missing.\n"
CLAUDE = (
    'argument-hint: "[form]"',
    "arguments: [form]",
    "disable-model-invocation: true",
    "user-invocable: no",
    "model: opus",
    "effort: high",
    "context: fork",
    "agent: Explore",
    "hooks: {PreToolUse: []}",
    "paths: [src/**, docs/**]",
    "shell: bash",
    "when_to_use: A form has to be done.",
    "disallowed-tools: Bash",
    "allowed-tools: [Read, Bash(git:*)]",
    "allowed-tools: Read, Grep",
)
OTHERS = {
    ".github/skills/a": ("user-invokable: false", "user-invocable: false"),
    ".copilot/skills/a": ("argument-hint: form", "context: fork"),
    ".cursor/skills/a": ("disable-model-invocation: true",),
    ".codex/skills/a": ("metadata: {short-description: Forms}",),
    ".openclaw/skills/a": ("homepage: x", "metadata: {openclaw: {emoji: x}}"),
    ".hermes/skills/a": ("platforms: [linux]", "metadata: {hermes: {tags: [a]}}"),
    ".openhands/skills/a": ("triggers: [form]",),
}
MARKERS = {
    "plug/.claude-plugin/plugin.json": "plug/skills/a",
    ".claude-plugin/marketplace.json": "plugins/one/skills/a",
    "plugins/one/plugin.json": "plugins/one/skills/a",
}


def _codes(here: Path, place: str, *lines: str) -> list[tuple[str, str]]:
    text = f"---\n{HEAD.format(name=Path(place).name)}" + "\n".join(lines) + f"\n{BODY}"
    write_pack(here / place, text)
    done = run("check", ".", "--format", "json", "--fail-on", "never")
    findings = json.loads(done.stdout)["findings"]
    return [(one["severity"], one["code"]) for one in findings]


@pytest.mark.row("F79")
@pytest.mark.parametrize("line", CLAUDE)
@pytest.mark.parametrize("place", [".claude/skills/a", "x/y/.claude/skills/a"])
def test_what_a_client_documents_is_fine_in_its_folder(
    here: Path, place: str, line: str
) -> None:
    assert _codes(here, place, line) == []


@pytest.mark.row("F79")
@pytest.mark.parametrize(
    ("place", "line"), [(place, line) for place in OTHERS for line in OTHERS[place]]
)
def test_and_in_the_folders_of_others(here: Path, place: str, line: str) -> None:
    assert _codes(here, place, line) == []


@pytest.mark.row("F79")
@pytest.mark.parametrize("line", CLAUDE)
@pytest.mark.parametrize("marker", MARKERS)
def test_a_plugin_names_its_client(here: Path, marker: str, line: str) -> None:
    (here / marker).parent.mkdir(parents=True)
    (here / marker).write_text("{}")

    assert _codes(here, MARKERS[marker], line) == []


@pytest.mark.row("F79")
@pytest.mark.parametrize(
    "line", dict.fromkeys([*CLAUDE, *(one for w in OTHERS.values() for one in w)])
)
@pytest.mark.parametrize("place", ["skills/a", ".agents/skills/a"])
def test_elsewhere_it_is_a_note(here: Path, place: str, line: str) -> None:
    codes = _codes(here, place, line)

    # The key of a mapping in `metadata` says itself whose it is; nothing depends on
    # what is for people.
    is_silent = line.count("{") > 1 or line.startswith(("argument-hint", "homepage"))
    expected = set() if is_silent else {"note"}
    assert {severity for severity, _ in codes} == expected
    assert {code for _, code in codes} <= {"client-only-field", "allowed-tools-form"}


@pytest.mark.row("F79")
@pytest.mark.parametrize("line", ["tags: [a]", "allowed-tools: {Read: yes}"])
def test_what_nobody_documents_stays_an_error(here: Path, line: str) -> None:
    assert "error" in [
        severity for severity, _ in _codes(here, ".claude/skills/a", line)
    ]


@pytest.mark.row("F79")
def test_in_the_profile_of_the_specification_it_is_an_error(here: Path) -> None:
    write_pack(
        here / ".claude/skills/a",
        f"---\n{HEAD.format(name='a')}model: opus\nallowed-tools: [Read]\n{BODY}",
    )

    done = run("check", ".", "--profile", "spec")

    assert "error unknown-field" in done.output
    assert "error field-kind" in done.output


@pytest.mark.row("F79")
@pytest.mark.parametrize(
    ("place", "severity"), [(".claude/skills/a", "note"), (".codex/skills/a", "error")]
)
@pytest.mark.parametrize("head", ["name: other\n", ""])
def test_a_name_is_optional_where_the_folder_is_the_name(
    here: Path, place: str, severity: str, head: str
) -> None:
    text = f"---\n{head}{HEAD.partition(chr(10))[2]}{BODY}"
    write_pack(here / place, text)

    done = run("check", ".", "--format", "json", "--fail-on", "never")

    assert [one["severity"] for one in json.loads(done.stdout)["findings"]] == [
        severity
    ]


TOOLS = {
    "list": "allowed-tools: [Read]",
    "text": "allowed-tools: Read",
    "commas": "allowed-tools: Read, Grep",
}


@pytest.mark.row("F79")
@pytest.mark.parametrize("form", TOOLS)
def test_advice_suits_all_loaders_of_the_run(here: Path, form: str) -> None:
    """No form suits all; for each group that one suits, that one is the advice."""
    text = f"---\n{HEAD.format(name='a')}{TOOLS[form]}\n{BODY}"
    write_pack(here / "skills/a", text)

    def fixes(names: str) -> set[str]:
        done = run("predict", "skills", "--for", names, "--format", "json")
        findings = json.loads(done.stdout)["findings"]
        return {one["fix"] for one in findings if "allowed-tools" in one["message"]}

    assert fixes("all") == {
        "leave the field out: no other form suits all of these loaders"
    }
    assert fixes("agno,agentskills") <= {"write the tools as a list, one a line"}
    assert fixes("google-adk,agent-framework") <= {
        "write the tools on one line, with spaces between them"
    }


@pytest.mark.row("F79")
def test_hidden_on_purpose_is_hidden(here: Path) -> None:
    text = f"---\n{HEAD.format(name='a')}disable-model-invocation: true\n{BODY}"
    write_pack(here / "skills/a", text)

    done = run("predict", "skills", "--for", "claude-code,skills-ref-validate")
    data = json.loads(
        run("predict", "skills", "--for", "claude-code,pi", "--format", "json").stdout
    )

    assert "dropped by claude-code" not in done.output
    assert [one["verdict"] for one in data["packs"][0]["outcomes"]] == ["hidden"] * 2
    assert data["findings"] == []
    assert run("predict", "skills", "--for", "claude-code,pi").output == (
        "1 skill loaded whole by both clients; 1 hidden on purpose\n"
    )
