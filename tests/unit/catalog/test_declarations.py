"""What a manifest declares: the files that may be read, and the tools."""

import json

import pytest

from satchel.catalog import CatalogRules, ParseOptions, Registry, allow, is_tool_allowed
from satchel.catalog._tool_names import MAX_TOOLS, tool_names
from satchel.model import Descriptor, FileStat, Manifest
from tests.fakes import FakeClock, FakeSource

HELD = tuple(
    FileStat(path, 1)
    for path in (
        "README.md",
        "SKILL.md",
        "assets/logo.png",
        "references/a.md",
        "references/hidden.md",
        "scripts/run.sh",
    )
)


def manifest(
    references: tuple[str, ...] = (),
    scripts: tuple[str, ...] = (),
    assets: tuple[str, ...] = (),
) -> Manifest:
    return Manifest(
        name="a",
        description="d",
        references=references,
        scripts=scripts,
        assets=assets,
        declares_files=bool(references or scripts or assets),
    )


@pytest.mark.row("X08")
def test_a_pack_that_declares_nothing_is_open_unless_all_are_closed() -> None:
    listed = allow(manifest(), HELD)

    assert listed.references == ("references/a.md", "references/hidden.md")
    assert listed.scripts == ("scripts/run.sh",)
    assert listed.assets == ("assets/logo.png",)
    assert listed.others == ("README.md",)
    assert allow(manifest(), HELD, closed=True).references == ()


@pytest.mark.row("A08", "A09", "A20", "A30", "C11", "C12", "C13", "G06", "G07", "G08")
@pytest.mark.row("R28", "X08")
@pytest.mark.parametrize(
    ("declared", "listed", "codes"),
    [
        ({"references": ("a.md",)}, ["references/a.md"], []),
        ({"references": ("scripts/run.sh",)}, ["scripts/run.sh"], []),
        (
            {"scripts": ("run.sh",), "assets": ("logo.png",)},
            ["scripts/run.sh", "assets/logo.png"],
            [],
        ),
        (
            {"references": ("gone.md",)},
            ["references/gone.md"],
            ["listed-file-missing"],
        ),
        ({"assets": (".env",)}, [], ["left-out-file-declared"]),
        *(
            ({"references": (name,)}, [], ["unsafe-declared-file"])
            for name in ("../../etc/passwd", "/etc/passwd", "a\\b", "%2e%2e/a")
        ),
    ],
)
def test_a_pack_that_declares_any_file_is_closed_to_just_these(
    declared: dict[str, tuple[str, ...]],
    listed: list[str],
    codes: list[str],
) -> None:
    """A missing one stays listed: asking for it is not refused, but not found."""
    found = allow(manifest(**declared), HELD)

    buckets = (found.references, found.scripts, found.assets, found.others)
    assert [path for paths in buckets for path in paths] == listed
    assert [f.code for f in found.findings if f.severity == "error"] == codes


def synced(source: FakeSource) -> Registry:
    registry = Registry(
        (source,),
        accept=ParseOptions(profile="lenient"),
        rules=CatalogRules(),
        clock=FakeClock(),
    )
    registry.sync()
    return registry


def taken_in(*metadata: str, more: str = "") -> tuple[Descriptor, list[str]]:
    """Return the descriptor of a pack with these lines of metadata, and its codes."""
    lines = "".join(f"  {line}\n" for line in metadata)
    head = f"name: a\ndescription: Use it.\n{more}metadata:\n{lines}"
    registry = synced(FakeSource("s", {"a": {"SKILL.md": f"---\n{head}---\n"}}))
    findings = registry.catalog.findings
    return registry.catalog.entries[0], [
        f"{each.code} {each.path}" for each in findings if each.code == "field-kind"
    ]


