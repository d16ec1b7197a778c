"""Eval files: which of the files that were given are some, and what is in them."""

import csv
import io
import json
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Final, Literal, NamedTuple, TypeAlias, cast

from satchel.errors import LimitExceededError, SkillError
from satchel.files import is_archive_name
from satchel.model import (
    DEFAULT_LIMITS,
    SKILL_FILE,
    Descriptor,
    FileReader,
    Finding,
    Json,
    Limits,
)
from satchel.skill_md import YamlProblem, read_tree
from satchel.text import decode
from satchel_lab.evals._dialects import EvalCase, FoundCases, cases_in, is_of_a_run
from satchel_lab.evals._library import EvalLibrary
from satchel_lab.evals._words import plain, role

# The largest eval file of 1,138 public packs has 60 KB.
MAX_BYTES: Final = 4 * 1024 * 1024
_LIMITS: Final = Limits(yaml_nodes=200_000, yaml_depth=32)
_JSON: Final = (".json", ".jsonl", ".ndjson")
_SUFFIXES: Final = frozenset({*_JSON, ".yaml", ".yml", ".csv", ".tsv"})
# Where the eval files of a pack are; the specification gives other folders a meaning.
_FOLDERS: Final = frozenset(
    ("eval", "evals", "evaluation", "evaluations", "triggers", "routing", "skill-evals")
)
_STEMS: Final = _FOLDERS - {"skill-evals"} | {"trigger"}
_WHOLE_STEMS: Final = frozenset(("test-prompts", "test-cases", "prompts", "queries"))
_OF_THE_SKILL: Final = frozenset(("references", "assets", "scripts"))
# Folders of tools; one of them is read where it is named itself.
_OF_TOOLS: Final = frozenset((".git", ".venv", "node_modules", "__pycache__"))
_PARTS: Final = re.compile(r"[\s._-]+")
_LIST: Final = re.compile(rb"(?:[ \t]*(?:#[^\n]*)?\n|---[ \t]*\n)*([-\[])")
_PATH: Final = re.compile(r"[^\s*]+(?:/|\.\w+)")

Place: TypeAlias = Literal["named", "evals", "near"]


@dataclass(frozen=True, slots=True)
class EvalFile:
    """An eval file: where it is, its bytes, and the skill that its place is about.

    ``place`` says why it is read: it was ``named``, or the folder that it is in; it is
    in the ``evals`` of a pack; or it is ``near`` packs, where only rows that name
    one of their skills are cases.
    """

    path: str
    data: bytes
    skill: str = ""
    place: Place = "evals"


@dataclass(frozen=True, slots=True)
class PassedOver:
    """A file or a folder that was given and holds no case, and why."""

    path: str
    reason: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class EvalSet:
    """The cases of some files, what is wrong with them, and how many files there are.

    ``cases`` name skills by the ids of the library; each is there once, and
    ``repeated`` is how many were equal to one before. ``passed_over`` are the files
    that are not among ``files``. ``named`` says that files, or a folder of files, were
    given, and not only packs.
    """

    cases: tuple[EvalCase, ...] = ()
    findings: tuple[Finding, ...] = ()
    files: int = 0
    passed_over: tuple[PassedOver, ...] = ()
    repeated: int = 0
    named: bool = False


Given: TypeAlias = EvalFile | PassedOver | Finding


def is_eval_path(path: str) -> bool:
    """Return whether the place of a pack's file says that it has eval cases."""
    file = PurePosixPath(path.lower())
    folders, stem = file.parts[:-1], file.name.partition(".")[0]
    if file.suffix not in _SUFFIXES or {*folders[:1]} & _OF_THE_SKILL:
        return False
    words = {*_PARTS.split(file.name.removesuffix(file.suffix))}
    return bool({*folders} & _FOLDERS or words & _STEMS or stem in _WHOLE_STEMS)


def is_eval_file(path: str) -> bool:
    """Return whether a path that a user named is an eval file, not a pack's file."""
    file = Path(path)
    if not file.is_file() or file.name == SKILL_FILE or is_archive_name(file.name):
        return False
    is_of_pack = any((folder / SKILL_FILE).exists() for folder in file.parents)
    return file.suffix.lower() in _SUFFIXES or not is_of_pack


def pack_files(pack: Descriptor, reader: FileReader) -> Iterator[Given]:
    """Yield the eval files of a pack, and why other files of data are none."""
    key, location = pack.origin.key, pack.origin.location
    try:
        paths = sorted(file.path for file in pack.files or reader.files(key))
    except SkillError as error:
        yield Finding.of_error(error, location)
        return
    for path in paths:
        shown = f"{location}/{path}"
        if not is_eval_path(path):
            if PurePosixPath(path.lower()).suffix in _SUFFIXES:
                yield PassedOver(shown, "a file of a skill, and not in its evals")
            continue
        try:
            data = reader.read(key, path, MAX_BYTES)
        except SkillError as error:
            yield _unread(shown, None, str(error))
            continue
        yield EvalFile(shown, data, pack.name or pack.id)


