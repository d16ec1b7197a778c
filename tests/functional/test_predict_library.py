"""``satchel predict --library``: what clients show of all packs together."""

import json
from pathlib import Path

import pytest

from tests.functional.library import run, write_pack

LISTING = "---\nname: {name}\ndescription: {text}\n---\n# Title\n\nDo it.\n"


@pytest.fixture(autouse=True)
def folder(here: Path) -> Path:
    for at in range(30):
        text = LISTING.format(name=f"skill-{at:02}", text="Words to read. " * 60)
        write_pack(here / "skills" / f"skill-{at:02}", text)
    write_pack(here / "few/one", LISTING.format(name="one", text="Short."))
    write_pack(here / "mute/mute", "---\nname: mute\n---\n# Title\n")
    return here


def test_a_line_for_each_client_and_window_and_what_to_do() -> None:
    done = run(
        "predict", "skills", "--library", "--for", "codex", "--window", "128k,1m"
    )

    assert done.exit_code == 0
    lines = done.output.splitlines()
    assert lines[0] == "30 skills in one library"
    assert [line.split()[:5] for line in lines[3:5]] == [
        ["codex", "128k", "0", "30", "0"],
        ["codex", "1m", "30", "0", "0"],
    ]
    assert any(
        "128k: to show all whole, shorten 30 descriptions" in line for line in lines
    )
    assert not any(line.startswith("  1m: ") for line in lines)
    assert "and 10 more: add --format html or json" in lines


def test_the_line_that_says_why_names_the_folder(here: Path) -> None:
    (here / "mute").rename(here / "my packs")
    shown = run("predict", "my packs", "--library", "--for", "codex").output

    assert "satchel predict 'my packs' --for codex says why." in " ".join(shown.split())


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (("few", "--for", "codex"), 0),
        (("skills", "--for", "codex"), 0),
        (("skills", "--for", "codex", "--strict"), 1),
        (("skills", "--for", "codex", "--strict", "--window", "1m"), 0),
        (("skills", "--for", "codex", "--window", "8000"), 1),
        (("skills", "--for", "codex", "--window", "8000", "--fail-on", "never"), 0),
        (("mute", "--for", "codex"), 1),
        (("few", "--for", "mistral-vibe"), 0),
    ],
)
def test_status(arguments: tuple[str, ...], status: int) -> None:
    """A skill that is left out, or not loaded, fails; one that is cut if strict."""
    assert run("predict", "--library", *arguments).exit_code == status


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("skills", "--library", "--for", "codex", "--window", "9x"), "expected sizes"),
        (("skills", "--library", "--for", "codex", "--window", "k"), "expected sizes"),
        (("skills", "--window", "9" * 5000), "expected sizes"),
        (("skills", "--library", "--for", "codexx"), "did you mean codex"),
    ],
)
def test_what_is_refused(arguments: tuple[str, ...], sentence: str) -> None:
    """A plain sentence and status 2."""
    done = run("predict", *arguments)

    assert done.exit_code == 2
    assert sentence in done.stderr


def test_json_has_every_skill_and_how_it_is_known() -> None:
    done = run(
        "predict", "skills", "--library", "--for", "codex,claude-code@1.0", "--json"
    )
    document = json.loads(done.output)

    codex, claude = document["clients"]
    assert document["packs"] == 30
    assert (codex["how"], codex["is_other_version"]) == ("measured", False)
    assert (claude["asked_version"], claude["is_other_version"]) == ("1.0", True)
    listing = codex["listings"][0]
    assert listing["window"] == 128_000
    assert [one["state"] for one in listing["skills"]] == ["shortened"] * 30
    assert all(
        "Words to read.".startswith(one["text"][:14]) for one in listing["skills"]
    )
    assert len(listing["to_shorten"]) == 30


def test_another_version_is_said_not_to_be_measured() -> None:
    done = run("predict", "few", "--library", "--for", "codex@9.9.9")

    assert "version 9.9.9 was not measured; this is measured with" in done.output


def test_unknown_is_said_to_be_unknown() -> None:
    done = run("predict", "few", "--library", "--for", "mistral-vibe")

    assert "mistral-vibe: nobody measured or documented" in done.output


def test_markdown_and_html_show_every_skill_escaped(folder: Path) -> None:
    """Names come from packs of anyone."""
    write_pack(folder / "odd/a", LISTING.format(name="'<b>|x'", text="Short. " * 900))
    done = run(
        *(
            "predict",
            "odd",
            "skills",
            "--library",
            "--for",
            "codex",
            "--window",
            "200k",
        ),
        *("--format", "markdown", "--also", "html=page.html"),
    )

    page = (folder / "page.html").read_text("utf-8")
    assert "| skill-29 | " in done.output
    assert "<td>skill-29</td>" in page
    assert "<b>|x" not in done.output
    assert "<b>|x" not in page
    assert "<script" not in page


def test_no_option_excludes_another() -> None:
    """A window means the library; formats of findings have those of the packs."""
    library = ("predict", "mute", "--library", "--for", "codex")
    both = run(*library, "--also", "sarif=out.sarif", "--also", "concise=out.txt")

    assert run("predict", "few", "--window", "1m").stdout == (
        run("predict", "few", "--library", "--for", "all", "--window", "1m").stdout
    )
    assert both.stdout == run(*library).stdout
    for style, file in (("sarif", "out.sarif"), ("concise", "out.txt")):
        findings = run("predict", "mute", "--for", "codex", "--format", style).stdout
        assert Path(file).read_text("utf-8") == findings
        assert run(*library, "--format", style).stdout == findings
    assert "client-drops" in Path("out.txt").read_text("utf-8")
