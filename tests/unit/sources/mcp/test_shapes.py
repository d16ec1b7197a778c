"""A bad entry of a server is reported, and the others are used."""

import json
from collections.abc import Callable
from itertools import count
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS

from satchel import Satchel
from satchel.errors import (
    SkillManifestError,
    SkillNotFoundError,
    SourceUnavailableError as Unavailable,
)
from satchel.model import Finding, Limits
from satchel_server.mcp_source import _listing as enumerating
from satchel_server.mcp_source._entry import (
    EntryRefusedError,
    path_in,
    short_line,
    skill_root,
)
from tests.unit.sources.mcp.packs import REFUNDS, reading, skill_md
from tests.unit.sources.mcp.serving import FakeServer
from tests.unit.sources.scans import codes_of, findings_of, found_in

BAD_URIS = [
    ("skill://x/skill.md", "does not end in /SKILL.md"),
    ("skill://SKILL.md", "of the form"),
    ("x/SKILL.md", "of the form"),
    ("skill:///SKILL.md", "of the form"),
    ("skill://x//SKILL.md", "of the form"),
    ("skill://../x/SKILL.md", "part that is ."),
    ("skill://a/./x/SKILL.md", "part that is ."),
    ("skill://a/%2e%2e/x/SKILL.md", "encoded dot"),
    ("skill://a%2Fx/SKILL.md", "encoded dot"),
    ("skill://a%00/x/SKILL.md", "encoded dot"),
    ("skill://x%/SKILL.md", "encoded dot"),
    ("skill://x/SKILL.md?a=SKILL.md", "of the form"),
    ("skill://x#/SKILL.md", "of the form"),
    ("skill://x y/SKILL.md", "of the form"),
    ("skill://x\n/SKILL.md", "of the form"),
    ("skill://a\\x/SKILL.md", "of the form"),
    ("skill://" + "x" * 9_000 + "/SKILL.md", "more than 8,192"),
    (7, "not a text"),
    (None, "not a text"),
]


@pytest.mark.parametrize(("uri", "why"), BAD_URIS, ids=range(len(BAD_URIS)))
def test_a_uri_with_tricks_is_refused(uri: object, why: str) -> None:
    with pytest.raises(EntryRefusedError, match=why):
        skill_root(uri)


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("s://x/a.md", "a.md"),
        ("s://x/a%20b/%C3%BC.md", "a b/ü.md"),
        ("s://x/100%25.md", "100%.md"),
        ("s://x/%252e%252e/a", "%2e%2e/a"),  # no way out, and never listed
        ("s://x/@a:b.md", "@a:b.md"),
    ],
)
def test_a_path_is_decoded_once(uri: str, path: str) -> None:
    assert path_in("s://x", uri) == path


@pytest.mark.parametrize(
    "uri",
    ["s://y/a.md", "s://xy/a.md", "s://x", "s://x/", "s://x/%ff.md", "s://x/../y"],
)
def test_a_file_outside_of_the_folder_is_refused(uri: str) -> None:
    with pytest.raises(EntryRefusedError):
        path_in("s://x", uri)


def resources(*added: object) -> Callable[[dict[str, Any]], None]:
    return lambda entry: entry["resources"].extend(added)


A_DIGEST = f"sha256:{'a' * 64}"
BAD_ENTRIES = [
    (lambda e: e.pop("uri"), "not a text"),
    (lambda e: e.update(uri="skill://other/SKILL.md"), "its name is 'bad'"),
    (lambda e: e.update(frontmatter=[]), "not an object"),
    (lambda e: e["frontmatter"].pop("description"), "no description"),
    (lambda e: e["frontmatter"].update(description=" "), "no description"),
    (lambda e: e["frontmatter"].update(name=["bad"]), "no name"),
    (lambda e: e["frontmatter"].update(name="BAD"), "last part of its URI"),
    (lambda e: e.pop("resources"), "neither a list"),
    (lambda e: e.update(resources="Dynamic"), "neither a list"),
    (lambda e: e.update(resources={}), "neither a list"),
    (lambda e: e.update(resources=[]), "without SKILL.md"),
    (resources("skill://bad/a.md"), "not an object"),
    (resources({"uri": "skill://bad/a", "size": 1}), "'a' has no digest"),
    (resources({"uri": "skill://bad/a", "digest": "md5:1", "size": 1}), "no digest"),
    (
        resources({"uri": "skill://bad/a", "digest": A_DIGEST.upper(), "size": 1}),
        "no digest",
    ),
    (resources({"uri": "skill://bad/a", "digest": A_DIGEST}), "no size"),
    (resources({"uri": "skill://bad/a", "digest": A_DIGEST, "size": -1}), "no size"),
    (resources({"uri": "skill://bad/a", "digest": A_DIGEST, "size": True}), "no size"),
    (resources({"uri": "skill://good/a", "digest": A_DIGEST, "size": 1}), "own folder"),
    (
        resources(
            {"uri": "skill://bad/a", "digest": A_DIGEST, "size": 1},
            {"uri": "skill://bad/%61", "digest": A_DIGEST, "size": 1},
        ),
        "'a' twice",
    ),
]


