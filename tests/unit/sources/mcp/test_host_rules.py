"""The rules that the Skills extension sets for a host, one by one."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.client import Client
from mcp_types import Prompt
from starlette.testclient import TestClient

from satchel import Options, Satchel, sources
from satchel.catalog._packs import TOOL_KEYS
from satchel.cli._inventory import take_inventory
from satchel.errors import (
    DigestMismatchError,
    DuplicateSkillError,
    LimitExceededError,
    NotStagedError,
    ReferenceEscapesError,
    ReferenceNotAllowedError,
    ReferenceNotFoundError,
    SkillError,
    SkillNotFoundError,
    SourceUnavailableError,
)
from satchel.model import Limits, OnConflict, Style
from satchel.runtime import UploadStager
from satchel.runtime._staging import stage_files
from satchel_server import ServedLibrary, build_server, create_app
from satchel_server.mcp_source._source import OPENING_KEYS
from tests.unit.sources.mcp.packs import REFUNDS, reading, skill_md
from tests.unit.sources.mcp.serving import FakeServer, digest
from tests.unit.sources.scans import codes_of, findings_of, found_in

KEY = "skill://acme/refunds"
MD = f"{KEY}/SKILL.md"
RULES = f"{KEY}/references/rules.md"


@pytest.fixture
def server() -> FakeServer:
    return FakeServer({"acme/refunds": REFUNDS})


@pytest.fixture
def dynamic(server: FakeServer) -> FakeServer:
    """The server, without digests for its one skill."""
    server.entries[0]["resources"] = "dynamic"
    return server


def test_nothing_is_read_before_a_skill_is_loaded(server: FakeServer) -> None:
    """Not on connection, on listing, on a sync, in a prompt, a search or a digest."""
    server.add("skill://x", {"SKILL.md": skill_md("x")})["resources"] = "dynamic"
    with reading(server) as source, Satchel(source) as skills:
        skills.prompt()
        skills.find("refunds")
        skills.sync()
        skills.registry.digest(skills.registry.descriptor("refunds"))
        skills.resources("refunds")
        listed: Any = take_inventory(skills).as_json(skills)["skills"]
        assert [bool(skill["digest"]) for skill in listed] == [True, False]
        assert server.reads == []

        skills.load("refunds")
        assert server.reads == [MD]

        skills.load("refunds", "rules.md")
        assert server.reads == [MD, RULES]


def test_served_on_it_is_not_read_before_it_is_loaded(server: FakeServer) -> None:
    """Nor offered as one's own: by tools and prompts alone, with its origin."""
    with reading(server) as source, Satchel(source) as skills:
        library = ServedLibrary(skills)
        with TestClient(create_app(library), base_url="http://127.0.0.1") as client:
            index = client.get("/.well-known/agent-skills/index.json").json()
            listed = client.get("/v1/catalog").json()
        with reading(build_server(library), label="relay") as relay:
            assert found_in(relay) == []

        async def prompts() -> list[Prompt]:
            async with Client(build_server(library)) as asking:
                return (await asking.list_prompts()).prompts

        (prompt,) = anyio.run(prompts)

    assert index["skills"] == []
    assert "[MCP server docs]" in str(listed)
    assert "[MCP server docs]" in str(prompt.description)
    assert server.reads == []


@pytest.mark.parametrize(
    ("path", "answer", "says"),
    [
        ("SKILL.md", skill_md("refunds", "Use for refunde."), r"sha256:.* announced"),
        ("references/rules.md", b"Ask \xc3\xa9 first.\r\nmore", "15 .* announced, 19"),
        # A server that reads files as text loses a CR: that is another file.
        ("references/rules.md", b"Ask \xc3\xa9 first.\n", "15 .* announced, 14 came"),
        ("SKILL.md", [], "exactly"),
        ("SKILL.md", [{"text": "a"}, {"text": "b"}], "exactly"),
        (
            "SKILL.md",
            [{"uri": "skill://a", "text": "a"}, {"uri": "skill://b", "text": "b"}],
            "exactly",
        ),
        ("SKILL.md", [{"blob": "no base64!"}], "exactly"),
        ("SKILL.md", [{"blob": "YQ"}], "exactly"),
    ],
    ids=[
        *("other bytes", "more", "without a CR", "none", "two", "others"),
        *("no base64", "no padding"),
    ],
)
def test_each_read_is_verified(
    server: FakeServer, path: str, answer: bytes | list[dict[str, str]], says: str
) -> None:
    """A right answer is no reason to trust the next one."""
    with reading(server) as source:
        assert source.read(KEY, path, 1_000) == REFUNDS[path]
        if isinstance(answer, bytes):
            server.files[f"{KEY}/{path}"] = answer
        else:
            contents = [{"uri": MD} | content for content in answer]
            server.answers["resources/read"] = lambda _: {"contents": contents}
        with pytest.raises(DigestMismatchError, match=says):
            source.read(KEY, path, 1_000)