@pytest.mark.parametrize(
    "line",
    [
        "tools: look_up refund",
        "tools: look_up, refund",
        'tools: " look_up,refund "',
        "tools: [look_up, refund]",
        "tools: [look_up, ' refund ', look_up, '']",
        """tools: '["look_up", "refund"]'""",
        "adk_additional_tools: [look_up, refund]",
        "include_tools: look_up refund",
    ],
)
def test_every_spelling_names_the_tools_in_order(line: str) -> None:
    entry, codes = taken_in(line)

    assert (entry.tools, codes) == (("look_up", "refund"), [])


def test_keys_come_in_a_fixed_order_and_an_empty_one_names_nothing() -> None:
    """Whatever the order in the file, ours goes first, then ADK's, then deepagents'."""
    entry, _ = taken_in(
        "include_tools: e a", "adk_additional_tools: [d, b]", "tools: b a"
    )

    assert entry.tools == ("b", "a", "d", "e")

    assert taken_in("tools:", "include_tools: ''")[0].tools == ()


@pytest.mark.parametrize("value", ["{a: b}", "12", "true", "[a, 1]", "[[a]]", "1.5"])
def test_what_is_no_name_is_said_and_left_out(value: str) -> None:
    entry, codes = taken_in(f"tools: {value}", "include_tools: z")

    assert entry.tools == (("a", "z") if value == "[a, 1]" else ("z",))
    assert codes == ["field-kind s/a/SKILL.md"]


def test_a_flood_of_names_is_cut_and_a_message_names_ten() -> None:
    names = [f"t{number}" for number in range(MAX_TOOLS + 1)]

    kept, findings = tool_names({"tools": json.dumps(names)}, (), "x")

    assert kept == tuple(names[:MAX_TOOLS])
    assert [finding.code for finding in findings] == ["field-kind"]

    _, (finding,) = tool_names({"tools": " ".join(names[:13])}, ("x",), "x")
    assert "'t9' and 3 more" in finding.message


@pytest.mark.parametrize(
    ("allowed", "open_", "closed"),
    [
        ((), "abc", ""),
        (("a", "b(x:*)", "c"), "abc", ""),
        (("*",), "abc", ""),
        (("b", "d"), "b", "ac"),
        (("B",), "", "abc"),
        (("(x)",), "", "abc"),
    ],
)
def test_allowed_tools_can_only_narrow(
    allowed: tuple[str, ...], open_: str, closed: str
) -> None:
    """What it closes stays named, so that a load can say so, and is said at sync."""
    names, findings = tool_names({"tools": "a b c"}, allowed, "x")

    assert names == ("a", "b", "c")
    assert [name for name in names if is_tool_allowed(name, allowed)] == list(open_)
    assert [(each.code, each.severity) for each in findings] == (
        [("tool-not-allowed", "warning")] if closed else []
    )
    for each in findings:
        assert all(repr(name) in each.message for name in closed)


def test_allowed_tools_are_in_the_descriptor() -> None:
    entry, _ = taken_in("x: y", more="allowed-tools: Read Bash(git log:*)\n")

    assert entry.allowed_tools == ("Read", "Bash(git log:*)")


@pytest.mark.parametrize(
    ("line", "category"),
    [
        ("category: raw", "raw"),
        ("category: ' Raw '", "raw"),
        ("category: documents", "standard"),
        ("category: [raw]", "standard"),
        ("x: y", "standard"),
    ],
)
@pytest.mark.row("E18")
def test_a_skill_is_raw_only_where_it_says_exactly_that(
    line: str, category: str
) -> None:
    assert taken_in(line)[0].category == category


def test_a_made_up_manifest_names_tools_too() -> None:
    """A source may hand over a manifest that it made itself, with tuples in it."""

    class Made(FakeSource):
        def manifest(self, key: str) -> Manifest:
            return Manifest(
                name=key, description="Use it.", metadata={"tools": ("b", "a")}
            )

    registry = synced(Made("s", {"a": {"SKILL.md": "# A\n"}}))

    assert registry.catalog.entries[0].tools == ("b", "a")
