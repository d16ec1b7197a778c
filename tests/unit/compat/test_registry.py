"""Skills registered from code: descriptors, the registry, and their references."""

import sys
import zipfile
from pathlib import Path

import pytest

from satchel import (
    BaseSkill,
    Satchel,
    SkillDescriptor,
    SkillRegistry,
)
from satchel.errors import (
    AmbiguousReferenceError,
    DuplicateSkillError,
    LimitExceededError,
    ReferenceEscapesError,
    ReferenceNotAllowedError,
    ReferenceNotFoundError,
    SkillManifestError,
    SkillNotFoundError,
)
from satchel.model import Limits
from tests.fakes import in_threads
from tests.unit.sources.house import AZURE, RUNNER, House, build
from tests.unit.sources.trees import keys, told

PING = SkillDescriptor("ping", "Use to see who is there.", "Say pong.")
MISSING = "listed-file-missing"


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> House:
    return build(tmp_path, monkeypatch)


@pytest.fixture
def registry(house: House) -> SkillRegistry:
    """A registry that the house's own bootstrap has filled."""
    made = SkillRegistry()
    house.module("bootstrap").bootstrap(made)
    return made


def listing(*references: str, name: str = "a") -> SkillRegistry:
    """Return a registry of one skill that lists these references."""
    return SkillRegistry([SkillDescriptor(name, "Use it.", references=references)])


@pytest.mark.row("A21", "A22", "F31", "E18")
def test_a_descriptor_is_immutable_and_hashable() -> None:
    """Its fields have the order of the earlier system."""
    values = ("a", "About a.", "Do.", "raw", "x.skill:A", ("run",), ("x/a.md",))
    one, two = SkillDescriptor(*values), SkillDescriptor(*values)  # type: ignore[arg-type]

    assert {one: "stored"}[two] == "stored"
    assert len({one, two, PING}) == 2
    with pytest.raises(AttributeError):
        one.references = ()  # type: ignore[misc]
    assert (one.category, one.import_path) == ("raw", "x.skill:A")
    assert (one.tools, one.references) == (("run",), ("x/a.md",))
    assert PING.category == "standard"


@pytest.mark.row("A23")
@pytest.mark.parametrize("wrong", [["x/a.md"], "x/a.md", {"x/a.md"}, None, (1,)])
@pytest.mark.parametrize("field", ["references", "tools"])
def test_what_is_no_tuple_of_texts_is_refused_at_construction(
    field: str, wrong: object
) -> None:
    """The checker refuses each of these as well: see tests/typing."""
    with pytest.raises(TypeError, match=f"{field}: expected a tuple of texts"):
        SkillDescriptor("a", "About a.", **{field: wrong})  # type: ignore[arg-type]


@pytest.mark.slow
@pytest.mark.row("A23")
def test_the_type_checker_refuses_a_list(tmp_path: Path) -> None:
    """An error that is ignored and not there would be one itself."""
    api = pytest.importorskip("mypy.api")
    page = Path(__file__).parents[2] / "typing" / "descriptors.py"
    options = ["--strict", "--follow-imports=silent", f"--cache-dir={tmp_path}"]

    out, errors, status = api.run([*options, str(page)])
    assert (errors, status) == ("", 0), out
    page_2 = tmp_path / "page.py"
    page_2.write_text(page.read_text("utf-8").replace("  # type: ignore", "  # "))
    out, errors, status = api.run([*options, str(page_2)])
    assert errors == ""
    assert out.count('"references"') == 3, out


@pytest.mark.row("E18")
def test_a_category_is_standard_or_raw() -> None:
    with pytest.raises(ValueError, match="expected standard or raw; got 'Raw'"):
        SkillDescriptor("a", "About a.", category="Raw")  # type: ignore[arg-type]


