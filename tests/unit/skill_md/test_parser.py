"""What `parse` promises beyond single cases."""

import json
import pickle
import subprocess
import sys
import textwrap
import time

import pytest

from satchel.model import Finding, Limits, Manifest
from satchel.skill_md import Parsed, Profile, parse

CLEAN = (
    b"---\nname: pdf-forms\ndescription: Use when a form must be filled in.\n---\nB\n"
)


def _file(*lines: str) -> bytes:
    return ("---\n" + "".join(f"{line}\n" for line in lines) + "---\nBody.\n").encode()


def _codes(parsed: Parsed) -> list[str]:
    return [finding.code for finding in parsed.findings]


def _accepted(data: bytes, directory: str = "") -> Manifest:
    manifest = parse(data, directory=directory).manifest
    assert manifest is not None
    return manifest


@pytest.mark.row("C18")
@pytest.mark.parametrize("data", [b"", b"x", _file("name: x"), _file("a: b: c", "- d")])
def test_findings_carry_the_path_that_was_given(data: bytes) -> None:
    parsed = parse(data, path="skills/x/SKILL.md")

    assert parsed.findings
    assert {finding.path for finding in parsed.findings} == {"skills/x/SKILL.md"}


@pytest.mark.row("C06", "C14", "C15", "X08")
def test_a_minimal_manifest_has_defaults() -> None:
    manifest = _accepted(CLEAN, directory="pdf-forms")

    assert manifest.version == "1.0.0"
    assert manifest.author is None
    assert manifest.references == manifest.scripts == manifest.assets == ()
    assert manifest.trigger_keywords == ()
    assert not manifest.declares_files
    assert manifest.frontmatter == {
        "name": "pdf-forms",
        "description": "Use when a form must be filled in.",
    }


@pytest.mark.row("R05", "X08", "C11", "C12", "C13")
@pytest.mark.parametrize(
    ("line", "declared"),
    [
        ("references: [a.md]", True),
        ("scripts: []", True),
        ("assets: a.png, b.png", True),
        ("metadata: {references: a.md}", True),
        ("references:", False),
        ("references: {a: b}", False),
        ("license: MIT", False),
    ],
)
def test_declaring_files_closes_a_pack(line: str, *, declared: bool) -> None:
    manifest = _accepted(_file("name: x", "description: d", line))

    assert manifest.declares_files is declared


@pytest.mark.row("A20")
def test_a_declared_path_is_kept_as_it_is() -> None:
    data = _file("name: x", "description: d", "references: [scripts/run.py, a b.md]")

    manifest = _accepted(data)

    assert manifest.references == ("scripts/run.py", "a b.md")


@pytest.mark.row("A19", "X05")
@pytest.mark.parametrize(
    ("profile", "accepted"),
    [("auto", True), ("lenient", True), ("spec", False), ("strict", False)],
)
def test_a_name_may_differ_from_its_folder(profile: Profile, *, accepted: bool) -> None:
    parsed = parse(CLEAN, profile=profile, directory="forms")

    assert (parsed.manifest is not None) is accepted
    assert _codes(parsed) == ["name-not-folder"]


@pytest.mark.row("G01", "C08", "X05")
@pytest.mark.parametrize("name", ['"a\\n"', '"a "', "a-", "-a", "A", "a_b", "a.b", "é"])
def test_a_name_matches_in_full(name: str) -> None:
    data = _file(f"name: {name}", "description: Use when a form must be filled in.")

    assert parse(data, profile="spec").manifest is None
    assert "name-characters" in _codes(parse(data, profile="spec"))


ABOUT = "Use when a form must be filled in."


