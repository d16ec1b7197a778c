"""Is a finding right? Judges that read with other parsers than Satchel.

PyYAML for frontmatter, markdown-it-py for Markdown, the list of a repository's paths
for files. Each takes a finding and its library, and says ``right``, ``wrong``, or
``open`` where it cannot tell.
"""

from __future__ import annotations

import ast
import posixpath
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple
from urllib.parse import unquote

import yaml
from markdown_it import MarkdownIt

if TYPE_CHECKING:
    from collections.abc import Callable

    from satchel.model import Finding

Judged = Literal["right", "wrong", "open"]
_HEAD: Final = re.compile(
    r"\A\ufeff?---[ \t]*\r?\n(.*?)\r?\n---[ \t]*(?:\r?\n|\Z)", re.DOTALL
)
_FIELDS: Final = {
    *("name", "description", "license", "compatibility", "metadata", "allowed-tools")
}
_TEXTS: Final = 512 * 1024
_LINES: Final = 500
_BODY_BYTES: Final = 18_000
"""4.5 bytes a token are rare: 5,000 tokens, less a tenth. So is the next one."""
_REFERENCE_BYTES: Final = 36_000


class Library(NamedTuple):
    """A library as it is laid out: its repository's paths, packs, and what is empty."""

    root: Path
    paths: frozenset[str]
    packs: frozenset[Path]
    stubs: frozenset[Path]

    def pack_of(self, finding: Finding) -> Path:
        """Return the folder of the pack that a finding is about."""
        path = Path(finding.path)
        return next(each for each in (path, *path.parents) if each in self.packs)

    def named(self, finding: Finding) -> str:
        """Return where a finding is, as the repository has it."""
        path = Path(finding.path).relative_to(self.root)
        return f"{self.root.name}/{path}:{finding.line or ''}"

    def has(self, path: Path) -> bool:
        """Tell whether the repository has a file or a folder there."""
        return path.exists() and path.resolve().is_relative_to(self.root.resolve())


def _text(finding: Finding) -> str:
    return Path(finding.path).read_bytes().decode("utf-8", "replace")


def _fields(text: str) -> dict[str, Any]:
    head = _HEAD.match(text)
    try:
        found = yaml.safe_load(head[1]) if head else None
    except yaml.YAMLError:
        return {}
    return found if isinstance(found, dict) else {}


def _body(text: str) -> str:
    """Return the body with as many lines before it as the frontmatter has."""
    head = _HEAD.match(text)
    return text if head is None else "\n" * head[0].count("\n") + text[head.end() :]


@cache
def _tokens(text: str) -> Any:  # noqa: ANN401 - markdown-it's tokens
    return MarkdownIt("commonmark").enable("table").parse(_body(text))


def _is(right: object) -> Judged:
    return "right" if right else "wrong"


def _above(folder: Path, root: Path) -> list[Path]:
    """Return a folder and those around it, up to ``root``."""
    return [each for each in (folder, *folder.parents) if each.is_relative_to(root)]


def _targets(finding: Finding) -> list[str]:
    """Return the destinations of links on the line of a finding."""
    line = _text(finding).splitlines()[(finding.line or 1) - 1]
    found = re.findall(r"\]\(\s*<?([^)>\s]+)", line)
    found += re.findall(r"^\s*\[[^\]]+\]:\s*<?(\S+?)>?\s*$", line)
    found += re.findall(r"(?:href|src)=[\"']([^\"']+)", line)
    return [unquote(each.partition("#")[0].partition("?")[0]) for each in found]


def dead_link(finding: Finding, library: Library) -> Judged:
    """Wrong where the repository has the file by the file's folder or one above it."""
    pack = library.pack_of(finding)
    folder = Path(finding.path).parent
    said = finding.message.partition(": ")[2].split(" is ")[0]
    for target in _targets(finding):
        if posixpath.basename(target.rstrip("/")) != posixpath.basename(said):
            continue
        if any(library.has(each / target) for each in _above(folder, pack)):
            return "wrong"
    return "right"


def outside_link(finding: Finding, library: Library) -> Judged:
    """Right where the link leaves the pack; a warning only where nothing is there."""
    pack, folder = library.pack_of(finding), Path(finding.path).parent
    target = finding.message.split(" is outside")[0]
    if target.startswith("/"):
        return _is(
            finding.severity == "note" or not library.has(library.root / target[1:])
        )
    place = Path(posixpath.normpath(folder / target))
    leaves = not place.is_relative_to(pack)
    return _is(leaves and (finding.severity == "note" or not library.has(place)))


def sibling_link(finding: Finding, library: Library) -> Judged:
    """Right where the place is there, in another folder with a SKILL.md."""
    pack, folder = library.pack_of(finding), Path(finding.path).parent
    target = finding.message.split(" is in the skill ")[0]
    for start in (folder, pack):
        place = Path(posixpath.normpath(start / target))
        around = [each for each in (place, *place.parents) if each in library.packs]
        if library.has(place) and around and around[0] != pack:
            return "right"
    return "wrong"


