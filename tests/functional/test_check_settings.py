"""``satchel check`` by a configuration file, by options, and with a diff."""

import json
from pathlib import Path

import pytest

from tests.functional.library import run, run_terminal, tree, write_pack

BARE = "---\nname: {}\ndescription: Use it when testing.\n---\n## A\n\n## B\n\nDo.\n"
COLON = "---\nname: {}\ndescription: Use it: when testing.\n---\n# Title\n\nDo.\n"


@pytest.fixture(autouse=True)
def folder(here: Path) -> Path:
    write_pack(here / "skills" / "bare", BARE.format("bare"))
    write_pack(here / "skills" / "colon", COLON.format("colon"))
    return here


def configure(folder: Path, text: str, name: str = "satchel.toml") -> None:
    (folder / name).write_text(text, "utf-8")


def found(*arguments: str) -> list[tuple[str, str]]:
    report = json.loads(run("check", "skills", *arguments, "--format", "json").stdout)
    return [(item["severity"], item["code"]) for item in report["findings"]]


NOTE, COLONS = ("note", "missing-h1"), ("error", "unquoted-colon")


def test_the_nearest_file_counts(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert found() == [NOTE, COLONS]
    configure(folder, '[lint]\nignore = ["missing-h1"]\nprofile = "lenient"\n')
    configure(folder, '[tool.satchel.lint]\nselect = ["missing-h1"]', "pyproject.toml")
    assert found() == [("warning", "unquoted-colon")]
    assert found("--config", "pyproject.toml") == [NOTE]
    assert found("--config", "none") == [NOTE, COLONS]
    monkeypatch.chdir(folder / "skills")
    assert run("check", ".", "--format", "json").stdout.count('"code"') == 1


@pytest.mark.parametrize(
    ("settings", "finding"),
    [
        ("[lint.thresholds]\nbody_lines = 1\n", ("warning", "body-too-large")),
        ("[limits]\nskill_md_bytes = 20\n", ("error", "limit-exceeded")),
    ],
)
def test_its_numbers_reach_the_check(
    settings: str, finding: tuple[str, str], folder: Path
) -> None:
    configure(folder, settings)

    assert finding in found()
    assert finding not in found("--config", "none")


@pytest.mark.row("E02")
@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        ("--profile lenient", 0),
        ("--profile lenient --strict", 1),
        ("--profile lenient --fail-on warning", 1),
        ("--profile lenient --strict --fail-on warning", 1),
        ("--profile lenient --strict --ignore unquoted-colon", 0),
        ("--profile lenient --fail-on note --ignore unquoted-colon", 1),
        ("", 1),
        ("--fail-on never", 0),
        ("--ignore unquoted-colon", 0),
        ("--ignore yaml-error", 0),
        ("--select missing-h1", 0),
        ("--select missing-h1 --select yaml-error", 1),
        ("--select missing-h1,yaml-error", 1),
        ("--strict --fail-on never", 0),
        ("--fail-on never --strict", 1),
        ("--also text", 2),
        ("--also html=x", 2),
        ("--since HEAD --fix", 2),
        ("--since HEAD --diff", 2),
        ("--since HEAD", 2),
    ],
)
def test_statuses(
    arguments: str, status: int, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(folder.parent))

    assert run("check", "skills", *arguments.split()).exit_code == status


def test_the_file_says_what_fails(folder: Path) -> None:
    configure(
        folder,
        '[lint]\nfail_on = "warning"\n'
        '[lint.severity]\nmissing-h1 = "warning"\nunquoted-colon = "note"\n',
    )

    assert found() == [("warning", "missing-h1"), ("note", "unquoted-colon")]
    assert run("check", "skills").exit_code == 1
    assert run("check", "skills", "--fail-on", "error").exit_code == 0


def test_a_misspelt_code_in_the_file_is_an_error(folder: Path) -> None:
    configure(folder, '[lint]\nignore = ["mising-h1"]\n')
    result = run("check", "skills")

    assert result.exit_code == 2
    assert "satchel.toml: no code 'mising-h1'; did you mean missing-h1" in result.stderr


def test_more_reports_are_written_as_well() -> None:
    names = "json=out.json", "sarif=out.sarif", "text=out.txt"
    result = run("check", "skills", *(w for name in names for w in ("--also", name)))

    assert " --> skills/bare/SKILL.md" in result.stdout
    assert json.loads(Path("out.json").read_text())["packs"] == 2
    assert json.loads(Path("out.sarif").read_text())["version"] == "2.1.0"
    assert " --> skills/bare/SKILL.md" in Path("out.txt").read_text()
    assert "can be fixed: satchel check skills --fix" in Path("out.txt").read_text()
    assert run("check", "skills", "--also", "json=no/such/out").exit_code == 2


def test_a_line_is_shown_with_what_is_named(folder: Path) -> None:
    text = BARE.format("Bad-Name").replace("Do.", "# T\n\nDo.")
    write_pack(folder / "one" / "bad-name", text)
    lines = run("check", "one").stdout.splitlines()

    assert lines[:5] == [
        (
            "error name-characters [*]: name 'Bad-Name': expected letters a-z, digits "
            "0-9, and single hyphens between them"
        ),
        " --> one/bad-name/SKILL.md:2",
        "2 | name: Bad-Name",
        "  |       ^^^^^^^^",
        "  = fix: write `name: bad-name`",
    ]
    assert lines[-2:] == [
        "[*] 1 can be fixed: satchel check one --fix",
        "More: satchel explain name-characters",
    ]


