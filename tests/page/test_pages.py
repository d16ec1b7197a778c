"""Each address of the page: what it shows, to whom, and with which headers."""

import re
import time
from html import unescape
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from satchel import Options, Satchel
from satchel.model import Descriptor
from satchel.testing import write_pack
from satchel.usage import ListSink
from satchel_server import GuardSettings, ServedLibrary, guarded_app
from satchel_server.usage import read_report
from tests.page.conftest import client_of, library_of
from tools.pictures_of_page import SKILLS, Sample

CSP = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
VIEWS = (
    *("/ui", "/ui?q=refund", "/ui?owner=finance&sort=cost&page=2", "/ui/use"),
    *("/ui/use?days=7", "/ui/use/dead", "/ui/use/skills", "/ui/use/acts", "/ui/state"),
    *("/ui/skills/refund-rules", "/ui/skills/draft"),
    "/ui/skills/refund-rules/files/references/rules.md",
    "/ui/skills/refund-rules/files/SKILL.md",
)


@pytest.mark.parametrize("path", VIEWS)
def test_each_view_is_a_page_that_no_cache_keeps(client: TestClient, path: str) -> None:
    answer = client.get(path)

    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.headers["content-security-policy"] == CSP
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["referrer-policy"] == "same-origin"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert not re.search(r"<script(?! src=)|<style| style=| on\w+=", answer.text)
    assert answer.text.count("<h1") == 1
    assert client.head(path).headers["content-length"] == str(len(answer.content))
    assert client.head(path).content == b""


def test_no_link_leads_nowhere(client: TestClient) -> None:
    """From the first view to all others, also to those of a pack that is not listed."""
    seen, wrong, todo = {"/ui"}, list[str](), ["/ui", "/ui/skills/draft"]
    while todo:
        path = todo.pop()
        answer = client.get(path)
        wrong += [path] * (answer.status_code != 200)
        links = re.findall(r'href="(/ui[^"#]*)', answer.text)
        new = {unescape(link) for link in links} - seen
        seen |= new
        todo += new

    assert (wrong, len(seen) > 40) == ([], True)


def test_a_slash_at_the_end_of_the_address_is_no_error(client: TestClient) -> None:
    """Some people and proxies add one."""
    answer = client.get("/ui/?q=refund")

    assert answer.status_code == 200
    assert ids(answer.text) == ids(client.get("/ui?q=refund").text)


def test_a_browser_that_asks_for_the_root_is_sent_to_the_page(made: Sample) -> None:
    client = client_of(made.library)

    answer = client.get("/")

    assert (answer.status_code, answer.headers["location"]) == (303, "/ui")
    text = client.get("/", headers={"accept": "*/*"})
    assert text.headers["vary"] == "Accept"
    assert "/v1/catalog" in text.text


def test_without_it_nothing_is_there(made: Sample) -> None:
    app = guarded_app(made.library, GuardSettings(page=False))
    client = TestClient(
        app, base_url="http://127.0.0.1", headers={"accept": "text/html"}
    )

    assert client.get("/").text.startswith("satchel: 13 skills")
    assert client.get("/ui").json()["error"]["code"] == "not-found"


def test_the_list_shows_owner_source_tags_and_cost(client: TestClient) -> None:
    text = client.get("/ui").text

    for name, owner, tag, _, about in SKILLS:
        assert f'href="/ui/skills/{name}"' in text
        assert owner in text
        assert tag in text
        assert about in text
    assert "1 to 13 of 13 skills" in text
    assert re.search(r'class="cost">\d+ \+ \d+<', text)


def ids(text: str) -> list[str]:
    return re.findall(r'<h2><a href="/ui/skills/([^"]+)"', text)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("owner=legal", ["contract-review", "data-retention"]),
        ("tag=WRITING", ["brand-voice", "release-notes"]),
        ("source=team", ["standup-notes"]),
        ("owner=finance&tag=policy", ["travel-policy"]),
        ("finding=error", []),
        ("owner=nobody", []),
        ("q=refund&owner=legal", []),
    ],
)
def test_filters_narrow_the_list(
    client: TestClient, query: str, expected: list[str]
) -> None:
    assert ids(client.get(f"/ui?{query}").text) == expected


