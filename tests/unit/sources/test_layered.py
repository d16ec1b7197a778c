"""One skill from layers: each field by its rule, and one pack for everybody else."""

from pathlib import Path

import pytest

from satchel import Options, Satchel, sources
from satchel.errors import (
    ConfigError,
    ReferenceNotFoundError,
    SkillManifestError,
    SkillNotFoundError,
    SourceUnavailableError,
    UnknownFieldError,
)
from satchel.model import Json
from satchel.protocols import SkillSource
from satchel.skill_md import Layer, merge_layers
from satchel.sources import LayeredSource
from satchel.sources._layered import layer_folder
from satchel.testing import Packs, SourceContract
from tests.fakes import FakeSource, pack
from tests.functional.library import run, write_pack

pytestmark = pytest.mark.row("E04")


class TestLayers(SourceContract):
    """Packs that one layer has are that layer's, whichever it is."""

    def make_source(self, packs: Packs) -> SkillSource:
        halves = (
            {name: packs[name] for name in list(packs)[start::2]} for start in (0, 1)
        )
        base, team = map(sources.memory, halves)
        return LayeredSource([("base", base), ("team", team)])


BASE: dict[str, Json] = {"name": "a", "description": "Base."}

MERGED: dict[str, tuple[dict[str, Json], dict[str, Json], dict[str, Json]]] = {
    "override": (
        {"version": "1.0", "license": "MIT"},
        {"version": "1.10"},
        {"version": "1.10", "license": "MIT"},
    ),
    "lists-are-appended": (
        {"references": ["a.md", "b.md"]},
        {"references": ["c.md", "a.md"]},
        {"references": ["a.md", "b.md", "c.md"]},
    ),
    "a-text-is-a-list-too": (
        {"references": "a.md b.md", "trigger_keywords": "pdf, tax form"},
        {"references": ["c.md"], "trigger_keywords": ["pdf", "fax"]},
        {
            "references": ["a.md", "b.md", "c.md"],
            "trigger_keywords": ["pdf", "tax form", "fax"],
        },
    ),
    "tools": (
        {"allowed-tools": "Read Bash(git log, *)"},
        {"allowed_tools": ["Write", "Read"]},
        {"allowed-tools": "Read Bash(git log, *) Write"},
    ),
    "tools-with-blanks": (
        {"allowed-tools": ["My Tool"]},
        {"allowed-tools": "Read"},
        {"allowed-tools": ["My Tool", "Read"]},
    ),
    "keyed": (
        {"required_environment_variables": [{"name": "A", "x": 1}, {"name": "B"}]},
        {"required_environment_variables": [{"name": "A", "x": 2}, {"id": "A"}]},
        {
            "required_environment_variables": [
                {"name": "A", "x": 2},
                {"name": "B"},
                {"id": "A"},
            ]
        },
    ),
    "metadata-is-deep": (
        {"metadata": {"owner": "x", "deep": {"a": "1", "l": ["x"]}}},
        {"metadata": {"owner": "y", "deep": {"b": "2", "l": ["y"]}}},
        {"metadata": {"owner": "y", "deep": {"a": "1", "l": ["x", "y"], "b": "2"}}},
    ),
    "null-says-nothing": (
        {"author": "ann", "metadata": {"a": "1"}},
        {"author": None, "metadata": {"a": None, "b": None}, "license": None},
        {"author": "ann", "metadata": {"a": "1"}},
    ),
    "spec-dialect": (
        {"metadata": {"references": "a.md", "version": "1"}},
        {"metadata": {"references": "b.md", "owner": "x"}},
        {"metadata": {"owner": "x", "version": "1", "references": "a.md b.md"}},
    ),
    "spec-dialect-with-commas": (
        {"metadata": {"references": "a.md, b.md"}},
        {"metadata": {"references": "b.md"}},
        {"metadata": {"references": "a.md b.md"}},
    ),
    "the-standard-form-and-its-schema": (
        {"references": ["a.md"], "manifest_schema": 1},
        {"manifest_schema": 1, "references": ["b.md"]},
        {"references": ["a.md", "b.md"], "manifest_schema": 1},
    ),
    "spellings": (
        {"when-to-use": "early", "trigger-keywords": ["a"]},
        {"when_to_use": "late", "trigger_keywords": ["b"]},
        {"when_to_use": "late", "trigger_keywords": ["a", "b"]},
    ),
}


@pytest.mark.row("G19", "E15")
@pytest.mark.parametrize(("low", "high", "wanted"), MERGED.values(), ids=MERGED)
def test_each_field_is_merged_by_its_rule(
    low: dict[str, Json], high: dict[str, Json], wanted: dict[str, Json]
) -> None:
    layers = [Layer("base", BASE | low), Layer("team", high)]
    copies = [dict(layer.fields) for layer in layers]
    merged = merge_layers("a", layers)

    assert merged.fields == BASE | wanted
    assert merge_layers("a", layers) == merged
    assert [layer.fields for layer in layers] == copies


