"""One skill from several layers: what a base says, and what is changed above it."""

# ruff: noqa: PTH111, PTH118 - as for folders: a Path costs start-up time
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from satchel.errors import (
    ReferenceNotFoundError,
    SkillManifestError,
    SkillNotFoundError,
)
from satchel.files import check_path, digest_bytes
from satchel.model import (
    DEFAULT_LIMITS,
    SKILL_FILE,
    FileStat,
    Finding,
    Found,
    Limits,
    Manifest,
)
from satchel.protocols import SkillSource, SourceAbilities, with_abilities
from satchel.skill_md import (
    Layer,
    MergedField,
    WrittenFrontmatter,
    merge_layers,
    read_as_written,
    render_frontmatter,
)
from satchel.sources._local import LocalSource

# The usual layers, the lowest first.
LAYERS: Final[tuple[str, ...]] = ("base", "team", "user")

_XDG_FOLDERS: Final = {
    "base": ("XDG_DATA_HOME", "~/.local/share"),
    "team": ("XDG_CONFIG_HOME", "~/.config"),
    "user": ("XDG_CONFIG_HOME", "~/.config"),
}


def layer_folder(layer: str) -> str:
    """Return the default folder of a layer, by the XDG Base Directory Specification."""
    variable, usual = _XDG_FOLDERS[layer]
    root = os.environ.get(variable, "")
    if not os.path.isabs(root):  # noqa: PTH117
        root = os.path.expanduser(usual)
    return os.path.join(root, "satchel", "skills", layer)


def local_layers(
    folders: Mapping[str, str | os.PathLike[str] | None], *, limits: Limits
) -> list[tuple[str, LocalSource]]:
    """Return a source for each layer; only a usual folder may be missing."""
    return [
        (
            layer,
            LocalSource(
                layer_folder(layer) if folder is None else folder,
                limits=limits,
                missing_ok=folder is None,
            ),
        )
        for layer, folder in folders.items()
    ]


class _LayerPart(NamedTuple):
    """What one layer has of a skill."""

    layer: str
    source: SkillSource
    found: Found


@dataclass(frozen=True, slots=True)
class LayerExplanation:
    """Which layer gives what: the fields, the body, and each other file by path.

    ``layers`` are those that have the skill, the lowest first, with the place of each.
    """

    name: str
    layers: tuple[tuple[str, str], ...]
    fields: tuple[MergedField, ...]
    body: str
    files: dict[str, str] = field(default_factory=dict[str, str])