def named_files(
    path: str, library: EvalLibrary, packs: Collection[str]
) -> Iterator[Given]:
    """Yield every file of a path that a user named, but for those of packs.

    ``packs`` are the real paths of the library's packs.
    """
    if os.path.isfile(path):  # noqa: PTH113
        yield _file(path, "named", library)
        return
    root = os.path.realpath(path)
    is_near = any(f"{pack}{os.sep}".startswith(f"{root}{os.sep}") for pack in packs)
    place: Place = "near" if is_near else "named"
    problems: list[OSError] = []
    for here, folders, files in os.walk(path, onerror=problems.append):
        if os.path.realpath(here) in packs:
            folders.clear()
            continue
        shown = f"{here}/".replace(os.sep, "/").removeprefix("./")
        for name in sorted((*folders, *files)):
            file = shown + name
            # A link may lead anywhere.
            is_link = os.path.islink(file)  # noqa: PTH114
            if is_link or name in _OF_TOOLS:
                yield PassedOver(file, "a link" if is_link else "a folder of tools")
                folders[:] = [one for one in folders if one != name]
            elif name not in folders and os.path.realpath(file) not in packs:
                is_eval = is_near and is_eval_path(os.path.relpath(file, path))
                yield _file(file, "evals" if is_eval else place, library)
        folders.sort()
    for problem in problems:
        yield _unread(str(problem.filename), None, problem.strerror or str(problem))


def _file(path: str, place: Place, library: EvalLibrary) -> Given:
    """Read a file outside of packs; the nearest part of its path may name a skill."""
    file = PurePosixPath(path.replace(os.sep, "/"))
    near = [file.name.partition(".")[0], *reversed(file.parts[:-1])]
    skill = next((part for part in near if library.is_skill(part)), "")
    # To open a pipe could last for ever.
    if not os.path.isfile(path):  # noqa: PTH113
        return _unread(path, None, "it is no regular file")
    try:
        with Path(path).open("rb") as opened:
            data = opened.read(MAX_BYTES + 1)
    except OSError as error:
        return _unread(path, None, error.strerror or str(error))
    if len(data) > MAX_BYTES:
        return _unread(path, None, f"it has more than {MAX_BYTES:,} bytes")
    return EvalFile(path, data, skill, place)


def read_evals(
    files: Iterable[Given], library: EvalLibrary, limits: Limits = DEFAULT_LIMITS
) -> EvalSet:
    """Return the cases of eval files; what cannot be read is a finding.

    Raises:
        LimitExceededError: There are more different queries than ``eval_queries``.
    """
    by_path: dict[str, list[EvalCase]] = {}
    findings: list[Finding] = []
    passed: dict[str, PassedOver] = {}
    is_named = False
    for file in files:
        if isinstance(file, Finding):
            findings.append(file)
        elif isinstance(file, PassedOver):
            passed.setdefault(file.path, file)
        elif file.path not in by_path and file.path not in passed:
            is_named = is_named or file.place == "named"
            cases, problems = _cases_of(file, library.is_skill)
            if isinstance(cases, str):
                passed[file.path] = PassedOver(file.path, *cases.split(": ", 1))
            else:
                by_path[file.path] = cases
                findings += problems
    for path, case in _inputs(by_path).items():
        passed[path] = PassedOver(path, "an input of a case", case.path)
        del by_path[path]
        findings = [one for one in findings if one.path != path]
    unknown: dict[tuple[str, str], list[EvalCase]] = {}
    every = (_resolved(c, library, unknown) for cs in by_path.values() for c in cs)
    resolved = [case for case in every if case is not None]
    unique: dict[tuple[object, ...], EvalCase] = {}
    for case in resolved:
        unique.setdefault((case.query, case.expected, case.forbidden), case)
    for (path, name), of in unknown.items():
        place = "eval-unknown-skill", path, of[0].line or None
        findings.append(Finding.of(*place, name=name, cases=len(of)))
    distinct = tuple(unique.values())
    queries = len({case.query for case in distinct})
    most = limits.eval_queries
    if queries > most:
        raise LimitExceededError("eval_queries", most, queries, "queries")
    return EvalSet(
        distinct,
        (*findings, *_contradictions(distinct)),
        len(by_path),
        tuple(sorted(passed.values(), key=lambda one: one.path)),
        len(resolved) - len(distinct),
        is_named,
    )


