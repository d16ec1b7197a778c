"""URIs of skills, there and back."""

from __future__ import annotations

import pytest

from satchel.model import Descriptor
from satchel.server._mcp._skills import MAX_URI_CHARS, parts_of, skill_path, uri_of


def skill(id: str, name: str = "") -> Descriptor:
    return Descriptor(id, "Use it.", name or id)


@pytest.mark.parametrize(
    ("entry", "path", "uri"),
    [
        (skill("pdf"), "SKILL.md", "skill://pdf/SKILL.md"),
        (skill("pdf"), "references/a b.md", "skill://pdf/references/a%20b.md"),
        (skill("pdf"), "", "skill://pdf"),
        (skill("acme-pdf", "pdf"), "SKILL.md", "skill://acme-pdf/pdf/SKILL.md"),
        (skill("acme/pdf", "pdf"), "", "skill://acme%2Fpdf/pdf"),
        (
            skill("Ünï:x", "pdf"),
            "é?#.md",
            "skill://%C3%9Cn%C3%AF%3Ax/pdf/%C3%A9%3F%23.md",
        ),
    ],
)
def test_a_uri_ends_its_path_in_the_name(
    entry: Descriptor, path: str, uri: str
) -> None:
    assert uri_of(entry, path) == uri
    first, *rest = parts_of(uri) or ()
    assert first == entry.id
    assert rest[bool(entry.id != entry.name) :] == (path.split("/") if path else [])


def test_ids_with_slashes_meet_no_file_of_another_skill() -> None:
    nested = uri_of(skill("a"), "b/n/SKILL.md")
    prefixed = uri_of(skill("a/b", "n"))

    assert nested != prefixed
    assert skill_path(skill("a/b", "n")).count("/") == 1


@pytest.mark.parametrize(
    "uri",
    [
        "",
        "skill://",
        "file:///etc/passwd",
        "SKILL://pdf/SKILL.md",
        "skill://pdf//SKILL.md",
        "skill://pdf/",
        "skill:///SKILL.md",
        "skill://pdf/%ff",
        "skill://" + "a" * MAX_URI_CHARS,
    ],
    ids=lambda uri: uri[:30] or "empty",
)
def test_what_is_no_uri_of_a_file_has_no_parts(uri: str) -> None:
    assert parts_of(uri) is None