@pytest.mark.row("C08", "C09", "X05", "X06", "R30")
@pytest.mark.parametrize(
    ("name", "description", "strict", "spec"),
    [
        ("a", ABOUT, True, True),
        ("a-", ABOUT, True, False),
        ("a--b", ABOUT, True, False),
        ("3d", ABOUT, False, True),
        ("a" * 64, ABOUT, True, True),
        ("a" * 65, ABOUT, False, False),
        ("x", "x" * 19, False, True),
        ("x", "x" * 20, True, True),
        ("x", "x" * 500, True, True),
        ("x", "x" * 501, False, True),
        ("x", "x" * 1024, False, True),
        ("x", "x" * 1025, False, False),
        ("x", "x" + " " * 30 + "y", False, True),
        ("x", "  " + "x" * 500 + "  ", True, True),
    ],
)
def test_the_profiles_differ_over_names_and_descriptions(
    name: str, description: str, *, strict: bool, spec: bool
) -> None:
    data = _file(f"name: {name}", f'description: "{description}"')

    assert (parse(data, profile="strict").manifest is not None) is strict
    assert (parse(data, profile="spec").manifest is not None) is spec
    assert parse(data).manifest is not None


@pytest.mark.row("C16", "X07")
def test_an_unknown_key_fails_in_strict_and_is_named() -> None:
    data = _file("name: x", f"description: {'x' * 20}", "referenses: [a.md]")

    parsed = parse(data, profile="strict")

    assert parsed.manifest is None
    assert [(f.line, f.message) for f in parsed.findings] == [
        (4, "unknown field 'referenses'")
    ]


@pytest.mark.row("E15")
@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (["manifest_schema: 1"], []),
        (["manifest_schema: 1", "sandbox: x"], ["unknown-field"]),
        (["sandbox: x"], ["unknown-field"]),
        (["manifest_schema: 2", "sandbox: x", "more: [1]"], []),
        (["sandbox: x", "manifest_schema: 2"], []),
        (["manifest_schema: 2", "references: a.md"], ["field-kind"]),
        (["manifest_schema: 2", "references: [../a]"], ["unsafe-declared-file"]),
        (["manifest_schema: 2", "version: [1]", "new: 1"], ["field-kind"]),
        *(
            ([f"manifest_schema: {wrong}", "new: 1"], ["field-kind", "unknown-field"])
            for wrong in ("0", "-1", "1.5", "true", "'2'", "", "two", "[2]")
        ),
    ],
)
def test_a_later_schema_may_have_more_fields(lines: list[str], said: list[str]) -> None:
    """Those that are known are held to their rules all the same."""
    data = _file("name: x", f"description: {'x' * 20}", *lines)

    parsed = parse(data, profile="strict")

    assert _codes(parsed) == said
    assert (parsed.manifest is None) is bool(said)


@pytest.mark.row("R06")
def test_the_specification_reports_an_unknown_field_and_keeps_it() -> None:
    parsed = parse(_file("name: x", "description: d", "tags: [a]"), profile="spec")

    assert [f.severity for f in parsed.findings] == ["error"]
    assert parsed.manifest is not None
    assert parsed.manifest.frontmatter["tags"] == ["a"]


@pytest.mark.row("D36", "D37", "R07")
def test_a_missing_name_comes_from_the_folder() -> None:
    parsed = parse(_file("description: d"), directory="folder")

    assert parsed.manifest is not None
    assert parsed.manifest.name == "folder"
    assert parsed.findings[0].fix == "add `name: folder`"


@pytest.mark.row("R07", "G02")
def test_a_missing_description_is_refused_and_the_body_offered() -> None:
    data = b"---\nname: x\n---\n# Title\n\nFills in forms, by name.\nAnd more.\n"

    (finding,) = parse(data).findings

    assert finding.code == "missing-description"
    assert '"Fills in forms, by name."' in finding.fix


@pytest.mark.row("R07")
def test_an_empty_description_can_be_allowed() -> None:
    parsed = parse(_file("name: x"), allow_empty_description=True)

    assert parsed.manifest is not None
    assert parsed.manifest.description == ""


@pytest.mark.row("G05")
def test_a_key_given_twice_is_reported_with_its_line() -> None:
    parsed = parse(_file("name: x", "description: one", "license: MIT", "name: y"))

    assert [(f.code, f.line) for f in parsed.findings] == [("duplicate-key", 5)]
    assert parsed.manifest is not None
    assert parsed.manifest.name == "y"