@pytest.mark.row("A38", "A39")
def test_registering_is_explicit_and_all_or_nothing() -> None:
    """Nothing is patched, no other registry notices, no snapshot changes."""
    registry, other = SkillRegistry(), SkillRegistry()
    about = SkillDescriptor("about", "Use to tell about things.")
    with pytest.raises(DuplicateSkillError):
        registry.bootstrap([about, PING, PING])
    assert dict(registry.all_descriptors()) == {}

    registry.register(PING)
    before = registry.all_descriptors()
    registry.bootstrap([about])

    assert registry.get("ping") is PING
    assert list(before) == ["ping"]
    assert list(registry.all_descriptors()) == ["about", "ping"]
    assert repr(registry) == "SkillRegistry(2 skills, label='registry')"
    assert dict(other.all_descriptors()) == {}
    with pytest.raises(TypeError):
        before["pong"] = PING  # type: ignore[index]
    with pytest.raises(SkillNotFoundError):
        other.get("ping")


@pytest.mark.row("X04")
def test_a_second_skill_of_one_name_is_loud_and_names_both() -> None:
    first = SkillDescriptor("ping", "Use first.", import_path="one.skill:Ping")
    second = SkillDescriptor("ping", "Use second.", import_path="two.skill:Ping")
    registry = SkillRegistry([first])

    with pytest.raises(
        DuplicateSkillError, match=r"one\.skill:Ping and two\.skill:Ping"
    ) as raised:
        registry.register(second)
    assert "replace=True" in str(raised.value)
    assert registry.get("ping") is first
    with pytest.raises(DuplicateSkillError, match="both registry/ping and two"):
        SkillRegistry([PING, second])
    registry.register(second, replace=True)
    assert registry.get("ping") is second


@pytest.mark.row("A25", "A39")
@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("PING", ["ping"]),
        ("who is", ["ping"]),
        ("Azure_Search", ["rag"]),
        ("", ["ping", "rag"]),
        ("pong", []),
    ],
)
def test_find_looks_at_names_descriptions_and_references(
    query: str, names: list[str]
) -> None:
    """Never at instructions: they say ``pong``."""
    registry = listing("house/rag/azure_search_config.md", name="rag")
    registry.register(PING)

    assert [item.name for item in registry.find(query)] == names


def test_many_threads_register_at_once() -> None:
    registry = SkillRegistry()

    def fill(part: int) -> None:
        for number in range(25):
            registry.register(SkillDescriptor(f"s-{part}-{number}", "Use at once."))

    in_threads(fill, range(4))

    assert len(registry.all_descriptors()) == 100


@pytest.mark.row("A16", "A38", "A19")
def test_a_sub_package_with_skill_py_and_references(
    house: House, registry: SkillRegistry
) -> None:
    """Classes with instructions, a bootstrap, and names that no folder has."""
    skills = Satchel(registry)
    rag = house.module("agentic_rag.skill").AgenticRagSkill

    assert issubclass(rag, BaseSkill)
    ids = [entry.id for entry in skills.catalog]
    assert ids == ["agentic-rag", "execution-debugging"]
    assert skills.load("agentic-rag").body == rag.instructions
    for entry in skills.catalog:
        for path in entry.references:
            home = house.root.parent / path
            assert skills.load(entry.id, path).data == home.read_bytes()
    homes = {path.parent for path in house.root.rglob("skill.py")}
    assert {path.name for path in homes} == {"agentic_rag", "execution"}
    assert all((home / "references").is_dir() for home in homes)
    assert not any("agentic-rag" in str(path) for path in house.root.rglob("*"))
    assert "execution-debugging" not in {path.name for path in house.root.iterdir()}


@pytest.mark.row("A17", "A18", "A20")
@pytest.mark.parametrize(
    ("skill", "reference", "text"),
    [
        ("agentic-rag", "{}/agentic_rag/references/azure_search_config.md", AZURE),
        ("agentic-rag", "references/azure_search_config.md", AZURE),
        ("agentic-rag", "azure_search_config.md", AZURE),
        ("agentic-rag", "notes.md", "Of the rag.\n"),
        ("execution-debugging", "sandbox_runner.py", RUNNER),
        ("execution-debugging", "execution/references/notes.md", "Of the execution.\n"),
    ],
)
def test_a_reference_is_named_by_its_whole_path_or_the_end_of_it(
    house: House, registry: SkillRegistry, skill: str, reference: str, text: str
) -> None:
    """Byte for byte, line ends and all; an ambiguous name lists the candidates."""
    skills = Satchel(registry)

    assert skills.load(skill, reference.format(house.name)).data == text.encode()
    with pytest.raises(AmbiguousReferenceError) as raised:
        skills.load("execution-debugging", "notes.md")
    assert raised.value.listed == (
        f"{house.name}/agentic_rag/references/notes.md",
        f"{house.name}/execution/references/notes.md",
    )


