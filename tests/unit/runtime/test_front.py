"""Satchel: what a newcomer types, and what each answer tells."""

import asyncio
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import get_args

import pytest

import satchel
from satchel import (
    DuplicateSkillError,
    NoSources,
    Options,
    ReferenceNotFoundError,
    Satchel,
    Skill,
    SkillManifestError,
    SkillNotFoundError,
    sources,
)
from satchel.errors import (
    ConfigError,
    LimitExceededError,
    MissingPathError,
    SkillExcludedError,
    SourceUnavailableError,
)
from satchel.model import Limits, Manifest, SeenMessage, Style
from satchel.policy import Policy, deny
from satchel.skills import calc
from satchel.usage import ListSink
from tests.fakes import LOADERS, FakeSource, pack


def write(folder: Path, name: str, text: str = "", **files: str) -> Path:
    """Write a pack into ``folder``; keyword ``references__r_md`` is references/r.md."""
    home = folder / name
    home.mkdir(parents=True, exist_ok=True)
    (home / "SKILL.md").write_text(text or pack(name), "utf-8")
    for key, content in files.items():
        bucket, _, file = key.partition("__")
        path = home / bucket / file.replace("_md", ".md").replace("_sh", ".sh")
        path.parent.mkdir(exist_ok=True)
        path.write_text(content, "utf-8")
    return home


@pytest.fixture
def library(tmp_path: Path) -> Path:
    write(
        tmp_path, "pdf-forms", references__fields_md="# Fields\n", scripts__fill_sh="x"
    )
    write(tmp_path, "sql-style")
    return tmp_path


def test_three_levels(library: Path) -> None:
    """The catalog, the instructions, one file: each only when it is asked for."""
    skills = Satchel(library)

    assert "\n- pdf-forms: " in str(skills.prompt())
    assert skills.load("pdf-forms").text == pack("pdf-forms")
    assert skills.load("pdf-forms").body == "# Do\n"
    assert skills.load("pdf-forms", "fields.md").text == "# Fields\n"
    assert skills.load("pdf-forms", "references/fields.md").text == "# Fields\n"


@pytest.mark.row("A01", "C01", "D19", "C02", "G15")
def test_no_byte_of_a_body_or_a_reference_is_in_the_prompt(library: Path) -> None:
    """The section is the same whatever bodies and references hold, and however much."""
    before = str(Satchel(library).prompt())
    write(
        library,
        "pdf-forms",
        pack("pdf-forms", body="# Other\n" * 10_000),
        references__fields_md="other" * 10_000,
    )

    assert str(Satchel(library).prompt()) == before


@pytest.mark.row("D22", "D19", "E07", "A35")
@pytest.mark.parametrize("budget", [4_000, 70], ids=["all fit", "not all fit"])
@pytest.mark.parametrize("style", get_args(Style))
def test_the_model_chooses_and_nobody_for_it(
    library: Path, style: Style, budget: int
) -> None:
    """A message that names a skill, and matches it word by word, loads nothing.

    The prompt is what it was before the message, byte for byte: no body, nothing about
    a skill that might fit. Only the model's own call puts a skill into use.
    """
    for name in ("pdf-forms", "sql-style", *(f"other-{n:02}" for n in range(30))):
        write(library, name, pack(name, f"Use for {name}.", "# THE-BODY\n"))
    sink = ListSink()
    skills = Satchel(library, sinks=[sink], budget_tokens=budget)
    session = skills.session(style=style)
    before = session.instructions("Base."), session.tools()

    with session.turn():
        for text in ("pdf-forms", "Please use the skill pdf-forms.", "pdf forms"):
            session.see([SeenMessage("user", text)])
            assert skills.find(text)[0].id == "pdf-forms"
            assert (session.instructions("Base."), session.tools()) == before

    assert "THE-BODY" not in before[0] + str(skills.prompt(style=style))
    assert [each.id for each in session.activations] == []
    assert sink.events == []
    tool, key = LOADERS[style]
    assert "THE-BODY" in json.dumps(session.call(tool, {key: "pdf-forms"}))
    assert [each.id for each in session.activations] == ["pdf-forms"]


@pytest.mark.row("D07")
@pytest.mark.parametrize(
    "name", ["PDF-Forms", " pdf-forms", "pdf-forms/", "pdf_forms", ""]
)
def test_an_id_is_taken_as_it_is(library: Path, name: str) -> None:
    with pytest.raises(SkillNotFoundError):
        Satchel(library).load(name)


