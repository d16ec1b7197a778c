"""SkillLoader and LocalDirSkillSource, as users of role packs know them."""

import logging
import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields as dataclass_fields
from typing import Final, Self, cast

from satchel.catalog import CatalogRules, ParseOptions, Registry
from satchel.errors import (
    DuplicateSkillError,
    ReferenceNotAllowedError,
    SkillManifestError,
    SkillNotFoundError,
    rename_advice,
)
from satchel.files import check_path
from satchel.load import load
from satchel.model import (
    DEFAULT_LIMITS,
    SKILL_FILE,
    Catalog,
    Conflict,
    Descriptor,
    Finding,
    Found,
    Json,
    Limits,
    Loaded,
    Manifest,
    Request,
)
from satchel.protocols import LegacySource, SkillSource
from satchel.runtime import SystemClock, retry_after_edit, unavailable_sources
from satchel.skill_md import Profile, body_of, parse, render_frontmatter
from satchel.sources import LocalSource, load_plugin_sources
from satchel.text import printable
from satchel_compat._legacy_source import LegacySourceAdapter, as_source

_log: Final = logging.getLogger("satchel")


class SkillManifest(Manifest):
    """A manifest in the dialect of role packs, checked as it is made.

    ``SkillManifest(name="qa", description="Find what breaks, and prove it.")``: any
    field of a SKILL.md in profile ``strict`` by its name.

    Raises:
        SkillManifestError: A field is missing, wrong or unknown; names each.
    """

    __slots__ = ()

    def __init__(self, **fields: object) -> None:
        """Take the fields, lists also as tuples."""
        where = f"SkillManifest({fields.get('name', '')!r})"
        given = cast("dict[str, Json | tuple[Json, ...]]", fields)
        written: dict[str, Json] = {
            name: [*value] if isinstance(value, tuple) else value
            for name, value in given.items()
            if value is not None
        }
        try:
            text = render_frontmatter(written)
        except TypeError as error:
            raise SkillManifestError(where, str(error)) from error
        parsed = parse(text.encode("utf-8", "surrogatepass"), profile="strict")
        if parsed.manifest is None:
            wrong = [f for f in parsed.findings if f.severity == "error"]
            raise SkillManifestError(where, _messages(wrong))
        self._take(parsed.manifest)

    def _take(self, manifest: Manifest) -> Self:
        for field_ in dataclass_fields(Manifest):
            object.__setattr__(self, field_.name, getattr(manifest, field_.name))
        return self

    @classmethod
    def of(cls, manifest: Manifest) -> Self:
        """Return a manifest that was parsed as one of these."""
        return cls.__new__(cls)._take(manifest)  # noqa: SLF001 - its own class


@dataclass(frozen=True, slots=True)
class SkillArtifact:
    """One whole skill: its manifest, its body, and where it came from."""

    manifest: SkillManifest
    body: str = field(repr=False)
    origin: str


