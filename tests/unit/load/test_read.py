"""Reading one file of a pack: which one, its type, what it hides, once a turn."""

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest

from satchel import Satchel
from satchel.errors import (
    AmbiguousReferenceError,
    ReferenceEscapesError,
    ReferenceNotAllowedError,
)
from satchel.load import TurnCache, _load as clearing, media_type, resolve
from satchel.load._load import cached_content_warnings
from satchel.model import Descriptor, FileStat, Loaded
from satchel.sources import LocalSource
from satchel.text import content_warnings

PACK = Descriptor(
    "pack",
    "Use.",
    references=("references/a.md", "references/sub/deep.md", "scripts.md"),
    scripts=("scripts/a.sh", "scripts/lib/b.md"),
    assets=("assets/logo.png",),
    others=("a.md", "notes/b.md"),
)


@pytest.mark.row("R14", "A18", "A20", "A30")
@pytest.mark.parametrize(
    ("name", "path"),
    [
        *zip(PACK.resources, PACK.resources, strict=True),
        ("a.sh", "scripts/a.sh"),
        ("logo.png", "assets/logo.png"),
        ("sub/deep.md", "references/sub/deep.md"),
        ("deep.md", "references/sub/deep.md"),
        ("lib/b.md", "scripts/lib/b.md"),
        ("SKILL.md", "SKILL.md"),
    ],
)
def test_exact_then_bucket_then_the_only_one_of_that_name(name: str, path: str) -> None:
    assert resolve(PACK, name) == path


FEES = Descriptor(
    "fees",
    "Use.",
    "fees-and-rates",
    references=(
        "references/deep/more.md",
        "references/gr\u00fc\u00dfe.md",
        "references/rates.md",
        "references/two words.md",
        "references/100%25.md",
    ),
    scripts=("scripts/sum.py",),
    others=("LICENSE", "forms.md", "note (1).md", "references.md"),
)


MANY = tuple(f"scripts/{number:02}.py" for number in range(20))


@pytest.mark.row("U02", "F65")
@pytest.mark.parametrize(
    ("written", "path"),
    [
        ("./references/rates.md", "references/rates.md"),
        ("references//rates.md", "references/rates.md"),
        ("references/./deep/../rates.md", "references/rates.md"),
        ("references\\rates.md", "references/rates.md"),
        ("references/rates.md#fees", "references/rates.md"),
        ("references/rates.md?raw=1", "references/rates.md"),
        ("rates.md:3", "references/rates.md"),
        ("references/rates.md:3-17", "references/rates.md"),
        ("references/rates.md:3:5", "references/rates.md"),
        ("references/rates.md#L3-L9", "references/rates.md"),
        ("references/gr%C3%BC%C3%9Fe.md", "references/gr\u00fc\u00dfe.md"),
        ("references/gru\u0308\u00dfe.md", "references/gr\u00fc\u00dfe.md"),
        ("references%2Frates.md", "references/rates.md"),
        ("references/two%20words.md", "references/two words.md"),
        ("references/100%25.md", "references/100%25.md"),
        ("`references/rates.md`", "references/rates.md"),
        ('"references/rates.md"', "references/rates.md"),
        ("\u201creferences/rates.md\u201d", "references/rates.md"),
        (" 'rates.md' ", "references/rates.md"),
        ("<references/two words.md>", "references/two words.md"),
        ("(references/rates.md)", "references/rates.md"),
        ("[the rates](references/rates.md#fees)", "references/rates.md"),
        ("@references/rates.md", "references/rates.md"),
        ("references/rates.md.", "references/rates.md"),
        ("**references/rates.md**", "references/rates.md"),
        ("note (1).md", "note (1).md"),
        ("fees/references/rates.md", "references/rates.md"),
        ("fees-and-rates/references/rates.md", "references/rates.md"),
        ("../fees/scripts/sum.py", "scripts/sum.py"),
        ("skills/fees/rates.md", "references/rates.md"),
        (".claude/skills/fees/references/rates.md", "references/rates.md"),
        ("~/.claude/skills/fees/scripts/sum.py", "scripts/sum.py"),
        ("skill://fees/references/rates.md", "references/rates.md"),
        ("${CLAUDE_SKILL_DIR}/references/rates.md", "references/rates.md"),
        ("$SKILL_DIR/scripts/sum.py", "scripts/sum.py"),
        ("{baseDir}/references/rates.md", "references/rates.md"),
        ("{{ baseDir }}/references/rates.md", "references/rates.md"),
        ("<skill-dir>/references/rates.md", "references/rates.md"),
        ("<path-to-skill>/references/rates.md", "references/rates.md"),
        ("${CLAUDE_PLUGIN_ROOT}/skills/fees/rates.md", "references/rates.md"),
        ("%SKILL_ROOT%\\scripts\\sum.py", "scripts/sum.py"),
        ("${CLAUDE_SKILL_DIR:-.}/scripts/sum.py", "scripts/sum.py"),
        ("FORMS.md", "forms.md"),
        ("References/Rates.MD", "references/rates.md"),
        ("license", "LICENSE"),
        ("Deep/More.md", "references/deep/more.md"),
        ("../scripts/sum.py", "scripts/sum.py"),
        ("../rates.md", "references/rates.md"),
        ("../../forms.md", "forms.md"),
        ("../../SKILL.md", "SKILL.md"),
        ("./SKILL.md", "SKILL.md"),
        ("skill.md", "SKILL.md"),
        ("fees/SKILL.md#steps", "SKILL.md"),
    ],
)
def test_a_file_is_asked_for_as_texts_write_it(written: str, path: str) -> None:
    assert resolve(FEES, written) == path


