"""Skills that are registered in code: complete, checked, and claimed in a test."""

import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from satchel import BaseSkill, Skill, SkillDescriptor, SkillRegistry
from satchel.cli import main
from satchel.errors import ConfigError
from satchel.testing import assert_complete
from satchel_compat import (
    check_registered,
    descriptors_of,
    import_registered,
)
from satchel_lab.commands._check import is_in_code
from tests.unit.sources.house import House, build

pytestmark = pytest.mark.row("F31", "T12")


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> House:
    """A package whose skills are complete: each lists what it has, and names it."""
    made = build(tmp_path, monkeypatch)
    (made.root / "agentic_rag/references/unlisted.md").unlink()
    for part, file, more in (
        ("agentic_rag", "azure_search_config.md", "; or see `notes.md`."),
        ("execution", "sandbox_runner.py", " and `notes.md`."),
    ):
        edit(made, f"{part}/skill.py", f"`{file}`.", f"`{file}`{more}")
    return made


def edit(house: House, file: str, old: str, new: str) -> None:
    path = house.root / file
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), "utf-8")


def said(house: House) -> list[tuple[str, str, str]]:
    """Return code, severity and place, below the package, of each finding."""
    report = check_registered(descriptors_of(house.module("bootstrap").bootstrap))
    return [
        (found.code, found.severity, found.path.removeprefix(house.name).lstrip("./"))
        for found in report.findings
    ]


RAG = "agentic_rag.skill:AgenticRagSkill"


@pytest.mark.row("A29")
@pytest.mark.parametrize("file", ["extra.md", "deep/er.md", "sample.py"])
def test_a_file_on_disk_that_is_not_in_the_tuple_fails(file: str, house: House) -> None:
    path = house.root / "agentic_rag/references" / file
    path.parent.mkdir(exist_ok=True)
    path.write_text("x = 1\n")

    assert said(house) == [("unlisted-reference", "error", RAG)]
    with pytest.raises(AssertionError, match=f"references/{file}"):
        assert_complete(house.module("bootstrap").bootstrap)


@pytest.mark.row("A16", "A29", "A30")
def test_what_python_and_systems_leave_there_is_no_reference(house: House) -> None:
    """Without it a package is clean, and with it as well."""
    assert said(house) == []
    assert_complete(house.module("bootstrap").bootstrap)
    folder = house.root / "agentic_rag/references"
    for name in ("__pycache__/x.pyc", "__init__.py", ".DS_Store"):
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("")
    (folder / "link.md").symlink_to(house.root / "bootstrap.py")

    assert said(house) == []


@pytest.mark.row("A29")
def test_a_skill_without_an_import_path_is_known_by_what_it_lists(
    house: House,
) -> None:
    (house.root / "agentic_rag/references/extra.md").write_text("x\n")
    paths = tuple(
        f"{house.name}/agentic_rag/references/{name}"
        for name in ("azure_search_config.md", "notes.md")
    )
    text = "See azure_search_config.md and notes.md."
    rag = SkillDescriptor("rag", "Use it.", text, references=paths)

    (finding,) = check_registered([rag]).findings

    assert (finding.code, finding.path) == ("unlisted-reference", "skill 'rag'")


@pytest.mark.row("A30", "A27", "A26")
def test_a_file_that_is_missing_or_not_named_in_the_instructions_fails(
    house: House,
) -> None:
    edit(house, "agentic_rag/skill.py", "; or see `notes.md`.", ".")
    assert said(house) == [("reference-not-mentioned", "error", RAG)]
    (house.root / "agentic_rag/references/notes.md").unlink()

    assert said(house)[1:] == [
        ("reference-not-mentioned", "error", RAG),
        ("listed-file-missing", "error", "execution.skill:ExecutionSkill"),
    ]
    assert said(house)[0] == ("listed-file-missing", "error", RAG)


@pytest.mark.row("A02", "F96")
@pytest.mark.parametrize(("more", "expected"), [(799, []), (800, []), (801, ["error"])])
def test_instructions_have_a_bound(more: int, expected: list[str]) -> None:
    skill = SkillDescriptor("a", "Use it.", "x" * more)

    report = check_registered([skill])

    assert [finding.severity for finding in report.findings] == expected
    assert {item.code for item in report.findings} <= {"long-instructions"}
    if not expected:
        assert_complete(skill)
        return
    with pytest.raises(AssertionError, match="long-instructions"):
        assert_complete(skill)


@pytest.mark.row("A02", "A33", "U09", "F96")
def test_what_fails_in_the_assertion_fails_the_command(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(house.root.parent)
    edit(
        house,
        "agentic_rag/skill.py",
        "; or see `notes.md`.",
        "; or see `notes.md`." + "x" * 800,
    )

    done = CliRunner().invoke(main, ["check", f"{house.name}.bootstrap:bootstrap"])

    assert done.exit_code == 1
    assert "error long-instructions" in done.output


@pytest.mark.row("A31", "R36", "U09", "F96")
@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("# A\n\n```python\nopen\n", "unclosed-fence"),
        ("# A\n\n~~~\nopen\n", "unclosed-fence"),
        ("# A\n\nSee [it][nowhere].\n", "undefined-link"),
        ("# A\n\nSee [it](gone.md).\n", "dead-link"),
        ("# A\n\n![it](img/gone.png)\n", "dead-link"),
        ("# A\n\nSee [it](#nowhere).\n", "dead-anchor"),
        ("# A\n\nSee [it](notes.md#nowhere).\n", "dead-anchor"),
    ],
)
def test_broken_markdown_fails(text: str, code: str, house: House) -> None:
    place = "agentic_rag/references/notes.md"
    (house.root / place).write_text(text)

    assert said(house) == [(code, "error", place)]
    with pytest.raises(AssertionError, match=code):
        assert_complete(house.module("bootstrap").bootstrap)


