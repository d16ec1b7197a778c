"""Skills of a site: fetched once, verified always, kept when their site fails."""

import gzip
import json
import logging
import subprocess
import sys
from collections import UserDict
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from itertools import count
from pathlib import Path

import pytest

from satchel import Limits, Satchel, sources
from satchel.cli._inventory import take_inventory
from satchel.errors import (
    ChangedSinceSyncError,
    ConfigError,
    DigestMismatchError,
    ExtraMissingError,
    LimitExceededError,
    ReferenceNotFoundError,
    SourceUnavailableError,
)
from satchel.model import Finding, Found
from satchel.protocols import SkillSource
from satchel_store.archives import tar_gz
from satchel_store.http import HttpSource, _packs as packs, _source as source
from satchel_store.http._client import HttpClient, HttpEnvironment
from satchel_store.http._packs import FetchedPack
from tests.unit.files.archive_makers import plain_zip
from tests.unit.sources.http.site import INDEX, OLD_INDEX, Reply, Site, entry, skill_md
from tests.unit.sources.scans import codes_of, findings_of, found_in

ONE = {"SKILL.md": skill_md("one")}
TWO = {"SKILL.md": skill_md("two"), "references/a.md": b"A\r\n", ".env": b"KEY=1"}
HOME = "/.well-known/agent-skills"


def of(site: Site, path: str = "", **more: object) -> HttpSource:
    made = sources.http(site.url + path, allow_private=True, **more)  # type: ignore[arg-type]
    assert isinstance(made, HttpSource)
    return made


def timed(site: Site, around: HttpEnvironment, **more: object) -> HttpSource:
    client = HttpClient(site.url, allow_private=True, environment=around)
    return HttpSource(client, **more)  # type: ignore[arg-type]


def unavailable(made: SkillSource) -> str:
    with pytest.raises(SourceUnavailableError) as caught:
        made.scan()
    return caught.value.detail


def test_skills_of_a_site_in_a_library(site: Site) -> None:
    site.put_skills({"one": ONE, "two": TWO})
    with Satchel(of(site)) as skills:
        assert [item.id for item in skills.catalog] == ["one", "two"]
        assert skills.load("two", "a.md").text == "A\r\n"
        assert [finding.code for finding in skills.findings] == ["files-left-out"]
        assert skills.catalog.sources[0].label == site.url


def test_what_a_sync_fetches(site: Site) -> None:
    """Each artifact once for its digest; the index alone is asked for again."""
    site.etags = True
    site.put_skills({"one": ONE, "two": TWO})
    with Satchel(of(site)) as skills:
        assert site.count() == {
            INDEX: 1,
            f"{HOME}/one/SKILL.md": 1,
            f"{HOME}/two.tar.gz": 1,
        }
        skills.sync()
        skills.load("two", "a.md")
        assert len(site.asked) == 4
        assert "If-None-Match" in site.asked[-1][1]

        newer = {"SKILL.md": skill_md("one", "Do it better.")}
        site.put_skills({"one": newer, "two": TWO})
        report = skills.sync()
        assert (report.updated, report.unchanged) == (("one",), ("two",))
        assert site.paths()[4:] == [INDEX, f"{HOME}/one/SKILL.md"]
        assert "better" in skills.load("one").text

        site.put_skills({"one": newer})
        assert skills.sync().removed == ("two",)


def test_servers_that_have_two_releases_for_a_moment(site: Site) -> None:
    """One answers with the old index, and the next with what is in use by now."""
    newer = {"SKILL.md": skill_md("one", "Do it better.")}
    indexes: list[Reply | bytes] = []
    for packs_then in ({"one": ONE, "two": TWO}, {"one": newer, "two": TWO}):
        site.put_skills(packs_then)
        indexes.append(site.reply(INDEX))
    site.put(INDEX, *indexes)

    with Satchel(of(site)) as skills:
        assert "better" in skills.load("one").text
        assert not [f for f in skills.findings if f.code == "digest-mismatch"]
    # What had come by then is not fetched again.
    assert site.count()[f"{HOME}/two.tar.gz"] == 1
    asked = [headers for path, headers in site.asked if path.endswith("two.tar.gz")]
    assert asked[0]["Satchel-Digest"].startswith("sha256:")


# --- where an index is


