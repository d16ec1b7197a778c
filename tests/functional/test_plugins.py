"""Plugins and marketplaces: whose pack it is, what is left out, what contradicts."""

import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pytest

from satchel import Options, Satchel, sources
from tests.functional.library import run, run_process, tree

Tree = Mapping[str, object]

MARKET: Final = ".claude-plugin/marketplace.json"
MANIFEST: Final = ".claude-plugin/plugin.json"


def skill(name: str, text: str = "") -> str:
    """Return a SKILL.md; another text makes it another pack."""
    return (
        f"---\nname: {name}\ndescription: Use {name} when testing.\n---\nDo {text}.\n"
    )


def market(*plugins: Mapping[str, object], **fields: object) -> dict[str, object]:
    return {"name": "market", "owner": {"name": "us"}, "plugins": plugins, **fields}


def entry(name: str, source: object, **fields: object) -> dict[str, object]:
    return {"name": name, "source": source, **fields}


def write(files: Tree, folder: Path = Path("lib")) -> Path:
    """Write a library: texts and bytes as they are, all else as JSON."""
    for path, content in files.items():
        data = content if isinstance(content, str | bytes) else json.dumps(content)
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data.encode() if isinstance(data, str) else data)
    return folder


def doctors(*places: str) -> dict[str, object]:
    """Return a pack of one name in each place; no two are equal."""
    return {f"{place}/SKILL.md": skill("doctor", place) for place in places}


TWO: Final = doctors("plugins/alpha/skills/doctor", "plugins/beta/skills/doctor")
NAMES: Final = ["alpha-doctor", "beta-doctor"]


def two(file: str, **fields: object) -> dict[str, object]:
    """Return the two plugins, each with a manifest of this form."""
    plugins = {
        f"plugins/{name}/{file}": {"name": name, **fields} for name in ("alpha", "beta")
    }
    return {**TWO, **plugins}


APM: Final = "# of apm\nname: {}\nversion: 1.0.0\ndependencies:\n  apm: []\n"
ALPHA: Final = {"source": "local", "path": "./plugins/alpha"}
LAYOUTS: Final[dict[str, tuple[Tree, list[str]]]] = {
    "a manifest for each": (two(MANIFEST), NAMES),
    "of Codex": (two(".codex-plugin/plugin.json", skills="./skills/"), NAMES),
    "of Cursor": (two(".cursor-plugin/plugin.json"), NAMES),
    "of VS Code": (two(".github/plugin/plugin.json"), NAMES),
    "of Agent Plugins": (two("plugin.json", version="1.0.0"), NAMES),
    "of Gemini CLI": (two("gemini-extension.json"), NAMES),
    "of apm": (
        {**TWO, **{f"plugins/{n}/apm.yml": APM.format(n) for n in ("alpha", "beta")}},
        NAMES,
    ),
    "a marketplace alone": (
        {
            **TWO,
            MARKET: market(
                entry("alpha", "./plugins/alpha"), entry("beta", "plugins/beta/")
            ),
        },
        NAMES,
    ),
    "a root of plugins": (
        {
            **TWO,
            MARKET: market(
                entry("alpha", "alpha"),
                entry("beta", "./plugins/beta"),
                metadata={"pluginRoot": "./plugins"},
            ),
        },
        NAMES,
    ),
    "a marketplace of Codex": (
        {
            **TWO,
            ".agents/plugins/marketplace.json": market(
                entry("alpha", ALPHA), entry("beta", "./plugins/beta")
            ),
        },
        NAMES,
    ),
    "lists of skills, not strict": (
        {
            **doctors("skills/one", "skills/two", "skills/three"),
            MARKET: market(
                entry("alpha", "./", strict=False, skills=["./skills/one"]),
                entry("beta", "./", strict=False, skills="./skills/two/SKILL.md"),
            ),
        },
        [*NAMES, "doctor"],
    ),
    "a list, strict": (
        {
            **two(MANIFEST),
            **doctors("plugins/beta/skills/other"),
            MARKET: market(
                entry("beta", "./plugins/beta", strict=True, skills=["./skills/doctor"])
            ),
        },
        [*NAMES, "doctor"],
    ),
    "the manifest's name goes first": (
        {**two(MANIFEST), MARKET: market(entry("other", "./plugins/alpha"))},
        NAMES,
    ),
    "nested plugins": (
        {
            **doctors("skills/doctor", "plugins/beta/skills/doctor"),
            MANIFEST: {"name": "Alpha"},
            f"plugins/beta/{MANIFEST}": {"name": "beta"},
        },
        NAMES,
    ),
    "backups next to originals": (
        {**two(MANIFEST), **doctors("backups/doctor")},
        [*NAMES, "doctor"],
    ),
    "one that is fetched": (
        {
            **doctors("skills/doctor"),
            MARKET: market(entry("far", {"source": "github", "repo": "a/b"})),
        },
        ["doctor"],
    ),
    "no plugin at all": (doctors("skills/doctor"), ["doctor"]),
}