@pytest.mark.parametrize(
    ("more", "listed", "field"),
    [
        ("license: MIT\n", {"license": "BSD"}, "license"),
        ("license: MIT\n", {"license": None}, "license"),
        ("", {"allowed-tools": "Bash"}, "allowed-tools"),
        ("flag: yes\n", {"flag": True}, "flag"),
        ("flag: true\n", {"flag": 1}, "flag"),
        ("mode: 012\n", {"mode": 10}, "mode"),
        ("metadata:\n  a: {b: x}\n", {"metadata": {"a": {"b": "y"}}}, "metadata.a.b"),
        ("tags: [a, true]\n", {"tags": ["a", 1]}, "tags"),
        ("tags: [a]\n", {"tags": ["a", "b"]}, "tags"),
        ("tags: [{a: 1}]\n", {"tags": [{"a": True}]}, "tags"),
        ("metadata: {a: x}\n", {"metadata": "a: x"}, "metadata"),
    ],
)
def test_frontmatter_is_compared_field_by_field(
    more: str, listed: dict[str, Any], field: str
) -> None:
    """Digest and size are right; what the catalog showed is not what the file says."""
    server = FakeServer()
    entry = server.add("skill://x", {"SKILL.md": skill_md("x", more=more)})
    entry["frontmatter"] |= listed
    with reading(server) as source, pytest.raises(DigestMismatchError) as caught:
        source.read("skill://x", "SKILL.md", 1_000)

    assert f"the field {field!r} of its frontmatter" in str(caught.value)


def test_numbers_are_equal_as_json_compares_them(server: FakeServer) -> None:
    data = skill_md("x", more="a: 1.0\nb: [1, null, {c: 2}]\nd: 'é'\n")
    entry = server.add("skill://x", {"SKILL.md": data})
    entry["frontmatter"]["a"] = 1
    several = [{"uri": "skill://other", "text": "x"}, {"uri": MD}]
    with reading(server) as source:
        assert source.read("skill://x", "SKILL.md", 1_000) == data

        # Of several contents the one that was asked for counts.
        several[1]["text"] = REFUNDS["SKILL.md"].decode()
        server.answers["resources/read"] = lambda _: {"contents": several}
        assert source.read(KEY, "SKILL.md", 1_000) == REFUNDS["SKILL.md"]


def test_a_skill_md_without_frontmatter_is_refused(server: FakeServer) -> None:
    bad = b"no frontmatter"
    server.files[MD] = bad
    own = server.entries[0]["resources"][0]
    own |= {"digest": digest(bad), "size": len(bad)}
    with reading(server) as source, pytest.raises(DigestMismatchError, match="be read"):
        source.read(KEY, "SKILL.md", 1_000)


def test_after_a_mismatch_nothing_more_is_read_before_the_next_look(
    server: FakeServer,
) -> None:
    """That look asks the server, however long its list was to hold."""
    answer = {"skills": server.entries, "ttlMs": 200_000}
    server.answers["skills/list"] = lambda _: answer
    good = server.files[MD]
    server.files[MD] = b"evil"
    with reading(server) as source:
        with pytest.raises(DigestMismatchError):
            source.read(KEY, "SKILL.md", 1_000)
        asked = len(server.asked)
        with pytest.raises(DigestMismatchError, match=r"another SKILL\.md than"):
            source.read(KEY, "references/rules.md", 1_000)
        assert len(server.asked) == asked

        server.files[MD] = good
        source.scan()
        assert source.read(KEY, "SKILL.md", 1_000) == good


def test_a_file_that_is_not_listed_is_not_asked_for(server: FakeServer) -> None:
    server.files[f"{KEY}/new.md"] = b"here all the same"
    with reading(server) as source, Satchel(source) as skills:
        with pytest.raises(ReferenceNotAllowedError):
            skills.load("refunds", "new.md")
        with pytest.raises(ReferenceNotFoundError):
            source.read(KEY, "new.md", 1_000)
        with pytest.raises(ReferenceEscapesError):
            source.read(KEY, "../other/SKILL.md", 1_000)

    assert server.reads == []