def test_search_finds_as_find_does_with_its_reasons(
    client: TestClient, made: Sample
) -> None:
    query = "money back for a customer"

    text = client.get("/ui", params={"q": query}).text

    hits = made.library.skills.find(query, 50)
    assert ids(text) == [hit.id for hit in hits]
    assert "<mark>money</mark> in description" in text
    assert text.count("weak match") == sum(hit.weak for hit in hits)


def test_a_name_that_is_not_listed_says_why(client: TestClient) -> None:
    found = client.get("/ui?q=draft").text
    skill = client.get("/ui/skills/draft").text
    state = client.get("/ui/state").text

    assert "is here and not listed" in found
    for text in (skill, state):
        assert "refused" in text
        assert "there is no description" in text


def test_a_skill_shows_text_files_digests_cost_and_lines(
    client: TestClient, made: Sample
) -> None:
    entry = made.library.catalog.get("refund-rules")
    assert entry is not None

    text = client.get("/ui/skills/refund-rules").text

    assert "<h3>Refund rules</h3>" in text
    assert (
        'href="/ui/skills/refund-rules/files/references/rules.md" '
        'rel="noopener noreferrer nofollow">the rules</a>' in text
    )
    assert entry.digest in text
    assert made.library.catalog.release_of("releases") in text
    assert "satchel connect claude-code --url http://127.0.0.1/mcp --write" in text
    assert "curl http://127.0.0.1/v1/skills/refund-rules" in text
    assert "Nothing to report" in text
    assert "Listed with its name and its whole description" in text


def test_the_history_has_the_releases_and_their_differences(client: TestClient) -> None:
    page = client.get("/ui/skills/refund-rules").text
    text = client.get("/ui/skills/refund-rules/history").text

    assert 'href="/ui/skills/refund-rules/history"' in page
    links = re.findall(r'href="(/ui/skills/refund-rules/history/[^"]+)"', text)
    assert len(links) == 2
    assert "changed <bdi>SKILL.md" in text
    assert "served now" in text
    assert "the first release here that has it" in text
    changed, first = (client.get(link).text for link in links)
    assert '<div class="line added">+Above 500 euros, ask a person first.' in changed
    assert "Read** the request" not in changed
    assert '<div class="line added">+# Rules' in first
    assert client.get("/ui/skills/refund-rules/history/sha256:0").status_code == 404
    assert "There is none here" in client.get("/ui/skills/standup-notes/history").text
    without = client.get("/ui/skills/standup-notes").text
    assert "/ui/skills/standup-notes/history" not in without
    assert "This source has no releases" in without


def test_use_shows_loads_the_dead_and_what_was_not_found(client: TestClient) -> None:
    text = client.get("/ui/use").text

    dead = text[text.index('id="dead"') :]
    assert 'href="/ui/skills/data-retention"' in dead
    assert "never loaded, owner legal" in dead
    assert "holiday-calendar" in text
    assert text.count("<rect x=") == 30
    assert "core: the first" in text.casefold()
    assert "Show the latest acts" in text
    assert client.get("/ui/use/nothing").status_code == 404
    assert 'aria-current="true">7 days' in client.get("/ui/use?days=7").text


@pytest.mark.parametrize("dimension", ["client", "agent", "owner"])
def test_use_says_how_many_loads_have_no_name(
    client: TestClient, made: Sample, dimension: str
) -> None:
    report = read_report(made.usage, now=time.time(), days=30)
    rest = report.loads - sum(loads[0] for loads in report.by[dimension].values())
    note = f"{rest} loads without a name here" if rest else "without a name here"

    for path in ("/ui/use", f"/ui/use/{dimension}"):
        text = client.get(path).text
        section = text[text.index(f"Loads by {dimension}") :].partition("</section>")[0]
        assert (note in section) is bool(rest)