@pytest.mark.row("A31", "U09")
def test_a_skipped_heading_is_a_warning(house: House) -> None:
    place = "agentic_rag/references/notes.md"
    (house.root / place).write_text("# A\n\n### C\n")

    assert said(house) == [("skipped-heading", "warning", place)]
    assert_complete(house.module("bootstrap").bootstrap)


@pytest.mark.row("A31")
def test_a_link_to_a_reference_next_to_it_is_sound(house: House) -> None:
    place = house.root / "agentic_rag/references/notes.md"
    place.write_text("# A\n\nSee [it](azure_search_config.md).\n")
    listed = f'"{house.name}/agentic_rag/references/notes.md",'
    edit(house, "execution/skill.py", listed, "")

    assert said(house) == []


@pytest.mark.row("A32")
def test_python_is_compiled_and_never_run(house: House) -> None:
    runner = house.root / "execution/scripts/sandbox_runner.py"
    runner.write_text("raise SystemExit('it ran')\n")
    assert said(house) == []

    runner.write_text("def f(:\n")

    assert said(house) == [
        ("python-syntax", "error", "execution/scripts/sandbox_runner.py")
    ]


@pytest.mark.row("A39")
def test_what_a_registry_refuses_is_reported() -> None:
    one, nameless = SkillDescriptor("a", "Use it."), SkillDescriptor(" ", "Use it.")

    results = check_registered([one, one, nameless, SkillDescriptor("b", "")]).findings

    codes = [item.code for item in results]
    assert codes == ["invalid-manifest", "duplicate-skill", "invalid-manifest"]


@pytest.mark.row("A38", "A39")
def test_descriptors_come_in_many_ways() -> None:
    one, two = SkillDescriptor("a", "Use it."), SkillDescriptor("b", "Use it.")

    class AlwaysOn(BaseSkill):
        name = "always"
        instructions = "Do."

    def fill(registry: SkillRegistry) -> None:
        registry.bootstrap([one, two])

    for what in ([one, two], (two, one), SkillRegistry([one, two]), fill):
        assert {item.name for item in descriptors_of(what)} == {"a", "b"}
    assert descriptors_of(one) == (one,)
    assert descriptors_of(lambda: [one]) == (one,)
    several = descriptors_of([AlwaysOn, AlwaysOn(), Skill("s")])
    assert [entry.name for entry in several] == ["always", "always", "s"]
    assert_complete([AlwaysOn, Skill("s", instructions="Do.")])
    for wrong in ("a", 3, None, [3]):
        with pytest.raises(TypeError, match="expected a registry"):
            descriptors_of(wrong)
    with pytest.raises(AssertionError, match="no skill is registered"):
        assert_complete(SkillRegistry())


@pytest.mark.parametrize(
    ("what", "expected"),
    [
        ("my_skills:REGISTRY", True),
        ("my.skills.bootstrap:make.registry", True),
        ("./skills", False),
        ("skills", False),
        ("a:", False),
        (":b", False),
        ("a b:c", False),
        ("https://x.example", False),
    ],
)
def test_what_names_code(what: str, expected: bool) -> None:
    assert is_in_code(what) is expected


@pytest.mark.parametrize(
    ("text", "name", "reason"),
    [
        ("", "REGISTRY", "AttributeError"),
        ("raise OSError('no disk')", "REGISTRY", "OSError: no disk"),
        ("import sys; sys.exit(3)", "REGISTRY", "SystemExit"),
        ("from satchel import SkillRegistry; R = SkillRegistry()", "R", "no skill is"),
        ("R = 3", "R", "expected a registry"),
        ("def R(): raise ValueError('x')", "R", "ValueError: x"),
    ],
)
def test_what_cannot_be_had_says_why(
    text: str, name: str, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = f"lost_{abs(hash(text))}"
    (tmp_path / f"{module}.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)

    with pytest.raises(ConfigError, match=reason):
        import_registered(f"{module}:{name}")
    with pytest.raises(ConfigError, match="ModuleNotFoundError"):
        import_registered("no_such_module_here:X")


@pytest.mark.row("A33")
def test_one_command_checks_them_and_fails(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The working folder is looked in, as for any tool of Python."""
    monkeypatch.chdir(house.root.parent)
    monkeypatch.setattr(
        sys, "path", [p for p in sys.path if p != str(house.root.parent)]
    )
    what = f"{house.name}.bootstrap:bootstrap"

    clean = CliRunner().invoke(main, ["check", what])
    (house.root / "agentic_rag/references/extra.md").write_text("x\n")
    failed = CliRunner().invoke(main, ["check", what])
    gone = CliRunner().invoke(main, ["check", "no_such_module_here:X"])
    mixed = CliRunner().invoke(main, ["check", what, str(house.root)])
    fixed = CliRunner().invoke(main, ["check", what, "--fix"])

    assert (clean.exit_code, failed.exit_code, gone.exit_code) == (0, 1, 2)
    assert "2 packs checked: no findings" in clean.output
    assert "extra.md" in failed.output
    assert (mixed.exit_code, fixed.exit_code) == (2, 2)