@pytest.mark.parametrize(
    ("path", "index"),
    [
        ("", INDEX),
        ("/", INDEX),
        ("/team", f"/team{INDEX}"),
        ("/team/", INDEX),
        ("/skills.json", "/skills.json"),
        ("/deep/index.json?key=1", "/deep/index.json?key=1"),
        ("", OLD_INDEX),
        ("/team", f"/team{OLD_INDEX}"),
        ("/team", OLD_INDEX),
    ],
)
def test_where_an_index_is(site: Site, path: str, index: str) -> None:
    """Under the path that was named, then at the root; the newer format first."""
    site.put("/s/SKILL.md", ONE["SKILL.md"])
    site.put_index(entry("one", "/s/SKILL.md", ONE["SKILL.md"]), path=index)
    made = of(site, path)

    assert found_in(made) == ["one"]
    first = len(site.asked)
    assert found_in(made) == ["one"]
    assert site.paths()[first:] == [index]


def test_an_index_that_moves(site: Site) -> None:
    """The place of the last one goes first, and no other is forgotten.

    A page for every path is no index: so sites of one page answer, with status 200.
    """
    site.put_index(path=f"/team{INDEX}")
    made = of(site, "/team")
    assert found_in(made) == []
    site.put(f"/team{INDEX}", b"<!doctype html>")
    site.put_skills({"one": ONE})

    assert found_in(made) == ["one"]


def test_no_index(site: Site) -> None:
    site.put(INDEX, b"<!doctype html>")
    site.put(f"/a{INDEX}", Reply(b"{}", headers=(("Content-Encoding", "br"),)))
    text = unavailable(of(site, "/a"))

    assert f"{site.url}/a{INDEX}: it is compressed" in text
    assert f"{site.url}{INDEX}: it is not JSON" in text
    assert f"{site.url}{OLD_INDEX}: the server answers 404" in text
    with pytest.raises(LimitExceededError, match="index_bytes"):
        of(site, limits=Limits(index_bytes=10)).scan()


def test_an_index_of_a_later_format(site: Site) -> None:
    """It is reported, and an older one next to it is read."""
    later = json.dumps({"$schema": "https://x.com/9.json", "skills": [{}]}).encode()
    site.put(INDEX, later)
    made = of(site)
    assert found_in(made) == []
    assert codes_of(made) == ["index-schema"]

    site.put_old({"one": ONE})
    assert found_in(made) == ["one"]


def test_urls_are_relative_to_where_the_index_was_found(site: Site) -> None:
    """Behind a redirect that is another place; its host is the index's own."""
    target = (("Location", f"{site.url}/cdn/index.json"),)
    site.put(INDEX, Reply(status=302, headers=target))
    site.put_index(entry("one", "one.md", ONE["SKILL.md"]), path="/cdn/index.json")
    site.put("/cdn/one.md", ONE["SKILL.md"])

    assert found_in(of(site)) == ["one"]


def test_hosts_that_an_index_may_name(site: Site, other: Site) -> None:
    other.put("/one.md", ONE["SKILL.md"])
    site.put("/two.md", skill_md("two"))
    site.put_index(
        entry("one", f"{other.url}/one.md", ONE["SKILL.md"]),
        entry("two", "/two.md", skill_md("two")),
    )
    host = other.url.removeprefix("http://")
    made = of(site)

    assert found_in(made) == ["two"]
    assert f"hosts=['{host}']" in findings_of(made)[0].message
    assert other.asked == []
    assert found_in(of(site, hosts=[host])) == ["one", "two"]


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("http://169.254.169.254/latest", "the host is not allowed"),
        ("file:///etc/passwd", "is not fetched: it does not begin with"),
        ("https://u:pw@x.com/", "is not fetched: it has a user name"),
        ("/a b", "is not fetched: it has a space"),
    ],
)
def test_urls_in_an_index(site: Site, url: str, says: str) -> None:
    site.put("/good", ONE["SKILL.md"])
    site.put_index(entry("bad", url, b""), entry("one", "/good", ONE["SKILL.md"]))
    made = of(site)
    (finding,) = findings_of(made)

    assert found_in(made) == ["one"]
    assert finding.code == "source-unavailable"
    assert finding.severity == "error"
    assert finding.path == f"{site.url}/bad"
    assert says in finding.message
    assert "pw" not in finding.message


# --- what an index leads to

