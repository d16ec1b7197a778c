"""Fields of the frontmatter: names, tools, licences, and what some clients honour."""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Final

from satchel.lazy import lazy_pattern
from satchel.model import PORTABLE_NAME, SKILL_FILE, Finding, is_name, portable_name
from satchel.skill_md import (
    CLIENT_FIELDS,
    NEEDS_FIELDS,
    SPEC_FIELDS,
    skill_names,
    spec_name_violations,
    strict_name_violations,
    to_spec,
)
from satchel.text import nearest
from satchel_lab.lint._context import LintContext, matches_in, rule, text_of
from satchel_lab.lint._review import review_table

# Names that Windows gives to devices, in every folder.
_DEVICE: Final = lazy_pattern(r"con|prn|aux|nul|(?:com|lpt)[0-9]")
_PROFILE_RULES: Final = {"spec": spec_name_violations, "strict": strict_name_violations}


@rule("name-not-portable", "reserved-name")
def name_not_portable(pack: LintContext) -> Iterator[Finding]:
    """Yield a note on a name outside of what all profiles and clients accept."""
    name = pack.manifest.name
    if "name" not in pack.manifest.frontmatter:
        return
    is_portable = is_name(name, PORTABLE_NAME)
    find = _PROFILE_RULES.get(pack.profile)
    violations = find(name) if find else ()
    report = partial(pack.finding_at, "name-not-portable", "name", name=name)
    if not is_portable and not any(violations):
        near = portable_name(name)
        yield report(sentence="" if near else "no-near", near=near)
    if _DEVICE.fullmatch(name.lower()):
        yield report(severity="warning", sentence="device")
    for word in ("anthropic", "claude"):
        if word in name.lower():
            yield pack.finding_at("reserved-name", "name", word=word)
            break


_LIMITS: Final = lazy_pattern(r"\([^)]*\)")
_MAX_FIX_CHARS: Final = 300


@rule("allowed-tools-form")
def allowed_tools_form(pack: LintContext) -> Iterator[Finding]:
    """Yield a note on a list, or on commas between the tools."""
    written = pack.manifest.frontmatter.get("allowed-tools")
    tools = pack.manifest.allowed_tools
    if isinstance(written, str):
        if "," not in _LIMITS.sub("", written):
            return
        how = "commas between the tools"
    # Where profile `spec` was chosen, a list is the error `field-kind`.
    elif isinstance(written, list | tuple) and (
        pack.by_dialect or pack.profile != "spec"
    ):
        how = "a list"
    else:
        return
    if "Claude Code" in pack.clients:  # it documents all of these forms
        return
    finding = pack.finding_at(
        "allowed-tools-form", "allowed-tools", how=how, tools=" ".join(tools)
    )
    yield replace(finding, fix=finding.fix[:_MAX_FIX_CHARS])


_SHELL: Final = lazy_pattern(
    r"(?:bash|shell|powershell)(?:\(\s*\*?\s*\))?", re.IGNORECASE
)


@rule("unlimited-shell")
def unlimited_shell(pack: LintContext) -> Iterator[Finding]:
    """Yield a note where ``allowed-tools`` has the shell without a limit."""
    # The example of agentskills.io/specification bounds it: `Bash(git:*)`.
    tools = pack.manifest.allowed_tools
    wide = next((tool for tool in tools if _SHELL.fullmatch(tool.strip(","))), None)
    if wide is not None:
        yield pack.finding_at("unlimited-shell", "allowed-tools", wide=wide)


_NAMED_FILE: Final = lazy_pattern(
    r"(?<![\w/.:-])(?:LICEN[CS]E|COPYING|NOTICE)[\w-]*(?:\.(?:txt|md))\b"
)


@rule("license-file-missing")
def license_file_missing(pack: LintContext) -> Iterator[Finding]:
    """Yield a note where ``license`` names a file that the pack does not have."""
    # agentskills.io/specification: "the name of a license or the name of a bundled
    # license file".
    written = pack.manifest.frontmatter.get("license")
    if not isinstance(written, str):
        return
    there = {file.path for file in pack.descriptor.files}
    for match in _NAMED_FILE.finditer(written):
        if match[0] not in there:
            yield pack.finding_at("license-file-missing", "license", text=match[0])


@rule("metadata-not-text")
def metadata_scalars(pack: LintContext) -> Iterator[Finding]:
    """Yield a warning on each value that YAML reads as a number or a boolean."""
    # agentskills.io/specification: "a map from string keys to string values". A
    # list or a mapping is for a program that reads it; profile `spec` reports it.
    written = pack.manifest.frontmatter.get("metadata")
    if not isinstance(written, Mapping):
        return
    for key, value in written.items():
        # What a client documents is of the kind that it reads.
        if isinstance(value, int | float) and f"metadata.{key}" not in CLIENT_FIELDS:
            kind = "true or false" if isinstance(value, bool) else "a number"
            yield pack.finding_at(
                "metadata-not-text", f"metadata.{key}", key=key, kind=kind
            )


# They are for people: no skill works otherwise where a client ignores them.
_HINTS: Final = frozenset({"argument-hint", "homepage"})
# What every client does that ignores the field.
_USUAL: Final = {
    "disable-model-invocation": False,
    "user-invocable": True,
    "model": "inherit",
}