def test_where_nothing_is_recorded_it_says_so(made: Sample, tmp_path: Path) -> None:
    empty = client_of(made.library, str(tmp_path / "no.db"))
    damaged = tmp_path / "damaged.db"
    damaged.write_bytes(b"SQLite format 3\0" + b"x" * 100)

    assert "Use is not recorded here" in client_of(made.library).get("/ui/use").text
    assert "None in 30 days" in empty.get("/ui/use").text
    assert "No act is on record" in empty.get("/ui/use/acts").text
    assert "cannot be read" in client_of(made.library, str(damaged)).get("/ui/use").text


def test_the_line_of_state_names_what_is_away(client: TestClient) -> None:
    for path in ("/ui", "/ui/use", "/ui/skills/refund-rules", "/ui/state"):
        text = client.get(path).text
        assert "1 source away: <bdi>https://skills.example.com</bdi>" in text
        assert "1 pack not listed" in text
        assert "no event waits" in text
    assert "connection refused" in client.get("/ui/state").text


def test_no_path_of_the_machine_is_shown(client: TestClient, made: Sample) -> None:
    home = str(Path(made.usage.removeprefix("sqlite://")).parent)

    for path in VIEWS:
        assert home not in client.get(path).text


def test_looking_is_no_use(tmp_path: Path) -> None:
    """No event, so that no look of a person keeps a dead skill alive."""
    write_pack(
        tmp_path, "alpha", "Use for alpha.", "Do.", files={"references/a.md": "A"}
    )
    sink = ListSink()
    client = client_of(ServedLibrary(Satchel(tmp_path, sinks=[sink])))
    before = len(sink.events)

    for path in ("", "?q=alpha", "?q=qwertyuiop", "/skills/alpha", "/skills/nothing"):
        client.get(f"/ui{path}")
    client.get("/ui/skills/alpha/files/references/a.md")

    assert len(sink.events) == before


def test_ten_thousand_skills_come_a_page_at_a_time() -> None:
    text = "---\nname: skill-{0:05}\ndescription: Use it for {0}.\n---\nDo.\n"
    packs = {f"skill-{n:05}": {"SKILL.md": text.format(n)} for n in range(10_000)}
    client = client_of(library_of(packs))

    first, last = client.get("/ui").text, client.get("/ui?page=200").text

    assert len(ids(first)) == len(ids(last)) == 50
    assert "1 to 50 of 10,000 skills" in first
    assert 'rel="next" href="/ui?page=2"' in first
    assert "9,951 to 10,000 of 10,000 skills" in last
    assert client.get("/ui?page=99999").text == last
    assert ids(client.get("/ui?q=skill-07777").text)[0] == "skill-07777"


@pytest.mark.parametrize(
    ("path", "status", "title"),
    [
        ("/ui/nothing", 404, "Not here"),
        ("/ui/skills/nothing", 404, "Not here"),
        ("/ui/skills/", 404, "Not here"),
        ("/ui/skills/refund-rules/files/nothing.md", 404, "Not here"),
        ("/ui/skills/refund-rules/files/../../x", 404, "Not here"),
        ("/ui/skills/%FF", 404, "Not here"),
        ("/ui/static/nothing.js", 404, "Not here"),
    ],
)
def test_errors_are_pages(
    client: TestClient, path: str, status: int, title: str
) -> None:
    answer = client.get(path)

    assert answer.status_code == status
    assert f"<h1>{title}</h1>" in answer.text
    assert answer.headers["content-security-policy"] == CSP