# Made once: the time of the call is in it.
BOMB = plain_zip(("SKILL.md", b""), ("0", bytes(1_000_000)))
BAD_ARTIFACTS: dict[str, tuple[bytes | Reply, dict[str, object], str]] = {
    "other bytes": (b"other", entry("bad", "/bad", b"x"), "digest-mismatch"),
    "nothing": (Reply(status=404), entry("bad", "/bad", b""), "source-unavailable"),
    "no archive": (b"x", entry("bad", "/bad", b"x", archive=True), "unsafe-archive"),
    "a bomb": (BOMB, entry("bad", "/bad", BOMB, archive=True), "limit-exceeded"),
    "a large one": (
        b"x" * 2_000_000,
        entry("bad", "/bad", b"x" * 2_000_000),
        "limit-exceeded",
    ),
}


@pytest.mark.parametrize(
    ("reply", "listed", "code"), BAD_ARTIFACTS.values(), ids=BAD_ARTIFACTS
)
def test_a_bad_artifact_costs_its_skill_alone(
    site: Site, reply: bytes | Reply, listed: dict[str, object], code: str
) -> None:
    site.put("/bad", reply)
    site.put("/one.md", ONE["SKILL.md"])
    site.put_index(listed, entry("one", "/one.md", ONE["SKILL.md"]))
    made = of(site)

    assert found_in(made) == ["one"]
    assert [(item.code, item.severity) for item in findings_of(made)] == [
        (code, "error")
    ]


@pytest.mark.parametrize("bad", [b"tampered", Reply(status=404)], ids=str)
def test_the_last_good_one_stays(site: Site, bad: bytes | Reply) -> None:
    """And a finding says so; other bytes than were announced are never used."""
    site.put_skills({"one": ONE, "two": TWO})
    with Satchel(of(site)) as skills:
        newer = {"SKILL.md": skill_md("one", "Newer.")}
        site.put_skills({"one": newer, "two": TWO})
        site.put(f"{HOME}/one/SKILL.md", bad)
        report = skills.sync()
        (finding,) = (item for item in skills.findings if item.code == "stale-skill")

        assert report.unchanged == ("one", "two")
        assert "Newer" not in skills.load("one").text
        assert (finding.severity, finding.path) == ("warning", f"{site.url}/one")
        assert not skills.catalog.sources[0].stale

        site.put_skills({"one": newer, "two": TWO})
        assert skills.sync().updated == ("one",)
        assert "Newer" in skills.load("one").text
        assert "stale-skill" not in {item.code for item in skills.findings}


@pytest.mark.parametrize(
    "reply", [Reply(status=500), Reply(status=404), Reply(b"<html>")], ids=str
)
def test_a_site_that_fails_keeps_its_catalog(site: Site, reply: Reply) -> None:
    """Marked stale where states, health and lists are shown; the next sync heals it."""
    site.put_skills({"one": ONE, "two": TWO})
    with Satchel(of(site)) as skills:
        good = site.replies[INDEX]
        site.put(INDEX, reply)
        skills.sync()
        (state,) = skills.catalog.sources

        assert (state.stale, state.packs) == (True, 2)
        assert [item.id for item in skills.catalog] == ["one", "two"]
        assert skills.load("two", "a.md").text == "A\r\n"
        assert not skills.health().ok
        findings = take_inventory(skills).findings
        paths = [item.path for item in findings if item.code == "source-unavailable"]
        assert paths == [site.url]

        site.replies[INDEX] = good
        skills.sync()
        assert skills.health().ok


def test_names_that_differ(site: Site) -> None:
    """The SKILL.md is what counts; that the index says otherwise is found."""
    site.put("/x.md", skill_md("other"))
    site.put_index(entry("one", "/x.md", skill_md("other")))
    with Satchel(of(site)) as skills:
        assert [item.id for item in skills.catalog] == ["other"]
        assert [finding.code for finding in skills.findings] == ["name-not-folder"]

    # Without any skill the catalog would say that the site has none: it is away.
    site.put("/x.md", Reply(status=404))
    assert "answers 404" in unavailable(of(site))


def test_a_zip_in_one_folder(site: Site) -> None:
    data = plain_zip(("two/SKILL.md", TWO["SKILL.md"]), ("two/a.md", b"A"))
    site.put("/two.skill", Reply(data, headers=(("Content-Type", "text/html"),)))
    site.put_index(entry("two", "/two.skill", data, archive=True))
    made = of(site)

    assert found_in(made) == ["two"]
    assert [file.path for file in made.files("two")] == ["SKILL.md", "a.md"]
    with pytest.raises(ReferenceNotFoundError):
        made.read("two", ".env", 99)


