"""What every source has to do, as tests that run on anybody's.

```python
class TestMySource(SourceContract):
    def make_source(self, packs):
        return MySource(upload(packs))
```

Collected by pytest as any class of tests; nothing here needs pytest itself.
"""

# ruff: noqa: S101 - assert is how a test speaks

from abc import abstractmethod
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import ClassVar, Final, TypeAlias

from satchel.errors import (
    LimitExceededError,
    ReferenceEscapesError,
    ReferenceNotFoundError,
    SkillError,
    SkillNotFoundError,
)
from satchel.model import SKILL_FILE, FileStat, Finding, Found, Manifest
from satchel.protocols import NamesSkills, SkillSource

Packs: TypeAlias = Mapping[str, Mapping[str, bytes]]
"""Bytes by path, by the name of the pack."""

ESCAPES: Final = (
    *("", ".", "..", "/", "/etc/passwd", "../SKILL.md", "../../etc/passwd"),
    *("references/../SKILL.md", "references/../../beta/SKILL.md", "./SKILL.md"),
    *("references//guide.md", "references/", "..\\beta\\SKILL.md"),
    *("references\\guide.md", "C:/Windows/win.ini", "C:SKILL.md", "SKILL.md::$DATA"),
    *("//server/share/file", "SKILL.md\0", "references/guide.md\0.png", "SKILL.md\n"),
    *("%2e%2e/beta/SKILL.md", "..%2fbeta%2fSKILL.md", "references%5cguide.md"),
    *("NUL", "references/con.md", "SKILL.md.", "SKILL.md ", "\ud800"),
    *("x" * 300, "a/" * 600 + "a"),
)
"""Paths that lead out of a pack on some system, or into a device."""

_NO_KEYS: Final = (
    *("", ".", "..", "../alpha", "/", "no-such-pack", "alpha/../beta", "\0"),
)

_ALPHA: Final = (
    b"---\nname: alpha\ndescription: The first of the packs.\n---\n# Alpha\n"
)
# CRLF and a byte that is no UTF-8: decoding anywhere on the way would change them.
_BETA: Final = b"---\r\nname: beta\r\ndescription: Has files.\r\n---\r\n# Beta\r\n\xff"

PACKS: Final[Packs] = {
    "alpha": {SKILL_FILE: _ALPHA},
    "beta": {
        SKILL_FILE: _BETA,
        "references/guide.md": "\ufeffÜber alles\r\n".encode(),
        "references/deep/er.md": b"",
        "scripts/run.py": b"print(1)\n",
        "assets/logo.png": bytes(range(256)),
    },
}
"""What most of the tests put into a source: text and bytes that are easily changed."""