class LocalDirSkillSource(LocalSource):
    """The packs in the folders directly below one folder; none if it does not exist.

    Besides the protocol it has the members that users of the earlier system call:
    ``name``, `iter_skills`, and readers and lists for each bucket. There, ``skill`` is
    the name of the pack's folder, which in profile ``strict`` is the skill's name.
    """

    _depth = 1
    _root_may_be_pack = False

    def __init__(
        self,
        path: str | os.PathLike[str],
        source_name: str | None = None,
        *,
        limits: Limits = DEFAULT_LIMITS,
    ) -> None:
        """Take the folder; the name is ``local:`` and the folder by default."""
        shown = os.fspath(path)
        super().__init__(
            path,
            label=f"local:{shown}" if source_name is None else source_name,
            limits=limits,
            missing_ok=True,
        )
        self.name: Final = self.label

    def iter_skills(self) -> list[SkillArtifact]:
        """Return every skill, read now, by folder.

        Raises:
            SkillManifestError: A pack breaks a rule of profile ``strict``.
        """
        packs = [pack for pack in self.scan() if isinstance(pack, Found)]
        return [self._artifact(pack) for pack in packs]

    def _artifact(self, pack: Found) -> SkillArtifact:
        # Usually a registry parses the packs; only here the source does.
        data = self.manifest(pack.key)
        parsed = parse(data, profile="strict", directory=pack.key, limits=self._limits)
        text = data.decode("utf-8", "replace")
        path = f"{pack.location}/{SKILL_FILE}"
        if parsed.manifest is None:
            first = next(f for f in parsed.findings if f.severity == "error")
            raise SkillManifestError(path, first.message, first.line)
        manifest = SkillManifest.of(parsed.manifest)
        return SkillArtifact(manifest, body_of(text).strip(), path)

    def manifest_for(self, skill: str) -> SkillManifest | None:
        """Return the manifest of a pack; None if there is no usable one."""
        try:
            data = self.manifest(skill)
        except SkillNotFoundError:
            return None
        manifest = parse(data, directory=skill, limits=self._limits).manifest
        return None if manifest is None else SkillManifest.of(manifest)

    def read_reference(self, skill: str, file: str) -> str:
        """Return the text of ``references/file``, which the manifest has to list.

        A manifest that lists no file at all allows every file.

        Raises:
            ReferenceNotAllowedError: It is not listed.
            SkillError: As for `read`.
        """
        return self._text(skill, "references", file)

    def read_script(self, skill: str, file: str) -> str:
        """Return the text of ``scripts/file``, like `read_reference`; never run it."""
        return self._text(skill, "scripts", file)

    def read_asset(self, skill: str, file: str) -> str:
        """Return the text of ``assets/file``, like `read_reference`."""
        return self._text(skill, "assets", file)

    def list_references(self, skill: str) -> list[str]:
        """Return the names of the files under ``references``, sorted."""
        return self._names(skill, "references")

    def list_scripts(self, skill: str) -> list[str]:
        """Return the names of the files under ``scripts``, sorted."""
        return self._names(skill, "scripts")

    def list_assets(self, skill: str) -> list[str]:
        """Return the names of the files under ``assets``, sorted."""
        return self._names(skill, "assets")

    def _text(self, skill: str, bucket: str, file: str) -> str:
        check_path(file, skill)
        path = f"{bucket}/{file}"
        manifest = self.manifest_for(skill)
        if manifest is not None and manifest.declares_files:
            listed: tuple[str, ...] = getattr(manifest, bucket)
            if file not in listed and path not in listed:
                raise ReferenceNotAllowedError(skill, path, listed)
        data = self.read(skill, path, self._limits.file_bytes)
        return data.decode("utf-8", "replace")

    def _names(self, skill: str, bucket: str) -> list[str]:
        paths = (file.path for file in self.files(skill))
        inside = f"{bucket}/"
        return [path.removeprefix(inside) for path in paths if path.startswith(inside)]


@dataclass(frozen=True, slots=True)
class LoadedSkill:
    """One whole skill, with its body."""

    name: str
    description: str
    body: str = field(repr=False)
    references: tuple[str, ...]
    scripts: tuple[str, ...]
    assets: tuple[str, ...]
    origin: str
    source_name: str
    trigger_keywords: tuple[str, ...] = ()