@pytest.mark.row("F06", "U01")
@pytest.mark.parametrize(("files", "expected"), LAYOUTS.values(), ids=LAYOUTS)
def test_each_pack_has_the_name_of_its_plugin_in_front(
    files: Tree, expected: list[str], here: Path
) -> None:
    """In code, on the command line and in satchel.toml, wherever the library is."""
    write(files)
    prefix = "{plugin}"

    listed = run("list", "lib", "--prefix", "{plugin}-", "--json")
    (here / "satchel.toml").write_text(f'skills = ["lib"]\nprefix = "{prefix}"\n')

    assert [one["id"] for one in json.loads(listed.stdout)["skills"]] == expected
    wrapped = sources.prefixed(sources.folder("lib"), prefix)
    for skills in (
        Satchel(wrapped),
        Satchel("lib", options=Options(prefix=prefix)),
        Satchel(),
    ):
        assert [one.id for one in skills.catalog] == expected
        assert skills.load(expected[0]).descriptor.name == "doctor"


@pytest.mark.row("U01", "R25")
@pytest.mark.parametrize(("files", "expected"), LAYOUTS.values(), ids=LAYOUTS)
def test_each_layout_is_listed_whole_and_builds_without_what_is_bad(
    files: Tree, expected: list[str]
) -> None:
    """Packs of one name are all shown, and are named in the release that lacks them."""
    write(files)

    listed = json.loads(run("list", "lib", "--json").stdout)
    built = run("build", "dist", "lib", "--skip-bad", "--json")
    prefixed = run("build", "other", "lib", "--skip-bad", "--prefix", "{plugin}")

    assert {one["id"] for one in listed["skills"]} == {"doctor"}
    assert len(listed["skills"]) == len(expected)
    assert built.exit_code == prefixed.exit_code == 0
    left = [one["path"] for one in json.loads(built.stdout)["left_out"]]
    packs = sorted(p.removesuffix("/SKILL.md") for p in files if p.endswith("SKILL.md"))
    assert left == (packs if len(packs) > 1 else [])
    names = {path.split("/")[1] for path in tree(Path("other/skills")) if "/" in path}
    assert names
    assert not Path("other/left-out.json").exists()


@pytest.mark.row("F06")
@pytest.mark.parametrize(
    "name", [name for name, (_, ids) in LAYOUTS.items() if len(ids) > 1]
)
def test_what_the_message_offers_first_is_a_way_out(name: str) -> None:
    write(LAYOUTS[name][0])
    skills = Satchel("lib")

    [conflict] = skills.conflicts
    offer = conflict.fix.partition("options=Options(")[2]

    assert offer.startswith('prefix="{plugin}")')
    assert "--prefix '{plugin}'" in run("list", "lib").stderr
    repaired = Satchel("lib", options=Options(prefix="{plugin}"))
    assert repaired.conflicts == ()
    assert len(repaired.catalog) == len(conflict.owners)


@pytest.mark.row("F06")
@pytest.mark.parametrize(
    "files",
    [
        doctors("one/skills/doctor", "two/skills/doctor"),
        {
            **doctors("skills/one", "skills/two"),
            MARKET: market(entry("alpha", "./")),
        },
        {
            **doctors("a/skills/doctor", "b/skills/doctor"),
            f"a/{MANIFEST}": {"name": "Same Name"},
            f"b/{MANIFEST}": {"name": "same-name"},
        },
    ],
    ids=["no plugin", "one plugin", "one name"],
)
def test_a_prefix_that_would_not_help_is_not_offered(files: Tree) -> None:
    write(files)

    [conflict] = Satchel("lib").conflicts

    assert "{plugin}" not in conflict.fix


