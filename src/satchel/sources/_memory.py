"""Packs that are kept in memory: skills written in code, and packs made on the fly."""

import json
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import chain
from types import MappingProxyType
from typing import Final, TypeAlias

from satchel.agent import Skill
from satchel.errors import (
    DuplicateSkillError,
    LimitExceededError,
    ReferenceNotFoundError,
    SkillManifestError,
    SkillNotFoundError,
)
from satchel.files import (
    TOO_LARGE_FIX,
    Listing,
    check_path,
    check_read_size,
    digest_bytes,
    locate_findings,
)
from satchel.model import DEFAULT_LIMITS, SKILL_FILE, FileStat, Finding, Found, Limits
from satchel.protocols import SourceAbilities

# Files by path, by the name of the pack.
PackMapping: TypeAlias = Mapping[str, Mapping[str, bytes | str]]


def skill_md(skill: Skill) -> bytes:
    """Return the SKILL.md that says what ``skill`` says, instructions unaltered.

    The names of its tools are in ``metadata.tools``, separated by spaces; a category
    other than the standard one in ``metadata.category``.
    """
    lines = [f"name: {_quoted(skill.name)}"]
    lines.append(f"description: {_quoted(skill.description)}")
    metadata: dict[str, str] = {}
    if skill.tools:
        metadata["tools"] = " ".join(tool.name for tool in skill.tools)
    if skill.category != "standard":
        metadata["category"] = skill.category
    if metadata:
        lines.append("metadata:")
        lines += [f"  {key}: {_quoted(value)}" for key, value in metadata.items()]
    head = "".join(f"{line}\n" for line in ("---", *lines, "---"))
    return _encoded(head + skill.instructions)


class MemorySource(SourceAbilities):
    """Packs that are kept as bytes, copied once; keys are their names."""

    near: bool | None = True

    def __init__(
        self,
        *what: Skill | PackMapping,
        label: str = "memory",
        limits: Limits = DEFAULT_LIMITS,
    ) -> None:
        """Copy the packs, and write a SKILL.md for each skill."""
        self.label: Final = label
        self._limits = limits
        packs: dict[str, Mapping[str, bytes]] = {}
        for name, files in chain.from_iterable(map(_files_by_pack, what)):
            if name in packs:
                raise DuplicateSkillError(name, label, f"{label} (handed over twice)")
            packs[name] = files
        self._packs = MappingProxyType(packs)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self._packs)} packs, label={self.label!r})"

    def scan(self) -> tuple[Found | Finding, ...]:
        packs: list[Found] = []
        findings: list[Finding] = []
        for key in sorted(self._packs):
            where = f"{self.label}/{key}"
            try:
                files, pack_findings = self._list(key)
            except LimitExceededError as error:
                findings.append(Finding.of_error(error, where, fix=TOO_LARGE_FIX))
                continue
            findings += locate_findings(pack_findings, where)
            if SKILL_FILE in self._packs[key]:
                packs.append(Found(key, where, files, files))
            else:
                findings.append(Finding.of("missing-skill-file", where))
        return (*packs, *findings)

    def manifest(self, key: str) -> bytes:
        data = self._pack(key).get(SKILL_FILE)
        if data is None:
            raise SkillNotFoundError(key)
        check_read_size(SKILL_FILE, len(data), self._limits.skill_md_bytes)
        return data

    def files(self, key: str) -> tuple[FileStat, ...]:
        self._pack(key)
        return self._list(key)[0]

    def read(self, key: str, path: str, limit_bytes: int) -> bytes:
        check_path(path, key)
        data = self._pack(key).get(path)
        if data is None:
            raise ReferenceNotFoundError(key, path)
        check_read_size(path, len(data), limit_bytes)
        return data

    def close(self) -> None:
        """Do nothing: nothing is open."""

    def _pack(self, key: str) -> Mapping[str, bytes]:
        try:
            return self._packs[key]
        except KeyError:
            raise SkillNotFoundError(key) from None

    def _list(self, key: str) -> tuple[tuple[FileStat, ...], tuple[Finding, ...]]:
        listing = Listing(self._limits)
        for path, data in sorted(self._packs[key].items()):
            if listing.admits(path, partial(bytes, data)):
                listing.add(FileStat(path, len(data), digest_bytes(data)))
        return listing.files(), listing.findings()


def _files_by_pack(
    what: Skill | PackMapping,
) -> Iterator[tuple[str, Mapping[str, bytes]]]:
    if not isinstance(what, Skill):
        for name, files in what.items():
            yield name, {path: _encoded(data) for path, data in files.items()}
    elif what.description.strip():
        yield what.name, {SKILL_FILE: skill_md(what)}
    else:
        detail = "a skill needs a description to be listed"
        raise SkillManifestError(f"Skill({what.name!r})", detail)


def _quoted(text: str) -> str:
    # A JSON string is a YAML string, so that any name and any description holds.
    return json.dumps(text, ensure_ascii=False)


def _encoded(data: bytes | str) -> bytes:
    # A lone surrogate is for the parser to report, not for us to fail on.
    return data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data


def memory(
    *what: Skill | PackMapping, label: str = "memory", limits: Limits = DEFAULT_LIMITS
) -> MemorySource:
    """Make a source of skills written in code, and of packs given as mappings.

    Raises:
        SkillManifestError: A skill has no description.
        DuplicateSkillError: Two of them have one name.
    """
    return MemorySource(*what, label=label, limits=limits)
