"""A text that asks to run a script, and one that only names it."""

import time

import pytest

from satchel.skill_md import first_request

PATHS = (
    *("references/go.md", "references/see.md", "scripts/fill.py", "scripts/in/a.py"),
    *("scripts/pack.sh", "scripts/run", "top.py", "view.js"),
)


def asked(text: str, **others: str) -> tuple[str, list[str]]:
    texts = {f"references/{name}.md": other for name, other in others.items()}
    file, found = first_request("SKILL.md", lambda path: texts.get(path, text), PATHS)
    return file, sorted(found)


@pytest.mark.row("F101")
@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("Run `python scripts/fill.py in.pdf`.", "scripts/fill.py"),
        ("```bash\nbash scripts/pack.sh\n```", "scripts/pack.sh"),
        ("Then run `scripts/fill.py`.", "scripts/fill.py"),
        ("node view.js", "view.js"),
        ("`./scripts/pack.sh out/`", "scripts/pack.sh"),
        ("```\n./scripts/run\n```", "scripts/run"),
        ("```sh\nscripts/run --all\n```", "scripts/run"),
        ("$ scripts/pack.sh", "scripts/pack.sh"),
        ("uv run --with pypdf python scripts/fill.py", "scripts/fill.py"),
        ("uv run scripts/fill.py", "scripts/fill.py"),
        ("/usr/bin/python3.11 -u scripts/fill.py", "scripts/fill.py"),
        ("python -m scripts.in.a", "scripts/in/a.py"),
        ("cd scripts && python fill.py", "scripts/fill.py"),
        ("python ${CLAUDE_SKILL_DIR}/scripts/fill.py", "scripts/fill.py"),
        ('python3 "$HERE/scripts/fill.py" in.pdf', "scripts/fill.py"),
        ("python /opt/skills/pdf/scripts/fill.py", "scripts/fill.py"),
        ("python scripts\\fill.py", "scripts/fill.py"),
        ("Execute the helper:\n`scripts/pack.sh`", "scripts/pack.sh"),
        ("Run [the helper](scripts/fill.py) on the form.", "scripts/fill.py"),
        ("If it does not exist, run `scripts/fill.py`.", "scripts/fill.py"),
        ("chmod +x scripts/pack.sh && ./scripts/pack.sh", "scripts/pack.sh"),
        ("by running scripts/fill.py on it", "scripts/fill.py"),
        ("Do not edit it. Run top.py.", "top.py"),
        ("\u8fd0\u884c `scripts/fill.py`", "scripts/fill.py"),
    ],
)
def test_a_text_asks(text: str, script: str) -> None:
    assert asked(text) == ("SKILL.md", [script])


@pytest.mark.row("F101")
@pytest.mark.parametrize(
    "text",
    [
        "See [the script](scripts/fill.py).",
        "- `scripts/fill.py`: fills the form",
        "```\nscripts/\n  fill.py\n```",
        "```\nscripts/fill.py  # fills\nscripts/pack.sh\n```",
        "Do not run `scripts/fill.py`.",
        "Never call `python scripts/fill.py`.",
        "Read scripts/fill.py first.",
        "See `./scripts/pack.sh` for the flags.",
        "CI runs scripts/fill.py.",
        "Run the tests. scripts/fill.py holds them.",
        "python other/fill.py",
        "python scripts/my-fill.py",
        "python scripts/fill.pyc",
        "Run references/go.md",
        "---\ndescription: Run scripts/fill.py\n---\n# Nothing",
        "",
    ],
)
def test_a_text_only_names(text: str) -> None:
    assert asked(text) == ("SKILL.md", [])


def test_a_reference_counts_where_the_body_names_it() -> None:
    go = "python scripts/fill.py"

    assert asked("See references/go.md", go=go) == (
        "references/go.md",
        ["scripts/fill.py"],
    )
    assert asked("Nothing here.", go=go) == ("SKILL.md", [])
    assert asked("Run top.py, see go.md", go=go) == ("SKILL.md", ["top.py"])


def test_lines_count_from_the_top_of_the_file() -> None:
    text = "---\nname: x\n---\n# X\n\npython top.py\nbash scripts/pack.sh\n"

    found = first_request("SKILL.md", lambda _: text, PATHS)

    assert found == ("SKILL.md", {"top.py": 6, "scripts/pack.sh": 7})


def test_a_pack_without_programs_is_not_read() -> None:
    def read(path: str) -> str:
        raise AssertionError(path)

    assert first_request("SKILL.md", read, ("references/go.md",)) == ("SKILL.md", {})


@pytest.mark.parametrize(
    "text",
    [
        "bash " + "q/scripts/~x.pyy" * 12_000,
        ("see " + "_" * 230 + " x.py- ") * 600,
        ("run " * 20 + "~" * 200 + "x.py- ") * 600,
        ("run " * 20 + "a/scripts/" * 12 + "~x.py- ") * 600,
        "python " + ("-x.py=a " * 8) * 3_000,
        ("```sh\n" + " " * 200 + "x.py- ") * 700,
    ],
    ids=["paths", "words", "verbs", "verbs and paths", "flags", "spaces"],
)
def test_a_hostile_text_costs_no_minutes(text: str) -> None:
    """Of processor time; the first took two minutes, and is read in half a second."""
    begun = time.process_time()
    first_request("SKILL.md", lambda _: f"---\nname: a\n---\n{text}", ("scripts/x.py",))

    assert time.process_time() - begun < 10
