"""Who answers for a skill."""

import os
from pathlib import Path

import pytest

from satchel import Satchel
from satchel.model import Descriptor, Origin
from satchel.sources import LocalSource
from satchel.usage import ListSink, OwnerLookup
from satchel.usage._owners import owner_by, parse_codeowners
from tests.fakes import FakeSource, pack

# The example of GitHub's documentation, without its comments.
EXAMPLE = """\
*       @global-owner1 @global-owner2
*.js    @js-owner #This is an inline comment.
*.go docs@example.com
*.txt @octo-org/octocats
/build/logs/ @doctocat
docs/*  docs@example.com
apps/ @octocat
/docs/ @doctocat
/scripts/ @doctocat @octocat
**/logs @octocat
/apps/ @octocat
/apps/github
"""


@pytest.mark.parametrize(
    ("path", "owner"),
    [
        ("any", "@global-owner1 @global-owner2"),
        ("deep/down/any", "@global-owner1 @global-owner2"),
        ("deep/a.js", "@js-owner"),
        ("a.go", "docs@example.com"),
        ("build/logs/x", "@octocat"),
        ("deep/logs/down/x", "@octocat"),
        ("docs/getting-started.md", "@doctocat"),
        ("docs/build-app/troubleshooting.md", "@doctocat"),
        ("x/docs/a.md", "@global-owner1 @global-owner2"),
        ("scripts/a/b.sh", "@doctocat @octocat"),
        ("apps/a", "@octocat"),
        ("deep/apps/a", "@octocat"),
        ("apps/github/a", ""),
    ],
)
def test_the_last_rule_that_fits_counts(path: str, owner: str) -> None:
    assert owner_by(parse_codeowners(EXAMPLE), path) == owner


@pytest.mark.parametrize(
    ("pattern", "fits", "others"),
    [
        ("docs/*", ["docs/a"], ["docs/a/b", "x/docs/a"]),
        ("/*", ["a"], ["a/b"]),
        ("/a/**/z", ["a/z", "a/b/c/z", "a/b/z/SKILL.md"], ["z", "b/a/z"]),
        ("a/**/b/**/c", ["a/b/c", "a/1/b/2/3/c/x"], ["a/c/b", "x/a/b/c"]),
        ("**", ["a", "a/b"], []),
        ("a/**", ["a/b", "a/b/c"], ["a"]),
        ("a b", [], ["a b"]),
        (r"a\ b", ["a b", "a b/c"], ["a"]),
        ("a?c", ["abc", "x/abc"], ["ac", "a/c"]),
        ("*.md", ["a.md", "x/a.md", "a.md/b"], ["a.mdx"]),
        ("# a", [], ["a", "# a"]),
        ("!a", [], ["a", "!a"]),
        ("[ab]", [], ["a", "[ab]"]),
        ("a***", [], ["a", "ab"]),
        ("/", [], ["a"]),
        ("//a", [], ["a"]),
        ("\ufeff", [], ["a"]),
    ],
)
def test_patterns(pattern: str, fits: list[str], others: list[str]) -> None:
    rules = parse_codeowners(f"{pattern} @x\n")

    assert [path for path in fits if owner_by(rules, path) != "@x"] == []
    assert [path for path in others if "@x" in owner_by(rules, path).split()] == []


def test_no_pattern_takes_forever() -> None:
    """As with the usual translation to an expression that tries every split."""
    rules = parse_codeowners("a*" * 60 + "b @x\n" + "**/a/" * 60 + "b @y\n")

    assert owner_by(rules, "a" * 200) == ""
    assert owner_by(rules, "a/" * 200 + "c") == ""


def local(
    home: Path, codeowners: str = "", place: str = ".github/CODEOWNERS"
) -> LocalSource:
    """Return a source of a pack ``team/deploy`` in a repository."""
    folder = home / "skills/team/deploy"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(pack("deploy"))
    (home / ".git").mkdir()
    if codeowners:
        (home / place).parent.mkdir(parents=True, exist_ok=True)
        (home / place).write_text(codeowners)
    return LocalSource(home / "skills", label="team")


def entry(owner: str = "", key: str = "team/deploy") -> Descriptor:
    return Descriptor("deploy", "d", origins=(Origin("team", key, key),), owner=owner)


