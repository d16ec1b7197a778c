"""A key of metadata set or taken out; whatever else is in the file stays."""

import pytest

from satchel.errors import NotEditableError
from satchel_lab._metadata_editor import edit_metadata

HEAD = "name: a\n"

EDITS = {
    "no metadata": ("", "metadata:\n  status: old\n"),
    "nothing in it": ("metadata:\n", "metadata:\n  status: old\n"),
    "null": ("metadata: ~ # why\nv: 1\n", "metadata: # why\n  status: old\nv: 1\n"),
    "empty braces": ("metadata: { }\n", "metadata:\n  status: old\n"),
    "at the end": (
        "metadata:\n  a: b\n  # more\n\n# on v\nv: 1\n",
        "metadata:\n  a: b\n  status: old\n  # more\n\n# on v\nv: 1\n",
    ),
    "deep margin": (
        "metadata:\n      a: b\n",
        "metadata:\n      a: b\n      status: old\n",
    ),
    "behind a literal": (
        "metadata:\n  n: |\n    x\n    # y\n",
        "metadata:\n  status: old\n  n: |\n    x\n    # y\n",
    ),
    "there": ("metadata:\n  status: old\n", "metadata:\n  status: old\n"),
    "there in quotes": (
        "metadata:\n  'status': \"old\"\n",
        "metadata:\n  'status': \"old\"\n",
    ),
    "another, with a remark": (
        "metadata:\n  status: 'new' # for now\n  a: b\n",
        "metadata:\n  status: old # for now\n  a: b\n",
    ),
    "nothing, with a remark": (
        "metadata:\n  status: # for now\n  a: b\n",
        "metadata:\n  status: old # for now\n  a: b\n",
    ),
    "another, with no remark": (
        'metadata:\n  status: "a #b"\n',
        "metadata:\n  status: old\n",
    ),
    "another, over lines": (
        "metadata:\n  status: >\n    a\n    b\n  a: b\n",
        "metadata:\n  status: old\n  a: b\n",
    ),
    "another, a list": (
        "metadata:\n  status:\n    - a\n    - b\nv: 1\n",
        "metadata:\n  status: old\nv: 1\n",
    ),
    "braces": ("metadata: {a: b}\n", "metadata: {a: b, status: old}\n"),
    "braces and a comma": ("metadata: {a: b,}\n", "metadata: {a: b, status: old,}\n"),
    "braces over lines": (
        'metadata:\n  {\n    "a": {"b": "}"}\n  } # end\n',
        'metadata:\n  {\n    "a": {"b": "}"}, status: old\n  } # end\n',
    ),
    "a remark before the brace": (
        "metadata: {\n  a: b # c\n  }\n",
        "metadata: {\n  a: b # c\n  , status: old}\n",
    ),
    "in braces": (
        "metadata: {a: b, status: new, c: d}\n",
        "metadata: {a: b, status: old, c: d}\n",
    ),
    "in braces, with a remark": (
        "metadata: {a: b, status: new # for now\n  }\n",
        "metadata: {a: b, status: old # for now\n  }\n",
    ),
    "in quotes in braces": (
        'metadata: {"status": "new"}\n',
        'metadata: {"status": old}\n',
    ),
}


@pytest.mark.parametrize("newline", ["\n", "\r\n"], ids=["lf", "crlf"])
@pytest.mark.parametrize(("before", "after"), EDITS.values(), ids=EDITS)
def test_a_text_is_set(before: str, after: str, newline: str) -> None:
    given, wanted = (
        f"\ufeff---\n{HEAD}{part}---\n# A\n\nbody: x".replace("\n", newline).encode()
        for part in (before, after)
    )

    assert edit_metadata(given, {"status": "old"}) == wanted