def test_a_fault_and_too_many_requests_are_pages(
    made: Sample, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("satchel_server._page._routes.LibraryFacts", None)
    broken = client_of(made.library).get("/ui")

    assert broken.status_code == 500
    assert "<h1>Something went wrong here</h1>" in broken.text
    assert "TypeError" not in broken.text
    assert client_of(made.library).get("/v1/nothing").json()["error"]


@pytest.mark.parametrize(
    ("method", "path", "allow"),
    [
        ("POST", "/ui", {"GET", "HEAD"}),
        ("PUT", "/ui/skills/refund-rules", {"GET", "HEAD"}),
        ("DELETE", "/ui/use/dead", {"GET", "HEAD"}),
        ("GET", "/ui/logout", {"POST"}),
    ],
)
def test_a_wrong_method_is_a_page(
    client: TestClient, method: str, path: str, allow: set[str]
) -> None:
    answer = client.request(method, path)

    assert answer.status_code == 405
    assert "<h1>Wrong method</h1>" in answer.text
    assert set(answer.headers["allow"].split(", ")) == allow
    assert answer.headers["content-security-policy"] == CSP


def test_a_browser_asks_again_for_static_files_only_if_they_changed(
    client: TestClient,
) -> None:
    (address,) = re.findall(r'href="(/ui/static/style\.css)"', client.get("/ui").text)

    answer = client.get(address)
    again = client.get(address, headers={"if-none-match": answer.headers["etag"]})

    assert answer.headers["content-type"] == "text/css; charset=utf-8"
    assert "max-age" in answer.headers["cache-control"]
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert again.status_code == 304


def test_what_other_products_supply_may_be_absent(
    made: Sample, monkeypatch: pytest.MonkeyPatch
) -> None:
    absent = {"check": ("What check says", "satchel_absent.panels")}
    monkeypatch.setattr("satchel_server._page._skill.PANELS", absent)

    text = client_of(made.library).get("/ui/skills/refund-rules").text

    assert "What check says needs satchel_absent, which is not here" in text


def test_the_wheel_has_what_pages_refer_to() -> None:
    from hatchling.builders.wheel import WheelBuilder

    root = Path(__file__).parents[2]
    files = {
        file.distribution_path.replace("\\", "/")
        for file in WheelBuilder(str(root)).recurse_included_files()
    }

    page = root / "src" / "satchel_server" / "_page"
    paths = [*page.glob("templates/*"), *page.glob("static/*")]
    assert len(paths) > 10
    for path in paths:
        assert f"satchel_server/_page/{path.parent.name}/{path.name}" in files


def test_a_sync_is_looked_through_before_somebody_waits_for_it(tmp_path: Path) -> None:
    """And the page is about the new catalog at once."""
    write_pack(tmp_path, "alpha", "Use for alpha.", "Do.")
    library = ServedLibrary(Satchel(tmp_path, sinks=()))
    client = client_of(library)
    assert ids(client.get("/ui").text) == ["alpha"]

    write_pack(tmp_path, "beta", "Use for beta.", "Do.")
    library.refresh()

    assert ids(client.get("/ui").text) == ["alpha", "beta"]


def test_an_id_may_have_a_slash(tmp_path: Path) -> None:
    write_pack(tmp_path / "team", "alpha", "Use for alpha.", "Do [it](a b.md).")
    (tmp_path / "team" / "alpha" / "a b.md").write_text("# Spaces\n", "utf-8")
    options = Options(prefix="{parent}/")
    skills = Satchel(tmp_path, sinks=(), options=options)
    client = client_of(ServedLibrary(skills))
    (skill_id,) = (entry.id for entry in skills.catalog)

    (shown,) = ids(client.get("/ui").text)

    assert "/" in skill_id
    assert shown == "team%2Falpha"
    assert client.get(f"/ui/skills/{shown}").status_code == 200
    file = client.get(f"/ui/skills/{shown}/files/a%20b.md")
    assert "<h3>Spaces</h3>" in file.text


class _Verifier:
    """Knows who signed everything."""

    def problem_of(self, skill: Descriptor) -> None:
        del skill

    def verify(self, skill: Descriptor, path: str, digest: str) -> str:
        del skill, path, digest
        return "signed by <ana@example.com>"


def test_a_skill_names_its_signer(tmp_path: Path) -> None:
    write_pack(tmp_path, "alpha", "Use for alpha.", "Do.")
    options = Options(verifier=_Verifier())
    client = client_of(ServedLibrary(Satchel(tmp_path, sinks=(), options=options)))

    text = client.get("/ui/skills/alpha").text

    assert "signed by &lt;ana@example.com&gt;" in text
    assert "no lock or signature" not in text