def test_more_files_than_one_scan_looks_at(site: Site) -> None:
    site.put_skills({name: {"SKILL.md": skill_md(name)} for name in "abcde"})
    made = of(site, limits=Limits(scan_entries=3))

    assert found_in(made) == ["a", "b", "c"]
    assert codes_of(made) == ["limit-exceeded"]


# --- v0.1.0


def test_an_index_without_digests(site: Site) -> None:
    """The bytes of a sync hold until the next one; each is asked for there again."""
    site.etags = True
    site.put_old({"two": {"SKILL.md": TWO["SKILL.md"], "references/a b.md": b"A"}})
    site.put("/.well-known/skills/two/references/a%20b.md", b"A")
    with Satchel(of(site)) as skills:
        assert [finding.code for finding in skills.findings] == ["no-digest"]
        assert skills.load("two", "a b.md").text == "A"
        asked = len(site.asked)
        skills.sync()
        assert [
            "If-None-Match" in headers
            for path, headers in site.asked[asked:]
            if not path.startswith("/.well-known/agent-skills")
        ] == [True, True, True]

        site.put("/.well-known/skills/two/references/a%20b.md", b"B")
        assert skills.load("two", "a b.md").text == "A"
        assert skills.sync().updated == ("two",)
        assert skills.load("two", "a b.md").text == "B"

        site.put("/.well-known/skills/two/SKILL.md", Reply(status=404))
        skills.sync()
        assert skills.load("two").text
        assert skills.health().sources[0].state.stale


def test_a_file_that_no_pack_hands_out_is_fetched_again(site: Site) -> None:
    """It is not kept, so that "not changed" would be no answer."""
    site.etags = True
    site.put_old({"two": TWO})
    with Satchel(of(site)) as skills:
        assert skills.sync().unchanged == ("two",)
        assert skills.health().ok


def test_a_file_without_a_digest_that_comes_packed(site: Site) -> None:
    """Nothing else would tell that these are not the bytes of the file."""
    site.put_old({"one": {**ONE, "a.bin": b""}, "two": TWO})
    packed = Reply(gzip.compress(b"A"), headers=(("Content-Encoding", "gzip"),))
    site.put("/.well-known/skills/one/a.bin", packed)
    made = of(site)

    assert found_in(made) == ["two"]
    (text,) = (item.message for item in findings_of(made) if item.severity == "error")
    assert "a.bin: it is compressed, although that was not requested" in text