def test_a_value_given_twice_leaves_no_trace_of_the_first() -> None:
    """A number's text must not survive in a list or mapping of the same key."""
    data = _file("name: x", "description: d", "version: 1.0", "version: {a: 2.0}")

    manifest = _accepted(data)

    assert manifest.version == "1.0.0"


@pytest.mark.row("G23")
@pytest.mark.parametrize(
    ("limits", "name"),
    [
        (Limits(skill_md_bytes=60), "skill_md_bytes"),
        (Limits(frontmatter_bytes=40), "frontmatter_bytes"),
        (Limits(yaml_nodes=4), "yaml_nodes"),
        (Limits(yaml_depth=1), "yaml_depth"),
    ],
)
@pytest.mark.parametrize("profile", ["auto", "spec"])
def test_over_a_limit_is_an_error_that_names_it(
    limits: Limits, name: str, profile: Profile
) -> None:
    data = CLEAN.replace(b"\n---\nB", b"\nx: [a]\n---\nB")

    (finding,) = parse(data, limits=limits, profile=profile).findings

    assert finding.code == "limit-exceeded"
    assert finding.severity == "error"
    assert name in finding.message
    assert str(getattr(limits, name)) in finding.message


def test_at_a_limit_is_fine() -> None:
    head = CLEAN[4 : CLEAN.index(b"---\nB")]
    limits = Limits(
        skill_md_bytes=len(CLEAN),
        frontmatter_bytes=len(head),
        yaml_nodes=5,
        yaml_depth=1,
    )

    assert parse(CLEAN, limits=limits).manifest is not None


def test_loose_fences_know_the_limits_too() -> None:
    data = b"\n---\nname: x\ndescription: " + b"d" * 100 + b"\n---\n"

    (finding,) = parse(data, limits=Limits(frontmatter_bytes=50)).findings

    assert finding.code == "limit-exceeded"


@pytest.mark.row("X05", "X06")
@pytest.mark.parametrize(
    ("lines", "matched"),
    [
        (("description: Use when a form must be filled in.",), "spec"),
        (("description: short", "license: MIT"), "spec"),
        (("description: Use when a form must be filled in.", "author: A"), "strict"),
        (("description: short", "author: A"), "lenient"),
        (("description: a: b",), "lenient"),
    ],
)
def test_auto_says_which_profile_matched(lines: tuple[str, ...], matched: str) -> None:
    parsed = parse(_file("name: x", *lines), directory="x")

    assert parsed.profile == matched
    assert parsed.manifest is not None
    assert parsed.manifest.profile == matched


@pytest.mark.row("X07")
@pytest.mark.parametrize("lines", [(), ("author: A",), ("license: MIT",), ("x: 1",)])
def test_strictness_never_changes_what_is_returned(lines: tuple[str, ...]) -> None:
    data = _file("name: x", f"description: {'d' * 30}", *lines)
    profiles: tuple[Profile, ...] = ("strict", "spec", "lenient")

    found = [parse(data, profile=p, directory="x").manifest for p in profiles]

    accepted = [manifest for manifest in found if manifest is not None]
    assert len({(m.name, m.description, m.author, m.license) for m in accepted}) == 1
    assert all(m.frontmatter == accepted[0].frontmatter for m in accepted)


def test_every_violation_is_reported_with_its_line() -> None:
    data = _file("name: X", "license: [a]", "allowed-tools: [Read]", "metadata: text")

    parsed = parse(data, profile="spec", directory="y")

    assert [(f.code, f.line) for f in parsed.findings] == [
        ("name-characters", 2),
        ("name-not-folder", 2),
        ("missing-description", None),
        ("field-kind", 3),
        ("field-kind", 4),
        ("field-kind", 5),
    ]