@pytest.mark.parametrize(
    "arguments",
    [
        "one",
        "one --profile spec --ignore missing-h1,empty-body --format text",
        "--select name-characters ./one --strict",
        "--config none one --also json=out.json --diff",
        "-- -two",
        "",
    ],
)
def test_the_command_that_fixes_fixes_just_that(arguments: str, folder: Path) -> None:
    for place in ("one/bad-name", "-two/bad-name", "skills/bad-name"):
        write_pack(folder / place, BARE.format("Bad-Name"))
    first = run("check", *arguments.split()).stdout
    mark, _, command = first[first.index("[*] ") :].splitlines()[0].partition(": ")
    assert first.count("[*]: ") == int(mark.split()[1])

    fixed = run(*command.split()[1:])

    assert f"{mark.split()[1]} finding" in fixed.stderr
    assert "[*]" not in run("check", *arguments.split()).stdout


class TestFix:
    """``--fix`` and ``--diff``."""

    @pytest.mark.parametrize("more", [(), ("--fix",)])
    def test_a_diff_is_shown_and_nothing_written(
        self, more: tuple[str, ...], folder: Path
    ) -> None:
        before = tree(folder)
        result = run("check", "skills", "--diff", *more)

        assert result.stdout.startswith(
            "--- skills/colon/SKILL.md\n+++ skills/colon/SKILL.md\n@@"
        )
        assert "\n-description: Use it: when testing.\n" in result.stdout
        assert '\n+description: "Use it: when testing."\n' in result.stdout
        assert result.exit_code == 1
        assert tree(folder) == before

    def test_a_fix_is_shown_written_and_checked(self, folder: Path) -> None:
        result = run("check", "skills", "--fix")
        again = run("check", "skills", "--fix")

        assert '+description: "Use it: when testing."' in result.stdout
        assert "1 finding fixed in 1 file" in result.stderr
        assert "2 packs checked: 1 note" in result.stdout
        assert result.exit_code == again.exit_code == 0
        assert "fixed" not in again.stderr
        assert b'"Use it: when testing."' in tree(folder)["skills/colon/SKILL.md"]

    def test_a_report_for_programs_is_not_mixed_with_it(self) -> None:
        result = run("check", "skills", "--fix", "--format", "json")

        assert json.loads(result.stdout)["packs"] == 2
        assert "+description" in result.stderr

    def test_what_cannot_be_written_is_told_and_stays(self, folder: Path) -> None:
        file = folder / "skills/colon/SKILL.md"
        file.chmod(0o444)
        result = run("check", "skills", "--fix")

        assert result.exit_code == 1
        assert "SKILL.md was not written: it may only be read" in result.stderr
        assert "0 findings fixed in 0 files" in result.stderr

    def test_control_characters_of_a_diff_are_harmless(self, folder: Path) -> None:
        write_pack(folder / "evil", COLON.format("evil").replace("Use", "\x1b[31mUse"))
        piped = run("check", "evil", "--diff").stdout
        shown = run_terminal("check", "skills", cwd=folder)

        assert "\x1b" not in piped
        assert "<U+001B>" in piped
        assert b"\x1b[1;31merror\x1b[0m " in shown  # ours are colours

    @pytest.mark.parametrize("sign", ["\r", "\v", "\x1c", "\x85", "\u2028", "\u2029"])
    def test_no_line_of_a_diff_is_forged(self, sign: str, folder: Path) -> None:
        """What Unicode calls the end of a line is none of a diff."""
        text = f"---\nname: evil\ndescription: Use: x\n---\na{sign}+++ forged\n"
        write_pack(folder / "evil", text)
        result = run("check", "evil", "--diff")

        assert "+description" in result.stdout
        assert "+++ forged" not in result.stdout.splitlines()

    def test_no_line_of_a_diff_is_a_command_of_a_log(self, folder: Path) -> None:
        """The runner trims what stands before a command; both streams are its log."""
        text = "---\nname: evil\n::error::x: ##[error]\ndescription: Use: x\n---\n"
        write_pack(folder / "evil", text)
        result = run("check", "evil", "--diff", "--format", "github")
        lines = result.stderr.splitlines()

        assert '| +description: "Use: x"' in lines
        assert [line for line in lines if line.strip().startswith("::")] == []
        assert [line for line in lines if "##[" in line] == []


EARLIER = {
    "missing-frontmatter": "Do.\n",
    "yaml-error": "---\nname: x\ndescription: &a d\n---\n",
    "frontmatter-shape": "---\n- a\n---\n",
    "invalid-manifest": "---\nname: X\ndescription: d\n---\n",
    "extra-key": "---\nname: x\ndescription: d\ntags: a\n---\n",
    "unsafe-reference-path": "---\nname: x\ndescription: d\nreferences: [../a]\n---\n",
    "missing-reference": "---\nname: x\ndescription: d\nreferences: [a.md]\n---\n",
}


@pytest.mark.row("E02", "G21")
@pytest.mark.parametrize("code", EARLIER)
def test_each_earlier_code_fails_a_check(code: str, folder: Path) -> None:
    """Where the lint of an earlier system always ended with status 0."""
    write_pack(folder / "x", EARLIER[code])

    assert run("check", "x", "--select", code).exit_code == 1