@pytest.mark.row("E15", "X07")
@pytest.mark.parametrize(
    ("declared", "refused"),
    [
        ({"manifest_schema": 1}, True),
        ({"manifest_schema": True}, True),
        ({"manifest_schema": 2}, False),
        ({"metadata": {"manifest_schema": "2"}}, False),
    ],
)
def test_an_unknown_field_is_refused_before_a_later_schema(
    declared: dict[str, Json], *, refused: bool
) -> None:
    layers = [Layer("base", BASE | declared), Layer("team", {"colour": "red"})]
    if not refused:
        assert merge_layers("a", layers).fields == BASE | declared | {"colour": "red"}
        return
    with pytest.raises(UnknownFieldError) as got:
        merge_layers("a", layers)
    assert (got.value.field, got.value.layer, got.value.name) == ("colour", "team", "a")


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        ({"metadata": "x"}, {}, "metadata is not a mapping"),
        ({"references": {"a": 1}}, {}, "references is a mapping"),
        (
            {"metadata": {"a": {"b": "1"}}},
            {"metadata": {"a": "x"}},
            "metadata.a is a mapping in one layer, and a single value in another",
        ),
        (
            {"metadata": {"a": ["b"]}},
            {"metadata": {"a": "x"}},
            "a list in one layer",
        ),
        ({}, {"name": "b"}, "its layers call it a and b"),
    ],
)
def test_what_does_not_go_together_is_refused(
    low: dict[str, Json], high: dict[str, Json], said: str
) -> None:
    with pytest.raises(SkillManifestError, match=said):
        merge_layers("a", [Layer("base", BASE | low), Layer("team", high)])


def test_it_is_told_who_gives_what() -> None:
    layers = [
        Layer("base", BASE | {"references": ["a.md"], "metadata": {"a": {"b": "1"}}}),
        Layer("team", {"references": ["b.md"], "metadata": {"a": {"c": "2"}}}),
        Layer("user", {"description": "Mine.", "metadata": {"a": {"b": "3"}}}),
    ]
    given = merge_layers("a", layers).given

    assert [(item.field, item.strategy, item.layers) for item in given] == [
        ("name", "override", ("base",)),
        ("description", "override", ("base", "user")),
        ("references", "append", ("base", "team")),
        ("metadata.a.b", "override", ("base", "user")),
        ("metadata.a.c", "override", ("team",)),
    ]


NAMED = ("base", "team", "user")


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    head = "name: pdf\ndescription: Base. Use for forms.\nreferences: [a.md, c.md]\n"
    write_pack(
        tmp_path / "base/pdf",
        f"---\n{head}---\n# Base\n",
        {"references/a.md": "base a", "references/c.md": "base c"},
    )
    write_pack(
        tmp_path / "team/pdf",
        "---\nreferences: [b.md]\nversion: 1.10\n---\n",
        {"references/a.md": "team a", "references/b.md": "team b"},
    )
    write_pack(
        tmp_path / "user/pdf", "---\ndescription: Mine. Use for mine.\n---\n# Mine\r\n"
    )
    write_pack(tmp_path / "team/own", pack("own"))
    return tmp_path


def test_what_comes_out_is_one_pack(folders: Path) -> None:
    """A change in any layer is seen, and what is found in one goes through."""
    (folders / "user/pdf/.env").write_text("KEY=1")
    source = sources.layered(*NAMED)
    assert repr(source) == "LayeredSource(base, team, user, label='layers')"
    with Satchel(source) as skills:
        (own, pdf) = skills.catalog
        assert (own.id, own.origin.location) == ("own", "team/own")
        assert pdf.description == "Mine. Use for mine."
        assert pdf.references == tuple(f"references/{name}.md" for name in "abc")
        assert skills.load("pdf").body == "# Mine\r\n"
        assert skills.load("own").data == pack("own").encode()
        texts = [skills.load("pdf", f"{name}.md").text for name in "abc"]
        assert texts == ["team a", "team b", "base c"]
        assert skills.manifest("pdf").version == "1.10"
        assert "files-left-out" in [finding.code for finding in skills.findings]
        digest = skills.registry.digest(pdf)

        (folders / "team/pdf/references/b.md").write_text("team 2", "utf-8")
        skills.sync()
        assert skills.registry.digest(skills.registry.descriptor("pdf")) != digest

        write_pack(folders / "base/pdf", "---\nlicense: MIT\nname: pdf\n---\n# B\n")
        assert skills.sync().updated == ("pdf",)
        assert skills.manifest("pdf").license == "MIT"
        assert skills.load("pdf").body == "# Mine\r\n"
        write_pack(folders / "user/pdf", "---\ndescription: Mine. Use it.\n---\n \n")
        skills.sync()
        assert skills.load("pdf").body == "# B\n"


def test_usual_folders_are_those_of_xdg(
    folders: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(folders / "data"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folders / "config"))
    write_pack(folders / "data/satchel/skills/base/pdf", pack("pdf"))
    write_pack(
        folders / "config/satchel/skills/user/pdf",
        "---\ndescription: Mine.\n---\n",
    )
    with Satchel(sources.layered()) as skills:
        (entry,) = skills.catalog
    assert entry.description == "Mine."

    monkeypatch.setenv("XDG_DATA_HOME", "relative")
    assert layer_folder("base").endswith("/.local/share/satchel/skills/base")
    monkeypatch.delenv("XDG_CONFIG_HOME")
    assert layer_folder("team").endswith("/.config/satchel/skills/team")