@pytest.mark.parametrize(
    ("spoil", "why"), BAD_ENTRIES, ids=[str(n) for n in range(len(BAD_ENTRIES))]
)
def test_a_bad_entry_costs_the_others_nothing(
    spoil: Callable[[dict[str, Any]], None], why: str
) -> None:
    server = FakeServer({"bad": {"SKILL.md": skill_md("bad")}, "good": REFUNDS})
    server.entries[1] = FakeServer({"refunds": REFUNDS}).entries[0]
    spoil(server.entries[0])
    with reading(server) as source:
        assert found_in(source) == ["skill://refunds"]
        (finding,) = findings_of(source)

    assert finding.severity == "error"
    assert why in finding.message
    assert finding.path.startswith("docs: ")


def test_the_first_of_two_entries_of_one_uri_counts() -> None:
    """URIs may have any scheme, and an encoded name."""
    server = FakeServer({"refunds": REFUNDS})
    server.add("skill://refunds", {"SKILL.md": skill_md("refunds", "Another.")})
    server.add("github://owner/repo/skills/x", {"SKILL.md": skill_md("x")})
    server.add("skill://%C3%BC", {"SKILL.md": skill_md("ü")})
    with reading(server) as source:
        keys = ["github://owner/repo/skills/x", "skill://%C3%BC", "skill://refunds"]
        assert found_in(source) == keys
        assert source.manifest("skill://refunds").description == "Use for refunds."
        assert "an earlier one has its URI" in findings_of(source)[0].message


def test_many_bad_entries_are_reported_together() -> None:
    server = FakeServer({"refunds": REFUNDS})
    server.entries[:0] = [None, 7, "x", [], [[]]] * 30
    with reading(server) as source:
        assert found_in(source) == ["skill://refunds"]
        findings = findings_of(source)

    assert len(findings) == 101
    assert findings[0].path == "docs: page 1, entry 1"
    assert findings[-1].message == "50 more entries are not used"


def test_what_a_server_sends_moves_no_cursor_and_hides_nothing() -> None:
    server = FakeServer()
    server.entries += [{"uri": "\x1b[2J\u202eskill://x"}, {"uri": "x" * 500}]
    with reading(server) as source:
        first, second = (finding.path for finding in findings_of(source))

    assert first == "docs: [2Jskill://x"
    assert second == f"docs: {'x' * 120}..."
    assert short_line(7) == "int"


def test_names_are_cleaned_as_those_of_any_pack() -> None:
    """A profile's rules hold for what a server says, too, and so do our limits."""
    server = FakeServer({"Odd_Name": {"SKILL.md": skill_md("Odd_Name", "x " * 600)}})
    with reading(server) as source:
        with Satchel(source, profile="spec") as skills:
            codes = [finding.code for finding in skills.findings]
        assert codes == ["name-characters", "description-length"]
        assert len(skills.catalog) == 0
    with reading(server) as source, Satchel(source) as skills:
        assert [entry.id for entry in skills.catalog] == ["Odd_Name"]
    with (
        reading(server, limits=Limits(name_chars=7)) as source,
        pytest.raises(SkillManifestError, match="name_chars"),
    ):
        source.manifest("skill://Odd_Name")