def test_a_changed_set_is_seen_at_the_next_sync_alone(server: FakeServer) -> None:
    """Until then the entry that was listed is held: the newer file is no part of it."""
    with reading(server) as source, Satchel(source) as skills:
        skills.load("refunds")
        server.entries.clear()
        server.add(KEY, {**REFUNDS, "references/rules.md": b"new rules"})
        with pytest.raises(DigestMismatchError):
            skills.load("refunds", "rules.md")

        skills.sync()

        assert skills.load("refunds", "rules.md").text == "new rules"


def test_a_skill_within_a_skill_is_no_file_of_it() -> None:
    """It is a skill of its own, to be chosen by its own name."""
    inner = skill_md("inner")
    outer = {**REFUNDS, "inner/SKILL.md": inner, "inner/notes.md": b"notes"}
    server = FakeServer({"refunds": outer, "refunds/inner": {"SKILL.md": inner}})
    with reading(server) as source, Satchel(source) as skills:
        paths = [file.path for file in source.files("skill://refunds")]
        assert "inner/notes.md" in paths
        assert "inner/SKILL.md" not in paths
        with pytest.raises(ReferenceNotAllowedError):
            skills.load("refunds", "inner/SKILL.md")
        assert server.reads == []
        assert skills.load("inner").data == inner
        codes = codes_of(source)

    assert codes == ["nested-skill"]


def test_a_change_of_the_inner_skill_changes_the_outer_ones_set() -> None:
    def stamp(inner: bytes) -> object:
        files = {**REFUNDS, "inner/SKILL.md": inner}
        with reading(FakeServer({"refunds": files})) as source:
            return next(iter(source.scan())).stamp  # type: ignore[union-attr]

    assert stamp(skill_md("inner")) != stamp(skill_md("inner", "Another."))


def two_servers() -> list[FakeServer]:
    return [FakeServer({"x": {"SKILL.md": skill_md("x", f"Of {n}.")}}) for n in "12"]


def test_a_skill_is_known_by_server_and_uri() -> None:
    """Two servers with one URI: each is asked only for its own."""
    one, two = two_servers()
    with (
        reading(one, label="one") as first,
        reading(two, label="two") as second,
        Satchel(first, sources.prefixed(second, "two-")) as skills,
    ):
        assert {(e.id, e.source, e.origin.key) for e in skills.catalog} == {
            ("x", "one", "skill://x"),
            ("two-x", "two", "skill://x"),
        }
        assert b"Of 2." in skills.load("two-x").data
        assert (one.reads, two.reads) == ([], ["skill://x/SKILL.md"])


def test_the_label_is_the_hosts_own(server: FakeServer) -> None:
    """What the server says it is called tells nothing."""
    with reading(server, label=None) as source:
        assert source.label == "mcp"
    with reading(server, label="a\x1b[2J\u202e\nb") as source:
        assert source.label == "a[2J b"


def test_two_servers_of_one_name_are_a_conflict_that_names_both() -> None:
    one, two = two_servers()
    with (
        reading(one, label="one") as first,
        reading(two, label="two") as second,
        Satchel(first, second) as skills,
        pytest.raises(DuplicateSkillError, match=r"one: skill://x.*two: skill://x"),
    ):
        skills.load("x")


def test_two_skills_of_one_name_on_one_server_go_by_their_paths() -> None:
    server = FakeServer(
        {
            "billing/refunds": REFUNDS,
            "support/refunds": {"SKILL.md": skill_md("refunds", "For support.")},
        }
    )
    with reading(server) as source, Satchel(source) as skills:
        ids = [entry.id for entry in skills.catalog]
        assert ids == ["billing/refunds", "support/refunds"]
        assert b"For support." in skills.load("support/refunds").data
        assert [f.code for f in skills.findings] == ["shared-name"] * 2

        server.entries.pop()
        skills.sync()

        assert [entry.id for entry in skills.catalog] == ["refunds"]


def put_local(folder: Path, name: str, data: bytes = b"") -> None:
    (folder / name).mkdir()
    (folder / name / "SKILL.md").write_bytes(data or skill_md(name, "Local."))


