"""What a source may offer beyond the protocol, and what holds if it does not."""

from satchel.model import SKILL_FILE, Manifest
from satchel.protocols import with_abilities
from satchel.sources import LocalSource, prefixed
from tests.fakes import FakeSource, pack


def test_a_source_of_someone_else_gets_the_defaults() -> None:
    source = with_abilities(FakeSource("s", {"a": {SKILL_FILE: pack("a")}}))
    (stat,) = source.files("a")

    assert (source.near, source.root, source.remote) == (None, "", "")
    assert (source.trusted, source.yields, source.precedence) == (True, False, None)
    assert (source.release, source.progress, source.finds_one) == (None, None, False)
    assert source.identify_at(Manifest(name="a", description="d"), "k") == "a"
    assert source.is_unchanged("a", stat) is None
    assert source.local_skill_md("a", 999) == pack("a").encode()
    found = source.scan_one("a", "s/a")
    assert found is not None
    assert found.key == "a"
    assert source.scan_one("none", "s/none") is None


def test_its_own_attributes_win_also_when_they_change() -> None:
    class Own(FakeSource):
        near = False
        seen = 0

        @property
        def progress(self) -> int:
            return self.seen

    own = Own("s", {"a": {SKILL_FILE: pack("a")}})
    source = with_abilities(own)
    own.seen = 7

    assert source.progress == 7
    assert source.local_skill_md("a", 999) is None


def test_a_source_that_inherits_them_is_not_wrapped() -> None:
    source = LocalSource("skills")

    assert with_abilities(source) is source
    assert with_abilities(prefixed(source, "p-")).root == source.root
