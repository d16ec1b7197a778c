"""Anyone who reaches the server can pin the release that it serves."""

from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from satchel import Options, Policy, Satchel, deny, sources
from satchel.cli import _options as opening, main
from satchel.testing import write_pack
from satchel.usage import ListSink
from satchel_server import ServedLibrary, create_app
from satchel_store.release import build_folder
from tests.unit.server import conftest
from tests.unit.server.http.conftest import client_for


@pytest.fixture
def dist(tmp_path: Path) -> Path:
    for name in ("alpha", "beta"):
        files = {"references/more.md": f"More of {name}."}
        write_pack(tmp_path / "skills", name, f"Use for {name}.", files=files)
    write_pack(tmp_path / "skills", "alone", "Use it alone.")
    build_folder(Satchel(tmp_path / "skills"), tmp_path / "dist")
    return tmp_path / "dist"


def listening(skills: Satchel) -> AbstractContextManager[str]:
    return conftest.listening(create_app(ServedLibrary(skills)))


@pytest.fixture
def home(dist: Path) -> str:
    return f"/releases/{Satchel(dist).catalog.release.rpartition(':')[2]}"


def test_what_is_served_can_be_pinned(dist: Path) -> None:
    skills = Satchel(dist)
    pin = skills.catalog.release

    with listening(skills) as url:
        source = sources.http(url, pin=pin, allow_private=True)
        with Satchel(source) as there:
            assert there.health().problems == ()
            assert there.catalog.release == pin
            assert [e.id for e in there.catalog] == ["alone", "alpha", "beta"]
            assert there.load("alpha").data == skills.load("alpha").data
            assert there.load("beta", "more.md").text == "More of beta."
            assert there.digest("beta") == skills.digest("beta")


def test_the_front_door_may_be_told_to_go_there(
    dist: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pin = Satchel(dist).catalog.release

    with listening(Satchel(dist)) as url:
        with Satchel(url, pin=pin, options=Options(allow_private=True)) as there:
            assert there.load("alpha").data == Satchel(dist).load("alpha").data
        with Satchel(url, pin=pin) as refused:
            assert len(refused.catalog) == 0
            assert "allow_private allows" in refused.health().problems[0]
        settings = tmp_path / "satchel.toml"
        settings.write_text(f'skills = ["{url}#{pin}"]\nallow_private = true\n')
        own = {"SATCHEL_CONFIG": str(settings)}
        with Satchel(options=Options(config=settings, environ=own)) as there:
            assert there.catalog.release == pin


def test_an_address_that_is_typed_may_be_of_this_machine(
    dist: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    skills = Satchel(dist)
    with listening(skills) as url, pytest.raises(SystemExit) as ended:
        main(["show", "alpha", "--skills", f"{url}#{skills.catalog.release}"])

    assert ended.value.code == 0
    assert capsysbinary.readouterr().out == skills.load("alpha").body.encode()


@pytest.mark.parametrize(
    ("url", "answer"),
    [
        ("http://localhost:8321", True),
        ("http://127.0.0.1:8321/x#sha256-tree-v1:00", True),
        ("https://[::1]/", True),
        ("https://10.1.2.3/", True),
        ("https://8.8.8.8/", False),
        ("https://skills.example.com", False),
        ("https://localhost.example.com", False),
        ("https://[bad", False),
    ],
)
def test_private_is_what_is_called_so(url: str, answer: bool) -> None:
    assert opening._is_private(url) == answer


def test_each_file_has_its_digest_for_a_validator(dist: Path, home: str) -> None:
    sink = ListSink()
    client = client_for(dist, sinks=[sink])

    current = client.get("/release.json").json()["release"]
    assert current.rpartition(":")[2] == home.removeprefix("/releases/")
    for path in ("release.json", "archives/alpha.tar.gz", "skills/alpha/SKILL.md"):
        answer = client.get(f"{home}/{path}")
        again = {"If-None-Match": answer.headers["etag"]}
        assert answer.status_code == 200
        assert answer.content == (dist / path).read_bytes()
        assert client.get(f"{home}/{path}", headers=again).status_code == 304
    assert [event.name for event in sink.skill_syncs] == ["alpha"] * 4
    client.head(f"{home}/archives/alpha.tar.gz")
    assert len(sink.skill_syncs) == 4
    assert sink.events == []


@pytest.mark.row("X03", "G09")
def test_what_a_release_does_not_have_is_told_of(dist: Path, home: str) -> None:
    sink = ListSink()
    client = client_for(dist, sinks=[sink])
    for path in ("skills/nobody/SKILL.md", "skills/alpha/x.md", "archives/no.tar.gz"):
        client.head(f"{home}/{path}")
        assert client.get(f"{home}/{path}").status_code == 404

    assert [(e.name, e.file, e.code) for e in sink.skill_syncs] == [
        ("nobody", None, "skill-not-found"),
        ("alpha", "x.md", "reference-not-allowed"),
        ("no", None, "skill-not-found"),
    ]


def test_there_is_nothing_else(dist: Path, home: str) -> None:
    client = client_for(dist)
    for path in (
        *("/releases/", "/releases/00/release.json", home, f"{home}/nothing"),
        *(f"{home}/skills/alpha", f"{home}/skills/alpha/nothing.md"),
        *(f"{home}/skills/alpha/more.md", f"{home}/skills/nobody/SKILL.md"),
        f"{home}/skills/alpha/%2e%2e/%2e%2e/release.json",
    ):
        answer = client.get(path)

        assert answer.status_code in (403, 404), path
        assert "error" in answer.json()


def test_a_plain_folder_has_no_release(dist: Path) -> None:
    client = client_for(dist.parent / "skills")

    assert client.get("/releases/").status_code == 404
    assert client.get("/release.json").status_code == 404


def test_a_caller_who_may_not_have_all_gets_no_list(dist: Path, home: str) -> None:
    client = client_for(dist, policy=Policy(deny("beta")))

    assert client.get(f"{home}/release.json").status_code == 404
    assert client.get(f"{home}/archives/beta.tar.gz").status_code == 404
    assert client.get(f"{home}/skills/beta/SKILL.md").status_code == 403
    assert client.get(f"{home}/skills/alpha/SKILL.md").status_code == 200
