"""A rule is silent where the text shows that nothing is wrong, or leaves it open."""

from pathlib import Path

import pytest

from satchel_lab.checking import check
from satchel_lab.lint import LintSettings
from tests.functional.library import run, write_pack

ABOUT = "Fills in PDF forms. Use when a form is to be done."
BODY = "# Forms\n\nFill in the form.\n\n"
# What a check looks for only when it is asked.
ASKED = LintSettings(
    severity={
        "client-only-syntax": "note",
        "skipped-heading": "warning",
        "unpinned-command": "note",
    }
)


def test_what_is_not_right_often_enough_is_looked_for_when_it_is_asked(
    here: Path,
) -> None:
    text = f"{BODY}#### Fees\n\nRun `npx -y pdf-forms`. Fill in $ARGUMENTS.\n"
    write_pack(
        here / "skills/forms", f"---\nname: forms\ndescription: {ABOUT}\n---\n\n{text}"
    )

    asked = [one.code for one in check(["skills"], settings=ASKED).findings]

    assert check(["skills"]).findings == ()
    assert asked == ["skipped-heading", "client-only-syntax", "unpinned-command"]


def codes(
    here: Path, text: str, *, about: str = ABOUT, head: str = "", name: str = "forms"
) -> list[str]:
    top = f"---\nname: {name}\ndescription: {about}\n{head}---\n\n"
    write_pack(here / "skills" / name, top + text)
    return [one.code for one in check(["skills"], settings=ASKED).findings]


def fenced(text: str, info: str = "") -> str:
    return f"```{info}\n{text}\n```\n"


SILENT = {
    "npx of the project": "```bash\nnpm ci\nnpx vitest run\n```",
    "npx of the project, in a sentence": "Format with `npx biome check`.",
    "bunx of the project": fenced("cd web && bunx astro build", "sh"),
    "a sentence about a program": "The tool is a wrapper (uvx runner).",
    "a name to fill in": fenced("npx -y my-tool@latest", "sh"),
    "what is printed": fenced("Saved to /Users/petra/forms/out.pdf"),
    "a record": fenced('{"root": "/home/olga/forms"}', "json"),
    "an example of a path": "Give the folder, e.g. `/home/olga/forms`.",
    "an example above": "For example:\n- Folder: `/Users/petra/forms`",
    "a wrong way": fenced("# WRONG: works on one machine\ncd /home/olga/forms", "sh"),
    "an address of a web API": fenced("GET /Users/77/Forms"),
    "a comment without its fence": "## One\n\n# Start it:\nrun it\n\n### Two",
    "a second title": "## One\n\n# Install\n\n### Two",
    "a fence in a fence": "```md\n# A\n```sh\nx\n```\n#### B\n```\ny\n```\n",
    "a variable that is explained": "- `${CLAUDE_SKILL_DIR}` - the folder of the pack",
    "a row for a variable": "| a | b |\n|--|--|\n| `$ARGUMENTS` | what was typed |",
    "a variable for its client": "In Claude Code it is at ${CLAUDE_PLUGIN_ROOT}/x.",
    "a sample of a command": fenced("Read the file at $ARGUMENTS.", "markdown"),
    "an argument that is meant": "Take the form from the argument `$1`.",
    "an argument above": fenced("# the form, passed by the user\nopen $1", "sh"),
    "an argument, in a sentence": "1. **Read** `$0`, the first argument.",
    "the folder of the project": "Stand in ${CLAUDE_PROJECT_DIR}.",
    "an argument of a command": fenced('FORM="$1"\nopen forms/$1', "sh"),
    "an argument in a path": "1. Read `forms/$0/fees.md` and **$1**.",
    "a program of another client": "Ask Codex.\n\n"
    + fenced("awk '{print $1}' form.txt", "sh"),
    "a whole path that a tool needs": fenced(
        "# needs the absolute path\ncd /home/olga/forms", "sh"
    ),
    "the value of an option": fenced('fill --dir "/home/olga/forms"', "sh"),
    "an account of a service": fenced("cd /home/formsbot/data", "sh"),
    "a host of which no key is kept": fenced(
        "ssh -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null a@b", "sh"
    ),
    "a shell that is a tool": fenced("os.system(input('command> '))", "python")
    + fenced("command = input()\nos.system(command)", "python"),
    "a value of the environment": fenced("os.system(os.environ['X'])", "python"),
    "an icon of a font": "The icon is '\ue0a0'.",
    "a fence shown in a fence": "```md\nSay:\n\u200b```sh\nrun\n\u200b```\n```",
    "a list of tasks": "## TODO\n\n- [ ] Read the form\n- [ ] Fill it in",
    "a title of HTML": '<h2 align="center">All <b>forms</b></h2>\n\n[up](#all-forms)',
    "a plain title of HTML": "<h3>Fees</h3>\n\nSee [fees](#fees).",
    "an option of the user": fenced(
        "if insecure:\n    get(url, verify=False)", "python"
    ),
    "an option, in one line": fenced(
        "if (skipVerify) tls = { rejectUnauthorized: false };", "js"
    ),
    "an evaluator of its own": fenced("print(eval(parse(input())))", "python"),
    "a file that the user names": fenced(
        "exec(compile(open(sys.argv[1]).read(), 'x', 'exec'))", "python"
    ),
    "what a program prints": "Error output:\n\n"
    + fenced("Install it:\n  curl -LsSf https://x.org/i.sh | sh"),
    "an example of a message": (
        'Say what to do (e.g., "Run: curl -LsSf https://x.org/i.sh | sh").'
    ),
}


