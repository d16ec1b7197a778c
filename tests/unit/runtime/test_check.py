"""`Satchel.check`: what the linter says of the packs that are open."""

from pathlib import Path

from satchel import Satchel, Skill, sources
from satchel_lab.checking import check
from tests.functional.library import write_pack

GOOD = (
    "---\nname: good\ndescription: Counts words. Use when asked how many.\n---\n"
    "# Good\n\nCount.\n"
)
TODO = GOOD.replace("good", "todo").replace("Count.\n", "TODO: say how.\n")


def test_it_says_what_the_command_says(tmp_path: Path) -> None:
    for name, text in {"good": GOOD, "todo": TODO}.items():
        write_pack(tmp_path / name, text)
    write_pack(tmp_path / "broken", "---\nname: broken\n---\nNo description.\n")

    report = Satchel(tmp_path).check()
    codes = {(each.code, each.line) for each in report.findings}

    said = {(each.code, each.line) for each in check([str(tmp_path)]).findings}
    assert codes == said - {("missing-h1", 4)}  # of the pack that is not listed
    assert ("left-to-fill-in", 7) in codes
    assert report.packs == 2
    assert report.fails()
    assert str(report).splitlines()[-1] == report.summary
    assert f"{tmp_path}/todo/SKILL.md:7: warning left-to-fill-in: " in str(report)


def test_a_library_without_a_mistake_is_clean(tmp_path: Path) -> None:
    write_pack(tmp_path / "good", GOOD)

    assert str(Satchel(tmp_path).check()) == "1 pack checked: no findings"


def test_all_findings_of_the_library_are_in_it(tmp_path: Path) -> None:
    skill = Skill("asks", description="Asks. Use when unsure.", instructions="# Asks")
    write_pack(tmp_path / "good", GOOD)
    (tmp_path / "none").mkdir()
    skills = Satchel(tmp_path / "good", skill, tmp_path / "none")

    assert {each.code for each in skills.findings} <= {
        each.code for each in skills.check().findings
    }
    assert skills.findings


def test_a_pack_turns_findings_off_itself(tmp_path: Path) -> None:
    ignored = TODO.replace("# Good", "<!-- satchel: ignore left-to-fill-in -->\n# Good")
    write_pack(tmp_path / "todo", ignored)

    assert Satchel(tmp_path).check().findings == ()


def test_a_pack_that_is_gone_is_a_finding_and_no_exception(tmp_path: Path) -> None:
    write_pack(tmp_path / "good", GOOD)
    write_pack(tmp_path / "todo", TODO)
    skills = Satchel(tmp_path)
    (tmp_path / "todo" / "SKILL.md").unlink()

    (finding,) = skills.check().findings

    assert finding.severity == "error"
    assert finding.path == f"{tmp_path}/todo/SKILL.md"


def test_packs_that_ship_are_clean() -> None:
    assert Satchel(sources.roles()).check().findings == ()
