"""Sources that are in other products, which are imported when one is made."""

import os
from collections.abc import Iterable, Mapping, Sequence

from satchel.model import DEFAULT_LIMITS, Limits
from satchel.products import import_product
from satchel.protocols import SkillSource


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
    release = import_product("satchel_store.release", "a release")
    source: SkillSource = release.release_folder(path, pin, label, limits)
    return source


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
