"""A fix repairs, keeps the meaning and the body, and is done once."""

import pytest
from hypothesis import given, strategies as st

from satchel.skill_md import body_of, parse
from satchel_lab._frontmatter_editor import repaired_text
from satchel_lab.lint import fix_skill

pytestmark = pytest.mark.property

LINES = st.sampled_from(
    [
        *("name: x", "name: X", "name: 'x", "name:", "name: x: y", "name: Größe"),
        *("description: d", "description: A: b", "description: > A", "  more: text"),
        *("description: [a", "description: 'it's'", '"quoted": "x', "\ttab: x"),
        *("references: [a.md]", "references:", "- a.md", "  - b: c", "tags: @x"),
        *("---", "----", "...", "---x", "", "# H", "## H: x", "```yaml", "```"),
        *("text at the margin", "<!-- c -->", "metadata:", "  a: b", "key: {", "}"),
        *("description: a\x07b: c", "license: - y", "allowed-tools: a: b", "? a"),
        *("description: 2020-01-01", "  k: v: w", "x: |", "<<: {name: z}", "# comment"),
        *("\x07", "\ufeff", "名称：x", "&a", "*a", "!t x", "a: &b c"),
    ]
)
ENDS = st.sampled_from(["\n", "\n", "\n", "\r\n", "\r", ""])
FILES = st.one_of(
    st.builds(
        lambda start, lines: start + "".join(line + end for line, end in lines),
        st.sampled_from(["---\n", "", "\ufeff---\r\n", "\n---\n", "```\n---\n"]),
        st.lists(st.tuples(LINES, ENDS), max_size=12),
    ),
    st.text(max_size=80),
)
FOLDERS = st.sampled_from(["x", "pdf-forms", "My Skill", ""])
PROFILES = st.sampled_from(["spec", "strict", "lenient"])


@given(FILES, FOLDERS, PROFILES)
def test_fixing_twice_is_fixing_once(text: str, folder: str, profile: str) -> None:
    data = text.encode("utf-8", "surrogatepass")
    options = {"folder": folder, "files": ("references/a.md", "references/b.md")}

    def run(given: bytes) -> bytes:
        found = [
            finding
            for strictness in ("lenient", profile)
            for finding in parse(given, profile=strictness, directory=folder).findings  # type: ignore[arg-type]
        ]
        done = fix_skill(given, tuple(found), profile=profile, **options)  # type: ignore[arg-type]
        return done.after if done else given

    once = run(data)

    assert run(once) == once
    if once != data:
        before = parse(data, profile="lenient", directory=folder or "-")
        after = parse(once, profile="lenient", directory=folder or "-")
        assert body_of(once.decode()) == body_of(text)
        if before.manifest is not None:
            assert after.manifest is not None
            assert after.manifest.description == before.manifest.description
            assert after.manifest.name in {before.manifest.name, folder}


@given(FILES)
def test_what_is_sound_is_written_down_as_it_is(text: str) -> None:
    """Whatever the repairs, the second time there is nothing to repair."""
    once = repaired_text(text)
    sound = parse(text.encode("utf-8", "replace"), profile="lenient", directory="x")

    if once is not None and sound.manifest is not None and not sound.findings:
        assert once == text
