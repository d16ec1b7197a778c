"""The JSON API: what it answers, to whom, and what it keeps to itself."""

import json
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from satchel import Options, Policy, Satchel, ask, deny
from satchel.errors import ConfigError, DigestMismatchError, SkillManifestError
from satchel.model import Limits, Manifest
from satchel.testing import write_pack
from satchel.usage import ListSink
from satchel_server import Caller, ServedLibrary, public_labels
from satchel_server._errors import INTERNAL_ERROR, error_answer
from tests.fakes import FakeSource, away, pack
from tests.unit.server.http.conftest import client_for


def test_the_catalog_comes_in_pages(client: TestClient) -> None:
    first = client.get("/v1/catalog?limit=2").json()
    last = client.get(f"/v1/catalog?limit=2&after={first['next']}").json()
    behind = client.get("/v1/catalog", params={"after": "zzz"}).json()

    assert [entry["id"] for entry in first["skills"]] == ["alpha", "beta"]
    assert [entry["id"] for entry in last["skills"]] == ["gamma"]
    assert (first["total"], first["next"], last["next"]) == (3, "beta", None)
    assert (behind["skills"], behind["next"], behind["total"]) == ([], None, 3)
    entry = first["skills"][1]
    assert entry.pop("digest").startswith("sha256:")
    assert entry == {
        "id": "beta",
        "name": "beta",
        "description": "Use for beta forms.",
        "source": "skills",  # the folder's absolute path stays here
        "release": "",
        "resources": [
            *("references/guide.md", "references/latin.txt", "scripts/a/run.py"),
            *("scripts/b/run.py", "assets/dot.png", "assets/page.html"),
        ],
    }


@pytest.mark.parametrize(
    ("query", "begins"),
    [
        ("", "If a skill fits the task"),
        ("style=agent-skills", "## Agent Skills"),
        ("format=markdown&style=packs", "- alpha:"),
        ("format=json&budget=none", '{"schema_version"'),
    ],
)
def test_the_prompt_is_a_section_of_a_system_prompt(
    client: TestClient, query: str, begins: str
) -> None:
    section = client.get(f"/v1/prompt?{query}").json()

    assert begins in section["text"]
    assert "gamma" in section["text"]
    assert section["tokens"] > 0
    assert section["left_out"] == []
    small = client.get("/v1/prompt?budget=40").json()
    assert small["budget_tokens"] == 40
    assert small["shortened"] + small["names_only"] + small["left_out"]


def test_a_skill_is_its_whole_text_and_what_is_next_to_it(
    client: TestClient, pack_folder: Path
) -> None:
    skill = client.get("/v1/skills/beta").json()
    data = (pack_folder / "beta/SKILL.md").read_bytes()

    assert skill["instructions"] == data.decode()
    assert skill["frontmatter"] == {
        "name": "beta",
        "description": "Use for beta forms.",
    }
    assert skill["digest"] == f"sha256:{sha256(data).hexdigest()}"
    assert {item["path"]: item["size"] for item in skill["resources"]} == {
        str(file.relative_to(pack_folder / "beta")): file.stat().st_size
        for file in (pack_folder / "beta").rglob("*.*")
    }
    assert skill["notes"] == []


def test_one_file_that_is_too_large_costs_itself_alone(tmp_path: Path) -> None:
    write_pack(tmp_path, "a", files={"assets/big.bin": b"x" * 99, "b.md": "# B\n"})
    client = client_for(tmp_path, options=Options(limits=Limits(file_bytes=50)))

    skill = client.get("/v1/skills/a").json()

    assert [item["path"] for item in skill["resources"]] == ["SKILL.md", "b.md"]
    assert skill["notes"] == [
        "assets/big.bin: not handed out, for its size of 99 bytes."
    ]
    assert client.get("/v1/skills/a/files/big.bin").status_code == 403


