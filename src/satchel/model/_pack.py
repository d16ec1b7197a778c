"""A pack: its manifest, its files, and its entry in the catalog."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

Json: TypeAlias = (
    str
    | int
    | float
    | bool
    | Mapping[str, "Json"]
    | list["Json"]
    | tuple["Json", ...]
    | None
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientFields:
    """Fields beyond the specification that well-known clients honour, and Satchel too.

    Each has one form whatever spelling the author chose. What other clients honour
    stays in ``Manifest.frontmatter``, as it was written.

    Source: the documentation of Claude Code, VS Code, Cursor, OpenClaw and OpenHands,
    as summarised in docs/reference/frontmatter.md.
    """

    when_to_use: str = ""
    model_invocable: bool = True
    user_invocable: bool = True
    argument_hint: str = ""
    arguments: tuple[str, ...] = ()


NO_CLIENT_FIELDS: Final = ClientFields()


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """One pack's manifest, normalised; ``frontmatter`` keeps it as it was written.

    String fields hold the author's text (``version: 1.10`` is ``"1.10"``), lists are
    tuples, and an absent list is empty. ``declares_files`` is whether any of
    references, scripts and assets was declared, which closes the pack to just
    those. ``requires`` are names of skills that this one needs; needs of other kinds
    are only in ``frontmatter``, which is JSON-safe, unknown fields included.
    """

    name: str
    description: str
    version: str = "1.0.0"
    author: str | None = None
    license: str | None = None
    compatibility: str | None = None
    allowed_tools: tuple[str, ...] = ()
    trigger_keywords: tuple[str, ...] = ()
    references: tuple[str, ...] = ()
    scripts: tuple[str, ...] = ()
    assets: tuple[str, ...] = ()
    declares_files: bool = False
    metadata: Mapping[str, Json] = field(default_factory=dict[str, Json], hash=False)
    client: ClientFields = NO_CLIENT_FIELDS
    status: str = ""
    replaced_by: str = ""
    replaces: tuple[str, ...] = ()
    requires: tuple[str, ...] = ()
    profile: str = ""
    frontmatter: Mapping[str, Json] = field(
        default_factory=dict[str, Json], hash=False, repr=False
    )


SKILL_FILE: Final = "SKILL.md"
CONFIG_FILE: Final = "satchel.toml"
# The list of the skills of a release, in its folder.
RELEASE_FILE: Final = "release.json"
# The marketplaces of plugins that a folder may have, each for one client.
MARKETPLACES: Final = tuple(
    f"{at}/marketplace.json"
    for at in (".claude-plugin", ".cursor-plugin", ".github/plugin", ".agents/plugins")
)
# Tests of a skill, which its users do not need: no model reads and no one ships them.
#
# Source: the packaging of anthropics/skills, ``package_skill.py``.
EVALS_FOLDER: Final = "evals/"

Category = Literal["standard", "raw"]

Bucket = Literal["references", "scripts", "assets", "other"]

_BUCKETS: Final[dict[str, Bucket]] = {
    "references": "references",
    "scripts": "scripts",
    "assets": "assets",
}


def bucket_of(path: str) -> Bucket:
    head, slash, _ = path.partition("/")
    return _BUCKETS.get(head, "other") if slash else "other"


@dataclass(frozen=True, slots=True)
class FileStat:
    """One regular file of a pack, as seen without reading it.

    ``path`` is relative to the pack and uses ``/``; ``size`` is in bytes. ``mark`` is
    whatever the source can tell a change by (modification time and inode for a
    folder, a digest elsewhere); equal marks mean equal bytes. ``digest`` is ``sha256:``
    and the hex digest of the raw bytes where the source knows it without reading them,
    else empty; the reader of the file checks it. ``missing`` says that the pack lists
    the file by this path and does not hold it; its size is 0 then.
    """

    path: str
    size: int
    mark: Hashable = None
    digest: str = ""
    missing: bool = False


@dataclass(frozen=True, slots=True)
class Resource:
    """One file with its digest over raw bytes: a line of a pack's manifest of bytes."""

    path: str
    digest: str
    size: int