def findings_of(*command: str) -> list[str]:
    """Return what is reported of plugins: path, line, severity and message."""
    reported = json.loads(run(*command, "--json").stdout)["findings"]
    return [
        f"{one['path']}:{one['line'] or ''} {one['severity']} {one['message']}"
        for one in reported
        if one["code"] in {"plugin-manifest", "not-in-plugin"}
    ]


UNLISTED: Final = {
    **doctors("skills/doctor"),
    "skills/draft/SKILL.md": skill("draft"),
    "template/SKILL.md": skill("template"),
    MARKET: market(entry("alpha", "./", skills=["./skills/doctor"])),
}
LEAVES_OUT: Final = (
    f"lib/{MARKET}: note this marketplace leaves out packs that are below it: "
    "skills/draft, template"
)


@pytest.mark.row("U01")
@pytest.mark.parametrize("command", ["list", "doctor", "check"])
def test_what_no_plugin_lists_is_listed_and_reported(command: str) -> None:
    write(UNLISTED)

    result = run(command, "lib")

    assert findings_of(command, "lib") == [LEAVES_OUT]
    assert "not-in-plugin" in result.stdout + result.stderr
    assert result.exit_code == 0
    assert {one.id for one in Satchel("lib").catalog} == {"doctor", "draft", "template"}


CONTRADICTIONS: Final[dict[str, tuple[Tree, list[str]]]] = {
    "a path without a skill": (
        {
            "a/skills/x/SKILL.md": skill("x"),
            f"a/{MANIFEST}": '{\n"name": "a",\n"skills": ["./skills",\n"./gone"]}',
        },
        [f"lib/a/{MANIFEST}:4 warning plugin 'a' lists 'a/gone', where no SKILL.md is"],
    ),
    "two of one name": (
        {
            "a/skills/x/SKILL.md": skill("x"),
            "b/skills/y/SKILL.md": skill("y"),
            f"a/{MANIFEST}": {"name": "one"},
            f"b/{MANIFEST}": {"name": "one"},
        },
        [f"lib/b/{MANIFEST}:1 warning plugin 'one' is at a and at b"],
    ),
    "another name in the marketplace": (
        {
            "a/skills/x/SKILL.md": skill("x"),
            f"a/{MANIFEST}": {"name": "one"},
            MARKET: market(entry("two", "./a")),
        },
        [f"lib/{MARKET}:1 warning plugin 'two' is called 'one' in lib/a/{MANIFEST}"],
    ),
    "a folder that is missing": (
        {
            "a/skills/x/SKILL.md": skill("x"),
            MARKET: market(entry("a", "./a"), entry("b", "./b")),
        },
        [f"lib/{MARKET}:1 warning the folder of plugin 'b' is not there: b"],
    ),
    "nothing": (two(MANIFEST, skills=["./skills/"]), []),
}


@pytest.mark.parametrize(
    ("files", "expected"), CONTRADICTIONS.values(), ids=CONTRADICTIONS
)
def test_what_a_manifest_says_and_the_folder_does_not_hold(
    files: Tree, expected: list[str]
) -> None:
    """It is for the author: ``check`` and ``doctor`` say it, and ``list`` does not."""
    write(files)

    assert findings_of("check", "lib") == expected
    assert findings_of("doctor", "lib") == expected
    assert findings_of("list", "lib") == []


def bad(content: object, file: str = MARKET) -> Tree:
    return {"skills/x/SKILL.md": skill("x"), MARKET: market(), file: content}


