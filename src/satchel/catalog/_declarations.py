"""What a manifest declares for the catalog: files, search words and tools."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final

from satchel.files import is_excluded_file, path_problem
from satchel.model import (
    EVALS_FOLDER,
    MAX_DESCRIPTION_CHARS,
    SKILL_FILE,
    FileStat,
    Finding,
    Json,
    Manifest,
    bucket_of,
)
from satchel.skill_md import decode_items

_BUCKETS = ("references", "scripts", "assets")


@dataclass(frozen=True, slots=True)
class Allowlist:
    """The readable files by bucket, and what was wrong with the declared ones."""

    references: tuple[str, ...] = ()
    scripts: tuple[str, ...] = ()
    assets: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()


_EMPTY = Allowlist()


def allow(
    manifest: Manifest, files: tuple[FileStat, ...], *, closed: bool = False
) -> Allowlist:
    """Return the allowlist of a pack.

    A pack that declares any of references, scripts and assets is closed to just these;
    one that declares none is open to the files it held when it was scanned, but for its
    evals. ``closed`` closes every pack, as profile ``strict`` does.
    """
    # What an author lists is all that may be read: a secret that lies in the folder by
    # accident must not become readable.
    if manifest.declares_files:
        return _declared_files(manifest, {file.path for file in files})
    if closed or not files or (len(files) == 1 and files[0].path == SKILL_FILE):
        return _EMPTY
    buckets: dict[str, list[str]] = {name: [] for name in (*_BUCKETS, "other")}
    for file in files:
        if file.path != SKILL_FILE and not file.path.startswith(EVALS_FOLDER):
            buckets[bucket_of(file.path)].append(file.path)
    references, scripts, assets, others = map(tuple, buckets.values())
    return Allowlist(references, scripts, assets, others)


def _declared_files(manifest: Manifest, present: set[str]) -> Allowlist:
    findings: list[Finding] = []
    lists: list[tuple[str, ...]] = []
    for bucket in _BUCKETS:
        names: tuple[str, ...] = getattr(manifest, bucket)
        paths = (_resolve(bucket, name, present, findings) for name in names)
        lists.append(tuple(sorted({path for path in paths if path})))
    references, scripts, assets = lists
    return Allowlist(references, scripts, assets, (), tuple(findings))


def _resolve(
    bucket: str, name: str, present: set[str], findings: list[Finding]
) -> str | None:
    """Return the path that a declared name means: in its bucket, else from the root."""
    in_bucket = name if name.startswith(f"{bucket}/") else f"{bucket}/{name}"
    path = name if name in present and in_bucket not in present else in_bucket
    if path_problem(name):
        code = "unsafe-declared-file"
    elif path in present:
        return path
    elif is_excluded_file(path):
        # Not listed, or it could be asked for as soon as it appears: `.env`, say.
        code = "left-out-file-declared"
    else:
        code = "listed-file-missing"
    findings.append(
        Finding.of(code, SKILL_FILE, bucket=bucket, name=name, in_bucket=in_bucket)
    )
    # A missing one stays listed, so that asking for it says what is wrong.
    return path if code == "listed-file-missing" else None


# As much as the public specification allows a description; the rest is not searched.
#
# A pack is untrusted: without a bound its keywords could outweigh the text of all
# others.
MAX_KEYWORD_CHARS: Final = MAX_DESCRIPTION_CHARS

_KEYWORD_KEYS: Final = frozenset(["keywords", "trigger_keywords", "triggers", "tags"])


def keywords_of(manifest: Manifest) -> tuple[str, ...]:
    """Return the author's words for when to use a skill, each once, in order.

    Read are ``trigger_keywords`` (or ``triggers``), ``when_to_use``, and ``keywords``
    and ``tags``, at the top level or in ``metadata``; a list, or text with commas.
    """
    phrases = list(manifest.trigger_keywords)
    if manifest.client.when_to_use:
        phrases.append(" ".join(manifest.client.when_to_use.split()))
    for table in (manifest.frontmatter, manifest.metadata):
        for key, value in table.items():
            if key.replace("-", "_") in _KEYWORD_KEYS:
                phrases.extend(_texts(value))
    keywords: list[str] = []
    left = MAX_KEYWORD_CHARS
    for phrase in dict.fromkeys(phrases):
        left -= len(phrase)
        if left < 0:
            break
        keywords.append(phrase)
    return tuple(keywords)


def _texts(value: Json) -> Iterator[str]:
    if isinstance(value, str):
        yield from (text for part in value.split(",") if (text := part.strip()))
    elif isinstance(value, list | tuple):
        for item in value:
            if isinstance(item, str) and (text := item.strip()):
                yield text


def is_tool_allowed(tool: str, allowed_tools: tuple[str, ...]) -> bool:
    """Tell whether ``allowed_tools`` lets ``tool`` open; an empty one lets any.

    Of an entry with a rule, ``Bash(git:*)``, what comes before the parenthesis is the
    name; it may be a shell pattern.
    """
    if not allowed_tools:
        return True
    return any(
        fnmatchcase(tool, entry.partition("(")[0].strip()) for entry in allowed_tools
    )


# Keys of ``metadata``, in the order in which their tools open.
#
# Source: ours, Google ADK's ``SkillToolset``, and the skills of deepagents.
TOOL_KEYS: Final = ("tools", "adk_additional_tools", "include_tools")

# Tools that one skill may name: OpenAI's limit for one whole request.
MAX_TOOLS: Final = 128

# Tools that one message names.
MAX_LISTED_TOOLS: Final = 10


def tool_names(
    metadata: Mapping[str, Json], allowed_tools: tuple[str, ...], path: str
) -> tuple[tuple[str, ...], tuple[Finding, ...]]:
    """Return the names in order, each once, and what is wrong with the fields.

    A field is a list of names, or a text of names separated by spaces or commas.
    """
    names: dict[str, None] = {}  # in order, each once
    findings: list[Finding] = []
    for key in TOOL_KEYS:
        value = metadata.get(key)
        if value is None:
            continue
        items = _names(value)
        if None in items:
            findings.append(
                Finding.of("field-kind", path, sentence="tool-names", key=key)
            )
        names |= {name: None for name in items if name}
    if (count := len(names)) > MAX_TOOLS:
        findings.append(
            Finding.of(
                "field-kind",
                path,
                sentence="too-many-tools",
                count=count,
                limit=MAX_TOOLS,
            )
        )
    # A closed one stays named, so that a load can say why it does not open.
    tools = tuple(names)[:MAX_TOOLS]
    closed = [name for name in tools if not is_tool_allowed(name, allowed_tools)]
    if closed:
        findings.append(_closed_tools(closed, path))
    return tools, tuple(findings)


def _names(value: Json) -> list[str | None]:
    """Return each name; None for what is none."""
    if isinstance(value, str):
        return list(decode_items(value.strip()))
    if isinstance(value, (list, tuple)):
        return [item.strip() if isinstance(item, str) else None for item in value]
    return [None]


def _closed_tools(names: list[str], path: str) -> Finding:
    shown = ", ".join(map(repr, names[:MAX_LISTED_TOOLS]))
    rest = len(names) - MAX_LISTED_TOOLS
    more = f" and {rest} more" if rest > 0 else ""
    return Finding.of("tool-not-allowed", path, told=shown, more=more)
