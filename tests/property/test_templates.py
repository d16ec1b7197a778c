"""Templates and conversions keep meaning and files."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import example, given, strategies as st

from satchel.model import SKILL_FILE, Json
from satchel.skill_md import find_span, from_spec, parse, render_frontmatter, to_spec
from satchel_compat import render_template
from satchel_lab._frontmatter_editor import same_values
from satchel_lab.authoring import Conversion
from satchel_lab.authoring._convert._output import put_pack
from satchel_lab.authoring._convert._packs import rewrite
from satchel_lab.authoring._convert._values import Dialect
from satchel_lab.authoring._packs import PackDraft

pytestmark = pytest.mark.property


TEXTS = st.text(st.characters(codec="utf-8"), max_size=20)
JSON: st.SearchStrategy[Json] = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), TEXTS),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(TEXTS, inner, max_size=3)
    ),
    max_leaves=6,
)
_MOVED = ("version", "author", "references", "scripts", "assets")
_PLACES = (*_MOVED, "manifest_schema", "satchel:version", "satchel:scripts")
ITEMS = st.lists(TEXTS, max_size=3)
FIELDS = st.fixed_dictionaries(
    {"name": st.from_regex(r"[a-z]{1,9}", fullmatch=True), "description": TEXTS},
    optional={
        **dict.fromkeys(("trigger_keywords", "references", "scripts", "assets"), ITEMS),
        **dict.fromkeys(("version", "author"), TEXTS),
        "license": TEXTS,
        "manifest_schema": st.one_of(st.integers(), st.booleans(), TEXTS),
        "x-unknown": JSON,
        # A number there is a text in the other dialect (R02): not equal by value.
        "metadata": st.builds(
            lambda others, own: {**others, **own},
            st.dictionaries(TEXTS, JSON, max_size=3),
            st.dictionaries(st.sampled_from(_PLACES), TEXTS, max_size=2),
        ),
    },
).filter(lambda fields: bool(str(fields["description"]).strip()))
BODIES = st.binary(max_size=30)
# A line of YAML as people write it, and whether it holds a comment.
LINES = st.lists(
    st.sampled_from(
        [
            ("version: 1.10 # one", "version", "# one"),
            ("# two", "", "# two"),
            ("author: 'Ana' # three", "author", "# three"),
            ("references: [a.md, b.md] # four", "references", "# four"),
            ("scripts:\n  # five\n  - a.sh\n  - b.sh", "scripts", "# five"),
            ("assets:\n- a.png # six", "assets", "# six"),
            ("license: MIT # seven", "license", "# seven"),
            ("metadata: # eight\n  team: desk", "metadata", "# eight"),
            ("x: |\n  # no comment\n  text", "x", ""),
            ("", "", ""),
        ]
    ),
    max_size=8,
    unique_by=lambda line: line[1] or line[0],
)


def body(data: bytes) -> bytes:
    span = find_span(data)
    assert span is not None
    return data[span.body :]


def values(data: bytes) -> dict[str, Json]:
    manifest = parse(data, profile="lenient").manifest
    assert manifest is not None
    return dict(manifest.frontmatter)


def made(data: bytes, dialect: Dialect) -> bytes:
    new = rewrite(data, dialect)
    assert new.data is not None, new.findings
    return new.data


@pytest.mark.slow
@pytest.mark.row("X07")
@given(FIELDS, BODIES, st.sampled_from(["spec", "strict"]))
@example({"name": "a", "description": "b", "metadata": {}}, b"", "strict")
@example({"name": "a", "description": "b", "version": "\x85"}, b"\xff\r\n", "spec")
def test_there_and_back(
    fields: dict[str, Json], content: bytes, dialect: Dialect
) -> None:
    """Values and every byte of the body; what was converted stays as it is."""
    try:
        content.decode()
    except UnicodeDecodeError:
        content = content.hex().encode()
    data = render_frontmatter(fields).encode() + content
    convert, undo = (to_spec, from_spec) if dialect == "spec" else (from_spec, to_spec)

    there = made(data, dialect)
    back = made(there, "strict" if dialect == "spec" else "spec")

    assert same_values(values(there), convert(fields))
    assert same_values(values(back), undo(convert(fields)))
    assert body(there) == body(back) == body(data)
    assert made(there, dialect) == there


@pytest.mark.row("X07")
@given(LINES, st.sampled_from(["spec", "strict"]), st.booleans())
def test_comments_and_lines_that_need_not_change_stay(
    lines: list[tuple[str, str, str]], dialect: Dialect, windows: bool
) -> None:
    written = lines
    text = "\n".join(["---", "name: a", "description: b", *(w[0] for w in written)])
    data = f"{text}\n---\nBody".encode()
    if windows:
        data = data.replace(b"\n", b"\r\n")

    new = made(data, dialect)

    assert body(new) == b"Body"
    assert (b"\r" in new) is windows
    assert new.replace(b"\r\n", b"").count(b"\r") == 0
    for line, key, comment in written:
        assert comment.encode() in new
        moved = dialect == "spec" and key in {*_MOVED, "metadata"}
        if not moved:
            assert line.encode().replace(b"\n", b"\r\n" if windows else b"\n") in new


NAMES = st.sampled_from([SKILL_FILE, "a.md", "b/c.md", "b.md"])
TREES = st.dictionaries(NAMES, st.sampled_from([b"", b"x", b"y"]), max_size=4)


@pytest.mark.row("E13")
@given(TREES, TREES, st.booleans())
def test_nothing_that_is_there_is_lost_unless_asked(
    there: dict[str, bytes], new: dict[str, bytes], rehearse: bool
) -> None:
    """Whatever is there, and whatever is to be written."""
    files = {SKILL_FILE: b"skill", **new}
    draft = PackDraft("p", files)
    made = Conversion("x", draft)
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder, "p"), there)

        placed = put_pack(made, folder, rehearse=rehearse)

        now = read(Path(folder, "p"))
        if there and there != files:
            assert (placed.status, now) == ("refused", there)
        elif there:
            assert (placed.status, now) == ("unchanged", there)
        else:
            assert (placed.status, now) == ("installed", {} if rehearse else files)
        again = "installed" if rehearse and not there else "unchanged"
        refused = placed.status == "refused"
        assert put_pack(made, folder).status == ("refused" if refused else again)


def write(folder: Path, files: dict[str, bytes]) -> None:
    for path, data in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)


def read(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


TEMPLATE_NAMES = ("A", "B", "C_1")
PIECES = (
    *(f"{{{{{name}}}}}" for name in TEMPLATE_NAMES),
    *(f"{{{{#IF {name}}}}}" for name in TEMPLATE_NAMES),
    *(f"{{{{#IF_NOT {name}}}}}" for name in TEMPLATE_NAMES),
    *("{{/IF}}", "{{/IF_NOT}}", "{{", "}}", "!`", "`", "!`echo`", "\n", "x", "#", "$1"),
)
texts = st.lists(st.sampled_from(PIECES) | st.text(max_size=3)).map("".join)
template_values = st.dictionaries(st.sampled_from(TEMPLATE_NAMES), texts)


def commands(template: str, given_values: dict[str, str]) -> list[str]:
    """Return the commands that rendering runs."""
    ran: list[str] = []

    def run(command: str) -> str:
        ran.append(command)
        return "!`{{A}}`"

    render_template(template, given_values, run=run)
    return ran


@pytest.mark.row("E17", "G24")
@given(texts, template_values)
def test_no_value_reaches_a_command(
    template: str, given_values: dict[str, str]
) -> None:
    """Only whether it is empty counts, for conditions: the commands are the same."""
    plain = {name: "x" if value else "" for name, value in given_values.items()}

    assert commands(template, given_values) == commands(template, plain)


@pytest.mark.row("E17")
@given(texts)
def test_what_is_unknown_stays_as_it_is(template: str) -> None:
    text = template.replace("{{#IF", "")

    assert render_template(text, {}) == text


@given(texts, texts)
def test_a_value_is_in_the_text_as_it_is(before: str, value: str) -> None:
    head = before.replace("{", "(")

    assert render_template(head + "{{A}}", {"A": value, "B": "b"}) == head + value