def test_a_key_behind_a_block_of_the_same_look_has_its_own_line() -> None:
    data = _file("metadata:", '  "x": |', "    license: no", "license: [a]", "name: x")

    found = {f.code: f.line for f in parse(data, profile="spec").findings}

    assert found["field-kind"] == 5


def test_a_line_is_found_in_flow_style_too() -> None:
    data = _file("{name: x,", "description: d,", "license: [a]}")

    (finding,) = parse(data, profile="spec").findings

    assert (finding.code, finding.line) == ("field-kind", 4)


@pytest.mark.parametrize(
    ("line", "before", "after"),
    [
        (
            "description: Use when: asked",
            "description: Use when: asked",
            'description: "Use when: asked"',
        ),
        ("description: > text", "description: > text", 'description: "text"'),
        (
            "description: " + "x: " * 200,
            "description: " + ("x: " * 200)[:287] + "\u2026",
            'description: "' + ("x: " * 200)[:286] + "\u2026",
        ),
    ],
)
def test_a_repair_shows_before_and_after(line: str, before: str, after: str) -> None:
    (finding,) = parse(_file("name: x", line)).findings

    assert (finding.before, finding.after) == (before, after)
    assert finding.severity == "warning"
    assert finding.line == 3
    assert finding.fix


def test_what_is_repaired_can_be_pasted_back() -> None:
    """The text after a repair is YAML that needs none."""
    broken = _file("name: x", "description: **a** b: `c`", "hint: [a] [b]")
    repaired = parse(broken)

    text = broken.decode()
    for finding in repaired.findings:
        text = text.replace(finding.before, finding.after)

    again = parse(text.encode())
    assert again.findings == ()
    assert again.manifest is not None
    assert repaired.manifest is not None
    assert again.manifest.frontmatter == repaired.manifest.frontmatter


@pytest.mark.row("A19", "G04", "G03")
@pytest.mark.parametrize(
    ("data", "directory", "name", "description"),
    [
        (
            b"---\nname: ok\ndescription: A plain skill\n---\nB",
            "ok",
            "ok",
            "A plain skill",
        ),
        (
            b"---\nname: c\ndescription: Use when: asked\n---\nB",
            "c",
            "c",
            "Use when: asked",
        ),
        (b"---\nname: b\ndescription: >-\n  one\n  two\n---\n", "b", "b", "one two"),
        (b"\xef\xbb\xbf---\nname: b\ndescription: d\n---\nB", "b", "b", "d"),
        (b"---\r\nname: c\r\ndescription: d\r\n---\r\nB\r\n", "c", "c", "d"),
        (b"---\ndescription: d\n---\nB", "folder", "folder", "d"),
        (b"---\nname: other\ndescription: d\n---\nB", "dir", "other", "d"),
        (b"---\nname: snake_x\ndescription: d\n---\nB", "snake_x", "snake_x", "d"),
        (b"---\nname: Upper\ndescription: d\n---\nB", "Upper", "Upper", "d"),
        (
            b"---\nname: l\ndescription: " + b"x" * 1500 + b"\n---\n",
            "l",
            "l",
            "x" * 1500,
        ),
        (b"---\nname: n\ndescription: d\n---", "n", "n", "d"),
        (b"---\nname: l\ndescription: caf\xe9\n---\nB", "l", "l", "caf\u00e9"),
        (b'---\nname: q\ndescription: "quoted: ok"\n---\n', "q", "q", "quoted: ok"),
        (b"---\nname: t\ndescription: d\nmetadata:\n\tauthor: x\n---\n", "t", "t", "d"),
        (
            "---\nname: r\u00e9\ndescription: d\n---\n".encode(),
            "r\u00e9",
            "r\u00e9",
            "d",
        ),
    ],
)
def test_tricky_packs_load_with_the_right_values(
    data: bytes, directory: str, name: str, description: str
) -> None:
    manifest = _accepted(data, directory=directory)

    assert (manifest.name, manifest.description) == (name, description)