def test_a_file_that_is_no_longer_what_was_catalogued_is_not_given() -> None:
    source = FakeSource("s", {"a": {"SKILL.md": pack("a")}})
    client = client_for(source)
    source.packs["a"]["SKILL.md"] = "no frontmatter at all"

    # The catalog still holds it, and the bytes are no longer those catalogued.
    answer = client.get("/v1/skills/a")

    assert answer.status_code == 503
    assert answer.json()["error"]["code"] == "changed-since-sync"
    assert answer.headers["retry-after"]


@pytest.mark.parametrize(
    ("path", "media_type", "saved"),
    [
        ("SKILL.md", "text/markdown; charset=utf-8", ""),
        ("references/guide.md", "text/markdown; charset=utf-8", ""),
        ("guide.md", "text/markdown; charset=utf-8", ""),
        ("references%2Fguide.md", "text/markdown; charset=utf-8", ""),
        ("references/latin.txt", "text/plain", ""),
        ("assets/dot.png", "image/png", ""),
        ("assets/page.html", "text/html; charset=utf-8", "page.html"),
        ("scripts/a/run.py", "text/x-python; charset=utf-8", "run.py"),
    ],
)
def test_a_file_is_its_exact_bytes_that_no_browser_runs(
    client: TestClient, pack_folder: Path, path: str, media_type: str, saved: str
) -> None:
    answer = client.get(f"/v1/skills/beta/files/{path}")
    name = path.rpartition("/")[2].replace("references%2F", "")
    file = min((pack_folder / "beta").rglob(name))  # scripts/a before scripts/b
    disposition = f"attachment; filename*=UTF-8''{saved}" if saved else ""

    assert answer.content == file.read_bytes()
    assert answer.headers["content-type"] == media_type
    assert answer.headers.get("content-disposition", "") == disposition
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["etag"] == f'"{sha256(answer.content).hexdigest()}"'
    assert "sandbox" in answer.headers["content-security-policy"]


def test_find_gives_the_best_first(client: TestClient) -> None:
    actual = client.get("/v1/find", params={"q": "beta forms", "k": 1}).json()

    assert actual["query"] == "beta forms"
    assert [hit["id"] for hit in actual["hits"]] == ["beta"]
    assert actual["hits"][0]["source"] == "skills"


@pytest.mark.parametrize(
    ("status", "code", "paths"),
    [
        (404, "skill-not-found", "skills/nobody skills/Alpha"),
        (404, "reference-not-allowed", "skills/beta/files/nothing.md"),
        (404, "ambiguous-reference", "skills/beta/files/run.py"),
        (
            404,
            "reference-escapes",
            (
                "skills/beta/files/..%2Falpha%2FSKILL.md skills/beta/files/a%00b "
                "skills/beta/files/%2Fetc%2Fpasswd"
            ),
        ),
        (
            404,
            "not-found",
            (
                "skills/beta/files/%ff skills/beta/elsewhere/x skills/beta/files "
                "skills/ catalog/ ../v2/catalog"
            ),
        ),
        (
            422,
            "invalid-parameter",
            (
                "catalog?limit=0 catalog?limit=1e3 catalog?limit=1&limit=2 "
                "catalog?page=2 prompt?style=yaml prompt?budget=some prompt?budget=0 "
                f"prompt?budget={'9' * 5000} prompt?format=xml-spec "
                f"find find?q= find?q={'x' * 1001} openapi.json?x=1"
            ),
        ),
    ],
    ids=lambda value: value if len(str(value)) < 25 else "",
)
def test_every_error_has_one_shape(
    client: TestClient, status: int, code: str, paths: str
) -> None:
    for path in paths.split():
        answer = client.get(f"/v1/{path}")

        actual = answer.status_code, answer.json()["error"]["code"]
        assert actual == (status, code), path
        assert set(answer.json()["error"]) == {"code", "message"}
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["content-type"] == "application/json"


