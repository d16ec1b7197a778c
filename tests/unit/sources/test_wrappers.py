"""Sources around sources."""

import copy

import pytest

from satchel import sources
from satchel.errors import SourceUnavailableError
from satchel.model import Finding, Found, Manifest
from satchel.protocols import NamesSkills, SkillSource
from tests.fakes import FakeClock


def ids(source: SkillSource, *names: str) -> list[str | None]:
    """Return what a source calls manifests of these names."""
    assert isinstance(source, NamesSkills)
    return [source.identify(Manifest(name=n, description="d")) for n in names]


@pytest.fixture
def inner() -> SkillSource:
    return sources.memory({}, label="inner")


@pytest.mark.parametrize(
    ("include", "exclude", "expected"),
    [
        ((), (), ["web-a", "web-b", "Web-c"]),
        (("web-*",), (), ["web-a", "web-b", None]),
        ((), ("*-b",), ["web-a", None, "Web-c"]),
        (("web-[ab]", "x"), ("web-a",), [None, "web-b", None]),
    ],
)
def test_only(
    inner: SkillSource,
    include: tuple[str, ...],
    exclude: tuple[str, ...],
    expected: list[str | None],
) -> None:
    """Shell patterns, with regard to case; what is excluded stays out."""
    source = sources.only(inner, include, exclude)

    assert ids(source, "web-a", "web-b", "Web-c") == expected


def test_wrappers_compose_from_the_inside_out(inner: SkillSource) -> None:
    """Each sees the ids of the one within; what is filtered stays so."""
    renamed = sources.renamed(inner, {"a": "b"})
    assert ids(renamed, "a", "c") == ["b", "c"]
    only = sources.only(sources.prefixed(renamed, "x-"), ["x-b"])

    assert ids(only, "a", "b", "c") == ["x-b", "x-b", None]
    assert ids(sources.prefixed(only, "y-"), "a", "c") == ["y-x-b", None]
    assert ids(sources.renamed(only, {"x-b": "z"}), "a", "c") == ["z", None]


def test_what_the_inner_source_has_shows_through() -> None:
    inner = sources.LocalSource("s", scope="user", trusted=False, precedence=7)
    source = sources.cached(sources.only(sources.prefixed(inner, "p")), 1.0)
    shown = [getattr(source, name) for name in ("scope", "trusted", "precedence")]

    assert source.label == copy.copy(source).label == "s"
    assert shown == ["user", False, 7]
    assert not hasattr(source, "read_reference")
    assert repr(source).startswith("CachedSource(FilteredSource(PrefixedSource(Local")


class Counting(sources.MemorySource):
    """Counts how often it is looked at; fails where told to."""

    looks = 0
    closed = 0
    fail = False

    def scan(self) -> tuple[Found | Finding, ...]:
        self.looks += 1
        if self.fail:
            raise SourceUnavailableError(self.label, "no")
        return super().scan()

    def close(self) -> None:
        self.closed += 1


def test_cached_looks_once_in_a_time() -> None:
    clock, inner = FakeClock(), Counting()
    source = sources.cached(inner, 10.0, clock)
    for wait_s, looks in ((0.0, 1), (0.0, 1), (9.9, 1), (0.1, 2)):
        clock.time += wait_s
        list(source.scan())
        assert inner.looks == looks
    source.close()
    list(source.scan())
    assert (inner.looks, inner.closed) == (3, 1)

    inner.fail = True  # a failure is not kept
    source.close()
    with pytest.raises(SourceUnavailableError):
        source.scan()
    inner.fail = False
    assert list(source.scan()) == []
    assert inner.looks == 5