@pytest.mark.parametrize("broken", [False, True], ids=["whole", "broken"])
@pytest.mark.parametrize("order", ["error", "precedence"])
@pytest.mark.parametrize("first", [True, False], ids=["server-first", "server-last"])
def test_a_local_skill_is_never_shadowed(
    server: FakeServer, tmp_path: Path, order: OnConflict, first: bool, broken: bool
) -> None:
    """Whatever the order of sources, and whatever was chosen for conflicts.

    A broken file must not give its name to a skill of another publisher either.
    """
    put_local(tmp_path, "refunds", b"no frontmatter" if broken else b"")
    with reading(server) as source:
        given = (source, tmp_path) if first else (tmp_path, source)
        with Satchel(*given, options=Options(on_conflict=order)) as skills:
            excluded = {w.descriptor.source: w for w in skills.catalog.excluded}
            assert excluded.pop("docs").reason == "shadowed"
            assert "MCP server" not in str(skills.prompt())
            if broken:
                assert excluded.pop(str(tmp_path)).reason == "refused"
                with pytest.raises(SkillError):
                    skills.load("refunds")
            else:
                assert b"Local." in skills.load("refunds").data
                (conflict,) = skills.catalog.conflicts
                owners = [owner.source for owner in conflict.owners]
                assert owners == [str(tmp_path), "docs"]
                assert conflict.preferred is not None
                assert conflict.preferred.source == str(tmp_path)
            assert excluded == {}

    assert server.reads == []


@pytest.mark.parametrize("kind", ["prefixed", "renamed", "cached", "only", "twice"])
def test_no_wrapper_lets_it_shadow(
    server: FakeServer, tmp_path: Path, kind: str
) -> None:
    """Whatever id it is given, that of a local skill is taken."""
    put_local(tmp_path, "x-refunds")
    put_local(tmp_path, "refunds")
    with reading(server) as inner:
        source = {
            "prefixed": lambda: sources.prefixed(inner, "x-"),
            "renamed": lambda: sources.renamed(inner, {"refunds": "x-refunds"}),
            "cached": lambda: sources.cached(inner, 60.0),
            "only": lambda: sources.only(inner, ["refunds"]),
            "twice": lambda: sources.cached(sources.prefixed(inner, "x-"), 60.0),
        }[kind]()
        with Satchel(
            source, tmp_path, options=Options(on_conflict="precedence")
        ) as skills:
            assert {entry.source for entry in skills.catalog} == {str(tmp_path)}
            assert "MCP server" not in str(skills.prompt())
            (excluded,) = skills.catalog.excluded
            assert (excluded.reason, excluded.descriptor.source) == ("shadowed", "docs")

    assert server.reads == []


def test_equal_bytes_do_not_make_it_local(server: FakeServer, tmp_path: Path) -> None:
    for path, data in REFUNDS.items():
        place = tmp_path / "refunds" / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
    with reading(server) as source, Satchel(tmp_path, source) as skills:
        (entry,) = skills.catalog

        assert [origin.source for origin in entry.origins] == [str(tmp_path)]
        assert [excluded.reason for excluded in skills.catalog.excluded] == ["shadowed"]


def test_its_origin_is_shown_wherever_it_enters_a_context(server: FakeServer) -> None:
    """Two servers of one label get two labels."""
    other = FakeServer({"x": {"SKILL.md": skill_md("x")}})
    with (
        reading(server) as source,
        reading(other) as second,
        Satchel(source, second) as skills,
    ):
        assert "[MCP server docs] Use for refunds." in str(skills.prompt())
        assert "[MCP server docs#2] Use it." in str(skills.prompt())
        text = f"This is from the MCP server 'docs' ({KEY})."
        assert text in skills.load("refunds").notes
        assert text in skills.load("refunds", "rules.md").notes
        assert "'docs#2'" in skills.load("x").notes[0]


@pytest.mark.parametrize(
    ("style", "tool", "arguments"),
    [
        ("packs", "load_skill", {}),
        ("packs", "load_skill", {"reference": "rules.md"}),
        ("packs", "load_skill", {"script": "run.py"}),
        ("agent-skills", "load_skill", {}),
        ("agent-skills", "read_skill_file", {"path": "references/rules.md"}),
        ("references", "list_skills", None),
        ("references", "search_skills", {"query": "refunds"}),
        ("references", "load_skill_instructions", {}),
        ("references", "load_skill_instructions", {"reference": "rules.md"}),
    ],
    ids=str,
)
def test_its_origin_is_shown_in_every_result(
    server: FakeServer, style: Style, tool: str, arguments: dict[str, str] | None
) -> None:
    """Also in one that would else be the mere text of a file."""
    names = {"packs": "name", "agent-skills": "skill_id", "references": "skill_name"}
    given = dict(arguments or {})
    if arguments is not None and "query" not in given:
        given[names[style]] = "refunds"
    with reading(server) as source, Satchel(source, style=style) as skills:
        assert "MCP server" in str(skills.session().call(tool, given))