@pytest.mark.parametrize(
    "path", ["/v1/catalog", "/healthz", "/readyz", "/metrics", "/"]
)
def test_nothing_can_be_changed(client: TestClient, path: str) -> None:
    for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS"):
        answer = client.request(method, path)

        assert answer.status_code == 405
        assert answer.headers["allow"] == "GET, HEAD"
        assert answer.json()["error"]["code"] == "method-not-allowed"


@pytest.mark.parametrize(
    "path",
    ["/v1/catalog", "/v1/prompt", "/v1/skills/beta", "/v1/skills/beta/files/guide.md"],
)
def test_what_a_caller_has_is_not_sent_again(client: TestClient, path: str) -> None:
    whole = client.get(path)
    head = client.head(path)
    tag = whole.headers["etag"]
    again = [
        client.get(path, headers={"If-None-Match": item})
        for item in (tag, f'"x", W/{tag}', "*")
    ]

    assert head.headers["etag"] == tag
    assert head.headers["content-length"] == str(len(whole.content))
    assert head.headers["content-type"] == whole.headers["content-type"]
    assert head.content == b""
    assert {item.status_code for item in again} == {304}
    assert {item.headers["etag"] for item in again} == {tag}
    assert client.get(path, headers={"If-None-Match": '"x"'}).status_code == 200
    assert whole.headers["cache-control"] == "public, max-age=60"


def test_an_edit_gives_another_tag(
    client: TestClient, library: ServedLibrary, pack_folder: Path
) -> None:
    before = client.get("/v1/catalog").headers["etag"]
    write_pack(pack_folder, "alpha", "Use for alpha, now.")
    library.refresh()

    assert client.get("/v1/catalog").headers["etag"] != before


@pytest.mark.row("C33", "G09")
def test_each_load_is_one_event_with_the_program_that_asked(
    client: TestClient, sink: ListSink
) -> None:
    """Neither a list, nor a search, nor HEAD is a use."""
    agent = {"User-Agent": "acme-agent/1.2 (+https://acme.example)"}
    client.get("/v1/catalog", headers=agent)
    client.get("/v1/find?q=beta", headers=agent)
    client.head("/v1/skills/beta", headers=agent)
    client.head("/v1/skills/beta/files/guide.md", headers=agent)
    client.get("/v1/skills/beta", headers=agent)
    client.get("/v1/skills/beta/files/guide.md", headers=agent)
    client.get("/v1/skills/nobody", headers=agent)

    loads = [event for event in sink.events if event.event == "skill_loaded"]
    assert [(load.name, load.reference, load.code) for load in loads] == [
        ("beta", None, None),
        ("beta", "references/guide.md", None),
        ("nobody", None, "skill-not-found"),
    ]
    assert {(item.via, item.client) for item in loads} == {("http", "acme-agent")}


@pytest.mark.parametrize(
    ("user_agent", "client_name"),
    [
        ("curl/8.5.0", "curl"),
        ("Mozilla/5.0 (X11; Linux)", "Mozilla"),
        ("\x1b[31mred/1", ""),
        ("<script>", ""),
        ("", ""),
        ("a" * 500, "a" * 64),
    ],
    ids=["curl", "browser", "escape", "markup", "none", "long"],
)
def test_a_program_is_what_its_user_agent_says_first(
    client: TestClient, sink: ListSink, user_agent: str, client_name: str
) -> None:
    client.get("/v1/skills/alpha", headers={"User-Agent": user_agent})

    assert [event.client for event in sink.events if event.event == "skill_loaded"] == [
        client_name
    ]