def forgetful(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep nothing in memory."""
    monkeypatch.setattr(packs, "CACHED_PACKS_BYTES", 0)
    monkeypatch.setattr(packs, "CACHED_SKILL_MD_BYTES", 0)


def test_files_that_changed_since(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    forgetful(monkeypatch)
    files = {"SKILL.md": TWO["SKILL.md"], "a.md": b"A"}
    site.put_old({"two": files})
    made = of(site)
    made.scan()
    assert made.read("two", "a.md", 9) == b"A"

    site.put("/.well-known/skills/two/a.md", b"B")
    with pytest.raises(ChangedSinceSyncError, match="since it was catalogued"):
        made.read("two", "a.md", 9)
    assert made.manifest("two") == TWO["SKILL.md"]
    made.scan()
    assert made.read("two", "a.md", 9) == b"B"


@pytest.mark.row("F04", "T05")
def test_an_edit_on_a_site_without_digests_is_seen_by_a_load(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of that pack alone; where digests were announced, others are an error."""
    forgetful(monkeypatch)
    site.put_old({"one": ONE, "two": {"SKILL.md": TWO["SKILL.md"], "a.md": b"A"}})
    with Satchel(of(site)) as skills:
        site.put("/.well-known/skills/two/a.md", b"B")
        site.asked.clear()

        assert skills.load("two", "a.md").text == "B"
        assert not any("/one/" in path for path in site.paths()[:4])


# --- what is kept


def test_a_cache_for_an_index_without_digests(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    forgetful(monkeypatch)
    site.put_old({"two": {"SKILL.md": TWO["SKILL.md"], "a.md": b"A"}})
    made = of(site, cache=tmp_path / "cache")
    made.scan()
    site.replies.clear()

    assert made.read("two", "a.md", 9) == b"A"


class Overtaken(UserDict[str, FetchedPack]):
    """Packs that something happens to while they are copied."""

    happens: Callable[[], object]

    def __iter__(self) -> Iterator[str]:
        self.happens()
        return super().__iter__()


def test_what_a_sync_finds_while_one_pack_is_looked_at_again(site: Site) -> None:
    """The pack is put into the catalog of that sync, and not into the one before."""
    site.put_old({"one": ONE})
    made = of(site)
    assert found_in(made) == ["one"]
    made._packs = packs = Overtaken(made._packs)
    site.put_old({"one": ONE, "two": {"SKILL.md": skill_md("two")}})
    with ThreadPoolExecutor(1) as threads:
        packs.happens = lambda: wait([threads.submit(made.scan)], 0.5)
        made.scan_one("one", "")

    assert made.files("two")


def test_what_memory_lost_is_fetched_again(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And verified again."""
    forgetful(monkeypatch)
    site.put_skills({"two": TWO})
    made = of(site)
    made.scan()
    assert made.read("two", "references/a.md", 9) == b"A\r\n"

    site.put(f"{HOME}/two.tar.gz", b"other")
    with pytest.raises(DigestMismatchError, match=r"two\.tar\.gz"):
        made.read("two", "references/a.md", 9)
    site.put(f"{HOME}/two.tar.gz", Reply(status=404))
    with pytest.raises(SourceUnavailableError):
        made.manifest("two")


def test_one_artifact_read_in_two_ways(site: Site) -> None:
    """One of the two has no SKILL.md in it; the other is none the worse for that."""
    data = tar_gz(TWO.items())
    site.put("/two.tar.gz", data)
    site.put_index(
        entry("two", "/two.tar.gz", data, archive=True),
        entry("zoo", "/two.tar.gz", data),
    )
    made = of(site)

    assert found_in(made) == ["two", "zoo"]
    assert made.manifest("two") == TWO["SKILL.md"]
    assert made.manifest("zoo") == data
    assert made.read("two", "references/a.md", 9) == b"A\r\n"


def test_a_cache_on_disk(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process fetches nothing; what was changed there is not used."""
    forgetful(monkeypatch)
    cache = tmp_path / "cache"
    site.put_skills({"one": ONE, "two": TWO})
    assert found_in(of(site, cache=cache)) == ["one", "two"]
    names = sorted(cache.iterdir())
    assert [len(name.name) for name in names] == [64, 64]
    assert list(cache.rglob("SKILL.md")) == []

    asked = len(site.asked)
    made = of(site, cache=cache)
    assert found_in(made) == ["one", "two"]
    assert made.read("two", "references/a.md", 9) == b"A\r\n"
    assert site.paths()[asked:] == [INDEX]

    for name in names:
        name.write_bytes(b"changed")
    assert found_in(of(site, cache=cache)) == ["one", "two"]
    assert len(site.asked) == asked + 1 + 3
    monkeypatch.setattr(source, "DISK_CACHE_BYTES", 0)
    of(site, cache=cache).scan()
    assert list(cache.iterdir()) == []
    # One that cannot be written is none, and costs nothing else.
    for place in ("/proc/no-such", "/dev/null/x"):
        assert found_in(of(site, cache=place)) == ["one", "two"]


# --- the rest


def test_a_sync_ends_in_time(site: Site) -> None:
    """A site of which nothing comes in time is given up, however often it is asked."""
    site.put_skills({"one": ONE, "two": TWO})
    clock = count(step=30)  # each look at it is half a minute later
    around = HttpEnvironment(monotonic=lambda: float(next(clock)))
    made = timed(site, around)

    assert "took too long" in unavailable(made)
    assert {*site.paths()} <= {INDEX}


def slow_site(
    site: Site, monkeypatch: pytest.MonkeyPatch, **more: object
) -> tuple[HttpSource, list[float]]:
    """Return a source of ten skills, of which the sixth takes all the time there is."""
    monkeypatch.setattr(packs, "MAX_PARALLEL", 1)
    site.put_skills({f"s{n}": {"SKILL.md": skill_md(f"s{n}")} for n in range(10)})
    bad = f"{HOME}/s5/SKILL.md"
    site.put(bad, Reply(status=404), skill_md("s5"))
    hung_s = [100.0]

    def monotonic() -> float:
        return hung_s[0] * site.count()[bad]

    around = HttpEnvironment(monotonic=monotonic)
    made = timed(site, around, **more)
    return made, hung_s


@pytest.mark.row("F42")
def test_what_came_of_a_slow_site_is_used_and_the_next_sync_goes_on(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And what took all the time comes last, so that it keeps nothing else away."""
    made, hung_s = slow_site(site, monkeypatch)
    *packs, failed, partial = made.scan()

    assert [pack.key for pack in packs if isinstance(pack, Found)] == [
        f"s{n}" for n in range(5)
    ]
    assert isinstance(failed, Finding)
    assert failed.path.endswith("/s5")
    assert isinstance(partial, Finding)
    assert (partial.code, partial.severity) == ("partial-listing", "warning")
    assert partial.message.startswith("4 of 10 skills")

    site.asked.clear()
    hung_s[0] = 0.0
    assert found_in(made) == [f"s{n}" for n in range(10)]
    assert [path[-11:] for path in site.paths()[1:]] == [
        f"/s{n}/SKILL.md"[-11:] for n in (6, 7, 8, 9, 5)
    ]


@pytest.mark.row("F42")
def test_what_came_of_a_slow_site_is_kept_for_the_next_process(
    site: Site, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    first, _ = slow_site(site, monkeypatch, cache=tmp_path / "cache")
    first.scan()
    site.asked.clear()

    assert found_in(of(site, cache=tmp_path / "cache")) == [f"s{n}" for n in range(10)]
    assert len(site.paths()) == 1 + 5


@pytest.mark.row("F42", "T04")
def test_a_first_sync_goes_on_while_something_comes(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of forty takes ten seconds; the time-out is thirty."""
    monkeypatch.setattr(packs, "MAX_PARALLEL", 1)
    site.put_skills({f"s{n:02}": {"SKILL.md": skill_md(f"s{n:02}")} for n in range(40)})
    around = HttpEnvironment(monotonic=lambda: 10.0 * len(site.asked))
    made = timed(site, around)
    before = made.progress

    assert len(found_in(made)) == 40
    assert made.progress == before + 40


@pytest.mark.row("F42")
def test_many_skills_that_cannot_be_fetched_are_reported_together(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source, "MAX_FAILURE_FINDINGS", 2)
    site.put_skills({f"s{n}": {"SKILL.md": skill_md(f"s{n}")} for n in range(6)})
    for n in range(5):
        site.put(f"{HOME}/s{n}/SKILL.md", b"other")
    made = of(site)

    assert found_in(made) == ["s5"]
    assert codes_of(made) == ["digest-mismatch", "digest-mismatch", "index-entry"]


def test_a_key_in_the_url_is_not_shown(
    site: Site, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    site.put("/i.json?key=s3cret", b"<html>")
    made = of(site, "/i.json?key=s3cret", headers={"Authorization": "Bearer s3cret"})
    text = unavailable(made)

    assert site.asked[0][1]["Authorization"] == "Bearer s3cret"
    assert "s3cret" not in text + repr(made) + made.label + caplog.text


@pytest.mark.parametrize(
    ("url", "more"),
    [
        ("https://user:s3cret@example.com", {}),
        ("https://example.com/?key=s3cret", {}),
        ("example.com", {}),
        ("https://example.com", {"hosts": ["https://cdn.com/x"]}),
        ("https://example.com", {"headers": {"Host": "s3cret"}}),
        ("https://example.com", {"headers": {"X": "s3cret\n"}}),
    ],
)
def test_settings_that_cannot_be_used(url: str, more: dict[str, object]) -> None:
    with pytest.raises(ConfigError, match=r"sources\.http: ") as caught:
        sources.http(url, **more)  # type: ignore[arg-type]

    assert "s3cret" not in str(caught.value)


def test_a_source_that_is_closed(site: Site) -> None:
    site.put_skills({"one": ONE})
    made = of(site)
    made.scan()
    made.close()
    made.close()

    assert unavailable(made) == "it is closed"
    assert made.manifest("one") == ONE["SKILL.md"]
    assert sources.http("https://Example.com:443/").label == "https://example.com"
    made = of(site, "/i.json?key=1", label="team")
    assert made.label == "team"
    assert repr(made) == f"HttpSource('{site.url}/i.json', label='team')"


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "satchel_store.http._client", None)
    with pytest.raises(ExtraMissingError, match=r"\[http\]"):
        sources.http("https://example.com")
    code = "import sys, satchel.sources; sys.exit('httpcore2' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