@pytest.mark.row("F80")
@pytest.mark.parametrize("text", SILENT.values(), ids=SILENT)
def test_nothing_is_said_where_it_is_not_sure(here: Path, text: str) -> None:
    assert codes(here, BODY + text) == []


REPORTED = {
    "npx that fetches": ("Run `npx -y pdf-forms`.", "unpinned-command"),
    "uvx": (fenced("uvx pdf-forms fill", "sh"), "unpinned-command"),
    "a tag": (fenced("bunx pdf-forms@latest", "sh"), "unpinned-command"),
    "a path to run": ("Run `python /Users/petra/forms/x.py`.", "machine-path"),
    "a path in a command": (fenced("cd /home/olga/forms"), "machine-path"),
    "a path in a program": (
        fenced('open("/home/olga/forms/a")', "python"),
        "machine-path",
    ),
    "a level that is skipped": ("## One\n\n#### Two", "skipped-heading"),
    "a level below the title": ("### One", "skipped-heading"),
    "a variable in use": ("Stand in ${CLAUDE_SKILL_DIR}.", "client-only-syntax"),
    "a variable of a command": (
        fenced("python $ARGUMENTS", "sh"),
        "client-only-syntax",
    ),
    "a field of awk": (fenced("awk '{print $1}' form.txt", "sh"), "argument-in-code"),
    "a query": (
        fenced("db.get('SELECT name FROM forms WHERE id = $1', id)", "js"),
        "argument-in-code",
    ),
    "a price": ("| Plan | Price |\n|--|--|\n| Free | $0 |", "argument-in-code"),
    "a letter that nobody sees": ("The fo\ue000rm.", "hidden-text"),
    "a host": (
        fenced("ssh -o StrictHostKeyChecking=no a@b", "sh"),
        "unchecked-certificate",
    ),
    "an open end": ("## Steps\n\nTODO", "left-to-fill-in"),
    "a title with nothing": ("## TODO\n\n## Fees\n\nNone.", "left-to-fill-in"),
    "an anchor of nothing": ("See [fees](#fees).", "dead-anchor"),
    "a certificate": (
        fenced("httpx.get(url, verify=False)", "python"),
        "unchecked-certificate",
    ),
    "input that runs": (fenced("eval(input())", "python"), "evaluated-input"),
    "a download that runs": (
        fenced("curl -s https://x.org/i.sh | sh", "sh"),
        "downloaded-code",
    ),
}


@pytest.mark.row("F80")
@pytest.mark.parametrize(("text", "code"), REPORTED.values(), ids=REPORTED)
def test_what_is_sure_is_reported(here: Path, text: str, code: str) -> None:
    assert codes(here, BODY + text) == [code]


NO_SKILLS = {
    "a ticket": "id: T-1\nstatus: open\nkind: bug\nreporter: olga\n",
    "an agent": "tools: Read, Grep\nmodel: sonnet\ncolor: blue\n",
    "a lesson": "sidebar_position: 3\nchapter: 2\nlesson: 4\nminutes: 30\n",
    "a card": "kind: card\nversion: '1'\nlayer: 2\nowner: x\nscope: y\n",
}