def test_a_caller_has_its_own_skills(client_of: Callable[[Caller], TestClient]) -> None:
    client = client_of(Caller("desk", ("b*",)))

    assert [e["id"] for e in client.get("/v1/catalog").json()["skills"]] == ["beta"]
    assert client.get("/v1/find?q=alpha").json()["hits"] == []
    assert "alpha" not in client.get("/v1/prompt").json()["text"]
    assert client.get("/v1/skills/alpha").status_code == 404
    assert client.get("/v1/skills/alpha/files/SKILL.md").status_code == 404
    assert client.get("/v1/skills/beta").status_code == 200


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        ({"policy": Policy(deny("alpha"))}, "denied-by-policy", ""),
        ({"policy": Policy(ask("alpha"))}, "approval-required", ""),
        (
            {"disabled": ["alpha"]},
            "skill-withheld",
            "skill 'alpha' is disabled and is not handed out",
        ),
    ],
)
def test_what_is_forbidden_or_switched_off_is_not_handed_out(
    pack_folder: Path, options: dict[str, object], code: str, message: str
) -> None:
    """And no guess at a name is told of it."""
    write_pack(pack_folder, "alphabet")
    client = client_for(pack_folder, **options)

    answer = client.get("/v1/skills/alpha")
    guess = client.get("/v1/skills/alphab").json()["error"]["message"]

    assert (answer.status_code, answer.json()["error"]["code"]) == (403, code)
    assert message in answer.json()["error"]["message"]
    hidden = code != "approval-required"
    assert guess.endswith("did you mean alphabet?") is hidden


@pytest.mark.parametrize(
    ("failure", "status", "code"),
    [
        (away("/srv/secret"), 503, "source-unavailable"),
        (SkillManifestError("/srv/secret", "x"), 503, "invalid-manifest"),
        (DigestMismatchError("a", "SKILL.md", detail="x"), 502, "digest-mismatch"),
    ],
    ids=["away", "made up", "tampered"],
)
def test_trouble_with_a_source_names_no_place(
    failure: Exception, status: int, code: str
) -> None:
    source = FakeSource("/srv/secret", {"a": {"SKILL.md": pack("a")}})
    client = client_for(source)
    source.failure = failure

    answer = client.get("/v1/skills/a")

    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)
    assert "/srv" not in answer.text