def file_relative_link(finding: Finding, library: Library) -> Judged:
    """Right where the file is not there from the root, and is from a folder below."""
    pack, folder = library.pack_of(finding), Path(finding.path).parent
    target = unquote(finding.message.split(" counts from ")[0].partition("#")[0])
    target = target.partition("?")[0]
    below = [each for each in _above(folder, pack) if each != pack]
    return _is(
        not library.has(pack / target)
        and any(library.has(each / target) for each in below)
    )


def mentioned_file_missing(finding: Finding, library: Library) -> Judged:
    """Wrong where the repository has it in the pack, around it, or in a named skill."""
    pack = library.pack_of(finding)
    wanted = finding.message.split(" names ")[1].split(",")[0]
    inside = f"{pack.relative_to(library.root)}/"
    if any(
        path.startswith(inside) and path.endswith(f"/{wanted}")
        for path in library.paths
    ):
        return "wrong"
    if any(library.has(each / wanted) for each in _above(pack.parent, library.root)):
        return "wrong"
    lines = _text(finding).splitlines()
    near = " ".join(lines[max(0, (finding.line or 1) - 4) : (finding.line or 1) + 2])
    named = [each for each in library.packs if each.name in near and each != pack]
    return _is(not any(library.has(each / wanted) for each in named))


def not_mentioned(finding: Finding, library: Library) -> Judged:
    """Wrong where another text of the pack has the name, with or without its ending."""
    pack = library.pack_of(finding)
    path = finding.message.rpartition(" ")[2]
    name = Path(path).name
    stem = re.escape(Path(path).stem)
    pattern = re.compile(
        rf"(?<![\w-])(?:{re.escape(name)}|import {stem}\b"
        rf"|(?<=[`\[*/.]){stem}(?=[`\]*]))",
        re.IGNORECASE,
    )
    own = {pack / path, *(pack / path).parent.glob(f"{Path(path).stem}.*")}
    unreached = _unreached(finding, library)
    for file in pack.rglob("*"):
        if file in own or file in unreached or not file.is_file():
            continue
        if file.stat().st_size < _TEXTS and pattern.search(
            file.read_bytes().decode("utf-8", "replace")
        ):
            return "wrong"
    return "right"


def _unreached(finding: Finding, library: Library) -> set[Path]:
    """Return the references of a pack whose name its SKILL.md does not have."""
    pack = library.pack_of(finding)
    text = _text(finding)
    return {
        file
        for folder in ("references", "scripts")
        for file in (pack / folder).rglob("*")
        if file.is_file() and file.name not in text
    }


def dead_anchor(finding: Finding, library: Library) -> Judged:
    """Wrong where a heading or an id of the file has the anchor, by GitHub's rule."""
    said = re.search(r"no heading of (.*) has the anchor #(.*)", finding.message)
    if said is None:
        return "open"
    own = said[1] == "this file"
    file = Path(finding.path) if own else library.pack_of(finding) / said[1]
    if file in library.stubs:
        return "open"
    text = file.read_bytes().decode("utf-8", "replace")
    tokens = _tokens(text)
    headings = [
        tokens[at + 1].content
        for at, token in enumerate(tokens)
        if token.type == "heading_open"
    ]
    slugs = {_slug(each) for each in headings}
    slugs |= {re.sub("-+", "-", each).strip("-") for each in slugs}
    slugs |= set(re.findall(r"(?:id|name)=[\"']([^\"']+)", text))
    return _is(said[2] not in {each.lower() for each in slugs})


def _slug(text: str) -> str:
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text.replace("`", ""))
    plain = re.sub(r"(?<!\w)[*_]+|[*_]+(?!\w)", "", plain)
    return re.sub(r"[^\w\- ]", "", plain.lower()).strip().replace(" ", "-")


def skipped_heading(finding: Finding, library: Library) -> Judged:
    """Right where markdown-it has a heading there, two or more below the last one."""
    del library
    level = 6
    for token in _tokens(_text(finding)):
        if token.type == "heading_open" and token.level == 0:
            now = int(token.tag[1])
            if token.map[0] + 1 == finding.line:
                return _is(now > level + 1)
            level = now
    return "wrong"


def unclosed_fence(finding: Finding, library: Library) -> Judged:
    """Right where markdown-it's block from that line does not end in a fence."""
    del library
    lines = _body(_text(finding)).splitlines()
    for token in _tokens(_text(finding)):
        if token.type == "fence" and token.map[0] + 1 == finding.line:
            last = lines[min(token.map[1], len(lines)) - 1].lstrip(" >\t").rstrip()
            closed = last.startswith(token.markup) and set(last) == {token.markup[0]}
            return _is(not closed or token.map[1] - token.map[0] == 1)
    return "wrong"


