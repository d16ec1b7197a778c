"""The 17 packs that come with Satchel: what is in them, and that it is sound."""

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest

from benchmarks.role_packs import bars, measure
from satchel import Satchel, resolve_role_prompt, sources
from satchel.errors import SkillError
from satchel.skill_md import from_spec, parse, to_spec
from tests.functional.library import run
from tests.unit.packs.house import EVALS, FILES, PACKS, ROLES, ROOT
from tools.role_packs import (
    INDEX,
    PAGE,
    RESULTS,
    render_index,
    render_page,
    render_results,
)

REFERENCES = [
    (role, path)
    for role, paths in FILES.items()
    for path in paths
    if path.startswith("references/")
]
BLOCK = re.compile(r"^( *)```(\w+)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def team() -> Satchel:
    return Satchel(sources.roles())


@pytest.fixture(scope="module")
def strict_packs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The packs as `satchel convert --to strict` writes them."""
    folder = tmp_path_factory.mktemp("strict")
    assert (
        run("convert", str(PACKS), "--to", "strict", "-o", str(folder)).exit_code == 0
    )
    return folder


@pytest.fixture(scope="module", params=["public", "strict"])
def library(request: pytest.FixtureRequest) -> Path:
    """The packs in both dialects: what is asked of them holds for either."""
    if request.param == "public":
        return PACKS
    strict: Path = request.getfixturevalue("strict_packs")
    return strict


@pytest.fixture(scope="module")
def either(library: Path) -> Satchel:
    return Satchel(library)


def findings(folder: Path, profile: str) -> list[tuple[str, str, str]]:
    done = run("check", str(folder), "--profile", profile, "--format", "json")
    expected = json.loads(done.stdout)["findings"]
    return [(item["severity"], item["code"], item["path"]) for item in expected]


@pytest.mark.row("C52")
def test_the_seventeen_are_there_and_nothing_next_to_them(team: Satchel) -> None:
    assert team.findings == ()
    assert tuple(entry.id for entry in team.catalog) == ROLES
    assert sorted(item.name for item in PACKS.iterdir()) == sorted(ROLES)


@pytest.mark.row("C52", "C11", "C12", "C03")
@pytest.mark.parametrize("role", ROLES)
def test_a_pack_has_and_lists_the_files_of_its_role(
    role: str, either: Satchel, library: Path
) -> None:
    folder = library / role
    there = [item for item in folder.rglob("*") if item.is_file()]
    entry = either.catalog.get(role)
    assert entry is not None

    assert sorted(one.relative_to(folder).as_posix() for one in there) == sorted(
        ["SKILL.md", EVALS, *FILES[role]]
    )
    assert tuple(sorted(entry.resources)) == FILES[role]
    with pytest.raises(SkillError):
        either.load(role, EVALS)
    assert [either.load(role, path).text for path in FILES[role]] == [
        (folder / path).read_text("utf-8") for path in FILES[role]
    ]


@pytest.mark.row("C53")
def test_five_have_no_references(either: Satchel) -> None:
    assert [entry.id for entry in either.catalog if not entry.references] == [
        "analyst",
        "ci-fixer",
        "prompt-engineer",
        "resolver",
        "visionary",
    ]


@pytest.mark.row("C05", "C13")
@pytest.mark.parametrize("role", ROLES)
def test_a_bucket_without_files_is_not_on_disk_and_lists_none(
    role: str, either: Satchel, library: Path
) -> None:
    manifest = either.manifest(role)
    listed = {
        "references": manifest.references,
        "scripts": manifest.scripts,
        "assets": manifest.assets,
    }

    assert [name for name in listed if (library / role / name).exists()] == [
        name for name, files in listed.items() if files
    ]


@pytest.mark.row("C53")
def test_the_body_of_analyst_is_a_rubric_that_adds_up(either: Satchel) -> None:
    """Weights make 100 %, and the total of the example is what its scores give."""
    body = either.load("analyst").body
    weights = [int(item) for item in re.findall(r"\| (\d+) % \|", body)]
    scores = [
        int(entry) for entry in re.findall(r"\w+ (\d) \((?:high|medium|low)", body)
    ]

    assert "the scoring rubric" in body.splitlines()[1]
    assert sum(weights) == 100
    total = 20 * sum(w * s for w, s in zip(weights, scores[:5], strict=True)) // 100
    assert re.findall(r"^TOTAL +(\d+)", body, re.MULTILINE) == [str(total)]


@pytest.mark.row("C53")
def test_the_body_of_visionary_is_a_schema_that_its_example_keeps(
    either: Satchel,
) -> None:
    body = either.load("visionary").body
    ((_, _, block),) = [item for item in BLOCK.findall(body) if item[1] == "json"]
    shown = json.loads(block)
    (idea,) = shown["ideas"]

    assert "the output schema" in body.splitlines()[1]
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", idea["id"])
    assert len(idea["title"]) <= 60
    assert idea["boldness"] in {1, 2, 3}
    assert 1 <= idea["first_step"]["days"] <= 10
    fields = sorted({*shown, *idea} - {"schema_version", "question"})
    assert [field for field in fields if f"`{field}" not in body] == []


@pytest.mark.row("C53")
@pytest.mark.parametrize("role", ["resolver", "ci-fixer"])
def test_two_have_a_single_purpose(role: str, either: Satchel) -> None:
    assert either.load(role).body.count("One purpose: ") == 1


@pytest.mark.row("F54", "T07")
@pytest.mark.parametrize("how", [(), ("--profile", "spec")], ids=["default", "spec"])
def test_a_check_has_nothing_against_them(how: tuple[str, ...]) -> None:
    done = run("check", str(PACKS), *how, "--format", "json")

    assert done.exit_code == 0
    assert json.loads(done.stdout)["findings"] == []


@pytest.mark.row("C52", "C09")
def test_the_profile_strict_has_nothing_against_its_form(strict_packs: Path) -> None:
    assert findings(strict_packs, "strict") == []
    expected = findings(strict_packs, "dialect")
    assert {(severity, code) for severity, code, _ in expected} == {
        ("note", "spec-incompatible")
    }


@pytest.mark.row("C52", "X07", "T07")
@pytest.mark.parametrize("role", ROLES)
def test_either_dialect_gives_back_the_other(role: str, strict_packs: Path) -> None:
    public = (PACKS / role / "SKILL.md").read_bytes()
    strict = (strict_packs / role / "SKILL.md").read_bytes()
    one = parse(public, profile="spec", directory=role).manifest
    other = parse(strict, profile="strict", directory=role).manifest
    assert one is not None
    assert other is not None

    assert from_spec(one.frontmatter) == other.frontmatter
    assert to_spec(other.frontmatter) == one.frontmatter
    assert public.split(b"\n---\n", 1)[1] == strict.split(b"\n---\n", 1)[1]
    for field in ("trigger_keywords", "references", "scripts", "assets", "version"):
        assert getattr(one, field) == getattr(other, field)


@pytest.mark.row("C19", "C20", "C56", "T07")
@pytest.mark.parametrize("primary", ["hint", "body"])
def test_a_role_s_prompt_is_the_same_in_both_dialects(
    primary: Literal["hint", "body"], tmp_path: Path, strict_packs: Path
) -> None:
    prompts: list[list[str]] = []
    for name, packs in (("public", PACKS), ("strict", strict_packs)):
        templates = tmp_path / name
        shutil.copytree(packs, templates / "skills")
        prompts.append(
            [
                str(resolve_role_prompt(role, templates, primary=primary))
                for role in ROLES
            ]
        )

    assert prompts[0] == prompts[1]


@pytest.mark.row("A26")
@pytest.mark.parametrize("role", sorted({role for role, _ in REFERENCES}))
def test_the_body_says_when_to_load_each_file_and_why(role: str, team: Satchel) -> None:
    """By its path, which every style of tool takes, and by no call of one of them."""
    body = team.load(role).body
    last = body.split("\n## ")[-1]
    message = {
        item.split("`")[1]: " ".join(item.split())
        for item in re.split(r"^- ", last, flags=re.MULTILINE)[1:]
    }

    assert tuple(sorted(message)) == tuple(
        path for path in FILES[role] if path.startswith("references/")
    )
    for text in message.values():
        assert re.match(r"`[\w./-]+` (?:when|before|while) [^:]+: .+\.\Z", text)


@pytest.mark.row("A26")
@pytest.mark.parametrize("role", ROLES)
def test_a_body_names_every_file_and_no_tool_of_one_style(
    role: str, team: Satchel
) -> None:
    body = team.load(role).body

    assert [path for path in FILES[role] if path not in body] == []
    assert "load_skill" not in body
    assert "read_skill_file" not in body


@pytest.mark.row("A26", "A02", "C09")
@pytest.mark.parametrize("role", ROLES)
def test_bodies_and_descriptions_are_short(role: str, team: Satchel) -> None:
    entry = team.catalog.get(role)
    assert entry is not None

    assert 1_000 <= len(team.load(role).body.encode()) <= 2_600
    assert 20 <= len(entry.description) <= 230
    assert re.search(r"\. Use (?:when|for|to|before) ", entry.description)


@pytest.mark.row("C09")
@pytest.mark.parametrize("role", ROLES)
def test_a_description_says_what_is_the_work_of_a_neighbour(
    role: str, team: Satchel
) -> None:
    """It names the pack to load instead, which is another one that ships."""
    entry = team.catalog.get(role)
    assert entry is not None

    (neighbours,) = re.findall(r"\. (Not for .*)\.$", entry.description)
    names = set(re.findall(r"\(([a-z-]+)\)", neighbours))
    assert names
    assert names < set(ROLES) - {role}


@pytest.mark.parametrize("role", ROLES)
def test_a_pack_has_queries_that_should_load_it_and_that_should_not(role: str) -> None:
    cases = json.loads((PACKS / role / EVALS).read_text("utf-8"))
    kinds = [case["should_trigger"] for case in cases]

    assert (kinds.count(True), kinds.count(False), len(kinds)) == (10, 5, 15)
    assert {tuple(case) for case in cases} == {("query", "should_trigger")}
    assert len({case["query"] for case in cases}) == 15


def test_find_tells_the_packs_apart() -> None:
    """`python -m benchmarks packs` shows the misses."""
    assert [bar.row() for bar in bars(measure()) if not bar.is_met] == []


@pytest.mark.parametrize(("role", "path"), REFERENCES, ids="/".join)
def test_a_reference_is_worth_a_load_and_no_more(role: str, path: str) -> None:
    assert 600 <= (PACKS / role / path).stat().st_size <= 4_000


def blocks(*languages: str) -> Iterator[tuple[str, str]]:
    for file in sorted(PACKS.rglob("*.md")):
        for indent, language, text in BLOCK.findall(file.read_text("utf-8")):
            if language in languages:
                yield file.name, text.replace(f"\n{indent}", "\n").removeprefix(indent)


def test_the_examples_in_python_compile_and_those_in_json_parse() -> None:
    for name, text in blocks("python"):
        compile(text, name, "exec")
    for _, text in blocks("json"):
        json.loads(text)

    assert len(list(blocks("python", "json"))) >= 8


def test_rank_fusion_does_what_the_page_says() -> None:
    (text,) = [text for name, text in blocks("python") if name == "hybrid-search.md"]
    names: dict[str, object] = {}
    exec(compile(text, "fuse", "exec"), names)  # noqa: S102 - our own page
    fuse = names["fuse"]

    assert callable(fuse)
    assert fuse(["a", "b"], ["b", "c"]) == ["b", "a", "c"]


@pytest.mark.row("C52", "C01")
def test_the_index_is_on_record_and_small(either: Satchel) -> None:
    index = render_index(either)

    assert index == INDEX.read_bytes().decode()
    assert len(index.encode()) <= 3_900


@pytest.mark.row("C52")
def test_every_result_is_on_record(team: Satchel) -> None:
    """`python -m tools.role_packs` writes it again, and review sees the change."""
    assert render_results(team) == RESULTS.read_bytes().decode()


def test_the_page_is_current(team: Satchel) -> None:
    page = PAGE.read_text("utf-8")

    assert page == render_page(page, team), "run `python -m tools.role_packs`"


def test_a_page_without_its_table_is_an_error(team: Satchel) -> None:
    with pytest.raises(ValueError, match="no table between"):
        render_page("# Packs\n", team)


@pytest.mark.row("C02", "G15")
def test_the_index_does_not_change_when_bodies_and_references_grow(
    tmp_path: Path, team: Satchel
) -> None:
    copy = shutil.copytree(PACKS, tmp_path / "packs")
    for file in copy.rglob("*.md"):
        file.write_bytes(file.read_bytes() + b"\nAnd much more.\n" * 1_000)

    grown = Satchel(copy)

    assert str(grown.prompt(format="markdown")).encode() == INDEX.read_bytes()
    assert grown.digest("qa") != team.digest("qa")


def test_digests_survive_a_copy(tmp_path: Path, team: Satchel) -> None:
    copy = Satchel(
        shutil.copytree(PACKS, tmp_path / "p", copy_function=shutil.copyfile)
    )

    assert [copy.digest(role) for role in ROLES] == [
        team.digest(role) for role in ROLES
    ]


def test_some_of_them_are_chosen_by_name() -> None:
    some = Satchel(sources.only(sources.roles(), ["qa", "backend"]))

    assert [entry.id for entry in some.catalog] == ["backend", "qa"]


@pytest.mark.row("C52")
def test_the_command_line_lists_the_folder() -> None:
    done = run("list", "--skills", str(PACKS), "--json")

    assert done.exit_code == 0
    assert [load["id"] for load in json.loads(done.stdout)["skills"]] == list(ROLES)


def test_the_wheel_carries_every_file() -> None:
    from hatchling.builders.wheel import WheelBuilder

    carried = {
        recurse_included_file.distribution_path
        for recurse_included_file in WheelBuilder(str(ROOT)).recurse_included_files()
    }

    assert {
        f"satchel/packs/{role}/{path}"
        for role, paths in FILES.items()
        for path in ("SKILL.md", *paths)
    } <= carried
