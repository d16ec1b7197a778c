"""Functions that make sources, one for each kind of place that packs come from."""

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from satchel.model import DEFAULT_LIMITS, Limits
from satchel.protocols import Clock, SkillSource
from satchel.sources._local import LocalSource
from satchel.sources._memory import MemorySource

if TYPE_CHECKING:
    from satchel.agent import Skill
    from satchel.sources._layered import LayeredSource
    from satchel.sources._memory import PackMapping


def folder(
    path: str | os.PathLike[str],
    *,
    label: str | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> LocalSource:
    """Make a source of a folder with packs in it, or of one pack."""
    return LocalSource(path, label=label, limits=limits)


def archive(
    path: str | os.PathLike[str],
    *,
    label: str | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> SkillSource:
    """Make a source of the packs in an archive: .skill, .zip, .tar.gz or .tgz.

    It is taken apart in memory, within ``limits``, and searched as a folder is; one
    that holds what none should is a finding, and nothing of it is used.
    """
    from satchel.products import import_product

    archives = import_product("satchel_store.archives", "an archive")
    source: SkillSource = archives.ArchiveSource(path, label=label, limits=limits)
    return source


def released(
    path: str | os.PathLike[str],
    *,
    pin: str | None = None,
    label: str | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> SkillSource:
    """Make a source of a folder that `satchel build` or `satchel publish` has written.

    ``pin`` is the id of the release that it must be, or hold; None takes what is there,
    of a site the current one. Every file is checked on every read.

    Raises:
        InvalidReleaseError: ``pin`` is no id of a release.
    """
    from satchel.products import import_product

    release = import_product("satchel_store.release", "a release")
    source: SkillSource = release.release_folder(path, pin, label, limits)
    return source


def layered(
    base: str | os.PathLike[str] | None = None,
    team: str | os.PathLike[str] | None = None,
    user: str | os.PathLike[str] | None = None,
    *,
    label: str = "layers",
    limits: Limits = DEFAULT_LIMITS,
) -> "LayeredSource":
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
    from satchel.sources._layered import LayeredSource, local_layers

    folders = {"base": base, "team": team, "user": user}
    return LayeredSource(
        local_layers(folders, limits=limits), label=label, limits=limits
    )


def memory(
    *what: "Skill | PackMapping", label: str = "memory", limits: Limits = DEFAULT_LIMITS
) -> MemorySource:
    """Make a source of skills written in code, and of packs given as mappings.

    Raises:
        SkillManifestError: A skill has no description.
        DuplicateSkillError: Two of them have one name.
    """
    return MemorySource(*what, label=label, limits=limits)


def http(  # noqa: PLR0913 - keywords, each with a default
    url: str,
    *,
    pin: str | None = None,
    label: str | None = None,
    allow_private: bool = False,
    hosts: Sequence[str] = (),
    headers: Mapping[str, str] | None = None,
    timeout_s: float = 30.0,
    cache: str | os.PathLike[str] | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> SkillSource:
    """Make a source of the skills that a site publishes.

    Without a pin these are those of its index (Agent Skills Discovery v0.2.0, else
    v0.1.0), as they are at each sync; what the index announces is compared with its
    digest before it is used. With one they are those of that release, for good.

    Args:
        url: The site, a path on it, or an index, which ends in ``.json``.
        pin: The id of a release that `satchel publish` put there.
        label: What to call it; the URL by default.
        allow_private: Whether addresses of this machine and of private networks may
            be connected to, and these by ``http://`` as well.
        hosts: Others that an index may send us to, such as ``cdn.example.com``; that
            of the index itself always may.
        headers: Sent to the origin of ``url`` alone, such as ``Authorization``.
        timeout_s: Seconds for each thing that is fetched, retries included, and for
            all that one sync fetches.
        cache: A folder that keeps what was fetched, by digest; None is memory alone.
        limits: Bounds on what is accepted.

    Raises:
        ConfigError: ``url``, ``hosts`` or ``headers`` cannot be used.
        InvalidReleaseError: ``pin`` is no id of a release.
        ExtraMissingError: The extra ``http`` is not installed.
    """
    from satchel.products import import_product

    site = import_product("satchel_store.http", "a source over HTTP")
    source: SkillSource = site.open_site(
        url,
        pin=pin,
        label=label,
        allow_private=allow_private,
        hosts=hosts,
        headers=headers,
        timeout_s=timeout_s,
        cache=cache,
        limits=limits,
    )
    return source


def mcp(  # noqa: PLR0913 - keywords, each with a default
    server: "str | Sequence[str] | object",
    *,
    label: str | None = None,
    headers: Mapping[str, str] | None = None,
    timeout_s: float = 30.0,
    allowed_tools: Mapping[str, str] | None = None,
    also: Iterable[str] = (),
    limits: Limits = DEFAULT_LIMITS,
) -> SkillSource:
    """Make a source of the skills that an MCP server serves.

    Nothing of a skill is fetched before it is loaded, every read is verified against
    what the server announced, and no skill of it takes the place of one that is on
    this machine. Digests come from the same server: they are no reason to trust it.

    Args:
        server: A URL of Streamable HTTP; a command with its arguments, as a list; or
            what `mcp.client.Client` takes. A command is run, with PATH, HOME and the
            like as its environment.
        label: What to call the server, to tell it from others; the host of the URL or
            the name of the command by default.
        headers: Sent with every request over HTTP.
        timeout_s: Seconds for connecting, and for each call.
        allowed_tools: The skills that get the tools which they ask for: digests of the
            whole skill by the URI of its SKILL.md, as a finding shows them. A skill
            that changed has another digest, and gets none.
        also: URIs of skills (of their SKILL.md) that the server may not list.
        limits: Bounds on what is accepted; never above those of the extension.

    Raises:
        ValueError: ``server`` cannot be one.
        ExtraMissingError: The extra ``mcp`` is not installed.
    """
    from satchel.products import import_product

    client = import_product("satchel_server.mcp_source", "a source of an MCP server")
    source: SkillSource = client.open_server(
        server,
        label=label,
        headers=headers,
        timeout_s=timeout_s,
        allowed_tools=allowed_tools,
        also=also,
        limits=limits,
    )
    return source


def usual(
    project: str | os.PathLike[str] | None = None,
    home: str | os.PathLike[str] | None = None,
    *,
    trust: bool = False,
    limits: Limits = DEFAULT_LIMITS,
) -> list[LocalSource]:
    """Make a source of each folder in which clients on this machine keep skills.

    Folders that an administrator fills go before those of a trusted project, these
    before the user's; within a scope ``.agents/skills`` goes first.

    Args:
        project: A folder of the project; None is the working folder. The folders
            above it count, too, up to the one with ``.git``.
        home: The user's home; None is that of the environment.
        trust: Whether packs of the project may be listed and loaded.
        limits: Bounds on what is accepted.
    """
    from satchel.sources._client_folders import usual_sources

    return usual_sources(project, home, trust=trust, limits=limits)


def package(name: str, *, limits: Limits = DEFAULT_LIMITS) -> LocalSource:
    """Make a source of the skills that one installed distribution brings along.

    These are the packs in its folders ``.agents/skills``, at its top or in a package.

    Raises:
        SourceUnavailableError: It is not installed, or brings none.
    """
    from satchel.sources._packages import installed_source

    return installed_source(name, limits)


def packages(
    *,
    only: Collection[str] | None = None,
    deny: Collection[str] = (),
    limits: Limits = DEFAULT_LIMITS,
) -> list[SkillSource]:
    """Make sources of the skills that all installed distributions bring along.

    Besides those of `package` these are the entry points of `load_plugin_sources`;
    one that is broken is a finding.

    Args:
        only: Names of distributions; each must be installed and bring skills along.
        deny: Names of entry points or distributions, or labels, to leave out.
        limits: Bounds on what is accepted.

    Raises:
        SourceUnavailableError: One of ``only`` brings none.
    """
    from satchel.sources._packages import package_sources

    return package_sources(only, deny, limits)


def load_plugin_sources(
    *, deny: Collection[str] = (), limits: Limits = DEFAULT_LIMITS
) -> list[SkillSource]:
    """Make the sources that installed packages register as entry points.

    The groups ``satchel.skill_sources`` and ``bernstein.skill_sources`` are looked up
    at each call. An entry gives a source, or a callable without arguments that does;
    objects with ``name``, ``iter_skills`` and ``read_*`` will do. One that fails is
    logged as a warning, and skipped.

    Args:
        deny: Names of entry points or distributions, or labels, to leave out.
        limits: Bounds on what is accepted.
    """
    from satchel.sources._packages import load_plugins

    return list(load_plugins(deny=deny, limits=limits).sources)


def resource(
    package: str, folder: str = "skills", *, limits: Limits = DEFAULT_LIMITS
) -> SkillSource:
    """Make a source of a folder inside a Python package, which is imported.

    Raises:
        SourceUnavailableError: There is no such package, or no such folder in it.
    """
    from satchel.sources._resource import open_resource

    return open_resource(package, folder, limits)


def roles(*, limits: Limits = DEFAULT_LIMITS) -> SkillSource:
    """Make a source of the packs for 17 roles of a team that come with Satchel.

    ``only(roles(), ["backend", "qa"])`` takes some of them. They are also an example of
    packs in the public dialect: docs/reference/role-packs.md.
    """
    return resource("satchel", "packs", limits=limits)


def only(
    source: SkillSource, include: Iterable[str] = (), exclude: Iterable[str] = ()
) -> SkillSource:
    """Keep the packs whose id fits a pattern of ``include`` and none of ``exclude``.

    Patterns are those of the shell; no ``include`` is all. What is left out stays
    visible as filtered.
    """
    from satchel.sources._wrappers import FilteredSource

    return FilteredSource(source, include, exclude)


def prefixed(source: SkillSource, prefix: str) -> SkillSource:
    """Put ``prefix`` in front of every id of a source.

    ``{parent}`` in it is the name of the folder that holds the pack's folder,
    ``{folder}`` of the pack's own, ``{path}`` of all from the source's root to the
    pack: ``prefixed(folder("libraries"), "{parent}")`` gives packs of one name
    different ids.

    Raises:
        ConfigError: ``prefix`` has another word in braces.
    """
    from satchel.sources._wrappers import PrefixedSource

    return PrefixedSource(source, prefix)


def renamed(source: SkillSource, names: Mapping[str, str]) -> SkillSource:
    """Give some packs of a source new ids: ``{old: new}``."""
    from satchel.sources._wrappers import RenamedSource

    return RenamedSource(source, names)


def cached(
    source: SkillSource, ttl_s: float, clock: Clock | None = None
) -> SkillSource:
    """Look for the packs of a source at most once in ``ttl_s`` seconds."""
    from satchel.sources._wrappers import CachedSource

    return CachedSource(source, ttl_s, clock)
