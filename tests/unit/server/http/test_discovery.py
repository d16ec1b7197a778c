"""Discovery over HTTP: indexes that name what can be fetched, digest and all."""

import io
import tarfile
import threading
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from satchel import Policy, deny
from satchel.model import SyncReport
from satchel.testing import write_pack
from satchel.usage import ListSink
from satchel_server import Caller, HttpSettings, ServedLibrary, create_app
from satchel_server._http import _discovery as discovery
from tests.fakes import FakeSource, away, pack
from tests.unit.server.http.conftest import client_for

V2 = "/.well-known/agent-skills/index.json"
V1 = "/.well-known/skills/index.json"


def test_what_the_index_names_is_there_and_is_what_it_says(
    client: TestClient, pack_folder: Path
) -> None:
    index = client.get(V2).json()

    assert [item["name"] for item in index["skills"]] == ["alpha", "beta", "gamma"]
    types = [item["type"] for item in index["skills"]]
    assert types == ["skill-md", "archive", "skill-md"]
    for item in index["skills"]:
        answer = client.get(item["url"])
        assert answer.status_code == 200
        assert item["digest"] == f"sha256:{sha256(answer.content).hexdigest()}"
        assert answer.headers["etag"] == f'"{item["digest"].removeprefix("sha256:")}"'
    alpha = client.get(index["skills"][0]["url"])
    assert alpha.content == (pack_folder / "alpha/SKILL.md").read_bytes()

    answer = client.get("/.well-known/agent-skills/beta.tar.gz")

    assert answer.headers["content-type"] == "application/gzip"
    with tarfile.open(fileobj=io.BytesIO(answer.content)) as archive:
        names = archive.getnames()
        member = archive.extractfile("references/guide.md")
        assert member is not None
        assert member.read() == (pack_folder / "beta/references/guide.md").read_bytes()
    assert "SKILL.md" in names
    assert len(names) == 7


def test_a_server_that_is_behind_catches_up_for_a_caller(
    library: ServedLibrary, client: TestClient, pack_folder: Path
) -> None:
    """Another server has shown the index of what is on the disk by now."""
    other = client_for(write_pack(pack_folder, "beta", "Use for more.").parent)
    (item,) = [i for i in other.get(V2).json()["skills"] if i["name"] == "beta"]
    headers = {"Satchel-Digest": item["digest"]}

    # Nobody asks the sources of this one.
    behind = client.get("/.well-known/agent-skills/beta/SKILL.md", headers=headers)
    assert behind.status_code == 404
    library.is_polled = True
    caught_up = client.get(item["url"], headers=headers)

    assert caught_up.status_code == 200
    assert sha256(caught_up.content).hexdigest() in item["digest"]