def missing_h1(finding: Finding, library: Library) -> Judged:
    """Right where markdown-it finds no heading of level 1, nor HTML with one."""
    del library
    text = _text(finding)
    found = any(t.type == "heading_open" and t.tag == "h1" for t in _tokens(text))
    return _is(not found and "<h1" not in text.lower())


def name_not_folder(finding: Finding, library: Library) -> Judged:
    """Right where PyYAML's name is not the folder's."""
    return _is(
        str(_fields(_text(finding)).get("name")) != library.pack_of(finding).name
    )


def unknown_field(finding: Finding, library: Library) -> Judged:
    """Right where PyYAML has the key, and the specification does not."""
    del library
    said = re.findall(r"'([^']+)'", finding.message)[:1]
    return _is(said and said[0] in _fields(_text(finding)) and said[0] not in _FIELDS)


def spec_incompatible(finding: Finding, library: Library) -> Judged:
    """Right where the file has each key that is named, and the public six do not."""
    del library
    keys = finding.message.partition(": ")[0].split(", ")
    return _is(set(keys) <= _fields(_text(finding)).keys() - _FIELDS)


def client_only_field(finding: Finding, library: Library) -> Judged:
    """Right where the file has the field."""
    del library
    top, _, inner = finding.message.partition(" is honoured")[0].partition(".")
    fields = _fields(_text(finding))
    return _is(inner in (fields.get(top) or {}) if inner else top in fields)


def description_length(finding: Finding, library: Library) -> Judged:
    """Right where PyYAML's description has as many characters, white space folded."""
    del library
    said = re.search(r"has ([\d,]+) characters", finding.message)
    text = " ".join(str(_fields(_text(finding)).get("description", "")).split())
    if not text:  # no YAML, by the letter
        return "open"
    return _is(said and len(text) == int(said[1].replace(",", "")))


def body_too_large(finding: Finding, library: Library) -> Judged:
    """Right where the file has too many lines, or bytes for the tokens."""
    del library
    text = _text(finding)
    return _is(
        len(text.splitlines()) > _LINES or len(_body(text).encode()) > _BODY_BYTES
    )


def no_frontmatter(finding: Finding, library: Library) -> Judged:
    """Right where the first line is no fence."""
    del library
    return _is(not _text(finding).lstrip("\ufeff").startswith("---"))


def large_reference(finding: Finding, library: Library) -> Judged:
    """Right where the file has bytes for so many tokens."""
    del library
    return _is(Path(finding.path).stat().st_size > _REFERENCE_BYTES)


def interactive_script(finding: Finding, library: Library) -> Judged:
    """Right where Python's own parser has a call that asks, on that line."""
    del library
    text = _text(finding)
    if not finding.path.endswith(".py"):
        return "open"
    asks = {"input", "getpass"}
    return _is(
        any(
            isinstance(node, ast.Call)
            and node.lineno == finding.line
            and ast.unparse(node.func).rpartition(".")[2] in asks
            for node in ast.walk(ast.parse(text))
        )
    )


def duplicate_skill(finding: Finding, library: Library) -> Judged:
    """Right where another pack of the library has the same name, by PyYAML."""
    name = _fields(_text(finding)).get("name")
    others = library.packs - {library.pack_of(finding)}
    return _is(
        any(
            _fields((each / "SKILL.md").read_bytes().decode("utf-8", "replace")).get(
                "name"
            )
            == name
            for each in others
        )
    )


def files_left_out(finding: Finding, library: Library) -> Judged:
    """Right where the pack has a file or folder whose name begins with a dot."""
    pack = library.pack_of(finding)
    return _is(
        any(
            part.startswith(".") or part in {"node_modules", "__pycache__"}
            for file in pack.rglob("*")
            for part in file.relative_to(pack).parts
        )
    )


JUDGES: Final[dict[str, Callable[[Finding, Library], Judged]]] = {
    "body-too-large": body_too_large,
    "client-only-field": client_only_field,
    "dead-anchor": dead_anchor,
    "dead-link": dead_link,
    "description-limits": description_length,
    "duplicate-skill": duplicate_skill,
    "file-relative-link": file_relative_link,
    "files-left-out": files_left_out,
    "interactive-script": interactive_script,
    "large-reference": large_reference,
    "long-description": description_length,
    "mentioned-file-missing": mentioned_file_missing,
    "missing-h1": missing_h1,
    "name-not-folder": name_not_folder,
    "no-frontmatter": no_frontmatter,
    "outside-link": outside_link,
    "reference-not-mentioned": not_mentioned,
    "script-not-mentioned": not_mentioned,
    "sibling-link": sibling_link,
    "skipped-heading": skipped_heading,
    "spec-incompatible": spec_incompatible,
    "unclosed-fence": unclosed_fence,
    "unknown-field": unknown_field,
}