@pytest.mark.row("C36", "A12", "F03", "R03", "T02")
def test_a_conflict_costs_its_id_wherever_skills_are_used(tmp_path: Path) -> None:
    """A load of that id names both owners; everything else works."""
    write(tmp_path / "x", "same")
    write(tmp_path / "y", "same", pack("same", body="# Other\n"))
    write(tmp_path / "y", "other")
    skills = Satchel(tmp_path / "x", tmp_path / "y")

    with pytest.raises(DuplicateSkillError) as caught:
        skills.load("same")
    assert str(tmp_path / "x") in str(caught.value)
    assert str(tmp_path / "y") in str(caught.value)
    assert skills.load("other").id == "other"
    for text in (skills.prompt().text, skills.session().instructions()):
        assert "\n- other: " in text
        assert "\n- same: " not in text
    assert [hit.id for hit in skills.find("same other testing")] == ["other"]
    called = skills.session().call("load_skill", {"skill_id": "same"})
    assert "several packs claim" in str(called)
    found = [each for each in skills.findings if each.code == "duplicate-skill"]
    assert [each.fix for each in found] == [caught.value.fix]


@pytest.mark.row("X14")
def test_a_folder_must_exist_and_an_empty_one_gives_nothing_but_a_warning(
    tmp_path: Path,
) -> None:
    skills = Satchel(tmp_path)

    assert [(f.code, f.severity) for f in skills.findings] == [("no-skills", "warning")]

    session = skills.session()

    assert str(skills.prompt()) == ""
    assert session.instructions("You are the desk.") == "You are the desk."
    assert list(session.tools()) == []

    with pytest.raises(MissingPathError, match="nowhere"):
        Satchel(tmp_path / "nowhere")


def test_a_configuration_without_skills_says_what_to_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "skills").mkdir()
    monkeypatch.chdir(tmp_path)

    with pytest.raises(NoSources, match=r'skills = \["skills"\]'):
        Satchel(strict=True)

    (tmp_path / "satchel.toml").write_text("budget_tokens = 9\n[lint]\n")

    with pytest.raises(NoSources, match="here or above names skills"):
        Satchel(strict=True)
    skills = Satchel()
    assert [each.code for each in skills.findings] == ["no-skills"]
    assert skills.prompt().budget_tokens == 9


@pytest.mark.row("F29")
def test_without_any_folder_there_are_the_skills_that_are_always_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.chdir(tmp_path)

    skills = Satchel()
    session = skills.session(always=[calc()])

    assert [tool.name for tool in session.tools()] == ["calculate"]
    assert "42" in str(session.call("calculate", {"expression": "6*7"}))
    assert [each.code for each in skills.findings] == ["no-skills"]
    assert 'skills = ["path/to/skills"]' in skills.findings[0].fix
    (line,) = caplog.messages
    assert "no skill is listed" in line
    assert len(Satchel(options=Options(limits=Limits(scan_entries=5))).catalog) == 0


def test_satchel_toml_is_found_from_below_and_relative_to_itself(
    library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (library / "satchel.toml").write_text(
        'skills = ["."]\ndisabled = ["sql-style"]\nbudget_tokens = "none"\n'
    )
    below = library / "deep/er"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)

    skills = Satchel()

    assert [entry.id for entry in skills.catalog] == ["pdf-forms"]
    assert skills.prompt().budget_tokens is None
    with pytest.raises(SkillExcludedError, match="disabled"):
        skills.load("sql-style")


def test_pyproject_has_a_table_of_its_own(
    library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (library / "pyproject.toml").write_text('[tool.satchel]\nskills = ["."]\n')
    monkeypatch.chdir(library)

    assert len(Satchel().catalog) == 2

    path = library / "pyproject.toml"
    path.write_text("[tool.other]\n")
    with pytest.raises(ConfigError, match=r"no table \[tool.satchel\]"):
        Satchel(options=Options(config=path))


@pytest.mark.row("F58")
@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("skils = []", "unknown key 'skils'; did you mean 'skills'? known: "),
        ('style = "pack"', "style = 'pack'; did you mean 'packs'? expected one of "),
        ('profile = "lenien"', "did you mean 'lenient'?"),
        ("[limits]\npack_file = 1", "did you mean 'pack_files'?"),
        ("skills = 'x'", "expected a list of strings"),
        ("skills = [1]", "expected a list of strings"),
        ("profile = 'loose'", "expected one of strict, spec, lenient, auto"),
        ("usual = 1", "expected true or false"),
        ("budget_tokens = 0", "expected a count from 1"),
        ("[limits]\nfoo = 1", "unknown limit 'foo'"),
        ("[limits]\npack_files = -1", "expected a count"),
        ("limits = 1", "expected a table"),
        ("= 1", "satchel.toml"),
    ],
)
def test_a_configuration_that_cannot_be_used_names_the_key(
    tmp_path: Path, text: str, says: str
) -> None:
    path = tmp_path / "satchel.toml"
    path.write_text(text)

    with pytest.raises(ConfigError, match=re.escape(says)):
        Satchel(options=Options(config=path))