@pytest.mark.row("F80", "F83")
@pytest.mark.parametrize("head", NO_SKILLS.values(), ids=NO_SKILLS)
def test_what_is_no_skill_has_no_faults_of_one(here: Path, head: str) -> None:
    """It is called SKILL.md, and its fields are those of another kind of page."""
    text = "## Fees\n\nTODO\n\n## Path\n\nRun `python /Users/petra/forms/x.py`.\n"

    assert codes(here, text, about="Checks the fees of forms.", head=head) == []
    assert codes(here, text, about="Checks the fees of forms.") == [
        *("description-lacks-when", "missing-h1", "left-to-fill-in", "machine-path")
    ]


@pytest.mark.row("F80", "F11")
@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ("colour: red\n", ["unknown-field"]),
        ("license: MIT\ntags: [a]\nauthor: x\n", ["unknown-field"] * 2),
        ("trust_level: high\n", []),
        ("inputs: [a, b]\n", []),
        ("tags: [a]\nhandler: run\n", []),
        ("tags: [a]\nmetadata:\n  host:\n    id: 7\n", []),
        ("metadata:\n  parts: [a, b]\n  price:\n    month: 7\n", []),
        ("metadata:\n  parts: 2\n", ["metadata-not-text"]),
        ("metadata:\n  open: true\n", ["metadata-not-text"]),
        ("metadata:\n  trigger-keywords: form\n", []),
        ("context: forms\n", []),
        ("context: fork\n", ["client-only-field"]),
    ],
)
def test_a_field_that_a_program_may_read_stays_where_it_is(
    here: Path, head: str, expected: list[str]
) -> None:
    assert codes(here, BODY, head=head) == expected


@pytest.mark.row("F80")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1. Ask.\n2. Fill in.\n3. Check.\n", []),
        ("## Fees\n\nNone.\n", []),
        ("## Fees\n\nNone.\n\n## Dates\n\nNone.\n", ["missing-h1"]),
    ],
)
def test_a_title_is_missed_where_there_are_sections(
    here: Path, text: str, expected: list[str]
) -> None:
    assert codes(here, text) == expected


@pytest.mark.row("F80")
@pytest.mark.parametrize(
    "head", ["argument-hint: '[form]'\n", "disable-model-invocation: true\n"]
)
def test_what_people_start_by_its_name_says_no_when(here: Path, head: str) -> None:
    found = codes(here, BODY, about="Checks the fees of forms.", head=head)

    assert "description-lacks-when" not in found


@pytest.mark.row("F80")
@pytest.mark.parametrize(
    ("about", "says_when"),
    [
        ("Use pdf.forms.fill for tax forms with many pages.", True),
        ("Fills forms. Use pdf-forms to fill them.", True),
        ("All about forms. Actions: fill, print, send.", True),
        ("Shows how to use pdf-forms for tax forms.", False),
        ("Fills forms, reads them and use pdf-forms for speed.", False),
    ],
)
def test_what_a_description_may_say_instead_of_when(
    here: Path, about: str, says_when: bool
) -> None:
    found = codes(here, BODY, about=about)

    assert ("description-lacks-when" not in found) == says_when


@pytest.mark.row("F80")
def test_rules_of_an_editor_are_no_broken_skill(here: Path) -> None:
    write_pack(here / "skills/forms", f"---\ntrigger: glob\nglob: *.dart\n---\n{BODY}")

    found = [one.code for one in check(["skills"]).findings]

    assert "reserved-character" not in found
    assert "missing-description" in found


@pytest.mark.row("F80", "F55")
@pytest.mark.parametrize(
    ("anchor", "heading", "close"),
    [
        ("string-refs", "String refs (removed)", "string-refs-removed"),
        ("set-up-first", "Set up \u2014 first run", "set-up--first-run"),
        ("ci-cd-runs", "CI/CD runs", "cicd-runs"),
        ("fees", "Fees and dates", ""),
        ("fill-command", "Command of forms", ""),
        ("forms-set", "", ""),
        ("gates--checks", "\u2705 Gates & checks", "-gates--checks"),
    ],
)
def test_an_anchor_is_proposed_where_it_is_surely_meant(
    here: Path, anchor: str, heading: str, close: str
) -> None:
    text = f"# Forms set up\n\nSee [it](#{anchor}).\n\n## {heading or 'Else'}\n\nAsk.\n"
    write_pack(
        here / "skills/forms", f"---\nname: forms\ndescription: {ABOUT}\n---\n{text}"
    )
    fixes = [one.fix for one in check(["skills"]).findings]

    assert fixes == [f"write #{close}" if close else "name a heading that is there"]