NO_PATH: Final = "is no path in it: it "
HOSTILE: Final[dict[str, tuple[Tree, str]]] = {
    "no JSON": (bad('{\n"name": }'), f"{MARKET}:2 warning Expecting value"),
    "a list": (bad([]), f"{MARKET}: warning expected an object"),
    "no UTF-8": (bad(b"\xff\xfe{}"), f"{MARKET}: warning 'utf-8' codec"),
    "depth": (bad("[" * 100_000), f"{MARKET}: warning maximum recursion depth"),
    "a number without end": (bad("9" * 10_000), f"{MARKET}: warning Exceeds the limit"),
    "size": (bad(" " * 10_485_761), f"{MARKET}: warning "),
    "a source outside": (bad(market(entry("a", "../.."))), f"'../..' {NO_PATH}"),
    "an absolute one": (bad(market(entry("a", "/etc"))), f"'/etc' {NO_PATH}"),
    "a root outside": (
        bad(market(entry("a", "."), metadata={"pluginRoot": ".."})),
        f"'../.' {NO_PATH}",
    ),
    "a skill outside": (
        bad(market(entry("a", "./skills", skills=["../x"]))),
        f"'../x' {NO_PATH}",
    ),
    "a NUL": (bad(market(entry("a", "./a\0b"))), NO_PATH),
    "a surrogate": (bad(market(entry("a", "./\udc80"))), NO_PATH),
    "odd kinds": (
        bad(
            {
                "metadata": [],
                "plugins": [
                    *(None, 1, "a", {}, {"name": 5, "source": "."}),
                    *(entry("a", "./x/", skills={"a": 1}), entry("b", {"path": 1})),
                    entry("c", {"source": "local"}),
                    entry("d", ".", skills=[None, 7, {"a": 1}]),
                ],
            }
        ),
        "",
    ),
    "no YAML": (
        bad("name: a\nb: [\n", "skills/apm.yml"),
        "lib/skills/apm.yml:2 warning",
    ),
    "an anchor": (
        bad("name: &a b\n", "skills/apm.yml"),
        "lib/skills/apm.yml:1 warning",
    ),
    "a control character": (
        bad(market(entry("a\x1b[2J", "./gone"))),
        "plugin 'a\\x1b[2J'",
    ),
}


@pytest.mark.parametrize(("files", "expected"), HOSTILE.values(), ids=HOSTILE)
def test_a_manifest_is_data_that_nobody_trusts(files: Tree, expected: str) -> None:
    """What cannot be used is a finding, with its line, and the packs are all there."""
    write(files)

    reported = "\n".join(findings_of("check", "lib"))
    result = run("list", "lib", "--prefix", "{plugin}-", "--json")

    assert expected in reported
    assert "\x1b" not in run("check", "lib").stdout
    assert len(json.loads(result.stdout)["skills"]) == 1
    assert result.exit_code == 0


def test_a_link_is_not_followed(here: Path) -> None:
    write({"skills/x/SKILL.md": skill("x")})
    (here / "secret.json").write_text(json.dumps({"name": "secret"}))
    (here / "lib/plugin.json").symlink_to(here / "secret.json")

    [reported] = findings_of("check", "lib")

    assert "a link is not followed" in reported
    assert [
        s.id for s in Satchel("lib", options=Options(prefix="{plugin}")).catalog
    ] == ["x"]


@pytest.mark.row("U01")
@pytest.mark.parametrize("name", [*LAYOUTS, *CONTRADICTIONS, *HOSTILE])
def test_an_archive_is_as_the_folder_that_is_in_it(name: str) -> None:
    """Nothing of it is written to a disk, and its manifests are read all the same."""
    files, _ = {**LAYOUTS, **CONTRADICTIONS, **HOSTILE}[name]
    write(files)
    with zipfile.ZipFile("lib.zip", "w") as archive:
        for file in filter(Path.is_file, Path("lib").rglob("*")):
            archive.write(file)

    ids = [
        [one["id"] for one in json.loads(listed.stdout)["skills"]]
        for of in ("lib", "lib.zip")
        for listed in [run("list", of, "--prefix", "{plugin}", "--json")]
    ]

    assert ids[0] == ids[1]
    for command in ("list", "check", "doctor"):
        lines = [
            line.replace("lib.zip/", "lib/") for line in findings_of(command, "lib.zip")
        ]
        assert lines == findings_of(command, "lib"), command


def test_there_is_an_end_to_the_findings_on_manifests() -> None:
    write(bad(market(*(entry("a", f"../{number}") for number in range(500)))))

    assert len(findings_of("check", "lib")) < 150


def test_a_plugin_that_is_called_otherwise_is_seen_by_the_next_sync() -> None:
    write(two(MANIFEST))
    skills = Satchel("lib", options=Options(prefix="{plugin}"))
    before = [one.id for one in skills.catalog]
    write({f"plugins/alpha/{MANIFEST}": {"name": "gamma"}})

    skills.sync()

    assert before == NAMES
    assert [one.id for one in skills.catalog] == ["beta-doctor", "gamma-doctor"]
    assert skills.load("gamma-doctor").text


def good(count: int) -> dict[str, object]:
    return {f"s{n}/SKILL.md": skill(f"s{n}") for n in range(count)}