def test_what_is_listed_is_all_that_can_be_read(
    house: House, registry: SkillRegistry
) -> None:
    skills = Satchel(registry)
    unlisted = f"{house.name}/agentic_rag/references/unlisted.md"

    for path in (unlisted, "unlisted.md", f"{house.name}/__init__.py"):
        with pytest.raises(ReferenceNotAllowedError):
            skills.load("agentic-rag", path)
        with pytest.raises(ReferenceNotFoundError):
            registry.read("agentic-rag", path, 100)
    with pytest.raises(ReferenceNotAllowedError):
        skills.load("agentic-rag", f"{house.name}/../secret.md")
    with pytest.raises(ReferenceEscapesError):
        skills.load("agentic-rag", f"{house.name}/../../secret.md")


def test_a_listed_file_that_is_missing_is_a_finding_and_a_typed_error(
    house: House, registry: SkillRegistry
) -> None:
    """By the whole path, as it is listed; the other references still load."""
    missing = f"{house.name}/agentic_rag/references/notes.md"
    (house.root.parent / missing).unlink()
    skills = Satchel(registry)

    assert told(registry) == [
        ("error", MISSING, "registry/agentic-rag/SKILL.md"),
        ("error", MISSING, "registry/execution-debugging/SKILL.md"),
    ]
    assert [finding.code for finding in skills.findings].count(MISSING) == 2
    with pytest.raises(ReferenceNotFoundError) as raised:
        skills.load("agentic-rag", "notes.md")
    assert missing in raised.value.listed
    contents = {resource.path for resource in skills.resources("agentic-rag")}
    assert contents == {"SKILL.md", *raised.value.listed} - {missing}
    assert skills.load("agentic-rag", "azure_search_config.md").text == AZURE