@dataclass(frozen=True, slots=True)
class Found:
    """A pack that a source holds, before anything of it is parsed.

    ``key`` is the source's own name for it, stable between scans; ``location`` is
    what to show a user; an unequal ``stamp`` means that some file may have changed.
    ``files`` may carry what the scan had to look at anyway, and saves the
    registry a call of ``files(key)``. ``descriptor`` is the pack's entry where the
    source has it from an earlier catalog, as a release has: it is taken as it is, but
    for its origin, and nothing is read. Where ``settled`` is false, an edit that comes
    right now might leave the stamp as it is: the next scan has to look at the bytes.
    That is about the moment of the scan, and takes no part in equality.
    """

    key: str
    location: str
    stamp: Hashable
    files: tuple[FileStat, ...] | None = None
    descriptor: "Descriptor | None" = None
    settled: bool = field(default=True, compare=False)


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a pack came from: the source's label, its key there, and what to show."""

    source: str
    key: str
    location: str


@dataclass(frozen=True, slots=True)
class Descriptor:
    """One entry of the catalog; hashable, without any text of the body.

    ``id`` is the manifest's name after prefix or rename, and the only key that
    loads. The four tuples are the allowlist: pack-relative paths, sorted. ``digest``
    is ``sha256:`` and the hex digest of the raw bytes of SKILL.md. ``tools`` names the
    tools that open when the skill is loaded, ``allowed_tools`` those that it asks to
    be held to; a ``raw`` skill's tools need a policy that allows them. ``owner`` is who
    answers for the skill by its manifest (``metadata.owner``), empty where that is
    silent. ``remote`` is what kind of place each read of it is fetched from (``MCP
    server``), empty for what is on this machine; nothing is fetched before a caller
    asks for it, so its ``digest`` is empty where none was announced. ``replaces`` are
    ids that it took the place of (``metadata.replaces``): a load of one of them that is
    gone names this one. ``keywords`` are the author's words for when to
    use the skill, beyond the description: search reads them, no prompt shows them.
    ``odd_fields`` are fields of its frontmatter that other readers refuse, as the
    public specification does not allow their values. ``requires`` are the names of
    skills that it needs, as the author writes them.

    Raises:
        TypeError: A path list is not a tuple.
    """

    id: str
    description: str
    name: str = ""
    references: tuple[str, ...] = ()
    scripts: tuple[str, ...] = ()
    assets: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    origins: tuple[Origin, ...] = ()
    digest: str = ""
    size: int = 0
    status: str = ""
    replaced_by: str = ""
    model_invocable: bool = True
    user_invocable: bool = True
    tools: tuple[str, ...] = ()
    allowed_tools: tuple[str, ...] = ()
    category: Category = "standard"
    owner: str = ""
    files: tuple[FileStat, ...] = field(default=(), compare=False, repr=False)
    remote: str = ""
    replaces: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    odd_fields: tuple[str, ...] = field(default=(), compare=False)
    requires: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for paths in (self.references, self.scripts, self.assets, self.others):
            if type(paths) is not tuple:
                message = f"skill {self.id!r}: expected a tuple of paths, got {paths!r}"
                raise TypeError(message)

    @property
    def resources(self) -> tuple[str, ...]:
        """Every path that may be read besides SKILL.md, by bucket, then sorted."""
        return self.references + self.scripts + self.assets + self.others

    @property
    def present(self) -> tuple[str, ...]:
        """Those of `resources` that the pack held when it was scanned, in their order.

        They and SKILL.md are its manifest of bytes. A listed file that was not there
        is a finding, and an error for a load of it, but not a part of the pack.
        """
        present = {stat.path for stat in self.files if not stat.missing}
        return tuple(path for path in self.resources if path in present)

    @property
    def origin(self) -> Origin:
        """The first origin; a pack found twice has more in ``origins``."""
        return self.origins[0]

    @property
    def source(self) -> str:
        """The label of the first origin's source; empty where there is none."""
        return self.origins[0].source if self.origins else ""