class SkillLoader:
    """All skills of some sources, read at once; any problem is an error.

    Unlike `satchel.Satchel` it raises if a pack of a first-party source is broken, or
    if two packs claim one name. Packs of installed plug-ins are included unless
    ``include_plugins`` is false; a broken pack of a plug-in is left out, with a line of
    the log, and is in ``findings``. A source may follow the older protocol: ``name``,
    ``iter_skills()``, and for skills with files ``read_reference``, ``read_script`` and
    ``read_asset``.

    Raises:
        TypeError: Something is not a source.
        SkillManifestError: Packs cannot be used; the message names each of them.
        DuplicateSkillError: Two packs claim one name; the message names both, and for a
            plug-in the switch that leaves it out.
    """

    def __init__(
        self,
        sources: Iterable[SkillSource | LegacySource] = (),
        *,
        include_plugins: bool = True,
        deny: Iterable[str] = (),
        profile: Profile = "strict",
        limits: Limits = DEFAULT_LIMITS,
    ) -> None:
        """Read every pack."""
        first_party = tuple(as_source(source, limits=limits) for source in sources)
        plugins: Sequence[SkillSource] = (
            load_plugin_sources(deny=tuple(deny)) if include_plugins else ()
        )
        self._profile: Profile = profile
        self._limits = limits
        self._registry = Registry(
            (*first_party, *plugins),
            accept=ParseOptions(profile=profile, limits=limits),
            rules=CatalogRules(),
            clock=SystemClock(),
        )
        # The registry has the sources in order: first those of the caller, then
        # plug-ins.
        self._ours = frozenset(list(self._registry.sources)[: len(first_party)])
        self._registry.sync()
        self._refuse(self._registry.latest)

    @property
    def catalog(self) -> Catalog:
        """The catalog of all skills."""
        return self._registry.catalog

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What did not answer, was repaired or was left out, and other findings."""
        latest = self._registry.latest
        return (*unavailable_sources(latest), *latest.findings)

    def get(self, name: str) -> LoadedSkill:
        """Return one skill; its body is read again.

        Raises:
            SkillNotFoundError: There is no skill of exactly this name.
        """
        loaded = self.load(Request(name))
        parsed = parse(loaded.data, profile=self._profile, limits=self._limits)
        keywords = parsed.manifest.trigger_keywords if parsed.manifest else ()
        entry = loaded.descriptor
        return LoadedSkill(
            entry.id,
            entry.description,
            loaded.body,
            _names(entry.references, "references/"),
            _names(entry.scripts, "scripts/"),
            _names(entry.assets, "assets/"),
            entry.origin.location,
            entry.source,
            keywords,
        )

    def has(self, name: str) -> bool:
        """Return whether there is a skill of exactly this name."""
        return name in self.catalog

    def list_all(self) -> list[LoadedSkill]:
        """Return every skill, by name."""
        return [self.get(entry.id) for entry in self.catalog]

    def __iter__(self) -> Iterator[Descriptor]:
        """Iterate over the descriptors, by name."""
        return iter(self.catalog)

    def __len__(self) -> int:
        """Return how many skills there are."""
        return len(self.catalog)

    def find_source_for(self, name: str) -> SkillSource | LegacySource:
        """Return the source of a skill, as the caller passed it.

        Raises:
            SkillNotFoundError: There is no skill of exactly this name.
        """
        entry = self.catalog.get(name)
        if entry is None:
            raise SkillNotFoundError(name)
        source = self._registry.sources[entry.source]
        return source.older if isinstance(source, LegacySourceAdapter) else source

    def load(self, request: Request) -> Loaded:
        """Load a skill or a file of it.

        Raises:
            SkillError: As for `satchel.Satchel.load`.
        """
        return retry_after_edit(
            self._registry,
            lambda: self.catalog,
            request.id,
            lambda here: load(here, request, limits=self._limits),
        )

    def read_reference(self, name: str, reference: str) -> str:
        """Return a reference's text; see `load` for the errors."""
        return self.load(Request(name, f"references/{reference}")).text

    def read_script(self, name: str, script: str) -> str:
        """Return a script's text, never run; see `load` for the errors."""
        return self.load(Request(name, f"scripts/{script}")).text

    def _refuse(self, latest: Catalog) -> None:
        refused = [one.descriptor for one in latest.excluded if one.reason == "refused"]
        if ours := [pack for pack in refused if pack.source in self._ours]:
            raise _unusable_packs(ours, latest.findings)
        for pack in refused:
            error = _unusable_packs([pack], latest.findings)
            _log.warning("a plug-in's pack is left out: %s", printable(str(error)))
        if latest.unresolved:
            prefixed = 'satchel.sources.prefixed(source, "mine-")'
            advice = f"put a prefix in front of the ids of one source: {prefixed}"
            first = latest.unresolved[0]
            raise duplicate_with_switch(first, self._ours, rename_advice(advice))


def _unusable_packs(
    packs: Iterable[Descriptor], findings: Iterable[Finding]
) -> SkillManifestError:
    """Return one error for all packs that cannot be used; each path is in it once."""
    wrong: dict[str, list[Finding]] = {
        f"{pack.origin.location}/{SKILL_FILE}": [] for pack in packs
    }
    for finding in findings:
        if finding.severity == "error" and finding.path in wrong:
            wrong[finding.path].append(finding)
    first, *others = (
        SkillManifestError(path, _messages(its), its[0].line if its else None)
        for path, its in wrong.items()
    )
    detail = "; ".join((first.detail, *map(str, others)))
    return SkillManifestError(first.path, detail, first.line)


def _messages(findings: Iterable[Finding]) -> str:
    return "; ".join(
        f"{finding.message} ({finding.fix})" if finding.fix else finding.message
        for finding in findings
    )


def duplicate_with_switch(
    conflict: Conflict, ours: Collection[str], fix: str
) -> DuplicateSkillError:
    """Return the error for a conflict, with a ``fix`` where no owner is a plug-in.

    The sources in ``ours`` are not plug-ins.
    """
    first, second, *_ = (owner.origin.location for owner in conflict.owners)
    plugins = [o.source for o in conflict.owners if o.source not in ours]
    if plugins:
        fix = f"leave the plug-in out with deny=[{plugins[0]!r}], or all of them "
        fix += "with include_plugins=False (--no-plugins)"
    return DuplicateSkillError(conflict.id, first, second, fix)


def _names(paths: tuple[str, ...], bucket: str) -> tuple[str, ...]:
    return tuple(path.removeprefix(bucket) for path in paths)
