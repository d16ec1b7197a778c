"""Eval files: which of a library's files are some, and what is in them."""

import csv
import io
import json
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Final, cast

from satchel.errors import SkillError
from satchel.evals._case import EvalCase
from satchel.evals._dialects import FoundCases, cases_in
from satchel.evals._library import EvalLibrary
from satchel.evals._words import QUERY, plain
from satchel.model import SKILL_FILE, Descriptor, FileReader, Finding, Json, Limits
from satchel.skill_md import YamlProblem, read_tree
from satchel.text import decode

# The largest eval file of 1,138 public packs has 60 KB.
MAX_BYTES: Final = 4 * 1024 * 1024
_LIMITS: Final = Limits(yaml_nodes=200_000, yaml_depth=32)
_SUFFIXES: Final = frozenset({".json", ".jsonl", ".yaml", ".yml", ".csv", ".tsv"})
_FOLDERS: Final = frozenset(
    ("eval", "evals", "evaluation", "evaluations", "triggers", "routing", "skill-evals")
)
_STEMS: Final = _FOLDERS - {"skill-evals"} | {"trigger"}
_WHOLE_STEMS: Final = frozenset(("test-prompts", "test-cases", "prompts", "queries"))
# What runners write, what cases refer to, and what is no part of an eval.
_OTHER_FOLDERS: Final = frozenset(
    (
        *("runs", "results", "result", "fixtures", "fixture", "files", "outputs"),
        *("output", "workspace", "proof", "evidence", "baselines", "snapshots"),
        *("reports", "report", "logs", "node_modules", "golden", "references"),
        *("assets", "scripts", "templates", "schemas", "graders", "cache"),
    )
)
_OTHER_STEMS: Final = frozenset(
    (
        *("results", "result", "grading", "benchmark", "timing", "feedback", "history"),
        *("metrics", "schema", "report", "comparison", "analysis", "summary"),
        *("package", "responses", "config", "settings", "manifest", "metadata"),
    )
)
_PARTS: Final = re.compile(r"[\s._-]+")
_MAX_DEPTH: Final = 8
_LIST: Final = re.compile(rb"(?:[ \t]*(?:#[^\n]*)?\n|---[ \t]*\n)*([-\[])")


@dataclass(frozen=True, slots=True)
class EvalFile:
    """An eval file: where it is, its bytes, and the skill that its place is about."""

    path: str
    data: bytes
    skill: str = ""


@dataclass(frozen=True, slots=True)
class EvalSet:
    """The cases of some files, what is wrong with them, and how many files there are.

    ``cases`` name skills by the ids of the library; each is there once.
    """

    cases: tuple[EvalCase, ...] = ()
    findings: tuple[Finding, ...] = ()
    files: int = 0


def is_eval_path(path: str) -> bool:
    """Return whether a file's path says that it has eval cases."""
    file = PurePosixPath(path.lower())
    folders = set(file.parts[:-1])
    stem = file.name.partition(".")[0] if file.suffix else file.name
    words = {*_PARTS.split(file.name.removesuffix(file.suffix))}
    if file.suffix not in _SUFFIXES or folders & _OTHER_FOLDERS or words & _OTHER_STEMS:
        return False
    if any(part.startswith("iteration-") for part in folders):
        return False
    return bool(folders & _FOLDERS or words & _STEMS or stem in _WHOLE_STEMS)


def is_eval_file(path: str) -> bool:
    """Return whether a path that a user named is one eval file."""
    return PurePosixPath(path.lower()).suffix in _SUFFIXES and os.path.isfile(path)  # noqa: PTH113


def pack_files(pack: Descriptor, reader: FileReader) -> Iterator[EvalFile | Finding]:
    """Yield the eval files of a pack, and findings on those that cannot be read."""
    key, location = pack.origin.key, pack.origin.location
    try:
        paths = [file.path for file in pack.files or reader.files(key)]
    except SkillError as error:
        yield Finding.of_error(error, location)
        return
    for path in sorted(filter(is_eval_path, paths)):
        shown = f"{location}/{path}"
        try:
            data = reader.read(key, path, MAX_BYTES)
        except SkillError as error:
            yield _unread(shown, None, str(error))
            continue
        yield EvalFile(shown, data, pack.name or pack.id)


def folder_files(folder: str, library: EvalLibrary) -> Iterator[EvalFile | Finding]:
    """Yield the eval files below a folder that are in no pack; or the file itself."""
    if os.path.isfile(folder):  # noqa: PTH113
        yield _file(folder, folder, library)
        return
    for here, folders, files in os.walk(folder):
        # A pack has its own; a link may lead anywhere.
        depth = os.path.relpath(here, folder).count(os.sep)
        if SKILL_FILE in files or depth >= _MAX_DEPTH:
            folders.clear()
            if SKILL_FILE in files:
                continue
        folders[:] = sorted(
            name
            for name in folders
            if name not in (".git", ".venv")
            and name.lower() not in _OTHER_FOLDERS
            and not os.path.islink(os.path.join(here, name))  # noqa: PTH114, PTH118
        )
        for name in sorted(files):
            path = f"{here}/{name}".replace(os.sep, "/").removeprefix("./")
            base = os.path.basename(os.path.abspath(folder))  # noqa: PTH100, PTH119
            inside = os.path.relpath(path, folder).replace(os.sep, "/")
            if is_eval_path(f"{base}/{inside}") and not os.path.islink(path):  # noqa: PTH114
                yield _file(path, f"{base}/{inside}", library)


