"""Of very many skills, names and descriptions are searched before instructions."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from satchel import Options, Satchel
from satchel.model import Hit
from satchel.protocols import CatalogView
from satchel.search import _library
from satchel.search._ranker import FOLLOWER
from tests.fakes import FakeSource, pack

QUERY = "fill a form zebra17"


@pytest.fixture(autouse=True)
def _few_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_library, "MOST_AT_ONCE", 10)
    monkeypatch.setattr(_library, "_PIECE", 8)


def skill(n: int) -> str:
    return pack(f"s{n}", f"Fill form {n}.", f"About zebra{n}.\n")


class SlowSource(FakeSource):
    """Hands out instructions only when the test says so."""

    def __init__(self, packs: dict[str, dict[str, str | bytes]]) -> None:
        super().__init__("s", packs)
        self.gate = threading.Event()

    def read(self, key: str, path: str, limit_bytes: int) -> bytes:
        if threading.current_thread().name == FOLLOWER:
            self.gate.wait(60)
        return super().read(key, path, limit_bytes)


def packs(count: int = 30) -> dict[str, dict[str, str | bytes]]:
    return {f"s{n}": {"SKILL.md": skill(n)} for n in range(count)}


@pytest.fixture
def slow() -> Iterator[SlowSource]:
    source = SlowSource(packs())
    yield source
    source.gate.set()


def complete(source: FakeSource) -> list[Hit]:
    return Satchel(FakeSource("s", source.packs)).find(QUERY, 5, whole=True)


def test_the_first_answer_waits_for_no_instructions_and_says_so(
    slow: SlowSource,
) -> None:
    skills = Satchel(slow)

    first = skills.find(QUERY, 5)
    assert {hit.partial for hit in first} == {True}
    assert "zebra17" not in {term for hit in first for term in hit.terms}
    slow.gate.set()
    assert skills.find(QUERY, 5, whole=True) == complete(slow)
    assert skills.find(QUERY, 5) == complete(slow)
    assert complete(slow)[0].id == "s17"
    assert not complete(slow)[0].partial


def test_a_whole_answer_waits_at_once() -> None:
    source = FakeSource("s", packs())

    assert Satchel(source).find(QUERY, 5, whole=True) == complete(source)
    assert [h.id for h in Satchel(source).find([QUERY], 1, whole=True)] == ["s17"]


def test_few_skills_are_searched_whole() -> None:
    hits = Satchel(FakeSource("s", packs(10))).find("zebra7")

    assert [(hit.id, hit.partial) for hit in hits] == [("s7", False)]


def test_another_catalog_is_searched_from_the_start(slow: SlowSource) -> None:
    skills = Satchel(slow)
    skills.find(QUERY)
    slow.packs["new"] = {"SKILL.md": pack("new", "Zebra17, new.")}
    skills.sync()

    assert skills.find("zebra17")[0].id == "new"
    slow.gate.set()
    assert [hit.id for hit in skills.find("zebra17", whole=True)] == ["new", "s17"]
    skills.close()


def test_one_that_ends_early_leaves_its_pieces_to_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for n in range(30):
        folder = tmp_path / "packs" / f"s{n}"
        folder.mkdir(parents=True)
        (folder / "SKILL.md").write_text(skill(n))
    options = Options(index=tmp_path / "cache" / "index.db")
    index_piece = _library.LibrarySegments.index_piece
    first_is_there, closed = threading.Event(), threading.Event()

    def slowly(segments: _library.LibrarySegments, catalog: CatalogView) -> bytes:
        if len(segments.waiting) < 30:
            first_is_there.set()
            closed.wait(60)
        return index_piece(segments, catalog)

    with monkeypatch.context() as patched:
        patched.setattr(_library.LibrarySegments, "index_piece", slowly)
        with Satchel(tmp_path / "packs", options=options) as skills:
            assert skills.find(QUERY)[0].partial
            assert first_is_there.wait(60)
        closed.set()
    [piece] = (tmp_path / "cache").rglob("*.segment")

    with Satchel(tmp_path / "packs", options=options) as skills:
        found = skills.find(QUERY, whole=True)
    assert found == Satchel(tmp_path / "packs", options=Options(index=False)).find(
        QUERY, whole=True
    )
    assert piece.exists()
    with Satchel(tmp_path / "packs", options=options) as skills:
        assert skills.find(QUERY) == found


def test_a_model_is_told(slow: SlowSource) -> None:
    session = Satchel(slow).session()
    text = session.call("find_skills", {"query": QUERY})

    assert "later searches may find more" in str(text)


@pytest.mark.row("F107")
@pytest.mark.parametrize("count", [11, 30, 100, 333])
def test_so_many_that_wait_are_a_few_segments(count: int, tmp_path: Path) -> None:
    for n in range(count):
        folder = tmp_path / "packs" / f"s{n}"
        folder.mkdir(parents=True)
        (folder / "SKILL.md").write_text(skill(n))
    options = Options(index=tmp_path / "cache" / "index.db")

    with Satchel(tmp_path / "packs", options=options) as skills:
        skills.find(QUERY, 5)
        for thread in threading.enumerate():
            if thread.name == FOLLOWER:
                thread.join(60)
        assert not skills.find(QUERY, 5)[0].partial

    assert len([*(tmp_path / "cache").rglob("*.segment")]) <= 7