def owner_of(source: LocalSource, key: str = "team/deploy") -> str:
    return OwnerLookup(lambda: {"team": source}).of(entry(key=key))


@pytest.mark.parametrize(
    "place", [".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS"]
)
def test_codeowners_of_the_repository(place: str, tmp_path: Path) -> None:
    source = local(tmp_path, "* @all\n/skills/team/ @org/team a@b.c\n", place)

    assert owner_of(source) == "@org/team a@b.c"


def test_the_first_file_that_is_there_counts(tmp_path: Path) -> None:
    """Without a repository it is the nearest one."""
    source = local(tmp_path, "* @first\n")
    (tmp_path / "CODEOWNERS").write_text("* @second\n")
    (tmp_path / "skills/CODEOWNERS").write_text("* @inner\n")
    in_repository = owner_of(source)
    (tmp_path / ".git").rmdir()

    assert (in_repository, owner_of(source)) == ("@first", "@inner")


def test_a_root_that_is_the_pack(tmp_path: Path) -> None:
    local(tmp_path, "/skills/team/deploy/SKILL.md @one\n")
    source = LocalSource(tmp_path / "skills/team/deploy", label="team")

    assert owner_of(source, "deploy") == "@one"


@pytest.mark.skipif(os.name == "nt", reason="links need a right there")
def test_a_linked_pack_belongs_to_where_it_is(tmp_path: Path) -> None:
    local(tmp_path / "theirs", "* @theirs\n")
    source = local(tmp_path / "ours", "* @ours\n")
    (tmp_path / "ours/skills/linked").symlink_to(tmp_path / "theirs/skills/team/deploy")

    assert owner_of(source, "linked") == "@theirs"


def test_the_source_goes_first_then_the_manifest(tmp_path: Path) -> None:
    class Knowing(LocalSource):
        answer: object = "@source"

        def owner_of(self, key: str) -> object:
            assert key == "team/deploy"
            if isinstance(self.answer, Exception):
                raise self.answer
            return self.answer

    local(tmp_path, "* @all\n")
    source = Knowing(tmp_path / "skills", label="team")
    results = []
    for answer in ("@source", "", 7, OSError("away")):
        source.answer = answer
        owners = OwnerLookup(lambda: {"team": source})
        results.append((owners.of(entry("@manifest")), owners.of(entry())))

    assert results == [
        ("@source", "@source"),
        ("@manifest", "@all"),
        ("@manifest", "@all"),
        ("@manifest", ""),
    ]


def test_nobody_says(tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    for source in (local(tmp_path / "x"), FakeSource("team", {}), None):
        sources = {} if source is None else {"team": source}
        assert OwnerLookup(lambda s=sources: s).of(entry()) == ""  # type: ignore[misc]
    assert OwnerLookup(dict).of(Descriptor("a", "d", owner="@x")) == "@x"


def test_an_owner_is_one_short_line_whatever_was_written(tmp_path: Path) -> None:
    owner = owner_of(local(tmp_path, "* @a\x1b[31m" + "\u202ex" * 300))

    assert owner.isprintable()
    assert len(owner) <= 200


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no FIFO")
def test_a_codeowners_that_is_no_file_is_passed_by(tmp_path: Path) -> None:
    source = local(tmp_path)
    (tmp_path / ".github").mkdir()
    os.mkfifo(tmp_path / ".github/CODEOWNERS")
    (tmp_path / "CODEOWNERS").symlink_to("/etc/passwd")
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/CODEOWNERS").write_text("* @docs\n")

    assert owner_of(source) == "@docs"


def test_a_sync_looks_again(tmp_path: Path) -> None:
    """What was found stays until then."""
    local(tmp_path, "* @old\n")
    sink = ListSink()
    skills = Satchel(tmp_path / "skills", sinks=[sink])
    skills.load("deploy")
    (tmp_path / ".github/CODEOWNERS").write_text("* @new\n")
    skills.load("deploy")
    skills.sync()
    skills.load("deploy")

    assert [event.owner for event in sink.events] == ["@old", "@old", "@new"]
    owners = [sync.owners for sync in sink.syncs]
    assert owners == [{"deploy": "@old"}, {"deploy": "@new"}]