@pytest.mark.row("U02", "A09", "F65")
@pytest.mark.parametrize(
    "written",
    [
        "../secret.md",
        "references/../../secret.md",
        "..\\secret.md",
        "%2e%2e/secret.md",
        "references/..%2f..%2fsecret.md",
        "%252e%252e/references/rates.md",
        "/references/rates.md",
        "/etc/fees/references/rates.md",
        "//host/references/rates.md",
        "C:\\skills\\fees\\forms.md",
        "file:///etc/passwd",
        "https://example.com/fees/forms.md",
        "${CLAUDE_SKILL_DIR}/../secret.md",
        "../../../forms.md",
        "../other/fees/forms.md",
        "`../secret.md`",
        "references/rates.md\x00.png",
        "references/rates.md%00.png",
        "",
        "``",
        "#fees",
        "..",
    ],
)
def test_what_does_not_stay_inside_is_refused(written: str) -> None:
    with pytest.raises(ReferenceEscapesError):
        resolve(FEES, written)


@pytest.mark.row("U02", "F65")
@pytest.mark.parametrize(
    ("written", "near"),
    [
        ("references/rate.md", "references/rates.md"),
        ("./reference/rates.md", "references/rates.md"),
        ("${PROJECT_DIR}/references/rates.md", "references/rates.md"),
        ("other/references/rates.md", "references/rates.md"),
        ("rates.txt", "references/rates.md"),
        ("references", "references.md"),
        ("nothing-like-it", FEES.resources[0]),
    ],
)
def test_what_names_no_file_is_told_the_nearest(written: str, near: str) -> None:
    with pytest.raises(ReferenceNotAllowedError) as caught:
        resolve(replace(FEES, scripts=MANY), written)

    assert (caught.value.code, caught.value.file) == ("reference-not-allowed", written)
    assert {*caught.value.listed} == {*FEES.resources, *MANY} - {"scripts/sum.py"}
    assert caught.value.listed[0] == near
    with pytest.raises(ReferenceNotAllowedError) as few:
        resolve(FEES, written)
    assert few.value.listed == FEES.resources  # all of them are named


