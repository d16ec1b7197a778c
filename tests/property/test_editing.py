"""A small change to a frontmatter changes that alone, or is refused."""

import re
from pathlib import Path

import pytest
from hypothesis import example, given, strategies as st

from satchel.errors import NotEditableError
from satchel.model import Finding, Json
from satchel.skill_md import parse, read_as_written, render_frontmatter
from satchel_lab._metadata_editor import edit_metadata

pytestmark = pytest.mark.property

CASES = sorted(Path(__file__).parents[1].glob("cases/spec/*/SKILL.md"))
RETIRED = {"status": "deprecated", "replaced-by": "pdf-tools"}

_TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=12)
_SCALAR = st.one_of(
    _TEXT, st.integers(-9, 99), st.booleans(), st.none(), st.just("# no comment")
)
_KEY = st.sampled_from(["a", "b", "status", "replaced-by", "x y", "Status", "owner"])
_INNER: st.SearchStrategy[dict[str, Json]] = st.dictionaries(
    _KEY, st.one_of(_SCALAR, st.lists(_SCALAR, max_size=2)), max_size=4
)
_TOP = st.sampled_from(["license", "version", "tags"])


@st.composite
def skill_mds(draw: st.DrawFn) -> bytes:
    """A SKILL.md in block style or flow, with comments and blank lines strewn in."""
    fields: dict[str, Json] = {"name": "a", "description": "Use when testing."}
    fields |= draw(st.dictionaries(_TOP, _SCALAR, max_size=2))
    metadata = draw(st.none() | _INNER | _SCALAR)
    if metadata is not None:
        fields["metadata"] = metadata
    fields |= draw(st.dictionaries(st.just("compatibility"), _SCALAR, max_size=1))
    lines = render_frontmatter(fields).splitlines(keepends=True)
    strewn: list[str] = []
    for line in lines:
        if strewn and draw(st.integers(0, 5)) == 0:
            strewn.append(draw(st.sampled_from(["# why\n", "\n", "    # deep\n"])))
        remark = draw(st.integers(0, 5)) == 0 and line.strip() != "---"
        strewn.append(line.replace("\n", "  # because\n") if remark else line)
    text = "".join(strewn) + draw(st.sampled_from(["", "# A\n", "\n---\n\nmore"]))
    mark = draw(st.sampled_from(["", "\ufeff"]))
    newline = draw(st.sampled_from(["\n", "\r\n"]))
    return (mark + text.replace("\n", newline)).encode()


def said(data: bytes) -> dict[str, Json]:
    written = read_as_written(data)
    assert not isinstance(written, Finding)
    return written.fields


def check_retiring(data: bytes) -> bool:
    """Retire a skill and take it back; tell whether that could be done."""
    try:
        retired = edit_metadata(data, RETIRED)
    except NotEditableError:
        return False
    before, after = said(data), said(retired)
    metadata = before.pop("metadata", None) or {}
    assert isinstance(metadata, dict)
    assert after.pop("metadata") == {**metadata, **RETIRED}
    assert after == before
    manifest = parse(retired, directory="x", allow_empty_description=True).manifest
    assert manifest is None or manifest.replaced_by == "pdf-tools"
    assert edit_metadata(retired, RETIRED) == retired
    flow = b"{" in data
    removed = [line for line in pieces(data) if line not in pieces(retired)]
    told = re.compile(rb"metadata|status|replaced-by")
    fresh = not {"status", "replaced-by"} & metadata.keys()
    assert flow or not fresh or all(told.search(line) for line in removed)
    if fresh:
        try:
            back = edit_metadata(retired, dict.fromkeys(RETIRED))
        except NotEditableError:
            return True
        assert said(back).pop("metadata", {}) == metadata
        if not flow and (metadata or "metadata" not in said(data)):
            assert back == data
    return True


def pieces(data: bytes) -> list[bytes]:
    return data.splitlines()


def test_every_case_is_changed_in_one_place_or_refused() -> None:
    """And what is refused is broken or rare: of those that are YAML, none is."""
    sound = {
        path.parent.name
        for path in CASES
        if not isinstance(found := read_as_written(path.read_bytes()), Finding)
        and not found.repairs
    }
    refused = {
        path.parent.name for path in CASES if not check_retiring(path.read_bytes())
    }

    assert sorted(sound & refused) == []


@given(skill_mds())
@example(b"---\nname: a\ndescription: b\nmetadata:\n  n: |\n    x\n    # y\n---\n")
@example(b"---\nname: a\ndescription: b\nmetadata: {a: b}  # c\n---\n")
@example(b"---\nname: a\ndescription: b\nmetadata: {a: b,}\n---\n")
@example(b"---\nname: a\ndescription: b\nmetadata: {a: '}',\n  b: c}\n---\n")
@example(
    b"---\nname: a\ndescription: b\nmetadata:\n# c\n  a: b\n  # d\nversion: 1\n---"
)
@example(
    b"---\nname: a\ndescription: b\nmetadata:\n  status: |\n    old\n  a: b\n---\n"
)
@example(b"---\n  name: a\n  description: b\n---\n")
def test_retiring_changes_that_alone(data: bytes) -> None:
    metadata = said(data).get("metadata")

    assert check_retiring(data) == isinstance(metadata, dict | None)