@rule("client-only-field", of_skills=True)
def client_only_field(pack: LintContext) -> Iterator[Finding]:
    """Yield a note on each field beyond the specification that some clients honour."""
    # Not where the pack lies in a folder of one of those, or is about one, nor where a
    # mapping is a client's own, which its key names.
    top = pack.manifest.frontmatter
    needs = {key: skill_names(key, top[key]) for key in NEEDS_FIELDS if key in top}
    needs = {key: names for key, names in needs.items() if names is not None}
    for field, skills in needs.items():
        if skills:
            names = ", ".join(skills)
            yield pack.finding_at(
                "client-only-field", field, sentence="needs", field=field, names=names
            )
    metadata = top.get("metadata")
    inner = metadata.items() if isinstance(metadata, Mapping) else ()
    plain = (f"metadata.{key}" for key, value in inner if not isinstance(value, dict))
    about = f"{pack.manifest.name} {pack.manifest.description}"
    for field in (*top, *plain):
        clients = CLIENT_FIELDS.get(field, ())
        if (
            field in needs
            or field in _HINTS
            or top.get(field) == _USUAL.get(field, top)
            or (field == "context" and top[field] != "fork")
        ):
            continue
        named = any(re.search(rf"(?i)\b{name}\b", about) for name in clients)
        if clients and not named and pack.clients.isdisjoint(clients):
            names = " and ".join(filter(None, (", ".join(clients[:-1]), clients[-1])))
            yield pack.finding_at(
                "client-only-field", field, field=field, clients=names
            )


_CLOSE: Final = 0.7


@rule("misspelled-value", of_skills=True)
def misspelled_value(pack: LintContext) -> Iterator[Finding]:
    """Yield a warning on each value that is nearly one that a client knows."""
    # Any other value is that of another program, which has the field, too.
    for field, words in review_table()["values"].items():
        written = str(pack.manifest.frontmatter.get(field, ""))
        near = nearest(written, words, 1, _CLOSE) if written else ()
        if near and near[0] != written:
            yield pack.finding_at(
                "misspelled-value", field, field=field, text=written, meant=near[0]
            )


@rule("spec-incompatible")
def spec_incompatible(pack: LintContext) -> Iterator[Finding]:
    """Yield one note where a conversion would make the fields valid."""
    written = pack.manifest.frontmatter
    # Where profile `strict` was chosen, its fields are there on purpose.
    chosen = pack.profile == "strict" and not pack.by_dialect
    if chosen or written.keys() <= SPEC_FIELDS:
        return
    # Fields that a conversion moves into metadata; any other keeps the pack invalid.
    moved = [field for field in written if field not in to_spec(written)]
    others = [field for field in written if field not in {*SPEC_FIELDS, *moved}]
    if moved and not others:
        yield pack.finding_at("spec-incompatible", moved[0], fields=", ".join(moved))


_LICENCE_FILE: Final = lazy_pattern(
    r"(?i)(?:LICEN[CS]E|COPYING)[\w-]*(?:\.txt|\.md)?\Z"
)
# A name that a client gives to a tool of its own; others may be of any server.
_OF_CLIENT: Final = lazy_pattern(r"[A-Z][A-Za-z]+\Z")
_HOST: Final = lazy_pattern(r"https?://([\w.-]+)")


@rule("license-differs", "look-alike-letters", "unknown-tool")
def doubtful_field(pack: LintContext) -> Iterator[Finding]:
    """Yield a tool that nobody has, a licence that is another, letters like others."""
    listed = review_table()["tools"]
    for written in pack.manifest.allowed_tools:
        tool = re.sub(r"\(.*|[\[\]\"',]", "", written)
        instead = f"Bash({tool.lower()}:*)"
        if tool in listed["known"] or tool in pack.descriptor.tools:
            continue
        if tool.lower() not in listed["programs"]:
            if not _OF_CLIENT.match(tool):
                continue
            near = nearest(tool, listed["known"], 1, _CLOSE)
            instead = near[0] if near else "the name that the client documents"
        yield pack.finding_at(
            "unknown-tool", "allowed-tools", tool=tool, instead=instead
        )
    yield from _licence(pack)
    yield from _letters(pack)


def _licence(pack: LintContext) -> Iterator[Finding]:
    field, table = pack.manifest.frontmatter.get("license"), review_table()["licences"]
    names = [name for name in table if re.search(table[name][1], str(field or ""))]
    matches = [
        (name, path)
        for path in (pack.descriptor.resources if names else ())
        if _LICENCE_FILE.match(path)
        for name in table
        if re.search(table[name][0], text_of(pack, path))
    ]
    if matches and not any(name in names for name, _ in matches):
        name, path = matches[0]
        yield pack.finding_at(
            "license-differs", "license", text=field, name=name, path=path
        )


def _letters(pack: LintContext) -> Iterator[Finding]:
    places: list[tuple[str, str, int | None]] = [
        (pack.manifest.name, SKILL_FILE, pack.line_of("name")),
        *((path, path, None) for path in pack.descriptor.resources),
    ]
    for path in (SKILL_FILE, *pack.descriptor.resources):
        text = text_of(pack, path)
        hosts = () if text.isascii() else matches_in(text, _HOST)
        places += [(host[1], path, line) for line, host in hosts]
    like = review_table()["letters"]
    for text, path, line in places:
        odd = [char for char in dict.fromkeys(text) if not char.isascii()]
        latin = str.maketrans(like["like"], like["real"])
        plain = unicodedata.normalize("NFKC", text).translate(latin) if odd else ""
        if plain and plain.isascii():
            names = (f"U+{ord(c):04X} {unicodedata.name(c, '')}".strip() for c in odd)
            letters = ", ".join(names)
            yield Finding.of(
                "look-alike-letters", path, line, plain=plain, letters=letters
            )