def test_sources_may_come_as_a_list_and_skills_in_code_next_to_them(
    library: Path,
) -> None:
    refunds = Skill(
        "refunds", description="Use for money back.", instructions="Check first."
    )
    skills = Satchel(library, refunds)

    assert skills._components.skills == (refunds,)
    assert "refunds" in skills.catalog
    assert "Check first." in skills.load("refunds").text

    skills = Satchel(sources.usual(project=library, home=library), library)

    assert len(skills.catalog) == 2


@pytest.mark.row("C33", "G09", "X03")
def test_every_invocation_is_an_event_failures_included(library: Path) -> None:
    """The first six fields come in the order that readers of event logs know."""
    sink = ListSink()
    skills = Satchel(library, sinks=[sink])
    skills.load("pdf-forms")
    skills.load("pdf-forms", "fields.md")
    skills.load("pdf-forms", "fill.sh", via="mcp")
    for wrong in ("nope", "no\npe"):
        with pytest.raises(SkillNotFoundError):
            skills.load(wrong)

    rows = [event.as_dict() for event in sink.events]
    first = ["event", "name", "reference", "script", "source", "duration_s", "error"]
    assert list(rows[0])[:7] == first
    assert [(r["name"], r["reference"], r["script"]) for r in rows] == [
        ("pdf-forms", None, None),
        ("pdf-forms", "references/fields.md", None),
        ("pdf-forms", None, "scripts/fill.sh"),
        ("nope", None, None),
        ("<invalid>", None, None),
    ]
    assert [r["code"] for r in rows][3:] == ["skill-not-found"] * 2
    assert "no\npe" not in json.dumps(rows)
    assert rows[2]["via"] == "mcp"
    assert {r["event"] for r in rows} == {"skill_loaded"}


@pytest.mark.row("C34", "G10")
def test_a_raising_sink_never_breaks_a_load(library: Path) -> None:
    class Broken:
        def record(self, event: object) -> None:
            assert event
            raise OSError("disk full")

    after = ListSink()
    skills = Satchel(library, sinks=[Broken(), after])

    assert skills.load("sql-style").id == "sql-style"
    assert len(after.events) == 1


