"""What `parse` promises beyond single cases."""

import json
import pickle
import subprocess
import sys
import textwrap
import time
from typing import Any

import pytest

from satchel.errors import LimitExceededError
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


NAMED = ("name: x", "description: d")
PAIR = r'description: "\ud83d\udc8a"'
READ: list[Any] = [
    (
        ("name: x", "description: d"),
        {},
        {
            "version": "1.0.0",
            "author": None,
            "declares_files": False,
            **dict.fromkeys(("references", "scripts", "assets"), ()),
            "trigger_keywords": (),
            "name": "x",
            "description": "d",
            "frontmatter": {"name": "x", "description": "d"},
        },
        [],
    ),
    # Declaring files closes a pack.
    ((*NAMED, "references: [a.md]"), {}, {"declares_files": True}, []),
    ((*NAMED, "scripts: []"), {}, {"declares_files": True}, []),
    ((*NAMED, "assets: a.png, b.png"), {}, {"declares_files": True}, []),
    ((*NAMED, "metadata: {references: a.md}"), {}, {"declares_files": True}, []),
    ((*NAMED, "references:"), {}, {"declares_files": False}, []),
    ((*NAMED, "references: {a: b}"), {}, {"declares_files": False}, []),
    ((*NAMED, "license: MIT"), {}, {"declares_files": False}, []),
    (
        (*NAMED, "references: [scripts/run.py, a b.md]"),
        {},
        {"references": ("scripts/run.py", "a b.md")},
        [],
    ),
    # A name may differ from its folder where the profile is not chosen.
    *(
        (NAMED, {"profile": profile, "directory": "y"}, fields, ["name-not-folder:2"])
        for profile in ("auto", "lenient")
        for fields in ({"name": "x"},)
    ),
    (NAMED, {"profile": "spec", "directory": "y"}, {}, ["name-not-folder:2"]),
    *(
        ((f"name: {name}", "description: d"), {}, {"name": name}, [])
        for name in ("snake_x", "Upper")
    ),
    (("name: x", f"description: {'d' * 1500}"), {}, {"description": "d" * 1500}, []),
    (
        ("name: x", f"description: {'d' * 20}", "referenses: [a.md]"),
        {"profile": "strict"},
        {},
        ["unknown-field:4"],
    ),
    (
        (*NAMED, "tags: [a]"),
        {"profile": "spec"},
        {"frontmatter": {"name": "x", "description": "d", "tags": ["a"]}},
        ["unknown-field:4"],
    ),
    (("description: d",), {"directory": "y"}, {"name": "y"}, ["missing-name"]),
    (("name: x",), {"allow_empty_description": True}, {"description": ""}, []),
    ((*NAMED, "license: MIT", "name: y"), {}, {"name": "y"}, ["duplicate-key:5"]),
    # A number's text must not survive in a list or mapping of the same key.
    (
        (*NAMED, "version: 1.0", "version: {a: 2.0}"),
        {},
        {"version": "1.0.0"},
        ["duplicate-key:5"],
    ),
    (
        ("name: X", "license: [a]", "allowed-tools: [Read]", "metadata: text"),
        {"profile": "spec", "directory": "y"},
        {},
        [
            *("name-characters:2", "name-not-folder:2", "missing-description"),
            *("field-kind:3", "field-kind:4", "field-kind:5"),
        ],
    ),
    # A key behind a block of the same look, and one in flow style.
    (
        ("metadata:", '  "x": |', "    license: no", "license: [a]", *NAMED),
        {"profile": "spec"},
        {},
        ["field-kind:5"],
    ),
    (
        ("{name: x,", "description: d,", "license: [a]}"),
        {"profile": "spec"},
        {},
        ["field-kind:4"],
    ),
    # Halves that are joined do not move the line of what is behind them.
    (
        ("name: x", PAIR, "license: a\x0cb"),
        {},
        {"license": "ab"},
        ["control-characters:4"],
    ),
    # A nested line that is neither a pair nor an item has nothing to quote.
    (
        (*NAMED, "m:", "  k: v", "  @x"),
        {},
        {"frontmatter": {"name": "x", "description": "d", "m": "k: v @x"}},
        ["kept-as-text:4"],
    ),
    # Found by fuzzing: it was quoted, and left where it had slipped to.
    (
        ("name: x", " description: a: b", "license:", "\tMIT: [a", "version:1: 2"),
        {},
        {
            "frontmatter": {
                "name": "x",
                "description": "a: b",
                "license": {"MIT": "[a"},
                "version": "1: 2",
            }
        },
        ["unquoted-colon:3", "reserved-character:4", "unquoted-colon:6"],
    ),
]


@pytest.mark.row("A19", "A20", "C06", "C11", "C12", "C13", "C14", "C15", "C16", "D36")
@pytest.mark.row("D37", "G03", "G04", "G05", "R05", "R06", "R07", "X05", "X07", "X08")
@pytest.mark.parametrize(
    ("lines", "options", "fields", "found"),
    READ,
    ids=[f"{n} {row[0][-1][:40]}" for n, row in enumerate(READ)],
)
def test_what_is_read_and_reported(
    lines: tuple[str, ...],
    options: dict[str, Any],
    fields: dict[str, object],
    found: list[str],
) -> None:
    parsed = parse(_file(*lines), **options)

    assert [
        f"{f.code}:{f.line}".removesuffix(":None") for f in parsed.findings
    ] == found
    assert (parsed.manifest is not None) is bool(fields)
    assert {key: getattr(parsed.manifest, key) for key in fields} == fields