def _cases_of(
    file: EvalFile, is_skill: Callable[[str], bool]
) -> tuple[list[EvalCase] | str, list[Finding]]:
    """Return the cases of a file, or why it is passed over: its reason, detail."""
    text = decode(file.data).text.removeprefix("\ufeff")
    is_near = file.place == "near"
    try:
        parsed = _parsed(file.path, text)
    except _SyntaxProblem as problem:
        findings = [_syntax(file.path, problem)]
        reason = f"next to skills, and broken: {problem.reason}"
        return reason if is_near else [], findings
    if isinstance(parsed, str):
        return parsed, []
    subject = "" if is_near else file.skill
    rows = cases_in(parsed.document, is_skill, subject, parsed.lines)
    findings = [_syntax(file.path, problem) for problem in parsed.problems]
    named = (n for one in rows.cases for n in (*one.expected, *one.forbidden))
    reason = ""
    if is_of_a_run(parsed.document):
        reason = "results of an earlier run"
    elif is_near and not any(map(is_skill, named)):
        reason = "next to skills, and no row names one of them"
    elif rows.left and not rows.cases:
        reason = "its queries are left to fill in"
    elif not (rows.cases or rows.problems or findings):
        reason = "it has no query"
    if reason:
        return reason, []
    cases = [
        replace(case, path=file.path, line=case.line or line)
        for case, line in zip(rows.cases, _lines_of(rows.cases, text), strict=True)
    ]
    return cases, [*findings, *_problems(file.path, rows, text)]


def _inputs(files: Mapping[str, Sequence[EvalCase]]) -> Mapping[str, EvalCase]:
    """Return the files that cases of other files name, as what their work is about."""
    below: dict[str, list[str]] = {}
    for path in files:
        for place in (path, *map(str, PurePosixPath(path).parents)):
            below.setdefault(place, []).append(path)
    inputs: dict[str, EvalCase] = {}
    for path, cases in files.items():
        named = {
            name: case
            for case in (cases if len(files) > 1 else ())
            for name in filter(_PATH.fullmatch, _fields_of(case))
        }
        for name, case in named.items():
            for folder in PurePosixPath(path).parents:
                at = os.path.normpath(f"{folder}/{name}").replace(os.sep, "/")
                others = below.get(at, [])
                if path not in others:
                    inputs |= dict.fromkeys(others, case)
    return inputs


def _fields_of(case: EvalCase) -> Iterator[str]:
    """Yield the texts of a case but for its query, of lists one by one."""
    for value in case.fields.values():
        values = cast("list[object]", value) if isinstance(value, list) else [value]
        for one in values:
            if isinstance(one, str) and one.strip() != case.query:
                yield one


def _lines_of(cases: Iterable[EvalCase], text: str) -> Iterator[int]:
    """Yield the line of each query in a text, searched from the one before; or 0."""
    at, line = 0, 1
    # What is not found is looked for in all the rest, so with many such cases the time
    # would grow with their square.
    left = 100_000_000
    for case in cases:
        start = -1 if case.line or left < 0 else _place_of(case.query, text, at)
        if start < 0:
            left -= len(text) - at
        else:
            line += text.count("\n", at, start)
            at = start + 1
        yield line if start >= 0 else 0


def _problems(path: str, rows: FoundCases, text: str) -> Iterator[Finding]:
    """Yield a finding for each reason, with its first place and how often it is so."""
    by_reason: dict[str, list[tuple[int, str, str]]] = {}
    for line, at, query, reason in rows.problems:
        by_reason.setdefault(reason, []).append((line, at, query))
    for reason, places in by_reason.items():
        line, at, query = places[0]
        if query and not line and (start := _place_of(query, text, 0)) >= 0:
            line = text.count("\n", 0, start) + 1
        more = f" and {len(places) - 1:,} more" if len(places) > 1 else ""
        yield _unread(path, line or None, f"{at}{more}: {reason}")


class _SyntaxProblem(Exception):
    def __init__(self, reason: str, line: int | None = None) -> None:
        super().__init__(reason)
        self.reason, self.line = reason, line


class _Parsed(NamedTuple):
    """What a file holds; of lines and tables the line of each row, and bad lines."""

    document: Json
    lines: Sequence[int] = ()
    problems: Sequence[_SyntaxProblem] = ()


def _parsed(path: str, text: str) -> _Parsed | str:
    """Return what is in a file, by its name and its content; or why it is not read."""
    suffix = PurePosixPath(path.lower()).suffix
    if suffix in (".yaml", ".yml"):
        return _Parsed(_yaml(text.encode("utf-8", "replace")))
    if suffix in (".csv", ".tsv"):
        return _table(text)
    try:
        if suffix in _JSON or text.lstrip()[:1] in ("{", "["):
            return _json_or_lines(text, is_lines=suffix not in ("", ".json"))
        if "\0" not in text and isinstance(table := _table(text), _Parsed):
            return table
    except _SyntaxProblem:
        if suffix in _JSON:
            raise
    return "it is no JSON, JSON lines, YAML, CSV or TSV"