ASKS = skill_md(
    "refunds",
    more="allowed-tools: Bash(rm *) Read\nhooks: {load: rm}\nmetadata: {tools: pay}\n",
)


@dataclass
class Asked:
    """The tools that a skill got, and the fixes of its findings."""

    allowed: tuple[str, ...]
    tools: tuple[str, ...]
    fixes: list[str]


def asking(approved: Mapping[str, str] | None, files: Mapping[str, bytes]) -> Asked:
    server = FakeServer({"refunds": files})
    with reading(server, allowed_tools=approved) as source, Satchel(source) as skills:
        entry = skills.registry.descriptor("refunds")
        findings = [f for f in skills.findings if f.code == "tools-not-granted"]
        assert skills.manifest("refunds").allowed_tools == entry.allowed_tools
        return Asked(entry.allowed_tools, entry.tools, [f.fix for f in findings])


def test_an_approval_binds_to_the_whole_set() -> None:
    files = {"SKILL.md": ASKS, "references/a.md": b"a"}
    refused = asking(None, files)
    assert (refused.allowed, refused.tools) == ((), ())
    (fix,) = refused.fixes
    uri = "skill://refunds/SKILL.md"
    approved = {uri: fix.partition(uri)[2].split('"')[2]}

    assert asking(approved, files) == Asked(("Bash(rm *)", "Read"), ("pay",), [])
    # Any other file, an added one, and another server's path take it back.
    for changed in ({**files, "references/a.md": b"b"}, {**files, "more.md": b""}):
        given = asking(approved, changed)
        assert (given.allowed, given.tools) == ((), ())
        assert given.fixes


def test_a_dynamic_skill_cannot_be_approved() -> None:
    server = FakeServer({"refunds": {"SKILL.md": ASKS}})
    server.entries[0]["resources"] = "dynamic"
    approved = {"skill://refunds/SKILL.md": ""}
    with reading(server, allowed_tools=approved) as source, Satchel(source) as skills:
        assert skills.registry.descriptor("refunds").tools == ()
        findings = [f for f in skills.findings if f.code == "tools-not-granted"]
        assert "without a digest it cannot be approved" in findings[0].fix


def test_every_key_that_opens_tools_is_known() -> None:
    """A source cannot ask the catalog; the two lists have to stay equal."""
    assert OPENING_KEYS == TOOL_KEYS


def test_a_dynamic_skill_is_marked_and_has_one_file(dynamic: FakeServer) -> None:
    with reading(dynamic) as source, Satchel(source) as skills:
        assert skills.load("refunds").data == REFUNDS["SKILL.md"]
        assert any("whether it changed" in n for n in skills.load("refunds").notes)
        assert [f.code for f in skills.findings] == ["unverified-skill"]
        with pytest.raises(ReferenceNotAllowedError):
            skills.load("refunds", "rules.md")
        digests = [resource.digest for resource in skills.resources("refunds")]
        assert digests == [digest(REFUNDS["SKILL.md"])]

        with pytest.raises(LimitExceededError):
            source.read(KEY, "SKILL.md", 10)
        dynamic.files[MD] = skill_md("refunds", "Something else.")
        with pytest.raises(DigestMismatchError, match="desc"):
            source.read(KEY, "SKILL.md", 1_000)


def test_two_dynamic_skills_are_not_one() -> None:
    """Without a digest nothing tells that they are equal."""
    one, two = two_servers()
    for server in (one, two):
        server.entries[0]["resources"] = "dynamic"
    with (
        reading(one, label="one") as first,
        reading(two, label="two") as second,
        Satchel(first, second, options=Options(on_conflict="precedence")) as skills,
    ):
        assert [excluded.reason for excluded in skills.catalog.excluded] == ["shadowed"]
    assert one.reads == two.reads == []


def pack_of(count: int, size: int = 0) -> dict[str, bytes]:
    return {"SKILL.md": skill_md("x"), **{f"{n}.md": b"x" * size for n in range(count)}}


def test_the_largest_skill_of_the_extension_is_taken() -> None:
    server = FakeServer({"x": pack_of(511)})
    resources = server.entries[0]["resources"]
    resources[1]["size"] = 16 * 1024 * 1024 - resources[0]["size"]
    with reading(server) as source:
        assert len(source.files("skill://x")) == 512