@pytest.mark.row("R07", "G02")
def test_what_is_missing_is_offered() -> None:
    (unnamed,) = parse(_file("description: d"), directory="folder").findings
    body = b"# Title\n\nFills in forms, by name.\nAnd more.\n"
    (undescribed,) = parse(b"---\nname: x\n---\n" + body).findings

    assert unnamed.fix == "add `name: folder`"
    assert undescribed.code == "missing-description"
    assert '"Fills in forms, by name."' in undescribed.fix


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


@pytest.mark.row("G23", "R01")
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
    assert f"{name} = {getattr(limits, name)}" in finding.message


def test_a_file_over_its_limit_reads_like_the_error_of_its_load() -> None:
    data = CLEAN + b"x" * 1000
    error = LimitExceededError("skill_md_bytes", 1_000, len(data), "bytes")

    (finding,) = parse(data, limits=Limits(skill_md_bytes=1_000)).findings

    assert finding.message == str(error)


@pytest.mark.parametrize("above", [b"", b"\n\n"])
def test_frontmatter_in_toml_is_called_so(above: bytes) -> None:
    """Its text offers no description: it would begin with the fence."""
    data = above + b'+++\ntitle = "Forms"\n+++\n\n# Forms\n\nFill in forms.\n'

    (finding,) = parse(data).findings

    assert (finding.code, finding.severity) == ("no-frontmatter", "error")
    assert "TOML" in finding.message
    assert "+++" in finding.message
    assert "offers" not in finding.fix


def test_loose_fences_know_the_limits_too() -> None:
    data = b"\n---\nname: x\ndescription: " + b"d" * 100 + b"\n---\n"

    (finding,) = parse(data, limits=Limits(frontmatter_bytes=50)).findings

    assert finding.code == "limit-exceeded"


def test_at_a_limit_is_fine() -> None:
    head = CLEAN[4 : CLEAN.index(b"---\nB")]
    limits = Limits(
        skill_md_bytes=len(CLEAN),
        frontmatter_bytes=len(head),
        yaml_nodes=5,
        yaml_depth=1,
    )

    assert parse(CLEAN, limits=limits).manifest is not None


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


def test_a_quote_that_is_open_is_repaired_far_above_where_it_is_noticed() -> None:
    lines = ("license: 'MIT", "name: x", "description: Use it.", "more: a: b: c")

    parsed = parse(_file(*lines))

    assert parsed.manifest is not None
    assert (parsed.manifest.name, parsed.manifest.description) == ("x", "Use it.")
    assert "bad-quotes" in {one.code for one in parsed.findings if one.line == 2}


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
def test_a_hostile_file_is_soon_read(kind: str) -> None:
    """Each takes some tenths at most; quadratic, they would take minutes."""
    started = time.process_time()

    parsed = parse(HOSTILE[kind], directory="d")

    assert time.process_time() - started < 5
    assert parsed.manifest is None or parsed.manifest.name


@pytest.mark.slow
@pytest.mark.row("R01")
@pytest.mark.parametrize("loader", ["new_parser", "_PureParser"])
def test_nesting_does_not_end_the_process(loader: str) -> None:
    """`yaml.load` and `yaml.compose` overflow the C stack on the same input."""
    script = textwrap.dedent(
        f"""
        from satchel.skill_md import _yaml, parse
        _yaml.new_parser = _yaml.{loader}
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
def test_an_exception_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    """PyYAML raises more than it documents: KeyError, ValueError, RecursionError."""

    class Raising:
        def __init__(self, _: bytes) -> None: ...

        def get_event(self) -> None:
            raise RecursionError

    def fail(*_: object) -> None:
        raise KeyError("x")

    for name, broken, code in (
        ("_yaml.new_parser", Raising, "invalid-yaml"),
        ("_parser.manifest_of", fail, "parser-failed"),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(f"satchel.skill_md.{name}", broken)
            # Plain frontmatter needs no YAML parser.
            patch.setattr("satchel.skill_md._opening.read_plain", lambda *_: None)
            parsed = parse(CLEAN)
        assert parsed.manifest is None
        assert [(f.severity, f.code) for f in parsed.findings] == [("error", code)]


def test_no_line_is_quoted_twice() -> None:
    """Found by fuzzing: backslashes doubled with every round, 2 to the 20th of them."""
    data = b'---\nx: "a: a\ny: "x\\ud84d"\x01\n'

    started = time.process_time()
    parse(data, directory="d")

    assert time.process_time() - started < 5


@pytest.mark.row("R02")
@pytest.mark.parametrize("char", "\x85\u2028\u2029")
def test_line_ends_of_yaml_1_1_are_text(char: str) -> None:
    """Found by fuzzing: PyYAML counts and folds them."""
    data = _file(f"name: {char}x", f"description: a{char}b\ue000", "license: [a]")

    parsed = parse(data, profile="spec")

    assert ("field-kind", 4) in [(f.code, f.line) for f in parsed.findings]
    assert _accepted(data).description == f"a{char}b\ue000"


def test_a_text_with_every_private_character_leaves_room_for_others() -> None:
    text = "a\x85" + "".join(map(chr, range(0xE000, 0xF900)))
    parsed = parse(_file("name: x", f"description: {text}"))

    assert parsed.findings == ()
    assert parsed.manifest is not None
    assert parsed.manifest.description == text


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