def _json_or_lines(text: str, *, is_lines: bool) -> _Parsed:
    try:
        return _Parsed(_json(text))
    except _SyntaxProblem:
        rows: list[Json] = []
        lines: list[int] = []
        problems: list[_SyntaxProblem] = []
        for number, line in enumerate(text.split("\n"), 1):
            if line.strip():
                try:
                    rows.append(_json(line))
                    lines.append(number)
                except _SyntaxProblem as problem:
                    problems.append(_SyntaxProblem(problem.reason, number))
        # The lines of a list or an object over several lines are no JSON themselves.
        if is_lines or len(rows) > len(problems):
            return _Parsed(rows, lines, problems)
        raise


def _json(text: str) -> Json:
    try:
        document: Json = json.loads(text)
    except json.JSONDecodeError as error:
        raise _SyntaxProblem(f"it is not JSON: {error.msg}", error.lineno) from error
    except (ValueError, RecursionError) as error:
        raise _SyntaxProblem(f"it is not JSON: {error}") from error
    return document


def _yaml(data: bytes) -> Json:
    """Return a document of YAML: a mapping, or a list."""
    data = data.replace(b"\r\n", b"\n")
    first = _LIST.match(data)
    if first is not None and data[first.start(1) :][:3] != b"---":
        # What reads frontmatter reads mappings, so a list gets a key.
        head = data[: first.start(1)].replace(b"---", b"")
        data = b"cases:\n" + head + data[first.start(1) :]
    elif data.startswith(b"---\n"):
        data = b"\n" + data[4:]
    tree = read_tree(data, _LIMITS)
    if isinstance(tree, YamlProblem):
        line = None if tree.line is None else tree.line - (first is not None)
        raise _SyntaxProblem(f"it is not YAML that is read here: {tree.message}", line)
    return cast("Json", tree.root)


def _table(text: str) -> _Parsed | str:
    """Return the rows of a table with a head, whatever separates its columns."""
    head = text.lstrip().partition("\n")[0]
    delimiter = max(",;\t|", key=head.count)
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter)
    rows: list[Json] = []
    lines: list[int] = []
    try:
        columns = [plain(name) for name in reader.fieldnames or ()]
        if all(role(name).rank is None for name in columns):
            names = ", ".join(columns) or "none"
            if any(role(name).who for name in columns):
                raise _SyntaxProblem(f"no column is a query; its columns: {names}", 1)
            return f"no column is a query: {names:.80}"
        line = reader.line_num + 1
        for row in reader:
            rows.append({name: value for name, value in row.items() if name})
            lines.append(line)
            line = reader.line_num + 1
    except csv.Error as error:
        raise _SyntaxProblem(f"it is no table: {error}", reader.line_num) from error
    return _Parsed(rows, lines)


def _place_of(query: str, text: str, start: int) -> int:
    """Return where a query is in the text, from a place on; -1 for nowhere."""
    first = query.strip().split("\n", 1)[0][:60]
    for written in (
        first,
        json.dumps(first)[1:-1],
        json.dumps(first, ensure_ascii=False)[1:-1],
    ):
        place = text.find(written, start)
        if place >= 0:
            return place
    return -1


def _resolved(
    case: EvalCase, library: EvalLibrary, unknown: dict[tuple[str, str], list[EvalCase]]
) -> EvalCase | None:
    """Return a case with ids for names; None where a skill that counts is unknown."""
    ids: list[tuple[str, ...]] = []
    for names in (case.expected, case.forbidden):
        skills: list[str] = []
        for name in names:
            here = library.ids_of(name)
            skills += here
            if not here:
                unknown.setdefault((case.path, name), []).append(case)
        ids.append(tuple(dict.fromkeys(skills)))
    expected, forbidden = ids
    # Without them it would be a control, or one of the whole library.
    if (case.expected and not expected) or (
        case.forbidden and not (expected or forbidden)
    ):
        return None
    return replace(case, expected=expected, forbidden=forbidden)


def _contradictions(cases: Sequence[EvalCase]) -> Iterator[Finding]:
    """Yield a finding for each query that a skill should get, and should not."""
    wanted_by: dict[tuple[str, str], EvalCase] = {}
    for case in cases:
        for skill in case.expected:
            wanted_by.setdefault((case.query, skill), case)
    for case in cases:
        for skill in case.forbidden:
            if (other := wanted_by.get((case.query, skill))) is not None:
                at = "eval-unread", case.path, case.line or None
                report = partial(Finding.of, *at, sentence="contradiction")
                yield report(skill=skill, place=f"{other.path}:{other.line}")


def _syntax(path: str, problem: _SyntaxProblem) -> Finding:
    return Finding.of("eval-syntax", path, problem.line, reason=problem.reason)


def _unread(path: str, line: int | None, reason: str) -> Finding:
    return Finding.of("eval-unread", path, line, reason=reason)