HOSTILE = {
    "brackets": b"---\na: " + b"[" * 30_000 + b"\n---\n",
    "braces": b"---\na: " + b"{" * 30_000 + b"\n---\n",
    "dashes": b"---\n" + b"- " * 30_000 + b"\n---\n",
    "indents": b"---\n" + b"".join(b" " * i + b"a:\n" for i in range(350)) + b"---\n",
    "keys": b"---\n" + b"? " * 30_000 + b"\n---\n",
    "bomb": b"---\na: &a [x]\n" + b"b: [*a, *a]\n" * 100 + b"---\n",
    "broken lines": b"---\n" + b"a: b: c\n" * 8_000 + b"---\n",
    "broken keys": b"---\n"
    + b"".join(b"k%d: b: c\n" % i for i in range(5_000))
    + b"---\n",
    "broken nest": b"---\nm:\n" + b"  k: b: c\n" * 6_000 + b"---\n",
    "open flow": b"---\na: {\n" + b"k: v,\n" * 9_000 + b"---\n",
    "quotes": b"---\ndescription: " + b'"x ' * 20_000 + b"\n---\n",
    "prose": b"---\ndescription: x\n" + b"- y\n" * 15_000 + b"---\n",
    "one plain": b"---\ndescription: " + b"a: " * 20_000 + b"\n---\n",
    "comments": b"<!--" * 200_000,
    "dashes before": b"-" * 1_000_000,
    "blank lines": b"\n" * 1_000_000,
    "fences": b"---\n" + b"---x\n" * 200_000,
    "headings": b"---\nname: x\n" + b"# a\nb\n" * 100_000,
    "binary": bytes(range(256)) * 4_000,
    "latin": b"\xe9" * 1_000_000,
    "nul": b"---\nname: x\ndescription: " + b"\0" * 60_000 + b"\n---\n",
    "long name": b"---\nname: " + b"a" * 60_000 + b"\ndescription: d\n---\n",
    "digits": b"---\nname: x\ndescription: d\nn: " + b"9" * 60_000 + b"\n---\n",
    "escapes": b'---\ndescription: "' + b"\\q" * 30_000 + b'"\n---\n',
    "stars": b"---\ndescription: " + b"*" * 60_000 + b"\n---\n",
    "translated": b"---\n" + "\u63cf\u8ff0\uff1ax\n".encode() * 4_000 + b"---\n",
}


@pytest.mark.row("R01", "G23")
@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_file_takes_less_than_a_second(kind: str) -> None:
    started = time.process_time()

    parsed = parse(HOSTILE[kind], directory="d")

    assert time.process_time() - started < 1
    assert parsed.manifest is None or parsed.manifest.name


@pytest.mark.row("R01")
@pytest.mark.parametrize("loader", ["new_parser", "_PureParser"])
def test_nesting_does_not_end_the_process(loader: str) -> None:
    """`yaml.load` and `yaml.compose` overflow the C stack on the same input."""
    script = textwrap.dedent(
        f"""
        from satchel.skill_md import _frontmatter, _yaml, parse
        _frontmatter.new_parser = _yaml.new_parser = _yaml.{loader}
        for piece in (b"[", b"{{", b"- ", b"? ", b"[" * 9 + b"]" * 9):
            a = b"a: " + piece * 30_000
            parsed = parse(b"---\\nname: x\\ndescription: d\\n" + a + b"\\n---\\n")
            assert parsed.findings, piece
        """
    )

    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, check=False, timeout=60
    )

    assert (result.returncode, result.stderr) == (0, b"")


