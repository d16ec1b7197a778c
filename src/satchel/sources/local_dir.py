"""The folder of role packs, as users of the earlier system know it."""

import os
from dataclasses import dataclass, field
from typing import Final

from satchel.errors import (
    ReferenceNotAllowedError,
    SkillManifestError,
    SkillNotFoundError,
)
from satchel.files import check_path
from satchel.model import DEFAULT_LIMITS, SKILL_FILE, Found, Limits, Manifest
from satchel.sources._search import Search
from satchel.sources.local import LocalSource

__all__ = ["LocalDirSkillSource", "SkillArtifact"]


@dataclass(frozen=True, slots=True)
class SkillArtifact:
    """One whole skill: its manifest, its body, and where it came from."""

    manifest: Manifest
    body: str = field(repr=False)
    origin: str


class LocalDirSkillSource(LocalSource):
    """The packs in the folders right below one folder; none where it is not there.

    Beside the protocol it has what the earlier system's users call: ``name``,
    `iter_skills`, and readers and lists for each bucket. ``skill`` is the name of the
    pack's folder there, which profile ``strict`` wants to be the skill's name.
    """

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

    def _search(self) -> Search:
        return Search(
            self.root, self._shown, self._limits, depth=1, root_may_be_pack=False
        )

    def iter_skills(self) -> list[SkillArtifact]:
        """Return every skill, read now, by folder.

        Raises:
            SkillManifestError: A pack is not what profile ``strict`` wants.
        """
        found = [each for each in self.scan() if isinstance(each, Found)]
        return [self._artifact(each) for each in found]

    def _artifact(self, found: Found) -> SkillArtifact:
        # A registry parses what a source holds; only here the source does it itself.
        from satchel.spec import body_of, parse

        data = self.manifest(found.key)
        parsed = parse(data, profile="strict", directory=found.key, limits=self._limits)
        text = data.decode("utf-8", "replace")
        path = f"{found.location}/{SKILL_FILE}"
        if parsed.manifest is None:
            first = next(each for each in parsed.findings if each.severity == "error")
            raise SkillManifestError(path, first.message, first.line)
        return SkillArtifact(parsed.manifest, body_of(text).strip(), path)

    def manifest_for(self, skill: str) -> Manifest | None:
        """Return the manifest of a pack; None where there is none that can be used."""
        from satchel.spec import parse

        try:
            data = self.manifest(skill)
        except SkillNotFoundError:
            return None
        return parse(data, directory=skill, limits=self._limits).manifest

    def read_reference(self, skill: str, file: str) -> str:
        """Return the text of ``references/file``, which a manifest has to list.

        One that lists no file at all allows each.

        Raises:
            ReferenceNotAllowedError: It is not listed.
            SkillError: Else, as for `read`.
        """
        return self._text(skill, "references", file)

    def read_script(self, skill: str, file: str) -> str:
        """Return the text of ``scripts/file``; nothing is run. As `read_reference`."""
        return self._text(skill, "scripts", file)

    def read_asset(self, skill: str, file: str) -> str:
        """Return the text of ``assets/file``. As `read_reference`."""
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