@pytest.mark.parametrize(
    "metadata",
    [
        "",
        "metadata:\n  a: b\n  # more\n\n# on v\nv: 1\n",
        "metadata: {a: b}\n",
        "metadata: {a: b,}\n",
        "metadata:\n  {\n    a: {b: c},\n  }\n",
        "metadata: {a: [b, c,] , }\n",
        "metadata: {\n  a: b # c\n  }\n",
    ],
)
def test_what_was_added_is_taken_out_to_the_byte(metadata: str) -> None:
    given = f"---\n{HEAD}{metadata}---\n# A\n".encode()
    edited = edit_metadata(given, {"status": "old", "replaced-by": "b"})

    assert edited != given
    assert edit_metadata(edited, {"status": None, "replaced-by": None}) == given


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("metadata:\n  status: x\n  a: b\n", "metadata:\n  a: b\n"),
        (
            "metadata:\n  a: b\n  status: x\n# v\nv: 1\n",
            "metadata:\n  a: b\n# v\nv: 1\n",
        ),
        ("metadata:\n  status: x\nv: 1\n", "v: 1\n"),
        ("metadata:\n  # why\n  status: x\nv: 1\n", "  # why\nv: 1\n"),
        ("metadata: {status: x}\n", ""),
        ("metadata: {status: x, a: b}\n", "metadata: {a: b}\n"),
        ("metadata: {a: b, status: x}\n", "metadata: {a: b}\n"),
        ("metadata: {a: b, status: x, c: d}\n", "metadata: {a: b, c: d}\n"),
        ("metadata:\n  a: b\n", "metadata:\n  a: b\n"),
        ("", ""),
    ],
)
def test_a_key_is_taken_out(before: str, after: str) -> None:
    given, wanted = (f"---\n{HEAD}{each}---\n# A\n" for each in (before, after))

    assert edit_metadata(given.encode(), {"status": None}) == wanted.encode()


def test_many_spaces_do_not_take_forever() -> None:
    """A minute and more, if each blank were looked at from each blank."""
    blanks = " " * 60_000
    text = "---\nname: a\nmetadata: {{a: b, {0}}}\n---\n"
    given = text.format(f"status: x{blanks}\n  # c\n  , c: d").encode()

    for changes in ({"status": None}, {"zz": "new"}, {"status": "old"}):
        assert b"# c\n" in edit_metadata(given, changes)


def test_what_yaml_would_take_for_something_else_is_quoted() -> None:
    given = f"---\n{HEAD}---\n".encode()
    texts = ("no # comment", "a: b", "[x", "1.10", 'say "hi"', "\u540d", "- a")
    for value in (*texts, "true", "null", "no", "Yes"):
        edited = edit_metadata(given, {"status": value})
        assert b'status: "' in edited
        assert edit_metadata(edited, {"status": value}) == edited
        assert edit_metadata(edited, {"status": None}) == given


@pytest.mark.parametrize(
    ("text", "detail", "line"),
    [
        ("no frontmatter", "does not begin with frontmatter", 1),
        ("---\nname: a: b\n---\n", "(satchel check --fix may repair it)", 2),
        ("---\nname: a\nname: b\n---\n", "the key 'name' is there twice", 3),
        ("---\nname: a\nmetadata: text\n---\n", "metadata is not a mapping", 3),
        ("---\nname: a\nmetadata: [a]\n---\n", "metadata is not a mapping", 3),
        ("---\nname: a\nmetadata:\n  {}\n---\n", "cannot be changed by itself", 3),
        ("---\n{name: a}\n---\n", "cannot be changed by itself", None),
        (
            "---\nname: a\nmetadata: {b: c, status: {d: e}}\n---\n",
            "cannot be changed by itself",
            3,
        ),
        ("name: a\n---\n# A\n", "", None),
    ],
)
def test_what_no_small_edit_fits_is_refused(
    text: str, detail: str, line: int | None
) -> None:
    with pytest.raises(NotEditableError, match="change it by hand") as reported:
        edit_metadata(text.encode(), {"status": "old"}, path="a/SKILL.md")

    assert detail in reported.value.detail
    assert reported.value.path == "a/SKILL.md"
    assert line is None or reported.value.line == line