@pytest.mark.parametrize(
    "path",
    [
        "no_such_package_at_all/x.md",
        "this/x.md",  # a module that is no package
        "json",
        "x-y/z.md",
        "__main__/x.md",
        "json/__init__.py/x.md",
        "loud_zipped/x.md",
    ],
)
def test_a_path_in_no_package_is_missing_and_costs_the_others_nothing(
    path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that is in a zip file is imported, and may raise."""
    zipped(tmp_path, monkeypatch, "loud_zipped", "raise SystemError('loud')")
    registry = listing(path, name="lost")
    registry.register(PING)
    skills = Satchel(registry)

    assert keys(registry) == ["lost", "ping"]
    assert told(registry) == [("error", MISSING, "registry/lost/SKILL.md")]
    assert len(skills.catalog) == 2
    with pytest.raises(ReferenceNotFoundError):
        skills.load("lost", path)


def zipped(
    folder: Path, monkeypatch: pytest.MonkeyPatch, package: str, code: str = ""
) -> None:
    """Put a package of two files into a zip file that is imported from."""
    archive = folder / f"{package}.zip"
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr(f"{package}/__init__.py", code)
        file.writestr(f"{package}/x.md", "From a zip.")
    monkeypatch.syspath_prepend(archive)


def test_no_code_of_a_package_in_a_folder_is_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "loud_house").mkdir()
    (tmp_path / "loud_house/__init__.py").write_text("raise SystemError('loud')")
    (tmp_path / "loud_house/x.md").write_text("Quiet.")
    monkeypatch.syspath_prepend(tmp_path)

    assert Satchel(listing("loud_house/x.md")).load("a", "x.md").text == "Quiet."
    assert {"loud_house", "this"} & set(sys.modules) == set()


def test_a_link_out_of_the_package_is_not_followed(house: House) -> None:
    (house.root.parent / "secret.md").write_text("secret")
    (house.root / "link.md").symlink_to(house.root.parent / "secret.md")
    registry = listing(f"{house.name}/link.md")

    assert told(registry) == [("error", MISSING, "registry/a/SKILL.md")]
    with pytest.raises(ReferenceEscapesError):
        registry.read("a", f"{house.name}/link.md", 100)


def test_paths_that_no_pack_hands_out_are_findings(house: House) -> None:
    (house.root / ".env").write_text("KEY=1")
    paths = (f"{house.name}/.env", "../secret.md", "SKILL.md")
    skills = Satchel(listing(*paths))

    codes = {finding.code for finding in skills.findings}
    assert codes >= {"left-out-file-declared", "unsafe-declared-file"}
    for path in paths[:2]:
        with pytest.raises(ReferenceNotAllowedError):
            skills.load("a", path)


def test_a_package_without_init_in_two_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for part in ("one", "two"):
        place = tmp_path / part / "split_house" / "refs"
        place.mkdir(parents=True)
        (place / f"{part}.md").write_text(part)
        monkeypatch.syspath_prepend(tmp_path / part)
    paths = ("split_house/refs/one.md", "split_house/refs/two.md")
    skills = Satchel(listing(*paths))

    assert skills.findings == ()
    assert [skills.load("a", path).text for path in paths] == ["one", "two"]


def test_a_package_in_a_zip_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    zipped(tmp_path, monkeypatch, "zipped_house")
    registry = listing("zipped_house/x.md", "zipped_house/none.md")
    skills = Satchel(registry)

    assert skills.load("a", "x.md").text == "From a zip."
    with pytest.raises(ReferenceNotFoundError):
        skills.load("a", "none.md")
    with pytest.raises(LimitExceededError):
        registry.read("a", "zipped_house/x.md", 10)


def test_changes_are_seen_at_the_next_sync(
    house: House, registry: SkillRegistry
) -> None:
    skills = Satchel(registry)
    registry.register(PING)
    (house.root / "agentic_rag" / "references" / "notes.md").write_text("Longer now.\n")
    report = skills.sync()

    assert report.added == ("ping",)
    assert report.updated == ("agentic-rag", "execution-debugging")
    assert skills.load("agentic-rag", "notes.md").text == "Longer now.\n"
    assert skills.load("ping").body == "Say pong."


def test_what_a_descriptor_says_is_what_the_catalog_says() -> None:
    odd = SkillDescriptor(
        'a: "b"',
        "x\ny: # é",
        "---\nnot: frontmatter\r\n---\n",
        category="raw",
        tools=("one", "two words"),
        references=("house/a b.md", "house/c,d.md"),
    )
    skills = Satchel(SkillRegistry([odd]), profile="lenient")
    (entry,) = skills.catalog

    assert (entry.id, entry.description) == (odd.name, odd.description)
    assert (entry.category, entry.tools) == ("raw", odd.tools)
    assert entry.references == odd.references
    assert skills.load(odd.name).body == odd.instructions
    assert skills.manifest(odd.name).references == odd.references


def test_a_pack_over_a_limit_is_reported_and_left_out() -> None:
    many = SkillDescriptor("many", "Use it.", references=("json/a.md", "json/b.md"))
    long = SkillDescriptor("long", "Use it.", "x" * 200)
    registry = SkillRegistry(
        [many, long], limits=Limits(pack_files=2, skill_md_bytes=100), label="mine"
    )

    assert keys(registry) == ["long"]
    assert told(registry) == [("error", "limit-exceeded", "mine/many")]
    with pytest.raises(LimitExceededError):
        registry.manifest("long")


@pytest.mark.row("A21", "A39", "F96")
def test_a_descriptor_may_be_made_before_its_description_is_written() -> None:
    """As the earlier system's pages write it; a registry asks for one."""
    descriptor = SkillDescriptor(name="rag", references=("p/references/a.md",))

    assert descriptor.references == ("p/references/a.md",)
    with pytest.raises(SkillManifestError, match="it needs a description"):
        SkillRegistry([descriptor])