def test_a_fault_of_our_own_tells_nothing(
    client: TestClient, library: ServedLibrary, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("/srv/secret")

    monkeypatch.setattr(library, "view", fail)
    answer = client.get("/v1/catalog")

    assert answer.status_code == 500
    assert answer.json()["error"]["code"] == "internal-error"
    assert "secret" not in answer.text


@pytest.mark.row("G16")
def test_no_answer_holds_a_path_of_the_machine(
    client: TestClient, pack_folder: Path
) -> None:
    for path in (
        *("/", "/readyz", "/metrics", "/v1/catalog", "/v1/find?q=beta"),
        *("/v1/prompt", "/v1/prompt?format=json", "/v1/openapi.json"),
        *("/v1/skills/beta", "/v1/skills/nobody", "/v1/skills/beta/files/nothing"),
        "/.well-known/agent-skills/index.json",
    ):
        text = client.get(path).text
        assert str(pack_folder.parent) not in text, path
        assert json.dumps(str(pack_folder.parent))[1:-1] not in text, path


@pytest.mark.row("F03", "T02")
def test_two_packs_of_one_id_are_told_and_the_rest_is_served(tmp_path: Path) -> None:
    write_pack(tmp_path / "one", "alpha")
    write_pack(tmp_path / "one", "beta")
    write_pack(tmp_path / "two", "alpha", "Use for something else.")
    client = client_for(tmp_path / "one", tmp_path / "two")

    answer = client.get("/v1/skills/alpha")

    assert answer.status_code == 503
    assert answer.json()["error"]["code"] == "duplicate-skill"
    assert str(tmp_path) not in answer.text
    assert client.get("/v1/skills/beta").status_code == 200
    listed = client.get("/v1/catalog").json()["skills"]
    assert [skill["id"] for skill in listed] == ["beta"]
    index = client.get("/.well-known/agent-skills/index.json").json()
    assert [skill["name"] for skill in index["skills"]] == ["beta"]


def test_an_id_may_hold_a_slash() -> None:
    client = client_for(FakeSource("s", {"a": {"SKILL.md": pack("acme/pdf")}}))

    assert client.get("/v1/skills/acme%2Fpdf").json()["id"] == "acme/pdf"
    assert client.get("/v1/skills/acme%2Fpdf/files/SKILL.md").status_code == 200
    assert client.get("/v1/skills/acme/pdf").status_code == 404


def test_an_error_without_a_place_here_is_a_fault_of_our_own() -> None:
    assert error_answer(ConfigError("/srv/secret", "x")) is INTERNAL_ERROR


@pytest.mark.parametrize(
    "label", ["/srv/team/skills", "C:\\team\\skills", "../../ana/skills", "skills"]
)
def test_a_label_that_is_a_path_is_told_by_its_last_name(label: str) -> None:
    source = FakeSource(label, {"a": {"SKILL.md": pack("a")}})

    assert public_labels(Satchel(source).catalog) == {label: "skills"}


def test_no_two_sources_have_one_name_outside() -> None:
    labels = ["a#2", "/srv/x/a", "/srv/y/a", "b\x1b[31m"]
    catalog = Satchel(*(FakeSource(label, {}) for label in labels)).catalog

    assert [*public_labels(catalog).values()] == ["a#2", "a", "a#3", "b<U+001B>[31m"]


def test_the_manifest_of_a_skill_in_code_is_told_though_it_has_no_frontmatter() -> None:
    class Bare(FakeSource):
        def manifest(self, key: str) -> Manifest:
            return Manifest(name=key, description="Use when testing.")

    source = Bare("s", {"a": {"SKILL.md": "Just text.\n"}})

    assert client_for(source).get("/v1/skills/a").json()["frontmatter"] == {
        "name": "a",
        "description": "Use when testing.",
    }


def test_a_repeated_skill_is_a_load_each_time_and_never_an_old_one(
    client: TestClient, library: ServedLibrary, sink: ListSink, pack_folder: Path
) -> None:
    path = "/v1/skills/beta"
    first = client.get(path)
    tag = first.headers["etag"]

    assert client.get(path).content == first.content
    assert client.get(path, headers={"If-None-Match": tag}).status_code == 304
    assert client.head(path).headers["etag"] == tag
    assert client.get(path, headers={"Satchel-Purpose": "sync"}).json() == first.json()
    assert client.get(f"{path}?x=1").status_code == 422
    assert [event.name for event in sink.events] == ["beta"] * 3
    assert len({event.digest for event in sink.events}) == 1
    assert len(sink.skill_syncs) == 1

    write_pack(pack_folder, "beta", "Use otherwise.")
    changed = client.get(path).json()
    assert changed["description"] == "Use otherwise."
    assert changed["resources"] != first.json()["resources"]
    (pack_folder / "beta/SKILL.md").unlink()
    library.refresh()
    assert client.get(path).status_code == 404


def test_a_repeated_catalog_is_that_of_now(
    client: TestClient, library: ServedLibrary, pack_folder: Path
) -> None:
    path = "/v1/catalog?limit=2"
    first = client.get(path)

    assert client.get(path).content == first.content
    assert client.head(path).headers["etag"] == first.headers["etag"]
    assert client.get("/v1/catalog?limit=3").json()["next"] is None
    write_pack(pack_folder, "aaa", "Use for all.")
    library.refresh()
    assert client.get(path).json()["total"] == 4


def test_a_repeated_answer_asks_the_rules_again(pack_folder: Path) -> None:
    hidden: set[str] = set()
    policy = Policy(deny("alpha", unless=lambda _: "alpha" not in hidden))
    client = client_for(pack_folder, policy=policy)
    for path in ("/v1/skills/alpha", "/v1/catalog"):
        hidden.clear()
        for _ in range(2):
            assert "Use for alpha." in client.get(path).text
        hidden.add("alpha")
        assert "Use for alpha." not in client.get(path).text