def test_the_nearest_is_named_among_many() -> None:
    many = tuple(f"references/{number:03}.md" for number in range(300))
    pack = Descriptor("a", "Use.", references=many, others=("z/limits.md",))

    with pytest.raises(ReferenceNotAllowedError, match=r"listed files: z/limits\.md, "):
        resolve(pack, "docs/limit.md")


@pytest.mark.row("U02", "F65")
@pytest.mark.parametrize(
    ("written", "listed"),
    [
        ("README.md", ("Readme.md", "readme.md")),
        ("../x.md", ("a/x.md", "a/b/y.md", "x.md")),
        ("./x.md", ("references/x.md", "scripts/x.md")),
        ("deep/X.md", ("a/deep/x.md", "b/deep/x.md")),
    ],
)
def test_what_names_several_files_is_not_guessed(
    written: str, listed: tuple[str, ...]
) -> None:
    with pytest.raises(AmbiguousReferenceError) as caught:
        resolve(Descriptor("a", "Use.", others=listed), written)

    assert {*caught.value.listed} <= {*listed}


@pytest.mark.row("G23")
@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("a.md", True, "text/markdown"),
        ("a.py", True, "text/x-python"),
        ("a.json", True, "application/json"),
        ("a.svg", True, "image/svg+xml"),
        ("a.unknown", True, "text/plain"),
        ("Makefile", True, "text/plain"),
        ("a.ts", True, "text/plain"),
        ("a.png", False, "image/png"),
        ("a.pdf", False, "application/pdf"),
        ("a.txt", False, "application/octet-stream"),
        ("a.tar.gz", False, "application/octet-stream"),
        ("a", False, "application/octet-stream"),
    ],
)
def test_the_name_counts_where_the_bytes_agree(
    path: str, text: bool, expected: str
) -> None:
    assert media_type(path, text=text) == expected


PLAIN = b"# Steps\n\nDo it.\n"
HIDING = "see\u200bthis\n".encode()


def digest(data: bytes) -> str:
    return f"sha256:{sha256(data).hexdigest()}"


@pytest.fixture(autouse=True)
def nothing_cleared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clearing, "_clean_digests", set())


@pytest.mark.parametrize("data", [PLAIN, HIDING], ids=["plain", "hiding"])
def test_the_second_look_says_what_the_first_did(data: bytes) -> None:
    for _ in range(2):
        found = cached_content_warnings(data, digest(data), "a.md")
        assert found == content_warnings(data, "a.md")
    assert clearing._clean_digests == ({digest(data)} if data is PLAIN else set())


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clearing, "MAX_CLEAN_DIGESTS", 3)

    for number in range(10):
        data = PLAIN + bytes([48 + number])
        assert cached_content_warnings(data, digest(data), "a.md") == ()
        assert len(clearing._clean_digests) <= 3


def loaded(size: int = 1) -> Loaded:
    return Loaded(Descriptor("a", "Use."), "SKILL.md", b"x" * size, "x" * size, "")


@pytest.mark.row("X16", "E27", "A06")
def test_callers_at_one_time_share_one_read() -> None:
    cache = TurnCache()
    begun, go = threading.Event(), threading.Event()

    def read() -> Loaded:
        begun.set()
        assert go.wait(10)
        return loaded()

    with ThreadPoolExecutor(4) as pool:
        first = pool.submit(cache.get, ("a", "f"), read)
        assert begun.wait(10)
        others = [pool.submit(cache.get, ("a", "f"), read) for _ in range(3)]
        go.set()
        results = {id(each.result(10)) for each in (first, *others)}

    assert (len(results), cache.reads, cache.hits) == (1, 1, 3)


@pytest.mark.row("X16")
def test_each_caller_of_a_failing_read_gets_an_error_of_its_own() -> None:
    cache = TurnCache()
    begun, go = threading.Event(), threading.Event()

    def fail() -> Loaded:
        begun.set()
        assert go.wait(10)
        raise KeyError("gone")

    with ThreadPoolExecutor(2) as pool:
        calls = [pool.submit(cache.get, ("a", "f"), fail) for _ in range(2)]
        assert begun.wait(10)
        go.set()
        errors = {id(call.exception(10)) for call in calls}

    assert (len(errors), cache.reads, cache.hits) == (2, 2, 0)
    assert cache.get(("a", "f"), loaded) is not None