@pytest.mark.row("R04")
@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        ("---\ncolour: red\n---\n", "unknown-field", None),
        ("---\nname: other\n---\n", "invalid-manifest", None),
        ("---\nlicense: MIT\ndescription: a: b\n---\n", "invalid-manifest", 3),
        ("---\nname: pdf\nname: pdf\n---\n", "invalid-manifest", 3),
        ("no frontmatter", "invalid-manifest", 1),
    ],
)
def test_a_layer_that_cannot_be_merged_is_a_finding(
    folders: Path, text: str, code: str, line: int | None
) -> None:
    write_pack(folders / "user/pdf", text)
    with Satchel(sources.layered(*NAMED)) as skills:
        assert [entry.id for entry in skills.catalog] == ["own"]
        (finding,) = [item for item in skills.findings if item.severity == "error"]
    assert finding.code == code
    if line:
        assert f"user/pdf/SKILL.md:{line}: " in finding.message


def test_reading_goes_from_the_highest_layer_down(folders: Path) -> None:
    del folders
    source = sources.layered(*NAMED)
    assert source.keys() == ("own", "pdf")
    assert source.read("pdf", "SKILL.md", 999).startswith(b"---\nname: pdf\n")
    with pytest.raises(ReferenceNotFoundError):
        source.read("pdf", "references/none.md", 99)
    with pytest.raises(SkillNotFoundError):
        sources.layered("base").read("none", "SKILL.md", 9)
    with pytest.raises(SourceUnavailableError):
        sources.layered("nowhere").scan()
    inner = FakeSource("a", {})
    LayeredSource([("base", inner)]).close()
    assert inner.closed == 1


def test_show_tells_which_layer_gives_what(folders: Path) -> None:
    named = [word for layer in NAMED for word in ("--skills", layer)]
    result = run("show", "pdf", "--layers", *named)

    assert result.exit_code == 0, result.stderr
    assert result.stdout.splitlines() == [
        "pdf",
        "  base  base/pdf",
        "  team  team/pdf",
        "  user  user/pdf",
        "",
        "FIELD            FROM         VALUE",
        "name             base         pdf",
        "description      base < user  Mine. Use for mine.",
        'references       base + team  ["a.md", "c.md", "b.md"]',
        "version          team         1.10",
        "(body)           user",
        "references/a.md  team",
        "references/b.md  team",
        "references/c.md  base",
        "",
        "a < b: b wins over a; a + b: both, in this order",
    ]
    alone = run("show", "own", "--layers", *named).stdout
    assert alone.splitlines()[:2] == ["own", "  team  team/own"]
    assert "a < b" not in alone
    (folders / "satchel.toml").write_text(
        '[layers]\nbase = "base"\nteam = "team"\nuser = "user"\n', "utf-8"
    )
    assert run("show", "pdf", "--layers").stdout == result.stdout
    listed = run("list")
    assert (listed.exit_code, listed.stderr) == (0, "")
    assert "Mine. Use for mine." in listed.stdout


def test_a_skill_is_found_by_its_name_or_its_folder(folders: Path) -> None:
    write_pack(folders / "base/odd", pack("even"))
    write_pack(folders / "base/bad", "---\nx: 1\n---\n")
    write_pack(folders / "team/more/pdf", pack("pdf"))

    found = run("show", "even", "--layers", "--skills", "base")
    assert found.stdout.startswith("even\n  base  base/odd\n")
    missed = run("show", "pdff", "--layers", "--skills", "base")
    assert missed.exit_code == 1
    assert "did you mean pdf?" in missed.stderr
    two = run("show", "pdf", "--layers", "--skills", "base", "--skills", "team")
    assert two.exit_code == 1
    assert "both team/more/pdf and team/pdf" in two.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--reference", "a.md"], "--layers goes with no other"),
        (["--envelope", "xml"], "--layers goes with no other"),
        (["--skills", "a", "--skills", "b", "--skills", "c"] * 2, "three layers"),
        (["--skills", "nowhere"], "nowhere: no such file or folder"),
    ],
)
def test_layers_are_asked_for_alone(
    folders: Path, arguments: list[str], said: str
) -> None:
    del folders
    result = run("show", "pdf", "--layers", *arguments)

    assert result.exit_code == 2
    assert said in result.stderr


@pytest.mark.parametrize(
    ("toml", "said"),
    [
        ("layers = true", "expected a table"),
        ("[layers]\nmine = 'a'", "unknown layer 'mine'"),
        ("[layers]\nbase = 1", "layers.base: expected a folder"),
        ("[layers]\nbase = ''", "layers.base: expected a folder"),
    ],
)
def test_settings_of_layers_are_checked(folders: Path, toml: str, said: str) -> None:
    (folders / "satchel.toml").write_text(toml, "utf-8")

    with pytest.raises(ConfigError, match=said):
        Satchel(options=Options(config=folders / "satchel.toml"))