@pytest.mark.parametrize(
    ("change", "limits", "text"),
    [
        (lambda e: e["resources"].append(dict(e["resources"][1])), Limits(), "512"),
        (lambda e: e["resources"][1].update(size=1 << 24), Limits(), "16,777,216"),
        (lambda _: None, Limits(pack_files=5), "pack_files = 5"),
        (lambda e: e["resources"][1].update(size=99), Limits(pack_bytes=90), "= 90"),
        (lambda _: None, Limits(skill_md_bytes=10), "skill_md_bytes = 10"),
        (lambda _: None, Limits(frontmatter_bytes=9), "frontmatter_bytes = 9"),
        (
            lambda e: e["frontmatter"].update(a="\u00fc" * 600),
            Limits(frontmatter_bytes=1_000),
            "frontmatter_bytes = 1,000",
        ),
        (
            lambda e: e["frontmatter"].update(a=[[[]]]),
            Limits(yaml_depth=2),
            "depth = 2",
        ),
        (lambda e: e["frontmatter"].update(a=[1] * 99), Limits(yaml_nodes=50), "= 50"),
    ],
)
def test_a_skill_over_a_limit_is_refused_and_reported(
    change: Callable[[dict[str, Any]], None], limits: Limits, text: str
) -> None:
    server = FakeServer({"x": pack_of(511), "y": {"SKILL.md": skill_md("y")}})
    change(server.entries[0])
    with reading(server, limits=limits) as source:
        (finding, *_) = findings_of(source)

    assert finding.code == "limit-exceeded"
    assert text in finding.message
    assert "skill://x" in finding.path


def test_a_skill_deeper_than_our_limit_is_reported() -> None:
    server = FakeServer({"x": {"SKILL.md": skill_md("x"), "a/b/c.md": b""}})
    with reading(server, limits=Limits(pack_depth=1)) as source:
        assert found_in(source) == []
        assert "pack_depth" in findings_of(source)[0].message


def test_a_file_over_the_limit_of_a_read_is_not_asked_for(server: FakeServer) -> None:
    with reading(server) as source, pytest.raises(LimitExceededError) as caught:
        source.read(KEY, "references/rules.md", 13)

    assert (caught.value.limit, caught.value.actual) == ("file_bytes", 15)
    assert server.reads == []


def test_its_files_are_never_copied_to_where_tools_see_them(server: FakeServer) -> None:
    """There is no cache on disk, and no other way onto it."""
    stager = UploadStager(lambda name, _: f"/{name}")
    with reading(server) as source, Satchel(source) as skills:
        entry = skills.registry.descriptor("refunds")
        with pytest.raises(NotStagedError, match="MCP server 'docs'"):
            stage_files(stager, lambda r: skills.load(r.id, r.file), entry)

    assert server.reads == []


def test_a_skill_is_found_by_its_uri_alone(server: FakeServer) -> None:
    """An empty list does not mean that there are none."""
    with reading(server, also=[MD]) as source:
        assert found_in(source) == [KEY]
    assert ("skills/get", MD) not in server.asked

    server.answers["skills/list"] = lambda _: {"skills": []}
    also = [MD, f"{KEY}/no/SKILL.md"]
    with reading(server, also=also) as source:
        assert found_in(source) == [KEY]
        (finding,) = findings_of(source)
        assert (finding.code, finding.path) == ("skill-not-found", f"docs: {also[1]}")
        assert source.read(KEY, "SKILL.md", 1_000) == REFUNDS["SKILL.md"]

    server.answers["skills/get"] = lambda _: {"skill": server.entries[0]}
    with reading(server, also=["skill://other/SKILL.md"]) as source:
        assert found_in(source) == []
        assert "answered with another" in findings_of(source)[0].message


@pytest.mark.parametrize(
    ("path", "error"),
    [("SKILL.md", SkillNotFoundError), ("scripts/run.py", ReferenceNotFoundError)],
)
def test_what_the_server_no_longer_serves(
    server: FakeServer, path: str, error: type[SkillError]
) -> None:
    server.files.clear()
    with reading(server) as source:
        source.scan()
        with pytest.raises(error):
            source.read(KEY, path, 1_000)


def test_an_outage_leaves_the_last_answer_in_use(server: FakeServer) -> None:
    with reading(server) as source, Satchel(source) as skills:
        assert "refunds" in skills.catalog
        server.answers["skills/list"] = lambda _: {"skills": "none"}
        skills.sync()

        assert "refunds" in skills.catalog
        assert "its list of skills is not a list" in skills.health().problems[0]
        with pytest.raises(SourceUnavailableError):
            source.scan()