@pytest.mark.row("E27")
def test_the_least_recently_used_and_what_a_large_file_pushes_out_go_first() -> None:
    cache = TurnCache(max_files=2)
    read: list[str] = []

    def get(file: str) -> None:
        def noted() -> Loaded:
            read.append(file)
            return loaded()

        cache.get(("s", file), noted)

    for file in ("a", "b", "a", "c"):
        get(file)
    assert read == ["a", "b", "c"]

    for file in ("a", "c", "b", "c", "a"):
        get(file)

    assert read == ["a", "b", "c", "b", "a"]
    assert (cache.reads, cache.hits) == (5, 4)

    cache = TurnCache(max_bytes=10)
    cache.get(("s", "small"), loaded)
    cache.get(("s", "large"), lambda: loaded(100))

    cache.get(("s", "large"), loaded)
    cache.get(("s", "small"), loaded)

    assert (cache.reads, cache.hits) == (3, 1)


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    folder = tmp_path / "skills" / "pdf"
    for name, text in {
        "SKILL.md": "---\nname: pdf\ndescription: Use for PDF forms.\n---\n# PDF\n",
        "references/fields.md": "# Fields\r\n",
        "scripts/fill.py": "print('never run')\n",
        "assets/empty.txt": "",
        "LICENSE": "free\n",
    }.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    return folder


@pytest.mark.row("A04", "A05", "A30", "C03", "D18")
def test_every_listed_path_is_a_file_and_loads_as_it_is(pack: Path) -> None:
    skills = Satchel(pack.parent)
    (entry,) = skills.catalog

    loaded = {path: skills.load("pdf", path).data for path in entry.resources}

    assert loaded == {
        path.relative_to(pack).as_posix(): path.read_bytes()
        for path in pack.rglob("*")
        if path.is_file() and path.name != "SKILL.md"
    }


def test_a_file_is_read_without_a_look_at_all_the_others(pack: Path) -> None:
    """Else a pack of 600 files takes seconds to be packed into an archive."""

    class Counting(LocalSource):
        looks = 0

        def files(self, key: str) -> tuple[FileStat, ...]:
            self.looks += 1
            return super().files(key)

    source = Counting(pack.parent)
    skills = Satchel(source)
    before = source.looks

    skills.load("pdf", "references/fields.md")
    skills.load("pdf", "scripts/fill.py")
    after = source.looks
    (pack / "LICENSE").write_text("true\n")  # of the same length

    assert after == before
    assert skills.load("pdf", "LICENSE").text == "true\n"


@pytest.mark.row("D15", "D16", "D17", "D20", "A36")
def test_what_is_listed_loads_and_a_sync_takes_in_what_changed(pack: Path) -> None:
    skills = Satchel(pack.parent)
    before = str(skills.prompt()), skills.load("pdf").text
    with (pack / "SKILL.md").open("a", encoding="utf-8") as file:
        file.write("More.\n")

    skills.sync()

    assert str(skills.prompt()) == before[0]
    assert skills.load("pdf").text == before[1] + "More.\n"


@pytest.mark.row("D01", "D02", "D03", "D05", "D08", "D21")
def test_a_session_lists_and_loads(pack: Path) -> None:
    session = Satchel(pack.parent, style="agent-skills").session()

    text = session.call("load_skill", {"skill_id": "pdf"})

    instructions = session.instructions("You are the desk.")
    assert instructions.startswith("You are the desk.\n\n## Agent Skills\n")
    assert "<id>pdf</id>" in instructions
    assert isinstance(text, str)
    assert text.startswith(
        '<skill_context id="pdf">\n  <instructions>\n---\nname: pdf\n'
    )
    assert "<reference>references/fields.md</reference>" in text