@pytest.mark.row("R31")
def test_the_library_only_logs_until_a_sink_is_given(
    library: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    with Satchel(library) as skills:
        skills.load("sql-style")

    assert {record.name for record in caplog.records} == {"satchel.usage"}
    assert [record.getMessage().split()[0] for record in caplog.records] == [
        "catalog_synced",
        "skill_loaded",
    ]
    assert not Path(os.environ["HOME"]).exists()


def test_a_digest_covers_every_listed_file(library: Path, tmp_path: Path) -> None:
    skills = Satchel(library)
    before = skills.digest("pdf-forms")
    paths = [resource.path for resource in skills.resources("pdf-forms")]
    (library / "pdf-forms/scripts/fill.sh").write_text("other")
    skills.sync()

    assert paths == ["SKILL.md", "references/fields.md", "scripts/fill.sh"]
    assert before.startswith("sha256-tree-v1:")
    assert skills.digest("pdf-forms") != before

    write(tmp_path / "x", "same")
    write(tmp_path / "y", "same", pack("same", body="# Other\n"))
    skills = Satchel(tmp_path)

    with pytest.raises(DuplicateSkillError):
        skills.digest("same")
    with pytest.raises(SkillNotFoundError):
        skills.digest("nope")


@pytest.mark.row("R25", "A27")
def test_a_digest_covers_no_listed_file_that_is_not_there(library: Path) -> None:
    """The bytes of a pack are those it holds; to ask for another one is an error."""
    manifest = "---\nname: sql-style\ndescription: d\nreferences: [a.md, b.md]\n---\n"
    write(library, "sql-style", manifest, references__a_md="A")
    with Satchel(library) as skills:
        listed = skills.registry.descriptor("sql-style").resources
        before = skills.digest("sql-style")
        paths = [resource.path for resource in skills.resources("sql-style")]
        with pytest.raises(ReferenceNotFoundError) as caught:
            skills.load("sql-style", "b.md")
        write(library, "sql-style", manifest, references__b_md="B")
        skills.sync()

        assert listed == caught.value.listed == ("references/a.md", "references/b.md")
        assert paths == ["SKILL.md", "references/a.md"]
        assert skills.digest("sql-style") != before
        assert len(skills.resources("sql-style")) == 3


@pytest.mark.row("A27")
def test_a_model_is_not_offered_a_listed_file_that_is_not_there(library: Path) -> None:
    """Where it asks for it all the same, it reads that it is missing."""
    manifest = "---\nname: sql-style\ndescription: d\nreferences: [a.md, b.md]\n---\n"
    write(library, "sql-style", manifest, references__a_md="A")
    with Satchel(library) as skills:
        session = skills.session()
        loaded = session.call("load_skill", {"skill_id": "sql-style"})
        asked = {"skill_id": "sql-style", "path": "b.md"}

        assert "Files (read_skill_file): references/a.md\n" in str(loaded)
        assert "is missing" in str(session.call("read_skill_file", asked))


def test_a_manifest_is_read_on_demand_unless_the_source_made_it_up(
    library: Path,
) -> None:
    write(
        library,
        "sql-style",
        "---\nname: sql-style\ndescription: d\nversion: 1.10\n---\n",
    )

    assert Satchel(library).manifest("sql-style").version == "1.10"

    class Made(FakeSource):
        def manifest(self, key: str) -> bytes | Manifest:
            return Manifest(name=key, description="Use when testing.")

    skills = Satchel(Made("s", {"a": {"SKILL.md": "# Just text\n"}}))

    assert skills.load("a").text == "# Just text\n"
    with pytest.raises(SkillManifestError, match="s/a"):
        skills.manifest("a")


def test_a_deprecated_skill_loads_with_a_note_that_names_the_next(
    library: Path,
) -> None:
    lines = "metadata:\n  status: deprecated\n  replaced-by: sql-style\n"
    write(library, "old", f"---\nname: old\ndescription: d\n{lines}---\n# Old\n")
    skills = Satchel(library)

    assert "old" not in skills.catalog
    assert "sql-style" in " ".join(skills.load("old").notes)
    assert skills.digest("old").startswith("sha256-tree-v1:")


def test_loads_and_calls_can_be_awaited(library: Path) -> None:
    skills = Satchel(library)
    session = skills.session()

    assert asyncio.run(skills.aload("sql-style")).id == "sql-style"
    result = asyncio.run(session.acall("load_skill", {"skill_id": "sql-style"}))
    assert str(result).startswith("Skill: sql-style\n")


def test_it_closes_its_sources_once_asked() -> None:
    source = FakeSource("s", {"a": {"SKILL.md": pack("a")}})
    with Satchel(source):
        assert source.closed == 0

    assert source.closed == 1


def run_python(code: str) -> str:
    command = [sys.executable, "-c", code]
    out = subprocess.run(command, capture_output=True, text=True, check=True)
    return out.stdout.strip()


@pytest.mark.row("C57")
def test_public_names_are_there_and_lazy() -> None:
    """Each documented name can be imported, and none of them before it is used."""
    names = (
        "SkillManifest SkillManifestError SkillSource SkillLoader DuplicateSkillError "
        "LocalDirSkillSource load_plugin_sources load_skill SkillDescriptor "
        "SkillDiscoverySkill BaseSkill ReferenceNotFoundError"
    )
    assert all(getattr(satchel, name) is not None for name in names.split())
    with pytest.raises(AttributeError, match="no attribute 'nope'"):
        getattr(satchel, "nope")  # noqa: B009 - a checker knows

    code = "import satchel, sys; print([m for m in sys.modules if 'satchel' in m])"
    assert run_python(code) == "['satchel']"


def test_import_pulls_in_nothing_heavy() -> None:
    code = (
        "import sys; from satchel import Satchel, Skill; "
        "s = Satchel(Skill('a', description='d', instructions='i')); s.prompt(); "
        "heavy = {'click', 'rich', 'sqlite3', 'asyncio', 'http', 'httpx', 'ssl', "
        "'mcp', 'importlib.metadata', 'concurrent.futures', 'unittest'}; "
        "print(sorted(heavy & set(sys.modules)))"
    )
    assert run_python(code) == "[]"


@pytest.mark.row("C24")
def test_watching_takes_an_edit_into_use(library: Path) -> None:
    """Wrapped folders are watched too; sources without a folder are left out."""
    wrapped = sources.prefixed(sources.folder(library), "x-")
    skills = Satchel(wrapped, FakeSource("s", {"a": {"SKILL.md": pack("a")}}))
    deadline = time.monotonic() + 20

    with skills.watch(debounce_ms=50):
        write(library, "fresh")
        while "x-fresh" not in skills.catalog and time.monotonic() < deadline:
            time.sleep(0.05)

    assert skills.load("x-fresh").body == "# Do\n"


def test_what_is_given_by_name_goes_before_the_file(
    library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = 'skills = ["."]\nbudget_tokens = 300\n[limits]\nfile_bytes = 5\n'
    (library / "satchel.toml").write_text(text)
    monkeypatch.chdir(library)

    assert Satchel().prompt().budget_tokens == 300
    assert Satchel(budget_tokens=None).prompt().budget_tokens is None
    with pytest.raises(LimitExceededError):
        Satchel().load("pdf-forms", "fields.md")
    assert Satchel(options=Options(limits=Limits())).load("pdf-forms", "fields.md").text


def test_a_file_can_ask_for_packages_and_for_the_usual_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / ".agents/skills", "theirs")
    path = tmp_path / "own.toml"
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SATCHEL_CONFIG", str(path))
    path.write_text("usual = true\ntrust = true\npackages = true\n")

    assert "theirs" in Satchel().catalog

    path.write_text('packages = ["no-such-distribution-here"]\n')
    with pytest.raises(SourceUnavailableError, match="no-such-distribution-here"):
        Satchel()


@pytest.mark.row("R20")
def test_the_policy_holds_without_a_session_too(library: Path) -> None:
    """For nobody in particular; ``who`` is empty then."""
    policy = Policy(
        deny("sql-*", action="list", unless=lambda who: who.get("user") == "ana"),
        deny("pdf-*", action="find"),
    )
    skills = Satchel(library, policy=policy)

    assert "sql-style" not in str(skills.prompt())
    assert skills.why("sql-style").stage == "policy"
    assert skills.why("pdf-forms").stage == "listed"
    assert [hit.id for hit in skills.find("pdf sql testing")] == ["sql-style"]
    assert "sql-style" in skills.session(who={"user": "ana"}).instructions()


@pytest.mark.row("E24")
def test_what_is_no_source_is_named_and_one_pattern_may_be_a_mere_text() -> None:
    """Letter by letter its star would switch everything off."""
    packs: dict[str, dict[str, str | bytes]] = {
        name: {"SKILL.md": pack(name)} for name in ("draft-a", "final")
    }

    skills = Satchel(FakeSource("s", packs), disabled="draft-*")

    assert [entry.id for entry in skills.catalog] == ["final"]

    with pytest.raises(TypeError, match="a source or a Skill; got int"):
        Satchel(3)  # type: ignore[arg-type]


@pytest.mark.parametrize("k", [-1, 2.5, "3", None, True])
def test_a_number_of_hits_that_is_no_count_is_refused(library: Path, k: object) -> None:
    """By every way to find, rather than answered with no skill."""
    skills = Satchel(library)
    denying = Satchel(library, policy=Policy(deny("pdf-*", action="find")))
    ways: list[Callable[..., object]] = [
        *(skills.find, skills.session().find, skills.view(who={"user": "ana"}).find),
        *(denying.find, lambda query, k: skills.find([query, query], k)),
    ]

    for find in ways:
        with pytest.raises(ConfigError, match="k: expected a count; got"):
            find("fill in a form", k)


@pytest.mark.parametrize("confidence", [-0.1, 1.5, float("nan")])
def test_a_confidence_that_no_hit_has_is_refused(
    library: Path, confidence: float
) -> None:
    with pytest.raises(ConfigError, match="min_confidence: expected a number from 0"):
        Satchel(library).find("fill in a form", min_confidence=confidence)