@pytest.mark.row("F80")
def test_a_template_is_no_broken_pack(here: Path) -> None:
    text = f"---\nname: forms\ndescription: {{{{what}}}} Use when it is.\n---\n{BODY}"
    write_pack(here / "skills/forms", text)

    assert check(["skills"]).findings == ()


@pytest.mark.row("F80", "F15")
def test_a_copy_for_a_client_is_no_second_skill(here: Path) -> None:
    for place, made in (("skills", "a"), (".claude/skills", "b"), ("dist", "c")):
        text = f"---\nname: forms\ndescription: {ABOUT}\n---\n{BODY}{made}\n"
        write_pack(here / place / "forms", text)

    assert check(["skills", ".claude", "dist"]).findings == ()


@pytest.mark.row("F80", "F83")
@pytest.mark.parametrize("about", ["\u586b\u5199\u8868\u683c", "\u8868\u8a08\u7b97"])
def test_few_signs_of_chinese_say_enough(here: Path, about: str) -> None:
    assert codes(here, BODY, about=about) == []


@pytest.mark.row("F80")
@pytest.mark.parametrize(
    "head",
    [
        "metadata: {fresh: {emoji: x, requires: {bins: [qpdf]}}}\n",
        "metadata:\n  mybot:\n    install: []\n",
        "version: 1.2.0\nmetadata: {openclaw: {emoji: x}}\n",
        "metadata: {internal: true}\n",
        "metadata: {openclaw: {always: true}}\n",
    ],
)
def test_an_envelope_of_a_client_is_no_mistake(here: Path, head: str) -> None:
    assert set(codes(here, BODY, head=head)) <= {
        "client-only-field",
        "spec-incompatible",
    }


@pytest.mark.row("F80")
@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ("argument-hint: '[form]'\n", []),
        ("homepage: https://example.org\n", []),
        ("disable-model-invocation: false\n", []),
        ("disable-model-invocation: true\n", ["client-only-field"]),
        ("user-invocable: true\n", []),
        ("user-invocable: false\n", ["client-only-field"]),
        ("requires: []\n", []),
        ("hooks: {Stop: []}\n", ["client-only-field"]),
        ("model: inherit\n", []),
        ("model: opus\n", ["client-only-field"]),
    ],
)
def test_a_field_on_which_nothing_depends_is_no_finding(
    here: Path, head: str, expected: list[str]
) -> None:
    assert codes(here, BODY, head=head) == expected


@pytest.mark.parametrize("profile", ["auto", "lenient", "spec", "strict"])
@pytest.mark.parametrize(
    ("head", "is_wrong"),
    [
        ("disable-model-invocation: ture\n", True),
        ("disable-model-invocation: yes please\n", True),
        ("disable_model_invocation: flase\n", True),
        ("user-invocable: [false]\n", True),
        ("user-invokable: 2\n", True),
        ("disable-model-invocation: 'Yes'\n", False),
        ("user-invocable:\n", False),
        ("user-invocable: off\n", False),
    ],
)
def test_a_flag_that_is_neither_true_nor_false_is_a_finding(
    here: Path, head: str, profile: str, *, is_wrong: bool
) -> None:
    write_pack(here / "a", f"---\nname: a\ndescription: Do it.\n{head}---\n# A\n")
    said = run("check", "a", "--profile", profile).stdout

    assert ("field-kind" in said and "expected true or false" in said) is is_wrong


@pytest.mark.row("F80")
@pytest.mark.parametrize("client", ["OpenClaw", "openclaw", "an OpenClaw gateway"])
def test_a_pack_for_a_client_may_have_its_fields(here: Path, client: str) -> None:
    about = f"Sets up forms for {client}. Use when a form is to be done."

    assert codes(here, BODY, about=about, head="homepage: https://x.org\n") == []


@pytest.mark.row("F80")
@pytest.mark.parametrize("name", ["my-skill", "skill-name", "pdf-template"])
def test_a_template_is_filled_in_by_others(here: Path, name: str) -> None:
    about = "Describe what this skill does and when to use it."

    assert codes(here, BODY, about=about, name=name) == []


@pytest.mark.row("F80")
def test_a_path_alone_is_a_link_that_was_checked_out_as_text(here: Path) -> None:
    assert codes(here, "../../other/forms/SKILL.md\n") == []