class LayeredSource(SourceAbilities):
    """Skills that are merged from layers, matched by the path of their folders.

    Fields are merged by the rules of `satchel.skill_md`. The body is that of the
    highest layer that has one, and so is each file. A skill that only one layer has is
    that layer's, to the byte.
    """

    def __init__(
        self,
        layers: Sequence[tuple[str, SkillSource]],
        *,
        label: str = "layers",
        limits: Limits = DEFAULT_LIMITS,
    ) -> None:
        """Look at nothing yet; ``layers`` are in order, the lowest first."""
        self.label: Final = label
        self._layers: Final = tuple(
            (layer, with_abilities(source)) for layer, source in layers
        )
        self.near = all(source.near for _, source in self._layers)
        self._limits = limits
        self._packs: dict[str, tuple[_LayerPart, ...]] | None = None

    def __repr__(self) -> str:
        names = ", ".join(layer for layer, _ in self._layers)
        return f"{type(self).__name__}({names}, label={self.label!r})"

    def scan(self) -> Iterable[Found | Finding]:
        """Return the packs, sorted by key, then the findings of all layers."""
        packs: dict[str, list[_LayerPart]] = {}
        findings: list[Finding] = []
        for layer, source in self._layers:
            for item in source.scan():
                if isinstance(item, Finding):
                    findings.append(item)
                else:
                    packs.setdefault(item.key, []).append(
                        _LayerPart(layer, source, item)
                    )
        self._packs = {key: tuple(packs[key]) for key in sorted(packs)}
        return (*map(_merged_found, self._packs.values()), *findings)

    def manifest(self, key: str) -> bytes | Manifest:
        """Return the raw SKILL.md, merged where several layers have the skill.

        Raises:
            UnknownFieldError: A layer has a field that no rule merges.
            SkillManifestError: The layers do not go together, or one is no valid YAML.
        """
        parts = self._parts(key)
        if len(parts) == 1:
            return parts[0].source.manifest(parts[0].found.key)
        return self._merged(key, parts)

    def files(self, key: str) -> tuple[FileStat, ...]:
        """Return the files of all layers together, sorted by path."""
        parts = self._parts(key)
        if len(parts) == 1:
            return tuple(parts[0].source.files(parts[0].found.key))
        merged: dict[str, FileStat] = {}
        for part in parts:
            for stat in part.source.files(part.found.key):
                mark = part.layer, stat.mark
                merged[stat.path] = FileStat(stat.path, stat.size, mark, stat.digest)
        own = self._merged(key, parts)
        digest = digest_bytes(own)
        merged[SKILL_FILE] = FileStat(SKILL_FILE, len(own), digest, digest)
        return tuple(merged[path] for path in sorted(merged))

    def read(self, key: str, path: str, limit_bytes: int) -> bytes:
        """Return one file's raw bytes, from the highest layer that has it."""
        check_path(path, key)
        parts = self._parts(key)
        if len(parts) > 1 and path == SKILL_FILE:
            return self._merged(key, parts)
        for part in reversed(parts):
            try:
                return part.source.read(part.found.key, path, limit_bytes)
            except ReferenceNotFoundError:
                continue
        raise ReferenceNotFoundError(key, path)

    def explain(self, key: str) -> LayerExplanation:
        """Return which layer gives what of a skill; errors are those of `manifest`."""
        parts = self._parts(key)
        files: dict[str, str] = {}
        for part in parts:
            stats = part.source.files(part.found.key)
            files |= {stat.path: part.layer for stat in stats}
        files.pop(SKILL_FILE, None)
        layers = [(part, self._written(part)) for part in parts]
        merged = merge_layers(key, [Layer(p.layer, w.fields) for p, w in layers])
        return LayerExplanation(
            str(merged.fields.get("name", key.rpartition("/")[2])),
            tuple((part.layer, part.found.location) for part in parts),
            merged.given,
            _body(layers)[0],
            dict(sorted(files.items())),
        )

    def keys(self) -> tuple[str, ...]:
        """Return the keys of what the last scan found, looking where there was none."""
        if self._packs is None:
            self.scan()
        return tuple(self._packs or ())

    @property
    def progress(self) -> tuple[object, ...]:
        """How far the scan of each layer got."""
        return tuple(source.progress for _, source in self._layers)

    def close(self) -> None:
        for _, source in self._layers:
            source.close()

    def _parts(self, key: str) -> tuple[_LayerPart, ...]:
        if self._packs is None:
            self.scan()
        parts = (self._packs or {}).get(key)
        if parts is None:
            raise SkillNotFoundError(key)
        return parts

    def _merged(self, key: str, parts: Sequence[_LayerPart]) -> bytes:
        layers = [(part, self._written(part)) for part in parts]
        merged = merge_layers(key, [Layer(p.layer, w.fields) for p, w in layers])
        return render_frontmatter(merged.fields).encode() + _body(layers)[1]

    def _written(self, part: _LayerPart) -> WrittenFrontmatter:
        """Return what one layer says; frontmatter that needs a repair is refused."""
        limit = self._limits.skill_md_bytes
        data = part.source.read(part.found.key, SKILL_FILE, limit)
        written = read_as_written(data, self._limits)
        if isinstance(written, WrittenFrontmatter) and not written.repairs:
            return written
        problem = (
            written.repairs[0] if isinstance(written, WrittenFrontmatter) else written
        )
        path = f"{part.found.location}/{SKILL_FILE}"
        detail = f"a layer has to be valid YAML to be merged: {problem.message}"
        raise SkillManifestError(path, detail, problem.line)


def _merged_found(parts: Sequence[_LayerPart]) -> Found:
    if len(parts) == 1:
        return parts[0].found
    # Of all layers: an edit in any of them may change what comes out.
    stamp = tuple((part.layer, part.found.stamp) for part in parts)
    return Found(parts[-1].found.key, parts[-1].found.location, stamp)


def _body(layers: Sequence[tuple[_LayerPart, WrittenFrontmatter]]) -> tuple[str, bytes]:
    """Return the highest layer with a body, and the body."""
    for part, written in reversed(layers):
        if written.body.strip():
            return part.layer, written.body
    return layers[-1][0].layer, layers[-1][1].body


def layered(
    base: str | os.PathLike[str] | None = None,
    team: str | os.PathLike[str] | None = None,
    user: str | os.PathLike[str] | None = None,
    *,
    label: str = "layers",
    limits: Limits = DEFAULT_LIMITS,
) -> LayeredSource:
    """Make a source of skills that three folders give together: base, team, user.

    Packs in the same place below each are one skill: fields are merged by their rules
    (docs/how-to/layers.md), body and files are those of the highest layer that has
    them.

    Args:
        base: None is ``$XDG_DATA_HOME/satchel/skills/base``.
        team: None is ``$XDG_CONFIG_HOME/satchel/skills/team``.
        user: None is ``$XDG_CONFIG_HOME/satchel/skills/user``. A folder that was not
            named need not be there.
        label: What to call the source.
        limits: Bounds on what is accepted.
    """
    folders = {"base": base, "team": team, "user": user}
    return LayeredSource(
        local_layers(folders, limits=limits), label=label, limits=limits
    )