@pytest.mark.parametrize(
    ("pages", "limits", "found"),
    [(3, Limits(), 3), (8, Limits(), 5), (9, Limits(scan_entries=6), 3)],
    ids=["within", "too many pages", "too many skills and files"],
)
def test_pages_are_followed_up_to_a_limit(
    pages: int, limits: Limits, found: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(enumerating, "MAX_PAGES", 5)
    with reading(paged(pages), limits=limits) as source:
        assert len(found_in(source)) == found
        assert codes_of(source) == ([] if found == pages else ["endless-listing"])


def paged(pages: int, following: Callable[[int], str] = str) -> FakeServer:
    """Return a server with one skill on each page; the cursor is the next one's."""
    server = FakeServer(
        {f"s{n}": {"SKILL.md": skill_md(f"s{n}")} for n in range(pages)}
    )

    def page(params: dict[str, Any]) -> dict[str, Any]:
        number = int((params["cursor"] or "0").split("-")[0])
        more = {"nextCursor": following(number + 1)} if number + 1 < pages else {}
        return {"skills": [server.entries[number]], **more}

    server.answers["skills/list"] = page
    return server


def test_pages_that_lead_back_end() -> None:
    server = paged(5, lambda n: str(n % 3))
    with reading(server) as source:
        assert len(found_in(source)) == 3
        (*_, finding) = findings_of(source)

    assert "leads back to an earlier one" in finding.message


@pytest.mark.row("F42")
def test_a_list_that_takes_long_is_used_as_it_comes() -> None:
    """Each look goes on where the one before had to stop, and the last has all."""
    server = paged(4)
    with reading(server) as source:
        source._now = count(0.0, 1e6).__next__
        for pages in (1, 2, 3):
            *packs, finding = source.scan()
            assert isinstance(finding, Finding)
            assert len(packs) == pages
            assert (finding.code, finding.severity) == ("partial-listing", "warning")
        assert len(source.scan()) == 4

    assert [method for method, _ in server.asked].count("skills/list") == 4


@pytest.mark.row("F42")
def test_a_list_that_breaks_off_keeps_what_came_before() -> None:
    server = paged(4)
    page = server.answers["skills/list"]

    def breaking(params: dict[str, Any]) -> dict[str, Any]:
        if params["cursor"] == "2":
            raise MCPError(-32603, "a bad day")
        return page(params)

    with reading(server) as source:
        assert len(found_in(source)) == 4
        server.answers["skills/list"] = breaking
        assert len(found_in(source)) == 4
        assert codes_of(source) == ["partial-listing"]

        # It has forgotten the cursor: the list is read from its beginning.
        server.entries[2:] = []
        server.answers["skills/list"] = lambda params: (
            breaking({"cursor": "2"})
            if params["cursor"]
            else {"skills": server.entries}
        )
        found_in(source)
        assert codes_of(source) == []


@pytest.mark.row("F42")
def test_pages_that_bring_nothing_new_end() -> None:
    server = FakeServer({"s": {"SKILL.md": skill_md("s")}})
    numbers = count()
    server.answers["skills/list"] = lambda _: {
        "skills": [],
        "nextCursor": str(next(numbers)),
    }
    with reading(server) as source:
        (finding,) = source.scan()

    assert isinstance(finding, Finding)
    assert finding.code == "endless-listing"
    assert next(numbers) == enumerating.MAX_PAGES_WITHOUT_NEW


@pytest.mark.row("F42")
def test_an_entry_of_the_older_index_costs_itself_alone() -> None:
    server = FakeServer({"s": {"SKILL.md": skill_md("s")}}, extension=False)
    good = {
        "type": "skill-md",
        "name": "s",
        "description": "d",
        "url": "skill://s/SKILL.md",
    }
    odd: list[object] = [[], {}, 1, None]
    mad = [{**good, key: value} for key in good for value in odd]
    server.files["skill://index.json"] = json.dumps({"skills": [*mad, good]})
    with reading(server) as source:
        assert found_in(source) == ["skill://s"]
        assert len(findings_of(source)) >= len(mad)


def refuse(_: object) -> dict[str, Any]:
    raise MCPError(INVALID_PARAMS, "this cursor\x1b[2J is no more")


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (lambda _: {}, "not a list"),
        (lambda _: {"skills": {}}, "not a list"),
        (lambda _: {"skills": [], "nextCursor": 7}, "invalid cursor"),
        (lambda _: {"skills": [], "nextCursor": "x" * 5_000}, "invalid cursor"),
        (lambda _: {"skills": [], "resultType": "input_required"}, "for more input"),
        (refuse, r"not list its skills: this cursor\[2J is no more"),
    ],
    ids=range(6),
)
def test_an_invalid_list(answer: Callable[[object], dict[str, Any]], why: str) -> None:
    server = FakeServer()
    server.answers["skills/list"] = answer
    with reading(server) as source, pytest.raises(Unavailable, match=why):
        source.scan()


@pytest.mark.parametrize(
    ("ttl", "asked"),
    [
        *((None, 3), (0, 3), (-5, 3), (True, 3), ("9", 3)),
        *((1_000, 2), (10**12, 1), (10**400, 1)),
    ],
    ids=lambda value: str(value)[:20],
)
def test_the_server_is_not_asked_again_while_its_answer_holds(
    ttl: object, asked: int
) -> None:
    """Scans at 0, 0.5 and 299 seconds; an answer holds at most five minutes."""
    server = FakeServer({"refunds": REFUNDS})
    answer = {"skills": server.entries, "ttlMs": ttl}
    server.answers["skills/list"] = lambda _: answer
    now = 0.0
    with reading(server) as source:
        source._now = lambda: now
        for now in (0.0, 0.5, 299.0):  # noqa: B007 - read by the clock
            source.scan()
        assert len(server.asked) == asked
        now = 300.0
        source.scan()

    assert len(server.asked) > 1


def test_an_unknown_key_is_not_found_without_a_scan_before() -> None:
    server = FakeServer({"refunds": REFUNDS})
    with reading(server) as source:
        assert len(source.files("skill://refunds")) == 3
        with pytest.raises(SkillNotFoundError):
            source.manifest("skill://other")
        server.answers["resources/read"] = lambda _: {"contents": [{"uri": 7}]}
        with pytest.raises(Unavailable):
            source.read("skill://refunds", "SKILL.md", 1_000)
    assert repr(source) == "McpSource(label='docs')"