class SourceContract:
    """Tests of the `SkillSource` protocol; subclass it and say how to make a source."""

    exact: ClassVar[bool] = True
    """Whether a SKILL.md comes back byte for byte; False where the source writes it."""

    @abstractmethod
    def make_source(self, packs: Packs) -> SkillSource:
        """Return a new source that holds just these packs."""
        raise NotImplementedError

    def key_of(self, source: SkillSource, name: str) -> str:
        """Return the key of a pack: by default the one whose last part is its name."""
        keys = [pack.key for pack in found_in(source)]
        return next(key for key in keys if key.rpartition("/")[2] == name)

    def _beta(self) -> tuple[SkillSource, str]:
        source = self.make_source(PACKS)
        return source, self.key_of(source, "beta")

    def test_is_a_source(self) -> None:
        """It has every member, and a label of one line."""
        source = self.make_source({})
        label = source.label

        assert isinstance(source, SkillSource)
        assert label
        assert label.isprintable()

    def test_scan_is_sorted_and_complete(self) -> None:
        """Every pack is there once, by key; what is yielded is Found or Finding."""
        source = self.make_source(PACKS)
        seen = list(source.scan())
        keys = [entry.key for entry in seen if isinstance(entry, Found)]

        assert all(isinstance(entry, (Found, Finding)) for entry in seen)
        assert keys == sorted(set(keys))
        assert sorted(key.rpartition("/")[2] for key in keys) == ["alpha", "beta"]

    def test_second_scan_is_equal(self) -> None:
        """Nothing changed, so keys, locations and stamps are the same."""
        source = self.make_source(PACKS)

        assert list(source.scan()) == list(source.scan())
        assert len({pack.stamp for pack in found_in(source)}) == len(PACKS)

    def test_an_empty_source_has_no_packs(self) -> None:
        """No pack is an answer, and no error."""
        assert found_in(self.make_source({})) == []

    def test_manifest(self) -> None:
        """The raw bytes, or a manifest that has the pack's name."""
        source, key = self._beta()
        manifest = source.manifest(key)

        if isinstance(manifest, Manifest):
            assert manifest.name == "beta"
        elif self.exact:
            assert manifest == _BETA
        else:
            assert b"beta" in manifest

    def test_files(self) -> None:
        """Every file once, by path, with its size, as in a scan that has files."""
        source, key = self._beta()
        files = list(source.files(key))
        sizes = {file.path: file.size for file in files if file.path != SKILL_FILE}
        scanned = {pack.key: pack.files for pack in found_in(source)}[key]

        assert all(isinstance(file, FileStat) for file in files)
        assert [file.path for file in files] == sorted(PACKS["beta"])
        assert sizes == {
            path: len(data)
            for path, data in PACKS["beta"].items()
            if path != SKILL_FILE
        }
        assert scanned is None or list(scanned) == files

    def test_bytes_come_back_exactly(self) -> None:
        """No decoding, no line ends changed, no byte order mark eaten."""
        source, key = self._beta()

        for path, data in PACKS["beta"].items():
            if path != SKILL_FILE or self.exact:
                assert source.read(key, path, len(data)) == data, path

    def test_what_is_never_listed(self) -> None:
        """Keys, caches, version control and dot-files are not among the files."""
        hidden = {".env": b"KEY=1", ".git/config": b"", "__pycache__/a.pyc": b"\0"}
        source = self.make_source({"alpha": {SKILL_FILE: _ALPHA, **hidden}})
        files = source.files(self.key_of(source, "alpha"))

        assert [file.path for file in files] == [SKILL_FILE]

    def test_no_path_leaves_the_pack(self) -> None:
        """Each way out is the same error, by the text of the path alone."""
        source, key = self._beta()

        for path in ESCAPES:
            error = error_of(source.read, key, path, 1_000)
            assert type(error) is ReferenceEscapesError, path

    def test_a_missing_file(self) -> None:
        """A plain path to nothing is not found; so is a folder's, or an escape."""
        source, key = self._beta()
        missing = error_of(source.read, key, "references/none.md", 1_000)
        folder = error_of(source.read, key, "references", 1_000)
        below_file = error_of(source.read, key, "SKILL.md/x", 1_000)

        assert type(missing) is ReferenceNotFoundError
        assert type(folder) in {ReferenceNotFoundError, ReferenceEscapesError}
        assert type(below_file) in {ReferenceNotFoundError, ReferenceEscapesError}

    def test_a_file_over_the_limit(self) -> None:
        """One byte too many is an error that says how many there are."""
        source, key = self._beta()
        error = error_of(source.read, key, "assets/logo.png", 255)

        assert isinstance(error, LimitExceededError)
        assert (error.maximum, error.actual, error.unit) == (255, 256, "bytes")

    def test_an_unknown_key(self) -> None:
        """A key that no scan gave is not found, however it is written."""
        source = self.make_source(PACKS)

        for key in _NO_KEYS:
            manifest = error_of(source.manifest, key)
            files = error_of(_files, source, key)
            read = error_of(source.read, key, "a.md", 9)
            assert isinstance(manifest, SkillNotFoundError), key
            assert isinstance(files, SkillNotFoundError), key
            assert isinstance(read, SkillNotFoundError), key

    def test_many_threads_at_once(self) -> None:
        """Every thread gets what one alone would get."""
        source, key = self._beta()
        expected = (list(source.scan()), source.manifest(key), PACKS["beta"])

        def use(_: int) -> object:
            files = {
                path: source.read(key, path, 1_000)
                for path in PACKS["beta"]
                if path != SKILL_FILE
            }
            skill = {SKILL_FILE: PACKS["beta"][SKILL_FILE]}
            return list(source.scan()), source.manifest(key), {**skill, **files}

        with ThreadPoolExecutor(8) as pool:
            results = list(pool.map(use, range(40)))

        assert all(result == expected for result in results)

    def test_names(self) -> None:
        """A source that names its packs gives an id, or None; the same each time."""
        source = self.make_source(PACKS)
        if isinstance(source, NamesSkills):
            manifest = Manifest(name="alpha", description="The first of the packs.")
            name = source.identify(manifest)

            assert name is None or name
            assert source.identify(manifest) == name

    def test_close_twice(self) -> None:
        """The second time does nothing."""
        source = self.make_source(PACKS)
        source.close()
        source.close()


def found_in(source: SkillSource) -> list[Found]:
    """Return the packs that a scan yields, in its order."""
    return [entry for entry in source.scan() if isinstance(entry, Found)]


def _files(source: SkillSource, key: str) -> list[FileStat]:
    return list(source.files(key))


def error_of(call: Callable[..., object], *args: object) -> SkillError | None:
    """Return the `SkillError` that a call ends in; None where it returns."""
    try:
        call(*args)
    except SkillError as error:
        return error
    return None