def test_a_server_that_is_ahead_says_that_it_has_other_bytes(
    library: ServedLibrary, client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And does not ask its sources for each such caller."""
    library.is_polled = True
    syncs: list[object] = []
    sync = library.skills.sync

    def noted() -> SyncReport:
        syncs.append(1)
        return sync()

    monkeypatch.setattr(library.skills, "sync", noted)
    headers = {"Satchel-Digest": f"sha256:{'0' * 64}"}

    answers = [
        client.get("/.well-known/agent-skills/beta.tar.gz", headers=headers)
        for _ in range(5)
    ]

    assert {answer.status_code for answer in answers} == {503}
    assert answers[0].headers["retry-after"] == "1"
    assert answers[0].json()["error"]["code"] == "other-release"
    assert len(syncs) == 1


def test_nobody_waits_while_the_sources_are_asked(
    library: ServedLibrary, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One of them may hang, and requests share a few threads."""
    library.is_polled = True
    asked, answered = threading.Event(), threading.Event()
    sync = library.skills.sync

    def slow() -> SyncReport:
        asked.set()
        assert answered.wait(20)
        return sync()

    monkeypatch.setattr(library.skills, "sync", slow)
    first = threading.Thread(target=library.catch_up)
    first.start()
    assert asked.wait(20)
    library.catch_up()  # would wait for ever
    answered.set()
    first.join(20)

    assert not first.is_alive()


def test_what_it_does_not_name_is_not_there(client: TestClient) -> None:
    """Beta is an archive, and alpha a file."""
    for path in (
        *("beta/SKILL.md", "alpha.tar.gz", "nobody.tar.gz", "nobody/SKILL.md"),
        *("beta.tar.gz/SKILL.md", "alpha/references/guide.md"),
        *("../skills/index.json", "%ff", ""),
    ):
        answer = client.get(f"/.well-known/agent-skills/{path}")

        assert answer.status_code == 404, path
        assert answer.json()["error"]["code"] == "not-found"


def test_one_fetch_is_one_sync(client: TestClient, sink: ListSink) -> None:
    client.get(V2)
    client.head("/.well-known/agent-skills/beta.tar.gz")
    client.get("/.well-known/agent-skills/beta.tar.gz")

    assert [(sync.name, sync.file, sync.via) for sync in sink.skill_syncs] == [
        ("beta", "SKILL.md", "http")
    ]
    assert sink.events == []


@pytest.mark.row("X03", "G09")
@pytest.mark.parametrize(
    ("path", "result"),
    [
        ("agent-skills/nobody.tar.gz", ("nobody", None, "skill-not-found")),
        ("agent-skills/nobody/SKILL.md", ("nobody", None, "skill-not-found")),
        ("agent-skills/nobody", ("nobody", None, "skill-not-found")),
        ("agent-skills/a%20b/x.md", ("<invalid>", "x.md", "skill-not-found")),
        ("agent-skills/beta/x.md", ("beta", "x.md", "reference-not-allowed")),
        ("skills/nobody/SKILL.md", ("nobody", None, "skill-not-found")),
        ("skills/beta/x.md", ("beta", "x.md", "reference-not-allowed")),
    ],
)
def test_a_fetch_in_vain_is_told_of(
    library: ServedLibrary,
    sink: ListSink,
    path: str,
    result: tuple[str, str | None, str],
) -> None:
    client = TestClient(create_app(library, HttpSettings(old_index=True)))
    client.head(f"/.well-known/{path}")
    assert client.get(f"/.well-known/{path}").status_code == 404

    assert [(e.name, e.file, e.code, e.via) for e in sink.skill_syncs] == [
        (*result, "http")
    ]


def test_the_older_index_is_there_where_it_is_wanted(
    client: TestClient, library: ServedLibrary, sink: ListSink, pack_folder: Path
) -> None:
    old = TestClient(create_app(library, HttpSettings(old_index=True)))
    beta = next(e for e in old.get(V1).json()["skills"] if e["name"] == "beta")
    texts = {
        path: old.get(f"/.well-known/skills/beta/{path}").content
        for path in beta["files"]
    }

    assert client.get(V1).status_code == 404
    assert beta["files"][0] == "SKILL.md"
    assert texts == {path: (pack_folder / "beta" / path).read_bytes() for path in texts}
    assert [e.name for e in sink.skill_syncs] == ["beta"]
    for path in ("beta/nothing.md", "beta/guide.md", "nobody/SKILL.md", "beta", "%ff"):
        assert old.get(f"/.well-known/skills/{path}").status_code == 404
    assert "v0.1.0" in old.get("/").text
    assert "v0.1.0" not in client.get("/").text


def test_a_caller_finds_its_own_skills(
    client_of: Callable[[Caller], TestClient],
) -> None:
    client = client_of(Caller("desk", ("alpha",)))

    assert [item["name"] for item in client.get(V2).json()["skills"]] == ["alpha"]
    assert client.get("/.well-known/agent-skills/beta.tar.gz").status_code == 404


def test_the_index_follows_a_sync(
    client: TestClient, library: ServedLibrary, pack_folder: Path
) -> None:
    before = client.get(V2)
    write_pack(pack_folder, "delta", files={"references/a.md": "a"})
    write_pack(pack_folder, "beta", "Use for beta.", files={"references/b.md": "b"})
    again = client.get(V2)
    library.refresh()
    after = client.get(V2)

    assert again.content == before.content
    names = [item["name"] for item in after.json()["skills"]]
    assert names == ["alpha", "beta", "delta", "gamma"]
    changed = after.json()["skills"][1]
    assert changed["digest"] != before.json()["skills"][1]["digest"]
    data = client.get(changed["url"]).content
    assert changed["digest"] == f"sha256:{sha256(data).hexdigest()}"


def test_a_skill_that_may_be_listed_and_not_read_is_in_no_index(
    pack_folder: Path,
) -> None:
    client = client_for(pack_folder, policy=Policy(deny("beta", action="read")))

    names = [item["name"] for item in client.get(V2).json()["skills"]]

    assert names == ["alpha", "gamma"]
    assert client.get("/.well-known/agent-skills/beta.tar.gz").status_code == 403


def test_a_skill_for_users_alone_can_be_installed(pack_folder: Path) -> None:
    """As from a static site: anyone who installs it is a user."""
    write_pack(pack_folder, "mine", disable_model_invocation=True)
    write_pack(pack_folder, "none", disable_model_invocation=True, user_invocable=False)
    client = client_for(pack_folder)

    index = {item["name"]: item for item in client.get(V2).json()["skills"]}

    assert set(index) == {"alpha", "beta", "gamma", "mine"}
    data = client.get(index["mine"]["url"]).content
    assert index["mine"]["digest"] == f"sha256:{sha256(data).hexdigest()}"
    assert client.get("/.well-known/agent-skills/none/SKILL.md").status_code == 404


def test_a_source_that_is_away_costs_only_its_archives() -> None:
    plain = FakeSource("plain", {"a": {"SKILL.md": pack("a")}})
    rich = FakeSource("rich", {"b": {"SKILL.md": pack("b"), "references/x.md": "x"}})
    client = client_for(plain, rich)
    rich.failure = away("rich")

    assert [item["name"] for item in client.get(V2).json()["skills"]] == ["a"]
    assert client.get("/.well-known/agent-skills/b.tar.gz").status_code == 503


def test_only_so_many_digests_are_kept(
    library: ServedLibrary, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(discovery, "MAX_INDEXES", 1)
    monkeypatch.setattr(discovery, "MAX_DIGESTS", 0)
    indexes = discovery.Indexes()
    view = library.view(via="http")

    first = indexes.index(view, Caller("a"), "v2")
    indexes.index(view, Caller("b"), "v2")

    assert len(indexes._made) == 1
    assert not indexes._digests
    assert indexes.index(view, Caller("a"), "v2") == first