@pytest.mark.row("R33", "C17")
def test_an_exception_of_the_library_is_a_finding(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """PyYAML raises more than it documents: KeyError, ValueError, RecursionError."""

    class Raising:
        def __init__(self, _: bytes) -> None: ...

        def get_event(self) -> None:
            raise RecursionError

    monkeypatch.setattr("satchel.skill_md._frontmatter.new_parser", Raising)

    parsed = parse(CLEAN)

    assert parsed.manifest is None
    assert [f.severity for f in parsed.findings] == ["error"]


def test_an_exception_of_our_own_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise KeyError("x")

    monkeypatch.setattr("satchel.skill_md._parser.manifest_of", fail)

    parsed = parse(CLEAN)

    assert parsed.manifest is None
    assert _codes(parsed) == ["parser-failed"]


def test_no_line_is_quoted_twice() -> None:
    """Found by fuzzing: backslashes doubled with every round, 2 to the 20th of them."""
    data = b'---\nx: "a: a\ny: "x\\ud84d"\x01\n'

    started = time.process_time()
    parse(data, directory="d")

    assert time.process_time() - started < 0.05


def test_an_indented_field_can_be_broken_too() -> None:
    """Found by fuzzing: it was quoted, and left where it had slipped to."""
    data = _file(
        "name: x", " description: a: b", "license:", "\tMIT: [a", "version:1: 2"
    )

    parsed = parse(data)

    assert parsed.manifest is not None
    assert parsed.manifest.frontmatter == {
        "name": "x",
        "description": "a: b",
        "license": {"MIT": "[a"},
        "version": "1: 2",
    }


@pytest.mark.row("R02")
@pytest.mark.parametrize("char", "\x85\u2028\u2029")
def test_line_ends_of_yaml_1_1_are_text(char: str) -> None:
    """Found by fuzzing: PyYAML counts and folds them."""
    data = _file(f"name: {char}x", f"description: a{char}b\ue000", "license: [a]")

    parsed = parse(data, profile="spec")

    assert ("field-kind", 4) in [(f.code, f.line) for f in parsed.findings]
    assert _accepted(data).description == f"a{char}b\ue000"


def test_a_text_with_every_private_character_leaves_room_for_others() -> None:
    private = "".join(map(chr, range(0xE000, 0xF900)))

    assert _accepted(_file("name: x", f"description: a\x85{private}")).description == (
        f"a\x85{private}"
    )


@pytest.mark.row("R02")
@pytest.mark.parametrize(
    ("around", "meant"),
    [
        ("\U000f0000", "\U000f0000"),
        (r"\U000F0000", "\U000f0000"),
        ("\U000f0000d83ddc8a", "\U000f0000d83ddc8a"),
        ("\x85", "\x85"),
        ("\ue000", "\ue000"),
        (r"\uE000", "\ue000"),
    ],
    ids=["as it is", "escaped", "with digits", "old break", "private", "its escape"],
)
def test_halves_of_a_character_are_joined_whatever_is_around(
    around: str, meant: str
) -> None:
    """What the parser is shown instead is never taken from the author."""
    text = f'description: "a{around}\\ud83d\\udc8a\x85{around}b"'
    data = _file("name: x", text, "license: [a]")

    parsed = parse(data, profile="spec")

    assert [(f.code, f.line) for f in parsed.findings] == [("field-kind", 4)]
    assert _accepted(data).description == f"a{meant}\U0001f48a\x85{meant}b"


def test_an_error_behind_halves_that_were_joined_has_its_line() -> None:
    data = _file("name: x", r'description: "\ud83d\udc8a"', "license: a\x0cb")

    codes = [(f.code, f.line) for f in parse(data).findings]
    assert codes == [("control-characters", 4)]
    assert parse(data, profile="spec").findings[0].line == 4


def test_no_finding_is_past_the_end_of_the_file() -> None:
    """Found by fuzzing: libyaml tells what is missing on the line behind the last."""
    data = b"---\n\xb9\x92cription: x\n--"

    assert max(finding.line or 0 for finding in parse(data).findings) == 3


def test_a_result_is_a_value() -> None:
    parsed = parse(_file("name: x", "description: a: b", "version: 1.10"))

    assert pickle.loads(pickle.dumps(parsed)) == parsed  # noqa: S301
    assert isinstance(parsed.findings[0], Finding)
    assert parsed.manifest is not None
    json.dumps(parsed.manifest.frontmatter)