BAD: Final[dict[str, tuple[Tree, list[Any]]]] = {
    "a slash": (
        {"slash/SKILL.md": skill("a/b")},
        [["slash/SKILL.md", "a/b", "unsafe-skill-id", "'a/b': it has a slash"]],
    ),
    "no frontmatter": (
        {"none/SKILL.md": "Nothing.\n"},
        [
            [
                "none/SKILL.md",
                "none",
                "no-frontmatter",
                "the file does not begin with frontmatter",
            ]
        ],
    ),
    "one name twice": (
        doctors("a/doctor", "b/doctor"),
        [
            ["a/doctor", "doctor", "duplicate-skill", "another pack has this id too"],
            ["b/doctor", "doctor", "duplicate-skill", "another pack has this id too"],
        ],
    ),
    "a device": (
        {"aux-1/SKILL.md": skill("aux")},
        [
            [
                "aux-1/SKILL.md",
                "aux",
                "unsafe-skill-id",
                "'aux': it names a device on Windows",
            ]
        ],
    ),
    "case": (
        {"low/SKILL.md": skill("pdf"), "up/SKILL.md": skill("PDF")},
        [
            [
                "low/SKILL.md",
                "pdf",
                "unsafe-skill-id",
                "'pdf': some systems take it for 'PDF'",
            ]
        ],
    ),
    "too many files": (
        {
            "large/SKILL.md": skill("large"),
            **{f"large/{n}.md": "x" for n in range(2_001)},
        },
        [],
    ),
}


@pytest.mark.row("R25")
@pytest.mark.parametrize(("files", "expected"), BAD.values(), ids=BAD)
def test_what_is_bad_does_not_keep_the_rest_from_being_built(
    files: Tree, expected: list[Any], here: Path
) -> None:
    """The release has a word on it: the same from wherever it was built."""
    write({**good(20), **files})

    refused = run("build", "dist", "lib")
    built = run("build", "dist", "lib", "--skip-bad")
    other = run("build", "more", str(here / "lib"), "--allow-findings", "--json")
    published = run("publish", "site", "--skills", "lib", "--skip-bad", "--json")

    assert refused.exit_code == 1
    assert built.exit_code == other.exit_code == published.exit_code == 0
    answer = json.loads(other.stdout)
    assert built.stdout.strip() == answer["release"]
    assert tree(Path("dist")) == tree(Path("more"))
    rows = json.loads(Path("dist/left-out.json").read_text())["left_out"]
    assert answer["left_out"] == json.loads(published.stdout)["left_out"] == rows
    assert str(here) not in Path("dist/left-out.json").read_text()
    assert f"left out: {rows[0]['path']}" in built.stderr
    if expected:
        assert [[*row.values()] for row in rows] == expected
        assert answer["skills"] >= 20
    assert [one.id for one in Satchel("dist").catalog if one.id == "s7"] == ["s7"]
    names = [
        one["path"]
        for one in json.loads(Path("dist/release.json").read_text())["files"]
    ]
    assert "left-out.json" in names


def test_where_nothing_is_bad_the_release_is_the_same() -> None:
    write(good(2))

    plain, skipping = (
        run("build", "one", "lib"),
        run("build", "two", "lib", "--skip-bad"),
    )

    assert plain.stdout == skipping.stdout
    assert not Path("two/left-out.json").exists()


def test_a_source_that_is_away_refuses_all_the_same(here: Path) -> None:
    """What it has is not known to be bad, and nobody would miss it in the release."""
    write(good(2))
    (here / "satchel.toml").write_text('skills = ["lib", "gone"]\n')

    result = run("build", "dist", "--skip-bad")

    assert result.exit_code != 0
    assert not Path("dist").exists()


@pytest.mark.parametrize("command", ["list", "check", "build"])
def test_the_answers_do_not_depend_on_the_hash_seed(command: str, here: Path) -> None:
    files = {**good(3), **BAD["a slash"][0], **UNLISTED, **two(MANIFEST)}
    write(
        {
            **files,
            MARKET: market(*(entry(n, f"./{n}", skills=["./../x"]) for n in "abc")),
        }
    )
    line = {
        "list": ("list", "lib", "--json"),
        "check": ("check", "lib"),
        "build": ("build", "dist", "lib", "--skip-bad", "--json"),
    }

    one, other = (
        run_process(*line[command], cwd=here, env={"PYTHONHASHSEED": seed})
        for seed in ("1", "2")
    )

    assert one.stdout == other.stdout != b""
    assert one.stderr == other.stderr
    assert b"Traceback" not in one.stderr