def _file(path: str, named: str, library: EvalLibrary) -> EvalFile | Finding:
    """Read a file outside of packs; the nearest part of its path may name a skill."""
    file = PurePosixPath(named)
    stem = file.name.partition(".")[0]
    near = [stem, *reversed(file.parts[:-1])]
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
    return EvalFile(path, data, skill)


def read_evals(files: Iterable[EvalFile | Finding], library: EvalLibrary) -> EvalSet:
    """Return the cases of eval files; what cannot be read is a finding."""
    cases: dict[tuple[object, ...], EvalCase] = {}
    findings: list[Finding] = []
    count = 0
    for file in files:
        if isinstance(file, Finding):
            findings.append(file)
            continue
        count += 1
        in_file, problems = _cases_of(file, library)
        findings += problems
        for case in in_file:
            resolved, unknown = _resolved(case, library)
            findings += unknown
            if resolved is not None:
                key = (resolved.query, resolved.expected, resolved.forbidden)
                cases.setdefault(key, resolved)
    every = tuple(cases.values())
    return EvalSet(every, (*findings, *_contradictions(every)), count)


def _cases_of(
    file: EvalFile, library: EvalLibrary
) -> tuple[list[EvalCase], list[Finding]]:
    text = decode(file.data).text.removeprefix("\ufeff")
    cases: list[EvalCase] = []
    findings: list[Finding] = []
    parts = FoundCases()
    try:
        documents = list(_documents(file.path, text, findings))
    except _SyntaxProblem as problem:
        return [], [
            Finding.of("eval-syntax", file.path, problem.line, reason=problem.reason)
        ]
    for document in documents:
        part = cases_in(document, library.is_skill, file.skill)
        parts.cases += part.cases
        parts.problems += part.problems
        parts.left += part.left
    if not parts.cases and not parts.problems and not findings:
        none = Finding.of("eval-unread", file.path, sentence="empty", severity="note")
        left = Finding.of("eval-unread", file.path, sentence="left", severity="note")
        return [], [left if parts.left else none]
    at, line = 0, 1
    for case in parts.cases:
        start = _place_of(case.query, text, at)
        if start >= at:
            # Counted on from the last one: a file may have many thousand cases.
            line += text.count("\n", at, start)
            at = start
        shown = line if start >= at else 0
        cases.append(replace(case, path=file.path, line=shown))
    findings += [_unread(file.path, None, f"{at}: {why}") for at, why in parts.problems]
    return cases, findings


class _SyntaxProblem(Exception):
    def __init__(self, reason: str, line: int | None = None) -> None:
        super().__init__(reason)
        self.reason, self.line = reason, line


def _documents(path: str, text: str, findings: list[Finding]) -> Iterator[Json]:
    """Yield the documents of a file: one, or as many as JSON lines has."""
    suffix = PurePosixPath(path.lower()).suffix
    if suffix == ".jsonl":
        for number, line in enumerate(text.splitlines(), 1):
            if line.strip():
                try:
                    yield [_json(line)]
                except _SyntaxProblem as problem:
                    findings.append(_syntax(path, problem, number))
    elif suffix == ".json":
        yield _json(text)
    elif suffix in (".csv", ".tsv"):
        yield _table(text, "\t" if suffix == ".tsv" else ",")
    else:
        yield _yaml(text.encode("utf-8", "replace"))


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


def _table(text: str, delimiter: str) -> list[Json]:
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        columns = {plain(name) for name in reader.fieldnames or ()}
        if not columns & {*QUERY}:
            names = ", ".join(sorted(columns)) or "none"
            raise _SyntaxProblem(f"no column is a query; its columns: {names}", 1)
        return [dict(row) for row in reader]
    except csv.Error as error:
        raise _SyntaxProblem(f"it is no table: {error}", reader.line_num) from error


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
    case: EvalCase, library: EvalLibrary
) -> tuple[EvalCase | None, list[Finding]]:
    """Return a case with ids for names; None where a skill that counts is unknown."""
    findings: list[Finding] = []
    ids: list[tuple[str, ...]] = []
    for names in (case.expected, case.forbidden):
        skills: list[str] = []
        for name in names:
            here = library.ids_of(name)
            skills += here
            if not here:
                findings.append(
                    Finding.of(
                        "eval-unknown-skill", case.path, case.line or None, name=name
                    )
                )
        ids.append(tuple(dict.fromkeys(skills)))
    expected, forbidden = ids
    # Without them it would be a control, or one of the whole library.
    if (case.expected and not expected) or (
        case.forbidden and not (expected or forbidden)
    ):
        return None, findings
    return replace(case, expected=expected, forbidden=forbidden), findings


def _contradictions(cases: Iterable[EvalCase]) -> Iterator[Finding]:
    """Yield a finding for each query that a skill should get, and should not."""
    wanted_by: dict[tuple[str, str], EvalCase] = {}
    cases = list(cases)
    for case in cases:
        for skill in case.expected:
            wanted_by.setdefault((case.query, skill), case)
    for case in cases:
        for skill in case.forbidden:
            other = wanted_by.get((case.query, skill))
            if other is not None:
                yield Finding.of(
                    *("eval-unread", case.path, case.line or None),
                    sentence="contradiction",
                    skill=skill,
                    place=f"{other.path}:{other.line}",
                )


def _syntax(path: str, problem: _SyntaxProblem, line: int | None = None) -> Finding:
    line = problem.line if line is None else line
    return Finding.of("eval-syntax", path, line, reason=problem.reason)


def _unread(path: str, line: int | None, reason: str) -> Finding:
    return Finding.of("eval-unread", path, line, reason=reason)
